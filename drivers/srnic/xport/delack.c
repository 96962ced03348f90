// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - when a responder acknowledges: at once, or together with a request of its own
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "delack.h"

/*
 * How long an ACK waits: the timer, which is not cancelled when the ACK leaves, should fire
 * rarely.  A peer with a short timeout must not retransmit meanwhile: of this an ACK waits
 * for a part at most.
 */
#define DELACK_WAIT_NSEC	(500ULL * NSEC_PER_USEC)
#define DELACK_WAIT_PART	8

/*
 * A peer that needs the ACK to go on loses more by a longer wait than a packet costs.  Four
 * slow answers, or so, are as bad as none; eight prompt ones make up for one of them.
 */
#define DELACK_PROMPT_NSEC	(50ULL * NSEC_PER_USEC)
#define DELACK_SLOW		8
#define DELACK_SLOW_MAX		(4 * DELACK_SLOW)

/* Messages in a row that must have been answered before an ACK waits, */
#define DELACK_RUNS		8

/* doubled with each ACK that waits in vain, this often at most; */
#define DELACK_FAILS_MAX	12

/* this many times as many in a row make up for one of these */
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

void srnic_delack_owe_again(struct srnic_delack *ack)
{
	srnic_delack_owe_at_once(ack);
	ack->repeated = true;
}

void srnic_delack_answered(struct srnic_delack *ack)
{
	ack->answered = true;
}

u64 srnic_delack_limit(u64 timeout)
{
	return timeout ? min(timeout / DELACK_WAIT_PART, DELACK_WAIT_NSEC) : DELACK_WAIT_NSEC;
}

bool srnic_delack_waits(struct srnic_delack *ack, u64 timeout, u64 now)
{
	u64 wait = srnic_delack_limit(timeout);

	if (ack->urgent || ack->answered || ack->runs < delack_runs_needed(ack))
		return false;
	if (!ack->deadline) {
		ack->prompt = now + min(wait, DELACK_PROMPT_NSEC);
		ack->deadline = now + wait;
	}

	return now < ack->deadline;
}

/* The answer has come, but slowly. */
static bool delack_is_tolerable(struct srnic_delack *ack, u64 now)
{
	if (now >= ack->deadline || ack->repeated)
		return false;
	ack->slow += DELACK_SLOW;

	return ack->slow < DELACK_SLOW_MAX;
}

bool srnic_delack_leaves(struct srnic_delack *ack, u64 now)
{
	if (now <= ack->prompt && !ack->repeated) {
		if (ack->slow)
			ack->slow--;
		return false;
	}
	if (!delack_is_tolerable(ack, now)) {
		ack->slow = 0;
		ack->runs = 0;
		ack->fails = min(ack->fails + 1, DELACK_FAILS_MAX);
	}

	return true;
}

void srnic_delack_done(struct srnic_delack *ack)
{
	ack->due = false;
	ack->urgent = false;
	ack->repeated = false;
	ack->deadline = 0;
}
