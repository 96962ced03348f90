// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - DCQCN: how fast a queue pair may send, computed from CNPs and time
 *
 * The paper uses periods of 55 us, for a network with a shorter round trip.  A change
 * of rate takes effect a round trip later, so a longer round trip replaces the period;
 * otherwise two cuts would respond to one queue.
 *
 * There are no timers: when the queue pair is about to send, the periods that have
 * passed since the last update are worked through one by one.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sizes.h>
#include <linux/time64.h>

#include "dcqcn.h"

#define USEC			1000ULL

/* Reaction to CNPs: sections 3.2 and 5.2 of the paper */
#define DCQCN_CUT_PERIOD	(50 * USEC)
#define DCQCN_DECAY_PERIOD	(55 * USEC)
#define DCQCN_G_SHIFT		8		/* g is 1/256 */
#define DCQCN_BYTES		10000000ULL
#define DCQCN_FAST		5		/* F, steps of fast recovery */

/* Defaults of mlx5: rpg_time_reset, _ai_rate, _hai_rate, _min_rate */
#define DCQCN_RISE_PERIOD	(300 * USEC)
#define DCQCN_ADDITIVE		625000ULL	/* 5 Mbit/s */
#define DCQCN_HYPER		6250000ULL	/* 50 Mbit/s */
#define DCQCN_MIN		125000ULL	/* 1 Mbit/s */

/* A burst is what the rate allows in this time, up to the size of a GSO chain */
#define DCQCN_BURST_PERIOD	((u64)NSEC_PER_MSEC)
#define DCQCN_BURST_MAX		SZ_64K

/* Longer round trips count as this; after so many idle periods the limit is lifted */
#define DCQCN_RTT_MAX		(100000 * USEC)
#define DCQCN_IDLE		2048

static u64 dcqcn_period(u64 period, u64 rtt)
{
	return max(period, min(rtt, DCQCN_RTT_MAX));
}

void srnic_dcqcn_start(struct srnic_dcqcn *cc, u64 rate, u64 now)
{
	*cc = (struct srnic_dcqcn) {
		.rate = clamp(rate, DCQCN_MIN, SRNIC_DCQCN_LINE),
		.alpha = SRNIC_DCQCN_ONE,
		.decay_at = now,
		.rise_at = now,
	};
	cc->target = cc->rate;
}

bool srnic_dcqcn_cut(struct srnic_dcqcn *cc, u64 now, u64 rtt)
{
	if (cc->cut_at &&
	    now - cc->cut_at < dcqcn_period(DCQCN_CUT_PERIOD, rtt))
		return false;

	cc->target = cc->rate;
	cc->rate -= cc->rate * cc->alpha / (2 * SRNIC_DCQCN_ONE);
	cc->rate = max(cc->rate, DCQCN_MIN);
	cc->alpha += (SRNIC_DCQCN_ONE - cc->alpha) >> DCQCN_G_SHIFT;
	cc->cut_at = now;
	cc->decay_at = now;
	cc->rise_at = now;
	cc->bytes = 0;
	cc->ticks = 0;
	cc->rounds = 0;

	return true;
}

/* One step up: fast recovery, then additive, then hyper increase */
static void dcqcn_rise(struct srnic_dcqcn *cc)
{
	u32 least = min(cc->ticks, cc->rounds);

	if (least > DCQCN_FAST)
		cc->target += (least - DCQCN_FAST) * DCQCN_HYPER;
	else if (max(cc->ticks, cc->rounds) >= DCQCN_FAST)
		cc->target += DCQCN_ADDITIVE;
	cc->target = min(cc->target, SRNIC_DCQCN_LINE);
	cc->rate = (cc->rate + cc->target + 1) / 2;
}

static void dcqcn_decay(struct srnic_dcqcn *cc, u64 now, u64 period)
{
	for (; now - cc->decay_at >= period; cc->decay_at += period)
		cc->alpha -= cc->alpha >> DCQCN_G_SHIFT;
}

bool srnic_dcqcn_advance(struct srnic_dcqcn *cc, u64 now, u64 rtt)
{
	u64 decay = dcqcn_period(DCQCN_DECAY_PERIOD, rtt);
	u64 rise = dcqcn_period(DCQCN_RISE_PERIOD, rtt);

	if (now - cc->decay_at >= DCQCN_IDLE * decay)
		return false;

	dcqcn_decay(cc, now, decay);
	for (; now - cc->rise_at >= rise; cc->rise_at += rise) {
		cc->ticks++;
		dcqcn_rise(cc);
	}
	for (; cc->bytes >= DCQCN_BYTES; cc->bytes -= DCQCN_BYTES) {
		cc->rounds++;
		dcqcn_rise(cc);
	}

	return cc->rate < SRNIC_DCQCN_LINE;
}

u32 srnic_dcqcn_burst(const struct srnic_dcqcn *cc, u32 mtu, u64 *next, u64 now)
{
	u32 bytes = clamp_t(u64, div_u64(cc->rate * DCQCN_BURST_PERIOD, NSEC_PER_SEC), mtu,
			    DCQCN_BURST_MAX);
	u64 cost = div64_u64((u64)bytes * NSEC_PER_SEC, cc->rate);

	*next = max(*next + cost, now);

	return bytes;
}
