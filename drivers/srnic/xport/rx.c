// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - received packets: from the softirq to the half of the QP that handles them
 *
 * The softirq admits a chain and queues it; the task passes its packets to responder or
 * completer.  Both halves keep packets that arrive out of order; one timer drops them when
 * there has been no progress for some seconds.
 */
#include "internal.h"

/* Packets are dropped after one to two of these periods without progress */
#define OOO_AGE	(4 * HZ)

static void ooo_timer(struct timer_list *timer)
{
	struct srnic_qp *qp = container_of(timer, struct srnic_qp, ooo_timer);

	WRITE_ONCE(qp->ooo_fired, true);	/* read in srnic_qp_ooo_check() */
	srnic_task_kick(&qp->task);
}

void srnic_qp_ooo_init(struct srnic_qp *qp)
{
	timer_setup(&qp->ooo_timer, ooo_timer, 0);
}

/*
 * Keeps a copy of the packet @skb until its turn comes, if @psn is not too far ahead of
 * @next and the limits on receive memory permit.  False: it is not kept.
 */
static bool ooo_keep(struct srnic_qp *qp, struct srnic_ooo *ooo,
		     const struct sk_buff *skb, u32 psn, u32 next)
{
	if (srnic_psn_diff(psn, next) >= SRNIC_OOO_MAX)
		return false;
	if (!srnic_ooo_put(ooo, qp->rmem, skb, psn)) {
		srnic_qp_refuse(qp, SRNIC_CNT_RX_EARLY);
		if (ooo == &qp->req.ooo)
			srnic_recovery_full(&qp->req.recovery, ooo->num, ktime_get_ns());
		return false;
	}
	if (!timer_pending(&qp->ooo_timer))
		mod_timer(&qp->ooo_timer, jiffies + OOO_AGE);

	return true;
}

/* Keeps a request, or a response, that arrived out of order. */
static void rx_keep(struct srnic_qp *qp, const struct sk_buff *skb,
		    const struct srnic_pkt *pkt)
{
	if (pkt->payload > qp->conf.mtu)
		return;
	if (srnic_pkt_op(pkt)->flags & SRNIC_OP_REQ) {
		if (ooo_keep(qp, &qp->resp.ooo, skb, pkt->psn, qp->resp.psn))
			srnic_sack_kept(qp, pkt);
	} else if (ooo_keep(qp, &qp->req.ooo, skb, pkt->psn, qp->req.recovery.una)) {
		srnic_comp_kept(qp, pkt->psn);
	}
}

/* Drops what one half keeps; the peer has to retransmit it. */
static void ooo_lose(struct srnic_qp *qp, struct srnic_ooo *ooo)
{
	if (ooo->num && ooo == &qp->req.ooo)
		srnic_recovery_dropped(&qp->req.recovery, true, ktime_get_ns());
	srnic_count_add(qp->stats, SRNIC_CNT_RX_EARLY, ooo->num);
	srnic_ooo_purge(ooo);
}

void srnic_qp_ooo_lose(struct srnic_qp *qp)
{
	srnic_task_assert_mine(&qp->task);

	ooo_lose(qp, &qp->resp.ooo);
	ooo_lose(qp, &qp->req.ooo);
}

/* Drops what is kept if @next was already expected at the last check. */
static void ooo_age(struct srnic_qp *qp, struct srnic_ooo *ooo, u32 next)
{
	if (!ooo->num)
		return;

	if (ooo->aged && ooo->psn == next) {
		ooo_lose(qp, ooo);
		return;
	}
	ooo->aged = true;
	ooo->psn = next;
	mod_timer(&qp->ooo_timer, jiffies + OOO_AGE);
}

void srnic_qp_ooo_expire(struct srnic_qp *qp)
{
	srnic_task_assert_mine(&qp->task);

	WRITE_ONCE(qp->ooo_fired, false);
	ooo_age(qp, &qp->resp.ooo, qp->resp.psn);
	ooo_age(qp, &qp->req.ooo, qp->req.recovery.una);
}

void srnic_qp_ooo_stop(struct srnic_qp *qp)
{
	srnic_task_assert_mine(&qp->task);

	timer_delete_sync(&qp->ooo_timer);
	qp->ooo_fired = false;
	srnic_ooo_purge(&qp->resp.ooo);
	srnic_ooo_purge(&qp->req.ooo);
}

/*
 * Does the packet belong to the QP's service?  Every connected QP accepts CNPs, those
 * that keep requests accept SACKs, and those of RC masked atomics.
 */
static bool rx_service_ok(const struct srnic_qp *qp,
			  const struct srnic_pkt *pkt)
{
	if (SRNIC_TRANSPORT(pkt->opcode) == qp->transport)
		return true;

	switch (pkt->opcode) {
	case SRNIC_OPCODE_CNP:
		return true;
	case SRNIC_OPCODE_SACK:
		return srnic_qp_reliable(qp);
	case SRNIC_OPCODE_MASKED_CMP_SWAP:
	case SRNIC_OPCODE_MASKED_FETCH_ADD:
		return qp->transport == SRNIC_TP_RC;
	default:
		return false;
	}
}

/* An XRC initiator accepts responses only. */
static bool rx_role_ok(const struct srnic_qp *qp, const struct srnic_op *op)
{
	return qp->type != IB_QPT_XRC_INI || !(op->flags & SRNIC_OP_REQ);
}

static bool rx_state_ok(const struct srnic_qp *qp, const struct srnic_op *op)
{
	if (qp->conf.state == IB_QPS_RTR)
		return op->flags & SRNIC_OP_REQ || op->family == SRNIC_FAM_CNP ||
		       op->family == SRNIC_FAM_SACK;

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
static void rx_raise_comm_est(struct srnic_qp *qp)
{
	if (qp->conf.state != IB_QPS_RTR || qp->resp.comm_est_raised)
		return;

	qp->resp.comm_est_raised = true;
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
	rx_raise_comm_est(qp);

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
	if (seg.pkt.opcode == SRNIC_OPCODE_SACK) {
		srnic_sack_packet(qp, &seg.pkt, skb);
		return SRNIC_DONE;
	}
	rx_raise_comm_est(qp);
	srnic_payload_find(&seg, skb);
	seg.local = false;
	seg.from = NULL;
	request = srnic_pkt_op(&seg.pkt)->flags & SRNIC_OP_REQ;
	outcome = request ? srnic_resp_packet(qp, &seg) :
			 srnic_comp_packet(qp, &seg);
	if (outcome == SRNIC_EARLY)
		rx_keep(qp, skb, &seg.pkt);

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

/* Must responses wait? */
static bool rx_comp_busy(const struct srnic_qp *qp)
{
	return srnic_pager_busy(&qp->comp_pager);
}

/*
 * Processes requests, or @responses, kept out of order whose turn has come; stops when they
 * must wait, when the share is used up or a packet has to be retried.
 */
static enum srnic_outcome rx_ooo_half(struct srnic_qp *qp, bool responses)
{
	struct srnic_ooo *ooo = responses ? &qp->req.ooo : &qp->resp.ooo;
	struct sk_buff *skb;

	while (ooo->num && !(responses ? rx_comp_busy(qp) : srnic_rx_busy(qp)) &&
	       srnic_task_may(&qp->task)) {
		skb = srnic_ooo_take(ooo, responses ? srnic_comp_next(qp) : qp->resp.psn);
		if (!skb)
			break;
		if (rx_packet(qp, skb)) {
			srnic_ooo_requeue(ooo, skb);
			return SRNIC_AGAIN;
		}
		consume_skb(skb);
	}

	return SRNIC_DONE;
}

static enum srnic_outcome rx_ooo(struct srnic_qp *qp)
{
	if (!qp->resp.ooo.num && !qp->req.ooo.num)
		return SRNIC_DONE;

	return rx_ooo_half(qp, false) ?: rx_ooo_half(qp, true);
}

/* Was the chain admitted for the QP's current epoch?  Counts those that were not. */
static bool rx_is_due(const struct srnic_qp *qp, struct sk_buff *skb)
{
	if (srnic_rxcb(skb)->epoch == qp->rx_epoch)
		return true;
	srnic_qp_refuse(qp, qp->rx_epoch ? SRNIC_CNT_RX_BAD_ADDR :
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

/* Processes the responses in a chain of the current epoch. */
static enum srnic_outcome rx_pass(struct srnic_qp *qp, struct sk_buff *skb)
{
	bool due = srnic_rxcb(skb)->epoch == qp->rx_epoch;
	struct sk_buff *seg;

	for (seg = skb; seg && due; seg = srnic_rx_next(skb, seg)) {
		if (!srnic_backlog_is_response(seg))
			continue;
		if (rx_comp_busy(qp) || !srnic_task_may(&qp->task) ||
		    rx_good_packet(qp, seg) || rx_ooo_half(qp, true))
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
static bool rx_may_overtake(const struct srnic_qp *qp)
{
	return (srnic_rx_busy(qp) || qp->resp.flushed) && !rx_comp_busy(qp) &&
	       srnic_qp_reliable(qp);
}

/* Processes the responses behind requests that wait. */
static void rx_overtake(struct srnic_qp *qp)
{
	struct sk_buff *skb, *tmp;

	if (rx_ooo_half(qp, true))
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
	if (rx_may_overtake(qp))
		rx_overtake(qp);
	if (rx_ooo(qp))	/* kept packets that waited behind a READ */
		return !srnic_task_may(&qp->task);
	while (srnic_task_may(&qp->task)) {
		skb = rx_next(qp);
		if (!skb)
			return false;
		if (srnic_rx_busy(qp) || rx_run_skb(qp, skb)) {
			if (rx_may_overtake(qp))
				rx_overtake(qp);
			return !srnic_task_may(&qp->task);
		}
		rx_done(qp, skb);
	}

	return true;
}

/*
 * A packet was queued: has the task run now, or together for all packets that arrive in
 * this softirq, unless these are as much as a GSO chain (@full).
 * Return: false if the reference on @qp is kept until then.
 */
static bool deliver_kick(struct srnic_qp *qp, bool full)
{
	enum srnic_burst_wait wait = srnic_burst_wait(&qp->burst);

	if (full || wait == SRNIC_BURST_NOW)
		srnic_task_kick(&qp->task);

	return wait != SRNIC_BURST_ADDED;
}

/* The burst has ended: processes what is left of it. */
static void deliver_rest(struct srnic_burst *burst)
{
	struct srnic_qp *qp = container_of(burst, struct srnic_qp, burst);

	srnic_task_kick(&qp->task);
	srnic_qp_put(qp);
}

/* Queues the packet at the QP, whose task runs in the softirq that received it. */
static void deliver_run(void *owner, struct sk_buff *skb)
{
	struct srnic_qp *qp = owner;
	bool put = true, full;

	if (skb && srnic_qp_is_datagram(qp) && !srnic_ud_admit(qp, skb)) {
		kfree_skb(skb);
	} else if (skb) {
		full = !srnic_cc_keep_cnp(qp, skb) &&
		       srnic_backlog_add(qp, skb);
		put = deliver_kick(qp, full);
	}
	if (put)
		srnic_qp_put(qp);
}

/*
 * Do packets find the QP by its number?  Frames are delivered by rules, and the
 * management QP is found by its device.
 */
static bool deliver_by_number(const struct srnic_qp *qp)
{
	return !srnic_qp_is_raw(qp) && qp->type != IB_QPT_GSI;
}

/*
 * May the packet address the QP?  This covers everything but the contents of the BTH:
 * the type and state of the QP, the receiving device, the addresses.  It is checked
 * first, so that a stranger's packet costs neither a CRC nor room in the queue.  The
 * task may change all of it meanwhile; a packet carries the epoch for which it was
 * admitted.  Return: that epoch, 0: it may not.
 */
static u32 deliver_admit(const struct srnic_qp *qp, const struct sk_buff *skb)
{
	/* pairs with the release in qp_set_epoch() */
	u32 epoch = smp_load_acquire(&qp->rx_epoch);
	const struct srnic_peer *peer;
	bool fits;

	if (!epoch) {
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
		return epoch;
	srnic_qp_refuse(qp, SRNIC_CNT_RX_BAD_ADDR);

	return 0;
}

static int deliver_lookup(struct net *net, u32 qpn, const struct sk_buff *skb,
			  struct srnic_rx_to *to)
{
	struct srnic_qp *qp = srnic_qp_get(net, qpn);

	if (!qp)
		return -ENOENT;
	if (!deliver_by_number(qp)) {
		srnic_qp_put(qp);
		return -ENOENT;
	}
	to->epoch = deliver_admit(qp, skb);
	if (!to->epoch) {
		srnic_qp_put(qp);
		return -EPERM;
	}
	to->owner = qp;
	to->stats = srnic_qp_stats(qp);
	to->datagram = srnic_qp_is_datagram(qp);

	return 0;
}

/* A group belongs to a device, so only the state of the QP is left to check. */
static void deliver_copy(struct srnic_qp *qp, struct sk_buff *skb)
{
	u32 epoch = READ_ONCE(qp->rx_epoch);	/* set in qp_set_epoch() */
	struct sk_buff *copy = NULL;

	if (!epoch) {
		srnic_qp_refuse(qp, SRNIC_CNT_RX_BAD_STATE);
	} else {
		copy = skb_clone(skb, GFP_ATOMIC);
		if (copy)
			srnic_rxcb(copy)->epoch = epoch;
		else
			srnic_qp_refuse(qp, SRNIC_CNT_RX_NOBUF);
	}
	deliver_run(qp, copy);
}

static void deliver_group(const struct srnic_rx_dest *dest,
			  struct sk_buff *skb)
{
	srnic_mcast_each(dest, deliver_copy, skb);
	consume_skb(skb);
}

const struct srnic_rx_ops srnic_xport_rx_ops = {
	.lookup = deliver_lookup,
	.deliver = deliver_run,
	.run = deliver_rest,
	.lookup_group = srnic_mcast_stats,
	.deliver_group = deliver_group,
};
