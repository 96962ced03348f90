/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - packets out of order that a queue pair keeps
 */
#ifndef SRNIC_XPORT_QP_OOO_H
#define SRNIC_XPORT_QP_OOO_H

#include "qp.h"

void srnic_qp_ooo_init(struct srnic_qp *qp);

/*
 * Keeps a copy of the packet @skb until its turn comes, if @psn is not far from
 * @next and the device has room for it.
 */
void srnic_qp_ooo_keep(struct srnic_qp *qp, struct srnic_ooo *ooo,
		       const struct sk_buff *skb, u32 psn, u32 next);

/* Drops what both halves keep, and counts it.  Context: BH disabled. */
void srnic_qp_ooo_lose(struct srnic_qp *qp);

/* Purges what has been kept for long although nothing before it came. */
void srnic_qp_ooo_expire(struct srnic_qp *qp);

/* Purges all, for good or until the QP has another life.  May sleep. */
void srnic_qp_ooo_stop(struct srnic_qp *qp);

static inline void srnic_qp_ooo_check(struct srnic_qp *qp)
{
	if (READ_ONCE(qp->ooo_fired))	/* set by ooo_timer */
		srnic_qp_ooo_expire(qp);
}

#endif /* SRNIC_XPORT_QP_OOO_H */
