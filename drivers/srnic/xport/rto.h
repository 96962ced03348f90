/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - retransmission timer of a requester: when to act although nothing has arrived
 *
 * One timer serves three waits: for an answer, for packets that may only be late, and for the
 * end of a hold.  Pure: it reads no clock, takes no lock and sees no packet.  Times are ns of a
 * monotonic clock.  Of struct srnic_recovery it writes @late, @postponed, @hold,
 * @suspect_until, @silence and @deadline, which no other file does.
 */
#ifndef SRNIC_XPORT_RTO_H
#define SRNIC_XPORT_RTO_H

#include "recovery.h"

/* What a timer stands for that has expired */
enum srnic_rto_event {
	SRNIC_RTO_NOTHING,
	SRNIC_RTO_LATE,		/* packets that might only have been late are lost */
	SRNIC_RTO_SILENCE,	/* no answer has come, or the hold is over */
};

/**
 * srnic_rto_arm() - restart the timer: packets were sent, or the peer is alive
 * @r: loss recovery
 * @now: time
 */
void srnic_rto_arm(struct srnic_recovery *r, u64 now);

/**
 * srnic_rto_expired() - the deadline has passed
 * @r: loss recovery
 * @busy: a page is being fetched that the answer may wait for: then nothing else is
 * @now: time
 *
 * Return: what is due.  After SRNIC_RTO_SILENCE the timer has to be restarted.
 */
enum srnic_rto_event srnic_rto_expired(struct srnic_recovery *r, bool busy, u64 now);

/**
 * srnic_rto_slack() - how long after the deadline may the timer fire?
 * @r: loss recovery, with a deadline
 *
 * One interrupt then serves many queue pairs.  Most deadlines are those of answers that
 * arrive before; all others are kept.
 *
 * Return: the time, ns; at most the ACK timeout.
 */
u64 srnic_rto_slack(const struct srnic_recovery *r);

/**
 * srnic_rto_postpone() - packets of the peer wait that may be the answer
 * @r: loss recovery
 * @now: time
 *
 * Restarts the timer if it waits for an answer and is due, a limited number of times without
 * progress.
 *
 * Return: true if it was.
 */
bool srnic_rto_postpone(struct srnic_recovery *r, u64 now);

/**
 * srnic_rto_stall() - send nothing for a while, for lack of memory
 * @r: loss recovery
 * @nsec: how long to wait
 * @now: time
 */
void srnic_rto_stall(struct srnic_recovery *r, u64 nsec, u64 now);

/**
 * srnic_rto_solicit_ack() - request an ACK now if none is due, for whoever waits for it
 * @r: loss recovery
 * @now: time
 */
void srnic_rto_solicit_ack(struct srnic_recovery *r, u64 now);

/**
 * srnic_rto_is_held() - is sending on hold?
 * @r: loss recovery
 *
 * Return: true while waiting for the RNR timer or for memory.
 */
static inline bool srnic_rto_is_held(const struct srnic_recovery *r)
{
	return r->hold;
}

/*
 * The rest is for recovery.c and loss.c, which decide what is waited for.
 */

/* Is an event due, or overdue, that is to happen @at, if that is not zero? */
static inline bool srnic_rto_is_due(u64 at, u64 now)
{
	return at && now >= at;
}

/* What has arrived is progress: srnic_rto_arm() is to start the wait for an answer anew. */
static inline void srnic_rto_restart(struct srnic_recovery *r)
{
	r->silence = 0;
}

/* Something was acknowledged: the timer may be put off again. */
static inline void srnic_rto_progress(struct srnic_recovery *r)
{
	r->postponed = 0;
}

/* Packets that may only be late are waited for @until then, ns; 0: none are. */
static inline void srnic_rto_suspect(struct srnic_recovery *r, u64 until)
{
	r->suspect_until = until;
}

/* Nothing is sent @until then, ns; 0: sending is not on hold. */
static inline void srnic_rto_hold(struct srnic_recovery *r, u64 until)
{
	r->hold = until;
}

/* Sets the deadline to whichever comes first; what is waited for has changed. */
void srnic_rto_update(struct srnic_recovery *r);

#endif /* SRNIC_XPORT_RTO_H */
