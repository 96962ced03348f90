// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - fields of a frame, and the rules it matches
 *
 * Frames are given byte by byte, according to RFC 791, 8200, 768, 9293 and IEEE
 * 802.1Q.
 */
#include <asm/byteorder.h>
#include <stdlib.h>
#include <string.h>

#include "rand.h"
#include "tap.h"
#include "wire/frame.h"

/* Ethernet, IPv4 with TOS 0x2e, TTL 61, DF; UDP 1234 to 5678 with 4 bytes */
static const u8 udp4[] = {
	0x02, 0x11, 0x22, 0x33, 0x44, 0x55, 0x02, 0x66, 0x77, 0x88, 0x99, 0xaa,
	0x08, 0x00,
	0x45, 0x2e, 0x00, 0x20, 0x12, 0x34, 0x40, 0x00,
	0x3d, 0x11, 0x10, 0x5e, 0x0a, 0x01, 0x02, 0x03,
	0x0a, 0x04, 0x05, 0x06,
	0x04, 0xd2, 0x16, 0x2e, 0x00, 0x0c, 0x00, 0x00,
	0xde, 0xad, 0xbe, 0xef,
};

/* Ethernet, IPv6 with class 0xa5, label 0x12345, hop-by-hop options; TCP */
static const u8 tcp6[] = {
	0x33, 0x33, 0x00, 0x00, 0x00, 0x01, 0x02, 0x66, 0x77, 0x88, 0x99, 0xaa,
	0x86, 0xdd,
	0x6a, 0x51, 0x23, 0x45, 0x00, 0x1c, 0x00, 0x40,
	0xfd, 0x00, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01,
	0xfd, 0x00, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02,
	0x06, 0x00, 0x01, 0x04, 0, 0, 0, 0,
	0x00, 0x50, 0x1f, 0x90, 0, 0, 0, 1, 0, 0, 0, 2,
	0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0,
};

static u16 be16(__be16 value)
{
	return be16_to_cpu(value);
}

/* Copies @frame and inserts a VLAN tag after the addresses; returns its length. */
static unsigned int tagged(u8 *to, const u8 *frame, unsigned int len, u16 tpid,
			   u16 tci)
{
	const u8 tag[] = { tpid >> 8, tpid, tci >> 8, tci };

	memcpy(to, frame, 12);
	memcpy(to + 12, tag, 4);
	memcpy(to + 16, frame + 12, len - 12);

	return len + 4;
}

static void test_ipv4(void)
{
	struct srnic_frame f;
	u8 copy[sizeof(udp4)];

	tap_check(srnic_frame_parse(&f, udp4, sizeof(udp4)) &&
		  !memcmp(f.f.dmac, udp4, 6) && !memcmp(f.f.smac, udp4 + 6, 6) &&
		  be16(f.f.ether_type) == 0x0800 &&
		  f.f.has == (SRNIC_HAS_IPV4 | SRNIC_HAS_UDP), "a UDP frame");
	tap_check(f.f.tos == 0x2e && f.f.ttl == 61 && f.f.proto == 17 &&
		  f.f.ip_flags == SRNIC_IP_DONT_FRAG &&
		  !memcmp(f.f.saddr, udp4 + 26, 4) &&
		  !memcmp(f.f.daddr, udp4 + 30, 4), "IPv4");
	tap_check(be16(f.f.sport) == 1234 && be16(f.f.dport) == 5678 &&
		  f.l3 == 14 && f.l4 == 34 && f.l4_len == 12 &&
		  f.l4_proto == 17, "UDP");
	tap_check(f.ip_csum_ok, "the checksum is right");

	memcpy(copy, udp4, sizeof(copy));
	copy[24] ^= 1;
	srnic_frame_parse(&f, copy, sizeof(copy));
	tap_check(!f.ip_csum_ok, "the checksum is wrong");

	memcpy(copy, udp4, sizeof(copy));
	copy[20] = 0x20;
	srnic_frame_parse(&f, copy, sizeof(copy));
	tap_check(f.f.has == SRNIC_HAS_IPV4 && !f.l4 && !f.f.sport &&
		  f.f.ip_flags == SRNIC_IP_MORE_FRAGS,
		  "the first fragment has no ports");
	copy[20] = 0;
	copy[21] = 1;
	srnic_frame_parse(&f, copy, sizeof(copy));
	tap_check(f.f.has == SRNIC_HAS_IPV4 && !f.f.ip_flags,
		  "the last fragment has no ports");

	memcpy(copy, udp4, sizeof(copy));
	copy[14] = 0x44;
	srnic_frame_parse(&f, copy, sizeof(copy));
	tap_check(!f.f.has && !f.l3, "an IPv4 header of 16 bytes is invalid");
	copy[14] = 0x65;
	srnic_frame_parse(&f, copy, sizeof(copy));
	tap_check(!f.f.has, "an IPv4 header of version 6 is invalid");
	memcpy(copy, udp4, sizeof(copy));
	copy[17] = 20 + 7;
	srnic_frame_parse(&f, copy, sizeof(copy));
	tap_check(f.f.has == SRNIC_HAS_IPV4, "a UDP header of 7 bytes is invalid");
}

static void test_ipv6(void)
{
	struct srnic_frame f;
	u8 copy[sizeof(tcp6)];

	tap_check(srnic_frame_parse(&f, tcp6, sizeof(tcp6)) &&
		  f.f.has == (SRNIC_HAS_IPV6 | SRNIC_HAS_TCP), "a TCP frame");
	tap_check(f.f.tos == 0xa5 && f.f.ttl == 64 && f.f.proto == 0 &&
		  be32_to_cpu(f.f.flow_label) == 0x12345 &&
		  !memcmp(f.f.saddr, tcp6 + 22, 16) &&
		  !memcmp(f.f.daddr, tcp6 + 38, 16), "IPv6");
	tap_check(be16(f.f.sport) == 80 && be16(f.f.dport) == 8080 &&
		  f.l4 == 62 && f.l4_len == 20 && f.l4_proto == 6,
		  "TCP behind an option");

	memcpy(copy, tcp6, sizeof(copy));
	copy[55] = 200;
	srnic_frame_parse(&f, copy, sizeof(copy));
	tap_check(f.f.has == SRNIC_HAS_IPV6, "an option longer than the packet");
	memcpy(copy, tcp6, sizeof(copy));
	copy[54] = 44;
	srnic_frame_parse(&f, copy, sizeof(copy));
	tap_check(f.f.has == SRNIC_HAS_IPV6, "a fragment has no ports");
}

static void test_vlan(void)
{
	u8 one[256], two[256];
	struct srnic_frame f;
	unsigned int len;

	len = tagged(one, udp4, sizeof(udp4), 0x8100, 0x6123);
	srnic_frame_parse(&f, one, len);
	tap_check(be16(f.f.vlan) == 0x6123 && be16(f.f.ether_type) == 0x0800 &&
		  f.f.has == (SRNIC_HAS_VLAN | SRNIC_HAS_IPV4 | SRNIC_HAS_UDP) &&
		  f.l3 == 18 && f.l4 == 38, "one tag");
	len = tagged(two, one, len, 0x88a8, 0x0456);
	srnic_frame_parse(&f, two, len);
	tap_check(be16(f.f.vlan) == 0x0456 && be16(f.f.ether_type) == 0x0800 &&
		  f.l4 == 42, "the outer one of two tags");
	len = tagged(one, two, len, 0x88a8, 1);
	srnic_frame_parse(&f, one, len);
	tap_check(be16(f.f.ether_type) == 0x8100 && !f.l3,
		  "headers behind a third tag are not parsed");
}

/* Truncated frames are not read past their end (checked by ASan). */
static void test_short(void)
{
	const u8 *frames[] = { udp4, tcp6 };
	unsigned int lens[] = { sizeof(udp4), sizeof(tcp6) };
	unsigned int i, len;
	struct srnic_frame f;
	bool whole;
	u8 *copy;

	for (i = 0; i < 2; i++) {
		for (len = 0; len < lens[i]; len++) {
			copy = malloc(len ? len : 1);
			memcpy(copy, frames[i], len);
			whole = len >= SRNIC_FRAME_MIN;
			if (srnic_frame_parse(&f, copy, len) != whole)
				tap_fault("%u bytes", len);
			if (f.l4 && f.l4 + 8U > len)
				tap_fault("%u bytes, l4 at %u", len, f.l4);
			free(copy);
		}
	}
	tap_done("short frames");
}

static void test_noise(void)
{
	unsigned int round, i, len, head;
	struct srnic_frame f;
	u8 *copy;

	for (round = 0; round < 100000; round++) {
		len = 14 + rand32() % (SRNIC_FRAME_PEEK - 13);
		copy = malloc(len);
		for (i = 0; i < len; i++)
			copy[i] = rand32();
		/* Starts with part of a valid frame, so that parsers are entered. */
		head = round % 40;
		if (head < len)
			memcpy(copy, round & 1 ? udp4 : tcp6, head);
		srnic_frame_parse(&f, copy, len);
		if (f.l3 >= len || f.l4 >= len ||
		    !!f.l4 != !!(f.f.has & (SRNIC_HAS_TCP | SRNIC_HAS_UDP)))
			tap_fault("round %u", round);
		free(copy);
	}
	tap_done("noise");
}

/* Each byte of a rule is compared independently, bit by bit. */
static void test_match(void)
{
	struct srnic_match match = {};
	struct srnic_frame f;
	unsigned int i, bit;
	u8 *val = (u8 *)&match.val, *mask = (u8 *)&match.mask;
	const u8 *have;

	srnic_frame_parse(&f, udp4, sizeof(udp4));
	have = (const u8 *)&f.f;
	tap_check(srnic_frame_matches(&f.f, &match), "no mask matches all frames");
	match.val = f.f;
	memset(&match.mask, 0xff, sizeof(match.mask));
	tap_check(srnic_frame_matches(&f.f, &match), "a frame matches itself");

	for (i = 0; i < sizeof(match.val); i++) {
		for (bit = 1; bit < 0x100; bit <<= 1) {
			memset(&match, 0, sizeof(match));
			mask[i] = bit;
			val[i] = have[i] & bit;
			if (!srnic_frame_matches(&f.f, &match))
				tap_fault("byte %u, bit %#x", i, bit);
			val[i] ^= bit;
			if (srnic_frame_matches(&f.f, &match))
				tap_fault("byte %u, not bit %#x", i, bit);
		}
	}
	tap_done("every bit of the mask");
}

int main(void)
{
	test_ipv4();
	test_ipv6();
	test_vlan();
	test_short();
	test_noise();
	test_match();

	return tap_end();
}
