/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - out-of-order packets kept by a queue pair
 */
#ifndef SRNIC_XPORT_QP_OOO_H
#define SRNIC_XPORT_QP_OOO_H

#include "qp.h"

void srnic_qp_ooo_init(struct srnic_qp *qp);

/*
 * Keeps a copy of the packet @skb until its turn comes, if @psn is not too far ahead of
 * @next and the pools have room for it.
 */
void srnic_qp_ooo_keep(struct srnic_qp *qp, struct srnic_ooo *ooo,
		       const struct sk_buff *skb, u32 psn, u32 next);

/* Drops and counts what both halves keep.  Context: BH disabled. */
void srnic_qp_ooo_lose(struct srnic_qp *qp);

/* Drops packets that have been kept for long without progress. */
void srnic_qp_ooo_expire(struct srnic_qp *qp);

/* Drops all kept packets and stops the timer, on reset or destruction.  May sleep. */
void srnic_qp_ooo_stop(struct srnic_qp *qp);

static inline void srnic_qp_ooo_check(struct srnic_qp *qp)
{
	if (READ_ONCE(qp->ooo_fired))	/* set by ooo_timer */
		srnic_qp_ooo_expire(qp);
}

#endif /* SRNIC_XPORT_QP_OOO_H */
