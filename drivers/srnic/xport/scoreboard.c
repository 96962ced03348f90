// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - scoreboard: which packets are missing while later ones have arrived
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "scoreboard.h"

/* Retransmissions of a hole after which the wait for an answer no longer doubles */
#define HOLE_TRIES	7	/* less than 16 */

void srnic_scoreboard_clear(struct srnic_scoreboard *sb, u32 psn)
{
	sb->top = psn;
	sb->missing = 0;
	memset(sb->in, 0, sizeof(sb->in));
	sb->num = 0;
	sb->seen = psn;
	sb->forgot = true;
}

/* @hole gets another size; @npsn: 0 to its size */
static void hole_resize(struct srnic_scoreboard *sb, struct srnic_hole *hole, u32 npsn)
{
	u32 less = hole->npsn - npsn;

	sb->missing -= less;
	sb->in[hole->state] -= less;
	hole->npsn = npsn;
}

static void hole_set_state(struct srnic_scoreboard *sb, struct srnic_hole *hole,
			   enum srnic_hole_state state)
{
	sb->in[hole->state] -= hole->npsn;
	sb->in[state] += hole->npsn;
	hole->state = state;
}

static void hole_remove(struct srnic_scoreboard *sb, u32 i)
{
	hole_resize(sb, sb->holes + i, 0);
	sb->num--;
	memmove(sb->holes + i, sb->holes + i + 1, (sb->num - i) * sizeof(sb->holes[0]));
}

/* Packets before @end have arrived, but what lies behind @top is not known any longer. */
static void scoreboard_forget(struct srnic_scoreboard *sb, u32 end)
{
	sb->seen = sb->forgot ? srnic_psn_max(sb->seen, end) : end;
	sb->forgot = true;
}

/* Inserts a hole at index @i; if there is no room, forgets the last hole and all behind it. */
static void hole_insert(struct srnic_scoreboard *sb, u32 i, struct srnic_hole hole)
{
	if (i == SRNIC_SCOREBOARD_HOLES) {
		scoreboard_forget(sb, sb->top);
		sb->top = hole.psn;
		return;
	}
	if (sb->num == SRNIC_SCOREBOARD_HOLES) {
		scoreboard_forget(sb, sb->top);
		sb->top = sb->holes[sb->num - 1].psn;
		hole_remove(sb, sb->num - 1);
	}
	memmove(sb->holes + i + 1, sb->holes + i, (sb->num - i) * sizeof(sb->holes[0]));
	sb->holes[i] = hole;
	sb->num++;
	sb->missing += hole.npsn;
	sb->in[hole.state] += hole.npsn;
}

/*
 * Takes @npsn packets, from @psn on, out of hole @i, which contains them.  False: there is no
 * room for the rest of it.
 */
static bool hole_fill(struct srnic_scoreboard *sb, u32 i, u32 psn, u32 npsn)
{
	struct srnic_hole *hole = sb->holes + i;
	struct srnic_hole rest = *hole;
	u32 before = srnic_psn_diff(psn, hole->psn), behind = hole->npsn - before - npsn;

	if (before && behind && i == SRNIC_SCOREBOARD_HOLES - 1)
		return false;
	hole_resize(sb, hole, before);
	rest.psn = srnic_psn_add(psn, npsn);
	rest.npsn = behind;
	if (!before)
		hole_remove(sb, i);
	if (behind)
		hole_insert(sb, before ? i + 1 : i, rest);

	return true;
}

/* The packets from @psn to before @end, which is not beyond @top, have arrived. */
static struct srnic_scoreboard_news scoreboard_fill(struct srnic_scoreboard *sb, u32 psn,
						    u32 end, u64 since)
{
	struct srnic_scoreboard_news news = {};
	const struct srnic_hole *hole;
	u32 i = 0, first, npsn, num;

	while (i < sb->num) {
		hole = sb->holes + i;
		if (srnic_psn_diff(hole->psn, end) >= 0)
			break;
		first = srnic_psn_max(hole->psn, psn);
		if (srnic_psn_diff(srnic_hole_end(hole), first) <= 0) {
			i++;
			continue;
		}
		npsn = min(srnic_psn_diff(srnic_hole_end(hole), first), srnic_psn_diff(end, first));
		news.early |= hole->state == SRNIC_HOLE_SENT && !hole->slow && hole->at > since;
		num = sb->num;
		if (hole_fill(sb, i, first, npsn))
			news.npsn += npsn;
		i += sb->num >= num;
	}

	return news;
}

/* What is behind @top is missing up to @end; false: there is no room for another hole */
static bool scoreboard_missing(struct srnic_scoreboard *sb, u32 end, u64 now)
{
	struct srnic_hole *last = sb->num ? sb->holes + sb->num - 1 : NULL;
	struct srnic_hole hole = {
		.at = now, .psn = sb->top, .npsn = srnic_psn_diff(end, sb->top),
		.state = SRNIC_HOLE_NEW,
	};

	if (last && last->state == SRNIC_HOLE_NEW && srnic_hole_end(last) == sb->top)
		hole_resize(sb, last, last->npsn + hole.npsn);
	else if (sb->num < SRNIC_SCOREBOARD_HOLES)
		hole_insert(sb, sb->num, hole);
	else
		return false;
	sb->top = end;

	return true;
}

struct srnic_scoreboard_news srnic_scoreboard_arrived(struct srnic_scoreboard *sb, u32 psn,
						      u32 npsn, u64 since, u64 now)
{
	u32 end = srnic_psn_add(psn, npsn), top = sb->top;
	struct srnic_scoreboard_news news;

	if (srnic_psn_diff(end, top) <= 0)
		return scoreboard_fill(sb, psn, end, since);
	news = scoreboard_fill(sb, psn, top, since);
	if (sb->top != top ||
	    (srnic_psn_diff(psn, top) > 0 && !scoreboard_missing(sb, psn, now))) {
		scoreboard_forget(sb, end);	/* there is no room for more holes */
		return news;
	}
	news.npsn += srnic_psn_diff(end, sb->top);
	sb->top = end;

	return news;
}

/* The part of hole @i from @psn to before @end is due; but if requested again, it is timed. */
static void hole_due(struct srnic_scoreboard *sb, u32 i, u32 psn, u32 end)
{
	struct srnic_hole part = sb->holes[i];

	if (part.state == SRNIC_HOLE_DUE || part.state == SRNIC_HOLE_SENT)
		return;
	part.psn = psn;
	part.npsn = srnic_psn_diff(end, psn);
	part.state = SRNIC_HOLE_DUE;
	if (!hole_fill(sb, i, psn, part.npsn))
		return;
	while (i < sb->num && srnic_psn_diff(sb->holes[i].psn, psn) < 0)
		i++;
	hole_insert(sb, i, part);
}

void srnic_scoreboard_due(struct srnic_scoreboard *sb, u32 psn, u32 npsn, u64 now)
{
	u32 end = srnic_psn_add(psn, npsn), i, first, last;

	if (srnic_psn_diff(end, sb->top) > 0 && !scoreboard_missing(sb, end, now))
		scoreboard_forget(sb, end);
	for (i = 0; i < sb->num; i++) {
		first = srnic_psn_max(sb->holes[i].psn, psn);
		last = srnic_hole_end(sb->holes + i);
		if (srnic_psn_diff(last, end) > 0)
			last = end;
		if (srnic_psn_diff(last, first) > 0)
			hole_due(sb, i, first, last);
	}
}

void srnic_scoreboard_overtaken(struct srnic_scoreboard *sb, u32 psn, u64 now)
{
	struct srnic_hole *hole;

	for (hole = sb->holes; hole < sb->holes + sb->num; hole++) {
		if (srnic_psn_diff(hole->psn, psn) >= 0)
			break;
		if (hole->state != SRNIC_HOLE_DUE)
			continue;
		hole_set_state(sb, hole, SRNIC_HOLE_NEW);
		hole->at = now;
	}
}

struct srnic_scoreboard_news srnic_scoreboard_advance(struct srnic_scoreboard *sb, u32 una,
						      u64 since)
{
	struct srnic_scoreboard_news news;
	s32 beyond = srnic_psn_diff(una, sb->top);

	if (beyond > 0) {
		news = scoreboard_fill(sb, sb->num ? sb->holes[0].psn : una, sb->top, since);
		news.npsn += beyond;
		sb->top = una;
	} else {
		news = scoreboard_fill(sb, sb->num ? sb->holes[0].psn : una, una, since);
	}

	return news;
}

void srnic_scoreboard_missing(struct srnic_scoreboard *sb, u32 una, u32 npsn, u64 now)
{
	u32 end = srnic_psn_add(una, npsn);

	if (sb->num && srnic_psn_diff(sb->holes[0].psn, end) < 0) {
		if (sb->holes[0].psn == una) {
			srnic_scoreboard_overtaken(sb, srnic_psn_add(una, 1), now);
			return;
		}
		end = sb->holes[0].psn;
	}
	if (srnic_psn_diff(end, sb->top) > 0)
		sb->top = end;
	hole_insert(sb, 0, (struct srnic_hole) {
		.at = now, .psn = una, .npsn = srnic_psn_diff(end, una), .state = SRNIC_HOLE_NEW,
	});
}

/* Has hole @hole lasted long enough to be lost?  Parameters: as srnic_scoreboard_lose() */
static bool hole_is_lost(const struct srnic_hole *hole, u64 now, u64 late, u64 again)
{
	switch (hole->state) {
	case SRNIC_HOLE_NEW:
		return now - hole->at >= late;
	case SRNIC_HOLE_SENT:
		return now - hole->at >= again << (hole->tries - 1);
	default:
		return false;
	}
}

u32 srnic_scoreboard_lose(struct srnic_scoreboard *sb, u32 from, u64 now, u64 late, u64 again)
{
	u32 i;

	for (i = from; i < sb->num; i++) {
		if (!hole_is_lost(sb->holes + i, now, late, again))
			continue;
		hole_set_state(sb, sb->holes + i, SRNIC_HOLE_LOST);
		break;
	}

	return i;
}

void srnic_scoreboard_lose_first(struct srnic_scoreboard *sb)
{
	hole_set_state(sb, sb->holes, SRNIC_HOLE_LOST);
}

void srnic_scoreboard_sent(struct srnic_scoreboard *sb, u32 psn, u32 end, u64 at, bool slow)
{
	struct srnic_hole *hole;

	for (hole = sb->holes; hole < sb->holes + sb->num; hole++) {
		if (srnic_psn_diff(hole->psn, psn) < 0)
			continue;
		if (srnic_psn_diff(hole->psn, end) >= 0)
			break;
		hole_set_state(sb, hole, SRNIC_HOLE_SENT);
		hole->at = at;
		hole->slow = slow;
		hole->tries = min_t(u32, hole->tries + 1, HOLE_TRIES);
	}
}

void srnic_scoreboard_answered(struct srnic_scoreboard *sb, u64 at)
{
	struct srnic_hole *first = sb->holes;

	if (first->state != SRNIC_HOLE_SENT || first->at >= at)
		return;
	first->at = at;
	first->slow = true;
}

bool srnic_scoreboard_continues(const struct srnic_scoreboard *sb, u32 psn)
{
	if (srnic_psn_diff(psn, sb->top) > 0)
		return false;

	return !sb->num || srnic_hole_end(sb->holes + sb->num - 1) != sb->top;
}

bool srnic_scoreboard_recalls(const struct srnic_scoreboard *sb)
{
	return sb->forgot && sb->num < SRNIC_SCOREBOARD_HOLES;
}

void srnic_scoreboard_recalled(struct srnic_scoreboard *sb)
{
	sb->forgot = false;
}

u64 srnic_scoreboard_oldest(const struct srnic_scoreboard *sb, u32 from)
{
	const struct srnic_hole *hole;
	u64 oldest = 0;

	for (hole = sb->holes + from; hole < sb->holes + sb->num; hole++)
		if (hole->state == SRNIC_HOLE_NEW && (!oldest || hole->at < oldest))
			oldest = hole->at;

	return oldest;
}

u32 srnic_scoreboard_forgotten(const struct srnic_scoreboard *sb)
{
	return sb->forgot ? max(srnic_psn_diff(sb->seen, sb->top), 0) : 0;
}

/* PSNs from @psn to before @end in holes, or only in those that are @lost */
static u32 holes_in(const struct srnic_scoreboard *sb, u32 psn, u32 end, bool lost)
{
	const struct srnic_hole *hole;
	u32 npsn = 0;
	s32 part;

	for (hole = sb->holes; hole < sb->holes + sb->num; hole++) {
		if (srnic_psn_diff(hole->psn, end) >= 0)
			break;
		if (lost && hole->state != SRNIC_HOLE_LOST)
			continue;
		part = min(srnic_psn_diff(srnic_hole_end(hole), psn), srnic_psn_diff(end, psn)) -
		       max(srnic_psn_diff(hole->psn, psn), 0);
		npsn += max(part, 0);
	}

	return npsn;
}

u32 srnic_scoreboard_missing_in(const struct srnic_scoreboard *sb, u32 psn, u32 end)
{
	return holes_in(sb, psn, end, false);
}

u32 srnic_scoreboard_lost_in(const struct srnic_scoreboard *sb, u32 psn, u32 end)
{
	return holes_in(sb, psn, end, true);
}

u32 srnic_scoreboard_kept(const struct srnic_scoreboard *sb, u32 una)
{
	s32 known = srnic_psn_diff(sb->top, una);

	return known > 0 ? known - sb->missing : 0;
}
