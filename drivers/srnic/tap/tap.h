/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - received frames of a netdev selected by rules, and transmission of frames
 *
 * This room deals with Ethernet and the headers that rules match, but not with queue pairs.
 * The layer above registers its receive callback once.
 */
#ifndef SRNIC_TAP_H
#define SRNIC_TAP_H

#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>

#include "../net/net.h"
#include "../stats.h"
#include "../wire/frame.h"

/* Which frames a rule applies to */
enum srnic_rule_kind {
	SRNIC_RULE_NORMAL,	/* frames that match */
	SRNIC_RULE_ALL_DEFAULT,	/* frames that no normal rule has trapped */
	SRNIC_RULE_MC_DEFAULT,	/* multicast frames that no normal rule has trapped */
	SRNIC_RULE_SNIFFER,	/* all frames, in both directions */
};

/* Frames that rules have matched; may outlive the rules */
struct srnic_rule_counters {
	atomic64_t	frames;
	atomic64_t	bytes;
};

/**
 * struct srnic_rule - selects frames of a netdev for a target
 * @list: entry in its tap
 * @match: fields to match
 * @kind: which frames the rule applies to
 * @priority: NORMAL: lower values are tried first
 * @dont_trap: the target gets a copy; rules of lower priority and the stack see the frame
 * @drop: drop matching frames
 * @tag: passed on with the frame
 * @target: receiver of the frame
 * @counters: counters of matching frames, or NULL
 * @filter: enum tap_filter: what the receive filter of the netdev admits for the rule
 */
struct srnic_rule {
	struct list_head	list;
	struct srnic_match	match;
	enum srnic_rule_kind	kind;
	u16			priority;
	bool			dont_trap;
	bool			drop;
	u32			tag;
	void			*target;
	struct srnic_rule_counters *counters;
	u8			filter;
};

/**
 * struct srnic_tap - rules and hooks of a netdev
 * @ndev: the netdev
 * @stats: counters of its device
 * @rules: rules in the order in which they are tried; under rtnl, read under RCU
 * @sniffers: sniffer rules; under rtnl, read under RCU
 * @hook: registered while there are @rules
 * @sniff: registered while there are @sniffers
 * @gone: the netdev is being removed; under rtnl
 */
struct srnic_tap {
	struct net_device		*ndev;
	struct srnic_stats __percpu	*stats;
	struct list_head		rules;
	struct list_head		sniffers;
	struct nf_hook_ops		hook;
	struct packet_type		sniff;
	bool				gone;
};

/*
 * Consumes a frame for the target of a rule; @frame is the parsed frame, skb->data its
 * start.  @later: the stack may hold locks, so defer tasks.
 * Context: RCU, BH disabled.
 */
typedef void (*srnic_frame_fn)(void *target, struct sk_buff *skb,
			       const struct srnic_frame *frame, bool later);

/* Registers the receive callback; called before any rule is added. */
void srnic_tap_set_receiver(srnic_frame_fn fn);

void srnic_tap_init(struct srnic_tap *tap, struct net_device *ndev,
		    struct srnic_stats __percpu *stats);

/*
 * Add and remove a rule, which the caller owns; it is unused once srnic_tap_del()
 * returns.  Context: process, takes rtnl.  Return: 0 or a negative errno.
 */
int srnic_tap_add(struct srnic_tap *tap, struct srnic_rule *rule);
void srnic_tap_del(struct srnic_tap *tap, struct srnic_rule *rule);

/* Disables the rules of a netdev that is being removed.  Context: rtnl held. */
void srnic_tap_stop(struct srnic_tap *tap);

/*
 * Delivers a frame that is being sent to the rules, except those for @skip, if it is
 * multicast or for this netdev's own address.  Context: BH disabled.
 */
void srnic_tap_loop(const struct srnic_tap *tap, struct sk_buff *skb,
		    const void *skip);

/**
 * struct srnic_framecb - skb->cb of a received frame
 * @tag: tag of the matching rule
 * @csum_ok: the IPv4 header checksum and the TCP or UDP checksum are correct
 */
struct srnic_framecb {
	u32	tag;
	bool	csum_ok;
};

static inline struct srnic_framecb *srnic_framecb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct srnic_framecb) > sizeof(skb->cb));
	return (struct srnic_framecb *)skb->cb;
}

/* Allocates a frame to send on @tap's netdev, with its start at *@data; or NULL. */
struct sk_buff *srnic_frame_alloc(const struct srnic_tap *tap,
				  struct srnic_txb *txb, u32 len, void **data);

/* May a frame of @len bytes be sent, and if @data is not NULL, with this content? */
bool srnic_frame_fits(const struct srnic_tap *tap, const void *data, u32 len);

/*
 * Sends the frame and charges @txb's gate; @csum: first fills in the checksums of
 * IPv4, TCP and UDP.  Rules for @skip do not receive it by loopback.
 * Context: BH disabled.
 */
void srnic_frame_send(const struct srnic_tap *tap, struct srnic_txb *txb,
		      struct sk_buff *skb, bool csum, const void *skip);

#endif /* SRNIC_TAP_H */
