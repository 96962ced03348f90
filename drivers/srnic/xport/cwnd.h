/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - congestion window of a connection: how many PSNs may be in flight
 *
 * The window grows exponentially until it is cut, but by a packet per round trip or less while
 * round trips are longer than before, and little where packets were dropped last.  Where round
 * trips do not tell whether a queue makes them long, a growth is tried, and taken back if they
 * have grown with the window.  It is cut when a loss coincides with a queue, or when more
 * packets are missing than are lost by chance.
 * Pure, like struct srnic_rtt, which it reads.  No other file writes a field of struct
 * srnic_cwnd.
 */
#ifndef SRNIC_XPORT_CWND_H
#define SRNIC_XPORT_CWND_H

#include <linux/minmax.h>
#include <linux/types.h>

#include "../wire/psn.h"
#include "rtt.h"

/* Initial window; RFC 6928 permits 10 packets of up to 1460 bytes */
#define SRNIC_CWND_FIRST	8

/* Up to this size the window grows on any path; fills most within a host or a rack */
#define SRNIC_CWND_SHORT	128

/* Largest window: 16 MiB of path MTUs of 1024 bytes, 64 MiB of 4096 */
#define SRNIC_CWND_MAX		16384

/* This many consecutive packets are not lost by chance. */
#define SRNIC_CWND_QUEUE_RUN	4

/* Losing more than this part of a round trip's packets indicates queue overflow. */
#define SRNIC_CWND_QUEUE_PART	16

/**
 * struct srnic_cwnd - congestion window
 * @window: PSNs that may be in flight
 * @credit: growth that is less than a packet, in 64ths of a packet times @window
 * @limited: PSN following those in flight when the window was last full
 * @top: @window when packets were dropped last; 0: they were not, or not because of it
 * @cut: the window is cut once for all losses before it
 * @through: packets of the flight for which it was cut that have arrived, or may; more than
 *	     @window if it was cut for another reason
 * @round: end of the current round trip's worth of packets
 * @holes: retransmissions since the last end of a round
 * @extra: PSNs allowed in flight beyond @window, for packets assumed to have arrived
 * @tick: when @extra grows next, ns; 0: it does not
 * @lap: end of the current round of packets whose round trips are compared, 64 at least
 * @was: @window at the end of a round before, with which the current one is compared
 * @base: shortest round trip of that round, ns; 0: not to be compared with
 * @mean: mean round trip of that round, ns
 * @least: shortest round trip of the current round, ns; 0: none yet
 * @sum: sum of the round trips of the current round, ns
 * @num: number of these
 * @from: @window before the growth that is on trial; 0: none is
 * @rounds: rounds until the trial ends, or until one may begin
 * @step: eighths of the window by which a trial lets it grow
 * @pause: rounds without a trial after the next one that is of no use
 * @settling: rounds until the round trip is that of @window, which has grown without a trial
 * @probing: on a long path: trials have not been shown to be of no use, and may pass @top
 * @steep: @mean was longer than that of the round before
 * @startup: the window has not been cut yet, and grows exponentially where no queue is seen
 * @lossy: the window is small because packets were dropped
 * @crowded: it was cut last for a few packets, lost while the queue was full: others share it
 * @added: while @crowded, the packet by which the window has grown last
 * @adding: whether @added gets through is not known yet
 * @room: packets added in a row that got through
 * @ease: log2 of the factor by which a crowded window grows faster than a share of a queue
 */
struct srnic_cwnd {
	u32	window;
	u64	credit;
	u32	limited;
	u32	top;
	u32	cut;
	u32	through;
	u32	round;
	u32	holes;
	u32	extra;
	u64	tick;
	u32	lap;
	u32	was;
	u64	base;
	u64	mean;
	u64	least;
	u64	sum;
	u32	num;
	u32	from;
	u8	rounds;
	u8	step;
	u8	pause;
	u8	settling;
	bool	probing;
	bool	steep;
	bool	startup;
	bool	lossy;
	bool	crowded;
	u32	added;
	bool	adding;
	u8	room;
	u8	ease;
};

/**
 * struct srnic_cwnd_loss - packets that are missing
 * @una: oldest unacknowledged PSN
 * @high: PSN following the highest that was ever sent
 * @out: PSNs in flight
 * @run: consecutive PSNs missing, as far as is known
 * @lost: PSNs now found to be lost that had not been lost before; 0: their number is not known
 * @single: what arrives behind them is kept, so that each loss is found by itself
 */
struct srnic_cwnd_loss {
	u32	una;
	u32	high;
	u32	out;
	u32	run;
	u32	lost;
	bool	single;
};

/* Initialises @cwnd, which is zero, before srnic_cwnd_skip(). */
void srnic_cwnd_start(struct srnic_cwnd *cwnd);

/* Nothing is in flight, and @psn is sent next. */
void srnic_cwnd_skip(struct srnic_cwnd *cwnd, u32 psn);

/* PSNs that may be in flight now */
static inline u32 srnic_cwnd_limit(const struct srnic_cwnd *cwnd)
{
	return min_t(u32, cwnd->window + cwnd->extra, SRNIC_CWND_MAX);
}

/*
 * Packets between two ACK requests if @limit may be in flight; few, so that an ACK does not release
 * a burst.
 */
u32 srnic_cwnd_ack_every(const struct srnic_rtt *rtt, u32 limit);

/* The window is full; @front: PSN following those in flight */
void srnic_cwnd_full(struct srnic_cwnd *cwnd, u32 front);

/* Ends the recovery of losses: nothing is let out in advance. */
void srnic_cwnd_stop_ticks(struct srnic_cwnd *cwnd);

/* @npsn PSNs, all before @psn, are acknowledged, before the loss of others is judged. */
void srnic_cwnd_acked(struct srnic_cwnd *cwnd, u32 psn, u32 high, u32 npsn);

/* @psn is the oldest unacknowledged PSN now. */
void srnic_cwnd_advance(struct srnic_cwnd *cwnd, u32 psn);

/**
 * srnic_cwnd_grow() - packets are acknowledged, and none is lost
 * @cwnd: the window
 * @rtt: round trips
 * @una: oldest PSN that was unacknowledged before
 * @npsn: number of packets
 */
void srnic_cwnd_grow(struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt, u32 una,
		     u32 npsn);

/*
 * Packets are lost.  If a queue dropped them, the window is reduced; otherwise the loss is
 * no reason to slow down.
 */
void srnic_cwnd_lose(struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt,
		     const struct srnic_cwnd_loss *loss);

/* Another packet, the oldest one in flight, has been found to be missing. */
void srnic_cwnd_found_hole(struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt,
			   const struct srnic_cwnd_loss *loss);

/* What is in flight, up to @high, is lost, but no queue dropped it. */
void srnic_cwnd_forgive(struct srnic_cwnd *cwnd, u32 high);

/* Packets that seemed lost have arrived. */
void srnic_cwnd_undo(struct srnic_cwnd *cwnd);

/* Has the window been cut for losses of this recovery?  @una: oldest PSN in flight */
static inline bool srnic_cwnd_is_cut(const struct srnic_cwnd *cwnd, u32 una)
{
	return srnic_psn_diff(una, cwnd->cut) < 0;
}

/* How long a tick takes, ns */
u64 srnic_cwnd_tick_nsec(const struct srnic_rtt *rtt);

/* Starts ticks, unless they run.  @release: packets may be released by time */
void srnic_cwnd_start_ticks(struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt,
			    bool release, u64 now);

/* A tick is due: releases what is sent in that time.  @release: as above */
void srnic_cwnd_release_tick(struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt,
			     bool release, u64 now);

#endif /* SRNIC_XPORT_CWND_H */
