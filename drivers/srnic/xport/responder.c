// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - responder: packet in, memory touched, reply out
 *
 * Every request passes the same checks in the same order and stops at the first that
 * fails.  What a verdict means on the wire, in the completion and for the QP is defined
 * by one row of srnic_faults[].
 */
#include "internal.h"

static enum srnic_outcome resp_send_put(struct srnic_qp *qp,
					const struct srnic_seg *seg)
{
	return srnic_accessed(srnic_payload_to_sgl(seg, &qp->resp.sgl),
			      SRNIC_V_LOCAL_PROT);
}

static enum srnic_outcome resp_send(struct srnic_qp *qp,
				    const struct srnic_seg *seg)
{
	const struct srnic_op *op = srnic_pkt_op(&seg->pkt);
	struct srnic_resp *resp = &qp->resp;
	enum srnic_outcome outcome;
	enum srnic_verdict verdict;
	enum srnic_mem_err err;

	srnic_task_assert_mine(&qp->task);
	if (op->flags & SRNIC_OP_START) {
		verdict = srnic_recv_need(qp);
		if (verdict)
			return srnic_fail(verdict);
		resp->got = 0;
	}
	if (resp->got + (u64)seg->pkt.payload > resp->rwqe.length)
		return srnic_fail(SRNIC_V_LENGTH);
	outcome = resp_send_put(qp, seg);
	if (outcome)
		return outcome;
	resp->got += seg->pkt.payload;
	resp->traffic.data_in += seg->pkt.payload;
	if (!(op->flags & SRNIC_OP_END))
		return SRNIC_DONE;

	if (op->hdrs & SRNIC_H_IETH) {
		err = srnic_inv_key(qp, seg->pkt.inv_rkey);
		if (err)
			return srnic_fail_memory(SRNIC_V_INVALIDATE, err);
	}
	srnic_count(qp->stats, SRNIC_CNT_RDMA_RECVS);
	srnic_recv_complete(qp, &seg->pkt, resp->got);

	return SRNIC_DONE;
}

/*
 * No region is held between runs, or a peer that stops in the middle of a message would
 * keep its owner from deregistering it.
 */
void srnic_resp_release(struct srnic_qp *qp)
{
	srnic_task_assert_mine(&qp->task);

	srnic_sgl_put(&qp->resp.sgl);
	srnic_mr_release(&qp->resp.mr);
	srnic_mr_release(&qp->resp.read_mr);
	srnic_recv_release_srq(qp);
}

bool srnic_resp_flush(struct srnic_qp *qp)
{
	struct srnic_resp *resp = &qp->resp;

	srnic_task_assert_mine(&qp->task);
	srnic_resp_release(qp);
	srnic_ooo_purge(&resp->ooo);
	resp->read_left = 0;
	srnic_delack_done(&resp->ack);
	if (resp->late_due)
		return false;	/* it precedes those that are flushed */

	return srnic_recv_flush(qp);
}

void srnic_resp_reset(struct srnic_qp *qp)
{
	struct srnic_resp *resp = &qp->resp;

	srnic_task_assert_mine(&qp->task);
	srnic_resp_release(qp);
	srnic_ooo_purge(&resp->ooo);
	srnic_replay_free(&resp->replays);
	memset(resp, 0, sizeof(*resp));
}

bool srnic_resp_run(struct srnic_qp *qp)
{
	srnic_task_assert_mine(&qp->task);

	if (qp->resp.late_due)
		return srnic_recv_run_late(qp);

	return srnic_resp_rdma_run(qp);
}

static enum srnic_outcome resp_execute(struct srnic_qp *qp,
				       const struct srnic_seg *seg)
{
	switch (srnic_pkt_op(&seg->pkt)->family) {
	case SRNIC_FAM_SEND:
		return resp_send(qp, seg);
	case SRNIC_FAM_WRITE:
		return srnic_resp_rdma_write(qp, seg);
	case SRNIC_FAM_READ:
		return srnic_resp_rdma_read(qp, seg);
	case SRNIC_FAM_ATOMIC:
		return srnic_resp_rdma_atomic(qp, seg);
	case SRNIC_FAM_ATOMIC_WRITE:
		return srnic_resp_rdma_atomic_write(qp, seg);
	case SRNIC_FAM_FLUSH:
		return srnic_resp_rdma_flush(qp, seg);
	default:
		return srnic_fail(SRNIC_V_INV_REQ);
	}
}

/* The READ that the request @pkt repeats, or a part of which it repeats; or NULL */
static const struct srnic_replay *resp_repeated(const struct srnic_qp *qp,
						const struct srnic_pkt *pkt)
{
	const struct srnic_replay ask = {
		.seq	= srnic_resp_seq(&qp->resp, pkt->psn),
		.rkey	= pkt->rkey,
		.va	= pkt->va,
		.length	= pkt->dmalen,
	};
	const struct srnic_replay *replay;

	replay = srnic_replay_find(&qp->resp.replays, SRNIC_FAM_READ, ask.seq);

	return replay && srnic_replay_covers(replay, &ask, qp->conf.mtu) ? replay : NULL;
}

static void resp_reread(struct srnic_qp *qp, const struct srnic_pkt *pkt)
{
	const struct srnic_replay *replay = resp_repeated(qp, pkt);

	if (!replay || srnic_resp_rdma_read_start(qp, pkt))
		return;

	qp->resp.read_again = true;
	qp->resp.read_checked = !replay->unread;
}

/* Handles a duplicate request: responds again, executes nothing. */
static void resp_duplicate(struct srnic_qp *qp, const struct srnic_seg *seg)
{
	const struct srnic_pkt *pkt = &seg->pkt;
	u8 family = srnic_pkt_op(pkt)->family;

	trace_srnic_duplicate(qp->qpn, pkt->psn, qp->resp.psn);
	srnic_count(qp->stats, SRNIC_CNT_DUP_REQ);
	if (family == SRNIC_FAM_READ)
		resp_reread(qp, pkt);
	else if (srnic_resp_reply_opcode(family) != SRNIC_OP_ACK)
		srnic_resp_reply(qp, family, pkt->psn);
	else
		srnic_delack_owe_again(&qp->resp.ack);
}

/* Does a peer that is srnic wait for news of what was kept?  (RFC 5681, section 4.2) */
static bool resp_fills_hole(const struct srnic_qp *qp)
{
	return qp->resp.ooo.num && qp->sack.understood;
}

/* Updates the state after a request was executed. */
static void resp_done(struct srnic_qp *qp, const struct srnic_seg *seg)
{
	const struct srnic_pkt *pkt = &seg->pkt;
	const struct srnic_op *op = srnic_pkt_op(pkt);
	struct srnic_resp *resp = &qp->resp;
	u32 npsn = op->family == SRNIC_FAM_READ ? resp->read_left :
		   srnic_seg_npsn(seg, qp->conf.mtu);

	resp->psn = srnic_psn_add(pkt->psn, npsn);
	resp->seq += npsn;
	resp->open = op->flags & SRNIC_OP_END ? SRNIC_FAM_NONE : op->family;
	if (op->flags & SRNIC_OP_END) {
		resp->msn = (resp->msn + 1) & SRNIC_PSN_MASK;
		resp->traffic.messages++;
	}

	if (srnic_resp_reply_opcode(op->family) != SRNIC_OP_ACK) {
		srnic_delack_done(&resp->ack);
		if (!seg->local)
			srnic_resp_reply(qp, op->family, pkt->psn);
	} else if (op->family != SRNIC_FAM_READ && (pkt->ackreq || resp_fills_hole(qp)) &&
		   srnic_qp_reliable(qp)) {
		if (resp->open != SRNIC_FAM_NONE || resp_fills_hole(qp))
			srnic_delack_owe_at_once(&resp->ack);
		else
			srnic_delack_owe(&resp->ack);
	}
}

/* Reports a gap, once until the missing packets have arrived. */
static void resp_gap(struct srnic_qp *qp, u32 psn)
{
	trace_srnic_early(qp->qpn, psn, qp->resp.psn);
	srnic_count(qp->stats, SRNIC_CNT_OUT_OF_SEQ_PKTS);
	if (qp->resp.nak_sent)
		return;

	srnic_count(qp->stats, SRNIC_CNT_OUT_OF_SEQ);
	qp->resp.traffic.lost++;
	qp->resp.nak_sent = true;
	srnic_resp_nak(qp, qp->resp.psn, SRNIC_AETH_NAK_SEQ);
}

/* The request that is expected next cannot be executed. */
static void resp_refuse(struct srnic_qp *qp, const struct srnic_pkt *pkt,
			enum srnic_outcome outcome)
{
	struct srnic_failure failure;

	srnic_failure_of_request(&failure, qp, pkt, outcome);
	srnic_resp_fail(qp, &failure);
}

/* The request was executed, but its completion is lost, and with it the QP. */
static void resp_lost(struct srnic_qp *qp, const struct srnic_pkt *pkt)
{
	if (srnic_qp_reliable(qp))
		srnic_resp_nak(qp, pkt->psn, SRNIC_AETH_NAK_REM_OP);
}

/* Handles the request that is expected next. */
static enum srnic_outcome resp_request(struct srnic_qp *qp,
				       const struct srnic_seg *seg)
{
	const struct srnic_op *op = srnic_pkt_op(&seg->pkt);
	enum srnic_outcome outcome;
	enum srnic_verdict verdict;

	verdict = srnic_check_order(qp->resp.open, op);
	if (!verdict && !seg->local &&
	    !srnic_check_size(op, seg->pkt.payload, qp->conf.mtu))
		verdict = SRNIC_V_SIZE;
	if (!verdict)
		verdict = srnic_recv_select(qp, &seg->pkt);
	outcome = verdict ? srnic_fail(verdict) : resp_execute(qp, seg);
	if (outcome == SRNIC_AGAIN)
		return SRNIC_AGAIN;
	if (outcome)
		resp_refuse(qp, &seg->pkt, outcome);
	else if (qp->conf.state == IB_QPS_ERR)
		resp_lost(qp, &seg->pkt);
	else
		resp_done(qp, seg);

	return SRNIC_DONE;
}

/*
 * Nothing is retransmitted: a message that misses a packet is dropped, and so are all
 * packets up to the start of the next message.
 */
static enum srnic_outcome resp_unreliable(struct srnic_qp *qp,
					  const struct srnic_seg *seg)
{
	bool gap = seg->pkt.psn != qp->resp.psn;
	enum srnic_outcome outcome;

	if (gap) {
		srnic_count(qp->stats, SRNIC_CNT_OUT_OF_SEQ);
		qp->resp.traffic.lost++;
	}
	qp->resp.psn = srnic_psn_add(seg->pkt.psn, 1);
	if (srnic_pkt_op(&seg->pkt)->flags & SRNIC_OP_START || gap)
		srnic_resp_drop(qp);
	outcome = resp_request(qp, seg);
	if (outcome == SRNIC_AGAIN)
		qp->resp.psn = seg->pkt.psn;

	return outcome;
}

enum srnic_outcome srnic_resp_packet(struct srnic_qp *qp,
				     const struct srnic_seg *seg)
{
	struct srnic_resp *resp = &qp->resp;
	s32 ahead = srnic_psn_diff(seg->pkt.psn, resp->psn);

	srnic_task_assert_mine(&qp->task);
	if (!srnic_qp_reliable(qp))
		return resp_unreliable(qp, seg);
	if (ahead < 0) {
		resp_duplicate(qp, seg);
		return SRNIC_DONE;
	}
	if (ahead > 0) {
		resp_gap(qp, seg->pkt.psn);
		return SRNIC_EARLY;
	}
	resp->nak_sent = false;

	return resp_request(qp, seg);
}
