/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - the kernel's atomic_t for tests in user space
 */
#ifndef SRNIC_SHIM_LINUX_ATOMIC_H
#define SRNIC_SHIM_LINUX_ATOMIC_H

#include <asm/barrier.h>

typedef struct {
	int	counter;
} atomic_t;

static inline int atomic_fetch_or(int bits, atomic_t *v)
{
	return __atomic_fetch_or(&v->counter, bits, __ATOMIC_SEQ_CST);
}

#endif /* SRNIC_SHIM_LINUX_ATOMIC_H */
