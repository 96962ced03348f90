// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - the congestion window grows where it is of use, and is cut for a queue
 */
#include <linux/kernel.h>
#include <linux/time64.h>

#include "rand.h"
#include "tap.h"
#include "wire/psn.h"
#include "xport/cwnd.h"

#define USEC	((u64)NSEC_PER_USEC)
#define MSEC	((u64)NSEC_PER_MSEC)
#define SEC	((u64)NSEC_PER_SEC)
#define SHORT	(50 * USEC)
#define LONG	(20 * MSEC)

static struct srnic_cwnd c;
static struct srnic_rtt rtt;
static u64 now = SEC;
static u32 una;			/* nothing is in flight before a round trip */

#define must(holds)							\
	do {								\
		if (!(holds))						\
			tap_fault("line %d: %s", __LINE__, #holds);	\
	} while (0)

static void measure(u64 nsec)
{
	srnic_rtt_sent(&rtt, una, 0, now);
	now += nsec;
	srnic_rtt_acked(&rtt, srnic_psn_add(una, 1), false, 0, now);
}

static void begin(u64 nsec)
{
	rtt = (struct srnic_rtt){ };
	c = (struct srnic_cwnd){ };
	una = (SRNIC_PSN_MASK - rand32() % 1000) & SRNIC_PSN_MASK;
	srnic_cwnd_start(&c);
	srnic_cwnd_skip(&c, una);
	if (nsec)
		measure(nsec);
}

/* @npsn packets are sent and acknowledged one by one; the window is full if it @is. */
static void send(u32 npsn, bool is)
{
	u32 high = srnic_psn_add(una, npsn);

	if (is)
		srnic_cwnd_full(&c, high);
	while (npsn--) {
		srnic_cwnd_acked(&c, srnic_psn_add(una, 1), high, 1);
		srnic_cwnd_grow(&c, &rtt, una, 1);
		una = srnic_psn_add(una, 1);
		srnic_cwnd_advance(&c, una);
		if (is)
			srnic_cwnd_full(&c, srnic_psn_add(una, c.window));
	}
}

/* As many packets as the window holds, in a round trip of that length */
static void round_trip(u64 nsec)
{
	measure(nsec);
	send(c.window, true);
}

/* A window in use, on a path whose round trips take @nsec */
static void open_to(u64 nsec, u32 window)
{
	begin(nsec);
	while (c.window < window)
		round_trip(nsec);
}

/* The oldest of @out packets is missing, @run in a row. */
static void lose(u32 out, u32 run)
{
	struct srnic_cwnd_loss loss = {
		.una = una, .high = srnic_psn_add(una, out), .out = out, .run = run,
	};

	srnic_cwnd_found_hole(&c, &rtt, &loss);
}

/* @npsn packets in a row are lost, of @out from the oldest one in flight on. */
static void lose_row(u32 out, u32 npsn)
{
	struct srnic_cwnd_loss loss = {
		.una = una, .high = srnic_psn_add(una, out), .out = out, .run = npsn,
		.lost = npsn, .single = true,
	};

	srnic_cwnd_found_hole(&c, &rtt, &loss);
}

/* Likewise, with packets in between that arrive */
static void lose_rows(u32 out, u32 npsn)
{
	u32 i;

	for (i = 0; i < 4; i++)
		lose_row(out, npsn / 4);
}

static void test_start(void)
{
	begin(SHORT);
	must(c.window == SRNIC_CWND_FIRST && srnic_cwnd_limit(&c) == SRNIC_CWND_FIRST);
	round_trip(SHORT);
	must(c.window == 2 * SRNIC_CWND_FIRST);
	round_trip(SHORT);
	must(c.window == 4 * SRNIC_CWND_FIRST);
	while (c.window < SRNIC_CWND_SHORT)
		round_trip(SHORT);
	round_trip(SHORT);
	must(c.window == SRNIC_CWND_SHORT);
	tap_done("it doubles per round trip, on a short path up to 128");
}

static void test_long(void)
{
	u32 was;

	open_to(LONG, 1024);
	was = c.window;
	round_trip(LONG);
	must(c.window == 2 * was);
	while (c.window < SRNIC_CWND_MAX)
		round_trip(LONG);
	round_trip(LONG);
	must(c.window == SRNIC_CWND_MAX);
	tap_done("on a long path up to its limit");
}

static void test_idle(void)
{
	begin(LONG);
	send(SRNIC_CWND_FIRST, false);
	must(c.window == SRNIC_CWND_FIRST);
	begin(0);
	send(SRNIC_CWND_FIRST, true);
	must(c.window == SRNIC_CWND_FIRST);
	begin(LONG);
	srnic_rtt_probed(&rtt);
	send(SRNIC_CWND_FIRST, true);
	must(c.window == SRNIC_CWND_FIRST);
	tap_done("it does not grow unless it was full and the round trip is known");
}

static void test_queue(void)
{
	u32 was;

	open_to(LONG, 1024);
	was = c.window;
	round_trip(2 * LONG);
	must(c.window == was + 1);
	round_trip(4 * LONG);
	must(c.window == was + 1);
	tap_done("by one packet where there is a queue, and then not at all");
}

/* Rounds in which the window does not grow, up to @most */
static u32 rounds_without(u64 nsec, u32 most)
{
	u32 was = c.window, n = 0;

	while (n < most && c.window == was) {
		round_trip(nsec);
		n++;
	}
	return n;
}

/* Round trips of a path that holds @fits packets */
static u64 filled(u64 nsec, u32 fits)
{
	return nsec * max(c.window, fits) / fits;
}

/* Runs until no trial of @from packets is in progress.  Return: the largest window */
static u32 run_trial(u32 from, u64 nsec, u32 fits)
{
	u32 most = 0, i;

	for (i = 0; i < 300 && c.from != from; i++)
		round_trip(filled(nsec, fits));
	must(c.from == from);
	for (i = 0; i < 5 && c.from == from; i++) {
		round_trip(filled(nsec, fits));
		most = max(most, c.window);
	}
	must(c.from != from && i >= 3);	/* not judged before the growth can have shown */

	return most;
}

static void test_trial(void)
{
	u32 i, from = SRNIC_CWND_SHORT;

	open_to(SHORT, from);
	run_trial(from, SHORT, SRNIC_CWND_MAX);
	must(c.from > from * 6 / 5 && c.from <= from * 5 / 4);
	from = c.from;
	run_trial(from, SHORT, SRNIC_CWND_MAX);
	must(c.from > from * 7 / 5 && c.from <= from * 3 / 2);
	for (i = 0; i < 60; i++)
		round_trip(SHORT);
	must(c.window == SRNIC_CWND_MAX);
	tap_done("on a short path it grows by trials, of a quarter and then of a half");
}

static void test_trial_fails(void)
{
	u32 pause, most, i;

	open_to(SHORT, SRNIC_CWND_SHORT);
	for (i = 0; i < 6; i++) {
		pause = min(8U << i, 128U);
		most = run_trial(SRNIC_CWND_SHORT, SHORT, SRNIC_CWND_SHORT);
		must(most > SRNIC_CWND_SHORT * 6 / 5 && most <= SRNIC_CWND_SHORT * 5 / 4);
		must(c.window == SRNIC_CWND_SHORT && !c.from);
		must(c.rounds == pause || c.rounds == pause - 1);
	}
	tap_done("growth into a queue is taken back, and tried less often");
}

static void test_trial_ends(void)
{
	open_to(SHORT, SRNIC_CWND_SHORT);
	rounds_without(SHORT, 10);
	must(c.from);
	lose(c.window, SRNIC_CWND_QUEUE_RUN);
	must(!c.from && c.rounds == 8);
	tap_done("a loss ends a trial");
}

static void test_no_trial(void)
{
	open_to(SHORT, SRNIC_CWND_SHORT);
	must(rounds_without(7 * SHORT, 200) == 200);
	must(rounds_without(5 * SHORT, 200) < 20);
	tap_done("nothing is tried in a queue of many times the round trip");
}

/* A queue drops of @out packets; all of them are acknowledged in the end. */
static void overflow(u32 out)
{
	lose(out, SRNIC_CWND_QUEUE_RUN);
	una = c.cut;
	srnic_cwnd_advance(&c, una);
}

/* A window that has been cut, on a long path whose round trips are those of its queue */
static void queued_to(u32 window)
{
	u32 i;

	open_to(LONG, window);
	overflow(window);
	for (i = 0; i < 40; i++)
		round_trip(2 * LONG);
	c.probing = false;
}

static void test_jump(void)
{
	u32 i, was;

	queued_to(1024);
	was = c.window;
	for (i = 0; i < 40; i++)
		round_trip(2 * LONG + LONG / 2);
	must(c.window <= was + 40);
	was = c.window;
	for (i = 0; i < 8; i++)
		round_trip(6 * LONG);
	must(c.window >= was * 5 / 4 * 3 / 2);
	tap_done("on a long path it is tried when round trips become longer by half");
}

/* The same with a small window, which has been cut, but not if it may be a share of a queue */
static void test_jump_small(void)
{
	u32 i, was;

	queued_to(SRNIC_CWND_SHORT);
	overflow(c.window);
	was = c.window;
	must(was > 64 && was < SRNIC_CWND_SHORT);
	for (i = 0; i < 12; i++)
		round_trip(6 * LONG);
	must(c.window >= was * 5 / 4 * 3 / 2);
	begin(LONG);
	c.startup = false;
	c.window = 40;
	for (i = 0; i < 60 && c.window < 60; i++) {
		round_trip(6 * LONG);
		must(!c.from);
	}
	tap_done("so it is if the window is small, unless it is smaller than 64");
}

/* The trial has filled the path: another one would only fill its queue. */
static void test_jump_fills(void)
{
	u32 i, from;

	queued_to(1024);
	for (i = 0; i < 40 && !c.from; i++)
		round_trip(6 * LONG);
	from = c.from;
	must(from);
	for (i = 0; i < 5 && c.from == from; i++)
		round_trip(filled(6 * LONG, from * 17 / 12));
	must(!c.from && c.rounds >= 7 && c.window >= from * 17 / 12);
	tap_done("a trial that has filled a long path is of use, but not followed by the next");
}

/* What a longer round trip loses, as a queue fits it no longer, does not hide it. */
static void test_jump_and_cut(void)
{
	u32 i, was;

	queued_to(1024);
	overflow(c.window / 4);
	for (i = 0; i < 40; i++)
		round_trip(2 * LONG);
	must(c.window < c.top && !c.probing);
	overflow(c.window);
	c.least = 0;	/* no round trip of before is left */
	was = c.window;
	for (i = 0; i < 40; i++)
		round_trip(6 * LONG);
	must(c.window >= was * 5 / 4 * 3 / 2);
	tap_done("and also if packets are lost at that time, but not because they are");
}

/* After a cut the window grows fast to where packets were dropped, and past it, but not there. */
static u32 rounds_at_top(bool chance)
{
	u32 n, top;

	open_to(LONG, 1024);
	top = c.window;
	overflow(top);
	must(c.window == top * 7 / 10);
	if (chance)
		lose(c.window, 1);
	for (n = 0; 8 * c.window < 7 * top; n++)
		round_trip(LONG);
	must(n <= 5);
	for (n = 0; 8 * c.window <= 9 * top; n++)
		round_trip(LONG);
	top = c.window;
	round_trip(LONG);
	must(c.window >= top + top / 16);

	return n;
}

static void test_plateau(void)
{
	u32 n = rounds_at_top(false);

	must(n > 40 && n < 80);
	must(rounds_at_top(true) < 6);
	tap_done("it grows little where packets were dropped, unless others are lost below");
}

/* One round trip in a round is short by chance. */
static void jitter_round(void)
{
	measure(LONG + LONG / 2);
	send(1, true);
	round_trip(2 * LONG);
}

static void test_jitter(void)
{
	u32 i, was;

	begin(LONG);
	c.startup = false;
	c.window = SRNIC_CWND_SHORT;
	for (i = 0; i < 20 && !c.from; i++)
		jitter_round();
	must(c.from && c.base < 2 * LONG);
	was = c.from;
	for (i = 0; i < 3; i++)
		round_trip(2 * LONG);
	must(c.probing && c.window >= was * 5 / 4);
	tap_done("a trial with jitter is judged by the mean round trip");
}

/* As round_trip(), measured several times */
static void measured_round(u64 nsec)
{
	u32 part = c.window / 8, i;

	for (i = 0; i < 8; i++) {
		measure(nsec);
		send(part, true);
	}
}

/* The shortest round trip of all is one by chance: those of later rounds tell the queue. */
static void test_jitter_start(void)
{
	u32 i, was;

	begin(LONG);
	while (c.window < SRNIC_CWND_SHORT)
		measured_round(LONG + LONG / 2);
	was = c.window;
	for (i = 0; i < 6; i++)
		measured_round(LONG + LONG / 2);
	must(c.window > 4 * was && c.startup);
	was = c.window;
	for (i = 0; i < 6; i++)
		measured_round(filled(LONG + LONG / 2, was));
	must(c.window < was * 3 / 2 + 8);
	tap_done("with jitter a start goes on while round trips are those of the last round");
}

/* The start ends in a queue of others: three times the shortest round trip, or the timeout */
static void test_jitter_limits(void)
{
	u32 i, was;

	begin(LONG);
	for (i = 0; i < 20; i++)
		measured_round(7 * LONG / 2);
	must(c.window <= SRNIC_CWND_FIRST + 20);
	begin(LONG);
	srnic_rtt_set_timeout(&rtt, LONG + LONG / 4);
	for (i = 0; i < 10; i++)
		measured_round(LONG + LONG / 2);
	was = c.window;
	for (i = 0; i < 10; i++)
		measured_round(LONG + LONG / 2);
	must(was < SRNIC_CWND_SHORT && c.window <= was + 10);
	tap_done("but not with three times the shortest, or longer than the ACK timeout");
}

/* On a long path, where all growth was of use up to the window at which packets were dropped */
static void test_below_top(void)
{
	u32 i, top, from;

	queued_to(1024);
	overflow(c.window);
	top = c.top;
	for (i = 0; i < 100; i++) {
		from = c.from;
		round_trip(2 * LONG);
		must(c.window < top && !c.probing);
		must(!from || c.window <= from * 9 / 8 + 4);
		must(!from || c.from || c.rounds >= 7);
	}
	must(c.window > top * 5 / 6);
	tap_done("after a cut it is tried up to where packets were dropped, and not past it");
}

/* What is lost after a trial was sent by the larger window. */
static void test_trial_loses(void)
{
	u32 from, i;

	queued_to(1024);
	overflow(c.window);
	for (i = 0; i < 40 && !c.from; i++)
		round_trip(2 * LONG);
	from = c.from;
	must(from);
	for (i = 0; i < 5 && c.from; i++)
		round_trip(filled(2 * LONG, from));
	must(!c.from && c.window <= from + 1);
	lose(from * 9 / 8, SRNIC_CWND_QUEUE_RUN);
	lose_row(from * 9 / 8, from);
	must(c.window >= from);
	tap_done("a trial that is of no use is taken back once, also if packets of it are lost");
}

/* Round trips that go on growing after the window are those of a queue, not of the path. */
static void test_settle(void)
{
	u32 i, was;

	open_to(LONG, 1024);
	round_trip(LONG + LONG / 4);
	for (i = 0; i < 100; i++)
		round_trip(2 * LONG);
	must(!c.probing && !c.from);
	was = c.window;
	for (i = 0; i < 100; i++)
		round_trip(2 * LONG);
	must(c.window == was + 100);
	tap_done("nothing is tried when the start has ended in a queue");
}

static void test_slow(void)
{
	u32 i, was;

	begin(SHORT);
	c.startup = false;
	was = c.window;
	for (i = 0; i < 8; i++)
		round_trip(16 * SHORT);
	must(c.window == was + 1);
	tap_done("the longer the queue is, the slower a small window grows");
}

static void test_chance(void)
{
	u32 was, i;

	open_to(LONG, 1024);
	was = c.window;
	for (i = 0; i < was / SRNIC_CWND_QUEUE_PART; i++)
		lose(was, 1);
	must(c.window == was);
	lose(was, 1);
	must(c.window == was * 7 / 10 && !c.startup);
	/* Three of a small window on a path that no others fill */
	open_to(LONG, 32);
	was = c.window;
	for (i = 0; i < 3; i++)
		lose(was, 1);
	must(c.window == was && c.startup);
	lose(was, 1);
	must(c.window == was * 7 / 10 && !c.startup);
	tap_done("a sixteenth of a round trip's packets is lost by chance, more is not");
}

/* As many losses as the window takes after it was cut and has grown back */
static u32 losses_at_top(u64 nsec, u32 window)
{
	u32 top, was, n;

	open_to(nsec, window);
	top = c.window;
	overflow(top);
	while (8 * c.window < 7 * top)
		round_trip(nsec);
	was = c.window;
	for (n = 0; c.window == was; n++)
		lose(was, 1);
	must(c.window == was * 7 / 10);

	return n - 1;
}

static void test_top_loses(void)
{
	u32 n = losses_at_top(LONG, 1024);

	must(n >= 1024 * 7 / 8 / 32 && n <= 1024 / 32);
	must(losses_at_top(LONG, 64) == 3);
	must(losses_at_top(MSEC, 56) == 2);
	tap_done("half of that where packets were dropped before, but two packets at least");
}

/* Two or three packets of a small window: it is cut, and the start goes on. */
static void test_few(void)
{
	u32 was, i;

	open_to(MSEC, 32);
	was = c.window;
	for (i = 0; i < 3; i++)
		lose(was, 1);
	must(c.window == was * 7 / 10 && c.startup);
	send(was, true);	/* the flight that has lost them */
	was = c.window;
	round_trip(MSEC);
	must(c.window == 2 * was);
	/* but not if more are missing */
	open_to(MSEC, 32);
	for (i = 0; i < 4; i++)
		lose(c.window, 1);
	must(!c.startup);
	/* nor with a queue, nor on a short path */
	open_to(LONG, 32);
	for (i = 0; i < 3; i++)
		round_trip(LONG + LONG / 2);
	measure(LONG + LONG / 2);
	was = c.window;
	lose(was, 1);
	must(c.window < was && !c.startup);
	open_to(SHORT, 32);
	for (i = 0; i < 3; i++)
		lose(c.window, 1);
	must(!c.startup);
	tap_done("a few packets of a small window do not end the start");
}

/* With jitter some round trips are long without a queue: then others of the round are short. */
static void test_jitter_loses(void)
{
	u32 was;

	open_to(LONG, 1024);
	measure(LONG);
	send(2, true);
	was = c.window;
	measure(LONG + LONG / 2);
	must(srnic_rtt_is_queued(&rtt));
	lose(was, 1);
	must(c.window == was);
	round_trip(LONG + LONG / 2);
	round_trip(LONG + LONG / 2);
	measure(LONG + LONG / 2);
	was = c.window;
	lose(was, 1);
	must(c.window < was);
	tap_done("a loss with a long round trip is one of a queue if the others are long as well");
}

static void test_run(void)
{
	u32 was;

	open_to(LONG, 1024);
	was = c.window;
	lose(was * 9 / 10, SRNIC_CWND_QUEUE_RUN);
	must(c.window == was * 9 / 10 * 7 / 10);	/* the start has overshot */
	was = c.window;
	must(srnic_cwnd_is_cut(&c, una));
	lose(was, SRNIC_CWND_QUEUE_RUN);
	must(c.window == was);		/* the same flight of packets */
	una = c.cut;
	srnic_cwnd_advance(&c, una);
	must(!srnic_cwnd_is_cut(&c, una));
	lose(was / 8, SRNIC_CWND_QUEUE_RUN);
	must(c.window == was * 7 / 10);	/* although most of them have arrived meanwhile */
	open_to(SHORT, SRNIC_CWND_SHORT);
	was = c.window;
	lose(was / 8, SRNIC_CWND_QUEUE_RUN);
	must(c.window == was / 2);
	tap_done("four in a row are a queue's, and cut it once, to half at most");
}

/* Like a policer whose bucket is empty */
static void test_policed(void)
{
	u32 was;

	open_to(LONG, 1024);
	was = c.window;
	lose_rows(was, was / 4);
	must(c.window == was * 7 / 10 && c.top == was);
	lose_rows(was, was / 2);
	must(c.window == was / 4 && c.top == was / 4 && !c.lossy);
	c.window++;
	lose(was, SRNIC_CWND_QUEUE_RUN);	/* retransmissions, of packets that count already */
	must(c.window == was / 4 + 1);
	lose_rows(was, was * 3 / 16);
	must(c.window == was / 16 && c.lossy);
	lose_row(was, was);
	must(c.window == 1);
	/* More than a window was in flight. */
	open_to(LONG, 1024);
	was = c.window;
	lose_rows(2 * was, was);
	must(c.window == was * 7 / 10);
	lose_rows(2 * was, was / 2);
	must(c.window == was / 2);
	/* One of the packets that seemed lost has arrived: others may have. */
	srnic_cwnd_undo(&c);
	lose_rows(2 * was, was / 2);
	must(c.window == was / 2);
	/* Less than a window still was. */
	open_to(LONG, 1024);
	was = c.window;
	lose_row(8, 8);
	must(c.window == was / 2);
	tap_done("it becomes what gets through of a flight of which little does");
}

static void test_outage(void)
{
	u32 was;

	open_to(LONG, 1024);
	was = c.window;
	lose_row(was, was / 2);
	lose_row(was, was / 4);
	must(c.window == was * 7 / 10 && c.top == was);
	tap_done("a few holes, however large, cut it no further");
}

/* A window of 8 at a full queue, which makes round trips of @nsec, and was empty for none */
static void begin_share(u64 nsec)
{
	begin(nsec);
	round_trip(nsec);
	lose_row(16, 4);
	lose_row(16, 4);
	send(16, true);
	while (rtt.max != nsec)
		measure(nsec);
	must(c.window == 8 && c.lossy && !c.startup && !c.crowded);
}

/* Round trips until the window grows */
static u32 until_growth(u64 nsec)
{
	u32 was = c.window, n;

	for (n = 0; c.window == was && n < 1000; n++)
		round_trip(nsec);

	return n;
}

static void test_share(void)
{
	u64 nsec = 800 * USEC;

	begin_share(nsec);
	must(until_growth(nsec) < 16);
	lose_row(9, 1);
	must(c.window == 9 * 7 / 10 && c.crowded);
	send(9, true);
	must(until_growth(nsec) >= 63);
	/* Others have gone. */
	must(until_growth(nsec / 2) == 1);
	lose_row(8, 1);
	must(c.window == 8);
	/* A peer that keeps nothing does not tell how many are lost. */
	begin_share(nsec);
	lose(8, 1);
	must(c.window == 8 && until_growth(nsec) < 16);
	/* So long a round trip is that of a path. */
	begin_share(2 * MSEC);
	lose_row(8, 1);
	must(c.window == 8);
	tap_done("a share of a full queue is cut for each loss, and grows slowly");
}

/* A window that has been cut as a share of a full queue */
static void begin_crowded(u64 nsec)
{
	begin_share(nsec);
	lose_row(8, 1);
	send(8, true);
	must(c.crowded);
}

/* The window grows by @npsn packets, one by one.  Return: round trips of the last growth */
static u32 grow_by(u64 nsec, u32 npsn)
{
	u32 n = 0;

	while (npsn--)
		n = until_growth(nsec);

	return n;
}

/* The window grows, and the packet that is added is lost, or the one before. */
static void lose_added(u64 nsec, u32 before)
{
	until_growth(nsec);
	send(srnic_psn_diff(c.added, una) - before, true);
	lose_row(c.window, 1);
	send(c.window + 1, true);
}

static void test_room(void)
{
	u64 nsec = 800 * USEC;

	begin_crowded(nsec);
	must(grow_by(nsec, 4) >= 63);
	must(grow_by(nsec, 1) <= 33 && grow_by(nsec, 1) >= 31);
	grow_by(nsec, 15);
	must(grow_by(nsec, 3) == 1);
	/* Lost by chance */
	lose_added(nsec, 1);
	must(grow_by(nsec, 2) == 1);
	/* Others come. */
	while (c.ease)
		lose_added(nsec, 0);
	must(grow_by(nsec, 2) >= 63);
	tap_done("but faster if the packets by which it grows get through");
}

static void test_no_room(void)
{
	u64 nsec = 800 * USEC;
	u32 i;

	begin_crowded(nsec);
	for (i = 0; i < 16; i++)
		measure(nsec * 9 / 8);
	must(grow_by(nsec * 9 / 8, 8) >= 63);
	tap_done("not where round trips tell that there is a queue");
}

static void test_forgiven(void)
{
	u32 was;

	open_to(LONG, 1024);
	was = c.window;
	srnic_cwnd_forgive(&c, srnic_psn_add(una, was));
	lose(was, SRNIC_CWND_QUEUE_RUN);
	lose_row(was, was);
	must(c.window == was);
	tap_done("what no queue dropped does not cut it");
}

static void test_floor(void)
{
	u32 i;

	open_to(SHORT, SRNIC_CWND_SHORT);
	for (i = 0; i < 100; i++) {
		lose(1, SRNIC_CWND_QUEUE_RUN);
		una = c.cut;
	}
	must(c.window == 1 && srnic_cwnd_limit(&c) == 1 && c.lossy);
	tap_done("it is never 0");
}

/* All ticks, until there is nothing to release; a round trip has eight */
static u32 run_ticks(void)
{
	u32 ticks = 0;

	while (c.tick && ticks < 100) {
		must(c.tick == now + LONG / 8);
		now = c.tick;
		srnic_cwnd_release_tick(&c, &rtt, true, now);
		ticks++;
	}
	return ticks;
}

static void test_extra(void)
{
	u32 window;

	open_to(LONG, 1024);
	window = c.window;
	srnic_cwnd_start_ticks(&c, &rtt, true, now);
	must(run_ticks() == 8 && srnic_cwnd_limit(&c) == 2 * window);
	srnic_cwnd_acked(&c, srnic_psn_add(una, 10), srnic_psn_add(una, 2 * window), 10);
	must(srnic_cwnd_limit(&c) == 2 * window - 10);
	srnic_cwnd_stop_ticks(&c);
	must(srnic_cwnd_limit(&c) == window && !c.tick);
	tap_done("during a repair one more window is let out by time");
}

static void random_step(void)
{
	switch (rand32() % 8) {
	case 0:
		lose(1 + rand32() % SRNIC_CWND_MAX, rand32() % 8);
		break;
	case 1:
		srnic_cwnd_start_ticks(&c, &rtt, rand32() % 2, now);
		break;
	case 2:
		srnic_cwnd_release_tick(&c, &rtt, rand32() % 2, now);
		break;
	case 3:
		srnic_cwnd_undo(&c);
		break;
	case 4:
		srnic_cwnd_skip(&c, una);
		break;
	case 5:
		lose_row(1 + rand32() % SRNIC_CWND_MAX, rand32() % SRNIC_CWND_MAX);
		break;
	default:
		round_trip(1 + rand64() % (rand32() % 2 ? LONG : SHORT));
	}
}

static void test_random(void)
{
	u32 i;

	begin(LONG);
	for (i = 0; i < 20000; i++) {
		random_step();
		if (!c.window || c.window > SRNIC_CWND_MAX ||
		    !srnic_cwnd_limit(&c) || srnic_cwnd_limit(&c) > SRNIC_CWND_MAX)
			tap_fault("step %u: window %u, limit %u", i, c.window,
				  srnic_cwnd_limit(&c));
	}
	tap_done("whatever happens, it lets between 1 and 16384 PSNs out");
}

int main(void)
{
	test_start();
	test_long();
	test_idle();
	test_queue();
	test_trial();
	test_trial_fails();
	test_trial_ends();
	test_no_trial();
	test_jump();
	test_jump_small();
	test_jump_fills();
	test_jump_and_cut();
	test_plateau();
	test_jitter();
	test_jitter_start();
	test_jitter_limits();
	test_below_top();
	test_trial_loses();
	test_settle();
	test_slow();
	test_chance();
	test_top_loses();
	test_few();
	test_jitter_loses();
	test_run();
	test_policed();
	test_outage();
	test_share();
	test_room();
	test_no_room();
	test_forgiven();
	test_floor();
	test_extra();
	test_random();

	return tap_end();
}
