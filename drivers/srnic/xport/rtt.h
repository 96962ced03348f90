/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - round trips of a connection, and how long to wait for an answer
 *
 * RFC 6298 with several samples per window, and the shortest recent round trip: longer ones
 * indicate a queue.  Beside that, how late packets have been that were taken for lost.  Pure:
 * it reads no clock and takes no lock.  Times are ns of a monotonic clock.  No other file writes
 * a field of struct srnic_rtt.
 */
#ifndef SRNIC_XPORT_RTT_H
#define SRNIC_XPORT_RTT_H

#include <linux/types.h>
#include <linux/time64.h>

/* Round trips measured at a time */
#define SRNIC_RTT_SAMPLES	8

/* On a path with shorter round trips, those of a host that is busy look like a queue. */
#define SRNIC_RTT_SHORT_NSEC	(400ULL * NSEC_PER_USEC)

/* Longest round trip within a site, with a full queue that many share */
#define SRNIC_RTT_SITE_NSEC	(2ULL * NSEC_PER_MSEC)

/* The wait for an answer before the first round trip is measured */
#define SRNIC_RTT_FIRST_NSEC	(4ULL * NSEC_PER_MSEC)

/* Limit of consecutive probes, and of the backoff shift */
#define SRNIC_RTT_MAX_PROBES	16

/**
 * struct srnic_rtt_sample - a round trip that is being measured
 * @psn: packet that requests an acknowledgment
 * @sent: when it was sent
 */
struct srnic_rtt_sample {
	u32	psn;
	u64	sent;
};

/**
 * struct srnic_rtt - round trips of a connection
 * @timeout: ACK timeout, ns; 0: none
 * @srtt: smoothed round trip time, ns; 0: not known
 * @var: its variation, ns
 * @last: last round trip time, ns
 * @min: shortest recent round trip time, ns
 * @recent: shortest since @since, ns
 * @max: longest recent round trip, ns: of some in a row, the shortest counts; 0: not known
 * @recent_max: longest since @since, ns
 * @low: shortest of the current row, ns
 * @num_low: round trips in it
 * @since: start of the current period of the search for the shortest and the longest, ns
 * @reorder: how late a packet may be because of reordering, ns
 * @wait: round trip that late answers suggest, until one is measured, ns
 * @soon: the last ambiguous answer came soon after a retransmission
 * @early: answers too early for the round trip since one was measured, up to 2
 * @probes: probes since the last progress; some remain until a round trip is measured
 * @backoff: log2 of the factor by which ACK timeouts are longer since some have expired
 * @num_samples: number of valid @samples
 * @samples: round trips being measured, oldest first
 */
struct srnic_rtt {
	u64			timeout;
	u64			srtt;
	u64			var;
	u64			last;
	u64			min;
	u64			recent;
	u64			max;
	u64			recent_max;
	u64			low;
	u8			num_low;
	u64			since;
	u64			reorder;
	u64			wait;
	bool			soon;
	u8			early;
	u8			probes;
	u8			backoff;
	u8			num_samples;
	struct srnic_rtt_sample	samples[SRNIC_RTT_SAMPLES];
};

/* Sets the ACK timeout, ns; 0: none */
void srnic_rtt_set_timeout(struct srnic_rtt *rtt, u64 timeout);

/**
 * srnic_rtt_sent() - start a measurement
 * @rtt: the round trips
 * @psn: packet that requests an acknowledgment, sent for the first time
 * @apart: least number of PSNs between two packets that are measured
 * @now: time
 */
void srnic_rtt_sent(struct srnic_rtt *rtt, u32 psn, u32 apart, u64 now);

/**
 * srnic_rtt_acked() - end the measurements of acknowledged packets; only the youngest counts
 * @rtt: the round trips
 * @psn: PSN following the last that is acknowledged
 * @ambiguous: packets have been retransmitted since they were sent (Karn)
 * @repaired_at: when the oldest unacknowledged packet was last sent; 0: not at all
 * @now: time
 */
void srnic_rtt_acked(struct srnic_rtt *rtt, u32 psn, bool ambiguous, u64 repaired_at,
		     u64 now);

/**
 * srnic_rtt_arrived() - end the measurements of packets that arrived although one is missing
 * @rtt: the round trips
 * @psn: the first of them, sent once
 * @end: PSN following the last
 * @now: time
 */
void srnic_rtt_arrived(struct srnic_rtt *rtt, u32 psn, u32 end, u64 now);

/* Ends all measurements. */
void srnic_rtt_forget(struct srnic_rtt *rtt);

/*
 * Packets are retransmitted: further answers may be those to the retransmission (Karn).  As
 * long as no round trip is known, one that is too long is better than none: with a timeout
 * that is too short, none would ever be measured.
 */
void srnic_rtt_retransmitted(struct srnic_rtt *rtt);

/* Has an ACK of all before @psn been requested, by a packet that was sent once? */
bool srnic_rtt_is_sampled(const struct srnic_rtt *rtt, u32 psn);

/*
 * An answer came too early for the round trip.  True: so did some before, and none from
 * which a round trip could be measured, so that the known one is doubtful.
 */
bool srnic_rtt_early(struct srnic_rtt *rtt);

/*
 * Answers go on to come early, although the last original had most of a round trip to
 * arrive: they are those to retransmissions, and the measured round trips were those of a
 * longer path or of a busy host.  Begins anew from @nsec, and nothing was reordered.
 */
void srnic_rtt_restart(struct srnic_rtt *rtt, u64 nsec);

/* Something was acknowledged; @probed: what a probe had retransmitted. */
void srnic_rtt_progress(struct srnic_rtt *rtt, bool probed);

/* The peer is alive: probes begin anew. */
void srnic_rtt_alive(struct srnic_rtt *rtt);

/* A probe is sent. */
void srnic_rtt_probed(struct srnic_rtt *rtt);

/* An ACK timeout has expired. */
void srnic_rtt_expired(struct srnic_rtt *rtt);

/* How long to wait for an answer before a probe, ns; doubles with each probe */
u64 srnic_rtt_probe_nsec(const struct srnic_rtt *rtt);

/**
 * srnic_rtt_timeout_nsec() - how long to wait for an answer
 * @rtt: the round trips
 * @retries: ACK timeouts that have expired without progress
 *
 * Return: the time, ns; 0: for ever.
 */
u64 srnic_rtt_timeout_nsec(const struct srnic_rtt *rtt, u32 retries);

/* How long to wait for an answer: before a probe, or else the ACK timeout; as that */
u64 srnic_rtt_wait_nsec(const struct srnic_rtt *rtt, u32 retries);

/* May a probe be sent before the ACK timeout?  @retries: as srnic_rtt_timeout_nsec() */
bool srnic_rtt_may_probe(const struct srnic_rtt *rtt, u32 retries);

/*
 * How long to wait for a packet that may have been reordered, ns; 0: do not wait.  Before a
 * round trip has been measured, the report of a gap tells how long one takes at most.
 */
u64 srnic_rtt_reorder_nsec(const struct srnic_rtt *rtt, u64 now);

/* A packet was retransmitted that was merely late: the next is waited for longer. */
void srnic_rtt_wait_longer(struct srnic_rtt *rtt);

/* Everything that was missing has arrived: the next is waited for a little less. */
void srnic_rtt_wait_less(struct srnic_rtt *rtt);

/* Is the path longer than one within a site, with a full queue that many share? */
static inline bool srnic_rtt_is_wide(const struct srnic_rtt *rtt)
{
	return rtt->min > SRNIC_RTT_SITE_NSEC;
}

/* Is the path long enough to tell a queue from a host that is busy? */
static inline bool srnic_rtt_is_long(const struct srnic_rtt *rtt)
{
	return rtt->min >= SRNIC_RTT_SHORT_NSEC;
}

/* Does the last round trip indicate a queue, which may be what drops packets? */
bool srnic_rtt_is_queued(const struct srnic_rtt *rtt);

/*
 * Does the window hold more than twice what the path does?  Then seven tenths of it still
 * fill the path, so that a cut costs nothing even if the loss was by chance.
 */
static inline bool srnic_rtt_is_full(const struct srnic_rtt *rtt)
{
	return rtt->last > 2 * rtt->min;
}

/* Is the last round trip about as long as the longest?  Then a queue that there is may be full. */
static inline bool srnic_rtt_is_longest(const struct srnic_rtt *rtt)
{
	return rtt->max && 16 * rtt->last >= 15 * rtt->max;
}

#endif /* SRNIC_XPORT_RTT_H */
