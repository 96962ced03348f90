// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - parsing of Ethernet frames for steering
 *
 * A truncated header is treated as missing.
 */

#include <asm/byteorder.h>
#include <linux/string.h>

#include "frame.h"

enum {
	TYPE_IPV4	= 0x0800,
	TYPE_VLAN	= 0x8100,
	TYPE_IPV6	= 0x86dd,
	TYPE_QINQ	= 0x88a8,

	PROTO_HOPOPTS	= 0,
	PROTO_TCP	= 6,
	PROTO_UDP	= 17,
	PROTO_ROUTING	= 43,
	PROTO_DSTOPTS	= 60,

	IP4_BYTES	= 20,
	IP4_MF		= 0x2000,
	IP4_DF		= 0x4000,
	IP4_OFFSET	= 0x1fff,
	IP6_BYTES	= 40,
	IP6_LABEL	= 0x000fffff,
	TCP_BYTES	= 20,
	UDP_BYTES	= 8,
};

/* Most VLAN tags and IPv6 extension headers that the parser skips */
#define FRAME_MAX_TAGS	2
#define FRAME_MAX_EXTS	4

static __u16 get_be16(const __u8 *p)
{
	return p[0] << 8 | p[1];
}

/* Is the checksum of an IPv4 header correct? */
static bool ip4_csum_ok(const __u8 *ip, unsigned int bytes)
{
	unsigned int sum = 0, i;

	for (i = 0; i < bytes; i += 2)
		sum += get_be16(ip + i);
	sum = (sum & 0xffff) + (sum >> 16);

	return sum + (sum >> 16) == 0xffff;
}

/* @off: offset of the TCP or UDP header; @left: bytes of the IP packet from there on */
static void parse_l4(struct srnic_frame *frame, const __u8 *data,
		     unsigned int len, unsigned int off, unsigned int left,
		     __u8 proto)
{
	unsigned int need = proto == PROTO_TCP ? TCP_BYTES : UDP_BYTES;

	if (proto != PROTO_TCP && proto != PROTO_UDP)
		return;
	if (left < need || off + need > len)
		return;

	frame->f.has |= proto == PROTO_TCP ? SRNIC_HAS_TCP : SRNIC_HAS_UDP;
	memcpy(&frame->f.sport, data + off, 2);
	memcpy(&frame->f.dport, data + off + 2, 2);
	frame->l4 = off;
	frame->l4_len = left;
	frame->l4_proto = proto;
}

static void parse_ipv4(struct srnic_frame *frame, const __u8 *data,
		       unsigned int len, unsigned int off)
{
	const __u8 *ip = data + off;
	unsigned int bytes, total;
	__u16 frag;

	if (off + IP4_BYTES > len || ip[0] >> 4 != 4)
		return;
	bytes = (ip[0] & 0xf) * 4;
	if (bytes < IP4_BYTES || off + bytes > len)
		return;

	frag = get_be16(ip + 6);
	frame->l3 = off;
	frame->ip_csum_ok = ip4_csum_ok(ip, bytes);
	frame->f.has |= SRNIC_HAS_IPV4;
	frame->f.tos = ip[1];
	frame->f.ttl = ip[8];
	frame->f.proto = ip[9];
	frame->f.ip_flags = (frag & IP4_DF ? SRNIC_IP_DONT_FRAG : 0) |
			    (frag & IP4_MF ? SRNIC_IP_MORE_FRAGS : 0);
	memcpy(frame->f.saddr, ip + 12, 4);
	memcpy(frame->f.daddr, ip + 16, 4);

	total = get_be16(ip + 2);
	if (!(frag & (IP4_MF | IP4_OFFSET)) && total >= bytes)
		parse_l4(frame, data, len, off + bytes, total - bytes, ip[9]);
}

static bool is_ext(__u8 proto)
{
	return proto == PROTO_HOPOPTS || proto == PROTO_ROUTING ||
	       proto == PROTO_DSTOPTS;
}

static void parse_ipv6(struct srnic_frame *frame, const __u8 *data,
		       unsigned int len, unsigned int off)
{
	const __u8 *ip = data + off;
	unsigned int left, ext, i;
	__u32 label;
	__u8 proto;

	if (off + IP6_BYTES > len || ip[0] >> 4 != 6)
		return;

	label = (get_be16(ip) << 16 | get_be16(ip + 2)) & IP6_LABEL;
	frame->l3 = off;
	frame->f.has |= SRNIC_HAS_IPV6;
	frame->f.tos = get_be16(ip) >> 4;
	frame->f.flow_label = cpu_to_be32(label);
	frame->f.proto = ip[6];
	frame->f.ttl = ip[7];
	memcpy(frame->f.saddr, ip + 8, 16);
	memcpy(frame->f.daddr, ip + 24, 16);

	left = get_be16(ip + 4);
	proto = ip[6];
	off += IP6_BYTES;
	for (i = 0; is_ext(proto) && i < FRAME_MAX_EXTS; i++) {
		if (off + 8 > len)
			return;
		proto = data[off];
		ext = (data[off + 1] + 1) * 8;
		if (ext > left)
			return;
		off += ext;
		left -= ext;
	}
	parse_l4(frame, data, len, off, left, proto);
}

bool srnic_frame_parse(struct srnic_frame *frame, const __u8 *data,
		       unsigned int len)
{
	unsigned int off = SRNIC_FRAME_MIN, tags;
	__u16 type;

	memset(frame, 0, sizeof(*frame));
	if (len < SRNIC_FRAME_MIN)
		return false;

	memcpy(frame->f.dmac, data, 6);
	memcpy(frame->f.smac, data + 6, 6);
	type = get_be16(data + 12);
	for (tags = 0; tags < FRAME_MAX_TAGS; tags++) {
		if (type != TYPE_VLAN && type != TYPE_QINQ)
			break;
		if (off + SRNIC_VLAN_BYTES > len)
			break;
		if (!tags)
			memcpy(&frame->f.vlan, data + off, 2);
		frame->f.has |= SRNIC_HAS_VLAN;
		type = get_be16(data + off + 2);
		off += SRNIC_VLAN_BYTES;
	}

	frame->f.ether_type = cpu_to_be16(type);
	if (type == TYPE_IPV4)
		parse_ipv4(frame, data, len, off);
	else if (type == TYPE_IPV6)
		parse_ipv6(frame, data, len, off);

	return true;
}

bool srnic_frame_matches(const struct srnic_fields *f,
			 const struct srnic_match *match)
{
	const __u64 *have = (const __u64 *)f;
	const __u64 *want = (const __u64 *)&match->val;
	const __u64 *mask = (const __u64 *)&match->mask;
	unsigned int i;

	for (i = 0; i < sizeof(*f) / sizeof(*have); i++)
		if ((have[i] ^ want[i]) & mask[i])
			return false;

	return true;
}
