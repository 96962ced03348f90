/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - atomics with masks: what they make of a word
 *
 * IBTA does not define them; commit 5e80ba8ff0bd of the kernel, "IB/core: Add support for
 * masked atomic operations", does, bit by bit.  Pure: values in, value out.
 */
#ifndef SRNIC_XPORT_MASKED_H
#define SRNIC_XPORT_MASKED_H

#include <linux/types.h>

/* If @word has the bits of @compare in @compare_mask, it gets those of @swap in @swap_mask. */
static inline u64 srnic_masked_swap(u64 word, u64 compare, u64 compare_mask, u64 swap,
				    u64 swap_mask)
{
	if ((word ^ compare) & compare_mask)
		return word;

	return (word & ~swap_mask) | (swap & swap_mask);
}

/*
 * Adds @add to @word.  A bit of @last is the last one of a field: nothing is carried beyond
 * it, so it is left out of the addition, which then has room for what is carried into it.
 */
static inline u64 srnic_masked_add(u64 word, u64 add, u64 last)
{
	return ((word & ~last) + (add & ~last)) ^ ((word ^ add) & last);
}

/* Do these masks leave a compare-and-swap as it is without them? */
static inline bool srnic_masked_swap_is_plain(u64 compare_mask, u64 swap_mask)
{
	return !~(compare_mask & swap_mask);
}

/* Likewise an addition; nothing is carried beyond the word anyway. */
static inline bool srnic_masked_add_is_plain(u64 last)
{
	return !(last << 1);
}

#endif /* SRNIC_XPORT_MASKED_H */
