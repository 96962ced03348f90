// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - requester: what is on the way, and what is done when no answer comes
 *
 * PSNs una to next are on the way; those before asked have an answer coming, if
 * nothing is lost.  One timer stands for what is to be done next: to ask, to
 * probe, to go back.
 */
#include "../trace.h"
#include "cc.h"
#include "flight.h"
#include "qp.h"
#include "qp_timer.h"
#include "req_wqe.h"
#include "wr.h"

/*
 * An answer later than round trips are, and by this much, may have been lost: one
 * packet is sent again, long before the ACK timeout that the user set for a peer
 * that is gone.  Each time it waits twice as long, until the timeout is shorter.
 */
#define FLIGHT_PROBE_NSEC	(250ULL * NSEC_PER_USEC)

/* How long packets may be out before the peer is asked whether they came */
#define FLIGHT_ASK_NSEC	((u64)NSEC_PER_MSEC)

/* Round trips this much longer than the shortest tell of a queue */
#define FLIGHT_QUEUE_RTTS	2
#define FLIGHT_QUEUE_NSEC	((u64)NSEC_PER_MSEC)

/* So many packets in a row are not lost by chance */
#define FLIGHT_QUEUE_GAP	4

/* When to probe, from now; never: after @timeout. */
static u64 flight_probe_nsec(const struct srnic_req *req, u64 timeout)
{
	if (!req->srtt)
		return timeout;

	return min((req->srtt + max(4 * req->rttvar, FLIGHT_PROBE_NSEC)) <<
		   req->probes, timeout);
}

static bool flight_may_probe(const struct srnic_qp *qp)
{
	u64 timeout = srnic_ack_timeout_nsec(qp->conf.timeout);

	return flight_probe_nsec(&qp->req, timeout) < timeout;
}

/* The answer may be here, and it is us who are late. */
static bool flight_is_late(const struct srnic_qp *qp)
{
	return srnic_pager_busy(&qp->rx_pager) ||
	       srnic_pager_busy(&qp->tx_pager);
}

bool srnic_flight_is_back(const struct srnic_qp *qp)
{
	return qp->req.late && !flight_is_late(qp);
}

/* Is an acknowledgment on the way, as far as we know? */
static bool flight_asked(const struct srnic_req *req)
{
	return srnic_psn_diff(req->asked, req->una) > 0;
}

/* Are packets out, and none that asks for an acknowledgment? */
static bool flight_unasked(const struct srnic_req *req)
{
	return req->una != req->next && !flight_asked(req);
}

void srnic_flight_progress(struct srnic_qp *qp)
{
	u64 nsec = srnic_ack_timeout_nsec(qp->conf.timeout);
	struct srnic_req *req = &qp->req;

	req->late = false;
	if (req->waiting_rnr || req->stalled)
		return;
	if (flight_unasked(req)) {
		srnic_qp_timer_set(qp, FLIGHT_ASK_NSEC);
		return;
	}
	/* Nobody answers what waits to be sent. */
	if (!nsec || req->una == req->next) {
		req->deadline = 0;
		return;
	}
	srnic_qp_timer_set(qp, flight_probe_nsec(req, nsec));
}

void srnic_flight_hurry(struct srnic_qp *qp)
{
	if (flight_unasked(&qp->req) && !qp->req.probing && !flight_is_late(qp))
		srnic_qp_timer_set(qp, 0);
}

/* Is nothing of @wqe to be sent, or executed, from @psn on? */
static bool flight_is_before(const struct srnic_swqe *wqe, u32 psn)
{
	if (!wqe->started || (!wqe->npsn && !wqe->done))
		return false;

	return srnic_psn_diff(psn, srnic_psn_add(wqe->psn, wqe->npsn)) >= 0;
}

void srnic_flight_seek(struct srnic_qp *qp, u32 psn)
{
	struct srnic_sq *sq = &qp->sq;
	u32 idx = sq->head;

	while (idx != sq->tail && flight_is_before(srnic_sq_wqe(sq, idx), psn))
		idx++;
	qp->req.cur = idx;
	qp->req.next = psn;
	srnic_sgl_put(&qp->req.sgl);
	qp->req.sgl_pos = SRNIC_NOWHERE;
}

/* PSNs sent and not acknowledged, from where it repeats. */
static u32 flight_outstanding(const struct srnic_req *req)
{
	return (req->next - req->una) & SRNIC_PSN_MASK;
}

static u32 flight_window(const struct srnic_req *req)
{
	return req->window ?: SRNIC_WINDOW;
}

/* Does the round trip tell of a queue? */
static bool flight_is_queued(const struct srnic_req *req)
{
	return req->srtt > FLIGHT_QUEUE_RTTS * req->rtt_min + FLIGHT_QUEUE_NSEC;
}

/*
 * @gap packets in a row were lost, 0: not known how many, when @out were on the way.
 * If it was a queue that dropped them, half as many may be on the way from now on;
 * otherwise the loss is no reason to be slow.
 */
static void flight_shrink(struct srnic_req *req, u32 gap, u32 out)
{
	if (gap ? gap < FLIGHT_QUEUE_GAP : !flight_is_queued(req))
		return;

	req->window = max(min(out, flight_window(req)) / 2, 1U);
	req->grown = 0;
}

/*
 * It repeats, and all before @psn is acknowledged.  What was repeated is taken for
 * lost, until there is more of it than chance takes; of a READ it was known before.
 */
static void flight_repeated(struct srnic_qp *qp, u32 psn)
{
	struct srnic_req *req = &qp->req;
	u32 before = req->missed;

	if (srnic_psn_diff(psn, req->next) > 0 ||
	    srnic_wr_has_answer(srnic_sq_wqe(&qp->sq, qp->sq.head)))
		return;

	req->missed += srnic_psn_diff(psn, req->una);
	if (before < FLIGHT_QUEUE_GAP)
		flight_shrink(req, req->missed,
			      srnic_psn_diff(req->recover, req->una) + before);
}

/* A window that got through is one packet larger. */
static void flight_grow(struct srnic_req *req, u32 npsn)
{
	if (!req->window)
		return;

	req->grown += npsn;
	if (req->grown < req->window)
		return;
	req->grown = 0;
	if (++req->window == SRNIC_WINDOW)
		req->window = 0;
}

/*
 * What is behind the lost packet may have arrived: it is repeated one packet
 * first, and twice as many with each acknowledgment, which says what to skip.
 */
static void flight_go_back(struct srnic_qp *qp)
{
	struct srnic_req *req = &qp->req;

	trace_srnic_go_back(qp->qpn, req->next, req->una);
	srnic_flight_seek(qp, req->una);
	req->asked = req->una;
	req->burst = 1;
	req->missed = 0;
	req->recover = req->high;
	req->probing = false;
	req->rtt_start = 0;
	srnic_count(qp->stats, SRNIC_CNT_GO_BACK);
}

/* @gap packets from @una on were lost, 0: not known how many. */
static void flight_lost(struct srnic_qp *qp, u32 gap)
{
	flight_shrink(&qp->req, gap, flight_outstanding(&qp->req));
	flight_go_back(qp);
}

/* Sends one packet again, which asks for an acknowledgment, and goes on. */
static void flight_again(struct srnic_qp *qp, u32 psn)
{
	struct srnic_req *req = &qp->req;

	req->probing = true;
	req->resume = req->next;
	if (req->rtt_psn == psn)
		req->rtt_start = 0;
	srnic_flight_seek(qp, psn);
}

/*
 * Sends the oldest packet, or asks for it alone, and nothing else: the answer says
 * what was lost, or comes by itself when all that happened is that a queue has grown.
 */
static void flight_probe(struct srnic_qp *qp)
{
	struct srnic_req *req = &qp->req;

	trace_srnic_go_back(qp->qpn, req->next, req->una);
	srnic_count(qp->stats, SRNIC_CNT_GO_BACK);
	req->probes++;
	req->probe = req->una;
	flight_again(qp, req->una);
}

void srnic_flight_retry(struct srnic_qp *qp, u32 gap)
{
	if (!qp->req.retry_left) {
		srnic_count(qp->stats, SRNIC_CNT_RETRY_EXCEEDED);
		srnic_req_fail(qp, IB_WC_RETRY_EXC_ERR);
		return;
	}
	qp->req.retry_left--;
	flight_lost(qp, gap);
	srnic_flight_progress(qp);
}

static void flight_trace_timeout(const struct srnic_qp *qp, const char *what)
{
	trace_srnic_timeout(qp->qpn, qp->req.una, qp->req.retry_left, what);
}

void srnic_flight_timeout(struct srnic_qp *qp)
{
	if (qp->conf.state != IB_QPS_RTS && qp->conf.state != IB_QPS_SQD)
		return;

	if (qp->req.stalled) {
		flight_trace_timeout(qp, "memory");
		qp->req.stalled = false;
		return;
	}
	if (qp->req.waiting_rnr) {
		flight_trace_timeout(qp, "rnr");
		qp->req.waiting_rnr = false;
		flight_go_back(qp);
		qp->req.missed = FLIGHT_QUEUE_GAP;	/* not by a queue */
		return;
	}
	if (qp->req.una == qp->req.next || qp->req.probing)
		return;
	qp->req.late = flight_is_late(qp);
	if (qp->req.late)
		return;
	if (flight_unasked(&qp->req)) {
		flight_trace_timeout(qp, "ask");
		flight_again(qp, srnic_psn_add(qp->req.next, -1));
		return;
	}
	if (flight_may_probe(qp)) {
		flight_trace_timeout(qp, "probe");
		flight_probe(qp);
		return;
	}
	flight_trace_timeout(qp, "ack");
	srnic_count(qp->stats, SRNIC_CNT_ACK_TIMEOUT);
	qp->req.reread = false;
	qp->req.probes = 0;
	srnic_flight_retry(qp, 0);
}

bool srnic_flight_open(const struct srnic_req *req)
{
	u32 window = flight_window(req);

	if (req->burst)
		window = min(window, req->burst);

	return req->probing || flight_outstanding(req) < window;
}

u32 srnic_flight_room(const struct srnic_req *req, u32 psn)
{
	u32 out = srnic_psn_diff(psn, req->una);

	if (!req->window)
		return SRNIC_READ_PSNS;

	return out < req->window ? req->window - out : 1;
}

/* Does somebody wait for @wqe, who may be the one that fills the queue? */
static bool flight_is_awaited(const struct srnic_qp *qp,
			      const struct srnic_swqe *wqe)
{
	u32 sent = qp->req.cur + 1 - qp->sq.head;

	if (srnic_req_is_signaled(qp, wqe) || srnic_wr_has_answer(wqe))
		return true;

	return !flight_asked(&qp->req) && 2 * sent > qp->sq.ring.mask;
}

bool srnic_flight_wants_ack(struct srnic_qp *qp, const struct srnic_swqe *wqe,
			    bool last)
{
	struct srnic_req *req = &qp->req;

	if (!srnic_qp_reliable(qp))
		return false;

	return (last && flight_is_awaited(qp, wqe)) ||
	       ++req->since_ackreq >= DIV_ROUND_UP(flight_window(req), 4) ||
	       flight_outstanding(req) + 1 == req->burst || req->probing ||
	       srnic_cc_is_last(qp);
}

/* Measures the round trip of the packet being sent, one at a time. */
static void flight_rtt_start(struct srnic_req *req)
{
	/* While it repeats, what is known to be lost is the first alone. */
	if (req->rtt_start || req->burst > 1 || req->probing)
		return;

	req->rtt_psn = req->next;
	req->rtt_start = ktime_get();
}

void srnic_flight_asks(struct srnic_req *req, u32 end)
{
	if (flight_unasked(req))
		req->deadline = 0;	/* it was for that */
	/* A probe asks for less than what was asked for before. */
	if (srnic_psn_diff(end, req->asked) > 0)
		req->asked = end;
	req->since_ackreq = 0;
	flight_rtt_start(req);
}

/* RFC 6298, section 2 */
static void flight_rtt_end(struct srnic_req *req)
{
	u64 rtt = ktime_to_ns(ktime_sub(ktime_get(), req->rtt_start));

	req->rtt_start = 0;
	if (!req->srtt) {
		req->srtt = rtt;
		req->rttvar = rtt / 2;
		req->rtt_min = rtt;
		return;
	}
	req->rttvar -= req->rttvar / 4;
	req->rttvar += abs_diff(req->srtt, rtt) / 4;
	req->srtt = req->srtt - req->srtt / 8 + rtt / 8;
	req->rtt_min = min(req->rtt_min, rtt);
}

/* An answer to the probe alone: what had been sent behind it is missing, too. */
static void flight_probed(struct srnic_qp *qp)
{
	struct srnic_req *req = &qp->req;

	if (!req->probes)
		return;
	req->probes = 0;
	if (!req->probing && !req->burst && req->una != req->resume &&
	    req->una == srnic_psn_add(req->probe, 1))
		flight_lost(qp, 0);
}

void srnic_flight_acked(struct srnic_qp *qp, u32 psn)
{
	struct srnic_req *req = &qp->req;

	if (req->burst)
		flight_repeated(qp, psn);
	else
		flight_grow(req, srnic_psn_diff(psn, req->una));
	req->una = psn;
	flight_probed(qp);
	if (srnic_psn_diff(req->asked, psn) < 0)
		req->asked = psn;
	if (req->burst)
		req->burst = srnic_psn_diff(psn, req->recover) < 0 ?
			     min(2 * req->burst, SRNIC_WINDOW) : 0;
	if (req->rtt_start && srnic_psn_diff(psn, req->rtt_psn) > 0)
		flight_rtt_end(req);
}
