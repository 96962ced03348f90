/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - UD: sending and receiving of datagrams
 */
#ifndef SRNIC_XPORT_UD_H
#define SRNIC_XPORT_UD_H

#include "outcome.h"
#include "qp.h"

enum srnic_outcome srnic_ud_send(struct srnic_qp *qp,
				 const struct srnic_swqe *wqe);

/*
 * Does the chain contain a datagram for the QP?  Others are marked not good and
 * counted: packets without the right Q_Key take no room in the queue.  Context: BH
 * disabled.
 */
bool srnic_ud_admit(struct srnic_qp *qp, struct sk_buff *skb);

/* Receives a chain of datagrams.  SRNIC_AGAIN: part of it is left. */
enum srnic_outcome srnic_ud_rx(struct srnic_qp *qp, struct sk_buff *skb);

/* No netdev is held between runs, or it could not be unregistered. */
void srnic_ud_let_go(struct srnic_qp *qp);

#endif /* SRNIC_XPORT_UD_H */
