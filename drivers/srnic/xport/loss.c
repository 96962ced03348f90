// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - loss detection: what has arrived, and which packets are lost rather than late
 *
 * As in RACK (RFC 8985), a packet is lost if one that was sent later has arrived and it has been
 * waited for.  Reports are counted until there is progress: a peer that takes back what it has
 * reported is not waited for any longer.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "flight.h"
#include "loss.h"
#include "rto.h"

/* A missing packet is waited for this long if there are no retries, or for a part of the timeout */
#define LOSS_LAST_NSEC	(100 * NSEC_PER_MSEC)
#define LOSS_LAST_PART	4

u64 srnic_loss_reorder_nsec(const struct srnic_recovery *r, u64 now)
{
	return srnic_loss_is_doubtful(r) ? 0 : srnic_rtt_reorder_nsec(&r->rtt, now);
}

/* How long to wait at least for the packet at una if its loss is the end, for want of a retry */
static u64 loss_last_nsec(const struct srnic_recovery *r)
{
	return r->retry_cnt ? 0 : min_t(u64, r->rtt.timeout / LOSS_LAST_PART, LOSS_LAST_NSEC);
}

u64 srnic_loss_last_nsec(const struct srnic_recovery *r)
{
	return srnic_loss_is_doubtful(r) ? 0 : loss_last_nsec(r);
}

/* How long to wait for the answer to a retransmission, if it may be late by @reorder */
static u64 loss_again_nsec(const struct srnic_recovery *r, u64 reorder)
{
	return r->rtt.srtt ? max(r->rtt.srtt, r->rtt.last) + reorder : SRNIC_RTT_FIRST_NSEC;
}

bool srnic_loss_recurs(const struct srnic_recovery *r, u64 now)
{
	u64 again = loss_again_nsec(r, srnic_loss_reorder_nsec(r, now));
	u32 retries = srnic_recovery_retries(r);

	return r->repaired_at && !r->detour && r->next != r->una &&
	       now - r->repaired_at > again << (max(retries, 1U) - 1);
}

bool srnic_loss_is_spurious(const struct srnic_recovery *r, u32 psn, u64 now)
{
	u32 again = r->mode == SRNIC_RECOVERY_BACK ? srnic_flight_front(r) : r->repaired;

	/* Only a timer recovers from a wrong guess. */
	if (!r->rtt.timeout)
		return false;
	if (!r->repaired_at)
		return true;
	/* A timeout is doubted once, or a lost packet would never be sent again. */
	if (r->repair != SRNIC_CAUSE_GAP &&
	    (srnic_psn_diff(r->una, r->undone) < 0 || srnic_psn_diff(psn, again) <= 0))
		return false;
	if (!r->rtt.min)
		return r->repair != SRNIC_CAUSE_GAP;
	if (r->repair == SRNIC_CAUSE_PROBE && srnic_rtt_is_sampled(&r->rtt, psn))
		return true;

	return now - r->repaired_at < r->rtt.min * 3 / 4;
}

/* Another hole has been found to be lost.  Until then its packets were in flight. */
static void loss_found_hole(struct srnic_recovery *r, u32 i)
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

/**
 * struct loss_waits - how long packets are waited for
 * @late: one that is missing, which may only be late, ns
 * @again: the answer to a retransmission, ns
 * @last: the packet at @una, at least, ns
 */
struct loss_waits {
	u64	late;
	u64	again;
	u64	last;
};

/* Without a round trip, what was known when mode SELECT was entered tells how late packets are. */
static struct loss_waits loss_waits(const struct srnic_recovery *r, u64 now)
{
	bool doubtful = srnic_loss_is_doubtful(r);
	u64 reorder = doubtful ? 0 : srnic_rtt_reorder_nsec(&r->rtt, now);

	return (struct loss_waits) {
		.late	= r->rtt.min || doubtful ? reorder : r->late_nsec,
		.again	= loss_again_nsec(r, reorder),
		.last	= doubtful ? 0 : loss_last_nsec(r),
	};
}

/* Is the first hole lost?  Each time that it is retransmitted, the wait is longer. */
static bool loss_is_first(const struct srnic_recovery *r, const struct loss_waits *waits, u64 now)
{
	const struct srnic_hole *hole = r->sb.holes;
	u32 retries = max(srnic_recovery_retries(r), 1U);
	u64 age = now - hole->at;

	if (hole->state == SRNIC_HOLE_NEW)
		return age >= max(waits->late, waits->last);

	return hole->state == SRNIC_HOLE_SENT &&
	       age > max(waits->again << (retries - 1), waits->last);
}

/*
 * Is its loss the end?  Without a retry left the ACK timeout decides: there may be answers on the
 * way, behind a queue that is longer than any before.
 */
static bool loss_ends(const struct srnic_recovery *r)
{
	return !r->retry_left &&
	       (!r->retry_cnt || !r->rtt.timeout || srnic_loss_is_doubtful(r));
}

/* When the next hole is lost of those whose packets may only be late, ns; 0: there is none */
static u64 loss_next_at(const struct srnic_recovery *r, const struct loss_waits *waits)
{
	u64 oldest = srnic_scoreboard_oldest(&r->sb, 1), at = oldest ? oldest + waits->late : 0;
	const struct srnic_hole *first = r->sb.holes;

	if (first->state != SRNIC_HOLE_NEW)
		return at;

	return min_not_zero(at, first->at + max(waits->late, waits->last));
}

struct srnic_loss_found srnic_loss_detect(struct srnic_recovery *r, u64 now)
{
	u32 i, before = r->sb.in[SRNIC_HOLE_LOST];
	struct srnic_loss_found found = {};
	struct loss_waits waits;

	if (!r->sb.num)
		return found;

	waits = loss_waits(r, now);
	found.first = loss_is_first(r, &waits, now);
	found.ends = found.first && loss_ends(r);
	if (found.ends)
		return found;
	if (found.first) {
		srnic_scoreboard_lose_first(&r->sb);
		loss_found_hole(r, 0);
	}
	for (i = 1; i < r->sb.num; i++) {
		i = srnic_scoreboard_lose(&r->sb, i, now, waits.late, waits.again);
		if (i < r->sb.num)
			loss_found_hole(r, i);
	}
	found.any = r->sb.in[SRNIC_HOLE_LOST] > before;
	found.next_at = loss_next_at(r, &waits);

	return found;
}

/*
 * May hole @i be filled now?  While responses before it are missing that belong to the same
 * request, it may not: a peer need not answer a part of a request again that precedes the
 * part which it answered last.  Nor may it be where this end has no memory for responses.
 */
static bool loss_may_fill(const struct srnic_recovery *r, u32 i)
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

u32 srnic_loss_to_fill(const struct srnic_recovery *r)
{
	u32 i;

	for (i = 0; i < r->sb.num; i++)
		if (loss_may_fill(r, i))
			break;

	return i;
}

/* @npsn packets have arrived, as far as is known: the timer starts anew. */
static void loss_restart(struct srnic_recovery *r, u32 npsn)
{
	if (!npsn || srnic_loss_is_doubtful(r))
		return;
	r->told += npsn;
	srnic_rto_restart(r);
}

void srnic_loss_start(struct srnic_recovery *r, u64 now)
{
	r->late_nsec = srnic_loss_reorder_nsec(r, now);
	r->answered = r->una;
	srnic_scoreboard_clear(&r->sb, r->una);
	loss_restart(r, 1);
}

void srnic_loss_missing(struct srnic_recovery *r, u32 npsn, u64 now)
{
	/* What was due is not any longer. */
	r->told += r->sb.num && r->sb.holes[0].state == SRNIC_HOLE_DUE;
	srnic_scoreboard_missing(&r->sb, r->una, npsn, now);
}

/* A retransmission after this time is too recent to be what arrives now, ns */
static u64 loss_recent(const struct srnic_recovery *r, u64 now)
{
	return r->rtt.timeout ? now - min(now, r->rtt.min * 3 / 4) : now;
}

/* Mode SELECT: packets have arrived; @top: what srnic_scoreboard had as @top before */
static void loss_arrive(struct srnic_recovery *r, u32 top, struct srnic_scoreboard_news news)
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
static void loss_report(struct srnic_recovery *r, u32 psn, u32 npsn, u64 now)
{
	bool continues = srnic_scoreboard_continues(&r->sb, psn);
	struct srnic_scoreboard_news news;
	u32 top = r->sb.top;

	news = srnic_scoreboard_arrived(&r->sb, psn, npsn, loss_recent(r, now), now);
	/* A packet that has overtaken others took a shorter path. */
	if (continues)
		srnic_rtt_arrived(&r->rtt, top, r->sb.top, now);
	loss_restart(r, news.npsn);
	loss_arrive(r, top, news);
}

/*
 * @npsn responses from @psn on have arrived, so requests before them have been executed; but their
 * responses may be missing.
 */
static void loss_executed(struct srnic_recovery *r, u32 psn, u32 npsn, u64 now)
{
	const struct srnic_read *read;
	u32 i, from = r->sb.top;

	r->answered = srnic_psn_max(r->answered, srnic_psn_add(psn, npsn));
	for (i = srnic_reads_find(&r->reads, from); i < r->reads.num; i++) {
		read = srnic_reads_at(&r->reads, i);
		if (srnic_psn_diff(read->begin, psn) > 0)
			break;
		if (srnic_psn_diff(read->begin, from) > 0)
			loss_report(r, from, srnic_psn_diff(read->begin, from), now);
		from = srnic_psn_max(from, read->end);
	}
}

void srnic_loss_arrived(struct srnic_recovery *r, u32 psn, u64 now)
{
	loss_executed(r, psn, 1, now);
	srnic_scoreboard_overtaken(&r->sb, psn, now);
	loss_report(r, psn, 1, now);
}

bool srnic_loss_recalls(const struct srnic_recovery *r)
{
	return r->mode == SRNIC_RECOVERY_SELECT && srnic_scoreboard_recalls(&r->sb);
}

void srnic_loss_recalled(struct srnic_recovery *r)
{
	srnic_scoreboard_recalled(&r->sb);
}

void srnic_loss_recall(struct srnic_recovery *r, u32 psn, u32 npsn, u64 now)
{
	struct srnic_scoreboard_news news;
	u32 top;

	loss_executed(r, psn, npsn, now);
	top = r->sb.top;
	news = srnic_scoreboard_arrived(&r->sb, psn, npsn, loss_recent(r, now), now);
	loss_restart(r, news.npsn);
	loss_arrive(r, top, news);
}

/*
 * The peer has kept the request for the responses from @psn to before @end: they are due, but for
 * those before one that has arrived.
 */
static void loss_due(struct srnic_recovery *r, u32 psn, u32 end, u64 now)
{
	psn = srnic_psn_max(psn, r->answered);
	if (srnic_psn_diff(end, psn) <= 0)
		return;

	srnic_scoreboard_due(&r->sb, psn, srnic_psn_diff(end, psn), now);
	srnic_rtt_retransmitted(&r->rtt);
}

void srnic_loss_kept(struct srnic_recovery *r, u32 psn, u32 npsn, u64 now)
{
	u32 end = srnic_psn_add(psn, npsn), i, last;
	const struct srnic_read *read;

	i = srnic_reads_find(&r->reads, psn);
	for (; i < r->reads.num && srnic_psn_diff(end, psn) > 0; i++) {
		read = srnic_reads_at(&r->reads, i);
		if (srnic_psn_diff(read->begin, end) >= 0)
			break;
		if (srnic_psn_diff(read->begin, psn) > 0) {
			loss_report(r, psn, srnic_psn_diff(read->begin, psn), now);
			psn = read->begin;
		}
		last = srnic_psn_diff(read->end, end) > 0 ? end : read->end;
		loss_due(r, psn, last, now);
		psn = last;
	}
	if (srnic_psn_diff(end, psn) > 0)
		loss_report(r, psn, srnic_psn_diff(end, psn), now);
}

/*
 * Mode SELECT: all holes are filled, the last of them by a retransmission.  What was sent
 * before that and has not arrived is lost, but for a response to a request that the peer has
 * kept, which is about to arrive.
 */
static bool loss_is_tail(const struct srnic_recovery *r, u32 hole)
{
	if (r->sb.num || srnic_psn_diff(r->mark, r->una) <= 0 || hole == SRNIC_RECOVERY_KEPT)
		return false;

	return hole != SRNIC_RECOVERY_DUE || !srnic_reads_whole(&r->reads, r->una);
}

/* Do the responses to the oldest READ take longer than a round trip, at the pace? */
static bool loss_is_answered_slowly(const struct srnic_recovery *r)
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
static void loss_await_answer(struct srnic_recovery *r, u64 now)
{
	u64 srtt = r->rtt.srtt, ago;

	if (!r->reads.num || srnic_psn_diff(srnic_reads_at(&r->reads, 0)->begin, r->una) >= 0 ||
	    !r->sb.num || r->sb.holes[0].psn != r->una || !loss_is_answered_slowly(r))
		return;

	ago = srtt - div_u64(srtt, r->cwnd.window);
	srnic_scoreboard_answered(&r->sb, now - min(now, ago));
}

void srnic_loss_acked(struct srnic_recovery *r, u32 psn, u32 hole, u64 now)
{
	struct srnic_scoreboard_news news;
	u32 top = r->sb.top;

	news = srnic_scoreboard_advance(&r->sb, psn, loss_recent(r, now));
	r->answered = srnic_psn_max(r->answered, psn);
	loss_arrive(r, top, news);
	loss_await_answer(r, now);
	if (hole && hole < SRNIC_RECOVERY_DUE)
		srnic_scoreboard_missing(&r->sb, psn, hole, now);
	else if (!news.early && loss_is_tail(r, hole))
		srnic_scoreboard_missing(&r->sb, psn, srnic_psn_diff(r->mark, psn), now);
}
