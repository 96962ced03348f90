/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - what the files of mem/ share
 */
#ifndef SRNIC_MEM_INTERNAL_H
#define SRNIC_MEM_INTERNAL_H

#include <linux/spinlock.h>
#include <linux/types.h>

#include "mem.h"

/* key.c */

/*
 * Takes a reference if @mr is valid; all of its fields are then visible.
 * Context: any; RCU or another reference must keep @mr from being freed.
 */
bool srnic_mr_hold(struct srnic_mr *mr);

/* Moves @mr from state @from to @to; false if it was not in @from. */
bool srnic_mr_move(struct srnic_mr *mr, enum srnic_mr_state from,
		   enum srnic_mr_state to);

/* Sets the state of a key that the caller has made BUSY. */
void srnic_mr_set_state(struct srnic_mr *mr, enum srnic_mr_state state);

/* Makes such a key VALID: lookups that succeed from now on see all earlier writes. */
void srnic_mr_make_valid(struct srnic_mr *mr);

/*
 * Invalidates @mr and consumes the caller's reference.  Return: SRNIC_MEM_OK,
 * SRNIC_MEM_STATE, or SRNIC_MEM_BUSY: @wait->wake() will be called.
 */
enum srnic_mem_err srnic_mr_end(struct srnic_mr *mr, struct srnic_wait *wait);

/* mr.c */

/*
 * Kernel address of @addr; *@len is reduced to the bytes contiguous from there.
 * The caller has checked the range; @mr must not be indirect.  What a null region returns
 * must not be written to.
 */
void *srnic_mr_addr(const struct srnic_mr *mr, u64 addr, u64 *len);

/* integrity.c */

/* Frees the integrity part of @mr, if it has one.  May sleep. */
void srnic_pi_free(struct srnic_mr *mr);

/*
 * Switches @mr, which the caller has made BUSY, to what was prepared last; false: that has not
 * @length bytes on the wire.
 */
bool srnic_pi_take(struct srnic_mr *mr, u64 length);

/*
 * Copy bytes of the wire; @check: compare data with their tuples.  The caller holds @mr and has
 * checked the range.  Context: any.
 */
void srnic_pi_read(struct srnic_mr *mr, u64 addr, void *dst, u64 len, bool check);
void srnic_pi_write(struct srnic_mr *mr, u64 addr, const void *src, u64 len);

/* odp.c */

/*
 * Address space of the caller, whose pages are fetched for @owner.  May sleep.
 * Return: NULL without memory.
 */
struct srnic_odp *srnic_odp_make(struct srnic_owner *owner);

/* Id of @odp, never 0 and never reused for another address space. */
u64 srnic_odp_id(const struct srnic_odp *odp);

/* Owner for whom the pages of @odp are fetched */
struct srnic_owner *srnic_odp_owner(const struct srnic_odp *odp);

void srnic_odp_get(struct srnic_odp *odp);
/* @odp may be NULL.  May sleep. */
void srnic_odp_put(struct srnic_odp *odp);

/*
 * Copy up to @len bytes to or from address @va, stopping at the first absent page.
 * Context: BH disabled.  Return: number of bytes copied.
 */
u64 srnic_odp_write(struct srnic_odp *odp, u64 va, const void *src, u64 len);
u64 srnic_odp_read(struct srnic_odp *odp, u64 va, void *dst, u64 len);

/* Applies @fn to the aligned word at @va; false: its page is absent. */
bool srnic_odp_word(struct srnic_odp *odp, u64 va, srnic_word_fn fn,
		    const void *arg, u64 *result);

/*
 * Makes up to @num pages from @va on present.  With SRNIC_FETCH_PRESENT, skips pages
 * that are not present in the process instead.  May sleep for a long time.
 * Return: number of pages, 1 to @num; -EBUSY: not now, retry; -ESRCH: the process has
 * exited; other negative errno.
 */
long srnic_odp_fetch(struct srnic_odp *odp, u64 va, u64 num,
		     enum srnic_fetch_how how);

/* pager.c */

/*
 * Has @pager fetch the absent page at @va and those up to @va + @rest, 16 in all at
 * most.  Return: SRNIC_MEM_ABSENT, or SRNIC_MEM_FAULT if the last fetch was for this
 * page and failed.  Context: the owner's task.
 */
enum srnic_mem_err srnic_pager_ask(struct srnic_pager *pager,
				   struct srnic_odp *odp, u64 va, u64 rest,
				   bool write);

/* owner.c */

/* Kinds of jobs */
enum srnic_job_kind {
	SRNIC_JOB_FAULT,	/* fetch of pages that a queue pair is waiting for */
	SRNIC_JOB_PREFETCH,
	SRNIC_JOB_NUM
};

/**
 * struct srnic_job_limit - limit on the jobs of one kind that run for one owner
 * @owner: the owner that it is part of
 * @kind: kind of the jobs
 * @lock: protects the fields below
 * @running: number of jobs running
 * @waiting: jobs that wait for a running one to end
 * @num: number of jobs in @waiting
 */
struct srnic_job_limit {
	struct srnic_owner	*owner;
	enum srnic_job_kind	kind;
	spinlock_t		lock;	/* protects running, waiting and num */
	u32			running;
	struct list_head	waiting;
	u32			num;
};

struct srnic_job_limit *srnic_owner_limit(struct srnic_owner *owner,
					  enum srnic_job_kind kind);

int srnic_owners_init(void);
void srnic_owners_exit(void);

/* job.c */

void srnic_job_init(struct srnic_job *job, void (*fn)(struct srnic_job *job));

/*
 * Runs @job on a workqueue, where it may sleep for long, as soon as the limit of @owner
 * (NULL: the kernel) on jobs of that kind permits.  False: too many are waiting; happens
 * with SRNIC_JOB_PREFETCH only.  Context: any but hard interrupt.
 */
bool srnic_job_queue(struct srnic_job *job, struct srnic_owner *owner,
		     enum srnic_job_kind kind);

/*
 * Cancels @job if it is still waiting; true if it was.  Only the caller queues @job, and
 * within this RCU read section it has seen that the job is not done.
 */
bool srnic_job_cancel(struct srnic_job *job);

int srnic_jobs_init(void);
/* Waits for the last jobs to end. */
void srnic_jobs_exit(void);

#endif /* SRNIC_MEM_INTERNAL_H */
