// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - congestion window of a connection: how many PSNs may be in flight
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "cwnd.h"

/* With round trips this many times the shortest, a larger window is of no use */
#define CWND_QUEUE_RTTS		4

/* With round trips this many times the shortest, a small window no longer doubles */
#define CWND_START_RTTS		3

/* SRNIC_CWND_QUEUE_PART if the round trip is more than twice the shortest */
#define CWND_FULL_PART		16

/* Steps per round trip in which packets are released by time */
#define CWND_TICKS		8

/* Shortest of these steps; the timer of a shorter one would cost more than it helps */
#define CWND_TICK_NSEC		(50ULL * NSEC_PER_USEC)

void srnic_cwnd_start(struct srnic_cwnd *cwnd)
{
	cwnd->window = SRNIC_CWND_FIRST;
	cwnd->startup = true;
}

void srnic_cwnd_stop_ticks(struct srnic_cwnd *cwnd)
{
	cwnd->extra = 0;
	cwnd->withheld = 0;
	cwnd->tick = 0;
}

void srnic_cwnd_skip(struct srnic_cwnd *cwnd, u32 psn)
{
	cwnd->cut = psn;
	cwnd->round = psn;
	cwnd->holes = 0;
	cwnd->limited = psn;
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
}

/* Is there no sign of a queue, other than that of the packets released by one ACK? */
static bool cwnd_is_clear(const struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt,
			  u32 every)
{
	u64 burst = div_u64(rtt->min * min(every, cwnd->window), cwnd->window);

	return rtt->last <= rtt->min + max(rtt->min / 8, SRNIC_RTT_SHORT_NSEC / 8) + burst;
}

/*
 * Would a larger window be of use?  Unknown without a recent round trip: the answers may be
 * those of a queue that is already longer than the timers expect.
 */
static bool cwnd_may_grow(const struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt,
			  u32 una)
{
	if (srnic_psn_diff(cwnd->limited, una) <= 0 || cwnd->window >= SRNIC_CWND_MAX ||
	    !rtt->min || rtt->probes || rtt->backoff)
		return false;
	if (cwnd->window < SRNIC_CWND_SHORT)
		return true;

	return srnic_rtt_is_long(rtt) && rtt->last < CWND_QUEUE_RTTS * rtt->min;
}

/* Do round trips with a queue forbid exponential growth? */
static bool cwnd_is_slow(const struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt)
{
	return cwnd->window >= SRNIC_CWND_SHORT || rtt->last > CWND_START_RTTS * rtt->min ||
	       (rtt->timeout && rtt->last > rtt->timeout);
}

/*
 * Slow round trips do not end the exponential growth for good, since a peer that pauses
 * looks like a queue (RFC 9406).
 */
void srnic_cwnd_grow(struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt, u32 una,
		     u32 npsn, u32 every)
{
	bool small = cwnd->window < SRNIC_CWND_SHORT, clear;
	u32 most = small ? SRNIC_CWND_SHORT : SRNIC_CWND_MAX;

	if (!cwnd_may_grow(cwnd, rtt, una))
		return;
	clear = cwnd_is_clear(cwnd, rtt, every);
	if (cwnd->startup && (clear || !cwnd_is_slow(cwnd, rtt)))
		npsn *= cwnd->window;
	else if (clear)
		npsn *= cwnd->window / 16 + 1;
	cwnd->credit += npsn;
	if (cwnd->credit < cwnd->window)
		return;
	cwnd->window = min(cwnd->window + cwnd->credit / cwnd->window, most);
	cwnd->lossy &= cwnd->window < SRNIC_CWND_SHORT;
	cwnd->credit = 0;
}

/* Did a queue drop the missing packets? */
static bool cwnd_is_overflow(const struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt,
			     u32 run)
{
	return run >= SRNIC_CWND_QUEUE_RUN || srnic_rtt_is_queued(rtt) ||
	       cwnd->holes > max(cwnd->window / SRNIC_CWND_QUEUE_PART, 1U) ||
	       (srnic_rtt_is_full(rtt) &&
		cwnd->holes > cwnd->window / CWND_FULL_PART);
}

void srnic_cwnd_lose(struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt,
		     const struct srnic_cwnd_loss *loss)
{
	if (srnic_cwnd_is_cut(cwnd, loss->una) ||
	    !cwnd_is_overflow(cwnd, rtt, loss->run))
		return;

	cwnd->window = max3(min(loss->out, cwnd->window) * 7 / 10, cwnd->window / 2, 1U);
	cwnd->credit = 0;
	cwnd->cut = loss->high;
	cwnd->round = loss->high;
	cwnd->holes = 0;
	cwnd->startup = false;
	cwnd->lossy = cwnd->window < SRNIC_CWND_SHORT;
}

void srnic_cwnd_found_hole(struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt,
			   const struct srnic_cwnd_loss *loss)
{
	cwnd->holes++;
	srnic_cwnd_lose(cwnd, rtt, loss);
}

void srnic_cwnd_forgive(struct srnic_cwnd *cwnd, u32 high)
{
	cwnd->cut = high;
}

void srnic_cwnd_undo(struct srnic_cwnd *cwnd)
{
	cwnd->holes = 0;
	srnic_cwnd_stop_ticks(cwnd);
}

void srnic_cwnd_arrived(struct srnic_cwnd *cwnd)
{
	if (cwnd->extra < cwnd->window)
		cwnd->extra++;
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
	cwnd->tick = cwnd->withheld || cwnd_has_extra(cwnd, release) ?
		     now + srnic_cwnd_tick_nsec(rtt) : 0;
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

	if (cwnd->withheld)
		cwnd->withheld -= min(cwnd->withheld, step);
	else if (cwnd_has_extra(cwnd, release))
		cwnd->extra += min(step, cwnd->window - cwnd->extra);
	cwnd_set_tick(cwnd, rtt, release, now);
}

/* Packets that are let out at once, after a larger number has been acknowledged */
static u32 cwnd_burst(const struct srnic_cwnd *cwnd)
{
	return DIV_ROUND_UP(cwnd->window, CWND_TICKS / 2);
}

bool srnic_cwnd_is_burst(const struct srnic_cwnd *cwnd, u32 npsn)
{
	return npsn > cwnd_burst(cwnd);
}

void srnic_cwnd_withhold(struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt, u32 out,
			 bool release, u64 now)
{
	u32 limit = srnic_cwnd_limit(cwnd), room = limit - min(limit, out);

	if (room > cwnd_burst(cwnd))
		cwnd->withheld += room - cwnd_burst(cwnd);
	srnic_cwnd_start_ticks(cwnd, rtt, release, now);
}
