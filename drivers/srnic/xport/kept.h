/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - the list of requests kept out of order, as a SACK packet reports it
 *
 * Finding the ranges among up to 16,384 kept packets anew for each report would cost more
 * than the packets.  So the responder remembers the ranges that changed last, as TCP does
 * (RFC 2018): each report repeats them, and the peer, which adds reports up, learns of all.
 *
 * Pure: values in, values out.
 */
#ifndef SRNIC_XPORT_KEPT_H
#define SRNIC_XPORT_KEPT_H

#include <linux/types.h>

#include "../wire/sack_hdr.h"

/**
 * struct srnic_kept - ranges of PSNs that were kept; written by kept.c only
 * @seen: PSN following the last one kept
 * @clock: number of packets kept so far, modulo 2^32
 * @num: number of @range
 * @range: the ranges that changed last, ascending, with a gap between each two
 * @used: @clock when each of them changed
 *
 * All zeros until srnic_kept_clear().
 */
struct srnic_kept {
	u32			seen;
	u32			clock;
	u32			num;
	struct srnic_sack_range	range[SRNIC_SACK_MAX];
	u32			used[SRNIC_SACK_MAX];
};

/* Nothing is kept, and @next is the next PSN expected. */
void srnic_kept_clear(struct srnic_kept *kept, u32 next);

/**
 * srnic_kept_add() - a request has been kept
 * @kept: the list
 * @next: PSN expected next, less than SRNIC_SACK_SPAN before @psn
 * @psn: PSN of the request
 * @npsn: PSNs that it takes, less than 2^23; those beyond the span are left out
 *
 * Return: false if it is the one that was to follow the last one kept; true if it is news
 * for the peer: a hole before it, the filling of one, or a duplicate.
 */
bool srnic_kept_add(struct srnic_kept *kept, u32 next, u32 psn, u32 npsn);

/**
 * srnic_kept_list() - fill in the ranges of a SACK packet
 * @kept: the list; what lies before @next is removed from it
 * @next: PSN expected next
 * @hdr: @num, @seen and @range are set
 *
 * Return: PSN of the packet: the first one missing, which is not @next if that was kept and
 * still waits to be executed.
 */
u32 srnic_kept_list(struct srnic_kept *kept, u32 next, struct srnic_sack_hdr *hdr);

#endif /* SRNIC_XPORT_KEPT_H */
