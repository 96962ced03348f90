/* SPDX-License-Identifier: GPL-2.0 */
/* srnic - struct work_struct for tests in user space, which queue no work */
#ifndef SRNIC_SHIM_LINUX_WORKQUEUE_H
#define SRNIC_SHIM_LINUX_WORKQUEUE_H

struct work_struct {
	char	unused;
};

#endif /* SRNIC_SHIM_LINUX_WORKQUEUE_H */
