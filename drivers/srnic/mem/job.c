// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - jobs: page fetches executed by a limited number of workers per owner
 *
 * A user can delay a page fault indefinitely (userfaultfd, FUSE) while a worker waits for
 * it.  So each owner gets only a few workers at a time, some for missing pages and some
 * for prefetches; further jobs wait until one of the owner's ends.
 */
#include <linux/spinlock.h>

#include "internal.h"

static const struct {
	const char	*name;
	u32		running;
	u32		waiting;
} job_kinds[SRNIC_JOB_NUM] = {
	/* At most three per queue pair, cancelled when it is destroyed: need no limit */
	[SRNIC_JOB_FAULT]	= { "srnic-odp",	32,	U32_MAX },
	[SRNIC_JOB_PREFETCH]	= { "srnic-ahead",	4,	64 },
};

static struct workqueue_struct *job_wqs[SRNIC_JOB_NUM];

static void job_start(struct srnic_job *job, const struct srnic_job_limit *limit)
{
	queue_work(job_wqs[limit->kind], &job->work);
}

/* Called when a job has ended; starts the next one that waits. */
static void job_next(struct srnic_job_limit *limit)
{
	struct srnic_job *job;

	spin_lock_bh(&limit->lock);
	job = list_first_entry_or_null(&limit->waiting, struct srnic_job, list);
	if (job) {
		list_del_init(&job->list);
		limit->num--;
	} else {
		limit->running--;
	}
	spin_unlock_bh(&limit->lock);

	if (job)
		job_start(job, limit);
}

static void job_work(struct work_struct *work)
{
	struct srnic_job *job = container_of(work, struct srnic_job, work);
	struct srnic_job_limit *limit = job->limit;

	/* The job may be queued again, or freed, before this returns. */
	job->fn(job);
	job_next(limit);
	srnic_owner_put(limit->owner);
}

void srnic_job_init(struct srnic_job *job, void (*fn)(struct srnic_job *job))
{
	INIT_WORK(&job->work, job_work);
	INIT_LIST_HEAD(&job->list);
	job->fn = fn;
}

bool srnic_job_queue(struct srnic_job *job, struct srnic_owner *owner,
		     enum srnic_job_kind kind)
{
	struct srnic_job_limit *limit;
	bool start, wait;

	owner = srnic_owner_get(owner);
	limit = srnic_owner_limit(owner, kind);
	spin_lock_bh(&limit->lock);
	start = limit->running < job_kinds[kind].running;
	wait = !start && limit->num < job_kinds[kind].waiting;
	if (start) {
		limit->running++;
	} else if (wait) {
		list_add_tail(&job->list, &limit->waiting);
		limit->num++;
	}
	if (start || wait)
		job->limit = limit;
	spin_unlock_bh(&limit->lock);

	if (start)
		job_start(job, limit);
	else if (!wait)
		srnic_owner_put(owner);

	return start || wait;
}

bool srnic_job_cancel(struct srnic_job *job)
{
	struct srnic_job_limit *limit = job->limit;
	bool waits;

	spin_lock_bh(&limit->lock);
	waits = !list_empty(&job->list);
	if (waits) {
		list_del_init(&job->list);
		limit->num--;
	}
	spin_unlock_bh(&limit->lock);
	if (waits)
		srnic_owner_put(limit->owner);

	return waits;
}

void srnic_jobs_exit(void)
{
	int i;

	for (i = 0; i < SRNIC_JOB_NUM; i++) {
		if (job_wqs[i])
			destroy_workqueue(job_wqs[i]);
		job_wqs[i] = NULL;
	}
}

int srnic_jobs_init(void)
{
	int i;

	for (i = 0; i < SRNIC_JOB_NUM; i++) {
		job_wqs[i] = alloc_workqueue("%s", WQ_UNBOUND, WQ_MAX_ACTIVE,
					     job_kinds[i].name);
		if (!job_wqs[i])
			goto err_wqs;
	}

	return 0;

err_wqs:
	srnic_jobs_exit();
	return -ENOMEM;
}
