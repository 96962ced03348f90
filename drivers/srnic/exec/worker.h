/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - workers: a thread of the process that causes work, for what its system calls leave
 *
 * A process does the work that it causes in its own system calls, up to a limit.  What is
 * left then is done by another thread of the process, which has the priority of the one that
 * created it, runs in the same cgroups, and stops, freezes and ends with the process.  It also
 * polls for further work, if the process has asked for that.
 *
 * Nothing but the user's own work waits for this thread: it holds no more than lists of items
 * while it is off the processor.
 */
#ifndef SRNIC_EXEC_WORKER_H
#define SRNIC_EXEC_WORKER_H

#include <linux/types.h>

struct srnic_worker;

/**
 * struct srnic_worker_item - what a worker has to serve
 * @rest: link in the list of the items that have work
 * @watch: link in the list of those that are polled for work
 *
 * Under the lock of the worker.
 */
struct srnic_worker_item {
	struct list_head	rest;
	struct list_head	watch;
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
 * Ends the thread, which may take until its process is continued; nothing waits for that, but
 * until then the module stays.  No item may be left.  May sleep.
 */
void srnic_worker_close(struct srnic_worker *worker);

/*
 * Is what the caller leaves for the thread?  Not that of other processes, which should neither
 * wait for this one nor be paid by it, nor that of real-time threads.  Context: process.
 */
bool srnic_worker_serves(const struct srnic_worker *worker);

/*
 * Creates the thread, unless there is one, or another caller is creating it.
 * Context: process that it serves.  May sleep.
 * Return: false if the caller has to handle a signal first, and should try again.
 */
bool srnic_worker_start(struct srnic_worker *worker);

/*
 * Adds @item, unless it has been added, to those that the thread serves, one after the other;
 * @first: it had its turn, but was taken.
 * Context: any but hard interrupt.  Return: false if there is no thread.
 */
bool srnic_worker_add(struct srnic_worker *worker, struct srnic_worker_item *item, bool first);

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
