/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - the kernel's clock for tests in user space
 */
#ifndef SRNIC_SHIM_LINUX_TIMEKEEPING_H
#define SRNIC_SHIM_LINUX_TIMEKEEPING_H

#include <linux/types.h>
#include <time.h>

static inline u64 ktime_get_raw_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);

	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

#endif /* SRNIC_SHIM_LINUX_TIMEKEEPING_H */
