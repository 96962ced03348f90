// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - steering of received frames by rules on a netdev
 *
 * Rules see frames in a hook at the netdev's ingress, after the host's own netfilter rules
 * there and before everything else, so bridge ports and netdevs with VLANs need no special
 * case.  Sniffers see frames where packet sockets do, in both directions.  Each hook is
 * registered only while it has rules.
 *
 * Rules are tried by priority.  All rules of one priority that match get the frame.  It
 * goes on to the next priority, and finally to the stack, if all of them have @dont_trap
 * set.  A drop rule is tried first at its priority.
 *
 * RoCEv2 packets are delivered to queue pairs by net/, so only a rule that matches on the
 * destination port sees them.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/rculist.h>
#include <linux/rtnetlink.h>
#include <linux/udp.h>
#include <net/checksum.h>
#include <net/gso.h>
#include <net/ip.h>

#include "tap.h"

static srnic_frame_fn tap_receiver;

/* What the receive filter of the netdev has to admit for a rule */
enum tap_filter {
	TAP_FILTER_NONE,
	TAP_FILTER_UC,
	TAP_FILTER_MC,
	TAP_FILTER_ALL_MC,
	TAP_FILTER_ALL,
};

static bool rule_sniffs(const struct srnic_rule *rule)
{
	return rule->kind == SRNIC_RULE_SNIFFER;
}

/* All matching rules of a level get the frame; default rules are the last level. */
static u32 rule_level(const struct srnic_rule *rule)
{
	return rule->kind == SRNIC_RULE_NORMAL ? rule->priority : U16_MAX + 1;
}

static u32 rule_order(const struct srnic_rule *rule)
{
	return 2 * rule_level(rule) + (rule->drop ? 0 : 1);
}

static bool frame_is_roce(const struct srnic_frame *frame)
{
	return (frame->f.has & SRNIC_HAS_UDP) &&
	       frame->f.dport == htons(SRNIC_UDP_PORT);
}

static bool rule_fits(const struct srnic_rule *rule,
		      const struct srnic_frame *frame)
{
	if (frame_is_roce(frame) && !rule->match.mask.dport)
		return false;

	return srnic_frame_matches(&frame->f, &rule->match);
}

/* Removes the ports of a frame that will be split into IP fragments, which have none. */
static void frame_clear_l4(struct srnic_frame *frame)
{
	frame->f.has &= ~(SRNIC_HAS_TCP | SRNIC_HAS_UDP);
	frame->f.sport = 0;
	frame->f.dport = 0;
	frame->l4 = 0;
}

/* Parses the frame of @skb from its MAC header, wherever skb->data points. */
static bool tap_parse(const struct sk_buff *skb, struct srnic_frame *frame)
{
	unsigned int gap = skb_vlan_tag_present(skb) ? VLAN_HLEN : 0;
	u8 data[SRNIC_FRAME_PEEK];
	unsigned int len;
	int mac;

	if (!skb_mac_header_was_set(skb))
		return false;
	mac = skb_mac_offset(skb);
	len = min_t(unsigned int, skb->len - mac, sizeof(data) - gap);
	if (len < 2 * ETH_ALEN ||
	    skb_copy_bits(skb, mac, data, 2 * ETH_ALEN) ||
	    skb_copy_bits(skb, mac + 2 * ETH_ALEN, data + 2 * ETH_ALEN + gap,
			  len - 2 * ETH_ALEN))
		return false;
	if (gap) {
		memcpy(data + 2 * ETH_ALEN, &skb->vlan_proto, 2);
		put_unaligned_be16(skb_vlan_tag_get(skb),
				   data + 2 * ETH_ALEN + 2);
	}

	if (!srnic_frame_parse(frame, data, len + gap))
		return false;
	if (skb_is_gso(skb) && skb_shinfo(skb)->gso_type & SKB_GSO_UDP)
		frame_clear_l4(frame);

	return true;
}

/*
 * Converts an skb to frames as on the wire: segmented, with VLAN tag and checksum.
 * Consumes @skb.  Return: list of frames, or NULL on failure.
 */
static struct sk_buff *tap_segment(struct sk_buff *skb)
{
	struct sk_buff *segs;

	skb_push(skb, skb->data - skb_mac_header(skb));
	if (skb_vlan_tag_present(skb)) {
		skb = __vlan_hwaccel_push_inside(skb);
		if (!skb)
			return NULL;
	}
	if (!skb_is_gso(skb)) {
		if (skb->ip_summed == CHECKSUM_PARTIAL &&
		    skb_csum_hwoffload_help(skb, 0))
			goto drop;
		skb_mark_not_on_list(skb);
		return skb;
	}

	/* Every segment gets a correct checksum, whatever that of @skb is. */
	if (skb->ip_summed == CHECKSUM_NONE)
		skb->ip_summed = CHECKSUM_UNNECESSARY;
	segs = __skb_gso_segment(skb, NETIF_F_SG, false);
	if (IS_ERR(segs))
		goto drop;
	if (!segs)
		return skb;
	consume_skb(skb);

	return segs;

drop:
	kfree_skb(skb);
	return NULL;
}

/* Is the TCP or UDP checksum of an IPv4 frame correct? */
static bool tap_l4_csum_ok(const struct sk_buff *skb,
			   const struct srnic_frame *frame)
{
	__be32 saddr, daddr;
	struct udphdr udp;

	if (frame->l4 + frame->l4_len > skb->len ||
	    skb_copy_bits(skb, frame->l4, &udp, sizeof(udp)))
		return false;
	if (frame->l4_proto == IPPROTO_UDP && !udp.check)
		return true;
	memcpy(&saddr, frame->f.saddr, sizeof(saddr));
	memcpy(&daddr, frame->f.daddr, sizeof(daddr));

	return !csum_tcpudp_magic(saddr, daddr, frame->l4_len, frame->l4_proto,
				  skb_checksum(skb, frame->l4, frame->l4_len,
					       0));
}

/* Have the checksums of @skb been verified already? */
static bool tap_csum_known(const struct sk_buff *skb,
			   const struct srnic_frame *frame)
{
	return (frame->f.has & SRNIC_HAS_IPV4) && frame->l4 &&
	       frame->ip_csum_ok && skb_csum_unnecessary(skb);
}

/*
 * Does @skb differ from the frames on the wire?  Its sender determines where the checksum
 * goes and how it is segmented, and may still change headers in shared pages, so the frames
 * have to be parsed again after tap_segment().
 */
static bool tap_is_unfinished(const struct sk_buff *skb)
{
	return skb_is_gso(skb) || skb->ip_summed == CHECKSUM_PARTIAL ||
	       skb_headlen(skb) < min_t(u32, skb->len, SRNIC_FRAME_PEEK);
}

/* Parses a frame from tap_segment().  Return: false if the rule does not match it. */
static bool tap_parse_again(const struct srnic_rule *rule, struct sk_buff *skb,
			    struct srnic_frame *frame)
{
	return pskb_may_pull(skb, min_t(u32, skb->len, SRNIC_FRAME_PEEK)) &&
	       tap_parse(skb, frame) &&
	       (rule_sniffs(rule) || rule_fits(rule, frame));
}

static void tap_deliver_one(const struct srnic_rule *rule, struct sk_buff *skb,
			    const struct srnic_frame *frame, bool csum_ok, bool later)
{
	struct srnic_framecb *cb = srnic_framecb(skb);

	if (rule->counters) {
		atomic64_inc(&rule->counters->frames);
		atomic64_add(skb->len, &rule->counters->bytes);
	}
	if (rule->drop) {
		kfree_skb(skb);
		return;
	}
	if (!csum_ok)
		csum_ok = frame->ip_csum_ok && frame->l4 &&
			  tap_l4_csum_ok(skb, frame);
	cb->tag = rule->tag;
	cb->csum_ok = csum_ok;
	tap_receiver(rule->target, skb, frame, later);
}

/* Delivers the frames in @skb, which it consumes, to the target of @rule. */
static void tap_deliver(const struct srnic_tap *tap,
			const struct srnic_rule *rule, struct sk_buff *skb,
			const struct srnic_frame *frame, bool later)
{
	struct srnic_frame made;
	struct sk_buff *next;
	bool csum_ok, again;

	skb = skb ? skb_share_check(skb, GFP_ATOMIC) : NULL;
	if (!skb)
		goto nobuf;
	again = tap_is_unfinished(skb);
	csum_ok = !again && tap_csum_known(skb, frame);
	skb = tap_segment(skb);
	if (!skb)
		goto nobuf;

	skb_list_walk_safe(skb, skb, next) {
		skb_mark_not_on_list(skb);
		if (!again) {
			tap_deliver_one(rule, skb, frame, csum_ok, later);
		} else if (tap_parse_again(rule, skb, &made)) {
			tap_deliver_one(rule, skb, &made, false, later);
		} else {
			srnic_count(tap->stats, SRNIC_CNT_RX_MALFORMED);
			kfree_skb(skb);
		}
	}
	return;

nobuf:
	srnic_count(tap->stats, SRNIC_CNT_RX_NOBUF);
}

/*
 * Delivers a frame to the matching rules, except those for @skip.  Return: true if
 * @skb is consumed, false if it goes on to the stack.
 */
static bool tap_steer(const struct srnic_tap *tap, struct sk_buff *skb,
		      const struct srnic_frame *frame, const void *skip,
		      bool later)
{
	const struct srnic_rule *rule, *last = NULL;
	bool trapped = false;

	list_for_each_entry_rcu(rule, &tap->rules, list) {
		if (trapped && rule_level(rule) != rule_level(last))
			break;
		if ((skip && rule->target == skip) || !rule_fits(rule, frame))
			continue;
		if (last)
			tap_deliver(tap, last, skb_clone(skb, GFP_ATOMIC),
				    frame, later);
		last = rule;
		trapped |= !rule->dont_trap;
		if (rule->drop)
			break;
	}
	if (last)
		tap_deliver(tap, last, trapped ? skb : skb_clone(skb, GFP_ATOMIC),
			    frame, later);

	return trapped;
}

static unsigned int tap_ingress(void *priv, struct sk_buff *skb,
				const struct nf_hook_state *state)
{
	const struct srnic_tap *tap = priv;
	struct srnic_frame frame;

	if (!tap_parse(skb, &frame))
		return NF_ACCEPT;

	return tap_steer(tap, skb, &frame, NULL, false) ? NF_STOLEN : NF_ACCEPT;
}

/*
 * Transmitted frames are seen with the transmit lock held, so the tasks of the
 * receivers are deferred.
 */
static int tap_sniff(struct sk_buff *skb, struct net_device *ndev,
		     struct packet_type *pt, struct net_device *orig_dev)
{
	struct srnic_tap *tap = container_of(pt, struct srnic_tap, sniff);
	const struct srnic_rule *rule;
	struct srnic_frame frame;

	local_bh_disable();
	rcu_read_lock();
	if (tap_parse(skb, &frame))
		list_for_each_entry_rcu(rule, &tap->sniffers, list)
			tap_deliver(tap, rule, skb_clone(skb, GFP_ATOMIC),
				    &frame, true);
	rcu_read_unlock();
	local_bh_enable();
	consume_skb(skb);

	return 0;
}

void srnic_tap_loop(const struct srnic_tap *tap, struct sk_buff *skb,
		    const void *skip)
{
	const struct ethhdr *eth = eth_hdr(skb);
	struct srnic_frame frame;
	struct sk_buff *copy;

	if (list_empty(&tap->rules))
		return;
	if (!is_multicast_ether_addr(eth->h_dest) &&
	    !ether_addr_equal(eth->h_dest, tap->ndev->dev_addr))
		return;

	rcu_read_lock();
	copy = skb_clone(skb, GFP_ATOMIC);
	if (!copy)
		srnic_count(tap->stats, SRNIC_CNT_RX_NOBUF);
	else if (!tap_parse(copy, &frame) ||
		 !tap_steer(tap, copy, &frame, skip, true))
		consume_skb(copy);
	rcu_read_unlock();
}

void srnic_tap_set_receiver(srnic_frame_fn fn)
{
	tap_receiver = fn;
}

void srnic_tap_init(struct srnic_tap *tap, struct net_device *ndev,
		    struct srnic_stats __percpu *stats)
{
	*tap = (struct srnic_tap) {
		.ndev	= ndev,
		.stats	= stats,
		.hook	= {
			.hook		= tap_ingress,
			.dev		= ndev,
			.priv		= tap,
			.pf		= NFPROTO_NETDEV,
			.hooknum	= NF_NETDEV_INGRESS,
			.priority	= NF_IP_PRI_LAST,
		},
		.sniff	= {
			.type	= htons(ETH_P_ALL),
			.dev	= ndev,
			.func	= tap_sniff,
		},
	};
	INIT_LIST_HEAD(&tap->rules);
	INIT_LIST_HEAD(&tap->sniffers);
}

/* As with a NIC, a rule gets all frames that it matches, whatever their destination is. */
static u8 tap_filter_for(const struct srnic_tap *tap, const struct srnic_rule *rule)
{
	const struct srnic_match *match = &rule->match;

	if (rule->drop)
		return TAP_FILTER_NONE;
	if (rule->kind == SRNIC_RULE_MC_DEFAULT)
		return TAP_FILTER_ALL_MC;
	if (!is_broadcast_ether_addr(match->mask.dmac))
		return TAP_FILTER_ALL;
	if (is_multicast_ether_addr(match->val.dmac))
		return TAP_FILTER_MC;

	return ether_addr_equal(match->val.dmac, tap->ndev->dev_addr) ?
	       TAP_FILTER_NONE : TAP_FILTER_UC;
}

static int tap_filter_add(const struct srnic_tap *tap, const struct srnic_rule *rule)
{
	switch (rule->filter) {
	case TAP_FILTER_UC:
		return dev_uc_add(tap->ndev, rule->match.val.dmac);
	case TAP_FILTER_MC:
		return dev_mc_add(tap->ndev, rule->match.val.dmac);
	case TAP_FILTER_ALL_MC:
		return dev_set_allmulti(tap->ndev, 1);
	case TAP_FILTER_ALL:
		return dev_set_promiscuity(tap->ndev, 1);
	default:
		return 0;
	}
}

static void tap_filter_del(const struct srnic_tap *tap, const struct srnic_rule *rule)
{
	switch (rule->filter) {
	case TAP_FILTER_UC:
		dev_uc_del(tap->ndev, rule->match.val.dmac);
		break;
	case TAP_FILTER_MC:
		dev_mc_del(tap->ndev, rule->match.val.dmac);
		break;
	case TAP_FILTER_ALL_MC:
		dev_set_allmulti(tap->ndev, -1);
		break;
	case TAP_FILTER_ALL:
		dev_set_promiscuity(tap->ndev, -1);
		break;
	}
}

static struct list_head *tap_list(struct srnic_tap *tap,
				  const struct srnic_rule *rule)
{
	return rule_sniffs(rule) ? &tap->sniffers : &tap->rules;
}

/* Registers the hook for rules of the kind of @rule. */
static int tap_add_hook(struct srnic_tap *tap, const struct srnic_rule *rule)
{
	if (!rule_sniffs(rule))
		return nf_register_net_hook(dev_net(tap->ndev), &tap->hook);
	dev_add_pack(&tap->sniff);

	return 0;
}

static void tap_del_hook(struct srnic_tap *tap, bool sniffers)
{
	if (sniffers)
		dev_remove_pack(&tap->sniff);
	else
		nf_unregister_net_hook(dev_net(tap->ndev), &tap->hook);
}

/* Inserts the rule after those with the same or an earlier place in the order. */
static void tap_insert(struct list_head *list, struct srnic_rule *rule)
{
	struct srnic_rule *other;

	list_for_each_entry(other, list, list)
		if (rule_order(other) > rule_order(rule))
			break;
	list_add_tail_rcu(&rule->list, &other->list);
}

static int tap_add(struct srnic_tap *tap, struct srnic_rule *rule)
{
	struct list_head *list = tap_list(tap, rule);
	int err;

	ASSERT_RTNL();

	if (tap->gone)
		return -ENODEV;
	rule->filter = tap_filter_for(tap, rule);
	err = tap_filter_add(tap, rule);
	if (err)
		return err;
	if (list_empty(list))
		err = tap_add_hook(tap, rule);
	if (err)
		tap_filter_del(tap, rule);
	else
		tap_insert(list, rule);

	return err;
}

int srnic_tap_add(struct srnic_tap *tap, struct srnic_rule *rule)
{
	int err;

	rtnl_lock();
	err = tap_add(tap, rule);
	rtnl_unlock();

	return err;
}

void srnic_tap_del(struct srnic_tap *tap, struct srnic_rule *rule)
{
	rtnl_lock();
	list_del_rcu(&rule->list);
	if (!tap->gone) {
		tap_filter_del(tap, rule);
		if (list_empty(tap_list(tap, rule)))
			tap_del_hook(tap, rule_sniffs(rule));
	}
	rtnl_unlock();
	synchronize_rcu_expedited();	/* readers of the rule are done */
}

void srnic_tap_stop(struct srnic_tap *tap)
{
	struct srnic_rule *rule;

	ASSERT_RTNL();

	if (tap->gone)
		return;
	WRITE_ONCE(tap->gone, true);	/* read in srnic_frame_send() */
	list_for_each_entry(rule, &tap->rules, list)
		tap_filter_del(tap, rule);
	list_for_each_entry(rule, &tap->sniffers, list)
		tap_filter_del(tap, rule);
	if (!list_empty(&tap->rules))
		tap_del_hook(tap, false);
	if (!list_empty(&tap->sniffers))
		tap_del_hook(tap, true);
}
