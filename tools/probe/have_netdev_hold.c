// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* netdev_hold(), 6.0 */
#include <linux/netdevice.h>

void probe(struct net_device *ndev, netdevice_tracker *tracker);
void probe(struct net_device *ndev, netdevice_tracker *tracker)
{
	netdev_hold(ndev, tracker, GFP_KERNEL);
}
