/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - wrapper of <linux/crc32.h>: on older kernels only the crypto layer uses
 * CPU instructions for the CRC, see drivers/srnic/net/crc.c
 */
#ifndef SRNIC_COMPAT_CRC32_H
#define SRNIC_COMPAT_CRC32_H

#include_next <linux/crc32.h>

#ifndef SRNIC_HAVE_CRC32_OPTIMIZATIONS
#define SRNIC_CRC32_BY_CRYPTO
#endif

#endif /* SRNIC_COMPAT_CRC32_H */
