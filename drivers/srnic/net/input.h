/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - received packets, from the hook to the layer above
 */
#ifndef SRNIC_NET_INPUT_H
#define SRNIC_NET_INPUT_H

#include "net.h"

/* Callbacks of the layer above, set by srnic_net_init(). */
extern const struct srnic_rx_ops *srnic_rx_ops;

/* What became of a packet that srnic_rx_take() was offered */
enum srnic_rx_fate {
	SRNIC_RX_LEFT,		/* no receiver has its QP number; the caller keeps it */
	SRNIC_RX_REFUSED,	/* its receiver does not accept it; the caller keeps it */
	SRNIC_RX_TAKEN,		/* consumed */
};

/* Offers a packet with its BTH at skb->data + @bth to its receiver.  Context: BH disabled. */
enum srnic_rx_fate srnic_rx_take(struct net *net, struct sk_buff *skb,
				 unsigned int bth);

#endif /* SRNIC_NET_INPUT_H */
