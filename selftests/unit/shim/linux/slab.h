/* SPDX-License-Identifier: GPL-2.0 */
/* srnic - kernel memory for tests in user space */
#ifndef SRNIC_SHIM_LINUX_SLAB_H
#define SRNIC_SHIM_LINUX_SLAB_H

#include <linux/gfp.h>
#include <linux/kernel.h>
#include <stdlib.h>

static inline void *kvcalloc(size_t num, size_t size, int gfp)
{
	(void)gfp;

	return calloc(num, size);
}

static inline void *kcalloc(size_t num, size_t size, int gfp)
{
	return kvcalloc(num, size, gfp);
}

static inline void *kzalloc(size_t size, int gfp)
{
	return kvcalloc(1, size, gfp);
}

#define kvfree(memory)	free(memory)
#define kfree(memory)	free(memory)

#endif /* SRNIC_SHIM_LINUX_SLAB_H */
