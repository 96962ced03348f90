// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - fast registration: regions registered by a work request
 *
 * A consumer lists the blocks of the next registration while the current one may still be
 * in use, so there are two lists, which are swapped when the work request is executed.
 * Without a new list the work request registers the previous one again.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/rcupdate.h>

#include "../trace.h"
#include "internal.h"

int srnic_fast_alloc(struct srnic_mr *mr, u32 max)
{
	mr->span.block = kvcalloc(max, sizeof(*mr->span.block),
				  GFP_KERNEL_ACCOUNT);
	mr->next.block = kvcalloc(max, sizeof(*mr->next.block),
				  GFP_KERNEL_ACCOUNT);
	mr->max_blocks = max;

	return mr->span.block && mr->next.block ? 0 : -ENOMEM;
}

void srnic_fast_begin(struct srnic_mr *mr, u32 size)
{
	mr->next.shift = ilog2(size);
	mr->num_next = 0;
	mr->listed = true;
}

int srnic_fast_add(struct srnic_mr *mr, u64 addr)
{
	if (mr->num_next == mr->max_blocks)
		return -ENOMEM;

	mr->next.block[mr->num_next++] = (void *)(uintptr_t)addr;

	return 0;
}

/* Do the blocks cover the range of @fast?  Pure. */
static bool fast_fits(const struct srnic_mr *mr, const struct srnic_fast *fast)
{
	u64 offset = fast->iova & (BIT_ULL(mr->span.shift) - 1);
	u64 end, last;

	return fast->length &&
	       !check_add_overflow(fast->iova, fast->length, &last) &&
	       !check_add_overflow(offset, fast->length, &end) &&
	       end <= (u64)mr->num_blocks << mr->span.shift;
}

/*
 * Switches to the new block list, if there is one.  The caller has made @mr BUSY.
 * Return: does the list cover the range of @fast?
 */
static bool fast_take(struct srnic_mr *mr, const struct srnic_fast *fast)
{
	if (mr->pi)
		return srnic_pi_take(mr, fast->length);
	if (mr->listed) {
		swap(mr->span, mr->next);
		mr->num_blocks = mr->num_next;
		mr->listed = false;
	}

	return fast_fits(mr, fast);
}

/* Registers @mr, which the caller has made BUSY, as described by @fast. */
static void fast_show(struct srnic_mr *mr, const struct srnic_fast *fast)
{
	mr->span.iova = fast->iova;
	mr->span.length = fast->length;
	mr->span.offset = fast->iova & (BIT_ULL(mr->span.shift) - 1);
	WRITE_ONCE(mr->key, fast->key);	/* read in srnic_mr_hide() */
	mr->access = fast->access & ~IB_ACCESS_MW_BIND;
	trace_srnic_key_register(mr);
	srnic_mr_make_valid(mr);
}

static enum srnic_mem_err fast_register(struct srnic_mr *mr,
					const struct srnic_fast *fast)
{
	if (mr->kind != SRNIC_MR_FAST)
		return SRNIC_MEM_STATE;
	if (mr->pd != fast->pd)
		return SRNIC_MEM_PD;
	if (!srnic_mr_move(mr, SRNIC_MR_FREE, SRNIC_MR_BUSY))
		return SRNIC_MEM_STATE;
	if (!fast_take(mr, fast)) {
		srnic_mr_set_state(mr, SRNIC_MR_FREE);
		return SRNIC_MEM_RANGE;
	}
	fast_show(mr, fast);

	return SRNIC_MEM_OK;
}

enum srnic_mem_err srnic_fast_register(struct srnic_keys *keys,
				       const struct srnic_fast *fast)
{
	enum srnic_mem_err err = SRNIC_MEM_KEY;
	struct srnic_mr *mr;

	rcu_read_lock();
	mr = xa_load(&keys->xa, SRNIC_KEY_INDEX(fast->key));
	if (mr)
		err = fast_register(mr, fast);
	rcu_read_unlock();

	return err;
}

bool srnic_fast_is_free(struct srnic_keys *keys, u32 key,
			const struct ib_pd *pd)
{
	struct srnic_mr *mr;
	bool is_free;

	rcu_read_lock();
	mr = xa_load(&keys->xa, SRNIC_KEY_INDEX(key));
	is_free = mr && mr->kind == SRNIC_MR_FAST && mr->pd == pd &&
		  atomic_read_acquire(&mr->state) == SRNIC_MR_FREE &&
		  READ_ONCE(mr->key) == key;
	rcu_read_unlock();

	return is_free;
}
