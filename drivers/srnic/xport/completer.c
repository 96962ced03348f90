// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - completer: acknowledgments and responses in, completions out
 *
 * An acknowledgment covers all PSNs up to its own.  READs and atomics are completed
 * only by their response: if a later PSN is acknowledged first, the response was lost
 * (implied NAK) and is requested again.
 */
#include "internal.h"

/* Kept packets that are looked at in one step for loss recovery */
#define COMP_RECALL	512

static struct srnic_swqe *comp_oldest(const struct srnic_qp *qp)
{
	struct srnic_swqe *wqe;

	if (qp->sq.head == qp->sq.tail)
		return NULL;
	wqe = srnic_sq_wqe(&qp->sq, qp->sq.head);

	return wqe->started ? wqe : NULL;
}

static bool comp_wants_response(const struct srnic_swqe *wqe)
{
	return !wqe->done && srnic_wr_has_answer(wqe);
}

/*
 * Responses of the oldest work request missing from @psn on, and before @end: what
 * follows may have arrived, or need no response.
 */
static u32 comp_gap(const struct srnic_qp *qp, u32 psn, u32 end)
{
	const struct srnic_swqe *wqe = comp_oldest(qp);
	u32 left = (srnic_psn_add(wqe->psn, wqe->npsn) - psn) & SRNIC_PSN_MASK;

	return srnic_ooo_gap(&qp->req.ooo, psn,
			     min_t(u32, left, srnic_psn_diff(end, psn)));
}

/* Responses known to be missing from @psn on, as srnic_recovery_acked() expects it */
static u32 comp_hole(const struct srnic_qp *qp, u32 psn)
{
	const struct srnic_swqe *wqe = comp_oldest(qp);

	if (!wqe || !comp_wants_response(wqe))
		return 0;
	if (!qp->req.ooo.num)
		return SRNIC_RECOVERY_DUE;
	if (srnic_ooo_has(&qp->req.ooo, psn))
		return SRNIC_RECOVERY_KEPT;

	return comp_gap(qp, psn, qp->req.recovery.high);
}

/*
 * Tells loss recovery what was kept behind the holes that it had no room for, as far as it has
 * now.  What is left is told when the oldest PSN moves again.
 */
static void comp_recall(struct srnic_qp *qp)
{
	struct srnic_recovery *r = &qp->req.recovery;
	u32 psn, npsn, left = COMP_RECALL;

	while (left && srnic_loss_recalls(r) && srnic_req_is_live(qp)) {
		psn = srnic_ooo_first(&qp->req.ooo, r->sb.top);
		npsn = srnic_ooo_run(&qp->req.ooo, psn, left);
		if (!npsn) {
			srnic_loss_recalled(r);
			break;
		}
		srnic_task_spend(&qp->task, npsn * sizeof(struct sk_buff));
		srnic_req_recover(qp, srnic_recovery_recall(r, psn, npsn, ktime_get_ns()));
		left -= npsn;
	}
}

/* The oldest unacknowledged PSN is now @psn. */
static void comp_advance(struct srnic_qp *qp, u32 psn)
{
	struct srnic_recovery *r = &qp->req.recovery;

	if (srnic_psn_diff(psn, r->una) <= 0)
		return;
	srnic_req_recover(qp, srnic_recovery_acked(r, psn, comp_hole(qp, psn),
						   ktime_get_ns()));
	comp_recall(qp);
}

/*
 * Does an acknowledgment of everything before @psn cover all of @wqe, the oldest work
 * request, if everything before @una has been acknowledged?  A work request takes up to
 * 2^23 PSNs, half the PSN space, so its end cannot be compared with its start: compare
 * what is left of it.
 */
static bool comp_is_covered(const struct srnic_swqe *wqe, u32 una, u32 psn)
{
	u32 end = srnic_psn_add(wqe->psn, wqe->npsn);
	u32 left = (end - una) & SRNIC_PSN_MASK;

	if (!wqe->npsn)
		return wqe->done;

	return srnic_psn_diff(psn, una) >= (s32)left;
}

/*
 * Everything before @psn is acknowledged.  False: a response before it is missing, and
 * una is the first PSN missing.  Nothing is once this has failed the queue pair.
 */
static bool comp_ack_before(struct srnic_qp *qp, u32 psn)
{
	u32 una = qp->req.recovery.una;
	struct srnic_swqe *wqe;

	while ((wqe = comp_oldest(qp)) && !comp_wants_response(wqe) &&
	       comp_is_covered(wqe, una, psn)) {
		if (wqe->npsn)
			una = srnic_psn_add(wqe->psn, wqe->npsn);
		srnic_req_complete(qp);
	}
	if (!wqe || !comp_wants_response(wqe)) {
		comp_advance(qp, psn);
		return true;
	}
	comp_advance(qp, una);

	return srnic_psn_diff(psn, una) <= 0 || !srnic_req_is_live(qp);
}

/* Packets from una on are missing: @gap of them, 0: not known */
static void comp_missing(struct srnic_qp *qp, u32 gap)
{
	struct srnic_recovery *r = &qp->req.recovery;

	srnic_req_recover(qp, srnic_recovery_missing(r, gap, ktime_get_ns()));
}

/* Responses are missing although later ones arrived: an implied NAK, counted once */
static void comp_reread(struct srnic_qp *qp, u32 gap)
{
	if (qp->req.recovery.mode == SRNIC_RECOVERY_OPEN) {
		srnic_count(qp->stats, SRNIC_CNT_IMPLIED_NAK);
		srnic_sack_ask(qp);
	}
	comp_missing(qp, gap);
}

static void comp_rnr(struct srnic_qp *qp, u8 code)
{
	struct srnic_recovery *r = &qp->req.recovery;
	u32 usec = srnic_rnr_usec(code);

	if (r->mode == SRNIC_RECOVERY_RNR)
		return;
	srnic_count(qp->stats, SRNIC_CNT_RCVD_RNR);
	srnic_req_recover(qp, srnic_recovery_rnr(r, usec * NSEC_PER_USEC,
						 ktime_get_ns()));
	trace_srnic_rnr_wait(qp->qpn, r->una, r->rnr_left, usec);
}

static void comp_sequence_nak(struct srnic_qp *qp)
{
	srnic_count(qp->stats, SRNIC_CNT_RCVD_SEQ_ERR);
	srnic_sack_ask(qp);
	comp_missing(qp, 0);
}

/* Verdict and counter of NAKs that are fatal to the QP, by NAK code */
static const struct {
	u8	verdict;
	u8	counter;
} comp_naks[] = {
	[SRNIC_AETH_VALUE(SRNIC_AETH_NAK_INV_REQ)] = {
		SRNIC_V_NAK_INV_REQ, SRNIC_CNT_REQ_INV_REQ },
	[SRNIC_AETH_VALUE(SRNIC_AETH_NAK_REM_ACC)] = {
		SRNIC_V_NAK_REM_ACC, SRNIC_CNT_REQ_REM_ACC },
	[SRNIC_AETH_VALUE(SRNIC_AETH_NAK_REM_OP)] = {
		SRNIC_V_NAK_REM_OP, SRNIC_CNT_REQ_REM_OP },
	[SRNIC_AETH_VALUE(SRNIC_AETH_NAK_INV_RD)] = {
		SRNIC_V_NAK_INV_RD, SRNIC_CNT_REQ_INV_REQ },
};

static void comp_fatal_nak(struct srnic_qp *qp, u8 code)
{
	srnic_count(qp->stats, comp_naks[code].counter);
	srnic_req_fail(qp, srnic_fail(comp_naks[code].verdict));
}

/* Handles a NAK; everything before its PSN is already acknowledged. */
static void comp_nak(struct srnic_qp *qp, u8 syndrome)
{
	u8 code = SRNIC_AETH_VALUE(syndrome);

	if (!comp_oldest(qp) || !srnic_req_is_live(qp))
		return;

	switch (srnic_ack_of(syndrome)) {
	case SRNIC_ACK_RNR:
		comp_rnr(qp, code);
		break;
	case SRNIC_ACK_SEQ:
		comp_sequence_nak(qp);
		break;
	case SRNIC_ACK_FATAL:
		comp_fatal_nak(qp, code);
		break;
	default:
		break;
	}
}

/*
 * A NAK has arrived ahead of a response, which is requested again.  If the NAK is fatal, it
 * is not: the peer is silent from now on.
 */
static void comp_early_nak(struct srnic_qp *qp, const struct srnic_pkt *pkt)
{
	struct srnic_req *req = &qp->req;

	srnic_recovery_dropped(&req->recovery, false, ktime_get_ns());
	if (srnic_ack_of(pkt->syndrome) != SRNIC_ACK_FATAL ||
	    (req->nak && srnic_psn_diff(pkt->psn, req->nak_psn) >= 0))
		return;

	req->nak = pkt->syndrome;
	req->nak_psn = pkt->psn;
}

/* The response may have been the one that the NAK has overtaken. */
static void comp_recall_nak(struct srnic_qp *qp)
{
	struct srnic_req *req = &qp->req;
	u8 syndrome = req->nak;

	if (srnic_psn_diff(req->nak_psn, req->recovery.una) < 0) {
		req->nak = 0;
	} else if (comp_ack_before(qp, req->nak_psn)) {
		req->nak = 0;
		comp_nak(qp, syndrome);
	}
}

void srnic_comp_acked(struct srnic_qp *qp, u32 psn)
{
	comp_ack_before(qp, psn);
}

static void comp_ack(struct srnic_qp *qp, const struct srnic_pkt *pkt)
{
	bool ack = srnic_ack_of(pkt->syndrome) == SRNIC_ACK_OK;
	/* A NAK refers to the PSN it carries, an ACK includes it. */
	u32 end = srnic_psn_add(pkt->psn, ack);

	if (!comp_ack_before(qp, end)) {
		comp_reread(qp, comp_gap(qp, qp->req.recovery.una, end));
		if (!ack)
			comp_early_nak(qp, pkt);
		return;
	}
	if (!ack)
		comp_nak(qp, pkt->syndrome);
}

/* Is the data of the response the value in its headers? */
static bool comp_is_word(const struct srnic_seg *seg)
{
	return srnic_pkt_op(&seg->pkt)->family == SRNIC_FAM_ATOMIC_ACK;
}

/*
 * Writes response data at offset @off of the scatter list of @wqe, if that is for the
 * response.
 */
static enum srnic_mem_err comp_write(struct srnic_qp *qp,
				     const struct srnic_swqe *wqe, u64 off,
				     const struct srnic_seg *seg)
{
	struct srnic_req *req = &qp->req;
	enum srnic_mem_err err;

	if (!srnic_wr_has_sink(wqe))
		return SRNIC_MEM_OK;
	if (req->rsgl.pos != off) {
		srnic_sgl_init(&req->rsgl, qp->keys, qp->pd, wqe->sge,
			       wqe->sqe.num_sge, IB_ACCESS_LOCAL_WRITE,
			       &qp->comp_pager);
		err = srnic_sgl_seek(&req->rsgl, off);
		if (err)
			return err;
	}

	return comp_is_word(seg) ?
	       srnic_sgl_write(&req->rsgl, &seg->pkt.swap_add,
			       sizeof(seg->pkt.swap_add)) :
	       srnic_payload_to_sgl(seg, &req->rsgl);
}

/* Length of the response data; that to an ATOMIC WRITE or a FLUSH has none */
static u32 comp_answer_length(const struct srnic_swqe *wqe)
{
	return srnic_wr_has_sink(wqe) ? wqe->length : 0;
}

/* Handles the response at una, for the oldest READ or atomic. */
static enum srnic_outcome comp_response(struct srnic_qp *qp,
					struct srnic_swqe *wqe,
				     const struct srnic_seg *seg)
{
	u32 len = comp_is_word(seg) ? sizeof(seg->pkt.swap_add) :
				      seg->pkt.payload;
	u32 index = srnic_psn_diff(seg->pkt.psn, wqe->psn);
	u32 npsn = seg->local ? srnic_seg_npsn(seg, qp->conf.mtu) : 1;
	u64 off = (u64)index * qp->conf.mtu;
	u32 next = srnic_psn_add(seg->pkt.psn, npsn);
	bool last = index + npsn == wqe->npsn;
	enum srnic_outcome outcome;

	if (len != (last ? comp_answer_length(wqe) - off :
			   npsn * qp->conf.mtu)) {
		srnic_req_fail(qp, srnic_fail(SRNIC_V_RESPONSE));
		return SRNIC_DONE;
	}
	outcome = srnic_accessed(comp_write(qp, wqe, off, seg), SRNIC_V_SINK);
	if (outcome == SRNIC_AGAIN)
		return SRNIC_AGAIN;
	if (outcome) {
		srnic_req_fail(qp, outcome);
		return SRNIC_DONE;
	}
	qp->req.traffic.data_in += seg->pkt.payload;
	if (last) {
		wqe->done = true;
		srnic_sgl_forget(&qp->req.rsgl);
		/* A response acknowledges what is before it, also if it was kept. */
		comp_ack_before(qp, srnic_ooo_first(&qp->req.ooo, next));
	} else {
		comp_advance(qp, next);
	}
	if (qp->req.nak && srnic_req_is_live(qp))
		comp_recall_nak(qp);

	return SRNIC_DONE;
}

void srnic_comp_kept(struct srnic_qp *qp, u32 psn)
{
	srnic_task_assert_mine(&qp->task);
	if (srnic_req_is_live(qp))
		srnic_req_recover(qp, srnic_recovery_arrived(&qp->req.recovery, psn,
							     ktime_get_ns()));
}

/*
 * Is the syndrome valid in this packet?  Reserved ones are not, and a response carries
 * an ACK.
 */
static bool comp_makes_sense(const struct srnic_op *op,
			     const struct srnic_pkt *pkt)
{
	enum srnic_ack ack;

	if (!(op->hdrs & SRNIC_H_AETH))
		return true;

	ack = srnic_ack_of(pkt->syndrome);

	return op->family == SRNIC_FAM_ACK ? ack != SRNIC_ACK_RESERVED :
					     ack == SRNIC_ACK_OK;
}

u32 srnic_comp_next(struct srnic_qp *qp)
{
	const struct srnic_swqe *wqe;
	u32 idx;

	for (idx = qp->sq.head; idx != qp->sq.tail; idx++) {
		wqe = srnic_sq_wqe(&qp->sq, idx);
		if (!wqe->started)
			break;
		if (comp_wants_response(wqe))
			return idx == qp->sq.head ? qp->req.recovery.una : wqe->psn;
		srnic_task_spend(&qp->task, sizeof(*wqe));
	}

	return qp->req.recovery.una;
}

enum srnic_outcome srnic_comp_packet(struct srnic_qp *qp,
				     const struct srnic_seg *seg)
{
	const struct srnic_op *op = srnic_pkt_op(&seg->pkt);
	struct srnic_req *req = &qp->req;
	struct srnic_swqe *wqe;
	s32 ahead = srnic_psn_diff(seg->pkt.psn, req->recovery.una);

	if (ahead < 0 && op->family == SRNIC_FAM_ACK &&
	    srnic_ack_of(seg->pkt.syndrome) == SRNIC_ACK_SEQ)
		srnic_recovery_dropped(&req->recovery, false, ktime_get_ns());
	if (ahead < 0 && comp_makes_sense(op, &seg->pkt))
		srnic_recovery_heard(&req->recovery);
	/* Ignore stale packets and those for a PSN that was never sent. */
	if (ahead < 0 || srnic_psn_diff(seg->pkt.psn, req->recovery.high) >= 0)
		return SRNIC_DONE;

	if (!comp_makes_sense(op, &seg->pkt)) {
		srnic_qp_refuse(qp, SRNIC_CNT_RX_MALFORMED);
		return SRNIC_DONE;
	}

	if (op->family == SRNIC_FAM_ACK) {
		comp_ack(qp, &seg->pkt);
		return SRNIC_DONE;
	}

	if (!comp_ack_before(qp, seg->pkt.psn)) {
		trace_srnic_early(qp->qpn, seg->pkt.psn, req->recovery.una);
		comp_reread(qp, comp_gap(qp, req->recovery.una, seg->pkt.psn));
		return SRNIC_EARLY;
	}
	wqe = comp_oldest(qp);
	if (!wqe || wqe->done ||
	    srnic_psn_diff(seg->pkt.psn, wqe->psn) < 0 ||
	    qp->conf.state == IB_QPS_ERR)
		return SRNIC_DONE;
	if (srnic_wr_of(wqe)->answer != op->family) {
		srnic_req_fail(qp, srnic_fail(SRNIC_V_RESPONSE));
		return SRNIC_DONE;
	}

	return comp_response(qp, wqe, seg);
}
