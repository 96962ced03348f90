// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - shared receive queues that requests find by number, as XRC wants
 *
 * A number is good within the domain of its queue.  Queue pairs hold a queue
 * within a run of their task only, so a peer that stops in the middle of a
 * message keeps nobody from destroying one.
 */
#include "proto.h"

static DEFINE_XARRAY_ALLOC(srq_table);
static u32 srq_next;

int srnic_srq_publish(struct srnic_srq *srq)
{
	int err;

	refcount_set(&srq->users, 1);
	init_completion(&srq->unused);
	err = xa_alloc_cyclic(&srq_table, &srq->srqn, NULL,
			      XA_LIMIT(1, SRNIC_QPN_MASK), &srq_next,
			      GFP_KERNEL);
	if (err < 0)
		return err;

	err = xa_err(xa_store(&srq_table, srq->srqn, srq, GFP_KERNEL));
	if (err)
		xa_erase(&srq_table, srq->srqn);

	return err;
}

void srnic_srq_hide(struct srnic_srq *srq)
{
	xa_erase(&srq_table, srq->srqn);
	srnic_srq_put(srq);
	wait_for_completion(&srq->unused);
	synchronize_rcu();	/* the core kfree()s it */
}

struct srnic_srq *srnic_srq_get(const struct ib_xrcd *xrcd, u32 srqn)
{
	struct srnic_srq *srq;

	rcu_read_lock();
	srq = xa_load(&srq_table, srqn);
	if (srq && (srq->xrcd != xrcd || !refcount_inc_not_zero(&srq->users)))
		srq = NULL;
	rcu_read_unlock();

	return srq;
}

void srnic_srq_put(struct srnic_srq *srq)
{
	if (refcount_dec_and_test(&srq->users))
		complete(&srq->unused);
}
