/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - PSNs in flight: from where to where, which is sent next, and how many more may be
 *
 * Packets are sent in order of their PSNs, but for detours: what is retransmitted while new
 * packets wait.  Pure: it reads no clock, takes no lock and sees no packet.  Of struct
 * srnic_recovery it writes @psn, @una, @next, @high, @resume, @detour, @asked and
 * @since_ackreq, which no other file does.
 */
#ifndef SRNIC_XPORT_FLIGHT_H
#define SRNIC_XPORT_FLIGHT_H

#include "recovery.h"

/* PSNs for which a READ request of its own pays, in a small window */
#define SRNIC_FLIGHT_READ_LEAST		32

/* Response PSNs per READ request, about, unless the window or the READs outstanding limit it */
#define SRNIC_FLIGHT_READ		256

/**
 * srnic_flight_assign() - assign the next @npsn PSNs to a work request
 * @r: loss recovery
 * @npsn: number of PSNs
 *
 * Return: the first of them.
 */
u32 srnic_flight_assign(struct srnic_recovery *r, u32 npsn);

/**
 * srnic_flight_skip() - continue at another PSN, with nothing in flight
 * @r: loss recovery
 * @psn: PSN of the next packet
 */
void srnic_flight_skip(struct srnic_recovery *r, u32 psn);

/**
 * srnic_flight_forget() - treat what was sent as done; it is never acknowledged
 * @r: loss recovery
 */
void srnic_flight_forget(struct srnic_recovery *r);

/**
 * srnic_flight_front() - where do new packets, or those retransmitted in mode BACK, continue?
 * @r: loss recovery
 *
 * Return: the PSN.
 */
static inline u32 srnic_flight_front(const struct srnic_recovery *r)
{
	return r->detour ? r->resume : r->next;
}

/**
 * srnic_flight_out() - how much is in flight?
 * @r: loss recovery
 *
 * Return: PSNs from @una to the front, but in mode SELECT those that have left the network or
 * have yet to be retransmitted.
 */
u32 srnic_flight_out(const struct srnic_recovery *r);

/**
 * srnic_flight_rate() - current sending rate
 * @r: loss recovery
 * @now: time
 *
 * Return: PSNs per second, 0: not known.
 */
u64 srnic_flight_rate(const struct srnic_recovery *r, u64 now);

/**
 * srnic_flight_far() - for how many responses has this end memory?
 * @r: loss recovery
 *
 * Return: their number, from @una on, as far as is known.
 */
static inline u32 srnic_flight_far(const struct srnic_recovery *r)
{
	return r->far / SRNIC_RECOVERY_FAR_PARTS;
}

/**
 * srnic_flight_is_idle() - is nothing in flight, nor to be retransmitted?
 * @r: loss recovery
 *
 * Return: true if so.
 */
static inline bool srnic_flight_is_idle(const struct srnic_recovery *r)
{
	return r->next == r->una && !r->detour && r->mode != SRNIC_RECOVERY_BACK;
}

/**
 * srnic_flight_is_new() - has the packet at @next not been sent before?
 * @r: loss recovery
 *
 * Return: true if it has not.
 */
bool srnic_flight_is_new(const struct srnic_recovery *r);

/**
 * srnic_flight_open() - may another packet be sent?
 * @r: loss recovery
 *
 * Return: true unless the window is full or sending is on hold (RNR, no memory).
 */
bool srnic_flight_open(struct srnic_recovery *r);

/**
 * srnic_flight_may_read() - may a READ or an atomic be requested from @next on?
 * @r: loss recovery
 * @first: @next is the first PSN of the message
 *
 * A new request takes a place.  A retransmitted request starts where an earlier one
 * did, or at @una, since a peer need not remember more than that.  While more READs are in
 * flight than there are places, only the oldest is requested again.
 *
 * Return: true if it may.
 */
bool srnic_flight_may_read(const struct srnic_recovery *r, bool first);

/**
 * srnic_flight_span() - response PSNs that a READ request may ask for
 * @r: loss recovery, which is open
 * @left: response PSNs that are left, or missing in a row
 *
 * Return: how many; 0: the window has no room for a request of useful size, or for one that is
 * retransmitted whole.  A peer that paces responses may be asked for up to half of the window more
 * than there is room for.
 */
u32 srnic_flight_span(struct srnic_recovery *r, u32 left);

/**
 * srnic_flight_is_blocked() - does a READ that is to be requested again wait for room?
 * @r: loss recovery
 *
 * Return: true if a READ in flight begins at @next, and the window has no room for all of it.
 */
bool srnic_flight_is_blocked(const struct srnic_recovery *r);

/**
 * srnic_flight_wants_ack() - is the packet at @next to request an ACK?
 * @r: loss recovery
 * @awaited: the consumer waits for the ACK
 *
 * Return: true if it is.
 */
bool srnic_flight_wants_ack(struct srnic_recovery *r, bool awaited);

/**
 * srnic_flight_asked() - is an acknowledgment due?
 * @r: loss recovery
 *
 * Return: true if a packet in flight has requested one.
 */
static inline bool srnic_flight_asked(const struct srnic_recovery *r)
{
	return srnic_psn_diff(r->asked, r->una) > 0;
}

/**
 * srnic_flight_unasked() - are packets in flight of which none has requested an acknowledgment?
 * @r: loss recovery
 *
 * Return: true if so.
 */
static inline bool srnic_flight_unasked(const struct srnic_recovery *r)
{
	return srnic_flight_front(r) != r->una && !srnic_flight_asked(r);
}

/*
 * The rest is for recovery.c, which decides what is sent.
 */

/* An answer to all before @end has been requested, or need not be for now. */
static inline void srnic_flight_settle(struct srnic_recovery *r, u32 end)
{
	r->asked = srnic_psn_max(r->asked, end);
}

/* The packet at @next, before @end, requests an answer. */
static inline void srnic_flight_ask(struct srnic_recovery *r, u32 end)
{
	srnic_flight_settle(r, end);
	r->since_ackreq = 0;
}

/* An answer that was requested does not count any longer: another will be. */
static inline void srnic_flight_ask_again(struct srnic_recovery *r)
{
	r->asked = r->una;
}

/* The packet at @next requests the responses to itself and to the @npsn - 1 PSNs behind it. */
void srnic_flight_request(struct srnic_recovery *r, u32 npsn);

/* @npsn packets at @next were sent or skipped.  Return: a detour has ended. */
static inline bool srnic_flight_advance(struct srnic_recovery *r, u32 npsn)
{
	r->next = srnic_psn_add(r->next, npsn);
	r->high = srnic_psn_max(r->high, r->next);
	if (!r->detour)
		return false;

	r->detour -= min(r->detour, npsn);
	if (r->detour)
		return false;
	r->next = r->resume;

	return true;
}

/* All before @psn is acknowledged; @next is moved by srnic_flight_catch_up(). */
static inline void srnic_flight_acked(struct srnic_recovery *r, u32 psn)
{
	r->una = psn;
	srnic_flight_settle(r, psn);
}

/* Moves @next, which is before @psn, past what is acknowledged: to @psn, or further. */
void srnic_flight_move(struct srnic_recovery *r, u32 psn);

/* All before @psn is acknowledged, and need not be sent.  Return: @next has moved. */
static inline bool srnic_flight_catch_up(struct srnic_recovery *r, u32 psn)
{
	if (srnic_psn_diff(psn, r->next) <= 0)
		return false;
	srnic_flight_move(r, psn);

	return true;
}

/* Retransmits @npsn packets from @psn on, then resumes where it was. */
void srnic_flight_detour(struct srnic_recovery *r, u32 psn, u32 npsn);

/* Resumes at once.  Return: there was a detour. */
bool srnic_flight_leave_detour(struct srnic_recovery *r);

/* Retransmits all from una on. */
void srnic_flight_back(struct srnic_recovery *r);

/* Retransmits nothing more, and continues with new packets. */
void srnic_flight_resume(struct srnic_recovery *r);

#endif /* SRNIC_XPORT_FLIGHT_H */
