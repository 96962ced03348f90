// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - a range is flushed in pieces, each byte once
 *
 * Runs have shares of any size; the test adds up what is written back.
 */
#include <linux/kernel.h>

#include "rand.h"
#include "tap.h"
#include "xport/persist.h"

#define START	0x7f0000001234ULL
#define PIECE	65536	/* cost of a step, see locking.rst */

static u64 next;	/* next address to be written back */
static u64 run_bytes;	/* in this run */

void srnic_mr_persist(const struct srnic_mr *mr, u64 addr, u64 len)
{
	(void)mr;
	if (addr != next)
		tap_fault("%#llx is written back, not %#llx",
			  (unsigned long long)addr, (unsigned long long)next);
	if (!len || len > PIECE)
		tap_fault("%llu bytes in one step", (unsigned long long)len);
	next = addr + len;
	run_bytes += len;
}

/* One run, which may use @share of its stretch.  Return: is the range done? */
static bool run(u32 share, u64 len, u64 *done)
{
	struct srnic_task task = { .left = share + 1000, .floor = 1000 };
	bool all;

	run_bytes = 0;
	all = srnic_persist(&task, NULL, START, len, done);
	if (run_bytes && run_bytes >= (u64)share + PIECE)
		tap_fault("%llu bytes in a share of %u",
			  (unsigned long long)run_bytes, share);
	if (task.left != (s32)(share + 1000 - run_bytes))
		tap_fault("%llu bytes cost %d", (unsigned long long)run_bytes,
			  (s32)(share + 1000) - task.left);
	if (!all && share && !run_bytes)
		tap_fault("no progress with a share of %u", share);
	return all;
}

static void flush(u64 len)
{
	u64 done = 0;

	next = START;
	if (run(0, len, &done) != !len)
		tap_fault("done without a share");
	while (!run(1 + rand32() % (1 << 20), len, &done))
		;
	if (next != START + len)
		tap_fault("%llu bytes of %llu",
			  (unsigned long long)(next - START),
			  (unsigned long long)len);
	if (done)
		tap_fault("the next range begins at %llu",
			  (unsigned long long)done);
}

int main(void)
{
	static const u64 lengths[] = {
		0, 1, PIECE - 1, PIECE, PIECE + 1, 1 << 30, 5ULL << 30,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++)
		flush(lengths[i]);
	tap_done("ranges at the boundaries of a piece, and large ones");
	for (i = 0; i < 1000; i++)
		flush(rand32() % (16 << 20));
	tap_done("ranges of any length");
	return tap_end();
}
