// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - pacing: the window of a long path is sent over a round trip, not at once
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "../wire/sack_hdr.h"
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

/* What a requester may ask for at most: a PSN of 4096 bytes takes as long at 800 kbit/s. */
#define PACE_STEP_MAX		(40ULL * NSEC_PER_MSEC)

/* Part of the round trip by which a burst may be late without a loss of rate */
#define PACE_LATE_PART		8

void srnic_pace_reset(struct srnic_pace *pace)
{
	*pace = (struct srnic_pace){ };
}

u64 srnic_pace_step(const struct srnic_cwnd *cwnd, u64 nsec)
{
	u32 gain = cwnd->startup ? PACE_START : PACE_LATER;

	return max(div_u64(nsec * 100, gain * cwnd->window), 1ULL);
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
static u64 pace_late(const struct srnic_pace *pace, u64 now)
{
	return pace->waiting ? min(now - pace->next, PACE_BURST_NSEC) : 0;
}

/* Is it time for another burst?  If not, it waits. */
static bool pace_is_due(struct srnic_pace *pace, u64 now)
{
	pace->waiting |= now < pace->next;

	return now >= pace->next;
}

/* It is time for a burst of at most @most PSNs, and for those that were @late. */
static void pace_begin(struct srnic_pace *pace, u64 step, u32 most, u64 late, u64 now)
{
	pace->step = step;
	pace->credit = pace_burst(step, most) + div64_u64(late, step);
	pace->next = now - late;
	pace->waiting = false;
}

bool srnic_pace_start(struct srnic_pace *pace, const struct srnic_cwnd *cwnd,
		      const struct srnic_rtt *rtt, u32 most, u64 now)
{
	if (!pace_is_due(pace, now))
		return false;
	pace_begin(pace, srnic_pace_step(cwnd, rtt->srtt), most,
		   min(pace_late(pace, now), rtt->srtt / PACE_LATE_PART), now);

	return true;
}

bool srnic_pace_answer(struct srnic_pace *pace, u64 step, u32 most, u64 now)
{
	if (!pace_is_due(pace, now))
		return false;
	pace_begin(pace, clamp(step, 1ULL, PACE_STEP_MAX), most, pace_late(pace, now), now);

	return true;
}

/* A round trip that has become longer may have because responses are paced. */
static u8 pace_wanted(const struct srnic_cwnd *cwnd, const struct srnic_rtt *rtt)
{
	return srnic_rtt_is_long(rtt) ? srnic_sack_pace_of(srnic_pace_step(cwnd, rtt->min)) : 0;
}

bool srnic_pace_tell(struct srnic_pace_told *told, const struct srnic_cwnd *cwnd,
		     const struct srnic_rtt *rtt, bool srnic, u64 now)
{
	bool recent = now - told->at < rtt->srtt;
	u8 pace = pace_wanted(cwnd, rtt);

	if (pace == told->pace ? !pace || recent : told->pace && recent && !srnic)
		return false;
	told->pace = pace;
	told->at = now;

	return true;
}
