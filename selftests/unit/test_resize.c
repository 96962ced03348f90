// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - queues work while they are resized, and no entry is lost
 *
 * Concurrent users of a queue run where the resize yields.  It must hold no
 * lock there, so that they are not delayed by all of it.
 */
#include <linux/sched.h>

#include "queue/queue.h"
#include "tap.h"

#define ENTRIES		1024
#define BEFORE_WRAP	0xffffff00U

static struct srnic_rq rq;
static struct srnic_cq cq;
static u32 turns;
static u32 next;

/* A ring in our own ABI */
static int ring_alloc(struct srnic_ring *ring, u32 entries, u32 stride)
{
	return srnic_ring_alloc(ring, SRNIC_ABI_OWN, SRNIC_RING_WORK, entries,
				stride);
}

static void cq_event(struct srnic_cq *of)
{
	(void)of;
}

static void rq_start(void)
{
	u32 i;

	turns = 0;
	next = 0;
	rq.head = BEFORE_WRAP;
	for (i = 0; i < ENTRIES; i++) {
		struct srnic_rqe *rqe = srnic_ring_entry(&rq.ring, rq.head + i);

		*rqe = (struct srnic_rqe) { .wr_id = i };
	}
	*rq.ring.kern = rq.head;
	*rq.ring.user = rq.head + ENTRIES;
}

/* Consumes the next receive. */
static void rq_take(void)
{
	struct srnic_rwqe wqe;

	if (!srnic_rq_fetch(&rq, &wqe) || wqe.wr_id != next)
		tap_fault("receive %u", next);
	next++;
}

static void rq_take_some(void)
{
	if (turns++ < 100)
		rq_take();
}

/* Posts too many receives, all of which are consumed. */
static void rq_lie(void)
{
	struct srnic_rwqe wqe;

	if (turns++)
		return;
	while (srnic_rq_fetch(&rq, &wqe))
		;
	*rq.ring.user += 5;
	while (srnic_rq_fetch(&rq, &wqe))
		;
}

static int rq_to(u32 entries)
{
	struct srnic_ring ring;
	int err;

	if (ring_alloc(&ring, entries, rq.ring.stride))
		return -ENOMEM;
	err = srnic_rq_replace(&rq, &ring);
	srnic_ring_free(&ring);

	return err;
}

static void test_rq(void)
{
	rq_start();
	shim_at_resched = rq_take_some;
	tap_check(!rq_to(2 * ENTRIES), "a receive queue is resized");
	tap_check(turns >= ENTRIES, "the resize of a receive queue yields for each entry");
	shim_at_resched = NULL;
	if (rq.ring.mask != 2 * ENTRIES - 1 || *rq.ring.kern != rq.head)
		tap_fault("the ring");
	while (next < ENTRIES)
		rq_take();
	if (*rq.ring.user != rq.head)
		tap_fault("%u more", *rq.ring.user - rq.head);
	tap_done("receives consumed meanwhile are gone, the others are kept");
}

static void test_rq_lie(void)
{
	struct srnic_rwqe wqe;

	rq_start();
	shim_at_resched = rq_lie;
	tap_check(!rq_to(ENTRIES), "receives posted meanwhile do no harm");
	shim_at_resched = NULL;
	tap_check(!srnic_rq_fetch(&rq, &wqe) &&
		  *rq.ring.user == rq.head && *rq.ring.kern == rq.head,
		  "the queue is empty after that");
}

/* The queue must find that by itself, and report it. */
static void test_rq_impossible(void)
{
	rq_start();
	*rq.ring.user = rq.head + rq.ring.room + 1;
	tap_check(rq_to(2 * ENTRIES) == -EINVAL,
		  "a queue with an impossible index is not resized");
	*rq.ring.user = rq.head;
}

/* Adds completions, at growing intervals. */
static void cq_more(void)
{
	struct srnic_cqe cqe = { .wr_id = next };

	if (turns++ % 2 || next >= ENTRIES)
		return;
	if (srnic_cq_push(&cq, &cqe, false))
		next++;
}

static void test_cq(void)
{
	struct srnic_ring ring;
	u32 i;

	for (next = 0; next < ENTRIES / 2; next++) {
		struct srnic_cqe cqe = { .wr_id = next };

		srnic_cq_push(&cq, &cqe, false);
	}
	turns = 0;
	if (ring_alloc(&ring, 2 * ENTRIES, cq.ring.stride))
		return;
	shim_at_resched = cq_more;
	tap_check(!srnic_cq_replace(&cq, &ring), "a completion queue is resized");
	shim_at_resched = NULL;
	srnic_ring_free(&ring);
	/* All but the last 64 are copied without a lock. */
	tap_check(turns >= next - 64, "the resize of a completion queue yields for each entry");
	for (i = 0; i < next; i++) {
		const struct srnic_cqe *cqe = srnic_ring_entry(&cq.ring, i);

		if (cqe->wr_id != i)
			tap_fault("completion %u", i);
	}
	if (*cq.ring.kern != next || next <= ENTRIES / 2)
		tap_fault("%u of %u", *cq.ring.kern, next);
	tap_done("completions added meanwhile are kept");
}

int main(void)
{
	cq.notify = cq_event;
	cq.later = cq_event;
	cq.overrun = cq_event;
	if (srnic_rq_init(&rq, SRNIC_ABI_OWN, ENTRIES, 1) ||
	    srnic_cq_init(&cq, SRNIC_ABI_OWN, ENTRIES))
		return 1;

	test_rq();
	test_rq_lie();
	test_rq_impossible();
	test_cq();
	srnic_rq_destroy(&rq);
	srnic_cq_destroy(&cq);

	return tap_end();
}
