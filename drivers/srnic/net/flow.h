/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - what the files of net/ tell each other
 */
#ifndef SRNIC_NET_FLOW_H
#define SRNIC_NET_FLOW_H

#include "net.h"

#define SRNIC_UDP4_BYTES	(sizeof(struct iphdr) + sizeof(struct udphdr))
#define SRNIC_UDP6_BYTES	(sizeof(struct ipv6hdr) + sizeof(struct udphdr))

/* The layer above, from srnic_net_init(). */
extern const struct srnic_rx_ops *srnic_rx_ops;

/* The route of @flow, owned by it; NULL if there is none. */
struct dst_entry *srnic_flow_dst(struct srnic_flow *flow);

/* Is @addr, an IPv4 one v4-mapped, an address of @ndev?  Context: RCU. */
bool srnic_ndev_has(struct net_device *ndev, const struct in6_addr *addr);

/* Takes a received packet, whose BTH is at @bth from skb->data, if it is ours. */
bool srnic_rx_take(struct net *net, struct sk_buff *skb, unsigned int bth);

/* An empty buffer of @len bytes, or NULL.  Context: BH disabled. */
struct sk_buff *srnic_tx_new(unsigned int len);

/* Charges the gate until the stack is done with @skb. */
void srnic_tx_charge(struct srnic_gate *gate, struct sk_buff *skb);

/* Frees what the sender keeps; nobody sends any more. */
void srnic_tx_exit(void);

#endif /* SRNIC_NET_FLOW_H */
