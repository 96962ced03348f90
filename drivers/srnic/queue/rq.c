// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - receive queue: the only reader of receive WQEs
 */
#include <linux/minmax.h>
#include <linux/sched.h>

#include "queue.h"
#include "rxe.h"

int srnic_rq_init(struct srnic_rq *rq, enum srnic_abi abi, u32 entries,
		  u32 max_sge)
{
	u32 head = abi == SRNIC_ABI_RXE ? SRNIC_RXE_RQE_BYTES :
					  sizeof(struct srnic_rqe);

	spin_lock_init(&rq->lock);
	rq->max_sge = max_sge;
	rq->head = 0;
	rq->limit = 0;
	rq->broken = false;

	return srnic_ring_alloc(&rq->ring, abi, SRNIC_RING_WORK, entries,
				head + max_sge * sizeof(struct srnic_sge));
}

void srnic_rq_destroy(struct srnic_rq *rq)
{
	struct srnic_ring ring;

	if (!rq->ring.hdr)
		return;

	/* srnic_rq_query() may run concurrently. */
	spin_lock_bh(&rq->lock);
	ring = rq->ring;
	rq->ring.hdr = NULL;
	spin_unlock_bh(&rq->lock);

	srnic_ring_free(&ring);
}

void srnic_rq_reset(struct srnic_rq *rq)
{
	spin_lock_bh(&rq->lock);
	rq->head = 0;
	WRITE_ONCE(rq->broken, false);
	WRITE_ONCE(*rq->ring.user, 0);
	WRITE_ONCE(*rq->ring.flags, 0);
	WRITE_ONCE(*rq->ring.kern, 0);
	spin_unlock_bh(&rq->lock);
}

void srnic_rq_want_kick(struct srnic_rq *rq, bool want)
{
	WRITE_ONCE(*rq->ring.flags, want ? SRNIC_RING_KICK : 0);
	smp_mb();	/* store flags before loading user; pairs with posting */
}

/* Copies the entry.  Return: the SGEs behind it, not yet read. */
static const void *rwqe_copy_head(struct srnic_rqe *head,
				  const struct srnic_rqe *slot)
{
	memcpy(head, slot, sizeof(*head));
	barrier();	/* keeps the compiler from reading the slot again */

	return slot + 1;
}

/* Copies entry @slot and validates the copy. */
static void rwqe_copy(const struct srnic_rq *rq, struct srnic_rwqe *wqe,
		      const void *slot)
{
	struct srnic_rqe head;
	const void *sges;
	u32 i;

	sges = rq->ring.abi == SRNIC_ABI_RXE ?
	       srnic_rxe_copy_rqe(&head, slot) : rwqe_copy_head(&head, slot);
	wqe->wr_id = head.wr_id;
	wqe->length = 0;
	wqe->num_sge = 0;
	wqe->status = IB_WC_LOC_QP_OP_ERR;
	if (head.num_sge > rq->max_sge)
		return;

	memcpy(wqe->sge, sges, head.num_sge * sizeof(wqe->sge[0]));
	barrier();
	for (i = 0; i < head.num_sge; i++)
		wqe->length += wqe->sge[i].length;
	wqe->num_sge = head.num_sge;
	wqe->status = IB_WC_SUCCESS;
}

/* Number of posted entries; 0 if the index that user space writes is or was invalid. */
static u32 rq_posted(const struct srnic_rq *rq)
	__must_hold(&rq->lock)
{
	u32 posted;

	lockdep_assert_held(&rq->lock);

	posted = srnic_ring_ahead(&rq->ring, rq->head);

	return posted <= rq->ring.room && !rq->broken ? posted : 0;
}

/* Sets @broken if the index is invalid.  Return: true if @fatal is to be called. */
static bool rq_break(struct srnic_rq *rq)
	__must_hold(&rq->lock)
{
	lockdep_assert_held(&rq->lock);

	if (rq->broken ||
	    srnic_ring_ahead(&rq->ring, rq->head) <= rq->ring.room)
		return false;

	WRITE_ONCE(rq->broken, true);	/* read in srnic_rq_is_broken() */

	return rq->fatal;
}

/* Disarms the limit if fewer entries are @left.  Return: true if @low is to be called. */
static bool rq_disarm(struct srnic_rq *rq, u32 left)
	__must_hold(&rq->lock)
{
	lockdep_assert_held(&rq->lock);

	if (left >= rq->limit)
		return false;

	rq->limit = 0;

	return true;
}

bool srnic_rq_fetch(struct srnic_rq *rq, struct srnic_rwqe *wqe)
{
	bool low, fatal = false;
	u32 posted;

	spin_lock_bh(&rq->lock);
	posted = rq_posted(rq);
	if (posted) {
		rwqe_copy(rq, wqe, srnic_ring_entry(&rq->ring, rq->head));
		srnic_ring_pass(&rq->ring, ++rq->head);
	} else {
		fatal = rq_break(rq);
	}
	low = !rq->broken && rq_disarm(rq, posted ? posted - 1 : 0);
	spin_unlock_bh(&rq->lock);

	if (low)
		rq->low(rq);
	if (fatal)
		rq->fatal(rq);

	return posted;
}

void srnic_rq_arm(struct srnic_rq *rq, u32 limit)
{
	spin_lock_bh(&rq->lock);
	rq->limit = limit;
	spin_unlock_bh(&rq->lock);
}

u32 srnic_rq_limit(struct srnic_rq *rq)
{
	u32 limit;

	spin_lock_bh(&rq->lock);
	limit = rq->limit;
	spin_unlock_bh(&rq->lock);

	return limit;
}

void srnic_rq_query(struct srnic_rq *rq, struct srnic_rq_info *info)
{
	*info = (struct srnic_rq_info) {};
	if (!rq->ring.hdr)
		return;

	spin_lock_bh(&rq->lock);
	if (rq->ring.hdr) {
		info->entries = rq->ring.room;
		info->head = rq->head;
		info->posted = rq_posted(rq);
		info->limit = rq->limit;
		info->broken = rq->broken;
	}
	spin_unlock_bh(&rq->lock);
}

/*
 * Sets *@head to the index of the oldest posted entry, *@end to that after the newest.
 * Return: false if the user's index is invalid, which the next fetch will report.
 */
static bool rq_range(struct srnic_rq *rq, u32 *head, u32 *end)
{
	u32 posted;
	bool sane;

	spin_lock_bh(&rq->lock);
	posted = srnic_ring_ahead(&rq->ring, rq->head);
	sane = posted <= rq->ring.room && !rq->broken;
	*head = rq->head;
	*end = rq->head + posted;
	spin_unlock_bh(&rq->lock);

	return sane;
}

/* Switches to @ring, which already holds the posted entries before @end. */
static void rq_move(struct srnic_rq *rq, struct srnic_ring *ring, u32 end)
	__must_hold(&rq->lock)
{
	lockdep_assert_held(&rq->lock);

	/* Entries posted meanwhile are not moved, but may have been fetched. */
	if ((s32)(end - rq->head) < 0)
		end = rq->head;
	WRITE_ONCE(*ring->kern, rq->head & ring->wrap);
	WRITE_ONCE(*ring->user, end & ring->wrap);
	swap(rq->ring, *ring);
}

int srnic_rq_replace(struct srnic_rq *rq, struct srnic_ring *ring)
{
	u32 idx, end;

	if (!rq_range(rq, &idx, &end) || end - idx > ring->room)
		return -EINVAL;

	/* Fetching continues: entries that are fetched meanwhile are copied needlessly. */
	for (; idx != end; idx++) {
		memcpy(srnic_ring_entry(ring, idx),
		       srnic_ring_entry(&rq->ring, idx), ring->stride);
		cond_resched();
	}

	spin_lock_bh(&rq->lock);
	rq_move(rq, ring, end);
	spin_unlock_bh(&rq->lock);

	return 0;
}
