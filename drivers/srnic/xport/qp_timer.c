// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - the timer of a queue pair: retransmissions and delayed ACKs
 */
#include "qp.h"
#include "qp_timer.h"

static enum hrtimer_restart timer_fired(struct hrtimer *timer)
{
	struct srnic_qp *qp = container_of(timer, struct srnic_qp, timer);

	WRITE_ONCE(qp->timer_fired, true);	/* read in srnic_qp_timer_is_due() */
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

	if (when && (!hrtimer_is_queued(&qp->timer) ||
		     ktime_before(ktime_add_ns(when, slack), hrtimer_get_expires(&qp->timer))))
		hrtimer_start_range_ns(&qp->timer, when, slack, HRTIMER_MODE_ABS_SOFT);
}

/*
 * The deadline moves with every acknowledgment, but the timer does not: the deadline is
 * checked when it fires.  Only a timer that would fire too late is restarted.
 */
void srnic_qp_timer_sync(struct srnic_qp *qp)
{
	timer_reach(qp, qp->req.flight.deadline, srnic_flight_slack(&qp->req.flight));
	if (!qp->resp.read_left)	/* it waits for the end of the response as well */
		timer_reach(qp, qp->resp.ack.deadline, srnic_delack_limit(qp->req.flight.timeout));
}

bool srnic_qp_timer_is_due(struct srnic_qp *qp)
{
	u64 deadline = qp->req.flight.deadline;

	/* set by timer_fired() */
	return xchg(&qp->timer_fired, false) && deadline &&
	       ktime_get_ns() >= deadline;
}

void srnic_qp_timer_stop(struct srnic_qp *qp)
{
	hrtimer_cancel(&qp->timer);
	qp->timer_fired = false;
}
