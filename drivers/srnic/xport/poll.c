// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - the polled doorbell: a thread watches send queues for new work requests
 *
 * A doorbell adds its queue pair to the list of those watched; from then on posting
 * takes no system call.  A queue pair that posts nothing for a while is removed, and
 * its next post rings the doorbell again.  The thread sleeps while the list is empty,
 * which it is unless the administrator sets poll_usecs.
 */
#include <linux/kthread.h>
#include <linux/moduleparam.h>

#include "internal.h"

/* Most queue pairs that are watched, and kicked in one pass */
#define POLL_MAX	256
#define POLL_BATCH	16

static unsigned int poll_usecs;
module_param(poll_usecs, uint, 0644);
MODULE_PARM_DESC(poll_usecs,
		 "Microseconds to poll a send queue after its last post; 0 disables polling (default 0)");

/* Protects the list, and struct srnic_watch of its entries */
static DEFINE_SPINLOCK(poll_lock);
static LIST_HEAD(poll_list);
static unsigned int poll_num;
static struct task_struct *poll_task;

static void poll_drop(struct srnic_qp *qp)
	__must_hold(&poll_lock)
{
	lockdep_assert_held(&poll_lock);

	list_del_init(&qp->watch.list);
	poll_num--;
}

void srnic_poll_watch(struct srnic_qp *qp)
{
	struct srnic_watch *watch = &qp->watch;

	if (!READ_ONCE(poll_usecs) || !list_empty_careful(&watch->list) ||
	    qp->sq.trusted || qp->sq.ring.abi != SRNIC_ABI_OWN)
		return;

	spin_lock_bh(&poll_lock);
	if (list_empty(&watch->list) && poll_num < POLL_MAX) {
		watch->seen = srnic_sq_posted(&qp->sq);
		watch->since = ktime_get();
		srnic_sq_set_polled(&qp->sq, true);
		list_add_tail(&watch->list, &poll_list);
		poll_num++;
	}
	spin_unlock_bh(&poll_lock);
	wake_up_process(poll_task);
	srnic_task_want_worker(&qp->task);	/* there may be no further doorbell */
}

void srnic_poll_forget(struct srnic_qp *qp)
{
	spin_lock_bh(&poll_lock);
	if (!list_empty(&qp->watch.list)) {
		srnic_sq_set_polled(&qp->sq, false);
		poll_drop(qp);
	}
	spin_unlock_bh(&poll_lock);
}

/* Was something posted?  A queue idle for too long is no longer watched. */
static bool poll_look(struct srnic_qp *qp, ktime_t now)
	__must_hold(&poll_lock)
{
	struct srnic_watch *watch = &qp->watch;
	u32 posted = srnic_sq_posted(&qp->sq);

	lockdep_assert_held(&poll_lock);

	if (posted == watch->seen &&
	    ktime_us_delta(now, watch->since) >= READ_ONCE(poll_usecs)) {
		srnic_sq_set_polled(&qp->sq, false);
		posted = srnic_sq_posted(&qp->sq);
		if (posted == watch->seen) {
			poll_drop(qp);
			return false;
		}
		srnic_sq_set_polled(&qp->sq, true);
	}
	if (posted == watch->seen)
		return false;

	watch->seen = posted;
	watch->since = now;

	return true;
}

/* Finds queue pairs that have posted, and holds them.  Return: how many. */
static int poll_find(struct srnic_qp **found)
{
	struct srnic_watch *watch, *next;
	ktime_t now = ktime_get();
	struct srnic_qp *qp;
	int n = 0;

	spin_lock_bh(&poll_lock);
	list_for_each_entry_safe(watch, next, &poll_list, list) {
		qp = container_of(watch, struct srnic_qp, watch);
		if (!poll_look(qp, now))
			continue;
		refcount_inc(&qp->users);
		list_move_tail(&watch->list, &poll_list);
		found[n++] = qp;
		if (n == POLL_BATCH)
			break;
	}
	spin_unlock_bh(&poll_lock);

	return n;
}

static void poll_pass(void)
{
	struct srnic_qp *found[POLL_BATCH];
	int i, n = poll_find(found);

	for (i = 0; i < n; i++) {
		local_bh_disable();
		srnic_count(srnic_qp_stats(found[i]), SRNIC_CNT_POLLS);
		local_bh_enable();
		srnic_task_kick(&found[i]->task);
		srnic_qp_put(found[i]);
	}
}

static int poll_thread(void *unused)
{
	while (!kthread_should_stop()) {
		set_current_state(TASK_IDLE);
		if (list_empty_careful(&poll_list) && !kthread_should_stop())
			schedule();
		__set_current_state(TASK_RUNNING);
		poll_pass();
		cond_resched();
		cpu_relax();
	}

	return 0;
}

int srnic_poll_init(void)
{
	poll_task = kthread_run(poll_thread, NULL, "srnic_poll");

	return PTR_ERR_OR_ZERO(poll_task);
}

void srnic_poll_exit(void)
{
	kthread_stop(poll_task);
}
