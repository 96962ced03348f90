// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - invariants of loss recovery hold whatever a peer answers, and whenever
 *
 * The input determines the events: packets are sent, acknowledged
 * or reported missing, and time passes, within what its caller allows.  At the
 * end the peer may answer properly, and then nothing remains in flight.
 */

#include <linux/kernel.h>
#include <linux/time64.h>
#include <stdio.h>
#include <stdlib.h>

#include "../unit/recovery_state.h"
#include "wire/psn.h"
#include "xport/flight.h"
#include "xport/loss.h"
#include "xport/recovery.h"
#include "xport/rto.h"

#define STEPS_MAX	4096
#define PLACES		16

enum step {
	STEP_SEND,
	STEP_SEND_ALL,
	STEP_READ,
	STEP_PASS,
	STEP_ACK,
	STEP_ACK_KEPT,
	STEP_ACK_ALL,
	STEP_MISSING,
	STEP_RNR,
	STEP_STALL,
	STEP_HURRY,
	STEP_WAIT,
	STEP_DEADLINE,
	STEP_BUSY,
	STEP_ARM,
	STEP_ACK_DUE,
	STEP_PUT_OFF,
	STEP_DROPPED,
	STEP_ARRIVED,
	STEP_SACK,
	STEP_SELECT,
	STEP_NUM,
};

/* The rest of the input */
static const u8 *input;
static size_t input_left;

static struct srnic_recovery f;
static u64 now;
static u32 cursor;	/* position of the send queue */
static bool failed;

static void require(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "this does not hold: %s\n", what);
	abort();
}

/* The next byte of the input; 0 after its end */
static u8 take(void)
{
	if (!input_left)
		return 0;
	input_left--;

	return *input++;
}

/* A small number, or one up to 2^24 */
static u32 take_number(void)
{
	u32 n = take();

	return n < 224 ? n : n << 16 | take() << 8 | take();
}

static u32 in_flight(void)
{
	return srnic_psn_diff(f.high, f.una);
}

static void check(void)
{
	const char *fault = recovery_state_fault(&f);

	require(!fault, fault);
	require(failed || cursor == f.next, "the send queue is positioned at next");
	require(srnic_flight_rate(&f, now) < ~0ULL, "there is a rate");
}

static void todo(struct srnic_recovery_todo what)
{
	require(what.cause < SRNIC_CAUSE_NUM, "there is a cause");
	if (what.act == SRNIC_RECOVERY_SEEK)
		cursor = f.next;
	failed |= what.act == SRNIC_RECOVERY_FAIL;
	require(what.act != SRNIC_RECOVERY_FAIL || what.cause != SRNIC_CAUSE_NONE,
		"a failure has a cause");
}

static void moved(bool seek, u32 npsn)
{
	cursor = seek ? f.next : srnic_psn_add(cursor, npsn);
	if (!f.silence)
		srnic_rto_arm(&f, now);
}

static bool post(u32 npsn)
{
	if (f.next != f.psn)
		return true;
	if (srnic_psn_diff(f.psn, f.una) + npsn >= SRNIC_PSN_MASK / 2)
		return false;
	srnic_flight_assign(&f, npsn);

	return true;
}

static bool send_one(bool awaited)
{
	bool ask;

	if (!srnic_flight_open(&f) || !post(1 + awaited))
		return false;
	ask = srnic_flight_wants_ack(&f, awaited);
	moved(srnic_recovery_sent(&f, 1, false, ask, now), 1);

	return true;
}

static void send_all(void)
{
	u32 i;

	for (i = 0; i < 2 * SRNIC_CWND_MAX && send_one(false); i++)
		check();
}

static void read_some(u32 left)
{
	s32 again = srnic_psn_diff(f.high, f.next);
	u32 npsn;

	if (!srnic_flight_open(&f) || !srnic_flight_may_read(&f, take() & 1) ||
	    !post(left))
		return;
	left = min_t(u32, left, srnic_psn_diff(again > 0 ? f.high : f.psn, f.next));
	if (!left)
		return;
	npsn = srnic_flight_span(&f, left);
	require(npsn <= left, "a READ requests no more than what is left");
	if (!npsn)
		return;
	srnic_flight_wants_ack(&f, true);
	moved(srnic_recovery_sent(&f, npsn, true, true, now), npsn);
}

/* Skips a packet that was sent before and has been answered. */
static void pass(void)
{
	if (srnic_flight_open(&f) && srnic_psn_diff(f.high, f.next) > 0)
		moved(srnic_recovery_pass(&f, 1), 1);
}

static void acked_before(u32 psn, u32 hole)
{
	todo(srnic_recovery_acked(&f, psn, hole, now));
	require(f.una == psn, "una follows the acknowledged PSNs");
}

/* Before the hole there are @kept responses. */
static void acked(u32 npsn, u32 kept, u32 hole)
{
	if (!in_flight())
		return;
	npsn = 1 + npsn % in_flight();
	kept = min(kept, in_flight() - npsn);
	hole = min(hole, in_flight() - npsn - kept);
	acked_before(srnic_psn_add(f.una, npsn), kept ? SRNIC_RECOVERY_KEPT : hole);
	while (kept--)
		acked_before(srnic_psn_add(f.una, 1), kept ? SRNIC_RECOVERY_KEPT : hole);
}

static void missing(u32 gap)
{
	if (in_flight())
		todo(srnic_recovery_missing(&f, min(gap, in_flight()), now));
}

/* A response behind a missing one */
static void arrived(u32 gap, u32 ahead)
{
	u32 npsn = in_flight();

	if (npsn < 2)
		return;
	ahead = 1 + ahead % (npsn - 1);
	todo(srnic_recovery_missing(&f, 1 + gap % ahead, now));
	check();
	if (!failed)
		todo(srnic_recovery_arrived(&f, srnic_psn_add(f.una, ahead), now));
}

/* Any packet in flight; @behind: but for that at una */
static u32 take_psn(bool behind)
{
	u32 npsn = in_flight() - behind;

	return srnic_psn_add(f.una, behind + (npsn ? take_number() % npsn : 0));
}

/* A SACK with ranges in any order, which may overlap, and contradict those of another */
static void sack(void)
{
	u32 ranges = take() % 40, psn, left;

	if (in_flight() < 2 || !srnic_recovery_sacked(&f, f.una, now))
		return;
	while (ranges-- && input_left) {
		psn = take_psn(true);
		left = srnic_psn_diff(f.high, psn);
		srnic_loss_kept(&f, psn, 1 + take_number() % left, now);
	}
	todo(srnic_recovery_select(&f, srnic_psn_add(take_psn(false), 1), now));
}

/* One that arrives late, or says that the peer is ahead of its acknowledgments */
static void sack_of_other(void)
{
	if (!in_flight())
		return;
	if (srnic_recovery_sacked(&f, take_psn(false), now))
		todo(srnic_recovery_select(&f, srnic_psn_add(take_psn(false), 1), now));
}

static void timeout(bool busy)
{
	todo(srnic_recovery_timeout(&f, busy, now));
}

static void step(void)
{
	switch (take() % STEP_NUM) {
	case STEP_SEND:
		send_one(take() & 1);
		break;
	case STEP_SEND_ALL:
		send_all();
		break;
	case STEP_READ:
		read_some(1 + take_number() % (1 << 20));
		break;
	case STEP_PASS:
		pass();
		break;
	case STEP_ACK:
		acked(take_number(), 0, take());
		break;
	case STEP_ACK_KEPT:
		acked(take_number(), take(), take());
		break;
	case STEP_ACK_ALL:
		acked(in_flight() - 1, 0, 0);
		break;
	case STEP_MISSING:
		missing(take_number());
		break;
	case STEP_RNR:
		if (in_flight())
			todo(srnic_recovery_rnr(&f, (u64)take() << 22, now));
		break;
	case STEP_STALL:
		if (srnic_flight_open(&f))
			srnic_rto_stall(&f, 200 * NSEC_PER_USEC, now);
		break;
	case STEP_HURRY:
		srnic_rto_solicit_ack(&f, now);
		break;
	case STEP_WAIT:
		now += (u64)take() << take() % 32;
		timeout(false);
		break;
	case STEP_DEADLINE:
		now = max(now, f.deadline);
		timeout(false);
		break;
	case STEP_BUSY:
		now = max(now, f.deadline);
		timeout(true);
		break;
	case STEP_ARM:
		srnic_rto_arm(&f, now);
		break;
	case STEP_ACK_DUE:
		if (in_flight())
			acked_before(srnic_psn_add(f.una, 1 + take_number() % in_flight()),
				     SRNIC_RECOVERY_DUE);
		break;
	case STEP_PUT_OFF:
		now = max(now, f.deadline);
		srnic_rto_postpone(&f, now);
		break;
	case STEP_DROPPED:
		srnic_recovery_dropped(&f, take_number() % 2, now);
		break;
	case STEP_ARRIVED:
		arrived(take_number(), take_number());
		break;
	case STEP_SACK:
		sack();
		break;
	case STEP_SELECT:
		sack_of_other();
		break;
	}
}

/* From now on every packet that requests an ACK is answered in time. */
static void end_well(void)
{
	u32 i;

	srnic_rto_arm(&f, now);
	for (i = 0; i < 100000 && !failed && in_flight(); i++) {
		while (f.next != f.high && send_one(true))
			check();
		require(f.deadline || !f.rtt.timeout, "with packets in flight there is a deadline");
		if (srnic_flight_asked(&f)) {
			now += NSEC_PER_USEC;
			todo(srnic_recovery_acked(&f, f.asked, 0, now));
		} else {
			now = max(now, f.deadline);
			timeout(false);
		}
		check();
		if (!f.rtt.timeout && !f.deadline)
			break;
	}
	require(failed || !f.rtt.timeout || !in_flight(),
		"all packets are acknowledged in the end");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u8 retry, rnr;
	int i;

	input = data;
	input_left = size;
	now = 1 + take();
	failed = false;
	srnic_recovery_start(&f, (SRNIC_PSN_MASK - take_number()) & SRNIC_PSN_MASK);
	retry = take() % 8;
	rnr = take() % 8;
	srnic_recovery_set_limits(&f, (u64)take() << take() % 32, retry, rnr, PLACES);
	cursor = f.next;

	for (i = 0; i < STEPS_MAX && input_left && !failed; i++) {
		step();
		check();
	}
	if (!failed)
		end_well();

	return 0;
}
