// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - the polled doorbell: the user's worker watches send queues for new work requests
 *
 * A program that has asked for it gets the queue of a doorbell watched; from then on posting
 * takes no system call.  A queue to which nothing is posted for a while is not watched any
 * more, and the next post rings the doorbell again.
 */
#include "internal.h"

static struct srnic_qp *task_qp(struct srnic_task *task)
{
	return container_of(task, struct srnic_qp, task);
}

static void poll_set(struct srnic_task *task, bool state)
{
	struct srnic_qp *qp = task_qp(task);

	if (state) {
		qp->watch.seen = srnic_sq_posted(&qp->sq);
		qp->watch.since = ktime_get();
	}
	srnic_sq_set_polled(&qp->sq, state);
}

static bool poll_is_over(const struct srnic_watch *watch, u32 posted, ktime_t now)
{
	return posted == watch->seen && ktime_us_delta(now, watch->since) >= watch->usecs;
}

static unsigned int poll_look(struct srnic_task *task)
{
	struct srnic_qp *qp = task_qp(task);
	struct srnic_watch *watch = &qp->watch;
	bool allowed = READ_ONCE(qp->tuning->poll);
	u32 posted = srnic_sq_posted(&qp->sq);
	ktime_t now = ktime_get();
	unsigned int look = 0;

	if (!allowed || poll_is_over(watch, posted, now)) {
		srnic_sq_set_polled(&qp->sq, false);
		posted = srnic_sq_posted(&qp->sq);
		if (!allowed || posted == watch->seen)
			look = SRNIC_LOOK_END;
		else
			srnic_sq_set_polled(&qp->sq, true);
	}
	if (posted == watch->seen)
		return look;

	watch->seen = posted;
	watch->since = now;
	srnic_count(srnic_qp_stats(qp), SRNIC_CNT_POLLS);

	return look | SRNIC_LOOK_WORK;
}

static const struct srnic_task_poll poll_ops = {
	.set	= poll_set,
	.look	= poll_look,
};

void srnic_poll_init(struct srnic_qp *qp, u32 usecs)
{
	qp->watch.usecs = usecs;
	qp->task.poll = &poll_ops;
}

void srnic_poll_watch(struct srnic_qp *qp)
{
	if (qp->watch.usecs && READ_ONCE(qp->tuning->poll))
		srnic_task_watch(&qp->task);
}

void srnic_poll_forget(struct srnic_qp *qp)
{
	srnic_task_unwatch(&qp->task);
}
