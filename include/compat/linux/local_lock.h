/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - wrapper of <linux/local_lock.h>: the current API on older kernels
 */
#ifndef SRNIC_COMPAT_LOCAL_LOCK_H
#define SRNIC_COMPAT_LOCAL_LOCK_H

#include_next <linux/local_lock.h>

#ifndef SRNIC_HAVE_NESTED_BH_LOCK
/* On these kernels, disabling BHs excludes other users, on PREEMPT_RT too. */
#define local_lock_nested_bh(lock)	((void)(lock))
#define local_unlock_nested_bh(lock)	((void)(lock))
#endif

#endif /* SRNIC_COMPAT_LOCAL_LOCK_H */
