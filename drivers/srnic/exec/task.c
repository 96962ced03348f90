// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - tasks: one word of state decides which context runs the task
 *
 * BUSY is the right to run the task.  A kick that finds BUSY taken sets AGAIN, which
 * the holder checks before it releases BUSY.  A holder that has used up its stretch
 * passes BUSY on to the workqueue or, if it is a process that rang a doorbell, keeps
 * it for its next stretch.  If only the user's own work is left (OWN), or is to be done by
 * another thread from the beginning, it releases BUSY and adds the task to the user's worker;
 * a worker that finds BUSY taken sets CALL, which has the holder add the task again.  If CALL
 * is set, the workqueue releases BUSY before a stretch, once, and takes it again a tick later.
 * srnic_task_own() sets WAITER if BUSY is taken; the holder then releases BUSY at the end of its
 * run and leaves the remaining work to srnic_task_release(), or, as the waiter may not have a
 * processor for long, to a kick a tick later.  One that comes before the release sets EARLY.
 * A holder may also hold the BUSY of one joined task, which it releases, or runs, after its own.
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
#define RUN_OWN		BIT(4)	/* own work is left, and not owed: to whoever runs the task */
#define RUN_CALL	BIT(5)
#define RUN_EARLY	BIT(6)

/* Base cost of a run, even if it finds nothing to do */
#define RUN_COST	SZ_16K

/* Budget of all tasks together in one softirq */
#define RUN_SOFTIRQ	SZ_4M

/* Maximum number of stretches that a process runs itself, one after the other */
#define RUN_HERE	16

/* For so many ticks a CPU counts as relieved */
#define RUN_RELIEVED	2

/* Own work that costs less is not worth waking another thread */
#define RUN_WORTH	SZ_64K

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

/**
 * struct run_posted - who has posted long work last on this CPU
 * @thread: the thread, by its number
 * @task: the task it has posted to; to be compared only
 * @many: jiffies when it had posted to another one before
 *
 * Used by processes, with preemption disabled.
 */
struct run_posted {
	pid_t			thread;
	const struct srnic_task	*task;
	unsigned long		many;
};

static DEFINE_PER_CPU(struct run_posted, run_posted);

/**
 * struct run_spread - whose work is spread
 * @relieved: the last tick in which that of a program on this CPU was
 */
struct run_spread {
	unsigned long	relieved;
};

static DEFINE_PER_CPU(struct run_spread, run_spread);

/*
 * Bound to no processor: a real-time thread may take that where work is left, and keep it.  Two, so
 * that kicks need not wait for all that is left.
 */
static struct workqueue_struct *task_wq;
static struct workqueue_struct *task_spread_wq;

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

/* Is the user's own work that remains left to a worker?  It need not have a thread. */
static bool task_may_owe(const struct srnic_task *task)
{
	return READ_ONCE(task->served);	/* written in srnic_task_kick_owner(), task_look() */
}

/*
 * The holder of BUSY is not to be preempted: others wait for it.  On PREEMPT_RT, where the locks of
 * the data path may sleep, it may be.
 */
static void task_pin(void)
{
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		preempt_disable();
}

static void task_unpin(void)
{
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		preempt_enable();
}

/* Nothing is owed any more.  The caller holds BUSY. */
static void task_redeem(struct srnic_task *task)
{
	WRITE_ONCE(task->owed, false);
	if (task->yielded) {
		task->yielded = false;
		cancel_delayed_work(&task->again);
	}
}

/*
 * Leaves the user's own work to the worker.
 * Return: false if that has no thread for it; the work is left to whoever runs the task.
 */
static bool task_leave(struct srnic_task *task, enum srnic_worker_how how)
{
	WRITE_ONCE(task->owed, true);	/* read in task_look() */
	/* before the worker or task_abandon() may set them */
	atomic_andnot(RUN_OWN | RUN_CALL, &task->state);
	smp_mb__after_atomic();	/* clear OWN before looking whom the worker serves */
	if (task_may_owe(task) && srnic_worker_add(task->worker, &task->item, how)) {
		trace_srnic_task_leave(task->id);
		return true;
	}
	task_redeem(task);
	atomic_or(RUN_OWN, &task->state);

	return false;
}

/* The worker has found BUSY taken: adds the task again, unless nothing is owed any more. */
static void task_answer(struct srnic_task *task)
{
	atomic_andnot(RUN_CALL, &task->state);
	if (task->owed)
		task_leave(task, SRNIC_WORKER_FIRST);
}

/* Has the task kicked a tick later, as BUSY will be released. */
static void task_kick_later(struct srnic_task *task)
{
	atomic_andnot(RUN_EARLY, &task->state);
	queue_delayed_work(task_spread_wq, &task->again, 1);
}

/*
 * Releases BUSY unless there is more to do.  If there is, only to a waiter.  Return: true if
 * released.
 */
static bool task_drop(struct srnic_task *task)
{
	int old = atomic_read(&task->state);
	bool later = false;

	for (;;) {
		bool more = old & (RUN_AGAIN | RUN_OWN);

		if (more && !(old & RUN_WAITER))
			return false;
		if (old & RUN_CALL) {
			task_answer(task);	/* may cancel @again */
			later = false;
		} else if (more && (!later || old & RUN_EARLY)) {
			task_kick_later(task);
			later = true;
		} else if (atomic_try_cmpxchg(&task->state, &old,
					      old & ~(RUN_BUSY | RUN_WAITER))) {
			break;
		}
		old = atomic_read(&task->state);
	}

	if (old & RUN_WAITER)
		wake_up_var(&task->state);

	return true;
}

/* Continues a task in the workqueue, which takes over BUSY.  Nothing may touch the task later. */
static void task_queue(struct srnic_task *task, bool asked)
{
	trace_srnic_task_defer(task->id, asked);
	queue_work(task_wq, &task->work);
}

void srnic_task_want_worker(struct srnic_task *task)
{
	WRITE_ONCE(task->unpaid, true);	/* read in srnic_task_kick_owner() */
}

/*
 * Leaves the rest of the work to other contexts: the user's own to the worker, if there is one,
 * everything else to the workqueue.
 */
static void task_pass_on(struct srnic_task *task)
{
	if (task_may_owe(task) && atomic_read(&task->state) & RUN_OWN) {
		if (task_leave(task, SRNIC_WORKER_LAST)) {
			if (task_drop(task))
				return;
		} else {
			srnic_task_want_worker(task);
		}
	}
	task_queue(task, false);
}

void srnic_task_part(struct srnic_task *task)
{
	struct srnic_task *other = task->joined;

	task->joined = NULL;
	task_disown(other);
	if (!task_drop(other))
		task_pass_on(other);
}

/* Puts @task off, and releases the task that it has joined. */
static void task_put_off(struct srnic_task *task)
{
	if (task->joined)
		srnic_task_part(task);
	task_pass_on(task);
}

/*
 * A number that differs from that of the next softirq on this CPU, of whatever kind: consumers in
 * the kernel post in others than those that bring packets.
 */
static unsigned long run_softirq_nr(void)
{
	unsigned long nr = 0;
	int i;

	if (!in_serving_softirq())
		return jiffies;

	for (i = 0; i < NR_SOFTIRQS; i++)
		nr += __this_cpu_read(kstat.softirqs[i]);

	return nr;
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

/* Takes back what is owed.  The caller holds BUSY. */
static void task_recall(struct srnic_task *task)
{
	srnic_worker_remove(task->worker, &task->item);
	atomic_andnot(RUN_CALL, &task->state);
	task_redeem(task);
}

/* The user's own work that is left is to be done in this context. */
static void task_resume(struct srnic_task *task)
{
	atomic_andnot(RUN_OWN, &task->state);
	if (task->owed)
		task_recall(task);
}

/* Marks for what a run has left.  While own work is owed, the rest is not what is owed. */
static int task_marks(const struct srnic_task *task, unsigned int more)
{
	if (task->owed)
		return RUN_AGAIN;

	return (more & SRNIC_TASK_MORE ? RUN_AGAIN : 0) |
	       (more & SRNIC_TASK_MORE_OWN ? RUN_OWN : 0);
}

/*
 * Runs @task once and deducts the cost from *@left.  Return: the task to run next,
 * whose BUSY the caller then holds, or NULL.
 */
static struct srnic_task *task_run(struct srnic_task *task, s32 *left)
{
	struct srnic_task *other;
	unsigned int more;

	atomic_andnot(RUN_AGAIN, &task->state);
	smp_mb__after_atomic();	/* clear AGAIN before fn() looks for work */
	if (atomic_read(&task->state) & RUN_OWN)
		task_resume(task);
	task->left = *left - RUN_COST;
	task_acquire(task);
	more = task->fn(task);
	task_disown(task);
	if (task->measured) {
		task->measured = false;
		WRITE_ONCE(task->cost,	/* read in srnic_task_kick_owner() */
			   max(*left - RUN_COST - task->left, task->cost / 2));
	}
	*left = task->left;
	trace_srnic_task_run(task->id, more);
	if (more)
		atomic_or(task_marks(task, more), &task->state);

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

	if (left <= 0)
		atomic_or(RUN_AGAIN, &task->state);	/* what the task was taken for */
	while (task && left > 0)
		task = task_run(task, &left);
	run_end(nested, budget - left);
	trace_srnic_task_stretch(id, budget - left, nested);

	return task;
}

/* Runs @task, whose BUSY the caller holds, for a stretch.  Context: BH disabled. */
static void task_run_stretch(struct srnic_task *task, bool nested)
{
	task = task_stretch(task, nested);
	if (task)
		task_put_off(task);
}

static void task_run_here(struct srnic_task *task)
{
	bool nested = in_softirq();

	local_bh_disable();
	task_run_stretch(task, nested);
	local_bh_enable();
}

/*
 * The worker was refused BUSY, which the caller holds: releases it for a tick, or until another
 * context kicks the task.  If it was in vain before, since the worker has come the last time, the
 * caller does the user's own work, or a peer could keep the worker from it.
 * Return: false if the user's own work is for the caller.
 */
static bool task_give_way(struct srnic_task *task)
{
	bool given;

	if (task->yielded) {
		atomic_or(RUN_OWN, &task->state);
		return false;
	}

	local_bh_disable();
	task->yielded = true;
	do {
		atomic_andnot(RUN_AGAIN, &task->state);
		task_kick_later(task);
		given = task_drop(task);
	} while (!given && !(atomic_read(&task->state) & RUN_OWN));
	local_bh_enable();

	return given;
}

static void task_work(struct work_struct *work)
{
	struct srnic_task *task = container_of(work, struct srnic_task, work);

	if (!(atomic_read(&task->state) & RUN_CALL) || !task_give_way(task))
		task_run_here(task);
}

static void task_spread(struct work_struct *work)
{
	srnic_task_kick(container_of(work, struct srnic_task, spread));
}

static void task_again(struct work_struct *work)
{
	struct srnic_task *task = container_of(to_delayed_work(work), struct srnic_task, again);

	if (task_take(task, RUN_AGAIN | RUN_EARLY))
		task_run_here(task);
}

void srnic_task_init(struct srnic_task *task, srnic_task_fn fn,
		     struct srnic_worker *worker)
{
	atomic_set(&task->state, 0);
	task->fn = fn;
	task->worker = worker;
	INIT_LIST_HEAD(&task->item.rest);
	INIT_LIST_HEAD(&task->item.watch);
	INIT_WORK(&task->work, task_work);
	INIT_WORK(&task->spread, task_spread);
	INIT_DELAYED_WORK(&task->again, task_again);
	lockdep_init_map(&task->dep_map, "srnic_task", &task_key, 0);
}

void srnic_task_kick(struct srnic_task *task)
{
	if (task_take(task, RUN_AGAIN))
		task_run_here(task);
}

/*
 * Is the work that is left of @next that of the user of @task, and not to be @spread, or what
 * others have caused?
 */
static bool task_is_due(const struct srnic_task *task, const struct srnic_task *next, bool spread)
{
	return !(atomic_read(&next->state) & RUN_OWN) ||
	       (!spread && next->worker == task->worker);
}

/*
 * Runs @task, whose BUSY the caller holds, for a number of stretches; @spread: if the user's own
 * work is left after the first one, that is for the worker.  Context: preemption disabled.
 */
static void task_run_process(struct srnic_task *task, bool spread)
{
	struct srnic_task *next = task;
	int left = RUN_HERE;

	do {
		local_bh_disable();
		next = task_stretch(next, false);
		if (next && next->joined)
			srnic_task_part(next);
		local_bh_enable();
	} while (next && task_is_due(task, next, spread) && --left && !need_resched());
	if (next)
		task_pass_on(next);
}

/*
 * Leaves the user's own work to a thread of the worker, if there is one for it.  Return: false if
 * not; BUSY is still the caller's.
 */
static bool task_hand_over(struct srnic_task *task)
{
	bool left;

	local_bh_disable();
	if (task->owed)
		left = srnic_worker_comes(task->worker, &task->item);
	else
		left = task_leave(task, SRNIC_WORKER_SHARE);
	if (left && !task_drop(task))
		task_run_stretch(task, false);
	local_bh_enable();

	return left;
}

/*
 * Whatever was left to others, the process does from now on; @spread: it will soon have other
 * tasks to run.  The caller holds BUSY.
 */
static void task_run_owner(struct srnic_task *task, bool spread)
{
	if (task->owed)
		task_recall(task);
	task->measured = true;
	/* On PREEMPT_RT, BHs cannot be disabled with preemption disabled. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		task_run_here(task);
	else
		task_run_process(task, spread);
}

/* What has become of a kick */
enum task_kicked {
	TASK_TAKEN,		/* another context has the task */
	TASK_RUN,
	TASK_HANDED_OVER,
};

/* Kicks @task for a process; @spread: unless another thread can run it at the same time. */
static enum task_kicked task_kick_process(struct srnic_task *task, int mark, bool spread)
{
	enum task_kicked kicked = TASK_TAKEN;

	task_pin();
	if (task_take(task, mark)) {
		kicked = spread && task_hand_over(task) ? TASK_HANDED_OVER : TASK_RUN;
		if (kicked == TASK_RUN)
			task_run_owner(task, spread);
	}
	task_unpin();

	return kicked;
}

void srnic_task_kick_process(struct srnic_task *task)
{
	task_kick_process(task, RUN_AGAIN, false);
}

/* Notes that the calling thread posts long work to @task.  Return: it does to several. */
static bool task_note_post(const struct srnic_task *task)
{
	struct run_posted *last;
	bool many;

	preempt_disable();
	last = this_cpu_ptr(&run_posted);
	if (last->thread != current->pid)
		last->many = jiffies - HZ;
	else if (last->task != task)
		last->many = jiffies;
	last->thread = current->pid;
	last->task = task;
	many = time_before(jiffies, last->many + 2);
	preempt_enable();

	return many;
}

/* If another context runs the task, nobody knows yet what it will leave. */
bool srnic_task_kick_owner(struct srnic_task *task)
{
	struct srnic_worker *worker = task->worker;
	bool served = worker && srnic_worker_serves(worker);
	bool many = served && READ_ONCE(task->cost) >= RUN_WORTH && task_note_post(task) &&
		    srnic_worker_helps(worker);
	enum task_kicked kicked;

	WRITE_ONCE(task->served, served);	/* read in task_may_owe() */
	kicked = task_kick_process(task, served ? RUN_AGAIN : RUN_AGAIN | RUN_OWN,
				   many && srnic_worker_has_thread(worker));
	many &= kicked == TASK_RUN;
	if (!served || (kicked != TASK_TAKEN && !many && !READ_ONCE(task->unpaid)))
		return kicked == TASK_HANDED_OVER;

	WRITE_ONCE(task->unpaid, false);	/* set by srnic_task_want_worker() */
	if (!srnic_worker_start(worker, many))
		srnic_task_want_worker(task);

	return kicked == TASK_HANDED_OVER;
}

void srnic_task_defer(struct srnic_task *task)
{
	if (task_take(task, RUN_AGAIN))
		task_queue(task, true);
}

/* The task is not busy meanwhile: packets may run it before the thread has a processor. */
bool srnic_task_spread(struct srnic_task *task)
{
	if (in_task() && srnic_exec_is_real_time()) {
		srnic_task_kick(task);
		return false;
	}
	if (in_task() && !(current->flags & PF_KTHREAD))
		WRITE_ONCE(per_cpu_ptr(&run_spread, raw_smp_processor_id())->relieved, jiffies);
	if (!queue_work(task_spread_wq, &task->spread))
		return false;
	trace_srnic_task_defer(task->id, true);

	return true;
}

bool srnic_exec_is_relieved(int cpu)
{
	const struct run_spread *run = per_cpu_ptr(&run_spread, cpu);

	return time_before(jiffies, READ_ONCE(run->relieved) + RUN_RELIEVED);
}

void srnic_task_owe(struct srnic_task *task)
{
	if (!task->worker || !task_take(task, RUN_OWN))
		return;

	local_bh_disable();
	if (!task->owed)
		atomic_or(RUN_OWN, &task->state);
	if (!task_drop(task))
		task_pass_on(task);
	local_bh_enable();
}

bool srnic_task_join(struct srnic_task *task, struct srnic_task *other)
{
	if (WARN_ON_ONCE(task->joined) || !task_take(other, 0))
		return false;

	task->joined = other;
	task_acquire(other);

	return true;
}

/* The worker's thread has ended. */
static void task_abandon(struct srnic_worker_item *item)
{
	struct srnic_task *task = container_of(item, struct srnic_task, item);

	if (!task_take(task, RUN_AGAIN | RUN_OWN))
		return;

	atomic_or(RUN_OWN, &task->state);
	task_queue(task, false);
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
	task_pin();
	if (task_take(task, RUN_WAITER))
		return true;
	task_unpin();

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
	task_unpin();
}

void srnic_task_stop(struct srnic_task *task)
{
	srnic_task_own(task);
	if (task->worker)
		srnic_worker_remove(task->worker, &task->item);
	atomic_set(&task->state, RUN_STOPPED);
	cancel_work_sync(&task->spread);
	cancel_work_sync(&task->work);
	cancel_delayed_work_sync(&task->again);
	task_disown(task);
}

/* The worker begins with the task.  False: its holder adds it again. */
static bool task_begin(struct srnic_worker_item *item)
{
	struct srnic_task *task = container_of(item, struct srnic_task, item);

	if (!task_take(task, RUN_CALL))
		return false;
	task_redeem(task);
	task->measured = true;

	return true;
}

/* The worker does a stretch. */
static void task_work_off(struct srnic_worker_item *item)
{
	task_run_stretch(container_of(item, struct srnic_task, item), false);
}

static void task_set_watch(struct srnic_worker_item *item, bool state)
{
	struct srnic_task *task = container_of(item, struct srnic_task, item);

	task->poll->set(task, state);
}

/* The worker polls.  If another context has the task, that begins with the work. */
static unsigned int task_look(struct srnic_worker_item *item)
{
	struct srnic_task *task = container_of(item, struct srnic_task, item);
	unsigned int look = task->poll->look(task);
	/* what is owed is left to this worker anyway */
	int mark = READ_ONCE(task->owed) ? RUN_AGAIN : RUN_AGAIN | RUN_OWN;

	if (!(look & SRNIC_LOOK_WORK))
		return look;
	if (!task_take(task, mark))
		return look & ~SRNIC_LOOK_WORK;
	task_redeem(task);
	task->measured = true;
	WRITE_ONCE(task->served, true);

	return look;
}

static const struct srnic_worker_ops task_worker_ops = {
	.take	= task_begin,
	.run	= task_work_off,
	.drop	= task_abandon,
	.watch	= task_set_watch,
	.look	= task_look,
};

void srnic_task_watch(struct srnic_task *task)
{
	if (srnic_worker_serves(task->worker) &&
	    !srnic_worker_watch(task->worker, &task->item))
		srnic_task_want_worker(task);
}

void srnic_task_unwatch(struct srnic_task *task)
{
	if (task->worker)
		srnic_worker_unwatch(task->worker, &task->item);
}

/* A disk that is reached by RDMA may have to write before memory becomes free. */
static struct workqueue_struct *task_wq_alloc(const char *name)
{
	return alloc_workqueue("%s", WQ_UNBOUND | WQ_MEM_RECLAIM | WQ_SYSFS, num_possible_cpus(),
			       name);
}

int srnic_exec_init(void)
{
	int err;

	task_wq = task_wq_alloc("srnic");
	if (!task_wq)
		return -ENOMEM;
	task_spread_wq = task_wq_alloc("srnic-spread");
	if (!task_spread_wq) {
		err = -ENOMEM;
		goto err_wq;
	}
	err = srnic_worker_init(&task_worker_ops);
	if (err)
		goto err_spread_wq;

	return 0;

err_spread_wq:
	destroy_workqueue(task_spread_wq);
err_wq:
	destroy_workqueue(task_wq);
	return err;
}

void srnic_exec_exit(void)
{
	srnic_worker_exit();
	destroy_workqueue(task_spread_wq);
	destroy_workqueue(task_wq);
}
