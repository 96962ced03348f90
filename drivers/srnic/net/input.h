/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - received packets, from the hook to the layer above
 */
#ifndef SRNIC_NET_INPUT_H
#define SRNIC_NET_INPUT_H

#include "net.h"

/* Callbacks of the layer above, set by srnic_net_init(). */
extern const struct srnic_rx_ops *srnic_rx_ops;

/* What became of a packet that was offered */
enum srnic_rx_fate {
	SRNIC_RX_LEFT,		/* nobody here has its QP number: the caller has it */
	SRNIC_RX_REFUSED,	/* its receiver may not have it: the caller has it */
	SRNIC_RX_TAKEN,		/* taken over */
};

/* Takes a packet with its BTH at skb->data + @bth.  Context: BH disabled. */
enum srnic_rx_fate srnic_rx_take(struct net *net, struct sk_buff *skb,
				 unsigned int bth);

#endif /* SRNIC_NET_INPUT_H */
