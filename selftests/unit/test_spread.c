// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - a consumer's work is spread while it has several operations in progress, and seldom if it
 * has one
 */

#include "tap.h"
#include "exec/spread.h"

#define STAY	64
#define TRY	16
#define PAUSE	256
#define LONG	100000

static struct srnic_spread spread;

/* Return: how often in a row the work is spread, at most @limit times. */
static unsigned int spreads(u32 outstanding, unsigned int limit)
{
	unsigned int n = 0;

	while (n < limit && srnic_spread_next(&spread, outstanding))
		n++;

	return n;
}

/* Return: how often in a row it is not, until it is once. */
static unsigned int rests(void)
{
	unsigned int n = 0;

	while (!srnic_spread_next(&spread, 0))
		n++;

	return n;
}

/* Each post of an operation after the first one finds @more requests outstanding.
 * Return: how many of @posts are spread.
 */
static unsigned int operations(unsigned int of, u32 more, unsigned int posts)
{
	unsigned int i, n = 0;

	for (i = 0; i < posts; i++)
		n += srnic_spread_next(&spread, i % of ? more : 0);

	return n;
}

static void begin(void)
{
	spread = (struct srnic_spread) {};
}

static void test_one(void)
{
	begin();
	tap_check(rests() == PAUSE, "one operation at a time: for a while nothing is spread");
	tap_check(spreads(0, LONG) == TRY - 1, "then it is tried");
	/* The post that ended the attempt was the first one of the pause. */
	tap_check(rests() == 2 * PAUSE - 1, "and again after a longer while");
	tap_check(operations(1, 0, LONG) < LONG / 60, "seldom in the long run");
	begin();
	tap_check(operations(2, 1, LONG) < LONG / 20, "of two posts each: seldom, too");
	begin();
	tap_check(operations(LONG, 1, LONG) < LONG / 15,
		  "always one more in progress: seldom, too");
}

static void test_several(void)
{
	begin();
	tap_check(spreads(SRNIC_SPREAD_DEEP, LONG) == LONG,
		  "two more in progress: all is spread");
	tap_check(spreads(0, LONG) == STAY, "and for a while after");
	tap_check(rests() == PAUSE - 1, "then it is tried soon");
	tap_check(spreads(1, 2 * TRY) == 2 * TRY, "with one more in progress for longer");
}

int main(void)
{
	test_one();
	test_several();

	return tap_end();
}
