// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - round trips of a connection, and how long to wait for an answer
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "../wire/psn.h"
#include "rtt.h"

/* An answer that is this much later than round trips suggest may have been lost. */
#define RTT_PROBE_NSEC		(250ULL * NSEC_PER_USEC)

/* Round trips longer than the shortest by this indicate a queue that drops packets */
#define RTT_QUEUE_NSEC		((u64)NSEC_PER_MSEC)

/* Minimum time for which the shortest round trip counts, and the longest */
#define RTT_MIN_NSEC		(10ULL * NSEC_PER_SEC)

/* A full queue makes as many round trips in a row long, a busy host single ones. */
#define RTT_ROW			8

/*
 * After this many answers that came too early for the round trip, and none from which one
 * could be measured, the round trip is doubtful.  It is taken to be shorter by this factor
 * at most.
 */
#define RTT_EARLY		2
#define RTT_EARLY_PART		64

/*
 * Longest ACK timeout after others have expired: log2 of the factor, and the time unless
 * the user's is longer
 */
#define RTT_BACKOFF		3
#define RTT_BACKOFF_NSEC	(4ULL * NSEC_PER_SEC)

/* Longest round trip that is waited for, in ACK timeouts: log2 */
#define RTT_LATE		5

/* Timeouts in a row after which late answers count, and short waits for probes start again */
#define RTT_REPROBE		2

/* Part of the time in flight in which an answer comes too soon to be one to the original */
#define RTT_SOON_PART		8

/* Where no ACK timeout limits the wait: shortest wait for a probe, limit of the backoff shift */
#define RTT_UNTIMED_NSEC	(300ULL * NSEC_PER_MSEC)
#define RTT_UNTIMED_SHIFT	1

void srnic_rtt_set_timeout(struct srnic_rtt *rtt, u64 timeout)
{
	rtt->timeout = timeout;
}

void srnic_rtt_forget(struct srnic_rtt *rtt)
{
	rtt->num_samples = 0;
}

void srnic_rtt_retransmitted(struct srnic_rtt *rtt)
{
	if (rtt->srtt)
		rtt->num_samples = 0;
}

void srnic_rtt_sent(struct srnic_rtt *rtt, u32 psn, u32 apart, u64 now)
{
	const struct srnic_rtt_sample *last;

	if (rtt->num_samples == SRNIC_RTT_SAMPLES)
		return;
	last = rtt->samples + rtt->num_samples;
	if (rtt->num_samples && srnic_psn_diff(psn, last[-1].psn) < (s32)apart)
		return;

	rtt->samples[rtt->num_samples++] = (struct srnic_rtt_sample){ psn, now };
}

static void rtt_smooth(struct srnic_rtt *rtt, u64 nsec)
{
	rtt->var -= rtt->var / 4;
	rtt->var += abs_diff(rtt->srtt, nsec) / 4;
	rtt->srtt = rtt->srtt - rtt->srtt / 8 + nsec / 8;
}

/* Longest of the current period and the previous one, but for single ones */
static void rtt_update_max(struct srnic_rtt *rtt, u64 nsec)
{
	rtt->low = min_not_zero(rtt->low, nsec);
	if (++rtt->num_low < RTT_ROW)
		return;
	rtt->recent_max = max(rtt->recent_max, rtt->low);
	rtt->max = max(rtt->max, rtt->low);
	rtt->low = 0;
	rtt->num_low = 0;
}

/* Shortest of the current period and the previous one, since paths change */
static void rtt_update_min(struct srnic_rtt *rtt, u64 nsec, u64 now)
{
	if (!rtt->min || now - rtt->since >= RTT_MIN_NSEC) {
		rtt->min = rtt->min ? min(rtt->recent, nsec) : nsec;
		rtt->recent = nsec;
		rtt->max = rtt->recent_max;
		rtt->recent_max = 0;
		rtt->since = now;
	}
	rtt->recent = min(rtt->recent, nsec);
	rtt->min = min(rtt->min, nsec);
}

/* The first round trip, or one so much longer that the mean would follow too slowly */
static void rtt_reset_srtt(struct srnic_rtt *rtt, u64 nsec)
{
	rtt->srtt = nsec;
	rtt->var = nsec / 2;
}

/*
 * RFC 6298, section 2.  An outlier, such as a host that was suspended, must not make the
 * user wait for a multiple of the ACK timeout: a round trip as long as that is approached
 * in steps, unless late answers have announced it.
 */
static void rtt_measured(struct srnic_rtt *rtt, u64 nsec, u64 now)
{
	u64 mean = nsec;

	if (rtt->timeout)
		mean = min(mean, max3(4 * rtt->timeout, 2 * rtt->srtt, rtt->wait));
	if (rtt->min && (mean == nsec || !rtt->wait))
		rtt_smooth(rtt, mean);
	else
		rtt_reset_srtt(rtt, mean);
	if (mean == nsec) {
		rtt->backoff = 0;
		rtt->wait = 0;
		rtt->soon = false;
	}
	rtt->last = nsec;
	rtt->probes = 0;
	rtt->early = 0;
	rtt_update_min(rtt, nsec, now);
	rtt_update_max(rtt, nsec);
}

/*
 * An answer arrives @nsec after a packet that was retransmitted since: one to the
 * retransmission if it comes soon after that, otherwise one to the original.  Neither is
 * certain, so it is good enough for the probe timeout but does not indicate a queue.
 * Waits become as long as the latter suggests, or with each packet the timer would win
 * and no round trip would ever be measured (Karn).
 */
static void rtt_suggested(struct srnic_rtt *rtt, u64 nsec, u64 repaired_at, u64 now)
{
	u64 since = now - repaired_at;

	rtt->soon = repaired_at && since < nsec / RTT_SOON_PART &&
		    (rtt->min ? since <= 2 * rtt->srtt + 4 * rtt->var : !rtt->soon);
	if (rtt->soon) {
		nsec = min(nsec, max(since, SRNIC_RTT_FIRST_NSEC));
		rtt->backoff = 0;
	}
	rtt->wait = max(rtt->wait, min(nsec, rtt->timeout << RTT_LATE));
	if (rtt->timeout)
		nsec = min(nsec, max(2 * rtt->timeout, rtt->srtt));
	if (rtt->srtt)
		rtt_smooth(rtt, min(nsec, 2 * rtt->srtt));
	else
		rtt_reset_srtt(rtt, nsec);
}

/* Number of measurements that began with a packet before @psn */
static u32 rtt_before(const struct srnic_rtt *rtt, u32 psn)
{
	u32 n = 0;

	while (n < rtt->num_samples && srnic_psn_diff(psn, rtt->samples[n].psn) > 0)
		n++;

	return n;
}

static void rtt_drop(struct srnic_rtt *rtt, u32 n)
{
	rtt->num_samples -= n;
	memmove(rtt->samples, rtt->samples + n, rtt->num_samples * sizeof(rtt->samples[0]));
}

void srnic_rtt_arrived(struct srnic_rtt *rtt, u32 psn, u32 end, u64 now)
{
	u32 n = rtt_before(rtt, end);

	if (!n || srnic_psn_diff(rtt->samples[n - 1].psn, psn) < 0)
		return;

	rtt_measured(rtt, max(now - rtt->samples[n - 1].sent, 1ULL), now);
	rtt_drop(rtt, n);
}

void srnic_rtt_acked(struct srnic_rtt *rtt, u32 psn, bool ambiguous, u64 repaired_at,
		     u64 now)
{
	u32 n = rtt_before(rtt, psn);
	u64 nsec;

	if (!n)
		return;

	nsec = max(now - rtt->samples[n - 1].sent, 1ULL);
	if (ambiguous)
		rtt_suggested(rtt, nsec, repaired_at, now);
	else
		rtt_measured(rtt, nsec, now);
	/* What the others measure is the time until the loss was repaired. */
	rtt_drop(rtt, ambiguous && rtt->soon ? rtt->num_samples : n);
}

bool srnic_rtt_is_sampled(const struct srnic_rtt *rtt, u32 psn)
{
	u32 n;

	for (n = 0; n < rtt->num_samples; n++)
		if (srnic_psn_add(rtt->samples[n].psn, 1) == psn)
			return true;

	return false;
}

bool srnic_rtt_early(struct srnic_rtt *rtt)
{
	if (rtt->early == RTT_EARLY)
		return true;
	rtt->early++;

	return false;
}

void srnic_rtt_restart(struct srnic_rtt *rtt, u64 nsec)
{
	rtt_reset_srtt(rtt, max(nsec, rtt->min / RTT_EARLY_PART));
	rtt->last = 0;
	rtt->min = 0;
	rtt->recent_max = 0;
	rtt->reorder = 0;
	rtt->probes = 0;
	rtt->early = 0;
}

/*
 * The backoff remains until a round trip is measured (Karn), or part of it.  Without a
 * timeout the wait is long even so.
 */
void srnic_rtt_progress(struct srnic_rtt *rtt, bool probed)
{
	if (!rtt->timeout)
		rtt->probes = 0;
	else if (!probed)
		rtt->probes = min_t(u8, rtt->probes, 1);
}

void srnic_rtt_alive(struct srnic_rtt *rtt)
{
	rtt->probes = 0;
}

void srnic_rtt_probed(struct srnic_rtt *rtt)
{
	rtt->probes++;
}

/* A path that has come back is found by a probe, unless the peer has gone. */
void srnic_rtt_expired(struct srnic_rtt *rtt)
{
	if (rtt->min && rtt->backoff < RTT_REPROBE)
		rtt->probes = 0;
	rtt->backoff = min(rtt->backoff + 1, RTT_BACKOFF);
}

u64 srnic_rtt_probe_nsec(const struct srnic_rtt *rtt)
{
	u64 nsec = rtt->srtt ? rtt->srtt + max(4 * rtt->var, RTT_PROBE_NSEC) :
			       SRNIC_RTT_FIRST_NSEC;

	if (rtt->timeout)
		return max(nsec << rtt->probes, rtt->wait);

	return max(nsec, RTT_UNTIMED_NSEC) << min_t(u8, rtt->probes, RTT_UNTIMED_SHIFT);
}

/*
 * A peer whose answers take longer than the user's timeout is still alive: the timeout is
 * that of RFC 6298, between two and three round trips, if that is longer.  Timeouts that
 * expire back off, so that a round trip of 32 of them, or of 20 s, is short enough.  A peer
 * that was merely late once, and has gone since, is not waited for that long.
 */
u64 srnic_rtt_timeout_nsec(const struct srnic_rtt *rtt, u32 retries)
{
	bool recent = retries < RTT_REPROBE;
	u64 late = rtt->srtt + clamp(4 * rtt->var, rtt->srtt, 2 * rtt->srtt);
	u64 nsec = max3(rtt->timeout, late, recent ? 2 * rtt->wait : 0);
	u64 most = min(rtt->timeout << RTT_BACKOFF, RTT_BACKOFF_NSEC);

	return rtt->timeout ? max(nsec, min(nsec << rtt->backoff, most)) : 0;
}

u64 srnic_rtt_wait_nsec(const struct srnic_rtt *rtt, u32 retries)
{
	u64 nsec = srnic_rtt_timeout_nsec(rtt, retries);

	if (rtt->probes >= SRNIC_RTT_MAX_PROBES)
		return nsec;

	return min_not_zero(nsec, srnic_rtt_probe_nsec(rtt));
}

/* Only a probe shortens the wait. */
bool srnic_rtt_may_probe(const struct srnic_rtt *rtt, u32 retries)
{
	return srnic_rtt_wait_nsec(rtt, retries) != srnic_rtt_timeout_nsec(rtt, retries);
}

bool srnic_rtt_is_queued(const struct srnic_rtt *rtt)
{
	return rtt->last > rtt->min + max(rtt->min / 4, RTT_QUEUE_NSEC);
}

u64 srnic_rtt_reorder_nsec(const struct srnic_rtt *rtt, u64 now)
{
	u64 age;

	if (!rtt->min && rtt->num_samples) {
		age = min(now - rtt->samples[0].sent, SRNIC_RTT_FIRST_NSEC);
		return age < SRNIC_RTT_SHORT_NSEC ? 0 : age;
	}

	return max(min(rtt->reorder, rtt->srtt), srnic_rtt_is_long(rtt) ? rtt->srtt / 2 : 0);
}

void srnic_rtt_wait_longer(struct srnic_rtt *rtt)
{
	rtt->reorder = min(max(2 * rtt->reorder, rtt->srtt / 2), rtt->srtt);
}

void srnic_rtt_wait_less(struct srnic_rtt *rtt)
{
	rtt->reorder -= rtt->reorder / 8;
}
