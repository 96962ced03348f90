// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - completion queues: the producer, and the in-kernel consumer
 */
#include <linux/atomic.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>

#include "queue.h"
#include "rxe.h"

int srnic_cq_init(struct srnic_cq *cq, enum srnic_abi abi, u32 entries)
{
	spin_lock_init(&cq->lock);
	spin_lock_init(&cq->poll_lock);
	cq->prod = 0;
	cq->dead = false;
	cq->loss = (struct srnic_cq_loss) {};
	cq->lossy = false;
	cq->gather = 0;
	cq->gathered = 0;

	return srnic_ring_alloc(&cq->ring, abi, SRNIC_RING_COMP, entries,
				sizeof(struct srnic_cqe));
}

void srnic_cq_destroy(struct srnic_cq *cq)
{
	struct srnic_ring ring;

	/* srnic_cq_fill_attrs() may run concurrently. */
	spin_lock_bh(&cq->lock);
	ring = cq->ring;
	cq->ring.hdr = NULL;
	spin_unlock_bh(&cq->lock);

	srnic_ring_free(&ring);
}

/* @arm is written by user space and may have any value. */
static const char *cq_arm_word(u32 arm)
{
	if (arm & SRNIC_CQ_ARM_NEXT)
		return "next";

	return arm & SRNIC_CQ_ARM_SOLICITED ? "solicited" : "none";
}

/* Adds the attributes of the first completion that the CQ lost. */
static void cq_fill_loss(const struct srnic_cq *cq, struct srnic_res_attrs *attrs)
{
	if (!cq->dead)
		return;

	srnic_res_add_u32(attrs, "overrun_qpn", cq->loss.qpn);
	srnic_res_add_string(attrs, "overrun_of", srnic_cq_loss_of(&cq->loss));
	srnic_res_add_string(attrs, "overrun_why", srnic_cq_loss_why(&cq->loss));
	srnic_res_add_u64(attrs, "overrun_time", cq->loss.time);
}

void srnic_cq_fill_attrs(struct srnic_cq *cq, struct srnic_res_attrs *attrs)
{
	const struct srnic_ring *ring = &cq->ring;

	spin_lock_bh(&cq->lock);
	if (ring->hdr) {
		srnic_res_add_u32(attrs, "entries", ring->room);
		srnic_res_add_u32(attrs, "prod", cq->prod);
		srnic_res_add_u32(attrs, "cons", READ_ONCE(*ring->user));
		srnic_res_add_string(attrs, "armed",
				     cq_arm_word(READ_ONCE(*ring->arm)));
		srnic_res_add_u32(attrs, "overrun", cq->dead);
		cq_fill_loss(cq, attrs);
	}
	spin_unlock_bh(&cq->lock);
}

static void cq_put(struct srnic_cqe *slot, const struct srnic_cqe *cqe)
{
	memcpy(slot, cqe, sizeof(*slot));
	slot->timestamp = ktime_get_raw_ns();
}

/* Appends @cqe.  Return: false if the ring is full, or the user's index is invalid. */
static bool cq_write(struct srnic_cq *cq, const struct srnic_cqe *cqe)
	__must_hold(&cq->lock)
{
	void *slot = srnic_ring_entry(&cq->ring, cq->prod);

	lockdep_assert_held(&cq->lock);

	if (srnic_ring_behind(&cq->ring, cq->prod) >= cq->ring.room)
		return false;

	if (cq->ring.abi == SRNIC_ABI_RXE)
		srnic_rxe_put_cqe(slot, cqe);
	else
		cq_put(slot, cqe);
	/* read in cq_is_loaded() */
	WRITE_ONCE(cq->prod, cq->prod + 1);
	srnic_ring_pass(&cq->ring, cq->prod);

	return true;
}

/* What a producer has to do after dropping the lock */
enum cq_todo {
	CQ_NOTHING,
	CQ_NOTIFY,
	CQ_LATER,
	CQ_OVERRUN,
};

static void cq_do(struct srnic_cq *cq, enum cq_todo todo)
{
	switch (todo) {
	case CQ_NOTHING:
		break;
	case CQ_NOTIFY:
		cq->notify(cq);
		break;
	case CQ_LATER:
		cq->later(cq);
		break;
	case CQ_OVERRUN:
		cq->overrun(cq);
		break;
	}
}

/* Consumes the requests for an event and resets moderation. */
static enum cq_todo cq_disarm(struct srnic_cq *cq)
	__must_hold(&cq->lock)
{
	lockdep_assert_held(&cq->lock);

	cq->gathered = 0;

	return xchg(cq->ring.arm, 0) ? CQ_NOTIFY : CQ_NOTHING;
}

/* May the event of one more completion be deferred? */
static bool cq_may_wait(const struct srnic_cq *cq)
{
	/* A full ring cannot wait for another completion. */
	return cq->gathered + 1 < cq->gather &&
	       srnic_ring_behind(&cq->ring, cq->prod) < cq->ring.room;
}

/* Decides whether the completion just written raises an event, now or later. */
static enum cq_todo cq_signal(struct srnic_cq *cq, bool solicited, bool error)
	__must_hold(&cq->lock)
{
	u32 match = SRNIC_CQ_ARM_NEXT;

	lockdep_assert_held(&cq->lock);

	if (solicited || error)
		match |= SRNIC_CQ_ARM_SOLICITED;

	smp_mb();	/* store kern before loading arm; pairs with arming */
	if (!(READ_ONCE(*cq->ring.arm) & match))
		return CQ_NOTHING;
	if (error || !cq_may_wait(cq))
		return cq_disarm(cq);

	return cq->gathered++ ? CQ_NOTHING : CQ_LATER;
}

/* @cqe did not fit.  Only the first loss is reported. */
static enum cq_todo cq_lose(struct srnic_cq *cq, const struct srnic_cqe *cqe)
	__must_hold(&cq->lock)
{
	lockdep_assert_held(&cq->lock);

	if (cq->dead || cq->lossy)
		return CQ_NOTHING;
	cq->dead = true;
	cq->loss = (struct srnic_cq_loss) {
		.time	= ktime_get_real_ns(),
		.qpn	= cqe->qpn,
		.recv	= cqe->opcode & IB_WC_RECV,
		.index	= srnic_ring_behind(&cq->ring, cq->prod) > cq->ring.room,
	};
	WRITE_ONCE(*cq->ring.flags, SRNIC_RING_OVERRUN);

	return CQ_OVERRUN;
}

bool srnic_cq_push(struct srnic_cq *cq, const struct srnic_cqe *cqe,
		   bool solicited)
{
	enum cq_todo todo;
	bool ok;

	spin_lock_bh(&cq->lock);
	ok = !cq->dead && cq_write(cq, cqe);
	if (ok)
		todo = cq_signal(cq, solicited, cqe->status != IB_WC_SUCCESS);
	else
		todo = cq_lose(cq, cqe);
	ok |= cq->lossy;
	spin_unlock_bh(&cq->lock);

	cq_do(cq, todo);

	return ok;
}

void srnic_cq_expire(struct srnic_cq *cq)
{
	enum cq_todo todo = CQ_NOTHING;

	spin_lock_bh(&cq->lock);
	if (cq->gathered)
		todo = cq_disarm(cq);
	spin_unlock_bh(&cq->lock);

	cq_do(cq, todo);
}

void srnic_cq_moderate(struct srnic_cq *cq, u32 gather)
{
	spin_lock_bh(&cq->lock);
	cq->gather = gather;
	spin_unlock_bh(&cq->lock);

	srnic_cq_expire(cq);
}

/* Most completions copied to another ring with the lock held */
#define CQ_MOVE_LOCKED	64

static void cq_copy(const struct srnic_cq *cq, const struct srnic_ring *ring,
		    u32 idx)
{
	memcpy(srnic_ring_entry(ring, idx), srnic_ring_entry(&cq->ring, idx),
	       ring->stride);
}

static u32 cq_prod(struct srnic_cq *cq)
{
	u32 prod;

	spin_lock_bh(&cq->lock);
	prod = cq->prod;
	spin_unlock_bh(&cq->lock);

	return prod;
}

/*
 * Switches to @ring, which already holds the completions from @user to @end and has
 * room for @room of them.  Return: 0, -EINVAL if they do not fit, or -EAGAIN if too
 * many were added since to be copied under the lock.
 */
static int cq_move(struct srnic_cq *cq, struct srnic_ring *ring, u32 user,
		   u32 end, u32 room)
	__must_hold(&cq->lock)
{
	lockdep_assert_held(&cq->lock);

	if (cq->prod - user > room)
		return -EINVAL;
	if (cq->prod - end > CQ_MOVE_LOCKED)
		return -EAGAIN;

	for (; end != cq->prod; end++)
		cq_copy(cq, ring, end);
	*ring->user = user & ring->wrap;
	*ring->kern = cq->prod & ring->wrap;
	*ring->arm = xchg(cq->ring.arm, 0);
	*ring->flags = cq->dead ? SRNIC_RING_OVERRUN : 0;
	swap(cq->ring, *ring);

	return 0;
}

int srnic_cq_replace(struct srnic_cq *cq, struct srnic_ring *ring)
{
	u32 room = min(cq->ring.room, ring->room);
	u32 prod, user, idx;
	int err;

	prod = cq_prod(cq);
	/* Read the user-writable index only once; all checks below rely on it. */
	user = prod - srnic_ring_behind(&cq->ring, prod);
	if (prod - user > room)
		return -EINVAL;

	/*
	 * Written entries do not change, so they are copied without the lock,
	 * then those added meanwhile; @room bounds the total.
	 */
	idx = user;
	do {
		for (; idx != prod; idx++) {
			cq_copy(cq, ring, idx);
			cond_resched();
		}

		spin_lock_bh(&cq->lock);
		prod = cq->prod;
		err = cq_move(cq, ring, user, idx, room);
		spin_unlock_bh(&cq->lock);
	} while (err == -EAGAIN);

	return err;
}

bool srnic_cq_pop(struct srnic_cq *cq, struct srnic_cqe *cqe)
{
	const struct srnic_ring *ring = &cq->ring;
	unsigned long flags;
	bool found;

	spin_lock_irqsave(&cq->poll_lock, flags);
	/* Pairs with the release in cq_write(): the entry is complete. */
	found = smp_load_acquire(ring->kern) != *ring->user;
	if (found) {
		*cqe = *(struct srnic_cqe *)srnic_ring_entry(ring, *ring->user);
		/* Pairs with the acquire in cq_write(): it has been read. */
		smp_store_release(ring->user, *ring->user + 1);
	}
	spin_unlock_irqrestore(&cq->poll_lock, flags);

	return found;
}

bool srnic_cq_arm(struct srnic_cq *cq, bool solicited)
{
	const struct srnic_ring *ring = &cq->ring;

	/* Fully ordered: arm is visible before kern is read; see cq_signal(). */
	atomic_fetch_or(solicited ? SRNIC_CQ_ARM_SOLICITED : SRNIC_CQ_ARM_NEXT,
			(atomic_t *)ring->arm);

	return READ_ONCE(*ring->kern) != READ_ONCE(*ring->user);
}
