/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - no lockdep for tests in user space
 */
#ifndef SRNIC_SHIM_LINUX_LOCKDEP_H
#define SRNIC_SHIM_LINUX_LOCKDEP_H

struct lockdep_map {
};

#define lockdep_assert(condition)	((void)sizeof(condition))

#endif /* SRNIC_SHIM_LINUX_LOCKDEP_H */
