// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - transmission of frames
 *
 * Frames are sent through the qdisc, like those of a packet socket.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/checksum.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>

#include "tap.h"

struct sk_buff *srnic_frame_alloc(const struct srnic_tap *tap,
				  struct srnic_txb *txb, u32 len, void **data)
{
	unsigned int headroom = LL_RESERVED_SPACE(tap->ndev) - ETH_HLEN;
	struct sk_buff *skb;

	skb = srnic_tx_new(headroom + len);
	if (!skb) {
		srnic_count(txb->stats, SRNIC_CNT_TX_NOBUF);
		return NULL;
	}
	skb_reserve(skb, headroom);
	*data = skb_put(skb, len);

	return skb;
}

bool srnic_frame_fits(const struct srnic_tap *tap, const void *data, u32 len)
{
	const struct ethhdr *eth = data;
	u32 max = READ_ONCE(tap->ndev->mtu) + ETH_HLEN;

	if (!data || eth_type_vlan(eth->h_proto))
		max += VLAN_HLEN;

	return len >= ETH_HLEN && len <= max;
}

static __sum16 frame_l4_sum(const struct sk_buff *skb,
			    const struct srnic_frame *frame)
{
	__wsum sum = skb_checksum(skb, frame->l4, frame->l4_len, 0);
	const void *ip = skb->data + frame->l3;
	const struct ipv6hdr *ip6 = ip;
	const struct iphdr *ip4 = ip;

	if (frame->f.has & SRNIC_HAS_IPV4)
		return csum_tcpudp_magic(ip4->saddr, ip4->daddr, frame->l4_len,
					 frame->l4_proto, sum);

	return csum_ipv6_magic(&ip6->saddr, &ip6->daddr, frame->l4_len,
			       frame->l4_proto, sum);
}

/* Checksums are computed in software, as the frame may be padded. */
static void frame_csum(struct sk_buff *skb)
{
	struct srnic_frame frame;
	__sum16 *field;
	void *l4;

	if (!srnic_frame_parse(&frame, skb->data,
			       min_t(u32, skb->len, SRNIC_FRAME_PEEK)))
		return;
	if (frame.f.has & SRNIC_HAS_IPV4)
		ip_send_check((struct iphdr *)(skb->data + frame.l3));
	if (!frame.l4 || frame.l4 + frame.l4_len > skb->len)
		return;

	l4 = skb->data + frame.l4;
	field = frame.l4_proto == IPPROTO_TCP ? &((struct tcphdr *)l4)->check :
						&((struct udphdr *)l4)->check;
	*field = 0;
	*field = frame_l4_sum(skb, &frame) ?: CSUM_MANGLED_0;
}

/* Sets the skb fields that the stack needs for a complete frame. */
static void frame_describe(struct sk_buff *skb, struct net_device *ndev)
{
	int depth = ETH_HLEN;

	skb->dev = ndev;
	skb_reset_mac_header(skb);
	skb->protocol = eth_hdr(skb)->h_proto;
	if (!eth_proto_is_802_3(skb->protocol))
		skb->protocol = htons(ETH_P_802_2);
	if (eth_type_vlan(skb->protocol))
		__vlan_get_protocol(skb, skb->protocol, &depth);
	skb_set_network_header(skb, depth);
	skb_probe_transport_header(skb);
}

void srnic_frame_send(const struct srnic_tap *tap, struct srnic_txb *txb,
		      struct sk_buff *skb, bool csum, const void *skip)
{
	bool mcast = is_multicast_ether_addr(skb->data);
	struct net_device *ndev = tap->ndev;
	unsigned int len = skb->len;
	int err;

	if (!(READ_ONCE(ndev->flags) & IFF_UP) || READ_ONCE(tap->gone)) {
		srnic_count(txb->stats, SRNIC_CNT_SEND_ERR);
		kfree_skb(skb);
		return;
	}

	frame_describe(skb, ndev);
	if (csum)
		frame_csum(skb);
	srnic_tap_loop(tap, skb, skip);
	srnic_tx_charge(txb->gate, skb);
	err = dev_queue_xmit(skb);
	if (net_xmit_eval(err)) {
		srnic_count(txb->stats, SRNIC_CNT_SEND_ERR);
		return;
	}
	srnic_count(txb->stats, SRNIC_CNT_SENT_PKTS);
	srnic_count_add(txb->stats, SRNIC_CNT_SENT_BYTES, len);
	if (mcast)
		srnic_count(txb->stats, SRNIC_CNT_SENT_MCAST);
}
