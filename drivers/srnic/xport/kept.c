// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - the list of requests kept out of order, as a SACK packet reports it
 *
 * PSNs are compared by their distance from the one expected next.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "../wire/psn.h"
#include "kept.h"

/* Distance from @next to the start, and to the end, of range @i */
static s32 kept_start(const struct srnic_kept *kept, u32 i, u32 next)
{
	return srnic_psn_diff(kept->range[i].psn, next);
}

static s32 kept_end(const struct srnic_kept *kept, u32 i, u32 next)
{
	return kept_start(kept, i, next) + (s32)kept->range[i].npsn;
}

/* Moves what follows index @from to index @to. */
static void kept_move(struct srnic_kept *kept, u32 to, u32 from)
{
	u32 n = kept->num - from;

	memmove(&kept->range[to], &kept->range[from], n * sizeof(*kept->range));
	memmove(&kept->used[to], &kept->used[from], n * sizeof(*kept->used));
	kept->num = to + n;
}

/* Removes the ranges before @next; the one that holds it stays. */
static void kept_trim(struct srnic_kept *kept, u32 next)
{
	u32 i = 0;

	while (i < kept->num && kept_end(kept, i, next) <= 0)
		i++;
	kept_move(kept, 0, i);
	if (srnic_psn_diff(kept->seen, next) < 0)
		kept->seen = next;
}

/* Removes the range whose last change is the oldest.  Return: its index. */
static u32 kept_evict(struct srnic_kept *kept)
{
	u32 i, oldest = 0;

	for (i = 1; i < kept->num; i++)
		if ((s32)(kept->used[i] - kept->used[oldest]) < 0)
			oldest = i;
	kept_move(kept, oldest, oldest + 1);

	return oldest;
}

void srnic_kept_clear(struct srnic_kept *kept, u32 next)
{
	kept->num = 0;
	kept->seen = next;
}

/* Adds the PSNs from distance @from to before @to, and all ranges that they touch, as one. */
static void kept_insert(struct srnic_kept *kept, u32 next, s32 from, s32 to)
{
	u32 i = 0, end;

	while (i < kept->num && kept_end(kept, i, next) < from)
		i++;
	for (end = i; end < kept->num && kept_start(kept, end, next) <= to; end++) {
		from = min(from, kept_start(kept, end, next));
		to = max(to, kept_end(kept, end, next));
	}
	if (i == end && kept->num == SRNIC_SACK_MAX && kept_evict(kept) < i)
		end = --i;
	kept_move(kept, i + 1, end);
	kept->range[i].psn = srnic_psn_add(next, from);
	kept->range[i].npsn = to - from;
	kept->used[i] = ++kept->clock;
}

bool srnic_kept_add(struct srnic_kept *kept, u32 next, u32 psn, u32 npsn)
{
	s32 from = srnic_psn_diff(psn, next);
	s32 to = min_t(s32, from + npsn, SRNIC_SACK_SPAN);
	bool news;

	kept_trim(kept, next);
	news = !kept->num || psn != kept->seen;
	kept_insert(kept, next, from, to);
	kept->seen = srnic_psn_max(kept->seen, srnic_psn_add(next, to));

	return news;
}

u32 srnic_kept_list(struct srnic_kept *kept, u32 next, struct srnic_sack_hdr *hdr)
{
	u32 i = 0, psn = next;

	kept_trim(kept, next);
	if (kept->num && kept_start(kept, 0, next) <= 0) {
		psn = srnic_psn_add(next, kept_end(kept, 0, next));
		i = 1;
	}
	hdr->num = kept->num - i;
	memcpy(hdr->range, &kept->range[i], hdr->num * sizeof(*hdr->range));
	hdr->seen = kept->seen;

	return psn;
}
