// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* netif_napi_add() without a weight, 6.1 */
#include <linux/netdevice.h>

void probe(struct net_device *ndev, struct napi_struct *napi,
	   int (*poll)(struct napi_struct *, int));
void probe(struct net_device *ndev, struct napi_struct *napi,
	   int (*poll)(struct napi_struct *, int))
{
	netif_napi_add(ndev, napi, poll);
}
