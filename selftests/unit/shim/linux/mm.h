/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - memory, of which nothing is used here, for tests in user space
 */
#ifndef SRNIC_SHIM_LINUX_MM_H
#define SRNIC_SHIM_LINUX_MM_H

#include <linux/slab.h>

#endif /* SRNIC_SHIM_LINUX_MM_H */
