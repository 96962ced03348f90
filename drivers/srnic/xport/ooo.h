/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - packets received out of order, by PSN
 */
#ifndef SRNIC_XPORT_OOO_H
#define SRNIC_XPORT_OOO_H

#include <linux/rbtree.h>
#include <linux/types.h>

#include "rmem.h"

struct sk_buff;

/* Packets this far ahead are not kept; no window is larger. */
#define SRNIC_OOO_MAX		16384

/**
 * struct srnic_ooo - out-of-order packets of one half of a queue pair
 * @packets: copies of the packets, each of minimal size, by PSN
 * @rmem: receive memory that they are charged to
 * @num: number of packets
 * @bytes: memory that they take
 * @aged: @psn is set; if it is still expected at the next check, they are dropped
 * @psn: PSN that was expected at the last check of their age
 */
struct srnic_ooo {
	struct rb_root		packets;
	struct srnic_rmem	*rmem;
	u32			num;
	u32			bytes;
	bool			aged;
	u32			psn;
};

/*
 * Keeps a copy of the packet @skb and charges its memory to @rmem.  False: there is no
 * room for it.
 */
bool srnic_ooo_put(struct srnic_ooo *ooo, struct srnic_rmem *rmem,
		   const struct sk_buff *skb, u32 psn);

/* Has the packet with @psn been kept? */
bool srnic_ooo_has(const struct srnic_ooo *ooo, u32 psn);

/* PSN of the first packet kept from @psn on; @psn itself if there is none.  Pure. */
u32 srnic_ooo_first(const struct srnic_ooo *ooo, u32 psn);

/* PSNs missing from @psn on, 1 to @max; @psn itself is missing.  Pure. */
u32 srnic_ooo_gap(const struct srnic_ooo *ooo, u32 psn, u32 max);

/* Number of packets kept, with consecutive PSNs, from @psn on, up to @max.  Pure. */
u32 srnic_ooo_run(const struct srnic_ooo *ooo, u32 psn, u32 max);

/* Takes out the packet with @psn; the caller frees it or gives it back.  NULL: none. */
struct sk_buff *srnic_ooo_take(struct srnic_ooo *ooo, u32 psn);

void srnic_ooo_requeue(struct srnic_ooo *ooo, struct sk_buff *skb);

void srnic_ooo_purge(struct srnic_ooo *ooo);

#endif /* SRNIC_XPORT_OOO_H */
