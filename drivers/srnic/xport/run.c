// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - one run of the task of a queue pair: the order of its steps, and the timer
 *
 * One timer serves retransmissions, RNR waits and delayed ACKs.
 */
#include "internal.h"

static enum hrtimer_restart timer_fired(struct hrtimer *timer)
{
	struct srnic_qp *qp = container_of(timer, struct srnic_qp, timer);

	WRITE_ONCE(qp->timer_fired, true);	/* read in timer_is_due() */
	srnic_task_kick(&qp->task);

	return HRTIMER_NORESTART;
}

void srnic_qp_timer_init(struct srnic_qp *qp)
{
	hrtimer_setup(&qp->timer, timer_fired, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
}

/* Has the timer fire at @deadline, or at most @slack later, unless it fires earlier. */
static void timer_reach(struct srnic_qp *qp, u64 deadline, u64 slack)
{
	ktime_t when = ns_to_ktime(deadline);

	if (!hrtimer_is_queued(&qp->timer) ||
	    ktime_before(ktime_add_ns(when, slack), hrtimer_get_expires(&qp->timer)))
		hrtimer_start_range_ns(&qp->timer, when, slack, HRTIMER_MODE_ABS_SOFT);
}

/*
 * The deadline moves with every acknowledgment, but the timer does not: the deadline is
 * checked when it fires.  Only a timer that would fire too late is restarted.
 */
static void timer_sync(struct srnic_qp *qp)
{
	const struct srnic_recovery *r = &qp->req.recovery;

	if (r->deadline)
		timer_reach(qp, r->deadline, srnic_rto_slack(r));
	/* A delayed ACK waits for the end of the response as well. */
	if (qp->resp.ack.deadline && !qp->resp.read_left)
		timer_reach(qp, qp->resp.ack.deadline, srnic_delack_limit(r->rtt.timeout));
}

/* Has the timer fired, and has the deadline of loss recovery passed? */
static bool timer_is_due(struct srnic_qp *qp)
{
	u64 deadline = qp->req.recovery.deadline;

	/* set by timer_fired() */
	return xchg(&qp->timer_fired, false) && deadline &&
	       ktime_get_ns() >= deadline;
}

void srnic_qp_timer_stop(struct srnic_qp *qp)
{
	hrtimer_cancel(&qp->timer);
	qp->timer_fired = false;
}

/*
 * Processes received packets and answers READs, so that responses leave together.
 * True: more to do.
 */
static bool run_respond(struct srnic_qp *qp)
{
	bool more;

	srnic_task_share(&qp->task);
	if (!qp->resp.read_yields)	/* or packets may use the share up in each run */
		srnic_resp_run(qp);
	srnic_task_share(&qp->task);
	do {
		more = srnic_rx_run(qp);
		if (!srnic_resp_run(qp))
			return more;
	} while (srnic_task_may(&qp->task));

	return true;
}

/*
 * May an ACK be delayed, to leave with a request yet to be posted?  Not if that request may
 * use loopback, or is owed.  Nor on a long path: there it would save little, and the peer would
 * measure the delay as a queue.
 */
static bool run_may_answer(struct srnic_qp *qp)
{
	return !qp->self && !srnic_rtt_is_long(&qp->req.recovery.rtt) &&
	       srnic_req_is_idle(qp) && !srnic_task_owes(&qp->task);
}

/* Sends a pending ACK.  In the error state no later response will take its place. */
static void run_acknowledge(struct srnic_qp *qp, bool may_wait)
{
	if (qp->conf.state == IB_QPS_ERR)
		srnic_resp_rdma_rollback(qp);
	srnic_resp_ack(qp, may_wait);
}

/* Sends requests, and then a pending ACK.  True: more to do. */
static bool run_request(struct srnic_qp *qp)
{
	u32 high = qp->req.recovery.high;
	bool more = srnic_req_run(qp);
	bool sent = qp->req.recovery.high != high;

	if (sent)
		srnic_delack_answered(&qp->resp.ack);
	run_acknowledge(qp, !sent && run_may_answer(qp));
	timer_sync(qp);

	return more;
}

static bool run_may_request(const struct srnic_qp *qp)
{
	return qp->conf.state == IB_QPS_RTS || qp->conf.state == IB_QPS_SQD;
}

/*
 * Requests and responses share the rate limit and the room in the network stack.  While a
 * READ response is being sent, requests and the responses to them go first in every other
 * run.
 * True: more to do.
 */
static bool run_alternate(struct srnic_qp *qp)
{
	struct srnic_resp *resp = &qp->resp;

	resp->read_yields = resp->read_left && !resp->read_yields;

	return resp->read_yields && run_may_request(qp) && srnic_req_run(qp);
}

unsigned int srnic_qp_run(struct srnic_task *task)
{
	struct srnic_qp *qp = container_of(task, struct srnic_qp, task);
	bool more, own;

	srnic_qp_ooo_check(qp);
	own = run_alternate(qp);
	more = run_respond(qp);
	if (srnic_sack_is_due(qp))
		srnic_sack_run(qp);
	/* The answer may have been among the packets processed just now, or still wait. */
	if (timer_is_due(qp))
		srnic_req_timeout(qp);
	if (!srnic_backlog_is_settled(qp))
		srnic_backlog_settle(qp);
	if (run_may_request(qp))
		own |= run_request(qp);
	else
		run_acknowledge(qp, false);
	if (qp->path.ndev)
		srnic_tx_flush(&qp->txb);
	if (qp->conf.state == IB_QPS_ERR || qp->conf.state == IB_QPS_SQE)
		more |= srnic_req_flush(qp);
	if (qp->conf.state == IB_QPS_ERR)
		more |= srnic_resp_flush(qp);
	if (srnic_qp_is_datagram(qp))
		srnic_ud_release(qp);
	srnic_loopback_release(qp);
	srnic_req_sgl_release(qp);
	srnic_resp_release(qp);

	return (more ? SRNIC_TASK_MORE : 0) | (own ? SRNIC_TASK_MORE_OWN : 0);
}
