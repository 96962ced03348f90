// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - loss recovery: what is lost, what is sent again, and what silence means
 *
 * RC acknowledgments are cumulative: they tell up to which PSN everything has arrived
 * and nothing about later packets.  So losses are repaired one hole at a time.  The
 * packet at una is retransmitted while new packets continue to be sent; its
 * acknowledgment shows where the next hole is: whatever was sent before the
 * retransmission and is still not acknowledged is lost, as in RACK (RFC 8985).  A peer
 * that keeps nothing out of order acknowledges only what is retransmitted, and is sent
 * everything again from una on.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "../wire/psn.h"
#include "flight.h"
#include "rto.h"

/* After this many recoveries without a kept packet, the peer is taken to go back N. */
#define RECOVERY_GBN_RUNS	3

/* After this many, the peer is given another chance. */
#define RECOVERY_GBN_RUNS_MAX	16

/* Times that a peer may renew the retries by packets that acknowledge nothing */
#define RECOVERY_HEARD		16	/* less than 32 */

/* Packets that a peer may report beside twice those in flight, without progress */
#define RECOVERY_TOLD		32

/* Responses for which this end has memory, at most, in parts */
#define RECOVERY_FAR_MAX	(SRNIC_RECOVERY_FAR_PARTS * SRNIC_CWND_MAX)

/* A detour that takes longer than this part of the shortest round trip is slow */
#define RECOVERY_SLOW_PART	8

/* A missing packet is waited for this long if there are no retries, or for a part of the timeout */
#define RECOVERY_LAST_NSEC	(100 * NSEC_PER_MSEC)
#define RECOVERY_LAST_PART	4

static const struct srnic_recovery_todo recovery_nothing;

static struct srnic_recovery_todo recovery_seek(enum srnic_recovery_cause cause)
{
	return (struct srnic_recovery_todo){ SRNIC_RECOVERY_SEEK, cause };
}

static struct srnic_recovery_todo recovery_fail(enum srnic_recovery_cause cause)
{
	return (struct srnic_recovery_todo){ SRNIC_RECOVERY_FAIL, cause };
}

void srnic_recovery_start(struct srnic_recovery *r, u32 psn)
{
	memset(r, 0, sizeof(*r));
	srnic_cwnd_start(&r->cwnd);
	srnic_recovery_skip(r, psn);
}

void srnic_recovery_skip(struct srnic_recovery *r, u32 psn)
{
	srnic_flight_skip(r, psn);
	r->mark = psn;
	r->undone = psn;
	r->unreported = psn;
	srnic_rto_suspect(r, 0);
	r->far = RECOVERY_FAR_MAX;
	r->mode = SRNIC_RECOVERY_OPEN;
	srnic_scoreboard_clear(&r->sb, psn);
	srnic_rtt_forget(&r->rtt);
	srnic_cwnd_skip(&r->cwnd, psn);
}

void srnic_recovery_set_limits(struct srnic_recovery *r, u64 timeout, u8 retry_cnt,
			       u8 rnr_retry, u8 places)
{
	srnic_rtt_set_timeout(&r->rtt, timeout);
	srnic_reads_set_places(&r->reads, places);
	r->retry_cnt = retry_cnt;
	r->rnr_retry = rnr_retry;
	r->retry_left = retry_cnt;
	r->rnr_left = rnr_retry;
}

/* Measures the round trip of the packet at @next, several times per window */
static void recovery_sample(struct srnic_recovery *r, u64 now)
{
	/* The answer to a retransmitted packet may be one to the original (Karn). */
	if (r->detour || srnic_psn_diff(r->next, r->high) < 0 ||
	    r->sb.in[SRNIC_HOLE_DUE])
		return;

	srnic_rtt_sent(&r->rtt, r->next, r->cwnd.window / SRNIC_RTT_SAMPLES, now);
}

/* Retransmits @npsn packets from @psn on, then resumes where it was. */
static void recovery_detour(struct srnic_recovery *r, u32 psn, u32 npsn)
{
	srnic_flight_detour(r, psn, npsn);
	if (r->mode == SRNIC_RECOVERY_SELECT) {
		r->burst = npsn;
		r->selected = psn;
		r->began_at = 0;
	}
}

/*
 * May hole @i be filled now?  While responses before it are missing that belong to the same
 * request, it may not: a peer need not answer a part of a request again that precedes the
 * part which it answered last.  Nor may it be where this end has no memory for responses.
 */
static bool recovery_may_select(const struct srnic_recovery *r, u32 i)
{
	const struct srnic_hole *hole = r->sb.holes + i;
	u32 read, begin;

	if (hole->state != SRNIC_HOLE_LOST)
		return false;
	read = srnic_reads_find(&r->reads, hole->psn);
	if (!i || read == r->reads.num)
		return true;
	begin = srnic_reads_at(&r->reads, read)->begin;
	if (srnic_psn_diff(srnic_hole_end(hole), begin) <= 0)
		return true;
	if (srnic_psn_diff(hole->psn, r->una) >= (s32)srnic_flight_far(r) ||
	    (srnic_reads_is_crowded(&r->reads) && read))
		return false;

	return r->selects || srnic_psn_diff(srnic_hole_end(hole - 1), begin) <= 0;
}

/* Goes on with the next hole to be filled.  Return: there is one. */
static bool recovery_next_selected(struct srnic_recovery *r)
{
	u32 i;

	for (i = 0; i < r->sb.num; i++) {
		if (!recovery_may_select(r, i))
			continue;
		recovery_detour(r, r->sb.holes[i].psn, r->sb.holes[i].npsn);
		return true;
	}

	return false;
}

/*
 * The packets of a detour before @end have been retransmitted.  If that took long, an answer soon
 * after the last of them may be one to the first.
 */
static void recovery_detour_sent(struct srnic_recovery *r, u32 end)
{
	bool slow = r->began_at && r->sent_at - r->began_at > r->rtt.min / RECOVERY_SLOW_PART;

	srnic_scoreboard_sent(&r->sb, r->selected, end, r->sent_at, slow);
}

/* @npsn packets at @next were sent or skipped.  Return: a detour has ended. */
static bool recovery_advance(struct srnic_recovery *r, u32 npsn)
{
	u32 end = srnic_psn_add(r->next, npsn);

	if (!srnic_flight_advance(r, npsn))
		return false;

	if (r->mode == SRNIC_RECOVERY_SELECT) {
		recovery_detour_sent(r, end);
		r->mark = r->high;
		recovery_next_selected(r);
	}

	return true;
}

/* A response that is skipped has arrived, or is requested later: no answer is requested now. */
bool srnic_recovery_pass(struct srnic_recovery *r, u32 npsn)
{
	srnic_flight_settle(r, srnic_psn_add(r->next, npsn));

	return recovery_advance(r, npsn);
}

bool srnic_recovery_sent(struct srnic_recovery *r, u32 npsn, bool response, bool asks,
			 u64 now)
{
	u32 end = srnic_psn_add(r->next, npsn);

	if (asks) {
		if (srnic_flight_unasked(r))
			srnic_rto_restart(r);	/* the timer was set to request an ACK */
		recovery_sample(r, now);
		srnic_flight_ask(r, end);
	}
	if (response)
		srnic_flight_request(r, npsn);
	if (r->next == r->una)
		r->repaired_at = now;
	else if (r->mode == SRNIC_RECOVERY_BACK)
		r->unreported = srnic_psn_max(r->unreported, end);
	if (r->detour) {
		r->repaired = srnic_psn_max(r->repaired, end);
		if (!r->began_at)
			r->began_at = now;
		r->sent_at = now;
	}

	return recovery_advance(r, npsn);
}

/* The packets that are missing now; in mode BACK those after @mark were not in flight. */
static struct srnic_cwnd_loss recovery_loss(const struct srnic_recovery *r)
{
	return (struct srnic_cwnd_loss) {
		.una	= r->una,
		.high	= r->high,
		.out	= r->mode == SRNIC_RECOVERY_BACK ?
			  (r->mark - r->una) & SRNIC_PSN_MASK : srnic_flight_out(r),
		.run	= r->run,
		.single	= r->keeps == SRNIC_KEEPS_ALL,
	};
}

/* Another packet, at una, has been found to be missing: @run in a row, as far as is known */
static void recovery_found_hole(struct srnic_recovery *r, u32 run)
{
	struct srnic_cwnd_loss loss;

	r->run = run;
	loss = recovery_loss(r);
	srnic_cwnd_found_hole(&r->cwnd, &r->rtt, &loss);
}

/*
 * Packets arrive behind the missing one, and no ACK reports that.  New packets are released
 * by time instead, as many as would have been acknowledged: on a long path, but not into a
 * queue unless the window has been cut for it; on a short path only if it has been cut for
 * a queue, which would run empty otherwise.  READs that the peer keeps are not answered
 * meanwhile, but all at once later.
 */
static bool recovery_may_release(const struct srnic_recovery *r)
{
	bool cut = srnic_cwnd_is_cut(&r->cwnd, r->una);

	return (r->mode == SRNIC_RECOVERY_SUSPECT || r->mode == SRNIC_RECOVERY_REPAIR) &&
	       r->keeps == SRNIC_KEEPS_ALL && !r->reads.num &&
	       (srnic_rtt_is_long(&r->rtt) ? cut || !srnic_rtt_is_queued(&r->rtt) :
				    cut && srnic_rtt_is_full(&r->rtt));
}

static void recovery_start_ticks(struct srnic_recovery *r, u64 now)
{
	srnic_cwnd_start_ticks(&r->cwnd, &r->rtt, recovery_may_release(r), now);
}

/* Did the peer keep packets out of order?  (Responses are kept by this end.) */
static void recovery_learn(struct srnic_recovery *r)
{
	if (r->peer_keeps) {
		r->keeps = SRNIC_KEEPS_ALL;
		r->gbn_runs = 0;
		return;
	}
	if (++r->gbn_runs == RECOVERY_GBN_RUNS_MAX) {
		r->keeps = SRNIC_KEEPS_UNKNOWN;
		r->gbn_runs = RECOVERY_GBN_RUNS - 1;
	} else if (r->gbn_runs >= RECOVERY_GBN_RUNS) {
		r->keeps = SRNIC_KEEPS_NONE;
	}
}

/* Everything that was in flight when packets were lost has arrived. */
static struct srnic_recovery_todo recovery_recovered(struct srnic_recovery *r)
{
	r->mode = SRNIC_RECOVERY_OPEN;
	srnic_cwnd_stop_ticks(&r->cwnd);
	if (r->repair == SRNIC_CAUSE_GAP)
		recovery_learn(r);
	srnic_rtt_wait_less(&r->rtt);
	r->peer_keeps = false;

	return recovery_nothing;
}

static struct srnic_recovery_todo recovery_go_back(struct srnic_recovery *r,
						   enum srnic_recovery_cause cause)
{
	r->mode = SRNIC_RECOVERY_BACK;
	srnic_scoreboard_clear(&r->sb, r->una);
	r->follows = false;
	srnic_rto_suspect(r, 0);
	r->repair = cause;
	srnic_flight_back(r);
	r->repaired = srnic_psn_add(r->una, 1);
	r->burst = r->keeps == SRNIC_KEEPS_NONE && cause == SRNIC_CAUSE_GAP ?
		   max(r->cwnd.window / 2, 1U) : 1;
	r->mark = r->high;
	r->repaired_at = 0;
	srnic_cwnd_stop_ticks(&r->cwnd);
	if (cause != SRNIC_CAUSE_TIMEOUT && cause != SRNIC_CAUSE_PROBE)
		srnic_rtt_retransmitted(&r->rtt);

	return recovery_seek(cause);
}

/* Retransmits @npsn packets from una on, while new ones are sent. */
static struct srnic_recovery_todo recovery_repair(struct srnic_recovery *r, u32 npsn,
						  enum srnic_recovery_cause cause)
{
	if (r->mode == SRNIC_RECOVERY_BACK || r->keeps == SRNIC_KEEPS_NONE)
		return recovery_go_back(r, cause);

	r->mode = SRNIC_RECOVERY_REPAIR;
	r->repair = cause;
	r->burst = clamp_t(u32, npsn, 1, srnic_flight_out(r));
	r->repaired = srnic_psn_add(r->una, r->burst);
	r->repaired_at = 0;
	r->mark = r->high;
	recovery_detour(r, r->una, r->burst);
	if (cause != SRNIC_CAUSE_PROBE)
		srnic_rtt_retransmitted(&r->rtt);

	return recovery_seek(cause);
}

/* As recovery_repair(), but uses up a retry. */
static struct srnic_recovery_todo recovery_retry(struct srnic_recovery *r, u32 npsn, u64 now)
{
	struct srnic_recovery_todo todo;

	if (!r->retry_left)
		return recovery_fail(SRNIC_CAUSE_GAP);
	r->retry_left--;
	/* A retransmitted burst is not lost again by chance. */
	recovery_found_hole(r, r->mode == SRNIC_RECOVERY_BACK ? SRNIC_CWND_QUEUE_RUN : npsn);
	todo = recovery_repair(r, npsn, SRNIC_CAUSE_GAP);
	if (r->mode == SRNIC_RECOVERY_REPAIR)
		recovery_start_ticks(r, now);
	srnic_rto_arm(r, now);

	return todo;
}

/*
 * Has the peer reported more than there is in flight?  What the scoreboard has forgotten is told
 * to it again, and reports may overtake each other; but for that the peer has taken back some.
 */
static bool recovery_is_doubtful(const struct srnic_recovery *r)
{
	return r->told > 2 * ((r->high - r->una) & SRNIC_PSN_MASK) + RECOVERY_TOLD;
}

/*
 * How long to wait for a packet that may have been reordered; 0: do not wait.  Nothing is
 * waited for that the peer takes back again and again.
 */
static u64 recovery_reorder_nsec(const struct srnic_recovery *r, u64 now)
{
	return recovery_is_doubtful(r) ? 0 : srnic_rtt_reorder_nsec(&r->rtt, now);
}

/* How long to wait at least for the packet at una if its loss is the end, for want of a retry */
static u64 recovery_last_nsec(const struct srnic_recovery *r)
{
	u64 part = r->rtt.timeout / RECOVERY_LAST_PART;

	return r->retry_cnt || recovery_is_doubtful(r) ? 0 : min_t(u64, part, RECOVERY_LAST_NSEC);
}

/* The packet at una may have been reordered: gives it @wait to arrive. */
static void recovery_suspect(struct srnic_recovery *r, u64 wait, u64 now)
{
	r->mode = SRNIC_RECOVERY_SUSPECT;
	r->follows = false;
	srnic_rto_suspect(r, now + wait);
	recovery_start_ticks(r, now);
	srnic_rto_arm(r, now);
}

/* Mode SELECT: the same; without a round trip, what was known when the mode was entered */
static u64 recovery_late_nsec(const struct srnic_recovery *r, u64 now)
{
	return r->rtt.min || recovery_is_doubtful(r) ? recovery_reorder_nsec(r, now) : r->late_nsec;
}

/* How long to wait for the answer to a retransmission */
static u64 recovery_again_nsec(const struct srnic_recovery *r, u64 now)
{
	if (!r->rtt.srtt)
		return SRNIC_RTT_FIRST_NSEC;

	return max(r->rtt.srtt, r->rtt.last) + recovery_reorder_nsec(r, now);
}

/* Was the missing packet retransmitted long enough ago to have been lost again? */
static bool recovery_is_lost_again(const struct srnic_recovery *r, u64 now)
{
	u32 retries = srnic_recovery_retries(r);

	return r->repaired_at && !r->detour && r->next != r->una &&
	       now - r->repaired_at > recovery_again_nsec(r, now) << (max(retries, 1U) - 1);
}

/*
 * Packets to retransmit after a burst that was followed by another missing packet: a queue
 * has dropped many.  On a long path one more round trip costs more than some packets that are
 * sent twice.
 */
static u32 recovery_next_burst(const struct srnic_recovery *r)
{
	u32 burst = 2 * r->burst;

	if (!srnic_rtt_is_long(&r->rtt))
		return burst;

	return max(burst, r->cwnd.window / SRNIC_CWND_QUEUE_PART);
}

/* The packet behind a burst that was retransmitted and has arrived is missing, too. */
static struct srnic_recovery_todo recovery_next_hole(struct srnic_recovery *r)
{
	recovery_found_hole(r, r->run + r->burst);
	if (r->keeps == SRNIC_KEEPS_ALL)
		return recovery_repair(r, recovery_next_burst(r), SRNIC_CAUSE_GAP);

	return recovery_go_back(r, SRNIC_CAUSE_GAP);
}

/*
 * No response has followed: the request at una was lost as well, or the peer keeps none.
 * Bursts grow each time; after some in a row it does not.
 */
static struct srnic_recovery_todo recovery_follow_ends(struct srnic_recovery *r, u64 now)
{
	struct srnic_recovery_todo todo;

	if (r->burst > RECOVERY_GBN_RUNS) {
		r->peer_keeps = false;
		recovery_learn(r);
	}
	todo = recovery_next_hole(r);
	if (r->mode == SRNIC_RECOVERY_REPAIR)
		recovery_start_ticks(r, now);
	srnic_rto_arm(r, now);

	return todo;
}

/* Another hole has been found to be lost.  Until then its packets were in flight. */
static void recovery_lost_hole(struct srnic_recovery *r, u32 i)
{
	const struct srnic_hole *hole = r->sb.holes + i;
	u32 run = srnic_reads_lost(&r->reads, hole->psn, hole->npsn);
	const struct srnic_cwnd_loss loss = {
		.una	= hole->psn,
		.high	= r->high,
		.out	= srnic_flight_out(r) + hole->npsn,
		.run	= run,
		.lost	= hole->tries ? 0 : run,
		.single	= true,
	};

	srnic_cwnd_found_hole(&r->cwnd, &r->rtt, &loss);
}

/* Is the first hole lost?  Each time that it is retransmitted, the wait is longer. */
static bool recovery_is_first_lost(const struct srnic_recovery *r, u64 now)
{
	const struct srnic_hole *hole = r->sb.holes;
	u64 age = now - hole->at, last = recovery_last_nsec(r);
	u32 retries = max(srnic_recovery_retries(r), 1U);

	if (hole->state == SRNIC_HOLE_NEW)
		return age >= max(recovery_late_nsec(r, now), last);

	return hole->state == SRNIC_HOLE_SENT &&
	       age > max(recovery_again_nsec(r, now) << (retries - 1), last);
}

/* When the next hole is lost of those whose packets may only be late, ns; 0: there is none */
static u64 recovery_lost_at(const struct srnic_recovery *r, u64 now)
{
	u64 oldest = srnic_scoreboard_oldest(&r->sb, 1), late = recovery_late_nsec(r, now);
	const struct srnic_hole *first = r->sb.holes;
	u64 at = oldest ? oldest + late : 0;

	if (!r->sb.num || first->state != SRNIC_HOLE_NEW)
		return at;

	return min_not_zero(at, first->at + max(late, recovery_last_nsec(r)));
}

/* @npsn packets have arrived, as far as is known: the timer starts anew. */
static void recovery_restart(struct srnic_recovery *r, u32 npsn)
{
	if (!npsn || recovery_is_doubtful(r))
		return;
	r->told += npsn;
	srnic_rto_restart(r);
}

/*
 * Uses up a retry for what the peer reports.  Without one left, the ACK timeout decides: there may
 * be answers on the way, behind a queue that is longer than any before.  False: nothing will.
 */
static bool recovery_spend(struct srnic_recovery *r)
{
	if (r->retry_left)
		r->retry_left--;
	else if (!r->retry_cnt || !r->rtt.timeout || recovery_is_doubtful(r))
		return false;

	return true;
}

/* Finds out which packets are lost now, and not just late.  False: retries are exhausted. */
static bool recovery_lose_holes(struct srnic_recovery *r, u64 now)
{
	u64 late = recovery_late_nsec(r, now), again = recovery_again_nsec(r, now);
	u32 i;

	if (recovery_is_first_lost(r, now)) {
		if (!recovery_spend(r))
			return false;
		srnic_scoreboard_lose_first(&r->sb);
		recovery_lost_hole(r, 0);
	}
	for (i = 1; (i = srnic_scoreboard_lose(&r->sb, i, now, late, again)) < r->sb.num; i++)
		recovery_lost_hole(r, i);

	return true;
}

/* What is retransmitted is no longer wanted, or something else is, first. */
static void recovery_leave_detour(struct srnic_recovery *r)
{
	r->moved |= srnic_flight_leave_detour(r);
}

/* No packet is known to be missing any longer. */
static void recovery_filled(struct srnic_recovery *r)
{
	recovery_leave_detour(r);
	r->mode = SRNIC_RECOVERY_OPEN;
	srnic_rto_suspect(r, 0);
	srnic_rtt_wait_less(&r->rtt);
}

/* Does a READ in a later hole wait for room while the first one, which waits for none, is lost? */
static bool recovery_is_blocked(const struct srnic_recovery *r)
{
	const struct srnic_hole *first = r->sb.holes;

	return r->sb.num && first->state == SRNIC_HOLE_LOST &&
	       r->detour && srnic_psn_diff(r->selected, srnic_hole_end(first)) >= 0 &&
	       srnic_flight_is_blocked(r);
}

/* Mode SELECT: after news of what has arrived, retransmits what is lost. */
static struct srnic_recovery_todo recovery_fill(struct srnic_recovery *r, u64 now)
{
	u64 until = r->suspect_until;
	u32 before = r->sb.in[SRNIC_HOLE_LOST];
	bool again = false, lost, moved;

	if (r->sb.num && !recovery_lose_holes(r, now))
		return recovery_fail(SRNIC_CAUSE_GAP);
	lost = r->sb.in[SRNIC_HOLE_LOST] > before;

	if (!r->sb.num)
		recovery_filled(r);
	srnic_rto_suspect(r, recovery_lost_at(r, now));
	if (recovery_is_blocked(r))
		recovery_leave_detour(r);
	if (r->sb.num && !r->detour)
		again = recovery_next_selected(r);
	moved = r->moved;
	r->moved = false;
	/* A peer that repeats itself is not waited for longer, unless a wait has found a loss. */
	if (!r->silence || (lost && r->suspect_until != until))
		srnic_rto_arm(r, now);
	else
		srnic_rto_update(r);
	if (again)
		return recovery_seek(SRNIC_CAUSE_GAP);

	return moved ? recovery_seek(SRNIC_CAUSE_NONE) : recovery_nothing;
}

static bool recovery_may_begin_select(const struct srnic_recovery *r)
{
	return r->mode == SRNIC_RECOVERY_OPEN || r->mode == SRNIC_RECOVERY_REPAIR;
}

/* Enters mode SELECT: @npsn packets from una on are missing, and maybe others. */
static void recovery_begin_select(struct srnic_recovery *r, u32 npsn, u64 now)
{
	bool sent = r->mode == SRNIC_RECOVERY_REPAIR && !r->detour && r->repaired_at &&
		    srnic_psn_diff(r->repaired, r->una) > 0;

	recovery_leave_detour(r);
	r->mode = SRNIC_RECOVERY_SELECT;
	r->late_nsec = recovery_reorder_nsec(r, now);
	r->repair = SRNIC_CAUSE_GAP;
	r->follows = false;
	r->unreported = r->high;
	recovery_restart(r, 1);
	srnic_cwnd_stop_ticks(&r->cwnd);
	srnic_scoreboard_clear(&r->sb, r->una);
	r->answered = r->una;
	if (!npsn)
		return;
	if (sent)
		npsn = srnic_psn_diff(r->repaired, r->una);
	srnic_scoreboard_missing(&r->sb, r->una, npsn, now);
	if (sent)
		srnic_scoreboard_sent(&r->sb, r->una, r->repaired, r->repaired_at, false);
}

/* @npsn packets from una on are missing. */
static struct srnic_recovery_todo recovery_select(struct srnic_recovery *r, u32 npsn, u64 now)
{
	if (r->mode != SRNIC_RECOVERY_SELECT) {
		recovery_begin_select(r, npsn, now);
	} else {
		/* What was due is not any longer. */
		r->told += r->sb.num && r->sb.holes[0].state == SRNIC_HOLE_DUE;
		srnic_scoreboard_missing(&r->sb, r->una, npsn, now);
	}

	return recovery_fill(r, now);
}

/* A retransmission after this time is too recent to be what arrives now, ns */
static u64 recovery_recent(const struct srnic_recovery *r, u64 now)
{
	return r->rtt.timeout ? now - min(now, r->rtt.min * 3 / 4) : now;
}

/* Mode SELECT: packets have arrived; @top: what srnic_scoreboard had as @top before */
static void recovery_arrive(struct srnic_recovery *r, u32 top,
			    struct srnic_scoreboard_news news)
{
	if (news.early) {
		srnic_rtt_wait_longer(&r->rtt);
		srnic_cwnd_undo(&r->cwnd);
	}
	srnic_cwnd_acked(&r->cwnd, r->sb.top, r->high, 0);
	if (news.npsn && !srnic_cwnd_is_cut(&r->cwnd, top))
		srnic_cwnd_grow(&r->cwnd, &r->rtt, top, news.npsn);
}

/* Mode SELECT: @npsn packets from @psn on have arrived. */
static void recovery_report(struct srnic_recovery *r, u32 psn, u32 npsn, u64 now)
{
	bool continues = srnic_scoreboard_continues(&r->sb, psn);
	struct srnic_scoreboard_news news;
	u32 top = r->sb.top;

	news = srnic_scoreboard_arrived(&r->sb, psn, npsn, recovery_recent(r, now), now);
	/* A packet that has overtaken others took a shorter path. */
	if (continues)
		srnic_rtt_arrived(&r->rtt, top, r->sb.top, now);
	recovery_restart(r, news.npsn);
	recovery_arrive(r, top, news);
}

/*
 * @npsn responses from @psn on have arrived, so requests before them have been executed; but their
 * responses may be missing.
 */
static void recovery_executed(struct srnic_recovery *r, u32 psn, u32 npsn, u64 now)
{
	const struct srnic_read *read;
	u32 i, from = r->sb.top;

	r->answered = srnic_psn_max(r->answered, srnic_psn_add(psn, npsn));
	for (i = srnic_reads_find(&r->reads, from); i < r->reads.num; i++) {
		read = srnic_reads_at(&r->reads, i);
		if (srnic_psn_diff(read->begin, psn) > 0)
			break;
		if (srnic_psn_diff(read->begin, from) > 0)
			recovery_report(r, from, srnic_psn_diff(read->begin, from), now);
		from = srnic_psn_max(from, read->end);
	}
}

struct srnic_recovery_todo srnic_recovery_arrived(struct srnic_recovery *r, u32 psn, u64 now)
{
	if (r->mode != SRNIC_RECOVERY_SELECT)
		return recovery_nothing;

	recovery_executed(r, psn, 1, now);
	srnic_scoreboard_overtaken(&r->sb, psn, now);
	recovery_report(r, psn, 1, now);

	return recovery_fill(r, now);
}

bool srnic_recovery_recalls(const struct srnic_recovery *r)
{
	return r->mode == SRNIC_RECOVERY_SELECT && srnic_scoreboard_recalls(&r->sb);
}

void srnic_recovery_recalled(struct srnic_recovery *r)
{
	srnic_scoreboard_recalled(&r->sb);
}

struct srnic_recovery_todo srnic_recovery_recall(struct srnic_recovery *r, u32 psn, u32 npsn,
						 u64 now)
{
	struct srnic_scoreboard_news news;
	u32 top;

	if (r->mode != SRNIC_RECOVERY_SELECT)
		return recovery_nothing;

	recovery_executed(r, psn, npsn, now);
	top = r->sb.top;
	news = srnic_scoreboard_arrived(&r->sb, psn, npsn, recovery_recent(r, now), now);
	recovery_restart(r, news.npsn);
	recovery_arrive(r, top, news);

	return recovery_fill(r, now);
}

void srnic_recovery_understood(struct srnic_recovery *r)
{
	r->selects = true;
}

bool srnic_recovery_sacked(struct srnic_recovery *r, u32 psn, u64 now)
{
	r->keeps = SRNIC_KEEPS_ALL;
	r->gbn_runs = 0;
	if (r->una == r->high || srnic_psn_diff(psn, r->una) < 0)
		return false;
	if (recovery_may_begin_select(r) || r->mode == SRNIC_RECOVERY_SUSPECT)
		recovery_begin_select(r, psn == r->una, now);
	if (r->mode != SRNIC_RECOVERY_SELECT)
		return false;
	if (psn != r->una)
		srnic_recovery_kept(r, r->una, srnic_psn_diff(psn, r->una), now);

	return true;
}

/*
 * The peer has kept the request for the responses from @psn to before @end: they are due, but for
 * those before one that has arrived.
 */
static void recovery_due(struct srnic_recovery *r, u32 psn, u32 end, u64 now)
{
	psn = srnic_psn_max(psn, r->answered);
	if (srnic_psn_diff(end, psn) <= 0)
		return;

	srnic_scoreboard_due(&r->sb, psn, srnic_psn_diff(end, psn), now);
	srnic_rtt_retransmitted(&r->rtt);
}

void srnic_recovery_kept(struct srnic_recovery *r, u32 psn, u32 npsn, u64 now)
{
	u32 end = srnic_psn_add(psn, npsn), i, last;
	const struct srnic_read *read;

	i = srnic_reads_find(&r->reads, psn);
	for (; i < r->reads.num && srnic_psn_diff(end, psn) > 0; i++) {
		read = srnic_reads_at(&r->reads, i);
		if (srnic_psn_diff(read->begin, end) >= 0)
			break;
		if (srnic_psn_diff(read->begin, psn) > 0) {
			recovery_report(r, psn, srnic_psn_diff(read->begin, psn), now);
			psn = read->begin;
		}
		last = srnic_psn_diff(read->end, end) > 0 ? end : read->end;
		recovery_due(r, psn, last, now);
		psn = last;
	}
	if (srnic_psn_diff(end, psn) > 0)
		recovery_report(r, psn, srnic_psn_diff(end, psn), now);
}

struct srnic_recovery_todo srnic_recovery_select(struct srnic_recovery *r, u32 seen, u64 now)
{
	if (srnic_psn_diff(seen, r->sb.top) > 0)
		srnic_scoreboard_arrived(&r->sb, seen, 0, now, now);

	return recovery_fill(r, now);
}

/* Requests are missing: the peer reports the first of them, once. */
static struct srnic_recovery_todo recovery_requests_missing(struct srnic_recovery *r, u64 now)
{
	u64 wait = max(recovery_reorder_nsec(r, now), recovery_last_nsec(r));
	const struct srnic_read *oldest = srnic_reads_at(&r->reads, 0);

	r->unreported = r->high;
	switch (r->mode) {
	case SRNIC_RECOVERY_SUSPECT:
		/* It was sent before another one that has arrived. */
		return r->follows ? recovery_follow_ends(r, now) : recovery_nothing;
	case SRNIC_RECOVERY_OPEN:
		if (!wait || r->keeps == SRNIC_KEEPS_NONE)
			return recovery_retry(r, 0, now);
		recovery_suspect(r, wait, now);
		return recovery_nothing;
	case SRNIC_RECOVERY_SELECT:
		if (!r->reads.num || srnic_psn_diff(oldest->begin, r->una) > 0)
			return recovery_select(r, 1, now);
		return recovery_select(r, srnic_psn_diff(oldest->end, r->una), now);
	default:
		return recovery_is_lost_again(r, now) ? recovery_retry(r, 0, now) :
							recovery_nothing;
	}
}

struct srnic_recovery_todo srnic_recovery_missing(struct srnic_recovery *r, u32 gap, u64 now)
{
	if (r->mode == SRNIC_RECOVERY_RNR || r->una == r->high)
		return recovery_nothing;
	if (!gap)
		return recovery_requests_missing(r, now);
	if (r->mode != SRNIC_RECOVERY_BACK)
		return recovery_select(r, gap, now);
	/* The answer to a retransmission comes last: leave it to the timer. */
	if (r->rtt.timeout || !recovery_is_lost_again(r, now))
		return recovery_nothing;

	return recovery_retry(r, gap, now);
}

/*
 * Does this answer, to all before @psn, come too soon to be one to the retransmission?
 * Then it is one to the original: packets were reordered, or the round trip has become
 * longer.  So is an answer to more than was retransmitted by a probe, if just this answer
 * had been requested, or by a probe or a timeout, if no round trip is known.
 */
static bool recovery_is_spurious(const struct srnic_recovery *r, u32 psn, u64 now)
{
	/* Only a timer recovers from a wrong guess. */
	if (!r->rtt.timeout)
		return false;
	if (!r->repaired_at)
		return true;
	/* A timeout is doubted once, or a lost packet would never be sent again. */
	if (r->repair != SRNIC_CAUSE_GAP &&
	    (srnic_psn_diff(r->una, r->undone) < 0 ||
	     srnic_psn_diff(psn, r->mode == SRNIC_RECOVERY_BACK ? r->next : r->repaired) <= 0))
		return false;
	if (!r->rtt.min)
		return r->repair != SRNIC_CAUSE_GAP;
	if (r->repair == SRNIC_CAUSE_PROBE && srnic_rtt_is_sampled(&r->rtt, psn))
		return true;

	return now - r->repaired_at < r->rtt.min * 3 / 4;
}

/* Return: true if the cursor moves because nothing is to be retransmitted. */
static bool recovery_check_spurious(struct srnic_recovery *r, u32 psn, u64 now)
{
	if ((r->mode != SRNIC_RECOVERY_REPAIR && r->mode != SRNIC_RECOVERY_BACK) ||
	    r->repair == SRNIC_CAUSE_RNR || !recovery_is_spurious(r, psn, now))
		return false;

	/* After two retransmissions so early an answer may be one to the first. */
	if (r->mode == SRNIC_RECOVERY_BACK && r->follows) {
		r->peer_keeps = true;
		recovery_learn(r);
	} else if (r->repair == SRNIC_CAUSE_GAP && r->repaired_at &&
		   srnic_recovery_retries(r) <= 1) {
		if (srnic_rtt_early(&r->rtt) && r->suspect_until &&
		    2 * r->rtt.reorder > r->rtt.srtt) {
			srnic_rtt_restart(&r->rtt, now - r->repaired_at);
			return false;
		}
		srnic_rtt_wait_longer(&r->rtt);
	}
	r->mode = SRNIC_RECOVERY_OPEN;
	r->peer_keeps = false;
	srnic_flight_leave_detour(r);
	srnic_flight_resume(r);
	r->undone = r->high;
	srnic_cwnd_undo(&r->cwnd);

	return true;
}

/*
 * A request that was missing has been answered, and those behind it may have been kept:
 * then the response at una follows.  If the peer is not known to keep requests, that one is
 * requested at once.
 */
static struct srnic_recovery_todo recovery_follow(struct srnic_recovery *r, u64 now)
{
	struct srnic_recovery_todo todo = recovery_nothing;

	if (r->keeps == SRNIC_KEEPS_ALL)
		recovery_suspect(r, max(recovery_reorder_nsec(r, now),
					srnic_cwnd_tick_nsec(&r->rtt)), now);
	else
		todo = recovery_next_hole(r);
	r->follows = true;

	return todo;
}

/* All before @psn is acknowledged in mode REPAIR; una is the first retransmitted. */
static struct srnic_recovery_todo recovery_repair_acked(struct srnic_recovery *r, u32 psn,
							u32 hole, u64 now)
{
	bool behind = srnic_psn_diff(psn, r->repaired) > 0;
	bool requests = r->repair == SRNIC_CAUSE_GAP;

	if (srnic_psn_diff(psn, r->repaired) < 0 || hole == SRNIC_RECOVERY_KEPT)
		return recovery_nothing;
	r->peer_keeps |= behind;
	if (behind && requests)
		r->keeps = SRNIC_KEEPS_ALL;
	if (srnic_psn_diff(psn, r->mark) >= 0 ||
	    (behind && requests && hole == SRNIC_RECOVERY_DUE))
		return recovery_recovered(r);

	srnic_flight_acked(r, psn);
	if (hole == SRNIC_RECOVERY_DUE && requests)
		return recovery_follow(r, now);
	/*
	 * It may be the original, which was late: then those behind it follow (RFC 8985).  Waiting
	 * for them in vain takes a retry.
	 */
	if (hole == SRNIC_RECOVERY_DUE && r->rtt.timeout && r->retry_left &&
	    srnic_rtt_is_long(&r->rtt)) {
		r->peer_keeps = false;
		recovery_suspect(r, recovery_reorder_nsec(r, now), now);
		return recovery_nothing;
	}
	if (!behind)
		return recovery_next_hole(r);
	recovery_found_hole(r, 0);

	return recovery_repair(r, 1, SRNIC_CAUSE_GAP);
}

/*
 * Mode SELECT: all holes are filled, the last of them by a retransmission.  What was sent
 * before that and has not arrived is lost, but for a response to a request that the peer has
 * kept, which is about to arrive.
 */
static bool recovery_is_tail_lost(const struct srnic_recovery *r, u32 hole)
{
	if (r->sb.num || srnic_psn_diff(r->mark, r->una) <= 0 || hole == SRNIC_RECOVERY_KEPT)
		return false;

	return hole != SRNIC_RECOVERY_DUE || !srnic_reads_whole(&r->reads, r->una);
}

/* Do the responses to the oldest READ take longer than a round trip, at the pace? */
static bool recovery_is_answered_slowly(const struct srnic_recovery *r)
{
	const struct srnic_read *read = srnic_reads_at(&r->reads, 0);
	u32 window = r->cwnd.window;

	return window < SRNIC_FLIGHT_READ_LEAST ||
	       srnic_psn_diff(read->end, read->begin) > (s32)window;
}

/*
 * If a part of the READ at @una has been answered, the next response follows at the pace: in a
 * window of n an n-th of a round trip later, and the last ones long after they were requested if
 * they are more than a window.  The waits for other holes become longer each time; that for the
 * first one does not, as each response is progress.
 */
static void recovery_await_answer(struct srnic_recovery *r, u64 now)
{
	u64 srtt = r->rtt.srtt, ago;

	if (!r->reads.num || srnic_psn_diff(srnic_reads_at(&r->reads, 0)->begin, r->una) >= 0 ||
	    !r->sb.num || r->sb.holes[0].psn != r->una || !recovery_is_answered_slowly(r))
		return;

	ago = srtt - div_u64(srtt, r->cwnd.window);
	srnic_scoreboard_answered(&r->sb, now - min(now, ago));
}

/* All before @psn is acknowledged in mode SELECT. */
static struct srnic_recovery_todo recovery_select_acked(struct srnic_recovery *r, u32 psn,
							u32 hole, u64 now)
{
	struct srnic_scoreboard_news news;
	u32 top = r->sb.top;

	news = srnic_scoreboard_advance(&r->sb, psn, recovery_recent(r, now));
	r->repair = SRNIC_CAUSE_GAP;
	srnic_flight_acked(r, psn);
	r->answered = srnic_psn_max(r->answered, psn);
	recovery_arrive(r, top, news);
	recovery_await_answer(r, now);
	if (hole && hole < SRNIC_RECOVERY_DUE)
		srnic_scoreboard_missing(&r->sb, psn, hole, now);
	else if (!news.early && recovery_is_tail_lost(r, hole))
		srnic_scoreboard_missing(&r->sb, psn, srnic_psn_diff(r->mark, psn), now);

	return recovery_fill(r, now);
}

/* The rest of what was in flight has not been retransmitted: only what is missing will be. */
static void recovery_leave_back(struct srnic_recovery *r)
{
	r->mode = SRNIC_RECOVERY_OPEN;
	srnic_flight_resume(r);
	r->moved = true;
	r->peer_keeps = false;
}

/*
 * All before @psn is acknowledged in mode BACK; @hole: as srnic_recovery_acked().  Once a
 * retransmitted request has been answered, the responses that this end has kept count again.
 */
static struct srnic_recovery_todo recovery_back_acked(struct srnic_recovery *r, u32 psn, u32 hole)
{
	u32 npsn = srnic_psn_diff(psn, r->una);
	struct srnic_cwnd_loss loss;

	r->follows = false;
	if (!r->peer_keeps && r->keeps != SRNIC_KEEPS_NONE && r->rtt.min) {
		r->run += npsn;
		loss = recovery_loss(r);
		srnic_cwnd_lose(&r->cwnd, &r->rtt, &loss);
	}
	if (srnic_psn_diff(psn, r->mark) >= 0)
		return recovery_recovered(r);
	if (hole && hole < SRNIC_RECOVERY_DUE && psn == r->next && r->repair != SRNIC_CAUSE_RNR) {
		recovery_leave_back(r);
		return recovery_nothing;
	}
	/* Doubles per round trip, however many ACKs the peer sends. */
	r->burst = min(r->burst + min(r->burst, npsn), r->cwnd.window);

	return recovery_nothing;
}

/* Packets are acknowledged in mode SUSPECT; @hole: as srnic_recovery_acked() */
static void recovery_suspect_acked(struct srnic_recovery *r, u32 hole)
{
	if (hole == SRNIC_RECOVERY_KEPT)
		return;

	if (r->follows) {
		r->peer_keeps = true;
		recovery_recovered(r);
		return;
	}
	srnic_rto_suspect(r, 0);
	r->mode = SRNIC_RECOVERY_OPEN;
	srnic_cwnd_stop_ticks(&r->cwnd);
}

struct srnic_recovery_todo srnic_recovery_acked(struct srnic_recovery *r, u32 psn, u32 hole,
						u64 now)
{
	struct srnic_recovery_todo todo = recovery_nothing, moved = recovery_nothing;
	u32 npsn = srnic_psn_diff(psn, r->una);
	bool ambiguous = r->mode == SRNIC_RECOVERY_REPAIR ||
			 r->mode == SRNIC_RECOVERY_SELECT || r->mode == SRNIC_RECOVERY_BACK;
	bool undone = recovery_check_spurious(r, psn, now);

	/* What was sent since the NAK may have been dropped, too. */
	if (r->mode != SRNIC_RECOVERY_OPEN && srnic_recovery_is_unreported(r))
		r->unreported = r->high;
	srnic_rtt_acked(&r->rtt, psn, ambiguous && (!undone || !r->rtt.min),
			r->repaired_at, now);
	/* The remaining samples may be of packets that were sent more than once. */
	if (undone && !r->rtt.min)
		srnic_rtt_forget(&r->rtt);
	srnic_reads_acked(&r->reads, psn);
	if (ambiguous)
		srnic_rto_suspect(r, 0);
	srnic_cwnd_acked(&r->cwnd, psn, r->high, npsn);
	srnic_rtt_progress(&r->rtt, ambiguous && r->repair == SRNIC_CAUSE_PROBE);
	r->far = min(r->far + npsn, RECOVERY_FAR_MAX);
	r->retry_left = r->retry_cnt;
	r->heard = 0;
	r->told = 0;
	srnic_rto_progress(r);
	r->rnr_left = r->rnr_retry;
	r->peer_keeps |= r->mode == SRNIC_RECOVERY_BACK && srnic_psn_diff(psn, r->next) > 0;
	if (srnic_flight_catch_up(r, psn))
		moved = recovery_seek(SRNIC_CAUSE_NONE);
	switch (r->mode) {
	case SRNIC_RECOVERY_REPAIR:
		if (!hole || hole >= SRNIC_RECOVERY_DUE)
			todo = recovery_repair_acked(r, psn, hole, now);
		break;
	case SRNIC_RECOVERY_SELECT:
		todo = recovery_select_acked(r, psn, hole, now);
		break;
	case SRNIC_RECOVERY_BACK:
		todo = recovery_back_acked(r, psn, hole);
		break;
	case SRNIC_RECOVERY_SUSPECT:
		recovery_suspect_acked(r, hole);
		fallthrough;
	case SRNIC_RECOVERY_OPEN:
		srnic_cwnd_grow(&r->cwnd, &r->rtt, r->una, npsn);
		break;
	case SRNIC_RECOVERY_RNR:
		if (psn == r->high) {
			srnic_rto_hold(r, 0);
			r->mode = SRNIC_RECOVERY_OPEN;
			srnic_cwnd_stop_ticks(&r->cwnd);
		}
		break;
	}
	srnic_flight_acked(r, psn);
	r->undone = srnic_psn_max(r->undone, psn);
	r->mark = srnic_psn_max(r->mark, psn);
	srnic_cwnd_advance(&r->cwnd, psn);
	r->unreported = srnic_psn_max(r->unreported, psn);
	srnic_rto_arm(r, now);
	/* No response behind the missing ones may be left to report the gap. */
	if (hole && hole < SRNIC_RECOVERY_DUE && recovery_may_begin_select(r))
		todo = recovery_select(r, hole, now);

	if (undone)
		moved.act = SRNIC_RECOVERY_SEEK;

	return todo.act ? todo : moved;
}

void srnic_recovery_heard(struct srnic_recovery *r)
{
	if (r->repair != SRNIC_CAUSE_TIMEOUT || r->heard == RECOVERY_HEARD ||
	    r->retry_left == r->retry_cnt)
		return;

	r->heard++;
	r->retry_left = r->retry_cnt;
}

void srnic_recovery_dropped(struct srnic_recovery *r, bool here, u64 now)
{
	if (r->rtt.timeout || r->una == r->high)
		return;

	if (here)
		srnic_rtt_alive(&r->rtt);
	r->unreported = r->high;
	if (!r->silence)
		srnic_rto_arm(r, now);
}

void srnic_recovery_full(struct srnic_recovery *r, u32 kept, u64 now)
{
	r->far = min(r->far, (kept + 1) * SRNIC_RECOVERY_FAR_PARTS);
	srnic_recovery_dropped(r, true, now);
}

struct srnic_recovery_todo srnic_recovery_rnr(struct srnic_recovery *r, u64 nsec, u64 now)
{
	if (r->mode == SRNIC_RECOVERY_RNR)
		return recovery_nothing;
	if (!r->rnr_left)
		return recovery_fail(SRNIC_CAUSE_RNR);
	if (r->rnr_retry != 7)
		r->rnr_left--;
	/* The peer is alive, and the packet was not lost. */
	r->retry_left = r->retry_cnt;
	srnic_rtt_alive(&r->rtt);
	r->mode = SRNIC_RECOVERY_RNR;
	srnic_scoreboard_clear(&r->sb, r->una);
	srnic_rto_suspect(r, 0);
	srnic_rto_hold(r, now + nsec);
	srnic_rto_arm(r, now);

	return recovery_nothing;
}

struct srnic_recovery_todo srnic_recovery_refused(struct srnic_recovery *r)
{
	if (r->hold || r->next == r->una ||
	    (!r->detour && srnic_flight_asked(r)))
		return recovery_nothing;

	/* The rest of a detour is not retransmitted, and requests no ACK. */
	if (r->mode == SRNIC_RECOVERY_SELECT && r->detour)
		recovery_detour_sent(r, srnic_psn_add(r->selected, r->burst));
	srnic_flight_ask_again(r);
	recovery_detour(r, r->una, 1);

	return recovery_seek(SRNIC_CAUSE_ASK);
}

/* The hold has expired. */
static struct srnic_recovery_todo recovery_release(struct srnic_recovery *r)
{
	srnic_rto_hold(r, 0);
	if (r->mode == SRNIC_RECOVERY_RNR) {
		srnic_cwnd_forgive(&r->cwnd, r->high);
		return recovery_go_back(r, SRNIC_CAUSE_RNR);
	}

	return (struct srnic_recovery_todo){ .cause = SRNIC_CAUSE_MEMORY };
}

/* Mode SELECT: retransmits the packets at una, whatever else is to be retransmitted. */
static struct srnic_recovery_todo recovery_probe_hole(struct srnic_recovery *r,
						      enum srnic_recovery_cause cause, u64 now)
{
	recovery_leave_detour(r);
	r->moved = false;
	srnic_scoreboard_missing(&r->sb, r->una, 1, now);
	srnic_scoreboard_lose_first(&r->sb);
	recovery_next_selected(r);

	return recovery_seek(cause);
}

/*
 * The user's ACK timeout has expired.  What is known to have arrived counts, unless this is the
 * second time in a row: then the peer may have dropped what it had kept.
 */
static struct srnic_recovery_todo recovery_expire(struct srnic_recovery *r, u64 now)
{
	bool first = !r->rtt.backoff;

	if (!r->retry_left)
		return recovery_fail(SRNIC_CAUSE_TIMEOUT);
	r->retry_left--;
	srnic_rtt_expired(&r->rtt);
	r->run = SRNIC_CWND_QUEUE_RUN;
	if (first && r->mode == SRNIC_RECOVERY_SELECT) {
		r->repair = SRNIC_CAUSE_TIMEOUT;
		return recovery_probe_hole(r, SRNIC_CAUSE_TIMEOUT, now);
	}

	return recovery_go_back(r, SRNIC_CAUSE_TIMEOUT);
}

/* No answer; the caller sets the deadline once a packet has been sent. */
static struct srnic_recovery_todo recovery_silence(struct srnic_recovery *r, u64 now)
{
	if (srnic_flight_unasked(r)) {
		recovery_detour(r, srnic_psn_add(srnic_flight_front(r), -1), 1);
		return recovery_seek(SRNIC_CAUSE_ASK);
	}
	if (!srnic_rtt_may_probe(&r->rtt, srnic_recovery_retries(r)))
		return recovery_expire(r, now);
	srnic_rtt_probed(&r->rtt);
	if (r->mode == SRNIC_RECOVERY_SELECT)
		return recovery_probe_hole(r, SRNIC_CAUSE_PROBE, now);
	/* Silence is no loss, but if no round trip is known, the only sign of a queue. */
	if (r->mode == SRNIC_RECOVERY_OPEN && r->rtt.min)
		r->run = 0;

	return recovery_repair(r, 1, SRNIC_CAUSE_PROBE);
}

/* Packets that might only have been late are lost. */
static struct srnic_recovery_todo recovery_too_late(struct srnic_recovery *r, u64 now)
{
	if (r->mode == SRNIC_RECOVERY_SELECT)
		return recovery_fill(r, now);

	return r->follows ? recovery_follow_ends(r, now) : recovery_retry(r, 0, now);
}

/* The event that @silence stands for is due. */
static struct srnic_recovery_todo recovery_overdue(struct srnic_recovery *r, u64 now)
{
	if (r->hold)
		return recovery_release(r);
	if (srnic_flight_front(r) == r->una || (r->detour && r->mode != SRNIC_RECOVERY_SELECT))
		return recovery_nothing;

	return recovery_silence(r, now);
}

struct srnic_recovery_todo srnic_recovery_timeout(struct srnic_recovery *r, bool busy, u64 now)
{
	struct srnic_recovery_todo todo;

	if (srnic_rto_is_due(r->cwnd.tick, now))
		srnic_cwnd_release_tick(&r->cwnd, &r->rtt, recovery_may_release(r), now);

	switch (srnic_rto_expired(r, busy, now)) {
	case SRNIC_RTO_LATE:
		return recovery_too_late(r, now);
	case SRNIC_RTO_SILENCE:
		todo = recovery_overdue(r, now);
		srnic_rto_arm(r, now);
		return todo;
	default:
		return recovery_nothing;
	}
}
