// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - packets from the stack: whose they are, and are they whole
 *
 * A run of packets comes as one skb with a frag_list, see tx.c; it is checked
 * here, in the softirq that brought it, and handed on as one.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/addrconf.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "../trace.h"
#include "../wire/icrc.h"
#include "crc.h"
#include "flow.h"

/* Is the ICRC of the packet at @bth, whose IP header is @ip, right? */
static bool rx_icrc_ok(const void *ip, const u8 *bth, unsigned int len)
{
	unsigned int rest = len - sizeof(struct srnic_bth) - SRNIC_ICRC_BYTES;
	u16 udp_len = sizeof(struct udphdr) + len;
	u32 crc;

	if (((const struct iphdr *)ip)->version == 4)
		crc = srnic_icrc_ipv4(ip, sizeof(struct iphdr) + udp_len,
				      udp_len);
	else
		crc = srnic_icrc_ipv6(ip, udp_len, udp_len);
	crc = srnic_crc32(crc, bth + sizeof(struct srnic_bth), rest);

	return *(__le32 *)(bth + len - SRNIC_ICRC_BYTES) == srnic_icrc_end(crc);
}

/* Are the addresses of two IP headers of the same version the same? */
static bool rx_same_addrs(const void *a, const void *b)
{
	const struct iphdr *ip = a;

	if (ip->version == 4)
		return !memcmp(a + offsetof(struct iphdr, saddr),
			       b + offsetof(struct iphdr, saddr), 8);

	return !memcmp(a + offsetof(struct ipv6hdr, saddr),
		       b + offsetof(struct ipv6hdr, saddr), 32);
}

/* Did a router mark the packet with that IP header: congestion experienced? */
static bool rx_is_marked(const void *ip)
{
	const struct iphdr *iph = ip;

	return INET_ECN_is_ce(iph->version == 4 ? iph->tos :
						  ipv6_get_dsfield(ip));
}

/* Nobody knows yet whose packet it is, if anybody's. */
static void rx_refuse(struct srnic_stats __percpu *stats,
		      enum srnic_counter why)
{
	trace_srnic_drop(0, srnic_counter_names[why]);
	srnic_count(stats, why);
}

/* Judges one packet of a run; what does not fit is left not good. */
static void rx_check(struct sk_buff *skb, struct sk_buff *seg,
		     unsigned int bth, unsigned int len,
		     struct srnic_stats __percpu *stats)
{
	struct srnic_rxcb *cb = srnic_rxcb(seg);
	const void *head_ip = skb_network_header(skb);
	unsigned int ip_len = skb_transport_header(skb) +
			      sizeof(struct udphdr) - (u8 *)head_ip;
	const u8 *ip = seg->data + bth - ip_len;

	cb->bth = bth;
	cb->len = len;
	cb->good = false;
	if (len < sizeof(struct srnic_bth) + SRNIC_ICRC_BYTES || len > U16_MAX ||
	    ip < seg->head ||
	    (seg != skb && !rx_same_addrs(head_ip, ip))) {
		rx_refuse(stats, SRNIC_CNT_RX_MALFORMED);
		return;
	}
	cb->good = rx_icrc_ok(ip, seg->data + bth, len);
	cb->ce = rx_is_marked(ip);
	if (!cb->good)
		rx_refuse(stats, SRNIC_CNT_RX_ICRC);
}

/* Checks all packets of @skb.  False: it could not be made linear. */
static bool rx_check_run(struct sk_buff *skb, unsigned int bth,
			 struct srnic_stats __percpu *stats)
{
	struct sk_buff *seg;
	unsigned int len;

	if (!skb_is_gso(skb)) {
		if (skb_linearize(skb))
			return false;
		/* The UDP length rules: Ethernet may have padded the frame. */
		len = ntohs(udp_hdr(skb)->len) - sizeof(struct udphdr);
		rx_check(skb, skb, bth, min(len, skb->len - bth), stats);
		return true;
	}

	srnic_count(stats, SRNIC_CNT_RX_SUPER);
	rx_check(skb, skb, bth, skb_headlen(skb) - bth, stats);
	skb_walk_frags(skb, seg) {
		if (skb_linearize(seg))
			return false;
		rx_check(skb, seg, 0, seg->len, stats);
	}

	return true;
}

/* A run whose packets are the skb and those of its frag_list, no more. */
static bool rx_is_run(const struct sk_buff *skb)
{
	return (skb_shinfo(skb)->gso_type & SKB_GSO_FRAGLIST) &&
	       !(skb_shinfo(skb)->gso_type & SKB_GSO_DODGY) &&
	       !skb_shinfo(skb)->nr_frags;
}

/* Takes over a buffer that is for us; NULL: there was no memory. */
static struct sk_buff *rx_own(struct sk_buff *skb, unsigned int bth,
			      struct srnic_stats __percpu *stats)
{
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (skb && !rx_check_run(skb, bth, stats)) {
		kfree_skb(skb);
		skb = NULL;
	}
	if (!skb)
		rx_refuse(stats, SRNIC_CNT_RX_NOBUF);

	return skb;
}

static u16 rx_vlan(const struct net_device *ndev)
{
	return is_vlan_dev(ndev) ? vlan_dev_vlan_id(ndev) : SRNIC_NO_VLAN;
}

static void rx_daddr(const struct sk_buff *skb, struct in6_addr *addr)
{
	if (ip_hdr(skb)->version == 4)
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, addr);
	else
		*addr = ipv6_hdr(skb)->daddr;
}

static bool rx_is_mcast(const struct in6_addr *addr)
{
	return ipv6_addr_v4mapped(addr) ?
	       ipv4_is_multicast(addr->s6_addr32[3]) :
	       ipv6_addr_is_multicast(addr);
}

/*
 * The device whose address @addr is.  Packets of this host to itself come
 * through the loopback device, and a host with two devices on one wire may get
 * them through either.
 */
static struct net_device *rx_ndev_of(struct net *net, struct sk_buff *skb,
				     const struct in6_addr *addr)
{
	if (ipv6_addr_v4mapped(addr))
		return __ip_dev_find(net, addr->s6_addr32[3], false);
	if (ipv6_addr_type(addr) & IPV6_ADDR_LINKLOCAL &&
	    !(skb->dev->flags & IFF_LOOPBACK))
		return skb->dev;
	if (!IS_ENABLED(CONFIG_IPV6))
		return NULL;

	/* That does not look into VRFs. */
	return ipv6_dev_find(net, addr, NULL) ?: skb->dev;
}

/*
 * A number that every device has: the device, and for multicast the address,
 * tell who it is for.
 */
static bool rx_take_group(struct net *net, struct sk_buff *skb,
			  unsigned int bth, bool mcast)
{
	struct srnic_stats __percpu *stats;
	struct net_device *ndev = skb->dev;
	struct in6_addr addr;
	void *group;
	u16 vlan;

	rx_daddr(skb, &addr);
	if (rx_is_mcast(&addr) != mcast)
		return false;
	/* Who shares packets of a run cannot mark them; the socket splits it. */
	if (mcast && skb_is_gso(skb))
		return false;
	if (!mcast) {
		ndev = rx_ndev_of(net, skb, &addr);
		addr = in6addr_any;
	}
	if (!ndev)
		return false;
	vlan = rx_vlan(ndev);
	if (is_vlan_dev(ndev))
		ndev = vlan_dev_real_dev(ndev);

	group = srnic_rx_ops->lookup_group(ndev, &addr, &stats);
	if (!group)
		return false;

	skb = rx_own(skb, bth, stats);
	if (skb) {
		srnic_rxcb(skb)->vlan = vlan;
		srnic_rx_ops->deliver_group(group, skb);
	}

	return true;
}

bool srnic_rx_take(struct net *net, struct sk_buff *skb, unsigned int bth)
{
	struct srnic_stats __percpu *stats;
	const struct srnic_bth *hdr;
	void *owner;
	u32 qpn;

	if (!pskb_may_pull(skb, bth + sizeof(*hdr)))
		return false;
	if (skb_is_gso(skb) && !rx_is_run(skb))
		return false;
	hdr = (void *)skb->data + bth;
	qpn = be32_to_cpu(hdr->qpn) & SRNIC_QPN_MASK;
	if (qpn == SRNIC_QPN_MCAST || qpn == SRNIC_QPN_GSI)
		return rx_take_group(net, skb, bth, qpn == SRNIC_QPN_MCAST);

	owner = srnic_rx_ops->lookup(net, qpn, &stats);
	if (!owner)
		return false;

	skb = rx_own(skb, bth, stats);
	if (skb)
		srnic_rxcb(skb)->vlan = rx_vlan(skb->dev);
	srnic_rx_ops->deliver(owner, skb);

	return true;
}

/* The header as the packet had it alone, not that of a run which it leads. */
static void rx_grh4(u8 *grh, const void *ip, unsigned int len)
{
	struct iphdr iph;

	memcpy(&iph, ip, sizeof(iph));
	iph.tot_len = htons(SRNIC_UDP4_BYTES + len);
	ip_send_check(&iph);
	memset(grh, 0, SRNIC_GRH_BYTES - sizeof(iph));
	memcpy(grh + SRNIC_GRH_BYTES - sizeof(iph), &iph, sizeof(iph));
}

static void rx_grh6(u8 *grh, const void *ip, unsigned int len)
{
	struct ipv6hdr ip6;

	memcpy(&ip6, ip, sizeof(ip6));
	ip6.payload_len = htons(sizeof(struct udphdr) + len);
	memcpy(grh, &ip6, sizeof(ip6));
}

static void rx_smac(const struct sk_buff *skb, u8 *smac)
{
	if (skb_mac_header_was_set(skb) &&
	    skb_mac_header(skb) + ETH_HLEN <= skb_network_header(skb))
		ether_addr_copy(smac, eth_hdr(skb)->h_source);
	else
		eth_zero_addr(smac);
}

void srnic_rx_describe(const struct sk_buff *skb, const struct sk_buff *seg,
		       struct srnic_rx_src *src)
{
	const struct srnic_rxcb *cb = (const struct srnic_rxcb *)seg->cb;
	unsigned int ip_len = skb_transport_header(skb) +
			      sizeof(struct udphdr) - skb_network_header(skb);
	const void *ip = seg->data + cb->bth - ip_len;
	struct in6_addr daddr;

	static_assert(sizeof(struct ipv6hdr) == SRNIC_GRH_BYTES);

	rx_daddr(skb, &daddr);
	src->mcast = rx_is_mcast(&daddr);
	src->looped = skb->pkt_type == PACKET_LOOPBACK;
	src->version = ip_hdr(skb)->version;
	if (src->version == 4)
		rx_grh4(src->grh, ip, cb->len);
	else
		rx_grh6(src->grh, ip, cb->len);
	rx_smac(skb, src->smac);
}

bool srnic_rx_from(struct sk_buff *skb, const struct srnic_flow *flow)
{
	if (ip_hdr(skb)->version == 4)
		return flow->v4 &&
		       ip_hdr(skb)->saddr == flow->daddr.s6_addr32[3] &&
		       ip_hdr(skb)->daddr == flow->saddr.s6_addr32[3];

	return !flow->v4 &&
	       ipv6_addr_equal(&ipv6_hdr(skb)->saddr, &flow->daddr) &&
	       ipv6_addr_equal(&ipv6_hdr(skb)->daddr, &flow->saddr);
}
