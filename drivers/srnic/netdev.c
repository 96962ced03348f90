// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - events of netdevs: a device ends with its netdev, and its port follows it
 */
#include <linux/netdevice.h>
#include <rdma/ib_addr.h>

#include "srnic.h"

static void link_downed(struct srnic_dev *dev)
{
	local_bh_disable();
	srnic_count(dev->stats, SRNIC_CNT_LINK_DOWNED);
	local_bh_enable();
}

/* A port with too small an MTU for RoCE is down, which the core does not detect. */
static void mtu_changed(struct srnic_dev *dev, u32 before)
{
	bool fits = iboe_get_mtu(dev->ndev->mtu);
	struct ib_event event = {
		.device		  = &dev->ib_dev,
		.element.port_num = 1,
		.event		  = fits ? IB_EVENT_PORT_ACTIVE :
					   IB_EVENT_PORT_ERR,
	};

	if (ib_get_curr_port_state(dev->ndev) == IB_PORT_ACTIVE &&
	    fits != !!iboe_get_mtu(before))
		ib_dispatch_event(&event);
}

/* Handles an event of the netdev of a registered device; @info: as passed to the notifier */
static void port_event(struct srnic_dev *dev, unsigned long event, void *info)
{
	const struct netdev_notifier_info_ext *ext = info;
	const struct net_device *ndev = dev->ndev;

	switch (event) {
	case NETDEV_DOWN:
		link_downed(dev);
		ib_dispatch_port_state_event(&dev->ib_dev, dev->ndev);
		break;
	case NETDEV_CHANGE:
		if (netif_running(ndev) && !netif_carrier_ok(ndev))
			link_downed(dev);
		fallthrough;
	case NETDEV_UP:
		/* The core suppresses events that do not change the state. */
		if (iboe_get_mtu(ndev->mtu))
			ib_dispatch_port_state_event(&dev->ib_dev, dev->ndev);
		break;
	case NETDEV_CHANGEMTU:
		mtu_changed(dev, ext->ext.mtu);
		break;
	default:
		break;
	}
}

static int ndev_event(struct notifier_block *nb, unsigned long event, void *arg)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(arg);
	struct srnic_dev *dev;
	int err = 0;

	/*
	 * The addresses of a VLAN, bond or macvlan are GIDs of devices on its lower
	 * netdevs.  A netdev that moves to another namespace is registered there; this
	 * catches paths created since it left the first.
	 */
	if (event == NETDEV_UNREGISTER || event == NETDEV_REGISTER)
		srnic_qp_ndev_left(ndev);

	dev = srnic_dev_find(ndev);
	if (!dev)
		return NOTIFY_DONE;

	switch (event) {
	case NETDEV_UNREGISTER:	/* or moved to another namespace */
		srnic_tap_stop(&dev->tap);
		srnic_dev_remove(dev);
		break;
	case NETDEV_PRE_TYPE_CHANGE:	/* the device's capabilities depend on the type */
		err = -EBUSY;
		break;
	default:
		if (!ib_device_try_get(&dev->ib_dev))
			break;
		port_event(dev, event, arg);
		ib_device_put(&dev->ib_dev);
		break;
	}

	put_device(&dev->ib_dev.dev);

	return notifier_from_errno(err);
}

static struct notifier_block ndev_notifier = {
	.notifier_call = ndev_event,
};

int srnic_netdev_init(void)
{
	return register_netdevice_notifier(&ndev_notifier);
}

void srnic_netdev_exit(void)
{
	unregister_netdevice_notifier(&ndev_notifier);
}
