/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - a table that nobody here looks into, for tests in user space
 */
#ifndef SRNIC_SHIM_LINUX_XARRAY_H
#define SRNIC_SHIM_LINUX_XARRAY_H

struct xarray {
	char	unused;
};

#endif /* SRNIC_SHIM_LINUX_XARRAY_H */
