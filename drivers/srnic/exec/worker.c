// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - workers: the threads, who may have them, and their end
 *
 * A thread is a vhost task: a thread of a process that runs a function of the kernel.  It
 * ends by SIGKILL, which execve() sends to all other threads, and which it sends to itself after
 * its worker has been closed.  Then it has itself reaped from a workqueue: vhost_task_stop()
 * waits for the thread, which before could be stopped or frozen for as long as its process
 * likes.  Until then it holds a reference to the module.
 */
#include <linux/bottom_half.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/sched/prio.h>
#include <linux/sched/signal.h>
#include <linux/sched/vhost_task.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

#include "worker.h"

/* After a failure, as by a limit on the number of threads, none is created for this long. */
#define WORKER_RETRY	HZ

/* Most items that a thread polls, and those that it polls under one acquisition of the lock */
#define WORKER_WATCH	256
#define WORKER_LOOKS	16U

/* Most threads of a worker */
#define WORKER_THREADS	8U

/*
 * A thread begins with what is left to it within this time, ns: if it is idle, that is longer than
 * an idle processor takes to wake up; else it has a stretch to do.
 */
#define WORKER_LATE		NSEC_PER_MSEC

/*
 * If it takes longer, the processors seem to be busy, and are not tried again before this many
 * times as long.  It may also have been stopped, so it is not taken for longer than this.  If the
 * next one that tries is late again, the pause doubles, so many times at most.
 */
#define WORKER_PAUSE		32
#define WORKER_LATE_MAX		(10 * NSEC_PER_MSEC)
#define WORKER_DOUBLED		4

/* A thread that has nothing to do any more waits for so long before it sleeps, ns. */
#define WORKER_WAIT		(50 * NSEC_PER_USEC)

/**
 * struct srnic_worker - the worker of a process
 * @refs: one until it is closed, and one for each thread
 * @owner: the process
 * @start: held while a thread is created; no context waits for it
 * @retry: jiffies before which no thread is created; 0: no such time; under @start
 * @lock: protects what follows, and the threads; BH
 * @watch: items that are polled for work, by the first thread
 * @watching: number of these
 * @threads: the threads
 * @idle: those of them that have nothing to do
 * @num: number of threads; 0 from when the worker is closed
 * @closed: the threads have to end
 * @busy: until when processors seem to be busy, by get_jiffies_64()
 * @pause: for how long they have seemed to be the last time, in jiffies
 * @doubled: how often that was doubled
 */
struct srnic_worker {
	refcount_t		refs;
	struct pid		*owner;
	struct mutex		start;	/* protects retry */
	unsigned long		retry;
	spinlock_t		lock;	/* protects what follows, and the threads */
	struct list_head	watch;
	unsigned int		watching;
	struct list_head	threads;
	struct list_head	idle;
	unsigned int		num;
	bool			closed;
	u64			busy;
	u64			pause;
	unsigned int		doubled;
};

/**
 * struct worker_thread - a thread, until it has been reaped
 * @worker: its worker; reference held
 * @link: link in the list of all threads
 * @idle: link in the list of those that have nothing to do
 * @rest: items that have work for it
 * @idled: it was idle when it has looked for work the last time
 * @sleeps: it has to be woken, if it is idle
 * @vtsk: the vhost task
 * @task: the thread; NULL until it runs, with the priority that it has been created with
 * @prio: that priority
 * @weight: and its weight
 * @reap: reaps it
 * @looked: when it has looked for work the last time, or was woken to do so, ns
 * @served: when it has served an item the last time, ns; used by the thread alone
 * @polled: it has polled before it looked for known work the last time; likewise
 */
struct worker_thread {
	struct srnic_worker	*worker;
	struct list_head	link;
	struct list_head	idle;
	struct list_head	rest;
	bool			idled;
	bool			sleeps;
	struct vhost_task	*vtsk;
	struct task_struct	*task;
	int			prio;
	unsigned long		weight;
	struct work_struct	reap;
	u64			looked;
	u64			served;
	bool			polled;
};

static const struct srnic_worker_ops *worker_ops;
static struct workqueue_struct *worker_wq;

static void worker_put(struct srnic_worker *worker)
{
	if (!refcount_dec_and_test(&worker->refs))
		return;

	put_pid(worker->owner);
	kfree(worker);
}

/* The module's exit waits for this function, so the reference may end before its return. */
static void thread_reap(struct work_struct *work)
{
	struct worker_thread *thread = container_of(work, struct worker_thread, reap);

	vhost_task_stop(thread->vtsk);
	worker_put(thread->worker);
	kfree(thread);
	module_put(THIS_MODULE);
}

static void worker_unwatch(struct srnic_worker *worker, struct srnic_worker_item *item)
	__must_hold(&worker->lock)
{
	lockdep_assert_held(&worker->lock);

	list_del_init(&item->watch);
	WRITE_ONCE(worker->watching, worker->watching - 1);
}

/* A thread has begun, or not yet, @took ns after it should have: processors are busy. */
static void worker_is_late(struct srnic_worker *worker, u64 took)
	__must_hold(&worker->lock)
{
	u64 pause = nsecs_to_jiffies64(min(took, WORKER_LATE_MAX) * WORKER_PAUSE);
	u64 now = get_jiffies_64();

	lockdep_assert_held(&worker->lock);

	if (time_before64(now, worker->busy))
		return;	/* it was left to the thread before */
	if (time_before64(now, worker->busy + worker->pause))
		worker->doubled = min(worker->doubled + 1, WORKER_DOUBLED);
	else
		worker->doubled = 0;
	worker->pause = pause << worker->doubled;
	WRITE_ONCE(worker->busy, now + worker->pause);	/* read in srnic_worker_helps() */
}

/*
 * The next item for the thread.  That of another one, if it has waited for longer and that does not
 * come, or if this one has had nothing to do for long enough (@bored).  NULL: there is none.
 */
static struct srnic_worker_item *thread_first(struct worker_thread *thread, bool bored)
	__must_hold(&thread->worker->lock)
{
	u64 late = thread->looked - (bored ? 0 : WORKER_LATE);
	struct srnic_worker_item *first, *item;
	struct worker_thread *other;

	lockdep_assert_held(&thread->worker->lock);

	first = list_first_entry_or_null(&thread->rest, typeof(*first), rest);
	list_for_each_entry(other, &thread->worker->threads, link) {
		item = list_first_entry_or_null(&other->rest, typeof(*item), rest);
		if (item && item->added < late && (!first || item->added < first->added))
			first = item;
	}

	return first;
}

/* Takes the next item with work.  Return: NULL if there is none, or another context has it. */
static struct srnic_worker_item *thread_take(struct worker_thread *thread, bool bored)
	__must_hold(&thread->worker->lock)
{
	struct srnic_worker_item *item = thread_first(thread, bored);

	lockdep_assert_held(&thread->worker->lock);

	if (!item)
		return NULL;

	list_del_init(&item->rest);
	if (!worker_ops->take(item))
		return NULL;
	item->home = thread;

	return item;
}

/* The thread that polls */
static struct worker_thread *worker_poller(const struct srnic_worker *worker)
	__must_hold(&worker->lock)
{
	lockdep_assert_held(&worker->lock);

	return list_first_entry(&worker->threads, struct worker_thread, link);
}

/* Polls some of the items, until there is work.  Return: the item that has it, or NULL. */
static struct srnic_worker_item *thread_poll(struct worker_thread *thread)
	__must_hold(&thread->worker->lock)
{
	struct srnic_worker *worker = thread->worker;
	unsigned int left = min(worker->watching, WORKER_LOOKS);

	lockdep_assert_held(&worker->lock);

	if (thread != worker_poller(worker))
		return NULL;

	while (left--) {
		struct srnic_worker_item *item =
			list_first_entry(&worker->watch, typeof(*item), watch);
		unsigned int look = worker_ops->look(item);

		list_move_tail(&item->watch, &worker->watch);
		if (look & SRNIC_LOOK_END)
			worker_unwatch(worker, item);
		if (look & SRNIC_LOOK_WORK) {
			list_del_init(&item->rest);
			item->home = thread;
			return item;
		}
	}

	return NULL;
}

/* The thread looks for work.  If it was idle, does it come late? */
static void thread_look(struct worker_thread *thread)
	__must_hold(&thread->worker->lock)
{
	struct srnic_worker *worker = thread->worker;
	struct srnic_worker_item *item;
	u64 now = ktime_get_ns();	/* not before anything was added */

	lockdep_assert_held(&worker->lock);

	item = list_first_entry_or_null(&thread->rest, typeof(*item), rest);
	if (thread->idled && item && now - item->added > WORKER_LATE)
		worker_is_late(worker, now - item->added);
	list_del_init(&thread->idle);
	thread->idled = false;
	thread->looked = now;
}

/*
 * What is next?  @item: to be served, or NULL.  Neither known work nor what polling finds keeps
 * the other waiting.  Context: BH disabled.
 * Return: false if the thread may sleep; its state has been set before.
 */
static bool thread_next(struct worker_thread *thread, struct srnic_worker_item **item)
{
	struct srnic_worker *worker = thread->worker;
	bool bored, awake;

	spin_lock(&worker->lock);
	thread->task = current;
	thread_look(thread);
	bored = thread->looked - thread->served > WORKER_WAIT;
	thread->polled = !thread->polled;
	*item = thread->polled ? thread_poll(thread) ?: thread_take(thread, bored) :
				 thread_take(thread, bored) ?: thread_poll(thread);
	awake = *item || worker->closed || !list_empty(&thread->rest) ||
		(!list_empty(&worker->watch) && thread == worker_poller(worker));
	if (!awake) {
		awake = !bored && !need_resched();
		thread->sleeps = !awake;
		thread->idled = true;
		list_add(&thread->idle, &worker->idle);
	}
	spin_unlock(&worker->lock);

	return awake;
}

/* Is the thread idle, and may be so for some longer?  Others need the lock meanwhile. */
static bool thread_waits(const struct worker_thread *thread)
{
	return !list_empty_careful(&thread->idle) && !need_resched() &&
	       ktime_get_ns() - thread->served <= WORKER_WAIT;
}

/* Serves or polls once.  Return: false if the thread may sleep. */
static bool thread_serve(struct worker_thread *thread)
{
	struct srnic_worker_item *item = NULL;
	bool awake = true;

	local_bh_disable();
	if (!thread_waits(thread))
		awake = thread_next(thread, &item);
	if (awake)
		__set_current_state(TASK_RUNNING);
	if (item) {
		worker_ops->run(item);
		thread->served = ktime_get_ns();
	}
	local_bh_enable();
	if (!item)
		cpu_relax();

	return awake;
}

/*
 * The vhost task handles signals in between, and sleeps if there was nothing to do; it has set
 * the state for that.
 */
static bool thread_run(void *data)
{
	struct worker_thread *thread = data;

	cond_resched_tasks_rcu_qs();
	if (vhost_task_is_notified() || signal_pending(current)) {
		__set_current_state(TASK_RUNNING);
		return true;
	}
	if (READ_ONCE(thread->worker->closed)) {
		__set_current_state(TASK_RUNNING);
		vhost_task_kill();
		return true;
	}

	return thread_serve(thread);
}

/* There is something to do for the thread, which may be idle. */
static void thread_wake(struct worker_thread *thread)
	__must_hold(&thread->worker->lock)
{
	lockdep_assert_held(&thread->worker->lock);

	if (list_empty(&thread->idle))
		return;

	list_del_init(&thread->idle);
	thread->looked = ktime_get_ns();
	if (thread->sleeps)
		vhost_task_wake(thread->vtsk);
}

/*
 * Gives up an item of those that the thread has left, or had to poll if it was the @last one.
 * Return: false if there is none.
 */
static bool thread_give_up(struct worker_thread *thread, bool last)
{
	struct srnic_worker *worker = thread->worker;
	struct srnic_worker_item *item = NULL;

	spin_lock_bh(&worker->lock);
	if (last)
		item = list_first_entry_or_null(&worker->watch, typeof(*item), watch);
	if (item) {
		worker_ops->watch(item, false);
		worker_unwatch(worker, item);
		list_move(&item->rest, &thread->rest);
	}
	item = list_first_entry_or_null(&thread->rest, typeof(*item), rest);
	if (item) {
		list_del_init(&item->rest);
		worker_ops->drop(item);
	}
	spin_unlock_bh(&worker->lock);

	return item;
}

/* Return: was it the last one? */
static bool thread_leave(struct worker_thread *thread)
{
	struct srnic_worker *worker = thread->worker;
	bool last;

	spin_lock_bh(&worker->lock);
	list_del(&thread->link);
	list_del_init(&thread->idle);
	if (worker->num)
		WRITE_ONCE(worker->num, worker->num - 1);
	last = list_empty(&worker->threads);
	spin_unlock_bh(&worker->lock);

	return last;
}

/*
 * The thread has been killed, and with it all others, unless they have nothing left to do.  It
 * holds no item, and does not stop or freeze any more.
 */
static void thread_killed(void *data)
{
	struct worker_thread *thread = data;
	bool last = thread_leave(thread);

	while (thread_give_up(thread, last))
		cond_resched();
	queue_work(worker_wq, &thread->reap);
}

/* Return: NULL on failure, or while the module is being removed. */
static struct worker_thread *thread_create(struct srnic_worker *worker)
{
	struct worker_thread *thread;

	if (!try_module_get(THIS_MODULE))
		return NULL;

	thread = kzalloc(sizeof(*thread), GFP_KERNEL_ACCOUNT);
	if (!thread)
		goto err_module;

	/* NULL on failure before 6.14 */
	thread->vtsk = vhost_task_create(thread_run, thread_killed, thread, "srnic");
	if (IS_ERR_OR_NULL(thread->vtsk))
		goto err_thread;

	INIT_WORK(&thread->reap, thread_reap);
	INIT_LIST_HEAD(&thread->rest);
	thread->prio = READ_ONCE(current->normal_prio);
	thread->weight = READ_ONCE(current->se.load.weight);
	thread->idled = true;
	thread->sleeps = true;
	thread->worker = worker;
	refcount_inc(&worker->refs);

	return thread;

err_thread:
	kfree(thread);
err_module:
	module_put(THIS_MODULE);
	return NULL;
}

/* Number of processors that could work for the caller beside its own */
static unsigned int worker_most(void)
{
	return clamp_t(unsigned int, min_t(unsigned int, cpumask_weight(current->cpus_ptr),
					   num_online_cpus()),
		       1, WORKER_THREADS + 1) - 1;
}

/* Is there no need for another thread?  @more: as for srnic_worker_start() */
static bool worker_has(const struct srnic_worker *worker, bool more)
{
	unsigned int num = READ_ONCE(worker->num);

	return num && (!more || num >= worker_most() || !list_empty(&worker->idle));
}

/* Return: false if a signal is pending, with which no thread can be created. */
static bool worker_start(struct srnic_worker *worker, bool more)
	__must_hold(&worker->start)
{
	struct worker_thread *thread;

	lockdep_assert_held(&worker->start);

	/* without the lock: only this context adds threads */
	if (worker_has(worker, more) || (worker->retry && time_before(jiffies, worker->retry)))
		return true;

	thread = thread_create(worker);
	if (!thread && signal_pending(current))
		return false;
	if (!thread) {
		worker->retry = (jiffies + WORKER_RETRY) ?: 1;
		return true;
	}

	worker->retry = 0;
	spin_lock_bh(&worker->lock);
	list_add_tail(&thread->link, &worker->threads);
	list_add(&thread->idle, &worker->idle);
	WRITE_ONCE(worker->num, worker->num + 1);
	spin_unlock_bh(&worker->lock);
	vhost_task_start(thread->vtsk);

	return true;
}

bool srnic_exec_is_real_time(void)
{
	return current->normal_prio < MAX_RT_PRIO;
}

bool srnic_worker_serves(const struct srnic_worker *worker)
{
	return task_tgid(current) == worker->owner && !srnic_exec_is_real_time();
}

bool srnic_worker_start(struct srnic_worker *worker, bool more)
{
	bool done;

	if (worker_has(worker, more) || (current->flags & PF_IO_WORKER))
		return true;
	if (!mutex_trylock(&worker->start))
		return true;

	done = worker_start(worker, more);
	mutex_unlock(&worker->start);

	return done;
}

/* The thread that @item has been left to the last time; NULL: it has not, or that has ended. */
static struct worker_thread *worker_home(const struct srnic_worker *worker,
					 const struct srnic_worker_item *item)
	__must_hold(&worker->lock)
{
	struct worker_thread *thread;

	lockdep_assert_held(&worker->lock);

	list_for_each_entry(thread, &worker->threads, link)
		if (thread == item->home)
			return thread;

	return NULL;
}

/*
 * Has the caller another priority?  What is shared with the thread could wait for long if that is
 * higher, and would be done at more than the caller's if it is lower.
 */
static bool thread_is_unlike(const struct worker_thread *thread)
	__must_hold(&thread->worker->lock)
{
	const struct task_struct *task = thread->task;	/* leaves the list before it ends */
	int prio = task ? READ_ONCE(task->normal_prio) : thread->prio;
	/* tells SCHED_IDLE, whose priority is that of the nice value */
	unsigned long weight = task ? READ_ONCE(task->se.load.weight) : thread->weight;

	lockdep_assert_held(&thread->worker->lock);

	return prio != READ_ONCE(current->normal_prio) ||
	       weight != READ_ONCE(current->se.load.weight);
}

/* A thread that has slept for want of work; NULL: there is none */
static struct worker_thread *worker_sleeper(const struct srnic_worker *worker,
					    enum srnic_worker_how how)
	__must_hold(&worker->lock)
{
	struct worker_thread *thread;

	lockdep_assert_held(&worker->lock);

	list_for_each_entry(thread, &worker->idle, idle)
		if (thread->sleeps && (how != SRNIC_WORKER_SHARE || !thread_is_unlike(thread)))
			return thread;

	return NULL;
}

/* The home of @item, if it is to share that.  If it waits for a processor, these are busy. */
static struct worker_thread *worker_ready_home(struct srnic_worker *worker,
					       const struct srnic_worker_item *item)
	__must_hold(&worker->lock)
{
	struct worker_thread *home = worker_home(worker, item);
	u64 now = ktime_get_ns();

	lockdep_assert_held(&worker->lock);

	if (!home || thread_is_unlike(home))
		return NULL;
	if (!list_empty(&home->idle) || now - home->looked <= WORKER_LATE)
		return home;
	worker_is_late(worker, now - home->looked);

	return NULL;
}

/*
 * Which thread is @item left to?  The data are in the cache of that which has served it, so another
 * one gets it only if that has more to do already.  NULL: none
 */
static struct worker_thread *worker_choose(struct srnic_worker *worker,
					   const struct srnic_worker_item *item,
					   enum srnic_worker_how how)
	__must_hold(&worker->lock)
{
	struct worker_thread *home, *other;

	lockdep_assert_held(&worker->lock);

	home = how == SRNIC_WORKER_SHARE ? worker_ready_home(worker, item) :
					   worker_home(worker, item);
	if (home && (!list_empty(&home->idle) || list_empty(&home->rest)))
		return home;
	other = worker_sleeper(worker, how);
	if (other)
		return other;
	if (home || how == SRNIC_WORKER_SHARE)
		return home;
	other = list_first_entry_or_null(&worker->idle, struct worker_thread, idle);

	return other ?: list_first_entry_or_null(&worker->threads, struct worker_thread, link);
}

bool srnic_worker_add(struct srnic_worker *worker, struct srnic_worker_item *item,
		      enum srnic_worker_how how)
{
	struct worker_thread *thread = NULL;

	spin_lock_bh(&worker->lock);
	if (worker->num)
		thread = worker_choose(worker, item, how);
	if (thread) {
		item->home = thread;
		item->added = ktime_get_ns();
		if (how == SRNIC_WORKER_FIRST)
			list_move(&item->rest, &thread->rest);
		else
			list_move_tail(&item->rest, &thread->rest);
		thread_wake(thread);
	}
	spin_unlock_bh(&worker->lock);

	return thread;
}

bool srnic_worker_has_thread(const struct srnic_worker *worker)
{
	return READ_ONCE(worker->num);
}

bool srnic_worker_helps(const struct srnic_worker *worker)
{
	return worker_most() && !time_before64(get_jiffies_64(), READ_ONCE(worker->busy));
}

bool srnic_worker_comes(struct srnic_worker *worker, struct srnic_worker_item *item)
{
	struct worker_thread *home;
	bool comes;

	spin_lock_bh(&worker->lock);
	home = worker_home(worker, item);
	comes = home && !thread_is_unlike(home) && !list_empty(&item->rest) &&
		ktime_get_ns() - item->added <= WORKER_LATE;
	spin_unlock_bh(&worker->lock);

	return comes;
}

void srnic_worker_remove(struct srnic_worker *worker, struct srnic_worker_item *item)
{
	spin_lock_bh(&worker->lock);
	list_del_init(&item->rest);
	item->home = NULL;
	spin_unlock_bh(&worker->lock);
}

bool srnic_worker_watch(struct srnic_worker *worker, struct srnic_worker_item *item)
{
	bool watched;

	/* without the lock, which a thread that polls has most of the time */
	if (READ_ONCE(worker->num) &&
	    (!list_empty_careful(&item->watch) ||
	     READ_ONCE(worker->watching) >= WORKER_WATCH))
		return true;

	spin_lock_bh(&worker->lock);
	watched = worker->num;
	if (watched && list_empty(&item->watch) && worker->watching < WORKER_WATCH) {
		worker_ops->watch(item, true);
		list_add_tail(&item->watch, &worker->watch);
		WRITE_ONCE(worker->watching, worker->watching + 1);
		thread_wake(worker_poller(worker));
	}
	spin_unlock_bh(&worker->lock);

	return watched;
}

void srnic_worker_unwatch(struct srnic_worker *worker, struct srnic_worker_item *item)
{
	spin_lock_bh(&worker->lock);
	if (!list_empty(&item->watch)) {
		worker_ops->watch(item, false);
		worker_unwatch(worker, item);
	}
	spin_unlock_bh(&worker->lock);
}

struct srnic_worker *srnic_worker_alloc(void)
{
	struct srnic_worker *worker;

	worker = kzalloc(sizeof(*worker), GFP_KERNEL_ACCOUNT);
	if (!worker)
		return NULL;

	refcount_set(&worker->refs, 1);
	mutex_init(&worker->start);
	spin_lock_init(&worker->lock);
	INIT_LIST_HEAD(&worker->watch);
	INIT_LIST_HEAD(&worker->threads);
	INIT_LIST_HEAD(&worker->idle);
	worker->owner = get_pid(task_tgid(current));

	return worker;
}

void srnic_worker_close(struct srnic_worker *worker)
{
	struct worker_thread *thread;

	spin_lock_bh(&worker->lock);
	WRITE_ONCE(worker->num, 0);
	WRITE_ONCE(worker->closed, true);	/* read in thread_run() */
	list_for_each_entry(thread, &worker->threads, link) {
		WARN_ON_ONCE(!list_empty(&thread->rest));
		vhost_task_wake(thread->vtsk);
	}
	WARN_ON_ONCE(worker->watching);
	spin_unlock_bh(&worker->lock);
	worker_put(worker);
}

int srnic_worker_init(const struct srnic_worker_ops *ops)
{
	worker_ops = ops;
	worker_wq = alloc_workqueue("srnic-threads", WQ_UNBOUND, 0);

	return worker_wq ? 0 : -ENOMEM;
}

void srnic_worker_exit(void)
{
	destroy_workqueue(worker_wq);
}
