// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - requester: headers and payload of packets
 */
#include "qp.h"
#include "qp_pkt.h"
#include "req_data.h"
#include "wr.h"

/* The SGE list cursors keep their place, but no region; see srnic_resp_let_go(). */
void srnic_req_let_go(struct srnic_qp *qp)
{
	srnic_sgl_put(&qp->req.sgl);
	srnic_sgl_put(&qp->req.rsgl);
}

enum srnic_mem_err srnic_req_place(struct srnic_qp *qp,
				   const struct srnic_swqe *wqe, u64 off)
{
	struct srnic_req *req = &qp->req;

	srnic_task_assert_mine(&qp->task);
	if (req->sgl.pos == off)
		return SRNIC_MEM_OK;

	srnic_sgl_put(&req->sgl);
	srnic_sgl_init(&req->sgl, qp->keys, qp->pd, wqe->sge,
		       wqe->sqe.num_sge, 0, &qp->req_pager);

	return srnic_sgl_seek(&req->sgl, off);
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

	return srnic_sgl_read(&req->sgl, dst, len);
}

/* Fills in the extended headers of a packet at offset @off of the message. */
static void data_fill(const struct srnic_swqe *wqe, u64 off,
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

u64 srnic_req_build(const struct srnic_qp *qp, const struct srnic_swqe *wqe,
		    u32 npsn, struct srnic_pkt *pkt)
{
	u32 psn = qp->req.flight.next, index = srnic_psn_diff(psn, wqe->psn);
	bool answer = srnic_wr_has_answer(wqe);
	bool last = answer || index + npsn == wqe->npsn;
	u64 off = (u64)index * qp->conf.mtu;
	u64 room = (u64)npsn * qp->conf.mtu;

	srnic_qp_pkt(qp, pkt, srnic_wr_packet(wqe, answer || !index, last), psn);
	pkt->se = last && (wqe->sqe.flags & IB_SEND_SOLICITED);
	data_fill(wqe, off, pkt);
	if (srnic_wr_of(wqe)->flags & SRNIC_WR_PARTS)
		pkt->dmalen = min_t(u64, pkt->dmalen, room);
	if (!srnic_wr_has_sink(wqe))
		pkt->payload = min_t(u64, wqe->length - off, room);

	return off;
}
