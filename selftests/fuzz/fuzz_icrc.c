// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - the invariant CRC covers exactly those bits that routers must not
 * change
 *
 * The first byte of the input selects the version of IP, the next two a bit to
 * flip; the rest is the packet.
 */

#include <stdlib.h>
#include <string.h>
#include <linux/crc32.h>

#include "wire/icrc.h"

#define require(what)			\
	do {				\
		if (!(what))		\
			abort();	\
	} while (0)

#define MAX_BYTES	512

/* Bits that routers may change, by byte: annex A17.3.1 */
struct variant {
	__u16	byte;
	__u8	bits;
};

static const struct variant variant_4[] = {
	{ 1, 0xff },				/* type of service */
	{ 2, 0xff }, { 3, 0xff },		/* length: replaced */
	{ 8, 0xff },				/* time to live */
	{ 10, 0xff }, { 11, 0xff },		/* checksum */
	{ 24, 0xff }, { 25, 0xff },		/* UDP length: replaced */
	{ 26, 0xff }, { 27, 0xff },		/* UDP checksum */
	{ 32, 0xff },				/* FECN, BECN, reserved */
	{ }
};

static const struct variant variant_6[] = {
	{ 0, 0x0f }, { 1, 0xff }, { 2, 0xff }, { 3, 0xff }, /* class, label */
	{ 4, 0xff }, { 5, 0xff },		/* payload length: replaced */
	{ 7, 0xff },				/* hop limit */
	{ 44, 0xff }, { 45, 0xff },
	{ 46, 0xff }, { 47, 0xff },
	{ 52, 0xff },
	{ }
};

/* The lengths in the headers are replaced by the given ones. */
static __le32 icrc_of(bool v4, const __u8 *packet, size_t len, __u16 ip_len,
		      __u16 udp_len)
{
	size_t head = v4 ? SRNIC_ICRC_HDR4 : SRNIC_ICRC_HDR6;
	__u32 crc;

	crc = v4 ? srnic_icrc_ipv4(packet, ip_len, udp_len) :
		   srnic_icrc_ipv6(packet, ip_len, udp_len);

	return srnic_icrc_end(crc32_le(crc, packet + head, len - head));
}

static bool is_variant(bool v4, size_t byte, __u8 bit)
{
	const struct variant *v = v4 ? variant_4 : variant_6;

	for (; v->bits; v++)
		if (v->byte == byte && v->bits & bit)
			return true;

	return false;
}

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const __u8 *data, size_t size)
{
	bool v4 = size && data[0] & 1;
	size_t head = v4 ? SRNIC_ICRC_HDR4 : SRNIC_ICRC_HDR6;
	size_t len = size - 3, at;
	__le32 before;
	__u8 *packet;
	__u16 bit;

	if (size < 3 + head || len > MAX_BYTES)
		return 0;
	packet = malloc(len);
	memcpy(packet, data + 3, len);
	bit = (data[1] << 8 | data[2]) % (8 * len);
	at = bit / 8;

	before = icrc_of(v4, packet, len, len, len - 20);
	packet[at] ^= 1 << bit % 8;
	require((icrc_of(v4, packet, len, len, len - 20) == before) ==
		is_variant(v4, at, 1 << bit % 8));

	/* The given lengths are covered by the ICRC. */
	require(icrc_of(v4, packet, len, len, len - 20) !=
		icrc_of(v4, packet, len, len + 1, len - 20));
	require(icrc_of(v4, packet, len, len, len - 20) !=
		icrc_of(v4, packet, len, len, len - 21));
	free(packet);

	return 0;
}
