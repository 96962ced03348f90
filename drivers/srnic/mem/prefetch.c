// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - prefetch: fetches on-demand pages ahead of their use (ibv_advise_mr())
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "internal.h"

/*
 * Maximum number of steps that a worker spends on one prefetch.  A step is
 * ODP_BATCH pages at most, or a hole.
 */
#define PREFETCH_STEPS	16384

/**
 * struct srnic_prefetch - prefetch of a list of ranges
 * @job: executes the prefetch
 * @how: enum srnic_fetch_how
 * @num: number of ranges
 * @range: address ranges; reference on each @odp held
 */
struct srnic_prefetch {
	struct srnic_job	job;
	enum srnic_fetch_how	how;
	u32			num;
	struct {
		struct srnic_odp	*odp;
		u64			va;
		u64			len;
	} range[];
};

void srnic_prefetch_free(struct srnic_prefetch *fetch)
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

static int fetch_all(struct srnic_prefetch *fetch, u64 steps)
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

int srnic_prefetch_now(struct srnic_prefetch *fetch)
{
	return fetch_all(fetch, U64_MAX);
}

/* A prefetch is only advice: pages left out after PREFETCH_STEPS are fetched on use. */
static void fetch_work(struct srnic_job *job)
{
	struct srnic_prefetch *fetch = container_of(job, struct srnic_prefetch, job);

	fetch_all(fetch, PREFETCH_STEPS);
	srnic_prefetch_free(fetch);
}

bool srnic_prefetch_queue(struct srnic_prefetch *fetch, struct srnic_owner *owner)
{
	return srnic_job_queue(&fetch->job, owner, SRNIC_JOB_PREFETCH);
}

struct srnic_prefetch *srnic_prefetch_alloc(enum srnic_fetch_how how, u32 max)
{
	struct srnic_prefetch *fetch;

	fetch = kvzalloc(struct_size(fetch, range, max), GFP_KERNEL_ACCOUNT);
	if (!fetch)
		return NULL;

	srnic_job_init(&fetch->job, fetch_work);
	fetch->how = how;

	return fetch;
}

enum srnic_mem_err srnic_prefetch_add(struct srnic_prefetch *fetch,
				      struct srnic_keys *keys,
				      const struct ib_pd *pd, u32 key, u64 addr,
				      u64 len)
{
	u32 access = fetch->how == SRNIC_FETCH_WRITE ? IB_ACCESS_LOCAL_WRITE :
						       0;
	struct srnic_mr *mr = NULL;
	enum srnic_mem_err err;

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
