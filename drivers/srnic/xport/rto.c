// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - retransmission timer of a requester: when to act although nothing has arrived
 *
 * How long an answer is waited for is up to rtt.c, and what a timeout means to recovery.c.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "flight.h"
#include "rto.h"

/* Time in flight after which an ACK is requested if no packet has done so */
#define RTO_ASK_NSEC	((u64)NSEC_PER_MSEC)

/* How much longer than needed to wait for an answer, to save interrupts */
#define RTO_SLACK_NSEC	((u64)NSEC_PER_MSEC)

/* Times that packets which wait unread may put off the timer, without progress */
#define RTO_POSTPONE	3	/* less than 4 */

/*
 * With an infinite timeout silence means nothing, except while packets may have been
 * dropped.  The peer reports a gap once, and drops what arrives behind it, again if packets
 * retransmitted one behind another are reordered.  This end drops responses that it has no
 * memory for, or that have waited for too long.
 */
static bool rto_is_timed(const struct srnic_recovery *r)
{
	if (r->rtt.timeout)
		return true;

	return r->rtt.probes < SRNIC_RTT_MAX_PROBES && srnic_recovery_is_unreported(r);
}

/* When packets that may only be late are lost, ns; 0: none is waited for, or nothing is sent */
static u64 rto_late_until(const struct srnic_recovery *r)
{
	bool waits = r->mode == SRNIC_RECOVERY_SUSPECT || r->mode == SRNIC_RECOVERY_SELECT;

	return waits && !r->hold ? r->suspect_until : 0;
}

void srnic_rto_update(struct srnic_recovery *r)
{
	r->deadline = min_not_zero(min_not_zero(r->silence, r->cwnd.tick), rto_late_until(r));
}

void srnic_rto_arm(struct srnic_recovery *r, u64 now)
{
	u64 late = rto_late_until(r);

	r->late = false;
	if (r->hold)
		r->silence = r->hold;
	else if (!late && srnic_flight_unasked(r))
		r->silence = now + RTO_ASK_NSEC;
	else if (srnic_flight_front(r) == r->una || !rto_is_timed(r))
		r->silence = 0;
	else
		r->silence = max(late, now + srnic_rtt_wait_nsec(&r->rtt,
								 srnic_recovery_retries(r)));
	srnic_rto_update(r);
}

u64 srnic_rto_slack(const struct srnic_recovery *r)
{
	bool awaits_answer = r->deadline == r->silence && !r->hold &&
			     !rto_late_until(r) && srnic_flight_asked(r);

	if (!awaits_answer || r->cwnd.lossy)
		return 0;

	return min_not_zero(r->rtt.timeout, RTO_SLACK_NSEC);
}

void srnic_rto_stall(struct srnic_recovery *r, u64 nsec, u64 now)
{
	r->hold = now + nsec;
	srnic_rto_arm(r, now);
}

void srnic_rto_solicit_ack(struct srnic_recovery *r, u64 now)
{
	if (!srnic_flight_unasked(r) || r->detour || r->hold || rto_late_until(r))
		return;

	r->silence = now;
	r->deadline = now;
}

bool srnic_rto_postpone(struct srnic_recovery *r, u64 now)
{
	if (!srnic_rto_is_due(r->silence, now) || r->hold || srnic_flight_unasked(r) ||
	    srnic_rto_is_due(rto_late_until(r), now) || r->postponed == RTO_POSTPONE)
		return false;

	r->postponed++;
	srnic_rto_arm(r, now);

	return true;
}

enum srnic_rto_event srnic_rto_expired(struct srnic_recovery *r, bool busy, u64 now)
{
	bool late = srnic_rto_is_due(rto_late_until(r), now);

	srnic_rto_update(r);
	if (!late && !srnic_rto_is_due(r->silence, now))
		return SRNIC_RTO_NOTHING;

	r->late = busy && !r->hold && srnic_flight_front(r) != r->una;
	if (r->late) {
		r->silence = 0;
		r->deadline = r->cwnd.tick;
		return SRNIC_RTO_NOTHING;
	}

	return late ? SRNIC_RTO_LATE : SRNIC_RTO_SILENCE;
}
