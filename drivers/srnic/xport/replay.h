/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - READs and atomics that may be asked for again
 *
 * As many as the peer may have outstanding, in a ring: the youngest overwrites
 * the oldest.  Each is known by the count of PSNs that the responder had
 * accepted before it, which never wraps, so that an entry of 2^24 PSNs ago is
 * not taken for one of today.  Pure: values in, values out.
 */
#ifndef SRNIC_XPORT_REPLAY_H
#define SRNIC_XPORT_REPLAY_H

#include <linux/types.h>

/**
 * struct srnic_replay - a READ or atomic that may be asked for again
 * @seq: PSNs that had been accepted before its first
 * @npsn: PSNs it takes
 * @family: SRNIC_FAM_READ or SRNIC_FAM_ATOMIC (or ATOMIC_WRITE, FLUSH)
 * @rkey: READ: key
 * @va: READ: address
 * @length: READ: bytes
 * @orig: atomic: value before the operation
 */
struct srnic_replay {
	u64	seq;
	u32	npsn;
	u8	family;
	u32	rkey;
	u64	va;
	u32	length;
	u64	orig;
};

/**
 * struct srnic_replays - the last of these
 * @slot: ring of them
 * @num: its slots
 * @next: slot to overwrite next
 */
struct srnic_replays {
	struct srnic_replay	*slot;
	u32			num;
	u32			next;
};

/* So many are remembered, the youngest first.  May sleep.  0 or -ENOMEM. */
int srnic_replay_resize(struct srnic_replays *replays, u32 depth);
void srnic_replay_free(struct srnic_replays *replays);

/* Remembers @what in place of the oldest; there is room for one at least. */
void srnic_replay_add(struct srnic_replays *replays,
		      const struct srnic_replay *what);

/* What of @family took the PSN at @seq, or NULL. */
const struct srnic_replay *
srnic_replay_find(const struct srnic_replays *replays, u8 family, u64 seq);

/*
 * Does @ask, for the READ that @replay remembers, name what is left of it from
 * its own place on, or a part of that?
 */
bool srnic_replay_covers(const struct srnic_replay *replay,
			 const struct srnic_replay *ask, u32 mtu);

#endif /* SRNIC_XPORT_REPLAY_H */
