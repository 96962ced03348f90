// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - backlog: received packets that wait, and the memory they may take
 *
 * Most packets are processed in the run of the task started by their arrival and are
 * not charged.  Packets left behind by a run may stay for as long as a user likes,
 * while memory is fetched or a READ is answered.  They are charged to the user and to
 * the device.  If a limit is exceeded, the newest packet is dropped first: to the peer
 * it is a lost packet.  If it was a response, this end requests it again.
 *
 * Requests may wait for minutes while a READ is answered.  They leave room for the
 * responses that overtake them, and packets received out of order, in ooo.c, leave room
 * for both.
 */
#include <linux/sizes.h>

#include "internal.h"

/* Packets are dropped once this much memory waits for the task, or twice as much in it */
#define BACKLOG_BYTES	SZ_4M

/* Memory that is not charged to anybody until the task has run */
#define BACKLOG_FREE	SZ_64K

/* Percentage of the limits that packets other than responses may use */
#define BACKLOG_PART	75

bool srnic_backlog_is_response(struct sk_buff *seg)
{
	const struct srnic_rxcb *cb = srnic_rxcb(seg);
	const struct srnic_op *op;

	if (!cb->good)
		return false;
	op = &srnic_ops[seg->data[cb->bth]];

	return op->hdr_len && !(op->flags & SRNIC_OP_REQ);
}

/* Charges @bytes of waiting packets to @part % of the limits.  False: no room. */
static bool backlog_charge(struct srnic_qp *qp, unsigned int bytes, unsigned int part)
	__must_hold(&qp->rxq.lock)
{
	lockdep_assert_held(&qp->rxq.lock);

	if (!srnic_rmem_charge(qp->rmem, bytes, part))
		return false;
	/* read in srnic_backlog_is_settled() */
	WRITE_ONCE(qp->rx_charged, qp->rx_charged + bytes);

	return true;
}

static void backlog_uncharge(struct srnic_qp *qp, unsigned int bytes)
	__must_hold(&qp->rxq.lock)
{
	lockdep_assert_held(&qp->rxq.lock);

	srnic_rmem_uncharge(qp->rmem, bytes);
	/* read in srnic_backlog_is_settled() */
	WRITE_ONCE(qp->rx_charged, qp->rx_charged - bytes);
}

/* Is a packet arriving now charged? */
static bool backlog_counts(const struct srnic_qp *qp)
	__must_hold(&qp->rxq.lock)
{
	lockdep_assert_held(&qp->rxq.lock);

	return qp->rx_charged || qp->rxq_bytes > BACKLOG_FREE;
}

/* Percentage of the limits that @skb may use */
static unsigned int backlog_part(const struct srnic_qp *qp, struct sk_buff *skb)
{
	return srnic_qp_reliable(qp) && srnic_backlog_is_response(skb) ? 100 : BACKLOG_PART;
}

bool srnic_backlog_add(struct srnic_qp *qp, struct sk_buff *skb)
{
	bool room, full;

	skb_orphan(skb);
	spin_lock(&qp->rxq.lock);
	room = qp->rxq_bytes < BACKLOG_BYTES &&
	       (!backlog_counts(qp) ||
		backlog_charge(qp, skb->truesize, backlog_part(qp, skb)));
	if (room) {
		qp->rxq_bytes += skb->truesize;
		__skb_queue_tail(&qp->rxq, skb);
	} else {
		WRITE_ONCE(qp->rx_lost, true);	/* read in srnic_backlog_is_settled() */
	}
	full = qp->rxq_bytes >= BACKLOG_FREE;
	spin_unlock(&qp->rxq.lock);
	if (room)
		return full;

	srnic_qp_refuse(qp, SRNIC_CNT_RX_NOBUF);
	kfree_skb(skb);

	return full;
}

/* Drops the newest packet.  Return: the memory that it took. */
static unsigned int backlog_drop(struct srnic_qp *qp)
	__must_hold(&qp->rxq.lock)
{
	struct sk_buff *skb = __skb_dequeue_tail(&qp->rxq);
	unsigned int bytes;

	lockdep_assert_held(&qp->rxq.lock);

	if (skb) {
		bytes = skb->truesize;
		qp->rxq_bytes -= bytes;
	} else {
		skb = __skb_dequeue_tail(&qp->rx_todo);
		bytes = skb->truesize;
		qp->rx_todo_bytes -= bytes;
		if (skb_queue_empty(&qp->rx_todo)) {
			qp->rx_at = NULL;
			/* no packet needs the pages any longer */
			srnic_pager_forget(&qp->comp_pager);
			srnic_pager_forget(&qp->resp_pager);
		}
	}
	srnic_qp_refuse(qp, SRNIC_CNT_RX_NOBUF);
	kfree_skb(skb);

	return bytes;
}

void srnic_backlog_settle(struct srnic_qp *qp)
{
	unsigned int left;
	bool lost;

	srnic_task_assert_mine(&qp->task);
	spin_lock(&qp->rxq.lock);
	lost = qp->rx_lost;
	left = qp->rxq_bytes + qp->rx_todo_bytes;
	while (left > 2 * BACKLOG_BYTES ||
	       (left > qp->rx_charged &&
		!backlog_charge(qp, left - qp->rx_charged, BACKLOG_PART))) {
		left -= backlog_drop(qp);
		lost = true;
	}
	if (left < qp->rx_charged)
		backlog_uncharge(qp, qp->rx_charged - left);
	WRITE_ONCE(qp->rx_lost, false);	/* read in srnic_backlog_is_settled() */
	spin_unlock(&qp->rxq.lock);
	if (lost)
		srnic_recovery_dropped(&qp->req.recovery, true, ktime_get_ns());
}

void srnic_backlog_purge(struct srnic_qp *qp)
{
	srnic_task_assert_mine(&qp->task);

	spin_lock_bh(&qp->rxq.lock);
	skb_queue_splice_tail_init(&qp->rxq, &qp->rx_todo);
	qp->rxq_bytes = 0;
	WRITE_ONCE(qp->rx_lost, false);	/* read in srnic_backlog_is_settled() */
	backlog_uncharge(qp, qp->rx_charged);
	spin_unlock_bh(&qp->rxq.lock);
	__skb_queue_purge(&qp->rx_todo);
	qp->rx_todo_bytes = 0;
	qp->rx_at = NULL;
}
