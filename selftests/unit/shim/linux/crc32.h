/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - the kernel's little endian CRC-32 for tests in user space, bit by bit
 */
#ifndef SRNIC_SHIM_LINUX_CRC32_H
#define SRNIC_SHIM_LINUX_CRC32_H

#include <linux/types.h>

static inline u32 crc32_le(u32 crc, const void *data, size_t len)
{
	const u8 *p = data;
	int bit;

	while (len--) {
		crc ^= *p++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320U : 0);
	}

	return crc;
}

#endif /* SRNIC_SHIM_LINUX_CRC32_H */
