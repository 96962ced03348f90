// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - delivery: from the softirq that receives a packet to the queue of its QP
 */
#include "backlog.h"
#include "cc.h"
#include "deliver.h"
#include "mcast.h"
#include "qp.h"
#include "qp_table.h"
#include "ud.h"

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
 * task may change all of it meanwhile; a packet carries the life for which it was
 * admitted.  Return: that life, 0: it may not.
 */
static u32 deliver_admit(const struct srnic_qp *qp, const struct sk_buff *skb)
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
	to->life = deliver_admit(qp, skb);
	if (!to->life) {
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
