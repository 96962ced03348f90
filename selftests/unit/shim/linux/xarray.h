/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - a table that nobody here looks into, for tests in user space
 */
#ifndef SRNIC_SHIM_LINUX_XARRAY_H
#define SRNIC_SHIM_LINUX_XARRAY_H

#include <limits.h>

#define XA_PRESENT	8U

struct xarray {
	char	unused;
};

/* Declared for inline functions of headers, and defined nowhere */
void *xa_find(struct xarray *xa, unsigned long *index, unsigned long max,
	      unsigned int filter);

#endif /* SRNIC_SHIM_LINUX_XARRAY_H */
