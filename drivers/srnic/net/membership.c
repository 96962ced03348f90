// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - the host's membership in multicast groups
 *
 * The host joins a group as for any of its programs: switches are informed by IGMP or MLD,
 * the netdev accepts the frames, and packets sent to the group are looped back.
 *
 * A membership belongs to the IP configuration of the netdev, which ends when the netdev
 * moves to another namespace or its MTU becomes too small for IP.  It must not be left in
 * the next configuration, where it was not joined.
 */
#include <linux/err.h>
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/ipv6.h>

#include "net.h"

/**
 * struct srnic_membership - membership of the host in a group
 * @addr: the group
 * @in_dev: IPv4 configuration in which it was joined, or NULL; reference held
 * @idev: IPv6 configuration in which it was joined, or NULL; reference held
 */
struct srnic_membership {
	struct in6_addr		addr;
	struct in_device	*in_dev;
	struct inet6_dev	*idev;
};

static int membership_join4(struct srnic_membership *m, struct net_device *ndev)
{
	struct in_device *in_dev = __in_dev_get_rtnl(ndev);

	if (!in_dev)
		return -ENODEV;
	ip_mc_inc_group(in_dev, m->addr.s6_addr32[3]);
	in_dev_hold(in_dev);
	m->in_dev = in_dev;

	return 0;
}

static int membership_join6(struct srnic_membership *m, struct net_device *ndev)
{
	struct inet6_dev *idev = __in6_dev_get(ndev);
	int err;

	if (!idev)
		return -ENODEV;
	err = ipv6_dev_mc_inc(ndev, &m->addr);
	if (err)
		return err;
	in6_dev_hold(idev);
	m->idev = idev;

	return 0;
}

static void membership_leave4(struct in_device *in_dev, __be32 addr)
{
	if (__in_dev_get_rtnl(in_dev->dev) == in_dev)
		ip_mc_dec_group(in_dev, addr);
	in_dev_put(in_dev);
}

static void membership_leave6(struct inet6_dev *idev, const struct in6_addr *addr)
{
	if (__in6_dev_get(idev->dev) == idev)
		ipv6_dev_mc_dec(idev->dev, addr);
	in6_dev_put(idev);
}

struct srnic_membership *srnic_membership_join(struct net_device *ndev,
					       const struct net *net,
					       const struct in6_addr *addr)
{
	struct srnic_membership *m;
	int err = -EAFNOSUPPORT;

	m = kzalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);
	if (!m)
		return ERR_PTR(-ENOMEM);

	m->addr = *addr;
	rtnl_lock();
	if (!net_eq(dev_net(ndev), net))
		err = -ENODEV;
	else if (ipv6_addr_v4mapped(addr))
		err = membership_join4(m, ndev);
	else if (IS_ENABLED(CONFIG_IPV6))
		err = membership_join6(m, ndev);
	rtnl_unlock();
	if (err) {
		kfree(m);
		return ERR_PTR(err);
	}

	return m;
}

void srnic_membership_leave(struct srnic_membership *m)
{
	rtnl_lock();
	if (m->in_dev)
		membership_leave4(m->in_dev, m->addr.s6_addr32[3]);
	else if (IS_ENABLED(CONFIG_IPV6))
		membership_leave6(m->idev, &m->addr);
	rtnl_unlock();
	kfree(m);
}
