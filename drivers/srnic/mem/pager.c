// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - pager: fetches on-demand pages that a task has found absent
 *
 * A task that finds a page absent has its pager fetch it, and retries when the fetch has
 * ended.  A failure is reported to that retry, and only if it is for the same page.
 */
#include <linux/mm.h>

#include "internal.h"

/* Maximum number of pages fetched at once: the absent one and those needed after it */
#define PAGER_AHEAD	16

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
	srnic_job_queue(&pager->job, srnic_odp_owner(odp), SRNIC_JOB_FAULT);

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
