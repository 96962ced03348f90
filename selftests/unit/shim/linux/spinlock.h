/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - locks, barriers and single accesses for tests in user space
 *
 * A test is one thread.  Another that writes to shared memory is played by
 * shim_at_barrier(), called where the code under test says barrier(): between
 * its copy of an entry and what it makes of it.
 */
#ifndef SRNIC_SHIM_LINUX_SPINLOCK_H
#define SRNIC_SHIM_LINUX_SPINLOCK_H

#include <linux/kernel.h>

#define spinlock_t	bool

#define __must_hold(lock)

static inline void spin_lock_init(spinlock_t *lock)
{
	*lock = false;
}

static inline void spin_lock_bh(spinlock_t *lock)
{
	assert(!*lock);
	*lock = true;
}

static inline void spin_unlock_bh(spinlock_t *lock)
{
	assert(*lock);
	*lock = false;
}

#define spin_lock_irqsave(lock, flags)		\
do {						\
	(flags) = 0;				\
	spin_lock_bh(lock);			\
} while (0)

#define spin_unlock_irqrestore(lock, flags)	\
do {						\
	(void)(flags);				\
	spin_unlock_bh(lock);			\
} while (0)

#define lockdep_assert_held(lock)	assert(*(lock))

/* One for all files of a program */
void (*shim_at_barrier)(void) __weak;

static inline void barrier(void)
{
	if (shim_at_barrier)
		shim_at_barrier();
}

#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, value)	__atomic_store_n(&(x), value, __ATOMIC_RELAXED)
#define xchg(p, value)		__atomic_exchange_n(p, value, __ATOMIC_SEQ_CST)

/* Partners are named where these are used */
#define smp_mb()		__atomic_thread_fence(__ATOMIC_SEQ_CST)
/* As above */
#define smp_rmb()		__atomic_thread_fence(__ATOMIC_ACQUIRE)
/* As above */
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
/* As above */
#define smp_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)

#endif /* SRNIC_SHIM_LINUX_SPINLOCK_H */
