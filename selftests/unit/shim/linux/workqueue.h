/* SPDX-License-Identifier: GPL-2.0 */
/* srnic - work items for tests in user space, which queue none */
#ifndef SRNIC_SHIM_LINUX_WORKQUEUE_H
#define SRNIC_SHIM_LINUX_WORKQUEUE_H

struct work_struct {
	char	unused;
};

struct delayed_work {
	struct work_struct	work;
};

#endif /* SRNIC_SHIM_LINUX_WORKQUEUE_H */
