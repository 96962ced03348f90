// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - flight: which PSNs are in flight, which are lost, how many may be sent
 *
 * RC acknowledgments are cumulative: they tell up to which PSN everything has arrived
 * and nothing about later packets.  So losses are repaired one hole at a time.  The
 * packet at una is retransmitted while new packets continue to be sent; its
 * acknowledgment shows where the next hole is: whatever was sent before the
 * retransmission and is still not acknowledged is lost, as in RACK (RFC 8985).  A peer
 * that keeps nothing out of order acknowledges only what is retransmitted, and is sent
 * everything again from una on.
 *
 * The window grows exponentially until it is cut, but by one packet per round trip while
 * round trips are longer than before.  It is cut when a loss coincides with a queue, or when
 * more packets are missing than are lost by chance.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "../wire/psn.h"
#include "flight.h"

/* An answer that is this much later than round trips suggest may have been lost. */
#define FLIGHT_PROBE_NSEC	(250ULL * NSEC_PER_USEC)

/* The same before the first round trip is measured */
#define FLIGHT_FIRST_PROBE_NSEC	(4ULL * NSEC_PER_MSEC)

/* Time in flight after which an ACK is requested if no packet has done so */
#define FLIGHT_ASK_NSEC		((u64)NSEC_PER_MSEC)

/* The initial window fills a path with round trips shorter than this. */
#define FLIGHT_SHORT_NSEC	(400ULL * NSEC_PER_USEC)

/* Round trips longer than the shortest by this indicate a queue that drops packets */
#define FLIGHT_QUEUE_NSEC	((u64)NSEC_PER_MSEC)

/* Minimum time for which the shortest round trip counts */
#define FLIGHT_MIN_NSEC		(10ULL * NSEC_PER_SEC)

/* This many consecutive packets are not lost by chance. */
#define FLIGHT_QUEUE_RUN	4

/* Nor is more than this part of the packets of a round trip, */
#define FLIGHT_QUEUE_PART	8

/* or than this part if round trips are more than twice as long as the shortest */
#define FLIGHT_FULL_PART	16

/*
 * After this many answers that came too early for the round trip, and none from which one
 * could be measured, the round trip is doubted.  It is taken to be shorter by this factor
 * at most.
 */
#define FLIGHT_EARLY		2
#define FLIGHT_EARLY_PART	64

/* With round trips this many times the shortest, a larger window is of no use */
#define FLIGHT_QUEUE_RTTS	4

/* The same for the growth of a small window at the start */
#define FLIGHT_START_RTTS	3

/* After this many recoveries without a kept packet, the peer is taken to go back N. */
#define FLIGHT_FRUITLESS	3

/* After this many, the peer is given another chance. */
#define FLIGHT_FRUITLESS_MAX	16

/* Steps per round trip in which new packets are released during a recovery */
#define FLIGHT_TICKS		8

/* Shortest of these steps; the timer of a shorter one would cost more than it helps */
#define FLIGHT_TICK_NSEC	(50ULL * NSEC_PER_USEC)

/* Most packets between two ACK requests */
#define FLIGHT_ACKREQ		32

/* How much longer than needed to wait for an answer, to save interrupts */
#define FLIGHT_SLACK_NSEC	((u64)NSEC_PER_MSEC)

/*
 * Longest ACK timeout after others have expired: log2 of the factor, and the time unless
 * the user's is longer
 */
#define FLIGHT_BACKOFF		3
#define FLIGHT_BACKOFF_NSEC	(4ULL * NSEC_PER_SEC)

/* Longest round trip that is waited for, in ACK timeouts: log2 */
#define FLIGHT_LATE		5

/* Timeouts in a row after which late answers count, and short waits for probes start again */
#define FLIGHT_REPROBE		2

/* Part of the time in flight in which an answer comes too soon to be one to the original */
#define FLIGHT_SOON_PART	8

/* Times that a peer may renew the retries by packets that acknowledge nothing */
#define FLIGHT_HEARD		16	/* less than 32 */

/* Times that packets which wait unread may put off the timer, without progress */
#define FLIGHT_PUT_OFF		3	/* less than 4 */

/* Limit of consecutive probes, and of the backoff shift */
#define FLIGHT_MAX_PROBES	16

/* Where no ACK timeout limits the wait: shortest wait for a probe, limit of the backoff shift */
#define FLIGHT_UNTIMED_NSEC	(300ULL * NSEC_PER_MSEC)
#define FLIGHT_UNTIMED_SHIFT	1

static const struct srnic_flight_todo flight_nothing;

static struct srnic_flight_todo flight_seek(enum srnic_flight_cause cause)
{
	return (struct srnic_flight_todo){ SRNIC_FLIGHT_SEEK, cause };
}

static struct srnic_flight_todo flight_fail(enum srnic_flight_cause cause)
{
	return (struct srnic_flight_todo){ SRNIC_FLIGHT_FAIL, cause };
}

static void flight_stop_ticks(struct srnic_flight *f)
{
	f->extra = 0;
	f->withheld = 0;
	f->tick = 0;
}

void srnic_flight_start(struct srnic_flight *f, u32 psn)
{
	memset(f, 0, sizeof(*f));
	srnic_flight_skip(f, psn);
	f->window = SRNIC_FLIGHT_FIRST;
	f->startup = true;
}

void srnic_flight_skip(struct srnic_flight *f, u32 psn)
{
	f->psn = psn;
	f->una = psn;
	f->next = psn;
	f->high = psn;
	f->asked = psn;
	f->mark = psn;
	f->cut = psn;
	f->round = psn;
	f->holes = 0;
	f->undone = psn;
	f->limited = psn;
	f->untold = psn;
	f->doubt = 0;
	f->detour = 0;
	f->num_samples = 0;
	f->mode = SRNIC_FLIGHT_OPEN;
	flight_stop_ticks(f);
}

void srnic_flight_forget(struct srnic_flight *f)
{
	f->una = f->next;
	f->asked = f->next;
}

void srnic_flight_set_limits(struct srnic_flight *f, u64 timeout, u8 retry_cnt,
			     u8 rnr_retry)
{
	f->timeout = timeout;
	f->retry_cnt = retry_cnt;
	f->rnr_retry = rnr_retry;
	f->retry_left = retry_cnt;
	f->rnr_left = rnr_retry;
}

u32 srnic_flight_assign(struct srnic_flight *f, u32 npsn)
{
	u32 psn = f->psn;

	f->psn = srnic_psn_add(psn, npsn);

	return psn;
}

/* PSN at which new packets, or those retransmitted in mode BACK, continue */
static u32 flight_front(const struct srnic_flight *f)
{
	return f->detour ? f->resume : f->next;
}

static u32 flight_out(const struct srnic_flight *f)
{
	return (flight_front(f) - f->una) & SRNIC_PSN_MASK;
}

/* PSNs that may be in flight now */
static u32 flight_limit(const struct srnic_flight *f)
{
	u32 limit;

	if (f->mode == SRNIC_FLIGHT_BACK)
		return min(f->window, f->burst);

	limit = min_t(u32, f->window + f->extra, SRNIC_FLIGHT_MAX);

	return limit - min(f->withheld, limit - 1);
}

bool srnic_flight_open(struct srnic_flight *f)
{
	if (f->hold)
		return false;
	if (f->detour || flight_out(f) < flight_limit(f))
		return true;
	f->limited = flight_front(f);

	return false;
}

bool srnic_flight_is_long(const struct srnic_flight *f)
{
	return f->rtt_min >= FLIGHT_SHORT_NSEC;
}

/* End of the READ or atomic in flight that @psn belongs to */
static u32 flight_read_end(const struct srnic_flight *f, u32 psn)
{
	u32 i, end;

	for (i = 0; i < f->rd_out; i++) {
		end = f->rd_end[(f->rd_first + i) % SRNIC_MAX_RD_ATOMIC];
		if (srnic_psn_diff(end, psn) > 0)
			return end;
	}

	return f->high;
}

/* Does a READ or atomic in flight begin at @psn? */
static bool flight_read_begins(const struct srnic_flight *f, u32 psn)
{
	return flight_read_end(f, srnic_psn_add(psn, -1)) == psn;
}

bool srnic_flight_may_read(const struct srnic_flight *f, bool first, u32 places)
{
	if (srnic_psn_diff(f->next, f->high) >= 0)
		return f->rd_out < max(places, 1U);

	return first || f->next == f->una || flight_read_begins(f, f->next);
}

u32 srnic_flight_span(struct srnic_flight *f, u32 left, u32 places)
{
	u32 limit = flight_limit(f), out = flight_out(f), room, want;

	if (srnic_psn_diff(f->next, f->high) < 0)
		left = min_t(u32, left, srnic_psn_diff(flight_read_end(f, f->next), f->next));
	/* A probe requests as little as possible. */
	if (f->detour)
		return f->repair == SRNIC_CAUSE_PROBE ? min(left, f->detour) : left;

	room = limit - out;
	want = max(min_t(u32, limit / (srnic_flight_is_long(f) ? 8 : 4), SRNIC_FLIGHT_READ),
		   DIV_ROUND_UP(2 * limit, max(places, 2U)));
	if (!f->srtt)
		want = limit;
	if (out && room < min3(left, want, limit / 2)) {
		f->limited = flight_front(f);
		return 0;
	}

	return min3(left, room, want);
}

bool srnic_flight_asked(const struct srnic_flight *f)
{
	return srnic_psn_diff(f->asked, f->una) > 0;
}

/* Are packets in flight of which none has requested an acknowledgment? */
static bool flight_unasked(const struct srnic_flight *f)
{
	return flight_front(f) != f->una && !srnic_flight_asked(f);
}

/* Packets between two ACK requests; few, so that an ACK does not release a burst */
static u32 flight_ack_every(const struct srnic_flight *f)
{
	u32 limit = flight_limit(f), every;

	/* Few packets do not fill the window of a start. */
	if (f->mode == SRNIC_FLIGHT_OPEN && f->startup && f->limited == f->una)
		limit = max_t(u32, limit, SRNIC_FLIGHT_WINDOW);
	every = DIV_ROUND_UP(limit, srnic_flight_is_long(f) ? 8 : 4);

	return min_t(u32, every, FLIGHT_ACKREQ);
}

bool srnic_flight_wants_ack(struct srnic_flight *f, bool awaited)
{
	bool first = !f->srtt && !f->num_samples;

	f->since_ackreq++;

	return awaited || first || f->detour == 1 ||
	       flight_out(f) + 1 == flight_limit(f) ||
	       f->since_ackreq >= flight_ack_every(f);
}

/* Measures the round trip of the packet at @next, several times per window */
static void flight_sample(struct srnic_flight *f, u64 now)
{
	const struct srnic_flight_sample *last;

	/* The answer to a retransmitted packet may be one to the original (Karn). */
	if (f->detour || srnic_psn_diff(f->next, f->high) < 0)
		return;
	if (f->num_samples == SRNIC_FLIGHT_SAMPLES)
		return;
	last = f->samples + f->num_samples;
	if (f->num_samples && srnic_psn_diff(f->next, last[-1].psn) <
			      (s32)f->window / SRNIC_FLIGHT_SAMPLES)
		return;

	f->samples[f->num_samples++] = (struct srnic_flight_sample){ f->next, now };
}

/* A request whose answer ends before @end occupies a place until it is complete. */
static void flight_take_place(struct srnic_flight *f, u32 end)
{
	u32 i = (f->rd_first + f->rd_out) % SRNIC_MAX_RD_ATOMIC;

	f->rd_end[i] = end;
	f->rd_out++;
}

static void flight_free_places(struct srnic_flight *f, u32 psn)
{
	while (f->rd_out && srnic_psn_diff(psn, f->rd_end[f->rd_first]) >= 0) {
		f->rd_first = (f->rd_first + 1) % SRNIC_MAX_RD_ATOMIC;
		f->rd_out--;
	}
}

/* @npsn packets at @next were sent or skipped. */
static bool flight_go_on(struct srnic_flight *f, u32 npsn)
{
	f->next = srnic_psn_add(f->next, npsn);
	f->high = srnic_psn_max(f->high, f->next);
	if (!f->detour)
		return false;

	f->detour -= min(f->detour, npsn);
	if (!f->detour)
		f->next = f->resume;

	return !f->detour;
}

/* A response that is skipped has arrived, so no answer needs to be requested. */
bool srnic_flight_pass(struct srnic_flight *f, u32 npsn)
{
	f->asked = srnic_psn_max(f->asked, srnic_psn_add(f->next, npsn));

	return flight_go_on(f, npsn);
}

bool srnic_flight_sent(struct srnic_flight *f, u32 npsn, bool response, bool asks,
		       u64 now)
{
	u32 end = srnic_psn_add(f->next, npsn);

	if (asks) {
		if (flight_unasked(f))
			f->silence = 0;	/* the timer was set to request an ACK */
		flight_sample(f, now);
		f->asked = srnic_psn_max(f->asked, end);
		f->since_ackreq = 0;
	}
	if (response && srnic_psn_diff(end, f->high) > 0)
		flight_take_place(f, end);
	if (f->next == f->una)
		f->repaired_at = now;
	else if (f->mode == SRNIC_FLIGHT_BACK)
		f->untold = srnic_psn_max(f->untold, end);
	if (f->detour)
		f->repaired = srnic_psn_max(f->repaired, end);

	return flight_go_on(f, npsn);
}

static void flight_smooth(struct srnic_flight *f, u64 rtt)
{
	f->rttvar -= f->rttvar / 4;
	f->rttvar += abs_diff(f->srtt, rtt) / 4;
	f->srtt = f->srtt - f->srtt / 8 + rtt / 8;
}

/* Shortest of the current period and the previous one, since paths change */
static void flight_rtt_min(struct srnic_flight *f, u64 rtt, u64 now)
{
	if (!f->rtt_min || now - f->rtt_since >= FLIGHT_MIN_NSEC) {
		f->rtt_min = f->rtt_min ? min(f->rtt_recent, rtt) : rtt;
		f->rtt_recent = rtt;
		f->rtt_since = now;
	}
	f->rtt_recent = min(f->rtt_recent, rtt);
	f->rtt_min = min(f->rtt_min, rtt);
}

/* The first round trip, or one so much longer that the mean would follow too slowly */
static void flight_reset_srtt(struct srnic_flight *f, u64 rtt)
{
	f->srtt = rtt;
	f->rttvar = rtt / 2;
}

/*
 * RFC 6298, section 2.  An outlier, such as a host that was suspended, must not make the
 * user wait for a multiple of the ACK timeout: a round trip as long as that is approached
 * in steps, unless late answers have announced it.
 */
static void flight_rtt(struct srnic_flight *f, u64 rtt, u64 now)
{
	u64 mean = rtt;

	if (f->timeout)
		mean = min(mean, max3(4 * f->timeout, 2 * f->srtt, f->wait));
	if (f->rtt_min && (mean == rtt || !f->wait))
		flight_smooth(f, mean);
	else
		flight_reset_srtt(f, mean);
	if (mean == rtt) {
		f->backoff = 0;
		f->wait = 0;
		f->soon = false;
	}
	f->rtt = rtt;
	f->probes = 0;
	f->early = 0;
	flight_rtt_min(f, rtt, now);
}

/*
 * An answer arrives @rtt after a packet that was retransmitted since: one to the
 * retransmission if it comes soon after that, otherwise one to the original.  Neither is
 * certain, so it is good enough for the probe timeout but does not indicate a queue.
 * Waits become as long as the latter suggests, or with each packet the timer would win
 * and no round trip would ever be measured (Karn).
 */
static void flight_late_rtt(struct srnic_flight *f, u64 rtt, u64 now)
{
	u64 since = now - f->repaired_at;

	f->soon = f->repaired_at && since < rtt / FLIGHT_SOON_PART &&
		  (f->rtt_min ? since <= 2 * f->srtt + 4 * f->rttvar : !f->soon);
	if (f->soon) {
		rtt = min(rtt, max(since, FLIGHT_FIRST_PROBE_NSEC));
		f->backoff = 0;
	}
	f->wait = max(f->wait, min(rtt, f->timeout << FLIGHT_LATE));
	if (f->timeout)
		rtt = min(rtt, max(2 * f->timeout, f->srtt));
	if (f->srtt)
		flight_smooth(f, min(rtt, 2 * f->srtt));
	else
		flight_reset_srtt(f, rtt);
}

/* Ends the measurements of packets before @psn; only the youngest counts. */
static void flight_sampled(struct srnic_flight *f, u32 psn, bool ambiguous, u64 now)
{
	u32 n = 0;
	u64 rtt;

	while (n < f->num_samples && srnic_psn_diff(psn, f->samples[n].psn) > 0)
		n++;
	if (!n)
		return;

	rtt = max(now - f->samples[n - 1].sent, 1ULL);
	if (ambiguous)
		flight_late_rtt(f, rtt, now);
	else
		flight_rtt(f, rtt, now);
	/* What the others measure is the time until the loss was repaired. */
	f->num_samples = ambiguous && f->soon ? 0 : f->num_samples - n;
	memmove(f->samples, f->samples + n, f->num_samples * sizeof(f->samples[0]));
}

/* Does the last round trip indicate a queue, which may be what drops packets? */
static bool flight_is_queued(const struct srnic_flight *f)
{
	return f->rtt > f->rtt_min + max(f->rtt_min / 4, FLIGHT_QUEUE_NSEC);
}

/* Is there no sign of a queue, other than that of the packets released by one ACK? */
static bool flight_is_clear(const struct srnic_flight *f)
{
	u64 burst = div_u64(f->rtt_min * min(flight_ack_every(f), f->window), f->window);

	return f->rtt <= f->rtt_min + max(f->rtt_min / 8, FLIGHT_SHORT_NSEC / 8) + burst;
}

/*
 * Would a larger window be of use?  Without a recent round trip nobody knows: the answers
 * may be those of a queue that is already longer than the timers expect.
 */
static bool flight_may_grow(const struct srnic_flight *f)
{
	if (srnic_psn_diff(f->limited, f->una) <= 0 || f->window >= SRNIC_FLIGHT_MAX ||
	    !f->rtt_min || f->probes || f->backoff)
		return false;
	if (f->window < SRNIC_FLIGHT_WINDOW)
		return true;

	return srnic_flight_is_long(f) && f->rtt < FLIGHT_QUEUE_RTTS * f->rtt_min;
}

/* Do round trips with a queue forbid exponential growth? */
static bool flight_is_slow(const struct srnic_flight *f)
{
	return f->window >= SRNIC_FLIGHT_WINDOW || f->rtt > FLIGHT_START_RTTS * f->rtt_min ||
	       (f->timeout && f->rtt > f->timeout);
}

/*
 * @npsn more packets are acknowledged, and none is lost.  Slow round trips do not end the
 * exponential growth for good, since a peer that pauses looks like a queue (RFC 9406).
 */
static void flight_grow(struct srnic_flight *f, u32 npsn)
{
	bool small = f->window < SRNIC_FLIGHT_WINDOW, clear;
	u32 most = small ? SRNIC_FLIGHT_WINDOW : SRNIC_FLIGHT_MAX;

	if (!flight_may_grow(f))
		return;
	clear = flight_is_clear(f);
	if (f->startup && (clear || !flight_is_slow(f)))
		npsn *= f->window;
	else if (clear)
		npsn *= f->window / 16 + 1;
	f->credit += npsn;
	if (f->credit < f->window)
		return;
	f->window = min(f->window + f->credit / f->window, most);
	f->lossy &= f->window < SRNIC_FLIGHT_WINDOW;
	f->credit = 0;
}

/*
 * Does the window hold more than twice what the path does?  Then seven tenths of it still
 * fill the path, so that a cut costs nothing even if the loss was by chance.
 */
static bool flight_is_full(const struct srnic_flight *f)
{
	return f->rtt > 2 * f->rtt_min;
}

/* Did a queue drop the missing packets? */
static bool flight_is_dropped(const struct srnic_flight *f)
{
	return f->run >= FLIGHT_QUEUE_RUN || flight_is_queued(f) ||
	       f->holes > max(f->window / FLIGHT_QUEUE_PART, 1U) ||
	       (flight_is_full(f) && f->holes > f->window / FLIGHT_FULL_PART);
}

/*
 * Packets are lost.  If a queue dropped them, the window is reduced; otherwise the loss
 * is no reason to slow down.
 */
static void flight_cut(struct srnic_flight *f)
{
	u32 out;

	if (srnic_psn_diff(f->una, f->cut) < 0 || !flight_is_dropped(f))
		return;

	out = f->mode == SRNIC_FLIGHT_BACK ? (f->mark - f->una) & SRNIC_PSN_MASK :
					     flight_out(f);
	f->window = max3(min(out, f->window) * 7 / 10, f->window / 2, 1U);
	f->credit = 0;
	f->cut = f->high;
	f->round = f->high;
	f->holes = 0;
	f->startup = false;
	f->lossy = f->window < SRNIC_FLIGHT_WINDOW;
}

/* Another packet, at una, has been found to be missing. */
static void flight_found_hole(struct srnic_flight *f)
{
	f->holes++;
	flight_cut(f);
}

/* How long to wait for an answer before a probe; doubles with each probe */
static u64 flight_probe_nsec(const struct srnic_flight *f)
{
	u64 nsec = f->srtt ? f->srtt + max(4 * f->rttvar, FLIGHT_PROBE_NSEC) :
			     FLIGHT_FIRST_PROBE_NSEC;

	if (f->timeout)
		return max(nsec << f->probes, f->wait);

	return max(nsec, FLIGHT_UNTIMED_NSEC) << min_t(u8, f->probes, FLIGHT_UNTIMED_SHIFT);
}

/*
 * A peer whose answers take longer than the user's timeout is still alive: the timeout is
 * that of RFC 6298, between two and three round trips, if that is longer.  Timeouts that
 * expire back off, so that a round trip of 32 of them, or of 20 s, is short enough.  A peer
 * that was merely late once, and has gone since, is not waited for that long.
 */
static u64 flight_timeout_nsec(const struct srnic_flight *f)
{
	bool recent = f->retry_cnt - f->retry_left < FLIGHT_REPROBE;
	u64 late = f->srtt + clamp(4 * f->rttvar, f->srtt, 2 * f->srtt);
	u64 nsec = max3(f->timeout, late, recent ? 2 * f->wait : 0);
	u64 most = min(f->timeout << FLIGHT_BACKOFF, FLIGHT_BACKOFF_NSEC);

	return f->timeout ? max(nsec, min(nsec << f->backoff, most)) : 0;
}

static bool flight_may_probe(const struct srnic_flight *f)
{
	return f->probes < FLIGHT_MAX_PROBES &&
	       (!f->timeout || flight_probe_nsec(f) < flight_timeout_nsec(f));
}

/* May packets in flight have been dropped without a report? */
static bool flight_is_untold(const struct srnic_flight *f)
{
	return srnic_psn_diff(f->untold, f->una) > 0;
}

/*
 * With an infinite timeout silence means nothing, except while packets may have been
 * dropped.  The peer reports a gap once, and drops what arrives behind it, again if packets
 * retransmitted one behind another are reordered.  This end drops responses that it has no
 * memory for, or that have waited for too long.
 */
static bool flight_is_timed(const struct srnic_flight *f)
{
	if (f->timeout)
		return true;

	return f->probes < FLIGHT_MAX_PROBES && flight_is_untold(f);
}

/* The timer serves whichever event comes first. */
static void flight_set_deadline(struct srnic_flight *f)
{
	f->deadline = f->silence;
	if (f->tick && (!f->silence || f->tick < f->silence))
		f->deadline = f->tick;
}

void srnic_flight_arm(struct srnic_flight *f, u64 now)
{
	f->late = false;
	if (f->hold)
		f->silence = f->hold;
	else if (f->mode == SRNIC_FLIGHT_DOUBT)
		f->silence = f->doubt;
	else if (flight_unasked(f))
		f->silence = now + FLIGHT_ASK_NSEC;
	else if (flight_front(f) == f->una || !flight_is_timed(f))
		f->silence = 0;
	else
		f->silence = now + (flight_may_probe(f) ? flight_probe_nsec(f) :
							  flight_timeout_nsec(f));
	flight_set_deadline(f);
}

u64 srnic_flight_slack(const struct srnic_flight *f)
{
	bool awaits_answer = f->deadline == f->silence && !f->hold &&
			     f->mode != SRNIC_FLIGHT_DOUBT && srnic_flight_asked(f);

	if (!awaits_answer || f->lossy)
		return 0;

	return min_not_zero(f->timeout, FLIGHT_SLACK_NSEC);
}

/*
 * Further answers may be answers to the retransmission (Karn).  As long as no round
 * trip is known, one that is too long is better than none: with a timeout that is too
 * short, none would ever be measured.
 */
static void flight_forget_samples(struct srnic_flight *f)
{
	if (f->srtt)
		f->num_samples = 0;
}

/* Retransmits @npsn packets from @psn on, then resumes where it was. */
static void flight_detour(struct srnic_flight *f, u32 psn, u32 npsn)
{
	f->resume = flight_front(f);
	f->detour = npsn;
	f->next = psn;
}

/*
 * Packets arrive behind the missing one, and no ACK reports that.  New packets are released
 * by time instead, as many as would have been acknowledged: on a long path, but not into a
 * queue unless the window has been cut for it; on a short path only if it has been cut for
 * a queue, which would run empty otherwise.  READs that the peer keeps are not answered
 * meanwhile, but all at once later.
 */
static bool flight_lets_out(const struct srnic_flight *f)
{
	bool cut = srnic_psn_diff(f->una, f->cut) < 0;

	return (f->mode == SRNIC_FLIGHT_DOUBT || f->mode == SRNIC_FLIGHT_REPAIR) &&
	       !f->gap && f->keeps == SRNIC_KEEPS_ALL && !f->rd_out && f->extra < f->window &&
	       (srnic_flight_is_long(f) ? cut || !flight_is_queued(f) :
				    cut && flight_is_full(f));
}

/* How often */
static u64 flight_tick_nsec(const struct srnic_flight *f)
{
	return max(f->srtt / FLIGHT_TICKS, FLIGHT_TICK_NSEC);
}

static void flight_set_tick(struct srnic_flight *f, u64 now)
{
	f->tick = f->withheld || flight_lets_out(f) ? now + flight_tick_nsec(f) : 0;
}

static void flight_start_ticks(struct srnic_flight *f, u64 now)
{
	if (!f->tick)
		flight_set_tick(f, now);
}

/*
 * @npsn packets are acknowledged at once.  The packets this makes room for are spread
 * over a round trip, since a queue shorter than the window would drop part of a burst.
 */
static void flight_withhold(struct srnic_flight *f, u32 npsn, u64 now)
{
	u32 burst = DIV_ROUND_UP(f->window, FLIGHT_TICKS / 2), room;

	if (f->mode == SRNIC_FLIGHT_BACK || !srnic_flight_is_long(f) || npsn <= burst)
		return;

	room = flight_limit(f) - min(flight_limit(f), flight_out(f));
	if (room > burst)
		f->withheld += room - burst;
	flight_start_ticks(f, now);
}

/* Did the peer keep packets out of order?  (Responses are kept by this end.) */
static void flight_learn(struct srnic_flight *f)
{
	if (f->jumped) {
		f->keeps = SRNIC_KEEPS_ALL;
		f->fruitless = 0;
		return;
	}
	if (++f->fruitless == FLIGHT_FRUITLESS_MAX) {
		f->keeps = SRNIC_KEEPS_UNKNOWN;
		f->fruitless = FLIGHT_FRUITLESS - 1;
	} else if (f->fruitless >= FLIGHT_FRUITLESS) {
		f->keeps = SRNIC_KEEPS_NONE;
	}
}

/* Everything that was in flight when packets were lost has arrived. */
static struct srnic_flight_todo flight_recovered(struct srnic_flight *f)
{
	f->mode = SRNIC_FLIGHT_OPEN;
	flight_stop_ticks(f);
	if (!f->gap && f->repair == SRNIC_CAUSE_GAP)
		flight_learn(f);
	f->reorder -= f->reorder / 8;
	f->jumped = false;
	f->gap = 0;

	return flight_nothing;
}

static struct srnic_flight_todo flight_go_back(struct srnic_flight *f,
					       enum srnic_flight_cause cause)
{
	f->mode = SRNIC_FLIGHT_BACK;
	f->follows = false;
	f->repair = cause;
	f->detour = 0;
	f->next = f->una;
	f->repaired = srnic_psn_add(f->una, 1);
	f->asked = f->una;
	f->burst = f->keeps == SRNIC_KEEPS_NONE && cause == SRNIC_CAUSE_GAP ?
		   max(f->window / 2, 1U) : 1;
	f->mark = f->high;
	f->repaired_at = 0;
	flight_stop_ticks(f);
	if (cause != SRNIC_CAUSE_TIMEOUT && cause != SRNIC_CAUSE_PROBE)
		flight_forget_samples(f);

	return flight_seek(cause);
}

/* Retransmits @npsn packets from una on, while new ones are sent. */
static struct srnic_flight_todo flight_repair(struct srnic_flight *f, u32 npsn,
					      enum srnic_flight_cause cause)
{
	if (f->mode == SRNIC_FLIGHT_BACK || (f->keeps == SRNIC_KEEPS_NONE && !f->gap))
		return flight_go_back(f, cause);

	f->mode = SRNIC_FLIGHT_REPAIR;
	f->repair = cause;
	f->burst = clamp_t(u32, npsn, 1, flight_out(f));
	f->repaired = srnic_psn_add(f->una, f->burst);
	f->repaired_at = 0;
	f->mark = f->high;
	flight_detour(f, f->una, f->burst);
	if (cause != SRNIC_CAUSE_PROBE)
		flight_forget_samples(f);

	return flight_seek(cause);
}

/* As flight_repair(), but uses up a retry. */
static struct srnic_flight_todo flight_retry(struct srnic_flight *f, u32 npsn, u64 now)
{
	struct srnic_flight_todo todo;

	if (!f->retry_left)
		return flight_fail(SRNIC_CAUSE_GAP);
	f->retry_left--;
	/* A retransmitted burst is not lost again by chance. */
	f->run = f->mode == SRNIC_FLIGHT_BACK ? FLIGHT_QUEUE_RUN : npsn;
	flight_found_hole(f);
	todo = flight_repair(f, npsn, SRNIC_CAUSE_GAP);
	if (f->mode == SRNIC_FLIGHT_REPAIR)
		flight_start_ticks(f, now);
	srnic_flight_arm(f, now);

	return todo;
}

/*
 * How long to wait for a packet that may have been reordered; 0: do not wait.  Before a
 * round trip has been measured, the report of a gap tells how long one takes at most.
 */
static u64 flight_doubt_nsec(const struct srnic_flight *f, u64 now)
{
	u64 age;

	if (!f->rtt_min && f->num_samples) {
		age = min(now - f->samples[0].sent, FLIGHT_FIRST_PROBE_NSEC);
		return age < FLIGHT_SHORT_NSEC ? 0 : age;
	}

	return max(min(f->reorder, f->srtt), srnic_flight_is_long(f) ? f->srtt / 2 : 0);
}

/* The packet at una may have been reordered: gives it @wait to arrive. */
static void flight_start_doubt(struct srnic_flight *f, u64 wait, u64 now)
{
	f->mode = SRNIC_FLIGHT_DOUBT;
	f->follows = false;
	f->doubt = now + wait;
	flight_start_ticks(f, now);
	srnic_flight_arm(f, now);
}

/* Was the missing packet retransmitted long enough ago to have been lost again? */
static bool flight_is_lost_again(const struct srnic_flight *f, u64 now)
{
	u64 wait = f->srtt ? max(f->srtt, f->rtt) + flight_doubt_nsec(f, now) :
			     FLIGHT_FIRST_PROBE_NSEC;
	u32 retries = f->retry_cnt - f->retry_left;

	return f->repaired_at && !f->detour && f->next != f->una &&
	       now - f->repaired_at > wait << (max(retries, 1U) - 1);
}

/*
 * Packets to retransmit after a burst that was followed by another missing packet, or by
 * @hole of them: a queue has dropped many.  On a long path one more round trip costs more
 * than some packets that are sent twice.
 */
static u32 flight_next_burst(const struct srnic_flight *f, u32 hole)
{
	u32 burst = max(hole, 2 * f->burst);

	return srnic_flight_is_long(f) ? max(burst, f->window / FLIGHT_QUEUE_PART) : burst;
}

/* The packet behind a burst that was retransmitted and has arrived is missing, too. */
static struct srnic_flight_todo flight_next_hole(struct srnic_flight *f, u32 hole)
{
	f->run += f->burst;
	flight_found_hole(f);
	if (hole || f->keeps == SRNIC_KEEPS_ALL)
		return flight_repair(f, flight_next_burst(f, hole), SRNIC_CAUSE_GAP);

	return flight_go_back(f, SRNIC_CAUSE_GAP);
}

/*
 * No response has followed: the request at una was lost as well, or the peer keeps none.
 * Bursts grow each time; after some in a row it does not.
 */
static struct srnic_flight_todo flight_follow_ends(struct srnic_flight *f, u64 now)
{
	struct srnic_flight_todo todo;

	if (f->burst > FLIGHT_FRUITLESS) {
		f->jumped = false;
		flight_learn(f);
	}
	todo = flight_next_hole(f, 0);
	if (f->mode == SRNIC_FLIGHT_REPAIR)
		flight_start_ticks(f, now);
	srnic_flight_arm(f, now);

	return todo;
}

struct srnic_flight_todo srnic_flight_missing(struct srnic_flight *f, u32 gap, u64 now)
{
	u64 wait = flight_doubt_nsec(f, now);

	if (f->mode == SRNIC_FLIGHT_RNR || f->una == f->high)
		return flight_nothing;

	if (!gap)
		f->untold = f->high;
	/* Each response that arrives makes room for another. */
	if (gap && f->extra < f->window)
		f->extra++;
	switch (f->mode) {
	case SRNIC_FLIGHT_DOUBT:
		if (!f->follows)
			return flight_nothing;
		/* It was sent before another one that has arrived. */
		if (!gap)
			return flight_follow_ends(f, now);
		fallthrough;
	case SRNIC_FLIGHT_OPEN:
		f->gap = gap;
		if (!wait || (!gap && f->keeps == SRNIC_KEEPS_NONE))
			return flight_retry(f, gap, now);
		flight_start_doubt(f, wait, now);
		return flight_nothing;
	case SRNIC_FLIGHT_REPAIR:
	case SRNIC_FLIGHT_BACK:
		f->gap = gap;
		/* The answer to a retransmission comes last: leave it to the timer. */
		if ((gap && f->timeout) || !flight_is_lost_again(f, now))
			return flight_nothing;
		return flight_retry(f, gap, now);
	default:
		return flight_nothing;
	}
}

/* Has an ACK of all before @psn been requested, by a packet that was sent once? */
static bool flight_was_asked(const struct srnic_flight *f, u32 psn)
{
	u32 n;

	for (n = 0; n < f->num_samples; n++)
		if (srnic_psn_add(f->samples[n].psn, 1) == psn)
			return true;

	return false;
}

/*
 * Does this answer, to all before @psn, come too soon to be one to the retransmission?
 * Then it is one to the original: packets were reordered, or the round trip has become
 * longer.  So is an answer to more than was retransmitted by a probe, if just this answer
 * had been requested, or by a probe or a timeout, if no round trip is known.
 */
static bool flight_is_spurious(const struct srnic_flight *f, u32 psn, u64 now)
{
	/* Only a timer recovers from a wrong guess. */
	if (!f->timeout)
		return false;
	if (!f->repaired_at)
		return true;
	/* A timeout is doubted once, or a lost packet would never be sent again. */
	if (f->repair != SRNIC_CAUSE_GAP &&
	    (srnic_psn_diff(f->una, f->undone) < 0 ||
	     srnic_psn_diff(psn, f->mode == SRNIC_FLIGHT_BACK ? f->next : f->repaired) <= 0))
		return false;
	if (!f->rtt_min)
		return f->repair != SRNIC_CAUSE_GAP;
	if (f->repair == SRNIC_CAUSE_PROBE && flight_was_asked(f, psn))
		return true;

	return now - f->repaired_at < f->rtt_min * 3 / 4;
}

/*
 * Answers go on to come early, although the last original had most of a round trip to
 * arrive: they are those to retransmissions, and the measured round trips were those of a
 * longer path or of a busy host.
 */
static void flight_restart_rtt(struct srnic_flight *f, u64 rtt)
{
	f->srtt = max(rtt, f->rtt_min / FLIGHT_EARLY_PART);
	f->rttvar = f->srtt / 2;
	f->rtt = 0;
	f->rtt_min = 0;
	f->probes = 0;
	f->early = 0;
	f->reorder = 0;
}

/* Return: true if the cursor moves because nothing is to be retransmitted. */
static bool flight_check_spurious(struct srnic_flight *f, u32 psn, u64 now)
{
	if ((f->mode != SRNIC_FLIGHT_REPAIR && f->mode != SRNIC_FLIGHT_BACK) ||
	    f->repair == SRNIC_CAUSE_RNR || !flight_is_spurious(f, psn, now))
		return false;

	/* After two retransmissions so early an answer may be one to the first. */
	if (f->mode == SRNIC_FLIGHT_BACK && f->follows) {
		f->jumped = true;
		flight_learn(f);
	} else if (f->repair == SRNIC_CAUSE_GAP && f->repaired_at &&
		   f->retry_cnt - f->retry_left <= 1) {
		if (f->early < FLIGHT_EARLY) {
			f->early++;
		} else if (f->doubt && 2 * f->reorder > f->srtt) {
			flight_restart_rtt(f, now - f->repaired_at);
			return false;
		}
		f->reorder = min(max(2 * f->reorder, f->srtt / 2), f->srtt);
	}
	f->mode = SRNIC_FLIGHT_OPEN;
	f->holes = 0;
	f->gap = 0;
	f->jumped = false;
	f->detour = 0;
	f->next = f->high;
	f->asked = f->high;
	f->undone = f->high;
	flight_stop_ticks(f);

	return true;
}

/*
 * A request that was missing has been answered, and those behind it may have been kept:
 * then the response at una follows.  If the peer is not known to keep requests, that one is
 * requested at once.
 */
static struct srnic_flight_todo flight_follow(struct srnic_flight *f, u64 now)
{
	struct srnic_flight_todo todo = flight_nothing;

	if (f->keeps == SRNIC_KEEPS_ALL)
		flight_start_doubt(f, max(flight_doubt_nsec(f, now), flight_tick_nsec(f)), now);
	else
		todo = flight_next_hole(f, 0);
	f->follows = true;

	return todo;
}

/* All before @psn is acknowledged in mode REPAIR; una is the first retransmitted. */
static struct srnic_flight_todo flight_repair_acked(struct srnic_flight *f, u32 psn,
						    u32 hole, u64 now)
{
	bool behind = srnic_psn_diff(psn, f->repaired) > 0;
	bool requests = !f->gap && f->repair == SRNIC_CAUSE_GAP;

	if (srnic_psn_diff(psn, f->repaired) < 0 || hole == SRNIC_FLIGHT_KEPT)
		return flight_nothing;
	f->jumped |= behind && !f->gap;
	if (behind && requests)
		f->keeps = SRNIC_KEEPS_ALL;
	if (srnic_psn_diff(psn, f->mark) >= 0 ||
	    (behind && requests && hole == SRNIC_FLIGHT_DUE))
		return flight_recovered(f);

	f->una = psn;
	if (hole == SRNIC_FLIGHT_DUE) {
		if (requests)
			return flight_follow(f, now);
		/* Responses were lost: the peer has sent the next one as well. */
		hole = f->gap ? 1 : 0;
	}
	f->gap = hole;
	if (!behind)
		return flight_next_hole(f, hole);
	f->run = hole;
	flight_found_hole(f);

	return flight_repair(f, max(hole, 1U), SRNIC_CAUSE_GAP);
}

/* The same in mode BACK */
static struct srnic_flight_todo flight_back_acked(struct srnic_flight *f, u32 psn)
{
	u32 npsn = srnic_psn_diff(psn, f->una);

	f->follows = false;
	if (!f->jumped && f->keeps != SRNIC_KEEPS_NONE && f->rtt_min) {
		f->run += npsn;
		flight_cut(f);
	}
	if (srnic_psn_diff(psn, f->mark) >= 0)
		return flight_recovered(f);
	/* Doubles per round trip, however many ACKs the peer sends. */
	f->burst = min(f->burst + min(f->burst, npsn), f->window);

	return flight_nothing;
}

/* The same in mode DOUBT */
static void flight_doubt_acked(struct srnic_flight *f, u32 hole, u64 now)
{
	if (hole == SRNIC_FLIGHT_KEPT)
		return;

	if (f->follows) {
		f->jumped = true;
		flight_recovered(f);
		return;
	}
	if (hole == SRNIC_FLIGHT_DUE)
		hole = 0;
	f->gap = hole;
	f->doubt = hole ? now + flight_doubt_nsec(f, now) : 0;
	if (!hole) {
		f->mode = SRNIC_FLIGHT_OPEN;
		flight_stop_ticks(f);
	}
}

/*
 * No recovery is in progress, but @hole responses from una on are missing.  Those behind
 * them may all have arrived, so that none is left to report the gap.
 */
static struct srnic_flight_todo flight_open_acked(struct srnic_flight *f, u32 hole,
						  u64 now)
{
	u64 wait = flight_doubt_nsec(f, now);
	struct srnic_flight_todo todo;

	f->gap = hole;
	if (wait) {
		flight_start_doubt(f, wait, now);
		return flight_nothing;
	}
	f->run = hole;
	flight_found_hole(f);
	todo = flight_repair(f, hole, SRNIC_CAUSE_GAP);
	flight_start_ticks(f, now);
	srnic_flight_arm(f, now);

	return todo;
}

/* Moves @next past what is acknowledged. */
static struct srnic_flight_todo flight_catch_up(struct srnic_flight *f, u32 psn)
{
	u32 npsn = srnic_psn_diff(psn, f->next);

	if (srnic_psn_diff(psn, f->next) <= 0)
		return flight_nothing;

	if (npsn < f->detour) {
		f->detour -= npsn;
		f->next = psn;
	} else {
		f->next = f->detour ? srnic_psn_max(f->resume, psn) : psn;
		f->detour = 0;
	}

	return flight_seek(SRNIC_CAUSE_NONE);
}

struct srnic_flight_todo srnic_flight_acked(struct srnic_flight *f, u32 psn, u32 hole,
					    u64 now)
{
	struct srnic_flight_todo todo = flight_nothing, moved;
	u32 npsn = srnic_psn_diff(psn, f->una);
	bool ambiguous = f->mode == SRNIC_FLIGHT_REPAIR || f->mode == SRNIC_FLIGHT_BACK;
	bool undone = flight_check_spurious(f, psn, now);

	/* What was sent since the NAK may have been dropped, too. */
	if (f->mode != SRNIC_FLIGHT_OPEN && flight_is_untold(f))
		f->untold = f->high;
	flight_sampled(f, psn, ambiguous && (!undone || !f->rtt_min), now);
	/* The remaining samples may be of packets that were sent more than once. */
	if (undone && !f->rtt_min)
		f->num_samples = 0;
	flight_free_places(f, psn);
	if (ambiguous)
		f->doubt = 0;
	f->extra -= min(f->extra, npsn);
	if (srnic_psn_diff(psn, f->round) >= 0) {
		f->round = f->high;
		f->holes = 0;
	}
	/*
	 * The backoff remains until a round trip is measured (Karn), or part of it.  Without
	 * a timeout the wait is long even so.
	 */
	if (!f->timeout)
		f->probes = 0;
	else if (!ambiguous || f->repair != SRNIC_CAUSE_PROBE)
		f->probes = min_t(u8, f->probes, 1);
	f->retry_left = f->retry_cnt;
	f->heard = 0;
	f->put_off = 0;
	f->rnr_left = f->rnr_retry;
	f->jumped |= f->mode == SRNIC_FLIGHT_BACK && srnic_psn_diff(psn, f->next) > 0;
	moved = flight_catch_up(f, psn);
	switch (f->mode) {
	case SRNIC_FLIGHT_REPAIR:
		todo = flight_repair_acked(f, psn, hole, now);
		break;
	case SRNIC_FLIGHT_BACK:
		todo = flight_back_acked(f, psn);
		break;
	case SRNIC_FLIGHT_DOUBT:
		flight_doubt_acked(f, hole, now);
		fallthrough;
	case SRNIC_FLIGHT_OPEN:
		flight_grow(f, npsn);
		break;
	case SRNIC_FLIGHT_RNR:
		if (psn == f->high) {
			f->hold = 0;
			f->mode = SRNIC_FLIGHT_OPEN;
			flight_stop_ticks(f);
		}
		break;
	}
	f->una = psn;
	f->asked = srnic_psn_max(f->asked, psn);
	f->cut = srnic_psn_max(f->cut, psn);
	f->undone = srnic_psn_max(f->undone, psn);
	f->limited = srnic_psn_max(f->limited, psn);
	f->untold = srnic_psn_max(f->untold, psn);
	flight_withhold(f, npsn, now);
	srnic_flight_arm(f, now);
	if (f->mode == SRNIC_FLIGHT_OPEN && hole && hole < SRNIC_FLIGHT_DUE)
		todo = flight_open_acked(f, hole, now);

	if (undone)
		moved.act = SRNIC_FLIGHT_SEEK;

	return todo.act ? todo : moved;
}

void srnic_flight_heard(struct srnic_flight *f)
{
	if (f->repair != SRNIC_CAUSE_TIMEOUT || f->heard == FLIGHT_HEARD ||
	    f->retry_left == f->retry_cnt)
		return;

	f->heard++;
	f->retry_left = f->retry_cnt;
}

void srnic_flight_dropped(struct srnic_flight *f, bool here, u64 now)
{
	if (f->timeout || f->una == f->high)
		return;

	if (here)
		f->probes = 0;	/* the peer is alive */
	f->untold = f->high;
	if (!f->silence)
		srnic_flight_arm(f, now);
}

struct srnic_flight_todo srnic_flight_rnr(struct srnic_flight *f, u64 nsec, u64 now)
{
	if (f->mode == SRNIC_FLIGHT_RNR)
		return flight_nothing;
	if (!f->rnr_left)
		return flight_fail(SRNIC_CAUSE_RNR);
	if (f->rnr_retry != 7)
		f->rnr_left--;
	/* The peer is alive, and the packet was not lost. */
	f->retry_left = f->retry_cnt;
	f->probes = 0;
	f->mode = SRNIC_FLIGHT_RNR;
	f->doubt = 0;
	f->hold = now + nsec;
	srnic_flight_arm(f, now);

	return flight_nothing;
}

void srnic_flight_stall(struct srnic_flight *f, u64 nsec, u64 now)
{
	f->hold = now + nsec;
	srnic_flight_arm(f, now);
}

void srnic_flight_solicit_ack(struct srnic_flight *f, u64 now)
{
	if (!flight_unasked(f) || f->detour || f->hold ||
	    f->mode == SRNIC_FLIGHT_DOUBT)
		return;

	f->silence = now;
	f->deadline = now;
}

struct srnic_flight_todo srnic_flight_refused(struct srnic_flight *f)
{
	if (f->hold || f->next == f->una ||
	    (!f->detour && srnic_flight_asked(f)))
		return flight_nothing;

	/* The rest of a detour is not retransmitted, and requests no ACK. */
	f->asked = f->una;
	flight_detour(f, f->una, 1);

	return flight_seek(SRNIC_CAUSE_ASK);
}

/* The hold has expired. */
static struct srnic_flight_todo flight_release(struct srnic_flight *f)
{
	f->hold = 0;
	if (f->mode == SRNIC_FLIGHT_RNR) {
		f->cut = f->high;	/* no queue dropped it */
		return flight_go_back(f, SRNIC_CAUSE_RNR);
	}

	return (struct srnic_flight_todo){ .cause = SRNIC_CAUSE_MEMORY };
}

/* The user's ACK timeout has expired. */
static struct srnic_flight_todo flight_expire(struct srnic_flight *f)
{
	if (!f->retry_left)
		return flight_fail(SRNIC_CAUSE_TIMEOUT);
	f->retry_left--;
	/* A path that has come back is found by a probe, unless the peer has gone. */
	if (f->rtt_min && f->backoff < FLIGHT_REPROBE)
		f->probes = 0;
	f->backoff = min(f->backoff + 1, FLIGHT_BACKOFF);

	f->run = FLIGHT_QUEUE_RUN;

	return flight_go_back(f, SRNIC_CAUSE_TIMEOUT);
}

/* No answer; the caller sets the deadline once a packet has been sent. */
static struct srnic_flight_todo flight_silence(struct srnic_flight *f)
{
	if (flight_unasked(f)) {
		flight_detour(f, srnic_psn_add(f->next, -1), 1);
		return flight_seek(SRNIC_CAUSE_ASK);
	}
	if (!flight_may_probe(f))
		return flight_expire(f);
	f->probes++;
	/* Silence is no loss, but if no round trip is known, the only sign of a queue. */
	if (f->mode == SRNIC_FLIGHT_OPEN && f->rtt_min)
		f->run = 0;

	return flight_repair(f, 1, SRNIC_CAUSE_PROBE);
}

/* A tick is due: releases what is sent in that time. */
static void flight_let_out(struct srnic_flight *f, u64 now)
{
	u64 srtt = max(f->srtt, 1ULL);
	u64 part = div64_u64(f->window * flight_tick_nsec(f) + srtt - 1, srtt);
	u32 step = min_t(u64, part, f->window);

	if (f->withheld)
		f->withheld -= min(f->withheld, step);
	else if (flight_lets_out(f))
		f->extra += min(step, f->window - f->extra);
	flight_set_tick(f, now);
}

/* The event that @silence stands for is due. */
static struct srnic_flight_todo flight_overdue(struct srnic_flight *f, u64 now)
{
	if (f->hold)
		return flight_release(f);
	if (f->mode == SRNIC_FLIGHT_DOUBT && f->follows)
		return flight_follow_ends(f, now);
	if (f->mode == SRNIC_FLIGHT_DOUBT)
		return flight_retry(f, f->gap, now);
	if (flight_front(f) == f->una || f->detour)
		return flight_nothing;

	return flight_silence(f);
}

bool srnic_flight_put_off(struct srnic_flight *f, u64 now)
{
	if (!f->silence || now < f->silence || f->hold || flight_unasked(f) ||
	    f->mode == SRNIC_FLIGHT_DOUBT || f->put_off == FLIGHT_PUT_OFF)
		return false;

	f->put_off++;
	srnic_flight_arm(f, now);

	return true;
}

struct srnic_flight_todo srnic_flight_timeout(struct srnic_flight *f, bool busy, u64 now)
{
	struct srnic_flight_todo todo;

	if (f->tick && now >= f->tick)
		flight_let_out(f, now);
	flight_set_deadline(f);
	if (!f->silence || now < f->silence)
		return flight_nothing;

	f->late = busy && !f->hold && flight_front(f) != f->una;
	if (f->late) {
		f->silence = 0;
		f->deadline = f->tick;
		return flight_nothing;
	}
	todo = flight_overdue(f, now);
	srnic_flight_arm(f, now);

	return todo;
}

u64 srnic_flight_rate(const struct srnic_flight *f, u64 now)
{
	u64 rtt = f->srtt;

	if (f->num_samples)
		rtt = max(rtt, now - f->samples[0].sent);

	return rtt ? div64_u64((u64)flight_out(f) * NSEC_PER_SEC, rtt) : 0;
}
