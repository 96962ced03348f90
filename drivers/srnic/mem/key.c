// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - memory keys: publish, find and hide regions
 *
 * A lookup takes no lock: RCU keeps the region's memory, the reference count
 * says whether it is still alive, and the whole key is compared, so that a key
 * of a dead region is not mistaken for that of its successor.
 */
#include <linux/random.h>
#include <linux/rcupdate.h>

#include "mem.h"

#define KEY_INDEX_LIMIT	XA_LIMIT(1, 0xffffff)

void srnic_keys_init(struct srnic_keys *keys)
{
	xa_init_flags(&keys->xa, XA_FLAGS_ALLOC1);
	keys->next = 0;
}

void srnic_keys_destroy(struct srnic_keys *keys)
{
	WARN_ON(!xa_empty(&keys->xa));
	xa_destroy(&keys->xa);
}

int srnic_mr_publish(struct srnic_keys *keys, struct srnic_mr *mr)
{
	u32 index;
	int err;

	refcount_set(&mr->refs, 1);
	init_completion(&mr->idle);

	/* The index is reserved first: the key must be whole when found. */
	err = xa_alloc_cyclic(&keys->xa, &index, NULL, KEY_INDEX_LIMIT,
			      &keys->next, GFP_KERNEL);
	if (err < 0)
		return err == -EBUSY ? -ENOSPC : err;

	mr->key = index << 8 | get_random_u8();

	err = xa_err(xa_store(&keys->xa, index, mr, GFP_KERNEL));
	if (err) {
		xa_erase(&keys->xa, index);
		mr->key = 0;
	}

	return err;
}

void srnic_mr_hide(struct srnic_keys *keys, struct srnic_mr *mr)
{
	if (!mr->key)
		return;

	xa_erase(&keys->xa, SRNIC_KEY_INDEX(mr->key));
	srnic_mr_put(mr);
	wait_for_completion(&mr->idle);
	mr->key = 0;
}

/* May the region be used like this?  Pure. */
static enum srnic_mem_err mr_check(const struct srnic_mr *mr,
				   const struct ib_pd *pd, u32 access,
				   u64 addr, u64 len)
{
	if (mr->pd != pd)
		return SRNIC_MEM_PD;
	if ((mr->access & access) != access)
		return SRNIC_MEM_ACCESS;
	if (!srnic_mr_covers(mr, addr, len))
		return SRNIC_MEM_RANGE;

	return SRNIC_MEM_OK;
}

enum srnic_mem_err srnic_mr_get(struct srnic_keys *keys, u32 key,
				const struct ib_pd *pd, u32 access,
				u64 addr, u64 len, struct srnic_mr **out)
{
	enum srnic_mem_err err;
	struct srnic_mr *mr;

	rcu_read_lock();
	mr = xa_load(&keys->xa, SRNIC_KEY_INDEX(key));
	if (mr && !refcount_inc_not_zero(&mr->refs))
		mr = NULL;
	rcu_read_unlock();

	if (!mr)
		return SRNIC_MEM_KEY;

	err = mr->key == key ? mr_check(mr, pd, access, addr, len) :
			       SRNIC_MEM_KEY;
	if (err) {
		srnic_mr_put(mr);
		return err;
	}

	*out = mr;

	return SRNIC_MEM_OK;
}

void srnic_mr_put(struct srnic_mr *mr)
{
	if (refcount_dec_and_test(&mr->refs))
		complete(&mr->idle);
}
