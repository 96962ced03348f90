// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - PSNs in flight: from where to where, which is sent next, and how many more may be
 *
 * The window counts PSNs, so that a READ takes up as much of it as its response does.  What is
 * retransmitted at una is sent even if the window is full, or nothing would be again.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "flight.h"

/* A READ request asks for this part of the window */
#define FLIGHT_READ_PART	7

void srnic_flight_skip(struct srnic_recovery *r, u32 psn)
{
	r->psn = psn;
	r->una = psn;
	r->next = psn;
	r->high = psn;
	r->asked = psn;
	r->detour = 0;
}

void srnic_flight_forget(struct srnic_recovery *r)
{
	r->una = r->next;
	r->asked = r->next;
}

u32 srnic_flight_assign(struct srnic_recovery *r, u32 npsn)
{
	u32 psn = r->psn;

	r->psn = srnic_psn_add(psn, npsn);

	return psn;
}

/* PSNs from una to the front */
static u32 flight_ahead(const struct srnic_recovery *r)
{
	return (srnic_flight_front(r) - r->una) & SRNIC_PSN_MASK;
}

/* PSNs that have left the network, or have yet to be retransmitted */
static u32 flight_settled(const struct srnic_recovery *r)
{
	u32 again = r->detour ? srnic_scoreboard_lost_in(&r->sb, r->selected, r->next) : 0;

	return srnic_scoreboard_kept(&r->sb, r->una) + srnic_scoreboard_forgotten(&r->sb) +
	       r->sb.in[SRNIC_HOLE_LOST] - again;
}

u32 srnic_flight_out(const struct srnic_recovery *r)
{
	u32 out = flight_ahead(r);

	return r->mode == SRNIC_RECOVERY_SELECT ? out - min(out, flight_settled(r)) : out;
}

u64 srnic_flight_rate(const struct srnic_recovery *r, u64 now)
{
	u64 rtt = r->rtt.srtt;

	if (r->rtt.num_samples)
		rtt = max(rtt, now - r->rtt.samples[0].sent);

	return rtt ? div64_u64((u64)srnic_flight_out(r) * NSEC_PER_SEC, rtt) : 0;
}

/* PSNs that may be in flight now */
static u32 flight_limit(const struct srnic_recovery *r)
{
	if (r->mode == SRNIC_RECOVERY_BACK)
		return min(r->cwnd.window, r->burst);

	return srnic_cwnd_limit(&r->cwnd);
}

/*
 * May the next packet be retransmitted, however much is in flight?  In mode SELECT only the one
 * at una may, and the last one sent, which requests an ACK if no other has.
 */
static bool flight_is_urgent(const struct srnic_recovery *r)
{
	return r->detour && (r->mode != SRNIC_RECOVERY_SELECT || r->next == r->una ||
			     srnic_psn_add(r->next, 1) == r->resume);
}

/* Is the peer expected to drop what is sent next, since it is too far ahead to be kept? */
static bool flight_is_too_far(const struct srnic_recovery *r)
{
	return r->mode == SRNIC_RECOVERY_SELECT && !r->detour &&
	       srnic_psn_diff(r->next, r->una) >= SRNIC_CWND_MAX;
}

/* PSNs that may be requested by new READs, for this end can keep the responses */
static u32 flight_reach(const struct srnic_recovery *r)
{
	u32 far = srnic_flight_far(r);

	if (r->mode != SRNIC_RECOVERY_SELECT)
		return SRNIC_CWND_MAX;

	return far - min_t(u32, far, srnic_psn_diff(r->next, r->una));
}

/* Length of the READ in flight that begins at @next, 0: none does */
static u32 flight_whole(const struct srnic_recovery *r)
{
	return srnic_reads_whole(&r->reads, r->next);
}

/*
 * May the READ at una be requested in parts?  What is sent after silence is little.
 * But for that a READ is requested again whole: the peer may never have got the request, and each
 * part that it gets of it is one more of the few READs that it can answer again.
 */
static bool flight_may_split(const struct srnic_recovery *r)
{
	return r->mode != SRNIC_RECOVERY_OPEN && r->next == r->una &&
	       srnic_reads_may_split(&r->reads) &&
	       (r->repair == SRNIC_CAUSE_PROBE || r->repair == SRNIC_CAUSE_TIMEOUT);
}

/*
 * PSNs that may be sent now in mode SELECT.  Nothing that is due is in the network before what it
 * waits for has been retransmitted.  Kept out of flight_room(), which most packets call.
 */
static noinline u32 flight_room_select(const struct srnic_recovery *r)
{
	u32 limit = flight_limit(r), out = srnic_flight_out(r), room, whole;

	if (!r->detour)
		return limit - min(limit, out);

	whole = flight_whole(r);
	if (whole && srnic_psn_diff(r->answered, r->next) <= 0)
		out = srnic_scoreboard_missing_in(&r->sb, r->una, r->next);
	else
		out -= min(out, r->sb.in[SRNIC_HOLE_DUE]);
	room = limit - min(limit, out);

	return whole <= room ? room : 0;
}

/* PSNs that may be sent now */
static u32 flight_room(const struct srnic_recovery *r)
{
	u32 limit;

	if (r->mode == SRNIC_RECOVERY_SELECT)
		return flight_room_select(r);
	limit = flight_limit(r);

	return limit - min(limit, flight_ahead(r));
}

bool srnic_flight_is_blocked(const struct srnic_recovery *r)
{
	return flight_whole(r) && !flight_room(r);
}

bool srnic_flight_open(struct srnic_recovery *r)
{
	if (r->hold)
		return false;
	if (flight_is_urgent(r))
		return true;
	if (flight_room(r))
		return !flight_is_too_far(r);
	srnic_cwnd_full(&r->cwnd, srnic_flight_front(r));

	return false;
}

bool srnic_flight_is_new(const struct srnic_recovery *r)
{
	return srnic_psn_diff(r->next, r->high) >= 0;
}

/* Does a READ or atomic in flight begin at @next, which has been sent before? */
static bool flight_read_begins(const struct srnic_recovery *r)
{
	return srnic_reads_end(&r->reads, srnic_psn_add(r->next, -1), r->high) == r->next;
}

bool srnic_flight_may_read(const struct srnic_recovery *r, bool first)
{
	if (srnic_flight_is_new(r))
		return r->reads.num < r->reads.places;
	if (srnic_reads_is_crowded(&r->reads) && srnic_reads_find(&r->reads, r->next))
		return false;
	if (r->mode == SRNIC_RECOVERY_SELECT && r->detour)
		return true;	/* but for that, srnic_loss_to_fill() decides */

	return first || r->next == r->una || flight_read_begins(r);
}

/*
 * PSNs that a READ request asks for, of @left.  The smaller requests are, the better they fill
 * a window and the shorter are bursts of responses; but while the oldest waits for what was
 * lost, those that may still be outstanding have to fill the window.
 */
static u32 flight_read_size(const struct srnic_recovery *r, u32 limit, u32 left)
{
	u32 least = min_t(u32, limit / 4, SRNIC_FLIGHT_READ_LEAST);
	u32 part = clamp_t(u32, limit / FLIGHT_READ_PART, least, SRNIC_FLIGHT_READ);
	u32 free = srnic_reads_free(&r->reads);
	u32 size = max(part, DIV_ROUND_UP(limit, free));

	if (!r->rtt.srtt)
		return min(limit, left);

	return left / max((left + size / 2) / size, 1U);
}

/*
 * Do responses come one by one?  A peer that is srnic paces them on a long path.  The next READ is
 * requested while they do, or the path would be idle for the time that those of a READ take.
 */
static bool flight_is_paced(const struct srnic_recovery *r)
{
	return r->selects && srnic_rtt_is_wide(&r->rtt);
}

u32 srnic_flight_span(struct srnic_recovery *r, u32 left)
{
	u32 limit = flight_limit(r), room = flight_room(r), reach = flight_reach(r);
	u32 end, want, least;

	/* A single response is not divided, and nothing has to be repaired. */
	if (left == 1 && r->mode == SRNIC_RECOVERY_OPEN && !r->detour && srnic_flight_is_new(r))
		return min(room, 1U);
	if (!srnic_flight_is_new(r)) {
		end = srnic_reads_end(&r->reads, r->next, r->high);
		left = min_t(u32, left, srnic_psn_diff(end, r->next));
		if (flight_whole(r) && !flight_may_split(r))
			return r->mode != SRNIC_RECOVERY_BACK || r->next == r->una ||
			       left <= room ? left : 0;
	}
	/* A probe requests as little as possible. */
	if (r->detour && r->mode != SRNIC_RECOVERY_SELECT)
		return r->repair == SRNIC_CAUSE_PROBE ? min(left, r->detour) : left;
	left = r->detour ? min(left, r->detour) : left;
	if (flight_is_urgent(r))
		return left;
	if (r->detour || !srnic_flight_is_new(r))
		return min(left, room);

	want = flight_read_size(r, limit, left);
	least = min(want, limit / 2);
	if (reach < least)
		return 0;
	if (flight_is_paced(r) && srnic_psn_diff(r->next, r->una) + least <= SRNIC_CWND_MAX)
		room = max(room, least);
	if (room < limit && room < least) {
		srnic_cwnd_full(&r->cwnd, srnic_flight_front(r));
		return 0;
	}

	return min3(room, want, reach);
}

/* Packets between two ACK requests */
static u32 flight_ack_every(const struct srnic_recovery *r)
{
	u32 limit = flight_limit(r);

	/* Few packets do not fill the window of a start. */
	if (r->mode == SRNIC_RECOVERY_OPEN && r->cwnd.startup && r->cwnd.limited == r->una)
		limit = max_t(u32, limit, SRNIC_CWND_SHORT);

	return srnic_cwnd_ack_every(&r->rtt, limit);
}

bool srnic_flight_wants_ack(struct srnic_recovery *r, bool awaited)
{
	bool first = !r->rtt.srtt && !r->rtt.num_samples;

	r->since_ackreq++;

	return awaited || first || r->detour == 1 ||
	       srnic_flight_out(r) + 1 == flight_limit(r) ||
	       r->since_ackreq >= flight_ack_every(r);
}

void srnic_flight_request(struct srnic_recovery *r, u32 npsn)
{
	u32 end = srnic_psn_add(r->next, npsn);

	if (srnic_psn_diff(end, r->high) > 0)
		srnic_reads_add(&r->reads, r->next, end);
	else if (flight_whole(r) > npsn && flight_may_split(r))
		srnic_reads_split(&r->reads, r->una, end);
}

void srnic_flight_move(struct srnic_recovery *r, u32 psn)
{
	u32 npsn = srnic_psn_diff(psn, r->next);

	if (npsn < r->detour) {
		r->detour -= npsn;
		r->next = psn;
	} else {
		r->next = r->detour ? srnic_psn_max(r->resume, psn) : psn;
		r->detour = 0;
	}
}

void srnic_flight_detour(struct srnic_recovery *r, u32 psn, u32 npsn)
{
	r->resume = srnic_flight_front(r);
	r->detour = npsn;
	r->next = psn;
}

bool srnic_flight_leave_detour(struct srnic_recovery *r)
{
	bool was = r->detour;

	r->next = srnic_flight_front(r);
	r->detour = 0;

	return was;
}

void srnic_flight_back(struct srnic_recovery *r)
{
	r->detour = 0;
	r->next = r->una;
	r->asked = r->una;
}

void srnic_flight_resume(struct srnic_recovery *r)
{
	r->next = r->high;
	r->asked = r->high;
}
