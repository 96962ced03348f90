// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - PSN arithmetic stays within 24 bits and orders PSNs
 */

#include "rand.h"
#include "tap.h"
#include "wire/psn.h"

#define TOP	0x1000000LL	/* 2^24 */
#define HALF	0x800000LL	/* 2^23 */

/* The distance by the definition of the specification, with a long division */
static long long distance(long long a, long long b)
{
	long long d = ((a - b) % TOP + TOP) % TOP;

	return d < HALF ? d : d - TOP;
}

static void test_add(void)
{
	int i;

	tap_check(srnic_psn_add(0xffffff, 1) == 0, "the PSN after 0xffffff is 0");
	tap_check(srnic_psn_add(0, -1) == 0xffffff, "the PSN before 0 is 0xffffff");

	for (i = 0; i < 100000; i++) {
		u32 psn = rand32() & 0xffffff;
		u32 n = rand32();

		if (srnic_psn_add(psn, n) != (psn + (unsigned long long)n) % TOP)
			tap_fault("0x%x + 0x%x gave 0x%x", psn, n,
				  srnic_psn_add(psn, n));
	}
	tap_done("adding is modulo 2^24");
}

static void test_diff(void)
{
	static const struct {
		u32	a;
		u32	b;
		s32	diff;
	} edges[] = {
		{ 0x000000, 0x000000,         0 },
		{ 0x000001, 0x000000,         1 },
		{ 0x000000, 0x000001,        -1 },
		{ 0x000000, 0xffffff,         1 },
		{ 0xffffff, 0x000000,        -1 },
		{ 0x7fffff, 0x000000,  0x7fffff },
		{ 0x800000, 0x000000, -0x800000 },
		{ 0x000000, 0x800000, -0x800000 },
		{ 0x000000, 0x800001,  0x7fffff },
		{ 0x400000, 0xc00001,  0x7fffff },
		{ 0x3fffff, 0xc00000,  0x7fffff },
		{ 0x400000, 0xc00000, -0x800000 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(edges) / sizeof(*edges); i++)
		if (srnic_psn_diff(edges[i].a, edges[i].b) != edges[i].diff)
			tap_fault("0x%x - 0x%x gave %d", edges[i].a, edges[i].b,
				  srnic_psn_diff(edges[i].a, edges[i].b));
	tap_done("distances at the edges and across the wrap");

	for (i = 0; i < 100000; i++) {
		u32 a = rand32() & 0xffffff;
		u32 b = rand32() & 0xffffff;

		if (srnic_psn_diff(a, b) != distance(a, b))
			tap_fault("0x%x - 0x%x gave %d", a, b,
				  srnic_psn_diff(a, b));
		if (srnic_psn_add(b, srnic_psn_diff(a, b)) != a)
			tap_fault("0x%x + (0x%x - 0x%x) is a different PSN", b, a, b);
	}
	tap_done("the distance is the shorter one, and leads back");
}

static void test_max(void)
{
	unsigned int i;

	for (i = 0; i < 100000; i++) {
		u32 a = rand32() & 0xffffff;
		u32 b = (a + rand32() % 0x800000) & 0xffffff;

		if (srnic_psn_max(a, b) != b || srnic_psn_max(b, a) != b)
			tap_fault("0x%x is not after 0x%x", b, a);
	}
	tap_done("the later of two is found across the wrap");
}

int main(void)
{
	test_add();
	test_diff();
	test_max();

	return tap_end();
}
