// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - devices: created on a netdev, registered with the RDMA core, removed and freed
 *
 * A device lives in the network namespace of its netdev.  It takes no reference on
 * the namespace, which would keep the namespace alive forever; instead the exit of
 * the namespace waits until its last device is gone.
 */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/sizes.h>
#include <linux/wait_bit.h>
#include <net/addrconf.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

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

/*
 * All devices, of both link types.  The core finds a device by its netdev only if
 * ib_device_set_netdev() was called, see dev_get_netdev().
 */
static LIST_HEAD(dev_list);
static DEFINE_SPINLOCK(dev_lock);	/* protects dev_list */
static DEFINE_MUTEX(finish_lock);	/* protects the round of devs_finish() */

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

/*
 * Gets a device that @round has not visited yet; NULL: none is left.  Visited ones are at
 * the end of the list, since new ones are added at its start.
 */
static struct srnic_dev *dev_of_round(unsigned long round)
{
	struct srnic_dev *dev;

	spin_lock(&dev_lock);
	dev = list_first_entry_or_null(&dev_list, struct srnic_dev, list);
	if (dev && dev->round != round) {
		dev->round = round;
		list_move_tail(&dev->list, &dev_list);
		get_device(&dev->ib_dev.dev);
	} else {
		dev = NULL;
	}
	spin_unlock(&dev_lock);

	return dev;
}

/*
 * In shared mode a device is visible in all namespaces.  The core ends that in the last step
 * of its removal, after all users have gone.  Waits for removals that have reached this
 * step, by taking the lock that the core holds meanwhile: ib_unregister_device() would wait
 * as well, but would also remove a device that is being registered.  Namespaces may exit at
 * the same time: one of which another pernet operation has failed, and a batch of others.
 */
static void devs_finish(void)
{
	static unsigned long round;
	struct srnic_dev *dev;

	mutex_lock(&finish_lock);
	for (round++; (dev = dev_of_round(round)); put_device(&dev->ib_dev.dev)) {
		if (ib_device_try_get(&dev->ib_dev)) {
			ib_device_put(&dev->ib_dev);
			continue;
		}
		mutex_lock(&dev->ib_dev.unregistration_lock);
		mutex_unlock(&dev->ib_dev.unregistration_lock);
	}
	mutex_unlock(&finish_lock);
}

/* By now the netdevs are gone, and the removal of their devices is queued. */
static void __net_exit net_teardown(struct list_head *nets)
{
	struct srnic_net *sn;
	struct net *net;

	devs_finish();
	list_for_each_entry(net, nets, exit_list) {
		sn = net_generic(net, net_id);
		wait_var_event(&sn->devs, !atomic_read(&sn->devs));
	}
}

static struct pernet_operations net_ops = {
	.init		= net_setup,
	.exit_batch	= net_teardown,
	.id		= &net_id,
	.size		= sizeof(struct srnic_net),
};

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

static void dev_set_defaults(struct srnic_dev *dev)
{
	dev->tuning.ecn = 1;
	dev->tuning.loopback = 1;
	dev->tuning.poll = 1;
	dev->tuning.sack = 1;
	dev->rx_kbytes = 128 * SZ_1K;
	dev->user_share = 25;
	dev->rmem.kbytes = &dev->rx_kbytes;
}

/*
 * Returns the current namespace of @ndev and counts a device in it.  @ndev may have moved
 * since it was looked up: its device is created where it is.
 */
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

/* ib_unregister_device_queued() cannot be used, as @dev may not be registered yet. */
void srnic_dev_remove(struct srnic_dev *dev)
{
	get_device(&dev->ib_dev.dev);
	if (!queue_work(dev_wq, &dev->leave))
		put_device(&dev->ib_dev.dev);
}

/*
 * The thread that called dev_dealloc() may still be executing it.  The core serialises
 * removals, so it has returned once another ib_unregister_device() returns; then the
 * namespace and the module may go.  ib_unregister_driver(), which is meant for this, would
 * also remove the devices of rdma_rxe.
 */
static void dev_released(struct work_struct *work)
{
	struct srnic_dev *dev = container_of(work, struct srnic_dev, released);
	struct net *net = dev->net;

	ib_unregister_device(&dev->ib_dev);
	put_device(&dev->ib_dev.dev);
	net_release(net);
}

struct srnic_dev *srnic_dev_find(const struct net_device *ndev)
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

static void dev_dealloc(struct ib_device *ibdev)
{
	struct srnic_dev *dev = to_dev(ibdev);

	dev_unpublish(dev);
	srnic_rx_stop(dev->net);
	/* Packets that reach no queue pair are counted without a reference on the device. */
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

static const struct ib_device_ops dev_ops = {
	.owner			= THIS_MODULE,

	.advise_mr		= srnic_advise_mr,
	.alloc_hw_port_stats	= srnic_alloc_hw_port_stats,
	.alloc_mr		= srnic_alloc_mr,
	.alloc_mr_integrity	= srnic_alloc_mr_integrity,
	.alloc_mw		= srnic_alloc_mw,
	.alloc_pd		= srnic_alloc_pd,
	.alloc_ucontext		= srnic_alloc_ucontext,
	.attach_mcast		= srnic_attach_mcast,
	.check_mr_status	= srnic_check_mr_status,
	.counter_alloc_stats	= srnic_counter_alloc_stats,
	.counter_bind_qp	= srnic_counter_bind_qp,
	.counter_dealloc	= srnic_counter_dealloc,
	.counter_unbind_qp	= srnic_counter_unbind_qp,
	.counter_update_stats	= srnic_counter_update_stats,
	.create_ah		= srnic_create_ah,
	.create_cq		= srnic_create_cq,
	.create_qp		= srnic_create_qp,
	.create_srq		= srnic_create_srq,
	.create_user_ah		= srnic_create_ah,
	.dealloc_driver		= dev_dealloc,
	.dealloc_mw		= srnic_dealloc_mw,
	.dealloc_pd		= srnic_dealloc_pd,
	.dealloc_ucontext	= srnic_dealloc_ucontext,
	.dereg_mr		= srnic_dereg_mr,
	.destroy_ah		= srnic_destroy_ah,
	.destroy_cq		= srnic_destroy_cq,
	.destroy_qp		= srnic_destroy_qp,
	.destroy_srq		= srnic_destroy_srq,
	.detach_mcast		= srnic_detach_mcast,
	.device_group		= &srnic_device_group,
	.disassociate_ucontext	= srnic_disassociate_ucontext,
	.fill_res_cq_entry	= srnic_fill_res_cq,
	.fill_res_mr_entry	= srnic_fill_res_mr,
	.fill_res_qp_entry	= srnic_fill_res_qp,
	.get_dev_fw_str		= srnic_get_dev_fw_str,
	.get_dma_mr		= srnic_get_dma_mr,
	.get_hw_stats		= srnic_get_hw_stats,
	.get_link_layer		= srnic_get_link_layer,
	.get_port_immutable	= srnic_get_port_immutable,
	.map_mr_sg		= srnic_map_mr_sg,
	.map_mr_sg_pi		= srnic_map_mr_sg_pi,
	.mmap			= srnic_mmap,
	.mmap_free		= srnic_mmap_free,
	.modify_qp		= srnic_modify_qp,
	.modify_srq		= srnic_modify_srq,
	.poll_cq		= srnic_poll_cq,
	.post_recv		= srnic_post_recv,
	.post_send		= srnic_post_send,
	.post_srq_recv		= srnic_post_srq_recv,
	.process_mad		= srnic_process_mad,
	.query_ah		= srnic_query_ah,
	.query_device		= srnic_query_device,
	.query_pkey		= srnic_query_pkey,
	.query_port		= srnic_query_port,
	.query_qp		= srnic_query_qp,
	.query_srq		= srnic_query_srq,
	.query_ucontext		= srnic_query_ucontext,
	.reg_user_mr		= srnic_reg_user_mr,
	.req_notify_cq		= srnic_req_notify_cq,
	.resize_user_cq		= srnic_resize_cq,

	INIT_RDMA_OBJ_SIZE(ib_ah, srnic_ah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_cq, srnic_ibcq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_mw, srnic_ibmw, ibmw),
	INIT_RDMA_OBJ_SIZE(ib_pd, srnic_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, srnic_ibqp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_srq, srnic_ibsrq, ibsrq),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, srnic_ucontext, ibuc),

	SRNIC_COUNTER_OBJ
	SRNIC_FILL_RES_SRQ(srnic_fill_res_srq)
	SRNIC_QUERY_PORT_SPEED(srnic_query_port_speed)
};

/*
 * uverbs_abi_ver of rdma_rxe; <rdma/rdma_user_rxe.h> does not have it.  Layouts of
 * version 1 differed on 32-bit architectures.
 */
#define RXE_ABI_VERSION	2

/*
 * The netdev of a device with the driver id of rdma_rxe.  If it were set with
 * ib_device_set_netdev(), rdma_rxe would find the device and take it for its own.
 */
static struct net_device *dev_get_netdev(struct ib_device *ibdev, u32 port)
{
	struct net_device *ndev = to_dev(ibdev)->ndev;

	dev_hold(ndev);

	return ndev;
}

/* Operations that depend on the user ABI, indexed by enum srnic_abi */
static const struct ib_device_ops abi_ops[] = {
	[SRNIC_ABI_OWN] = {
		.driver_id		= (enum rdma_driver_id)SRNIC_DRIVER_ID,
		.uverbs_abi_ver		= SRNIC_ABI_VERSION,

		.alloc_dm		= srnic_alloc_dm,
		.alloc_xrcd		= srnic_alloc_xrcd,
		.create_counters	= srnic_create_counters,
		.create_flow		= srnic_create_flow,
		.create_rwq_ind_table	= srnic_create_rwq_ind_table,
		.create_wq		= srnic_create_wq,
		.dealloc_dm		= srnic_dealloc_dm,
		.dealloc_xrcd		= srnic_dealloc_xrcd,
		.destroy_counters	= srnic_destroy_counters,
		.destroy_flow		= srnic_destroy_flow,
		.destroy_rwq_ind_table	= srnic_destroy_rwq_ind_table,
		.destroy_wq		= srnic_destroy_wq,
		.modify_cq		= srnic_modify_cq,
		.modify_wq		= srnic_modify_wq,
		.read_counters		= srnic_read_counters,
		.reg_dm_mr		= srnic_reg_dm_mr,
		.reg_user_mr_dmabuf	= srnic_reg_user_mr_dmabuf,
		.rereg_user_mr		= srnic_rereg_user_mr,

		INIT_RDMA_OBJ_SIZE(ib_counters, srnic_ibcounters, ibcounters),
		INIT_RDMA_OBJ_SIZE(ib_rwq_ind_table, srnic_ind_table, ibtable),
		INIT_RDMA_OBJ_SIZE(ib_xrcd, srnic_xrcd, ibxrcd),
	},
	/* librxe implements none of the operations above. */
	[SRNIC_ABI_RXE] = {
		.driver_id		= RDMA_DRIVER_RXE,
		.uverbs_abi_ver		= RXE_ABI_VERSION,

		.get_netdev		= dev_get_netdev,
	},
};

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
	dev_set_defaults(dev);

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
	dev->ndev = ndev;
	netdev_hold(ndev, &dev->ndev_tracker, GFP_KERNEL);
	srnic_tap_init(&dev->tap, ndev, dev->stats);
	dev->net = net;
	INIT_WORK(&dev->leave, dev_leave);
	INIT_WORK(&dev->released, dev_released);
	dev_publish(dev);

	/* From now on ib_dealloc_device() calls dev_dealloc(). */
	ib_set_device_ops(&dev->ib_dev, &dev_ops);
	ib_set_device_ops(&dev->ib_dev, &abi_ops[abi]);

	return dev;

err_stats:
	free_percpu(dev->stats);
err_dev:
	ib_dealloc_device(&dev->ib_dev);
err_net:
	net_release(net);
	return ERR_PTR(err);
}

/*
 * If the netdev left while its device was being registered, its notifier found no
 * device to remove; remove it now.  A netdev leaves under rtnl, so either this sees
 * that it has left, or the notifier finds the device.
 */
static void dev_check_ndev(struct net_device *ndev, const struct net *net)
{
	struct srnic_dev *dev = srnic_dev_find(ndev);

	if (!dev)
		return;

	rtnl_lock();
	if (ndev->reg_state != NETREG_REGISTERED || !net_eq(dev_net(ndev), net))
		srnic_dev_remove(dev);
	rtnl_unlock();
	put_device(&dev->ib_dev.dev);
}

int srnic_dev_add(const char *name, struct net_device *ndev, enum srnic_abi abi)
{
	struct srnic_dev *dev = dev_create(ndev, abi);
	struct net *net;
	int err;

	if (IS_ERR(dev))
		return PTR_ERR(dev);
	net = dev->net;

	ib_mark_name_assigned_by_user(&dev->ib_dev);
	err = ib_register_device(&dev->ib_dev, name, NULL);
	if (err) {
		ib_dealloc_device(&dev->ib_dev);
		return err;
	}

	/* @dev may be gone already: users can delete it at any time. */
	dev_check_ndev(ndev, net);

	return 0;
}

/* Users that are stuck in a command delay this, so no lock may be held. */
static void devs_remove(void)
{
	struct srnic_dev *dev;

	while ((dev = srnic_dev_find(NULL))) {
		ib_unregister_device(&dev->ib_dev);
		put_device(&dev->ib_dev.dev);
	}
}

int srnic_devs_init(void)
{
	int err;

	dev_wq = alloc_workqueue("srnic-dev", WQ_UNBOUND, 0);
	if (!dev_wq)
		return -ENOMEM;

	err = register_pernet_subsys(&net_ops);
	if (err)
		destroy_workqueue(dev_wq);

	return err;
}

void srnic_devs_exit(void)
{
	devs_remove();
	unregister_pernet_subsys(&net_ops);	/* waits for dev_released() */
	destroy_workqueue(dev_wq);
}
