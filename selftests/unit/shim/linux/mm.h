/* SPDX-License-Identifier: GPL-2.0 */
/* srnic - linux/mm.h for tests in user space, which need only what it includes */
#ifndef SRNIC_SHIM_LINUX_MM_H
#define SRNIC_SHIM_LINUX_MM_H

#include <linux/slab.h>

#endif /* SRNIC_SHIM_LINUX_MM_H */
