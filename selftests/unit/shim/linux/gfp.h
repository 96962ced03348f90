/* SPDX-License-Identifier: GPL-2.0 */
/* srnic - allocation flags without meaning, for tests in user space */
#ifndef SRNIC_SHIM_LINUX_GFP_H
#define SRNIC_SHIM_LINUX_GFP_H

#define GFP_KERNEL_ACCOUNT	0
#define __GFP_ZERO		0

#endif /* SRNIC_SHIM_LINUX_GFP_H */
