/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - the route of a path, and the addresses of a netdev
 */
#ifndef SRNIC_NET_PATH_H
#define SRNIC_NET_PATH_H

#include "net.h"

/*
 * The route of @path, which keeps the reference; NULL if there is none, or the netdev has
 * left @net.
 */
struct dst_entry *srnic_path_dst(struct srnic_path *path, const struct net *net);

/*
 * Chooses the queues of @skb, here and wherever else its hash decides: those of the
 * path's earlier packets, whatever CPU sends, so that a stream stays in order.
 * Context: BH disabled.
 */
void srnic_path_steer(struct srnic_path *path, struct sk_buff *skb);

/* Is @addr (IPv4: v4-mapped) an address of @ndev?  Context: RCU. */
bool srnic_ndev_has(struct net_device *ndev, const struct in6_addr *addr);

#endif /* SRNIC_NET_PATH_H */
