// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - run to completion: one word of state decides who runs
 *
 * BUSY is the right to run.  A kick that finds it taken leaves AGAIN, and the
 * holder, before it gives BUSY back, looks for it.  A holder that has used up
 * its budget takes BUSY along into the workqueue.  An owner that finds BUSY
 * taken leaves WAITER; the holder then gives way at the end of its run and
 * leaves what is left to srnic_task_release().  A holder may have the BUSY of one
 * more task, which it gives back, or runs, behind its own.
 */
#include <linux/bottom_half.h>
#include <linux/wait_bit.h>

#include "../trace.h"
#include "task.h"

#define RUN_BUSY	BIT(0)
#define RUN_AGAIN	BIT(1)
#define RUN_WAITER	BIT(2)
#define RUN_STOPPED	BIT(3)

/* Runs of one holder before it moves on to the workqueue */
#define RUN_ROUNDS	16

static struct workqueue_struct *task_wq;

/* Takes BUSY, or leaves @mark for who has it.  False: not taken. */
static bool task_take(struct srnic_task *task, int mark)
{
	int old = atomic_read(&task->state);
	int new;

	do {
		if (old & RUN_STOPPED)
			return false;
		new = old & RUN_BUSY ? old | mark : old | RUN_BUSY;
	} while (!atomic_try_cmpxchg(&task->state, &old, new));

	return !(old & RUN_BUSY);
}

/* Gives BUSY back unless there is more to do.  True: given back. */
static bool task_drop(struct srnic_task *task)
{
	int old = atomic_read(&task->state);
	int new;

	do {
		if ((old & RUN_AGAIN) && !(old & RUN_WAITER))
			return false;
		new = old & ~(RUN_BUSY | RUN_WAITER);
	} while (!atomic_try_cmpxchg(&task->state, &old, new));

	if (old & RUN_WAITER)
		wake_up_var(&task->state);

	return true;
}

/* What is left of a task, whose BUSY goes along. */
static void task_queue(struct srnic_task *task)
{
	trace_srnic_task_defer(task->id, false);
	queue_work(task_wq, &task->work);
}

/* Leaves @task and what it has joined for later. */
static void task_put_off(struct srnic_task *task)
{
	struct srnic_task *other = task->joined;

	task->joined = NULL;
	task_queue(task);
	if (other && !task_drop(other))
		task_queue(other);
}

/* One run.  Return: the task to run next, whose BUSY the caller then has. */
static struct srnic_task *task_run(struct srnic_task *task)
{
	struct srnic_task *other;
	bool more;

	atomic_andnot(RUN_AGAIN, &task->state);
	smp_mb__after_atomic();	/* AGAIN is clear before fn() looks */
	more = task->fn(task);
	trace_srnic_task_run(task->id, more);
	if (more)
		atomic_or(RUN_AGAIN, &task->state);

	other = task->joined;
	task->joined = NULL;
	if (task_drop(task))
		return other && !task_drop(other) ? other : NULL;
	task->joined = other;

	return task;
}

/* Runs until nothing is left; the caller holds BUSY. */
static void task_loop(struct srnic_task *task)
{
	int runs = 0;

	while (task && runs++ < RUN_ROUNDS)
		task = task_run(task);
	if (task)
		task_put_off(task);
}

static void task_work(struct work_struct *work)
{
	struct srnic_task *task = container_of(work, struct srnic_task, work);

	local_bh_disable();
	task_loop(task);
	local_bh_enable();
}

void srnic_task_init(struct srnic_task *task, srnic_task_fn fn)
{
	atomic_set(&task->state, 0);
	task->fn = fn;
	INIT_WORK(&task->work, task_work);
}

void srnic_task_kick(struct srnic_task *task)
{
	if (!task_take(task, RUN_AGAIN))
		return;

	local_bh_disable();
	task_loop(task);
	local_bh_enable();
}

void srnic_task_defer(struct srnic_task *task)
{
	if (!task_take(task, RUN_AGAIN))
		return;

	trace_srnic_task_defer(task->id, true);
	queue_work(task_wq, &task->work);
}

bool srnic_task_join(struct srnic_task *task, struct srnic_task *other)
{
	if (WARN_ON_ONCE(task->joined) || !task_take(other, 0))
		return false;

	task->joined = other;

	return true;
}

void srnic_task_own(struct srnic_task *task)
{
	might_sleep();
	wait_var_event(&task->state, task_take(task, RUN_WAITER));
}

void srnic_task_release(struct srnic_task *task)
{
	local_bh_disable();
	if (!task_drop(task))
		task_loop(task);
	local_bh_enable();
}

void srnic_task_stop(struct srnic_task *task)
{
	srnic_task_own(task);
	atomic_set(&task->state, RUN_STOPPED);
	cancel_work_sync(&task->work);
}

int srnic_exec_init(void)
{
	task_wq = alloc_workqueue("srnic", WQ_HIGHPRI | WQ_PERCPU, 0);

	return task_wq ? 0 : -ENOMEM;
}

void srnic_exec_exit(void)
{
	destroy_workqueue(task_wq);
}
