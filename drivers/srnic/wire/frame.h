/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - parsing of Ethernet frames for steering
 *
 * The fields that rules can match are copied from a frame into one block of bytes;
 * fields of missing headers are zero.  A rule consists of two such blocks, a value
 * and a mask.
 */
#ifndef SRNIC_WIRE_FRAME_H
#define SRNIC_WIRE_FRAME_H

#include <linux/types.h>

/* Bytes of a frame that are parsed, minimum length, and length of a VLAN tag */
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

/* Bits of srnic_fields.ip_flags, numbered as in verbs flow specifications */
enum {
	SRNIC_IP_DONT_FRAG	= 1 << 1,
	SRNIC_IP_MORE_FRAGS	= 1 << 2,
};

/**
 * struct srnic_fields - fields that a rule can match
 * @dmac: destination
 * @smac: source
 * @ether_type: EtherType after the last VLAN tag
 * @vlan: outermost VLAN tag, with its priority
 * @has: SRNIC_HAS_*
 * @proto: protocol of IPv4, next header of IPv6
 * @tos: type of service, or traffic class
 * @ttl: time to live, or hop limit
 * @ip_flags: IPv4: SRNIC_IP_*
 * @saddr: source address; an IPv4 address fills the first four bytes
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
 * struct srnic_frame - a parsed frame
 * @f: its fields
 * @l3: offset of the IP header, 0: none
 * @l4: offset of the TCP or UDP header, 0: none
 * @l4_len: bytes from the TCP or UDP header to the end of the IP packet
 * @l4_proto: IP protocol number of TCP or UDP
 * @ip_csum_ok: the IPv4 header checksum is correct
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
 * struct srnic_match - value and mask of a rule
 * @val: values to match, zero where @mask is zero
 * @mask: bits of @val that are compared
 */
struct srnic_match {
	struct srnic_fields	val;
	struct srnic_fields	mask;
};

/*
 * Parses a frame whose first @len bytes are at @data: all of it, or at least
 * SRNIC_FRAME_PEEK bytes.  Return: false if it is too short for an Ethernet frame.
 */
bool srnic_frame_parse(struct srnic_frame *frame, const __u8 *data,
		       unsigned int len);

bool srnic_frame_matches(const struct srnic_fields *f,
			 const struct srnic_match *match);

#endif /* SRNIC_WIRE_FRAME_H */
