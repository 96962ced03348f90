// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - requester: work requests in, packets out
 *
 * The send queue holds work requests head (oldest not completed) to tail; cur
 * is the one that the next packet, with PSN next, belongs to.  To go back is to
 * move cur and next; what was acknowledged meanwhile is skipped.
 */
#include "cc.h"
#include "flight.h"
#include "loopback.h"
#include "memop.h"
#include "ooo.h"
#include "qp.h"
#include "qp_send.h"
#include "qp_timer.h"
#include "raw.h"
#include "req_data.h"
#include "req_wqe.h"
#include "requester.h"
#include "ud.h"
#include "wr.h"

/* How long to wait when there is no memory for a packet */
#define REQ_STALL_NSEC	(200 * NSEC_PER_USEC)

/* What was left of the work request that failed is never sent. */
void srnic_req_resume(struct srnic_qp *qp)
{
	qp->req.una = qp->req.psn;
	qp->req.next = qp->req.psn;
	qp->req.high = qp->req.psn;
}

void srnic_req_reset(struct srnic_qp *qp)
{
	srnic_req_let_go(qp);
	srnic_ooo_purge(&qp->req.ooo);
	memset(&qp->req, 0, sizeof(qp->req));
	qp->req.sgl_pos = SRNIC_NOWHERE;
	qp->req.rsgl_pos = SRNIC_NOWHERE;
}

static u32 req_npsn(const struct srnic_qp *qp, const struct srnic_swqe *wqe)
{
	if (!wqe->length || srnic_qp_is_datagram(qp) || srnic_qp_is_raw(qp))
		return 1;

	return DIV_ROUND_UP(wqe->length, qp->conf.mtu);
}

/* The list a response goes to must be writable before it is asked for. */
static enum ib_wc_status req_check_sink(struct srnic_qp *qp,
					const struct srnic_swqe *wqe)
{
	enum srnic_mem_err err;

	if (!srnic_wr_has_sink(wqe))
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
	if (srnic_wr_has_answer(wqe)) {
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
		if (srnic_wr_has_answer(wqe))
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

	return srnic_ooo_gap(&qp->req.ooo, psn, left);
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
	bool response = srnic_wr_has_answer(wqe);
	bool last = response || index + 1 == wqe->npsn;
	u64 off = (u64)index * qp->conf.mtu;
	u32 npsn = response ? srnic_req_span(qp, wqe, req->next) : 1;
	enum srnic_mem_err err = SRNIC_MEM_OK;
	struct srnic_pkt pkt;
	struct sk_buff *skb;
	void *payload;

	srnic_qp_pkt(qp, &pkt, srnic_wr_packet(wqe,
					       response || !index, last),
		     req->next);
	pkt.payload = srnic_wr_has_sink(wqe) ? 0 :
		      min_t(u64, wqe->length - off, qp->conf.mtu);
	pkt.se = last && (wqe->sqe.flags & IB_SEND_SOLICITED);
	pkt.ackreq = srnic_flight_wants_ack(qp, wqe, last);
	srnic_req_fill(wqe, off, &pkt);
	if (srnic_wr_of(wqe)->flags & SRNIC_WR_PARTS)
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
	if (!srnic_ooo_has(&qp->req.ooo, qp->req.next))
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

	return srnic_req_fetch(qp);
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
		return srnic_loopback_read(qp);
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
	if (qp->self && srnic_loopback_send(qp, wqe))
		return true;
	if (!srnic_cc_open(qp) || !srnic_gate_open(&qp->gate))
		return false;

	if (srnic_qp_is_raw(qp) || srnic_qp_is_datagram(qp))
		return req_cast(qp, wqe);

	return srnic_wr_has_answer(wqe) ? req_ask(qp, wqe) :
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
