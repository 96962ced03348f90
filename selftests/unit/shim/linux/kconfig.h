/* SPDX-License-Identifier: GPL-2.0 */
/* srnic - what the kernel offers to a module, for tests in user space: everything */
#ifndef SRNIC_SHIM_LINUX_KCONFIG_H
#define SRNIC_SHIM_LINUX_KCONFIG_H

#define IS_REACHABLE(CONFIG_option)	1

#endif /* SRNIC_SHIM_LINUX_KCONFIG_H */
