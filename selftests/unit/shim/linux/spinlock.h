/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - locks, barriers and single accesses for tests in user space
 *
 * A test is a single thread.  shim_at_barrier() plays the part of another
 * thread that writes to shared memory.  It is called where the code under test
 * says barrier(): between copying an entry and validating the copy.
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

/* one for all files of a program */
void (*shim_at_barrier)(void) __weak;

static inline void barrier(void)
{
	if (shim_at_barrier)
		shim_at_barrier();
}

#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, value)	__atomic_store_n(&(x), value, __ATOMIC_RELAXED)
#define xchg(p, value)		__atomic_exchange_n(p, value, __ATOMIC_SEQ_CST)

/* partners are named by the callers */
#define smp_mb()		__atomic_thread_fence(__ATOMIC_SEQ_CST)
/* likewise */
#define smp_rmb()		__atomic_thread_fence(__ATOMIC_ACQUIRE)
/* likewise */
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
/* likewise */
#define smp_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)

#endif /* SRNIC_SHIM_LINUX_SPINLOCK_H */
