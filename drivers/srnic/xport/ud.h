/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - datagrams
 */
#ifndef SRNIC_XPORT_UD_H
#define SRNIC_XPORT_UD_H

#include "outcome.h"
#include "qp.h"

/* Sends the datagram of @wqe. */
enum srnic_outcome srnic_ud_send(struct srnic_qp *qp,
				 const struct srnic_swqe *wqe);

/*
 * Is there a datagram in the run that the QP may be given?  Others are marked not
 * good, and counted: who does not know the Q_Key takes no room in the queue.
 * Context: BH disabled.
 */
bool srnic_ud_admit(struct srnic_qp *qp, struct sk_buff *skb);

/* Receives a run of datagrams, all of them or not yet. */
enum srnic_outcome srnic_ud_rx(struct srnic_qp *qp, struct sk_buff *skb);

/* Between runs no netdev is held, or it could not go. */
void srnic_ud_let_go(struct srnic_qp *qp);

#endif /* SRNIC_XPORT_UD_H */
