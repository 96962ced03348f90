/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - ordered stores to memory that user space may be polling
 *
 * Programs poll the last bytes of a WRITE and then read the rest, relying on a NIC
 * to write in order.  memcpy() does not, not even on x86, and weakly ordered
 * processors do not order any plain stores:
 *
 * C srnic_copy_in
 *
 * {}
 *
 * P0(int *bulk, int *last)	// srnic_copy_in()
 * {
 *	WRITE_ONCE(*bulk, 1);
 *	smp_wmb();
 *	WRITE_ONCE(*last, 1);
 * }
 *
 * P1(int *bulk, int *last)	// the program
 * {
 *	int r0 = smp_load_acquire(last);
 *	int r1 = READ_ONCE(*bulk);
 * }
 *
 * exists (1:r0=1 /\ 1:r1=0)
 *
 * Result: Never.
 */
#ifndef SRNIC_MEM_COPY_H
#define SRNIC_MEM_COPY_H

#include <asm/barrier.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/unaligned.h>

/*
 * Copies @len bytes to @dst.  A reader that sees any of them sees all earlier copies;
 * one that sees the last eight, which are stored as one word, sees all @len.
 */
static inline void srnic_copy_in(void *dst, const void *src, size_t len)
{
	u64 last;

	smp_wmb();	/* earlier copies before this one */
	if (len < sizeof(last)) {
		memcpy(dst, src, len);
		return;
	}

	len -= sizeof(last);
	last = get_unaligned((const u64 *)(src + len));
	if (len) {
		memcpy(dst, src, len);
		smp_wmb();	/* all other bytes before the last eight */
	}
	put_unaligned(last, (u64 *)(dst + len));
}

#endif /* SRNIC_MEM_COPY_H */
