/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - packets that a queue pair sends
 */
#ifndef SRNIC_XPORT_QP_SEND_H
#define SRNIC_XPORT_QP_SEND_H

#include "cc.h"
#include "qp.h"
#include "qp_pkt.h"

/* Appends a complete packet to the GSO chain, and accounts for it. */
static inline void srnic_qp_send(struct srnic_qp *qp,
				 const struct srnic_pkt *pkt,
				 struct sk_buff *skb)
{
	trace_srnic_tx(qp->qpn, pkt);
	srnic_cc_spend(qp, skb->len);
	srnic_task_spend(&qp->task, skb->len);
	srnic_tx_add(&qp->txb, skb);
}

#endif /* SRNIC_XPORT_QP_SEND_H */
