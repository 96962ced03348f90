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
#include "qp_pkt.h"
#include "qp_send.h"
#include "raw.h"
#include "req_data.h"
#include "req_recover.h"
#include "req_wqe.h"
#include "requester.h"
#include "ud.h"
#include "wr.h"

/* How long to wait when there is no memory for a packet */
#define REQ_STALL_NSEC	(200 * NSEC_PER_USEC)

/* Work requests in flight: one ACK may complete all of them in one go. */
#define REQ_AHEAD	1024

/* What was left of the work request that failed is never sent. */
void srnic_req_resume(struct srnic_qp *qp)
{
	srnic_flight_skip(&qp->req.flight, qp->req.flight.psn);
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

/*
 * Gives the work request its PSNs if it may start: fences wait for READs and
 * atomics, those wait for a place among max_rd_atomic.
 */
static bool req_start(struct srnic_qp *qp, struct srnic_swqe *wqe)
{
	struct srnic_flight *f = &qp->req.flight;
	u32 npsn = req_npsn(qp, wqe);

	if ((wqe->sqe.flags & IB_SEND_FENCE) && f->rd_out)
		return false;
	if (f->una != f->psn &&
	    (((f->psn - f->una) & SRNIC_PSN_MASK) + npsn) >= BIT(23))
		return false;
	if (srnic_wr_has_answer(wqe)) {
		if (!qp->conf.max_rd_atomic) {
			wqe->status = IB_WC_LOC_QP_OP_ERR;
			return true;
		}
		if (f->rd_out >= qp->conf.max_rd_atomic)
			return false;
		wqe->status = req_check_sink(qp, wqe);
		if (wqe->status)
			return true;
	}
	wqe->psn = srnic_flight_assign(f, npsn);
	wqe->npsn = npsn;
	wqe->started = true;

	return true;
}

/* Moves the cursor on to the next work request. */
static void req_advance(struct srnic_qp *qp)
{
	qp->req.cur++;
	srnic_sgl_put(&qp->req.sgl);
	qp->req.sgl_pos = SRNIC_NOWHERE;
}

/* No memory is a passing thing: the timer tries again. */
static bool req_stall(struct srnic_qp *qp)
{
	srnic_flight_stall(&qp->req.flight, REQ_STALL_NSEC, ktime_get_ns());

	return false;
}

/* Is @npsn what is left of @wqe from the next PSN on? */
static bool req_is_end(const struct srnic_qp *qp, const struct srnic_swqe *wqe,
		       u32 npsn)
{
	return srnic_psn_diff(qp->req.flight.next, wqe->psn) + npsn == wqe->npsn;
}

void srnic_req_sent(struct srnic_qp *qp, const struct srnic_swqe *wqe,
		    u32 npsn, bool asks)
{
	struct srnic_flight *f = &qp->req.flight;
	u64 now = asks || f->next == f->una ? ktime_get_ns() : 0;
	bool last = req_is_end(qp, wqe, npsn);

	if (last)
		req_advance(qp);
	if (srnic_flight_sent(f, npsn, srnic_wr_has_answer(wqe), asks, now))
		srnic_req_seek(qp);
	if (srnic_qp_reliable(qp))
		return;

	/* Nobody will acknowledge: what was handed to the stack is done. */
	srnic_flight_forget(f);
	if (last)
		srnic_req_complete(qp);
}

/*
 * PSNs of the response that one request of @wqe, from the next PSN on, asks for: what
 * the window allows, and nothing that is here already.
 */
static u32 req_span(struct srnic_qp *qp, const struct srnic_swqe *wqe)
{
	struct srnic_flight *f = &qp->req.flight;
	u32 left = wqe->npsn - srnic_psn_diff(f->next, wqe->psn);

	return srnic_flight_span(f, srnic_ooo_gap(&qp->req.ooo, f->next, left),
				 qp->conf.max_rd_atomic);
}

/* Does somebody wait for @wqe, who may be the one that fills the queue? */
static bool req_is_awaited(const struct srnic_qp *qp,
			   const struct srnic_swqe *wqe)
{
	u32 sent = qp->req.cur + 1 - qp->sq.head;

	if (srnic_req_is_signaled(qp, wqe) || srnic_wr_has_answer(wqe))
		return true;

	return !srnic_flight_asked(&qp->req.flight) &&
	       2 * sent > qp->sq.ring.mask;
}

/*
 * Sends the packet at the cursor, which takes @npsn PSNs.  False: no memory for it, or
 * none of it yet.
 */
static bool req_send(struct srnic_qp *qp, struct srnic_swqe *wqe, u32 npsn)
{
	struct srnic_flight *f = &qp->req.flight;
	u32 index = srnic_psn_diff(f->next, wqe->psn);
	bool response = srnic_wr_has_answer(wqe);
	bool last = response || index + 1 == wqe->npsn;
	u64 off = (u64)index * qp->conf.mtu;
	enum srnic_mem_err err = SRNIC_MEM_OK;
	struct srnic_pkt pkt;
	struct sk_buff *skb;
	void *payload;

	srnic_qp_pkt(qp, &pkt, srnic_wr_packet(wqe, response || !index, last),
		     f->next);
	pkt.payload = srnic_wr_has_sink(wqe) ? 0 :
		      min_t(u64, wqe->length - off, qp->conf.mtu);
	pkt.se = last && (wqe->sqe.flags & IB_SEND_SOLICITED);
	pkt.ackreq = srnic_qp_reliable(qp) &&
		     (srnic_flight_wants_ack(f, last && req_is_awaited(qp, wqe)) ||
		      srnic_cc_is_last(qp));
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
	if (srnic_psn_diff(f->next, f->high) < 0)
		srnic_count(qp->stats, SRNIC_CNT_RETRANS);
	srnic_req_sent(qp, wqe, npsn, pkt.ackreq);

	return true;
}

/* Passes over a packet of a response that is here. */
static bool req_pass(struct srnic_qp *qp, const struct srnic_swqe *wqe)
{
	if (req_is_end(qp, wqe, 1))
		req_advance(qp);
	if (srnic_flight_pass(&qp->req.flight, 1))
		srnic_req_seek(qp);

	return true;
}

/* Asks for a response, or passes over what is here of it. */
static bool req_ask(struct srnic_qp *qp, struct srnic_swqe *wqe)
{
	struct srnic_flight *f = &qp->req.flight;
	u32 npsn;

	if (srnic_ooo_has(&qp->req.ooo, f->next))
		return req_pass(qp, wqe);
	if (!srnic_flight_may_read(f, f->next == wqe->psn,
				   qp->conf.max_rd_atomic))
		return f->detour && req_pass(qp, wqe);
	npsn = req_span(qp, wqe);

	return npsn && req_send(qp, wqe, npsn);
}

/* One that nobody acknowledges: what has left is done. */
static bool req_cast(struct srnic_qp *qp, struct srnic_swqe *wqe)
{
	srnic_flight_skip(&qp->req.flight, qp->req.flight.psn);
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
		srnic_req_hurry(qp);
		return false;
	}
	if (wqe->done && qp->req.cur == qp->sq.head) {
		srnic_req_complete(qp);
	} else if (wqe->done) {
		req_advance(qp);
		srnic_req_hurry(qp);
	}

	return true;
}

/* The work request at the cursor, fetched if need be; NULL: none. */
static struct srnic_swqe *req_current(struct srnic_qp *qp)
{
	if (qp->req.cur != qp->sq.tail)
		return srnic_sq_wqe(&qp->sq, qp->req.cur);
	if (qp->conf.state != IB_QPS_RTS ||
	    qp->req.cur - qp->sq.head >= REQ_AHEAD)
		return NULL;

	return srnic_req_fetch(qp);
}

/* SQ_DRAINED is due when a draining queue has nothing in progress. */
static void req_check_drained(struct srnic_qp *qp)
{
	if (qp->conf.state != IB_QPS_SQD || qp->req.sqd_told)
		return;
	if (qp->req.flight.una != qp->req.flight.psn) {
		srnic_req_hurry(qp);
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

	if (srnic_flight_is_held(&req->flight) ||
	    srnic_pager_busy(&qp->tx_pager))
		return false;
	if (req->reading)
		return srnic_loopback_read(qp);
	if (!srnic_flight_open(&req->flight))
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
			srnic_req_hurry(qp);
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
					     req_send(qp, wqe, 1);
}

bool srnic_req_run(struct srnic_qp *qp)
{
	u32 before = qp->req.flight.next;
	bool more;

	srnic_task_share(&qp->task);
	do {
		more = req_step(qp);
		srnic_task_spend(&qp->task, SRNIC_COST_ITEM);
	} while (more && srnic_task_may(&qp->task));

	srnic_req_arm(qp, qp->req.flight.next != before);
	req_check_drained(qp);

	return more;
}
