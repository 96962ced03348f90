/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - cond_resched() for tests in user space
 *
 * shim_at_resched() plays the part of other tasks.
 */
#ifndef SRNIC_SHIM_LINUX_SCHED_H
#define SRNIC_SHIM_LINUX_SCHED_H

#include <linux/types.h>

/* one for all files of a program */
void (*shim_at_resched)(void) __weak;

static inline void cond_resched(void)
{
	if (shim_at_resched)
		shim_at_resched();
}

#endif /* SRNIC_SHIM_LINUX_SCHED_H */
