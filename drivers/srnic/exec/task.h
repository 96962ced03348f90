/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - run to completion: who has the event does the work
 *
 * A task is a function that never runs twice at a time.  Whoever kicks it runs
 * it there and then; if somebody else is running it, a mark is left and the
 * runner looks again before it lets go.  The function runs with bottom halves
 * disabled and never sleeps.
 *
 * How long bottom halves stay disabled is bounded here, for everybody: the
 * function tells what its work costs and stops when that is asked of it, and what
 * is left goes on in a workqueue, which enables them in between.
 */
#ifndef SRNIC_EXEC_TASK_H
#define SRNIC_EXEC_TASK_H

#include <linux/atomic.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/sizes.h>
#include <linux/types.h>
#include <linux/workqueue.h>

/*
 * Costs are bytes copied, or what takes as long as copying them.  A packet, a
 * work request or a completion costs that much beside its bytes.
 */
#define SRNIC_COST_ITEM		SZ_2K

/*
 * What may be done with bottom halves disabled before they get a turn: a message
 * of 1 MiB with what belongs to it.  It is overdrawn by one step at most, see
 * Documentation/locking.rst.
 */
#define SRNIC_COST_STRETCH	(SZ_1M + SZ_256K)

/* What one kind of work may take of that before others have had their share */
#define SRNIC_COST_SHARE	(SRNIC_COST_STRETCH / 2)

struct srnic_task;

/* One bounded run.  Return: true if there is more to do at once. */
typedef bool (*srnic_task_fn)(struct srnic_task *task);

/**
 * struct srnic_task - a serialised piece of work
 * @state: RUN_* bits, see task.c
 * @id: what the owner calls it, for those who trace
 * @fn: what to run
 * @work: carries on what exceeded its budget; the task stays busy meanwhile
 * @joined: another task that this one holds while it runs, or NULL
 * @left: what the present stretch may still cost, negative: it is overdrawn
 * @floor: @left when the present share of it is used up
 * @dep_map: held, for lockdep, by who runs the task, has joined or owns it
 *
 * @joined, @left and @floor belong to who holds the task, within a run.
 */
struct srnic_task {
	atomic_t		state;
	u32			id;
	srnic_task_fn		fn;
	struct work_struct	work;
	struct srnic_task	*joined;
	s32			left;
	s32			floor;
	struct lockdep_map	dep_map;
};

/* Is the task the caller's, to run, joined, owned or stopped?  With lockdep only. */
bool srnic_task_is_mine(const struct srnic_task *task);

/* What the task owns is touched next. */
#define srnic_task_assert_mine(task) lockdep_assert(srnic_task_is_mine(task))

/* Work of another kind begins.  Context: the function of @task; so below. */
static inline void srnic_task_share(struct srnic_task *task)
{
	task->floor = max(task->left - SRNIC_COST_SHARE, 0);
}

static inline void srnic_task_spend(struct srnic_task *task, u32 cost)
{
	task->left -= cost;
}

/* Is there something left of the share?  If not, what is to do waits. */
static inline bool srnic_task_may(const struct srnic_task *task)
{
	return task->left > task->floor;
}

void srnic_task_init(struct srnic_task *task, srnic_task_fn fn);

/* Runs @task or sees to it that it runs.  Context: any but hard interrupt. */
void srnic_task_kick(struct srnic_task *task);

/*
 * The same by a process, which does what exceeds a stretch itself, with BHs
 * enabled in between, as long as no other process wants the processor: it is its
 * time, not that of a worker.  Context: process, BH enabled.
 */
void srnic_task_kick_process(struct srnic_task *task);

/* Sees to it that @task runs, but not here.  Context: any. */
void srnic_task_defer(struct srnic_task *task);

/*
 * Takes @other for as long as @task runs, if nobody has it; one at a time.  What
 * it is kicked for meanwhile is done once @task is given back.  Nobody waits for
 * anybody, so two tasks may try to join each other.
 * Context: the function of @task.  False: somebody has it, or it was stopped.
 */
bool srnic_task_join(struct srnic_task *task, struct srnic_task *other);

/*
 * Gives back what @task has joined, ahead of the end of its run.
 * Context: the function of @task.
 */
void srnic_task_part(struct srnic_task *task);

/*
 * Takes the task for the caller: when it returns nobody runs the task, and
 * nobody will until srnic_task_release().  May sleep.
 */
void srnic_task_own(struct srnic_task *task);

/* Gives the task back and runs it if it was kicked meanwhile. */
void srnic_task_release(struct srnic_task *task);

/* Ends the task for good; when it returns it will not run again.  May sleep. */
void srnic_task_stop(struct srnic_task *task);

int srnic_exec_init(void);
void srnic_exec_exit(void);

#endif /* SRNIC_EXEC_TASK_H */
