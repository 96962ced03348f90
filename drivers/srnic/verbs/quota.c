// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - quotas: the resources of a device, and one user's share of them
 *
 * Kernel memory is charged to memory cgroups.  Keys, queue pair numbers and the
 * like have additional limits, so that no user can exhaust them for others.
 */
#include <linux/cred.h>
#include <linux/math64.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "verbs.h"

static const struct {
	const char	*name;
	u64		max;
} quotas[SRNIC_Q_NUM] = {
	[SRNIC_Q_DOMAIN]	= { "domains",		SRNIC_MAX_PD },
	[SRNIC_Q_CQ]		= { "CQs",		SRNIC_MAX_CQ },
	[SRNIC_Q_QP]		= { "QPs and WQs",	SRNIC_MAX_QP },
	[SRNIC_Q_SRQ]		= { "SRQs",		SRNIC_MAX_SRQ },
	[SRNIC_Q_AH]		= { "AHs",		SRNIC_MAX_AH },
	[SRNIC_Q_KEY]		= { "MRs and MWs",	SRNIC_MAX_MR },
	[SRNIC_Q_GROUP]		= { "multicast joins",	SRNIC_MAX_GROUPS },
	[SRNIC_Q_DM]		= { "bytes of DM",	SRNIC_MAX_DM },
	[SRNIC_Q_FLOW]		= { "flows",		SRNIC_MAX_FLOWS },
	[SRNIC_Q_COUNTERS]	= { "counters",		SRNIC_MAX_COUNTERS },
};

u64 srnic_user_max(const struct srnic_dev *dev, enum srnic_quota what)
{
	return div_u64(quotas[what].max * READ_ONCE(dev->user_share), 100);
}

/*
 * Users in a user namespace are charged as the owner of the outermost one, or one user
 * could pose as arbitrarily many.  If root owns that namespace, it is taken to be a
 * container and charged as a user of its own.  Takes no reference.
 */
static struct srnic_owner_id user_id(void)
{
	struct user_namespace *ns = current_user_ns(), *outermost = NULL;

	for (; ns->parent; ns = ns->parent)
		outermost = ns;
	if (!outermost)
		return (struct srnic_owner_id) { .uid = current_uid() };
	if (!uid_eq(outermost->owner, GLOBAL_ROOT_UID))
		return (struct srnic_owner_id) { .uid = outermost->owner };

	return (struct srnic_owner_id) {
		.uid	= INVALID_UID,
		.userns	= outermost,
	};
}

static struct srnic_user *user_find(struct srnic_dev *dev,
				    const struct srnic_owner *owner)
	__must_hold(&dev->users_lock)
{
	struct srnic_user *user;

	lockdep_assert_held(&dev->users_lock);

	list_for_each_entry(user, &dev->users, list)
		if (user->owner == owner)
			return user;

	return NULL;
}

static struct srnic_user *user_make(struct srnic_dev *dev,
				    struct srnic_owner *owner)
	__must_hold(&dev->users_lock)
{
	struct srnic_user *user = kzalloc(sizeof(*user), GFP_KERNEL_ACCOUNT);

	lockdep_assert_held(&dev->users_lock);

	if (!user)
		return NULL;

	user->dev = dev;
	user->owner = srnic_owner_get(owner);
	user->rmem.kbytes = &dev->rx_kbytes;
	user->rmem.percent = &dev->user_share;
	user->rmem.parent = &dev->rmem;
	refcount_set(&user->refs, 1);
	list_add(&user->list, &dev->users);

	return user;
}

struct srnic_user *srnic_user_get(struct srnic_dev *dev)
{
	const struct srnic_owner_id id = user_id();
	struct srnic_owner *owner = srnic_owner_of(&id);
	struct srnic_user *user;

	if (!owner)
		return NULL;

	mutex_lock(&dev->users_lock);
	user = user_find(dev, owner);
	if (user)
		refcount_inc(&user->refs);
	else
		user = user_make(dev, owner);
	mutex_unlock(&dev->users_lock);
	srnic_owner_put(owner);

	return user;
}

void srnic_user_put(struct srnic_user *user)
{
	struct srnic_dev *dev = user->dev;

	if (!refcount_dec_and_mutex_lock(&user->refs, &dev->users_lock))
		return;

	list_del(&user->list);
	mutex_unlock(&dev->users_lock);
	srnic_owner_put(user->owner);
	kfree(user);
}

struct srnic_user *srnic_user_of(const struct ib_pd *ibpd)
{
	return ibpd->uobject ? to_uc(ibpd->uobject->context)->user : NULL;
}

struct srnic_user *srnic_user_of_udata(struct ib_udata *udata)
{
	return udata ? rdma_udata_to_drv_context(udata, struct srnic_ucontext,
						 ibuc)->user : NULL;
}

struct srnic_owner *srnic_user_owner(const struct ib_pd *ibpd)
{
	const struct srnic_user *user = srnic_user_of(ibpd);

	return user ? user->owner : NULL;
}

static bool quota_take(atomic64_t *used, u64 num, u64 max)
{
	if ((u64)atomic64_add_return(num, used) <= max)
		return true;

	atomic64_sub(num, used);

	return false;
}

static void quota_report(const struct srnic_user *user, u64 max,
			 const char *name)
{
	const struct srnic_owner_id *id = srnic_owner_id(user->owner);

	ibdev_dbg(&user->dev->ib_dev, "%s %u has used up its share of %llu %s: see user_share\n",
		  id->userns ? "user namespace" : "user",
		  id->userns ? id->userns->ns.inum : __kuid_val(id->uid), max,
		  name);
}

int srnic_quota_take(struct srnic_dev *dev, struct srnic_user *user,
		     enum srnic_quota what, u64 num)
{
	u64 max = srnic_user_max(dev, what);

	if (user && !quota_take(&user->used[what], num, max)) {
		quota_report(user, max, quotas[what].name);
		return -EDQUOT;
	}
	if (!quota_take(&dev->used[what], num, quotas[what].max)) {
		if (user)
			atomic64_sub(num, &user->used[what]);
		ibdev_dbg(&dev->ib_dev, "all %llu %s are in use\n",
			  quotas[what].max, quotas[what].name);
		return -ENOSPC;
	}
	if (user)
		refcount_inc(&user->refs);

	return 0;
}

void srnic_quota_give(struct srnic_dev *dev, struct srnic_user *user,
		      enum srnic_quota what, u64 num)
{
	atomic64_sub(num, &dev->used[what]);
	if (!user)
		return;

	atomic64_sub(num, &user->used[what]);
	srnic_user_put(user);
}
