// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - posting: a doorbell for user space, ring entries for the kernel
 *
 * User space writes its rings directly.  Work requests of kernel consumers are
 * written to the ring in the same format, so that one reader handles both.
 */
#include <linux/spinlock.h>

#include "verbs.h"

#define POST_FLAGS	(IB_SEND_FENCE | IB_SEND_SIGNALED | \
			 IB_SEND_SOLICITED | IB_SEND_INLINE)

/* Rights that a fast registration may grant; IB_ACCESS_OPTIONAL hints are ignored */
#define POST_REG_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC | \
			 IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_OPTIONAL)

/* Rights to a region with protection information, of which words cannot be accessed */
#define POST_REG_PI_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
				 IB_ACCESS_REMOTE_READ | IB_ACCESS_OPTIONAL)

/* Kinds of work requests, by their parameters beyond struct ib_send_wr */
enum post_kind {
	POST_NONE,	/* opcode not supported */
	POST_SEND,
	POST_RDMA,
	POST_ATOMIC,
	POST_MASKED,
	POST_INV,
	POST_REG,
	POST_REG_PI,
};

static const u8 post_kinds[] = {
	[IB_WR_RDMA_WRITE]		= POST_RDMA,
	[IB_WR_RDMA_WRITE_WITH_IMM]	= POST_RDMA,
	[IB_WR_SEND]			= POST_SEND,
	[IB_WR_SEND_WITH_IMM]		= POST_SEND,
	[IB_WR_RDMA_READ]		= POST_RDMA,
	[IB_WR_ATOMIC_CMP_AND_SWP]	= POST_ATOMIC,
	[IB_WR_ATOMIC_FETCH_AND_ADD]	= POST_ATOMIC,
	[IB_WR_LOCAL_INV]		= POST_INV,
	[IB_WR_SEND_WITH_INV]		= POST_SEND,
	[IB_WR_MASKED_ATOMIC_CMP_AND_SWP]	= POST_MASKED,
	[IB_WR_MASKED_ATOMIC_FETCH_AND_ADD]	= POST_MASKED,
	[IB_WR_REG_MR]			= POST_REG,
	[IB_WR_REG_MR_INTEGRITY]	= POST_REG_PI,
};

static void post_ud(struct srnic_sqe *sqe, const struct ib_ud_wr *wr)
{
	sqe->ud.ah = to_ah(wr->ah)->index;
	sqe->ud.qpn = wr->remote_qpn;
	sqe->ud.qkey = wr->remote_qkey;
}

static void post_rdma(struct srnic_sqe *sqe, const struct ib_rdma_wr *wr)
{
	sqe->remote_addr = wr->remote_addr;
	sqe->rkey = wr->rkey;
}

static void post_atomic(struct srnic_sqe *sqe, const struct ib_atomic_wr *wr)
{
	sqe->remote_addr = wr->remote_addr;
	sqe->rkey = wr->rkey;
	sqe->atomic.compare_add = wr->compare_add;
	sqe->atomic.swap = wr->swap;
}

static void post_masked(struct srnic_sqe *sqe, const struct ib_atomic_wr *wr)
{
	post_atomic(sqe, wr);
	sqe->masked.compare_add_mask = wr->compare_add_mask;
	sqe->masked.swap_mask = wr->swap_mask;
}

static void post_bind(struct srnic_sqe *sqe, const struct ib_reg_wr *wr, u64 length)
{
	sqe->bind.addr = wr->mr->iova;
	sqe->bind.length = length;
	sqe->bind.mr_lkey = wr->mr->lkey;
	sqe->bind.new_rkey = wr->key;
	sqe->bind.access = wr->access;
}

/* The core set the region's iova and length when its pages were mapped. */
static int post_reg(struct srnic_sqe *sqe, const struct ib_reg_wr *wr)
{
	if (wr->access & ~POST_REG_ACCESS || to_mr(wr->mr)->mr.pi)
		return -EINVAL;

	post_bind(sqe, wr, wr->mr->length);

	return 0;
}

/* In the ring it is a REG_MR: what is particular to it is in the region. */
static int post_reg_pi(struct srnic_sqe *sqe, const struct ib_reg_wr *wr, const struct ib_qp *ibqp)
{
	struct srnic_mr *mr = &to_mr(wr->mr)->mr;
	u64 length;

	if (wr->access & ~POST_REG_PI_ACCESS || !mr->pi || !ibqp->integrity_en)
		return -EINVAL;
	length = srnic_pi_prepare(mr, wr->mr->sig_attrs);
	if (!length)
		return -EINVAL;

	sqe->opcode = IB_WR_REG_MR;
	post_bind(sqe, wr, length);

	return 0;
}

static void post_sges(struct srnic_sge *dst, const struct ib_sge *src, int num)
{
	int i;

	for (i = 0; i < num; i++)
		dst[i] = (struct srnic_sge) {
			.addr	= src[i].addr,
			.length	= src[i].length,
			.lkey	= src[i].lkey,
		};
}

/* Copies inline data; its SGEs hold kernel virtual addresses. */
static int post_inline(struct srnic_sqe *sqe, const struct ib_send_wr *wr,
		       u32 room)
{
	u8 *dst = (u8 *)(sqe + 1);
	int i;

	sqe->num_sge = 0;
	sqe->inline_len = 0;
	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		if (sge->length > room)
			return -EINVAL;
		memcpy(dst, (const void *)(uintptr_t)sge->addr, sge->length);
		dst += sge->length;
		room -= sge->length;
		sqe->inline_len += sge->length;
	}

	return 0;
}

/* Writes one work request to a ring entry. */
static int post_put_send(const struct srnic_ibqp *qp, struct srnic_sqe *sqe,
			 const struct ib_send_wr *wr)
{
	const struct srnic_qp *xqp = qp->qp;
	int err = 0;

	if ((unsigned int)wr->opcode >= ARRAY_SIZE(post_kinds) ||
	    post_kinds[wr->opcode] == POST_NONE ||
	    (wr->send_flags & ~POST_FLAGS) || wr->num_sge < 0 ||
	    wr->num_sge > xqp->sq.max_sge)
		return -EINVAL;

	*sqe = (struct srnic_sqe) {
		.wr_id		= wr->wr_id,
		.opcode		= wr->opcode,
		.flags		= wr->send_flags,
		.num_sge	= wr->num_sge,
		.imm_data	= wr->ex.imm_data,
	};
	switch (post_kinds[wr->opcode]) {
	case POST_SEND:
		if (xqp->type == IB_QPT_UD || xqp->type == IB_QPT_GSI)
			post_ud(sqe, ud_wr(wr));
		break;
	case POST_RDMA:
		post_rdma(sqe, rdma_wr(wr));
		break;
	case POST_ATOMIC:
		post_atomic(sqe, atomic_wr(wr));
		break;
	case POST_MASKED:
		post_masked(sqe, atomic_wr(wr));
		break;
	case POST_REG:
		err = post_reg(sqe, reg_wr(wr));
		break;
	case POST_REG_PI:
		err = post_reg_pi(sqe, reg_wr(wr), &qp->ibqp);
		break;
	}
	if (err)
		return err;
	if (wr->send_flags & IB_SEND_INLINE)
		return post_inline(sqe, wr, xqp->sq.max_inline);
	post_sges((struct srnic_sge *)(sqe + 1), wr->sg_list, wr->num_sge);

	return 0;
}

static int post_put_recv(const struct srnic_rq *rq, struct srnic_rqe *rqe,
			 const struct ib_recv_wr *wr)
{
	if (wr->num_sge < 0 || wr->num_sge > rq->max_sge)
		return -EINVAL;

	*rqe = (struct srnic_rqe) {
		.wr_id		= wr->wr_id,
		.num_sge	= wr->num_sge,
	};
	post_sges((struct srnic_sge *)(rqe + 1), wr->sg_list, wr->num_sge);

	return 0;
}

/*
 * Writes a list to the send ring; on error *@wr is the first WR that failed.  *@spread: another
 * thread is to send them.
 */
static int post_sends(struct srnic_ibqp *qp, const struct ib_send_wr **wr, bool *spread)
{
	const struct srnic_ring *ring = &qp->qp->sq.ring;
	unsigned long flags;
	int err = 0;
	u32 idx;

	spin_lock_irqsave(&qp->sq_lock, flags);
	*spread = srnic_spread_next(&qp->spread, srnic_ring_used(ring, *ring->user));
	for (idx = *ring->user; *wr; *wr = (*wr)->next, idx++) {
		if (srnic_ring_full(ring, idx))
			err = -ENOMEM;
		else
			err = post_put_send(qp, srnic_ring_entry(ring, idx), *wr);
		if (err)
			break;
	}
	srnic_ring_show(ring, idx);
	spin_unlock_irqrestore(&qp->sq_lock, flags);

	return err;
}

/*
 * Writes a list to a receive ring, whose producers @lock serialises; on error *@wr is the
 * first WR that failed.
 */
static int post_recvs(const struct srnic_rq *rq, spinlock_t *lock,
		      const struct ib_recv_wr **wr)
{
	const struct srnic_ring *ring = &rq->ring;
	unsigned long flags;
	int err = 0;
	u32 idx;

	spin_lock_irqsave(lock, flags);
	for (idx = *ring->user; *wr; *wr = (*wr)->next, idx++) {
		if (srnic_ring_full(ring, idx))
			err = -ENOMEM;
		else
			err = post_put_recv(rq, srnic_ring_entry(ring, idx),
					    *wr);
		if (err)
			break;
	}
	srnic_ring_show(ring, idx);
	spin_unlock_irqrestore(lock, flags);

	return err;
}

/*
 * The doorbell of a user's send queue.  librxe relies on an error if the state of the queue
 * pair does not permit sending; its work request stays in the ring nevertheless.
 */
static int post_ring_send(const struct srnic_ibqp *qp)
{
	if (qp->qp->sq.ring.abi == SRNIC_ABI_RXE &&
	    srnic_qp_state(qp->qp) < IB_QPS_RTS)
		return -EINVAL;

	srnic_qp_doorbell(qp->qp);

	return 0;
}

int srnic_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad)
{
	struct srnic_ibqp *qp = to_qp(ibqp);
	bool spread;
	int err;

	/* For user space this is only a doorbell; it must not pass work requests. */
	if (ibqp->uobject && wr) {
		*bad = wr;
		return -EOPNOTSUPP;
	}
	if (ibqp->uobject)
		return post_ring_send(qp);
	if (!qp->qp->sq.ring.hdr || srnic_qp_state(qp->qp) < IB_QPS_RTS) {
		*bad = wr;
		return -EINVAL;
	}

	err = post_sends(qp, &wr, &spread);
	if (err)
		*bad = wr;
	srnic_qp_ring(qp->qp, spread);

	return err;
}

int srnic_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad)
{
	struct srnic_ibqp *qp = to_qp(ibqp);
	int err;

	if (ibqp->uobject && wr) {
		*bad = wr;
		return -EOPNOTSUPP;
	}
	if (ibqp->uobject) {
		srnic_qp_recv_doorbell(qp->qp);
		return 0;
	}
	if (!qp->qp->rq.ring.hdr || srnic_qp_state(qp->qp) == IB_QPS_RESET) {
		*bad = wr;
		return -EINVAL;
	}

	err = post_recvs(&qp->qp->rq, &qp->rq_lock, &wr);
	if (err)
		*bad = wr;
	if (srnic_rq_wants_kick(&qp->qp->rq))
		srnic_qp_ring(qp->qp, false);

	return err;
}

/* There is no doorbell: a queue pair that needs a receive fetches it from the SRQ. */
int srnic_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad)
{
	struct srnic_ibsrq *srq = to_srq(ibsrq);
	int err;

	/* User space writes its ring directly. */
	if (ibsrq->uobject) {
		*bad = wr;
		return -EOPNOTSUPP;
	}

	err = post_recvs(&srq->srq.rq, &srq->post_lock, &wr);
	if (err)
		*bad = wr;

	return err;
}
