/* SPDX-License-Identifier: GPL-2.0 */
/* srnic - the CRC of T10-DIF, bit by bit, for tests in user space */
#ifndef SRNIC_SHIM_LINUX_CRC_T10DIF_H
#define SRNIC_SHIM_LINUX_CRC_T10DIF_H

#include <linux/types.h>

#define CRC_T10DIF_POLY	0x8bb7

static inline u16 crc_t10dif_update(u16 crc, const unsigned char *data, size_t len)
{
	int bit;

	while (len--) {
		crc ^= *data++ << 8;
		for (bit = 0; bit < 8; bit++)
			crc = crc & 0x8000 ? crc << 1 ^ CRC_T10DIF_POLY : crc << 1;
	}

	return crc;
}

#endif /* SRNIC_SHIM_LINUX_CRC_T10DIF_H */
