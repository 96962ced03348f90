/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic selftests - hostile packets: interface of the parts
 *
 *	links.c		queue pairs in all states, their honest work, what must hold
 *	wire.c		the cable between the hosts, which is this program
 *	forge.c		a packet that a target would take, and its bytes
 *	mutate.c	what is done to it
 *	cases.c		the storm
 *	drills.c	sequences that a storm has found
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
#define FLOW_TYPE	0x88b5		/* frames that the raw queue pair gets */
#define FLOW_PORT	2222		/* and datagrams */

#define dice_pick(r, array)	((array)[roll(r, ARRAY_SIZE(array))])

/* ---- whom packets are for ---- */

/**
 * struct target - a queue pair as the other side of the wire knows it
 * @side: where it is
 * @qpn: its number
 * @peer: the number at the other end
 * @transport: of its opcodes
 * @guarded: gets no packet that the protocol lets in
 * @qkey: of datagrams
 * @srqn: receive queue that requests name
 * @epsn: PSN that its responder waits for, as far as the wire tells
 * @una: oldest PSN of its requests that is not answered
 * @high: PSN of its next request
 * @open: forged operation that goes on with the next packet, or -1
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

/* Memory that is shown to the wire, or not any more, or to others */
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
 * Attaches to the taps, or to the netdevs of the devices if they are not taps;
 * then, too, if they are to be @looked_at, there are packet sockets.
 */
void wire_open(bool looked_at);
/* Moves what the hosts have sent, and learns from it. */
void wire_pump(void);
/* Lets honest packets wait, so that forged ones are the first. */
void wire_hold(bool hold);
/* Hands @len bytes at @frame to the host @side, as its netdev receives them. */
void wire_put(int side, const struct virtio_net_hdr *hdr, const void *frame,
	      size_t len);
void wire_flush(void);

/* Packets handed over so far */
extern __u64 wire_packets;
/* Blocks of the driver that ran when packets were handed over; 0: not known */
extern __u32 wire_blocks;

extern __u8 wire_mac[2][6];

/* A packet that was seen */
struct seen {
	int	to;
	size_t	len;
	__u8	frame[2048];
};

#define MAX_SEEN	64

extern struct seen seen[MAX_SEEN];
extern unsigned int num_seen;	/* ever; a ring */

/* ---- forging ---- */

enum sum { SUM_NONE, SUM_RIGHT, SUM_WRONG };
enum icrc { ICRC_RIGHT, ICRC_WRONG, ICRC_ABSENT };

/**
 * struct forged - a packet in the making
 * @to: side that gets it
 * @target: whom it was made for, or NULL
 * @vnet: what comes with the frame
 * @tags: how many VLAN tags
 * @ip: 4 or 6; 0: @t is all there is behind the Ethernet type @type
 * @opts: IPv4 options, or IPv6 extension headers
 * @opts_first: what the first of those is
 * @ip_more: added to the length in the IP header
 * @udp_more: added to the length in the UDP header
 * @cut: bytes that are missing at the end
 * @pieces: IP fragments; 0: whole
 * @order: how those are sent
 * @segs: UDP segments, each a packet, in one frame; 0: none
 * @times: how often it is sent
 * @train: each time with the next PSN
 * @t: from the BTH to the pad
 * @hdr: bytes of headers in it
 * @touched: something was done to it
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

/* A packet of some kind that somebody takes */
void forge_base(struct forged *f, struct dice *r);
/* A request with that opcode, whose turn it is at @t */
void forge_operation(struct forged *f, struct dice *r, struct target *t,
		     __u8 opcode);
void forge_send(struct forged *f, struct dice *r);
void forge_addr(int ip, int side, __u8 *addr);
/* The group that queue pairs for datagrams are in */
void forge_group(union ibv_gid *gid);
__u32 forge_mtu(void);

/* One of the things that can be done to it, by number, with the numbers of @r */
extern const int num_mutations;
void mutate(struct forged *f, int which, struct dice *r);
/* Makes sure that the protocol refuses it. */
void mutate_spoil(struct forged *f, struct dice *r);

/* ---- those that work, honestly ---- */

void links_make(struct dice *r);
/* Posts, polls and checks; brings back what a forged packet has broken. */
void links_step(struct dice *r);
/* Every queue pair from its beginning. */
void links_renew(struct dice *r);
/* All of them transfer and verify, while nobody forges. */
void links_prove(struct dice *r);
/* No byte was written where nobody may. */
void links_check_memory(void);

/* What honest work has done */
extern __u64 links_verified, links_completed, links_renewed;

#endif
