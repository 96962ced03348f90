// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - READs and atomics that may be requested again
 */
#include <linux/minmax.h>
#include <linux/slab.h>

#include "replay.h"

int srnic_replay_resize(struct srnic_replays *replays, u32 depth)
{
	u32 num = min(depth, replays->num);
	struct srnic_replay *slot;
	u32 i;

	if (depth == replays->num)
		return 0;
	slot = kcalloc(depth, sizeof(*slot), GFP_KERNEL_ACCOUNT);
	if (!slot)
		return -ENOMEM;

	/* Store the newest last, to be overwritten last. */
	for (i = 1; i <= num; i++)
		slot[num - i] = replays->slot[(replays->next + replays->num -
					       i) % replays->num];
	kfree(replays->slot);
	replays->slot = slot;
	replays->num = depth;
	replays->next = num == depth ? 0 : num;

	return 0;
}

void srnic_replay_free(struct srnic_replays *replays)
{
	kfree(replays->slot);
	*replays = (struct srnic_replays) {};
}

void srnic_replay_add(struct srnic_replays *replays,
		      const struct srnic_replay *what)
{
	replays->slot[replays->next] = *what;
	replays->next = (replays->next + 1) % replays->num;
}

void srnic_replay_unread(struct srnic_replays *replays)
{
	if (replays->num)
		replays->slot[(replays->next + replays->num - 1) % replays->num].unread = true;
}

const struct srnic_replay *
srnic_replay_find(const struct srnic_replays *replays, u8 family, u64 seq)
{
	const struct srnic_replay *replay;
	u32 i;

	for (i = 0; i < replays->num; i++) {
		replay = &replays->slot[i];
		if (replay->family == family && seq - replay->seq < replay->npsn)
			return replay;
	}

	return NULL;
}

bool srnic_replay_covers(const struct srnic_replay *replay,
			 const struct srnic_replay *ask, u32 mtu)
{
	u64 skip = (ask->seq - replay->seq) * mtu;
	u64 off = ask->va - replay->va;

	return ask->rkey == replay->rkey && ask->va >= replay->va &&
	       off >= skip && off <= replay->length &&
	       ask->length <= replay->length - off;
}
