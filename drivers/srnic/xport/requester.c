// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - requester: work requests in, packets out
 *
 * The send queue holds the work requests from head (oldest not completed) to tail; cur
 * is the one that the next packet, with PSN next, belongs to.  Going back moves cur and
 * next; what has been acknowledged meanwhile is skipped.
 */
#include "internal.h"

/* Sends a datagram or a frame, which is complete once it has been handed over. */
static enum srnic_outcome req_cast(struct srnic_qp *qp,
				   const struct srnic_swqe *wqe)
{
	enum srnic_outcome outcome;

	outcome = srnic_qp_is_raw(qp) ? srnic_raw_send(qp, wqe) :
					srnic_ud_send(qp, wqe);
	if (outcome)
		return outcome;

	srnic_recovery_skip(&qp->req.recovery, qp->req.recovery.psn);
	srnic_req_complete(qp);

	return SRNIC_DONE;
}

/*
 * Sends the part of @wqe at the cursor.  A peer on the same device is served by loopback if
 * possible, several packets at once; everything else is sent as one packet.
 */
static enum srnic_outcome req_send(struct srnic_qp *qp,
				   const struct srnic_swqe *wqe)
{
	if (qp->self && !srnic_loopback_send(qp, wqe))
		return SRNIC_DONE;
	if (!srnic_cc_may_request(qp))
		return srnic_req_wait(qp, SRNIC_LIMIT_PACE);
	if (!srnic_gate_open(&qp->gate))
		return SRNIC_AGAIN;
	if (srnic_qp_is_raw(qp) || srnic_qp_is_datagram(qp))
		return req_cast(qp, wqe);

	return srnic_req_packet_send(qp, wqe);
}

/* Work requests in flight, since one ACK may complete all of them at once */
#define REQ_AHEAD	1024

/* The rest of the failed work request is never sent. */
void srnic_req_resume(struct srnic_qp *qp)
{
	qp->req.refused = 0;
	srnic_recovery_skip(&qp->req.recovery, qp->req.recovery.psn);
}

void srnic_req_reset(struct srnic_qp *qp)
{
	srnic_req_sgl_release(qp);
	srnic_ooo_purge(&qp->req.ooo);
	memset(&qp->req, 0, sizeof(qp->req));
	srnic_sgl_forget(&qp->req.sgl);
	srnic_sgl_forget(&qp->req.rsgl);
}

void srnic_req_drain(struct srnic_qp *qp)
{
	qp->req.sq_drained_raised = false;
}

static u32 req_npsn(const struct srnic_qp *qp, const struct srnic_swqe *wqe)
{
	if (!wqe->length || srnic_qp_is_datagram(qp) || srnic_qp_is_raw(qp))
		return 1;

	return DIV_ROUND_UP(wqe->length, qp->conf.mtu);
}

/* The destination of a response must be writable before the response is requested. */
static enum srnic_outcome req_check_sink(struct srnic_qp *qp,
					 const struct srnic_swqe *wqe)
{
	if (!srnic_wr_has_sink(wqe))
		return SRNIC_DONE;

	return srnic_accessed(srnic_sgl_check(qp->keys, qp->pd, wqe->sge,
					      wqe->sqe.num_sge,
					      IB_ACCESS_LOCAL_WRITE,
					      &qp->req.sink),
			      SRNIC_V_SINK);
}

/* May a READ or an atomic start, with regard to max_rd_atomic and its SGE list? */
static enum srnic_outcome req_may_start(struct srnic_qp *qp,
					const struct srnic_swqe *wqe)
{
	if (!qp->conf.max_rd_atomic)
		return srnic_fail(SRNIC_V_WR_DEPTH);
	if (qp->req.recovery.reads.num >= qp->conf.max_rd_atomic)
		return srnic_req_wait(qp, SRNIC_LIMIT_READS);

	return req_check_sink(qp, wqe);
}

/*
 * Assigns PSNs to the work request if it may start: a fenced one waits for READs and
 * atomics, which in turn wait for a place among max_rd_atomic.
 */
static enum srnic_outcome req_start(struct srnic_qp *qp,
				    struct srnic_swqe *wqe)
{
	struct srnic_recovery *r = &qp->req.recovery;
	u32 npsn = req_npsn(qp, wqe);
	enum srnic_outcome outcome;

	if (qp->conf.state != IB_QPS_RTS)
		return srnic_req_wait(qp, SRNIC_LIMIT_APP);
	if ((wqe->sqe.flags & IB_SEND_FENCE) && r->reads.num)
		return srnic_req_wait(qp, SRNIC_LIMIT_READS);
	if (r->una != r->psn &&
	    (((r->psn - r->una) & SRNIC_PSN_MASK) + npsn) >= BIT(23))
		return srnic_req_wait(qp, SRNIC_LIMIT_WINDOW);
	if (srnic_wr_has_answer(wqe)) {
		outcome = req_may_start(qp, wqe);
		if (outcome)
			return outcome;
	}
	wqe->psn = srnic_flight_assign(r, npsn);
	wqe->npsn = npsn;
	wqe->started = true;

	return SRNIC_DONE;
}

/* Executes a local operation; it completes after those before it. */
static enum srnic_outcome req_local_op(struct srnic_qp *qp,
				       struct srnic_swqe *wqe)
{
	enum srnic_outcome outcome = srnic_local_op_run(qp, wqe);

	if (outcome == SRNIC_AGAIN)
		srnic_req_solicit_ack(qp);
	if (outcome)
		return outcome;

	if (qp->req.cur == qp->sq.head) {
		srnic_req_complete(qp);
	} else {
		srnic_req_advance(qp);
		srnic_req_solicit_ack(qp);
	}

	return SRNIC_DONE;
}

/* The work request at the cursor, fetched if necessary; NULL: none */
static struct srnic_swqe *req_current(struct srnic_qp *qp)
{
	if (qp->req.cur != qp->sq.tail)
		return srnic_sq_wqe(&qp->sq, qp->req.cur);
	if (qp->conf.state != IB_QPS_RTS ||
	    qp->req.cur - qp->sq.head >= REQ_AHEAD)
		return NULL;

	return srnic_req_fetch(qp);
}

/* Raises SQ_DRAINED when a draining queue has nothing in progress. */
static void req_check_drained(struct srnic_qp *qp)
{
	if (qp->conf.state != IB_QPS_SQD || qp->req.sq_drained_raised)
		return;
	if (qp->req.recovery.una != qp->req.recovery.psn) {
		srnic_req_solicit_ack(qp);
		return;
	}

	qp->req.sq_drained_raised = true;
	qp->event(qp, IB_EVENT_SQ_DRAINED);
}

/* Why @wqe is refused: what was found before, or when it was fetched */
static enum srnic_outcome req_refusal(const struct srnic_qp *qp,
				      const struct srnic_swqe *wqe)
{
	if (qp->req.refused)
		return qp->req.refused;

	return srnic_fail(wqe->status == IB_WC_LOC_LEN_ERR ? SRNIC_V_WR_LENGTH :
							     SRNIC_V_WR);
}

/* Performs one step of the work request at the cursor. */
static enum srnic_outcome req_work(struct srnic_qp *qp, struct srnic_swqe *wqe)
{
	enum srnic_outcome outcome;

	if (wqe->status)
		return req_refusal(qp, wqe);
	if (srnic_local_op_is(wqe))
		return req_local_op(qp, wqe);
	if (!wqe->started) {
		outcome = req_start(qp, wqe);
		if (outcome)
			return outcome;
	}

	return req_send(qp, wqe);
}

/*
 * Fails @wqe with @outcome once the work requests before it are complete.  SRNIC_AGAIN:
 * they are not yet.
 */
static enum srnic_outcome req_refuse(struct srnic_qp *qp, struct srnic_swqe *wqe,
				     enum srnic_outcome outcome)
{
	wqe->status = srnic_faults[srnic_fail_why(outcome)].status;
	qp->req.refused = outcome;
	if (qp->req.cur != qp->sq.head)
		return srnic_req_refused(qp) ? SRNIC_DONE : SRNIC_AGAIN;

	srnic_req_fail(qp, outcome);

	return outcome;
}

/* Sending is on hold, until there is memory or a receive of the peer. */
static enum srnic_outcome req_hold(struct srnic_qp *qp)
{
	return qp->req.recovery.mode == SRNIC_RECOVERY_RNR ?
	       srnic_req_wait(qp, SRNIC_LIMIT_PEER) : SRNIC_AGAIN;
}

/*
 * Is what comes next the user's own work, which is owed?  What has been sent may be sent again
 * by any context, or the retries would run out.
 */
static bool req_is_owed(const struct srnic_qp *qp)
{
	const struct srnic_req *req = &qp->req;

	return srnic_task_owes(&qp->task) &&
	       (req->reading || srnic_flight_is_new(&req->recovery));
}

static enum srnic_outcome req_step(struct srnic_qp *qp)
{
	struct srnic_req *req = &qp->req;
	enum srnic_outcome outcome;
	struct srnic_swqe *wqe;

	if (srnic_rto_is_held(&req->recovery))
		return req_hold(qp);
	if (srnic_pager_busy(&qp->req_pager))
		return SRNIC_AGAIN;
	if (req_is_owed(qp))
		return srnic_req_wait(qp, SRNIC_LIMIT_HOST);
	if (req->reading)
		return srnic_loopback_read(qp);
	if (!srnic_flight_open(&req->recovery))
		return srnic_req_wait(qp, SRNIC_LIMIT_WINDOW);
	wqe = req_current(qp);
	if (!wqe)
		return srnic_req_wait(qp, SRNIC_LIMIT_APP);
	outcome = req_work(qp, wqe);
	if (srnic_has_failed(outcome))
		return req_refuse(qp, wqe, outcome);

	return outcome;
}

bool srnic_req_is_idle(struct srnic_qp *qp)
{
	return qp->conf.state == IB_QPS_RTS && qp->req.cur == qp->sq.tail &&
	       qp->req.cur - qp->sq.head < REQ_AHEAD &&
	       srnic_flight_open(&qp->req.recovery);
}

bool srnic_req_run(struct srnic_qp *qp)
{
	enum srnic_outcome outcome;
	bool moved = false;
	u32 before;

	srnic_task_assert_mine(&qp->task);
	srnic_task_share(&qp->task);
	srnic_req_limit(qp, SRNIC_LIMIT_HOST);	/* unless it stops for another reason */
	do {
		before = qp->req.recovery.next;
		outcome = req_step(qp);
		moved |= qp->req.recovery.next != before;
		srnic_task_spend(&qp->task, SRNIC_COST_ITEM);
	} while (!outcome && srnic_task_may(&qp->task));

	srnic_req_arm(qp, moved);
	req_check_drained(qp);

	return !outcome;
}
