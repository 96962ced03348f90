/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - a barrier between stores, for tests in user space
 *
 * shim_at_wmb() checks what another processor may see at that moment.
 */
#ifndef SRNIC_SHIM_ASM_BARRIER_H
#define SRNIC_SHIM_ASM_BARRIER_H

#include <linux/types.h>

/* one for all files of a program */
void (*shim_at_wmb)(void) __weak;

/* partners are named by the callers */
static inline void smp_wmb(void)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
	if (shim_at_wmb)
		shim_at_wmb();
}

/* likewise */
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)

#endif /* SRNIC_SHIM_ASM_BARRIER_H */
