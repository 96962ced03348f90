/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - powers of two for tests in user space
 */
#ifndef SRNIC_SHIM_LINUX_LOG2_H
#define SRNIC_SHIM_LINUX_LOG2_H

#include <linux/kernel.h>

static inline unsigned long roundup_pow_of_two(unsigned long n)
{
	unsigned long power = 1;

	while (power < n)
		power <<= 1;

	return power;
}

static inline unsigned int ilog2(u64 n)
{
	return 63 - __builtin_clzll(n);
}

#endif /* SRNIC_SHIM_LINUX_LOG2_H */
