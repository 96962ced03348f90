/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - backlog: received packets that wait, and the memory they may take
 */
#ifndef SRNIC_XPORT_BACKLOG_H
#define SRNIC_XPORT_BACKLOG_H

#include <linux/sizes.h>

#include "qp.h"

/* Packets are dropped once this much memory waits for the task, or twice as much in it */
#define SRNIC_RXQ_BYTES		SZ_4M

/* Memory that is not charged to anybody until the task has run */
#define SRNIC_RXQ_FREE		SZ_64K

/*
 * Is it a response of the peer, an ACK included, with valid addresses and ICRC?  Responses
 * overtake requests that wait.
 */
bool srnic_backlog_is_response(struct sk_buff *seg);

/*
 * Queues @skb for the QP's task, if there is room.  Context: BH disabled.
 * Return: true if the task should run now, since as much as a GSO chain waits.
 */
bool srnic_backlog_add(struct srnic_qp *qp, struct sk_buff *skb);

/*
 * Charges the packets that a run leaves behind; drops those that exceed the limit.  Has the
 * responses among those that were dropped requested again.
 */
void srnic_backlog_settle(struct srnic_qp *qp);

/* Drops all waiting packets.  The caller owns the task. */
void srnic_backlog_purge(struct srnic_qp *qp);

/*
 * Is nothing charged, was nothing dropped, and does nothing stay?  Packets that arrived
 * during the run are processed immediately unless they must wait.
 */
static inline bool srnic_backlog_is_settled(const struct srnic_qp *qp)
{
	return skb_queue_empty(&qp->rx_todo) &&
	       !READ_ONCE(qp->rx_charged) &&	/* set under the lock of rxq, */
	       !READ_ONCE(qp->rx_lost) &&	/* and so is this */
	       (skb_queue_empty_lockless(&qp->rxq) || !srnic_rx_busy(qp));
}

/* Has an answer possibly arrived that has not been looked at? */
static inline bool srnic_backlog_is_unread(const struct srnic_qp *qp)
{
	struct sk_buff *last = skb_peek_tail(&qp->rx_todo);

	return (last && !srnic_rxcb(last)->passed) ||
	       !skb_queue_empty_lockless(&qp->rxq);
}

#endif /* SRNIC_XPORT_BACKLOG_H */
