/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - READs and atomics in flight: the PSNs that the answer to each of them takes
 *
 * A request is in flight until its answer is complete, and until then takes one of the places
 * that the peer has agreed to.  A READ of which only a part is requested again becomes two.
 * Pure: it reads no clock and takes no lock.  No other file writes a field of struct
 * srnic_reads.
 */
#ifndef SRNIC_XPORT_READS_H
#define SRNIC_XPORT_READS_H

#include <linux/minmax.h>
#include <linux/types.h>

#include "../wire/psn.h"

/* Most READs and atomics that a queue pair has outstanding */
#define SRNIC_MAX_RD_ATOMIC	128

/**
 * struct srnic_read - a READ or atomic in flight
 * @begin: PSN of its request, and of the first packet of its answer
 * @end: PSN following its answer
 */
struct srnic_read {
	u32	begin;
	u32	end;
};

/**
 * struct srnic_reads - the READs and atomics in flight
 * @places: as many may be outstanding, which the peer remembers
 * @first: index of the oldest entry of @ring
 * @num: their number; more than @places after srnic_reads_split()
 * @ring: their PSNs, in order
 */
struct srnic_reads {
	u8			places;
	u8			first;
	u32			num;
	struct srnic_read	ring[SRNIC_MAX_RD_ATOMIC];
};

/**
 * srnic_reads_set_places() - set how many may be outstanding
 * @reads: the READs in flight
 * @places: their number; 0: as 1
 */
void srnic_reads_set_places(struct srnic_reads *reads, u8 places);

/**
 * srnic_reads_add() - a request is sent for the first time
 * @reads: the READs in flight, less than SRNIC_MAX_RD_ATOMIC
 * @begin: its PSN, at or behind the end of the youngest
 * @end: PSN following its answer
 */
void srnic_reads_add(struct srnic_reads *reads, u32 begin, u32 end);

/**
 * srnic_reads_split() - the oldest READ is requested again in parts
 * @reads: the READs in flight, less than SRNIC_MAX_RD_ATOMIC
 * @begin: first PSN of its answer that has not arrived
 * @psn: PSN within its answer: the part before it is one READ from now on, the rest another
 */
void srnic_reads_split(struct srnic_reads *reads, u32 begin, u32 psn);

/**
 * srnic_reads_at() - a READ or atomic in flight
 * @reads: the READs in flight
 * @i: its index, less than @reads->num; 0: the oldest
 *
 * Return: its PSNs.
 */
static inline const struct srnic_read *srnic_reads_at(const struct srnic_reads *reads, u32 i)
{
	return reads->ring + (reads->first + i) % SRNIC_MAX_RD_ATOMIC;
}

/**
 * srnic_reads_acked() - answers are complete
 * @reads: the READs in flight
 * @psn: everything before it is acknowledged
 */
static inline void srnic_reads_acked(struct srnic_reads *reads, u32 psn)
{
	while (reads->num && srnic_psn_diff(psn, srnic_reads_at(reads, 0)->end) >= 0) {
		reads->first = (reads->first + 1) % SRNIC_MAX_RD_ATOMIC;
		reads->num--;
	}
}

/**
 * srnic_reads_find() - which READ or atomic does a PSN belong to?
 * @reads: the READs in flight
 * @psn: the PSN
 *
 * Return: its index, or that of the next one; @reads->num: there is none.
 */
static inline u32 srnic_reads_find(const struct srnic_reads *reads, u32 psn)
{
	u32 i;

	for (i = 0; i < reads->num; i++)
		if (srnic_psn_diff(srnic_reads_at(reads, i)->end, psn) > 0)
			break;

	return i;
}

/**
 * srnic_reads_end() - how far may a request that begins at a PSN reach?
 * @reads: the READs in flight
 * @psn: the PSN
 * @high: PSN following all that is in flight
 *
 * Return: the end of the READ or atomic that @psn belongs to, or of the next one; @high: there
 * is none.
 */
u32 srnic_reads_end(const struct srnic_reads *reads, u32 psn, u32 high);

/**
 * srnic_reads_whole() - the length of a READ or atomic
 * @reads: the READs in flight
 * @psn: where it begins
 *
 * Return: PSNs of its answer; 0: none begins there.
 */
u32 srnic_reads_whole(const struct srnic_reads *reads, u32 psn);

/**
 * srnic_reads_lost() - how many packets have been lost, if responses are missing?
 * @reads: the READs in flight
 * @psn: the first PSN that is missing
 * @npsn: their number
 *
 * If no response to a READ has arrived, its request was lost.
 *
 * Return: the number of packets.
 */
u32 srnic_reads_lost(const struct srnic_reads *reads, u32 psn, u32 npsn);

/* May the oldest be split, as far as there is memory for one more? */
static inline bool srnic_reads_may_split(const struct srnic_reads *reads)
{
	return reads->num < SRNIC_MAX_RD_ATOMIC;
}

/*
 * Are more in flight than the peer remembers, since one was split?  When it gets the second part,
 * it may execute all.
 */
static inline bool srnic_reads_is_crowded(const struct srnic_reads *reads)
{
	return reads->num > reads->places;
}

/* Places that are free, 1 at least */
static inline u32 srnic_reads_free(const struct srnic_reads *reads)
{
	return max_t(u32, reads->places, reads->num + 1) - reads->num;
}

#endif /* SRNIC_XPORT_READS_H */
