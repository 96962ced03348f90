// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic provider - queue pairs: posting to the rings, with at most one doorbell per list
 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "srnic.h"

struct srnic_create_qp_cmd_resp {
	struct ib_uverbs_create_qp_resp	ibv;
	struct srnic_create_qp_resp	drv;
};

/*
 * Clears the CQs that were passed on creation but that this type of queue pair does not
 * use: the application may destroy them before the queue pair.
 */
static void qp_forget_cqs(struct ibv_qp *ibqp, bool is_hash)
{
	bool is_target = ibqp->qp_type == IBV_QPT_XRC_RECV;

	if (is_target || (is_hash && !to_srnic_qp(ibqp)->sq.hdr))
		ibqp->send_cq = NULL;
	if (is_target || is_hash || ibqp->qp_type == IBV_QPT_XRC_SEND)
		ibqp->recv_cq = NULL;
}

int srnic_qp_setup(struct srnic_qp *qp, const struct ibv_qp_cap *cap,
		   bool sig_all, bool is_hash,
		   const struct srnic_create_qp_resp *resp)
{
	int fd = qp->vqp.qp.context->cmd_fd;
	int err;

	err = srnic_ring_map(&qp->sq, fd, &resp->sq);
	if (err)
		return err;
	err = srnic_ring_map(&qp->rq, fd, &resp->rq);
	if (err) {
		srnic_ring_unmap(&qp->sq);
		return err;
	}
	qp->sq.lone = srnic_obj_is_lone(&qp->obj);
	qp->rq.lone = qp->sq.lone;
	qp->max_send_wr = cap->max_send_wr;
	qp->max_recv_wr = cap->max_recv_wr;
	qp->max_send_sge = cap->max_send_sge;
	qp->max_recv_sge = cap->max_recv_sge;
	qp->max_inline = cap->max_inline_data;
	qp->sig_all = sig_all;
	qp_forget_cqs(&qp->vqp.qp, is_hash);

	return 0;
}

struct ibv_qp *srnic_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct srnic_create_qp_cmd_resp resp = {};
	struct ibv_create_qp cmd = {};
	struct srnic_qp *qp;
	int err;

	qp = srnic_obj_alloc(pd, sizeof(*qp), SRNIC_RES_QP);
	if (!qp)
		return NULL;
	err = ibv_cmd_create_qp(pd, &qp->vqp.qp, attr, &cmd, sizeof(cmd),
				&resp.ibv, sizeof(resp));
	if (err)
		goto err_free;
	err = srnic_qp_setup(qp, &attr->cap, attr->sq_sig_all, false,
			     &resp.drv);
	if (err)
		goto err_destroy;

	return &qp->vqp.qp;

err_destroy:
	ibv_cmd_destroy_qp(&qp->vqp.qp);
err_free:
	srnic_obj_free(&qp->obj);
	errno = err;
	return NULL;
}

static void qp_clean_cqs(const struct ibv_qp *ibqp)
{
	if (ibqp->send_cq)
		srnic_cq_clean(ibqp->send_cq, ibqp->qp_num);
	if (ibqp->recv_cq && ibqp->recv_cq != ibqp->send_cq)
		srnic_cq_clean(ibqp->recv_cq, ibqp->qp_num);
}

int srnic_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	struct srnic_qp *qp = to_srnic_qp(ibqp);
	struct ibv_modify_qp cmd = {};
	int err;

	err = ibv_cmd_modify_qp(ibqp, attr, mask, &cmd, sizeof(cmd));
	if (err || !(mask & IBV_QP_STATE) || attr->qp_state != IBV_QPS_RESET)
		return err;

	srnic_ring_reset(&qp->sq);
	srnic_ring_reset(&qp->rq);
	qp_clean_cqs(ibqp);

	return 0;
}

int srnic_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
		   struct ibv_qp_init_attr *init)
{
	struct ibv_query_qp cmd;

	return ibv_cmd_query_qp(ibqp, attr, mask, init, &cmd, sizeof(cmd));
}

int srnic_destroy_qp(struct ibv_qp *ibqp)
{
	struct srnic_qp *qp = to_srnic_qp(ibqp);
	int err = ibv_cmd_destroy_qp(ibqp);

	if (err)
		return err;
	qp_clean_cqs(ibqp);
	srnic_ring_unmap(&qp->sq);
	srnic_ring_unmap(&qp->rq);
	srnic_obj_free(&qp->obj);

	return 0;
}

int srnic_may_post(const struct srnic_qp *qp, const struct srnic_ring *ring,
		   enum ibv_qp_state least)
{
	if (!ring->hdr || qp->vqp.qp.state < least)
		return EINVAL;
	if (atomic_load_explicit(&qp->dead, memory_order_relaxed))
		return EIO;

	return 0;
}

/* Return: 0 or EIO. */
static int qp_ring(struct srnic_qp *qp, uint32_t command)
{
	if (srnic_doorbell(&qp->vqp.qp, command))
		return 0;

	atomic_store_explicit(&qp->dead, true, memory_order_relaxed);

	return EIO;
}

int srnic_ring_send(struct srnic_qp *qp)
{
	if (srnic_ring_flag(&qp->sq, SRNIC_RING_POLLED))
		return 0;

	return qp_ring(qp, IB_USER_VERBS_CMD_POST_SEND);
}

/* Operations that ibv_post_send() supports, and whether they may be inline */
enum {
	WR_KNOWN	= 1 << 0,
	WR_INLINE	= 1 << 1,
};

static const uint8_t wr_ops[] = {
	[IBV_WR_RDMA_WRITE]		= WR_KNOWN | WR_INLINE,
	[IBV_WR_RDMA_WRITE_WITH_IMM]	= WR_KNOWN | WR_INLINE,
	[IBV_WR_SEND]			= WR_KNOWN | WR_INLINE,
	[IBV_WR_SEND_WITH_IMM]		= WR_KNOWN | WR_INLINE,
	[IBV_WR_RDMA_READ]		= WR_KNOWN,
	[IBV_WR_ATOMIC_CMP_AND_SWP]	= WR_KNOWN,
	[IBV_WR_ATOMIC_FETCH_AND_ADD]	= WR_KNOWN,
	[IBV_WR_LOCAL_INV]		= WR_KNOWN,
	[IBV_WR_BIND_MW]		= WR_KNOWN,
	[IBV_WR_SEND_WITH_INV]		= WR_KNOWN | WR_INLINE,
	[IBV_WR_ATOMIC_WRITE]		= WR_KNOWN | WR_INLINE,
};

#define WR_FLAGS	(IBV_SEND_FENCE | IBV_SEND_SIGNALED | \
			 IBV_SEND_SOLICITED | IBV_SEND_INLINE)

/* Copies the data of an inline work request.  Return: 0 or errno. */
static int qp_put_inline(const struct srnic_qp *qp, struct srnic_sqe *sqe,
			 const struct ibv_send_wr *wr)
{
	char *dst = (char *)(sqe + 1);
	uint64_t total = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		total += wr->sg_list[i].length;
		if (total > qp->max_inline)
			return EINVAL;
		memcpy(dst, (void *)(uintptr_t)wr->sg_list[i].addr,
		       wr->sg_list[i].length);
		dst += wr->sg_list[i].length;
	}
	sqe->num_sge = 0;
	sqe->inline_len = total;

	return 0;
}

static void qp_put_sges(struct srnic_sge *dst, const struct ibv_sge *src, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		dst[i].addr = src[i].addr;
		dst[i].length = src[i].length;
		dst[i].lkey = src[i].lkey;
	}
}

void srnic_put_bind(struct srnic_sqe *sqe, const struct ibv_mw *mw,
		    uint32_t rkey, const struct ibv_mw_bind_info *info)
{
	sqe->bind.addr = info->addr;
	sqe->bind.length = info->length;
	sqe->bind.mr_lkey = info->mr ? info->mr->lkey : 0;
	sqe->bind.mw_rkey = mw->rkey;
	sqe->bind.new_rkey = rkey;
	sqe->bind.access = info->mw_access_flags;
}

/* Writes the fields that depend on the operation. */
static void qp_put_op(struct srnic_sqe *sqe, const struct ibv_send_wr *wr)
{
	switch (wr->opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		sqe->remote_addr = wr->wr.atomic.remote_addr;
		sqe->rkey = wr->wr.atomic.rkey;
		sqe->atomic.compare_add = wr->wr.atomic.compare_add;
		sqe->atomic.swap = wr->wr.atomic.swap;
		break;
	case IBV_WR_BIND_MW:
		srnic_put_bind(sqe, wr->bind_mw.mw, wr->bind_mw.rkey,
			       &wr->bind_mw.bind_info);
		break;
	default:
		sqe->remote_addr = wr->wr.rdma.remote_addr;
		sqe->rkey = wr->wr.rdma.rkey;
	}
}

/* Writes one work request.  Return: 0 or errno. */
static int qp_put_send(const struct srnic_qp *qp, struct srnic_sqe *sqe,
		       const struct ibv_send_wr *wr)
{
	if ((unsigned int)wr->opcode >= sizeof(wr_ops) ||
	    !(wr_ops[wr->opcode] & WR_KNOWN) ||
	    (wr->send_flags & ~srnic_wr_flags(qp, WR_FLAGS)) ||
	    wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->max_send_sge)
		return EINVAL;

	sqe->wr_id = wr->wr_id;
	sqe->opcode = wr->opcode;
	sqe->flags = wr->send_flags;
	sqe->imm_data = wr->imm_data;
	if (qp->vqp.qp.qp_type == IBV_QPT_UD) {
		if (!wr->wr.ud.ah)
			return EINVAL;
		sqe->ud.ah = to_srnic_ah(wr->wr.ud.ah)->index;
		sqe->ud.qpn = wr->wr.ud.remote_qpn;
		sqe->ud.qkey = wr->wr.ud.remote_qkey;
	} else if (qp->vqp.qp.qp_type != IBV_QPT_RAW_PACKET) {
		qp_put_op(sqe, wr);
	}
	/* In a bind, mr_lkey is in the place of srqn. */
	if (qp->vqp.qp.qp_type == IBV_QPT_XRC_SEND &&
	    wr->opcode != IBV_WR_BIND_MW)
		sqe->xrc.srqn = wr->qp_type.xrc.remote_srqn;
	if (wr->send_flags & IBV_SEND_INLINE) {
		if (!(wr_ops[wr->opcode] & WR_INLINE))
			return EINVAL;
		return qp_put_inline(qp, sqe, wr);
	}
	sqe->num_sge = wr->num_sge;
	sqe->inline_len = 0;
	qp_put_sges((struct srnic_sge *)(sqe + 1), wr->sg_list, wr->num_sge);

	return 0;
}

/* @binds: the type of memory windows that the work requests may bind */
static int qp_post(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		   struct ibv_send_wr **bad_wr, enum ibv_mw_type binds)
{
	struct srnic_qp *qp = to_srnic_qp(ibqp);
	struct srnic_ring *sq = &qp->sq;
	struct ibv_send_wr *first = wr;
	uint32_t index;
	bool shown;
	int err;

	err = srnic_may_post(qp, sq, IBV_QPS_RTS);
	if (err) {
		*bad_wr = wr;
		return err;
	}

	srnic_lock(sq);
	for (index = sq->index; wr; wr = wr->next, index++) {
		if (!srnic_has_room(sq, index, qp->max_send_wr))
			err = ENOMEM;
		else if (wr->opcode == IBV_WR_BIND_MW &&
			 wr->bind_mw.mw->type != binds)
			err = EINVAL;
		else
			err = qp_put_send(qp, srnic_entry(sq, index), wr);
		if (err)
			break;
	}
	shown = index != sq->index;
	if (shown)
		srnic_publish(sq, index);
	srnic_unlock(sq);

	if (shown && srnic_ring_send(qp)) {
		*bad_wr = first;
		return EIO;
	}
	if (err)
		*bad_wr = wr;

	return err;
}

int srnic_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		    struct ibv_send_wr **bad_wr)
{
	return qp_post(qp, wr, bad_wr, IBV_MW_TYPE_2);
}

int srnic_post_bind(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	return qp_post(qp, wr, &bad, IBV_MW_TYPE_1);
}

static int put_recv(struct srnic_rqe *rqe, uint32_t max_sge,
		    const struct ibv_recv_wr *wr)
{
	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > max_sge)
		return EINVAL;

	rqe->wr_id = wr->wr_id;
	rqe->num_sge = wr->num_sge;
	qp_put_sges((struct srnic_sge *)(rqe + 1), wr->sg_list, wr->num_sge);

	return 0;
}

int srnic_put_recvs(struct srnic_ring *ring, uint32_t max_wr, uint32_t max_sge,
		    struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	uint32_t index;
	int err = 0;

	for (index = ring->index; wr; wr = wr->next, index++) {
		if (!srnic_has_room(ring, index, max_wr))
			err = ENOMEM;
		else
			err = put_recv(srnic_entry(ring, index), max_sge, wr);
		if (err)
			break;
	}
	srnic_publish(ring, index);
	if (err)
		*bad_wr = wr;

	return err;
}

int srnic_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		    struct ibv_recv_wr **bad_wr)
{
	struct srnic_qp *qp = to_srnic_qp(ibqp);
	struct srnic_ring *rq = &qp->rq;
	int err;

	err = srnic_may_post(qp, rq, IBV_QPS_INIT);
	if (err) {
		*bad_wr = wr;
		return err;
	}

	srnic_lock(rq);
	err = srnic_put_recvs(rq, qp->max_recv_wr, qp->max_recv_sge, wr,
			      bad_wr);
	srnic_unlock(rq);

	if (srnic_ring_flag(rq, SRNIC_RING_KICK) &&
	    qp_ring(qp, IB_USER_VERBS_CMD_POST_RECV)) {
		*bad_wr = wr;
		return EIO;
	}

	return err;
}
