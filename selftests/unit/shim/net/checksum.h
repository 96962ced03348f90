/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - the Internet checksum for tests in user space
 *
 * A partial sum is one of 16-bit words as they are in memory, as in the kernel.
 */
#ifndef SRNIC_SHIM_NET_CHECKSUM_H
#define SRNIC_SHIM_NET_CHECKSUM_H

#include <linux/string.h>
#include <linux/types.h>

typedef u16 __sum16;
typedef u32 __wsum;

static inline __wsum csum_add(__wsum a, __wsum b)
{
	u64 sum = (u64)a + b;

	return sum + (sum >> 32);
}

static inline __wsum csum_partial(const void *data, int len, __wsum sum)
{
	u16 word;

	for (; len > 0; len -= 2, data += 2) {
		word = 0;
		memcpy(&word, data, len < 2 ? len : 2);
		sum = csum_add(sum, word);
	}

	return sum;
}

/* @b is the sum of what follows the first @offset bytes. */
static inline __wsum csum_block_add(__wsum a, __wsum b, int offset)
{
	return csum_add(a, offset & 1 ? b << 8 | b >> 24 : b);
}

static inline __sum16 csum_fold(__wsum sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);

	return ~sum;
}

static inline __wsum csum_unfold(__sum16 sum)
{
	return sum;
}

#endif /* SRNIC_SHIM_NET_CHECKSUM_H */
