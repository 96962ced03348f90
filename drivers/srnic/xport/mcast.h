/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - multicast: queue pairs that are found by an address of their device
 */
#ifndef SRNIC_XPORT_MCAST_H
#define SRNIC_XPORT_MCAST_H

#include "qp.h"

/* Counters of the first device that @dest reaches; NULL: none.  Context: RCU. */
struct srnic_stats __percpu *
srnic_mcast_stats(const struct srnic_rx_dest *dest);

/*
 * Calls @fn with a reference to each member of the groups that @dest reaches, at most
 * SRNIC_MAX_GROUP_QPS of them; of the management queue pairs, for the first only.
 * Context: RCU.
 */
void srnic_mcast_each(const struct srnic_rx_dest *dest,
		      void (*fn)(struct srnic_qp *qp, struct sk_buff *skb),
		      struct sk_buff *skb);

#endif /* SRNIC_XPORT_MCAST_H */
