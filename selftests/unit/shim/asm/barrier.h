/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - a barrier between stores, for tests in user space
 *
 * What another processor may see at that moment is looked at by shim_at_wmb().
 */
#ifndef SRNIC_SHIM_ASM_BARRIER_H
#define SRNIC_SHIM_ASM_BARRIER_H

#include <linux/types.h>

/* One for all files of a program */
void (*shim_at_wmb)(void) __weak;

/* Partners are named where it is used */
static inline void smp_wmb(void)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
	if (shim_at_wmb)
		shim_at_wmb();
}

/* Partners are named where it is used, here too */
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)

#endif /* SRNIC_SHIM_ASM_BARRIER_H */
