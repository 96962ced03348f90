/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - arithmetic of 24-bit packet sequence numbers
 */
#ifndef SRNIC_WIRE_PSN_H
#define SRNIC_WIRE_PSN_H

#include <linux/types.h>

#define SRNIC_PSN_MASK	0xffffffU

static inline __u32 srnic_psn_add(__u32 psn, __u32 n)
{
	return (psn + n) & SRNIC_PSN_MASK;
}

/* Signed distance from @b to @a, between -2^23 and 2^23 - 1 */
static inline __s32 srnic_psn_diff(__u32 a, __u32 b)
{
	return (__s32)((a - b) << 8) >> 8;
}

/* The later of two that are less than 2^23 apart */
static inline __u32 srnic_psn_max(__u32 a, __u32 b)
{
	return srnic_psn_diff(a, b) >= 0 ? a : b;
}

#endif /* SRNIC_WIRE_PSN_H */
