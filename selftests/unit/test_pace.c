// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - packets on a long path leave at its pace, in bursts of a millisecond at most
 */
#include <linux/kernel.h>
#include <linux/time64.h>

#include "rand.h"
#include "tap.h"
#include "xport/pace.h"

#define USEC	((u64)NSEC_PER_USEC)
#define MSEC	((u64)NSEC_PER_MSEC)
#define SEC	((u64)NSEC_PER_SEC)
#define LONG	(24 * MSEC)
#define GSO	16		/* packets of 4096 bytes in a GSO chain */

static struct srnic_pace p;
static struct srnic_cwnd cwnd;
static struct srnic_rtt rtt;
static u64 now;

#define must(holds)							\
	do {								\
		if (!(holds))						\
			tap_fault("line %d: %s", __LINE__, #holds);	\
	} while (0)

static void begin(u64 nsec, u32 window, bool startup)
{
	now = SEC;
	srnic_pace_reset(&p);
	rtt = (struct srnic_rtt){ .srtt = nsec, .last = nsec, .min = nsec };
	cwnd = (struct srnic_cwnd){ .window = window, .startup = startup };
}

static bool send(u32 npsn)
{
	if (!srnic_pace_is_open(&p, &rtt) && !srnic_pace_start(&p, &cwnd, &rtt, GSO, now))
		return false;
	srnic_pace_requested(&p, &cwnd, npsn);

	return true;
}

/* As many packets as may leave now, at most 1000 */
static u32 fill(void)
{
	u32 n = 0;

	while (n < 1000 && send(1))
		n++;

	return n;
}

/* Packets that leave within @nsec, if the timer is @late each time */
static u32 stream(u64 nsec, u64 late)
{
	u64 end = now + nsec;
	u32 n = 0;

	while (now < end) {
		n += fill();
		now = p.next + late;
	}
	now = end;

	return n;
}

/* Is @n within a chain of @want? */
static bool is_near(u32 n, u32 want)
{
	return n + GSO >= want && n <= want + GSO;
}

static void test_short(void)
{
	begin(SRNIC_RTT_SHORT_NSEC - 1, SRNIC_CWND_SHORT, true);
	must(fill() == 1000 && !p.next && !p.credit);
	begin(0, SRNIC_CWND_FIRST, true);
	must(fill() == 1000 && !p.next && !p.credit);
	tap_done("on a short path and before the first round trip nothing is paced");
}

static void test_rate(void)
{
	begin(LONG, 640, true);
	must(is_near(stream(LONG / 2, 0), 640));
	must(is_near(stream(10 * LONG, 0), 20 * 640));
	begin(LONG, 640, false);
	must(is_near(stream(LONG, 0), 640 * 6 / 5));
	must(is_near(stream(10 * LONG, 0), 10 * 640 * 6 / 5));
	tap_done("a window leaves in half a round trip at the start, later in five sixths");
}

/* A window of 640 in 24 ms, times 6/5, is 32 packets in a millisecond. */
static void test_burst(void)
{
	begin(LONG, 640, false);
	must(fill() == GSO && p.next == now + GSO * MSEC / 32);
	begin(LONG, 100, false);
	must(fill() == 5 && p.next == now + MSEC);
	begin(LONG, 1, false);
	must(fill() == 2 && p.next == now + 2 * 20 * MSEC);
	begin(MSEC, SRNIC_CWND_MAX, false);
	must(fill() > 1000 - 1 && p.step == 50);
	tap_done("a burst is what leaves in a millisecond, two packets and a GSO chain apart");
}

/* No timer is needed every 10 us. */
static void test_fast(void)
{
	u32 n;

	begin(MSEC * 6 / 5, 2500, false);
	n = fill();
	must(p.step == 400 && n == 50 * USEC / 400 && p.next == now + n * 400);
	tap_done("or 50 us if that is more than a GSO chain");
}

static void test_idle(void)
{
	u32 i;

	begin(LONG, 640, false);
	for (i = 0; i < 10 * GSO; i++) {
		must(send(1));
		if (!p.credit)
			now = p.next;
	}
	now += 10 * SEC;
	must(fill() == GSO && p.next == now + GSO * MSEC / 32);
	tap_done("a flow that was idle begins with one burst");
}

static void test_rest(void)
{
	begin(LONG, 640, false);
	must(send(1) && p.credit == GSO - 1);
	now += 10 * SEC;
	must(fill() == GSO - 1 + GSO);
	must(p.next >= now + GSO * MSEC / 32);
	tap_done("what is left of a burst leaves later, and then the next one");
}

static void test_late(void)
{
	u32 n;

	begin(LONG, 640, false);
	must(is_near(stream(LONG, 300 * USEC), 640 * 6 / 5));
	fill();
	now += 10 * SEC;
	n = fill();
	must(n >= 32 && n <= 32 + GSO);
	begin(MSEC * 6 / 5, 80, false);
	fill();
	now += SEC;
	n = fill();
	must(n >= 12 && n <= 12 + GSO);
	tap_done("a timer that is late costs no rate, but a millisecond is made up for at most");
}

static void test_read(void)
{
	begin(LONG, 640, false);
	must(send(100) && !send(1) && p.next == now + 100 * MSEC / 32);
	now = p.next;
	must(send(1));
	tap_done("a READ request counts as its response");
}

static void test_read_beyond(void)
{
	begin(LONG, 2, false);
	must(send(200) && p.next > now && p.next <= now + LONG);
	tap_done("and takes a round trip if it is more than the window");
}

/* The path has become short, or its window smaller, since the burst began. */
static void test_change(void)
{
	begin(LONG, 80, false);
	fill();
	must(!send(1));
	rtt.min = SRNIC_RTT_SHORT_NSEC / 2;
	must(fill() == 1000);
	rtt.min = LONG;
	cwnd.window = 40;
	now = p.next;
	must(fill() && p.step == 500 * USEC);
	tap_done("each burst has the rate of the window and the path as they are");
}

static bool answer(u64 step)
{
	if (!p.credit && !srnic_pace_answer(&p, step, GSO, now))
		return false;
	srnic_pace_sent(&p, 1);

	return true;
}

/* Responses that leave within @nsec, if the timer is @late each time */
static u32 answers(u64 step, u64 nsec, u64 late)
{
	u64 end = now + nsec;
	u32 n = 0;

	while (now < end) {
		while (answer(step))
			n++;
		now = p.next + late;
	}
	now = end;

	return n;
}

static void test_answers(void)
{
	u32 n;

	srnic_pace_reset(&p);
	now = SEC;
	must(answers(50 * USEC, MSEC / 4, 0) == GSO);
	must(is_near(answers(50 * USEC, 100 * MSEC, 0), 2000));
	must(is_near(answers(50 * USEC, 100 * MSEC, 300 * USEC), 2000));
	srnic_pace_reset(&p);
	n = answers(USEC / 5, 10 * MSEC, 0);
	must(n >= 50000 && n <= 50000 + 250);
	tap_done("responses leave at the pace that the requester wants");
}

/* No pace that a peer asks for makes a response wait for long. */
static void test_answers_bounded(void)
{
	srnic_pace_reset(&p);
	now = SEC;
	must(answer(~0ULL) && answer(~0ULL) && !answer(~0ULL));
	must(p.next == now + 2 * 40 * MSEC);
	srnic_pace_reset(&p);
	must(answer(0) && p.step == 1);
	tap_done("40 ms for each at most, and no division by zero");
}

static struct srnic_pace_told told;

static bool tell(bool srnic)
{
	return srnic_pace_tell(&told, &cwnd, &rtt, srnic, now);
}

static void test_tell(void)
{
	begin(LONG, 640, false);
	told = (struct srnic_pace_told){ };
	must(!srnic_pace_concerns(&told, &rtt, 1) && srnic_pace_concerns(&told, &rtt, 2));
	must(tell(false) && told.pace && !tell(false));
	must(srnic_pace_concerns(&told, &rtt, 1));
	now += LONG - 1;
	must(!tell(true));
	now++;
	must(tell(true) && !tell(true));
	tap_done("the peer is told the pace of responses in each round trip");
}

static void test_tell_change(void)
{
	u8 before;

	begin(LONG, 640, false);
	told = (struct srnic_pace_told){ };
	must(tell(false));
	before = told.pace;
	cwnd.window *= 2;
	must(!tell(false) && told.pace == before);
	must(tell(true) && told.pace < before);
	rtt.min = SRNIC_RTT_SHORT_NSEC - 1;
	must(tell(true) && !told.pace);
	now += 10 * LONG;
	must(!tell(true) && !srnic_pace_concerns(&told, &rtt, 2));
	tap_done("a change at once, if it is known to be srnic; and that it is to come at once");
}

static void random_path(void)
{
	rtt.srtt = 1 + rand64() % (rand32() % 2 ? SEC : MSEC);
	rtt.min = 1 + rand64() % rtt.srtt;
	cwnd.window = 1 + rand32() % (rand32() % 2 ? SRNIC_CWND_MAX : 16);
	cwnd.startup = rand32() % 2;
}

static void test_random(void)
{
	u64 started = 0, was, wait;
	u32 i, n;

	begin(LONG, 640, false);
	for (i = 0; i < 100000; i++) {
		if (rand32() % 8 == 0)
			random_path();
		n = 1 + rand32() % min(cwnd.window, 128U);
		was = p.next;
		if (!p.credit)
			started = now;
		if (send(n)) {
			must(p.next <= max(was, started) + n * p.step);
			continue;
		}
		wait = p.next - now;
		must(wait && p.next == was);
		now += rand32() % 4 ? wait + rand32() % 100000 : rand64() % (2 * wait);
	}
	tap_done("whatever happens, a wait is no longer than what a burst takes");
}

int main(void)
{
	test_short();
	test_rate();
	test_burst();
	test_fast();
	test_idle();
	test_rest();
	test_late();
	test_read();
	test_read_beyond();
	test_change();
	test_answers();
	test_answers_bounded();
	test_tell();
	test_tell_change();
	test_random();

	return tap_end();
}
