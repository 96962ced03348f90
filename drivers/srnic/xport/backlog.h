/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - received packets that wait, and the memory they may take
 */
#ifndef SRNIC_XPORT_BACKLOG_H
#define SRNIC_XPORT_BACKLOG_H

#include <linux/sizes.h>

#include "qp.h"

/* Memory of packets that wait for the task before more are dropped */
#define SRNIC_RXQ_BYTES		SZ_4M

/* How much of that is not charged to anybody until the task runs */
#define SRNIC_RXQ_FREE		SZ_64K

/* Leaves @skb to the QP's task, if there is room.  Context: BH disabled. */
void srnic_backlog_add(struct srnic_qp *qp, struct sk_buff *skb);

/* Charges what the task leaves behind, drops what cannot be. */
void srnic_backlog_settle(struct srnic_qp *qp);

/* Drops all that waits.  The caller owns the task. */
void srnic_backlog_purge(struct srnic_qp *qp);

/*
 * Is nothing charged, and does nothing stay?  What has come behind the back of the
 * run is processed at once unless it must wait.
 */
static inline bool srnic_backlog_is_settled(const struct srnic_qp *qp)
{
	return skb_queue_empty(&qp->rx_todo) &&
	       !READ_ONCE(qp->rx_charged) &&	/* set under the lock of rxq */
	       (skb_queue_empty_lockless(&qp->rxq) || !srnic_rx_busy(qp));
}

#endif /* SRNIC_XPORT_BACKLOG_H */
