// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - masked atomics do what their definition says, bit by bit
 *
 * The definition is the pseudo code in commit 5e80ba8ff0bd of the kernel, "IB/core: Add
 * support for masked atomic operations".  Without masks they are CmpSwap and FetchAdd of IBTA
 * volume 1, 9.4.5.
 */

#include "rand.h"
#include "tap.h"
#include "xport/masked.h"

#define ROUNDS	200000

static unsigned int bit(u64 value, unsigned int i)
{
	return value >> i & 1;
}

static u64 model_swap(u64 word, u64 compare, u64 compare_mask, u64 swap, u64 swap_mask)
{
	u64 result = 0;
	unsigned int i;

	for (i = 0; i < 64; i++)
		if (bit(compare_mask, i) && bit(compare, i) != bit(word, i))
			return word;
	for (i = 0; i < 64; i++)
		result |= (u64)bit(bit(swap_mask, i) ? swap : word, i) << i;

	return result;
}

/* A full adder for each bit, whose carry ends at a bit of the mask */
static u64 model_add(u64 word, u64 add, u64 last)
{
	unsigned int carry = 0, sum, i;
	u64 result = 0;

	for (i = 0; i < 64; i++) {
		sum = carry + bit(word, i) + bit(add, i);
		result |= (u64)(sum & 1) << i;
		carry = !bit(last, i) && sum & 2;
	}

	return result;
}

/* Masks of few bits, of many, of none and of all of them */
static u64 mask_random(void)
{
	switch (rand32() % 6) {
	case 0:
		return 0;
	case 1:
		return ~0ULL;
	case 2:
		return rand64() & rand64() & rand64();
	case 3:
		return rand64() | rand64() | rand64();
	case 4:
		return 1ULL << rand32() % 64;
	default:
		return rand64();
	}
}

static void test_swap(void)
{
	unsigned int swapped = 0, i;
	u64 word, compare, cmask, swap, smask, got;

	for (i = 0; i < ROUNDS; i++) {
		word = rand64();
		cmask = mask_random();
		smask = mask_random();
		swap = rand64();
		/* equal where it is compared, or different in a bit of all */
		compare = (rand64() & ~cmask) | (word & cmask);
		if (rand32() & 1)
			compare ^= 1ULL << rand32() % 64;
		got = srnic_masked_swap(word, compare, cmask, swap, smask);
		swapped += got != word;
		if (got != model_swap(word, compare, cmask, swap, smask))
			tap_fault("%llx, compare %llx/%llx, swap %llx/%llx", word, compare,
				  cmask, swap, smask);
	}
	if (!swapped || swapped == ROUNDS)
		tap_fault("%u of %u were swapped", swapped, ROUNDS);
	tap_done("bits of a mask are compared, bits of another are replaced");
}

static void test_add(void)
{
	unsigned int i;
	u64 word, add, last;

	for (i = 0; i < ROUNDS; i++) {
		word = mask_random();
		add = mask_random();
		last = mask_random();
		if (srnic_masked_add(word, add, last) != model_add(word, add, last))
			tap_fault("%llx + %llx, last bits %llx", word, add, last);
	}
	tap_done("nothing is carried beyond the last bit of a field");
}

/* Fields that a processor can add as such */
static void test_fields(void)
{
	union {
		u64	word;
		u8	u8[8];
		u16	u16[4];
		u32	u32[2];
	} a, b, sum;
	unsigned int i, k;

	for (i = 0; i < ROUNDS; i++) {
		a.word = rand64();
		b.word = rand64();
		for (k = 0; k < 8; k++)
			sum.u8[k] = a.u8[k] + b.u8[k];
		if (srnic_masked_add(a.word, b.word, 0x8080808080808080ULL) != sum.word)
			tap_fault("bytes %llx + %llx", a.word, b.word);
		for (k = 0; k < 4; k++)
			sum.u16[k] = a.u16[k] + b.u16[k];
		if (srnic_masked_add(a.word, b.word, 0x8000800080008000ULL) != sum.word)
			tap_fault("halves %llx + %llx", a.word, b.word);
		for (k = 0; k < 2; k++)
			sum.u32[k] = a.u32[k] + b.u32[k];
		if (srnic_masked_add(a.word, b.word, 0x8000000080000000ULL) != sum.word)
			tap_fault("words %llx + %llx", a.word, b.word);
		if (srnic_masked_add(a.word, b.word, 0) != a.word + b.word)
			tap_fault("%llx + %llx", a.word, b.word);
		if (srnic_masked_add(a.word, b.word, ~0ULL) != (a.word ^ b.word))
			tap_fault("bits %llx + %llx", a.word, b.word);
	}
	tap_done("fields are added as numbers of their width");
}

/* Masks that say they are plain are, and each bit that is not in one of them matters. */
static void test_plain(void)
{
	unsigned int i, k;
	u64 a, b;

	for (i = 0; i < 64; i++) {
		a = 1ULL << i;
		if (srnic_masked_swap_is_plain(~a, ~0ULL) ||
		    srnic_masked_swap_is_plain(~0ULL, ~a))
			tap_fault("swap without bit %u is plain", i);
		if (srnic_masked_add_is_plain(a) != (model_add(a, a, a) == a + a))
			tap_fault("add with a boundary at bit %u", i);
	}
	tap_done("masks that change a word are not plain");

	for (k = 0; k < ROUNDS; k++) {
		a = rand64();
		b = rand64();
		if (model_add(a, b, 1ULL << 63) != a + b)
			tap_fault("%llx + %llx", a, b);
	}
	if (!srnic_masked_swap_is_plain(~0ULL, ~0ULL) || !srnic_masked_add_is_plain(0) ||
	    !srnic_masked_add_is_plain(1ULL << 63))
		tap_fault("a mask that changes nothing is not plain");
	tap_done("masks that change none are plain");
}

int main(void)
{
	test_swap();
	test_add();
	test_fields();
	test_plain();

	return tap_end();
}
