/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - READs and atomics that may be requested again
 *
 * As many as the peer may have outstanding are kept in a ring, where the newest
 * overwrites the oldest.  Each is identified by the number of PSNs that the responder
 * had accepted before it, which never wraps, so that an entry 2^24 PSNs old is not
 * taken for a current one.  Pure: values in, values out.
 */
#ifndef SRNIC_XPORT_REPLAY_H
#define SRNIC_XPORT_REPLAY_H

#include <linux/types.h>

/**
 * struct srnic_replay - a READ or atomic that may be requested again
 * @seq: PSNs accepted before its first PSN
 * @npsn: PSNs it takes
 * @family: SRNIC_FAM_READ or SRNIC_FAM_ATOMIC (or ATOMIC_WRITE, FLUSH)
 * @rkey: READ: remote key
 * @va: READ: address
 * @length: READ: bytes
 * @unread: READ: not all bytes have been read from memory
 * @orig: atomic: value before the operation
 */
struct srnic_replay {
	u64	seq;
	u32	npsn;
	u8	family;
	u32	rkey;
	u64	va;
	u32	length;
	bool	unread;
	u64	orig;
};

/**
 * struct srnic_replays - the most recent READs and atomics
 * @slot: ring of entries
 * @num: size of the ring
 * @next: slot to overwrite next
 */
struct srnic_replays {
	struct srnic_replay	*slot;
	u32			num;
	u32			next;
};

/* Sets the number of entries, keeping the newest.  May sleep.  0 or -ENOMEM. */
int srnic_replay_resize(struct srnic_replays *replays, u32 depth);
void srnic_replay_free(struct srnic_replays *replays);

/* Stores @what in place of the oldest entry; the ring must not be empty. */
void srnic_replay_add(struct srnic_replays *replays,
		      const struct srnic_replay *what);

/* The READ that was stored last was not executed to its end. */
void srnic_replay_unread(struct srnic_replays *replays);

/* The entry of @family that covers the PSN at @seq, or NULL */
const struct srnic_replay *
srnic_replay_find(const struct srnic_replays *replays, u8 family, u64 seq);

/*
 * Does @ask, a duplicate of the READ stored in @replay, request what is left of it from
 * the PSN of @ask on, or a part of that?
 */
bool srnic_replay_covers(const struct srnic_replay *replay,
			 const struct srnic_replay *ask, u32 mtu);

#endif /* SRNIC_XPORT_REPLAY_H */
