/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - wrapper of <linux/timer.h>: the current API on older kernels
 */
#ifndef SRNIC_COMPAT_TIMER_H
#define SRNIC_COMPAT_TIMER_H

#include_next <linux/timer.h>

#ifndef SRNIC_HAVE_TIMER_DELETE
#define timer_delete_sync(timer)	del_timer_sync(timer)
#endif

#endif /* SRNIC_COMPAT_TIMER_H */
