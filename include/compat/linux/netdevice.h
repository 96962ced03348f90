/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - <linux/netdevice.h> of older kernels made to look like today's
 */
#ifndef SRNIC_COMPAT_NETDEVICE_H
#define SRNIC_COMPAT_NETDEVICE_H

#include_next <linux/netdevice.h>

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
