// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - keys that a queue pair invalidates, and the wait for accesses in progress
 */
#include "inv.h"
#include "qp.h"
#include "qp_table.h"

static atomic64_t qp_uid;

/* The last access by an invalidated key has ended; any task may be running here. */
static void inv_wake(struct srnic_wait *wait)
{
	struct srnic_qp *qp = container_of(wait, struct srnic_qp, inv_wait);

	atomic_dec_return_release(&qp->inv_pending);
	srnic_task_defer(&qp->task);
	kref_put(&qp->gate.ref, srnic_qp_free);
}

void srnic_inv_init(struct srnic_qp *qp)
{
	qp->uid = atomic64_inc_return(&qp_uid);
	qp->inv_wait.wake = inv_wake;
}

void srnic_inv_expect(struct srnic_qp *qp)
{
	atomic_inc(&qp->inv_pending);
	kref_get(&qp->gate.ref);
}

void srnic_inv_settle(struct srnic_qp *qp, enum srnic_mem_err err)
{
	if (err == SRNIC_MEM_BUSY)
		return;

	atomic_dec(&qp->inv_pending);
	kref_put(&qp->gate.ref, srnic_qp_free);
}

enum srnic_mem_err srnic_inv_key(struct srnic_qp *qp, u32 key)
{
	enum srnic_mem_err err;

	srnic_task_assert_mine(&qp->task);
	srnic_inv_expect(qp);
	err = srnic_mr_invalidate(qp->keys, key, qp->pd, qp->uid,
				  &qp->inv_wait);
	srnic_inv_settle(qp, err);

	return err == SRNIC_MEM_BUSY ? SRNIC_MEM_OK : err;
}
