// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - the list of READs in flight is that of a model
 *
 * The model knows for each PSN which request it belongs to: PSNs between two READs are those
 * of other requests.
 */

#include <string.h>

#include "rand.h"
#include "tap.h"
#include "wire/psn.h"
#include "xport/reads.h"

#define ROUNDS		300
#define STEPS		1000
#define LONGEST		40
#define SPAN		(SRNIC_MAX_RD_ATOMIC * 2 * LONGEST)

static struct srnic_reads reads;
static u32 first, una, high;	/* PSN 0 of the model; positions in it */
static u32 owner[STEPS * 2 * LONGEST];	/* of each position: begin of its READ + 1, 0: none */

static u32 psn(u32 i)
{
	return srnic_psn_add(first, i);
}

static void start(void)
{
	memset(&reads, 0, sizeof(reads));
	memset(owner, 0, sizeof(owner));
	first = rand32() % 2 ? SRNIC_PSN_MASK - rand32() % SPAN : rand32() & SRNIC_PSN_MASK;
	una = 0;
	high = 0;
	srnic_reads_set_places(&reads, 16);
}

static void add(void)
{
	u32 npsn = 1 + rand32() % LONGEST, i, begin;

	if (!srnic_reads_may_split(&reads))
		return;
	if (rand32() % 3 == 0)
		high += 1 + rand32() % 3;	/* a WRITE */
	begin = high;
	for (i = 0; i < npsn; i++)
		owner[high++] = begin + 1;
	srnic_reads_add(&reads, psn(begin), psn(high));
}

static void acked(void)
{
	if (una < high)
		una += 1 + rand32() % min_t(u32, high - una, LONGEST);
	srnic_reads_acked(&reads, psn(una));
}

/* Position following the READ that the position @i belongs to */
static u32 end_of(u32 i)
{
	u32 of = owner[i];

	while (i < high && owner[i] == of)
		i++;

	return i;
}

/* The rest of the READ at una, if there is one, is requested in two parts. */
static void split(void)
{
	u32 end, part, i;

	if (una == high || !owner[una] || !srnic_reads_may_split(&reads))
		return;
	end = end_of(una);
	if (end - una < 2)
		return;
	part = una + 1 + rand32() % (end - una - 1);
	for (i = una; i < end; i++)
		owner[i] = (i < part ? una : part) + 1;
	srnic_reads_split(&reads, psn(una), psn(part));
}

/* What the list tells of position @i: the next READ counts if it belongs to none. */
static void check_at(u32 i)
{
	u32 at = srnic_reads_find(&reads, psn(i)), read = i, end, begin;

	while (read < high && !owner[read])
		read++;
	end = read < high ? end_of(read) : high;
	if (srnic_reads_end(&reads, psn(i), psn(high)) != psn(end))
		tap_fault("the end of what follows position %u is %u", i, end);
	if (at == reads.num && read != high)
		tap_fault("a READ follows position %u", i);
	if (at < reads.num && srnic_reads_at(&reads, at)->end != psn(end))
		tap_fault("the READ at or behind position %u is known", i);
	begin = read < high ? owner[read] - 1 : high;
	if (srnic_reads_whole(&reads, psn(i)) != (begin == i ? end - i : 0))
		tap_fault("the length of a READ that begins at position %u", i);
}

/* Each packet that is not a response counts, and each READ of whose responses none is there. */
static void check_lost(u32 from, u32 to)
{
	u32 i, lost = 0, whole;

	for (i = from; i < to; i++) {
		whole = owner[i] && owner[i] - 1 >= from && end_of(i) <= to;
		lost += !whole || owner[i] - 1 == i;
	}
	if (from < to && srnic_reads_lost(&reads, psn(from), to - from) != lost)
		tap_fault("%u packets from position %u to %u were lost", lost, from, to);
}

static void check(void)
{
	u32 i, num = 0, last = 0;
	bool crowded;

	for (i = una; i < high; i++) {
		num += owner[i] && owner[i] != last;
		last = owner[i];
	}
	if (reads.num != num)
		tap_fault("%u READs are in flight, not %u", num, reads.num);
	crowded = num > 16;
	if (srnic_reads_is_crowded(&reads) != crowded)
		tap_fault("%u READs are too many, or not", num);
	if (srnic_reads_free(&reads) != (num < 16 ? 16 - num : 1))
		tap_fault("places that %u READs leave", num);
	if (una == high)
		return;
	i = una + rand32() % (high - una);
	check_at(i);
	check_lost(i, i + rand32() % (high - i + 1));
}

static void test_random(void)
{
	u32 round, step;

	for (round = 0; round < ROUNDS; round++) {
		start();
		for (step = 0; step < STEPS; step++) {
			switch (rand32() % 8) {
			case 0:
				split();
				break;
			case 1:
			case 2:
			case 3:
				acked();
				break;
			default:
				add();
			}
			check();
		}
	}
	tap_done("READs are added, split and acknowledged in any order");
}

static void test_places(void)
{
	start();
	srnic_reads_set_places(&reads, 0);
	if (reads.places != 1)
		tap_fault("no places are one");
	srnic_reads_set_places(&reads, SRNIC_MAX_RD_ATOMIC);
	if (reads.places != SRNIC_MAX_RD_ATOMIC)
		tap_fault("the most places");
	tap_done("there is a place for one READ at least");
}

int main(void)
{
	test_random();
	test_places();

	return tap_end();
}
