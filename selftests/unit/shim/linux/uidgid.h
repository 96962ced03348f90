/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - ids of users, for tests in user space
 */
#ifndef SRNIC_SHIM_LINUX_UIDGID_H
#define SRNIC_SHIM_LINUX_UIDGID_H

typedef struct {
	unsigned int	val;
} kuid_t;

#endif /* SRNIC_SHIM_LINUX_UIDGID_H */
