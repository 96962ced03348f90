/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - loss detection: what has arrived, and which packets are lost rather than late
 *
 * In mode SELECT reports of the peer, and responses that arrive ahead of others, become holes of
 * the scoreboard.  A hole is lost once its packets have been waited for, and then it is to be
 * filled.  Pure: it reads no clock, takes no lock and sees no packet.  Times are ns of a
 * monotonic clock.  Of struct srnic_recovery it writes @told, @answered and @late_nsec, which no
 * other file does.
 */
#ifndef SRNIC_XPORT_LOSS_H
#define SRNIC_XPORT_LOSS_H

#include "recovery.h"

/* Packets that a peer may report beside twice those in flight, without progress */
#define SRNIC_LOSS_TOLD		32

/**
 * struct srnic_loss_found - what has been found to be lost
 * @next_at: when the next hole is lost of those whose packets may only be late, ns; 0: none is
 * @any: holes are lost that were not before
 * @first: the first hole is one of them, which takes a retry
 * @ends: and there is none for it: that is the end
 */
struct srnic_loss_found {
	u64	next_at;
	bool	any;
	bool	first;
	bool	ends;
};

/**
 * srnic_loss_kept() - the peer has kept packets
 * @r: loss recovery
 * @psn: first of them, behind @una
 * @npsn: their number; all of them are in flight
 * @now: time
 *
 * In mode SELECT, which srnic_recovery_sacked() enters.
 */
void srnic_loss_kept(struct srnic_recovery *r, u32 psn, u32 npsn, u64 now);

/**
 * srnic_loss_recalls() - is it to be told again what has arrived?
 * @r: loss recovery
 *
 * More was missing than it can remember, and some of that has arrived since.
 *
 * Return: true if the next responses that are kept, from @sb.top on, are to be reported to
 * srnic_recovery_recall(), or else srnic_loss_recalled() is to be called.
 */
bool srnic_loss_recalls(const struct srnic_recovery *r);

/**
 * srnic_loss_recalled() - no response is kept from @sb.top on
 * @r: loss recovery
 */
void srnic_loss_recalled(struct srnic_recovery *r);

/*
 * The rest is for recovery.c, which decides what is done about a loss.
 */

/*
 * Has the peer reported more than there is in flight?  What the scoreboard has forgotten is told
 * to it again, and reports may overtake each other; but for that the peer has taken back some.
 */
static inline bool srnic_loss_is_doubtful(const struct srnic_recovery *r)
{
	return r->told > 2 * ((r->high - r->una) & SRNIC_PSN_MASK) + SRNIC_LOSS_TOLD;
}

/* Something was acknowledged: what is reported from now on is not doubtful. */
static inline void srnic_loss_progress(struct srnic_recovery *r)
{
	r->told = 0;
}

/*
 * How long to wait for a packet that may have been reordered, ns; 0: do not wait.  Nothing is
 * waited for that the peer takes back again and again.
 */
u64 srnic_loss_reorder_nsec(const struct srnic_recovery *r, u64 now);

/* How long to wait at least for the packet at una if its loss is the end, ns; 0: it is not */
u64 srnic_loss_last_nsec(const struct srnic_recovery *r);

/* Was the packet at una retransmitted long enough ago to have been lost again?  But in SELECT */
bool srnic_loss_recurs(const struct srnic_recovery *r, u64 now);

/*
 * Does this answer, to all before @psn, come too soon to be one to the retransmission?
 * Then it is one to the original: packets were reordered, or the round trip has become
 * longer.  So is an answer to more than was retransmitted by a probe, if just this answer
 * had been requested, or by a probe or a timeout, if no round trip is known.
 */
bool srnic_loss_is_spurious(const struct srnic_recovery *r, u32 psn, u64 now);

/* Mode SELECT begins: no hole is known yet. */
void srnic_loss_start(struct srnic_recovery *r, u64 now);

/* Mode SELECT: @npsn packets from una on are missing. */
void srnic_loss_missing(struct srnic_recovery *r, u32 npsn, u64 now);

/* Mode SELECT: the response @psn has arrived, and is kept. */
void srnic_loss_arrived(struct srnic_recovery *r, u32 psn, u64 now);

/* Mode SELECT: @npsn responses from @psn on, which it had forgotten, have been kept. */
void srnic_loss_recall(struct srnic_recovery *r, u32 psn, u32 npsn, u64 now);

/* Mode SELECT: una has become @psn.  @hole: as srnic_recovery_acked() */
void srnic_loss_acked(struct srnic_recovery *r, u32 psn, u32 hole, u64 now);

/* Mode SELECT: finds out which packets are lost now, and not just late. */
struct srnic_loss_found srnic_loss_detect(struct srnic_recovery *r, u64 now);

/* Index of the first lost hole that may be filled now; @sb.num: there is none. */
u32 srnic_loss_to_fill(const struct srnic_recovery *r);

#endif /* SRNIC_XPORT_LOSS_H */
