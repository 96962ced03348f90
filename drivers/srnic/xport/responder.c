// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - responder: packet in, memory touched, reply out
 *
 * Every request runs the same checks in the same order and stops at the first
 * that fails.  What a verdict means on the wire, in the completion and for the
 * QP is one row of srnic_faults[].
 */
#include "proto.h"

static void resp_send_aeth(struct srnic_qp *qp, u8 opcode, u32 psn,
			   u8 syndrome, u64 orig)
{
	struct srnic_pkt pkt;
	struct sk_buff *skb;
	void *payload;

	srnic_qp_pkt(qp, &pkt, opcode, psn);
	pkt.syndrome = syndrome;
	pkt.msn = qp->resp.msn;
	pkt.swap_add = orig;
	skb = srnic_tx_alloc(&qp->txb, &pkt, &payload);
	if (skb)
		srnic_tx_add(&qp->txb, skb);
}

void srnic_resp_ack(struct srnic_qp *qp)
{
	if (!qp->resp.ack_due || qp->resp.read_left ||
	    qp->conf.state == IB_QPS_ERR)
		return;

	qp->resp.ack_due = false;
	resp_send_aeth(qp, SRNIC_OP_ACK, srnic_psn_add(qp->resp.psn, -1),
		       SRNIC_AETH_ACK | SRNIC_AETH_NO_CREDITS, 0);
}

/* What was received before the packet at fault is acknowledged by the NAK. */
static void resp_nak(struct srnic_qp *qp, u32 psn, u8 syndrome)
{
	qp->resp.ack_due = false;
	resp_send_aeth(qp, SRNIC_OP_ACK, psn, syndrome, 0);
}

static void resp_put_mr(struct srnic_mr **mr)
{
	if (*mr)
		srnic_mr_put(*mr);
	*mr = NULL;
}

static void resp_recv_cqe(struct srnic_qp *qp, struct srnic_cqe *cqe,
			  bool solicited)
{
	cqe->wr_id = qp->resp.rwqe.wr_id;
	qp->resp.has_rwqe = false;
	srnic_sgl_put(&qp->resp.sgl);
	/* An SRQ that is gone has taken along who would want to know. */
	if (qp->recv_cq)
		srnic_qp_cqe(qp, qp->recv_cq, cqe, solicited);
}

/* XRC: borrows, for this run, the queues of the SRQ that the request named. */
static bool resp_borrow(struct srnic_qp *qp)
{
	if (!qp->xrcd || qp->srq)
		return true;

	qp->srq = srnic_srq_get(qp->xrcd, qp->resp.srqn);
	if (!qp->srq)
		return false;
	qp->recvq = &qp->srq->rq;
	qp->recv_cq = qp->srq->cq;

	return true;
}

static void resp_give_back(struct srnic_qp *qp)
{
	if (!qp->xrcd || !qp->srq)
		return;

	srnic_srq_put(qp->srq);
	qp->srq = NULL;
	qp->recvq = NULL;
	qp->recv_cq = NULL;
}

/* Turns to the SRQ of @pkt, which stays the same throughout a message. */
static enum srnic_verdict resp_select(struct srnic_qp *qp,
				      const struct srnic_pkt *pkt)
{
	struct srnic_resp *resp = &qp->resp;

	if (!qp->xrcd)
		return SRNIC_V_OK;
	if (pkt->srqn != resp->srqn) {
		if (resp->open != SRNIC_FAM_NONE)
			return SRNIC_V_INV_REQ;
		resp_give_back(qp);
		resp->srqn = pkt->srqn;
	}

	return resp_borrow(qp) ? SRNIC_V_OK : SRNIC_V_INV_REQ;
}

/* Holds the memory that a request names; with XRC, in the domain of its SRQ. */
static enum srnic_mem_err resp_mr_get(struct srnic_qp *qp, u32 srqn, u32 rkey,
				      u32 access, u64 va, u64 len,
				      struct srnic_mr **mr)
{
	struct srnic_srq *srq;
	enum srnic_mem_err err;

	if (!qp->xrcd)
		return srnic_mr_get_remote(qp->keys, rkey, qp->pd, qp->uid,
					   access, va, len, mr);

	srq = srnic_srq_get(qp->xrcd, srqn);
	if (!srq)
		return SRNIC_MEM_PD;
	err = srnic_mr_get_remote(qp->keys, rkey, srq->pd, qp->uid, access, va,
				  len, mr);
	srnic_srq_put(srq);

	return err;
}

/*
 * Between runs no region is held, or a peer that stops in the middle of a
 * message would keep its owner from deregistering it.
 */
void srnic_resp_let_go(struct srnic_qp *qp)
{
	srnic_sgl_put(&qp->resp.sgl);
	resp_put_mr(&qp->resp.mr);
	resp_put_mr(&qp->resp.read_mr);
	resp_give_back(qp);
}

static void resp_flush_rwqe(struct srnic_qp *qp)
{
	struct srnic_cqe cqe = { .status = IB_WC_WR_FLUSH_ERR };

	resp_borrow(qp);
	resp_recv_cqe(qp, &cqe, false);
}

/* The QP will take no more receives of its SRQ, and has completed its last. */
static void resp_tell_last(struct srnic_qp *qp)
{
	if (qp->resp.last_told)
		return;

	qp->resp.last_told = true;
	qp->event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
}

bool srnic_resp_flush(struct srnic_qp *qp)
{
	struct srnic_resp *resp = &qp->resp;
	int budget = SRNIC_RUN_BUDGET;

	srnic_resp_let_go(qp);
	srnic_early_purge(qp);
	resp->read_left = 0;
	resp->late_due = false;
	resp->ack_due = false;
	if (resp->has_rwqe)
		resp_flush_rwqe(qp);
	if (qp->srq || qp->xrcd) {
		resp_tell_last(qp);
		return false;
	}
	if (!qp->recvq)
		return false;

	srnic_rq_want_kick(qp->recvq, true);
	while (budget--) {
		if (!srnic_rq_fetch(qp->recvq, &resp->rwqe))
			return false;
		resp_flush_rwqe(qp);
	}

	return true;
}

void srnic_resp_reset(struct srnic_qp *qp)
{
	struct srnic_resp *resp = &qp->resp;

	srnic_resp_let_go(qp);
	srnic_early_purge(qp);
	kfree(resp->replay);
	memset(resp, 0, sizeof(*resp));
}

int srnic_resp_depth(struct srnic_qp *qp, u32 depth)
{
	struct srnic_resp *resp = &qp->resp;
	u32 num = min(depth, resp->replay_num);
	struct srnic_replay *replay;
	u32 i;

	if (depth == resp->replay_num)
		return 0;
	replay = kcalloc(depth, sizeof(*replay), GFP_KERNEL);
	if (!replay)
		return -ENOMEM;

	/* The youngest come last: they are overwritten last. */
	for (i = 1; i <= num; i++)
		replay[num - i] = resp->replay[(resp->replay_next - i) %
					       resp->replay_num];
	kfree(resp->replay);
	resp->replay = replay;
	resp->replay_num = depth;
	resp->replay_next = num;

	return 0;
}

/*
 * Forgets the message in progress; the receive that it has taken is as good as
 * new for the next.
 */
static void resp_drop(struct srnic_qp *qp)
{
	struct srnic_resp *resp = &qp->resp;

	resp->open = SRNIC_FAM_NONE;
	resp_put_mr(&resp->mr);
	if (resp->has_rwqe)
		srnic_sgl_seek(&resp->sgl, 0);
}

static void resp_not_ready(struct srnic_qp *qp, u32 psn)
{
	srnic_count(qp->stats, SRNIC_CNT_SEND_RNR);
	qp->resp.nak_sent = true;
	resp_nak(qp, psn, SRNIC_AETH_RNR | qp->conf.min_rnr_timer);
}

/* Makes a verdict known to the peer, the completion queue and the QP. */
static void resp_fail(struct srnic_qp *qp, u32 psn, enum srnic_verdict verdict)
{
	const struct srnic_fault *fault = &srnic_faults[verdict];
	struct srnic_cqe cqe = { .status = fault->status };

	if (verdict == SRNIC_V_RNR)
		srnic_count(qp->stats, SRNIC_CNT_OUT_OF_BUFFER);
	if (!srnic_qp_reliable(qp) && !fault->local) {
		resp_drop(qp);
		return;
	}
	if (verdict == SRNIC_V_RNR) {
		resp_not_ready(qp, psn);
		return;
	}
	if (srnic_qp_reliable(qp))
		resp_nak(qp, psn, fault->syndrome);
	if (qp->resp.has_rwqe)
		resp_recv_cqe(qp, &cqe, true);
	srnic_qp_to_error(qp, fault->event);
}

/* Makes sure that a receive work request is at hand. */
static enum srnic_verdict resp_need_rwqe(struct srnic_qp *qp)
{
	struct srnic_resp *resp = &qp->resp;

	if (resp->has_rwqe)
		return SRNIC_V_OK;
	if (!qp->recvq || !srnic_rq_fetch(qp->recvq, &resp->rwqe))
		return SRNIC_V_RNR;

	resp->has_rwqe = true;
	srnic_sgl_init(&resp->sgl, qp->keys, qp->srq ? qp->srq->pd : qp->pd,
		       resp->rwqe.sge, resp->rwqe.num_sge,
		       IB_ACCESS_LOCAL_WRITE);

	return resp->rwqe.status ? SRNIC_V_LOCAL_OP : SRNIC_V_OK;
}

/* The message with a receive completion is whole. */
static void resp_complete(struct srnic_qp *qp, const struct srnic_pkt *pkt,
			  u32 byte_len)
{
	const struct srnic_op *op = srnic_pkt_op(pkt);
	struct srnic_cqe cqe = {
		.byte_len = byte_len,
		.opcode = op->family == SRNIC_FAM_SEND ? IB_WC_RECV :
			  IB_WC_RECV_RDMA_WITH_IMM,
		.src_qp = qp->conf.dest_qpn,
	};

	if (op->hdrs & SRNIC_H_IMM) {
		cqe.imm_data = pkt->imm;
		cqe.flags = SRNIC_WC_WITH_IMM;
	}
	if (op->hdrs & SRNIC_H_IETH) {
		cqe.invalidated_rkey = pkt->inv_rkey;
		cqe.flags = SRNIC_WC_WITH_INV;
	}
	if (srnic_memop_pending(qp)) {
		qp->resp.late = cqe;
		qp->resp.late_se = pkt->se;
		qp->resp.late_due = true;
		return;
	}
	resp_recv_cqe(qp, &cqe, pkt->se);
}

/* The key is out of use: its owner may know. */
static bool resp_run_late(struct srnic_qp *qp)
{
	if (srnic_memop_pending(qp))
		return false;

	qp->resp.late_due = false;
	resp_recv_cqe(qp, &qp->resp.late, qp->resp.late_se);

	return true;	/* for the packets that waited */
}

static enum srnic_verdict resp_send(struct srnic_qp *qp,
				    const struct srnic_seg *seg)
{
	const struct srnic_op *op = srnic_pkt_op(&seg->pkt);
	struct srnic_resp *resp = &qp->resp;
	enum srnic_verdict verdict;

	if (op->flags & SRNIC_OP_START) {
		verdict = resp_need_rwqe(qp);
		if (verdict)
			return verdict;
		resp->got = 0;
	}
	if (resp->got + (u64)seg->pkt.payload > resp->rwqe.length)
		return SRNIC_V_LENGTH;
	if (srnic_sgl_write(&resp->sgl, seg->payload, seg->pkt.payload))
		return SRNIC_V_LOCAL_PROT;
	resp->got += seg->pkt.payload;
	if (!(op->flags & SRNIC_OP_END))
		return SRNIC_V_OK;

	if (op->hdrs & SRNIC_H_IETH && srnic_memop_inv(qp, seg->pkt.inv_rkey))
		return SRNIC_V_INVALIDATE;

	srnic_count(qp->stats, SRNIC_CNT_RDMA_RECVS);
	resp_complete(qp, &seg->pkt, resp->got);

	return SRNIC_V_OK;
}

static enum srnic_verdict resp_write_start(struct srnic_qp *qp,
					   const struct srnic_pkt *pkt)
{
	struct srnic_resp *resp = &qp->resp;

	if (!(qp->conf.access & IB_ACCESS_REMOTE_WRITE) ||
	    pkt->dmalen > SRNIC_MAX_MSG)
		return SRNIC_V_INV_REQ;
	srnic_count(qp->stats, SRNIC_CNT_RX_WRITE);
	resp_put_mr(&resp->mr);
	resp->rkey = pkt->rkey;
	resp->va = pkt->va;
	resp->left = pkt->dmalen;
	resp->got = pkt->dmalen;

	return SRNIC_V_OK;
}

/* Holds the region that the rest of the message goes to. */
static enum srnic_verdict resp_write_hold(struct srnic_qp *qp)
{
	struct srnic_resp *resp = &qp->resp;

	if (resp->mr || !resp->left)
		return SRNIC_V_OK;

	return resp_mr_get(qp, resp->srqn, resp->rkey, IB_ACCESS_REMOTE_WRITE,
			   resp->va, resp->left, &resp->mr) ?
	       SRNIC_V_ACCESS : SRNIC_V_OK;
}

static enum srnic_verdict resp_write(struct srnic_qp *qp,
				     const struct srnic_seg *seg)
{
	const struct srnic_op *op = srnic_pkt_op(&seg->pkt);
	struct srnic_resp *resp = &qp->resp;
	u32 len = seg->pkt.payload;
	enum srnic_verdict verdict;

	if (op->flags & SRNIC_OP_START) {
		verdict = resp_write_start(qp, &seg->pkt);
		if (verdict)
			return verdict;
	}
	verdict = resp_write_hold(qp);
	if (verdict)
		return verdict;
	if (len > resp->left || ((op->flags & SRNIC_OP_END) && len != resp->left))
		return SRNIC_V_INV_REQ;
	if (op->hdrs & SRNIC_H_IMM) {
		verdict = resp_need_rwqe(qp);
		if (verdict)
			return verdict;
	}
	if (len)
		srnic_mr_write(resp->mr, resp->va, seg->payload, len);
	resp->va += len;
	resp->left -= len;
	if (!(op->flags & SRNIC_OP_END))
		return SRNIC_V_OK;

	resp_put_mr(&resp->mr);
	if (op->hdrs & SRNIC_H_IMM)
		resp_complete(qp, &seg->pkt, resp->got);

	return SRNIC_V_OK;
}

/* Remembers a READ or atomic; as many as the peer may have outstanding. */
static struct srnic_replay *resp_remember(struct srnic_qp *qp,
					  const struct srnic_pkt *pkt, u32 npsn)
{
	struct srnic_resp *resp = &qp->resp;
	u32 slot = resp->replay_next++ % resp->replay_num;
	struct srnic_replay *replay = &resp->replay[slot];

	replay->psn = pkt->psn;
	replay->npsn = npsn;
	replay->family = srnic_pkt_op(pkt)->family;
	replay->rkey = pkt->rkey;
	replay->va = pkt->va;
	replay->length = pkt->dmalen;

	return replay;
}

static u32 resp_read_npsn(const struct srnic_qp *qp, u32 length)
{
	return max_t(u32, DIV_ROUND_UP(length, qp->conf.mtu), 1);
}

/* Holds the region that the rest of the response comes from. */
static enum srnic_verdict resp_read_hold(struct srnic_qp *qp)
{
	struct srnic_resp *resp = &qp->resp;

	if (resp->read_mr || !resp->read_bytes)
		return SRNIC_V_OK;

	return resp_mr_get(qp, resp->read_srqn, resp->read_rkey,
			   IB_ACCESS_REMOTE_READ, resp->read_va,
			   resp->read_bytes, &resp->read_mr) ?
	       SRNIC_V_ACCESS : SRNIC_V_OK;
}

/* Starts to send the response to @pkt. */
static enum srnic_verdict resp_read_start(struct srnic_qp *qp,
					  const struct srnic_pkt *pkt)
{
	struct srnic_resp *resp = &qp->resp;

	resp->read_srqn = pkt->srqn;
	resp->read_rkey = pkt->rkey;
	resp->read_va = pkt->va;
	resp->read_bytes = pkt->dmalen;
	if (resp_read_hold(qp))
		return SRNIC_V_ACCESS;

	resp->read_psn = pkt->psn;
	resp->read_left = resp_read_npsn(qp, pkt->dmalen);
	resp->read_first = true;

	return SRNIC_V_OK;
}

static enum srnic_verdict resp_read(struct srnic_qp *qp,
				    const struct srnic_seg *seg)
{
	enum srnic_verdict verdict;

	if (!(qp->conf.access & IB_ACCESS_REMOTE_READ) ||
	    !qp->conf.max_dest_rd_atomic || seg->pkt.dmalen > SRNIC_MAX_MSG)
		return SRNIC_V_INV_REQ;
	srnic_count(qp->stats, SRNIC_CNT_RX_READ);
	verdict = resp_read_start(qp, &seg->pkt);
	if (verdict)
		return verdict;

	resp_remember(qp, &seg->pkt, qp->resp.read_left);
	qp->resp.read_again = false;
	qp->resp.ack_due = false;	/* the response acknowledges all before it */

	return SRNIC_V_OK;
}

static u8 resp_read_opcode(bool first, bool last)
{
	if (first)
		return last ? SRNIC_OP_READ_RESP_ONLY : SRNIC_OP_READ_RESP_FIRST;

	return last ? SRNIC_OP_READ_RESP_LAST : SRNIC_OP_READ_RESP_MIDDLE;
}

/* Sends one packet of the response; false: no memory. */
static bool resp_read_send(struct srnic_qp *qp)
{
	struct srnic_resp *resp = &qp->resp;
	u32 len = min_t(u32, resp->read_bytes, qp->conf.mtu);
	struct srnic_pkt pkt;
	struct sk_buff *skb;
	void *payload;

	srnic_qp_pkt(qp, &pkt, resp_read_opcode(resp->read_first,
						resp->read_left == 1),
		     resp->read_psn);
	pkt.syndrome = SRNIC_AETH_ACK | SRNIC_AETH_NO_CREDITS;
	pkt.msn = resp->msn;
	pkt.payload = len;
	skb = srnic_tx_alloc(&qp->txb, &pkt, &payload);
	if (!skb)
		return false;
	if (len)
		srnic_mr_read(resp->read_mr, resp->read_va, payload, len);
	srnic_tx_add(&qp->txb, skb);

	resp->read_first = false;
	resp->read_va += len;
	resp->read_bytes -= len;
	resp->read_psn = srnic_psn_add(resp->read_psn, 1);
	if (!--resp->read_left)
		resp_put_mr(&resp->read_mr);

	return true;
}

bool srnic_resp_run(struct srnic_qp *qp)
{
	struct srnic_resp *resp = &qp->resp;
	int budget = SRNIC_RUN_BUDGET;

	if (resp->late_due)
		return resp_run_late(qp);
	if (!resp->read_left)
		return false;
	if (resp_read_hold(qp)) {
		/* A late duplicate may outlive the region: nobody waits for it. */
		if (resp->read_again)
			resp->read_left = 0;
		else
			resp_fail(qp, resp->read_psn, SRNIC_V_ACCESS);
		return true;
	}
	while (resp->read_left && budget--) {
		if (!srnic_gate_open(&qp->gate))
			return false;
		if (!resp_read_send(qp)) {
			/* The rest is lost; the requester asks again. */
			resp->read_left = 0;
			resp_put_mr(&resp->read_mr);
		}
	}

	return true;	/* for the packets that waited behind the READ */
}

static u64 resp_do_atomic(void *mem, const struct srnic_pkt *pkt)
{
	atomic64_t *v = mem;

	if (SRNIC_OP_CMP_SWAP == (pkt->opcode & 0x1f))
		return atomic64_cmpxchg(v, pkt->compare, pkt->swap_add);

	return atomic64_fetch_add(pkt->swap_add, v);
}

static enum srnic_verdict resp_atomic(struct srnic_qp *qp,
				      const struct srnic_seg *seg)
{
	const struct srnic_pkt *pkt = &seg->pkt;
	struct srnic_replay *replay;
	struct srnic_mr *mr;
	void *word;

	if (!(qp->conf.access & IB_ACCESS_REMOTE_ATOMIC) ||
	    !qp->conf.max_dest_rd_atomic || pkt->va & (sizeof(u64) - 1))
		return SRNIC_V_INV_REQ;
	srnic_count(qp->stats, SRNIC_CNT_RX_ATOMIC);
	if (resp_mr_get(qp, pkt->srqn, pkt->rkey, IB_ACCESS_REMOTE_ATOMIC,
			pkt->va, sizeof(u64), &mr))
		return SRNIC_V_ACCESS;

	word = srnic_mr_word(mr, pkt->va);
	if (word) {
		replay = resp_remember(qp, pkt, 1);
		replay->orig = resp_do_atomic(word, pkt);
	}
	srnic_mr_put(mr);

	return word ? SRNIC_V_OK : SRNIC_V_INV_REQ;
}

static enum srnic_verdict resp_atomic_write(struct srnic_qp *qp,
					    const struct srnic_seg *seg)
{
	const struct srnic_pkt *pkt = &seg->pkt;
	struct srnic_mr *mr;
	u64 value, *word;

	if (!(qp->conf.access & IB_ACCESS_REMOTE_WRITE) ||
	    !qp->conf.max_dest_rd_atomic || pkt->va & (sizeof(u64) - 1) ||
	    pkt->dmalen != sizeof(u64))
		return SRNIC_V_INV_REQ;
	srnic_count(qp->stats, SRNIC_CNT_RX_ATOMIC);
	if (resp_mr_get(qp, pkt->srqn, pkt->rkey, IB_ACCESS_REMOTE_WRITE,
			pkt->va, sizeof(u64), &mr))
		return SRNIC_V_ACCESS;

	word = srnic_mr_word(mr, pkt->va);
	if (word) {
		resp_remember(qp, pkt, 1);
		memcpy(&value, seg->payload, sizeof(value));
		/* After all that was written before; read by the user. */
		smp_store_release(word, value);
	}
	srnic_mr_put(mr);

	return word ? SRNIC_V_OK : SRNIC_V_INV_REQ;
}

/* Rights that a FLUSH of this type needs, by the type; 0: there is none */
static const u32 resp_flush_access[] = {
	[IB_FLUSH_GLOBAL] = IB_ACCESS_FLUSH_GLOBAL,
	[IB_FLUSH_PERSISTENT] = IB_ACCESS_FLUSH_PERSISTENT,
	[IB_FLUSH_GLOBAL | IB_FLUSH_PERSISTENT] =
		IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_FLUSH_PERSISTENT,
};

/* Rights that @pkt needs, 0 if it makes no sense.  Pure. */
static u32 resp_flush_needs(const struct srnic_pkt *pkt)
{
	u32 type = SRNIC_FETH_TYPE(pkt->feth);

	if (type >= ARRAY_SIZE(resp_flush_access) ||
	    SRNIC_FETH_LEVEL(pkt->feth) > IB_FLUSH_MR)
		return 0;

	return resp_flush_access[type];
}

static enum srnic_verdict resp_flush(struct srnic_qp *qp,
				     const struct srnic_seg *seg)
{
	const struct srnic_pkt *pkt = &seg->pkt;
	u32 access = resp_flush_needs(pkt);
	u64 addr = pkt->va, len = pkt->dmalen;
	enum srnic_verdict verdict;
	struct srnic_mr *mr;

	if (!access || (qp->conf.access & access) != access ||
	    !qp->conf.max_dest_rd_atomic)
		return SRNIC_V_INV_REQ;
	if (srnic_mr_get_whole(qp->keys, pkt->rkey, qp->pd, qp->uid, access,
			       &mr))
		return SRNIC_V_ACCESS;

	if (SRNIC_FETH_LEVEL(pkt->feth) == IB_FLUSH_MR) {
		addr = mr->span.iova;
		len = mr->span.length;
	}
	verdict = srnic_mr_covers(mr, addr, len) ? SRNIC_V_OK : SRNIC_V_ACCESS;
	if (!verdict) {
		resp_remember(qp, pkt, 1);
		smp_mb();	/* what was written is visible to all CPUs */
		if (access & IB_ACCESS_FLUSH_PERSISTENT)
			srnic_mr_persist(mr, addr, len);
	}
	srnic_mr_put(mr);

	return verdict;
}

/* An operation of a request: what it does, and whether it has its own reply */
static enum srnic_verdict resp_execute(struct srnic_qp *qp,
				       const struct srnic_seg *seg)
{
	switch (srnic_pkt_op(&seg->pkt)->family) {
	case SRNIC_FAM_SEND:
		return resp_send(qp, seg);
	case SRNIC_FAM_WRITE:
		return resp_write(qp, seg);
	case SRNIC_FAM_READ:
		return resp_read(qp, seg);
	case SRNIC_FAM_ATOMIC:
		return resp_atomic(qp, seg);
	case SRNIC_FAM_ATOMIC_WRITE:
		return resp_atomic_write(qp, seg);
	case SRNIC_FAM_FLUSH:
		return resp_flush(qp, seg);
	default:
		return SRNIC_V_INV_REQ;
	}
}

static struct srnic_replay *resp_recall(struct srnic_qp *qp, u8 family, u32 psn)
{
	struct srnic_replay *replay;
	int i;

	for (i = 0; i < qp->resp.replay_num; i++) {
		replay = &qp->resp.replay[i];
		if (replay->family == family &&
		    srnic_psn_diff(psn, replay->psn) >= 0 &&
		    srnic_psn_diff(psn, replay->psn) < replay->npsn)
			return replay;
	}

	return NULL;
}

/* Does @pkt ask for what is left of the READ @replay from its own PSN on? */
static bool resp_read_matches(const struct srnic_qp *qp,
			      const struct srnic_replay *replay,
			      const struct srnic_pkt *pkt)
{
	u64 skip = (u64)srnic_psn_diff(pkt->psn, replay->psn) * qp->conf.mtu;

	return pkt->rkey == replay->rkey && pkt->va >= replay->va + skip &&
	       pkt->va + pkt->dmalen <= replay->va + replay->length &&
	       resp_read_npsn(qp, pkt->dmalen) <= replay->npsn;
}

/* What answers a request that is remembered, but for READ */
static u8 resp_reply_opcode(u8 family)
{
	switch (family) {
	case SRNIC_FAM_ATOMIC:
		return SRNIC_OP_ATOMIC_ACK;
	case SRNIC_FAM_ATOMIC_WRITE:
	case SRNIC_FAM_FLUSH:
		return SRNIC_OP_READ_RESP_ONLY;	/* of no bytes */
	default:
		return SRNIC_OP_ACK;
	}
}

static void resp_reply(struct srnic_qp *qp, u8 family, u32 psn)
{
	struct srnic_replay *replay = resp_recall(qp, family, psn);

	if (replay)
		resp_send_aeth(qp, resp_reply_opcode(family), psn,
			       SRNIC_AETH_ACK | SRNIC_AETH_NO_CREDITS,
			       replay->orig);
}

/* A request that was executed before: answer again, execute nothing. */
static void resp_duplicate(struct srnic_qp *qp, const struct srnic_seg *seg)
{
	const struct srnic_pkt *pkt = &seg->pkt;
	u8 family = srnic_pkt_op(pkt)->family;
	struct srnic_replay *replay;

	srnic_count(qp->stats, SRNIC_CNT_DUP_REQ);
	if (family == SRNIC_FAM_READ) {
		replay = resp_recall(qp, family, pkt->psn);
		if (replay && resp_read_matches(qp, replay, pkt) &&
		    !resp_read_start(qp, pkt))
			qp->resp.read_again = true;
	} else if (resp_reply_opcode(family) != SRNIC_OP_ACK) {
		resp_reply(qp, family, pkt->psn);
	} else {
		qp->resp.ack_due = true;
	}
}

/* Bookkeeping after a request was executed. */
static void resp_done(struct srnic_qp *qp, const struct srnic_seg *seg)
{
	const struct srnic_pkt *pkt = &seg->pkt;
	const struct srnic_op *op = srnic_pkt_op(pkt);
	struct srnic_resp *resp = &qp->resp;
	u32 npsn = op->family == SRNIC_FAM_READ ? resp->read_left : 1;

	resp->psn = srnic_psn_add(pkt->psn, npsn);
	resp->open = op->flags & SRNIC_OP_END ? SRNIC_FAM_NONE : op->family;
	if (op->flags & SRNIC_OP_END)
		resp->msn = (resp->msn + 1) & SRNIC_PSN_MASK;

	if (resp_reply_opcode(op->family) != SRNIC_OP_ACK) {
		resp->ack_due = false;
		resp_reply(qp, op->family, pkt->psn);
	} else if (op->family != SRNIC_FAM_READ && pkt->ackreq) {
		resp->ack_due = srnic_qp_reliable(qp);
	}
}

/* A gap: reported once, until what is missing has come. */
static void resp_gap(struct srnic_qp *qp)
{
	if (qp->resp.nak_sent)
		return;

	srnic_count(qp->stats, SRNIC_CNT_OUT_OF_SEQ);
	qp->resp.nak_sent = true;
	resp_nak(qp, qp->resp.psn, SRNIC_AETH_NAK_SEQ);
}

/* The request whose turn it is. */
static void resp_request(struct srnic_qp *qp, const struct srnic_seg *seg)
{
	const struct srnic_op *op = srnic_pkt_op(&seg->pkt);
	enum srnic_verdict verdict;

	verdict = srnic_check_order(qp->resp.open, op);
	if (!verdict && !srnic_check_size(op, seg->pkt.payload, qp->conf.mtu))
		verdict = SRNIC_V_INV_REQ;
	if (!verdict)
		verdict = resp_select(qp, &seg->pkt);
	if (!verdict)
		verdict = resp_execute(qp, seg);
	if (verdict)
		resp_fail(qp, seg->pkt.psn, verdict);
	else
		resp_done(qp, seg);
}

/*
 * Nobody repeats what was lost: a message that misses a packet is dropped, and
 * so are packets up to the next that begins one.
 */
static void resp_unreliable(struct srnic_qp *qp, const struct srnic_seg *seg)
{
	bool gap = seg->pkt.psn != qp->resp.psn;

	if (gap)
		srnic_count(qp->stats, SRNIC_CNT_OUT_OF_SEQ);
	qp->resp.psn = srnic_psn_add(seg->pkt.psn, 1);
	if (srnic_pkt_op(&seg->pkt)->flags & SRNIC_OP_START || gap)
		resp_drop(qp);
	resp_request(qp, seg);
}

bool srnic_resp_packet(struct srnic_qp *qp, const struct srnic_seg *seg)
{
	struct srnic_resp *resp = &qp->resp;
	s32 ahead = srnic_psn_diff(seg->pkt.psn, resp->psn);

	if (!srnic_qp_reliable(qp)) {
		resp_unreliable(qp, seg);
		return false;
	}
	if (ahead < 0) {
		resp_duplicate(qp, seg);
		return false;
	}
	if (ahead > 0) {
		resp_gap(qp);
		return true;
	}
	resp->nak_sent = false;
	resp_request(qp, seg);

	return false;
}

/* The header goes in front of the payload, as if it had come with it. */
static enum srnic_verdict resp_put_datagram(struct srnic_qp *qp,
					    const struct srnic_seg *seg,
					    const struct srnic_rx_src *src)
{
	struct srnic_sgl *sgl = &qp->resp.sgl;

	if (srnic_sgl_write(sgl, src->grh, sizeof(src->grh)) ||
	    srnic_sgl_write(sgl, seg->payload, seg->pkt.payload))
		return SRNIC_V_LOCAL_PROT;

	return SRNIC_V_OK;
}

static void resp_complete_datagram(struct srnic_qp *qp,
				   const struct srnic_pkt *pkt,
				   const struct srnic_rx_src *src, u16 vlan)
{
	bool imm = srnic_pkt_op(pkt)->hdrs & SRNIC_H_IMM;
	struct srnic_cqe cqe = {
		.byte_len = sizeof(src->grh) + pkt->payload,
		.opcode = IB_WC_RECV,
		.flags = SRNIC_WC_GRH | (imm ? SRNIC_WC_WITH_IMM : 0),
		.src_qp = pkt->src_qp,
		.vlan = vlan,
		.ip_version = src->version,
	};

	if (imm)
		cqe.imm_data = pkt->imm;
	memcpy(cqe.smac, src->smac, sizeof(cqe.smac));
	srnic_count(qp->stats, SRNIC_CNT_RDMA_RECVS);
	resp_recv_cqe(qp, &cqe, pkt->se);
}

/*
 * What has no receive, or one that is too short, is dropped and the receive
 * waits for the next: nobody can stop the QP by sending to it.  Only receives
 * that are bad in themselves do.
 */
void srnic_resp_datagram(struct srnic_qp *qp, const struct srnic_seg *seg,
			 const struct srnic_rx_src *src, u16 vlan)
{
	enum srnic_verdict verdict = resp_need_rwqe(qp);
	struct srnic_resp *resp = &qp->resp;
	struct srnic_cqe cqe = {};

	if (verdict == SRNIC_V_RNR) {
		srnic_count(qp->stats, SRNIC_CNT_OUT_OF_BUFFER);
		return;
	}
	if (!verdict &&
	    sizeof(src->grh) + seg->pkt.payload > resp->rwqe.length) {
		srnic_count(qp->stats, SRNIC_CNT_RX_TOO_LONG);
		return;
	}
	if (!verdict)
		verdict = resp_put_datagram(qp, seg, src);
	if (!verdict) {
		resp_complete_datagram(qp, &seg->pkt, src, vlan);
		return;
	}
	cqe.status = srnic_faults[verdict].status;
	resp_recv_cqe(qp, &cqe, true);
	srnic_qp_to_error(qp, srnic_faults[verdict].event);
}
