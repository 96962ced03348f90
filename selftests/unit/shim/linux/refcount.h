/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - the kernel's reference counts for tests in user space
 */
#ifndef SRNIC_SHIM_LINUX_REFCOUNT_H
#define SRNIC_SHIM_LINUX_REFCOUNT_H

#include <linux/spinlock.h>

typedef struct {
	int	refs;
} refcount_t;

#define refcount_read(r)	READ_ONCE((r)->refs)
#define refcount_set(r, n)	WRITE_ONCE((r)->refs, n)

static inline bool refcount_inc_not_zero(refcount_t *r)
{
	int old = refcount_read(r);

	while (old)
		if (__atomic_compare_exchange_n(&r->refs, &old, old + 1, false,
						__ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return true;

	return false;
}

static inline bool refcount_dec_and_test(refcount_t *r)
{
	return !__atomic_sub_fetch(&r->refs, 1, __ATOMIC_ACQ_REL);
}

#endif /* SRNIC_SHIM_LINUX_REFCOUNT_H */
