// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - memory accesses by the peer: WRITE, READ, atomics and FLUSH
 *
 * A region is held only within a run of the task; a message that continues in the next
 * run looks up its key again.
 */
#include "internal.h"
#include "masked.h"
#include "persist.h"

/* Holds the memory named by a request; with XRC, in the PD of its SRQ. */
static enum srnic_mem_err rdma_get(struct srnic_qp *qp, u32 srqn, u32 rkey,
				   u32 access, u64 va, u64 len,
				     struct srnic_mr **mr)
{
	struct srnic_srq *srq;
	enum srnic_mem_err err;

	if (!qp->xrcd)
		return srnic_mr_get_remote(qp->keys, rkey, qp->pd, qp->uid,
					   access, va, len, mr);

	srq = srnic_srq_get(qp->xrcd, srqn);
	if (!srq) {
		srnic_mr_release(mr);
		return SRNIC_MEM_PD;
	}
	err = srnic_mr_get_remote(qp->keys, rkey, srq->pd, qp->uid, access, va,
				  len, mr);
	srnic_srq_put(srq);

	return err;
}

/* Does the QP let the peer access memory with @access, and get an answer?  Pure. */
static enum srnic_verdict rdma_check_qp(const struct srnic_qp_conf *conf,
					u32 access, bool answer)
{
	if ((conf->access & access) != access)
		return SRNIC_V_QP_ACCESS;

	return answer && !conf->max_dest_rd_atomic ? SRNIC_V_QP_DEPTH :
						     SRNIC_V_OK;
}

/* Does the QP let the peer access the eight bytes at @va with @access?  Pure. */
static enum srnic_verdict rdma_check_word(const struct srnic_qp_conf *conf,
					  u32 access, u64 va)
{
	enum srnic_verdict verdict = rdma_check_qp(conf, access, true);

	return !verdict && va & (sizeof(u64) - 1) ? SRNIC_V_ALIGN : verdict;
}

static enum srnic_verdict rdma_write_start(struct srnic_qp *qp,
					   const struct srnic_pkt *pkt)
{
	struct srnic_resp *resp = &qp->resp;
	enum srnic_verdict verdict;

	verdict = rdma_check_qp(&qp->conf, IB_ACCESS_REMOTE_WRITE, false);
	if (verdict)
		return verdict;
	if (pkt->dmalen > SRNIC_MAX_MSG)
		return SRNIC_V_MESSAGE;
	resp->rkey = pkt->rkey;
	resp->va = pkt->va;
	resp->left = pkt->dmalen;
	resp->got = pkt->dmalen;

	return SRNIC_V_OK;
}

/* Holds the region that the rest of the message is written to; @start: it begins. */
static enum srnic_outcome rdma_write_hold(struct srnic_qp *qp, bool start)
{
	struct srnic_resp *resp = &qp->resp;

	if ((resp->mr && !start) || !resp->left)
		return SRNIC_DONE;

	return srnic_accessed(rdma_get(qp, resp->srqn, resp->rkey,
				       IB_ACCESS_REMOTE_WRITE, resp->va,
				       resp->left, &resp->mr), SRNIC_V_ACCESS);
}

static enum srnic_outcome rdma_write_data(struct srnic_qp *qp,
					  const struct srnic_seg *seg)
{
	struct srnic_resp *resp = &qp->resp;

	if (!seg->pkt.payload)
		return SRNIC_DONE;

	return srnic_accessed(srnic_payload_to_mr(seg, resp->mr, resp->va,
						  resp->left, &qp->resp_pager),
			      SRNIC_V_ACCESS);
}

enum srnic_outcome srnic_resp_rdma_write(struct srnic_qp *qp,
					 const struct srnic_seg *seg)
{
	const struct srnic_op *op = srnic_pkt_op(&seg->pkt);
	struct srnic_resp *resp = &qp->resp;
	u32 len = seg->pkt.payload;
	enum srnic_outcome outcome;
	enum srnic_verdict verdict;

	srnic_task_assert_mine(&qp->task);
	if (op->flags & SRNIC_OP_START) {
		verdict = rdma_write_start(qp, &seg->pkt);
		if (verdict)
			return srnic_fail(verdict);
	}
	outcome = rdma_write_hold(qp, op->flags & SRNIC_OP_START);
	if (outcome)
		return outcome;
	if (len > resp->left || ((op->flags & SRNIC_OP_END) && len != resp->left))
		return srnic_fail(SRNIC_V_MESSAGE);
	if (op->hdrs & SRNIC_H_IMM) {
		verdict = srnic_recv_need(qp);
		if (verdict)
			return srnic_fail(verdict);
	}
	outcome = rdma_write_data(qp, seg);
	if (outcome)
		return outcome;
	if (op->flags & SRNIC_OP_START)
		srnic_count(qp->stats, SRNIC_CNT_RX_WRITE);
	resp->va += len;
	resp->left -= len;
	resp->traffic.data_in += len;
	if (!(op->flags & SRNIC_OP_END))
		return SRNIC_DONE;

	if (op->hdrs & SRNIC_H_IMM)
		srnic_recv_complete(qp, &seg->pkt, resp->got);

	return SRNIC_DONE;
}

/* Holds the region that the rest of the response is read from; @start: it begins. */
static enum srnic_outcome rdma_read_hold(struct srnic_qp *qp, bool start)
{
	struct srnic_resp *resp = &qp->resp;

	if ((resp->read_mr && !start) || !resp->read_bytes)
		return SRNIC_DONE;

	return srnic_accessed(rdma_get(qp, resp->read_srqn, resp->read_rkey,
				       IB_ACCESS_REMOTE_READ, resp->read_va,
				       resp->read_bytes, &resp->read_mr),
			      SRNIC_V_ACCESS);
}

/* PSNs of the response to a READ of @length bytes */
static u32 rdma_read_npsn(const struct srnic_qp *qp, u32 length)
{
	return max_t(u32, DIV_ROUND_UP(length, qp->conf.mtu), 1);
}

enum srnic_outcome srnic_resp_rdma_read_start(struct srnic_qp *qp,
					      const struct srnic_pkt *pkt)
{
	struct srnic_resp *resp = &qp->resp;
	enum srnic_outcome outcome;

	srnic_task_assert_mine(&qp->task);
	resp->read_srqn = pkt->srqn;
	resp->read_rkey = pkt->rkey;
	resp->read_va = pkt->va;
	resp->read_bytes = pkt->dmalen;
	outcome = rdma_read_hold(qp, true);
	if (outcome)
		return outcome;

	resp->read_psn = pkt->psn;
	resp->read_left = rdma_read_npsn(qp, pkt->dmalen);
	resp->read_first = true;

	return SRNIC_DONE;
}

/* Stores a READ in the replay store, since the requester may request it again. */
static void rdma_remember_read(struct srnic_resp *resp,
			       const struct srnic_pkt *pkt)
{
	const struct srnic_replay replay = {
		.seq	= resp->seq,
		.npsn	= resp->read_left,
		.family	= SRNIC_FAM_READ,
		.rkey	= pkt->rkey,
		.va	= pkt->va,
		.length	= pkt->dmalen,
	};

	srnic_replay_add(&resp->replays, &replay);
}

enum srnic_outcome srnic_resp_rdma_read(struct srnic_qp *qp,
					const struct srnic_seg *seg)
{
	enum srnic_outcome outcome;
	enum srnic_verdict verdict;

	srnic_task_assert_mine(&qp->task);
	verdict = rdma_check_qp(&qp->conf, IB_ACCESS_REMOTE_READ, true);
	if (!verdict && seg->pkt.dmalen > SRNIC_MAX_MSG)
		verdict = SRNIC_V_MESSAGE;
	if (verdict)
		return srnic_fail(verdict);
	srnic_count(qp->stats, SRNIC_CNT_RX_READ);
	outcome = srnic_resp_rdma_read_start(qp, &seg->pkt);
	if (outcome)
		return outcome;

	rdma_remember_read(&qp->resp, &seg->pkt);
	qp->resp.read_again = false;
	qp->resp.read_checked = false;

	return SRNIC_DONE;
}

static u8 rdma_read_opcode(bool first, bool last)
{
	if (first)
		return last ? SRNIC_OP_READ_RESP_ONLY : SRNIC_OP_READ_RESP_FIRST;

	return last ? SRNIC_OP_READ_RESP_LAST : SRNIC_OP_READ_RESP_MIDDLE;
}

/* The response begins.  Its first packet acknowledges all requests before the READ. */
static void rdma_read_begun(struct srnic_resp *resp)
{
	if (resp->read_first && !resp->read_again)
		srnic_delack_done(&resp->ack);
	resp->read_first = false;
}

/* Drops the rest of the response; the requester may request it again. */
static void rdma_read_drop(struct srnic_qp *qp)
{
	rdma_read_begun(&qp->resp);
	if (!qp->resp.read_again)
		srnic_replay_unread(&qp->resp.replays);
	qp->resp.read_left = 0;
	srnic_mr_release(&qp->resp.read_mr);
}

void srnic_resp_rdma_rollback(struct srnic_qp *qp)
{
	struct srnic_resp *resp = &qp->resp;

	srnic_task_assert_mine(&qp->task);
	if (!resp->read_left || (!resp->read_first && !resp->read_again))
		return;

	if (!resp->read_again) {
		resp->psn = resp->read_psn;
		resp->seq -= resp->read_left;
		resp->msn = (resp->msn - 1) & SRNIC_PSN_MASK;
		resp->traffic.messages--;
	}
	resp->read_left = 0;
}

/* Handles a failed access: of a duplicate, whose memory may be gone, just drops it. */
static void rdma_read_fail(struct srnic_qp *qp, enum srnic_outcome outcome)
{
	struct srnic_failure failure;

	if (qp->resp.read_again) {
		rdma_read_drop(qp);
		return;
	}
	srnic_failure_of_read(&failure, &qp->resp, outcome);
	srnic_resp_rdma_rollback(qp);	/* the MSN of the NAK does not include it */
	rdma_read_drop(qp);
	srnic_resp_fail(qp, &failure);
}

static enum srnic_outcome rdma_read_data(struct srnic_qp *qp, void *dst,
					 u32 len)
{
	struct srnic_resp *resp = &qp->resp;
	enum srnic_mem_err err;

	if (!len)
		return SRNIC_DONE;

	if (resp->read_checked)
		err = srnic_mr_reread(resp->read_mr, resp->read_va, dst, len,
				      resp->read_bytes, &qp->resp_pager);
	else
		err = srnic_mr_read(resp->read_mr, resp->read_va, dst, len,
				    resp->read_bytes, &qp->resp_pager);

	return srnic_accessed(err, SRNIC_V_ACCESS);
}

/* @npsn packets of the response, with @len bytes, are done. */
static void rdma_read_gone(struct srnic_resp *resp, u32 npsn, u32 len)
{
	rdma_read_begun(resp);
	if (resp->read_again)
		resp->traffic.retransmitted += npsn;
	else
		resp->traffic.data_out += len;
	resp->read_va += len;
	resp->read_bytes -= len;
	resp->read_psn = srnic_psn_add(resp->read_psn, npsn);
	resp->read_left -= npsn;
}

/* Sends one packet of the response. */
static enum srnic_outcome rdma_read_send(struct srnic_qp *qp)
{
	struct srnic_resp *resp = &qp->resp;
	u32 len = min_t(u32, resp->read_bytes, qp->conf.mtu);
	enum srnic_outcome outcome;
	struct srnic_pkt pkt = {};
	struct sk_buff *skb;
	void *payload;

	srnic_qp_pkt(qp, &pkt, rdma_read_opcode(resp->read_first,
						resp->read_left == 1),
		     resp->read_psn);
	pkt.syndrome = SRNIC_AETH_ACK | SRNIC_AETH_NO_CREDITS;
	pkt.msn = resp->msn;
	pkt.payload = len;
	skb = srnic_tx_alloc(&qp->txb, &pkt, &payload);
	if (!skb) {
		rdma_read_drop(qp);
		return SRNIC_DONE;
	}
	outcome = rdma_read_data(qp, payload, len);
	if (outcome) {
		kfree_skb(skb);
		return outcome;
	}
	srnic_qp_send(qp, &pkt, skb);
	srnic_pace_sent(&qp->cc.answers, 1);
	rdma_read_gone(resp, 1, len);

	return SRNIC_DONE;
}

bool srnic_resp_rdma_run(struct srnic_qp *qp)
{
	struct srnic_resp *resp = &qp->resp;
	enum srnic_outcome outcome;

	srnic_task_assert_mine(&qp->task);
	if (!resp->read_left || srnic_pager_busy(&qp->resp_pager))
		return false;
	resp->read_limit = SRNIC_LIMIT_HOST;
	outcome = rdma_read_hold(qp, false);
	while (!outcome && resp->read_left && srnic_task_may(&qp->task)) {
		if (!srnic_cc_may_answer(qp)) {
			resp->read_limit = SRNIC_LIMIT_PACE;
			return false;
		}
		if (!srnic_gate_open(&qp->gate))
			return false;
		srnic_task_spend(&qp->task, SRNIC_COST_ITEM);
		outcome = rdma_read_send(qp);
	}
	if (outcome == SRNIC_AGAIN)
		return false;
	if (srnic_has_failed(outcome))
		rdma_read_fail(qp, outcome);

	return true;	/* for the packets that waited behind the READ */
}

bool srnic_resp_rdma_peek(struct srnic_qp *qp, u32 max, struct srnic_read_part *part)
{
	struct srnic_resp *resp = &qp->resp;
	u32 npsn = min(max, resp->read_left);

	srnic_task_assert_mine(&qp->task);
	if (!npsn || resp->read_again || srnic_pager_busy(&qp->resp_pager) ||
	    rdma_read_hold(qp, false))
		return false;

	memset(part, 0, sizeof(*part));
	part->seg.local = true;
	srnic_qp_pkt(qp, &part->seg.pkt,
		     rdma_read_opcode(resp->read_first,
				      npsn == resp->read_left),
		     resp->read_psn);
	part->seg.pkt.payload = min_t(u64, resp->read_bytes,
				      (u64)npsn * qp->conf.mtu);
	part->sge.addr = resp->read_va;
	part->sge.length = part->seg.pkt.payload;
	srnic_sgl_init(&part->sgl, qp->keys, qp->pd, &part->sge, 1, 0,
		       &qp->resp_pager);
	part->sgl.mr = resp->read_mr;	/* owned by the QP */
	part->sgl.found = true;
	part->seg.from = &part->sgl;

	return true;
}

void srnic_resp_rdma_consume(struct srnic_qp *qp, const struct srnic_read_part *part)
{
	srnic_task_assert_mine(&qp->task);

	rdma_read_gone(&qp->resp, srnic_seg_npsn(&part->seg, qp->conf.mtu),
		       part->seg.pkt.payload);
}

/* What a masked atomic makes of @word.  Pure. */
static u64 rdma_masked(u64 word, const struct srnic_pkt *pkt)
{
	if (pkt->opcode == SRNIC_OPCODE_MASKED_CMP_SWAP)
		return srnic_masked_swap(word, pkt->compare, pkt->compare_add_mask,
					 pkt->swap_add, pkt->swap_mask);

	return srnic_masked_add(word, pkt->swap_add, pkt->compare_add_mask);
}

/* Each attempt that fails means that somebody else has changed the word. */
static u64 rdma_do_masked(void *word, const void *arg)
{
	const struct srnic_seg *seg = arg;
	atomic64_t *v = word;
	s64 orig, seen = atomic64_read(v);

	do {
		orig = seen;
		seen = atomic64_cmpxchg(v, orig, rdma_masked(orig, &seg->pkt));
	} while (seen != orig);

	return orig;
}

static u64 rdma_do_atomic(void *word, const void *arg)
{
	const struct srnic_seg *seg = arg;
	const struct srnic_pkt *pkt = &seg->pkt;
	atomic64_t *v = word;

	if (SRNIC_OP_CMP_SWAP == (pkt->opcode & 0x1f))
		return atomic64_cmpxchg(v, pkt->compare, pkt->swap_add);

	return atomic64_fetch_add(pkt->swap_add, v);
}

static u64 rdma_do_store(void *word, const void *arg)
{
	const struct srnic_seg *seg = arg;
	u64 value;

	/* the whole packet is linear */
	static_assert(SRNIC_HDR_MAX + sizeof(value) + SRNIC_ICRC_BYTES <=
		      SRNIC_RX_SHORT);
	memcpy(&value, seg->payload, sizeof(value));
	/* Ordered after all earlier writes; read by user space. */
	smp_store_release((u64 *)word, value);

	return 0;
}

/* Stores a request answered by one packet in the replay store. */
static void rdma_remember(struct srnic_resp *resp,
			  const struct srnic_pkt *pkt, u64 orig)
{
	const struct srnic_replay replay = {
		.seq	= resp->seq,
		.npsn	= 1,
		.family	= srnic_pkt_op(pkt)->family,
		.orig	= orig,
	};

	srnic_replay_add(&resp->replays, &replay);
}

/* Applies @fn to the eight bytes named by the request. */
static enum srnic_outcome rdma_word(struct srnic_qp *qp,
				    const struct srnic_seg *seg, u32 access,
				      srnic_word_fn fn)
{
	const struct srnic_pkt *pkt = &seg->pkt;
	struct srnic_mr *mr = NULL;
	enum srnic_mem_err err;
	u64 orig;

	err = rdma_get(qp, pkt->srqn, pkt->rkey, access, pkt->va, sizeof(u64),
		       &mr);
	if (err)
		return srnic_accessed(err, SRNIC_V_ACCESS);

	err = srnic_mr_word(mr, pkt->va, fn, seg, &orig, &qp->resp_pager);
	srnic_mr_put(mr);
	if (!err) {
		srnic_count(qp->stats, SRNIC_CNT_RX_ATOMIC);
		rdma_remember(&qp->resp, pkt, orig);
		qp->resp.traffic.data_in += pkt->payload;
	}

	return srnic_accessed(err, err == SRNIC_MEM_ALIGN ? SRNIC_V_ALIGN :
							    SRNIC_V_ACCESS);
}

enum srnic_outcome srnic_resp_rdma_atomic(struct srnic_qp *qp,
					  const struct srnic_seg *seg)
{
	enum srnic_verdict verdict;

	srnic_task_assert_mine(&qp->task);
	verdict = rdma_check_word(&qp->conf, IB_ACCESS_REMOTE_ATOMIC,
				  seg->pkt.va);
	if (verdict)
		return srnic_fail(verdict);

	return rdma_word(qp, seg, IB_ACCESS_REMOTE_ATOMIC,
			 srnic_pkt_op(&seg->pkt)->hdrs & SRNIC_H_MASKS ?
			 rdma_do_masked : rdma_do_atomic);
}

enum srnic_outcome srnic_resp_rdma_atomic_write(struct srnic_qp *qp,
						const struct srnic_seg *seg)
{
	enum srnic_verdict verdict;

	srnic_task_assert_mine(&qp->task);
	verdict = rdma_check_word(&qp->conf, IB_ACCESS_REMOTE_WRITE,
				  seg->pkt.va);
	if (!verdict && seg->pkt.dmalen != sizeof(u64))
		verdict = SRNIC_V_MESSAGE;
	if (verdict)
		return srnic_fail(verdict);

	return rdma_word(qp, seg, IB_ACCESS_REMOTE_WRITE, rdma_do_store);
}

/* Access rights required by a FLUSH, by its type; 0: no such type */
static const u32 rdma_flush_access[] = {
	[IB_FLUSH_GLOBAL] = IB_ACCESS_FLUSH_GLOBAL,
	[IB_FLUSH_PERSISTENT] = IB_ACCESS_FLUSH_PERSISTENT,
	[IB_FLUSH_GLOBAL | IB_FLUSH_PERSISTENT] =
		IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_FLUSH_PERSISTENT,
};

/* Access rights required by @pkt, 0 if it is invalid.  Pure. */
static u32 rdma_flush_needs(const struct srnic_pkt *pkt)
{
	u32 type = SRNIC_FETH_TYPE(pkt->feth);

	if (type >= ARRAY_SIZE(rdma_flush_access) ||
	    SRNIC_FETH_LEVEL(pkt->feth) > IB_FLUSH_MR)
		return 0;

	return rdma_flush_access[type];
}

/*
 * Flushes @len bytes at @addr in @mr as @seg requests.  Writing back to persistence
 * takes long and is done in runs of the responder's own task: so a loopback request
 * falls back to a packet, and the packet is processed again until all is done.
 */
static enum srnic_outcome rdma_do_flush(struct srnic_qp *qp,
					const struct srnic_seg *seg,
					  const struct srnic_mr *mr, u64 addr,
					  u64 len)
{
	smp_mb();	/* earlier writes are visible to all CPUs */
	if (SRNIC_FETH_TYPE(seg->pkt.feth) & IB_FLUSH_PERSISTENT &&
	    (seg->local || !srnic_persist(&qp->task, mr, addr, len,
					  &qp->resp.flushed)))
		return SRNIC_AGAIN;

	rdma_remember(&qp->resp, &seg->pkt, 0);

	return SRNIC_DONE;
}

enum srnic_outcome srnic_resp_rdma_flush(struct srnic_qp *qp,
					 const struct srnic_seg *seg)
{
	const struct srnic_pkt *pkt = &seg->pkt;
	u32 access = rdma_flush_needs(pkt);
	u64 addr = pkt->va, len = pkt->dmalen;
	enum srnic_outcome outcome;
	enum srnic_verdict verdict;
	struct srnic_mr *mr = NULL;
	enum srnic_mem_err err;

	srnic_task_assert_mine(&qp->task);
	verdict = access ? rdma_check_qp(&qp->conf, access, true) :
			   SRNIC_V_INV_REQ;
	if (verdict)
		return srnic_fail(verdict);
	err = srnic_mr_get_whole(qp->keys, pkt->rkey, qp->pd, qp->uid, access,
				 &mr);
	if (err)
		return srnic_accessed(err, SRNIC_V_ACCESS);

	if (SRNIC_FETH_LEVEL(pkt->feth) == IB_FLUSH_MR) {
		addr = mr->span.iova;
		len = mr->span.length;
	}
	outcome = srnic_mr_covers(mr, addr, len) ?
		  rdma_do_flush(qp, seg, mr, addr, len) :
		  srnic_fail_memory(SRNIC_V_ACCESS, SRNIC_MEM_RANGE);
	srnic_mr_put(mr);

	return outcome;
}
