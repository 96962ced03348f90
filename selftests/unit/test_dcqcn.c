// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - the rate follows the DCQCN paper
 *
 * The model uses floating point and clocks that tick every microsecond, as in
 * figure 7 and equations 1 to 4 of the paper.  The code under test uses
 * integers and reads the clock only occasionally.
 */

#include <math.h>

#include "rand.h"
#include "tap.h"
#include "xport/dcqcn.h"

#define USEC		1000ULL
#define MBIT		125000.0

struct model {
	double		rate;
	double		target;
	double		alpha;
	unsigned int	alpha_us;	/* since alpha changed */
	unsigned int	timer_us;	/* since the rate timer fired */
	double		bytes;
	int		t;
	int		bc;
};

static void model_increase(struct model *m)
{
	int f = 5;

	if (m->t > f && m->bc > f)
		m->target += ((m->t < m->bc ? m->t : m->bc) - f) * 50 * MBIT;
	else if (m->t >= f || m->bc >= f)
		m->target += 5 * MBIT;
	m->target = fmin(m->target, 100000 * MBIT);
	m->rate = (m->target + m->rate) / 2;
}

static void model_usec(struct model *m)
{
	if (++m->alpha_us == 55) {
		m->alpha *= 1 - 1.0 / 256;
		m->alpha_us = 0;
	}
	if (++m->timer_us == 300) {
		m->timer_us = 0;
		m->t++;
		model_increase(m);
	}
}

static void model_bytes(struct model *m, double bytes)
{
	for (m->bytes += bytes; m->bytes >= 10e6; m->bytes -= 10e6) {
		m->bc++;
		model_increase(m);
	}
}

static void model_cnp(struct model *m)
{
	m->target = m->rate;
	m->rate = fmax(m->rate * (1 - m->alpha / 2), 1 * MBIT);
	m->alpha = (1 - 1.0 / 256) * m->alpha + 1.0 / 256;
	m->alpha_us = 0;
	m->timer_us = 0;
	m->bytes = 0;
	m->t = 0;
	m->bc = 0;
}

static bool near(double is, double want, double part)
{
	return fabs(is - want) <= want * part + 1;
}

static void test_steps(void)
{
	static const u64 rates[] = {
		750000000, 875000000, 937500000, 968750000, /* fast recovery */
	};
	struct srnic_dcqcn cc;
	u64 now = 77;
	unsigned int i;

	srnic_dcqcn_start(&cc, 1000000000, now);
	tap_check(srnic_dcqcn_cut(&cc, now, 0) && cc.rate == 500000000 &&
		  cc.target == 1000000000, "the first cut is by half");
	tap_check(!srnic_dcqcn_cut(&cc, now + 49 * USEC, 0) &&
		  cc.rate == 500000000, "there is one cut in 50 us");
	tap_check(!srnic_dcqcn_cut(&cc, now + 900 * USEC, 1000 * USEC),
		  "there is one cut per round trip");

	for (i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
		now += 300 * USEC;
		srnic_dcqcn_advance(&cc, now - 1, 0);
		if (i && cc.rate != rates[i - 1])
			tap_fault("step %u came early", i);
		srnic_dcqcn_advance(&cc, now, 0);
		if (cc.rate != rates[i] || cc.target != 1000000000)
			tap_fault("step %u gave %llu", i,
				  (unsigned long long)cc.rate);
	}
	tap_done("four steps of fast recovery, each halves the distance");

	srnic_dcqcn_advance(&cc, now + 300 * USEC, 0);
	tap_check(cc.target == 1000625000, "the fifth step adds 5 Mbit/s");
	cc.bytes = 60000000;
	srnic_dcqcn_advance(&cc, now + 600 * USEC, 0);
	tap_check(cc.ticks == 6 && cc.rounds == 6 &&
		  cc.target == 1000000000 + 7 * 625000 + 6250000,
		  "hyper increase needs both time and bytes");
}

static void trajectory(void)
{
	struct model m = { .rate = 1e6 + rand32() % 3000000000U, .alpha = 1 };
	u64 now = 1 + rand32();
	struct srnic_dcqcn cc;
	int since_cut = 1000;
	int i, us;

	m.target = m.rate;
	srnic_dcqcn_start(&cc, m.rate, now);
	for (i = 0; i < 300; i++) {
		int step = 1 + rand32() % 400;
		u32 bytes = rand32() % 2000000;
		bool cnp = rand32() % 16 == 0;
		bool due;

		for (us = 0; us < step; us++)
			model_usec(&m);
		since_cut += step;
		now += step * USEC;
		model_bytes(&m, bytes);
		cc.bytes += bytes;
		srnic_dcqcn_advance(&cc, now, 0);
		due = since_cut >= 50;
		if (cnp && srnic_dcqcn_cut(&cc, now, 0) != due)
			tap_fault("a cut after %d us", since_cut);
		if (cnp && due) {
			model_cnp(&m);
			since_cut = 0;
		}
		if (!near(cc.rate, m.rate, 0.02) ||
		    !near(cc.target, m.target, 0.02) ||
		    fabs(cc.alpha / 65536.0 - m.alpha) > 0.005)
			tap_fault("step %d: %llu %llu %u, not %.0f %.0f %.0f",
				  i, (unsigned long long)cc.rate,
				  (unsigned long long)cc.target, cc.alpha,
				  m.rate, m.target, m.alpha * 65536);
	}
}

static void test_trajectories(void)
{
	int i;

	for (i = 0; i < 200; i++)
		trajectory();
	tap_done("200 trajectories match the model");
}

static void test_bounds(void)
{
	struct srnic_dcqcn cc;
	u64 now = 5;
	int i;

	srnic_dcqcn_start(&cc, ~0ULL, now);
	for (i = 0; i < 100000; i++, now += 50 * USEC)
		srnic_dcqcn_cut(&cc, now, 0);
	tap_check(cc.rate == 125000, "a flood of notifications leaves 1 Mbit/s");
	tap_check(cc.alpha <= SRNIC_DCQCN_ONE,
		  "a flood of notifications does not raise alpha above 1");

	for (i = 0; srnic_dcqcn_advance(&cc, now, 0) && i < 1000000; i++) {
		now += 100 * USEC;
		cc.bytes += cc.rate / 10000;
	}
	tap_check(i < 1000000, "with continued sending the rate limit ends");

	srnic_dcqcn_start(&cc, 1000000, now);
	srnic_dcqcn_cut(&cc, now, 0);
	tap_check(!srnic_dcqcn_advance(&cc, now + 1000000 * USEC, 0),
		  "the rate limit also ends after a second without sending");
	srnic_dcqcn_start(&cc, 1000000, now);
	srnic_dcqcn_cut(&cc, now, ~0ULL);
	tap_check(srnic_dcqcn_advance(&cc, now + 1000000 * USEC, ~0ULL) &&
		  srnic_dcqcn_cut(&cc, now + 1000000 * USEC, ~0ULL),
		  "the round trip used is limited");
}

/* Bursts at 10 MB/s and at the two ends; the rate is what they make together. */
static void test_bursts(void)
{
	struct srnic_dcqcn cc = { .rate = 10000000 };
	u64 bytes = 0, next = 0, now;
	u32 burst;

	for (now = 0; now < 1000000 * USEC; now = next) {
		burst = srnic_dcqcn_burst(&cc, 4096, &next, now);
		bytes += burst;
	}
	tap_check(burst == 10000 && bytes == 10000000, "a burst is what a millisecond allows");

	now = next + 300 * USEC;
	srnic_dcqcn_burst(&cc, 4096, &next, now);
	tap_check(next == now + 700 * USEC, "a delay is made up for");
	now = next + 5000 * USEC;
	srnic_dcqcn_burst(&cc, 4096, &next, now);
	tap_check(next == now, "but one of several bursts is not");

	cc.rate = 125000;
	burst = srnic_dcqcn_burst(&cc, 4096, &next, now);
	tap_check(burst == 4096, "a burst has a packet at least");
	cc.rate = SRNIC_DCQCN_LINE;
	burst = srnic_dcqcn_burst(&cc, 4096, &next, now);
	tap_check(burst == 65536, "a burst is no longer than a chain");
}

int main(void)
{
	test_steps();
	test_trajectories();
	test_bounds();
	test_bursts();

	return tap_end();
}
