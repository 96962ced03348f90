// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - send queue: work requests fetched, completed, flushed and sent again
 *
 * queue/sq.c reads the ring.  recovery.c decides which PSN is sent next and when to act on
 * silence; this file translates that to work requests, counters and trace points.  The
 * cursor is the index of the work request that the next PSN belongs to.
 */
#include "internal.h"

static void cursor_set(struct srnic_qp *qp, u32 idx)
{
	qp->req.cur = idx;
	srnic_sgl_forget(&qp->req.sgl);
}

void srnic_req_advance(struct srnic_qp *qp)
{
	cursor_set(qp, qp->req.cur + 1);
}

/* Is no part of @wqe left to send, or to execute, from @psn on? */
static bool cursor_is_behind(const struct srnic_swqe *wqe, u32 psn)
{
	if (!wqe->started || (!wqe->npsn && !wqe->done))
		return false;

	return srnic_psn_diff(psn, srnic_psn_add(wqe->psn, wqe->npsn)) >= 0;
}

void srnic_req_seek(struct srnic_qp *qp)
{
	u32 psn = qp->req.recovery.next, idx = qp->sq.head;
	struct srnic_sq *sq = &qp->sq;

	while (idx != sq->tail && cursor_is_behind(srnic_sq_wqe(sq, idx), psn)) {
		srnic_task_spend(&qp->task, sizeof(struct srnic_swqe));
		idx++;
	}
	cursor_set(qp, idx);
}

bool srnic_req_is_signaled(const struct srnic_qp *qp,
			   const struct srnic_swqe *wqe)
{
	return qp->conf.sq_sig_all || (wqe->sqe.flags & IB_SEND_SIGNALED);
}

static void req_cqe(struct srnic_qp *qp, const struct srnic_swqe *wqe,
		    enum ib_wc_status status)
{
	struct srnic_cqe cqe = {
		.wr_id = wqe->sqe.wr_id,
		.status = status,
	};

	if (status == IB_WC_SUCCESS) {
		cqe.opcode = srnic_wr_of(wqe)->wc;
		cqe.byte_len = wqe->length;
	} else {
		srnic_count(qp->stats, status == IB_WC_WR_FLUSH_ERR ?
				       SRNIC_CNT_REQ_FLUSH : SRNIC_CNT_REQ_ERR);
	}
	srnic_qp_cqe(qp, qp->send_cq, &cqe, false);
}

/* Removes the oldest work request from the queue. */
static void req_retire(struct srnic_qp *qp, enum ib_wc_status status)
{
	struct srnic_sq *sq = &qp->sq;

	trace_srnic_retire(qp->qpn, sq->head, srnic_sq_wqe(sq, sq->head), status);
	if (qp->req.cur == sq->head)
		srnic_req_advance(qp);
	sq->head++;
	srnic_sq_publish(sq);
}

static void req_count(struct srnic_qp *qp, const struct srnic_swqe *wqe)
{
	u8 counter = srnic_wr_of(wqe)->counter;

	if (!srnic_local_op_is(wqe))
		qp->req.traffic.messages++;
	if (counter != SRNIC_CNT_NUM)
		srnic_count(qp->stats, counter);
}

void srnic_req_complete(struct srnic_qp *qp)
{
	const struct srnic_swqe *wqe = srnic_sq_wqe(&qp->sq, qp->sq.head);

	srnic_task_assert_mine(&qp->task);
	req_count(qp, wqe);
	req_retire(qp, IB_WC_SUCCESS);
	if (srnic_req_is_signaled(qp, wqe))	/* nothing has been fetched to its place */
		req_cqe(qp, wqe, IB_WC_SUCCESS);
}

void srnic_req_fail(struct srnic_qp *qp, enum srnic_outcome outcome)
{
	const struct srnic_swqe *wqe = srnic_sq_wqe(&qp->sq, qp->sq.head);
	struct srnic_swqe copy = *wqe;
	struct srnic_failure failure;
	enum ib_wc_status status;

	srnic_task_assert_mine(&qp->task);
	srnic_failure_of_wqe(&failure, qp, wqe, outcome);
	srnic_qp_record_failure(qp, &failure);
	status = srnic_faults[failure.verdict].status;
	req_retire(qp, status);
	if (!srnic_qp_reliable(qp)) {
		trace_srnic_qp_state(qp->qpn, qp->conf.state, IB_QPS_SQE);
		qp->conf.state = IB_QPS_SQE;
	}
	req_cqe(qp, &copy, status);
	if (srnic_qp_reliable(qp))
		srnic_qp_to_error(qp);
}

/* The next work request from the ring; NULL: none, or the ring is broken */
static struct srnic_swqe *req_take(struct srnic_qp *qp)
{
	struct srnic_swqe *wqe = srnic_sq_fetch(&qp->sq, qp->type);

	if (wqe)
		trace_srnic_fetch(qp->qpn, qp->sq.tail - 1, wqe);

	return wqe;
}

struct srnic_swqe *srnic_req_fetch(struct srnic_qp *qp)
{
	struct srnic_swqe *wqe = req_take(qp);

	srnic_task_assert_mine(&qp->task);
	if (!wqe && qp->sq.broken)
		srnic_qp_fail(qp, SRNIC_V_SEND_RING);

	return wqe;
}

bool srnic_req_flush(struct srnic_qp *qp)
{
	struct srnic_sq *sq = &qp->sq;
	struct srnic_swqe copy;

	srnic_task_assert_mine(&qp->task);
	srnic_ooo_purge(&qp->req.ooo);
	srnic_task_share(&qp->task);
	while (srnic_task_may(&qp->task)) {
		if (sq->head == sq->tail && !srnic_req_fetch(qp))
			return false;
		copy = *srnic_sq_wqe(sq, sq->head);
		req_retire(qp, IB_WC_WR_FLUSH_ERR);
		req_cqe(qp, &copy, IB_WC_WR_FLUSH_ERR);
		srnic_task_spend(&qp->task, SRNIC_COST_ITEM);
	}

	return true;
}

/* Behind a stream, ACKs are not requested more often because the queue runs empty. */
#define REQ_ASK_NSEC	(500 * NSEC_PER_USEC)

/*
 * Does the send queue run empty, of a consumer that has let an ACK be asked for by a
 * retransmission?  The next packet may leave too late to request the ACK for this one.  Where
 * two ends answer each other, the ACK leaves with the answer and costs little.
 */
bool srnic_req_ends_burst(struct srnic_qp *qp)
{
	struct srnic_req *req = &qp->req;
	bool soon;

	if (!req->ask_ahead || req->cur + 1 != qp->sq.tail ||
	    !srnic_sq_is_empty(&qp->sq))
		return false;

	soon = ktime_get_ns() - req->asked_at < REQ_ASK_NSEC;
	req->ask_ahead = soon ? req->ask_ahead - 1 : U8_MAX;

	return !soon || req->asked_seq != qp->resp.seq;
}

/*
 * Is a local operation next?  It waits for the ACK of the packets before it: to begin if they may
 * be sent again from its key, or else to complete.
 */
bool srnic_req_delays_local_op(struct srnic_qp *qp)
{
	u32 next = qp->req.cur + 1;

	if (next == qp->sq.tail && (qp->conf.state != IB_QPS_RTS || !req_take(qp)))
		return false;

	return srnic_local_op_is(srnic_sq_wqe(&qp->sq, next));
}

void srnic_req_sent(struct srnic_qp *qp, const struct srnic_swqe *wqe,
		    u32 npsn, bool asks)
{
	struct srnic_recovery *r = &qp->req.recovery;
	u64 now = asks || r->detour || r->next == r->una ? ktime_get_ns() : 0;
	bool last = srnic_req_is_end(qp, wqe, npsn);

	if (asks && !r->detour) {
		qp->req.asked_at = now;
		qp->req.asked_seq = qp->resp.seq;
	}
	if (last)
		srnic_req_advance(qp);
	if (srnic_recovery_sent(r, npsn, srnic_wr_has_answer(wqe), asks, now))
		srnic_req_seek(qp);
	if (srnic_qp_reliable(qp))
		return;

	/* Nothing is acknowledged: the message is complete once passed to the stack. */
	srnic_flight_forget(r);
	if (last)
		srnic_req_complete(qp);
}

/*
 * Is this end waiting for a page?  Then the answer may have arrived already.  Or does the rest
 * of a loopback READ wait for the user's worker?
 */
static bool recover_is_busy(const struct srnic_qp *qp)
{
	return (qp->req.reading && srnic_task_owes(&qp->task)) ||
	       srnic_pager_busy(&qp->req_pager) ||
	       srnic_pager_busy(&qp->comp_pager) ||
	       srnic_pager_busy(&qp->resp_pager);
}

/* Names of enum srnic_recovery_cause for the trace points */
static const char * const recover_causes[SRNIC_CAUSE_NUM] = {
	[SRNIC_CAUSE_MEMORY]	= "memory",
	[SRNIC_CAUSE_RNR]	= "rnr",
	[SRNIC_CAUSE_ASK]	= "ask",
	[SRNIC_CAUSE_PROBE]	= "probe",
	[SRNIC_CAUSE_GAP]	= "gap",
	[SRNIC_CAUSE_TIMEOUT]	= "ack",
};

static void recover_fail(struct srnic_qp *qp, u8 cause)
{
	bool rnr = cause == SRNIC_CAUSE_RNR;

	srnic_count(qp->stats, rnr ? SRNIC_CNT_RNR_EXCEEDED :
				     SRNIC_CNT_RETRY_EXCEEDED);
	srnic_req_fail(qp, srnic_fail(rnr ? SRNIC_V_NAK_RNR : SRNIC_V_SILENCE));
}

/* Does @cause say that packets are missing? */
static bool recover_is_loss(u8 cause)
{
	return cause == SRNIC_CAUSE_PROBE || cause == SRNIC_CAUSE_GAP ||
	       cause == SRNIC_CAUSE_TIMEOUT;
}

void srnic_req_recover(struct srnic_qp *qp, struct srnic_recovery_todo todo)
{
	struct srnic_recovery *r = &qp->req.recovery;

	switch (todo.act) {
	case SRNIC_RECOVERY_SEEK:
		if (todo.cause == SRNIC_CAUSE_ASK) {
			qp->req.ask_ahead = U8_MAX;
		} else if (todo.cause) {
			trace_srnic_go_back(qp->qpn, r->high, r->una,
					    recover_causes[todo.cause]);
			srnic_count(qp->stats, SRNIC_CNT_GO_BACK);
		}
		qp->req.traffic.lost += recover_is_loss(todo.cause);
		srnic_req_seek(qp);
		break;
	case SRNIC_RECOVERY_FAIL:
		recover_fail(qp, todo.cause);
		break;
	}
}

bool srnic_req_is_live(const struct srnic_qp *qp)
{
	return qp->conf.state == IB_QPS_RTS || qp->conf.state == IB_QPS_SQD;
}

void srnic_req_timeout(struct srnic_qp *qp)
{
	struct srnic_recovery *r = &qp->req.recovery;
	struct srnic_recovery_todo todo;
	bool busy = recover_is_busy(qp);
	u64 now = ktime_get_ns();
	u32 una = r->una;

	if (!srnic_req_is_live(qp))
		return;
	if (!busy && srnic_backlog_is_unread(qp) && srnic_rto_postpone(r, now))
		return;

	todo = srnic_recovery_timeout(r, busy, now);
	if (todo.cause)
		trace_srnic_timeout(qp->qpn, una, r->retry_left,
				    recover_causes[todo.cause]);
	if (todo.cause == SRNIC_CAUSE_TIMEOUT)
		srnic_count(qp->stats, SRNIC_CNT_ACK_TIMEOUT);
	srnic_req_recover(qp, todo);
}

void srnic_req_arm(struct srnic_qp *qp, bool sent)
{
	struct srnic_recovery *r = &qp->req.recovery;

	if (!r->silence && (sent || (r->late && !recover_is_busy(qp))))
		srnic_rto_arm(r, ktime_get_ns());
}

void srnic_req_solicit_ack(struct srnic_qp *qp)
{
	if (!recover_is_busy(qp))
		srnic_rto_solicit_ack(&qp->req.recovery, ktime_get_ns());
}

bool srnic_req_refused(struct srnic_qp *qp)
{
	struct srnic_recovery_todo todo;

	todo = srnic_recovery_refused(&qp->req.recovery, ktime_get_ns());
	srnic_req_recover(qp, todo);

	return todo.act;
}
