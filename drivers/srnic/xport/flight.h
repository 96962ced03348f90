/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - flight: which PSNs are in flight, which are lost, how many may be sent
 *
 * Loss recovery and congestion window of the requester of a reliable queue pair.
 * Nobody else writes a field of struct srnic_flight.  Pure: it reads no clock, takes
 * no lock and sees no packet.  Times are ns of a clock that never goes back.
 */
#ifndef SRNIC_XPORT_FLIGHT_H
#define SRNIC_XPORT_FLIGHT_H

#include <linux/types.h>

/* Window that a connection starts with; it fills any path within a host, or rack */
#define SRNIC_FLIGHT_WINDOW	128

/* Largest window: 16 MiB of path MTUs of 1024 bytes, 64 MiB of 4096 */
#define SRNIC_FLIGHT_MAX	16384

/* PSNs of the response that one request for a READ asks for when nothing limits it */
#define SRNIC_FLIGHT_READ	128

/* READs and atomics that a queue pair has outstanding at most */
#define SRNIC_MAX_RD_ATOMIC	128

/* Round trips that are measured at a time */
#define SRNIC_FLIGHT_SAMPLES	8

/**
 * enum srnic_flight_mode - what is known about the packet at @una
 * @SRNIC_FLIGHT_OPEN: nothing: new packets are sent as the window allows
 * @SRNIC_FLIGHT_DOUBT: the peer misses it; it is retransmitted unless it was merely
 *			reordered.  New packets are sent
 * @SRNIC_FLIGHT_REPAIR: it was retransmitted.  The peer is taken to keep packets out
 *			 of order, so new packets are sent
 * @SRNIC_FLIGHT_BACK: everything from @una on is retransmitted before new packets
 * @SRNIC_FLIGHT_RNR: the peer had no receive for it: nothing is sent for a while
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

/* Why, for those who trace and count */
enum srnic_flight_cause {
	SRNIC_CAUSE_NONE,
	SRNIC_CAUSE_MEMORY,	/* time to try again after a failed allocation */
	SRNIC_CAUSE_RNR,	/* the RNR timer has expired, or there is no retry left */
	SRNIC_CAUSE_ASK,	/* packets are in flight and none asks for an ACK */
	SRNIC_CAUSE_PROBE,	/* the answer is later than round trips are */
	SRNIC_CAUSE_GAP,	/* the peer, or a response, said that packets are missing */
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
 * @psn: packet that asks for an acknowledgment
 * @sent: when it was sent
 */
struct srnic_flight_sample {
	u32	psn;
	u64	sent;
};

/**
 * struct srnic_flight - packets in flight
 * @psn: next PSN to assign to a work request
 * @una: oldest PSN not acknowledged
 * @next: PSN to send next; before @high while it retransmits
 * @high: PSN behind the last that was ever sent
 * @resume: where @next goes on after the retransmission, while @detour is not 0
 * @detour: PSNs that are to be retransmitted now, whatever the window
 * @asked: PSN behind those that an answer is due for
 * @since_ackreq: packets since the last that asked for an ACK
 * @mode: enum srnic_flight_mode
 * @keeps: enum srnic_flight_keeps
 * @startup: the window grows exponentially, as no queue was seen yet
 * @limited: the window was full since it grew last
 * @late: the timer is off while a page is fetched that the answer may wait for
 * @probes: probes since the last progress
 * @retry_left: transport retries left
 * @rnr_left: RNR retries left
 * @window: PSNs that may be in flight
 * @credit: PSNs acknowledged since @window grew
 * @burst: REPAIR: PSNs retransmitted last; BACK: PSNs that may be in flight
 * @run: PSNs in a row that were missing, as far as is known
 * @fruitless: recoveries in a row that found nothing kept behind what was lost
 * @jumped: an ACK of this recovery covered packets that were not retransmitted
 * @withheld: PSNs of the window that are not to be sent yet, as too many would be at once
 * @extra: PSNs that may be in flight beyond @window, as others arrive unacknowledged
 * @mark: packets before it were sent before the retransmission
 * @cut: the window is cut once for all losses before it
 * @undone: retransmissions of packets before it were found not to be needed
 * @repair: REPAIR: enum srnic_flight_cause
 * @gap: responses known to be missing at @una; 0: none, or it is requests that are
 * @repaired: PSN behind those retransmitted in mode REPAIR
 * @repaired_at: when the first of them was sent, 0: it waits to be sent
 * @reorder: how long a packet may be late because it was reordered, ns
 * @hold: nothing is sent before, ns; 0: no such time
 * @doubt: DOUBT: when it is retransmitted, ns
 * @silence: when something is done about silence, ns; 0: nothing is waited for
 * @tick: when @extra grows next, or @withheld shrinks, ns; 0: neither does
 * @deadline: when srnic_flight_timeout() is due: @silence or @tick; 0: it is not
 * @srtt: smoothed round trip time, ns; 0: not known
 * @rttvar: its variation, ns
 * @rtt: last round trip time, ns
 * @rtt_min: shortest round trip time of late, ns
 * @rtt_recent: shortest since @rtt_since, ns
 * @rtt_since: when the present period began in which the shortest is looked for, ns
 * @timeout: ACK timeout, ns; 0: there is none
 * @retry_cnt: transport retries in a row
 * @rnr_retry: RNR retries in a row, 7: without end
 * @samples: round trips being measured, oldest first
 * @num_samples: of these
 * @rd_first: first of those in @rd_end
 * @rd_out: requests for READs and atomics without a complete answer
 * @rd_end: PSN behind the answer of each
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
	bool				limited;
	bool				late;
	u8				repair;
	bool				jumped;
	u8				fruitless;
	u8				probes;
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
	u32				undone;
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
	u8				retry_cnt;
	u8				rnr_retry;
	u8				num_samples;
	u8				rd_first;
	u32				rd_out;
	struct srnic_flight_sample	samples[SRNIC_FLIGHT_SAMPLES];
	u32				rd_end[SRNIC_MAX_RD_ATOMIC];
};

/**
 * srnic_flight_start() - nothing is in flight, and the first packet has @psn
 * @f: the flight
 * @psn: initial PSN
 */
void srnic_flight_start(struct srnic_flight *f, u32 psn);

/**
 * srnic_flight_set_limits() - sets what the verbs set
 * @f: the flight
 * @timeout: ACK timeout, ns; 0: none
 * @retry_cnt: transport retries
 * @rnr_retry: RNR retries, 7: without end
 */
void srnic_flight_set_limits(struct srnic_flight *f, u64 timeout, u8 retry_cnt,
			     u8 rnr_retry);

/**
 * srnic_flight_assign() - gives the next @npsn PSNs to a work request
 * @f: the flight
 * @npsn: how many
 *
 * Return: the first.
 */
u32 srnic_flight_assign(struct srnic_flight *f, u32 npsn);

/**
 * srnic_flight_skip() - goes on with another PSN, and nothing in flight
 * @f: the flight
 * @psn: PSN of the next packet
 */
void srnic_flight_skip(struct srnic_flight *f, u32 psn);

/**
 * srnic_flight_forget() - what was sent is done: nobody will acknowledge it
 * @f: the flight
 */
void srnic_flight_forget(struct srnic_flight *f);

/**
 * srnic_flight_open() - may another packet be sent?
 * @f: the flight
 *
 * Return: true unless the window is full or the peer wants us to wait.
 */
bool srnic_flight_open(struct srnic_flight *f);

/**
 * srnic_flight_span() - PSNs of the response that a request for a READ may ask for
 * @f: the flight, which is open
 * @left: PSNs of the response that are left, or that are missing in a row
 * @places: requests that may be outstanding
 *
 * Return: how many, 0: the window is too full for a request that is worth it.
 */
u32 srnic_flight_span(struct srnic_flight *f, u32 left, u32 places);

/**
 * srnic_flight_may_read() - may a READ or an atomic be requested from @next on?
 * @f: the flight
 * @first: @next is the first PSN of the message
 * @places: requests that may be outstanding
 *
 * A new request takes a place.  A retransmitted one begins where a request began
 * before, or at @una: a peer may remember no more than that.
 *
 * Return: true if it may.
 */
bool srnic_flight_may_read(const struct srnic_flight *f, bool first, u32 places);

/**
 * srnic_flight_wants_ack() - is the packet at @next to ask for an ACK?
 * @f: the flight
 * @awaited: somebody waits for the ACK
 *
 * Return: true if it is.
 */
bool srnic_flight_wants_ack(struct srnic_flight *f, bool awaited);

/**
 * srnic_flight_asked() - is an acknowledgment due?
 * @f: the flight
 *
 * Return: true if a packet in flight asks for one.
 */
bool srnic_flight_asked(const struct srnic_flight *f);

/**
 * srnic_flight_sent() - a packet was sent
 * @f: the flight
 * @npsn: PSNs that it takes
 * @response: it asks for a response, not for an ACK
 * @asks: it asks for an answer
 * @now: time
 *
 * Return: true if the cursor of the send queue must be moved to @next.
 */
bool srnic_flight_sent(struct srnic_flight *f, u32 npsn, bool response, bool asks,
		       u64 now);

/**
 * srnic_flight_pass() - passes over packets at @next that need no retransmission
 * @f: the flight
 * @npsn: how many PSNs
 *
 * Return: as srnic_flight_sent().
 */
bool srnic_flight_pass(struct srnic_flight *f, u32 npsn);

/**
 * srnic_flight_acked() - everything before @psn is acknowledged
 * @f: the flight
 * @psn: behind @una
 * @hole: responses known to be missing from @psn on; 0: none, or not known
 * @now: time
 *
 * Return: what to do.
 */
struct srnic_flight_todo srnic_flight_acked(struct srnic_flight *f, u32 psn, u32 hole,
					    u64 now);

/**
 * srnic_flight_missing() - the packet at @una is missing, and one behind it arrived
 * @f: the flight
 * @gap: how many are missing; 0: not known
 * @now: time
 *
 * A NAK for a PSN sequence error, or a response ahead of others.
 *
 * Return: what to do.
 */
struct srnic_flight_todo srnic_flight_missing(struct srnic_flight *f, u32 gap, u64 now);

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
 * srnic_flight_stall() - nothing can be sent for a while, for want of memory
 * @f: the flight
 * @nsec: how long to wait
 * @now: time
 */
void srnic_flight_stall(struct srnic_flight *f, u64 nsec, u64 now);

/**
 * srnic_flight_hurry() - somebody waits for all that is in flight: ask for an ACK
 * @f: the flight
 * @now: time
 */
void srnic_flight_hurry(struct srnic_flight *f, u64 now);

/**
 * srnic_flight_refused() - what is at @next cannot be sent, all before is to be done
 * @f: the flight, with packets in flight before @next, or before where a detour leads
 *
 * It must be asked about by a packet that can be retransmitted: the one at @una.
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
 * srnic_flight_arm() - sets the deadline anew: packets were sent, or the peer is alive
 * @f: the flight
 * @now: time
 */
void srnic_flight_arm(struct srnic_flight *f, u64 now);

/**
 * srnic_flight_is_held() - is nothing to be sent for a while?
 * @f: the flight
 *
 * Return: true if it waits for the RNR timer, or for memory.
 */
static inline bool srnic_flight_is_held(const struct srnic_flight *f)
{
	return f->hold;
}

/**
 * srnic_flight_is_idle() - is nothing in flight, nor to be retransmitted?
 * @f: the flight
 *
 * Return: true if @next is all there is.
 */
static inline bool srnic_flight_is_idle(const struct srnic_flight *f)
{
	return f->next == f->una && !f->detour && f->mode != SRNIC_FLIGHT_BACK;
}

/**
 * srnic_flight_rate() - how fast it sends
 * @f: the flight
 * @now: time
 *
 * Return: PSNs a second, 0: not known.
 */
u64 srnic_flight_rate(const struct srnic_flight *f, u64 now);

#endif /* SRNIC_XPORT_FLIGHT_H */
