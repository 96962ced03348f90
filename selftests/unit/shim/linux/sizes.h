/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - sizes by name, for tests in user space
 */
#ifndef SRNIC_SHIM_LINUX_SIZES_H
#define SRNIC_SHIM_LINUX_SIZES_H

#define SZ_2K		0x00000800
#define SZ_64K		0x00010000
#define SZ_256K		0x00040000
#define SZ_1M		0x00100000

#endif /* SRNIC_SHIM_LINUX_SIZES_H */
