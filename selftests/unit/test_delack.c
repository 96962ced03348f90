// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - an ACK waits for the answer only where messages are answered
 */

#include "tap.h"
#include "xport/delack.h"

#define USEC	1000ULL
#define RUNS	8		/* messages answered before an ACK waits */
#define WAIT	(500 * USEC)
#define PROMPT	(50 * USEC)

static u64 now = 1000;

/* A message arrives.  Return: does its ACK wait?  If not, it is sent. */
static bool message(struct srnic_delack *ack)
{
	srnic_delack_owe(ack);
	if (srnic_delack_waits(ack, 0, now))
		return true;
	srnic_delack_done(ack);

	return false;
}

/* An ACK that waits is sent.  Return: was it late? */
static bool leaves(struct srnic_delack *ack)
{
	bool late = ack->deadline && srnic_delack_leaves(ack, now);

	srnic_delack_done(ack);

	return late;
}

/* The program answers.  Return: has the ACK waited for too long? */
static bool answer(struct srnic_delack *ack)
{
	srnic_delack_answered(ack);

	return leaves(ack);
}

/* Messages until the ACK of one waits, each answered; at most @limit */
static unsigned int exchanges(struct srnic_delack *ack, unsigned int limit)
{
	unsigned int n;

	for (n = 0; n < limit; n++) {
		if (message(ack))
			return n;
		answer(ack);
	}

	return limit;
}

/* The answer fails to come.  Return: was the ACK sent at its deadline, and not before? */
static bool fail(struct srnic_delack *ack)
{
	u64 deadline = ack->deadline;

	if (!srnic_delack_waits(ack, 0, deadline - 1) ||
	    srnic_delack_waits(ack, 0, deadline))
		return false;
	now = deadline;

	return leaves(ack);
}

/* The peer sends the message again.  Return: is the ACK sent, and was it late? */
static bool ask_again(struct srnic_delack *ack)
{
	srnic_delack_owe_again(ack);

	return !srnic_delack_waits(ack, 0, now) && leaves(ack);
}

static void test_stream(void)
{
	struct srnic_delack ack = {};
	unsigned int i;

	for (i = 0; i < 10000; i++)
		if (message(&ack))
			tap_fault("message %u", i);
	tap_done("no ACK of a stream waits");

	for (i = 0; i < 10000; i++) {
		if (message(&ack))
			tap_fault("message %u", i);
		if (i % RUNS)
			answer(&ack);
	}
	tap_done("nor where one message in eight is not answered");
}

static void test_answers(void)
{
	struct srnic_delack ack = {};
	unsigned int i;

	tap_check(exchanges(&ack, 100) == RUNS, "the ACK waits after eight answers");
	tap_check(ack.deadline == now + WAIT, "for half a millisecond");
	now += PROMPT;
	srnic_delack_owe(&ack);
	tap_check(srnic_delack_waits(&ack, 0, now) &&
		  ack.deadline == now + WAIT - PROMPT,
		  "another message does not extend this");
	tap_check(!answer(&ack), "an answer within 50 us is not late");

	for (i = 0; i < 10000; i++) {
		if (!message(&ack))
			tap_fault("message %u", i);
		now += PROMPT;
		answer(&ack);
	}
	tap_done("every ACK waits while the answers come in time");

	message(&ack);
	tap_check(fail(&ack), "an ACK is sent at its deadline");
	exchanges(&ack, 100);
	answer(&ack);
	srnic_delack_owe(&ack);
	srnic_delack_answered(&ack);
	tap_check(!srnic_delack_waits(&ack, 0, now),
		  "an ACK that could not leave with the answer does not wait for another");
}

/* Return: is the answer to the next message, @after its arrival, late? */
static bool slow(struct srnic_delack *ack, u64 after)
{
	if (!message(ack))
		return false;
	now += after;

	return answer(ack);
}

static void test_slow(void)
{
	struct srnic_delack ack = {};
	unsigned int i;

	exchanges(&ack, 100);
	answer(&ack);
	for (i = 0; i < 10000; i++)
		if (slow(&ack, i % 10 ? PROMPT : WAIT - 1) == !!(i % 10))
			tap_fault("message %u", i);
	tap_done("ACKs wait although one answer in ten is slow");

	for (i = 0; i < 4; i++)
		slow(&ack, PROMPT + 1);
	tap_check(exchanges(&ack, 1000) == 2 * RUNS - 1, "four slow answers are a failure");

	for (i = 0; i < 48; i++) {
		now += PROMPT + 1;
		answer(&ack);
		exchanges(&ack, 100000);
	}
	tap_check(exchanges(&ack, 100000) == 0 && ack.fails == 12,
		  "programs that are always slow are seldom waited for");
}

static void test_failures(void)
{
	struct srnic_delack ack = {};
	unsigned int i, n;

	exchanges(&ack, 100);
	for (n = 2 * RUNS, i = 0; i < 12; i++, n *= 2)
		if (!fail(&ack) || exchanges(&ack, 100000) != n)
			tap_fault("failure %u: not after %u answers", i, n);
	tap_done("each answer that fails to come doubles what is required");
	tap_check(fail(&ack) && exchanges(&ack, 100000) == n / 2, "twelve times at most");

	n /= 2;
	for (i = 1; i < 63 * n; i++) {
		answer(&ack);
		message(&ack);
	}
	tap_check(fail(&ack) && exchanges(&ack, 100000) == n,
		  "63 times as many answers as were required make up for nothing");
	for (i = 0; i < 63 * n; i++) {
		answer(&ack);
		message(&ack);
	}
	tap_check(fail(&ack) && exchanges(&ack, 100000) == n,
		  "64 times as many make up for one failure of those that count");
}

/* The answer to every Nth message fails to come. */
static void test_patterns(void)
{
	unsigned int i, late, period;

	for (period = 1; period <= 1000; period++) {
		struct srnic_delack ack = {};

		for (i = 1, late = 0; i <= 100 * period; i++) {
			bool waits = message(&ack);

			if (i % period == 0)
				late += waits && fail(&ack);
			else
				answer(&ack);
		}
		if (late > 8)
			tap_fault("one in %u: %u of 100 were late", period, late);
	}
	tap_done("eight of a hundred ACKs that are not answered are late at most");
}

/* Both ends wait for a completion before they go on. */
static void test_deadlock(void)
{
	struct srnic_delack ack = {};
	unsigned int i, late = 0;

	for (i = 0; i < 1000000; i++) {
		if (message(&ack))
			late += fail(&ack);
		srnic_delack_answered(&ack);
	}
	tap_check(late <= 50, "of a million ACKs that are waited for 50 are late at most");

	for (i = 0, late = 0; i < 1000000; i++) {
		if (message(&ack)) {
			now += PROMPT / 2;
			late += ask_again(&ack);
		}
		srnic_delack_answered(&ack);
	}
	tap_check(late <= 50, "likewise where the peer asks for them again, even if soon");
}

static void test_urgent(void)
{
	struct srnic_delack ack = {};

	exchanges(&ack, 100);
	srnic_delack_owe_at_once(&ack);
	tap_check(!srnic_delack_waits(&ack, 0, now) && !leaves(&ack),
		  "an ACK that waits leaves with one in the middle of a message");
	srnic_delack_answered(&ack);
	tap_check(message(&ack), "the next one waits again");
	now += PROMPT + 1;
	srnic_delack_owe_at_once(&ack);
	tap_check(!srnic_delack_waits(&ack, 0, now) && leaves(&ack) && !ack.fails,
		  "that is slow, but not a failure, if the message has begun late");
	srnic_delack_answered(&ack);
	message(&ack);
	tap_check(ask_again(&ack), "a duplicate is acknowledged at once, and that was late");
	srnic_delack_owe_again(&ack);
	tap_check(!srnic_delack_waits(&ack, 0, now) && !ack.deadline,
		  "likewise where no ACK waits");
	srnic_delack_done(&ack);
	tap_check(exchanges(&ack, 1000) == 2 * RUNS && !answer(&ack),
		  "twice as many messages have to be answered then");
}

static void test_timeout(void)
{
	struct srnic_delack ack = {};

	exchanges(&ack, 100);
	answer(&ack);
	srnic_delack_owe(&ack);
	srnic_delack_waits(&ack, 80 * USEC, now);
	tap_check(ack.deadline == now + 10 * USEC && ack.prompt == ack.deadline,
		  "an ACK waits for an eighth of the timeout at most");
	tap_check(srnic_delack_limit(80 * USEC) == 10 * USEC, "and for the timer as much");
	answer(&ack);
	srnic_delack_owe(&ack);
	srnic_delack_waits(&ack, 67000 * USEC, now);
	tap_check(ack.deadline == now + WAIT, "a longer timeout makes no difference");
}

int main(void)
{
	test_stream();
	test_answers();
	test_slow();
	test_failures();
	test_patterns();
	test_deadlock();
	test_urgent();
	test_timeout();

	return tap_end();
}
