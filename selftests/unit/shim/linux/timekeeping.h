/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - the kernel's clock for tests in user space
 */
#ifndef SRNIC_SHIM_LINUX_TIMEKEEPING_H
#define SRNIC_SHIM_LINUX_TIMEKEEPING_H

#include <linux/types.h>
#include <time.h>

static inline u64 clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);

	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static inline u64 ktime_get_raw_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC_RAW);
}

static inline u64 ktime_get_real_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

#endif /* SRNIC_SHIM_LINUX_TIMEKEEPING_H */
