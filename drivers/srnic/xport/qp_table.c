// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - queue pairs by number, and the lifetime of their memory
 *
 * QP numbers are unique on the whole host, so the QP of a packet is found without
 * looking at the device on which it arrived.  The management QP has a number of its
 * own, but its peers address it as QP1, so it is found by its device.  The memory of a
 * QP is freed when the last skb that points to its gate is gone.
 */
#include <linux/random.h>
#include <linux/wait_bit.h>
#include <net/net_namespace.h>

#include "qp.h"
#include "qp_table.h"
#include "xport.h"

#define QPN_MIN		16
#define QPN_MAX		0xfffffe

static DEFINE_XARRAY_FLAGS(qp_table, XA_FLAGS_ALLOC | XA_FLAGS_ACCOUNT);

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

/* Reserves an unpredictable number: the first free one from a random start. */
static int table_reserve(u32 *qpn)
{
	u32 from = get_random_u32_inclusive(QPN_MIN, QPN_MAX);
	int err;

	err = xa_alloc(&qp_table, qpn, NULL, XA_LIMIT(from, QPN_MAX),
		       GFP_KERNEL_ACCOUNT);
	if (err == -EBUSY)
		err = xa_alloc(&qp_table, qpn, NULL, XA_LIMIT(QPN_MIN, from),
			       GFP_KERNEL_ACCOUNT);

	return err == -EBUSY ? -ENOSPC : err;
}

int srnic_qp_reserve(struct srnic_qp *qp)
{
	return table_reserve(&qp->qpn);
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

struct srnic_qp *srnic_qp_find(u32 qpn,
			       bool (*wanted)(const struct srnic_qp *qp,
					      const void *arg),
			       const void *arg)
{
	unsigned long index;
	struct srnic_qp *qp;

	rcu_read_lock();
	xa_for_each_start(&qp_table, index, qp, qpn)
		if (wanted(qp, arg) && refcount_inc_not_zero(&qp->users))
			break;
	rcu_read_unlock();

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
