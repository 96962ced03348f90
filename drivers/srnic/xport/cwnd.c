// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - congestion window of a connection: how many PSNs may be in flight
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "cwnd.h"

/* Parts of a packet in which growth is counted */
#define CWND_PARTS		64U

/* With round trips this many times the shortest, a larger window is of no use */
#define CWND_QUEUE_RTTS		4

/* With round trips this many times the shortest, a small window no longer doubles */
#define CWND_START_RTTS		3

/* Packets of a round at least; the round trips of fewer are noise */
#define CWND_ROUND		64

/* Rounds of a trial: the window grows, its growth arrives, round trips are measured */
#define CWND_TRIAL		3

/* Rounds without a trial after one that was of no use */
#define CWND_PAUSE		8
#define CWND_PAUSE_MAX		128

/* Growth of the first trial, and of those after others without a queue, in eighths */
#define CWND_STEP		2
#define CWND_STEP_MAX		4

/*
 * Part of that growth by which round trips may grow without a queue.  On a long path one that has
 * begun means that the path is full: the next trial would be half as large again.
 */
#define CWND_FLAT_PART		4
#define CWND_FLAT_LONG_PART	16

/* With round trips this many times the shortest no growth is tried, on a long path */
#define CWND_TRIAL_RTTS		8

/*
 * SRNIC_CWND_QUEUE_PART if the round trip is more than twice the shortest, or the window is about
 * as large as when packets were dropped last
 */
#define CWND_FULL_PART		32

/*
 * A window that is smaller may be a share of a queue that is full of the packets of others.  It
 * is cut for each loss, or more than one packet in sixteen would be lost for ever, and grows
 * by a packet in as many round trips: each packet that is added to a full queue is one lost.
 */
#define CWND_CROWD		64

/* As many packets added in a row that get through double the growth of such a window. */
#define CWND_ROOM		3

/* Its growth is that of others then: log2 of CWND_CROWD */
#define CWND_EASE_MAX		6

/* Packets lost in a round that may be so by chance */
#define CWND_FEW		3U

/* Most packets between two ACK requests */
#define CWND_ACKREQ		32

/* Steps per round trip in which packets are released by time */
#define CWND_TICKS		8

/* Shortest of these steps; the timer of a shorter one would cost more than it helps */
#define CWND_TICK_NSEC		(50ULL * NSEC_PER_USEC)

void srnic_cwnd_start(struct srnic_cwnd *cwnd)
{
	cwnd->window = SRNIC_CWND_FIRST;
	cwnd->step = CWND_STEP;
	cwnd->pause = CWND_PAUSE;
	cwnd->startup = true;
	cwnd->probing = true;
}

void srnic_cwnd_stop_ticks(struct srnic_cwnd *cwnd)
{
	cwnd->extra = 0;
	cwnd->tick = 0;
}

void srnic_cwnd_skip(struct srnic_cwnd *cwnd, u32 psn)
{
	cwnd->cut = psn;
	cwnd->round = psn;
	cwnd->holes = 0;
	cwnd->limited = psn;
	cwnd->lap = psn;
	cwnd->adding = false;
	srnic_cwnd_stop_ticks(cwnd);
}

void srnic_cwnd_full(struct srnic_cwnd *cwnd, u32 front)
{
	cwnd->limited = front;
}

void srnic_cwnd_acked(struct srnic_cwnd *cwnd, u32 psn, u32 high, u32 npsn)
{
	cwnd->extra -= min(cwnd->extra, npsn);
	if (srnic_psn_diff(psn, cwnd->round) < 0)
		return;
	cwnd->round = high;
	cwnd->holes = 0;
}

void srnic_cwnd_advance(struct srnic_cwnd *cwnd, u32 psn)
{
	cwnd->cut = srnic_psn_max(cwnd->cut, psn);
	cwnd->limited = srnic_psn_max(cwnd->limited, psn);
	cwnd->lap = srnic_psn_max(cwnd->lap, psn);
	if (cwnd->adding)
		cwnd->added = srnic_psn_max(cwnd->added, srnic_psn_add(psn, -1));
}

u32 srnic_cwnd_ack_every(const struct srnic_rtt *rtt, u32 limit)
{
	u32 every = DIV_ROUND_UP(limit, srnic_rtt_is_long(rtt) ? 8 : 4);

	return min_t(u32, every, CWND_ACKREQ);
}

/* Is there no sign of a queue, other than that of the packets released by one ACK? */
static bool cwnd_is_clear(const struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt)
{
	u32 every = srnic_cwnd_ack_every(rtt, srnic_cwnd_limit(cwnd));
	u64 burst = div_u64(rtt->min * min(every, cwnd->window), cwnd->window);

	return rtt->last <= rtt->min + max(rtt->min / 8, SRNIC_RTT_SHORT_NSEC / 8) + burst;
}

/*
 * Does the window limit what is sent?  Unknown without a recent round trip: the answers may be
 * those of a queue that is already longer than the timers expect.
 */
static bool cwnd_is_limit(const struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt, u32 una)
{
	return srnic_psn_diff(cwnd->limited, una) > 0 && cwnd->window < SRNIC_CWND_MAX &&
	       rtt->min && !rtt->probes && !rtt->backoff;
}

/* Do round trips with a queue forbid exponential growth? */
static bool cwnd_is_slow(const struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt)
{
	return cwnd->window >= SRNIC_CWND_SHORT || rtt->last > CWND_START_RTTS * rtt->min ||
	       (rtt->timeout && rtt->last > rtt->timeout);
}

/* On a long path, after a cut or a trial that was of no use: do trials have to stay below @top? */
static bool cwnd_is_cautious(const struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt)
{
	return srnic_rtt_is_long(rtt) && !cwnd->probing;
}

/* No loss before @psn cuts the window from now on, unless fewer than @through packets arrive. */
static void cwnd_set_cut(struct srnic_cwnd *cwnd, u32 psn, u32 through)
{
	cwnd->cut = psn;
	cwnd->through = through;
}

/* Packets are dropped: the window becomes @window. */
static void cwnd_reduce(struct srnic_cwnd *cwnd, u32 window)
{
	cwnd->window = max(window, 1U);
	cwnd->credit = 0;
	cwnd->lossy = cwnd->window < SRNIC_CWND_SHORT;
}

/* Ends the trial, if there is one.  @rounds: until the next may begin */
static void cwnd_end_trial(struct srnic_cwnd *cwnd, u8 rounds)
{
	cwnd->from = 0;
	cwnd->step = CWND_STEP;
	cwnd->rounds = rounds;
}

/* Mean round trip of the current round, in which one has been measured */
static u64 cwnd_mean(const struct srnic_cwnd *cwnd)
{
	return div_u64(cwnd->sum, cwnd->num);
}

/*
 * By how much round trips have grown since a round before: the shortest, or on a long path the
 * mean if that has grown less.  With jitter the shortest of a few is one by chance.
 */
static u64 cwnd_longer(const struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt)
{
	u64 longer = cwnd->least - min(cwnd->least, cwnd->base);
	u64 mean;

	if (!srnic_rtt_is_long(rtt))
		return longer;
	mean = cwnd_mean(cwnd);

	return min(longer, mean - min(mean, cwnd->mean));
}

/*
 * The window has grown from @from, and the round trip from @base.  If both have grown by the
 * same factor, more packets wait, and no more arrive.
 */
static void cwnd_judge(struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt)
{
	u64 longer = cwnd_longer(cwnd, rtt) * cwnd->from;
	u64 larger = cwnd->base * (cwnd->window - min(cwnd->window, cwnd->from));
	u32 part = srnic_rtt_is_long(rtt) ? CWND_FLAT_LONG_PART : CWND_FLAT_PART;
	u8 step = cwnd->step;

	if (part * longer <= larger) {
		cwnd_end_trial(cwnd, cwnd_is_cautious(cwnd, rtt) ? CWND_PAUSE : 0);
		cwnd->step = min(2 * step, CWND_STEP_MAX);
		cwnd->pause = CWND_PAUSE;
		return;
	}
	if (2 * longer <= larger) {
		cwnd_end_trial(cwnd, srnic_rtt_is_long(rtt) ? cwnd->pause : CWND_PAUSE / 2);
		return;
	}
	cwnd->window = cwnd->from;
	/* It was cut for what it has sent. */
	cwnd_set_cut(cwnd, srnic_psn_max(cwnd->cut, cwnd->limited), U32_MAX);
	cwnd->probing = false;
	cwnd_end_trial(cwnd, cwnd->pause);
	cwnd->pause = min(2 * cwnd->pause, CWND_PAUSE_MAX);
}

/* Size up to which a trial lets the window grow */
static u32 cwnd_trial_end(const struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt)
{
	return cwnd_is_cautious(cwnd, rtt) ? cwnd->top - cwnd->top / 16 : SRNIC_CWND_MAX;
}

/*
 * May growth be tried?  Not if the queue is long already: its other users would bear most of
 * the delay.  On a long path the window grows anyway, and a trial is of use only if round
 * trips are long for another reason than a queue.  A small window grows without trials on a short
 * path and during a start; a smaller one may be a share of a queue.
 */
static bool cwnd_may_try(const struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt,
			 bool clear)
{
	u32 small = srnic_rtt_is_long(rtt) && !cwnd->startup ? CWND_CROWD : SRNIC_CWND_SHORT;
	u64 most = CWND_QUEUE_RTTS * rtt->min + SRNIC_RTT_SHORT_NSEC / 4;

	if (cwnd->window < small)
		return false;
	if (!srnic_rtt_is_long(rtt))
		return cwnd->least < most;

	return !clear && cwnd->least < CWND_TRIAL_RTTS * rtt->min &&
	       cwnd->window + cwnd->window / 8 < cwnd_trial_end(cwnd, rtt);
}

/*
 * Has the round trip become longer since the last round, although the window has not grown?
 * It may have become smaller.
 */
static bool cwnd_has_jumped(const struct srnic_cwnd *cwnd)
{
	u64 before = cwnd->base * max(cwnd->window, cwnd->was);

	return before && 2 * cwnd->least * cwnd->was > 3 * before;
}

/*
 * The window has grown other than by a trial, until one round ago.  If round trips have grown
 * since, it was into a queue.
 */
static void cwnd_settle(struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt)
{
	if (--cwnd->settling || 3 * cwnd_longer(cwnd, rtt) <= cwnd->base)
		return;
	cwnd->probing = false;
	cwnd->rounds = max(cwnd->rounds, cwnd->pause);
}

/* A round without a trial has ended: how many more? */
static void cwnd_wait_round(struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt)
{
	if (cwnd->window > cwnd->was + cwnd->was / 16) {
		cwnd->settling = CWND_TRIAL - 1;
	} else if (cwnd->settling) {
		cwnd_settle(cwnd, rtt);
	} else if (cwnd_has_jumped(cwnd)) {
		cwnd->probing = true;
		cwnd->pause = CWND_PAUSE;
		cwnd->rounds = 1;
	} else if (cwnd->rounds) {
		cwnd->rounds--;
	}
}

/* Is a round trip no longer than the mean of a round before? */
static bool cwnd_is_near(u64 nsec, u64 mean)
{
	return 16 * nsec < 17 * mean;
}

/* A round has ended. */
static void cwnd_end_round(struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt, bool clear)
{
	if (cwnd->from && --cwnd->rounds)
		return;
	if (cwnd->from)
		cwnd_judge(cwnd, rtt);
	else
		cwnd_wait_round(cwnd, rtt);
	if (cwnd->settling != 1) {
		cwnd->steep = !cwnd_is_near(cwnd_mean(cwnd), cwnd->mean);
		cwnd->base = cwnd->least;
		cwnd->mean = cwnd_mean(cwnd);
		cwnd->was = cwnd->window;
	}
	if (cwnd->rounds || cwnd->settling || !cwnd_may_try(cwnd, rtt, clear))
		return;
	cwnd->from = cwnd->window;
	cwnd->rounds = CWND_TRIAL;
}

/* All before @psn is acknowledged: looks at the last round trip, and at the end of rounds. */
static void cwnd_watch(struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt, u32 psn,
		       bool clear)
{
	cwnd->least = min_not_zero(cwnd->least, rtt->last);
	cwnd->sum += rtt->last;
	cwnd->num++;
	if (srnic_psn_diff(psn, cwnd->lap) < 0)
		return;
	cwnd_end_round(cwnd, rtt, clear);
	cwnd->least = 0;
	cwnd->sum = 0;
	cwnd->num = 0;
	cwnd->lap = srnic_psn_max(cwnd->limited, srnic_psn_add(psn, CWND_ROUND));
}

/* Parts of a packet by which the window grows per round trip, where it may be too large */
static u32 cwnd_slow_growth(const struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt)
{
	if (cwnd->window >= SRNIC_CWND_SHORT &&
	    (!srnic_rtt_is_long(rtt) || rtt->last >= CWND_QUEUE_RTTS * rtt->min))
		return 0;

	return clamp_t(u64, div64_u64(2 * CWND_PARTS * rtt->min, rtt->last), CWND_PARTS / 8,
		       CWND_PARTS);
}

/* Is the window about as large as when packets were dropped last? */
static bool cwnd_is_at_top(const struct srnic_cwnd *cwnd)
{
	return 8 * abs_diff(cwnd->window, cwnd->top) <= cwnd->top;
}

/*
 * Parts of a packet by which the window grows per round trip on a long path without a queue.  It
 * grows little while it is about as large as when packets were dropped, as on the plateau of
 * CUBIC (RFC 9438, section 4.2): a policer shows no queue, and drops what exceeds its rate.  On a
 * wide path a large window grows less there than on others, and a small one more, since it may
 * have been cut for losses by chance.
 */
static u32 cwnd_clear_growth(const struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt)
{
	if (!cwnd_is_at_top(cwnd))
		return CWND_PARTS * (cwnd->window / 16 + 1);

	return srnic_rtt_is_wide(rtt) ? max(CWND_PARTS * cwnd->window / 256, CWND_PARTS / 8) :
					max(CWND_PARTS * cwnd->window / 128, CWND_PARTS / 16);
}

/*
 * Were round trips of a long path long already before, for two rounds, and are no longer now?  With
 * jitter the shortest of all is of no use, and a start compares them with those of the last round
 * (RFC 9406), but not without limit: other flows may fill the queue meanwhile.
 */
static bool cwnd_is_flat(const struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt)
{
	return srnic_rtt_is_long(rtt) && cwnd->probing && !cwnd->steep &&
	       cwnd->base > rtt->min + rtt->min / 8 && cwnd->base < CWND_START_RTTS * rtt->min &&
	       (!rtt->timeout || rtt->last <= rtt->timeout) &&
	       cwnd_is_near(max(rtt->last, rtt->srtt), cwnd->mean);
}

/* Parts of a packet by which the window grows per round trip, in the first round of a trial */
static u32 cwnd_trial_growth(const struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt)
{
	u32 step = cwnd_is_cautious(cwnd, rtt) ? 1 : cwnd->step;

	if (cwnd->window >= cwnd_trial_end(cwnd, rtt))
		return 0;

	return CWND_PARTS / 8 * step * cwnd->window;
}

/*
 * May the window be a share of a queue that others keep full?  Whoever has never seen it empty
 * takes it for a long path, so round trips are compared with the longest.
 */
static bool cwnd_is_share(const struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt)
{
	return cwnd->lossy && !cwnd->startup && cwnd->window < CWND_CROWD &&
	       rtt->last < SRNIC_RTT_SITE_NSEC && srnic_rtt_is_longest(rtt);
}

/*
 * A full queue drops the very packet by which a window has grown, since those before it take the
 * places of packets that have left.  Chance loses it no more often than any other.
 */
static void cwnd_add(struct srnic_cwnd *cwnd, u32 psn, u32 npsn)
{
	if (cwnd->adding && srnic_psn_diff(psn, cwnd->added) <= 0)
		return;
	if (cwnd->adding && ++cwnd->room == CWND_ROOM) {
		cwnd->room = 0;
		cwnd->ease = min(cwnd->ease + 1, CWND_EASE_MAX);
	}
	cwnd->adding = true;
	cwnd->added = srnic_psn_add(cwnd->limited, npsn);
}

/* A queue is not full of the packets of others: nothing is known of what is added to it. */
static void cwnd_forget_added(struct srnic_cwnd *cwnd)
{
	cwnd->adding = false;
	cwnd->room = 0;
	cwnd->ease = 0;
}

/* Packets are lost: is the one that was added among them? */
static void cwnd_lose_added(struct srnic_cwnd *cwnd, const struct srnic_cwnd_loss *loss)
{
	s32 behind = srnic_psn_diff(cwnd->added, loss->una);

	if (!cwnd->adding || behind < 0 || behind >= (s32)max(loss->run, 1U))
		return;
	cwnd->adding = false;
	cwnd->room = 0;
	if (cwnd->ease)
		cwnd->ease--;
}

/*
 * Parts of a packet by which a share of a full queue grows per round trip.  Unless round trips have
 * been longer by an eighth than the shortest, there may be no queue.
 */
static u32 cwnd_share_growth(const struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt)
{
	u8 ease = 8 * rtt->max < 9 * rtt->min ? cwnd->ease : 0;

	return (CWND_PARTS / CWND_CROWD) << ease;
}

/* Parts of a packet by which the window grows per round trip */
static u32 cwnd_growth(const struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt, bool clear)
{
	bool far = srnic_rtt_is_long(rtt);

	clear &= far || cwnd->window < SRNIC_CWND_SHORT;
	if (cwnd->startup && (clear || !cwnd_is_slow(cwnd, rtt)))
		return CWND_PARTS * cwnd->window;
	if (cwnd->startup && cwnd_is_flat(cwnd, rtt))
		return CWND_PARTS / 2 * cwnd->window;
	if (cwnd->from && cwnd->rounds == CWND_TRIAL)
		return cwnd_trial_growth(cwnd, rtt);
	if (cwnd->crowded && (far || !clear) && cwnd_is_share(cwnd, rtt))
		return cwnd_share_growth(cwnd, rtt);
	if (clear && far)
		return cwnd_clear_growth(cwnd, rtt);

	return cwnd_slow_growth(cwnd, rtt);
}

/*
 * Slow round trips do not end the exponential growth for good, since a peer that pauses
 * looks like a queue (RFC 9406).
 */
void srnic_cwnd_grow(struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt, u32 una,
		     u32 npsn)
{
	bool small = cwnd->window < SRNIC_CWND_SHORT;
	u32 most = small ? SRNIC_CWND_SHORT : SRNIC_CWND_MAX;
	bool clear;

	if (!cwnd_is_limit(cwnd, rtt, una))
		return;
	clear = cwnd_is_clear(cwnd, rtt);
	cwnd_watch(cwnd, rtt, srnic_psn_add(una, npsn), clear);
	cwnd->credit += (u64)npsn * cwnd_growth(cwnd, rtt, clear);
	if (cwnd->credit < CWND_PARTS * cwnd->window)
		return;
	cwnd->window = min_t(u64, cwnd->window +
				  div_u64(cwnd->credit, CWND_PARTS * cwnd->window), most);
	/* A trial may yet take back the growth. */
	if (!cwnd->from)
		cwnd->lossy &= cwnd->window < SRNIC_CWND_SHORT;
	cwnd->credit = 0;
	if (cwnd->crowded)
		cwnd_add(cwnd, srnic_psn_add(una, npsn), npsn);
}

/*
 * Does a queue make round trips longer?  With jitter the last one may be long by chance, so on a
 * long path all of the current round have to be.
 */
static bool cwnd_is_queued(const struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt)
{
	if (!srnic_rtt_is_queued(rtt))
		return false;

	return !srnic_rtt_is_long(rtt) || !cwnd->least || cwnd->least > rtt->min + rtt->min / 8;
}

/* Packets of a round with @out in flight that may be lost by chance: one in @part of many */
static u32 cwnd_chance(const struct srnic_rtt *rtt, u32 out, u32 part)
{
	return max(out / part, srnic_rtt_is_wide(rtt) ? clamp(out / 8, 1U, CWND_FEW) : 1U);
}

/* Did a queue drop the missing packets?  Responses may be requested ahead of the window. */
static bool cwnd_is_overflow(const struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt,
			     const struct srnic_cwnd_loss *loss)
{
	u32 out = max(cwnd->window, loss->out);

	return loss->run >= SRNIC_CWND_QUEUE_RUN || cwnd_is_queued(cwnd, rtt) ||
	       cwnd->holes > cwnd_chance(rtt, out, SRNIC_CWND_QUEUE_PART) ||
	       (cwnd_is_at_top(cwnd) &&
		cwnd->holes > max(cwnd_chance(rtt, out, CWND_FULL_PART), 2U)) ||
	       (srnic_rtt_is_full(rtt) && cwnd->holes > cwnd->window / CWND_FULL_PART);
}

/*
 * May the few packets that are missing have been lost by chance?  They cut a small window, but
 * do not end its start.
 */
static bool cwnd_is_chance(const struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt, u32 run)
{
	return (!rtt->min || srnic_rtt_is_long(rtt)) && run < SRNIC_CWND_QUEUE_RUN &&
	       !cwnd_is_queued(cwnd, rtt) && cwnd->holes <= CWND_FEW;
}

/*
 * The window at which packets are dropped, as far as that is known: not if others are lost well
 * below it although there is no queue
 */
static u32 cwnd_find_top(const struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt,
			 bool overflow)
{
	bool below = 8 * cwnd->window < 7 * cwnd->top;

	if (below && !(overflow && srnic_rtt_is_queued(rtt)))
		return 0;

	return overflow ? cwnd->window : cwnd->top;
}

/*
 * Most of a flight may have arrived before one that is missing is known to be lost, so on a long
 * path the window is cut, not what is in flight as in RFC 9438, section 4.6: it cannot have grown
 * while it was not in use.  At the end of the start the window has just doubled, and half of it
 * may be enough.
 */
void srnic_cwnd_lose(struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt,
		     const struct srnic_cwnd_loss *loss)
{
	bool whole = srnic_rtt_is_long(rtt) && !cwnd->startup;
	u32 out = whole ? cwnd->window : min(loss->out, cwnd->window);
	bool overflow, shared;
	u32 flight;

	if (srnic_cwnd_is_cut(cwnd, loss->una)) {
		if (cwnd->lossy)
			cwnd->startup &= cwnd_is_chance(cwnd, rtt, loss->run);
		return;
	}

	shared = loss->single && loss->run < SRNIC_CWND_QUEUE_RUN && cwnd_is_share(cwnd, rtt);
	overflow = shared || cwnd_is_overflow(cwnd, rtt, loss);
	cwnd->top = cwnd_find_top(cwnd, rtt, overflow);
	if (!overflow)
		return;

	flight = max_t(u32, cwnd->window, srnic_psn_diff(loss->high, loss->una));
	cwnd_set_cut(cwnd, loss->high, flight);
	cwnd_reduce(cwnd, max(out * 7 / 10, cwnd->window / 2));
	cwnd_end_trial(cwnd, cwnd->pause);
	cwnd->probing = false;	/* until the round trip jumps: base and was remain */
	cwnd->crowded = shared;
	if (!shared)
		cwnd_forget_added(cwnd);
	cwnd->round = loss->high;
	cwnd->startup &= cwnd_is_chance(cwnd, rtt, loss->run);
}

/*
 * @lost more packets of the flight for which the window was cut do not get through.  If fewer do
 * than it was cut to, it becomes their number: a policer whose bucket is empty passes a small part
 * of what the line carries, and would drop most of the retransmitted packets as well.  It passes
 * them one by one: a flight with few holes, but large ones, has met an outage, which is over.
 */
static void cwnd_count_lost(struct srnic_cwnd *cwnd, u32 lost)
{
	cwnd->through -= min(cwnd->through, lost);
	if (cwnd->through >= cwnd->window ||
	    (cwnd->holes <= CWND_FEW && lost > SRNIC_CWND_QUEUE_RUN))
		return;
	cwnd_reduce(cwnd, cwnd->through);
	cwnd->top = cwnd->window;
}

void srnic_cwnd_found_hole(struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt,
			   const struct srnic_cwnd_loss *loss)
{
	cwnd->holes++;
	cwnd_lose_added(cwnd, loss);
	srnic_cwnd_lose(cwnd, rtt, loss);
	if (loss->lost && srnic_cwnd_is_cut(cwnd, loss->una))
		cwnd_count_lost(cwnd, loss->lost);
}

void srnic_cwnd_forgive(struct srnic_cwnd *cwnd, u32 high)
{
	cwnd_set_cut(cwnd, high, U32_MAX);
}

void srnic_cwnd_undo(struct srnic_cwnd *cwnd)
{
	cwnd->holes = 0;
	cwnd->through = U32_MAX;
	srnic_cwnd_stop_ticks(cwnd);
}

u64 srnic_cwnd_tick_nsec(const struct srnic_rtt *rtt)
{
	return max(rtt->srtt / CWND_TICKS, CWND_TICK_NSEC);
}

/* May a tick release another packet? */
static bool cwnd_has_extra(const struct srnic_cwnd *cwnd, bool release)
{
	return release && cwnd->extra < cwnd->window;
}

static void cwnd_set_tick(struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt,
			  bool release, u64 now)
{
	cwnd->tick = cwnd_has_extra(cwnd, release) ? now + srnic_cwnd_tick_nsec(rtt) : 0;
}

void srnic_cwnd_start_ticks(struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt,
			    bool release, u64 now)
{
	if (!cwnd->tick)
		cwnd_set_tick(cwnd, rtt, release, now);
}

void srnic_cwnd_release_tick(struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt,
			     bool release, u64 now)
{
	u64 srtt = max(rtt->srtt, 1ULL);
	u64 part = div64_u64(cwnd->window * srnic_cwnd_tick_nsec(rtt) + srtt - 1, srtt);
	u32 step = min_t(u64, part, cwnd->window);

	if (cwnd_has_extra(cwnd, release))
		cwnd->extra += min(step, cwnd->window - cwnd->extra);
	cwnd_set_tick(cwnd, rtt, release, now);
}
