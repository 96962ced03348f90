// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - what a peer does to memory: WRITE, READ, atomics and FLUSH
 *
 * A region is held within a run of the task only; a message that goes on in the
 * next looks its key up again.
 */
#include "resp.h"

/* Holds the memory that a request names; with XRC, in the domain of its SRQ. */
static enum srnic_mem_err remote_get(struct srnic_qp *qp, u32 srqn, u32 rkey,
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

static enum srnic_verdict remote_write_start(struct srnic_qp *qp,
					     const struct srnic_pkt *pkt)
{
	struct srnic_resp *resp = &qp->resp;

	if (!(qp->conf.access & IB_ACCESS_REMOTE_WRITE) ||
	    pkt->dmalen > SRNIC_MAX_MSG)
		return SRNIC_V_INV_REQ;
	srnic_count(qp->stats, SRNIC_CNT_RX_WRITE);
	srnic_resp_put_mr(&resp->mr);
	resp->rkey = pkt->rkey;
	resp->va = pkt->va;
	resp->left = pkt->dmalen;
	resp->got = pkt->dmalen;

	return SRNIC_V_OK;
}

/* Holds the region that the rest of the message goes to. */
static enum srnic_verdict remote_write_hold(struct srnic_qp *qp)
{
	struct srnic_resp *resp = &qp->resp;

	if (resp->mr || !resp->left)
		return SRNIC_V_OK;

	return remote_get(qp, resp->srqn, resp->rkey, IB_ACCESS_REMOTE_WRITE,
			  resp->va, resp->left, &resp->mr) ?
	       SRNIC_V_ACCESS : SRNIC_V_OK;
}

enum srnic_verdict srnic_remote_write(struct srnic_qp *qp,
				      const struct srnic_seg *seg)
{
	const struct srnic_op *op = srnic_pkt_op(&seg->pkt);
	struct srnic_resp *resp = &qp->resp;
	u32 len = seg->pkt.payload;
	enum srnic_verdict verdict;

	if (op->flags & SRNIC_OP_START) {
		verdict = remote_write_start(qp, &seg->pkt);
		if (verdict)
			return verdict;
	}
	verdict = remote_write_hold(qp);
	if (verdict)
		return verdict;
	if (len > resp->left || ((op->flags & SRNIC_OP_END) && len != resp->left))
		return SRNIC_V_INV_REQ;
	if (op->hdrs & SRNIC_H_IMM) {
		verdict = srnic_recv_need(qp);
		if (verdict)
			return verdict;
	}
	if (len)
		srnic_mr_write(resp->mr, resp->va, seg->payload, len);
	resp->va += len;
	resp->left -= len;
	if (!(op->flags & SRNIC_OP_END))
		return SRNIC_V_OK;

	srnic_resp_put_mr(&resp->mr);
	if (op->hdrs & SRNIC_H_IMM)
		srnic_recv_complete(qp, &seg->pkt, resp->got);

	return SRNIC_V_OK;
}

/* Holds the region that the rest of the response comes from. */
static enum srnic_verdict remote_read_hold(struct srnic_qp *qp)
{
	struct srnic_resp *resp = &qp->resp;

	if (resp->read_mr || !resp->read_bytes)
		return SRNIC_V_OK;

	return remote_get(qp, resp->read_srqn, resp->read_rkey,
			  IB_ACCESS_REMOTE_READ, resp->read_va,
			  resp->read_bytes, &resp->read_mr) ?
	       SRNIC_V_ACCESS : SRNIC_V_OK;
}

enum srnic_verdict srnic_remote_read_start(struct srnic_qp *qp,
					   const struct srnic_pkt *pkt)
{
	struct srnic_resp *resp = &qp->resp;

	resp->read_srqn = pkt->srqn;
	resp->read_rkey = pkt->rkey;
	resp->read_va = pkt->va;
	resp->read_bytes = pkt->dmalen;
	if (remote_read_hold(qp))
		return SRNIC_V_ACCESS;

	resp->read_psn = pkt->psn;
	resp->read_left = srnic_read_npsn(qp, pkt->dmalen);
	resp->read_first = true;

	return SRNIC_V_OK;
}

enum srnic_verdict srnic_remote_read(struct srnic_qp *qp,
				     const struct srnic_seg *seg)
{
	enum srnic_verdict verdict;

	if (!(qp->conf.access & IB_ACCESS_REMOTE_READ) ||
	    !qp->conf.max_dest_rd_atomic || seg->pkt.dmalen > SRNIC_MAX_MSG)
		return SRNIC_V_INV_REQ;
	srnic_count(qp->stats, SRNIC_CNT_RX_READ);
	verdict = srnic_remote_read_start(qp, &seg->pkt);
	if (verdict)
		return verdict;

	srnic_replay_add(qp, &seg->pkt, qp->resp.read_left);
	qp->resp.read_again = false;
	qp->resp.ack_due = false;	/* the response acknowledges all before it */

	return SRNIC_V_OK;
}

static u8 remote_read_opcode(bool first, bool last)
{
	if (first)
		return last ? SRNIC_OP_READ_RESP_ONLY : SRNIC_OP_READ_RESP_FIRST;

	return last ? SRNIC_OP_READ_RESP_LAST : SRNIC_OP_READ_RESP_MIDDLE;
}

/* Sends one packet of the response; false: no memory. */
static bool remote_read_send(struct srnic_qp *qp)
{
	struct srnic_resp *resp = &qp->resp;
	u32 len = min_t(u32, resp->read_bytes, qp->conf.mtu);
	struct srnic_pkt pkt;
	struct sk_buff *skb;
	void *payload;

	srnic_qp_pkt(qp, &pkt, remote_read_opcode(resp->read_first,
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
		srnic_resp_put_mr(&resp->read_mr);

	return true;
}

bool srnic_remote_run(struct srnic_qp *qp)
{
	struct srnic_resp *resp = &qp->resp;
	int budget = SRNIC_RUN_BUDGET;

	if (!resp->read_left)
		return false;
	if (remote_read_hold(qp)) {
		/* A late duplicate may outlive the region: nobody waits for it. */
		if (resp->read_again)
			resp->read_left = 0;
		else
			srnic_resp_fail(qp, resp->read_psn, SRNIC_V_ACCESS);
		return true;
	}
	while (resp->read_left && budget--) {
		if (!srnic_gate_open(&qp->gate))
			return false;
		if (!remote_read_send(qp)) {
			/* The rest is lost; the requester asks again. */
			resp->read_left = 0;
			srnic_resp_put_mr(&resp->read_mr);
		}
	}

	return true;	/* for the packets that waited behind the READ */
}

static u64 remote_do_atomic(void *mem, const struct srnic_pkt *pkt)
{
	atomic64_t *v = mem;

	if (SRNIC_OP_CMP_SWAP == (pkt->opcode & 0x1f))
		return atomic64_cmpxchg(v, pkt->compare, pkt->swap_add);

	return atomic64_fetch_add(pkt->swap_add, v);
}

enum srnic_verdict srnic_remote_atomic(struct srnic_qp *qp,
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
	if (remote_get(qp, pkt->srqn, pkt->rkey, IB_ACCESS_REMOTE_ATOMIC,
		       pkt->va, sizeof(u64), &mr))
		return SRNIC_V_ACCESS;

	word = srnic_mr_word(mr, pkt->va);
	if (word) {
		replay = srnic_replay_add(qp, pkt, 1);
		replay->orig = remote_do_atomic(word, pkt);
	}
	srnic_mr_put(mr);

	return word ? SRNIC_V_OK : SRNIC_V_INV_REQ;
}

enum srnic_verdict srnic_remote_atomic_write(struct srnic_qp *qp,
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
	if (remote_get(qp, pkt->srqn, pkt->rkey, IB_ACCESS_REMOTE_WRITE,
		       pkt->va, sizeof(u64), &mr))
		return SRNIC_V_ACCESS;

	word = srnic_mr_word(mr, pkt->va);
	if (word) {
		srnic_replay_add(qp, pkt, 1);
		memcpy(&value, seg->payload, sizeof(value));
		/* After all that was written before; read by the user. */
		smp_store_release(word, value);
	}
	srnic_mr_put(mr);

	return word ? SRNIC_V_OK : SRNIC_V_INV_REQ;
}

/* Rights that a FLUSH of this type needs, by the type; 0: there is none */
static const u32 remote_flush_access[] = {
	[IB_FLUSH_GLOBAL] = IB_ACCESS_FLUSH_GLOBAL,
	[IB_FLUSH_PERSISTENT] = IB_ACCESS_FLUSH_PERSISTENT,
	[IB_FLUSH_GLOBAL | IB_FLUSH_PERSISTENT] =
		IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_FLUSH_PERSISTENT,
};

/* Rights that @pkt needs, 0 if it makes no sense.  Pure. */
static u32 remote_flush_needs(const struct srnic_pkt *pkt)
{
	u32 type = SRNIC_FETH_TYPE(pkt->feth);

	if (type >= ARRAY_SIZE(remote_flush_access) ||
	    SRNIC_FETH_LEVEL(pkt->feth) > IB_FLUSH_MR)
		return 0;

	return remote_flush_access[type];
}

enum srnic_verdict srnic_remote_flush(struct srnic_qp *qp,
				      const struct srnic_seg *seg)
{
	const struct srnic_pkt *pkt = &seg->pkt;
	u32 access = remote_flush_needs(pkt);
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
		srnic_replay_add(qp, pkt, 1);
		smp_mb();	/* what was written is visible to all CPUs */
		if (access & IB_ACCESS_FLUSH_PERSISTENT)
			srnic_mr_persist(mr, addr, len);
	}
	srnic_mr_put(mr);

	return verdict;
}
