// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - memory of a ring
 */
#include <linux/gfp.h>
#include <linux/log2.h>
#include <linux/overflow.h>
#include <linux/vmalloc.h>

#include "queue.h"

int srnic_ring_alloc(struct srnic_ring *ring, u32 entries, u32 stride)
{
	size_t size;

	if (!entries || entries > BIT(31))
		return -EINVAL;
	entries = roundup_pow_of_two(entries);
	if (check_mul_overflow((size_t)entries, (size_t)stride, &size) ||
	    check_add_overflow(size, sizeof(*ring->hdr), &size))
		return -EINVAL;

	ring->size = PAGE_ALIGN(size);
	ring->hdr = __vmalloc(ring->size, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!ring->hdr)
		return -ENOMEM;
	ring->mask = entries - 1;
	ring->stride = stride;

	return 0;
}

void srnic_ring_free(struct srnic_ring *ring)
{
	vfree(ring->hdr);
	ring->hdr = NULL;
}
