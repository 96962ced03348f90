// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - requests as packets of a connection: headers, payload, AckReq, READ requests
 */
#include "internal.h"

/* The SGE list cursors keep their place, but no region; see srnic_resp_release(). */
void srnic_req_sgl_release(struct srnic_qp *qp)
{
	srnic_sgl_put(&qp->req.sgl);
	srnic_sgl_put(&qp->req.rsgl);
	srnic_mr_release(&qp->req.sink);
}

enum srnic_mem_err srnic_req_sgl_seek(struct srnic_qp *qp,
				      const struct srnic_swqe *wqe, u64 off)
{
	struct srnic_req *req = &qp->req;

	srnic_task_assert_mine(&qp->task);
	if (req->sgl.pos == off)
		return SRNIC_MEM_OK;

	srnic_sgl_init(&req->sgl, qp->keys, qp->pd, wqe->sge,
		       wqe->sqe.num_sge, 0, &qp->req_pager);

	return srnic_sgl_seek(&req->sgl, off);
}

enum srnic_mem_err srnic_req_sgl_read(struct srnic_qp *qp,
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
	err = srnic_req_sgl_seek(qp, wqe, off);
	if (err)
		return err;

	return srnic_sgl_read(&req->sgl, dst, len);
}

/* Fills in the extended headers of a packet at offset @off of the message. */
static void packet_fill(const struct srnic_swqe *wqe, u64 off,
			struct srnic_pkt *pkt)
{
	pkt->va = wqe->sqe.remote_addr + off;
	pkt->rkey = wqe->sqe.rkey;
	pkt->dmalen = wqe->length - off;
	pkt->imm = wqe->sqe.imm_data;
	pkt->inv_rkey = wqe->sqe.invalidate_rkey;
	pkt->srqn = wqe->sqe.xrc.srqn & SRNIC_QPN_MASK;
	if (srnic_wr_is_masked(wqe)) {
		pkt->compare_add_mask = wqe->sqe.masked.compare_add_mask;
		pkt->swap_mask = srnic_wr_of(wqe)->operands == SRNIC_WR_CMP_SWAP ?
				 wqe->sqe.masked.swap_mask : 0;
	}
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

u64 srnic_req_packet_build(const struct srnic_qp *qp, const struct srnic_swqe *wqe,
			   u32 npsn, struct srnic_pkt *pkt)
{
	u32 psn = qp->req.recovery.next, index = srnic_psn_diff(psn, wqe->psn);
	bool answer = srnic_wr_has_answer(wqe);
	bool last = answer || index + npsn == wqe->npsn;
	u64 off = (u64)index * qp->conf.mtu;
	u64 room = (u64)npsn * qp->conf.mtu;

	srnic_qp_pkt(qp, pkt, srnic_wr_packet(wqe, answer || !index, last), psn);
	pkt->se = last && (wqe->sqe.flags & IB_SEND_SOLICITED);
	packet_fill(wqe, off, pkt);
	if (srnic_wr_of(wqe)->flags & SRNIC_WR_PARTS)
		pkt->dmalen = min_t(u64, pkt->dmalen, room);
	if (!srnic_wr_has_sink(wqe))
		pkt->payload = min_t(u64, wqe->length - off, room);

	return off;
}

/* How long to wait after a failed packet allocation */
#define PACKET_STALL_NSEC	(200 * NSEC_PER_USEC)

/* A lack of memory is temporary: the timer tries again. */
static enum srnic_outcome packet_stall(struct srnic_qp *qp)
{
	srnic_rto_stall(&qp->req.recovery, PACKET_STALL_NSEC, ktime_get_ns());

	return SRNIC_AGAIN;
}

/*
 * Response PSNs that one request of @wqe, from the next PSN on, asks for: as many as
 * the window allows, up to the next response that has been kept.
 */
static u32 packet_span(struct srnic_qp *qp, const struct srnic_swqe *wqe)
{
	struct srnic_recovery *r = &qp->req.recovery;
	u32 left = wqe->npsn - srnic_psn_diff(r->next, wqe->psn);

	return srnic_flight_span(r, srnic_ooo_gap(&qp->req.ooo, r->next, left));
}

/*
 * Is the consumer waiting for @wqe, or what it has posted next, or is half the queue in flight with
 * no ACK requested?
 */
static bool packet_is_awaited(struct srnic_qp *qp, const struct srnic_swqe *wqe)
{
	u32 sent = qp->req.cur + 1 - qp->sq.head;

	if (srnic_req_is_signaled(qp, wqe) || srnic_wr_has_answer(wqe) ||
	    srnic_req_delays_local_op(qp) || srnic_req_ends_burst(qp))
		return true;

	return !srnic_flight_asked(&qp->req.recovery) &&
	       2 * sent > qp->sq.ring.mask;
}

/* Should the packet at the cursor request an acknowledgment? */
static bool packet_wants_ack(struct srnic_qp *qp, const struct srnic_swqe *wqe)
{
	bool last = srnic_wr_has_answer(wqe) || srnic_req_is_end(qp, wqe, 1);

	if (!srnic_qp_reliable(qp))
		return false;

	return srnic_flight_wants_ack(&qp->req.recovery,
				      last && packet_is_awaited(qp, wqe)) ||
	       srnic_cc_is_last(qp);
}

/* Sends the packet at the cursor, which takes @npsn PSNs. */
static enum srnic_outcome packet_send(struct srnic_qp *qp,
				      const struct srnic_swqe *wqe, u32 npsn)
{
	struct srnic_recovery *r = &qp->req.recovery;
	enum srnic_mem_err err = SRNIC_MEM_OK;
	struct srnic_pkt pkt = {};
	struct sk_buff *skb;
	void *payload;
	u64 off;

	off = srnic_req_packet_build(qp, wqe, npsn, &pkt);
	pkt.ackreq = packet_wants_ack(qp, wqe);
	skb = srnic_tx_alloc(&qp->txb, &pkt, &payload);
	if (!skb)
		return packet_stall(qp);
	if (pkt.payload)
		err = srnic_req_sgl_read(qp, wqe, off, payload, pkt.payload);
	if (err) {
		kfree_skb(skb);
		return srnic_accessed(err, SRNIC_V_SOURCE);
	}
	srnic_qp_send(qp, &pkt, skb);
	if (srnic_psn_diff(r->next, r->high) < 0) {
		srnic_count(qp->stats, SRNIC_CNT_RETRANS);
		qp->req.traffic.retransmitted++;
	} else {
		qp->req.traffic.data_out += pkt.payload;
	}
	srnic_pace_requested(&qp->cc.pace, &r->cwnd, npsn);
	srnic_req_sent(qp, wqe, npsn, pkt.ackreq);

	return SRNIC_DONE;
}

/* Skips a response packet that has been kept, or that cannot be requested now. */
static enum srnic_outcome packet_skip(struct srnic_qp *qp,
				      const struct srnic_swqe *wqe)
{
	if (srnic_req_is_end(qp, wqe, 1))
		srnic_req_advance(qp);
	if (srnic_recovery_pass(&qp->req.recovery, 1))
		srnic_req_seek(qp);

	return SRNIC_DONE;
}

/* Requests a response, or skips the part of it that has been kept. */
static enum srnic_outcome packet_request_response(struct srnic_qp *qp,
						  const struct srnic_swqe *wqe)
{
	struct srnic_recovery *r = &qp->req.recovery;
	u32 npsn;

	if (srnic_ooo_has(&qp->req.ooo, r->next))
		return packet_skip(qp, wqe);
	if (!srnic_flight_may_read(r, r->next == wqe->psn))
		return r->detour ? packet_skip(qp, wqe) :
				   srnic_req_wait(qp, SRNIC_LIMIT_READS);
	npsn = packet_span(qp, wqe);
	if (!npsn)
		return srnic_req_wait(qp, SRNIC_LIMIT_WINDOW);
	if (srnic_sack_has_pace(qp, npsn))
		srnic_sack_tell_pace(qp);

	return packet_send(qp, wqe, npsn);
}

enum srnic_outcome srnic_req_packet_send(struct srnic_qp *qp,
					 const struct srnic_swqe *wqe)
{
	srnic_task_assert_mine(&qp->task);

	return srnic_wr_has_answer(wqe) ? packet_request_response(qp, wqe) :
					  packet_send(qp, wqe, 1);
}
