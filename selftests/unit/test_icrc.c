// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - ICRC of published packets, and fields it must not depend on
 *
 * The packets are those of scapy's test/contrib/roce.uts: one captured from a
 * ConnectX-4 Lx, and two published with their ICRC.
 */

#include <linux/crc32.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "wire/icrc.h"

/* A CNP sent by a ConnectX-4 Lx */
static const u8 cnp_v4[] = {
	0x45, 0xc2, 0x00, 0x3c, 0x71, 0x8c, 0x40, 0x00, 0x40, 0x11,
	0x91, 0x61, 0x0a, 0x00, 0x11, 0x01, 0x0a, 0x00, 0x12, 0x01,
	0x00, 0x00, 0x12, 0xb7, 0x00, 0x28, 0x00, 0x00,
	0x81, 0x00, 0xff, 0xff, 0x40, 0x00, 0x01, 0x18, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x82, 0xfd, 0x00, 0x2a,
};

static const u8 uc_v4[] = {
	0x45, 0x01, 0x00, 0x40, 0x04, 0x78, 0x40, 0x00, 0x40, 0x11,
	0xb4, 0xd5, 0xc0, 0xa8, 0x00, 0x07, 0xc0, 0xa8, 0x00, 0x07,
	0xc0, 0x00, 0x12, 0xb7, 0x00, 0x2c, 0xac, 0xa2,
	0x24, 0x60, 0xff, 0xff, 0x00, 0x00, 0x00, 0xd3, 0x00, 0xcf, 0x17, 0x10,
	0x46, 0x30, 0x81, 0x8b, 0xe2, 0x89, 0x35, 0xd9, 0x0e, 0x9a,
	0x95, 0x50, 0x54, 0x01, 0xbe, 0x88, 0x5e, 0x50, 0x00, 0x00,
	0x78, 0xf3, 0x53, 0xf3,
};

static const u8 uc_v6[] = {
	0x6e, 0x21, 0xfa, 0xce, 0x00, 0x2c, 0x11, 0xff,
	0x20, 0x22, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x23,
	0x20, 0x23, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x24,
	0xc0, 0x00, 0x12, 0xb7, 0x00, 0x2c, 0xe7, 0xc5,
	0x24, 0x60, 0xff, 0xff, 0x00, 0x00, 0x00, 0xd3, 0x00, 0xcf, 0x17, 0x10,
	0x46, 0x30, 0x81, 0x8b, 0xe2, 0x89, 0x35, 0xd9, 0x0e, 0x9a,
	0x95, 0x50, 0x54, 0x01, 0xbe, 0x88, 0x5e, 0x50, 0x00, 0x00,
	0x3e, 0x5b, 0x74, 0x3b,
};

/**
 * struct kind - differences between the versions of IP
 * @hdr: bytes of IP, UDP and BTH
 * @len_at: offset of the length in the IP header
 * @udp_len_at: offset of the length in the UDP header
 * @masked: one bit per bit of the headers, set if the ICRC does not cover it
 */
struct kind {
	unsigned int	hdr;
	unsigned int	len_at;
	unsigned int	udp_len_at;
	const u8	*masked;
	u32		(*start)(const void *ip, u16 len, u16 udp_len);
};

static const u8 masked_v4[SRNIC_ICRC_HDR4] = {
	[1] = 0xff,			/* type of service */
	[8] = 0xff,			/* time to live */
	[10] = 0xff, 0xff,		/* header checksum */
	[26] = 0xff, 0xff,		/* UDP checksum */
	[32] = 0xff,			/* FECN, BECN and reserved bits */
};

static const u8 masked_v6[SRNIC_ICRC_HDR6] = {
	[0] = 0x0f, 0xff, 0xff, 0xff,	/* traffic class, flow label */
	[7] = 0xff,			/* hop limit */
	[46] = 0xff, 0xff,		/* UDP checksum */
	[52] = 0xff,			/* FECN, BECN and reserved bits */
};

static const struct kind v4 = {
	SRNIC_ICRC_HDR4, 2, 24, masked_v4, srnic_icrc_ipv4
};

static const struct kind v6 = {
	SRNIC_ICRC_HDR6, 4, 44, masked_v6, srnic_icrc_ipv6
};

static u16 get_be16(const u8 *p)
{
	return p[0] << 8 | p[1];
}

/* ICRC of @packet with the given lengths, in a buffer without spare bytes */
static __le32 icrc_with(const struct kind *kind, const u8 *packet,
			unsigned int len, u16 ip_len, u16 udp_len)
{
	unsigned int rest = len - kind->hdr - sizeof(__le32);
	u8 *headers = malloc(kind->hdr);
	u32 crc;

	memcpy(headers, packet, kind->hdr);
	crc = kind->start(headers, ip_len, udp_len);
	free(headers);

	return srnic_icrc_end(crc32_le(crc, packet + kind->hdr, rest));
}

static __le32 icrc_of(const struct kind *kind, const u8 *packet,
		      unsigned int len)
{
	return icrc_with(kind, packet, len, get_be16(packet + kind->len_at),
			 get_be16(packet + kind->udp_len_at));
}

static bool icrc_is_right(const struct kind *kind, const u8 *packet,
			  unsigned int len)
{
	__le32 icrc = icrc_of(kind, packet, len);

	return !memcmp(&icrc, packet + len - sizeof(icrc), sizeof(icrc));
}

/* Flips every bit in turn: the ICRC changes only if it covers the bit. */
static void test_coverage(const struct kind *kind, const u8 *packet,
			  unsigned int len, const char *what)
{
	u8 *copy = malloc(len);
	unsigned int i;

	memcpy(copy, packet, len);
	for (i = 0; i < 8 * (len - sizeof(__le32)); i++) {
		u8 bit = 1 << i % 8;
		bool masked = i / 8 < kind->hdr && kind->masked[i / 8] & bit;

		copy[i / 8] ^= bit;
		if (icrc_is_right(kind, copy, len) != masked)
			tap_fault("byte %u, bit 0x%02x", i / 8, bit);
		copy[i / 8] ^= bit;
	}
	free(copy);
	tap_done(what);
}

static void test_lengths(const struct kind *kind, const u8 *packet,
			 unsigned int len, const char *what)
{
	u16 udp_len = get_be16(packet + kind->udp_len_at);
	u16 ip_len = get_be16(packet + kind->len_at);
	u8 *copy = malloc(len);

	memcpy(copy, packet, len);
	memset(copy + kind->len_at, 0xa5, 2);
	memset(copy + kind->udp_len_at, 0x5a, 2);
	tap_check(icrc_with(kind, copy, len, ip_len, udp_len) ==
		  icrc_of(kind, packet, len), what);
	free(copy);
}

int main(void)
{
	static const u8 check[] = "123456789";

	tap_check(~crc32_le(~0U, check, 9) == 0xcbf43926,
		  "CRC-32 of the standard check string");
	tap_check(icrc_is_right(&v4, cnp_v4, sizeof(cnp_v4)),
		  "a CNP captured from a ConnectX-4 Lx");
	tap_check(icrc_is_right(&v4, uc_v4, sizeof(uc_v4)),
		  "a published UC SEND over IPv4");
	tap_check(icrc_is_right(&v6, uc_v6, sizeof(uc_v6)),
		  "a published UC SEND over IPv6");

	test_coverage(&v4, uc_v4, sizeof(uc_v4),
		      "IPv4: every bit counts except those a router may change");
	test_coverage(&v6, uc_v6, sizeof(uc_v6),
		      "IPv6: every bit counts except those a router may change");
	test_lengths(&v4, uc_v4, sizeof(uc_v4), "IPv4: the given lengths are used");
	test_lengths(&v6, uc_v6, sizeof(uc_v6), "IPv6: the given lengths are used");

	return tap_end();
}
