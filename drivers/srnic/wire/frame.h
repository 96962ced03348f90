/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - Ethernet frames as steering sees them
 *
 * What rules can ask for is copied out of a frame into one block of bytes, with
 * zeros where the frame has no such header; a rule is two such blocks, a value
 * and a mask.
 */
#ifndef SRNIC_WIRE_FRAME_H
#define SRNIC_WIRE_FRAME_H

#include <linux/types.h>

/* Bytes of a frame that are looked at, and those every frame has */
#define SRNIC_FRAME_PEEK	128
#define SRNIC_FRAME_MIN		14
#define SRNIC_VLAN_BYTES	4

/* Headers that a frame has: bits of srnic_fields.has */
enum {
	SRNIC_HAS_VLAN	= 1 << 0,
	SRNIC_HAS_IPV4	= 1 << 1,
	SRNIC_HAS_IPV6	= 1 << 2,
	SRNIC_HAS_TCP	= 1 << 3,	/* in the frame, not in a fragment */
	SRNIC_HAS_UDP	= 1 << 4,
};

/* Bits of srnic_fields.ip_flags, as steering rules have them */
enum {
	SRNIC_IP_DONT_FRAG	= 1 << 1,
	SRNIC_IP_MORE_FRAGS	= 1 << 2,
};

/**
 * struct srnic_fields - what a rule can ask for
 * @dmac: destination
 * @smac: source
 * @ether_type: type behind the last VLAN tag
 * @vlan: outermost VLAN tag, with its priority
 * @has: SRNIC_HAS_*
 * @proto: protocol of IPv4, next header of IPv6
 * @tos: type of service, or traffic class
 * @ttl: time to live, or hop limit
 * @ip_flags: IPv4: SRNIC_IP_*
 * @saddr: source address; one of IPv4 fills the first four bytes
 * @daddr: destination address, likewise
 * @flow_label: of IPv6
 * @sport: source port of TCP or UDP
 * @dport: destination port
 */
struct srnic_fields {
	__u8	dmac[6];
	__u8	smac[6];
	__be16	ether_type;
	__be16	vlan;
	__u8	has;
	__u8	proto;
	__u8	tos;
	__u8	ttl;
	__u8	ip_flags;
	__u8	rsvd[3];
	__u8	saddr[16];
	__u8	daddr[16];
	__be32	flow_label;
	__be16	sport;
	__be16	dport;
} __aligned(8);

/**
 * struct srnic_frame - a frame that was looked at
 * @f: its fields
 * @l3: offset of the IP header, 0: it has none
 * @l4: offset of the TCP or UDP header, 0: it has none
 * @l4_len: bytes from there to the end of the IP packet
 * @l4_proto: protocol of that
 * @ip_csum_ok: the checksum of its IPv4 header is right
 */
struct srnic_frame {
	struct srnic_fields	f;
	__u16			l3;
	__u16			l4;
	__u16			l4_len;
	__u8			l4_proto;
	bool			ip_csum_ok;
};

/**
 * struct srnic_match - frames that a rule is for
 * @val: fields they have, zero where @mask is
 * @mask: bits of @val that count
 */
struct srnic_match {
	struct srnic_fields	val;
	struct srnic_fields	mask;
};

/*
 * Looks at a frame whose first @len bytes, SRNIC_FRAME_PEEK of them if it is
 * longer, are at @data.  False: it is no Ethernet frame.
 */
bool srnic_frame_parse(struct srnic_frame *frame, const __u8 *data,
		       unsigned int len);

bool srnic_frame_matches(const struct srnic_fields *f,
			 const struct srnic_match *match);

#endif /* SRNIC_WIRE_FRAME_H */
