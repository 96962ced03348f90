/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - received packets, from the hook to the receiver above
 */
#ifndef SRNIC_NET_RX_H
#define SRNIC_NET_RX_H

#include "net.h"

/* The layer above, from srnic_net_init(). */
extern const struct srnic_rx_ops *srnic_rx_ops;

/* Takes a received packet, whose BTH is at @bth from skb->data, if it is ours. */
bool srnic_rx_take(struct net *net, struct sk_buff *skb, unsigned int bth);

#endif /* SRNIC_NET_RX_H */
