/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - scoreboard: which packets are missing while later ones have arrived
 *
 * A sorted list of holes among the PSNs from the oldest unacknowledged one up to the highest
 * that is known to have arrived.  It forgets what lies behind the last hole that fits, until
 * it is told again.  Pure: it reads no clock and takes no lock.  No other file writes a field
 * of it.
 */
#ifndef SRNIC_XPORT_SCOREBOARD_H
#define SRNIC_XPORT_SCOREBOARD_H

#include <linux/types.h>

#include "../wire/psn.h"

/* One loss in a hundred of SRNIC_CWND_MAX / 2 packets in flight */
#define SRNIC_SCOREBOARD_HOLES	80

/**
 * enum srnic_hole_state - what is done about a hole
 * @SRNIC_HOLE_NEW: nothing yet; its packets may only be late
 * @SRNIC_HOLE_LOST: its packets are to be retransmitted
 * @SRNIC_HOLE_SENT: they were
 * @SRNIC_HOLE_DUE: nothing: the peer has kept the request, and is going to respond
 */
enum srnic_hole_state {
	SRNIC_HOLE_NEW,
	SRNIC_HOLE_LOST,
	SRNIC_HOLE_SENT,
	SRNIC_HOLE_DUE,
	SRNIC_HOLE_STATES
};

/**
 * struct srnic_hole - consecutive packets that are missing
 * @at: when they were found to be missing, or were retransmitted, ns
 * @psn: the first of them
 * @npsn: their number
 * @state: enum srnic_hole_state
 * @tries: times that they were retransmitted, as far as it can count
 * @slow: the first of them was retransmitted well before @at
 */
struct srnic_hole {
	u64	at;
	u32	psn;
	u32	npsn : 24;
	u32	state : 3;
	u32	tries : 4;
	u32	slow : 1;
};

/* PSN following the last one that is missing */
static inline u32 srnic_hole_end(const struct srnic_hole *hole)
{
	return srnic_psn_add(hole->psn, hole->npsn);
}

/**
 * struct srnic_scoreboard - the holes
 * @top: PSN following the highest that is known to have arrived
 * @missing: PSNs in all holes
 * @in: PSNs in the holes of each state
 * @num: number of @holes
 * @forgot: packets behind @top may have arrived of which it knows nothing
 * @seen: PSN following the last that has, as far as is known; valid while @forgot
 * @holes: the holes, by PSN
 */
struct srnic_scoreboard {
	u32			top;
	u32			missing;
	u32			in[SRNIC_HOLE_STATES];
	u32			num;
	bool			forgot;
	u32			seen;
	struct srnic_hole	holes[SRNIC_SCOREBOARD_HOLES];
};

/**
 * struct srnic_scoreboard_news - what an event has told
 * @npsn: PSNs that were not known to have arrived
 * @early: one of them arrived too soon to be a retransmission
 */
struct srnic_scoreboard_news {
	u32	npsn;
	bool	early;
};

/* Nothing is known of packets from @psn on: what has arrived is to be reported. */
void srnic_scoreboard_clear(struct srnic_scoreboard *sb, u32 psn);

/**
 * srnic_scoreboard_arrived() - packets have arrived, and those before them may be missing
 * @sb: the scoreboard
 * @psn: first of them
 * @npsn: their number
 * @since: a retransmission after this time is too recent to be what has arrived, ns
 * @now: time
 *
 * Return: what is new.
 */
struct srnic_scoreboard_news srnic_scoreboard_arrived(struct srnic_scoreboard *sb, u32 psn,
						      u32 npsn, u64 since, u64 now);

/*
 * The peer has kept the requests that @npsn responses from @psn on belong to; those before
 * them may be missing.
 */
void srnic_scoreboard_due(struct srnic_scoreboard *sb, u32 psn, u32 npsn, u64 now);

/* The response @psn has arrived, before which others were due: they are missing. */
void srnic_scoreboard_overtaken(struct srnic_scoreboard *sb, u32 psn, u64 now);

/* All before @una has arrived.  Parameters and result: as srnic_scoreboard_arrived() */
struct srnic_scoreboard_news srnic_scoreboard_advance(struct srnic_scoreboard *sb, u32 una,
						      u64 since);

/*
 * The packet @una, before which all has arrived, is missing, and so are those up to @npsn of
 * which nothing is known.
 */
void srnic_scoreboard_missing(struct srnic_scoreboard *sb, u32 una, u32 npsn, u64 now);

/**
 * srnic_scoreboard_lose() - give up a hole
 * @sb: the scoreboard
 * @from: index of the first hole to look at
 * @now: time
 * @late: how long a packet that was found to be missing may only be late, ns
 * @again: how long the answer to a retransmission takes at most, ns; each further time that it
 *	   remains without one, it may take twice as long
 *
 * Return: the index of the first hole that is lost now, and was not before; @num: none.
 */
u32 srnic_scoreboard_lose(struct srnic_scoreboard *sb, u32 from, u64 now, u64 late, u64 again);

/* The first hole is lost, however recent it is. */
void srnic_scoreboard_lose_first(struct srnic_scoreboard *sb);

/* The packets from @psn to before @end have been retransmitted by @at.  @slow: as in srnic_hole */
void srnic_scoreboard_sent(struct srnic_scoreboard *sb, u32 psn, u32 end, u64 at, bool slow);

/* If the first hole, which exists, was requested again, it was as if at @at, or later. */
void srnic_scoreboard_answered(struct srnic_scoreboard *sb, u64 at);

/* Do packets from @psn on continue those that have arrived, up to and including @top - 1?  Pure. */
bool srnic_scoreboard_continues(const struct srnic_scoreboard *sb, u32 psn);

/* Is there room for something that was forgotten?  If so, it is to be reported again.  Pure. */
bool srnic_scoreboard_recalls(const struct srnic_scoreboard *sb);

/* All that was forgotten has been reported again. */
void srnic_scoreboard_recalled(struct srnic_scoreboard *sb);

/* When the oldest of the new holes was found, from index @from on, ns; 0: there is none.  Pure. */
u64 srnic_scoreboard_oldest(const struct srnic_scoreboard *sb, u32 from);

/* PSNs from @psn to before @end that are missing, and those of them that are lost.  Pure. */
u32 srnic_scoreboard_missing_in(const struct srnic_scoreboard *sb, u32 psn, u32 end);
u32 srnic_scoreboard_lost_in(const struct srnic_scoreboard *sb, u32 psn, u32 end);

/* PSNs behind @top that have arrived or are missing, and thus are not in flight.  Pure. */
u32 srnic_scoreboard_forgotten(const struct srnic_scoreboard *sb);

/* PSNs that have arrived from @una on, which is the oldest unacknowledged one.  Pure. */
u32 srnic_scoreboard_kept(const struct srnic_scoreboard *sb, u32 una);

#endif /* SRNIC_XPORT_SCOREBOARD_H */
