// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - multicast: queue pairs that are found by an address of their device
 *
 * These are the members of multicast groups and the management queue pair, which is the
 * only one at the address of all zeros.  Packets are looked up under RCU; members are
 * added and removed under a mutex.
 */
#include <linux/hashtable.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "internal.h"

/**
 * struct srnic_group - an address of a device
 * @node: entry of a bucket of the hash table
 * @net: namespace of the device
 * @ndev: netdev of the device
 * @addr: the address
 * @stats: counters of the device
 * @members: list of struct group_member
 * @num_members: number of members
 * @rcu: packet processing may still refer to the group
 */
struct srnic_group {
	struct hlist_node		node;
	const struct net		*net;
	const struct net_device		*ndev;
	struct in6_addr			addr;
	struct srnic_stats __percpu	*stats;
	struct list_head		members;
	u32				num_members;
	struct rcu_head			rcu;
};

struct group_member {
	struct list_head		list;
	struct srnic_qp			*qp;
	struct srnic_membership		*joined;
	struct rcu_head			rcu;
};

static DEFINE_HASHTABLE(groups, 10);
static DEFINE_MUTEX(group_mutex);	/* serialises changes */

static u32 group_hash(const struct net *net, const struct in6_addr *addr)
{
	return __ipv6_addr_jhash(addr, hash_ptr(net, 32));
}

/* Looks up the group of the QP's device, for attach and detach. */
static struct srnic_group *group_of(const struct srnic_qp *qp,
				    const struct in6_addr *addr)
	__must_hold(&group_mutex)
{
	struct srnic_group *group;

	lockdep_assert_held(&group_mutex);

	hash_for_each_possible(groups, group, node, group_hash(qp->net, addr))
		if (group->ndev == qp->ndev &&
		    ipv6_addr_equal(&group->addr, addr))
			return group;

	return NULL;
}

static bool group_is_for(const struct srnic_group *group,
			 const struct srnic_rx_dest *dest)
{
	return group->net == dest->net &&
	       ipv6_addr_equal(&group->addr, &dest->addr) &&
	       srnic_rx_reaches(dest, group->ndev);
}

struct srnic_stats __percpu *srnic_mcast_stats(const struct srnic_rx_dest *dest)
{
	u32 hash = group_hash(dest->net, &dest->addr);
	struct srnic_group *group;

	hash_for_each_possible_rcu(groups, group, node, hash)
		if (group_is_for(group, dest))
			return group->stats;

	return NULL;
}

/* Calls @fn for up to @most members.  Return: for how many more it may be called. */
static int group_each_member(const struct srnic_group *group,
			     void (*fn)(struct srnic_qp *qp,
					struct sk_buff *skb),
			     struct sk_buff *skb, int most)
{
	struct group_member *member;

	list_for_each_entry_rcu(member, &group->members, list) {
		if (!most)
			break;
		most--;
		if (refcount_inc_not_zero(&member->qp->users))
			fn(member->qp, skb);
	}

	return most;
}

void srnic_mcast_each(const struct srnic_rx_dest *dest,
		      void (*fn)(struct srnic_qp *qp, struct sk_buff *skb),
		      struct sk_buff *skb)
{
	u32 hash = group_hash(dest->net, &dest->addr);
	int most = SRNIC_MAX_GROUP_QPS;
	struct srnic_group *group;

	hash_for_each_possible_rcu(groups, group, node, hash) {
		if (!group_is_for(group, dest))
			continue;
		most = group_each_member(group, fn, skb, most);
		if (!most || ipv6_addr_any(&dest->addr))
			return;
	}
}

static struct group_member *group_member(const struct srnic_group *group,
					 const struct srnic_qp *qp)
{
	struct group_member *member;

	list_for_each_entry(member, &group->members, list)
		if (member->qp == qp)
			return member;

	return NULL;
}

/*
 * Groups are in order of creation, and thus those of the management queue pairs in the
 * order of the devices: if several devices have an address, rdma_cm uses the first one,
 * too.
 */
static void group_publish(struct srnic_group *group)
{
	u32 hash = group_hash(group->net, &group->addr);

	hlist_add_tail_rcu(&group->node,
			   &groups[hash_min(hash, HASH_BITS(groups))]);
}

/* Looks up the group or creates it; NULL: no memory */
static struct srnic_group *group_get(const struct srnic_qp *qp,
				     const struct in6_addr *addr)
{
	struct srnic_group *group = group_of(qp, addr);

	if (group)
		return group;
	group = kzalloc(sizeof(*group), GFP_KERNEL_ACCOUNT);
	if (!group)
		return NULL;

	group->net = qp->net;
	group->ndev = qp->ndev;
	group->addr = *addr;
	group->stats = qp->dev_stats;
	INIT_LIST_HEAD(&group->members);
	group_publish(group);

	return group;
}

/* Frees the group if it has no member. */
static void group_put(struct srnic_group *group)
	__must_hold(&group_mutex)
{
	lockdep_assert_held(&group_mutex);

	if (!list_empty(&group->members))
		return;
	hash_del_rcu(&group->node);
	kfree_rcu(group, rcu);
}

static int group_add(struct srnic_qp *qp, const struct in6_addr *addr,
		     struct srnic_membership *joined)
{
	struct group_member *member;
	struct srnic_group *group;

	group = group_get(qp, addr);
	if (!group)
		return -ENOMEM;
	if (group_member(group, qp))
		return -EINVAL;
	if (group->num_members == SRNIC_MAX_GROUP_QPS)
		return -ENOMEM;
	member = kzalloc(sizeof(*member), GFP_KERNEL_ACCOUNT);
	if (!member) {
		group_put(group);
		return -ENOMEM;
	}
	member->qp = qp;
	member->joined = joined;
	list_add_tail_rcu(&member->list, &group->members);
	group->num_members++;

	return 0;
}

int srnic_mcast_attach(struct srnic_qp *qp, const struct in6_addr *addr,
		       struct srnic_membership *joined)
{
	int err;

	mutex_lock(&group_mutex);
	err = group_add(qp, addr, joined);
	mutex_unlock(&group_mutex);

	return err;
}

struct srnic_membership *srnic_mcast_detach(struct srnic_qp *qp,
					    const struct in6_addr *addr)
{
	struct srnic_membership *joined = NULL;
	struct group_member *member = NULL;
	struct srnic_group *group;

	mutex_lock(&group_mutex);
	group = group_of(qp, addr);
	if (group)
		member = group_member(group, qp);
	if (member) {
		joined = member->joined;
		list_del_rcu(&member->list);
		group->num_members--;
		kfree_rcu(member, rcu);
		group_put(group);
	}
	mutex_unlock(&group_mutex);

	return joined;
}
