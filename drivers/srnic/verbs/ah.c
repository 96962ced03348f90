// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - address handles, and how an address becomes a flow
 */
#include <linux/rcupdate.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>

#include "verbs.h"

/* Hop limit when the user gave none; a packet with 0 would go nowhere */
#define AH_DEFAULT_TTL	64

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

/* Is the pair of addresses one that packets can travel between? */
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
	if (attr->sl > 15 || grh->flow_label > 0xfffff)
		return -EINVAL;

	return 0;
}

int srnic_flow_from_ah(struct srnic_flow *flow,
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

	*flow = (struct srnic_flow) {
		.ndev	= ndev,
		.v4	= rdma_gid_attr_network_type(grh->sgid_attr) ==
			  RDMA_NETWORK_IPV4,
		.tos	= grh->traffic_class,
		.ttl	= grh->hop_limit ?: AH_DEFAULT_TTL,
		.label	= grh->flow_label,
	};
	memcpy(&flow->saddr, &grh->sgid_attr->gid, sizeof(flow->saddr));
	memcpy(&flow->daddr, &grh->dgid, sizeof(flow->daddr));

	return 0;
}

int srnic_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		    struct ib_udata *udata)
{
	struct srnic_ah *ah = container_of(ibah, struct srnic_ah, ibah);
	struct srnic_create_ah_resp resp = {};
	int err;

	err = ah_check(init->ah_attr);
	if (err) {
		ibdev_dbg(ibah->device, "AH: bad address vector\n");
		return err;
	}

	/* The source GID belongs to the core; only its index is ours. */
	ah->attr = *init->ah_attr;
	ah->attr.grh.sgid_attr = NULL;

	return udata ? ib_respond_udata(udata, resp) : 0;
}

int srnic_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	*attr = container_of(ibah, struct srnic_ah, ibah)->attr;

	return 0;
}

int srnic_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	return 0;
}
