/* SPDX-License-Identifier: GPL-2.0 */
/* srnic - invariants of struct srnic_recovery between calls */
#ifndef SRNIC_UNIT_RECOVERY_STATE_H
#define SRNIC_UNIT_RECOVERY_STATE_H

#include "wire/psn.h"
#include "xport/recovery.h"

/* Is @psn one of those from @first to @last? */
static inline bool recovery_state_within(u32 psn, u32 first, u32 last)
{
	return srnic_psn_diff(psn, first) >= 0 && srnic_psn_diff(last, psn) >= 0;
}

/* Where new packets, or those retransmitted in mode BACK, continue */
static inline u32 recovery_state_front(const struct srnic_recovery *f)
{
	return f->detour ? f->resume : f->next;
}

static inline bool recovery_state_is_recovery(const struct srnic_recovery *f)
{
	return f->mode == SRNIC_RECOVERY_REPAIR || f->mode == SRNIC_RECOVERY_BACK;
}

static inline const char *recovery_state_psn_fault(const struct srnic_recovery *f)
{
	u32 front = recovery_state_front(f);

	if (!recovery_state_within(f->high, f->una, f->psn))
		return "high is between una and psn";
	if (!recovery_state_within(f->next, f->una, f->high))
		return "next is between una and high";
	if (!recovery_state_within(front, f->una, f->high))
		return "resume is between una and high";
	if (!recovery_state_within(f->asked, f->una, f->high))
		return "asked is between una and high";
	if (f->detour && (s32)f->detour > srnic_psn_diff(f->resume, f->next))
		return "a detour ends at or before the point of resumption";
	if (srnic_psn_diff(f->high, f->cwnd.cut) < 0)
		return "the window was cut for losses of packets that were sent";
	if (!recovery_state_within(f->cwnd.limited, f->una, f->high))
		return "the window was full of packets that were sent";

	return NULL;
}

static inline const char *recovery_state_mode_fault(const struct srnic_recovery *f)
{
	if (f->mode > SRNIC_RECOVERY_RNR)
		return "the mode is valid";
	if (f->mode < SRNIC_RECOVERY_BACK && recovery_state_front(f) != f->high)
		return "only mode BACK retransmits beyond a detour";
	if (f->mode == SRNIC_RECOVERY_RNR && !f->hold)
		return "mode RNR has a hold time";
	if (f->mode == SRNIC_RECOVERY_SUSPECT && !f->suspect_until)
		return "mode SUSPECT has a time until which it waits";
	if (f->mode == SRNIC_RECOVERY_BACK && !f->burst)
		return "mode BACK may send at least one packet";
	if (f->mode == SRNIC_RECOVERY_REPAIR &&
	    !(srnic_psn_diff(f->repaired, f->una) > 0))
		return "in mode REPAIR una is before repaired";
	if (recovery_state_is_recovery(f) && !(srnic_psn_diff(f->mark, f->una) > 0))
		return "a recovery ends when all lost packets are acknowledged";
	if (f->mode == SRNIC_RECOVERY_OPEN && f->cwnd.tick)
		return "without a loss there is no tick";
	if (f->cwnd.extra > SRNIC_CWND_MAX)
		return "extra is limited to the largest window";

	return NULL;
}

/* @una may be at a response that is about to be handled. */
static inline const char *recovery_state_holes_fault(const struct srnic_recovery *f)
{
	const struct srnic_scoreboard *sb = &f->sb;
	u32 i, last = f->una, missing = 0, in[SRNIC_HOLE_STATES] = {};

	if (sb->num > SRNIC_SCOREBOARD_HOLES)
		return "the number of holes is limited";
	if (sb->num && f->mode != SRNIC_RECOVERY_SELECT)
		return "holes are known in mode SELECT only";
	if (!sb->num && f->mode == SRNIC_RECOVERY_SELECT)
		return "in mode SELECT a packet is missing";
	for (i = 0; i < sb->num; i++) {
		if (srnic_psn_diff(sb->holes[i].psn, last) < 0 || !sb->holes[i].npsn)
			return "holes are in order";
		last = srnic_psn_add(sb->holes[i].psn, sb->holes[i].npsn);
		missing += sb->holes[i].npsn;
		in[sb->holes[i].state] += sb->holes[i].npsn;
	}
	if (sb->num && !recovery_state_within(sb->top, last, f->high))
		return "top is behind the holes, and was sent";
	if (missing != sb->missing || memcmp(in, sb->in, sizeof(in)))
		return "the numbers of missing packets are right";

	return NULL;
}

static inline const char *recovery_state_samples_fault(const struct srnic_recovery *f)
{
	u32 i;

	if (f->rtt.num_samples > SRNIC_RTT_SAMPLES)
		return "the number of samples is limited";
	for (i = 0; i < f->rtt.num_samples; i++) {
		if (!recovery_state_within(f->rtt.samples[i].psn, f->una,
					   srnic_psn_add(f->high, -1)))
			return "samples are of packets in flight";
		if (i && srnic_psn_diff(f->rtt.samples[i].psn, f->rtt.samples[i - 1].psn) <= 0)
			return "samples are in order";
	}

	return NULL;
}

static inline const char *recovery_state_reads_fault(const struct srnic_recovery *f)
{
	const struct srnic_read *read;
	u32 i, end, last = f->una;

	if (f->reads.num > SRNIC_MAX_RD_ATOMIC || f->reads.first >= SRNIC_MAX_RD_ATOMIC)
		return "the number of outstanding READs is limited";
	for (i = 0; i < f->reads.num; i++) {
		read = srnic_reads_at(&f->reads, i);
		end = read->end;
		if (srnic_psn_diff(end, read->begin) <= 0)
			return "a response has packets";
		if (srnic_psn_diff(end, last) <= 0 || srnic_psn_diff(f->high, end) < 0)
			return "the ends of responses are in order and in flight";
		last = end;
	}

	return NULL;
}

/* Return: the invariant that does not hold, NULL if all hold. */
static inline const char *recovery_state_fault(const struct srnic_recovery *f)
{
	const char *fault = recovery_state_psn_fault(f);

	if (!fault)
		fault = recovery_state_mode_fault(f);
	if (!fault)
		fault = recovery_state_holes_fault(f);
	if (!fault)
		fault = recovery_state_samples_fault(f);
	if (!fault)
		fault = recovery_state_reads_fault(f);
	if (!fault && (f->cwnd.window < 1 || f->cwnd.window > SRNIC_CWND_MAX))
		fault = "the window is within its limits";
	if (!fault && (f->retry_left > f->retry_cnt || f->rnr_left > f->rnr_retry))
		fault = "the retries left are limited by the retry counts";
	if (!fault && f->rtt.srtt && f->rtt.min > f->rtt.last)
		fault = "rtt is not less than rtt_min";

	return fault;
}

/* Like recovery_state_fault(), after the deadline has been set for packets in flight. */
static inline const char *recovery_state_idle_fault(const struct srnic_recovery *f)
{
	bool waits = f->hold || (recovery_state_front(f) != f->una && f->rtt.timeout);

	if (waits && !f->late && !f->silence)
		return "with packets in flight there is a time to act on silence";
	if (waits && !f->late && (!f->deadline || f->deadline > f->silence))
		return "the deadline is not later than that time";

	return NULL;
}

#endif /* SRNIC_UNIT_RECOVERY_STATE_H */
