// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - shared receive queues that requests find by number (XRC)
 *
 * A number is valid within the domain of its queue.  Queue pairs hold a queue only
 * within a run of their task, so a peer that stops in the middle of a message cannot
 * prevent its destruction.
 */
#include <linux/random.h>

#include "qp.h"
#include "srq.h"
#include "xport.h"

#define SRQN_MIN	1
#define SRQN_MAX	SRNIC_QPN_MASK

static DEFINE_XARRAY_FLAGS(srq_table, XA_FLAGS_ALLOC | XA_FLAGS_ACCOUNT);
static atomic64_t srq_id;

/* Reserves an unpredictable number: the first free one from a random start. */
static int srq_reserve(u32 *srqn)
{
	u32 from = get_random_u32_inclusive(SRQN_MIN, SRQN_MAX);
	int err;

	err = xa_alloc(&srq_table, srqn, NULL, XA_LIMIT(from, SRQN_MAX),
		       GFP_KERNEL_ACCOUNT);
	if (err == -EBUSY)
		err = xa_alloc(&srq_table, srqn, NULL,
			       XA_LIMIT(SRQN_MIN, from), GFP_KERNEL_ACCOUNT);

	return err == -EBUSY ? -ENOSPC : err;
}

int srnic_srq_publish(struct srnic_srq *srq)
{
	int err;

	refcount_set(&srq->users, 1);
	init_completion(&srq->unused);
	srq->id = atomic64_inc_return(&srq_id);
	err = srq_reserve(&srq->srqn);
	if (err)
		return err;
	/* The slot is reserved, so no memory is allocated. */
	xa_store(&srq_table, srq->srqn, srq, GFP_KERNEL_ACCOUNT);

	return 0;
}

void srnic_srq_exit(void)
{
	xa_destroy(&srq_table);
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
