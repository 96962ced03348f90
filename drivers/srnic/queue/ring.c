// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - memory of a ring
 */
#include <linux/gfp.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/vmalloc.h>
#include <rdma/rdma_user_rxe.h>

#include "queue.h"

/**
 * struct ring_layout - offsets of the words of a ring from its start
 * @user: index that user space writes, in a ring of work requests
 * @kern: index that the kernel writes, likewise
 * @arm: requests for events
 * @flags: enum srnic_ring_flags
 * @entries: first entry
 * @wraps: the indices are stored modulo the number of slots
 */
struct ring_layout {
	u16	user;
	u16	kern;
	u16	arm;
	u16	flags;
	u16	entries;
	bool	wraps;
};

/*
 * Some programs with one work request at a time create a CQ of one entry, yet post the next
 * request before they have polled the last completion (perftest with events), relying on
 * devices that round the size of a CQ up.
 */
#define RING_COMP_MIN	2U

#define OWN(field)	offsetof(struct srnic_ring_hdr, field)
#define RXE(field)	offsetof(struct rxe_queue_buf, field)

/* The ABI of rdma_rxe lacks @arm and @flags: they are in padding that librxe ignores. */
static const struct ring_layout ring_layouts[] = {
	[SRNIC_ABI_OWN] = {
		.user		= OWN(user),
		.kern		= OWN(kern),
		.arm		= OWN(arm),
		.flags		= OWN(flags),
		.entries	= SRNIC_RING_ENTRIES,
	},
	[SRNIC_ABI_RXE] = {
		.user		= RXE(producer_index),
		.kern		= RXE(consumer_index),
		.arm		= RXE(pad_1[0]),
		.flags		= RXE(pad_1[1]),
		.entries	= RXE(data),
		.wraps		= true,
	},
};

/* Allocates memory for @slots entries and sets the pointers into it. */
static int ring_place(struct srnic_ring *ring, const struct ring_layout *lay,
		      u32 slots, u32 stride)
{
	size_t size;

	if (check_mul_overflow((size_t)slots, (size_t)stride, &size) ||
	    check_add_overflow(size, (size_t)lay->entries, &size))
		return -EINVAL;

	ring->size = PAGE_ALIGN(size);
	ring->hdr = __vmalloc(ring->size, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!ring->hdr)
		return -ENOMEM;

	ring->user = ring->hdr + lay->user;
	ring->kern = ring->hdr + lay->kern;
	ring->arm = ring->hdr + lay->arm;
	ring->flags = ring->hdr + lay->flags;
	ring->entries = ring->hdr + lay->entries;

	return 0;
}

/* Sets the fields by which librxe finds entries; the kernel never reads them. */
static void ring_describe(const struct srnic_ring *ring)
{
	struct rxe_queue_buf *buf = ring->hdr;

	buf->log2_elem_size = ilog2(ring->stride);
	buf->index_mask = ring->mask;
}

int srnic_ring_alloc(struct srnic_ring *ring, enum srnic_abi abi,
		     enum srnic_ring_role role, u32 entries, u32 stride)
{
	const struct ring_layout *lay = &ring_layouts[abi];
	size_t slots;
	int err;

	if (!entries || entries > BIT(31))
		return -EINVAL;
	if (role == SRNIC_RING_COMP)
		entries = max(entries, RING_COMP_MIN);
	slots = roundup_pow_of_two((size_t)entries + lay->wraps);
	if (slots > BIT(31))
		return -EINVAL;
	if (lay->wraps)
		stride = roundup_pow_of_two(stride);

	err = ring_place(ring, lay, slots, stride);
	if (err)
		return err;

	ring->abi = abi;
	ring->mask = slots - 1;
	ring->wrap = lay->wraps ? ring->mask : U32_MAX;
	ring->room = slots - lay->wraps;
	ring->stride = stride;
	if (abi == SRNIC_ABI_RXE) {
		/* This ABI has producer and consumer: user space consumes completions. */
		if (role == SRNIC_RING_COMP)
			swap(ring->user, ring->kern);
		ring_describe(ring);
	}

	return 0;
}

/*
 * User space may keep the memory mapped after the device has been removed.  From now on it
 * must ring the doorbell, which fails.
 */
void srnic_ring_free(struct srnic_ring *ring)
{
	if (!ring->hdr)
		return;

	WRITE_ONCE(*ring->flags, SRNIC_RING_KICK);
	vfree(ring->hdr);
	ring->hdr = NULL;
}
