/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - vmalloc() for tests in user space
 *
 * A page has one byte here, so that the address sanitizer detects any access
 * beyond the requested size.
 */
#ifndef SRNIC_SHIM_LINUX_VMALLOC_H
#define SRNIC_SHIM_LINUX_VMALLOC_H

#include <linux/kernel.h>
#include <stdlib.h>

#define PAGE_ALIGN(size)	(size)
#define SHIM_VMALLOC_MAX	BIT(30)

static inline void *__vmalloc(unsigned long size, int gfp)
{
	(void)gfp;

	return size <= SHIM_VMALLOC_MAX ? calloc(1, size) : NULL;
}

#define vfree(memory)		free(memory)

#endif /* SRNIC_SHIM_LINUX_VMALLOC_H */
