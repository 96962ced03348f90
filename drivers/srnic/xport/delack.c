// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - when a responder acknowledges: at once, or together with a request of its own
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "delack.h"

/*
 * How long an ACK waits: with a timer that is not cancelled when the ACK leaves, longer than
 * most programs take to answer, and short for a peer that waits for it in vain.  A peer with a
 * short timeout must not retransmit meanwhile: of this an ACK waits for a part at most.
 */
#define DELACK_WAIT_NSEC	(500ULL * NSEC_PER_USEC)
#define DELACK_WAIT_PART	8

/* Messages in a row that must have been answered before an ACK waits, */
#define DELACK_RUNS		8

/* doubled with each ACK that waits in vain, this often at most; */
#define DELACK_FAILS_MAX	12

/* this many times as many in a row make up for one of these, which costs as much as dozens */
#define DELACK_FORGIVE		64

static u32 delack_runs_needed(const struct srnic_delack *ack)
{
	return DELACK_RUNS << ack->fails;
}

static void delack_continue_run(struct srnic_delack *ack)
{
	if (++ack->runs < DELACK_FORGIVE * delack_runs_needed(ack))
		return;
	if (ack->fails)
		ack->fails--;
	ack->runs = delack_runs_needed(ack);
}

void srnic_delack_owe(struct srnic_delack *ack)
{
	if (ack->due)
		return;
	ack->due = true;
	if (ack->answered)
		delack_continue_run(ack);
	else
		ack->runs = 0;
	ack->answered = false;
}

void srnic_delack_owe_at_once(struct srnic_delack *ack)
{
	ack->due = true;
	ack->urgent = true;
}

static void delack_fail(struct srnic_delack *ack)
{
	ack->late = true;
	ack->runs = 0;
	ack->fails = min(ack->fails + 1, DELACK_FAILS_MAX);
}

void srnic_delack_owe_again(struct srnic_delack *ack)
{
	if (ack->deadline && !ack->late)
		delack_fail(ack);
	srnic_delack_owe_at_once(ack);
}

void srnic_delack_answered(struct srnic_delack *ack)
{
	ack->answered = true;
}

static u64 delack_wait(u64 timeout)
{
	return timeout ? min(timeout / DELACK_WAIT_PART, DELACK_WAIT_NSEC) : DELACK_WAIT_NSEC;
}

bool srnic_delack_waits(struct srnic_delack *ack, u64 timeout, u64 now)
{
	if (ack->urgent || ack->runs < delack_runs_needed(ack))
		return false;
	if (!ack->deadline)
		ack->deadline = now + delack_wait(timeout);
	if (now < ack->deadline)
		return true;

	delack_fail(ack);

	return false;
}

u64 srnic_delack_slack(u64 timeout)
{
	return delack_wait(timeout);
}

void srnic_delack_done(struct srnic_delack *ack)
{
	ack->due = false;
	ack->urgent = false;
	ack->late = false;
	ack->deadline = 0;
}
