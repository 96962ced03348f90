/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - what the files of mem/ tell each other: the life of a key
 */
#ifndef SRNIC_MEM_KEY_H
#define SRNIC_MEM_KEY_H

#include "mem.h"

/*
 * Kernel address of @addr; *@len is reduced to what is contiguous there.
 * The caller has checked the range, of a region that is not paged on demand.
 */
void *srnic_mr_addr(const struct srnic_mr *mr, u64 addr, u64 *len);

/*
 * Takes a reference if @mr is valid: all that its key names is in place then.
 * Context: any; RCU, or another reference, keeps the memory.
 */
bool srnic_mr_hold(struct srnic_mr *mr);

/* Changes @mr's state; false if it was not @from. */
bool srnic_mr_move(struct srnic_mr *mr, enum srnic_mr_state from,
		   enum srnic_mr_state to);

/* Changes the state of a key that is BUSY by the caller. */
void srnic_mr_set_state(struct srnic_mr *mr, enum srnic_mr_state state);

/* The same, to VALID: from now on lookups find what was written before. */
void srnic_mr_make_valid(struct srnic_mr *mr);

/*
 * Ends the validity of @mr and takes over the caller's reference.
 * SRNIC_MEM_OK, SRNIC_MEM_STATE, or SRNIC_MEM_BUSY: @wait will be told.
 */
enum srnic_mem_err srnic_mr_end(struct srnic_mr *mr, struct srnic_wait *wait);

/* Unmaps and forgets a shared buffer; NULL is fine.  May sleep. */
void srnic_dmabuf_put(struct srnic_dmabuf *dmabuf);

/* A number that no other address space has or had. */
u64 srnic_odp_id(const struct srnic_odp *odp);

void srnic_odp_get(struct srnic_odp *odp);
/* NULL is fine.  May sleep. */
void srnic_odp_put(struct srnic_odp *odp);

/*
 * Copy @len bytes from or to address @va, up to a page that is absent.
 * Context: BH disabled.  Return: bytes copied.
 */
u64 srnic_odp_write(struct srnic_odp *odp, u64 va, const void *src, u64 len);
u64 srnic_odp_read(struct srnic_odp *odp, u64 va, void *dst, u64 len);

/* Calls @fn for an aligned word; false: its page is absent. */
bool srnic_odp_word(struct srnic_odp *odp, u64 va, srnic_word_fn fn,
		    const void *arg, u64 *result);

/*
 * Makes pages present, of which the first is at @va, or with SRNIC_FETCH_PRESENT
 * passes over those that the process does not have; may sleep for long.
 * Return: 0 < pages <= @num; -EBUSY: it may be had, but not now; -ESRCH: the
 * process is gone; other errno.
 */
long srnic_odp_fetch(struct srnic_odp *odp, u64 va, u64 num,
		     enum srnic_fetch_how how);

/* What a job of a lane is for */
enum srnic_lane {
	SRNIC_LANE_MISSED,	/* somebody waits for the page */
	SRNIC_LANE_AHEAD,	/* nobody does yet */
	SRNIC_LANE_NUM
};

void srnic_job_init(struct srnic_job *job, void (*fn)(struct srnic_job *job));

/*
 * Runs @job where it may sleep for long, when one of @lanes' places is free.
 * False: too many wait, which is only so for those AHEAD.  Context: not hard
 * interrupt.
 */
bool srnic_job_queue(struct srnic_job *job, struct srnic_lanes *lanes,
		     enum srnic_lane kind);

/*
 * True: @job still waited and does not run.  The caller is an RCU reader that has
 * seen that the job was not done, and is alone in queueing it.
 */
bool srnic_job_cancel(struct srnic_job *job);

int srnic_lanes_init(void);
void srnic_lanes_exit(void);

/* The lanes that an address space is fetched by. */
struct srnic_lanes *srnic_odp_lanes(const struct srnic_odp *odp);

/*
 * The page at @va is absent: lets @pager fetch it and those up to @va + @rest.
 * SRNIC_MEM_ABSENT, or SRNIC_MEM_FAULT when it has tried already.
 * Context: the owner's task.
 */
enum srnic_mem_err srnic_pager_ask(struct srnic_pager *pager,
				   struct srnic_odp *odp, u64 va, u64 rest,
				   bool write);

#endif /* SRNIC_MEM_KEY_H */
