/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - bounds that hold in speculation too, for tests in user space
 */
#ifndef SRNIC_SHIM_LINUX_NOSPEC_H
#define SRNIC_SHIM_LINUX_NOSPEC_H

#include <linux/types.h>

/* Out of bounds it is 0, as in the kernel */
static inline size_t array_index_nospec(size_t index, size_t size)
{
	return index < size ? index : 0;
}

#endif /* SRNIC_SHIM_LINUX_NOSPEC_H */
