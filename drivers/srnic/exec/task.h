/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - tasks: work of one object at a time, done by the context that has the event
 *
 * A task is a function that never runs on two CPUs at a time.  A kick runs it
 * immediately; if another context is running it, the kick leaves a mark, which that
 * context checks before it releases the task.  The function runs with bottom halves
 * disabled and never sleeps.
 *
 * The time for which bottom halves stay disabled is bounded here, for all tasks: the
 * function accounts for the cost of its work and returns when the budget is used up;
 * the remaining work continues in a workqueue, which enables bottom halves in between.
 *
 * Part of the work may be the user's own, as opposed to what others cause.  What remains of
 * it is owed, and left to the user's worker (worker.h): until that has the processor, runs in
 * other contexts leave it alone.
 */
#ifndef SRNIC_EXEC_TASK_H
#define SRNIC_EXEC_TASK_H

#include <linux/atomic.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/sizes.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "worker.h"

/*
 * The unit of cost is one byte copied, or work that takes as long.  A packet, a WQE
 * or a completion costs this much in addition to its bytes.
 */
#define SRNIC_COST_ITEM		SZ_2K

/*
 * Cost of the work that may be done before bottom halves are enabled again: a message
 * of 1 MiB with its per-packet costs.  Overdrawn by one step at most, see
 * Documentation/locking.rst.
 */
#define SRNIC_COST_STRETCH	(SZ_1M + SZ_256K)

/* Part of the stretch that one kind of work may use before others get their share */
#define SRNIC_COST_SHARE	(SRNIC_COST_STRETCH / 2)

struct srnic_task;

/**
 * struct srnic_task_poll - how a worker polls for the user's own work
 * @set: the task is polled from now on, or no longer
 * @look: what has happened since the last call; SRNIC_LOOK_*
 *
 * Context: BH disabled, without the task.
 */
struct srnic_task_poll {
	void (*set)(struct srnic_task *task, bool state);
	unsigned int (*look)(struct srnic_task *task);
};

/* What a run has left to do at once */
#define SRNIC_TASK_MORE		BIT(0)
#define SRNIC_TASK_MORE_OWN	BIT(1)	/* the user's own work */

/* One bounded run.  Return: SRNIC_TASK_* */
typedef unsigned int (*srnic_task_fn)(struct srnic_task *task);

/**
 * struct srnic_task - a serialised unit of work
 * @state: RUN_* bits, see task.c
 * @id: identifier for tracing, set by the user of the task
 * @fn: function to run
 * @work: continues a task that exceeded its budget; the task stays busy meanwhile
 * @spread: kicks the task in a thread of a workqueue
 * @again: kicks the task a tick later, which has been released for its worker or a waiter
 * @worker: does the user's own work that is left; NULL: the workqueue does
 * @item: item of @worker, with work while that is owed
 * @poll: how @worker polls; set by the user of the task, if it calls srnic_task_watch()
 * @owed: the user's own work is left to @worker, or to the next system call
 * @yielded: the task was released for the worker, which has not come since
 * @unpaid: such work was left to others for lack of a thread
 * @served: @worker serves the thread that has posted last; otherwise nothing is owed
 * @measured: the next run is by the user's thread or worker
 * @cost: cost of such a run, the last one or half of the one before; written by the context that
 *	runs the task
 * @joined: another task that this one holds while it runs, or NULL
 * @left: remaining budget of the current stretch; negative: overdrawn
 * @floor: value of @left at which the current share is used up
 * @dep_map: for lockdep: held by the context that runs, has joined or owns the task
 *
 * @owed, @yielded, @measured, @joined, @left and @floor are used only by the context that runs the
 * task, but that a worker which polls may read @owed.
 */
struct srnic_task {
	atomic_t		state;
	u32			id;
	srnic_task_fn		fn;
	struct work_struct	work;
	struct work_struct	spread;
	struct delayed_work	again;
	struct srnic_worker	*worker;
	struct srnic_worker_item item;
	const struct srnic_task_poll *poll;
	bool			owed;
	bool			yielded;
	bool			unpaid;
	bool			served;
	bool			measured;
	s32			cost;
	struct srnic_task	*joined;
	s32			left;
	s32			floor;
	struct lockdep_map	dep_map;
};

/* Does the caller run, join or own the task, or is it stopped?  With lockdep only. */
bool srnic_task_is_mine(const struct srnic_task *task);

/* Asserts that the caller may access the data that @task serialises. */
#define srnic_task_assert_mine(task) lockdep_assert(srnic_task_is_mine(task))

/* Starts the share of another kind of work.  Context of these: @task's function. */
static inline void srnic_task_share(struct srnic_task *task)
{
	task->floor = max(task->left - SRNIC_COST_SHARE, 0);
}

static inline void srnic_task_spend(struct srnic_task *task, u32 cost)
{
	task->left -= cost;
}

/* Is any of the share left?  If not, the remaining work has to wait. */
static inline bool srnic_task_may(const struct srnic_task *task)
{
	return task->left > task->floor;
}

/* Must the user's own work wait for its worker?  What has begun may go on, if it is short. */
static inline bool srnic_task_owes(const struct srnic_task *task)
{
	return task->owed;
}

/* @worker: that of the user, which outlives the task; NULL: none */
void srnic_task_init(struct srnic_task *task, srnic_task_fn fn,
		     struct srnic_worker *worker);

/* Runs @task, or has its current holder run it.  Context: any but hard interrupt. */
void srnic_task_kick(struct srnic_task *task);

/*
 * Kicks @task for a process, which runs a limited number of further stretches itself,
 * with BHs enabled in between, until it should reschedule.  The process is charged for it.
 * Context: process.
 */
void srnic_task_kick_process(struct srnic_task *task);

/*
 * Kicks @task likewise for a process that has posted the user's own work.  The worker that
 * does the rest of it is provided with a thread.  If the caller posts to several tasks, their
 * work is left to idle threads of the worker, as long as there are processors for them.
 * Context: process, may sleep.  Return: true if it was left to one.
 */
bool srnic_task_kick_owner(struct srnic_task *task);

/* Has the next such kick provide the worker with a thread.  Context: any. */
void srnic_task_want_worker(struct srnic_task *task);

/*
 * Has the worker, which there is, poll for the user's own work, if it serves the caller.  If the
 * worker has no thread, the next srnic_task_kick_owner() provides one.  Context: process.
 */
void srnic_task_watch(struct srnic_task *task);

/* Ends that.  Context: any but hard interrupt. */
void srnic_task_unwatch(struct srnic_task *task);

/* Has @task run, but not in the context of the caller.  Context: any. */
void srnic_task_defer(struct srnic_task *task);

/*
 * Has @task kicked by a thread, for which the scheduler looks for an idle processor: for a consumer
 * in the kernel that has more to post.  A real-time thread kicks it itself.  Context: any but hard
 * interrupt.  Return: false if it did, or if a thread is to kick the task already.
 */
bool srnic_task_spread(struct srnic_task *task);

/* Have the posts of a program on that CPU been spread lately?  Context: any. */
bool srnic_exec_is_relieved(int cpu);

/*
 * The user's own work may go on: has it done by its worker, or by the workqueue.  Without a
 * worker it is for the kick that follows.  Context: any but hard interrupt.
 */
void srnic_task_owe(struct srnic_task *task);

/*
 * Takes @other, if it is free, for as long as @task runs; one task at a time.  Kicks
 * of @other meanwhile are served once @task is released.  This never waits, so two
 * tasks may try to join each other.
 * Context: @task's function.  Return: false if @other is taken or stopped.
 */
bool srnic_task_join(struct srnic_task *task, struct srnic_task *other);

/*
 * Releases the joined task before the end of @task's run.
 * Context: @task's function.
 */
void srnic_task_part(struct srnic_task *task);

/*
 * Takes the task exclusively: on return it is not running, and it does not run until
 * srnic_task_release().  May sleep.
 */
void srnic_task_own(struct srnic_task *task);

/* Releases the task and runs it if it was kicked meanwhile. */
void srnic_task_release(struct srnic_task *task);

/*
 * Takes the task like srnic_task_own(), and disables preemption until it is released: for
 * callers on behalf of any user.  Such a caller may have a low priority, and must not be
 * preempted while it keeps the task from running.
 * On PREEMPT_RT, where the locks of the data path may sleep, preemption stays enabled.
 */
void srnic_task_own_atomic(struct srnic_task *task);
void srnic_task_release_atomic(struct srnic_task *task);

/* Stops the task for good: it never runs after the return.  May sleep. */
void srnic_task_stop(struct srnic_task *task);

int srnic_exec_init(void);
void srnic_exec_exit(void);

#endif /* SRNIC_EXEC_TASK_H */
