/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - the kernel's atomic_t for tests in user space
 */
#ifndef SRNIC_SHIM_LINUX_ATOMIC_H
#define SRNIC_SHIM_LINUX_ATOMIC_H

#include <asm/barrier.h>
#include <linux/spinlock.h>

typedef struct {
	int	counter;
} atomic_t;

#define atomic_read(v)			READ_ONCE((v)->counter)
#define atomic_set(v, i)		WRITE_ONCE((v)->counter, i)
/* partners are named by the callers */
#define atomic_read_acquire(v)		smp_load_acquire(&(v)->counter)
#define atomic_set_release(v, i)	smp_store_release(&(v)->counter, i)

#define smp_mb__after_atomic()		smp_mb()

static inline int atomic_fetch_or(int bits, atomic_t *v)
{
	return __atomic_fetch_or(&v->counter, bits, __ATOMIC_SEQ_CST);
}

static inline void atomic_inc(atomic_t *v)
{
	__atomic_fetch_add(&v->counter, 1, __ATOMIC_RELAXED);
}

static inline void atomic_dec(atomic_t *v)
{
	__atomic_fetch_sub(&v->counter, 1, __ATOMIC_RELAXED);
}

static inline int atomic_dec_return_release(atomic_t *v)
{
	return __atomic_sub_fetch(&v->counter, 1, __ATOMIC_RELEASE);
}

/* Has the type of @old, so that they can be compared. */
#define atomic_cmpxchg(v, old, new)					\
({									\
	int _old = (old);						\
	__atomic_compare_exchange_n(&(v)->counter, &_old, new, false,	\
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);	\
	(__typeof__(old))_old;						\
})

static inline bool atomic_inc_unless_negative(atomic_t *v)
{
	int old = atomic_read(v);

	while (old >= 0)
		if (__atomic_compare_exchange_n(&v->counter, &old, old + 1,
						false, __ATOMIC_SEQ_CST,
						__ATOMIC_RELAXED))
			return true;

	return false;
}

#endif /* SRNIC_SHIM_LINUX_ATOMIC_H */
