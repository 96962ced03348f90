/* SPDX-License-Identifier: GPL-2.0 */
/* srnic - reproducible pseudo-random numbers */
#ifndef SRNIC_UNIT_RAND_H
#define SRNIC_UNIT_RAND_H

#include <linux/types.h>

static u64 rand_state = 1;

/* A linear congruential generator modulo 2^64, folded */
static inline u32 rand32(void)
{
	rand_state = rand_state * 6364136223846793005ULL + 1442695040888963407ULL;

	return rand_state >> 32 ^ rand_state >> 11;
}

static inline u64 rand64(void)
{
	return (u64)rand32() << 32 | rand32();
}

#endif /* SRNIC_UNIT_RAND_H */
