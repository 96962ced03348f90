// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - a duplicate is answered with the latest operation executed at its PSN
 *
 * The specification numbers packets modulo 2^24, and requires that the last
 * READs and atomics can be answered again, up to 2^23 PSNs back.  This test
 * executes hundreds of millions of PSNs, and compares with a list of all
 * operations.
 */

#include <linux/kernel.h>
#include <stdlib.h>

#include "rand.h"
#include "tap.h"
#include "wire/opcode.h"
#include "wire/psn.h"
#include "xport/replay.h"

#define WRAP		((u64)SRNIC_PSN_MASK + 1)
#define MTU		256U
#define OPS		4096	/* entries of the list */

static struct srnic_replays table;

static void execute(u64 seq, u32 npsn, u8 family, u64 orig)
{
	const struct srnic_replay what = {
		.seq = seq, .npsn = npsn, .family = family, .orig = orig,
	};

	srnic_replay_add(&table, &what);
}

static u64 answer(u8 family, u64 seq)
{
	const struct srnic_replay *replay = srnic_replay_find(&table, family, seq);

	return replay ? replay->orig : ~0ULL;
}

/* An atomic, 2^24 PSNs of WRITEs, an atomic with the same PSN */
static void test_wrap(void)
{
	srnic_replay_resize(&table, 4);
	execute(0, 1, SRNIC_FAM_ATOMIC, 11);
	tap_check(answer(SRNIC_FAM_ATOMIC, 0) == 11, "an atomic is answered again");
	execute(WRAP, 1, SRNIC_FAM_ATOMIC, 22);
	tap_check(answer(SRNIC_FAM_ATOMIC, WRAP) == 22,
		  "one with the same PSN 2^24 PSNs later is answered by its own value");
	tap_check(answer(SRNIC_FAM_ATOMIC, 2 * WRAP) == ~0ULL,
		  "a WRITE with that PSN yet later has no answer");
	tap_check(answer(SRNIC_FAM_FLUSH, WRAP) == ~0ULL,
		  "an operation of another kind is not answered by it");
	srnic_replay_free(&table);
}

/* Operations executed, the last one at the end, as many as slots */
static struct {
	u64	seq;
	u32	npsn;
	u8	family;
} done[OPS];
static u32 num_done;

static int expected(u8 family, u64 seq, u32 depth)
{
	u32 i;

	for (i = num_done; i-- > 0 && i + depth >= num_done; )
		if (done[i].family == family && seq >= done[i].seq &&
		    seq < done[i].seq + done[i].npsn)
			return i;

	return -1;
}

static void probe(u64 seq, u32 depth)
{
	static const u8 families[] = {
		SRNIC_FAM_READ, SRNIC_FAM_ATOMIC, SRNIC_FAM_FLUSH,
	};
	u8 family = families[rand32() % ARRAY_SIZE(families)];
	int want = expected(family, seq, depth);

	if (answer(family, seq) != (want < 0 ? ~0ULL : (u64)want))
		tap_fault("PSN %llu, family %u: %llu, not %d",
			  seq & SRNIC_PSN_MASK, family, answer(family, seq), want);
}

/* The 2^23 PSNs before @seq are duplicates; tests those that matter. */
static void probe_all(u64 seq, u32 depth)
{
	u32 i;

	for (i = num_done; i-- > 0 && i + depth + 2 >= num_done; ) {
		if (done[i].seq + (WRAP >> 1) < seq)
			break;
		probe(done[i].seq, depth);
		probe(done[i].seq + done[i].npsn - 1, depth);
		probe(done[i].seq + done[i].npsn, depth);
	}
	probe(seq - 1 - rand32() % (WRAP >> 1), depth);
}

static void test_long_run(u32 depth)
{
	u64 seq = WRAP;	/* so that no duplicate precedes the first PSN */

	srnic_replay_resize(&table, depth);
	num_done = 0;
	while (num_done < OPS) {
		bool read = rand32() & 1;

		/* a small or large number of WRITEs in between */
		seq += rand32() % (rand32() & 7 ? 100 : WRAP);
		done[num_done].seq = seq;
		done[num_done].npsn = read ? 1 + rand32() % 0x10000 : 1;
		done[num_done].family = read ? SRNIC_FAM_READ : SRNIC_FAM_ATOMIC;
		execute(seq, done[num_done].npsn, done[num_done].family,
			num_done);
		seq += done[num_done].npsn;
		num_done++;
		probe_all(seq, depth);
	}
	srnic_replay_free(&table);
}

/* A READ of more than three packets, of which parts are requested again */
static void test_covers(void)
{
	static const struct {
		u64	psn;
		u64	off;
		u32	length;
		bool	covered;
	} asks[] = {
		{ 0, 0,       3 * MTU + 9, true },
		{ 0, 0,       1,           true },
		{ 0, 0,       0,           true },
		{ 2, 2 * MTU, MTU + 9,     true },
		{ 3, 3 * MTU, 9,           true },
		{ 0, 0,       3 * MTU + 10, false },
		{ 1, 0,       MTU,         false },
		{ 3, 3 * MTU, 10,          false },
		{ 0, -1ULL,   1,           false },
		{ 0, -1ULL,   8,           false },
		{ 3, 4 * MTU, 1,           false },
		{ 0, -0x1000ULL - MTU, 2 * MTU, false },
	};
	const struct srnic_replay read = {
		.seq = 5, .npsn = 4, .family = SRNIC_FAM_READ, .rkey = 0x77,
		.va = 0x1000, .length = 3 * MTU + 9,
	};
	struct srnic_replay ask = { .seq = 5, .rkey = 0x78, .va = 0x1000 };
	unsigned int i;

	tap_check(!srnic_replay_covers(&read, &ask, MTU),
		  "a READ with another key is not answered");
	for (i = 0; i < ARRAY_SIZE(asks); i++) {
		ask = (struct srnic_replay) {
			.seq = 5 + asks[i].psn, .rkey = 0x77,
			.va = 0x1000 + asks[i].off, .length = asks[i].length,
		};
		if (srnic_replay_covers(&read, &ask, MTU) != asks[i].covered)
			tap_fault("line %u", i);
	}
	tap_done("the rest of a READ can be requested again, and no more");
}

/* With more or fewer slots the youngest operations are kept. */
static void test_resize(void)
{
	static const u32 depths[] = { 3, 7, 4, 1, 5, 128, 2 };
	unsigned int i, kept = 0, k;
	u64 seq = 0;

	for (i = 0; i < ARRAY_SIZE(depths); i++) {
		if (srnic_replay_resize(&table, depths[i]))
			tap_fault("%u slots", depths[i]);
		if (kept > depths[i])
			kept = depths[i];
		for (k = 1; k <= kept; k++)
			if (answer(SRNIC_FAM_ATOMIC, seq - k) != seq - k)
				tap_fault("%u slots: youngest operation but %u",
					  depths[i], k - 1);
		if (answer(SRNIC_FAM_ATOMIC, seq - kept - 1) != ~0ULL)
			tap_fault("%u slots: one too many", depths[i]);
		for (k = 0; k < 2; k++, seq++) {
			execute(seq, 1, SRNIC_FAM_ATOMIC, seq);
			if (kept < depths[i])
				kept++;
		}
	}
	tap_done("the youngest operations are kept if the number of slots changes");
	if (srnic_replay_resize(&table, 0))
		tap_fault("no slots");
	if (srnic_replay_find(&table, SRNIC_FAM_ATOMIC, seq - 1))
		tap_fault("zero slots keep nothing");
	tap_done("the number of slots may be zero");
	srnic_replay_free(&table);
}

static bool is_unread(u64 seq)
{
	return srnic_replay_find(&table, SRNIC_FAM_READ, seq)->unread;
}

/* The READ that was dropped is known until a younger one has its slot. */
static void test_unread(void)
{
	srnic_replay_resize(&table, 2);
	execute(10, 4, SRNIC_FAM_READ, 0);
	execute(14, 4, SRNIC_FAM_READ, 0);
	srnic_replay_unread(&table);
	tap_check(!is_unread(10) && is_unread(14), "the youngest READ was dropped");
	execute(18, 4, SRNIC_FAM_READ, 0);
	tap_check(is_unread(17) && !is_unread(18), "the next one was not");
	srnic_replay_resize(&table, 0);
	srnic_replay_unread(&table);
	tap_check(!srnic_replay_find(&table, SRNIC_FAM_READ, 17), "no slot, no READ");
	srnic_replay_free(&table);
}

int main(void)
{
	test_wrap();
	test_long_run(1);
	test_long_run(3);
	test_long_run(16);
	test_long_run(128);
	tap_done("over many rounds of 2^24 PSNs each answer is the youngest operation's");
	test_covers();
	test_resize();
	test_unread();

	return tap_end();
}
