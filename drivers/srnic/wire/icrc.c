// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - the invariant CRC of RoCEv2
 *
 * The headers are copied, the fields that routers may change are set to ones in
 * the copy, and the CRC is computed over the copy.
 */

#include <linux/crc32.h>
#include <linux/string.h>

#include "icrc.h"

enum {
	IP4_TOS		= 1,
	IP4_TOT_LEN	= 2,
	IP4_TTL		= 8,
	IP4_CSUM	= 10,
	IP4_BYTES	= 20,

	IP6_TCLASS_FLOW	= 0,	/* and the version in the upper four bits */
	IP6_PAYLOAD_LEN	= 4,
	IP6_HOP_LIMIT	= 7,
	IP6_BYTES	= 40,

	UDP_LEN		= 4,
	UDP_CSUM	= 6,
	UDP_BYTES	= 8,

	BTH_RESV8A	= 4,	/* FECN and BECN */
};

static void put_be16(__u8 *p, __u16 value)
{
	p[0] = value >> 8;
	p[1] = value;
}

/* UDP and BTH, which are masked alike for IPv4 and IPv6 */
static void mask_udp_bth(__u8 *udp, __u16 udp_len)
{
	put_be16(udp + UDP_LEN, udp_len);
	put_be16(udp + UDP_CSUM, 0xffff);
	udp[UDP_BYTES + BTH_RESV8A] = 0xff;
}

void srnic_icrc_mask_ipv4(__u8 *hdr, const void *ip, __u16 tot_len, __u16 udp_len)
{
	memcpy(hdr, ip, SRNIC_ICRC_HDR4);
	hdr[IP4_TOS] = 0xff;
	put_be16(hdr + IP4_TOT_LEN, tot_len);
	hdr[IP4_TTL] = 0xff;
	put_be16(hdr + IP4_CSUM, 0xffff);
	mask_udp_bth(hdr + IP4_BYTES, udp_len);
}

void srnic_icrc_mask_ipv6(__u8 *hdr, const void *ip, __u16 payload_len, __u16 udp_len)
{
	memcpy(hdr, ip, SRNIC_ICRC_HDR6);
	hdr[IP6_TCLASS_FLOW] |= 0x0f;
	memset(hdr + IP6_TCLASS_FLOW + 1, 0xff, 3);
	put_be16(hdr + IP6_PAYLOAD_LEN, payload_len);
	hdr[IP6_HOP_LIMIT] = 0xff;
	mask_udp_bth(hdr + IP6_BYTES, udp_len);
}

__u32 srnic_icrc_ipv4(const void *ip, __u16 tot_len, __u16 udp_len)
{
	__u8 hdr[SRNIC_ICRC_HDR4];

	srnic_icrc_mask_ipv4(hdr, ip, tot_len, udp_len);

	return crc32_le(SRNIC_ICRC_SEED, hdr, sizeof(hdr));
}

__u32 srnic_icrc_ipv6(const void *ip, __u16 payload_len, __u16 udp_len)
{
	__u8 hdr[SRNIC_ICRC_HDR6];

	srnic_icrc_mask_ipv6(hdr, ip, payload_len, udp_len);

	return crc32_le(SRNIC_ICRC_SEED, hdr, sizeof(hdr));
}
