// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic provider - the ibv_wr_* API: work requests are written directly into the
 * send ring, and posted with one doorbell for all of them
 *
 * The ring's lock is held from start to complete or abort.  Only wr_index advances
 * in between, so an abort or an error has nothing to undo.
 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compat.h"
#include "srnic.h"

struct srnic_create_qp_ex_cmd {
	struct ibv_create_qp_ex		ibv;
	struct srnic_create_qp_rss	rss;
};

struct srnic_create_qp_ex_resp {
	struct ib_uverbs_ex_create_qp_resp	ibv;
	struct srnic_create_qp_resp		drv;
};

#define WR_EX_FLAGS	(IBV_SEND_FENCE | IBV_SEND_SIGNALED | \
			 IBV_SEND_SOLICITED)

static inline struct srnic_qp *ex_to_qp(struct ibv_qp_ex *ex)
{
	return container_of(ex, struct srnic_qp, vqp.qp_ex);
}

/* Records an error; wr_complete() returns the first one of a batch. */
static void wr_fail(struct srnic_qp *qp, int err)
{
	if (!qp->wr_err)
		qp->wr_err = err;
	qp->wr_sqe = NULL;
}

/*
 * Begins the next entry.  Return: NULL if there has been an error since start; wr_sqe is
 * NULL then, too, for the setters.
 */
static struct srnic_sqe *wr_begin(struct ibv_qp_ex *ex, uint8_t opcode)
{
	/* IBV_SEND_INLINE is set by the data setters here, not by the caller. */
	unsigned int flags = ex->wr_flags & ~IBV_SEND_INLINE;
	struct srnic_qp *qp = ex_to_qp(ex);
	struct srnic_sqe *sqe;

	qp->wr_sqe = NULL;
	if (qp->wr_err)
		return NULL;
	if (flags & ~srnic_wr_flags(qp, WR_EX_FLAGS)) {
		wr_fail(qp, EINVAL);
		return NULL;
	}
	if (!srnic_has_room(&qp->sq, qp->wr_index, qp->max_send_wr)) {
		wr_fail(qp, ENOMEM);
		return NULL;
	}

	sqe = srnic_entry(&qp->sq, qp->wr_index++);
	memset(sqe, 0, sizeof(*sqe));
	sqe->wr_id = ex->wr_id;
	sqe->opcode = opcode;
	sqe->flags = flags;
	qp->wr_sqe = sqe;

	return sqe;
}

static void wr_one_sided(struct ibv_qp_ex *ex, uint8_t opcode, uint32_t rkey,
			 uint64_t remote_addr, __be32 imm_data)
{
	struct srnic_sqe *sqe = wr_begin(ex, opcode);

	if (!sqe)
		return;
	sqe->rkey = rkey;
	sqe->remote_addr = remote_addr;
	sqe->imm_data = imm_data;
}

static void wr_rdma_write(struct ibv_qp_ex *ex, uint32_t rkey,
			  uint64_t remote_addr)
{
	wr_one_sided(ex, IBV_WR_RDMA_WRITE, rkey, remote_addr, 0);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *ex, uint32_t rkey,
			      uint64_t remote_addr, __be32 imm_data)
{
	wr_one_sided(ex, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote_addr,
		     imm_data);
}

static void wr_rdma_read(struct ibv_qp_ex *ex, uint32_t rkey,
			 uint64_t remote_addr)
{
	wr_one_sided(ex, IBV_WR_RDMA_READ, rkey, remote_addr, 0);
}

static void wr_atomic(struct ibv_qp_ex *ex, uint8_t opcode, uint32_t rkey,
		      uint64_t remote_addr, uint64_t compare_add, uint64_t swap)
{
	struct srnic_sqe *sqe = wr_begin(ex, opcode);

	if (!sqe)
		return;
	sqe->rkey = rkey;
	sqe->remote_addr = remote_addr;
	sqe->atomic.compare_add = compare_add;
	sqe->atomic.swap = swap;
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *ex, uint32_t rkey,
			      uint64_t remote_addr, uint64_t compare,
			      uint64_t swap)
{
	wr_atomic(ex, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, remote_addr, compare,
		  swap);
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *ex, uint32_t rkey,
				uint64_t remote_addr, uint64_t add)
{
	wr_atomic(ex, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, remote_addr, add, 0);
}

static void wr_send(struct ibv_qp_ex *ex)
{
	wr_begin(ex, IBV_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *ex, __be32 imm_data)
{
	struct srnic_sqe *sqe = wr_begin(ex, IBV_WR_SEND_WITH_IMM);

	if (sqe)
		sqe->imm_data = imm_data;
}

static void wr_send_inv(struct ibv_qp_ex *ex, uint32_t invalidate_rkey)
{
	struct srnic_sqe *sqe = wr_begin(ex, IBV_WR_SEND_WITH_INV);

	if (sqe)
		sqe->invalidate_rkey = invalidate_rkey;
}

static void wr_local_inv(struct ibv_qp_ex *ex, uint32_t invalidate_rkey)
{
	struct srnic_sqe *sqe = wr_begin(ex, IBV_WR_LOCAL_INV);

	if (sqe)
		sqe->invalidate_rkey = invalidate_rkey;
}

static void wr_bind_mw(struct ibv_qp_ex *ex, struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *info)
{
	struct srnic_sqe *sqe = wr_begin(ex, IBV_WR_BIND_MW);

	if (!sqe)
		return;
	if (mw->type != IBV_MW_TYPE_2)
		wr_fail(ex_to_qp(ex), EINVAL);
	else
		srnic_put_bind(sqe, mw, rkey, info);
}

/* The operand is inline data, for which every queue pair has room. */
static void wr_atomic_write(struct ibv_qp_ex *ex, uint32_t rkey,
			    uint64_t remote_addr, const void *operand)
{
	struct srnic_sqe *sqe = wr_begin(ex, IBV_WR_ATOMIC_WRITE);

	if (!sqe)
		return;
	sqe->rkey = rkey;
	sqe->remote_addr = remote_addr;
	sqe->inline_len = sizeof(uint64_t);
	sqe->flags |= IBV_SEND_INLINE;
	memcpy(sqe + 1, operand, sizeof(uint64_t));
}

static void wr_flush(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr,
		     size_t len, uint8_t type, uint8_t level)
{
	struct srnic_sqe *sqe = wr_begin(ex, IB_UVERBS_WR_FLUSH);

	if (!sqe)
		return;
	if (len > UINT32_MAX) {
		wr_fail(ex_to_qp(ex), EINVAL);
		return;
	}
	sqe->rkey = rkey;
	sqe->remote_addr = remote_addr;
	sqe->flush.length = len;
	sqe->flush.type = type;
	sqe->flush.level = level;
}

static void wr_set_ud_addr(struct ibv_qp_ex *ex, struct ibv_ah *ah,
			   uint32_t remote_qpn, uint32_t remote_qkey)
{
	struct srnic_sqe *sqe = ex_to_qp(ex)->wr_sqe;

	if (!sqe)
		return;
	sqe->ud.ah = to_srnic_ah(ah)->index;
	sqe->ud.qpn = remote_qpn;
	sqe->ud.qkey = remote_qkey;
}

static void wr_set_xrc_srqn(struct ibv_qp_ex *ex, uint32_t remote_srqn)
{
	struct srnic_sqe *sqe = ex_to_qp(ex)->wr_sqe;

	if (sqe && sqe->opcode != IBV_WR_BIND_MW)
		sqe->xrc.srqn = remote_srqn;
}

static void wr_set_sge_list(struct ibv_qp_ex *ex, size_t num_sge,
			    const struct ibv_sge *list)
{
	struct srnic_qp *qp = ex_to_qp(ex);
	struct srnic_sqe *sqe = qp->wr_sqe;
	struct srnic_sge *sge;
	size_t i;

	if (!sqe)
		return;
	if (num_sge > qp->max_send_sge) {
		wr_fail(qp, EINVAL);
		return;
	}

	sge = (struct srnic_sge *)(sqe + 1);
	for (i = 0; i < num_sge; i++) {
		sge[i].addr = list[i].addr;
		sge[i].length = list[i].length;
		sge[i].lkey = list[i].lkey;
	}
	sqe->num_sge = num_sge;
	sqe->inline_len = 0;
	sqe->flags &= ~IBV_SEND_INLINE;
}

static void wr_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr,
		       uint32_t length)
{
	struct ibv_sge sge = { .addr = addr, .length = length, .lkey = lkey };

	wr_set_sge_list(ex, 1, &sge);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *ex, size_t num_buf,
				    const struct ibv_data_buf *list)
{
	struct srnic_qp *qp = ex_to_qp(ex);
	struct srnic_sqe *sqe = qp->wr_sqe;
	size_t room = qp->max_inline;
	size_t i;
	char *to;

	if (!sqe)
		return;
	switch (sqe->opcode) {
	case IBV_WR_RDMA_READ:
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
	case IBV_WR_LOCAL_INV:
	case IBV_WR_BIND_MW:
	case IB_UVERBS_WR_FLUSH:
		wr_fail(qp, EINVAL);
		return;
	}

	to = (char *)(sqe + 1);
	for (i = 0; i < num_buf; i++) {
		if (list[i].length > room) {
			wr_fail(qp, EINVAL);
			return;
		}
		if (list[i].length)
			memcpy(to, list[i].addr, list[i].length);
		to += list[i].length;
		room -= list[i].length;
	}
	sqe->num_sge = 0;
	sqe->inline_len = qp->max_inline - room;
	sqe->flags |= IBV_SEND_INLINE;
}

static void wr_set_inline_data(struct ibv_qp_ex *ex, void *addr, size_t length)
{
	struct ibv_data_buf buf = { .addr = addr, .length = length };

	wr_set_inline_data_list(ex, 1, &buf);
}

static void wr_start(struct ibv_qp_ex *ex)
{
	struct srnic_qp *qp = ex_to_qp(ex);

	srnic_lock(&qp->sq);
	qp->wr_index = qp->sq.index;
	qp->wr_sqe = NULL;
	qp->wr_err = srnic_may_post(qp, &qp->sq, IBV_QPS_RTS);
}

static int wr_complete(struct ibv_qp_ex *ex)
{
	struct srnic_qp *qp = ex_to_qp(ex);
	int err = qp->wr_err;
	bool shown;

	shown = !err && qp->wr_index != qp->sq.index;
	if (shown)
		srnic_publish(&qp->sq, qp->wr_index);
	qp->wr_sqe = NULL;
	srnic_unlock(&qp->sq);

	return shown ? srnic_ring_send(qp) : err;
}

static void wr_abort(struct ibv_qp_ex *ex)
{
	struct srnic_qp *qp = ex_to_qp(ex);

	qp->wr_sqe = NULL;
	srnic_unlock(&qp->sq);
}

/* IBV_QP_EX_WITH_* operations that each type of queue pair supports */
#define OPS_SEND	(IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)
#define OPS_WRITE	(IBV_QP_EX_WITH_RDMA_WRITE | \
			 IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
#define OPS_KEYS	(IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW)
#define OPS_ATOMIC	(IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | \
			 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)

static uint64_t qp_type_ops(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_RC:
		return OPS_SEND | OPS_WRITE | OPS_ATOMIC | OPS_KEYS |
		       IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_SEND_WITH_INV |
		       IBV_QP_EX_WITH_ATOMIC_WRITE | IBV_QP_EX_WITH_FLUSH;
	case IBV_QPT_XRC_SEND:
		return OPS_SEND | OPS_WRITE | OPS_ATOMIC | OPS_KEYS |
		       IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_SEND_WITH_INV;
	case IBV_QPT_UC:
		return OPS_SEND | OPS_WRITE | OPS_KEYS;
	case IBV_QPT_UD:
		return OPS_SEND;
	case IBV_QPT_RAW_PACKET:
		return IBV_QP_EX_WITH_SEND;
	default:
		return 0;
	}
}

/* Sets only the requested callbacks; the others stay NULL. */
static void qp_set_wr_ops(struct ibv_qp_ex *ex, uint64_t ops)
{
	ex->wr_start = wr_start;
	ex->wr_complete = wr_complete;
	ex->wr_abort = wr_abort;
	ex->wr_set_sge = wr_set_sge;
	ex->wr_set_sge_list = wr_set_sge_list;
	ex->wr_set_inline_data = wr_set_inline_data;
	ex->wr_set_inline_data_list = wr_set_inline_data_list;
	if (ex->qp_base.qp_type == IBV_QPT_UD)
		ex->wr_set_ud_addr = wr_set_ud_addr;
	if (ex->qp_base.qp_type == IBV_QPT_XRC_SEND)
		ex->wr_set_xrc_srqn = wr_set_xrc_srqn;

	if (ops & IBV_QP_EX_WITH_RDMA_WRITE)
		ex->wr_rdma_write = wr_rdma_write;
	if (ops & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
		ex->wr_rdma_write_imm = wr_rdma_write_imm;
	if (ops & IBV_QP_EX_WITH_RDMA_READ)
		ex->wr_rdma_read = wr_rdma_read;
	if (ops & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)
		ex->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
	if (ops & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
		ex->wr_atomic_fetch_add = wr_atomic_fetch_add;
	if (ops & IBV_QP_EX_WITH_SEND)
		ex->wr_send = wr_send;
	if (ops & IBV_QP_EX_WITH_SEND_WITH_IMM)
		ex->wr_send_imm = wr_send_imm;
	if (ops & IBV_QP_EX_WITH_SEND_WITH_INV)
		ex->wr_send_inv = wr_send_inv;
	if (ops & IBV_QP_EX_WITH_LOCAL_INV)
		ex->wr_local_inv = wr_local_inv;
	if (ops & IBV_QP_EX_WITH_BIND_MW)
		ex->wr_bind_mw = wr_bind_mw;
	if (ops & IBV_QP_EX_WITH_ATOMIC_WRITE)
		ex->wr_atomic_write = wr_atomic_write;
	if (ops & IBV_QP_EX_WITH_FLUSH)
		ex->wr_flush = wr_flush;
}

#define QP_EX_RSS	(IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH)
#define QP_EX_ATTRS	(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD | \
			 IBV_QP_INIT_ATTR_CREATE_FLAGS | \
			 IBV_QP_INIT_ATTR_SEND_OPS_FLAGS | QP_EX_RSS)

/* Converts the RSS parameters.  Return: 0 or errno. */
static int qp_put_rss(struct srnic_create_qp_rss *rss,
		      const struct ibv_rx_hash_conf *conf)
{
	if (conf->rx_hash_key_len > sizeof(rss->key))
		return EINVAL;
	rss->fields = conf->rx_hash_fields_mask;
	rss->function = conf->rx_hash_function;
	rss->key_len = conf->rx_hash_key_len;
	if (conf->rx_hash_key_len)
		memcpy(rss->key, conf->rx_hash_key, conf->rx_hash_key_len);

	return 0;
}

static int qp_create_ex(struct ibv_context *ctx, struct srnic_qp *qp,
			struct ibv_qp_init_attr_ex *attr,
			struct srnic_create_qp_ex_resp *resp)
{
	struct srnic_create_qp_ex_cmd cmd = {};
	size_t size = sizeof(cmd.ibv);
	int err;

	if (attr->comp_mask & QP_EX_RSS) {
		/* An indirection table requires a hash, and vice versa. */
		if ((attr->comp_mask & QP_EX_RSS) != QP_EX_RSS)
			return EINVAL;
		err = qp_put_rss(&cmd.rss, &attr->rx_hash_conf);
		if (err)
			return err;
		size = sizeof(cmd);
	}

	return srnic_cmd_create_qp_ex(ctx, &qp->vqp, attr, &cmd.ibv, size,
				      &resp->ibv, sizeof(*resp));
}

struct ibv_qp *srnic_create_qp_ex(struct ibv_context *ctx,
				  struct ibv_qp_init_attr_ex *attr)
{
	struct srnic_create_qp_ex_resp resp = {};
	struct srnic_qp *qp;
	struct ibv_pd *pd;
	uint64_t ops = 0;
	int err;

	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		ops = attr->send_ops_flags;
	if ((attr->comp_mask & ~QP_EX_ATTRS) ||
	    (ops & ~(qp_type_ops(attr->qp_type) & srnic_qp_ex_ops()))) {
		errno = EOPNOTSUPP;
		return NULL;
	}

	pd = attr->comp_mask & IBV_QP_INIT_ATTR_PD ? attr->pd : NULL;
	qp = srnic_obj_alloc(pd, sizeof(*qp), SRNIC_RES_QP);
	if (!qp)
		return NULL;
	err = qp_create_ex(ctx, qp, attr, &resp);
	if (err)
		goto err_free;
	err = srnic_qp_setup(qp, &attr->cap, attr->sq_sig_all,
			     attr->comp_mask & IBV_QP_INIT_ATTR_IND_TABLE,
			     &resp.drv);
	if (err)
		goto err_destroy;

	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) {
		qp_set_wr_ops(&qp->vqp.qp_ex, ops);
		srnic_qp_set_ex(&qp->vqp);
	}

	return &qp->vqp.qp;

err_destroy:
	ibv_cmd_destroy_qp(&qp->vqp.qp);
err_free:
	srnic_obj_free(&qp->obj);
	errno = err;
	return NULL;
}
