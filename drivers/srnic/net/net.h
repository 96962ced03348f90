/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - packets to and from the network stack
 *
 * Knows skbs, routes, namespaces and segmentation; knows no queue pair, work
 * request or key, and no frame but those of RoCE.  The receiver above is
 * registered once.
 */
#ifndef SRNIC_NET_H
#define SRNIC_NET_H

#include <linux/if_ether.h>
#include <linux/in6.h>
#include <linux/kref.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>

#include "../stats.h"
#include "../wire/pkt.h"

/**
 * struct srnic_flow - where packets of one connection or address handle go
 * @ndev: device they leave through; reference held by the owner of the flow
 * @ifindex: of @ndev, for an owner that holds it only now and then
 * @saddr: source address; IPv4 addresses are v4-mapped
 * @daddr: destination address
 * @v4: IPv4, not IPv6
 * @tos: traffic class
 * @ttl: hop limit
 * @sport: UDP source port, network order
 * @label: IPv6 flow label, host order
 * @ip_id: next IPv4 ID
 * @dst: cached route or NULL, checked before each use
 * @cookie: for dst_check()
 *
 * Belongs to one serialised user; no locks.
 */
struct srnic_flow {
	struct net_device	*ndev;
	int			ifindex;
	struct in6_addr		saddr;
	struct in6_addr		daddr;
	bool			v4;
	u8			tos;
	u8			ttl;
	__be16			sport;
	u32			label;
	u16			ip_id;
	struct dst_entry	*dst;
	u32			cookie;
};

/*
 * Takes the device of a flow that is not held, and gives it back.  The route
 * stays cached in between.  Context: any.  False: it is gone.
 */
bool srnic_flow_open(struct srnic_flow *flow, struct net *net);
void srnic_flow_close(struct srnic_flow *flow);

/* Forgets the cached route. */
void srnic_flow_reset(struct srnic_flow *flow);

/* Does it lead to an address of its own device?  Context: any. */
bool srnic_flow_is_self(const struct srnic_flow *flow);

/**
 * struct srnic_peer - who may send to a connected queue pair
 * @daddr: address of the peer; IPv4 addresses are v4-mapped
 * @saddr: own address
 * @v4: IPv4, not IPv6
 * @ifindex: device that packets of the peer come in by
 * @rcu: the receiver may still look at it
 *
 * Made from a flow; never changes, so that the receiver can look at it while the
 * owner of the flow replaces both.
 */
struct srnic_peer {
	struct in6_addr	daddr;
	struct in6_addr	saddr;
	bool		v4;
	int		ifindex;
	struct rcu_head	rcu;
};

/* The peer that @flow leads to, or NULL.  May sleep. */
struct srnic_peer *srnic_peer_new(const struct srnic_flow *flow);

/**
 * struct srnic_gate - how much of one sender the stack holds
 * @ref: one for the owner, one per skb on its way
 * @load: weight of the skbs on their way, see tx.c
 * @waiting: the owner wants @wake when there is room again
 * @wake: called from the skb destructor with BH disabled
 * @free: called with the last reference
 */
struct srnic_gate {
	struct kref	ref;
	atomic_t	load;
	atomic_t	waiting;
	void		(*wake)(struct srnic_gate *gate);
	void		(*free)(struct kref *ref);
};

/* Room for more?  If not, @wake will be called when there is. */
bool srnic_gate_open(struct srnic_gate *gate);

/**
 * struct srnic_txb - packets of one flow on their way to the stack
 * @flow: where they go
 * @gate: who pays for them
 * @stats: counters
 * @head: first packet, or NULL
 * @last: last packet
 * @bytes: IP bytes of all
 * @num: number of packets
 */
struct srnic_txb {
	struct srnic_flow		*flow;
	struct srnic_gate		*gate;
	struct srnic_stats __percpu	*stats;
	struct sk_buff			*head;
	struct sk_buff			*last;
	u32				bytes;
	u32				num;
};

/*
 * A packet with its transport headers built; the caller fills *@payload
 * (pkt->payload bytes, the pad is zeroed) and then calls srnic_tx_add(), or
 * kfree_skb().  Sets pkt->pad.
 * Context: BH disabled.  NULL when there is no memory.
 */
struct sk_buff *srnic_tx_alloc(struct srnic_txb *txb, struct srnic_pkt *pkt,
			       void **payload);

/* An empty buffer of @len bytes, or NULL.  Context: BH disabled. */
struct sk_buff *srnic_tx_new(unsigned int len);

/* Charges the gate until the stack is done with @skb. */
void srnic_tx_charge(struct srnic_gate *gate, struct sk_buff *skb);

/* Seals the packet (ICRC) and queues it; sends a full batch. */
void srnic_tx_add(struct srnic_txb *txb, struct sk_buff *skb);

/* Seals the packet and sends it by itself, as traffic of class @tos. */
void srnic_tx_alone(struct srnic_txb *txb, struct sk_buff *skb, u8 tos);

/* Sends what is queued.  A packet that the stack drops is a lost packet. */
void srnic_tx_flush(struct srnic_txb *txb);

/**
 * struct srnic_rxcb - skb->cb of a received packet
 * @bth: offset of the BTH from skb->data
 * @len: bytes from the BTH to the end of the ICRC
 * @good: addresses and ICRC are right
 * @ce: a router has marked it: congestion experienced
 * @vlan: VLAN that a run of datagrams came through, SRNIC_NO_VLAN: none
 * @life: of the owner when it admitted the run, see struct srnic_rx_to
 *
 * A run of packets arrives as one skb with a frag_list; each packet of it has
 * its own.  All are linear.
 */
struct srnic_rxcb {
	u16	bth;
	u16	len;
	bool	good;
	bool	ce;
	u16	vlan;
	u32	life;
};

#define SRNIC_NO_VLAN	0xffff

static inline struct srnic_rxcb *srnic_rxcb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct srnic_rxcb) > sizeof(skb->cb));
	return (struct srnic_rxcb *)skb->cb;
}

/* The packet behind @seg in the run that starts with @skb. */
static inline struct sk_buff *srnic_rx_next(struct sk_buff *skb,
					    struct sk_buff *seg)
{
	return seg == skb ? skb_shinfo(skb)->frag_list : seg->next;
}

/**
 * struct srnic_rx_src - where a packet came from
 * @grh: its IP header; one of IPv4 fills the last 20 bytes, zeros before it
 * @version: of IP
 * @mcast: to a multicast address
 * @looped: a copy of a multicast that this host sent
 * @smac: Ethernet address of the sender, zeros if there is none
 */
struct srnic_rx_src {
	u8	grh[SRNIC_GRH_BYTES];
	u8	version;
	bool	mcast;
	bool	looped;
	u8	smac[ETH_ALEN];
};

/* Describes packet @seg of the run @skb, whose headers are good. */
void srnic_rx_describe(const struct sk_buff *skb, const struct sk_buff *seg,
		       struct srnic_rx_src *src);

/*
 * Did a packet of the stack come from @peer, by the device that leads there?
 * What this host sends to itself comes in by no device; then the VRF must be that
 * of the device.  Context: RCU.
 */
bool srnic_rx_from(const struct sk_buff *skb, const struct srnic_peer *peer);

/* Did it come in by @ndev, or one above it as a VLAN is?  Context: RCU. */
bool srnic_rx_by(const struct sk_buff *skb, const struct net_device *ndev);

/**
 * struct srnic_rx_dest - whom a packet is for that has no QP number of its own
 * @net: where it came in
 * @in: device that it came in by, or that has its address
 * @below: it is for the devices below @in as well
 * @addr: multicast address; all zeros: the management queue pair
 */
struct srnic_rx_dest {
	struct net		*net;
	struct net_device	*in;
	bool			below;
	struct in6_addr		addr;
};

/*
 * Does it reach the RDMA device on @ndev, of which the addresses of @in are GIDs?
 * It does if @in is @ndev, or a VLAN, a bond, a bridge or a macvlan above.
 * Context: RCU.
 */
bool srnic_rx_reaches(const struct srnic_rx_dest *dest,
		      const struct net_device *ndev);

/**
 * struct srnic_rx_to - who gets a packet
 * @owner: of the number in it; a reference is held
 * @stats: where it counts
 * @datagram: @owner tells the VLAN that it came through
 * @life: what @owner called the time in which it takes such packets; kept with
 *	  the packet, since that time may be over before the packet's turn comes
 */
struct srnic_rx_to {
	void				*owner;
	struct srnic_stats __percpu	*stats;
	bool				datagram;
	u32				life;
};

/**
 * struct srnic_rx_ops - what the layer above answers
 * @lookup: who owns @qpn in @net and takes @skb, as far as the headers of IP and
 *	    the device tell.  -ENOENT: nobody has the number; -EPERM: who has it
 *	    refuses the packet, and has counted that.  Context: RCU, BH disabled
 * @deliver: consumes a checked run, and the reference that @lookup took.  NULL
 *	     skb: only the latter
 * @lookup_group: where a packet counts that is for all whom it reaches, or for the
 *		  first of the management queue pairs; NULL: for nobody
 * @deliver_group: consumes a checked run for them, within the same RCU section
 */
struct srnic_rx_ops {
	int	(*lookup)(struct net *net, u32 qpn, const struct sk_buff *skb,
			  struct srnic_rx_to *to);
	void	(*deliver)(void *owner, struct sk_buff *skb);
	struct srnic_stats __percpu *
		(*lookup_group)(const struct srnic_rx_dest *dest);
	void	(*deliver_group)(const struct srnic_rx_dest *dest,
				 struct sk_buff *skb);
};

/*
 * The host joins (or leaves) the multicast group @addr, an IPv4 one v4-mapped,
 * on @ndev; counted.  May sleep, takes rtnl.  0 or a negative errno.
 */
int srnic_mcast_join(struct net_device *ndev, const struct in6_addr *addr);
void srnic_mcast_leave(struct net_device *ndev, const struct in6_addr *addr);

int srnic_net_init(const struct srnic_rx_ops *ops);
void srnic_net_exit(void);

/* Start to receive in @net; counted.  May sleep. */
int srnic_rx_start(struct net *net);
void srnic_rx_stop(struct net *net);

#endif /* SRNIC_NET_H */
