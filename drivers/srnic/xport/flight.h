/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - flight: which PSNs are in flight, which are lost, how many may be sent
 *
 * Loss recovery and congestion window of the requester of a reliable queue pair.  No
 * other file writes a field of struct srnic_flight.  Pure: it reads no clock, takes no
 * lock and sees no packet.  Times are ns of a monotonic clock.
 */
#ifndef SRNIC_XPORT_FLIGHT_H
#define SRNIC_XPORT_FLIGHT_H

#include <linux/types.h>

/* Initial window; RFC 6928 permits 10 packets of up to 1460 bytes */
#define SRNIC_FLIGHT_FIRST	8

/* Smallest window on a path that is known to be short; fills any within a host or a rack */
#define SRNIC_FLIGHT_WINDOW	128

/* Largest window: 16 MiB of path MTUs of 1024 bytes, 64 MiB of 4096 */
#define SRNIC_FLIGHT_MAX	16384

/* Response PSNs per READ request at most, unless too few READs may be outstanding */
#define SRNIC_FLIGHT_READ	128

/* Most READs and atomics that a queue pair has outstanding */
#define SRNIC_MAX_RD_ATOMIC	128

/* Not the length of a hole: the response has arrived, and is about to be handled. */
#define SRNIC_FLIGHT_KEPT	(~0U)

/* Nor is this: a response is next, and may be right behind what has arrived. */
#define SRNIC_FLIGHT_DUE	(~0U - 1)

/* Round trips measured at a time */
#define SRNIC_FLIGHT_SAMPLES	8

/**
 * enum srnic_flight_mode - what is known about the packet at @una
 * @SRNIC_FLIGHT_OPEN: nothing; new packets are sent as the window allows
 * @SRNIC_FLIGHT_DOUBT: the peer misses it; it is retransmitted unless it was merely
 *			reordered.  New packets are sent
 * @SRNIC_FLIGHT_REPAIR: it was retransmitted.  The peer is assumed to keep packets that
 *			 arrive out of order, so new packets are sent
 * @SRNIC_FLIGHT_BACK: everything from @una on is retransmitted before new packets
 * @SRNIC_FLIGHT_RNR: the peer had no receive for it; nothing is sent for a while
 */
enum srnic_flight_mode {
	SRNIC_FLIGHT_OPEN,
	SRNIC_FLIGHT_DOUBT,
	SRNIC_FLIGHT_REPAIR,
	SRNIC_FLIGHT_BACK,
	SRNIC_FLIGHT_RNR,
};

/* Does the peer keep packets that arrive out of order? */
enum srnic_flight_keeps {
	SRNIC_KEEPS_UNKNOWN,
	SRNIC_KEEPS_ALL,
	SRNIC_KEEPS_NONE,
};

/* What the caller has to do after an event */
enum srnic_flight_act {
	SRNIC_FLIGHT_NOTHING,
	SRNIC_FLIGHT_SEEK,	/* move the cursor of the send queue to @next */
	SRNIC_FLIGHT_FAIL,	/* retries are exhausted: end the queue pair */
};

/* Cause of an action, for trace points and counters */
enum srnic_flight_cause {
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
 * struct srnic_flight_todo - the outcome of an event
 * @act: enum srnic_flight_act
 * @cause: enum srnic_flight_cause
 */
struct srnic_flight_todo {
	u8	act;
	u8	cause;
};

/**
 * struct srnic_flight_sample - a round trip that is being measured
 * @psn: packet that requests an acknowledgment
 * @sent: when it was sent
 */
struct srnic_flight_sample {
	u32	psn;
	u64	sent;
};

/**
 * struct srnic_flight - packets in flight
 * @psn: next PSN to assign to a work request
 * @una: oldest unacknowledged PSN
 * @next: next PSN to send; less than @high during retransmission
 * @high: PSN following the highest that was ever sent
 * @resume: PSN at which sending resumes after a detour; valid while @detour is not 0
 * @detour: PSNs to retransmit now, regardless of the window
 * @asked: PSN following the last for which an answer has been requested
 * @since_ackreq: packets sent since the last that requested an ACK
 * @mode: enum srnic_flight_mode
 * @keeps: enum srnic_flight_keeps
 * @startup: the window has not been cut yet, and grows exponentially where no queue is seen
 * @lossy: the window is small because packets were dropped
 * @soon: the last ambiguous answer came soon after a retransmission
 * @late: the timer is off while a page is fetched that the answer may wait for
 * @follows: DOUBT, BACK: the answer to the request at @una follows that to one that was
 *	     retransmitted, if the peer has kept it
 * @early: answers too early for the round trip since one was measured, up to 2
 * @probes: probes since the last progress; some remain until a round trip is measured
 * @backoff: log2 of the factor by which ACK timeouts are longer since some have expired
 * @heard: times that the retries were renewed without progress
 * @put_off: times that the timer was put off without progress
 * @retry_left: transport retries left
 * @rnr_left: RNR retries left
 * @window: PSNs that may be in flight
 * @credit: PSNs acknowledged since @window last grew, scaled up for fast growth
 * @burst: REPAIR: PSNs retransmitted last; BACK: PSNs that may be in flight
 * @run: consecutive PSNs missing, as far as is known
 * @fruitless: recoveries in a row in which the peer had kept nothing out of order
 * @jumped: an ACK of this recovery covered packets that were not retransmitted
 * @withheld: PSNs of the window not to be sent yet, to avoid a burst
 * @extra: PSNs allowed in flight beyond @window, for packets assumed to have arrived
 * @mark: packets before it were sent before the retransmission
 * @cut: the window is cut once for all losses before it
 * @round: end of the current round trip's worth of packets
 * @holes: retransmissions since the last end of a round
 * @undone: retransmissions of packets before it turned out to be spurious
 * @limited: PSN following those in flight when the window was last full
 * @untold: PSN following the packets in flight that may have been dropped without a report:
 *	    by the peer, because one before them was missing, or by this end
 * @repair: REPAIR, BACK: enum srnic_flight_cause
 * @gap: responses known to be missing at @una; 0: none, or requests are missing
 * @repaired: PSN following those retransmitted in mode REPAIR
 * @repaired_at: when the packet at @una was last sent, ns; 0: retransmission pending
 * @reorder: how late a packet may be because of reordering, ns
 * @hold: nothing is sent before this time, ns; 0: no such time
 * @doubt: when the packet at @una is retransmitted, or was after a wait, ns; 0: neither
 * @silence: when to act on silence, ns; 0: nothing is waited for
 * @tick: when @extra grows next, or @withheld shrinks, ns; 0: neither does
 * @deadline: when srnic_flight_timeout() is due: @silence or @tick; 0: it is not
 * @srtt: smoothed round trip time, ns; 0: not known
 * @rttvar: its variation, ns
 * @rtt: last round trip time, ns
 * @rtt_min: shortest recent round trip time, ns
 * @rtt_recent: shortest since @rtt_since, ns
 * @rtt_since: start of the current period of the search for the shortest, ns
 * @timeout: ACK timeout, ns; 0: none
 * @wait: round trip that late answers suggest, until one is measured, ns
 * @retry_cnt: transport retries without progress
 * @rnr_retry: RNR retries without progress, 7: unlimited
 * @samples: round trips being measured, oldest first
 * @num_samples: number of valid @samples
 * @rd_first: index of the oldest entry of @rd_end
 * @rd_out: READ and atomic requests without a complete answer
 * @rd_end: for each of these, the PSN following its answer
 */
struct srnic_flight {
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
	bool				startup;
	bool				lossy;
	bool				soon;
	bool				late;
	bool				follows;
	u8				repair;
	bool				jumped;
	u8				fruitless;
	u8				early;
	u8				probes;
	u8				backoff;
	u8				heard : 5;
	u8				put_off : 2;
	u8				retry_left;
	u8				rnr_left;
	u32				window;
	u32				credit;
	u32				burst;
	u32				run;
	u32				withheld;
	u32				extra;
	u32				gap;
	u32				mark;
	u32				cut;
	u32				round;
	u32				holes;
	u32				undone;
	u32				limited;
	u32				untold;
	u32				repaired;
	u64				repaired_at;
	u64				reorder;
	u64				hold;
	u64				doubt;
	u64				silence;
	u64				tick;
	u64				deadline;
	u64				srtt;
	u64				rttvar;
	u64				rtt;
	u64				rtt_min;
	u64				rtt_recent;
	u64				rtt_since;
	u64				timeout;
	u64				wait;
	u8				retry_cnt;
	u8				rnr_retry;
	u8				num_samples;
	u8				rd_first;
	u32				rd_out;
	struct srnic_flight_sample	samples[SRNIC_FLIGHT_SAMPLES];
	u32				rd_end[SRNIC_MAX_RD_ATOMIC];
};

/**
 * srnic_flight_start() - initialise, with nothing in flight
 * @f: the flight
 * @psn: initial PSN
 */
void srnic_flight_start(struct srnic_flight *f, u32 psn);

/**
 * srnic_flight_set_limits() - set the limits that the verbs configure
 * @f: the flight
 * @timeout: ACK timeout, ns; 0: none
 * @retry_cnt: transport retries
 * @rnr_retry: RNR retries, 7: unlimited
 */
void srnic_flight_set_limits(struct srnic_flight *f, u64 timeout, u8 retry_cnt,
			     u8 rnr_retry);

/**
 * srnic_flight_assign() - assign the next @npsn PSNs to a work request
 * @f: the flight
 * @npsn: number of PSNs
 *
 * Return: the first of them.
 */
u32 srnic_flight_assign(struct srnic_flight *f, u32 npsn);

/**
 * srnic_flight_skip() - continue at another PSN, with nothing in flight
 * @f: the flight
 * @psn: PSN of the next packet
 */
void srnic_flight_skip(struct srnic_flight *f, u32 psn);

/**
 * srnic_flight_forget() - treat what was sent as done; it is never acknowledged
 * @f: the flight
 */
void srnic_flight_forget(struct srnic_flight *f);

/**
 * srnic_flight_open() - may another packet be sent?
 * @f: the flight
 *
 * Return: true unless the window is full or sending is on hold (RNR, no memory).
 */
bool srnic_flight_open(struct srnic_flight *f);

/**
 * srnic_flight_span() - response PSNs that a READ request may ask for
 * @f: the flight, which is open
 * @left: response PSNs that are left, or missing in a row
 * @places: READs and atomics that may be outstanding
 *
 * Return: how many; 0: the window has no room for a request of useful size.
 */
u32 srnic_flight_span(struct srnic_flight *f, u32 left, u32 places);

/**
 * srnic_flight_may_read() - may a READ or an atomic be requested from @next on?
 * @f: the flight
 * @first: @next is the first PSN of the message
 * @places: READs and atomics that may be outstanding
 *
 * A new request takes a place.  A retransmitted request starts where an earlier one
 * did, or at @una, since a peer need not remember more than that.
 *
 * Return: true if it may.
 */
bool srnic_flight_may_read(const struct srnic_flight *f, bool first, u32 places);

/**
 * srnic_flight_wants_ack() - is the packet at @next to request an ACK?
 * @f: the flight
 * @awaited: the consumer waits for the ACK
 *
 * Return: true if it is.
 */
bool srnic_flight_wants_ack(struct srnic_flight *f, bool awaited);

/**
 * srnic_flight_asked() - is an acknowledgment due?
 * @f: the flight
 *
 * Return: true if a packet in flight has requested one.
 */
bool srnic_flight_asked(const struct srnic_flight *f);

/**
 * srnic_flight_sent() - account for a packet that was sent
 * @f: the flight
 * @npsn: PSNs that it takes
 * @response: it requests a response, not just an ACK
 * @asks: it requests an answer of either kind
 * @now: time
 *
 * Return: true if the cursor of the send queue must be moved to @next.
 */
bool srnic_flight_sent(struct srnic_flight *f, u32 npsn, bool response, bool asks,
		       u64 now);

/**
 * srnic_flight_pass() - skip packets at @next that need no retransmission
 * @f: the flight
 * @npsn: number of PSNs
 *
 * Return: as srnic_flight_sent().
 */
bool srnic_flight_pass(struct srnic_flight *f, u32 npsn);

/**
 * srnic_flight_acked() - everything before @psn is acknowledged
 * @f: the flight
 * @psn: greater than @una
 * @hole: responses known to be missing from @psn on; 0: none, or not known;
 *        SRNIC_FLIGHT_KEPT: that at @psn was kept, and its turn is next;
 *        SRNIC_FLIGHT_DUE: that at @psn is next, and none behind it has arrived
 * @now: time
 *
 * Return: what to do.
 */
struct srnic_flight_todo srnic_flight_acked(struct srnic_flight *f, u32 psn, u32 hole,
					    u64 now);

/**
 * srnic_flight_missing() - the packet at @una is missing, and a later one arrived
 * @f: the flight
 * @gap: number of missing responses; 0: not known
 * @now: time
 *
 * Reported by a NAK for a PSN sequence error, or by a response ahead of others.
 *
 * Return: what to do.
 */
struct srnic_flight_todo srnic_flight_missing(struct srnic_flight *f, u32 gap, u64 now);

/**
 * srnic_flight_heard() - a packet of the peer has arrived that acknowledges nothing new
 * @f: the flight
 *
 * The peer is alive, and what was sent may only be late: it renews the retries, a limited
 * number of times.
 */
void srnic_flight_heard(struct srnic_flight *f);

/**
 * srnic_flight_dropped() - packets have been dropped, which nobody is going to report
 * @f: the flight
 * @here: by this end: responses that had arrived; else by the peer, whose NAK cannot be
 *	  obeyed, because it was overtaken, or has overtaken
 * @now: time
 *
 * From now on only a timer can find out which.
 */
void srnic_flight_dropped(struct srnic_flight *f, bool here, u64 now);

/**
 * srnic_flight_rnr() - the peer has no receive for the packet at @una
 * @f: the flight
 * @nsec: how long to wait
 * @now: time
 *
 * Return: what to do.
 */
struct srnic_flight_todo srnic_flight_rnr(struct srnic_flight *f, u64 nsec, u64 now);

/**
 * srnic_flight_stall() - send nothing for a while, for lack of memory
 * @f: the flight
 * @nsec: how long to wait
 * @now: time
 */
void srnic_flight_stall(struct srnic_flight *f, u64 nsec, u64 now);

/**
 * srnic_flight_solicit_ack() - request an ACK now if none is due, for whoever waits for it
 * @f: the flight
 * @now: time
 */
void srnic_flight_solicit_ack(struct srnic_flight *f, u64 now);

/**
 * srnic_flight_refused() - @next cannot be sent; all before it is to complete first
 * @f: the flight, with packets in flight before @next, or before @resume of a detour
 *
 * An ACK must be requested by a packet that can be retransmitted: the one at @una.
 *
 * Return: what to do.
 */
struct srnic_flight_todo srnic_flight_refused(struct srnic_flight *f);

/**
 * srnic_flight_timeout() - the deadline has passed
 * @f: the flight
 * @busy: a page is being fetched that the answer may wait for
 * @now: time
 *
 * Return: what to do.
 */
struct srnic_flight_todo srnic_flight_timeout(struct srnic_flight *f, bool busy, u64 now);

/**
 * srnic_flight_put_off() - packets of the peer wait that may be the answer
 * @f: the flight
 * @now: time
 *
 * Restarts the timer if it waits for an answer and is due, a limited number of times without
 * progress.
 *
 * Return: true if it was.
 */
bool srnic_flight_put_off(struct srnic_flight *f, u64 now);

/**
 * srnic_flight_arm() - restart the timer: packets were sent, or the peer is alive
 * @f: the flight
 * @now: time
 */
void srnic_flight_arm(struct srnic_flight *f, u64 now);

/**
 * srnic_flight_slack() - how long after the deadline may the timer fire?
 * @f: the flight, with a deadline
 *
 * One interrupt then serves many queue pairs.  Most deadlines are those of answers that
 * arrive before; all others are kept.
 *
 * Return: the time, ns; at most the ACK timeout.
 */
u64 srnic_flight_slack(const struct srnic_flight *f);

/**
 * srnic_flight_is_held() - is sending on hold?
 * @f: the flight
 *
 * Return: true while waiting for the RNR timer or for memory.
 */
static inline bool srnic_flight_is_held(const struct srnic_flight *f)
{
	return f->hold;
}

/* Is the path long enough for more than the initial window to be of use? */
bool srnic_flight_is_long(const struct srnic_flight *f);

/**
 * srnic_flight_is_idle() - is nothing in flight, nor to be retransmitted?
 * @f: the flight
 *
 * Return: true if so.
 */
static inline bool srnic_flight_is_idle(const struct srnic_flight *f)
{
	return f->next == f->una && !f->detour && f->mode != SRNIC_FLIGHT_BACK;
}

/**
 * srnic_flight_rate() - current sending rate
 * @f: the flight
 * @now: time
 *
 * Return: PSNs per second, 0: not known.
 */
u64 srnic_flight_rate(const struct srnic_flight *f, u64 now);

#endif /* SRNIC_XPORT_FLIGHT_H */
