// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - route of a flow, cached and checked before each use
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

#include "flow.h"

/* Both lookups return the route that the IPsec policy requires for the flow. */
static struct dst_entry *flow_route4(const struct srnic_flow *flow)
{
	struct flowi4 fl = {
		.flowi4_oif = flow->ndev->ifindex,
		.flowi4_proto = IPPROTO_UDP,
		.saddr = flow->saddr.s6_addr32[3],
		.daddr = flow->daddr.s6_addr32[3],
		.fl4_sport = flow->sport,
		.fl4_dport = htons(SRNIC_UDP_PORT),
	};
	struct rtable *rt;

	rt = ip_route_output_flow(dev_net(flow->ndev), &fl, NULL);

	return IS_ERR(rt) ? NULL : &rt->dst;
}

static struct dst_entry *flow_route6(const struct srnic_flow *flow)
{
	struct flowi6 fl = {
		.flowi6_oif = flow->ndev->ifindex,
		.flowi6_proto = IPPROTO_UDP,
		.saddr = flow->saddr,
		.daddr = flow->daddr,
		.fl6_sport = flow->sport,
		.fl6_dport = htons(SRNIC_UDP_PORT),
	};
	struct dst_entry *dst;

	if (!IS_ENABLED(CONFIG_IPV6))
		return NULL;
	dst = ip6_dst_lookup_flow(dev_net(flow->ndev), NULL, &fl, NULL);

	return IS_ERR(dst) ? NULL : dst;
}

struct dst_entry *srnic_flow_dst(struct srnic_flow *flow, const struct net *net)
{
	if (!net_eq(dev_net(flow->ndev), net))
		return NULL;
	if (flow->dst && dst_check(flow->dst, flow->cookie))
		return flow->dst;

	srnic_flow_reset(flow);
	flow->dst = flow->v4 ? flow_route4(flow) : flow_route6(flow);
	if (flow->dst && !flow->v4)
		flow->cookie = rt6_get_cookie(dst_rt6_info(flow->dst));

	return flow->dst;
}

bool srnic_flow_open(struct srnic_flow *flow, struct net *net)
{
	if (!flow->ndev)
		flow->ndev = dev_get_by_index(net, flow->ifindex);

	return flow->ndev;
}

void srnic_flow_close(struct srnic_flow *flow)
{
	dev_put(flow->ndev);
	flow->ndev = NULL;
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

bool srnic_flow_is_self(const struct srnic_flow *flow)
{
	bool self;

	if (ipv6_addr_equal(&flow->saddr, &flow->daddr))
		return true;

	rcu_read_lock();
	self = srnic_ndev_has(flow->ndev, &flow->daddr);
	rcu_read_unlock();

	return self;
}

/* netdev_core_pick_tx() sets the CPU of packets that have none. */
#ifdef CONFIG_XPS
static void flow_set_cpu(struct srnic_flow *flow, struct sk_buff *skb)
{
	if (!flow->cpu)
		flow->cpu = raw_smp_processor_id() + 1;
	skb->sender_cpu = flow->cpu;
}
#else
static void flow_set_cpu(struct srnic_flow *flow, struct sk_buff *skb)
{
}
#endif

static u32 flow_hash(const struct srnic_flow *flow)
{
	static u32 seed __read_mostly;
	u32 hash;

	net_get_random_once(&seed, sizeof(seed));
	hash = __ipv6_addr_jhash(&flow->saddr, seed);
	hash = __ipv6_addr_jhash(&flow->daddr, hash);

	return jhash_1word((__force u32)flow->sport, hash);
}

void srnic_flow_steer(struct srnic_flow *flow, struct sk_buff *skb)
{
	if (!flow->hash)
		flow->hash = flow_hash(flow);
	__skb_set_sw_hash(skb, flow->hash, true);
	flow_set_cpu(flow, skb);
}

static void flow_drop_route(struct srnic_flow *flow)
{
	dst_release(flow->dst);
	flow->dst = NULL;
	flow->cookie = 0;
}

/* Rules and IPsec policies may depend on the port. */
void srnic_flow_set_sport(struct srnic_flow *flow, __be16 sport)
{
	flow->sport = sport;
	flow->hash = 0;
	flow_drop_route(flow);
}

void srnic_flow_reset(struct srnic_flow *flow)
{
	flow_drop_route(flow);
	flow->cpu = 0;
}

struct srnic_peer *srnic_peer_new(const struct srnic_flow *flow)
{
	struct srnic_peer *peer = kzalloc(sizeof(*peer), GFP_KERNEL_ACCOUNT);

	if (!peer)
		return NULL;

	peer->daddr = flow->daddr;
	peer->saddr = flow->saddr;
	peer->v4 = flow->v4;
	peer->ifindex = flow->ndev->ifindex;

	return peer;
}
