/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - loss recovery: what is sent again after a loss, a report or silence
 *
 * The requester of a reliable queue pair reports what was sent and acknowledged, and is told
 * what to do.  Each field of struct srnic_recovery is written by one file: by recovery.c, unless
 * flight.h, loss.h or rto.h names it, or it is one of @rtt, @cwnd, @sb and @reads, which rtt.c,
 * cwnd.c, scoreboard.c and reads.c write.  Pure: it reads no clock, takes no lock and sees no
 * packet.  Times are ns of a monotonic clock.
 */
#ifndef SRNIC_XPORT_RECOVERY_H
#define SRNIC_XPORT_RECOVERY_H

#include <linux/types.h>

#include "cwnd.h"
#include "reads.h"
#include "rtt.h"
#include "scoreboard.h"

/* Memory for the response to another PSN is assumed after as many acknowledged */
#define SRNIC_RECOVERY_FAR_PARTS	4U

/* Not the length of a hole: the response has arrived, and is about to be handled. */
#define SRNIC_RECOVERY_KEPT	(~0U)

/* Nor is this: a response is next, and may be right behind what has arrived. */
#define SRNIC_RECOVERY_DUE	(~0U - 1)

/**
 * enum srnic_recovery_mode - what is known about the packet at @una
 * @SRNIC_RECOVERY_OPEN: nothing; new packets are sent as the window allows
 * @SRNIC_RECOVERY_SUSPECT: the peer misses it; it is retransmitted unless it was merely
 *			reordered.  New packets are sent
 * @SRNIC_RECOVERY_REPAIR: it was retransmitted.  The peer is assumed to keep packets that
 *			 arrive out of order, so new packets are sent
 * @SRNIC_RECOVERY_SELECT: it is missing, and more is known: of what is missing behind it,
 *			 everything that is lost is retransmitted within the window
 * @SRNIC_RECOVERY_BACK: everything from @una on is retransmitted before new packets, until this
 *	turns out to have kept responses behind it
 * @SRNIC_RECOVERY_RNR: the peer had no receive for it; nothing is sent for a while
 */
enum srnic_recovery_mode {
	SRNIC_RECOVERY_OPEN,
	SRNIC_RECOVERY_SUSPECT,
	SRNIC_RECOVERY_REPAIR,
	SRNIC_RECOVERY_SELECT,
	SRNIC_RECOVERY_BACK,
	SRNIC_RECOVERY_RNR,
};

/* Does the peer keep packets that arrive out of order? */
enum srnic_recovery_keeps {
	SRNIC_KEEPS_UNKNOWN,
	SRNIC_KEEPS_ALL,
	SRNIC_KEEPS_NONE,
};

/* What the caller has to do after an event */
enum srnic_recovery_act {
	SRNIC_RECOVERY_NOTHING,
	SRNIC_RECOVERY_SEEK,	/* move the cursor of the send queue to @next */
	SRNIC_RECOVERY_FAIL,	/* retries are exhausted: end the queue pair */
};

/* Cause of an action, for trace points and counters */
enum srnic_recovery_cause {
	SRNIC_CAUSE_NONE,
	SRNIC_CAUSE_MEMORY,	/* the wait after a failed allocation is over */
	SRNIC_CAUSE_RNR,	/* the RNR timer has expired, or no RNR retry is left */
	SRNIC_CAUSE_ASK,	/* packets are in flight and none requests an ACK */
	SRNIC_CAUSE_PROBE,	/* the answer takes longer than round trips do */
	SRNIC_CAUSE_GAP,	/* a NAK or a response ahead of others reported a gap */
	SRNIC_CAUSE_TIMEOUT,	/* the ACK timeout has expired */
	SRNIC_CAUSE_NUM
};

/**
 * struct srnic_recovery_todo - the outcome of an event
 * @act: enum srnic_recovery_act
 * @cause: enum srnic_recovery_cause
 */
struct srnic_recovery_todo {
	u8	act;
	u8	cause;
};

/**
 * struct srnic_recovery - the packets that a requester has in flight, and what is known of them
 * @rtt: round trips, and the ACK timeout
 * @cwnd: congestion window
 * @sb: what is missing, in mode SELECT
 * @reads: READ and atomic requests without a complete answer
 * @psn: next PSN to assign to a work request
 * @una: oldest unacknowledged PSN
 * @next: next PSN to send; less than @high during retransmission
 * @high: PSN following the highest that was ever sent
 * @resume: PSN at which sending resumes after a detour; valid while @detour is not 0
 * @detour: PSNs to retransmit now, regardless of the window
 * @asked: PSN following the last for which an answer has been requested
 * @since_ackreq: packets sent since the last that requested an ACK
 * @mode: enum srnic_recovery_mode
 * @keeps: enum srnic_recovery_keeps
 * @late: the timer is off while a page is fetched that the answer may wait for
 * @follows: SUSPECT, BACK: the answer to the request at @una follows that to one that was
 *	     retransmitted, if the peer has kept it
 * @heard: times that the retries were renewed without progress
 * @postponed: times that the timer was put off without progress
 * @retry_left: transport retries left
 * @rnr_left: RNR retries left
 * @burst: REPAIR: PSNs retransmitted last; SELECT: length of the detour; BACK: PSNs that may be
 *	   in flight
 * @selected: SELECT: where the last detour began
 * @far: PSNs from @una on for whose responses this end has memory, as far as is known, in parts
 * @told: SELECT: PSNs reported to have arrived since the last progress, more than once if forgotten
 * @run: consecutive PSNs missing, as far as is known
 * @gbn_runs: recoveries in a row in which the peer had kept nothing out of order
 * @peer_keeps: an ACK of this recovery covered packets that were not retransmitted
 * @selects: the peer is srnic, and answers any part of a READ again
 * @moved: @next has moved, and the caller has not been told yet
 * @mark: packets before it were sent before the last retransmission, unless that was undone
 * @answered: SELECT: PSN following the last response that has arrived
 * @undone: retransmissions of packets before it turned out to be spurious
 * @unreported: PSN following the packets in flight that may have been dropped without a report:
 *	    by the peer, because one before them was missing, or by this end
 * @repair: REPAIR, SELECT, BACK: enum srnic_recovery_cause
 * @repaired: REPAIR: PSN following those retransmitted
 * @repaired_at: REPAIR, BACK: when a packet at @una was last sent, ns; 0: retransmission pending
 * @began_at: SELECT: when the first packet of the last detour was retransmitted, ns; 0: not yet
 * @sent_at: SELECT: when a packet of the last detour was retransmitted, or refused, ns
 * @late_nsec: SELECT: how late a packet may be, if no round trip is known, ns
 * @hold: nothing is sent before this time, ns; 0: no such time
 * @suspect_until: when a packet that may only be late is retransmitted, or was after a wait, ns;
 *		   0: neither
 * @silence: when to act on silence, ns; 0: nothing is waited for
 * @deadline: when srnic_recovery_timeout() is due: @silence, @suspect_until or the tick of @cwnd;
 *	      0: it is not
 * @retry_cnt: transport retries without progress
 * @rnr_retry: RNR retries without progress, 7: unlimited
 */
struct srnic_recovery {
	struct srnic_rtt		rtt;
	struct srnic_cwnd		cwnd;
	struct srnic_scoreboard		sb;
	u32				psn;
	u32				una;
	u32				next;
	u32				high;
	u32				resume;
	u32				detour;
	u32				asked;
	u32				since_ackreq;
	u8				mode;
	u8				keeps;
	bool				late;
	bool				follows;
	u8				repair;
	bool				peer_keeps;
	bool				selects;
	bool				moved;
	u8				gbn_runs;
	u8				heard : 5;
	u8				postponed : 2;
	u8				retry_left;
	u8				rnr_left;
	u32				burst;
	u32				selected;
	u32				far;
	u32				told;
	u32				run;
	u32				mark;
	u32				answered;
	u32				undone;
	u32				unreported;
	u32				repaired;
	u64				repaired_at;
	u64				began_at;
	u64				sent_at;
	u64				late_nsec;
	u64				hold;
	u64				suspect_until;
	u64				silence;
	u64				deadline;
	u8				retry_cnt;
	u8				rnr_retry;
	struct srnic_reads		reads;
};

/**
 * srnic_recovery_start() - initialise, with nothing in flight
 * @r: loss recovery
 * @psn: initial PSN
 */
void srnic_recovery_start(struct srnic_recovery *r, u32 psn);

/**
 * srnic_recovery_set_limits() - set the limits that the verbs configure
 * @r: loss recovery
 * @timeout: ACK timeout, ns; 0: none
 * @retry_cnt: transport retries
 * @rnr_retry: RNR retries, 7: unlimited
 * @places: READs and atomics that may be outstanding; 0: as 1
 */
void srnic_recovery_set_limits(struct srnic_recovery *r, u64 timeout, u8 retry_cnt,
			       u8 rnr_retry, u8 places);

/**
 * srnic_recovery_skip() - continue at another PSN, with nothing in flight
 * @r: loss recovery
 * @psn: PSN of the next packet
 */
void srnic_recovery_skip(struct srnic_recovery *r, u32 psn);

/**
 * srnic_recovery_sent() - account for a packet that was sent
 * @r: loss recovery
 * @npsn: PSNs that it takes
 * @response: it requests a response, not just an ACK
 * @asks: it requests an answer of either kind
 * @now: time
 *
 * Return: true if the cursor of the send queue must be moved to @next.
 */
bool srnic_recovery_sent(struct srnic_recovery *r, u32 npsn, bool response, bool asks,
			 u64 now);

/**
 * srnic_recovery_pass() - skip packets at @next that are not to be retransmitted now
 * @r: loss recovery
 * @npsn: number of PSNs
 *
 * Return: as srnic_recovery_sent().
 */
bool srnic_recovery_pass(struct srnic_recovery *r, u32 npsn);

/**
 * srnic_recovery_acked() - everything before @psn is acknowledged
 * @r: loss recovery
 * @psn: greater than @una
 * @hole: responses known to be missing from @psn on; 0: none, or not known;
 *        SRNIC_RECOVERY_KEPT: that at @psn was kept, and its turn is next;
 *        SRNIC_RECOVERY_DUE: that at @psn is next, and none behind it has arrived
 * @now: time
 *
 * Return: what to do.
 */
struct srnic_recovery_todo srnic_recovery_acked(struct srnic_recovery *r, u32 psn, u32 hole,
						u64 now);

/**
 * srnic_recovery_missing() - the packet at @una is missing, and a later one arrived
 * @r: loss recovery
 * @gap: number of missing responses; 0: not known
 * @now: time
 *
 * Reported by a NAK for a PSN sequence error, or by a response ahead of others.
 *
 * Return: what to do.
 */
struct srnic_recovery_todo srnic_recovery_missing(struct srnic_recovery *r, u32 gap, u64 now);

/**
 * srnic_recovery_arrived() - a response has arrived and is kept, since one before it is missing
 * @r: loss recovery
 * @psn: its PSN, in flight, after srnic_recovery_missing() has told of the gap
 * @now: time
 *
 * Return: what to do.
 */
struct srnic_recovery_todo srnic_recovery_arrived(struct srnic_recovery *r, u32 psn, u64 now);

/**
 * srnic_recovery_recall() - responses have been kept for some time
 * @r: loss recovery
 * @psn: PSN of the first, in flight
 * @npsn: their number
 * @now: time
 *
 * Return: what to do.
 */
struct srnic_recovery_todo srnic_recovery_recall(struct srnic_recovery *r, u32 psn, u32 npsn,
						 u64 now);

/**
 * srnic_recovery_understood() - the peer has sent a SACK: it is srnic
 * @r: loss recovery
 */
void srnic_recovery_understood(struct srnic_recovery *r);

/**
 * srnic_recovery_sacked() - a SACK of the peer lists what it has kept
 * @r: loss recovery
 * @psn: the first PSN that the peer misses, up to @high; it has all before
 * @now: time
 *
 * Return: true if srnic_loss_kept() is to be called for each range that the peer has kept,
 * and then srnic_recovery_select().
 */
bool srnic_recovery_sacked(struct srnic_recovery *r, u32 psn, u64 now);

/**
 * srnic_recovery_select() - all that a SACK lists has been reported
 * @r: loss recovery
 * @seen: PSN following the last in flight that the peer has seen, even if it was not kept
 * @now: time
 *
 * Return: what to do.
 */
struct srnic_recovery_todo srnic_recovery_select(struct srnic_recovery *r, u32 seen, u64 now);

/**
 * srnic_recovery_heard() - a packet of the peer has arrived that acknowledges nothing new
 * @r: loss recovery
 *
 * The peer is alive, and what was sent may only be late: it renews the retries, a limited
 * number of times.
 */
void srnic_recovery_heard(struct srnic_recovery *r);

/**
 * srnic_recovery_dropped() - packets have been dropped, which nobody is going to report
 * @r: loss recovery
 * @here: by this end: responses that had arrived; else by the peer, whose NAK cannot be
 *	  obeyed, because it was overtaken, or has overtaken
 * @now: time
 *
 * From now on only a timer can find out which.
 */
void srnic_recovery_dropped(struct srnic_recovery *r, bool here, u64 now);

/* As srnic_recovery_dropped(): a response for which there is no memory beside @kept others */
void srnic_recovery_full(struct srnic_recovery *r, u32 kept, u64 now);

/**
 * srnic_recovery_rnr() - the peer has no receive for the packet at @una
 * @r: loss recovery
 * @nsec: how long to wait
 * @now: time
 *
 * Return: what to do.
 */
struct srnic_recovery_todo srnic_recovery_rnr(struct srnic_recovery *r, u64 nsec, u64 now);

/**
 * srnic_recovery_refused() - @next cannot be sent; all before it is to complete first
 * @r: loss recovery, with packets in flight before @next, or before @resume of a detour
 * @now: time
 *
 * An ACK must be requested by a packet that can be retransmitted: the one at @una.
 *
 * Return: what to do.
 */
struct srnic_recovery_todo srnic_recovery_refused(struct srnic_recovery *r, u64 now);

/**
 * srnic_recovery_timeout() - the deadline has passed
 * @r: loss recovery
 * @busy: a page is being fetched that the answer may wait for
 * @now: time
 *
 * Return: what to do.
 */
struct srnic_recovery_todo srnic_recovery_timeout(struct srnic_recovery *r, bool busy, u64 now);

/* ACK timeouts and losses since the last progress */
static inline u32 srnic_recovery_retries(const struct srnic_recovery *r)
{
	return r->retry_cnt - r->retry_left;
}

/* May packets in flight have been dropped without a report? */
static inline bool srnic_recovery_is_unreported(const struct srnic_recovery *r)
{
	return srnic_psn_diff(r->unreported, r->una) > 0;
}

#endif /* SRNIC_XPORT_RECOVERY_H */
