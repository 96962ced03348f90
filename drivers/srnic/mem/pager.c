// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - fetching of on-demand pages, missing ones and ahead of use
 *
 * A task that misses a page has its pager fetch it and retries when the fetch has
 * ended.  A failure is reported by that retry, and only if it is still for the
 * same page.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "internal.h"

/* Maximum number of pages fetched at once, of those needed from the missing one on */
#define PAGER_AHEAD	16

/*
 * Maximum number of steps that a worker spends on one prefetch.  A step is
 * ODP_BATCH pages at most, or a hole.
 */
#define FETCH_STEPS	16384

static void pager_end(struct srnic_pager *pager)
{
	srnic_odp_put(pager->odp);
	/* Pairs with srnic_pager_busy(): the result is visible. */
	smp_store_release(&pager->busy, false);
	pager->ops->end(pager);
}

static void pager_work(struct srnic_job *job)
{
	struct srnic_pager *pager = container_of(job, struct srnic_pager, job);
	long got;

	got = srnic_odp_fetch(pager->odp, pager->va, pager->num,
			      pager->write ? SRNIC_FETCH_WRITE :
					     SRNIC_FETCH_READ);
	pager->failed = got < 0 && got != -EBUSY;
	pager_end(pager);
}

void srnic_pager_init(struct srnic_pager *pager,
		      const struct srnic_pager_ops *ops, void *owner)
{
	srnic_job_init(&pager->job, pager_work);
	pager->ops = ops;
	pager->owner = owner;
}

void srnic_pager_forget(struct srnic_pager *pager)
{
	pager->id = 0;
}

/* Was the last fetch for this page and kind of access? */
static bool pager_knows(const struct srnic_pager *pager,
			const struct srnic_odp *odp, u64 va, bool write)
{
	return pager->id == srnic_odp_id(odp) && pager->va == va &&
	       pager->write == write;
}

enum srnic_mem_err srnic_pager_ask(struct srnic_pager *pager,
				   struct srnic_odp *odp, u64 va, u64 rest,
				   bool write)
{
	u64 page = va & PAGE_MASK;

	if (srnic_pager_busy(pager))
		return SRNIC_MEM_ABSENT;
	if (pager->failed && pager_knows(pager, odp, page, write)) {
		srnic_pager_forget(pager);
		return SRNIC_MEM_FAULT;
	}

	srnic_odp_get(odp);
	pager->odp = odp;
	pager->id = srnic_odp_id(odp);
	pager->va = page;
	pager->num = DIV_ROUND_UP(min_t(u64, va - page + rest,
					PAGER_AHEAD << PAGE_SHIFT), PAGE_SIZE);
	pager->write = write;
	pager->busy = true;
	pager->ops->begin(pager);
	srnic_job_queue(&pager->job, srnic_odp_lanes(odp), SRNIC_LANE_MISSED);

	return SRNIC_MEM_ABSENT;
}

void srnic_pager_cancel(struct srnic_pager *pager)
{
	bool cancelled;

	srnic_pager_forget(pager);
	rcu_read_lock();
	cancelled = srnic_pager_busy(pager) && srnic_job_cancel(&pager->job);
	rcu_read_unlock();
	if (cancelled)
		pager_end(pager);
}

/**
 * struct srnic_fetch - prefetch of a list of ranges
 * @job: executes the prefetch
 * @how: enum srnic_fetch_how
 * @num: number of ranges
 * @range: address ranges; reference on each @odp held
 */
struct srnic_fetch {
	struct srnic_job	job;
	enum srnic_fetch_how	how;
	u32			num;
	struct {
		struct srnic_odp	*odp;
		u64			va;
		u64			len;
	} range[];
};

void srnic_fetch_free(struct srnic_fetch *fetch)
{
	while (fetch->num)
		srnic_odp_put(fetch->range[--fetch->num].odp);
	kvfree(fetch);
}

/* Fetches the pages from @va to @end; -EAGAIN if that takes more than *@steps steps. */
static int fetch_range(struct srnic_odp *odp, u64 va, u64 end,
		       enum srnic_fetch_how how, u64 *steps)
{
	long got;

	while (va < end) {
		if (!*steps)
			return -EAGAIN;
		--*steps;
		got = srnic_odp_fetch(odp, va, (end - va) >> PAGE_SHIFT, how);
		if (got < 0)
			return got;
		if (fatal_signal_pending(current))
			return -EINTR;
		va += (u64)got << PAGE_SHIFT;
		cond_resched();
	}

	return 0;
}

static int fetch_all(struct srnic_fetch *fetch, u64 steps)
{
	int err = 0;
	u32 i;

	for (i = 0; i < fetch->num && !err; i++) {
		u64 va = fetch->range[i].va;

		err = fetch_range(fetch->range[i].odp, va & PAGE_MASK,
				  PAGE_ALIGN(va + fetch->range[i].len),
				  fetch->how, &steps);
	}

	return err;
}

int srnic_fetch_now(struct srnic_fetch *fetch)
{
	return fetch_all(fetch, U64_MAX);
}

/* A prefetch is only advice: the rest of one that takes too long is fetched on use. */
static void fetch_work(struct srnic_job *job)
{
	struct srnic_fetch *fetch = container_of(job, struct srnic_fetch, job);

	fetch_all(fetch, FETCH_STEPS);
	srnic_fetch_free(fetch);
}

bool srnic_fetch_queue(struct srnic_fetch *fetch, struct srnic_lanes *lanes)
{
	return srnic_job_queue(&fetch->job, lanes, SRNIC_LANE_AHEAD);
}

struct srnic_fetch *srnic_fetch_alloc(enum srnic_fetch_how how, u32 max)
{
	struct srnic_fetch *fetch;

	fetch = kvzalloc(struct_size(fetch, range, max), GFP_KERNEL_ACCOUNT);
	if (!fetch)
		return NULL;

	srnic_job_init(&fetch->job, fetch_work);
	fetch->how = how;

	return fetch;
}

enum srnic_mem_err srnic_fetch_add(struct srnic_fetch *fetch,
				   struct srnic_keys *keys,
				   const struct ib_pd *pd, u32 key, u64 addr,
				   u64 len)
{
	u32 access = fetch->how == SRNIC_FETCH_WRITE ? IB_ACCESS_LOCAL_WRITE :
						       0;
	enum srnic_mem_err err;
	struct srnic_mr *mr;

	err = srnic_mr_get(keys, key, pd, access, addr, len, &mr);
	if (err)
		return err;

	if (mr->kind != SRNIC_MR_PLAIN || !mr->span.odp) {
		err = SRNIC_MEM_STATE;
	} else {
		srnic_odp_get(mr->span.odp);
		fetch->range[fetch->num].odp = mr->span.odp;
		fetch->range[fetch->num].va = addr - mr->span.iova +
					      mr->span.offset;
		fetch->range[fetch->num++].len = len;
	}
	srnic_mr_put(mr);

	return err;
}
