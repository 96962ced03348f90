/* SPDX-License-Identifier: GPL-2.0 */
/* srnic - wait_var_event() for tests in user space, which never waits */
#ifndef SRNIC_SHIM_LINUX_WAIT_BIT_H
#define SRNIC_SHIM_LINUX_WAIT_BIT_H

#include <assert.h>

#define wake_up_var(var)		((void)(var))
#define wait_var_event(var, condition)	assert(condition)

#endif /* SRNIC_SHIM_LINUX_WAIT_BIT_H */
