// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - the module, and the devices added by "rdma link add"
 */
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/net_namespace.h>
#include <rdma/rdma_netlink.h>

#include "srnic.h"
#include "verbs/verbs.h"

/* Makes the check for an existing device and the creation of one atomic */
static DEFINE_MUTEX(link_mutex);

/*
 * Is the TUN device @ndev a port of a bond or team, which then has its type?  The core holds
 * a reference on such a master, for its addresses, and is not notified of its removal.
 */
static bool ndev_has_like_master(struct net_device *ndev)
{
	const struct net_device *master;
	bool like;

	rcu_read_lock();
	master = netdev_master_upper_dev_get_rcu(ndev);
	like = master && master->type == ndev->type;
	rcu_read_unlock();

	return like;
}

/* Can RoCEv2 run over @ndev?  It needs IP, over Ethernet or without it (TUN). */
static int ndev_check(struct net_device *ndev)
{
	switch (ndev->type) {
	case ARPHRD_ETHER:
	case ARPHRD_LOOPBACK:
	case ARPHRD_NONE:
		break;
	default:
		netdev_info(ndev, "srnic: needs an Ethernet device, or a TUN\n");
		return -EOPNOTSUPP;
	}
	if (ndev->type == ARPHRD_NONE && ndev_has_like_master(ndev)) {
		netdev_info(ndev, "srnic: is a bond or team port; create the link on its master\n");
		return -EOPNOTSUPP;
	}

	return 0;
}

/*
 * The netdev that a link on @ndev belongs to: the RDMA core gives the addresses of a VLAN
 * to the device on the netdev below.
 */
static struct net_device *ndev_below_vlan(struct net_device *ndev)
{
	struct net_device *below;

	if (!is_vlan_dev(ndev))
		return ndev;

	below = vlan_dev_real_dev(ndev);
	if (!net_eq(dev_net(below), dev_net(ndev))) {
		netdev_info(ndev, "srnic: the device below the VLAN is in another namespace\n");
		return ERR_PTR(-EOPNOTSUPP);
	}
	netdev_info(ndev, "srnic: the link is created on %s, which has the VLAN's addresses as GIDs\n",
		    netdev_name(below));

	return below;
}

/*
 * Does rdma_rxe have a device on @ndev?  Both would receive from QP1 of the same address.  A
 * device that it registers at the same time is missed, and it does not look for ours.
 */
static bool ndev_is_taken(struct net_device *ndev)
{
	struct ib_device *other;

	other = ib_device_get_by_netdev(ndev, RDMA_DRIVER_RXE);
	if (!other)
		return false;

	netdev_info(ndev, "srnic: already has RDMA device %s of rdma_rxe\n",
		    dev_name(&other->dev));
	ib_device_put(other);

	return true;
}

static int link_new_abi(const char *name, struct net_device *ndev,
			enum srnic_abi abi)
{
	struct srnic_dev *dev;
	int err;

	ndev = ndev_below_vlan(ndev);
	if (IS_ERR(ndev))
		return PTR_ERR(ndev);

	err = ndev_check(ndev);
	if (err)
		return err;
	if (ndev_is_taken(ndev))
		return -EEXIST;

	mutex_lock(&link_mutex);

	dev = srnic_dev_find(ndev);
	if (dev) {
		netdev_info(ndev, "srnic: already has RDMA device %s\n",
			    dev_name(&dev->ib_dev.dev));
		put_device(&dev->ib_dev.dev);
		err = -EEXIST;
	} else {
		err = srnic_dev_add(name, ndev, abi);
	}

	mutex_unlock(&link_mutex);

	return err;
}

static int link_new(const char *name, struct net_device *ndev)
{
	return link_new_abi(name, ndev, SRNIC_ABI_OWN);
}

static int link_new_rxe(const char *name, struct net_device *ndev)
{
	return link_new_abi(name, ndev, SRNIC_ABI_RXE);
}

static struct rdma_link_ops link_ops = {
	.type		= "srnic",
	.newlink	= link_new,
};

static struct rdma_link_ops link_ops_rxe = {
	.type		= "srnic_rxe",
	.newlink	= link_new_rxe,
};

static int __init srnic_init(void)
{
	int err;

	err = srnic_exec_init();
	if (err)
		return err;

	err = srnic_mem_init();
	if (err)
		goto err_exec;

	err = srnic_xport_init();
	if (err)
		goto err_mem;

	err = srnic_verbs_init();
	if (err)
		goto err_xport;

	err = srnic_devs_init();
	if (err)
		goto err_verbs;

	err = srnic_netdev_init();
	if (err)
		goto err_devs;

	rdma_link_register(&link_ops);
	rdma_link_register(&link_ops_rxe);

	return 0;

err_devs:
	srnic_devs_exit();
err_verbs:
	srnic_verbs_exit();
err_xport:
	srnic_xport_exit();
err_mem:
	srnic_mem_exit();
err_exec:
	srnic_exec_exit();
	return err;
}

static void __exit srnic_exit(void)
{
	rdma_link_unregister(&link_ops_rxe);
	rdma_link_unregister(&link_ops);
	srnic_netdev_exit();
	srnic_devs_exit();
	srnic_verbs_exit();
	srnic_xport_exit();
	srnic_mem_exit();
	srnic_exec_exit();
}

module_init(srnic_init);
module_exit(srnic_exit);

MODULE_AUTHOR("The srnic authors");
MODULE_DESCRIPTION("Software RDMA NIC over Ethernet (RoCEv2)");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_ALIAS_RDMA_LINK("srnic");
MODULE_ALIAS_RDMA_LINK("srnic_rxe");
