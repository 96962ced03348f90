// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - round trips are measured as RFC 6298 has it, and waits follow from them
 */
#include <linux/minmax.h>
#include <linux/time64.h>

#include "rand.h"
#include "tap.h"
#include "wire/psn.h"
#include "xport/rtt.h"

#define USEC	((u64)NSEC_PER_USEC)
#define MSEC	((u64)NSEC_PER_MSEC)
#define SEC	((u64)NSEC_PER_SEC)
#define TIMEOUT	(67 * MSEC)

static struct srnic_rtt r;
static u64 now = SEC;
static u32 psn;

#define must(holds)							\
	do {								\
		if (!(holds))						\
			tap_fault("line %d: %s", __LINE__, #holds);	\
	} while (0)

static void begin(u64 timeout)
{
	r = (struct srnic_rtt){ };
	srnic_rtt_set_timeout(&r, timeout);
	psn = (SRNIC_PSN_MASK - rand32() % 4) & SRNIC_PSN_MASK;
}

/* A packet is sent, and acknowledged after @nsec. */
static void round_trip(u64 nsec)
{
	srnic_rtt_sent(&r, psn, 0, now);
	now += nsec;
	psn = srnic_psn_add(psn, 1);
	srnic_rtt_acked(&r, psn, false, 0, now);
}

/* RFC 6298, 2.2 and 2.3; alpha is 1/8, beta is 1/4 */
static void test_smooth(void)
{
	begin(TIMEOUT);
	round_trip(800 * USEC);
	must(r.srtt == 800 * USEC && r.var == 400 * USEC);
	round_trip(1600 * USEC);
	must(r.var == 300 * USEC + 200 * USEC);
	must(r.srtt == 700 * USEC + 200 * USEC);
	round_trip(900 * USEC);
	must(r.var == 375 * USEC && r.srtt == 900 * USEC);
	tap_done("SRTT and RTTVAR are those of RFC 6298");
}

static void test_youngest(void)
{
	u32 i, first;

	begin(TIMEOUT);
	first = psn;
	for (i = 0; i < SRNIC_RTT_SAMPLES + 1; i++) {
		srnic_rtt_sent(&r, psn, 0, now);
		psn = srnic_psn_add(psn, 1);
		now += MSEC;
	}
	must(r.num_samples == SRNIC_RTT_SAMPLES);
	srnic_rtt_acked(&r, first, false, 0, now);
	must(!r.srtt && r.num_samples == SRNIC_RTT_SAMPLES);
	srnic_rtt_acked(&r, srnic_psn_add(first, 3), false, 0, now);
	must(r.srtt == (SRNIC_RTT_SAMPLES + 1 - 2) * MSEC);
	must(r.num_samples == SRNIC_RTT_SAMPLES - 3);
	must(srnic_rtt_is_sampled(&r, srnic_psn_add(first, 4)));
	must(!srnic_rtt_is_sampled(&r, srnic_psn_add(first, 3)));
	tap_done("of the packets that an ACK covers, the youngest is measured");
}

static void test_apart(void)
{
	u32 first;

	begin(TIMEOUT);
	first = psn;
	srnic_rtt_sent(&r, first, 4, now);
	srnic_rtt_sent(&r, srnic_psn_add(first, 3), 4, now);
	must(r.num_samples == 1);
	srnic_rtt_sent(&r, srnic_psn_add(first, 4), 4, now);
	must(r.num_samples == 2);
	tap_done("packets that are measured are some way apart");
}

/* Karn: which of two packets an answer is for cannot be told. */
static void test_ambiguous(void)
{
	begin(TIMEOUT);
	round_trip(MSEC);
	srnic_rtt_sent(&r, psn, 0, now);
	now += 20 * MSEC;
	psn = srnic_psn_add(psn, 1);
	srnic_rtt_acked(&r, psn, true, now - MSEC, now);
	must(r.last == MSEC && r.min == MSEC && r.backoff == 0);
	srnic_rtt_sent(&r, psn, 0, now);
	srnic_rtt_retransmitted(&r);
	must(!r.num_samples);
	begin(TIMEOUT);
	srnic_rtt_sent(&r, psn, 0, now);
	srnic_rtt_retransmitted(&r);
	must(r.num_samples == 1);	/* or none would ever be known */
	tap_done("answers to retransmissions measure nothing");
}

static void test_min(void)
{
	begin(TIMEOUT);
	round_trip(100 * USEC);
	round_trip(2 * MSEC);
	must(r.min == 100 * USEC && r.last == 2 * MSEC);
	now += 10 * SEC;
	round_trip(2 * MSEC);
	must(r.min == 100 * USEC);
	now += 10 * SEC;
	round_trip(2 * MSEC);
	must(r.min == 2 * MSEC);
	must(srnic_rtt_is_long(&r) && !srnic_rtt_is_queued(&r));
	round_trip(4 * MSEC + 1);
	must(srnic_rtt_is_queued(&r) && srnic_rtt_is_full(&r));
	tap_done("the shortest round trip is that of the last 10 to 20 seconds");
}

static void round_trips(u32 num, u64 nsec)
{
	while (num--)
		round_trip(nsec);
}

static void test_max(void)
{
	begin(TIMEOUT);
	round_trips(7, MSEC);
	must(!r.max && !srnic_rtt_is_longest(&r));
	round_trip(2 * MSEC);
	must(r.max == MSEC);
	/* of less than eight in a row, none counts */
	round_trips(7, 3 * MSEC);
	round_trip(MSEC);
	must(r.max == MSEC && srnic_rtt_is_longest(&r));
	round_trips(8, 3 * MSEC);
	must(r.max == 3 * MSEC && srnic_rtt_is_longest(&r));
	round_trip(3 * MSEC * 15 / 16);
	must(srnic_rtt_is_longest(&r));
	round_trip(3 * MSEC * 15 / 16 - 1);
	must(!srnic_rtt_is_longest(&r));
	now += 10 * SEC;
	round_trips(8, MSEC);
	must(r.max == 3 * MSEC);
	now += 10 * SEC;
	round_trips(8, MSEC);
	must(r.max == MSEC);
	tap_done("the longest that were so in a row are those of the last 10 to 20 seconds");
}

static void test_probes(void)
{
	u64 first;

	begin(TIMEOUT);
	must(srnic_rtt_probe_nsec(&r) == SRNIC_RTT_FIRST_NSEC);
	round_trip(800 * USEC);
	first = srnic_rtt_probe_nsec(&r);
	must(first == 800 * USEC + 4 * 400 * USEC);
	must(srnic_rtt_may_probe(&r, 0));
	srnic_rtt_probed(&r);
	must(srnic_rtt_probe_nsec(&r) == 2 * first);
	srnic_rtt_probed(&r);
	must(srnic_rtt_probe_nsec(&r) == 4 * first);
	srnic_rtt_progress(&r, true);
	must(srnic_rtt_probe_nsec(&r) == 4 * first);
	srnic_rtt_progress(&r, false);
	must(srnic_rtt_probe_nsec(&r) == 2 * first);
	while (srnic_rtt_may_probe(&r, 0))
		srnic_rtt_probed(&r);
	must(srnic_rtt_probe_nsec(&r) >= srnic_rtt_timeout_nsec(&r, 0));
	srnic_rtt_alive(&r);
	must(srnic_rtt_probe_nsec(&r) == first);
	tap_done("probes back off, up to the ACK timeout");
}

/* RFC 6298, 5.5 to 5.7, within limits */
static void test_backoff(void)
{
	u64 longest = 0;
	u32 i;

	begin(TIMEOUT);
	round_trip(MSEC);
	must(srnic_rtt_timeout_nsec(&r, 0) == TIMEOUT);
	srnic_rtt_expired(&r);
	must(srnic_rtt_timeout_nsec(&r, 1) == 2 * TIMEOUT);
	for (i = 0; i < 20; i++) {
		srnic_rtt_expired(&r);
		longest = srnic_rtt_timeout_nsec(&r, i + 2);
	}
	must(longest == 8 * TIMEOUT);
	round_trip(MSEC);
	must(srnic_rtt_timeout_nsec(&r, 0) == TIMEOUT);

	begin(10 * SEC);
	srnic_rtt_expired(&r);
	must(srnic_rtt_timeout_nsec(&r, 1) == 10 * SEC);
	begin(0);
	must(!srnic_rtt_timeout_nsec(&r, 0) && srnic_rtt_may_probe(&r, 0));
	tap_done("ACK timeouts back off, and a timeout of 0 never expires");
}

/* A round trip longer than the ACK timeout, which late answers announce */
static void test_late(void)
{
	begin(TIMEOUT);
	srnic_rtt_sent(&r, psn, 0, now);
	now += 4 * TIMEOUT;
	psn = srnic_psn_add(psn, 1);
	srnic_rtt_acked(&r, psn, true, now - 2 * TIMEOUT, now);
	must(r.wait == 4 * TIMEOUT);
	must(srnic_rtt_timeout_nsec(&r, 0) == 8 * TIMEOUT);
	must(srnic_rtt_timeout_nsec(&r, 2) < 8 * TIMEOUT);
	round_trip(4 * TIMEOUT);
	must(!r.wait && r.min == 4 * TIMEOUT && r.srtt == 4 * TIMEOUT);
	tap_done("late answers lengthen the wait until a round trip is measured");
}

static void test_early(void)
{
	begin(TIMEOUT);
	round_trip(64 * MSEC);
	must(!srnic_rtt_early(&r) && !srnic_rtt_early(&r));
	must(srnic_rtt_early(&r) && srnic_rtt_early(&r));
	srnic_rtt_restart(&r, 10 * USEC);
	must(r.srtt == MSEC && !r.min && !r.last);
	must(!srnic_rtt_early(&r));
	round_trip(50 * USEC);
	must(r.min == 50 * USEC && r.srtt == 50 * USEC);
	tap_done("answers that are early again and again end an old round trip");
}

/* Only packets that continue what has arrived are reported. */
static void test_arrived(void)
{
	u32 first;

	begin(TIMEOUT);
	round_trip(500 * USEC);
	first = psn;
	srnic_rtt_sent(&r, first, 0, now);
	srnic_rtt_sent(&r, srnic_psn_add(first, 4), 0, now + 100 * USEC);
	srnic_rtt_sent(&r, srnic_psn_add(first, 8), 0, now + 200 * USEC);
	now += MSEC;
	/* not the packet that was measured, but some behind it */
	srnic_rtt_arrived(&r, srnic_psn_add(first, 1), srnic_psn_add(first, 4), now);
	must(r.num_samples == 3 && r.last == 500 * USEC);
	/* the youngest of two counts, and none remains before it */
	srnic_rtt_arrived(&r, srnic_psn_add(first, 3), srnic_psn_add(first, 6), now);
	must(r.num_samples == 1 && r.last == 900 * USEC);
	srnic_rtt_arrived(&r, srnic_psn_add(first, 6), srnic_psn_add(first, 8), now);
	must(r.num_samples == 1 && r.last == 900 * USEC);
	srnic_rtt_arrived(&r, srnic_psn_add(first, 8), srnic_psn_add(first, 9), now);
	must(!r.num_samples && r.last == 800 * USEC);
	tap_done("packets that arrive behind a missing one are measured");
}

static void test_random(void)
{
	u64 nsec, least = ~0ULL, most = 0;
	u32 i;

	begin(TIMEOUT);
	for (i = 0; i < 100000; i++) {
		nsec = 1 + rand64() % (rand32() % 4 ? MSEC : 2 * TIMEOUT);
		least = min(least, nsec);
		most = max(most, nsec);
		round_trip(nsec);
		if (r.srtt > most || r.srtt + 8 < least || r.var > most)
			tap_fault("SRTT %llu, RTTVAR %llu", (unsigned long long)r.srtt,
				  (unsigned long long)r.var);
		if (r.min > r.last)
			tap_fault("the shortest is longer than the last");
		if (srnic_rtt_timeout_nsec(&r, 0) < TIMEOUT)
			tap_fault("the ACK timeout is shorter than the user's");
		if (rand32() % 2)
			srnic_rtt_expired(&r);
		if (rand32() % 2 && srnic_rtt_may_probe(&r, 1))
			srnic_rtt_probed(&r);
	}
	tap_done("with any round trips the mean lies between them");
}

int main(void)
{
	test_smooth();
	test_youngest();
	test_apart();
	test_ambiguous();
	test_min();
	test_max();
	test_probes();
	test_backoff();
	test_late();
	test_early();
	test_arrived();
	test_random();

	return tap_end();
}
