// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - replies of the responder, except READ data
 */
#include "internal.h"

static void reply_send_aeth(struct srnic_qp *qp, u8 opcode, u32 psn,
			    u8 syndrome, u64 orig)
{
	struct srnic_pkt pkt = {};
	struct sk_buff *skb;
	void *payload;

	srnic_qp_pkt(qp, &pkt, opcode, psn);
	pkt.syndrome = syndrome;
	pkt.msn = qp->resp.msn;
	pkt.swap_add = orig;
	skb = srnic_tx_alloc(&qp->txb, &pkt, &payload);
	if (skb)
		srnic_qp_send(qp, &pkt, skb);
}

/* In the error state, too: the PSN and the MSN name what was executed. */
static bool reply_may_ack(const struct srnic_qp *qp)
{
	return qp->resp.ack.due && !qp->resp.read_left && qp->path.ndev;
}

static void reply_note_wait(struct srnic_qp *qp)
{
	srnic_count(qp->stats, SRNIC_CNT_ACK_DELAYED);
	if (srnic_delack_leaves(&qp->resp.ack, ktime_get_ns()))
		srnic_count(qp->stats, SRNIC_CNT_ACK_LATE);
}

void srnic_resp_ack(struct srnic_qp *qp, bool may_wait)
{
	struct srnic_delack *ack = &qp->resp.ack;

	srnic_task_assert_mine(&qp->task);

	if (!reply_may_ack(qp) ||
	    (may_wait && srnic_delack_waits(ack, qp->req.recovery.rtt.timeout, ktime_get_ns())))
		return;

	if (ack->deadline)
		reply_note_wait(qp);
	srnic_delack_done(ack);
	reply_send_aeth(qp, SRNIC_OP_ACK, srnic_psn_add(qp->resp.psn, -1),
			SRNIC_AETH_ACK | SRNIC_AETH_NO_CREDITS, 0);
}

void srnic_resp_nak(struct srnic_qp *qp, u32 psn, u8 syndrome)
{
	srnic_task_assert_mine(&qp->task);

	srnic_delack_done(&qp->resp.ack);
	reply_send_aeth(qp, SRNIC_OP_ACK, psn, syndrome, 0);
}

void srnic_resp_drop(struct srnic_qp *qp)
{
	struct srnic_resp *resp = &qp->resp;

	srnic_task_assert_mine(&qp->task);
	resp->open = SRNIC_FAM_NONE;
	srnic_mr_release(&resp->mr);
	if (resp->has_rwqe)
		srnic_sgl_seek(&resp->sgl, 0);
}

static void reply_not_ready(struct srnic_qp *qp, u32 psn)
{
	srnic_count(qp->stats, SRNIC_CNT_SEND_RNR);
	qp->resp.nak_sent = true;
	srnic_resp_nak(qp, psn, SRNIC_AETH_RNR | qp->conf.min_rnr_timer);
}

static void reply_count(struct srnic_qp *qp, enum srnic_verdict verdict)
{
	switch (verdict) {
	case SRNIC_V_RNR:
		srnic_count(qp->stats, SRNIC_CNT_OUT_OF_BUFFER);
		break;
	case SRNIC_V_LENGTH:
		srnic_count(qp->stats, SRNIC_CNT_RESP_LENGTH);
		break;
	case SRNIC_V_ACCESS:
	case SRNIC_V_INVALIDATE:
		srnic_count(qp->stats, SRNIC_CNT_RESP_ACCESS);
		break;
	default:
		break;
	}
}

void srnic_resp_fail(struct srnic_qp *qp, const struct srnic_failure *failure)
{
	const struct srnic_fault *fault = &srnic_faults[failure->verdict];
	struct srnic_cqe cqe = { .status = fault->status };
	bool reported = false;

	srnic_task_assert_mine(&qp->task);
	trace_srnic_fault(qp->qpn, failure->psn, fault->name);
	reply_count(qp, failure->verdict);
	if (!srnic_qp_reliable(qp) && !fault->local) {
		srnic_resp_drop(qp);
		return;
	}
	if (failure->verdict == SRNIC_V_RNR) {
		reply_not_ready(qp, failure->psn);
		return;
	}
	srnic_qp_record_failure(qp, failure);
	if (srnic_qp_reliable(qp))
		srnic_resp_nak(qp, failure->psn, fault->syndrome);
	if (qp->resp.has_rwqe)
		reported = srnic_recv_cqe(qp, &cqe, true);
	if (reported)
		srnic_qp_to_error(qp);
	else
		srnic_qp_to_error_event(qp, fault->event);
}

u8 srnic_resp_reply_opcode(u8 family)
{
	switch (family) {
	case SRNIC_FAM_ATOMIC:
		return SRNIC_OP_ATOMIC_ACK;
	case SRNIC_FAM_ATOMIC_WRITE:
	case SRNIC_FAM_FLUSH:
		return SRNIC_OP_READ_RESP_ONLY;	/* without payload */
	default:
		return SRNIC_OP_ACK;
	}
}

/* The entry of the replay store for @family and @psn, or NULL */
static const struct srnic_replay *reply_replay(const struct srnic_resp *resp,
					       u8 family, u32 psn)
{
	return srnic_replay_find(&resp->replays, family, srnic_resp_seq(resp, psn));
}

void srnic_resp_reply(struct srnic_qp *qp, u8 family, u32 psn)
{
	const struct srnic_replay *replay = reply_replay(&qp->resp, family, psn);

	srnic_task_assert_mine(&qp->task);
	if (replay)
		reply_send_aeth(qp, srnic_resp_reply_opcode(family), psn,
				SRNIC_AETH_ACK | SRNIC_AETH_NO_CREDITS,
				replay->orig);
}

void srnic_resp_answer(struct srnic_qp *qp, u8 family, u32 psn,
		       struct srnic_seg *seg)
{
	srnic_task_assert_mine(&qp->task);

	memset(seg, 0, sizeof(*seg));
	seg->local = true;
	srnic_qp_pkt(qp, &seg->pkt, srnic_resp_reply_opcode(family), psn);
	seg->pkt.syndrome = SRNIC_AETH_ACK | SRNIC_AETH_NO_CREDITS;
	seg->pkt.swap_add = reply_replay(&qp->resp, family, psn)->orig;
}
