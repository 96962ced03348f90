/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - received packets, from the hook to the layer above
 */
#ifndef SRNIC_NET_RX_H
#define SRNIC_NET_RX_H

#include "net.h"

/* Callbacks of the layer above, set by srnic_net_init(). */
extern const struct srnic_rx_ops *srnic_rx_ops;

/* Takes a packet with its BTH at skb->data + @bth.  Return: false if not for srnic. */
bool srnic_rx_take(struct net *net, struct sk_buff *skb, unsigned int bth);

#endif /* SRNIC_NET_RX_H */
