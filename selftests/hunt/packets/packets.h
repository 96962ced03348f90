/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic selftests - hostile packets: interface of the parts
 *
 *	links.c		queue pairs in all states, their valid traffic, and its checks
 *	wire.c		the wire between the hosts
 *	forge.c		a packet that a target would accept, and its bytes
 *	mutate.c	mutations of the packet
 *	cases.c		the storm
 *	drills.c	sequences found by a storm
 */
#ifndef PACKETS_H
#define PACKETS_H

#include <linux/virtio_net.h>

#include "../../lib/roce.h"
#include "../../verbs/vrb.h"
#include "../hunt.h"

#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4	5
#endif

#define ROCE_MAX	65400		/* from the BTH to the pad */
#define FORGED_MAX	66000		/* a whole frame */
#define FLOW_TYPE	0x88b5		/* frames that match the flow */
#define FLOW_PORT	2222		/* and datagrams */

#define dice_pick(r, array)	((array)[roll(r, ARRAY_SIZE(array))])

/* ---- targets of packets ---- */

/**
 * struct target - a queue pair as seen from the wire
 * @side: its side
 * @qpn: its number
 * @peer: QPN of its peer
 * @transport: transport bits of its opcodes
 * @guarded: gets only packets that the protocol refuses
 * @qkey: for datagrams
 * @srqn: SRQ number named in requests
 * @epsn: expected PSN of its responder, as seen from the wire
 * @una: oldest unacknowledged PSN of its requests
 * @high: PSN of its next request
 * @open: opcode of a forged message in progress, or -1
 */
struct target {
	int	side;
	__u32	qpn;
	__u32	peer;
	__u8	transport;
	bool	guarded;
	__u32	qkey;
	__u32	srqn;
	__u32	epsn;
	__u32	una;
	__u32	high;
	int	open;
};

#define MAX_TARGETS	96

extern struct target targets[MAX_TARGETS];
extern int num_targets;

struct target *target_find(int side, __u32 qpn);

/* A memory range with its key; the key may be stale or without remote access */
struct grant {
	int	side;
	__u32	rkey;
	__u64	va;
	__u64	len;
};

#define MAX_GRANTS	32

extern struct grant grants[MAX_GRANTS];
extern int num_grants;

/* ---- the wire ---- */

/*
 * Attaches to the taps, or else to the netdevs of the devices by packet
 * sockets.  With @looked_at, opens packet sockets in addition to the taps.
 */
void wire_open(bool looked_at);
/* Forwards the packets that the hosts have sent, and tracks PSNs. */
void wire_pump(void);
/* Holds packets of the hosts back, so that forged ones arrive first. */
void wire_hold(bool hold);
/* Injects @len bytes at @frame as if received by the netdev of @side. */
void wire_put(int side, const struct virtio_net_hdr *hdr, const void *frame,
	      size_t len);
void wire_flush(void);

/* Number of injected packets */
extern __u64 wire_packets;
/* Basic blocks of the driver covered by injected packets; 0 without kcov */
extern __u32 wire_blocks;

extern __u8 wire_mac[2][6];

/* A captured packet */
struct seen {
	int	to;
	size_t	len;
	__u8	frame[2048];
};

#define MAX_SEEN	64

extern struct seen seen[MAX_SEEN];
extern unsigned int num_seen;	/* total number; the array is a ring */

/* ---- forging ---- */

enum sum { SUM_NONE, SUM_RIGHT, SUM_WRONG };
enum icrc { ICRC_RIGHT, ICRC_WRONG, ICRC_ABSENT };

/**
 * struct forged - a packet being forged
 * @to: side that receives it
 * @target: intended target, or NULL
 * @vnet: virtio header of the frame
 * @tags: number of VLAN tags
 * @ip: 4 or 6; 0: @t is the whole payload of Ethernet type @type
 * @opts: IPv4 options, or IPv6 extension headers
 * @opts_first: type of the first extension header
 * @ip_more: added to the length in the IP header
 * @udp_more: added to the length in the UDP header
 * @cut: bytes removed from the end
 * @pieces: number of IP fragments; 0: none
 * @order: order in which fragments are sent
 * @segs: UDP segments in one frame, each a packet; 0: none
 * @times: number of times it is sent
 * @train: each time with the next PSN
 * @t: from the BTH to the pad
 * @hdr: length of the transport headers in it
 * @touched: mutated, so it may be refused
 */
struct forged {
	int			to;
	struct target		*target;
	struct virtio_net_hdr	vnet;
	__u8			dmac[6];
	__u8			smac[6];
	int			tags;
	__u16			tci[2];
	__u16			type;
	int			ip;
	__u8			src[16];
	__u8			dst[16];
	__u8			tos;
	__u8			ttl;
	__u8			proto;
	__u16			id;
	__u16			frag;
	__u8			opts[64];
	int			opts_len;
	__u8			opts_first;
	__u16			sport;
	__u16			dport;
	int			ip_more;
	int			udp_more;
	enum sum		sum;
	enum icrc		icrc;
	int			cut;
	int			pieces;
	int			order;
	int			segs;
	int			times;
	bool			train;
	bool			touched;
	int			hdr;
	int			len;
	__u8			t[ROCE_MAX];
};

/* A valid packet of a random kind */
void forge_base(struct forged *f, struct dice *r);
/* A request with @opcode that is in sequence at @t */
void forge_operation(struct forged *f, struct dice *r, struct target *t,
		     __u8 opcode);
void forge_send(struct forged *f, struct dice *r);
void forge_addr(int ip, int side, __u8 *addr);
/* The multicast group of the datagram queue pairs */
void forge_group(union ibv_gid *gid);
__u32 forge_mtu(void);

/* Applies mutation number @which, with random numbers of @r. */
extern const int num_mutations;
void mutate(struct forged *f, int which, struct dice *r);
/* Changes the packet so that the protocol refuses it. */
void mutate_spoil(struct forged *f, struct dice *r);

/* ---- valid traffic ---- */

void links_make(struct dice *r);
/* Posts, polls and checks; restores what forged packets have broken. */
void links_step(struct dice *r);
/* Resets and reconnects all queue pairs. */
void links_renew(struct dice *r);
/* All queue pairs transfer and verify data, without forged packets. */
void links_prove(struct dice *r);
/* Checks that no byte was written outside memory with remote access. */
void links_check_memory(void);

/* Statistics of the valid traffic */
extern __u64 links_verified, links_completed, links_renewed;

#endif
