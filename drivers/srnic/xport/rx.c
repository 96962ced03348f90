// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - from a received GSO chain to the half of the QP that handles it
 */
#include "../trace.h"
#include "backlog.h"
#include "cc.h"
#include "completer.h"
#include "ooo.h"
#include "outcome.h"
#include "payload.h"
#include "qp.h"
#include "qp_ooo.h"
#include "raw.h"
#include "responder.h"
#include "rx.h"
#include "seg.h"
#include "ud.h"

/* Does the packet belong to the QP's service?  Every connected QP accepts CNPs. */
static bool rx_service_ok(const struct srnic_qp *qp,
			  const struct srnic_pkt *pkt)
{
	return SRNIC_TRANSPORT(pkt->opcode) == qp->transport ||
	       pkt->opcode == SRNIC_OPCODE_CNP;
}

/* An XRC initiator accepts responses only. */
static bool rx_role_ok(const struct srnic_qp *qp, const struct srnic_op *op)
{
	return qp->type != IB_QPT_XRC_INI || !(op->flags & SRNIC_OP_REQ);
}

static bool rx_state_ok(const struct srnic_qp *qp, const struct srnic_op *op)
{
	if (qp->conf.state == IB_QPS_RTR)
		return op->flags & SRNIC_OP_REQ || op->family == SRNIC_FAM_CNP;

	return srnic_qp_receives(qp);
}

/* May the QP's peer send this packet?  Counts those that it may not. */
static bool rx_check(const struct srnic_qp *qp, const struct srnic_pkt *pkt)
{
	enum srnic_counter why;

	if (pkt->qpn != qp->qpn ||
	    !rx_service_ok(qp, pkt) ||
	    !rx_role_ok(qp, srnic_pkt_op(pkt)))
		why = SRNIC_CNT_RX_MALFORMED;
	else if ((pkt->pkey & 0x7fff) != (SRNIC_PKEY_DEFAULT & 0x7fff))
		why = SRNIC_CNT_RX_BAD_PKEY;
	else if (!rx_state_ok(qp, srnic_pkt_op(pkt)))
		why = SRNIC_CNT_RX_BAD_STATE;
	else
		return true;

	srnic_qp_refuse(qp, why);
	return false;
}

/* Raises COMM_EST when the peer sends before the user has moved the QP to RTS. */
static void rx_tell_established(struct srnic_qp *qp)
{
	if (qp->conf.state != IB_QPS_RTR || qp->resp.comm_told)
		return;

	qp->resp.comm_told = true;
	qp->event(qp, IB_EVENT_COMM_EST);
}

enum srnic_outcome srnic_rx_local(struct srnic_qp *qp,
				  const struct srnic_seg *seg)
{
	const struct srnic_op *op = srnic_pkt_op(&seg->pkt);

	srnic_task_assert_mine(&qp->task);
	if (!rx_state_ok(qp, op) || !rx_role_ok(qp, op))
		return SRNIC_AGAIN;

	trace_srnic_rx(qp->qpn, &seg->pkt);
	rx_tell_established(qp);

	return srnic_resp_packet(qp, seg);
}

/* Processes one packet, whose ICRC is valid. */
static enum srnic_outcome rx_packet(struct srnic_qp *qp, struct sk_buff *skb)
{
	struct srnic_rxcb *cb = srnic_rxcb(skb);
	const u8 *bth = skb->data + cb->bth;
	enum srnic_outcome outcome;
	struct srnic_seg seg;
	bool request;

	if (srnic_pkt_parse(bth, srnic_rx_linear(skb), cb->len, &seg.pkt)) {
		srnic_qp_refuse(qp, SRNIC_CNT_RX_MALFORMED);
		return SRNIC_DONE;
	}
	trace_srnic_rx(qp->qpn, &seg.pkt);
	srnic_task_spend(&qp->task, SRNIC_COST_ITEM + cb->len);
	if (!rx_check(qp, &seg.pkt))
		return SRNIC_DONE;

	if (cb->ce) {
		cb->ce = false;
		srnic_cc_marked(qp, &seg.pkt);
	}
	if (seg.pkt.opcode == SRNIC_OPCODE_CNP) {
		srnic_cc_cnp(qp, &seg.pkt);
		return SRNIC_DONE;
	}
	rx_tell_established(qp);
	srnic_payload_find(&seg, skb);
	seg.local = false;
	seg.from = NULL;
	request = srnic_pkt_op(&seg.pkt)->flags & SRNIC_OP_REQ;
	outcome = request ? srnic_resp_packet(qp, &seg) :
			 srnic_comp_packet(qp, &seg);
	if (outcome == SRNIC_EARLY && seg.pkt.payload <= qp->conf.mtu)
		srnic_qp_ooo_keep(qp, request ? &qp->resp.ooo :
					       &qp->req.ooo,
				 skb, seg.pkt.psn,
				 request ? qp->resp.psn : qp->req.flight.una);

	return outcome == SRNIC_AGAIN ? SRNIC_AGAIN : SRNIC_DONE;
}

/* Processes one packet of a GSO chain, unless that has been done. */
static enum srnic_outcome rx_good_packet(struct srnic_qp *qp, struct sk_buff *skb)
{
	struct srnic_rxcb *cb = srnic_rxcb(skb);

	if (!cb->good)
		return SRNIC_DONE;
	if (rx_packet(qp, skb))
		return SRNIC_AGAIN;

	cb->good = false;
	srnic_count(qp->stats, SRNIC_CNT_RCVD_PKTS);
	srnic_count_add(qp->stats, SRNIC_CNT_RCVD_BYTES, cb->len);

	return SRNIC_DONE;
}

/* PSN of the request expected next */
static u32 rx_resp_next(struct srnic_qp *qp)
{
	return qp->resp.psn;
}

/* Must responses wait? */
static bool rx_comp_busy(const struct srnic_qp *qp)
{
	return srnic_pager_busy(&qp->comp_pager);
}

/*
 * Processes packets kept out of order whose turn, according to @next, has come; stops
 * when @busy, when the share is used up or a packet has to be retried.
 */
static enum srnic_outcome rx_ooo_half(struct srnic_qp *qp, struct srnic_ooo *ooo,
				      u32 (*next)(struct srnic_qp *qp),
				      bool (*busy)(const struct srnic_qp *qp))
{
	struct sk_buff *skb;

	while (ooo->num && !busy(qp) && srnic_task_may(&qp->task)) {
		skb = srnic_ooo_take(ooo, next(qp));
		if (!skb)
			break;
		if (rx_packet(qp, skb)) {
			srnic_ooo_give_back(ooo, skb);
			return SRNIC_AGAIN;
		}
		consume_skb(skb);
	}

	return SRNIC_DONE;
}

static enum srnic_outcome rx_ooo_responses(struct srnic_qp *qp)
{
	return rx_ooo_half(qp, &qp->req.ooo, srnic_comp_next, rx_comp_busy);
}

static enum srnic_outcome rx_ooo(struct srnic_qp *qp)
{
	if (!qp->resp.ooo.num && !qp->req.ooo.num)
		return SRNIC_DONE;

	return rx_ooo_half(qp, &qp->resp.ooo, rx_resp_next, srnic_rx_busy) ?:
	       rx_ooo_responses(qp);
}

/* Was the chain admitted for the QP's current life?  Counts those that were not. */
static bool rx_is_due(const struct srnic_qp *qp, struct sk_buff *skb)
{
	if (srnic_rxcb(skb)->life == qp->rx_life)
		return true;
	srnic_qp_refuse(qp, qp->rx_life ? SRNIC_CNT_RX_BAD_ADDR :
					  SRNIC_CNT_RX_BAD_STATE);

	return false;
}

/*
 * Continues with the chain at the head of the queue.  It stops while a READ is being
 * answered, a key invalidated or memory fetched, and when the share is used up; then
 * responses may overtake it.
 * Then qp->rx_at tells where to resume it: a packet that is done is marked not good.
 */
static enum srnic_outcome rx_run_skb(struct srnic_qp *qp, struct sk_buff *skb)
{
	struct sk_buff *seg;

	if (srnic_qp_is_raw(qp))
		return srnic_raw_rx(qp, skb);
	if (!rx_is_due(qp, skb)) {
		qp->rx_at = NULL;
		srnic_task_spend(&qp->task, SRNIC_COST_ITEM);
		return SRNIC_DONE;
	}
	if (srnic_qp_is_datagram(qp))
		return srnic_ud_rx(qp, skb);
	for (seg = qp->rx_at ?: skb; seg; seg = srnic_rx_next(skb, seg)) {
		qp->rx_at = seg;
		if (srnic_rx_busy(qp) || !srnic_task_may(&qp->task) ||
		    rx_good_packet(qp, seg) || rx_ooo(qp))
			return SRNIC_AGAIN;
	}
	qp->rx_at = NULL;

	return SRNIC_DONE;
}

/* Takes over what has arrived. */
static void rx_take(struct srnic_qp *qp)
{
	if (skb_queue_empty_lockless(&qp->rxq))
		return;

	spin_lock(&qp->rxq.lock);
	skb_queue_splice_tail_init(&qp->rxq, &qp->rx_todo);
	qp->rx_todo_bytes += qp->rxq_bytes;
	qp->rxq_bytes = 0;
	spin_unlock(&qp->rxq.lock);
}

/* The oldest chain waiting */
static struct sk_buff *rx_next(struct srnic_qp *qp)
{
	if (skb_queue_empty(&qp->rx_todo))
		rx_take(qp);

	return skb_peek(&qp->rx_todo);
}

/* Processes the responses in a chain of the current life. */
static enum srnic_outcome rx_pass(struct srnic_qp *qp, struct sk_buff *skb)
{
	bool due = srnic_rxcb(skb)->life == qp->rx_life;
	struct sk_buff *seg;

	for (seg = skb; seg && due; seg = srnic_rx_next(skb, seg)) {
		if (!srnic_backlog_is_response(seg))
			continue;
		if (rx_comp_busy(qp) || !srnic_task_may(&qp->task) ||
		    rx_good_packet(qp, seg) || rx_ooo_responses(qp))
			return SRNIC_AGAIN;
	}
	srnic_rxcb(skb)->passed = true;

	return SRNIC_DONE;
}

/* Is a packet of the chain still to be processed? */
static bool rx_is_waiting(struct sk_buff *skb)
{
	struct sk_buff *seg;

	for (seg = skb; seg; seg = srnic_rx_next(skb, seg))
		if (srnic_rxcb(seg)->good)
			return true;

	return false;
}

static void rx_done(struct srnic_qp *qp, struct sk_buff *skb)
{
	if (skb == skb_peek(&qp->rx_todo))
		qp->rx_at = NULL;
	__skb_unlink(skb, &qp->rx_todo);
	qp->rx_todo_bytes -= skb->truesize;
	napi_consume_skb(skb, 1);
}

/*
 * While a READ is answered, requests wait.  Responses overtake them, or this end's own
 * requests would time out.
 */
static void rx_overtake(struct srnic_qp *qp)
{
	struct sk_buff *skb, *tmp;

	if ((!srnic_rx_busy(qp) && !qp->resp.flushed) || rx_comp_busy(qp) ||
	    !srnic_qp_reliable(qp) || rx_ooo_responses(qp))
		return;

	rx_take(qp);
	skb_queue_reverse_walk(&qp->rx_todo, skb)
		if (srnic_rxcb(skb)->passed)
			break;
	skb = skb->next;
	skb_queue_walk_from_safe(&qp->rx_todo, skb, tmp) {
		if (rx_pass(qp, skb))
			break;
		if (!rx_is_waiting(skb))
			rx_done(qp, skb);
	}
}

/* Handles the CNP that overtook the queue, if there is one. */
static void rx_cnp(struct srnic_qp *qp)
{
	struct sk_buff *skb = srnic_cc_take_cnp(qp);

	if (!skb)
		return;

	if (rx_is_due(qp, skb))
		rx_good_packet(qp, skb);
	kfree_skb(skb);
}

bool srnic_rx_run(struct srnic_qp *qp)
{
	struct sk_buff *skb;

	srnic_task_assert_mine(&qp->task);
	rx_cnp(qp);
	rx_overtake(qp);
	if (rx_ooo(qp))	/* kept packets that waited behind a READ */
		return !srnic_task_may(&qp->task);
	while (srnic_task_may(&qp->task)) {
		skb = rx_next(qp);
		if (!skb)
			return false;
		if (srnic_rx_busy(qp) || rx_run_skb(qp, skb)) {
			rx_overtake(qp);
			return !srnic_task_may(&qp->task);
		}
		rx_done(qp, skb);
	}

	return true;
}
