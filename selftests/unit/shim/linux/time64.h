/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - units of time for tests in user space
 */
#ifndef SRNIC_SHIM_LINUX_TIME64_H
#define SRNIC_SHIM_LINUX_TIME64_H

#define NSEC_PER_SEC	1000000000L
#define NSEC_PER_MSEC	1000000L
#define NSEC_PER_USEC	1000L
#define USEC_PER_SEC	1000000L

#endif /* SRNIC_SHIM_LINUX_TIME64_H */
