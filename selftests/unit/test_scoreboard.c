// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - tests of the scoreboard: each function, and random events against a plain list of PSNs
 *
 * Every test starts at several PSNs, so that holes also span the wrap at 2^24.
 */

#include <linux/kernel.h>
#include <string.h>

#include "rand.h"
#include "tap.h"
#include "wire/psn.h"
#include "xport/scoreboard.h"

static struct srnic_scoreboard sb;
static u32 first;	/* PSN of packet 0 */

#define must(holds)							\
	do {								\
		if (!(holds))						\
			tap_fault("first PSN %#x, line %d: %s", first,	\
				  __LINE__, #holds);			\
	} while (0)

/* PSN of packet @i */
static u32 psn(u32 i)
{
	return srnic_psn_add(first, i);
}

static void begin(u32 at)
{
	first = at;
	srnic_scoreboard_clear(&sb, first);
}

/* Packets @i to @end - 1 arrive. */
static struct srnic_scoreboard_news arrive(u32 i, u32 end, u64 now)
{
	return srnic_scoreboard_arrived(&sb, psn(i), end - i, now, now);
}

static void lose_all(void)
{
	while (srnic_scoreboard_lose(&sb, 0, ~0ULL, 0, 0) < sb.num)
		;
}

/* Are the holes in order, not adjacent to others of their kind, and counted correctly? */
static bool is_sound(void)
{
	u32 i, missing = 0, last = 0, in[SRNIC_HOLE_STATES] = {};

	for (i = 0; i < sb.num; i++) {
		const struct srnic_hole *hole = sb.holes + i;

		if (!hole->npsn || (i && srnic_psn_diff(hole->psn, last) < 0))
			return false;
		last = srnic_psn_add(hole->psn, hole->npsn);
		missing += hole->npsn;
		in[hole->state] += hole->npsn;
	}

	return sb.num <= SRNIC_SCOREBOARD_HOLES && missing == sb.missing &&
	       !memcmp(in, sb.in, sizeof(in)) &&
	       (!sb.num || srnic_psn_diff(sb.top, last) >= 0);
}

static u32 num_lost(void)
{
	return sb.in[SRNIC_HOLE_LOST];
}

/* Is hole @i that of the packets @begin to @end - 1, in @state? */
static bool hole_is(u32 i, u32 begin, u32 end, enum srnic_hole_state state)
{
	const struct srnic_hole *hole = sb.holes + i;

	return i < sb.num && hole->psn == psn(begin) && hole->npsn == end - begin &&
	       hole->state == state && is_sound();
}

static void cleared(u32 at)
{
	begin(at);
	arrive(3, 5, 1);
	srnic_scoreboard_clear(&sb, psn(9));
	must(!sb.num && !sb.missing && !num_lost() && sb.top == psn(9));
	must(!srnic_scoreboard_kept(&sb, psn(9)) && !srnic_scoreboard_oldest(&sb, 0));
	must(!sb.in[SRNIC_HOLE_DUE] && srnic_scoreboard_continues(&sb, psn(9)));
}

static void in_order(u32 at)
{
	begin(at);
	must(arrive(0, 7, 1).npsn == 7);
	must(!sb.num && sb.top == psn(7));
	must(!arrive(0, 7, 2).npsn && !arrive(3, 4, 2).npsn);
}

static void ahead(u32 at)
{
	begin(at);
	must(arrive(5, 6, 1).npsn == 1);
	must(hole_is(0, 0, 5, SRNIC_HOLE_NEW) && sb.num == 1 && sb.top == psn(6));
	must(arrive(8, 10, 2).npsn == 2);
	must(hole_is(1, 6, 8, SRNIC_HOLE_NEW) && sb.num == 2 && sb.top == psn(10));
	must(sb.holes[0].at == 1 && sb.holes[1].at == 2);
	/* partly known */
	must(arrive(9, 12, 3).npsn == 2 && sb.num == 2 && sb.top == psn(12));
	must(arrive(7, 13, 3).npsn == 2 && hole_is(1, 6, 7, SRNIC_HOLE_NEW));
}

/* Nothing is known to have arrived between them, so they are one. */
static void ahead_of_nothing(u32 at)
{
	begin(at);
	must(!srnic_scoreboard_arrived(&sb, psn(4), 0, 1, 1).npsn);
	must(hole_is(0, 0, 4, SRNIC_HOLE_NEW) && sb.top == psn(4));
	must(arrive(6, 7, 2).npsn == 1);
	must(hole_is(0, 0, 6, SRNIC_HOLE_NEW) && sb.num == 1 && sb.holes[0].at == 1);
	/* one that is lost already does not grow */
	srnic_scoreboard_arrived(&sb, psn(9), 0, 2, 2);
	lose_all();
	arrive(12, 13, 3);
	must(hole_is(1, 7, 9, SRNIC_HOLE_LOST) && hole_is(2, 9, 12, SRNIC_HOLE_NEW));
	must(sb.holes[2].at == 3 && num_lost() == 8);
}

static void filled(u32 at)
{
	begin(at);
	arrive(10, 11, 1);
	must(arrive(0, 2, 2).npsn == 2 && hole_is(0, 2, 10, SRNIC_HOLE_NEW));
	must(arrive(8, 10, 2).npsn == 2 && hole_is(0, 2, 8, SRNIC_HOLE_NEW));
	must(arrive(4, 6, 2).npsn == 2 && sb.num == 2);
	must(hole_is(0, 2, 4, SRNIC_HOLE_NEW) && hole_is(1, 6, 8, SRNIC_HOLE_NEW));
	must(sb.holes[1].at == 1);
	must(arrive(1, 9, 3).npsn == 4 && !sb.num && !sb.missing && sb.top == psn(11));
}

static void split_keeps_state(u32 at)
{
	begin(at);
	arrive(10, 11, 1);
	lose_all();
	must(num_lost() == 10);
	arrive(4, 6, 2);
	must(hole_is(0, 0, 4, SRNIC_HOLE_LOST) && hole_is(1, 6, 10, SRNIC_HOLE_LOST));
	must(num_lost() == 8);
	srnic_scoreboard_sent(&sb, psn(6), psn(10), 3, false);
	must(hole_is(1, 6, 10, SRNIC_HOLE_SENT) && sb.holes[1].at == 3 && num_lost() == 4);
}

/* One packet of two is missing, until there is no room for another hole. */
static void fill_up(u32 at)
{
	u32 i;

	begin(at);
	for (i = 0; i < SRNIC_SCOREBOARD_HOLES; i++)
		arrive(10 * i + 5, 10 * i + 10, i + 1);
	must(sb.num == SRNIC_SCOREBOARD_HOLES && sb.top == psn(10 * i));
}

static void full(u32 at)
{
	u32 n = SRNIC_SCOREBOARD_HOLES;

	fill_up(at);
	must(!arrive(10 * n + 5, 10 * n + 10, 99).npsn);
	must(sb.num == n && sb.top == psn(10 * n) && is_sound());
	must(arrive(10 * n - 2, 10 * n + 10, 99).npsn == 10 && sb.top == psn(10 * n + 10));
	/* the first hole is filled, which makes room */
	must(arrive(0, 5, 99).npsn == 5 && sb.num == n - 1);
	must(arrive(10 * n + 15, 10 * n + 20, 99).npsn == 5 && sb.num == n && is_sound());
}

/* What lies behind the last hole that fits is forgotten. */
static void full_and_split(u32 at)
{
	u32 n = SRNIC_SCOREBOARD_HOLES;

	fill_up(at);
	must(arrive(2, 3, 99).npsn == 1);
	must(hole_is(0, 0, 2, SRNIC_HOLE_NEW) && hole_is(1, 3, 5, SRNIC_HOLE_NEW));
	must(sb.num == n && sb.top == psn(10 * (n - 1)));
	must(hole_is(n - 1, 10 * (n - 2), 10 * (n - 2) + 5, SRNIC_HOLE_NEW));
}

/* The last hole cannot be split; what has arrived within it is forgotten. */
static void full_at_end(u32 at)
{
	u32 n = SRNIC_SCOREBOARD_HOLES, last = 10 * (n - 1);

	fill_up(at);
	must(!arrive(last + 2, last + 3, 99).npsn);
	must(sb.num == n && sb.top == psn(10 * n));
	must(hole_is(n - 1, last, last + 5, SRNIC_HOLE_NEW));
	must(arrive(last, last + 3, 99).npsn == 3 && hole_is(n - 1, last + 3, last + 5,
							     SRNIC_HOLE_NEW));
	must(arrive(last + 4, last + 5, 99).npsn == 1 && hole_is(n - 1, last + 3, last + 4,
								 SRNIC_HOLE_NEW));
}

static void recalls(u32 at)
{
	u32 n = SRNIC_SCOREBOARD_HOLES;

	fill_up(at);
	must(!srnic_scoreboard_recalls(&sb));
	arrive(10 * n + 5, 10 * n + 10, 99);	/* forgotten */
	must(!srnic_scoreboard_recalls(&sb));
	srnic_scoreboard_advance(&sb, psn(5), 99);
	must(sb.num == n - 1 && srnic_scoreboard_recalls(&sb));
	must(sb.top == psn(10 * n) && arrive(10 * n + 5, 10 * n + 10, 100).npsn == 5);
	must(hole_is(n - 1, 10 * n, 10 * n + 5, SRNIC_HOLE_NEW));
	must(!srnic_scoreboard_recalls(&sb));	/* there is no room for more */
	srnic_scoreboard_advance(&sb, psn(15), 99);
	must(srnic_scoreboard_recalls(&sb));
	srnic_scoreboard_recalled(&sb);
	must(!srnic_scoreboard_recalls(&sb));
}

/* What is behind a hole that was forgotten because another was split is recalled as well. */
static void recalls_split(u32 at)
{
	fill_up(at);
	arrive(2, 3, 99);
	must(!srnic_scoreboard_recalls(&sb));
	srnic_scoreboard_advance(&sb, psn(2), 99);
	must(srnic_scoreboard_recalls(&sb));
	begin(at);
	must(srnic_scoreboard_recalls(&sb));	/* nothing is known yet */
	srnic_scoreboard_recalled(&sb);
	arrive(5, 6, 1);
	must(!srnic_scoreboard_recalls(&sb));
}

static void counts(u32 at)
{
	begin(at);
	arrive(4, 5, 1);
	arrive(8, 9, 1);
	must(!srnic_scoreboard_missing_in(&sb, psn(0), psn(0)));
	must(srnic_scoreboard_missing_in(&sb, psn(0), psn(3)) == 3);
	must(srnic_scoreboard_missing_in(&sb, psn(1), psn(6)) == 4);
	must(srnic_scoreboard_missing_in(&sb, psn(0), psn(9)) == 7);
	srnic_scoreboard_lose_first(&sb);
	must(srnic_scoreboard_lost_in(&sb, psn(2), psn(9)) == 2);
	must(!srnic_scoreboard_lost_in(&sb, psn(4), psn(9)));
}

/* What was forgotten is not in flight, so it must not fill the window. */
static void forgotten(u32 at)
{
	u32 n = SRNIC_SCOREBOARD_HOLES;

	fill_up(at);
	must(!srnic_scoreboard_forgotten(&sb));
	arrive(10 * n + 5, 10 * n + 10, 99);
	must(srnic_scoreboard_forgotten(&sb) == 10);
	arrive(10 * n + 15, 10 * n + 20, 99);
	arrive(10 * n + 7, 10 * n + 8, 99);
	must(srnic_scoreboard_forgotten(&sb) == 20 && sb.top == psn(10 * n));
	arrive(2, 3, 99);	/* splits a hole: the last one is forgotten, too */
	must(srnic_scoreboard_forgotten(&sb) == 30 && sb.top == psn(10 * (n - 1)));
	srnic_scoreboard_advance(&sb, psn(10 * n + 18), 99);
	must(srnic_scoreboard_forgotten(&sb) == 2);
	srnic_scoreboard_advance(&sb, psn(10 * n + 25), 99);
	must(!srnic_scoreboard_forgotten(&sb));
}

/* A range that splits one hole and lies behind the others, which are forgotten by that */
static void full_and_ahead(u32 at)
{
	u32 n = SRNIC_SCOREBOARD_HOLES;

	fill_up(at);
	arrive(2, 10 * n + 50, 99);
	must(is_sound() && hole_is(0, 0, 2, SRNIC_HOLE_NEW) && sb.num == 1);
	must(sb.top == psn(10 * n + 50));
}

static void early(u32 at)
{
	begin(at);
	arrive(4, 5, 1);
	must(!arrive(0, 1, 2).early);		/* was not retransmitted */
	lose_all();
	must(!arrive(1, 2, 3).early);		/* nor was this */
	srnic_scoreboard_sent(&sb, psn(2), psn(4), 10, false);
	must(!srnic_scoreboard_arrived(&sb, psn(2), 1, 10, 20).early);
	must(srnic_scoreboard_arrived(&sb, psn(3), 1, 9, 20).early && !sb.num);
}

/* Retransmitted over some time: how long ago the first of them was, nobody knows. */
static void early_slow(u32 at)
{
	begin(at);
	arrive(4, 5, 1);
	lose_all();
	srnic_scoreboard_sent(&sb, psn(0), psn(4), 10, true);
	must(!srnic_scoreboard_arrived(&sb, psn(3), 1, 9, 20).early);
	srnic_scoreboard_lose(&sb, 0, 40, 10, 10);
	srnic_scoreboard_sent(&sb, psn(0), psn(3), 40, false);
	must(srnic_scoreboard_arrived(&sb, psn(2), 1, 39, 50).early);
}

static void early_by_advance(u32 at)
{
	begin(at);
	arrive(4, 5, 1);
	lose_all();
	srnic_scoreboard_sent(&sb, psn(0), psn(4), 10, false);
	must(!srnic_scoreboard_advance(&sb, psn(2), 10).early);
	must(srnic_scoreboard_advance(&sb, psn(3), 9).early);
}

static void advance(u32 at)
{
	begin(at);
	arrive(4, 6, 1);
	arrive(8, 9, 1);
	must(srnic_scoreboard_advance(&sb, psn(2), 0).npsn == 2);
	must(hole_is(0, 2, 4, SRNIC_HOLE_NEW) && sb.top == psn(9));
	must(srnic_scoreboard_advance(&sb, psn(7), 0).npsn == 3);
	must(hole_is(0, 7, 8, SRNIC_HOLE_NEW));
	must(srnic_scoreboard_advance(&sb, psn(20), 0).npsn == 12);
	must(!sb.num && !sb.missing && sb.top == psn(20));
	must(srnic_scoreboard_advance(&sb, psn(23), 0).npsn == 3 && sb.top == psn(23));
	must(!srnic_scoreboard_advance(&sb, psn(23), 0).npsn && sb.top == psn(23));
}

static void missing(u32 at)
{
	/* nothing is known yet */
	begin(at);
	srnic_scoreboard_missing(&sb, psn(0), 3, 5);
	must(hole_is(0, 0, 3, SRNIC_HOLE_NEW) && sb.top == psn(3) && sb.holes[0].at == 5);
	/* repeated: nothing is new */
	srnic_scoreboard_missing(&sb, psn(0), 7, 6);
	must(hole_is(0, 0, 3, SRNIC_HOLE_NEW) && sb.num == 1 && sb.holes[0].at == 5);

	/* as far as the first hole */
	begin(at);
	arrive(0, 4, 1);
	arrive(8, 9, 1);
	srnic_scoreboard_missing(&sb, psn(2), 10, 5);
	must(hole_is(0, 2, 4, SRNIC_HOLE_NEW) && hole_is(1, 4, 8, SRNIC_HOLE_NEW));
	must(sb.top == psn(9));
}

static void missing_and_full(u32 at)
{
	u32 n = SRNIC_SCOREBOARD_HOLES;

	fill_up(at);
	arrive(0, 5, 99);
	arrive(10 * n + 5, 10 * n + 6, 99);
	must(sb.num == n);
	srnic_scoreboard_missing(&sb, psn(7), 1, 99);
	must(hole_is(0, 7, 8, SRNIC_HOLE_NEW) && hole_is(1, 10, 15, SRNIC_HOLE_NEW));
	must(sb.num == n && sb.top == psn(10 * n));
}

/* The response at una is missing, although its request was kept. */
static void missing_was_due(u32 at)
{
	begin(at);
	srnic_scoreboard_due(&sb, psn(0), 4, 1);
	must(hole_is(0, 0, 4, SRNIC_HOLE_DUE));
	srnic_scoreboard_missing(&sb, psn(0), 1, 5);
	must(hole_is(0, 0, 4, SRNIC_HOLE_NEW) && sb.holes[0].at == 5);
}

static void due(u32 at)
{
	begin(at);
	srnic_scoreboard_due(&sb, psn(4), 4, 1);
	must(sb.in[SRNIC_HOLE_DUE] && sb.num == 2 && sb.top == psn(8));
	must(hole_is(0, 0, 4, SRNIC_HOLE_NEW) && hole_is(1, 4, 8, SRNIC_HOLE_DUE));
	must(sb.missing == 8 && !srnic_scoreboard_kept(&sb, psn(0)));
	/* repeated */
	srnic_scoreboard_due(&sb, psn(4), 4, 2);
	must(sb.num == 2 && hole_is(1, 4, 8, SRNIC_HOLE_DUE));
	/* within another hole, and a part of two */
	srnic_scoreboard_due(&sb, psn(1), 2, 3);
	must(hole_is(0, 0, 1, SRNIC_HOLE_NEW) && hole_is(1, 1, 3, SRNIC_HOLE_DUE));
	must(hole_is(2, 3, 4, SRNIC_HOLE_NEW) && sb.num == 4);
	srnic_scoreboard_due(&sb, psn(0), 8, 4);
	must(hole_is(0, 0, 1, SRNIC_HOLE_DUE) && hole_is(2, 3, 4, SRNIC_HOLE_DUE));
	/* they arrive */
	must(arrive(0, 8, 5).npsn == 8 && !sb.num && !sb.in[SRNIC_HOLE_DUE]);
}

/* Nor is one that has been requested again waited for without end. */
static void due_was_sent(u32 at)
{
	begin(at);
	arrive(4, 5, 1);
	lose_all();
	srnic_scoreboard_sent(&sb, psn(0), psn(4), 2, false);
	srnic_scoreboard_due(&sb, psn(0), 4, 3);
	must(hole_is(0, 0, 4, SRNIC_HOLE_SENT) && sb.holes[0].at == 2);
}

/* A lost hole whose request has been kept after all is not retransmitted. */
static void due_was_lost(u32 at)
{
	begin(at);
	arrive(8, 9, 1);
	lose_all();
	must(num_lost() == 8);
	srnic_scoreboard_due(&sb, psn(2), 4, 2);
	must(num_lost() == 4 && hole_is(1, 2, 6, SRNIC_HOLE_DUE));
	lose_all();
	must(num_lost() == 4 && hole_is(1, 2, 6, SRNIC_HOLE_DUE));
}

static void due_and_full(u32 at)
{
	u32 n = SRNIC_SCOREBOARD_HOLES, last = 10 * (n - 1);

	/* there is no room for another hole behind the last one */
	fill_up(at);
	srnic_scoreboard_due(&sb, psn(10 * n + 2), 3, 99);
	must(!sb.in[SRNIC_HOLE_DUE] && sb.num == n && sb.top == psn(10 * n) && is_sound());
	/* nor within it */
	srnic_scoreboard_due(&sb, psn(last + 2), 1, 99);
	must(sb.num == n && sb.top == psn(10 * n) && is_sound());
	must(hole_is(n - 1, last, last + 5, SRNIC_HOLE_NEW));
	/* three of one */
	srnic_scoreboard_due(&sb, psn(1), 2, 99);
	must(hole_is(0, 0, 1, SRNIC_HOLE_NEW) && hole_is(1, 1, 3, SRNIC_HOLE_DUE));
	must(hole_is(2, 3, 5, SRNIC_HOLE_NEW) && sb.num == n);
	/* the end of the last one: there is no room behind it */
	fill_up(at);
	srnic_scoreboard_due(&sb, psn(last + 3), 2, 99);
	must(hole_is(n - 1, last, last + 3, SRNIC_HOLE_NEW) && sb.top == psn(last + 3));
	/* all */
	srnic_scoreboard_due(&sb, psn(0), 10 * n, 99);
	must(is_sound());
	lose_all();
	must(!num_lost() || sb.holes[sb.num - 1].state == SRNIC_HOLE_LOST);
}

static void overtaken(u32 at)
{
	begin(at);
	srnic_scoreboard_due(&sb, psn(0), 2, 1);
	arrive(4, 5, 1);
	srnic_scoreboard_due(&sb, psn(6), 2, 1);
	lose_all();
	must(hole_is(0, 0, 2, SRNIC_HOLE_DUE) && hole_is(1, 2, 4, SRNIC_HOLE_LOST));
	srnic_scoreboard_overtaken(&sb, psn(4), 9);
	must(hole_is(0, 0, 2, SRNIC_HOLE_NEW) && sb.holes[0].at == 9);
	must(hole_is(1, 2, 4, SRNIC_HOLE_LOST) && num_lost());
	must(sb.in[SRNIC_HOLE_DUE]);
	srnic_scoreboard_overtaken(&sb, psn(8), 10);
	must(!sb.in[SRNIC_HOLE_DUE]);
}

static void lose(u32 at)
{
	begin(at);
	arrive(1, 2, 10);
	arrive(3, 4, 20);
	arrive(5, 6, 30);
	must(srnic_scoreboard_lose(&sb, 0, 34, 25, 0) == sb.num && !num_lost());
	must(srnic_scoreboard_lose(&sb, 0, 45, 25, 0) == 0 && num_lost() == 1);
	must(srnic_scoreboard_lose(&sb, 0, 45, 25, 0) == 1 && num_lost() == 2);
	must(srnic_scoreboard_lose(&sb, 0, 45, 25, 0) == sb.num);
	srnic_scoreboard_sent(&sb, psn(0), psn(3), 40, false);
	must(!num_lost() && hole_is(0, 0, 1, SRNIC_HOLE_SENT) && hole_is(1, 2, 3, SRNIC_HOLE_SENT));
	must(srnic_scoreboard_lose(&sb, 0, 49, 25, 10) == sb.num);
	must(srnic_scoreboard_lose(&sb, 1, 50, 25, 10) == 1 && hole_is(0, 0, 1, SRNIC_HOLE_SENT));
}

/* A line that delivers nothing for long is not flooded with what is missing. */
static void lose_again(u32 at)
{
	u64 now = 10, was;
	u32 i;

	begin(at);
	arrive(1, 2, now);
	must(!srnic_scoreboard_lose(&sb, 0, now, 0, 10));
	for (i = 0; i < 12; i++) {
		srnic_scoreboard_sent(&sb, psn(0), psn(1), now, false);
		for (was = now; srnic_scoreboard_lose(&sb, 0, now, 0, 10) == sb.num; now++)
			;
		must(now - was == 10ULL << min(i, 6U));
	}
}

static void lose_first(u32 at)
{
	begin(at);
	arrive(3, 4, 10);
	arrive(5, 6, 10);
	srnic_scoreboard_lose_first(&sb);
	srnic_scoreboard_lose_first(&sb);
	must(hole_is(0, 0, 3, SRNIC_HOLE_LOST) && hole_is(1, 4, 5, SRNIC_HOLE_NEW));
	must(num_lost() == 3);
}

static void sent(u32 at)
{
	begin(at);
	arrive(4, 5, 1);
	arrive(8, 9, 1);
	arrive(12, 13, 1);
	lose_all();
	srnic_scoreboard_sent(&sb, psn(5), psn(8), 7, false);
	must(hole_is(0, 0, 4, SRNIC_HOLE_LOST) && hole_is(2, 9, 12, SRNIC_HOLE_LOST));
	must(hole_is(1, 5, 8, SRNIC_HOLE_SENT) && sb.holes[1].at == 7 && num_lost() == 7);
}

/* Only a part of a hole has been retransmitted: the rest of it has not. */
static void sent_in_part(u32 at)
{
	begin(at);
	arrive(8, 9, 1);
	lose_all();
	srnic_scoreboard_sent(&sb, psn(0), psn(3), 7, false);
	must(num_lost() == 5 || (num_lost() == 0 && hole_is(0, 0, 8, SRNIC_HOLE_SENT)));
}

static void continues(u32 at)
{
	begin(at);
	must(srnic_scoreboard_continues(&sb, psn(0)) && !srnic_scoreboard_continues(&sb, psn(1)));
	arrive(3, 4, 1);
	must(srnic_scoreboard_continues(&sb, psn(4)) && srnic_scoreboard_continues(&sb, psn(0)));
	must(!srnic_scoreboard_continues(&sb, psn(5)));
	/* all before @top is missing */
	srnic_scoreboard_arrived(&sb, psn(6), 0, 1, 1);
	must(!srnic_scoreboard_continues(&sb, psn(6)));
}

static void oldest(u32 at)
{
	begin(at);
	must(!srnic_scoreboard_oldest(&sb, 0));
	arrive(1, 2, 30);
	arrive(3, 4, 20);
	arrive(5, 6, 40);
	must(srnic_scoreboard_oldest(&sb, 0) == 20 && srnic_scoreboard_oldest(&sb, 2) == 40);
	srnic_scoreboard_lose(&sb, 0, 45, 25, 0);
	must(srnic_scoreboard_oldest(&sb, 0) == 30);
	lose_all();
	must(!srnic_scoreboard_oldest(&sb, 0));
}

static void kept(u32 at)
{
	begin(at);
	must(!srnic_scoreboard_kept(&sb, psn(0)));
	arrive(3, 5, 1);
	must(srnic_scoreboard_kept(&sb, psn(0)) == 2);
	arrive(1, 2, 1);
	must(srnic_scoreboard_kept(&sb, psn(0)) == 3);
	srnic_scoreboard_clear(&sb, psn(0));
	must(!srnic_scoreboard_kept(&sb, psn(7)));	/* all that is known is acknowledged */
}

/* The model: what is known of each packet */
#define MODEL	4096

static bool here[MODEL];
static u32 model_una, model_top;
static bool model_was_full;
static u32 exact, inexact;	/* steps before the list was full, and after */

/*
 * The scoreboard may have forgotten packets once the list was full, but has not imagined any:
 * what is neither in a hole nor behind the top has arrived.
 */
static bool model_agrees(void)
{
	u32 i, h = 0, top = srnic_psn_diff(sb.top, first);

	model_was_full |= sb.num == SRNIC_SCOREBOARD_HOLES;
	if (!is_sound() || top > model_top || top < model_una)
		return false;
	if (!model_was_full && top != model_top)
		return false;
	for (i = model_una; i < top; i++) {
		bool hole;

		while (h < sb.num &&
		       (s32)sb.holes[h].npsn <= srnic_psn_diff(psn(i), sb.holes[h].psn))
			h++;
		hole = h < sb.num && srnic_psn_diff(sb.holes[h].psn, psn(i)) <= 0;
		if (!hole && !here[i])
			return false;
		if (hole && here[i] && !model_was_full)
			return false;
	}

	return !sb.num || srnic_psn_diff(sb.holes[0].psn, psn(model_una)) >= 0;
}

static void model_arrive(u32 i, u32 n, u64 now)
{
	memset(here + i, true, n);
	model_top = max(model_top, i + n);
	srnic_scoreboard_arrived(&sb, psn(i), n, now, now);
}

static void model_advance(u32 una, u64 now)
{
	memset(here, true, una);
	model_una = una;
	model_top = max(model_top, una);
	srnic_scoreboard_advance(&sb, psn(una), now);
}

static void model_step(u64 now, u32 reach)
{
	u32 left = MODEL - model_una, i = model_una + rand32() % min(left, reach);

	switch (rand32() % 8) {
	case 0:
		if (rand32() % 8 == 0)
			model_advance(i, now);
		break;
	case 1:
		srnic_scoreboard_lose(&sb, rand32() % 4, now, rand32() % 8, rand32() % 8);
		break;
	case 2:
		srnic_scoreboard_sent(&sb, psn(i), psn(i + rand32() % 64), now, false);
		break;
	case 3:
		if (rand32() % 4)
			break;
		left = 1 + rand32() % min(16U, MODEL - i);
		srnic_scoreboard_due(&sb, psn(i), left, now);
		model_top = max(model_top, i + left);
		break;
	case 4:
		srnic_scoreboard_overtaken(&sb, psn(i), now);
		break;
	default:
		model_arrive(i, 1 + rand32() % min(4U, MODEL - i), now);
		break;
	}
}

static void model(u64 seed, u32 at)
{
	u32 reach;
	u64 now;

	rand_state = seed;
	begin(at);
	memset(here, false, sizeof(here));
	model_una = 0;
	model_top = 0;
	model_was_full = false;
	reach = 8U << rand32() % 8;
	for (now = 100; now < 1100 && model_una < MODEL - 8; now++) {
		model_step(now, reach);
		if (!model_agrees()) {
			tap_fault("seed %llu, first PSN %#x, step %llu: una %u, top %u, %u holes",
				  (unsigned long long)seed, first, (unsigned long long)now,
				  model_una, model_top, sb.num);
			return;
		}
		exact += !model_was_full;
		inexact += model_was_full;
	}
}

static const struct {
	const char	*sentence;
	void		(*rule)(u32 at);
} rules[] = {
	{ "a cleared scoreboard knows nothing", cleared },
	{ "packets that arrive in order leave no hole", in_order },
	{ "before a packet that arrives ahead is a hole", ahead },
	{ "holes that nothing separates are one, unless one is lost", ahead_of_nothing },
	{ "a hole is filled from both ends and in the middle", filled },
	{ "both parts of a split hole keep its state", split_keeps_state },
	{ "with no room for a hole, what lies behind it is not recorded", full },
	{ "a hole split with no room for both forgets the last one", full_and_split },
	{ "the last hole is not split if there is no room", full_at_end },
	{ "what was forgotten is recalled when there is room", recalls },
	{ "and so is what is behind a hole that was split", recalls_split },
	{ "it counts what is missing within a range", counts },
	{ "what was forgotten is not in flight", forgotten },
	{ "a range that forgets holes and fills them leaves none", full_and_ahead },
	{ "a packet is early if it was retransmitted too recently", early },
	{ "so is one that is acknowledged", early_by_advance },
	{ "not if the packets of the hole were retransmitted over some time", early_slow },
	{ "what is acknowledged is in no hole", advance },
	{ "packets from una on are missing up to the first hole", missing },
	{ "they are a hole even if there is no room for it", missing_and_full },
	{ "a missing response is not due", missing_was_due },
	{ "responses are due where a request was kept", due },
	{ "a request that was kept after all is not lost", due_was_lost },
	{ "one that has been requested again is not due", due_was_sent },
	{ "responses are due as far as there is room", due_and_full },
	{ "a response that is overtaken is not due", overtaken },
	{ "holes are lost after their times, one by one", lose },
	{ "each further time later", lose_again },
	{ "the first hole may be lost at any time", lose_first },
	{ "holes that were retransmitted are not lost", sent },
	{ "a hole that was retransmitted in part is not lost twice", sent_in_part },
	{ "packets continue what has arrived", continues },
	{ "the oldest of the new holes is found", oldest },
	{ "what has arrived is counted", kept },
};

int main(void)
{
	static const u32 starts[] = { 0, 77, 0x7fffff, 0xffffff, 0xfffffc, 0xffffff - 400 };
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(rules); i++) {
		for (k = 0; k < ARRAY_SIZE(starts); k++)
			rules[i].rule(starts[k]);
		tap_done(rules[i].sentence);
	}
	for (i = 1; i <= 1000; i++)
		model(i, starts[i % ARRAY_SIZE(starts)]);
	must(exact > 10000 && inexact > 10000);
	tap_done("random events leave what a list of all packets does");

	return tap_end();
}
