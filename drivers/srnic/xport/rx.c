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
	room = qp->rxq_bytes < SRNIC_RXQ_BYTES &&
	       (!srnic_backlog_counts(qp) ||
		srnic_backlog_charge(qp, skb->truesize));
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

	if (skb && srnic_qp_is_datagram(qp) && !srnic_ud_admit(qp, skb)) {
		kfree_skb(skb);
	} else if (skb) {
		if (!srnic_cc_keep_cnp(qp, skb))
			srnic_rx_enqueue(qp, skb);
		srnic_task_kick(&qp->task);
	}
	srnic_qp_put(qp);
}

/*
 * Has the QP a number by which packets find it?  Frames come by rules, and the
 * management QP is found by its device.
 */
static bool rx_has_number(const struct srnic_qp *qp)
{
	return !srnic_qp_is_raw(qp) && qp->type != IB_QPT_GSI;
}

/*
 * May the packet address the QP?  All that decides it but what is in the BTH: the
 * kind of QP, its state, the device that the packet came in by, the addresses.
 * It is asked first, so that a stranger's packet costs neither a CRC nor room in
 * the queue.  The task may change all of it meanwhile; what was let in is known by
 * the life that it was let in for.  Return: that life, 0: it may not.
 */
static u32 rx_admit(const struct srnic_qp *qp, const struct sk_buff *skb)
{
	/* pairs with the release in qp_set_life() */
	u32 life = smp_load_acquire(&qp->rx_life);
	const struct srnic_peer *peer;
	bool fits;

	if (!life) {
		srnic_qp_refuse(qp, SRNIC_CNT_RX_BAD_STATE);
		return 0;
	}
	if (srnic_qp_is_datagram(qp)) {
		fits = srnic_rx_by(skb, qp->ndev);
	} else {
		peer = rcu_dereference(qp->peer);
		fits = peer && srnic_rx_from(skb, peer);
	}
	if (fits)
		return life;
	srnic_qp_refuse(qp, SRNIC_CNT_RX_BAD_ADDR);

	return 0;
}

static int rx_lookup(struct net *net, u32 qpn, const struct sk_buff *skb,
		     struct srnic_rx_to *to)
{
	struct srnic_qp *qp = srnic_qp_get(net, qpn);

	if (!qp)
		return -ENOENT;
	if (!rx_has_number(qp)) {
		srnic_qp_put(qp);
		return -ENOENT;
	}
	to->life = rx_admit(qp, skb);
	if (!to->life) {
		srnic_qp_put(qp);
		return -EPERM;
	}
	to->owner = qp;
	to->stats = srnic_qp_stats(qp);
	to->datagram = srnic_qp_is_datagram(qp);

	return 0;
}

/* The group is of a device, and takes what came in by that. */
static void rx_deliver_copy(struct srnic_qp *qp, struct sk_buff *skb)
{
	u32 life = READ_ONCE(qp->rx_life);	/* set in qp_set_life() */
	struct sk_buff *copy = NULL;

	if (!life) {
		srnic_qp_refuse(qp, SRNIC_CNT_RX_BAD_STATE);
	} else {
		copy = skb_clone(skb, GFP_ATOMIC);
		if (copy)
			srnic_rxcb(copy)->life = life;
		else
			srnic_qp_refuse(qp, SRNIC_CNT_RX_NOBUF);
	}
	rx_deliver(qp, copy);
}

static void rx_deliver_group(const struct srnic_rx_dest *dest,
			     struct sk_buff *skb)
{
	srnic_group_each(dest, rx_deliver_copy, skb);
	consume_skb(skb);
}

const struct srnic_rx_ops srnic_xport_rx_ops = {
	.lookup = rx_lookup,
	.deliver = rx_deliver,
	.lookup_group = srnic_group_stats,
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
	srnic_task_spend(&qp->task, SRNIC_COST_ITEM + cb->len);
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
		srnic_early_keep(qp, request ? &qp->resp.early :
					       &qp->req.early,
				 skb, seg.pkt.psn,
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
 * Packets that came early and whose turn it is now, which *@next says, as far as
 * the share goes.  False: the first of them must come again.
 */
static bool rx_early_half(struct srnic_qp *qp, struct srnic_early *early,
			  const u32 *next)
{
	struct sk_buff *skb;
	u32 psn;

	while (early->num && !srnic_rx_busy(qp) && srnic_task_may(&qp->task)) {
		psn = *next;
		skb = srnic_early_take(early, psn);
		if (!skb)
			break;
		if (!rx_packet(qp, skb)) {
			srnic_early_give_back(early, skb, psn);
			return false;
		}
		consume_skb(skb);
	}

	return true;
}

static bool rx_early(struct srnic_qp *qp)
{
	if (!qp->resp.early.num && !qp->req.early.num)
		return true;

	return rx_early_half(qp, &qp->resp.early, &qp->resp.psn) &&
	       rx_early_half(qp, &qp->req.early, &qp->req.una);
}

/* Was the run let in for the life that the QP has now?  Counts what was not. */
static bool rx_is_due(const struct srnic_qp *qp, struct sk_buff *skb)
{
	if (srnic_rxcb(skb)->life == qp->rx_life)
		return true;
	srnic_qp_refuse(qp, qp->rx_life ? SRNIC_CNT_RX_BAD_ADDR :
					  SRNIC_CNT_RX_BAD_STATE);

	return false;
}

/*
 * Goes on with the run at the head of the queue.  A READ being answered, a key
 * going out of use and memory being fetched hold up the packets behind them, and
 * so does the end of the share.  Packets done are marked not good, so that a run
 * can be taken up again in its middle.  True: it is done.
 */
static bool rx_run_skb(struct srnic_qp *qp, struct sk_buff *skb)
{
	struct sk_buff *seg;

	if (srnic_qp_is_raw(qp))
		return srnic_raw_rx(qp, skb);
	if (!rx_is_due(qp, skb)) {
		qp->rx_done = 0;
		srnic_task_spend(&qp->task, SRNIC_COST_ITEM);
		return true;
	}
	if (srnic_qp_is_datagram(qp))
		return srnic_ud_rx(qp, skb);
	for (seg = skb; seg && !srnic_rx_busy(qp) && srnic_task_may(&qp->task);
	     seg = srnic_rx_next(skb, seg)) {
		if (!rx_good_packet(qp, seg) || !rx_early(qp))
			return false;
	}

	return !seg;
}

/* The oldest run that waits. */
static struct sk_buff *rx_next(struct srnic_qp *qp)
{
	if (skb_queue_empty(&qp->rx_todo) &&
	    !skb_queue_empty_lockless(&qp->rxq)) {
		spin_lock(&qp->rxq.lock);
		skb_queue_splice_tail_init(&qp->rxq, &qp->rx_todo);
		qp->rx_todo_bytes = qp->rxq_bytes;
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

	if (rx_is_due(qp, skb))
		rx_good_packet(qp, skb);
	kfree_skb(skb);
}

bool srnic_rx_run(struct srnic_qp *qp)
{
	struct sk_buff *skb;

	rx_cnp(qp);
	if (!rx_early(qp))	/* those that waited behind a READ */
		return !srnic_task_may(&qp->task);
	while (srnic_task_may(&qp->task)) {
		skb = rx_next(qp);
		if (!skb || srnic_rx_busy(qp))
			return false;
		if (!rx_run_skb(qp, skb))
			return !srnic_task_may(&qp->task);
		__skb_unlink(skb, &qp->rx_todo);
		qp->rx_todo_bytes -= skb->truesize;
		napi_consume_skb(skb, 1);
	}

	return true;
}
