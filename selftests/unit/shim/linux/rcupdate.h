/* SPDX-License-Identifier: GPL-2.0 */
/* srnic - RCU for tests in user space, which free nothing that is in use */
#ifndef SRNIC_SHIM_LINUX_RCUPDATE_H
#define SRNIC_SHIM_LINUX_RCUPDATE_H

#define rcu_read_lock()		do { } while (0)
#define rcu_read_unlock()	do { } while (0)

#endif /* SRNIC_SHIM_LINUX_RCUPDATE_H */
