// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - the list of requests that were kept is true, and complete unless ranges are many
 *
 * A bitmap of all PSNs is the model: what is listed must be in it, and must be all of it as
 * long as there were never more ranges than the list holds.
 */

#include <stdlib.h>
#include <string.h>

#include "rand.h"
#include "tap.h"
#include "wire/psn.h"
#include "xport/kept.h"

#define ROUNDS		200
#define STEPS		2000
#define SPAN		16384

static struct srnic_kept kept;
static u8 model[SRNIC_PSN_MASK + 1];	/* has the PSN been kept? */
static u32 next;

static void start(u32 psn)
{
	memset(model, 0, sizeof(model));
	memset(&kept, 0, sizeof(kept));
	next = psn;
	srnic_kept_clear(&kept, next);
}

static bool add(u32 psn, u32 npsn)
{
	u32 i;

	psn &= SRNIC_PSN_MASK;
	for (i = 0; i < npsn && srnic_psn_diff(srnic_psn_add(psn, i), next) < SPAN; i++)
		model[srnic_psn_add(psn, i)] = true;

	return srnic_kept_add(&kept, next, psn, npsn);
}

/* Are these the ranges listed?  @text: PSN, first-last first-last..., PSN following the last */
static bool lists(const char *text)
{
	struct srnic_sack_hdr hdr;
	char found[1024];
	int at;
	u32 i;

	at = sprintf(found, "%u,", srnic_kept_list(&kept, next, &hdr));
	for (i = 0; i < hdr.num; i++)
		at += sprintf(found + at, " %u-%u", hdr.range[i].psn,
			      srnic_psn_add(hdr.range[i].psn, hdr.range[i].npsn - 1));
	sprintf(found + at, ", %u", hdr.seen);
	if (!strcmp(found, text))
		return true;

	tap_fault("%s, not %s", found, text);

	return false;
}

#define check(what, name)			\
	do {					\
		if (!(what))			\
			tap_fault("%s", #what);	\
		tap_done(name);			\
	} while (0)

static void test_ranges(void)
{
	start(100);
	check(lists("100,, 100"), "nothing is kept");
	check(add(102, 1) && lists("100, 102-102, 103"), "a hole is news");
	check(!add(103, 1) && !add(104, 1) && lists("100, 102-104, 105"),
	      "what follows the last one is not");
	check(add(107, 2) && lists("100, 102-104 107-108, 109"), "a second hole is");
	check(add(101, 1) && lists("100, 101-104 107-108, 109"), "a hole becomes smaller");
	check(add(105, 2) && lists("100, 101-108, 109"), "a hole is closed");
	check(add(103, 1) && lists("100, 101-108, 109"), "a duplicate is news");

	next = 101;
	check(lists("109,, 109"), "all that is kept waits to be executed");
	check(add(111, 1) && lists("109, 111-111, 112"), "more is kept meanwhile");
	next = 105;
	check(lists("109, 111-111, 112"), "some of it has been executed");
	next = 115;
	check(lists("115,, 115"), "all of it has been");
}

static void test_wrap(void)
{
	start(0xfffffe);
	check(add(0, 1) && !add(1, 3) && lists("16777214, 0-3, 4"),
	      "a range behind the end of the PSN space");
	check(add(0xffffff, 1) && lists("16777214, 16777215-3, 4"),
	      "a range across the end of the PSN space");
}

static void test_span(void)
{
	start(1000);
	check(add(1000 + SPAN - 1, 1) && lists("1000, 17383-17383, 17384"),
	      "the last PSN of the span");
	check(add(1000 + SPAN - 3, 1 << 22) && lists("1000, 17381-17383, 17384"),
	      "a READ that is longer than the span");
}

static void test_many(void)
{
	struct srnic_sack_hdr hdr;
	u32 i;

	start(0);
	for (i = 1; i <= SRNIC_SACK_MAX; i++)
		add(10 * i, 1);
	add(10, 1);
	add(1000, 1);
	srnic_kept_list(&kept, next, &hdr);
	tap_check(hdr.num == SRNIC_SACK_MAX && hdr.range[0].psn == 10 &&
		  hdr.range[1].psn == 30 && hdr.range[SRNIC_SACK_MAX - 1].psn == 1000,
		  "the range that has not changed for the longest time is left out");
	add(25, 1);
	srnic_kept_list(&kept, next, &hdr);
	tap_check(hdr.num == SRNIC_SACK_MAX && hdr.range[0].psn == 10 &&
		  hdr.range[1].psn == 25 && hdr.range[2].psn == 40,
		  "and the next, before the one that is new");
	for (i = 0; i < 100; i++)
		add(1001 + i, 1);
	srnic_kept_list(&kept, next, &hdr);
	tap_check(hdr.num == SRNIC_SACK_MAX && hdr.range[0].psn == 10 &&
		  hdr.range[SRNIC_SACK_MAX - 1].npsn == 101,
		  "a range that grows displaces none");
}

/* Number of ranges in the model behind @psn */
static u32 model_ranges(u32 psn)
{
	u32 i, num = 0;

	for (i = 1; i < SPAN + 1; i++)
		num += model[srnic_psn_add(psn, i)] && !model[srnic_psn_add(psn, i - 1)];

	return num;
}

/* Checks what is listed, in each PSN. */
static void check_list(bool complete, u32 last)
{
	struct srnic_sack_hdr hdr, back;
	u8 raw[SRNIC_SACK_BYTES_MAX];
	u32 psn, i, n, listed = 0, in_model = 0;

	memset(&hdr, 0, sizeof(hdr));
	psn = srnic_kept_list(&kept, next, &hdr);
	n = srnic_sack_build(raw, &hdr);
	if (srnic_sack_parse(raw, n, psn, &back))
		tap_fault("the list is not valid in a packet");
	for (i = 0; i < hdr.num; i++)
		for (n = 0; n < hdr.range[i].npsn; n++, listed++)
			if (!model[srnic_psn_add(hdr.range[i].psn, n)])
				tap_fault("PSN %u was not kept", hdr.range[i].psn + n);
	for (i = 0; i < SPAN; i++)
		in_model += model[srnic_psn_add(psn, i)];
	if (complete && (listed != in_model || model[psn]))
		tap_fault("PSN %u: %u of %u PSNs are listed", psn, listed, in_model);
	for (i = 0; i < hdr.num; i++)
		if (((last - hdr.range[i].psn) & SRNIC_PSN_MASK) < hdr.range[i].npsn)
			return;
	if (srnic_psn_diff(last, psn) >= 0)
		tap_fault("PSN %u, the last one kept, is not listed", last);
}

/* The next PSN arrives, and what was kept behind it is executed, or only a part of it. */
static void advance(void)
{
	u32 most = rand32() % 4 ? SPAN : rand32() % 16;

	do
		next = srnic_psn_add(next, 1);
	while (model[next] && most--);
}

static void test_random(bool many)
{
	u32 round, step, last, reach;
	bool complete;

	for (round = 0; round < ROUNDS; round++) {
		start(rand32() & SRNIC_PSN_MASK);
		complete = true;
		reach = many ? 1 + rand32() % 200 : 30;
		for (step = 0, last = next; step < STEPS / 10; step++) {
			if (rand32() % 4) {
				last = srnic_psn_add(next, 1 + rand32() % reach);
				add(last, rand32() % 8 ? 1 : rand32() % 4 + 1);
			} else {
				advance();
			}
			complete &= model_ranges(next) <= SRNIC_SACK_MAX;
			if (step % 10 == 0)
				check_list(complete, last);
		}
	}
	tap_done(many ? "many ranges: what is listed was kept" :
			"few ranges: all that was kept is listed");
}

int main(void)
{
	test_ranges();
	test_wrap();
	test_span();
	test_many();
	test_random(false);
	test_random(true);

	return tap_end();
}
