/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - giving way, for tests in user space
 *
 * What others do meanwhile is played by shim_at_resched().
 */
#ifndef SRNIC_SHIM_LINUX_SCHED_H
#define SRNIC_SHIM_LINUX_SCHED_H

#include <linux/types.h>

/* One for all files of a program */
void (*shim_at_resched)(void) __weak;

static inline void cond_resched(void)
{
	if (shim_at_resched)
		shim_at_resched();
}

#endif /* SRNIC_SHIM_LINUX_SCHED_H */
