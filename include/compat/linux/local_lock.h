/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - <linux/local_lock.h> of older kernels made to look like today's
 */
#ifndef SRNIC_COMPAT_LOCAL_LOCK_H
#define SRNIC_COMPAT_LOCAL_LOCK_H

#include_next <linux/local_lock.h>

#ifndef SRNIC_HAVE_NESTED_BH_LOCK
/* Disabled BHs are a lock there, with PREEMPT_RT also. */
#define local_lock_nested_bh(lock)	((void)(lock))
#define local_unlock_nested_bh(lock)	((void)(lock))
#endif

#endif /* SRNIC_COMPAT_LOCAL_LOCK_H */
