// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - requester: work requests in, packets out
 *
 * The send queue holds work requests head (oldest not completed) to tail; cur
 * is the one that the next packet, with PSN next, belongs to.  To go back is to
 * move cur and next; what was acknowledged meanwhile is skipped.
 */
#include "proto.h"

/* How long to wait when there is no memory for a packet */
#define REQ_STALL_NSEC	(200 * NSEC_PER_USEC)

/* Completion opcode of a work request, by enum ib_uverbs_wr_opcode */
static const u8 req_wc_opcodes[] = {
	[IB_WR_RDMA_WRITE]		= IB_UVERBS_WC_RDMA_WRITE,
	[IB_WR_RDMA_WRITE_WITH_IMM]	= IB_UVERBS_WC_RDMA_WRITE,
	[IB_WR_SEND]			= IB_UVERBS_WC_SEND,
	[IB_WR_SEND_WITH_IMM]		= IB_UVERBS_WC_SEND,
	[IB_WR_RDMA_READ]		= IB_UVERBS_WC_RDMA_READ,
	[IB_WR_ATOMIC_CMP_AND_SWP]	= IB_UVERBS_WC_COMP_SWAP,
	[IB_WR_ATOMIC_FETCH_AND_ADD]	= IB_UVERBS_WC_FETCH_ADD,
	[IB_WR_LOCAL_INV]		= IB_UVERBS_WC_LOCAL_INV,
	[IB_WR_BIND_MW]			= IB_UVERBS_WC_BIND_MW,
	[IB_WR_SEND_WITH_INV]		= IB_UVERBS_WC_SEND,
	[IB_WR_FLUSH]			= IB_UVERBS_WC_FLUSH,
	[IB_WR_ATOMIC_WRITE]		= IB_UVERBS_WC_ATOMIC_WRITE,
	[IB_WR_REG_MR]			= IB_WC_REG_MR,
};

/* What answers a work request other than an acknowledgment */
static const u8 req_answers[] = {
	[IB_WR_RDMA_READ]		= SRNIC_FAM_READ_RESP,
	[IB_WR_ATOMIC_CMP_AND_SWP]	= SRNIC_FAM_ATOMIC_ACK,
	[IB_WR_ATOMIC_FETCH_AND_ADD]	= SRNIC_FAM_ATOMIC_ACK,
	[IB_WR_FLUSH]			= SRNIC_FAM_READ_RESP,
	[IB_WR_ATOMIC_WRITE]		= SRNIC_FAM_READ_RESP,
};

/**
 * struct req_codes - opcodes of the packets of one operation
 * @only: the message is one packet
 * @first: first of several
 * @middle: neither first nor last
 * @last: last of several
 */
struct req_codes {
	u8	only;
	u8	first;
	u8	middle;
	u8	last;
};

static const struct req_codes req_codes[] = {
	[IB_WR_RDMA_WRITE] = {
		SRNIC_OP_WRITE_ONLY, SRNIC_OP_WRITE_FIRST,
		SRNIC_OP_WRITE_MIDDLE, SRNIC_OP_WRITE_LAST,
	},
	[IB_WR_RDMA_WRITE_WITH_IMM] = {
		SRNIC_OP_WRITE_ONLY_IMM, SRNIC_OP_WRITE_FIRST,
		SRNIC_OP_WRITE_MIDDLE, SRNIC_OP_WRITE_LAST_IMM,
	},
	[IB_WR_SEND] = {
		SRNIC_OP_SEND_ONLY, SRNIC_OP_SEND_FIRST,
		SRNIC_OP_SEND_MIDDLE, SRNIC_OP_SEND_LAST,
	},
	[IB_WR_SEND_WITH_IMM] = {
		SRNIC_OP_SEND_ONLY_IMM, SRNIC_OP_SEND_FIRST,
		SRNIC_OP_SEND_MIDDLE, SRNIC_OP_SEND_LAST_IMM,
	},
	[IB_WR_SEND_WITH_INV] = {
		SRNIC_OP_SEND_ONLY_INV, SRNIC_OP_SEND_FIRST,
		SRNIC_OP_SEND_MIDDLE, SRNIC_OP_SEND_LAST_INV,
	},
	[IB_WR_RDMA_READ] = { .only = SRNIC_OP_READ_REQ },
	[IB_WR_ATOMIC_CMP_AND_SWP] = { .only = SRNIC_OP_CMP_SWAP },
	[IB_WR_ATOMIC_FETCH_AND_ADD] = { .only = SRNIC_OP_FETCH_ADD },
	[IB_WR_FLUSH] = { .only = SRNIC_OP_FLUSH },
	[IB_WR_ATOMIC_WRITE] = { .only = SRNIC_OP_ATOMIC_WRITE },
};

u8 srnic_req_opcode(u8 wr_opcode, bool first, bool last)
{
	const struct req_codes *codes = &req_codes[wr_opcode];

	if (first)
		return last ? codes->only : codes->first;

	return last ? codes->last : codes->middle;
}

u8 srnic_req_answer(const struct srnic_swqe *wqe)
{
	if (wqe->sqe.opcode >= ARRAY_SIZE(req_answers))
		return SRNIC_FAM_NONE;

	return req_answers[wqe->sqe.opcode];
}

bool srnic_req_has_response(const struct srnic_swqe *wqe)
{
	return srnic_req_answer(wqe) != SRNIC_FAM_NONE;
}

bool srnic_req_has_sink(const struct srnic_swqe *wqe)
{
	return srnic_req_has_response(wqe) &&
	       wqe->sqe.opcode != IB_WR_ATOMIC_WRITE;
}

bool srnic_req_is_signaled(const struct srnic_qp *qp,
			   const struct srnic_swqe *wqe)
{
	return qp->conf.sq_sig_all || (wqe->sqe.flags & IB_SEND_SIGNALED);
}

static void req_cqe(struct srnic_qp *qp, const struct srnic_swqe *wqe,
		    enum ib_wc_status status)
{
	struct srnic_cqe cqe = {
		.wr_id = wqe->sqe.wr_id,
		.status = status,
	};

	if (status == IB_WC_SUCCESS) {
		cqe.opcode = req_wc_opcodes[wqe->sqe.opcode];
		cqe.byte_len = wqe->length;
	} else {
		srnic_count(qp->stats, status == IB_WC_WR_FLUSH_ERR ?
				       SRNIC_CNT_REQ_FLUSH : SRNIC_CNT_REQ_ERR);
	}
	srnic_qp_cqe(qp, qp->send_cq, &cqe, false);
}

/* Takes the oldest work request off the queue. */
static void req_retire(struct srnic_qp *qp)
{
	struct srnic_sq *sq = &qp->sq;

	if (qp->req.cur == sq->head) {
		qp->req.cur++;
		srnic_sgl_put(&qp->req.sgl);
		qp->req.sgl_pos = SRNIC_NOWHERE;
	}
	sq->head++;
	srnic_sq_publish(sq);
}

/* Counts a work request that is done. */
static void req_count(struct srnic_qp *qp, const struct srnic_swqe *wqe)
{
	switch (req_wc_opcodes[wqe->sqe.opcode]) {
	case IB_UVERBS_WC_SEND:
		srnic_count(qp->stats, SRNIC_CNT_RDMA_SENDS);
		break;
	case IB_UVERBS_WC_RDMA_WRITE:
		srnic_count(qp->stats, SRNIC_CNT_RDMA_WRITES);
		break;
	case IB_UVERBS_WC_RDMA_READ:
		srnic_count(qp->stats, SRNIC_CNT_RDMA_READS);
		break;
	case IB_UVERBS_WC_COMP_SWAP:
	case IB_UVERBS_WC_FETCH_ADD:
	case IB_UVERBS_WC_ATOMIC_WRITE:
		srnic_count(qp->stats, SRNIC_CNT_RDMA_ATOMICS);
		break;
	}
}

void srnic_req_complete(struct srnic_qp *qp)
{
	const struct srnic_swqe *wqe = srnic_sq_wqe(&qp->sq, qp->sq.head);
	struct srnic_swqe copy = *wqe;

	req_count(qp, wqe);
	req_retire(qp);
	if (srnic_req_is_signaled(qp, &copy))
		req_cqe(qp, &copy, IB_WC_SUCCESS);
}

void srnic_req_fail(struct srnic_qp *qp, enum ib_wc_status status)
{
	struct srnic_swqe copy = *srnic_sq_wqe(&qp->sq, qp->sq.head);

	req_retire(qp);
	if (!srnic_qp_reliable(qp)) {
		trace_srnic_qp_state(qp->qpn, qp->conf.state, IB_QPS_SQE);
		qp->conf.state = IB_QPS_SQE;
	}
	req_cqe(qp, &copy, status);
	if (srnic_qp_reliable(qp))
		srnic_qp_to_error(qp);
}

/* What was left of the work request that failed is never sent. */
void srnic_req_resume(struct srnic_qp *qp)
{
	qp->req.una = qp->req.psn;
	qp->req.next = qp->req.psn;
	qp->req.high = qp->req.psn;
}

/* The lists keep their places, not their regions; see the responder. */
void srnic_req_let_go(struct srnic_qp *qp)
{
	srnic_sgl_put(&qp->req.sgl);
	srnic_sgl_put(&qp->req.rsgl);
}

static struct srnic_swqe *req_fetch(struct srnic_qp *qp)
{
	struct srnic_swqe *wqe = srnic_sq_fetch(&qp->sq, qp->type);

	if (wqe)
		trace_srnic_fetch(qp->qpn, qp->sq.tail - 1, wqe);

	return wqe;
}

bool srnic_req_flush(struct srnic_qp *qp)
{
	struct srnic_sq *sq = &qp->sq;
	struct srnic_swqe copy;

	srnic_early_purge(&qp->req.early);
	srnic_task_share(&qp->task);
	while (srnic_task_may(&qp->task)) {
		if (sq->head == sq->tail && !req_fetch(qp))
			return false;
		copy = *srnic_sq_wqe(sq, sq->head);
		req_retire(qp);
		req_cqe(qp, &copy, IB_WC_WR_FLUSH_ERR);
		srnic_task_spend(&qp->task, SRNIC_COST_ITEM);
	}

	return true;
}

void srnic_req_reset(struct srnic_qp *qp)
{
	srnic_req_let_go(qp);
	srnic_early_purge(&qp->req.early);
	memset(&qp->req, 0, sizeof(qp->req));
	qp->req.sgl_pos = SRNIC_NOWHERE;
	qp->req.rsgl_pos = SRNIC_NOWHERE;
}

static u32 req_npsn(const struct srnic_qp *qp, const struct srnic_swqe *wqe)
{
	if (wqe->sqe.opcode == IB_WR_ATOMIC_CMP_AND_SWP ||
	    wqe->sqe.opcode == IB_WR_ATOMIC_FETCH_AND_ADD || !wqe->length ||
	    srnic_qp_is_datagram(qp) || srnic_qp_is_raw(qp))
		return 1;

	return DIV_ROUND_UP(wqe->length, qp->conf.mtu);
}

/* The list a response goes to must be writable before it is asked for. */
static enum ib_wc_status req_check_sink(struct srnic_qp *qp,
					const struct srnic_swqe *wqe)
{
	enum srnic_mem_err err;

	if (!srnic_req_has_sink(wqe))
		return IB_WC_SUCCESS;

	err = srnic_sgl_check(qp->keys, qp->pd, wqe->sge, wqe->sqe.num_sge,
			      IB_ACCESS_LOCAL_WRITE);

	return err ? IB_WC_LOC_PROT_ERR : IB_WC_SUCCESS;
}

/* May one more READ or atomic be outstanding? */
static bool req_has_place(const struct srnic_qp *qp)
{
	return qp->req.rd_out < qp->conf.max_rd_atomic;
}

/*
 * Gives the work request its PSNs if it may start: fences wait for READs and
 * atomics, those wait for a place among max_rd_atomic.
 */
static bool req_start(struct srnic_qp *qp, struct srnic_swqe *wqe)
{
	struct srnic_req *req = &qp->req;
	u32 npsn = req_npsn(qp, wqe);

	if ((wqe->sqe.flags & IB_SEND_FENCE) && req->rd_out)
		return false;
	if (req->una != req->psn &&
	    (((req->psn - req->una) & SRNIC_PSN_MASK) + npsn) >= BIT(23))
		return false;
	if (srnic_req_has_response(wqe)) {
		if (!qp->conf.max_rd_atomic) {
			wqe->status = IB_WC_LOC_QP_OP_ERR;
			return true;
		}
		if (!req_has_place(qp))
			return false;
		wqe->status = req_check_sink(qp, wqe);
		if (wqe->status)
			return true;
	}
	wqe->psn = req->psn;
	wqe->npsn = npsn;
	wqe->started = true;
	req->psn = srnic_psn_add(req->psn, npsn);

	return true;
}

enum srnic_mem_err srnic_req_place(struct srnic_qp *qp,
				   const struct srnic_swqe *wqe, u64 off)
{
	struct srnic_req *req = &qp->req;
	enum srnic_mem_err err;

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

/* Fields of the extended headers. */
void srnic_req_fill(const struct srnic_swqe *wqe, u64 off,
		    struct srnic_pkt *pkt)
{
	pkt->va = wqe->sqe.remote_addr + off;
	pkt->rkey = wqe->sqe.rkey;
	pkt->dmalen = wqe->length - off;
	pkt->imm = wqe->sqe.imm_data;
	pkt->inv_rkey = wqe->sqe.invalidate_rkey;
	pkt->srqn = wqe->sqe.xrc.srqn & SRNIC_QPN_MASK;
	if (wqe->sqe.opcode == IB_WR_ATOMIC_CMP_AND_SWP) {
		pkt->swap_add = wqe->sqe.atomic.swap;
		pkt->compare = wqe->sqe.atomic.compare_add;
	} else if (wqe->sqe.opcode == IB_WR_ATOMIC_FETCH_AND_ADD) {
		pkt->swap_add = wqe->sqe.atomic.compare_add;
	} else if (wqe->sqe.opcode == IB_WR_FLUSH) {
		pkt->dmalen = wqe->sqe.flush.length;
		pkt->feth = SRNIC_FETH(wqe->sqe.flush.type,
				       wqe->sqe.flush.level);
	}
}

/* Moves on to the next work request. */
static void req_advance(struct srnic_qp *qp, u32 psn)
{
	qp->req.next = psn;
	qp->req.cur++;
	srnic_sgl_put(&qp->req.sgl);
	qp->req.sgl_pos = SRNIC_NOWHERE;
}

/* No memory is a passing thing: the timer tries again. */
static bool req_stall(struct srnic_qp *qp)
{
	qp->req.stalled = true;
	srnic_qp_timer_set(qp, REQ_STALL_NSEC);

	return false;
}

/* Nobody will acknowledge: what was handed to the stack is done. */
static void req_forget(struct srnic_qp *qp, bool last)
{
	qp->req.una = qp->req.next;
	if (last)
		srnic_req_complete(qp);
}

/* PSN behind the work request */
static u32 req_end(const struct srnic_swqe *wqe)
{
	return srnic_psn_add(wqe->psn, wqe->npsn);
}

/* Requests that @npsn PSNs of an answer take, from the one at @index on. */
static u32 req_asks(u32 index, u32 npsn)
{
	return DIV_ROUND_UP(index + npsn, SRNIC_READ_PSNS) -
	       DIV_ROUND_UP(index, SRNIC_READ_PSNS);
}

void srnic_req_sent(struct srnic_qp *qp, const struct srnic_swqe *wqe,
		    u32 npsn)
{
	struct srnic_req *req = &qp->req;
	u32 index = srnic_psn_diff(req->next, wqe->psn);
	u32 next = srnic_psn_add(req->next, npsn);
	u32 end = req_end(wqe);

	if (next == end)
		req_advance(qp, next);
	else
		req->next = next;
	if (srnic_psn_diff(next, req->high) > 0) {
		req->high = next;
		if (srnic_req_has_response(wqe))
			req->rd_out += req_asks(index, npsn);
	}
	if (req->probing) {
		req->probing = false;
		srnic_flight_seek(qp, req->resume);
	}
	if (!srnic_qp_reliable(qp))
		req_forget(qp, next == end);
}

u32 srnic_req_span(const struct srnic_qp *qp, const struct srnic_swqe *wqe,
		   u32 psn)
{
	u32 index = srnic_psn_diff(psn, wqe->psn);
	u32 left;

	if (qp->req.probing)
		return 1;

	left = min3(wqe->npsn - index,
		    SRNIC_READ_PSNS - index % SRNIC_READ_PSNS,
		    srnic_flight_room(&qp->req, psn));
	if (srnic_psn_diff(psn, qp->req.high) < 0)
		left = min_t(u32, left, srnic_psn_diff(qp->req.high, psn));

	return srnic_early_gap(&qp->req.early, psn, left);
}

/*
 * May the READ or atomic at the cursor be asked for?  A part of a READ is asked
 * for from its beginning, or from what is missing first.  That is so for the rest
 * of a part, which then is no request beside the one that it counts as, and for
 * what is repeated: peers may know of one repetition alone, and that an answer is
 * late does not say that it is lost.
 */
static bool req_may_ask(const struct srnic_qp *qp, const struct srnic_swqe *wqe)
{
	const struct srnic_req *req = &qp->req;

	if (srnic_psn_diff(req->next, wqe->psn) % SRNIC_READ_PSNS)
		return req->next == req->una;

	return srnic_psn_diff(req->next, req->high) < 0 || req_has_place(qp);
}

/* Sends the packet at the cursor.  False: no memory for it, or none of it yet. */
static bool req_send(struct srnic_qp *qp, struct srnic_swqe *wqe)
{
	struct srnic_req *req = &qp->req;
	u32 index = srnic_psn_diff(req->next, wqe->psn);
	bool response = srnic_req_has_response(wqe);
	bool last = response || index + 1 == wqe->npsn;
	u64 off = (u64)index * qp->conf.mtu;
	u32 npsn = response ? srnic_req_span(qp, wqe, req->next) : 1;
	enum srnic_mem_err err = SRNIC_MEM_OK;
	struct srnic_pkt pkt;
	struct sk_buff *skb;
	void *payload;

	srnic_qp_pkt(qp, &pkt, srnic_req_opcode(wqe->sqe.opcode,
						response || !index, last),
		     req->next);
	pkt.payload = srnic_req_has_sink(wqe) ? 0 :
		      min_t(u64, wqe->length - off, qp->conf.mtu);
	pkt.se = last && (wqe->sqe.flags & IB_SEND_SOLICITED);
	pkt.ackreq = srnic_flight_wants_ack(qp, wqe, last);
	srnic_req_fill(wqe, off, &pkt);
	if (wqe->sqe.opcode == IB_WR_RDMA_READ)
		pkt.dmalen = min_t(u64, pkt.dmalen, (u64)npsn * qp->conf.mtu);

	skb = srnic_tx_alloc(&qp->txb, &pkt, &payload);
	if (!skb)
		return req_stall(qp);
	if (pkt.payload)
		err = srnic_req_payload(qp, wqe, off, payload, pkt.payload);
	if (err) {
		kfree_skb(skb);
		if (err == SRNIC_MEM_ABSENT)
			return false;
		wqe->status = IB_WC_LOC_PROT_ERR;
		return true;
	}
	srnic_qp_send(qp, &pkt, skb);
	if (pkt.ackreq)
		srnic_flight_asks(req, srnic_psn_add(req->next, npsn));

	if (srnic_psn_diff(req->next, req->high) < 0)
		srnic_count(qp->stats, SRNIC_CNT_RETRANS);
	srnic_req_sent(qp, wqe, npsn);

	return true;
}

/* Asks for an answer, or passes over what is here of it. */
static bool req_ask(struct srnic_qp *qp, struct srnic_swqe *wqe)
{
	if (!srnic_early_has(&qp->req.early, qp->req.next))
		return req_may_ask(qp, wqe) && req_send(qp, wqe);

	srnic_req_sent(qp, wqe, 1);

	return true;
}

/* One that nobody acknowledges: what has left is done. */
static bool req_cast(struct srnic_qp *qp, struct srnic_swqe *wqe)
{
	qp->req.next = qp->req.psn;
	qp->req.una = qp->req.psn;

	if (srnic_qp_is_raw(qp) ? !srnic_raw_send(qp, wqe) :
				  !srnic_ud_send(qp, wqe))
		return false;
	if (wqe->status)
		srnic_req_fail(qp, wqe->status);
	else
		srnic_req_complete(qp);

	return qp->conf.state != IB_QPS_SQE;
}

/* One that sends nothing; those before it complete first. */
static bool req_memop(struct srnic_qp *qp, struct srnic_swqe *wqe)
{
	if (!srnic_memop_run(qp, wqe)) {
		srnic_flight_hurry(qp);
		return false;
	}
	if (wqe->done && qp->req.cur == qp->sq.head) {
		srnic_req_complete(qp);
	} else if (wqe->done) {
		req_advance(qp, qp->req.next);
		srnic_flight_hurry(qp);
	}

	return true;
}

/* The work request at the cursor, fetched if need be; NULL: none. */
static struct srnic_swqe *req_current(struct srnic_qp *qp)
{
	if (qp->req.cur != qp->sq.tail)
		return srnic_sq_wqe(&qp->sq, qp->req.cur);
	if (qp->conf.state != IB_QPS_RTS)
		return NULL;

	return req_fetch(qp);
}

/* SQ_DRAINED is due when a draining queue has nothing in progress. */
static void req_check_drained(struct srnic_qp *qp)
{
	if (qp->conf.state != IB_QPS_SQD || qp->req.sqd_told)
		return;
	if (qp->req.una != qp->req.psn) {
		srnic_flight_hurry(qp);
		return;
	}

	qp->req.sqd_told = true;
	qp->event(qp, IB_EVENT_SQ_DRAINED);
}

/*
 * Sends one packet, or what would be several of them to a peer on the same
 * device.  False: nothing can be done now.
 */
static bool req_step(struct srnic_qp *qp)
{
	struct srnic_req *req = &qp->req;
	struct srnic_swqe *wqe;

	if (req->waiting_rnr || req->stalled ||
	    srnic_pager_busy(&qp->tx_pager))
		return false;
	if (req->reading)
		return srnic_local_read(qp);
	if (!srnic_flight_open(req))
		return false;
	wqe = req_current(qp);
	if (!wqe)
		return false;
	if (!wqe->status && srnic_memop_is(wqe))
		return req_memop(qp, wqe);
	if (!wqe->status && !wqe->started) {
		if (qp->conf.state != IB_QPS_RTS || !req_start(qp, wqe))
			return false;
	}
	if (wqe->status) {
		if (req->cur != qp->sq.head) {
			srnic_flight_hurry(qp);
			return false;
		}
		srnic_req_fail(qp, wqe->status);
		return false;
	}
	if (qp->self && srnic_local_send(qp, wqe))
		return true;
	if (!srnic_cc_open(qp) || !srnic_gate_open(&qp->gate))
		return false;

	if (srnic_qp_is_raw(qp) || srnic_qp_is_datagram(qp))
		return req_cast(qp, wqe);

	return srnic_req_has_response(wqe) ? req_ask(qp, wqe) :
					     req_send(qp, wqe);
}

bool srnic_req_run(struct srnic_qp *qp)
{
	u32 before = qp->req.next;
	bool more;

	srnic_task_share(&qp->task);
	do {
		more = req_step(qp);
		srnic_task_spend(&qp->task, SRNIC_COST_ITEM);
	} while (more && srnic_task_may(&qp->task));

	if (!qp->req.deadline &&
	    (qp->req.next != before || srnic_flight_is_back(qp)))
		srnic_flight_progress(qp);
	req_check_drained(qp);

	return more;
}
