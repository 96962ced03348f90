/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - packets that came before one that is missing, by their PSN
 */
#ifndef SRNIC_XPORT_OOO_H
#define SRNIC_XPORT_OOO_H

#include <linux/rbtree.h>
#include <linux/types.h>

#include "pool.h"

struct sk_buff;

/* A packet as far ahead as this is not kept; no window is larger. */
#define SRNIC_OOO_MAX		16384

/**
 * struct srnic_ooo - packets of one half of a queue pair that came out of order
 * @packets: copies of them, no larger than they must be, by their PSN
 * @pool: where their memory counts
 * @num: how many they are
 * @bytes: memory that they take
 * @aged: @psn was noted: when it is the same the next time, they have to go
 * @psn: what was expected when they were looked at for their age
 */
struct srnic_ooo {
	struct rb_root		packets;
	struct srnic_pool	*pool;
	u32			num;
	u32			bytes;
	bool			aged;
	u32			psn;
};

/*
 * Keeps a copy of the packet @skb, whose memory is charged to @pool.  False: there
 * is no room for it.
 */
bool srnic_ooo_put(struct srnic_ooo *ooo, struct srnic_pool *pool,
		   const struct sk_buff *skb, u32 psn);

/* Is the packet with @psn here? */
bool srnic_ooo_has(const struct srnic_ooo *ooo, u32 psn);

/* How many are missing from @psn, which is, on; at most @max, at least 1.  Pure. */
u32 srnic_ooo_gap(const struct srnic_ooo *ooo, u32 psn, u32 max);

/* The packet with @psn if it is here; the caller frees it, or gives it back. */
struct sk_buff *srnic_ooo_take(struct srnic_ooo *ooo, u32 psn);

void srnic_ooo_give_back(struct srnic_ooo *ooo, struct sk_buff *skb);

void srnic_ooo_purge(struct srnic_ooo *ooo);

#endif /* SRNIC_XPORT_OOO_H */
