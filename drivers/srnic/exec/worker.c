// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - workers: the thread, who may have it, and its end
 *
 * The thread is a vhost task: a thread of a process that runs a function of the kernel.  It
 * ends by SIGKILL, which execve() sends to all other threads, and which it sends to itself after
 * its worker has been closed.  Then it has itself reaped from a workqueue: vhost_task_stop()
 * waits for the thread, which before could be stopped or frozen for as long as its process
 * likes.  Until then it holds a reference to the module.
 */
#include <linux/bottom_half.h>
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
#include <linux/workqueue.h>

#include "worker.h"

/* After a failure, as by a limit on the number of threads, none is created for this long. */
#define WORKER_RETRY	HZ

/* Most items that a thread polls, and those that it polls under one acquisition of the lock */
#define WORKER_WATCH	256
#define WORKER_LOOKS	16U

struct worker_thread;

/**
 * struct srnic_worker - the worker of a process
 * @refs: one until it is closed, and one for each thread
 * @owner: the process
 * @start: held while the thread is created; no context waits for it
 * @retry: jiffies before which no thread is created; 0: no such time; under @start
 * @lock: protects what follows, and worker_thread.ending; BH
 * @rest: items that have work
 * @watch: items that are polled for work
 * @watching: number of these
 * @thread: the thread; NULL: there is none
 */
struct srnic_worker {
	refcount_t		refs;
	struct pid		*owner;
	struct mutex		start;	/* protects retry */
	unsigned long		retry;
	spinlock_t		lock;	/* protects what follows */
	struct list_head	rest;
	struct list_head	watch;
	unsigned int		watching;
	struct worker_thread	*thread;
};

/**
 * struct worker_thread - a thread, until it has been reaped
 * @worker: its worker; reference held
 * @vtsk: the vhost task
 * @reap: reaps it
 * @ending: the worker has been closed
 * @polled: it has polled before it looked for known work the last time; used by it alone
 */
struct worker_thread {
	struct srnic_worker	*worker;
	struct vhost_task	*vtsk;
	struct work_struct	reap;
	bool			ending;
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

/* Takes the first item with work.  Return: NULL if there is none, or another context has it. */
static struct srnic_worker_item *worker_take(struct srnic_worker *worker)
	__must_hold(&worker->lock)
{
	struct srnic_worker_item *item;

	lockdep_assert_held(&worker->lock);

	item = list_first_entry_or_null(&worker->rest, typeof(*item), rest);
	if (!item)
		return NULL;

	list_del_init(&item->rest);

	return worker_ops->take(item) ? item : NULL;
}

/* Polls some of the items, until there is work.  Return: the item that has it, or NULL. */
static struct srnic_worker_item *worker_poll(struct srnic_worker *worker)
	__must_hold(&worker->lock)
{
	unsigned int left = min(worker->watching, WORKER_LOOKS);

	lockdep_assert_held(&worker->lock);

	while (left--) {
		struct srnic_worker_item *item =
			list_first_entry(&worker->watch, typeof(*item), watch);
		unsigned int look = worker_ops->look(item);

		list_move_tail(&item->watch, &worker->watch);
		if (look & SRNIC_LOOK_END)
			worker_unwatch(worker, item);
		if (look & SRNIC_LOOK_WORK)
			return item;
	}

	return NULL;
}

/*
 * What is next?  @item: to be served, or NULL.  Neither known work nor what polling finds keeps
 * the other waiting.  Context: BH disabled.
 * Return: false if the thread may sleep; its state has been set before.
 */
static bool thread_next(struct worker_thread *thread, struct srnic_worker_item **item)
{
	struct srnic_worker *worker = thread->worker;
	bool awake;

	spin_lock(&worker->lock);
	thread->polled = !thread->polled;
	*item = thread->polled ? worker_poll(worker) ?: worker_take(worker) :
				 worker_take(worker) ?: worker_poll(worker);
	awake = *item || thread->ending ||
		!list_empty(&worker->rest) || !list_empty(&worker->watch);
	spin_unlock(&worker->lock);

	return awake;
}

/* Serves or polls once.  Return: false if the thread may sleep. */
static bool thread_serve(struct worker_thread *thread)
{
	struct srnic_worker_item *item;
	bool awake;

	local_bh_disable();
	awake = thread_next(thread, &item);
	if (awake)
		__set_current_state(TASK_RUNNING);
	if (item)
		worker_ops->run(item);
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
	if (READ_ONCE(thread->ending)) {
		__set_current_state(TASK_RUNNING);
		vhost_task_kill();
		return true;
	}

	return thread_serve(thread);
}

/* The thread has been killed.  It holds no item, and does not stop or freeze any more. */
static void thread_killed(void *data)
{
	struct worker_thread *thread = data;
	struct srnic_worker *worker = thread->worker;
	struct srnic_worker_item *item;

	do {
		spin_lock_bh(&worker->lock);
		WRITE_ONCE(worker->thread, NULL);
		item = list_first_entry_or_null(&worker->watch, typeof(*item), watch);
		if (item) {
			worker_ops->watch(item, false);
			worker_unwatch(worker, item);
			list_move(&item->rest, &worker->rest);
		}
		item = list_first_entry_or_null(&worker->rest, typeof(*item), rest);
		if (item) {
			list_del_init(&item->rest);
			worker_ops->drop(item);
		}
		spin_unlock_bh(&worker->lock);
		cond_resched();
	} while (item);
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
	thread->worker = worker;
	refcount_inc(&worker->refs);

	return thread;

err_thread:
	kfree(thread);
err_module:
	module_put(THIS_MODULE);
	return NULL;
}

/* Return: false if a signal is pending, with which no thread can be created. */
static bool worker_start(struct srnic_worker *worker)
	__must_hold(&worker->start)
{
	struct worker_thread *thread;

	lockdep_assert_held(&worker->start);

	/* read without the lock: only this context changes NULL to something else */
	if (READ_ONCE(worker->thread) ||
	    (worker->retry && time_before(jiffies, worker->retry)))
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
	WRITE_ONCE(worker->thread, thread);
	spin_unlock_bh(&worker->lock);
	vhost_task_start(thread->vtsk);

	return true;
}

/* A real-time thread may never release the processor that the thread would run on. */
bool srnic_worker_serves(const struct srnic_worker *worker)
{
	return task_tgid(current) == worker->owner && current->normal_prio >= MAX_RT_PRIO;
}

bool srnic_worker_start(struct srnic_worker *worker)
{
	bool done;

	if (READ_ONCE(worker->thread) || (current->flags & PF_IO_WORKER))
		return true;
	if (!mutex_trylock(&worker->start))
		return true;

	done = worker_start(worker);
	mutex_unlock(&worker->start);

	return done;
}

bool srnic_worker_add(struct srnic_worker *worker, struct srnic_worker_item *item, bool first)
{
	bool added;

	spin_lock_bh(&worker->lock);
	added = worker->thread;
	if (added) {
		if (list_empty(&worker->rest))	/* or it has been woken */
			vhost_task_wake(worker->thread->vtsk);
		if (first)
			list_move(&item->rest, &worker->rest);
		else
			list_move_tail(&item->rest, &worker->rest);
	}
	spin_unlock_bh(&worker->lock);

	return added;
}

void srnic_worker_remove(struct srnic_worker *worker, struct srnic_worker_item *item)
{
	spin_lock_bh(&worker->lock);
	list_del_init(&item->rest);
	spin_unlock_bh(&worker->lock);
}

bool srnic_worker_watch(struct srnic_worker *worker, struct srnic_worker_item *item)
{
	bool watched;

	/* without the lock, which a thread that polls has most of the time */
	if (READ_ONCE(worker->thread) &&
	    (!list_empty_careful(&item->watch) ||
	     READ_ONCE(worker->watching) >= WORKER_WATCH))
		return true;

	spin_lock_bh(&worker->lock);
	watched = worker->thread;
	if (watched && list_empty(&item->watch) && worker->watching < WORKER_WATCH) {
		worker_ops->watch(item, true);
		list_add_tail(&item->watch, &worker->watch);
		WRITE_ONCE(worker->watching, worker->watching + 1);
		vhost_task_wake(worker->thread->vtsk);
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
	INIT_LIST_HEAD(&worker->rest);
	INIT_LIST_HEAD(&worker->watch);
	worker->owner = get_pid(task_tgid(current));

	return worker;
}

void srnic_worker_close(struct srnic_worker *worker)
{
	struct worker_thread *thread;

	spin_lock_bh(&worker->lock);
	thread = worker->thread;
	WRITE_ONCE(worker->thread, NULL);
	if (thread) {
		WRITE_ONCE(thread->ending, true);	/* read in thread_run() */
		vhost_task_wake(thread->vtsk);
	}
	WARN_ON_ONCE(!list_empty(&worker->rest) || worker->watching);
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
