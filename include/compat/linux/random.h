/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - wrapper of <linux/random.h>: the current API on older kernels
 */
#ifndef SRNIC_COMPAT_RANDOM_H
#define SRNIC_COMPAT_RANDOM_H

#include_next <linux/random.h>

#ifndef SRNIC_HAVE_RANDOM_U8
static inline u8 get_random_u8(void)
{
	return get_random_u32();
}
#endif

#ifndef SRNIC_HAVE_RANDOM_INCLUSIVE
/* A remainder of 64 bits prefers no value by more than one part in 2^32. */
static inline u32 get_random_u32_inclusive(u32 floor, u32 ceil)
{
	return floor + get_random_u64() % ((u64)ceil - floor + 1);
}
#endif

#endif /* SRNIC_COMPAT_RANDOM_H */
