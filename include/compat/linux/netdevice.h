/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - wrapper of <linux/netdevice.h>: the current API on older kernels
 */
#ifndef SRNIC_COMPAT_NETDEVICE_H
#define SRNIC_COMPAT_NETDEVICE_H

#include_next <linux/netdevice.h>

#ifndef SRNIC_HAVE_NETDEV_TRACKER
typedef struct {} netdevice_tracker;
#endif

#ifndef SRNIC_HAVE_NETDEV_HOLD
static inline void netdev_hold(struct net_device *ndev,
			       netdevice_tracker *tracker, gfp_t gfp)
{
	dev_hold(ndev);
}

static inline void netdev_put(struct net_device *ndev,
			      netdevice_tracker *tracker)
{
	dev_put(ndev);
}
#endif

#ifndef SRNIC_HAVE_NAPI_WITHOUT_WEIGHT
#define netif_napi_add(ndev, napi, poll) \
	netif_napi_add(ndev, napi, poll, NAPI_POLL_WEIGHT)
#endif

#ifndef SRNIC_HAVE_NETDEV_DUMMY
#include <linux/slab.h>

/* There is no way to free a dummy netdev, but no need to register anything either. */
static inline struct net_device *alloc_netdev_dummy(int sizeof_priv)
{
	struct net_device *ndev = kzalloc(sizeof(*ndev) + sizeof_priv, GFP_KERNEL);

	if (ndev)
		init_dummy_netdev(ndev);

	return ndev;
}

static inline void srnic_free_netdev_dummy(struct net_device *ndev)
{
	kfree(ndev);
}

#define free_netdev srnic_free_netdev_dummy
#endif

#endif /* SRNIC_COMPAT_NETDEVICE_H */
