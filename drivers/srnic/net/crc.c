// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - CRC-32 by the CPU's instructions on kernels before 6.14, whose crc32_le() does
 * not use them; the ICRC of a packet
 */
#include <linux/ip.h>

#include "../wire/icrc.h"
#include "crc.h"

/* Where the copy of a short packet begins: what the routines for long data require */
#define CRC_ALIGN	16

/* Longest copy, with its headers.  A call for few bytes costs more than the copy. */
#define CRC_COPY	128

#ifdef SRNIC_CRC32_BY_CRYPTO

#include <crypto/hash.h>

static struct crypto_shash *crc_tfm;

/* The state of the hash is the CRC, neither inverted nor byte-swapped. */
#define CRC_DESC_BYTES	(sizeof(struct shash_desc) + sizeof(u32))

void srnic_crc_init(void)
{
	crc_tfm = crypto_alloc_shash("crc32", 0, 0);
	if (IS_ERR(crc_tfm))
		crc_tfm = NULL;
	if (!crc_tfm || crypto_shash_descsize(crc_tfm) == sizeof(u32))
		return;
	crypto_free_shash(crc_tfm);
	crc_tfm = NULL;
}

void srnic_crc_exit(void)
{
	if (crc_tfm)
		crypto_free_shash(crc_tfm);
}

/* SHASH_DESC_ON_STACK() has room for any hash, all of which the compiler may clear. */
u32 srnic_crc32_long(u32 crc, const u8 *data, size_t len)
{
	u8 buf[CRC_DESC_BYTES] __aligned(__alignof__(struct shash_desc));
	struct shash_desc *desc = (struct shash_desc *)buf;
	u32 *state = shash_desc_ctx(desc);

	if (!crc_tfm)
		return crc32_le(crc, data, len);

	desc->tfm = crc_tfm;
	*state = crc;
	if (crypto_shash_update(desc, data, len))
		return crc32_le(crc, data, len);

	return *state;
}

#endif

static u32 crc_short(const void *ip, bool v4, u16 udp_len, const u8 *data, size_t len)
{
	unsigned int hdr_len = v4 ? SRNIC_ICRC_HDR4 : SRNIC_ICRC_HDR6;
	u8 buf[CRC_COPY] __aligned(CRC_ALIGN);

	if (v4)
		srnic_icrc_mask_ipv4(buf, ip, sizeof(struct iphdr) + udp_len, udp_len);
	else
		srnic_icrc_mask_ipv6(buf, ip, udp_len, udp_len);
	memcpy(buf + hdr_len, data, len);

	return srnic_crc32(SRNIC_ICRC_SEED, buf, hdr_len + len);
}

u32 srnic_crc_packet(const void *ip, u16 udp_len, const u8 *data, size_t len)
{
	bool v4 = ((const struct iphdr *)ip)->version == 4;
	size_t all = len + (v4 ? SRNIC_ICRC_HDR4 : SRNIC_ICRC_HDR6);
	u32 crc;

	if (all >= SRNIC_CRC_LONG && all <= CRC_COPY)
		return crc_short(ip, v4, udp_len, data, len);
	if (v4)
		crc = srnic_icrc_ipv4(ip, sizeof(struct iphdr) + udp_len, udp_len);
	else
		crc = srnic_icrc_ipv6(ip, udp_len, udp_len);

	return srnic_crc32(crc, data, len);
}
