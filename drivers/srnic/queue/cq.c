// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - completions: one producer, and the consumer of those for the kernel
 */
#include <linux/atomic.h>
#include <linux/timekeeping.h>

#include "queue.h"

int srnic_cq_init(struct srnic_cq *cq, u32 entries)
{
	spin_lock_init(&cq->lock);
	spin_lock_init(&cq->poll_lock);
	cq->prod = 0;
	cq->dead = false;

	return srnic_ring_alloc(&cq->ring, entries, sizeof(struct srnic_cqe));
}

void srnic_cq_destroy(struct srnic_cq *cq)
{
	struct srnic_ring ring;

	/* Somebody may be looking. */
	spin_lock_bh(&cq->lock);
	ring = cq->ring;
	cq->ring.hdr = NULL;
	spin_unlock_bh(&cq->lock);

	srnic_ring_free(&ring);
}

void srnic_cq_look(struct srnic_cq *cq, struct srnic_cq_info *info)
{
	*info = (struct srnic_cq_info) {};

	spin_lock_bh(&cq->lock);
	if (cq->ring.hdr) {
		info->entries = cq->ring.mask + 1;
		info->prod = cq->prod;
		info->cons = READ_ONCE(cq->ring.hdr->user);
		info->arm = READ_ONCE(cq->ring.hdr->arm);
		info->dead = cq->dead;
	}
	spin_unlock_bh(&cq->lock);
}

/* Writes @cqe behind the others; false if there is no room. */
static bool cq_write(struct srnic_cq *cq, const struct srnic_cqe *cqe)
{
	struct srnic_ring_hdr *hdr = cq->ring.hdr;
	struct srnic_cqe *slot = srnic_ring_entry(&cq->ring, cq->prod);

	lockdep_assert_held(&cq->lock);

	/* Pairs with the provider's release: entries before it were read. */
	if (cq->prod - smp_load_acquire(&hdr->user) > cq->ring.mask)
		return false;

	memcpy(slot, cqe, sizeof(*slot));
	slot->timestamp = ktime_get_raw_ns();
	/* Pairs with the provider's acquire: the entry is whole. */
	smp_store_release(&hdr->kern, ++cq->prod);

	return true;
}

/* Takes the request for an event that this completion satisfies. */
static bool cq_disarm(struct srnic_cq *cq, bool solicited)
{
	u32 match = SRNIC_CQ_ARM_NEXT | (solicited ? SRNIC_CQ_ARM_SOLICITED : 0);
	struct srnic_ring_hdr *hdr = cq->ring.hdr;

	smp_mb();	/* kern is visible before arm is read; pairs with arming */
	if (!(READ_ONCE(hdr->arm) & match))
		return false;

	return xchg(&hdr->arm, 0) & match;
}

bool srnic_cq_push(struct srnic_cq *cq, const struct srnic_cqe *cqe,
		   bool solicited)
{
	bool first_loss = false;
	bool ok;

	spin_lock_bh(&cq->lock);
	ok = !cq->dead && cq_write(cq, cqe);
	if (!ok && !cq->dead) {
		cq->dead = true;
		first_loss = true;
		WRITE_ONCE(cq->ring.hdr->flags, SRNIC_RING_OVERRUN);
	}
	spin_unlock_bh(&cq->lock);

	if (first_loss)
		cq->overrun(cq);
	if (ok && cq_disarm(cq, solicited || cqe->status != IB_WC_SUCCESS))
		cq->notify(cq);

	return ok;
}

bool srnic_cq_pop(struct srnic_cq *cq, struct srnic_cqe *cqe)
{
	struct srnic_ring_hdr *hdr = cq->ring.hdr;
	unsigned long flags;
	bool found;

	spin_lock_irqsave(&cq->poll_lock, flags);
	/* Pairs with the release in cq_write(): the entry is whole. */
	found = smp_load_acquire(&hdr->kern) != hdr->user;
	if (found) {
		*cqe = *(struct srnic_cqe *)srnic_ring_entry(&cq->ring,
							     hdr->user);
		/* Pairs with the acquire in cq_write(): it was read. */
		smp_store_release(&hdr->user, hdr->user + 1);
	}
	spin_unlock_irqrestore(&cq->poll_lock, flags);

	return found;
}

bool srnic_cq_arm(struct srnic_cq *cq, bool solicited)
{
	struct srnic_ring_hdr *hdr = cq->ring.hdr;

	/* Fully ordered: visible before kern is read; see cq_disarm(). */
	atomic_fetch_or(solicited ? SRNIC_CQ_ARM_SOLICITED : SRNIC_CQ_ARM_NEXT,
			(atomic_t *)&hdr->arm);

	return READ_ONCE(hdr->kern) != READ_ONCE(hdr->user);
}
