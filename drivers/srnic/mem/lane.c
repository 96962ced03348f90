// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - lanes: limit how many page fetches one user has in progress
 *
 * A user can delay a page fault indefinitely (userfaultfd, FUSE) while a worker
 * waits for it.  So each user gets only a few workers at a time, some for
 * missing pages and some for prefetches; further jobs queue behind them.
 */
#include <linux/kref.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "internal.h"

/**
 * struct lane - jobs of one kind and user
 * @lanes: the lanes that it is part of
 * @max: maximum number of jobs running at a time
 * @lock: protects the fields below
 * @busy: number of jobs running
 * @waiting: jobs waiting for a slot
 * @num: number of jobs in @waiting
 */
struct lane {
	struct srnic_lanes	*lanes;
	u32			max;
	spinlock_t		lock;	/* protects busy, waiting and num */
	u32			busy;
	struct list_head	waiting;
	u32			num;
};

/**
 * struct srnic_lanes - the lanes of one user
 * @ref: one reference for each srnic_user, address space and queued job
 * @list: entry in lanes_all
 * @payer: the user; reference on its namespace held
 * @rcu: defers the free for srnic_job_cancel()
 * @lane: the lanes, by enum srnic_lane
 */
struct srnic_lanes {
	struct kref		ref;
	struct list_head	list;
	struct srnic_payer	payer;
	struct rcu_head		rcu;
	struct lane		lane[SRNIC_LANE_NUM];
};

static const struct {
	const char	*name;
	u32		busy;
	u32		waiting;
} lane_kinds[SRNIC_LANE_NUM] = {
	/* Three per queue pair at most, which cancels them when destroyed: no limit */
	[SRNIC_LANE_MISSED]	= { "srnic-odp",	32,	U32_MAX },
	[SRNIC_LANE_AHEAD]	= { "srnic-ahead",	4,	64 },
};

static struct workqueue_struct *lane_wqs[SRNIC_LANE_NUM];

/* Lanes of regions that belong to no user */
static struct srnic_lanes *lanes_kernel;

/* Lanes of all users, so that reopening a device finds the jobs still in progress */
static LIST_HEAD(lanes_all);
static DEFINE_SPINLOCK(lanes_lock);	/* protects lanes_all */

static struct workqueue_struct *lane_wq(const struct lane *lane)
{
	return lane_wqs[lane - lane->lanes->lane];
}

static struct srnic_lanes *lanes_make(const struct srnic_payer *payer)
{
	struct srnic_lanes *lanes = kzalloc(sizeof(*lanes), GFP_KERNEL_ACCOUNT);
	struct lane *lane;

	if (!lanes)
		return NULL;

	kref_init(&lanes->ref);
	INIT_LIST_HEAD(&lanes->list);
	lanes->payer = *payer;
	get_user_ns(payer->userns);
	for (lane = lanes->lane; lane < lanes->lane + SRNIC_LANE_NUM; lane++) {
		lane->lanes = lanes;
		lane->max = lane_kinds[lane - lanes->lane].busy;
		spin_lock_init(&lane->lock);
		INIT_LIST_HEAD(&lane->waiting);
	}

	return lanes;
}

struct srnic_lanes *srnic_lanes_get(struct srnic_lanes *lanes)
{
	if (!lanes)
		lanes = lanes_kernel;
	kref_get(&lanes->ref);

	return lanes;
}

static void lanes_free(struct kref *ref)
	__releases(&lanes_lock)
{
	struct srnic_lanes *lanes = container_of(ref, struct srnic_lanes, ref);

	list_del(&lanes->list);
	spin_unlock(&lanes_lock);
	put_user_ns(lanes->payer.userns);
	kfree_rcu(lanes, rcu);
}

void srnic_lanes_put(struct srnic_lanes *lanes)
{
	if (lanes)
		kref_put_lock(&lanes->ref, lanes_free, &lanes_lock);
}

static struct srnic_lanes *lanes_find(const struct srnic_payer *payer)
	__must_hold(&lanes_lock)
{
	struct srnic_lanes *lanes;

	lockdep_assert_held(&lanes_lock);

	list_for_each_entry(lanes, &lanes_all, list)
		if (uid_eq(lanes->payer.uid, payer->uid) &&
		    lanes->payer.userns == payer->userns)
			return srnic_lanes_get(lanes);

	return NULL;
}

/* Finds the lanes of @payer; if there are none, adds @fresh unless it is NULL. */
static struct srnic_lanes *lanes_of(const struct srnic_payer *payer,
				    struct srnic_lanes *fresh)
{
	struct srnic_lanes *lanes;

	spin_lock(&lanes_lock);
	lanes = lanes_find(payer);
	if (!lanes && fresh)
		list_add(&fresh->list, &lanes_all);
	spin_unlock(&lanes_lock);

	return lanes;
}

struct srnic_lanes *srnic_lanes_of(const struct srnic_payer *payer)
{
	struct srnic_lanes *lanes = lanes_of(payer, NULL), *fresh;

	if (lanes)
		return lanes;

	fresh = lanes_make(payer);
	if (!fresh)
		return NULL;
	lanes = lanes_of(payer, fresh);
	if (!lanes)
		return fresh;
	srnic_lanes_put(fresh);

	return lanes;
}

const struct srnic_payer *srnic_lanes_payer(const struct srnic_lanes *lanes)
{
	return &lanes->payer;
}

/* Passes the slot of a finished job to the next waiting one. */
static void lane_next(struct lane *lane)
{
	struct srnic_job *job;

	spin_lock_bh(&lane->lock);
	job = list_first_entry_or_null(&lane->waiting, struct srnic_job, list);
	if (job) {
		list_del_init(&job->list);
		lane->num--;
	} else {
		lane->busy--;
	}
	spin_unlock_bh(&lane->lock);

	if (job)
		queue_work(lane_wq(lane), &job->work);
}

static void job_work(struct work_struct *work)
{
	struct srnic_job *job = container_of(work, struct srnic_job, work);
	struct lane *lane = job->lane;

	/* The job may be queued again, or freed, before this returns. */
	job->fn(job);
	lane_next(lane);
	srnic_lanes_put(lane->lanes);
}

void srnic_job_init(struct srnic_job *job, void (*fn)(struct srnic_job *job))
{
	INIT_WORK(&job->work, job_work);
	INIT_LIST_HEAD(&job->list);
	job->fn = fn;
}

bool srnic_job_queue(struct srnic_job *job, struct srnic_lanes *lanes,
		     enum srnic_lane kind)
{
	struct lane *lane;
	bool start, wait;

	lanes = srnic_lanes_get(lanes);
	lane = &lanes->lane[kind];
	spin_lock_bh(&lane->lock);
	start = lane->busy < lane->max;
	wait = !start && lane->num < lane_kinds[kind].waiting;
	if (start) {
		lane->busy++;
	} else if (wait) {
		list_add_tail(&job->list, &lane->waiting);
		lane->num++;
	}
	if (start || wait)
		job->lane = lane;
	spin_unlock_bh(&lane->lock);

	if (start)
		queue_work(lane_wq(lane), &job->work);
	else if (!wait)
		srnic_lanes_put(lanes);

	return start || wait;
}

bool srnic_job_cancel(struct srnic_job *job)
{
	struct lane *lane = job->lane;
	bool waits;

	spin_lock_bh(&lane->lock);
	waits = !list_empty(&job->list);
	if (waits) {
		list_del_init(&job->list);
		lane->num--;
	}
	spin_unlock_bh(&lane->lock);
	if (waits)
		srnic_lanes_put(lane->lanes);

	return waits;
}

void srnic_lanes_exit(void)
{
	int i;

	for (i = 0; i < SRNIC_LANE_NUM; i++) {
		if (lane_wqs[i])
			destroy_workqueue(lane_wqs[i]);
		lane_wqs[i] = NULL;
	}
	srnic_lanes_put(lanes_kernel);
	lanes_kernel = NULL;
}

int srnic_lanes_init(void)
{
	const struct srnic_payer nobody = { .uid = INVALID_UID };
	int i;

	lanes_kernel = lanes_make(&nobody);
	for (i = 0; i < SRNIC_LANE_NUM; i++)
		lane_wqs[i] = alloc_workqueue("%s", WQ_UNBOUND, WQ_MAX_ACTIVE,
					      lane_kinds[i].name);
	for (i = 0; i < SRNIC_LANE_NUM && lane_wqs[i]; i++)
		;
	if (lanes_kernel && i == SRNIC_LANE_NUM)
		return 0;

	srnic_lanes_exit();

	return -ENOMEM;
}
