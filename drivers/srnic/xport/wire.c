// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - requester: sending over the wire, packet by packet
 */
#include "cc.h"
#include "flight.h"
#include "ooo.h"
#include "outcome.h"
#include "qp.h"
#include "qp_send.h"
#include "req_cursor.h"
#include "req_data.h"
#include "req_recover.h"
#include "req_wqe.h"
#include "wire.h"
#include "wr.h"

/* How long to wait after a failed packet allocation */
#define WIRE_STALL_NSEC	(200 * NSEC_PER_USEC)

/* A lack of memory is temporary: the timer tries again. */
static enum srnic_outcome wire_stall(struct srnic_qp *qp)
{
	srnic_flight_stall(&qp->req.flight, WIRE_STALL_NSEC, ktime_get_ns());

	return SRNIC_AGAIN;
}

/*
 * Response PSNs that one request of @wqe, from the next PSN on, asks for: as many as
 * the window allows, up to the next response that has been kept.
 */
static u32 wire_span(struct srnic_qp *qp, const struct srnic_swqe *wqe)
{
	struct srnic_flight *f = &qp->req.flight;
	u32 left = wqe->npsn - srnic_psn_diff(f->next, wqe->psn);

	return srnic_flight_span(f, srnic_ooo_gap(&qp->req.ooo, f->next, left),
				 qp->conf.max_rd_atomic);
}

/* Is anybody waiting for @wqe, or half the queue in flight with no ACK requested? */
static bool wire_is_awaited(const struct srnic_qp *qp,
			    const struct srnic_swqe *wqe)
{
	u32 sent = qp->req.cur + 1 - qp->sq.head;

	if (srnic_req_is_signaled(qp, wqe) || srnic_wr_has_answer(wqe))
		return true;

	return !srnic_flight_asked(&qp->req.flight) &&
	       2 * sent > qp->sq.ring.mask;
}

/* Should the packet at the cursor request an acknowledgment? */
static bool wire_wants_ack(struct srnic_qp *qp, const struct srnic_swqe *wqe)
{
	bool last = srnic_wr_has_answer(wqe) || srnic_req_is_end(qp, wqe, 1);

	if (!srnic_qp_reliable(qp))
		return false;

	return srnic_flight_wants_ack(&qp->req.flight,
				      last && wire_is_awaited(qp, wqe)) ||
	       srnic_cc_is_last(qp);
}

/* Sends the packet at the cursor, which takes @npsn PSNs. */
static enum srnic_outcome wire_send(struct srnic_qp *qp,
				    const struct srnic_swqe *wqe, u32 npsn)
{
	struct srnic_flight *f = &qp->req.flight;
	enum srnic_mem_err err = SRNIC_MEM_OK;
	struct srnic_pkt pkt;
	struct sk_buff *skb;
	void *payload;
	u64 off;

	off = srnic_req_build(qp, wqe, npsn, &pkt);
	pkt.ackreq = wire_wants_ack(qp, wqe);
	skb = srnic_tx_alloc(&qp->txb, &pkt, &payload);
	if (!skb)
		return wire_stall(qp);
	if (pkt.payload)
		err = srnic_req_payload(qp, wqe, off, payload, pkt.payload);
	if (err) {
		kfree_skb(skb);
		return srnic_accessed(err, SRNIC_V_SOURCE);
	}
	srnic_qp_send(qp, &pkt, skb);
	if (srnic_psn_diff(f->next, f->high) < 0)
		srnic_count(qp->stats, SRNIC_CNT_RETRANS);
	srnic_req_sent(qp, wqe, npsn, pkt.ackreq);

	return SRNIC_DONE;
}

/* Skips a response packet that has been kept, or that cannot be requested now. */
static enum srnic_outcome wire_pass(struct srnic_qp *qp,
				    const struct srnic_swqe *wqe)
{
	if (srnic_req_is_end(qp, wqe, 1))
		srnic_req_advance(qp);
	if (srnic_flight_pass(&qp->req.flight, 1))
		srnic_req_seek(qp);

	return SRNIC_DONE;
}

/* Requests a response, or skips the part of it that has been kept. */
static enum srnic_outcome wire_ask(struct srnic_qp *qp,
				   const struct srnic_swqe *wqe)
{
	struct srnic_flight *f = &qp->req.flight;
	u32 npsn;

	if (srnic_ooo_has(&qp->req.ooo, f->next))
		return wire_pass(qp, wqe);
	if (!srnic_flight_may_read(f, f->next == wqe->psn,
				   qp->conf.max_rd_atomic))
		return f->detour ? wire_pass(qp, wqe) : SRNIC_AGAIN;
	npsn = wire_span(qp, wqe);

	return npsn ? wire_send(qp, wqe, npsn) : SRNIC_AGAIN;
}

enum srnic_outcome srnic_wire_send(struct srnic_qp *qp,
				   const struct srnic_swqe *wqe)
{
	srnic_task_assert_mine(&qp->task);

	return srnic_wr_has_answer(wqe) ? wire_ask(qp, wqe) :
					  wire_send(qp, wqe, 1);
}
