// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - tasks: one word of state decides which context runs the task
 *
 * BUSY is the right to run the task.  A kick that finds BUSY taken sets AGAIN, which
 * the holder checks before it releases BUSY.  A holder that has used up its stretch
 * passes BUSY on to the workqueue or, if it is a process that rang a doorbell, keeps
 * it for its next stretch.  srnic_task_own() sets WAITER if BUSY is taken; the holder
 * then releases BUSY at the end of its run and leaves the remaining work to
 * srnic_task_release().  A holder may also hold the BUSY of one joined task, which it
 * releases, or runs, after its own.
 */
#include <linux/bottom_half.h>
#include <linux/interrupt.h>
#include <linux/jiffies.h>
#include <linux/kernel_stat.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/wait_bit.h>

#include "../trace.h"
#include "task.h"

#define RUN_BUSY	BIT(0)
#define RUN_AGAIN	BIT(1)
#define RUN_WAITER	BIT(2)
#define RUN_STOPPED	BIT(3)

/* Base cost of a run, even if it finds nothing to do */
#define RUN_COST	SZ_16K

/* Budget of all tasks together in one softirq */
#define RUN_SOFTIRQ	SZ_4M

/* Maximum number of stretches that a process runs itself, one after the other */
#define RUN_HERE	16

/**
 * struct run_softirq - remaining budget where the caller had BHs disabled already
 * @nr: identifies the softirq or, outside of one, the tick
 * @left: remaining budget
 *
 * Used with BH disabled.  On PREEMPT_RT two users may race, but there the bound is
 * not needed, since softirqs are preemptible.
 */
struct run_softirq {
	unsigned long	nr;
	s32		left;
};

static DEFINE_PER_CPU(struct run_softirq, run_softirq);

static struct workqueue_struct *task_wq;

/*
 * Lockdep tracks that a task is held, but no order: no context waits for a task while
 * it holds another, so all acquisitions are declared as trylocks.
 */
static struct lock_class_key task_key;

static void task_acquire(struct srnic_task *task)
{
	lock_acquire(&task->dep_map, 0, 1, 0, 1, NULL, _RET_IP_);
}

static void task_disown(struct srnic_task *task)
{
	lock_release(&task->dep_map, _RET_IP_);
}

#ifdef CONFIG_LOCKDEP
bool srnic_task_is_mine(const struct srnic_task *task)
{
	return atomic_read(&task->state) & RUN_STOPPED || lockdep_is_held(task);
}
#endif

/* Takes BUSY, or sets @mark for its holder.  Return: true if BUSY was taken. */
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

/* Releases BUSY unless there is more to do.  Return: true if released. */
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

/* Continues a task in the workqueue, which takes over BUSY. */
static void task_queue(struct srnic_task *task)
{
	trace_srnic_task_defer(task->id, false);
	queue_work(task_wq, &task->work);
}

void srnic_task_part(struct srnic_task *task)
{
	struct srnic_task *other = task->joined;

	task->joined = NULL;
	task_disown(other);
	if (!task_drop(other))
		task_queue(other);
}

/* Defers @task, and releases the task that it has joined. */
static void task_put_off(struct srnic_task *task)
{
	if (task->joined)
		srnic_task_part(task);
	task_queue(task);
}

/* A number that differs from that of the next softirq on this CPU. */
static unsigned long run_softirq_nr(void)
{
	if (!in_serving_softirq())
		return jiffies;

	return __this_cpu_read(kstat.softirqs[NET_RX_SOFTIRQ]) +
	       __this_cpu_read(kstat.softirqs[HRTIMER_SOFTIRQ]);
}

/*
 * Budget of a stretch that starts now.  Stretches of several tasks may follow each
 * other if BHs were disabled before (@nested); they share the budget of one softirq.
 */
static s32 run_begin(bool nested)
{
	struct run_softirq *all = this_cpu_ptr(&run_softirq);
	unsigned long nr;

	if (!nested)
		return SRNIC_COST_STRETCH;

	nr = run_softirq_nr();
	if (all->nr != nr) {
		all->nr = nr;
		all->left = RUN_SOFTIRQ;
	}

	return min(all->left, SRNIC_COST_STRETCH);
}

static void run_end(bool nested, s32 cost)
{
	if (nested)
		__this_cpu_sub(run_softirq.left, cost);
}

/*
 * Runs @task once and deducts the cost from *@left.  Return: the task to run next,
 * whose BUSY the caller then holds, or NULL.
 */
static struct srnic_task *task_run(struct srnic_task *task, s32 *left)
{
	struct srnic_task *other;
	bool more;

	atomic_andnot(RUN_AGAIN, &task->state);
	smp_mb__after_atomic();	/* clear AGAIN before fn() looks for work */
	task->left = *left - RUN_COST;
	task_acquire(task);
	more = task->fn(task);
	task_disown(task);
	*left = task->left;
	trace_srnic_task_run(task->id, more);
	if (more)
		atomic_or(RUN_AGAIN, &task->state);

	other = task->joined;
	task->joined = NULL;
	if (task_drop(task)) {
		if (other)
			task_disown(other);
		return other && !task_drop(other) ? other : NULL;
	}
	task->joined = other;

	return task;
}

/*
 * Runs @task until nothing is left to do or the budget is used up.  The caller holds
 * BUSY and has disabled BHs; @nested: they were disabled before.  Return: the task
 * that has more to do, whose BUSY the caller then holds, or NULL.
 */
static struct srnic_task *task_stretch(struct srnic_task *task, bool nested)
{
	s32 budget = run_begin(nested);
	s32 left = budget;
	u32 id = task->id;

	while (task && left > 0)
		task = task_run(task, &left);
	run_end(nested, budget - left);
	trace_srnic_task_stretch(id, budget - left, nested);

	return task;
}

static void task_run_here(struct srnic_task *task)
{
	bool nested = in_softirq();

	local_bh_disable();
	task = task_stretch(task, nested);
	if (task)
		task_put_off(task);
	local_bh_enable();
}

static void task_work(struct work_struct *work)
{
	task_run_here(container_of(work, struct srnic_task, work));
}

void srnic_task_init(struct srnic_task *task, srnic_task_fn fn)
{
	atomic_set(&task->state, 0);
	task->fn = fn;
	INIT_WORK(&task->work, task_work);
	lockdep_init_map(&task->dep_map, "srnic_task", &task_key, 0);
}

void srnic_task_kick(struct srnic_task *task)
{
	if (task_take(task, RUN_AGAIN))
		task_run_here(task);
}

void srnic_task_kick_process(struct srnic_task *task)
{
	int left = RUN_HERE;

	/* On PREEMPT_RT, BHs cannot be disabled with preemption disabled. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT)) {
		srnic_task_kick(task);
		return;
	}
	if (!task_take(task, RUN_AGAIN))
		return;

	preempt_disable();	/* do not schedule with BUSY held: others wait for it */
	do {
		local_bh_disable();
		task = task_stretch(task, false);
		if (task && task->joined)
			srnic_task_part(task);
		local_bh_enable();
	} while (task && --left && !need_resched());
	if (task)
		task_queue(task);
	preempt_enable();
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
	task_acquire(other);

	return true;
}

void srnic_task_own(struct srnic_task *task)
{
	might_sleep();
	wait_var_event(&task->state, task_take(task, RUN_WAITER));
	task_acquire(task);
}

void srnic_task_release(struct srnic_task *task)
{
	task_disown(task);
	if (!task_drop(task))
		task_run_here(task);
}

/* Takes BUSY with preemption disabled, or sets WAITER.  Return: true if BUSY was taken. */
static bool task_take_atomic(struct srnic_task *task)
{
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		preempt_disable();
	if (task_take(task, RUN_WAITER))
		return true;
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		preempt_enable();

	return false;
}

void srnic_task_own_atomic(struct srnic_task *task)
{
	might_sleep();
	wait_var_event(&task->state, task_take_atomic(task));
	task_acquire(task);
}

void srnic_task_release_atomic(struct srnic_task *task)
{
	srnic_task_release(task);
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		preempt_enable();
}

void srnic_task_stop(struct srnic_task *task)
{
	srnic_task_own(task);
	atomic_set(&task->state, RUN_STOPPED);
	cancel_work_sync(&task->work);
	task_disown(task);
}

int srnic_exec_init(void)
{
	task_wq = alloc_workqueue("srnic", WQ_PERCPU, 0);

	return task_wq ? 0 : -ENOMEM;
}

void srnic_exec_exit(void)
{
	destroy_workqueue(task_wq);
}
