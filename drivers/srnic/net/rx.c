// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - packets from the stack: whose they are, and are they whole
 *
 * A run of packets comes as one skb with a frag_list, see tx.c; it is checked
 * here, in the softirq that brought it, and handed on as one.
 */
#include <linux/crc32.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/ipv6.h>

#include "../wire/icrc.h"
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
	crc = crc32_le(crc, bth + sizeof(struct srnic_bth), rest);

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
		srnic_count(stats, SRNIC_CNT_RX_MALFORMED);
		return;
	}
	cb->good = rx_icrc_ok(ip, seg->data + bth, len);
	if (!cb->good)
		srnic_count(stats, SRNIC_CNT_RX_ICRC);
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

bool srnic_rx_take(struct net *net, struct sk_buff *skb, unsigned int bth)
{
	struct srnic_stats __percpu *stats;
	const struct srnic_bth *hdr;
	void *owner;

	if (!pskb_may_pull(skb, bth + sizeof(*hdr)))
		return false;
	if (skb_is_gso(skb) && !rx_is_run(skb))
		return false;
	hdr = (void *)skb->data + bth;
	owner = srnic_rx_ops->lookup(net, be32_to_cpu(hdr->qpn) & SRNIC_QPN_MASK,
				     &stats);
	if (!owner)
		return false;

	skb = skb_share_check(skb, GFP_ATOMIC);
	if (skb && !rx_check_run(skb, bth, stats)) {
		kfree_skb(skb);
		skb = NULL;
	}
	if (!skb)
		srnic_count(stats, SRNIC_CNT_RX_NOBUF);
	srnic_rx_ops->deliver(owner, skb);

	return true;
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
