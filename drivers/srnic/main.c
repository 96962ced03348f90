// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - module and devices: created by "rdma link add", removed with their netdev
 *
 * A device lives in the network namespace of its netdev.  It takes no reference on
 * the namespace, which would keep the namespace alive forever; instead the exit of
 * the namespace waits until its last device is gone.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/wait_bit.h>
#include <net/addrconf.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <rdma/ib_addr.h>
#include <rdma/rdma_netlink.h>

#include "srnic.h"
#include "verbs/verbs.h"

/**
 * struct srnic_net - per-namespace state
 * @devs: number of devices in the namespace
 */
struct srnic_net {
	atomic_t	devs;
};

static unsigned int net_id __read_mostly;

/* Makes the check for an existing device and the creation of one atomic */
static DEFINE_MUTEX(link_mutex);

/*
 * All devices, of both link types.  The core finds a device by its netdev only if
 * ib_device_set_netdev() was called, see get_netdev() in verbs/device.c.
 */
static LIST_HEAD(dev_list);
static DEFINE_SPINLOCK(dev_lock);	/* protects dev_list and the rounds in it */

/* Runs srnic_dev.leave and srnic_dev.released */
static struct workqueue_struct *dev_wq;

static void net_hold(struct net *net)
{
	struct srnic_net *sn = net_generic(net, net_id);

	atomic_inc(&sn->devs);
}

static void net_release(struct net *net)
{
	struct srnic_net *sn = net_generic(net, net_id);

	if (atomic_dec_and_test(&sn->devs))
		wake_up_var(&sn->devs);
}

static int __net_init net_setup(struct net *net)
{
	struct srnic_net *sn = net_generic(net, net_id);

	atomic_set(&sn->devs, 0);

	return 0;
}

/* A device that has not been looked at in this @round, or NULL */
static struct srnic_dev *dev_of_round(unsigned long round)
{
	struct srnic_dev *dev, *found = NULL;

	spin_lock(&dev_lock);
	list_for_each_entry(dev, &dev_list, list) {
		if (dev->round != round) {
			dev->round = round;
			get_device(&dev->ib_dev.dev);
			found = dev;
			break;
		}
	}
	spin_unlock(&dev_lock);

	return found;
}

/*
 * In shared mode devices of other namespaces are visible in all of them, which the core
 * ends last when it removes a device, after all users have gone: waits for removals that
 * are as far as that.  Namespaces exit one at a time.
 */
static void devs_finish(void)
{
	static unsigned long round;
	struct srnic_dev *dev;

	for (round++; (dev = dev_of_round(round)); put_device(&dev->ib_dev.dev)) {
		if (ib_device_try_get(&dev->ib_dev)) {
			ib_device_put(&dev->ib_dev);
			continue;
		}
		mutex_lock(&dev->ib_dev.unregistration_lock);
		mutex_unlock(&dev->ib_dev.unregistration_lock);
	}
}

/* The netdevs are gone by now, and the removal of their devices is queued. */
static void __net_exit net_teardown(struct net *net)
{
	struct srnic_net *sn = net_generic(net, net_id);

	devs_finish();
	wait_var_event(&sn->devs, !atomic_read(&sn->devs));
}

static struct pernet_operations net_ops = {
	.init	= net_setup,
	.exit	= net_teardown,
	.id	= &net_id,
	.size	= sizeof(struct srnic_net),
};

/*
 * Is the TUN device @ndev a port of a bond or team, which then has its type?  The core
 * holds such a master for its addresses and is not notified of its removal.
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
		netdev_info(ndev, "srnic: use the device that it is a port of\n");
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
	netdev_info(ndev, "srnic: the link is that of %s, which has the VLAN's addresses as GIDs\n",
		    netdev_name(below));

	return below;
}

static void dev_set_identity(struct ib_device *ibdev,
			     const struct net_device *ndev)
{
	u8 mac[ETH_ALEN];

	/* Loopback and TUN have no MAC address, but the GUID must be unique. */
	if (ndev->addr_len == ETH_ALEN && !is_zero_ether_addr(ndev->dev_addr))
		ether_addr_copy(mac, ndev->dev_addr);
	else
		eth_random_addr(mac);

	addrconf_addr_eui48((u8 *)&ibdev->node_guid, mac);
	strscpy(ibdev->node_desc, SRNIC_NODE_DESC " software RoCEv2 NIC",
		sizeof(ibdev->node_desc));

	ibdev->node_type = RDMA_NODE_IB_CA;
	ibdev->phys_port_cnt = 1;
	ibdev->num_comp_vectors = num_possible_cpus();
	ibdev->local_dma_lkey = 0;
	ibdev->uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_POST_SEND) |
				  BIT_ULL(IB_USER_VERBS_CMD_POST_RECV) |
				  BIT_ULL(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ);
}

/* Returns the current namespace of @ndev and counts a device in it. */
static struct net *ndev_hold_net(const struct net_device *ndev)
{
	struct net *net;

	rtnl_lock();	/* against a move of @ndev, as when its namespace exits */
	net = dev_net(ndev);
	net_hold(net);
	rtnl_unlock();

	return net;
}

static void dev_publish(struct srnic_dev *dev)
{
	spin_lock(&dev_lock);
	list_add(&dev->list, &dev_list);
	spin_unlock(&dev_lock);
}

static void dev_unpublish(struct srnic_dev *dev)
{
	spin_lock(&dev_lock);
	list_del(&dev->list);
	spin_unlock(&dev_lock);
}

/* The ABI decides what users see of the device and how the core finds its netdev. */
static int dev_set_abi(struct srnic_dev *dev, struct net_device *ndev,
		       enum srnic_abi abi)
{
	dev->abi = abi;
	if (abi == SRNIC_ABI_RXE)
		return 0;

	dev->ib_dev.driver_def = srnic_dm_defs;

	return ib_device_set_netdev(&dev->ib_dev, ndev, 1);
}

static void dev_leave(struct work_struct *work)
{
	struct srnic_dev *dev = container_of(work, struct srnic_dev, leave);

	ib_unregister_device(&dev->ib_dev);
	put_device(&dev->ib_dev.dev);
}

/*
 * Starts removing @dev.  ib_unregister_device_queued() is for registered devices, but
 * @dev may be about to be registered in another namespace.  Context: any.
 */
static void dev_remove(struct srnic_dev *dev)
{
	get_device(&dev->ib_dev.dev);
	if (!queue_work(dev_wq, &dev->leave))
		put_device(&dev->ib_dev.dev);
}

/*
 * The core may still be on its way out of srnic_dev_dealloc(): another call to
 * unregister waits for that.  Afterwards the namespace, and the module, may go.
 */
static void dev_released(struct work_struct *work)
{
	struct srnic_dev *dev = container_of(work, struct srnic_dev, released);
	struct net *net = dev->net;

	ib_unregister_device(&dev->ib_dev);
	put_device(&dev->ib_dev.dev);
	net_release(net);
}

/* Creates a device ready for registration; undone by ib_dealloc_device(). */
static struct srnic_dev *dev_create(struct net_device *ndev, enum srnic_abi abi)
{
	struct net *net = ndev_hold_net(ndev);
	struct srnic_dev *dev;
	int err;

	dev = ib_alloc_device_with_net(srnic_dev, ib_dev, net);
	if (!dev) {
		err = -ENOMEM;
		goto err_net;
	}

	dev_set_identity(&dev->ib_dev, ndev);

	dev->stats = alloc_percpu(struct srnic_stats);
	if (!dev->stats) {
		err = -ENOMEM;
		goto err_dev;
	}

	err = dev_set_abi(dev, ndev, abi);
	if (err)
		goto err_stats;

	err = srnic_rx_start(net);
	if (err)
		goto err_stats;

	srnic_keys_init(&dev->keys);
	xa_init_flags(&dev->counter_sets, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	mutex_init(&dev->counter_lock);
	INIT_LIST_HEAD(&dev->users);
	mutex_init(&dev->users_lock);
	srnic_pools_init(&dev->pools, NULL, NULL);
	dev->ndev = ndev;
	netdev_hold(ndev, &dev->ndev_tracker, GFP_KERNEL);
	srnic_tap_init(&dev->tap, ndev, dev->stats);
	dev->net = net;
	INIT_WORK(&dev->leave, dev_leave);
	INIT_WORK(&dev->released, dev_released);
	dev_publish(dev);

	/* From now on ib_dealloc_device() calls srnic_dev_dealloc(). */
	ib_set_device_ops(&dev->ib_dev, &srnic_dev_ops);
	ib_set_device_ops(&dev->ib_dev, &srnic_abi_ops[abi]);

	return dev;

err_stats:
	free_percpu(dev->stats);
err_dev:
	ib_dealloc_device(&dev->ib_dev);
err_net:
	net_release(net);
	return ERR_PTR(err);
}

void srnic_dev_dealloc(struct ib_device *ibdev)
{
	struct srnic_dev *dev = to_dev(ibdev);

	dev_unpublish(dev);
	srnic_rx_stop(dev->net);
	/* Packets without a queue pair are counted without a reference on the device. */
	synchronize_rcu();
	srnic_keys_destroy(&dev->keys);
	xa_destroy(&dev->counter_sets);
	mutex_destroy(&dev->counter_lock);
	WARN_ON(!list_empty(&dev->users));
	mutex_destroy(&dev->users_lock);
	free_percpu(dev->stats);
	netdev_put(dev->ndev, &dev->ndev_tracker);

	get_device(&ibdev->dev);
	queue_work(dev_wq, &dev->released);
}

/*
 * The device on @ndev, or any if that is NULL; registered or not, but not yet freed by
 * srnic_dev_dealloc().  The caller ends with put_device().
 */
static struct srnic_dev *dev_find(const struct net_device *ndev)
{
	struct srnic_dev *dev, *found = NULL;

	spin_lock(&dev_lock);
	list_for_each_entry(dev, &dev_list, list) {
		if (!ndev || dev->ndev == ndev) {
			get_device(&dev->ib_dev.dev);
			found = dev;
			break;
		}
	}
	spin_unlock(&dev_lock);

	return found;
}

/*
 * Removes every device, with no lock held: users that are stuck in a command delay it.
 * There are no new devices.
 */
static void devs_remove(void)
{
	struct srnic_dev *dev;

	while ((dev = dev_find(NULL))) {
		ib_unregister_device(&dev->ib_dev);
		put_device(&dev->ib_dev.dev);
	}
}

/*
 * If the netdev left while its device was being registered, its notifier found no
 * device to remove; remove it now.  A netdev leaves under rtnl, so either this sees
 * that it has left, or the notifier finds the device.
 */
static void dev_check_ndev(struct net_device *ndev, const struct net *net)
{
	struct srnic_dev *dev = dev_find(ndev);

	if (!dev)
		return;

	rtnl_lock();
	if (ndev->reg_state != NETREG_REGISTERED || !net_eq(dev_net(ndev), net))
		dev_remove(dev);
	rtnl_unlock();
	put_device(&dev->ib_dev.dev);
}

/* Does rdma_rxe have a device on @ndev?  Both would receive from QP1 of the same address. */
static bool ndev_is_taken(struct net_device *ndev)
{
	struct ib_device *other;

	other = ib_device_get_by_netdev(ndev, RDMA_DRIVER_RXE);
	if (!other)
		return false;

	netdev_info(ndev, "srnic: %s of rdma_rxe is here already\n",
		    dev_name(&other->dev));
	ib_device_put(other);

	return true;
}

static int link_new_abi(const char *name, struct net_device *ndev,
			enum srnic_abi abi)
{
	struct srnic_dev *dev;
	struct net *net;
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

	dev = dev_find(ndev);
	if (dev) {
		netdev_info(ndev, "srnic: %s is here already\n",
			    dev_name(&dev->ib_dev.dev));
		put_device(&dev->ib_dev.dev);
		err = -EEXIST;
		goto out;
	}

	dev = dev_create(ndev, abi);
	if (IS_ERR(dev)) {
		err = PTR_ERR(dev);
		goto out;
	}
	net = dev->net;

	ib_mark_name_assigned_by_user(&dev->ib_dev);
	err = ib_register_device(&dev->ib_dev, name, NULL);
	if (err) {
		ib_dealloc_device(&dev->ib_dev);
		goto out;
	}

	/* @dev may be gone already: users can delete it at any time. */
	dev_check_ndev(ndev, net);
out:
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

static void link_downed(struct srnic_dev *dev)
{
	local_bh_disable();
	srnic_count(dev->stats, SRNIC_CNT_LINK_DOWNED);
	local_bh_enable();
}

/* Without room for a RoCE packet the port is down, which the core cannot see. */
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

/* What happens to the netdev of a registered device; @info is that of the notifier */
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

	dev = dev_find(ndev);
	if (!dev)
		return NOTIFY_DONE;

	switch (event) {
	case NETDEV_UNREGISTER:	/* or moved to another namespace */
		srnic_tap_stop(&dev->tap);
		dev_remove(dev);
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

	dev_wq = alloc_workqueue("srnic-dev", WQ_UNBOUND, 0);
	if (!dev_wq) {
		err = -ENOMEM;
		goto err_xport;
	}

	err = register_pernet_subsys(&net_ops);
	if (err)
		goto err_wq;

	err = register_netdevice_notifier(&ndev_notifier);
	if (err)
		goto err_pernet;

	rdma_link_register(&link_ops);
	rdma_link_register(&link_ops_rxe);

	return 0;

err_pernet:
	unregister_pernet_subsys(&net_ops);
err_wq:
	destroy_workqueue(dev_wq);
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
	unregister_netdevice_notifier(&ndev_notifier);
	devs_remove();
	unregister_pernet_subsys(&net_ops);	/* waits for dev_released() */
	destroy_workqueue(dev_wq);
	srnic_xport_exit();
	srnic_mem_exit();
	srnic_exec_exit();
}

module_init(srnic_init);
module_exit(srnic_exit);

MODULE_DESCRIPTION("Software RDMA NIC over Ethernet (RoCEv2)");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_ALIAS_RDMA_LINK("srnic");
MODULE_ALIAS_RDMA_LINK("srnic_rxe");
