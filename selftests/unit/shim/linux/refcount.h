/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - references that nobody here counts, for tests in user space
 */
#ifndef SRNIC_SHIM_LINUX_REFCOUNT_H
#define SRNIC_SHIM_LINUX_REFCOUNT_H

typedef struct {
	int	refs;
} refcount_t;

#endif /* SRNIC_SHIM_LINUX_REFCOUNT_H */
