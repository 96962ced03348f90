// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - headers and payload of what the requester sends
 */
#include "qp.h"
#include "req_data.h"
#include "wr.h"

/* The lists keep their places, not their regions; see srnic_resp_let_go(). */
void srnic_req_let_go(struct srnic_qp *qp)
{
	srnic_sgl_put(&qp->req.sgl);
	srnic_sgl_put(&qp->req.rsgl);
}

enum srnic_mem_err srnic_req_place(struct srnic_qp *qp,
				   const struct srnic_swqe *wqe, u64 off)
{
	struct srnic_req *req = &qp->req;
	enum srnic_mem_err err;

	srnic_task_assert_mine(&qp->task);
	if (req->sgl_pos == off)
		return SRNIC_MEM_OK;

	srnic_sgl_put(&req->sgl);
	srnic_sgl_init(&req->sgl, qp->keys, qp->pd, wqe->sge,
		       wqe->sqe.num_sge, 0, &qp->tx_pager);
	err = srnic_sgl_seek(&req->sgl, off);
	req->sgl_pos = err ? SRNIC_NOWHERE : off;

	return err;
}

enum srnic_mem_err srnic_req_payload(struct srnic_qp *qp,
				     const struct srnic_swqe *wqe, u64 off,
				     void *dst, u32 len)
{
	struct srnic_req *req = &qp->req;
	enum srnic_mem_err err;

	srnic_task_assert_mine(&qp->task);
	if (wqe->sqe.flags & IB_SEND_INLINE) {
		memcpy(dst, (const u8 *)wqe->sge + off, len);
		return SRNIC_MEM_OK;
	}
	err = srnic_req_place(qp, wqe, off);
	if (err)
		return err;
	err = srnic_sgl_read(&req->sgl, dst, len);
	req->sgl_pos = err ? SRNIC_NOWHERE : off + len;

	return err;
}

void srnic_req_fill(const struct srnic_swqe *wqe, u64 off,
		    struct srnic_pkt *pkt)
{
	pkt->va = wqe->sqe.remote_addr + off;
	pkt->rkey = wqe->sqe.rkey;
	pkt->dmalen = wqe->length - off;
	pkt->imm = wqe->sqe.imm_data;
	pkt->inv_rkey = wqe->sqe.invalidate_rkey;
	pkt->srqn = wqe->sqe.xrc.srqn & SRNIC_QPN_MASK;
	switch (srnic_wr_of(wqe)->operands) {
	case SRNIC_WR_CMP_SWAP:
		pkt->swap_add = wqe->sqe.atomic.swap;
		pkt->compare = wqe->sqe.atomic.compare_add;
		break;
	case SRNIC_WR_FETCH_ADD:
		pkt->swap_add = wqe->sqe.atomic.compare_add;
		break;
	case SRNIC_WR_FLUSH:
		pkt->dmalen = wqe->sqe.flush.length;
		pkt->feth = SRNIC_FETH(wqe->sqe.flush.type,
				       wqe->sqe.flush.level);
		break;
	}
}
