/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - divisions for tests in user space
 */
#ifndef SRNIC_SHIM_LINUX_MATH64_H
#define SRNIC_SHIM_LINUX_MATH64_H

#include <linux/types.h>

static inline u64 div64_u64(u64 n, u64 by)
{
	return n / by;
}

static inline u64 div_u64(u64 n, u32 by)
{
	return n / by;
}

#endif /* SRNIC_SHIM_LINUX_MATH64_H */
