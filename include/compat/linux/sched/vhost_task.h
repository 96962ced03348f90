/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - wrapper of <linux/sched/vhost_task.h>: where the kernel does not have threads of a
 * process that a driver runs, none can be created
 *
 * vhost_task_is_notified() and vhost_task_kill() are additions for all kernels.
 */
#ifndef SRNIC_COMPAT_SCHED_VHOST_TASK_H
#define SRNIC_COMPAT_SCHED_VHOST_TASK_H

#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/signal.h>
#include <linux/spinlock.h>
#include <linux/thread_info.h>
#include <linux/types.h>

#ifdef SRNIC_HAVE_VHOST_TASK
#include_next <linux/sched/vhost_task.h>
#else
struct vhost_task;

static inline struct vhost_task *vhost_task_create(bool (*fn)(void *),
						   void (*handle_sigkill)(void *),
						   void *arg, const char *name)
{
	return NULL;
}

static inline void vhost_task_start(struct vhost_task *vtsk)
{
}

static inline void vhost_task_stop(struct vhost_task *vtsk)
{
}

static inline void vhost_task_wake(struct vhost_task *vtsk)
{
}
#endif

/*
 * Since 6.18 a thread whose cgroup has used up its bandwidth is throttled by work that it does
 * before it returns to user mode, which a vhost task never does.  It does such work when it
 * looks for signals, so it is made to do that.
 * Return: true if the vhost task's function has to return true now.
 */
static inline bool vhost_task_is_notified(void)
{
	if (!test_thread_flag(TIF_NOTIFY_RESUME))
		return false;

	clear_thread_flag(TIF_NOTIFY_RESUME);
	set_thread_flag(TIF_NOTIFY_SIGNAL);

	return true;
}

/*
 * Ends the vhost task that calls this, when its function has returned true.  send_sig() would kill
 * its process.
 */
static inline void vhost_task_kill(void)
{
	struct sighand_struct *sighand = rcu_dereference_protected(current->sighand, true);

	spin_lock_irq(&sighand->siglock);
	sigaddset(&current->pending.signal, SIGKILL);
	set_thread_flag(TIF_SIGPENDING);
	spin_unlock_irq(&sighand->siglock);
}

#endif /* SRNIC_COMPAT_SCHED_VHOST_TASK_H */
