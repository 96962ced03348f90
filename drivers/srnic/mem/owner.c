// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - owners: users and containers that objects and page fetches are charged to
 *
 * An owner is the same across all devices.
 */
#include <linux/kref.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "internal.h"

/**
 * struct srnic_owner - user or container that objects and page fetches are charged to
 * @ref: one reference for each srnic_user, address space and queued job
 * @list: entry in owners
 * @id: uid or user namespace; reference on the namespace held
 * @rcu: defers the free for srnic_job_cancel()
 * @limits: limits on its jobs, by enum srnic_job_kind
 */
struct srnic_owner {
	struct kref		ref;
	struct list_head	list;
	struct srnic_owner_id	id;
	struct rcu_head		rcu;
	struct srnic_job_limit	limits[SRNIC_JOB_NUM];
};

/* Owner of the kernel's own regions */
static struct srnic_owner *owner_kernel;

/* All other owners: a user who reopens a device is charged for jobs still in progress. */
static LIST_HEAD(owners);
static DEFINE_SPINLOCK(owners_lock);	/* protects owners */

static struct srnic_owner *owner_make(const struct srnic_owner_id *id)
{
	struct srnic_owner *owner = kzalloc(sizeof(*owner), GFP_KERNEL_ACCOUNT);
	enum srnic_job_kind kind;

	if (!owner)
		return NULL;

	kref_init(&owner->ref);
	INIT_LIST_HEAD(&owner->list);
	owner->id = *id;
	get_user_ns(id->userns);
	for (kind = 0; kind < SRNIC_JOB_NUM; kind++) {
		struct srnic_job_limit *limit = &owner->limits[kind];

		limit->owner = owner;
		limit->kind = kind;
		spin_lock_init(&limit->lock);
		INIT_LIST_HEAD(&limit->waiting);
	}

	return owner;
}

struct srnic_owner *srnic_owner_get(struct srnic_owner *owner)
{
	if (!owner)
		owner = owner_kernel;
	kref_get(&owner->ref);

	return owner;
}

static void owner_free(struct kref *ref)
	__releases(&owners_lock)
{
	struct srnic_owner *owner = container_of(ref, struct srnic_owner, ref);

	list_del(&owner->list);
	spin_unlock(&owners_lock);
	put_user_ns(owner->id.userns);
	kfree_rcu(owner, rcu);
}

void srnic_owner_put(struct srnic_owner *owner)
{
	if (owner)
		kref_put_lock(&owner->ref, owner_free, &owners_lock);
}

static struct srnic_owner *owner_find(const struct srnic_owner_id *id)
	__must_hold(&owners_lock)
{
	struct srnic_owner *owner;

	lockdep_assert_held(&owners_lock);

	list_for_each_entry(owner, &owners, list)
		if (uid_eq(owner->id.uid, id->uid) &&
		    owner->id.userns == id->userns)
			return srnic_owner_get(owner);

	return NULL;
}

/* Finds the owner @id; if there is none, adds @fresh unless it is NULL. */
static struct srnic_owner *owner_of(const struct srnic_owner_id *id,
				    struct srnic_owner *fresh)
{
	struct srnic_owner *owner;

	spin_lock(&owners_lock);
	owner = owner_find(id);
	if (!owner && fresh)
		list_add(&fresh->list, &owners);
	spin_unlock(&owners_lock);

	return owner;
}

struct srnic_owner *srnic_owner_of(const struct srnic_owner_id *id)
{
	struct srnic_owner *owner = owner_of(id, NULL), *fresh;

	if (owner)
		return owner;

	fresh = owner_make(id);
	if (!fresh)
		return NULL;
	owner = owner_of(id, fresh);
	if (!owner)
		return fresh;
	srnic_owner_put(fresh);

	return owner;
}

const struct srnic_owner_id *srnic_owner_id(const struct srnic_owner *owner)
{
	return &owner->id;
}

struct srnic_job_limit *srnic_owner_limit(struct srnic_owner *owner,
					  enum srnic_job_kind kind)
{
	return &owner->limits[kind];
}

int srnic_owners_init(void)
{
	const struct srnic_owner_id nobody = { .uid = INVALID_UID };

	owner_kernel = owner_make(&nobody);

	return owner_kernel ? 0 : -ENOMEM;
}

void srnic_owners_exit(void)
{
	srnic_owner_put(owner_kernel);
}
