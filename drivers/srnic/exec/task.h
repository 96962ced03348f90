/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - run to completion: who has the event does the work
 *
 * A task is a function that never runs twice at a time.  Whoever kicks it runs
 * it there and then; if somebody else is running it, a mark is left and the
 * runner looks again before it lets go.  What exceeds the budget goes on in a
 * workqueue.  The function runs with bottom halves disabled and never sleeps.
 */
#ifndef SRNIC_EXEC_TASK_H
#define SRNIC_EXEC_TASK_H

#include <linux/atomic.h>
#include <linux/workqueue.h>

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
 */
struct srnic_task {
	atomic_t		state;
	u32			id;
	srnic_task_fn		fn;
	struct work_struct	work;
	struct srnic_task	*joined;
};

void srnic_task_init(struct srnic_task *task, srnic_task_fn fn);

/* Runs @task or sees to it that it runs.  Context: any but hard interrupt. */
void srnic_task_kick(struct srnic_task *task);

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
