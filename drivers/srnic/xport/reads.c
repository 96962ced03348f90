// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - READs and atomics in flight: the PSNs that the answer to each of them takes
 *
 * Their number is small, and most look-ups are of the oldest: a ring, searched from there.
 */
#include <linux/minmax.h>

#include "reads.h"

void srnic_reads_set_places(struct srnic_reads *reads, u8 places)
{
	reads->places = max_t(u8, places, 1);
}

void srnic_reads_add(struct srnic_reads *reads, u32 begin, u32 end)
{
	u32 i = (reads->first + reads->num) % SRNIC_MAX_RD_ATOMIC;

	reads->ring[i] = (struct srnic_read){ begin, end };
	reads->num++;
}

void srnic_reads_split(struct srnic_reads *reads, u32 begin, u32 psn)
{
	u32 rest = reads->first;

	reads->first = (rest + SRNIC_MAX_RD_ATOMIC - 1) % SRNIC_MAX_RD_ATOMIC;
	reads->num++;
	reads->ring[reads->first] = (struct srnic_read){ begin, psn };
	reads->ring[rest].begin = psn;
}

u32 srnic_reads_end(const struct srnic_reads *reads, u32 psn, u32 high)
{
	u32 i = srnic_reads_find(reads, psn);

	return i < reads->num ? srnic_reads_at(reads, i)->end : high;
}

u32 srnic_reads_whole(const struct srnic_reads *reads, u32 psn)
{
	u32 i = srnic_reads_find(reads, psn);
	const struct srnic_read *read = srnic_reads_at(reads, i);

	if (i == reads->num || read->begin != psn)
		return 0;

	return srnic_psn_diff(read->end, psn);
}

u32 srnic_reads_lost(const struct srnic_reads *reads, u32 psn, u32 npsn)
{
	u32 i, end = srnic_psn_add(psn, npsn);
	const struct srnic_read *read;

	for (i = srnic_reads_find(reads, psn); i < reads->num; i++) {
		read = srnic_reads_at(reads, i);
		if (srnic_psn_diff(read->end, end) > 0)
			break;
		if (srnic_psn_diff(read->begin, psn) >= 0)
			npsn -= srnic_psn_diff(read->end, read->begin) - 1;
	}

	return npsn;
}
