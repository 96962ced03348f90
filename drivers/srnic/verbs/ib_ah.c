// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - address handles, and conversion of address vectors into paths
 */
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>

#include "verbs.h"

/* Hop limit if the user specified 0, with which no packet would reach the peer */
#define AH_DEFAULT_TTL	64

/* The flow label has 20 bits; user space may leave garbage in the others. */
#define AH_LABEL_MASK	0xfffff

static struct net_device *gid_hold_ndev(const struct ib_gid_attr *sgid)
{
	struct net_device *ndev;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(sgid);
	if (!IS_ERR(ndev))
		dev_hold(ndev);
	rcu_read_unlock();

	return ndev;
}

/* Can packets be sent between the addresses in @attr? */
static int ah_check(const struct rdma_ah_attr *attr)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);
	const struct in6_addr *daddr = (const struct in6_addr *)&grh->dgid;
	bool v4;

	if (attr->type != RDMA_AH_ATTR_TYPE_ROCE ||
	    !(rdma_ah_get_ah_flags(attr) & IB_AH_GRH) || !grh->sgid_attr)
		return -EINVAL;

	switch (rdma_gid_attr_network_type(grh->sgid_attr)) {
	case RDMA_NETWORK_IPV4:
		v4 = true;
		break;
	case RDMA_NETWORK_IPV6:
		v4 = false;
		break;
	default:
		return -EINVAL;
	}

	if (ipv6_addr_any(daddr) || ipv6_addr_v4mapped(daddr) != v4)
		return -EINVAL;
	if (attr->sl > 15)
		return -EINVAL;

	return 0;
}

int srnic_path_from_ah(struct srnic_path *path,
		       const struct rdma_ah_attr *attr)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);
	struct net_device *ndev;
	int err;

	err = ah_check(attr);
	if (err)
		return err;

	ndev = gid_hold_ndev(grh->sgid_attr);
	if (IS_ERR(ndev))
		return PTR_ERR(ndev);

	*path = (struct srnic_path) {
		.ndev	= ndev,
		.v4	= rdma_gid_attr_network_type(grh->sgid_attr) ==
			  RDMA_NETWORK_IPV4,
		.tos	= grh->traffic_class,
		.ttl	= grh->hop_limit ?: AH_DEFAULT_TTL,
		.label	= grh->flow_label & AH_LABEL_MASK,
	};
	memcpy(&path->saddr, &grh->sgid_attr->gid, sizeof(path->saddr));
	memcpy(&path->daddr, &grh->dgid, sizeof(path->daddr));

	return 0;
}

/* Allocates an address vector for @attr.  Return: the vector, or an ERR_PTR. */
static struct srnic_av *av_make(const struct rdma_ah_attr *attr, gfp_t gfp)
{
	struct srnic_av *av;
	int err;

	av = kzalloc(sizeof(*av), gfp);
	if (!av)
		return ERR_PTR(-ENOMEM);

	err = srnic_path_from_ah(&av->path, attr);
	if (err) {
		kfree(av);
		return ERR_PTR(err);
	}
	/* Do not hold the netdev: it may be unregistered while the handle exists. */
	av->path.ifindex = av->path.ndev->ifindex;
	srnic_path_close(&av->path);

	return av;
}

int srnic_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		    struct ib_udata *udata)
{
	gfp_t gfp = init->flags & RDMA_CREATE_AH_SLEEPABLE ?
		    GFP_KERNEL_ACCOUNT : GFP_ATOMIC;
	struct srnic_avs *avs = &to_pd(ibah->pd)->avs;
	struct srnic_dev *dev = to_dev(ibah->device);
	struct srnic_create_ah_resp resp = {};
	struct srnic_ah *ah = to_ah(ibah);
	struct srnic_av *av;
	int err;

	err = udata ? ib_is_udata_in_empty(udata) : 0;
	if (err)
		return err;

	ah->user = srnic_user_of(ibah->pd);
	err = srnic_quota_take(dev, ah->user, SRNIC_Q_AH, 1);
	if (err)
		return err;
	av = av_make(init->ah_attr, gfp);
	if (IS_ERR(av)) {
		ibdev_dbg(ibah->device, "AH: bad address vector\n");
		err = PTR_ERR(av);
		goto err_quota;
	}
	err = srnic_av_publish(avs, av, gfp, &ah->index);
	if (err) {
		kfree(av);
		goto err_quota;
	}

	/* The core owns the source GID attribute; keep only its index. */
	ah->attr = *init->ah_attr;
	ah->attr.grh.sgid_attr = NULL;

	resp.ah = ah->index;
	err = udata ? ib_respond_udata(udata, resp) : 0;
	if (err)
		goto err_av;

	return 0;

err_av:
	srnic_av_hide(avs, ah->index);
err_quota:
	srnic_quota_give(dev, ah->user, SRNIC_Q_AH, 1);
	return err;
}

int srnic_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	*attr = to_ah(ibah)->attr;

	return 0;
}

int srnic_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	struct srnic_ah *ah = to_ah(ibah);

	srnic_av_hide(&to_pd(ibah->pd)->avs, ah->index);
	srnic_quota_give(to_dev(ibah->device), ah->user, SRNIC_Q_AH, 1);

	return 0;
}
