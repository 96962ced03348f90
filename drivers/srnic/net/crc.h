/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - CRC-32 and ICRC, computed by the kernel's fastest routine
 */
#ifndef SRNIC_NET_CRC_H
#define SRNIC_NET_CRC_H

#include <linux/crc32.h>

#ifdef SRNIC_CRC32_BY_CRYPTO

/* Below this many bytes the CPU's instructions are not used. */
#define SRNIC_CRC_LONG	79

u32 srnic_crc32_long(u32 crc, const u8 *data, size_t len);

/* Returns what crc32_le() does.  Context: any but hard interrupt. */
static inline u32 srnic_crc32(u32 crc, const u8 *data, size_t len)
{
	return len < SRNIC_CRC_LONG ? crc32_le(crc, data, len) :
				      srnic_crc32_long(crc, data, len);
}

/* May sleep.  Falls back to crc32_le() if the crypto layer has no crc32. */
void srnic_crc_init(void);
void srnic_crc_exit(void);

#else

#define SRNIC_CRC_LONG	16

static inline u32 srnic_crc32(u32 crc, const u8 *data, size_t len)
{
	return crc32_le(crc, data, len);
}

static inline void srnic_crc_init(void)
{
}

static inline void srnic_crc_exit(void)
{
}

#endif

/*
 * CRC from the IP header @ip up to and including the @len bytes at @data that follow the
 * BTH, to be completed by srnic_icrc_end().  @udp_len replaces the lengths in the headers.
 */
u32 srnic_crc_packet(const void *ip, u16 udp_len, const u8 *data, size_t len);

#endif /* SRNIC_NET_CRC_H */
