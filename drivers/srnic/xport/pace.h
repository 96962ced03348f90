/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - pacing: the window of a long path is sent over a round trip, not at once
 *
 * A virtual clock (GCRA): each PSN that is sent moves the time at which the next burst of
 * packets may leave.  A burst is what the path takes in a millisecond.  Pure, like struct
 * srnic_cwnd and struct srnic_rtt, which it reads.  No other file writes a field of struct
 * srnic_pace or struct srnic_pace_told.
 */
#ifndef SRNIC_XPORT_PACE_H
#define SRNIC_XPORT_PACE_H

#include <linux/minmax.h>
#include <linux/types.h>

#include "cwnd.h"
#include "rtt.h"

/**
 * struct srnic_pace - pacing of one direction of a connection
 * @next: when the next burst may leave, ns
 * @step: time that a PSN takes at the rate of the current burst, ns
 * @credit: PSNs of the current burst that may still leave
 * @waiting: a burst was refused, and leaves at @next
 */
struct srnic_pace {
	u64	next;
	u64	step;
	u32	credit;
	bool	waiting;
};

/**
 * struct srnic_pace_told - how fast responses are to come, as the peer was told last
 * @pace: as in struct srnic_sack_hdr; 0: at once
 * @at: when that was, ns
 */
struct srnic_pace_told {
	u8	pace;
	u64	at;
};

/* Begins anew, with nothing in flight. */
void srnic_pace_reset(struct srnic_pace *pace);

/**
 * srnic_pace_step() - how long a PSN takes
 * @cwnd: congestion window
 * @nsec: round trip, ns
 *
 * Return: ns, not 0, so that the window leaves a little faster than in a round trip.
 */
u64 srnic_pace_step(const struct srnic_cwnd *cwnd, u64 nsec);

/**
 * srnic_pace_start() - begin another burst of requests if it is time
 * @pace: pacing
 * @cwnd: congestion window
 * @rtt: round trips of a long path
 * @most: PSNs of a GSO chain
 * @now: time
 *
 * Return: false if the burst may leave at @next only.
 */
bool srnic_pace_start(struct srnic_pace *pace, const struct srnic_cwnd *cwnd,
		      const struct srnic_rtt *rtt, u32 most, u64 now);

/**
 * srnic_pace_answer() - begin another burst of responses if it is time
 * @pace: pacing
 * @step: how long the requester wants a PSN to take, ns
 * @most: PSNs of a burst, unless they take less than 50 us
 * @now: time
 *
 * Return: as srnic_pace_start().
 */
bool srnic_pace_answer(struct srnic_pace *pace, u64 step, u32 most, u64 now);

/* May the peer have to be told, before @npsn responses are requested? */
static inline bool srnic_pace_concerns(const struct srnic_pace_told *told,
				       const struct srnic_rtt *rtt, u32 npsn)
{
	return told->pace || (npsn > 1 && srnic_rtt_is_long(rtt));
}

/**
 * srnic_pace_tell() - is the peer to be told how fast responses are to come?
 * @told: what it was told last; if it is to be told, what it is told now
 * @cwnd: congestion window, which is to come in a round trip
 * @rtt: round trips
 * @srnic: the peer is known to be srnic
 * @now: time
 *
 * It is told in each round trip, since a SACK may be lost; and at once if the pace changes, but
 * only if it is known to be srnic.
 *
 * Return: true if it is.
 */
bool srnic_pace_tell(struct srnic_pace_told *told, const struct srnic_cwnd *cwnd,
		     const struct srnic_rtt *rtt, bool srnic, u64 now);

/* May a packet be sent without a look at the clock? */
static inline bool srnic_pace_is_open(const struct srnic_pace *pace, const struct srnic_rtt *rtt)
{
	return pace->credit || !srnic_rtt_is_long(rtt);
}

/* @npsn PSNs were sent. */
static inline void srnic_pace_sent(struct srnic_pace *pace, u32 npsn)
{
	if (!pace->credit)
		return;

	pace->credit -= min(pace->credit, npsn);
	pace->next += pace->step * npsn;
}

/*
 * @npsn PSNs were sent, or requested.  What is more than the window, as a READ that cannot be
 * divided may be, takes a round trip nevertheless.
 */
static inline void srnic_pace_requested(struct srnic_pace *pace, const struct srnic_cwnd *cwnd,
					u32 npsn)
{
	srnic_pace_sent(pace, min(npsn, cwnd->window));
}

#endif /* SRNIC_XPORT_PACE_H */
