/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - the route of a path, and the addresses of a netdev
 */
#ifndef SRNIC_NET_PATH_H
#define SRNIC_NET_PATH_H

#include "net.h"

/*
 * Returns the route of @path, which keeps the reference; NULL if there is none, or if the
 * netdev has left @net.
 */
struct dst_entry *srnic_path_dst(struct srnic_path *path, const struct net *net);

/*
 * Sets the hash and the CPU by which queues are chosen for @skb, here and further down, to
 * those of the path's earlier packets: a stream stays in order, whichever CPU sends.
 * Context: BH disabled.
 */
void srnic_path_steer(struct srnic_path *path, struct sk_buff *skb);

/* Is @addr (IPv4: v4-mapped) an address of @ndev?  Context: RCU. */
bool srnic_ndev_has(struct net_device *ndev, const struct in6_addr *addr);

#endif /* SRNIC_NET_PATH_H */
