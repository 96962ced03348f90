// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - queues work while they are resized, and no entry is lost
 *
 * Those who use a queue meanwhile are played where the resize gives way: it
 * must hold no lock there, or they would be kept waiting for all of it.
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
	rq.ring.hdr->kern = rq.head;
	rq.ring.hdr->user = rq.head + ENTRIES;
}

/* Takes the receive whose turn it is. */
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

/* Claims to have posted more, which all of are taken. */
static void rq_lie(void)
{
	struct srnic_rwqe wqe;

	if (turns++)
		return;
	while (srnic_rq_fetch(&rq, &wqe))
		;
	rq.ring.hdr->user += 5;
	while (srnic_rq_fetch(&rq, &wqe))
		;
}

static int rq_to(u32 entries)
{
	struct srnic_ring ring;
	int err;

	if (srnic_ring_alloc(&ring, entries, rq.ring.stride))
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
	tap_check(turns >= ENTRIES, "and gives way for each entry");
	shim_at_resched = NULL;
	if (rq.ring.mask != 2 * ENTRIES - 1 || rq.ring.hdr->kern != rq.head)
		tap_fault("the ring");
	while (next < ENTRIES)
		rq_take();
	if (rq.ring.hdr->user != rq.head)
		tap_fault("%u more", rq.ring.hdr->user - rq.head);
	tap_done("receives taken meanwhile are gone, the others are there");
}

static void test_rq_lie(void)
{
	struct srnic_rwqe wqe;

	rq_start();
	shim_at_resched = rq_lie;
	tap_check(!rq_to(ENTRIES), "what is posted meanwhile does no harm");
	shim_at_resched = NULL;
	tap_check(!srnic_rq_fetch(&rq, &wqe) &&
		  rq.ring.hdr->user == rq.head && rq.ring.hdr->kern == rq.head,
		  "and the queue is empty");
}

/* Completes something, ever more seldom. */
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
	if (srnic_ring_alloc(&ring, 2 * ENTRIES, cq.ring.stride))
		return;
	shim_at_resched = cq_more;
	tap_check(!srnic_cq_replace(&cq, &ring), "a completion queue is resized");
	shim_at_resched = NULL;
	srnic_ring_free(&ring);
	/* All but the last 64 are copied with nothing locked. */
	tap_check(turns >= next - 64, "and gives way for each entry");
	for (i = 0; i < next; i++) {
		const struct srnic_cqe *cqe = srnic_ring_entry(&cq.ring, i);

		if (cqe->wr_id != i)
			tap_fault("completion %u", i);
	}
	if (cq.ring.hdr->kern != next || next <= ENTRIES / 2)
		tap_fault("%u of %u", cq.ring.hdr->kern, next);
	tap_done("completions made meanwhile are there, too");
}

int main(void)
{
	cq.notify = cq_event;
	cq.later = cq_event;
	cq.overrun = cq_event;
	if (srnic_rq_init(&rq, ENTRIES, 1) || srnic_cq_init(&cq, ENTRIES))
		return 1;

	test_rq();
	test_rq_lie();
	test_cq();
	srnic_rq_destroy(&rq);
	srnic_cq_destroy(&cq);

	return tap_end();
}
