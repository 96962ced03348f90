// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - rings have the layout and indices of the ABI header
 *
 * Indices run freely modulo 2^32; the entry of an index is index & (entries -
 * 1).
 */

#include "queue/queue.h"
#include "tap.h"

#define ENTRIES		4
#define MAX_SGE		2
#define BEFORE_WRAP	0xfffffffeU

static u32 events;
static u32 laters;
static u32 overruns;

static void cq_event(struct srnic_cq *cq)
{
	(void)cq;
	events++;
}

static void cq_later(struct srnic_cq *cq)
{
	(void)cq;
	laters++;
}

static void cq_overrun(struct srnic_cq *cq)
{
	(void)cq;
	overruns++;
}

/* A ring in our own ABI */
static int ring_alloc(struct srnic_ring *ring, u32 entries, u32 stride)
{
	return srnic_ring_alloc(ring, SRNIC_ABI_OWN, SRNIC_RING_WORK, entries,
				stride);
}

static void test_layout(void)
{
	static const struct {
		u32	asked;
		u32	entries;
	} sizes[] = {
		{ 1, 1 }, { 2, 2 }, { 3, 4 }, { 4, 4 }, { 5, 8 },
		{ 1023, 1024 }, { 1025, 2048 }, { 65536, 65536 },
	};
	struct srnic_ring ring = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		if (ring_alloc(&ring, sizes[i].asked, 96)) {
			tap_fault("no ring of %u entries", sizes[i].asked);
			continue;
		}
		if (ring.mask != sizes[i].entries - 1)
			tap_fault("%u entries became %u", sizes[i].asked,
				  ring.mask + 1);
		if (ring.size < 128 + sizes[i].entries * 96UL)
			tap_fault("%zu bytes are too few", ring.size);
		srnic_ring_free(&ring);
	}
	tap_done("the number of entries is the next power of two");

	tap_check(ring_alloc(&ring, 0, 64) == -EINVAL &&
		  ring_alloc(&ring, 0x80000001, 64) == -EINVAL,
		  "zero entries and more than 2^31 are refused");
	tap_check(ring_alloc(&ring, 0x80000000, 64) == -ENOMEM,
		  "a ring is refused if there is no memory");
}

static void test_entry(void)
{
	struct srnic_ring ring = {};
	char *start;

	if (ring_alloc(&ring, ENTRIES, 96)) {
		tap_check(false, "a ring of four entries");
		return;
	}
	start = (char *)ring.hdr;
	tap_check(srnic_ring_entry(&ring, 0) == start + 128,
		  "the first entry is at offset 128");
	tap_check(srnic_ring_entry(&ring, 3) == start + 128 + 3 * 96,
		  "entries are one stride apart");
	tap_check(srnic_ring_entry(&ring, 4) == start + 128 &&
		  srnic_ring_entry(&ring, 0xffffffff) == start + 128 + 3 * 96 &&
		  srnic_ring_entry(&ring, 0x80000001) == start + 128 + 96,
		  "an index beyond the ring selects an entry inside");
	srnic_ring_free(&ring);
}

/* Posts an empty SEND at @index. */
static void sq_post(struct srnic_sq *sq, u32 index)
{
	struct srnic_sqe *sqe = srnic_ring_entry(&sq->ring, index);

	memset(sqe, 0, sizeof(*sqe));
	sqe->wr_id = index;
	sqe->opcode = IBV_WR_SEND;
	*sq->ring.user = index + 1;
}

static bool sq_fetches(struct srnic_sq *sq, u32 index)
{
	struct srnic_swqe *wqe = srnic_sq_fetch(sq, IBV_QPT_RC);

	return wqe && wqe->sqe.wr_id == index && wqe == srnic_sq_wqe(sq, index);
}

static void sq_start_at(struct srnic_sq *sq, u32 index)
{
	sq->broken = false;
	sq->head = index;
	sq->tail = index;
	*sq->ring.user = index;
	*sq->ring.kern = index;
}

static void test_sq(struct srnic_sq *sq)
{
	struct srnic_ring_hdr *hdr = sq->ring.hdr;
	u32 i;

	tap_check(!srnic_sq_fetch(sq, IBV_QPT_RC), "a new SQ is empty");

	sq_start_at(sq, BEFORE_WRAP);
	for (i = 0; i < ENTRIES; i++)
		sq_post(sq, BEFORE_WRAP + i);
	for (i = 0; i < ENTRIES; i++)
		if (!sq_fetches(sq, BEFORE_WRAP + i))
			tap_fault("0x%x is not next", BEFORE_WRAP + i);
	tap_done("an SQ is fetched in order, across the wrap");
	tap_check(!srnic_sq_fetch(sq, IBV_QPT_RC), "an SQ is not fetched beyond its last entry");

	tap_check(hdr->kern == BEFORE_WRAP,
		  "a fetched entry does not belong to user space yet");
	sq->head++;
	srnic_sq_publish(sq);
	tap_check(hdr->kern == BEFORE_WRAP + 1, "a completed entry belongs to user space");
	sq_post(sq, BEFORE_WRAP + ENTRIES);
	tap_check(sq_fetches(sq, BEFORE_WRAP + ENTRIES), "its slot is used again");
	tap_check(!sq->broken, "none of that breaks an SQ");
	sq_post(sq, BEFORE_WRAP + ENTRIES + 1);
	tap_check(!srnic_sq_fetch(sq, IBV_QPT_RC) && sq->broken,
		  "an entry that overwrites another is not fetched, and breaks the SQ");

	sq_start_at(sq, 100);
	hdr->user = 100 + ENTRIES + 1;
	tap_check(!srnic_sq_fetch(sq, IBV_QPT_RC) && sq->broken,
		  "more entries than an SQ holds cannot be posted");
	sq_post(sq, 100);
	tap_check(!srnic_sq_fetch(sq, IBV_QPT_RC), "a broken SQ stays broken");
	sq_start_at(sq, 100);
	hdr->user = 99;
	tap_check(!srnic_sq_fetch(sq, IBV_QPT_RC) && sq->broken && sq->tail == 100,
		  "entries before those in an SQ cannot be posted");
	sq_start_at(sq, 100);
	sq_post(sq, 100);
	hdr->user = sq_fetches(sq, 100) ? 100 : 0;
	tap_check(!srnic_sq_fetch(sq, IBV_QPT_RC) && sq->broken && sq->tail == 101,
		  "fetched SQ entries cannot be withdrawn");

	srnic_sq_reset(sq);
	sq_post(sq, 0);
	tap_check(hdr->kern == 0 && sq_fetches(sq, 0), "reset starts again at 0");
}

static void rq_post(struct srnic_rq *rq, u32 index)
{
	struct srnic_rqe *rqe = srnic_ring_entry(&rq->ring, index);

	memset(rqe, 0, sizeof(*rqe));
	rqe->wr_id = index;
	*rq->ring.user = index + 1;
}

/* Fetching a receive returns its entry to user space at once. */
static bool rq_fetches(struct srnic_rq *rq, u32 index)
{
	struct srnic_rwqe wqe;

	return srnic_rq_fetch(rq, &wqe) && wqe.wr_id == index &&
	       *rq->ring.kern == index + 1;
}

static void rq_start_at(struct srnic_rq *rq, u32 index)
{
	rq->broken = false;
	rq->head = index;
	*rq->ring.user = index;
	*rq->ring.kern = index;
}

static int breaks;	/* calls of rq_fatal() */

static void rq_fatal(struct srnic_rq *rq)
{
	breaks += rq->broken;
}

static void test_rq_breaks(struct srnic_rq *rq)
{
	struct srnic_ring_hdr *hdr = rq->ring.hdr;
	struct srnic_rwqe wqe;
	struct srnic_rq_info info;

	rq->fatal = rq_fatal;
	rq_start_at(rq, 100);
	hdr->user = 100 + ENTRIES + 1;
	srnic_rq_query(rq, &info);
	tap_check(!info.broken && !info.posted && !breaks, "only a fetch breaks an RQ");
	tap_check(!srnic_rq_fetch(rq, &wqe) && srnic_rq_is_broken(rq) && breaks == 1,
		  "more entries than an RQ holds cannot be posted");
	rq_post(rq, 100);
	srnic_rq_query(rq, &info);
	tap_check(!srnic_rq_fetch(rq, &wqe) && breaks == 1 && info.broken && !info.posted,
		  "a broken RQ stays broken, with one notification");
	rq_start_at(rq, 100);
	hdr->user = 99;
	tap_check(!srnic_rq_fetch(rq, &wqe) && rq->head == 100 && breaks == 2,
		  "fetched RQ entries cannot be withdrawn");
}

static void test_rq(struct srnic_rq *rq)
{
	struct srnic_ring_hdr *hdr = rq->ring.hdr;
	struct srnic_rwqe wqe;
	u32 i;

	tap_check(!srnic_rq_fetch(rq, &wqe), "a new RQ is empty");

	rq_start_at(rq, BEFORE_WRAP);
	for (i = 0; i < ENTRIES; i++)
		rq_post(rq, BEFORE_WRAP + i);
	for (i = 0; i < ENTRIES; i++)
		if (!rq_fetches(rq, BEFORE_WRAP + i))
			tap_fault("0x%x is not next", BEFORE_WRAP + i);
	tap_done("an RQ is fetched in order, across the wrap");
	tap_check(!srnic_rq_fetch(rq, &wqe), "an RQ is not fetched beyond its last entry");

	tap_check(!srnic_rq_is_broken(rq), "none of that breaks an RQ");
	test_rq_breaks(rq);

	srnic_rq_want_kick(rq, true);
	tap_check(hdr->flags == SRNIC_RING_KICK, "the doorbell is requested");
	srnic_rq_want_kick(rq, false);
	tap_check(hdr->flags == 0, "the doorbell is not requested");

	srnic_rq_want_kick(rq, true);
	srnic_rq_reset(rq);
	rq_post(rq, 0);
	tap_check(!hdr->flags && rq_fetches(rq, 0), "reset starts again at 0");
}

static bool cq_push(struct srnic_cq *cq, u64 wr_id)
{
	struct srnic_cqe cqe = {
		.wr_id = wr_id, .status = IBV_WC_SUCCESS, .qpn = wr_id,
		.opcode = wr_id & 1 ? IBV_WC_RECV : IBV_WC_SEND,
	};

	return srnic_cq_push(cq, &cqe, false);
}

static void test_cq(struct srnic_cq *cq)
{
	struct srnic_ring_hdr *hdr = cq->ring.hdr;
	struct srnic_cqe *cqe;
	u64 last = 0;
	u32 i;

	cq->prod = BEFORE_WRAP;
	hdr->user = BEFORE_WRAP;
	for (i = BEFORE_WRAP; i != BEFORE_WRAP + ENTRIES; i++) {
		if (!cq_push(cq, i) || hdr->kern != i + 1)
			tap_fault("0x%x is not written", i);
		cqe = srnic_ring_entry(&cq->ring, i);
		if (cqe->wr_id != i || cqe->timestamp < last)
			tap_fault("0x%x is not as written", i);
		last = cqe->timestamp;
	}
	tap_done("completions are in order, across the wrap");

	hdr->user = BEFORE_WRAP + 1;
	tap_check(cq_push(cq, 42) && !overruns && !hdr->flags,
		  "each completion that is read makes room for another");
	tap_check(!cq_push(cq, 43) && hdr->kern == BEFORE_WRAP + 5,
		  "a completion without room is not written");
	tap_check(overruns == 1 && hdr->flags == SRNIC_RING_OVERRUN,
		  "both sides are notified of the overrun");
	hdr->user = hdr->kern;
	tap_check(!cq_push(cq, 44) && overruns == 1,
		  "a CQ that lost a completion takes no more, with one notification");
	tap_check(cq->loss.qpn == 43 && cq->loss.recv && cq->loss.time && !cq->loss.index,
		  "the first completion that was lost is remembered");
}

static void test_cq_nonsense(struct srnic_cq *cq)
{
	*cq->ring.user = 1;
	tap_check(!cq_push(cq, 1) && *cq->ring.kern == 0,
		  "a CQ with an invalid user index takes nothing");
}

static void test_cq_arm(struct srnic_cq *cq)
{
	static const struct {
		u32	arm;
		bool	solicited;
		u8	status;
		bool	event;
	} rows[] = {
		{ 0,			    true,  IBV_WC_SUCCESS,	    false },
		{ SRNIC_CQ_ARM_NEXT,	    false, IBV_WC_SUCCESS,	    true },
		{ SRNIC_CQ_ARM_NEXT,	    true,  IBV_WC_SUCCESS,	    true },
		{ SRNIC_CQ_ARM_SOLICITED,   false, IBV_WC_SUCCESS,	    false },
		{ SRNIC_CQ_ARM_SOLICITED,   true,  IBV_WC_SUCCESS,	    true },
		{ SRNIC_CQ_ARM_SOLICITED,   false, IBV_WC_WR_FLUSH_ERR,	    true },
		{ SRNIC_CQ_ARM_SOLICITED |
		  SRNIC_CQ_ARM_NEXT,	    false, IBV_WC_SUCCESS,	    true },
		{ 0xfffffffc,		    true,  IBV_WC_GENERAL_ERR,	    false },
	};
	struct srnic_ring_hdr *hdr = cq->ring.hdr;
	struct srnic_cqe cqe = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		events = 0;
		hdr->user = hdr->kern;
		hdr->arm = rows[i].arm;
		cqe.status = rows[i].status;
		if (!srnic_cq_push(cq, &cqe, rows[i].solicited) ||
		    events != rows[i].event)
			tap_fault("row %u: %u events", i, events);
		if (hdr->arm != (rows[i].event ? 0 : rows[i].arm))
			tap_fault("row %u: armed with 0x%x afterwards", i, hdr->arm);
	}
	tap_done("an armed CQ raises one event, for the requested type");
}

/* Moderation delays events, but for a limited time and not in the error state. */
static void test_cq_gather(struct srnic_cq *cq)
{
	const struct srnic_cqe error = { .status = IBV_WC_WR_FLUSH_ERR };
	struct srnic_ring_hdr *hdr = cq->ring.hdr;
	u32 i;

	events = 0;
	laters = 0;
	srnic_cq_moderate(cq, 3);
	for (i = 0; i < 6; i++) {
		if (i % 3 == 0)
			hdr->arm = SRNIC_CQ_ARM_NEXT;
		cq_push(cq, i);
		hdr->user = hdr->kern;
		if (events != (i + 1) / 3 || laters != i / 3 + 1)
			tap_fault("%u: %u events, %u waits", i, events, laters);
	}
	tap_done("three completions share an event");

	cq_push(cq, 6);
	hdr->user = hdr->kern;
	tap_check(events == 2 && laters == 2, "without arming no event is delayed");

	hdr->arm = SRNIC_CQ_ARM_NEXT;
	cq_push(cq, 7);
	srnic_cq_expire(cq);
	srnic_cq_expire(cq);
	tap_check(events == 3 && laters == 3 && !hdr->arm,
		  "the delay ends with one event");

	hdr->user = hdr->kern;
	hdr->arm = SRNIC_CQ_ARM_SOLICITED;
	srnic_cq_push(cq, &error, false);
	tap_check(events == 4 && laters == 3, "an error is not delayed");

	hdr->arm = SRNIC_CQ_ARM_NEXT;
	cq_push(cq, 8);
	srnic_cq_moderate(cq, 0);
	tap_check(events == 5, "nothing is delayed without moderation");

	srnic_cq_moderate(cq, ~0U);
	hdr->user = hdr->kern - 2;
	hdr->arm = SRNIC_CQ_ARM_NEXT;
	cq_push(cq, 9);
	i = events;
	cq_push(cq, 10);
	tap_check(i == 5 && events == 6, "a full queue is not delayed");
}

static void test_cq_lossy(struct srnic_cq *cq)
{
	u32 i;

	overruns = 0;
	cq->lossy = true;
	for (i = 0; i < ENTRIES + 3; i++)
		if (!cq_push(cq, i))
			tap_fault("%u is an error", i);
	tap_check(!overruns && *cq->ring.kern == ENTRIES &&
		  !*cq->ring.flags, "an overrun may be ignored");
	*cq->ring.user = 1;
	tap_check(cq_push(cq, i) && *cq->ring.kern == ENTRIES + 1,
		  "completions are written as far as there is room");
}

/* Replaces the ring by one of @entries, and frees the old one. */
static int cq_to(struct srnic_cq *cq, u32 entries)
{
	struct srnic_ring ring;
	int err;

	if (ring_alloc(&ring, entries, cq->ring.stride))
		return -ENOMEM;
	err = srnic_cq_replace(cq, &ring);
	srnic_ring_free(&ring);

	return err;
}

static void test_cq_replace(struct srnic_cq *cq)
{
	static const u32 sizes[] = { 8, 4, 64, 4, 16 };
	u32 i, k, first = BEFORE_WRAP;
	struct srnic_cqe *cqe;

	cq->prod = first;
	*cq->ring.user = first;
	for (i = 0; i < 3; i++)
		cq_push(cq, first + i);
	*cq->ring.arm = SRNIC_CQ_ARM_NEXT;
	for (k = 0; k < ARRAY_SIZE(sizes); k++) {
		if (cq_to(cq, sizes[k]) || cq->ring.mask != sizes[k] - 1)
			tap_fault("%u entries", sizes[k]);
		if (*cq->ring.user != first ||
		    *cq->ring.kern != first + 3 ||
		    *cq->ring.arm != SRNIC_CQ_ARM_NEXT)
			tap_fault("%u entries: indices", sizes[k]);
		for (i = first; i != first + 3; i++) {
			cqe = srnic_ring_entry(&cq->ring, i);
			if (cqe->wr_id != i)
				tap_fault("%u entries: 0x%x", sizes[k], i);
		}
		*cq->ring.user = ++first;
		events = 0;
		cq_push(cq, first + 2);
		if (events != 1)
			tap_fault("%u entries: %u events", sizes[k], events);
		*cq->ring.arm = SRNIC_CQ_ARM_NEXT;
	}
	tap_done("a ring is replaced by larger and smaller ones");

	tap_check(cq_to(cq, 2) == -EINVAL && cq->ring.mask == 15,
		  "a ring that is too small does not replace it");
	*cq->ring.user = first + 100;
	tap_check(cq_to(cq, 64) == -EINVAL,
		  "it is not replaced with an invalid user index");
}

int main(void)
{
	struct srnic_cq cq = {
		.notify = cq_event,
		.later = cq_later,
		.overrun = cq_overrun,
	};
	struct srnic_sq sq = {};
	struct srnic_rq rq = {};

	test_layout();
	test_entry();

	if (!srnic_sq_init(&sq, SRNIC_ABI_OWN, ENTRIES, MAX_SGE, 0)) {
		test_sq(&sq);
		srnic_sq_destroy(&sq);
	}
	if (!srnic_rq_init(&rq, SRNIC_ABI_OWN, ENTRIES, MAX_SGE)) {
		test_rq(&rq);
		srnic_rq_destroy(&rq);
	}
	if (!srnic_cq_init(&cq, SRNIC_ABI_OWN, ENTRIES)) {
		test_cq(&cq);
		srnic_cq_destroy(&cq);
	}
	if (!srnic_cq_init(&cq, SRNIC_ABI_OWN, ENTRIES)) {
		test_cq_nonsense(&cq);
		srnic_cq_destroy(&cq);
	}
	if (!srnic_cq_init(&cq, SRNIC_ABI_OWN, ENTRIES)) {
		test_cq_arm(&cq);
		srnic_cq_destroy(&cq);
	}
	if (!srnic_cq_init(&cq, SRNIC_ABI_OWN, ENTRIES)) {
		test_cq_gather(&cq);
		srnic_cq_destroy(&cq);
	}
	if (!srnic_cq_init(&cq, SRNIC_ABI_OWN, ENTRIES)) {
		test_cq_lossy(&cq);
		srnic_cq_destroy(&cq);
	}
	if (!srnic_cq_init(&cq, SRNIC_ABI_OWN, ENTRIES)) {
		test_cq_replace(&cq);
		srnic_cq_destroy(&cq);
	}

	return tap_end();
}
