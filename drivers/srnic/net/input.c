// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - packets from the stack: find the receiver, check the packets
 *
 * A GSO chain is one skb with a frag_list, see tx.c.  It is checked here, in the
 * softirq that received it, and delivered as one.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/addrconf.h>
#include <net/bonding.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/netfilter/nf_conntrack.h>
#include <net/xfrm.h>

#include "../trace.h"
#include "../wire/icrc.h"
#include "crc.h"
#include "path.h"
#include "input.h"
#include "udp.h"

const struct srnic_rx_ops *srnic_rx_ops;

/*
 * Continues @crc over @len bytes of @skb from @off on, wherever they lie, and compares
 * it with the ICRC behind them.  Fails if the CPU cannot read the bytes.
 */
static noinline_for_stack bool rx_icrc_walk(u32 crc, struct sk_buff *skb,
					    unsigned int off, unsigned int len)
{
	unsigned int done = 0, n;
	struct skb_seq_state seq;
	const u8 *data;
	__le32 icrc;

	skb_prepare_seq_read(skb, off, off + len, &seq);
	while ((n = min(skb_seq_read(done, &data, &seq), len - done))) {
		crc = srnic_crc32(crc, data, n);
		done += n;
	}

	return done == len && !skb_copy_bits(skb, off + len, &icrc, sizeof(icrc)) &&
	       icrc == srnic_icrc_end(crc);
}

/* Is the ICRC of the packet @seg with its BTH at @bth and IP header @ip correct? */
static bool rx_icrc_ok(const void *ip, struct sk_buff *seg, unsigned int bth,
		       unsigned int len)
{
	unsigned int rest = len - sizeof(struct srnic_bth) - SRNIC_ICRC_BYTES;
	unsigned int off = bth + sizeof(struct srnic_bth);
	u16 udp_len = sizeof(struct udphdr) + len;
	u32 crc;

	if (bth + len > skb_headlen(seg)) {
		crc = srnic_crc_packet(ip, udp_len, seg->data, 0);
		return rx_icrc_walk(crc, seg, off, rest);
	}
	crc = srnic_crc_packet(ip, udp_len, seg->data + off, rest);

	return *(__le32 *)(seg->data + off + rest) == srnic_icrc_end(crc);
}

/* Do two IP headers of the same version have the same addresses? */
static bool rx_same_addrs(const void *a, const void *b)
{
	const struct iphdr *ip = a;

	if (ip->version == 4)
		return !memcmp(a + offsetof(struct iphdr, saddr),
			       b + offsetof(struct iphdr, saddr), 8);

	return !memcmp(a + offsetof(struct ipv6hdr, saddr),
		       b + offsetof(struct ipv6hdr, saddr), 32);
}

/* Is the packet with IP header @ip marked congestion experienced? */
static bool rx_is_marked(const void *ip)
{
	const struct iphdr *iph = ip;

	return INET_ECN_is_ce(iph->version == 4 ? iph->tos :
						  ipv6_get_dsfield(ip));
}

/* Counts a drop; traced with QP number 0, as this room does not deal with queue pairs. */
static void rx_refuse(struct srnic_stats __percpu *stats,
		      enum srnic_counter why)
{
	trace_srnic_drop(0, srnic_counter_names[why]);
	srnic_count(stats, why);
}

/* Checks one packet of a GSO chain.  Return: true if it is good. */
static bool rx_check(struct sk_buff *skb, struct sk_buff *seg,
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
		return false;
	}
	cb->good = rx_icrc_ok(ip, seg, bth, len);
	cb->ce = rx_is_marked(ip);
	if (!cb->good)
		rx_refuse(stats, SRNIC_CNT_RX_ICRC);

	return cb->good;
}

/*
 * Moves the headers of the packet @seg of @len bytes, or all of it if it is short, into
 * its linear part.  Payload that is in fragments stays there.  Return: false without
 * memory.
 */
static noinline_for_stack bool rx_pull(struct sk_buff *seg, unsigned int bth,
				       unsigned int len)
{
	unsigned int need = len;
	struct srnic_bth hdr;

	if (len > SRNIC_RX_SHORT) {
		if (skb_copy_bits(seg, bth, &hdr, sizeof(hdr)))
			return false;
		need = max_t(unsigned int, sizeof(hdr),
			     srnic_ops[hdr.opcode].hdr_len);
	}

	return pskb_may_pull(seg, bth + need);
}

/* Moves the headers into the linear part if necessary; as rx_pull(). */
static bool rx_need_headers(struct sk_buff *seg, unsigned int bth,
			    unsigned int len)
{
	return bth + len <= skb_headlen(seg) || rx_pull(seg, bth, len);
}

/*
 * Linearizes a reassembled packet: its frag_list may belong to a clone as well, and the
 * members may have lists of their own.
 */
static bool rx_flatten(struct sk_buff *skb)
{
	return !skb_has_frag_list(skb) || !skb_linearize(skb);
}

/*
 * Trims @skb to its UDP length (Ethernet may have padded it), with its headers in the
 * linear part.
 */
static bool rx_trim(struct sk_buff *skb, unsigned int bth,
		    struct srnic_stats __percpu *stats)
{
	unsigned int start = skb_transport_offset(skb), end;
	const struct udphdr *udp;
	struct udphdr buf;

	udp = skb_header_pointer(skb, start, sizeof(buf), &buf);
	end = start + (udp ? ntohs(udp->len) : 0);
	if (end < bth || end > skb->len) {
		rx_refuse(stats, SRNIC_CNT_RX_MALFORMED);
		return false;
	}
	if (!pskb_trim(skb, end) && rx_flatten(skb) &&
	    rx_need_headers(skb, bth, end - bth))
		return true;
	rx_refuse(stats, SRNIC_CNT_RX_NOBUF);

	return false;
}

/*
 * Makes the packets of a GSO chain private, with their headers in the linear part.
 * After a clone, such as that of a packet socket, the frag_list is shared even if the
 * head has been copied since; shared packets are replaced, never changed.
 * Return: false without memory.
 */
static bool rx_unshare(struct sk_buff *skb, unsigned int bth)
{
	struct sk_buff **link, *seg;

	if (skb_unclone(skb, GFP_ATOMIC) ||
	    !rx_need_headers(skb, bth, skb_pagelen(skb) - bth))
		return false;
	for (link = &skb_shinfo(skb)->frag_list; *link; link = &(*link)->next) {
		if (skb_shared(*link)) {
			seg = skb_clone(*link, GFP_ATOMIC);
			if (!seg)
				return false;
			seg->next = (*link)->next;
			consume_skb(*link);
			*link = seg;
		}
		if (!rx_need_headers(*link, 0, (*link)->len))
			return false;
	}

	return true;
}

/* Makes the packets of @skb private, with their headers in the linear part. */
static bool rx_prepare(struct sk_buff *skb, unsigned int bth,
		       struct srnic_stats __percpu *stats)
{
	if (!skb_is_gso(skb))
		return rx_trim(skb, bth, stats);
	if (rx_unshare(skb, bth))
		return true;
	rx_refuse(stats, SRNIC_CNT_RX_NOBUF);

	return false;
}

/* Checks all packets of @skb, a chain or a single one.  Return: true if any is good. */
static bool rx_check_all(struct sk_buff *skb, unsigned int bth,
			 struct srnic_stats __percpu *stats)
{
	struct sk_buff *seg;
	bool good;

	if (!skb_is_gso(skb))
		return rx_check(skb, skb, bth, skb->len - bth, stats);

	good = rx_check(skb, skb, bth, skb_pagelen(skb) - bth, stats);
	srnic_count(stats, SRNIC_CNT_RX_SUPER);
	skb_walk_frags(skb, seg)
		good |= rx_check(skb, seg, 0, seg->len, stats);

	return good;
}

static void rx_drop_refs(struct sk_buff *skb)
{
	skb_dst_drop(skb);
	nf_reset_ct(skb);
	secpath_reset(skb);
}

/*
 * Drops the references to dst, conntrack and IPsec state, as the packets may be kept
 * for a while.  Packets of a frag_list have none unless GRO's slow_gro is set.
 */
static void rx_leave_stack(struct sk_buff *skb)
{
	struct sk_buff *seg;

	rx_drop_refs(skb);
	skb->dev = NULL;
	skb_walk_frags(skb, seg)
		if (seg->slow_gro)
			rx_drop_refs(seg);
}

/*
 * Is this a GSO chain whose packets are the skb and those of its frag_list?  The stack may
 * have merged packets of it on the way.
 */
static bool rx_is_chain(const struct sk_buff *skb, unsigned int bth)
{
	return (skb_shinfo(skb)->gso_type & SKB_GSO_FRAGLIST) &&
	       !(skb_shinfo(skb)->gso_type & SKB_GSO_DODGY) &&
	       skb_has_frag_list(skb) &&
	       skb_pagelen(skb) == bth + skb_shinfo(skb)->gso_size;
}

/*
 * Takes over an skb from the stack.  Return: NULL if none of its packets is good or
 * there is no memory.
 */
static struct sk_buff *rx_own(struct sk_buff *skb, unsigned int bth, u16 vlan,
			      struct srnic_stats __percpu *stats)
{
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb) {
		rx_refuse(stats, SRNIC_CNT_RX_NOBUF);
		return NULL;
	}
	if (!rx_prepare(skb, bth, stats) || !rx_check_all(skb, bth, stats)) {
		kfree_skb(skb);
		return NULL;
	}
	rx_leave_stack(skb);
	srnic_rxcb(skb)->vlan = vlan;

	return skb;
}

static int rx_set_ndev(struct net_device *ndev, struct netdev_nested_priv *priv)
{
	*(struct net_device **)priv->data = ndev;

	return 1;	/* stop at the first one */
}

/*
 * The VLAN that the RDMA core expects with GIDs of a device's addresses, see
 * rdma_read_gid_l2_fields(): that of the device, or of its first lower device.
 */
static u16 rx_vlan(struct net_device *ndev)
{
	struct netdev_nested_priv priv = { .data = &ndev };

	if (!is_vlan_dev(ndev))
		netdev_walk_all_lower_dev_rcu(ndev, rx_set_ndev, &priv);

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
 * The device that received a packet; in a VRF, skb->dev is the VRF instead.
 * Return: NULL if the device is gone.
 */
static struct net_device *rx_ndev(const struct sk_buff *skb)
{
	int slave = ip_hdr(skb)->version == 4 ? inet_sdif(skb) :
						inet6_sdif(skb);

	return slave ? dev_get_by_index_rcu(dev_net(skb->dev), slave) :
		       skb->dev;
}

/* Packets that this host sends to itself arrive on the loopback device or a VRF. */
static bool rx_is_local(const struct net_device *in)
{
	return in->flags & IFF_LOOPBACK || netif_is_l3_master(in);
}

static bool rx_addrs_fit(const struct sk_buff *skb,
			 const struct srnic_peer *peer)
{
	if (ip_hdr(skb)->version == 4)
		return peer->v4 &&
		       ip_hdr(skb)->saddr == peer->daddr.s6_addr32[3] &&
		       ip_hdr(skb)->daddr == peer->saddr.s6_addr32[3];

	return !peer->v4 &&
	       ipv6_addr_equal(&ipv6_hdr(skb)->saddr, &peer->daddr) &&
	       ipv6_addr_equal(&ipv6_hdr(skb)->daddr, &peer->saddr);
}

bool srnic_rx_from(const struct sk_buff *skb, const struct srnic_peer *peer)
{
	const struct net_device *in = rx_ndev(skb);
	int vrf;

	if (!in || !rx_addrs_fit(skb, peer))
		return false;
	vrf = l3mdev_master_ifindex_rcu(in);
	/* The local address may be assigned to the VRF itself. */
	if (in->ifindex == peer->ifindex || vrf == peer->ifindex)
		return true;

	return rx_is_local(in) &&
	       vrf == l3mdev_master_ifindex_by_index(dev_net(in),
						     peer->ifindex);
}

bool srnic_rx_by(const struct sk_buff *skb, const struct net_device *ndev)
{
	struct net_device *in = rx_ndev(skb);

	if (!in || in == ndev)
		return in;
	if (netdev_has_upper_dev_all_rcu((struct net_device *)ndev, in))
		return true;

	return rx_is_local(in) && l3mdev_master_ifindex_rcu(in) ==
				  l3mdev_master_ifindex_rcu(ndev);
}

/* Finds a device that has @addr, without walking all devices; NULL: none. */
static struct net_device *rx_ndev_with(struct net *net,
				       const struct in6_addr *addr)
{
	if (ipv6_addr_v4mapped(addr))
		return __ip_dev_find(net, addr->s6_addr32[3], false);

	return IS_ENABLED(CONFIG_IPV6) ? ipv6_dev_find(net, addr, NULL) : NULL;
}

/*
 * The destination device of a packet for QP1: the one that received it or, if this host
 * sent it to itself, the one that has @addr and is in the same VRF, or in none.
 */
static struct net_device *rx_ndev_of(struct net *net, const struct sk_buff *skb,
				     const struct in6_addr *addr)
{
	struct net_device *in = rx_ndev(skb), *ndev;
	int vrf;

	if (!in || !rx_is_local(in))
		return in;

	vrf = l3mdev_master_ifindex_rcu(in);
	ndev = rx_ndev_with(net, addr);
	if (ndev && l3mdev_master_ifindex_rcu(ndev) == vrf)
		return ndev;
	/* The device found first has the same address in another VRF. */
	for_each_netdev_rcu(net, ndev)
		if (l3mdev_master_ifindex_rcu(ndev) == vrf &&
		    srnic_ndev_has(ndev, addr))
			return ndev;

	return in;
}

/* Is @ndev an inactive slave, which does not have the bond's addresses as GIDs? */
static bool rx_is_inactive(struct net_device *ndev, struct net_device *in)
{
	struct net_device *bond = netdev_master_upper_dev_get_rcu(ndev);
	struct net_device *active;

	if (!bond || !netif_is_bond_master(bond) ||
	    (bond != in && !netdev_has_upper_dev_all_rcu(bond, in)))
		return false;
	active = bond_option_active_slave_get_rcu(netdev_priv(bond));

	return active && active != ndev;
}

bool srnic_rx_reaches(const struct srnic_rx_dest *dest,
		      const struct net_device *ndev)
{
	struct net_device *below = (struct net_device *)ndev;

	if (ndev == dest->in)
		return true;

	return dest->below && netdev_has_upper_dev_all_rcu(below, dest->in) &&
	       !rx_is_inactive(below, dest->in);
}

/*
 * Lower devices of anything but a VLAN, bond or bridge, such as a macvlan, receive a
 * copy of a multicast packet of their own, unless this host sent it.
 */
static bool rx_goes_below(const struct sk_buff *skb, const struct net_device *in)
{
	return skb->pkt_type == PACKET_LOOPBACK || is_vlan_dev(in) ||
	       netif_is_lag_master(in) || netif_is_bridge_master(in);
}

/* Finds the destination of a packet.  Return: false if there is none. */
static bool rx_dest(struct net *net, const struct sk_buff *skb, bool mcast,
		    struct srnic_rx_dest *dest)
{
	dest->net = net;
	rx_daddr(skb, &dest->addr);
	if (rx_is_mcast(&dest->addr) != mcast)
		return false;
	if (mcast) {
		dest->in = rx_ndev(skb);
		dest->below = dest->in && rx_goes_below(skb, dest->in);
	} else {
		dest->in = rx_ndev_of(net, skb, &dest->addr);
		dest->below = dest->in && !list_empty(&dest->in->adj_list.lower);
		dest->addr = in6addr_any;
	}

	return dest->in;
}

/* The VLAN of a datagram; packets that this host sent to itself have none. */
static u16 rx_vlan_of(const struct sk_buff *skb)
{
	struct net_device *in = rx_ndev(skb) ?: skb->dev;

	return rx_is_local(in) ? SRNIC_NO_VLAN : rx_vlan(in);
}

/*
 * Every device has QP1 and the QP number of multicast, so the receivers are found by the
 * device and, for multicast, the address.
 */
static enum srnic_rx_fate rx_take_group(struct net *net, struct sk_buff *skb,
					unsigned int bth, bool mcast)
{
	struct srnic_stats __percpu *stats;
	struct srnic_rx_dest dest;

	/* Receivers sharing a chain cannot mark its packets; the UDP socket splits it. */
	if (mcast && skb_is_gso(skb))
		return SRNIC_RX_LEFT;
	if (!rx_dest(net, skb, mcast, &dest))
		return SRNIC_RX_LEFT;
	stats = srnic_rx_ops->lookup_group(&dest);
	if (!stats)
		return SRNIC_RX_LEFT;

	skb = rx_own(skb, bth, rx_vlan(dest.in), stats);
	if (skb)
		srnic_rx_ops->deliver_group(&dest, skb);

	return SRNIC_RX_TAKEN;
}

/* Takes a packet for one receiver, which admits it before any work is spent on it. */
static enum srnic_rx_fate rx_take_one(struct net *net, struct sk_buff *skb,
				      unsigned int bth, u32 qpn)
{
	u16 vlan = SRNIC_NO_VLAN;
	struct srnic_rx_to to;
	int err;

	err = srnic_rx_ops->lookup(net, qpn, skb, &to);
	if (err)
		return err == -ENOENT ? SRNIC_RX_LEFT : SRNIC_RX_REFUSED;
	if (to.datagram)
		vlan = rx_vlan_of(skb);
	skb = rx_own(skb, bth, vlan, to.stats);
	if (skb) {
		srnic_rxcb(skb)->epoch = to.epoch;
		srnic_rxcb(skb)->passed = false;
	}
	srnic_rx_ops->deliver(to.owner, skb);

	return SRNIC_RX_TAKEN;
}

enum srnic_rx_fate srnic_rx_take(struct net *net, struct sk_buff *skb,
				 unsigned int bth)
{
	const struct srnic_bth *hdr;
	struct srnic_bth buf;
	u32 qpn;

	hdr = skb_header_pointer(skb, bth, sizeof(buf), &buf);
	if (!hdr || (skb_is_gso(skb) && !rx_is_chain(skb, bth)))
		return SRNIC_RX_LEFT;
	qpn = be32_to_cpu(hdr->qpn) & SRNIC_QPN_MASK;
	if (qpn == SRNIC_QPN_MCAST || qpn == SRNIC_QPN_GSI)
		return rx_take_group(net, skb, bth, qpn == SRNIC_QPN_MCAST);

	return rx_take_one(net, skb, bth, qpn);
}

/* The IP header of the packet alone: the first one of a chain has the chain's length. */
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

void srnic_rx_sender(const struct srnic_rx_src *src, struct in6_addr *addr)
{
	const u8 *end = src->grh + SRNIC_GRH_BYTES;

	if (src->version == 4)
		ipv6_addr_set_v4mapped(((struct iphdr *)end)[-1].saddr, addr);
	else
		*addr = ((struct ipv6hdr *)end)[-1].saddr;
}
