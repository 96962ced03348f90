// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - loss recovery: what is sent again after a loss, a report or silence
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
#include <linux/minmax.h>
#include <linux/string.h>

#include "../wire/psn.h"
#include "flight.h"
#include "loss.h"
#include "rto.h"

/* After this many recoveries without a kept packet, the peer is taken to go back N. */
#define RECOVERY_GBN_RUNS	3

/* After this many, the peer is given another chance. */
#define RECOVERY_GBN_RUNS_MAX	16

/* Times that a peer may renew the retries by packets that acknowledge nothing */
#define RECOVERY_HEARD		16	/* less than 32 */

/* Responses for which this end has memory, at most, in parts */
#define RECOVERY_FAR_MAX	(SRNIC_RECOVERY_FAR_PARTS * SRNIC_CWND_MAX)

/* A detour that takes longer than this part of the shortest round trip is slow */
#define RECOVERY_SLOW_PART	8

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

/* Goes on with the next hole to be filled.  Return: there is one. */
static bool recovery_next_selected(struct srnic_recovery *r)
{
	u32 i = srnic_loss_to_fill(r);

	if (i == r->sb.num)
		return false;
	recovery_detour(r, r->sb.holes[i].psn, r->sb.holes[i].npsn);

	return true;
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

/* Ends a recovery, if there is one; what it has told does not count in the next. */
static void recovery_open(struct srnic_recovery *r)
{
	r->mode = SRNIC_RECOVERY_OPEN;
	r->peer_keeps = false;
	srnic_cwnd_stop_ticks(&r->cwnd);
}

/* Everything that was in flight when packets were lost has arrived. */
static void recovery_recovered(struct srnic_recovery *r)
{
	if (r->repair == SRNIC_CAUSE_GAP)
		recovery_learn(r);
	recovery_open(r);
	srnic_rtt_wait_less(&r->rtt);
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

/* The packet at una may have been reordered: gives it @wait to arrive. */
static void recovery_suspect(struct srnic_recovery *r, u64 wait, u64 now)
{
	r->mode = SRNIC_RECOVERY_SUSPECT;
	r->follows = false;
	srnic_rto_suspect(r, now + wait);
	recovery_start_ticks(r, now);
	srnic_rto_arm(r, now);
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

/* What is retransmitted is no longer wanted, or something else is, first. */
static void recovery_leave_detour(struct srnic_recovery *r)
{
	r->moved |= srnic_flight_leave_detour(r);
}

/* No packet is known to be missing any longer. */
static void recovery_filled(struct srnic_recovery *r)
{
	recovery_leave_detour(r);
	recovery_open(r);
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
	const struct srnic_loss_found found = srnic_loss_detect(r, now);
	u64 until = r->suspect_until;
	bool again = false, moved;

	if (found.ends)
		return recovery_fail(SRNIC_CAUSE_GAP);
	if (found.first && r->retry_left)
		r->retry_left--;
	if (!r->sb.num)
		recovery_filled(r);
	srnic_rto_suspect(r, found.next_at);
	if (recovery_is_blocked(r))
		recovery_leave_detour(r);
	if (r->sb.num && !r->detour)
		again = recovery_next_selected(r);
	moved = r->moved;
	r->moved = false;
	/* A peer that repeats itself is not waited for longer, unless a wait has found a loss. */
	if (!r->silence || (found.any && found.next_at != until))
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

	if (r->mode == SRNIC_RECOVERY_REPAIR && r->detour)
		r->mark = r->una;
	recovery_leave_detour(r);
	r->mode = SRNIC_RECOVERY_SELECT;
	r->repair = SRNIC_CAUSE_GAP;
	r->follows = false;
	r->unreported = r->high;
	srnic_cwnd_stop_ticks(&r->cwnd);
	srnic_loss_start(r, now);
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
	if (r->mode == SRNIC_RECOVERY_SELECT)
		srnic_loss_missing(r, npsn, now);
	else
		recovery_begin_select(r, npsn, now);

	return recovery_fill(r, now);
}

struct srnic_recovery_todo srnic_recovery_arrived(struct srnic_recovery *r, u32 psn, u64 now)
{
	if (r->mode != SRNIC_RECOVERY_SELECT)
		return recovery_nothing;

	srnic_loss_arrived(r, psn, now);

	return recovery_fill(r, now);
}

struct srnic_recovery_todo srnic_recovery_recall(struct srnic_recovery *r, u32 psn, u32 npsn,
						 u64 now)
{
	if (r->mode != SRNIC_RECOVERY_SELECT)
		return recovery_nothing;

	srnic_loss_recall(r, psn, npsn, now);

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
		srnic_loss_kept(r, r->una, srnic_psn_diff(psn, r->una), now);

	return true;
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
	u64 wait = max(srnic_loss_reorder_nsec(r, now), srnic_loss_last_nsec(r));
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
		return srnic_loss_recurs(r, now) ? recovery_retry(r, 0, now) :
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
	if (r->rtt.timeout || !srnic_loss_recurs(r, now))
		return recovery_nothing;

	return recovery_retry(r, gap, now);
}

/* Return: true if the cursor moves because nothing is to be retransmitted. */
static bool recovery_check_spurious(struct srnic_recovery *r, u32 psn, u64 now)
{
	if ((r->mode != SRNIC_RECOVERY_REPAIR && r->mode != SRNIC_RECOVERY_BACK) ||
	    r->repair == SRNIC_CAUSE_RNR || !srnic_loss_is_spurious(r, psn, now))
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
	recovery_open(r);
	srnic_flight_leave_detour(r);
	srnic_flight_resume(r);
	r->undone = r->high;
	r->mark = r->una;
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
		recovery_suspect(r, max(srnic_loss_reorder_nsec(r, now),
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
	    (behind && requests && hole == SRNIC_RECOVERY_DUE)) {
		recovery_recovered(r);
		return recovery_nothing;
	}

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
		recovery_suspect(r, srnic_loss_reorder_nsec(r, now), now);
		return recovery_nothing;
	}
	if (!behind)
		return recovery_next_hole(r);
	recovery_found_hole(r, 0);

	return recovery_repair(r, 1, SRNIC_CAUSE_GAP);
}

/* All before @psn is acknowledged in mode SELECT. */
static struct srnic_recovery_todo recovery_select_acked(struct srnic_recovery *r, u32 psn,
							u32 hole, u64 now)
{
	r->repair = SRNIC_CAUSE_GAP;
	srnic_flight_acked(r, psn);
	srnic_loss_acked(r, psn, hole, now);

	return recovery_fill(r, now);
}

/* The rest of what was in flight has not been retransmitted: only what is missing will be. */
static void recovery_leave_back(struct srnic_recovery *r)
{
	recovery_open(r);
	srnic_flight_resume(r);
	r->moved = true;
}

/*
 * All before @psn is acknowledged in mode BACK; @hole: as srnic_recovery_acked().  Once a
 * retransmitted request has been answered, the responses that this end has kept count again.
 */
static void recovery_back_acked(struct srnic_recovery *r, u32 psn, u32 hole)
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
		recovery_recovered(r);
	else if (hole && hole < SRNIC_RECOVERY_DUE && psn == r->next &&
		 r->repair != SRNIC_CAUSE_RNR)
		recovery_leave_back(r);
	else	/* doubles per round trip, however many ACKs the peer sends */
		r->burst = min(r->burst + min(r->burst, npsn), r->cwnd.window);
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
	recovery_open(r);
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
	srnic_loss_progress(r);
	srnic_rto_progress(r);
	r->rnr_left = r->rnr_retry;
	r->peer_keeps |= r->mode == SRNIC_RECOVERY_BACK &&
			 srnic_psn_diff(psn, srnic_flight_front(r)) > 0;
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
		recovery_back_acked(r, psn, hole);
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
			recovery_open(r);
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

struct srnic_recovery_todo srnic_recovery_refused(struct srnic_recovery *r, u64 now)
{
	if (r->hold || r->next == r->una ||
	    (!r->detour && srnic_flight_asked(r)))
		return recovery_nothing;

	/* The rest of a detour is not retransmitted, and requests no ACK. */
	if (r->mode == SRNIC_RECOVERY_SELECT && r->detour) {
		r->sent_at = now;
		recovery_detour_sent(r, srnic_psn_add(r->selected, r->burst));
	}
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
	/* What has yet to be retransmitted, although the window permits it, has no answer. */
	if (r->detour && r->next == r->una)
		return recovery_nothing;
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
