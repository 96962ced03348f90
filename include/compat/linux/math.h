/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - wrapper of <linux/math.h>: the current API on older kernels
 */
#ifndef SRNIC_COMPAT_MATH_H
#define SRNIC_COMPAT_MATH_H

#include_next <linux/math.h>

#ifndef abs_diff
#define abs_diff(a, b) ({			\
	typeof(a) __a = (a);			\
	typeof(b) __b = (b);			\
						\
	__a > __b ? __a - __b : __b - __a;	\
})
#endif

#endif /* SRNIC_COMPAT_MATH_H */
