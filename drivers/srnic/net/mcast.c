// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - the host's membership in multicast groups
 *
 * The host joins a group as for any of its programs: switches are informed by IGMP
 * or MLD, the netdev accepts the frames, and packets sent to the group are looped back.
 */
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <net/ipv6.h>

#include "net.h"

static int mcast_join4(struct net_device *ndev, __be32 addr)
{
	struct in_device *in_dev = __in_dev_get_rtnl(ndev);

	if (!in_dev)
		return -ENODEV;
	ip_mc_inc_group(in_dev, addr);

	return 0;
}

static void mcast_leave4(struct net_device *ndev, __be32 addr)
{
	struct in_device *in_dev = __in_dev_get_rtnl(ndev);

	if (in_dev)
		ip_mc_dec_group(in_dev, addr);
}

int srnic_mcast_join(struct net_device *ndev, const struct in6_addr *addr)
{
	int err = -EAFNOSUPPORT;

	rtnl_lock();
	if (ipv6_addr_v4mapped(addr))
		err = mcast_join4(ndev, addr->s6_addr32[3]);
	else if (IS_ENABLED(CONFIG_IPV6))
		err = ipv6_dev_mc_inc(ndev, addr);
	rtnl_unlock();

	return err;
}

void srnic_mcast_leave(struct net_device *ndev, const struct in6_addr *addr)
{
	rtnl_lock();
	if (ipv6_addr_v4mapped(addr))
		mcast_leave4(ndev, addr->s6_addr32[3]);
	else if (IS_ENABLED(CONFIG_IPV6))
		ipv6_dev_mc_dec(ndev, addr);
	rtnl_unlock();
}
