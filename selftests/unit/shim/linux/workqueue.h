/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - what a struct needs to have work in it, which nobody here queues, for tests in user space
 */
#ifndef SRNIC_SHIM_LINUX_WORKQUEUE_H
#define SRNIC_SHIM_LINUX_WORKQUEUE_H

struct work_struct {
	char	unused;
};

#endif /* SRNIC_SHIM_LINUX_WORKQUEUE_H */
