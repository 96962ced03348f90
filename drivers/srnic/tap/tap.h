/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - frames of a netdev that rules ask for, and frames sent as they are
 *
 * Knows Ethernet and what rules look at; knows no queue pair.  Who gets frames is
 * registered once.
 */
#ifndef SRNIC_TAP_H
#define SRNIC_TAP_H

#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>

#include "../net/net.h"
#include "../stats.h"
#include "../wire/frame.h"

/* Whom a rule is for */
enum srnic_rule_kind {
	SRNIC_RULE_NORMAL,	/* frames that match */
	SRNIC_RULE_ALL_DEFAULT,	/* what no other rule has kept */
	SRNIC_RULE_MC_DEFAULT,	/* of that, what goes to many */
	SRNIC_RULE_SNIFFER,	/* all, both ways */
};

/* What rules have counted; outlives them */
struct srnic_meter {
	atomic64_t	frames;
	atomic64_t	bytes;
};

/**
 * struct srnic_rule - who gets which frames of a netdev
 * @list: of its tap
 * @match: which
 * @kind: of what
 * @priority: NORMAL: a smaller one comes first
 * @keep: the frame goes on as if nobody had taken it
 * @drop: nobody gets it
 * @tag: told with the frame
 * @target: who gets it
 * @meter: counts, or NULL
 * @admit: what the netdev lets in for it
 */
struct srnic_rule {
	struct list_head	list;
	struct srnic_match	match;
	enum srnic_rule_kind	kind;
	u16			priority;
	bool			keep;
	bool			drop;
	u32			tag;
	void			*target;
	struct srnic_meter	*meter;
	u8			admit;
};

/**
 * struct srnic_tap - where frames of a netdev are taken by rules
 * @ndev: the netdev
 * @stats: counters of its device
 * @rules: in the order they are tried; under rtnl, read under RCU
 * @sniffers: likewise
 * @hook: registered while there are @rules
 * @sniff: registered while there are @sniffers
 * @gone: the netdev is leaving; under rtnl
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
 * Consumes a frame for the target of a rule, which is @frame or like it; the skb's
 * data stands at its start.  Context: RCU, BH disabled.  @later: the stack is in the
 * middle of something, so run nothing now.
 */
typedef void (*srnic_frame_fn)(void *target, struct sk_buff *skb,
			       const struct srnic_frame *frame, bool later);

/* Says who gets frames, before there is a rule. */
void srnic_tap_set_receiver(srnic_frame_fn fn);

void srnic_tap_init(struct srnic_tap *tap, struct net_device *ndev,
		    struct srnic_stats __percpu *stats);

/*
 * Adds a rule, which belongs to the caller; when srnic_tap_del() returns nobody
 * looks at it any more.  May sleep, take rtnl.  0 or a negative errno.
 */
int srnic_tap_add(struct srnic_tap *tap, struct srnic_rule *rule);
void srnic_tap_del(struct srnic_tap *tap, struct srnic_rule *rule);

/* The netdev is leaving: its rules get no more frames.  Under rtnl. */
void srnic_tap_stop(struct srnic_tap *tap);

/*
 * Shows the rules, but those for @skip, a frame that leaves and is for more than
 * those on the wire.  Context: BH disabled.
 */
void srnic_tap_loop(const struct srnic_tap *tap, struct sk_buff *skb,
		    const void *skip);

/**
 * struct srnic_framecb - skb->cb of a received frame
 * @tag: of the rule that it fits
 * @csum_ok: its IPv4 header and what is in it have the right checksums
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

/* Room for a frame that leaves through @tap's netdev, at *@data; or NULL. */
struct sk_buff *srnic_frame_alloc(const struct srnic_tap *tap,
				  struct srnic_txb *txb, u32 len, void **data);

/* May a frame of @len bytes leave?  With @data, of that very content? */
bool srnic_frame_fits(const struct srnic_tap *tap, const void *data, u32 len);

/*
 * Sends the frame, which @txb's gate pays for; with @csum its checksums of IPv4,
 * TCP and UDP are filled in first.  @skip does not get it back.
 * Context: BH disabled.
 */
void srnic_frame_send(const struct srnic_tap *tap, struct srnic_txb *txb,
		      struct sk_buff *skb, bool csum, const void *skip);

#endif /* SRNIC_TAP_H */
