/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - wrapper of <linux/hrtimer.h>: the current API on older kernels
 */
#ifndef SRNIC_COMPAT_HRTIMER_H
#define SRNIC_COMPAT_HRTIMER_H

#include_next <linux/hrtimer.h>

#ifndef SRNIC_HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*fn)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = fn;
}
#endif

#endif /* SRNIC_COMPAT_HRTIMER_H */
