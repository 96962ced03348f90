// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - local operations: work requests that change a key and send nothing
 *
 * They are executed in order: later work requests find the key as they leave it.  An
 * invalidation takes effect at once for accesses that have not begun; the work request
 * is complete when those in progress have ended.
 *
 * Local operations have no PSN, so the window does not limit how many of them are executed
 * while an earlier message is in flight and are then searched for a key: LOCAL_OP_AHEAD does.
 */
#include "internal.h"

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

/* Drops the references that are kept because the next message may have the same key. */
static void inv_trim(struct srnic_qp *qp)
{
	srnic_sgl_trim(&qp->req.sgl);
	srnic_sgl_trim(&qp->req.rsgl);
	srnic_sgl_trim(&qp->resp.sgl);
	srnic_mr_release(&qp->req.sink);
	if (qp->resp.open != SRNIC_FAM_WRITE)
		srnic_mr_release(&qp->resp.mr);
	if (!qp->resp.read_left)
		srnic_mr_release(&qp->resp.read_mr);
}

/* Called before and after a function that may keep @qp->inv_wait to wake later. */
static void inv_expect(struct srnic_qp *qp)
{
	inv_trim(qp);
	atomic_inc(&qp->inv_pending);
	kref_get(&qp->gate.ref);
}

static void inv_settle(struct srnic_qp *qp, enum srnic_mem_err err)
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
	inv_expect(qp);
	err = srnic_mr_invalidate(qp->keys, key, qp->pd, qp->uid,
				  &qp->inv_wait);
	inv_settle(qp, err);

	return err == SRNIC_MEM_BUSY ? SRNIC_MEM_OK : err;
}

/* With this many work requests in flight, a local operation waits for the oldest to end */
#define LOCAL_OP_AHEAD	256

static enum srnic_mem_err local_op_bind(struct srnic_qp *qp,
					const struct srnic_sqe *sqe)
{
	const struct srnic_bind bind = {
		.pd		= qp->pd,
		.owner		= qp->uid,
		.mw_key		= sqe->bind.mw_rkey,
		.new_key	= sqe->bind.new_rkey,
		.mr_key		= sqe->bind.mr_lkey,
		.addr		= sqe->bind.addr,
		.length		= sqe->bind.length,
		.access		= sqe->bind.access,
	};
	enum srnic_mem_err err;

	inv_expect(qp);
	err = srnic_mw_bind(qp->keys, &bind, &qp->inv_wait);
	inv_settle(qp, err);

	return err;
}

/*
 * For kernel consumers only; queue/sq.c refuses it from user space.  The key may have a new
 * tag, but must be one of the region whose range this is.
 */
static enum srnic_mem_err local_op_reg(struct srnic_qp *qp,
				       const struct srnic_sqe *sqe)
{
	const struct srnic_fast fast = {
		.pd	= qp->pd,
		.key	= sqe->bind.new_rkey,
		.access	= sqe->bind.access,
		.iova	= sqe->bind.addr,
		.length	= sqe->bind.length,
	};

	if (SRNIC_KEY_INDEX(fast.key) != SRNIC_KEY_INDEX(sqe->bind.mr_lkey))
		return SRNIC_MEM_KEY;

	return srnic_fast_register(qp->keys, &fast);
}

/* SGEs of @wqe whose keys matter; without data or with inline data there are none */
static u32 wqe_num_keys(const struct srnic_swqe *wqe)
{
	return wqe->sqe.flags & IB_SEND_INLINE || !wqe->length ?
	       0 : wqe->sqe.num_sge;
}

static bool wqe_uses_key(const struct srnic_swqe *wqe, u32 key)
{
	u32 i;

	for (i = 0; i < wqe_num_keys(wqe); i++)
		if (wqe->sge[i].lkey == key)
			return true;

	return false;
}

/*
 * Work requests in flight may have to access memory by @key again.  Examines at most
 * LOCAL_OP_AHEAD of them, see local_op_start().
 */
static bool local_op_key_needed(struct srnic_qp *qp, u32 key)
{
	u32 idx;

	for (idx = qp->sq.head; idx != qp->req.cur; idx++) {
		const struct srnic_swqe *wqe = srnic_sq_wqe(&qp->sq, idx);

		srnic_task_spend(&qp->task, struct_size(wqe, sge,
							wqe_num_keys(wqe)));
		if (wqe_uses_key(wqe, key))
			return true;
	}

	return false;
}

/* Consumers also invalidate a region before its first registration. */
static enum srnic_mem_err local_op_inv(struct srnic_qp *qp,
				       const struct srnic_sqe *sqe)
{
	u32 key = sqe->invalidate_rkey;

	if (srnic_fast_is_free(qp->keys, key, qp->pd))
		return SRNIC_MEM_OK;
	if (local_op_key_needed(qp, key))
		return SRNIC_MEM_BUSY;

	return srnic_inv_key(qp, key);
}

static enum srnic_mem_err local_op_execute(struct srnic_qp *qp,
					   const struct srnic_swqe *wqe)
{
	switch (srnic_wr_of(wqe)->local_op) {
	case SRNIC_LOCAL_OP_INV:
		return local_op_inv(qp, &wqe->sqe);
	case SRNIC_LOCAL_OP_BIND:
		return local_op_bind(qp, &wqe->sqe);
	default:
		return local_op_reg(qp, &wqe->sqe);
	}
}

static enum srnic_outcome local_op_start(struct srnic_qp *qp,
					 struct srnic_swqe *wqe)
{
	enum srnic_mem_err err;

	if (qp->conf.state != IB_QPS_RTS ||
	    ((wqe->sqe.flags & IB_SEND_FENCE) && qp->req.recovery.reads.num) ||
	    qp->req.cur - qp->sq.head >= LOCAL_OP_AHEAD)
		return SRNIC_AGAIN;

	err = local_op_execute(qp, wqe);
	if (err == SRNIC_MEM_BUSY)
		return SRNIC_AGAIN;
	if (err)
		return srnic_fail_memory(SRNIC_V_WR_KEY, err);
	wqe->psn = qp->req.recovery.next;
	wqe->npsn = 0;
	wqe->started = true;

	return SRNIC_DONE;
}

enum srnic_outcome srnic_local_op_run(struct srnic_qp *qp, struct srnic_swqe *wqe)
{
	enum srnic_outcome outcome;

	srnic_task_assert_mine(&qp->task);
	if (srnic_inv_pending(qp))
		return SRNIC_AGAIN;
	if (!wqe->started) {
		outcome = local_op_start(qp, wqe);
		if (outcome)
			return outcome;
	}
	if (srnic_inv_pending(qp))
		return SRNIC_AGAIN;
	wqe->done = true;

	return SRNIC_DONE;
}
