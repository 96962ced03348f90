/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - workers: threads of the process that causes work, for what its system calls leave
 *
 * A process does the work that it causes in its own system calls, up to a limit.  What is
 * left then is done by another thread of the process, which has the priority of the one that
 * created it, runs in the same cgroups, and stops, freezes and ends with the process.  It also
 * polls for further work, if the process has asked for that.  There are more such threads if one
 * thread of the process has more work than it can do, and processors are idle.
 *
 * Nothing but the user's own work waits for these threads: they hold no more than lists of items
 * while they are off the processor.
 */
#ifndef SRNIC_EXEC_WORKER_H
#define SRNIC_EXEC_WORKER_H

#include <linux/types.h>

struct srnic_worker;

/*
 * Does a real-time thread run here?  It may poll and never release the processor: beside it, others
 * hardly ever run.  Context: any.
 */
bool srnic_exec_is_real_time(void);

/**
 * struct srnic_worker_item - what a worker has to serve
 * @rest: link in the list of the items that have work for a thread
 * @watch: link in the list of those that are polled for work
 * @home: thread that it was left to last, or that has found it by polling, which may not exist
 *	any more; NULL: none, or the process has taken it back since
 * @added: when it was added to @rest last, ns
 *
 * Under the lock of the worker.
 */
struct srnic_worker_item {
	struct list_head	rest;
	struct list_head	watch;
	const void		*home;
	u64			added;
};

/* How an item is added to those with work */
enum srnic_worker_how {
	SRNIC_WORKER_LAST,	/* after all others of a thread */
	SRNIC_WORKER_FIRST,	/* before all others: it had its turn, but was taken */
	SRNIC_WORKER_SHARE,	/* after all others, if a thread is soon to serve it */
};

/* What polling an item has found */
#define SRNIC_LOOK_WORK		1
#define SRNIC_LOOK_END		2	/* it need not be polled any more */

/**
 * struct srnic_worker_ops - what the items of workers are, for worker.c
 * @take: takes what @item stands for; false: another context has it, and will add the item again
 * @run: does a limited part of the work of what has been taken
 * @drop: the thread has ended: another context has to do the work
 * @watch: the item is polled from now on, or no longer
 * @look: polls it; SRNIC_LOOK_*, WORK: it was taken, as by @take
 *
 * Called with BH disabled.  All but @run must not call functions of the worker, and the item is not
 * freed meanwhile.  It is off the list of those with work for @take and @drop.
 */
struct srnic_worker_ops {
	bool (*take)(struct srnic_worker_item *item);
	void (*run)(struct srnic_worker_item *item);
	void (*drop)(struct srnic_worker_item *item);
	void (*watch)(struct srnic_worker_item *item, bool state);
	unsigned int (*look)(struct srnic_worker_item *item);
};

/* A worker for the process of the caller, without a thread.  May sleep.  NULL: no memory. */
struct srnic_worker *srnic_worker_alloc(void);

/*
 * Ends the threads, which may take until their process is continued; nothing waits for that, but
 * until then the module stays.  No item may be left.  May sleep.
 */
void srnic_worker_close(struct srnic_worker *worker);

/*
 * Is what the caller leaves for the thread?  Not that of other processes, which should neither
 * wait for this one nor be paid by it, nor that of real-time threads.  Context: process.
 */
bool srnic_worker_serves(const struct srnic_worker *worker);

/*
 * Creates a thread, unless there is one, or another caller is creating it; @more: unless one is
 * idle, or there are as many as processors could serve beside the caller.
 * Context: process that it serves.  May sleep.
 * Return: false if the caller has to handle a signal first, and should try again.
 */
bool srnic_worker_start(struct srnic_worker *worker, bool more);

/*
 * Adds @item to those that the threads serve, one after the other, anew if it has been added.
 * Context: any but hard interrupt; to share it, the process that the worker serves.
 * Return: false if there is no thread, or none to share it with: one of another priority
 * than the caller's is not.
 */
bool srnic_worker_add(struct srnic_worker *worker, struct srnic_worker_item *item,
		      enum srnic_worker_how how);

/*
 * Can other processors work for the caller?  They cannot if threads have begun late, for a while.
 * Context: process.
 */
bool srnic_worker_helps(const struct srnic_worker *worker);

/* Is there a thread?  Context: any. */
bool srnic_worker_has_thread(const struct srnic_worker *worker);

/*
 * Will a thread soon begin with @item, which has been added?
 * Context: any but hard interrupt.
 */
bool srnic_worker_comes(struct srnic_worker *worker, struct srnic_worker_item *item);

/* Removes @item, if it has been added.  Context: any but hard interrupt. */
void srnic_worker_remove(struct srnic_worker *worker, struct srnic_worker_item *item);

/*
 * Has the thread poll @item, if it does not yet, and not too many others.
 * Context: any but hard interrupt.  Return: false if there is no thread.
 */
bool srnic_worker_watch(struct srnic_worker *worker, struct srnic_worker_item *item);

/* Ends that.  Context: any but hard interrupt. */
void srnic_worker_unwatch(struct srnic_worker *worker, struct srnic_worker_item *item);

int srnic_worker_init(const struct srnic_worker_ops *ops);
void srnic_worker_exit(void);

#endif /* SRNIC_EXEC_WORKER_H */
