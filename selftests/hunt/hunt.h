/* SPDX-License-Identifier: GPL-2.0 */
/* srnic selftests - randomised tests: random numbers determined by a seed */
#ifndef HUNT_H
#define HUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

struct dice {
	__u64	state;
};

/* splitmix64 */
static inline __u64 dice_next(struct dice *d)
{
	__u64 x = d->state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

/* Random numbers for @number, independent of others with the same seed */
static inline struct dice dice_of(__u32 seed, __u64 number)
{
	struct dice d = { .state = (__u64)seed << 32 ^ number };

	d.state = dice_next(&d);
	return d;
}

/* 0 to @n - 1 */
static inline __u32 roll(struct dice *d, __u32 n)
{
	return (dice_next(d) >> 32) * n >> 32;
}

/* True one time in @n */
static inline bool rarely(struct dice *d, __u32 n)
{
	return !roll(d, n);
}

/* A random number, or one at a boundary of a length, an overflow or a sign */
static inline __u64 odd_number(struct dice *d)
{
	switch (roll(d, 8)) {
	case 0:
		return 0;
	case 1:
		return dice_next(d);
	case 2:
		return (__u32)dice_next(d);
	case 3:
		return roll(d, 64);
	case 4:
		return ~0ULL - roll(d, 3);
	case 5:
		return ~0U - roll(d, 3);
	default:
		return (1ULL << roll(d, 64)) + roll(d, 3) - 1;
	}
}

#endif
