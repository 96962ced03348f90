// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - from a received run of packets to the half of the QP it is for
 */
#include "proto.h"

void srnic_rx_enqueue(struct srnic_qp *qp, struct sk_buff *skb)
{
	bool room;

	skb_orphan(skb);
	spin_lock(&qp->rxq.lock);
	room = qp->rxq_bytes < SRNIC_RXQ_BYTES;
	if (room) {
		qp->rxq_bytes += skb->truesize;
		__skb_queue_tail(&qp->rxq, skb);
	}
	spin_unlock(&qp->rxq.lock);
	if (room)
		return;

	srnic_qp_refuse(qp, SRNIC_CNT_RX_NOBUF);
	kfree_skb(skb);
}

/* In the softirq that received it: leave it at the QP and run that. */
static void rx_deliver(void *owner, struct sk_buff *skb)
{
	struct srnic_qp *qp = owner;

	if (skb) {
		if (!srnic_cc_keep_cnp(qp, skb))
			srnic_rx_enqueue(qp, skb);
		srnic_task_kick(&qp->task);
	}
	srnic_qp_put(qp);
}

static void *rx_lookup(struct net *net, u32 qpn,
		       struct srnic_stats __percpu **stats)
{
	struct srnic_qp *qp = srnic_qp_get(net, qpn);

	if (qp)
		*stats = READ_ONCE(qp->stats);	/* set in srnic_qp_count_in() */

	return qp;
}

static void *rx_lookup_group(const struct net_device *ndev,
			     const struct in6_addr *addr,
			     struct srnic_stats __percpu **stats)
{
	struct srnic_group *group = srnic_group_find(ndev, addr);

	if (group)
		*stats = srnic_group_stats(group);

	return group;
}

static void rx_deliver_copy(struct srnic_qp *qp, struct sk_buff *skb)
{
	struct sk_buff *copy = skb_clone(skb, GFP_ATOMIC);

	if (!copy)
		srnic_qp_refuse(qp, SRNIC_CNT_RX_NOBUF);
	rx_deliver(qp, copy);
}

static void rx_deliver_group(void *group, struct sk_buff *skb)
{
	srnic_group_each(group, rx_deliver_copy, skb);
	consume_skb(skb);
}

const struct srnic_rx_ops srnic_xport_rx_ops = {
	.lookup = rx_lookup,
	.deliver = rx_deliver,
	.lookup_group = rx_lookup_group,
	.deliver_group = rx_deliver_group,
	.frame = srnic_raw_frame,
};

/* Is it of the service that the QP has?  Each that has a peer takes CNPs. */
static bool rx_service_ok(const struct srnic_qp *qp,
			  const struct srnic_pkt *pkt)
{
	return SRNIC_TRANSPORT(pkt->opcode) == qp->transport ||
	       pkt->opcode == SRNIC_OPCODE_CNP;
}

/* An XRC initiator takes answers only. */
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

/* Is the packet one that this QP's peer may send?  Counts what is not. */
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

/* The peer talks before the user has said that it may: tell the user. */
static void rx_tell_established(struct srnic_qp *qp)
{
	if (qp->conf.state != IB_QPS_RTR || qp->resp.comm_told)
		return;

	qp->resp.comm_told = true;
	qp->event(qp, IB_EVENT_COMM_EST);
}

enum srnic_fate srnic_rx_local(struct srnic_qp *qp,
			       const struct srnic_seg *seg)
{
	const struct srnic_op *op = srnic_pkt_op(&seg->pkt);

	if (!rx_state_ok(qp, op) || !rx_role_ok(qp, op))
		return SRNIC_PKT_AGAIN;

	trace_srnic_rx(qp->qpn, &seg->pkt);
	rx_tell_established(qp);

	return srnic_resp_packet(qp, seg);
}

/* One packet, whose ICRC is right.  False: it must come again. */
static bool rx_packet(struct srnic_qp *qp, struct sk_buff *skb)
{
	struct srnic_rxcb *cb = srnic_rxcb(skb);
	const u8 *bth = skb->data + cb->bth;
	enum srnic_fate fate;
	struct srnic_seg seg;
	bool request;

	if (srnic_pkt_parse(bth, cb->len, cb->len, &seg.pkt)) {
		srnic_qp_refuse(qp, SRNIC_CNT_RX_MALFORMED);
		return true;
	}
	trace_srnic_rx(qp->qpn, &seg.pkt);
	if (!rx_check(qp, &seg.pkt))
		return true;

	if (cb->ce) {
		cb->ce = false;
		srnic_cc_marked(qp, &seg.pkt);
	}
	if (seg.pkt.opcode == SRNIC_OPCODE_CNP) {
		srnic_cc_cnp(qp, &seg.pkt);
		return true;
	}
	rx_tell_established(qp);
	seg.payload = bth + seg.pkt.hdr_len;
	seg.local = false;
	seg.from = NULL;
	request = srnic_pkt_op(&seg.pkt)->flags & SRNIC_OP_REQ;
	fate = request ? srnic_resp_packet(qp, &seg) :
			 srnic_comp_packet(qp, &seg);
	if (fate == SRNIC_PKT_EARLY && seg.pkt.payload <= qp->conf.mtu)
		srnic_early_keep(request ? &qp->resp.early : &qp->req.early, skb,
				 seg.pkt.psn,
				 request ? qp->resp.psn : qp->req.una);

	return fate != SRNIC_PKT_AGAIN;
}

/* One packet of a run, once.  False: it must come again. */
static bool rx_good_packet(struct srnic_qp *qp, struct sk_buff *skb)
{
	struct srnic_rxcb *cb = srnic_rxcb(skb);

	if (!cb->good)
		return true;
	if (!rx_packet(qp, skb))
		return false;

	cb->good = false;
	srnic_count(qp->stats, SRNIC_CNT_RCVD_PKTS);
	srnic_count_add(qp->stats, SRNIC_CNT_RCVD_BYTES, cb->len);

	return true;
}

/*
 * Packets that came early and whose turn it is now, which *@next says.  False: the
 * first of them must come again.
 */
static bool rx_early_half(struct srnic_qp *qp, struct srnic_early *early,
			  const u32 *next)
{
	struct sk_buff *skb;
	bool done = true;

	while (done && early->num && !srnic_rx_busy(qp)) {
		skb = srnic_early_take(early, *next);
		if (!skb)
			break;
		done = rx_packet(qp, skb);
		if (!done)
			srnic_early_keep(early, skb, *next, *next);
		consume_skb(skb);
	}

	return done;
}

static bool rx_early(struct srnic_qp *qp)
{
	if (!qp->resp.early.num && !qp->req.early.num)
		return true;

	return rx_early_half(qp, &qp->resp.early, &qp->resp.psn) &&
	       rx_early_half(qp, &qp->req.early, &qp->req.una);
}

/*
 * Goes on with the run at the head of the queue.  A READ being answered, a key
 * going out of use and memory being fetched hold up the packets behind them.
 * Packets done are marked not good, so that a run can be taken up again in its
 * middle.
 */
static int rx_run_skb(struct srnic_qp *qp, struct sk_buff *skb)
{
	struct sk_buff *seg;
	int n = 0;

	if (srnic_qp_is_datagram(qp))
		return srnic_ud_rx(qp, skb);
	if (srnic_qp_is_raw(qp))
		return srnic_raw_rx(qp, skb);
	if (!srnic_rx_from(skb, &qp->flow)) {
		srnic_qp_refuse(qp, SRNIC_CNT_RX_BAD_ADDR);
		return 1;
	}
	for (seg = skb; seg && !srnic_rx_busy(qp);
	     seg = srnic_rx_next(skb, seg)) {
		if (!rx_good_packet(qp, seg) || !rx_early(qp))
			return 0;
		n++;
	}

	return seg ? 0 : n;
}

/* The oldest run that waits. */
static struct sk_buff *rx_next(struct srnic_qp *qp)
{
	if (skb_queue_empty(&qp->rx_todo) &&
	    !skb_queue_empty_lockless(&qp->rxq)) {
		spin_lock(&qp->rxq.lock);
		skb_queue_splice_tail_init(&qp->rxq, &qp->rx_todo);
		qp->rxq_bytes = 0;
		spin_unlock(&qp->rxq.lock);
	}

	return skb_peek(&qp->rx_todo);
}

/* The CNP that overtook what waits, if there is one. */
static void rx_cnp(struct srnic_qp *qp)
{
	struct sk_buff *skb = srnic_cc_take_cnp(qp);

	if (!skb)
		return;

	if (srnic_rx_from(skb, &qp->flow))
		rx_good_packet(qp, skb);
	else
		srnic_qp_refuse(qp, SRNIC_CNT_RX_BAD_ADDR);
	kfree_skb(skb);
}

bool srnic_rx_run(struct srnic_qp *qp, int *budget)
{
	struct sk_buff *skb;
	int n;

	rx_cnp(qp);
	if (!rx_early(qp))	/* those that waited behind a READ */
		return false;
	while (*budget > 0) {
		skb = rx_next(qp);
		if (!skb || srnic_rx_busy(qp))
			return false;
		n = rx_run_skb(qp, skb);
		if (!n)
			return false;
		__skb_unlink(skb, &qp->rx_todo);
		napi_consume_skb(skb, 1);
		*budget -= n;
	}

	return true;
}
