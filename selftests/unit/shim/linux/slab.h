/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - memory of the kernel's own for tests in user space
 */
#ifndef SRNIC_SHIM_LINUX_SLAB_H
#define SRNIC_SHIM_LINUX_SLAB_H

#include <linux/kernel.h>
#include <stdlib.h>

#define GFP_KERNEL	0

static inline void *kvcalloc(size_t num, size_t size, int gfp)
{
	(void)gfp;

	return calloc(num, size);
}

#define kvfree(memory)	free(memory)

#endif /* SRNIC_SHIM_LINUX_SLAB_H */
