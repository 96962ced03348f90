// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - memory keys: publish, find, invalidate and hide regions
 *
 * A lookup takes no lock: RCU keeps struct srnic_mr in memory, its state and
 * reference count tell whether it is valid, and the whole key is compared, so
 * that a stale key does not match a current one.
 */
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/wait_bit.h>

#include "../trace.h"
#include "internal.h"

#define KEY_INDEX_MIN	1
#define KEY_INDEX_MAX	0xffffff

/* Size of the range that indices are drawn from: per key in use, and minimum */
#define KEY_SPARSE	64
#define KEY_RANGE_MIN	4096

void srnic_keys_init(struct srnic_keys *keys)
{
	xa_init_flags(&keys->xa, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	atomic_set(&keys->num, 0);
}

void srnic_keys_destroy(struct srnic_keys *keys)
{
	WARN_ON(!srnic_table_is_empty(&keys->xa));
	xa_destroy(&keys->xa);
}

/* Sets the state in which @mr is published. */
static void mr_begin(struct srnic_mr *mr)
{
	bool valid = mr->kind == SRNIC_MR_PLAIN;

	refcount_set(&mr->refs, valid);
	atomic_set(&mr->state, valid ? SRNIC_MR_VALID : SRNIC_MR_FREE);
}

/* Largest index to draw: lookups are faster in a range no wider than necessary. */
static u32 key_range(const struct srnic_keys *keys)
{
	u32 num = atomic_read(&keys->num);

	if (num >= KEY_INDEX_MAX / KEY_SPARSE / 2)
		return KEY_INDEX_MAX;

	return max_t(u32, KEY_RANGE_MIN,
		     roundup_pow_of_two((num + 1) * KEY_SPARSE)) - 1;
}

/* Reserves an index that is hard to guess: the first free one from a random start. */
static int key_reserve(struct srnic_keys *keys, u32 *index)
{
	u32 from = get_random_u32_inclusive(KEY_INDEX_MIN, key_range(keys));
	int err;

	err = xa_alloc(&keys->xa, index, NULL, XA_LIMIT(from, KEY_INDEX_MAX),
		       GFP_KERNEL_ACCOUNT);
	if (err == -EBUSY)
		err = xa_alloc(&keys->xa, index, NULL,
			       XA_LIMIT(KEY_INDEX_MIN, from),
			       GFP_KERNEL_ACCOUNT);

	return err == -EBUSY ? -ENOSPC : err;
}

int srnic_mr_publish(struct srnic_keys *keys, struct srnic_mr *mr)
{
	u32 index;
	int err;

	mr_begin(mr);

	/* The key must be complete before lookups can find the region. */
	err = key_reserve(keys, &index);
	if (err)
		return err;
	mr->key = index << 8 | get_random_u8();
	/* The entry is reserved, so this allocates no memory. */
	xa_store(&keys->xa, index, mr, GFP_KERNEL_ACCOUNT);
	atomic_inc(&keys->num);
	trace_srnic_key_new(mr);

	return 0;
}

void srnic_mr_set_state(struct srnic_mr *mr, enum srnic_mr_state state)
{
	atomic_set_release(&mr->state, state);
	smp_mb();	/* state before checking for waiters; see wait_var_event() */
	wake_up_var(&mr->state);
}

bool srnic_mr_move(struct srnic_mr *mr, enum srnic_mr_state from,
		   enum srnic_mr_state to)
{
	return atomic_cmpxchg(&mr->state, from, to) == from;
}

void srnic_mr_make_valid(struct srnic_mr *mr)
{
	smp_wmb();	/* pairs with srnic_mr_hold(): fields before refs and state */
	refcount_set(&mr->refs, 1);
	srnic_mr_set_state(mr, SRNIC_MR_VALID);
}

/*
 * The last reference is gone and no new one can be taken.  Dropping it does not
 * order the caller's own accesses against the stores that follow:
 *
 * C mr_out_of_use
 *
 * {
 *	refs=1;
 *	windows=1;
 * }
 *
 * P0(int *page, atomic_t *refs, atomic_t *windows)	// the last user
 * {
 *	WRITE_ONCE(*page, 1);
 *	int r0 = atomic_fetch_sub_release(1, refs);
 *	if (r0 == 1) {
 *		smp_rmb();	// smp_acquire__after_ctrl_dep()
 *		int r1 = atomic_dec_return_release(windows);
 *	}
 * }
 *
 * P1(int *page, atomic_t *windows)	// srnic_mr_seal(), then free
 * {
 *	int r2 = atomic_cmpxchg(windows, 0, -1);
 *	if (r2 == 0)
 *		WRITE_ONCE(*page, 2);
 * }
 *
 * exists (1:r2=0 /\ page=1)
 *
 * Result: Never.  atomic_dec() in place of atomic_dec_return_release() allows it.
 */
static void mr_out_of_use(struct srnic_mr *mr)
{
	struct srnic_wait *wait = mr->wait;

	mr->wait = NULL;
	if (mr->parent)	/* pairs with srnic_mr_seal() */
		atomic_dec_return_release(&mr->parent->windows);
	mr->parent = NULL;
	srnic_mr_set_state(mr, SRNIC_MR_FREE);
	/* From here on @mr may have been reused or freed. */
	if (wait)
		wait->wake(wait);
}

void srnic_mr_put(struct srnic_mr *mr)
{
	if (refcount_dec_and_test(&mr->refs))
		mr_out_of_use(mr);
}

/* Takes the key one step closer to DEAD; true once it is DEAD. */
static bool mr_close(struct srnic_mr *mr)
{
	if (srnic_mr_move(mr, SRNIC_MR_VALID, SRNIC_MR_BUSY))
		srnic_mr_put(mr);

	return srnic_mr_move(mr, SRNIC_MR_FREE, SRNIC_MR_DEAD);
}

void srnic_mr_hide(struct srnic_keys *keys, struct srnic_mr *mr)
{
	u32 key = READ_ONCE(mr->key);	/* a bind may be changing the tag */

	if (!key)
		return;

	trace_srnic_key_gone(mr);
	xa_erase(&keys->xa, SRNIC_KEY_INDEX(key));
	atomic_dec(&keys->num);
	wait_var_event(&mr->state, mr_close(mr));
	mr->key = 0;
}

void srnic_mr_replace(struct srnic_keys *keys, struct srnic_mr *old,
		      struct srnic_mr *mr)
{
	mr_begin(mr);
	mr->key = old->key;
	/* The entry exists, so this allocates no memory. */
	xa_store(&keys->xa, SRNIC_KEY_INDEX(mr->key), mr, GFP_KERNEL_ACCOUNT);
	wait_var_event(&old->state, mr_close(old));
	old->key = 0;
}

bool srnic_mr_seal(struct srnic_mr *mr)
{
	return atomic_cmpxchg(&mr->windows, 0, -1) <= 0;
}

void srnic_mr_unseal(struct srnic_mr *mr)
{
	atomic_set(&mr->windows, 0);
}

static bool mr_is_valid(const struct srnic_mr *mr)
{
	return atomic_read(&mr->state) == SRNIC_MR_VALID;
}

/*
 * The state is checked twice.  Once it has changed, no new use starts and @refs only
 * drops; otherwise a stream of lookups could keep it from ever reaching 0.
 */
bool srnic_mr_hold(struct srnic_mr *mr)
{
	if (!mr_is_valid(mr) || !refcount_inc_not_zero(&mr->refs))
		return false;
	/* pairs with srnic_mr_make_valid(), and srnic_mr_move() to BUSY */
	smp_mb__after_atomic();
	if (mr_is_valid(mr))
		return true;
	srnic_mr_put(mr);

	return false;
}

/*
 * Is @mr, to which the caller holds a reference, still what @key names?  While it is held, it
 * cannot become valid again, nor get another key.
 */
static bool mr_is_named(const struct srnic_mr *mr, u32 key)
{
	return mr->key == key && mr_is_valid(mr);
}

/* Gets the region that @key currently names; NULL: none. */
static struct srnic_mr *key_hold(struct srnic_keys *keys, u32 key)
{
	u32 index = SRNIC_KEY_INDEX(key);
	struct srnic_mr *mr, *ended;

	rcu_read_lock();
	mr = xa_load(&keys->xa, index);
	while (mr && !srnic_mr_hold(mr)) {
		ended = mr;
		smp_rmb();	/* pairs with srnic_mr_replace() */
		mr = xa_load(&keys->xa, index);
		if (mr == ended)
			mr = NULL;
	}
	rcu_read_unlock();

	if (!mr)
		return NULL;
	if (mr->key == key)
		return mr;

	srnic_mr_put(mr);

	return NULL;
}

/* May @owner use the region?  0: a local access, which cannot use windows. */
static enum srnic_mem_err mr_check_owner(const struct srnic_mr *mr, u64 owner)
{
	switch (mr->kind) {
	case SRNIC_MW_1:
		return owner ? SRNIC_MEM_OK : SRNIC_MEM_KEY;
	case SRNIC_MW_2:
		return mr->owner == owner ? SRNIC_MEM_OK : SRNIC_MEM_OWNER;
	default:
		return SRNIC_MEM_OK;
	}
}

/* May @owner use the region in @pd with the rights @access?  Pure. */
static enum srnic_mem_err mr_check(const struct srnic_mr *mr,
				   const struct ib_pd *pd, u64 owner,
				   u32 access)
{
	if (mr->pd != pd)
		return SRNIC_MEM_PD;
	if ((mr->access & access) != access)
		return SRNIC_MEM_ACCESS;

	return mr_check_owner(mr, owner);
}

enum srnic_mem_err srnic_mr_get_whole(struct srnic_keys *keys, u32 key,
				      const struct ib_pd *pd, u64 owner,
				      u32 access, struct srnic_mr **out)
{
	enum srnic_mem_err err;

	if (!*out || !mr_is_named(*out, key)) {
		srnic_mr_release(out);
		*out = key_hold(keys, key);
	}
	if (!*out)
		return SRNIC_MEM_KEY;

	err = mr_check(*out, pd, owner, access);
	if (err)
		srnic_mr_release(out);

	return err;
}

enum srnic_mem_err srnic_mr_get_remote(struct srnic_keys *keys, u32 key,
				       const struct ib_pd *pd, u64 owner,
				       u32 access, u64 addr, u64 len,
				       struct srnic_mr **out)
{
	enum srnic_mem_err err;

	err = srnic_mr_get_whole(keys, key, pd, owner, access, out);
	if (err || srnic_mr_covers(*out, addr, len))
		return err;

	srnic_mr_release(out);

	return SRNIC_MEM_RANGE;
}

enum srnic_mem_err srnic_mr_get(struct srnic_keys *keys, u32 key,
				const struct ib_pd *pd, u32 access,
				u64 addr, u64 len, struct srnic_mr **out)
{
	return srnic_mr_get_remote(keys, key, pd, 0, access, addr, len, out);
}

enum srnic_mem_err srnic_mr_end(struct srnic_mr *mr, struct srnic_wait *wait)
{
	if (!srnic_mr_move(mr, SRNIC_MR_VALID, SRNIC_MR_BUSY)) {
		srnic_mr_put(mr);
		return SRNIC_MEM_STATE;
	}
	mr->wait = wait;
	srnic_mr_put(mr);	/* the validity reference; the caller's remains */
	if (!refcount_dec_and_test(&mr->refs))
		return SRNIC_MEM_BUSY;

	mr->wait = NULL;
	mr_out_of_use(mr);

	return SRNIC_MEM_OK;
}

static enum srnic_mem_err mr_invalidate(struct srnic_keys *keys, u32 key,
					const struct ib_pd *pd, u64 owner,
					struct srnic_wait *wait)
{
	struct srnic_mr *mr = NULL;
	enum srnic_mem_err err;

	err = srnic_mr_get_whole(keys, key, pd, owner, 0, &mr);
	if (err)
		return err;
	if (mr->kind == SRNIC_MR_FAST || mr->kind == SRNIC_MW_2)
		return srnic_mr_end(mr, wait);

	srnic_mr_put(mr);

	return SRNIC_MEM_STATE;
}

enum srnic_mem_err srnic_mr_invalidate(struct srnic_keys *keys, u32 key,
				       const struct ib_pd *pd, u64 owner,
				       struct srnic_wait *wait)
{
	enum srnic_mem_err err = mr_invalidate(keys, key, pd, owner, wait);

	trace_srnic_key_invalidate(key, err);

	return err;
}
