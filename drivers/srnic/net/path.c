// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - route of a path, cached and checked before each use
 */
#include <linux/inetdevice.h>
#include <linux/jhash.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/dst.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>

#include "path.h"

/* Both lookups return the route that the IPsec policy requires for the path. */
static struct dst_entry *path_route4(const struct srnic_path *path)
{
	struct flowi4 fl = {
		.flowi4_oif = path->ndev->ifindex,
		.flowi4_proto = IPPROTO_UDP,
		.saddr = path->saddr.s6_addr32[3],
		.daddr = path->daddr.s6_addr32[3],
		.fl4_sport = path->sport,
		.fl4_dport = htons(SRNIC_UDP_PORT),
	};
	struct rtable *rt;

	rt = ip_route_output_flow(dev_net(path->ndev), &fl, NULL);

	return IS_ERR(rt) ? NULL : &rt->dst;
}

static struct dst_entry *path_route6(const struct srnic_path *path)
{
	struct flowi6 fl = {
		.flowi6_oif = path->ndev->ifindex,
		.flowi6_proto = IPPROTO_UDP,
		.saddr = path->saddr,
		.daddr = path->daddr,
		.fl6_sport = path->sport,
		.fl6_dport = htons(SRNIC_UDP_PORT),
	};
	struct dst_entry *dst;

	if (!IS_ENABLED(CONFIG_IPV6))
		return NULL;
	dst = ip6_dst_lookup_flow(dev_net(path->ndev), NULL, &fl, NULL);

	return IS_ERR(dst) ? NULL : dst;
}

struct dst_entry *srnic_path_dst(struct srnic_path *path, const struct net *net)
{
	if (!net_eq(dev_net(path->ndev), net))
		return NULL;
	if (path->dst && dst_check(path->dst, path->cookie))
		return path->dst;

	srnic_path_reset(path);
	path->dst = path->v4 ? path_route4(path) : path_route6(path);
	if (path->dst && !path->v4)
		path->cookie = rt6_get_cookie(dst_rt6_info(path->dst));

	return path->dst;
}

bool srnic_path_open(struct srnic_path *path, struct net *net)
{
	if (!path->ndev)
		path->ndev = dev_get_by_index(net, path->ifindex);

	return path->ndev;
}

void srnic_path_close(struct srnic_path *path)
{
	dev_put(path->ndev);
	path->ndev = NULL;
}

bool srnic_ndev_has(struct net_device *ndev, const struct in6_addr *addr)
{
	const struct in_ifaddr *ifa;
	struct in_device *in_dev;

	if (!ipv6_addr_v4mapped(addr))
		return IS_ENABLED(CONFIG_IPV6) &&
		       ipv6_chk_addr(dev_net(ndev), addr, ndev, 1);

	in_dev = __in_dev_get_rcu(ndev);
	if (!in_dev)
		return false;
	in_dev_for_each_ifa_rcu(ifa, in_dev)
		if (ifa->ifa_local == addr->s6_addr32[3])
			return true;

	return false;
}

bool srnic_path_is_self(const struct srnic_path *path)
{
	bool self;

	if (ipv6_addr_equal(&path->saddr, &path->daddr))
		return true;

	rcu_read_lock();
	self = srnic_ndev_has(path->ndev, &path->daddr);
	rcu_read_unlock();

	return self;
}

/* netdev_core_pick_tx() sets the CPU of packets that have none. */
#ifdef CONFIG_XPS
static void path_set_cpu(struct srnic_path *path, struct sk_buff *skb)
{
	if (!path->cpu)
		path->cpu = raw_smp_processor_id() + 1;
	skb->sender_cpu = path->cpu;
}
#else
static void path_set_cpu(struct srnic_path *path, struct sk_buff *skb)
{
}
#endif

static u32 path_hash(const struct srnic_path *path)
{
	static u32 seed __read_mostly;
	u32 hash;

	net_get_random_once(&seed, sizeof(seed));
	hash = __ipv6_addr_jhash(&path->saddr, seed);
	hash = __ipv6_addr_jhash(&path->daddr, hash);

	return jhash_1word((__force u32)path->sport, hash);
}

void srnic_path_steer(struct srnic_path *path, struct sk_buff *skb)
{
	if (!path->hash)
		path->hash = path_hash(path);
	__skb_set_sw_hash(skb, path->hash, true);
	path_set_cpu(path, skb);
}

static void path_drop_route(struct srnic_path *path)
{
	dst_release(path->dst);
	path->dst = NULL;
	path->cookie = 0;
}

/* Rules and IPsec policies may depend on the port. */
void srnic_path_set_sport(struct srnic_path *path, __be16 sport)
{
	path->sport = sport;
	path->hash = 0;
	path_drop_route(path);
}

void srnic_path_reset(struct srnic_path *path)
{
	path_drop_route(path);
	path->cpu = 0;
}

struct srnic_peer *srnic_peer_new(const struct srnic_path *path)
{
	struct srnic_peer *peer = kzalloc(sizeof(*peer), GFP_KERNEL_ACCOUNT);

	if (!peer)
		return NULL;

	peer->daddr = path->daddr;
	peer->saddr = path->saddr;
	peer->v4 = path->v4;
	peer->ifindex = path->ndev->ifindex;

	return peer;
}
