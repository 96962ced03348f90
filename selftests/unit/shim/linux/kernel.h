/* SPDX-License-Identifier: GPL-2.0 */
/* srnic - common macros of the kernel, for tests in user space */
#ifndef SRNIC_SHIM_LINUX_KERNEL_H
#define SRNIC_SHIM_LINUX_KERNEL_H

#include <assert.h>
#include <errno.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>

#undef static_assert
#define static_assert(expr)	_Static_assert(expr, #expr)

/* No option is set. */
#define IS_ENABLED(CONFIG_option)	0

#define BIT(nr)			(1UL << (nr))
#define BIT_ULL(nr)		(1ULL << (nr))
#define WARN_ON(condition)	assert(!(condition))
#define DIV_ROUND_UP(n, by)	(((n) + (by) - 1) / (by))
#define fallthrough		__attribute__((fallthrough))
#define noinline		__attribute__((noinline))
#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

/* @to is a power of two */
#define round_up(n, to)			\
({					\
	__auto_type _to = (to);		\
	((n) + _to - 1) & ~(_to - 1);	\
})

#endif /* SRNIC_SHIM_LINUX_KERNEL_H */
