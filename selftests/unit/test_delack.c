// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - an ACK is delayed only on connections where the program answers messages
 */

#include "tap.h"
#include "xport/delack.h"

#define USEC	1000ULL
#define RUNS	8		/* answered messages before an ACK is delayed */
#define WAIT	(500 * USEC)
#define PROMPT	(50 * USEC)

static u64 now = 1000;

/* A message arrives.  Return: is its ACK delayed?  If not, it is sent. */
static bool message(struct srnic_delack *ack)
{
	srnic_delack_owe(ack);
	if (srnic_delack_waits(ack, 0, now))
		return true;
	srnic_delack_done(ack);

	return false;
}

/* A delayed ACK is sent without an answer.  Return: does that count as late? */
static bool leaves(struct srnic_delack *ack)
{
	bool late = ack->deadline && srnic_delack_leaves(ack, now);

	srnic_delack_done(ack);

	return late;
}

/* The program answers.  Return: does the delay of the ACK count as late? */
static bool answer(struct srnic_delack *ack)
{
	srnic_delack_answered(ack);

	return leaves(ack);
}

/* Return: number of messages, each answered, until an ACK is delayed; at most @limit. */
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

/* The program does not answer.  Return: was the ACK sent at its deadline, not before? */
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
	tap_done("messages that are not answered: no ACK is delayed");

	for (i = 0; i < 10000; i++) {
		if (message(&ack))
			tap_fault("message %u", i);
		if (i % RUNS)
			answer(&ack);
	}
	tap_done("one message in eight is not answered: no ACK is delayed");
}

static void test_answers(void)
{
	struct srnic_delack ack = {};
	unsigned int i;

	tap_check(exchanges(&ack, 100) == RUNS, "an ACK is delayed after eight answers");
	tap_check(ack.deadline == now + WAIT, "it is delayed by up to half a millisecond");
	now += PROMPT;
	srnic_delack_owe(&ack);
	tap_check(srnic_delack_waits(&ack, 0, now) &&
		  ack.deadline == now + WAIT - PROMPT,
		  "another message does not extend the delay");
	tap_check(!answer(&ack), "an answer within 50 us is not late");

	for (i = 0; i < 10000; i++) {
		if (!message(&ack))
			tap_fault("message %u", i);
		now += PROMPT;
		answer(&ack);
	}
	tap_done("every ACK is delayed while answers come in time");

	message(&ack);
	tap_check(fail(&ack), "an ACK is sent at its deadline");
	exchanges(&ack, 100);
	answer(&ack);
	srnic_delack_owe(&ack);
	srnic_delack_answered(&ack);
	tap_check(!srnic_delack_waits(&ack, 0, now),
		  "an ACK that did not fit with the answer is not delayed again");
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
	tap_done("one slow answer in ten does not end the delay of ACKs");

	for (i = 0; i < 4; i++)
		slow(&ack, PROMPT + 1);
	tap_check(exchanges(&ack, 1000) == 2 * RUNS - 1, "four slow answers count as a failure");

	for (i = 0; i < 48; i++) {
		now += PROMPT + 1;
		answer(&ack);
		exchanges(&ack, 100000);
	}
	tap_check(exchanges(&ack, 100000) == 0 && ack.fails == 12,
		  "if answers are always slow, ACKs are rarely delayed");
}

static void test_failures(void)
{
	struct srnic_delack ack = {};
	unsigned int i, n;

	exchanges(&ack, 100);
	for (n = 2 * RUNS, i = 0; i < 12; i++, n *= 2)
		if (!fail(&ack) || exchanges(&ack, 100000) != n)
			tap_fault("failure %u: not after %u answers", i, n);
	tap_done("each failure doubles the number of answers required");
	tap_check(fail(&ack) && exchanges(&ack, 100000) == n / 2,
		  "it is doubled at most twelve times");

	n /= 2;
	for (i = 1; i < 63 * n; i++) {
		answer(&ack);
		message(&ack);
	}
	tap_check(fail(&ack) && exchanges(&ack, 100000) == n,
		  "63 times the required answers cancel no failure");
	for (i = 0; i < 63 * n; i++) {
		answer(&ack);
		message(&ack);
	}
	tap_check(fail(&ack) && exchanges(&ack, 100000) == n,
		  "64 times the required answers cancel one failure");
}

/* Every Nth message is not answered. */
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
	tap_done("at most eight of a hundred ACKs without an answer are late");
}

/* Both ends wait for a completion before they continue. */
static void test_deadlock(void)
{
	struct srnic_delack ack = {};
	unsigned int i, late = 0;

	for (i = 0; i < 1000000; i++) {
		if (message(&ack))
			late += fail(&ack);
		srnic_delack_answered(&ack);
	}
	tap_check(late <= 50, "if the peer waits for each ACK, at most 50 of a million are late");

	for (i = 0, late = 0; i < 1000000; i++) {
		if (message(&ack)) {
			now += PROMPT / 2;
			late += ask_again(&ack);
		}
		srnic_delack_answered(&ack);
	}
	tap_check(late <= 50, "at most 50 are late if the peer requests them again soon");
}

static void test_urgent(void)
{
	struct srnic_delack ack = {};

	exchanges(&ack, 100);
	srnic_delack_owe_at_once(&ack);
	tap_check(!srnic_delack_waits(&ack, 0, now) && !leaves(&ack),
		  "a delayed ACK is sent with one in the middle of a message");
	srnic_delack_answered(&ack);
	tap_check(message(&ack), "the ACK of the next message is delayed again");
	now += PROMPT + 1;
	srnic_delack_owe_at_once(&ack);
	tap_check(!srnic_delack_waits(&ack, 0, now) && leaves(&ack) && !ack.fails,
		  "an ACK in the middle of a late message is slow, not a failure");
	srnic_delack_answered(&ack);
	message(&ack);
	tap_check(ask_again(&ack), "a duplicate is acknowledged at once, and counts as a failure");
	srnic_delack_owe_again(&ack);
	tap_check(!srnic_delack_waits(&ack, 0, now) && !ack.deadline,
		  "a duplicate is acknowledged at once if no ACK is delayed");
	srnic_delack_done(&ack);
	tap_check(exchanges(&ack, 1000) == 2 * RUNS && !answer(&ack),
		  "after these, twice as many answers are required");
}

static void test_timeout(void)
{
	struct srnic_delack ack = {};

	exchanges(&ack, 100);
	answer(&ack);
	srnic_delack_owe(&ack);
	srnic_delack_waits(&ack, 80 * USEC, now);
	tap_check(ack.deadline == now + 10 * USEC && ack.prompt == ack.deadline,
		  "an ACK is delayed by at most an eighth of the timeout");
	tap_check(srnic_delack_limit(80 * USEC) == 10 * USEC,
		  "the limit of the timer is an eighth of the timeout, too");
	answer(&ack);
	srnic_delack_owe(&ack);
	srnic_delack_waits(&ack, 67000 * USEC, now);
	tap_check(ack.deadline == now + WAIT, "a long timeout does not extend the delay");
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
