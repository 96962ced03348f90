// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - queue pairs by number and by netdev, and the lifetime of their memory
 *
 * QP numbers are unique on the whole host, so the QP of a packet is found without
 * looking at the device on which it arrived.  The management QP has a number of its
 * own, but its peers address it as QP1, so it is found by its device.  The memory of a
 * QP is freed when the last skb that points to its gate is gone.
 */
#include <linux/hashtable.h>
#include <linux/random.h>
#include <linux/wait_bit.h>
#include <net/net_namespace.h>

#include "internal.h"

#define QPN_MIN		16
#define QPN_MAX		0xfffffe

static DEFINE_XARRAY_FLAGS(qp_table, XA_FLAGS_ALLOC | XA_FLAGS_ACCOUNT);

/*
 * One tie of each netdev that has any, linked in a ring with the others of that netdev: an
 * event of a netdev costs as much as it has ties.
 */
static DEFINE_HASHTABLE(ties, 8);
static DEFINE_SPINLOCK(ties_lock);	/* protects all ties, and ties_walk */
static u64 ties_walk;			/* number of the last walk that has begun */

/* QPs whose memory may still be accessed, for example by packets in flight */
static atomic_t qp_alive;

struct srnic_qp *srnic_qp_get(struct net *net, u32 qpn)
{
	struct srnic_qp *qp = xa_load(&qp_table, qpn);

	if (qp && net_eq(qp->net, net) && refcount_inc_not_zero(&qp->users))
		return qp;

	return NULL;
}

void srnic_qp_put(struct srnic_qp *qp)
{
	if (refcount_dec_and_test(&qp->users))
		complete(&qp->unused);
}

void srnic_qp_free(struct kref *ref)
{
	struct srnic_qp *qp = container_of(ref, struct srnic_qp, gate.ref);

	kfree_rcu(qp, rcu);
	if (atomic_dec_and_test(&qp_alive))
		wake_up_var(&qp_alive);
}

int srnic_number_reserve(struct xarray *table, u32 *number, u32 min, u32 max)
{
	u32 from = get_random_u32_inclusive(min, max);
	int err;

	err = xa_alloc(table, number, NULL, XA_LIMIT(from, max), GFP_KERNEL_ACCOUNT);
	if (err == -EBUSY)
		err = xa_alloc(table, number, NULL, XA_LIMIT(min, from), GFP_KERNEL_ACCOUNT);

	return err == -EBUSY ? -ENOSPC : err;
}

int srnic_qp_reserve(struct srnic_qp *qp)
{
	return srnic_number_reserve(&qp_table, &qp->qpn, QPN_MIN, QPN_MAX);
}

void srnic_qp_publish(struct srnic_qp *qp)
{
	atomic_inc(&qp_alive);
	/* The slot is reserved, so no memory is allocated. */
	xa_store(&qp_table, qp->qpn, qp, GFP_KERNEL_ACCOUNT);
}

void srnic_qp_unpublish(struct srnic_qp *qp)
{
	xa_erase(&qp_table, qp->qpn);
}

static struct srnic_tie *tie_first(const struct net_device *ndev)
{
	struct srnic_tie *tie;

	lockdep_assert_held(&ties_lock);

	hash_for_each_possible(ties, tie, first, (unsigned long)ndev)
		if (tie->ndev == ndev)
			return tie;

	return NULL;
}

/* Replaces @tie in the table by the next one in its ring. */
static void tie_turn(struct srnic_tie *tie)
{
	struct srnic_tie *next = list_next_entry(tie, ring);

	hash_del(&tie->first);
	hash_add(ties, &next->first, (unsigned long)next->ndev);
}

static void tie_undo(struct srnic_tie *tie)
{
	if (hash_hashed(&tie->first))
		tie_turn(tie);
	hash_del(&tie->first);	/* the only one */
	list_del(&tie->ring);
}

/* Adds @tie at the end of its ring; the walk in progress does not visit it. */
static void tie_add(struct srnic_tie *tie)
{
	struct srnic_tie *first = tie_first(tie->ndev);

	tie->walk = ties_walk;
	INIT_LIST_HEAD(&tie->ring);
	if (first)
		list_add_tail(&tie->ring, &first->ring);
	else
		hash_add(ties, &tie->first, (unsigned long)tie->ndev);
}

void srnic_qp_tie(struct srnic_qp *qp, struct srnic_tie *tie,
		  const struct net_device *ndev)
{
	spin_lock(&ties_lock);
	if (tie->ndev)
		tie_undo(tie);
	tie->ndev = ndev;
	tie->qp = qp;
	if (ndev)
		tie_add(tie);
	spin_unlock(&ties_lock);
}

u64 srnic_qp_walk(void)
{
	u64 walk;

	spin_lock(&ties_lock);
	walk = ++ties_walk;
	spin_unlock(&ties_lock);

	return walk;
}

struct srnic_qp *srnic_qp_next(const struct net_device *ndev, u64 walk)
{
	struct srnic_qp *qp = NULL;
	struct srnic_tie *tie;

	spin_lock(&ties_lock);
	while (!qp && (tie = tie_first(ndev)) && tie->walk != walk) {
		tie->walk = walk;
		tie_turn(tie);
		if (refcount_inc_not_zero(&tie->qp->users))
			qp = tie->qp;
	}
	spin_unlock(&ties_lock);

	return qp;
}

void *srnic_qp_owner(u32 qpn)
{
	struct srnic_qp *qp = xa_load(&qp_table, qpn);

	return qp ? qp->owner : NULL;
}

void srnic_qp_table_exit(void)
{
	/* The stack may hold packets whose destructor is in this module. */
	wait_var_event(&qp_alive, !atomic_read(&qp_alive));
	rcu_barrier();	/* kfree_rcu() of QPs */
	xa_destroy(&qp_table);
}
