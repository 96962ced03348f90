// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - pacing: the window of a long path is sent over a round trip, not at once
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "pace.h"

/*
 * Rate as a part of the window per round trip, %.  Twice that of the window while it doubles
 * with each round trip, and more than that of the window later, or it would never be full.
 * These are the defaults of Linux's TCP.
 */
#define PACE_START		200
#define PACE_LATER		120

/* A burst takes this time on the path */
#define PACE_BURST_NSEC		((u64)NSEC_PER_MSEC)

/* More often than that a timer would cost more than it helps */
#define PACE_TIMER_NSEC		(50ULL * NSEC_PER_USEC)

/* Shortest burst */
#define PACE_LEAST		2

/* Part of the round trip by which a burst may be late without a loss of rate */
#define PACE_LATE_PART		8

void srnic_pace_reset(struct srnic_pace *pace)
{
	*pace = (struct srnic_pace){ };
}

/* Time that a PSN takes, ns */
static u64 pace_step(const struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt)
{
	u32 gain = cwnd->startup ? PACE_START : PACE_LATER;

	return max(div_u64(rtt->srtt * 100, gain * cwnd->window), 1ULL);
}

/* PSNs that leave at once */
static u32 pace_burst(u64 step, u32 most)
{
	u64 cap = max_t(u64, most, div64_u64(PACE_TIMER_NSEC, step));

	return clamp_t(u64, div64_u64(PACE_BURST_NSEC, step), PACE_LEAST, cap);
}

/*
 * How late the burst is, ns, as far as that counts: because of the timer, or of a busy host.
 * A flow that had nothing to send is not late.
 */
static u64 pace_late(const struct srnic_pace *pace, const struct srnic_rtt *rtt, u64 now)
{
	if (!pace->waiting)
		return 0;

	return min3(now - pace->next, PACE_BURST_NSEC, rtt->srtt / PACE_LATE_PART);
}

bool srnic_pace_start(struct srnic_pace *pace, const struct srnic_cwnd *cwnd,
		      const struct srnic_rtt *rtt, u32 most, u64 now)
{
	u64 late;

	if (now < pace->next) {
		pace->waiting = true;
		return false;
	}
	late = pace_late(pace, rtt, now);
	pace->step = pace_step(cwnd, rtt);
	pace->credit = pace_burst(pace->step, most) + div64_u64(late, pace->step);
	pace->next = now - late;
	pace->waiting = false;

	return true;
}
