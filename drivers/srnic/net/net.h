/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - packets to and from the network stack
 *
 * This room handles skbs, routes, namespaces and GSO chains of RoCEv2 packets.  It deals
 * with no queue pairs, work requests, keys or other frames.  The layer above registers its
 * receive callbacks once.
 */
#ifndef SRNIC_NET_H
#define SRNIC_NET_H

#include <linux/if_ether.h>
#include <linux/in6.h>
#include <linux/kref.h>
#include <linux/llist.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>

#include "../stats.h"
#include "../wire/pkt.h"

/**
 * struct srnic_path - path of the packets of one connection or address handle
 * @ndev: egress device; reference held by the owner of the path
 * @ifindex: index of @ndev, for owners that hold @ndev only temporarily
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
 * @hash: of addresses and ports, for the choice of queues; 0: not yet computed
 * @cpu: 1 + the CPU that sent first on the cached route, whose TX queue all packets use
 *	 if the device maps CPUs to queues (XPS); 0: none yet
 *
 * Not locked: the owner serialises all accesses.
 */
struct srnic_path {
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
	u32			hash;
	u32			cpu;
};

/*
 * Take and drop the reference on the device of a path that does not hold it.  The
 * route stays cached in between.
 * Context: any.  Return: false if the device is gone.
 */
bool srnic_path_open(struct srnic_path *path, struct net *net);
void srnic_path_close(struct srnic_path *path);

/* Drops the cached route. */
void srnic_path_reset(struct srnic_path *path);

/* Changes the UDP source port.  The caller has flushed packets with the old one. */
void srnic_path_set_sport(struct srnic_path *path, __be16 sport);

/* Is the destination an address of the path's own device?  Context: any. */
bool srnic_path_is_self(const struct srnic_path *path);

/**
 * struct srnic_peer - the only sender that a connected queue pair accepts
 * @daddr: address of the peer; IPv4 addresses are v4-mapped
 * @saddr: local address
 * @v4: IPv4, not IPv6
 * @ifindex: device that receives the peer's packets
 * @rcu: defers the free while receivers may read the peer
 *
 * Created from a path and immutable, so that receivers can read it while the owner
 * of the path replaces both.
 */
struct srnic_peer {
	struct in6_addr	daddr;
	struct in6_addr	saddr;
	bool		v4;
	int		ifindex;
	struct rcu_head	rcu;
};

/* Allocates the peer of @path.  May sleep.  Return: NULL without memory. */
struct srnic_peer *srnic_peer_new(const struct srnic_path *path);

/**
 * struct srnic_gate - limit on what one sender has in the network stack
 * @ref: one for the owner, one per skb in the stack
 * @load: weight of the skbs in the stack, see tx.c
 * @waiting: the owner waits for @wake
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

/* Is there room for another skb?  If not, @wake is called when there is. */
bool srnic_gate_open(struct srnic_gate *gate);

/**
 * struct srnic_txb - GSO chain on one path while it is built
 * @path: path of the packets
 * @net: namespace in which they are sent
 * @gate: gate that is charged for them
 * @stats: counters
 * @head: first packet, or NULL
 * @last: last packet
 * @bytes: total size of the IP packets
 * @num: number of packets
 */
struct srnic_txb {
	struct srnic_path		*path;
	const struct net		*net;
	struct srnic_gate		*gate;
	struct srnic_stats __percpu	*stats;
	struct sk_buff			*head;
	struct sk_buff			*last;
	u32				bytes;
	u32				num;
};

/*
 * Allocates a packet, sets pkt->pad and builds the transport headers.  The caller
 * fills *@payload (pkt->payload bytes, the pad is zeroed) and then calls
 * srnic_tx_add() or kfree_skb().
 * Context: BH disabled.  Return: NULL without memory.
 */
struct sk_buff *srnic_tx_alloc(struct srnic_txb *txb, struct srnic_pkt *pkt,
			       void **payload);

/* Allocates an empty skb of @len bytes, or returns NULL.  Context: BH disabled. */
struct sk_buff *srnic_tx_new(unsigned int len);

/* Charges @gate for @skb until the stack frees it. */
void srnic_tx_charge(struct srnic_gate *gate, struct sk_buff *skb);

/* Completes the packet (IP, UDP, ICRC) and appends it; first flushes a full chain. */
void srnic_tx_add(struct srnic_txb *txb, struct sk_buff *skb);

/* Completes the packet and sends it alone, with traffic class @tos. */
void srnic_tx_alone(struct srnic_txb *txb, struct sk_buff *skb, u8 tos);

/* Sends the chain.  A packet that the stack drops is as good as lost on the wire. */
void srnic_tx_flush(struct srnic_txb *txb);

/**
 * struct srnic_rxcb - skb->cb of a received packet
 * @bth: offset of the BTH from skb->data
 * @len: bytes from the BTH to the end of the ICRC
 * @good: addresses and ICRC are correct
 * @ce: marked congestion experienced (ECN CE)
 * @passed: the responses in the chain have overtaken waiting requests
 * @vlan: VLAN that a GSO chain of datagrams arrived on, SRNIC_NO_VLAN: none
 * @epoch: epoch of the owner when it admitted the chain, see struct srnic_rx_to
 *
 * A GSO chain is one skb with a frag_list; each of its packets has its own srnic_rxcb,
 * but @passed, @vlan and @epoch are valid in the first only.  The headers of a packet lie
 * in its linear part, and so does all of a packet of up to SRNIC_RX_SHORT bytes; other
 * payload may lie in fragments, which must not be written: others may hold them, too.
 */
struct srnic_rxcb {
	u16	bth;
	u16	len;
	bool	good;
	bool	ce;
	bool	passed;
	u16	vlan;
	u32	epoch;
};

#define SRNIC_NO_VLAN	0xffff

/* From the BTH on.  Copying this much costs less than walking fragments. */
#define SRNIC_RX_SHORT	128

static inline struct srnic_rxcb *srnic_rxcb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct srnic_rxcb) > sizeof(skb->cb));
	return (struct srnic_rxcb *)skb->cb;
}

/* The packet after @seg in the GSO chain @skb, or NULL. */
static inline struct sk_buff *srnic_rx_next(struct sk_buff *skb,
					    struct sk_buff *seg)
{
	if (seg != skb)
		return seg->next;

	/* The frag_list of a reassembled packet is not a chain. */
	return skb_is_gso(skb) ? skb_shinfo(skb)->frag_list : NULL;
}

/* Number of linear bytes from the BTH of the packet @seg on */
static inline unsigned int srnic_rx_linear(struct sk_buff *seg)
{
	return skb_headlen(seg) - srnic_rxcb(seg)->bth;
}

/**
 * struct srnic_rx_src - origin of a packet
 * @grh: IP header; an IPv4 header fills the last 20 bytes, after 20 zeros
 * @version: IP version
 * @mcast: the destination is a multicast address
 * @looped: copy of a multicast packet that this host sent
 * @smac: Ethernet address of the sender, zeros if there is none
 */
struct srnic_rx_src {
	u8	grh[SRNIC_GRH_BYTES];
	u8	version;
	bool	mcast;
	bool	looped;
	u8	smac[ETH_ALEN];
};

/* Describes packet @seg of the GSO chain @skb, whose headers are valid. */
void srnic_rx_describe(const struct sk_buff *skb, const struct sk_buff *seg,
		       struct srnic_rx_src *src);

/* The address of the sender; IPv4 addresses are v4-mapped. */
void srnic_rx_sender(const struct srnic_rx_src *src, struct in6_addr *addr);

/*
 * Did @skb come from @peer, and through the device that leads there?  Packets that
 * this host sends to itself arrive on no real device; only the VRF is compared.
 * Context: RCU, @skb still belongs to the stack.
 */
bool srnic_rx_from(const struct sk_buff *skb, const struct srnic_peer *peer);

/* Did @skb arrive on @ndev, on an upper device of it, or locally in its VRF?  In RCU. */
bool srnic_rx_by(const struct sk_buff *skb, const struct net_device *ndev);

/**
 * struct srnic_rx_dest - destination of a packet for QP1 or a multicast group
 * @net: namespace that received it
 * @in: device that received it, or that has its destination address
 * @below: the lower devices of @in receive it, too
 * @addr: multicast address; all zeros: QP1
 */
struct srnic_rx_dest {
	struct net		*net;
	struct net_device	*in;
	bool			below;
	struct in6_addr		addr;
};

/*
 * Does the packet reach the RDMA device on @ndev, that is, are the addresses of
 * dest->in among its GIDs?  dest->in may be @ndev or a VLAN, bond, bridge or macvlan
 * above it.  Context: RCU.
 */
bool srnic_rx_reaches(const struct srnic_rx_dest *dest,
		      const struct net_device *ndev);

/**
 * struct srnic_rx_to - receiver of a packet
 * @owner: owner of the destination QP number; reference held
 * @stats: counters that apply
 * @datagram: @owner reports the VLAN of the packet
 * @epoch: epoch of @owner in which it admitted the packet; kept with the packet, since
 *	  that epoch may be over by the time the packet is processed
 */
struct srnic_rx_to {
	void				*owner;
	struct srnic_stats __percpu	*stats;
	bool				datagram;
	u32				epoch;
};

/**
 * struct srnic_burst - receiver whose packets of one softirq are processed together
 * @node: entry in the list of a CPU while @queued
 * @queued: it is in the list of a CPU, which then holds a reference on the receiver
 * @nr: number of the NET_RX softirq in which a packet was last processed at once
 * @more: further packets have joined the one that waits
 * @alone: number of packets to process at once, because one has waited alone
 *
 * All zeros at first.  Any CPU may write @nr, @more and @alone: which values are current
 * matters for speed only.
 */
struct srnic_burst {
	struct llist_node	node;
	atomic_t		queued;
	unsigned int		nr;
	bool			more;
	u8			alone;
};

/* What the caller has to do after it has queued a packet at its receiver */
enum srnic_burst_wait {
	SRNIC_BURST_NOW,	/* process it */
	SRNIC_BURST_ADDED,	/* nothing: run() follows and takes over the reference */
	SRNIC_BURST_WAITS,	/* nothing: run() follows on behalf of an earlier packet */
};

/* Context: BH disabled. */
enum srnic_burst_wait srnic_burst_wait(struct srnic_burst *burst);

/**
 * struct srnic_rx_ops - callbacks of the layer above
 * @lookup: finds the owner of @qpn in @net and admits @skb by its IP header and device.
 *	    -ENOENT: no such number; -EPERM: the owner refuses the packet, and has
 *	    counted it.  Context: RCU, BH disabled
 * @deliver: consumes a checked GSO chain and the reference that @lookup took; only the
 *	     reference if the skb is NULL
 * @run: processes the packets queued at the owner of a burst, and consumes the reference
 *	 that was kept for it.  Context: softirq
 * @lookup_group: returns the counters for a packet to QP1 or to a multicast group, NULL
 *		  if it reaches no queue pair
 * @deliver_group: consumes a checked GSO chain for them, in the same RCU section
 */
struct srnic_rx_ops {
	int	(*lookup)(struct net *net, u32 qpn, const struct sk_buff *skb,
			  struct srnic_rx_to *to);
	void	(*deliver)(void *owner, struct sk_buff *skb);
	void	(*run)(struct srnic_burst *burst);
	struct srnic_stats __percpu *
		(*lookup_group)(const struct srnic_rx_dest *dest);
	void	(*deliver_group)(const struct srnic_rx_dest *dest,
				 struct sk_buff *skb);
};

struct srnic_membership;

/*
 * Joins the multicast group @addr (IPv4: v4-mapped) on @ndev as this host, unless @ndev
 * has left @net.  The stack counts memberships.
 * Context: process, takes rtnl.  Return: the membership, or an ERR_PTR().
 */
struct srnic_membership *srnic_membership_join(struct net_device *ndev,
					       const struct net *net,
					       const struct in6_addr *addr);

/* Ends and frees a membership, wherever the netdev is now.  Context: process, takes rtnl. */
void srnic_membership_leave(struct srnic_membership *m);

int srnic_net_init(const struct srnic_rx_ops *ops);
void srnic_net_exit(void);

/*
 * Start and stop receiving in @net, and dropping packets that unprivileged users send to
 * the RoCE port.  Calls are counted.  May sleep.
 */
int srnic_rx_start(struct net *net);
void srnic_rx_stop(struct net *net);

/* Name and value of the counter of packets dropped there */
#define SRNIC_TX_UNPRIVILEGED	"tx_drop_unprivileged"

u64 srnic_tx_unprivileged(struct net *net);

#endif /* SRNIC_NET_H */
