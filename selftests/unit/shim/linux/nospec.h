/* SPDX-License-Identifier: GPL-2.0 */
/* srnic - array_index_nospec() for tests in user space */
#ifndef SRNIC_SHIM_LINUX_NOSPEC_H
#define SRNIC_SHIM_LINUX_NOSPEC_H

#include <linux/types.h>

/* 0 if out of bounds, as in the kernel */
static inline size_t array_index_nospec(size_t index, size_t size)
{
	return index < size ? index : 0;
}

#endif /* SRNIC_SHIM_LINUX_NOSPEC_H */
