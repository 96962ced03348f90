// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - simulation: on any path all data arrives once and in order, and no flow stalls
 *
 * usage: test_sim [<runs> | (seed | untimed | reads) <seed> [<ms>] | line <seed>]
 *
 * Each run simulates flows over a random path.  The number of runs may also be
 * given by SEEDS in the environment.  "seed", "untimed" and "reads" run a single
 * seed of one of the three kinds of paths, and print its events from a time on;
 * "line" runs one of the random paths without losses.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_measure.h"
#include "tap.h"

#define RUNS	300	/* about 10 s under ASan */

static u32 pick(const u32 *of, u32 num)
{
	return of[rand32() % num];
}

#define PICK(...)						\
({								\
	static const u32 _of[] = { __VA_ARGS__ };		\
	pick(_of, ARRAY_SIZE(_of));				\
})

static void draw_path(struct sim_path *p)
{
	p->rate = PICK(0, 1250000, 12500000, 125000000, 125000000, 2000000000);
	p->delay = 1000 * PICK(0, 15, 20, 300, 1000, 1000, 10000, 50000);
	p->jitter = 1000 * PICK(0, 0, 0, 5, 100, 3000);
	p->queue = p->rate ? PICK(0, 30000, 100000, 400000, 4000000) : 0;
	p->loss = PICK(0, 0, 100, 1000, 10000, 50000);
	p->burst = PICK(0, 0, 2, 5, 40);
	p->reorder = PICK(0, 0, 0, 1000, 50000);
	p->dup = PICK(0, 0, 0, 1000, 100000);
}

static bool path_reorders(const struct sim_path *p)
{
	return p->jitter || p->reorder || p->dup;
}

/* Can enough consecutive packets be lost to exhaust the retries? */
static bool path_is_bad(const struct sim_path *p)
{
	return p->loss && (p->burst > 4 || p->loss * max(p->burst, 1U) > 100000);
}

static void draw_events(struct sim_conf *c)
{
	c->rnr = PICK(0, 0, 1000, 100000);
	c->rnr_nsec = 1000 * PICK(10, 640, 10240);
	c->stall = PICK(0, 0, 0, 1000, 50000);
	c->busy = PICK(0, 0, 100000, 500000);
	c->hurry = PICK(0, 0, 1000, 100000);
	c->unawaited = PICK(0, 0, 500000, 1000000);
	if (!PICK(1, 1, 1, 0)) {
		c->far_from = MSEC * PICK(1, 100, 500);
		c->far_to = c->far_from + MSEC * PICK(10, 300, 5000);
		c->far_delay = MSEC * PICK(1, 10, 50);
	}
	if (!PICK(1, 1, 1, 1, 0)) {
		c->dark_from = MSEC * PICK(0, 1, 50, 200);
		c->dark_to = c->dark_from + MSEC * PICK(1, 20, 100, 400);
	}
	c->late = PICK(0, 50, 100);
}

static struct sim_conf draw(u64 seed)
{
	struct sim_conf c = {};

	rand_state = seed * 0x9e3779b97f4a7c15ULL + 1;
	draw_path(&c.there);
	if (PICK(0, 1))
		draw_path(&c.back);
	else
		c.back = (struct sim_path) { .rate = c.there.rate, .delay = c.there.delay,
					     .queue = c.there.queue };
	c.peer = rand32() % SIM_PEER_NUM;
	c.store = PICK(0, 0, 16, 1000);
	c.room = PICK(0, 0, 16, 1000);
	c.flows = PICK(1, 1, 1, 2, 5);
	c.psn = PICK(0, 1, 0x7fffff, 0xffffff - 5, 0xffffff - 300, 0xffffff - 3000);
	c.mtu = PICK(256, 1024, 1024, 4096);
	c.message = PICK(1, 3, 64, 300, 1024, 16384);
	c.mixed = PICK(0, 1);
	c.reads = PICK(0, 0, 1000000, 1000000, 100000, 500000);
	c.sends = PICK(0, 500000);
	c.places = PICK(1, 2, 16, 16, 128);
	c.num = PICK(1, 50, 1000, 10000, 10000, 100000);
	c.until = 20ULL * NSEC_PER_SEC;
	c.timeout = 1000 * PICK(1049, 16777, 67109, 67109, 536871);
	c.retry_cnt = 7;
	c.rnr_retry = 7;
	draw_events(&c);
	c.sack = PICK(0, 1);
	c.may_fail = path_is_bad(&c.there) || path_is_bad(&c.back) ||
		     c.dark_to > c.dark_from + c.timeout ||
		     sim_longest_rtt(&c) > 32 * c.timeout;
	c.lossless = !c.may_fail && c.peer == SIM_PEER_KEEPS && !path_reorders(&c.there) &&
		     !path_reorders(&c.back) && !c.far_delay && !c.rnr && !c.store && !c.room;

	return c;
}

static void describe_path(const char *name, const struct sim_path *p)
{
	printf("#   %s: %llu B/s, delay %.3f ms, jitter %.3f ms, queue %llu\n", name, p->rate,
	       p->delay / 1e6, p->jitter / 1e6, p->queue);
	printf("#     loss %u x %u, reorder %u, dup %u; PSNs lost: %llu\n", p->loss, p->burst,
	       p->reorder, p->dup, p->lost);
}

static void describe_conf(const struct sim_conf *c)
{
	static const char *const peers[] = { "keeps", "drops", "rxe" };

	describe_path("there", &c->there);
	describe_path("back", &c->back);
	printf("#   peer %s, store %u, room %u, flows %u, PSN %#x, MTU %u, places %u\n",
	       peers[c->peer], c->store, c->room, c->flows, c->psn, c->mtu, c->places);
	printf("#   message %u%s, reads %u, sends %u, PSNs %llu, timeout %.3f ms\n", c->message,
	       c->mixed ? " mixed" : "", c->reads, c->sends, c->num, c->timeout / 1e6);
	printf("#   rnr %u, stall %u, busy %u, late %u, hurry %u, unawaited %u%s%s\n", c->rnr,
	       c->stall, c->busy, c->late, c->hurry, c->unawaited,
	       c->may_fail ? ", may fail" : "",
	       c->lossless ? ", bounded" : "");
	printf("#   far %.0f to %.0f by %.0f ms, dark %.0f to %.0f ms\n", c->far_from / 1e6,
	       c->far_to / 1e6, c->far_delay / 1e6, c->dark_from / 1e6, c->dark_to / 1e6);
}

static void describe_flow(const struct sim_flow *w)
{
	const struct srnic_recovery *f = &w->f;

	printf("#   una %llu of %llu, expected %llu, progress at %.3f ms%s\n", w->una, w->assigned,
	       w->expected, w->progress_at / 1e6, w->failed ? ", failed" : "");
	printf("#     mode %u, next +%d, high +%d, asked +%d, mark +%d, detour %u\n", f->mode,
	       srnic_psn_diff(f->next, f->una), srnic_psn_diff(f->high, f->una),
	       srnic_psn_diff(f->asked, f->una), srnic_psn_diff(f->mark, f->una), f->detour);
	printf("#     window %u, extra %u, keeps %u, retries %u, silence %.3f, tick %.3f ms\n",
	       f->cwnd.window, f->cwnd.extra, f->keeps, f->retry_left, f->silence / 1e6,
	       f->cwnd.tick / 1e6);
	printf("#     rtt %.3f, srtt %.3f, rttvar %.3f, min %.3f ms\n", f->rtt.last / 1e6,
	       f->rtt.srtt / 1e6, f->rtt.var / 1e6, f->rtt.min / 1e6);
	printf("#     sent %llu, again %llu; gaps %llu, probes %llu, timeouts %llu, asks %llu\n",
	       w->sent, w->retransmitted, w->causes[SRNIC_CAUSE_GAP],
	       w->causes[SRNIC_CAUSE_PROBE], w->causes[SRNIC_CAUSE_TIMEOUT],
	       w->causes[SRNIC_CAUSE_ASK]);
}

static void describe(const struct sim *s)
{
	const struct sim_flow *w;

	describe_conf(&s->conf);
	for (w = s->flow; w < s->flow + s->conf.flows; w++)
		describe_flow(w);
}

/* Return: steps. */
static u64 run(const struct sim_conf *c, u64 seed, bool verbose, u64 trace_from)
{
	struct sim s;
	u64 steps;

	sim_init(&s, c);
	s.trace_from = trace_from;
	sim_run(&s);
	if (s.fault)
		tap_fault("test_sim seed %llu: at %.6f ms this does not hold: %s", seed,
			  s.now / 1e6, s.fault);
	if (verbose || (s.fault && tap_faults <= TAP_FAULTS_SHOWN))
		describe(&s);
	steps = s.steps;
	sim_free(&s);

	return steps;
}

/* With an infinite timeout, on a path that reorders and duplicates but loses nothing */
static struct sim_conf draw_untimed(u64 seed)
{
	struct sim_conf c = draw(seed);

	c.timeout = 0;
	c.there.loss = 0;
	c.back.loss = 0;
	c.there.queue = 0;
	c.back.queue = 0;
	c.dark_from = 0;
	c.dark_to = 0;
	c.may_fail = false;
	c.lossless = false;

	return c;
}

/* READs, of which a peer remembers few, on a path that loses many packets */
static struct sim_conf draw_reads(u64 seed)
{
	struct sim_conf c = draw(seed);

	c.peer = SIM_PEER_KEEPS;
	c.reads = PICK(1000000, 1000000, 800000);
	c.places = PICK(1, 2, 3, 4, 16);
	c.there.loss = PICK(1000, 10000, 30000, 60000);
	c.back.loss = PICK(1000, 10000, 30000, 60000);
	c.there.burst = 0;
	c.back.burst = 0;
	c.dark_to = c.dark_from;
	c.far_delay = 0;
	c.sack = PICK(1, 1, 0);
	c.room = PICK(0, 16, 200, 1000, 3400);
	c.num = PICK(1000, 10000, 30000);
	c.flows = 1;
	c.may_fail = sim_longest_rtt(&c) > 8 * c.timeout;
	c.lossless = false;

	return c;
}

static void test_seeds(struct sim_conf (*drawn)(u64 seed), u64 runs, const char *sentence)
{
	struct sim_conf c;
	u64 seed, steps = 0;

	for (seed = 1; seed <= runs; seed++) {
		c = drawn(seed);
		steps += run(&c, seed, false, ~0ULL);
	}
	printf("# %llu runs, %llu steps\n", runs, steps);
	tap_done(sentence);
}

/* Fixed paths */

/* Fails the test if @o does not reach the given values; prints the actual ones. */
static void expect(const char *name, const struct outcome *o, double use, double again)
{
	bool good = !o->fault && o->use >= use && o->again <= again;

	printf("# %s: %.1f %% of the path, %.2f %% retransmitted, ", name, 100 * o->use,
	       100 * o->again);
	printf("%llu probes, %llu timeouts%s%s\n",
	       o->causes[SRNIC_CAUSE_PROBE], o->causes[SRNIC_CAUSE_TIMEOUT],
	       o->fault ? ", not: " : "", o->fault ? o->fault : "");
	if (!good)
		tap_fault("%s: not %.0f %% of the path, or more than %.1f %% retransmitted",
			  name, 100 * use, 100 * again);
}

/* The first packets of a connection, or their responses, are lost. */
static void test_first_lost(void)
{
	struct sim_conf c;
	struct outcome o;

	c = steady(false, 1024, GBIT, 10 * MSEC, 2500000);
	c.there.lose = 1;
	o = measure(&c);
	expect("the first packet", &o, 0.8, 0.01);
	c.there.lose = 0;
	c.dark_to = MSEC / 10;
	o = measure(&c);
	expect("the first window", &o, 0.8, 0.01);
	c = steady(true, 1024, GBIT, 10 * MSEC, 2500000);
	c.back.lose = 1;
	o = measure(&c);
	expect("the first response", &o, 0.8, 0.01);
	c = steady(true, 1024, 10 * MBIT, 10 * MSEC, 2500000);
	c.back.lose = 1;
	o = measure(&c);
	expect("the first response of many on a slow path", &o, 0.8, 0.01);
	tap_done("a first round trip over a retransmission has no bad effect");
}

/* The initial window is many times the size of the queue. */
static void test_short_queue(void)
{
	struct sim_conf c = steady(false, 4096, 100 * MBIT, 20000, 30000);
	struct outcome o = measure(&c);

	expect("WRITE, 100 Mbit/s", &o, 0.9, 0.2);
	if (o.first.keeps == SRNIC_KEEPS_NONE)
		tap_fault("the peer is taken for go-back-N");
	c = steady(true, 4096, 100 * MBIT, 20000, 30000);
	o = measure(&c);
	expect("READ, 100 Mbit/s", &o, 0.9, 0.2);
	c = steady(false, 4096, GBIT, 20000, 30000);
	o = measure(&c);
	expect("WRITE, 1 Gbit/s", &o, 0.98, 0.04);
	c = steady(true, 4096, GBIT, 20000, 30000);
	o = measure(&c);
	expect("READ, 1 Gbit/s", &o, 0.98, 0.04);
	c = steady(false, 1024, GBIT, 20000, 30000);
	o = measure(&c);
	expect("WRITE, 1 Gbit/s, MTU 1024", &o, 0.98, 0.003);
	tap_done("after tail drop a peer is not taken for go-back-N, and the queue is seldom full");
}

/* Reordering alone causes no retransmission, from the first packet on. */
static void test_reordered(void)
{
	struct outcome o;
	u32 i;

	for (i = 0; i < 4; i++) {
		struct sim_conf c = steady(i & 1, i & 2 ? 4096 : 1024, GBIT, MSEC, 0);

		data_path(&c)->reorder = 50000;
		c.until = SECONDS(1);
		o = measure(&c);
		expect(c.reads ? "READ" : "WRITE", &o, 0.95, 0);
	}
	tap_done("reordered packets are not retransmitted");
}

static void test_long_rtt(void)
{
	struct sim_conf c = steady(false, 4096, GBIT, 50 * MSEC, 12500000);
	struct outcome o = measure(&c);

	expect("round trips of 100 ms", &o, 0.8, 0.02);
	if (o.first.rtt.srtt < 100 * MSEC || o.causes[SRNIC_CAUSE_TIMEOUT] > 2)
		tap_fault("the round trip is not known");
	tap_done("a timeout shorter than the round trip has no bad effect");
}

static void test_deep_queue(void)
{
	struct sim_conf c = steady(false, 1024, 100 * MBIT, 20000, 400000);
	struct outcome o = measure(&c);

	expect("WRITE", &o, 0.95, 0.01);
	if (o.causes[SRNIC_CAUSE_PROBE] > 50)
		tap_fault("WRITE: too many probes");
	c = steady(true, 1024, 100 * MBIT, 20000, 400000);
	o = measure(&c);
	expect("READ", &o, 0.95, 0.01);
	if (o.causes[SRNIC_CAUSE_PROBE] > 50)
		tap_fault("READ: too many probes");
	tap_done("a queue many times as long as the path causes no probes");
}

/* READs among unsignalled WRITEs, with losses in both directions */
static void test_mixed(void)
{
	struct sim_conf c = steady(false, 1024, GBIT, MSEC, 250000);
	struct outcome o;

	c.reads = 300000;
	c.message = 30;
	c.mixed = true;
	c.unawaited = 1000000;
	c.there.loss = 1000;
	c.back.loss = 1000;
	c.until = SECONDS(3);
	o = measure(&c);
	expect("0.1 % lost", &o, 0.85, 0.03);
	if (o.causes[SRNIC_CAUSE_ASK] > 5000)
		tap_fault("too many ACK requests");
	tap_done("READs among WRITEs make progress");
}

/*
 * If requests are reordered, a peer that drops requests out of order, or keeps only a few,
 * must not be taken for one that keeps them.
 */
static void test_reordered_requests(void)
{
	struct sim_conf c = steady(true, 1024, GBIT, 20000, 250000);
	struct outcome o;

	c.peer = SIM_PEER_RXE;
	c.there.loss = 10000;
	c.there.reorder = 20000;
	c.until = SECONDS(2);
	c.message = 16;
	o = measure(&c);
	expect("READs of 16 KiB", &o, 0.9, 0.12);
	c.message = 128;
	o = measure(&c);
	expect("READs of 128 KiB", &o, 0.9, 0.12);

	c.peer = SIM_PEER_KEEPS;
	c.store = 4;
	c.message = 1;
	c.places = 128;
	c.there.loss = 2000;
	c.there.reorder = 0;
	o = measure(&c);
	expect("READs of 1 KiB, four are kept", &o, 0.8, 0.2);
	tap_done("a peer that keeps few READ requests or none is recognised");
}

/* READ requests are lost, and the peer keeps later ones. */
static void test_lost_requests(void)
{
	static const struct {
		u64	delay;
		u32	loss;
		double	use;
		double	again;
	} rows[] = {
		{ 20000, 10000, 0.99, 0.02 },
		{ 20000, 50000, 0.95, 0.06 },
		{ 20000, 100000, 0.5, 0.2 },
		{ MSEC, 10000, 0.8, 0.04 },
		{ MSEC, 50000, 0.4, 0.1 },
		{ MSEC, 100000, 0.2, 0.2 },
	};
	struct sim_conf c;
	struct outcome o;
	char name[64];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		c = steady(true, 1024, GBIT, rows[i].delay, 250000);
		c.there.loss = rows[i].loss;
		c.until = SECONDS(4);
		o = measure(&c);
		snprintf(name, sizeof(name), "%.2f ms, %.0f %% lost", rows[i].delay / 1e6,
			 rows[i].loss / 1e4);
		expect(name, &o, rows[i].use, rows[i].again);
	}
	tap_done("a peer that keeps READ requests is recognised");
}

/* Twice as many flows as the queue has room for, from the first packet on */
static void test_crowd(void)
{
	struct sim_conf c = steady(false, 4096, GBIT, 20000, 400000);
	struct outcome o;

	c.flows = 64;
	o = measure(&c);
	expect("WRITE, 64 flows", &o, 0.9, 0.5);
	if (o.jain < 0.9)
		tap_fault("Jain's index is %.3f", o.jain);
	tap_done("many flows that start at once share a short queue");
}

/* A window of two packets for each; most flows start when the queue is full already. */
static void test_full_queue(void)
{
	struct outcome o;
	struct sim_conf c;
	u32 i;

	for (i = 0; i < 2; i++) {
		c = steady(i, 4096, 10 * GBIT, 25 * USEC, 1000000);
		c.flows = 128;
		c.until = SECONDS(1) / 2;
		o = measure(&c);
		expect(i ? "READ, 128 flows" : "WRITE, 128 flows", &o, 0.98, 0.06);
		if (o.jain < 0.85)
			tap_fault("Jain's index is %.3f", o.jain);
	}
	tap_done("flows that have never seen their queue empty do not overflow it");
}

/* Losses in bursts keep a window small, which never fills the queue that there is. */
static void test_bursts_on_short_path(void)
{
	struct outcome o;
	struct sim_conf c;
	u32 i;

	for (i = 0; i < 2; i++) {
		c = steady(i, 4096, 10 * GBIT, 500 * USEC, 1250000);
		data_path(&c)->loss = 1000;
		data_path(&c)->burst = 5;
		c.until = SECONDS(2);
		measure_seed = 2;
		o = measure(&c);
		expect(i ? "READ" : "WRITE", &o, 0.12, 0.05);
	}
	measure_seed = 1;
	tap_done("bursts of losses on a path of a millisecond are not those of a full queue");
}

/* The first flight is lost, as one GSO chain may be, and later packets by chance. */
static void test_lost_start(void)
{
	struct outcome o;
	struct sim_conf c;
	u32 i;

	for (i = 0; i < 2 * 20; i++) {
		measure_seed = 1 + i / 2;
		c = steady(i & 1, 4096, GBIT, 10 * MSEC, 2500000);
		c.dark_to = MSEC;
		c.there.loss = 30000;
		c.back.loss = 30000;
		c.until = SECONDS(6);
		o = measure(&c);
		expect(i & 1 ? "READ" : "WRITE", &o, i & 1 ? 0.3 : 0.5, 0.1);
	}
	measure_seed = 1;
	tap_done("a window cut at the start does not remain small because of losses by chance");
}

/* Messages of 64 packets, which take 4.3 % of the path and never fill it */
static void test_sparse(void)
{
	struct outcome o;
	struct sim_conf c;
	u32 i;

	for (i = 0; i < 2; i++) {
		c = steady(i, 4096, 10 * GBIT, 500 * USEC, 1250000);
		data_path(&c)->loss = 10000;
		c.message = 64;
		c.every = 5 * MSEC;
		measure_seed = 3;
		o = measure_from(&c, SECONDS(2));
		expect(i ? "READ" : "WRITE", &o, 0.04, 0.03);
	}
	measure_seed = 1;
	tap_done("a flow that never fills its path is not slowed by chance for ever");
}

static void test_fair(void)
{
	static const u32 flows[] = { 4, 16 };
	struct outcome o;
	u32 i;

	for (i = 0; i < 2 * ARRAY_SIZE(flows); i++) {
		struct sim_conf c = steady(i & 1, 1024, GBIT, MSEC, 250000);

		c.flows = flows[i / 2];
		c.until = SECONDS(5);
		o = measure(&c);
		expect(i & 1 ? "READ" : "WRITE", &o, 0.9, 0.05);
		if (o.jain < 0.95)
			tap_fault("%u flows: Jain's index is %.3f", c.flows, o.jain);
	}
	tap_done("4 and 16 flows share a path fairly");
}

/* The round trip of a connection changes, as when it is rerouted. */
static void test_delay_changes(void)
{
	struct sim_conf c = steady(false, 1024, GBIT, 10000, 4000000);
	struct outcome o;

	c.far_from = SECONDS(1);
	c.far_to = SECONDS(3);
	c.far_delay = 50 * MSEC;
	c.until = SECONDS(5);
	o = measure(&c);
	expect("2 s of 50 ms", &o, 0.55, 0.05);
	if (o.causes[SRNIC_CAUSE_TIMEOUT] > 10)
		tap_fault("there are only timeouts");
	c.far_from = 0;
	c.until = SECONDS(9);
	o = measure(&c);
	expect("from 50 ms to none", &o, 0.25, 0.25);
	tap_done("a round trip longer by 50 ms, and shorter again, is handled");
}

/**
 * struct line - a path without losses
 * @name: short description
 * @rate: bytes per second
 * @rtt: ns, without a queue
 * @timeout: exponent of the ACK timeout, as in struct ibv_qp_attr
 * @flows: number of flows
 * @apart: time between two starts, ns
 * @mtu: bytes per packet
 * @message: PSNs per message
 * @read: READs instead of WRITEs
 * @places: READs that may be outstanding, 0: 16
 */
struct line {
	const char	*name;
	u64		rate;
	u64		rtt;
	u8		timeout;
	u32		flows;
	u64		apart;
	u32		mtu;
	u32		message;
	bool		read;
	u32		places;
};

static const struct line lines[] = {
	{ "64 QPs, 100M", 100 * MBIT, 40000, 14, 64, 0, 4096, 16, false, 0 },
	{ "64 QPs, 100M, READ", 100 * MBIT, 40000, 14, 64, 0, 4096, 16, true, 0 },
	{ "128 QPs, 1G", GBIT, 40000, 14, 128, 0, 4096, 256, false, 0 },
	{ "256 QPs, 1G", GBIT, 40000, 14, 256, 0, 4096, 256, false, 0 },
	{ "256 QPs, 1G, READ", GBIT, 40000, 14, 256, 0, 4096, 256, true, 0 },
	{ "1024 QPs, 1G", GBIT, 40000, 14, 1024, 0, 4096, 256, false, 0 },
	{ "1024 QPs, 10G", 10 * GBIT, 40000, 14, 1024, 0, 4096, 256, false, 0 },
	{ "16 QPs each 0.5 s, 10M", 10 * MBIT, 40000, 14, 16, SECONDS(1) / 2, 4096, 256, false, 0 },
	{ "64 QPs each 0.1 s, 100M", 100 * MBIT, 40000, 14, 64, SECONDS(1) / 10, 4096, 256,
	  false, 0 },
	{ "16 QPs each 0.5 s, 10M, READ", 10 * MBIT, 40000, 14, 16, SECONDS(1) / 2, 4096, 256,
	  true, 0 },
	{ "1 QP, 4 KiB, 4M, 20 ms", 4 * MBIT, 20 * MSEC, 14, 1, 0, 4096, 1, false, 0 },
	{ "1 QP, 1M", MBIT, 40000, 14, 1, 0, 4096, 16, false, 0 },
	{ "1 QP, 1M, READ", MBIT, 40000, 14, 1, 0, 4096, 16, true, 0 },
	{ "4 QPs, 1M", MBIT, 40000, 14, 4, 0, 4096, 16, false, 0 },
	{ "1 QP, 1M, timeout 10", MBIT, 40000, 10, 1, 0, 1024, 16, false, 0 },
	{ "280 ms, timeout 14", GBIT, 280 * MSEC, 14, 1, 0, 4096, 256, false, 0 },
	{ "280 ms, timeout 14, READ", GBIT, 280 * MSEC, 14, 1, 0, 4096, 1024, true, 0 },
	{ "260 ms, timeout 14", GBIT, 260 * MSEC, 14, 1, 0, 4096, 256, false, 0 },
	{ "20 ms, timeout 10", GBIT, 20 * MSEC, 10, 1, 0, 4096, 256, false, 0 },
	{ "130 ms, timeout 10", GBIT, 130 * MSEC, 10, 1, 0, 4096, 256, false, 0 },
	{ "2 s, timeout 14", 100 * MBIT, 2000 * MSEC, 14, 1, 0, 4096, 256, false, 0 },
	{ "2 s, timeout 14, READ", 100 * MBIT, 2000 * MSEC, 14, 1, 0, 4096, 1024, true, 0 },
	{ "10M, 0.2 ms, 64 KiB", 10 * MBIT, 200000, 14, 1, 0, 4096, 16, false, 0 },
	{ "20M, 0.2 ms, 64 KiB", 20 * MBIT, 200000, 14, 1, 0, 4096, 16, false, 0 },
	{ "64 QPs, 100M, one READ", 100 * MBIT, 40000, 12, 64, 0, 1024, 1024, true, 1 },
	{ "16 QPs, 100M, one READ", 100 * MBIT, 40000, 14, 16, 0, 4096, 1024, true, 1 },
	{ "16 QPs, 4M, two READs", 4 * MBIT, 40000, 15, 16, 0, 4096, 1024, true, 2 },
};

/*
 * Nothing is lost and the peer answers, so no flow may fail.  After twenty round trips at the
 * initial window of all flows, at least half of the path must be used.
 */
static struct sim_conf conf_of(const struct line *l, u64 *from)
{
	struct sim_conf c = steady(l->read, l->mtu, l->rate, l->rtt / 2, 0);
	u64 burst = (u64)l->flows * SRNIC_CWND_FIRST * (l->mtu + SIM_HEADERS);

	c.flows = l->flows;
	c.apart = l->apart;
	c.message = l->message;
	c.places = l->places ? l->places : c.places;
	c.timeout = 4096ULL << l->timeout;
	*from = 20 * (l->rtt + burst * 1000 / l->rate * MSEC) + l->flows * l->apart;
	c.until = *from + max(*from / 2, SECONDS(1) / 5);

	return c;
}

static void test_lossless(void)
{
	const struct line *l;
	struct outcome o;
	struct sim_conf c;
	u64 from;

	for (l = lines; l < lines + ARRAY_SIZE(lines); l++) {
		c = conf_of(l, &from);
		o = measure_from(&c, from);
		expect(l->name, &o, 0.5, 0.2);
	}
	tap_done("without losses no flow fails, and the path is used");
}

/* A queue of a twentieth of what the path holds drops what arrives in bursts. */
static void test_shallow(void)
{
	struct outcome o;
	struct sim_conf c;
	u32 i;

	for (i = 0; i < 2; i++) {
		c = steady(i, 4096, GBIT, 10 * MSEC, 125000);
		o = measure_from(&c, SECONDS(2));
		expect(i ? "queue of 125 kB, READ" : "queue of 125 kB", &o, 0.5, 0.2);
	}
	tap_done("half of a long path with a short queue is used, for READs as well");
}

/* Round trips vary, 3 % of the packets are lost, and this end keeps what a user may. */
static void test_noisy(void)
{
	struct outcome o;
	struct sim_conf c;
	u32 i;

	for (i = 0; i < 2; i++) {
		c = steady(i, 4096, GBIT, 10 * MSEC, 2500000);
		c.there.jitter = 2 * MSEC;
		c.there.fifo = true;
		c.there.loss = 30000;
		c.back = c.there;
		c.room = 3400;
		o = measure_from(&c, SECONDS(2));
		expect(i ? "3 % lost, READ" : "3 % lost", &o, i ? 0.5 : 0.4, 0.1);
	}
	tap_done("a long path on which much is lost is used, for READs as well");
}

/* Longest round trip of a new flow among others whose windows have grown */
static u64 longest_start(const struct line *l)
{
	u32 window = l->apart ? SRNIC_CWND_SHORT : 2 * SRNIC_CWND_FIRST;

	return l->rtt + (u64)l->flows * window * (l->mtu + SIM_HEADERS) * 1000 / l->rate * MSEC;
}

/* No flow starts with a round trip of more than 32 timeouts, or 20 s. */
static struct line draw_line(u64 seed)
{
	struct line l = {};

	rand_state = seed * 0x9e3779b97f4a7c15ULL + 1;
	l.rate = PICK(1, 4, 10, 100, 1000, 1000, 10000) * MBIT;
	l.rtt = 1000 * PICK(30, 200, 1000, 10000, 100000);
	l.mtu = PICK(1024, 4096);
	l.message = PICK(1, 16, 1024);
	l.read = PICK(0, 1);
	/* Longer messages and more flows than the path needs, which is at most 12.5 MB */
	l.flows = PICK(1, 2, 16, 64, 256, 1024);
	if (l.rate * (l.rtt / 1000) / 1000000 > 16ULL * l.flows * l.message * l.mtu)
		l.message = 1024;
	if (l.rate > GBIT && l.flows < 16)
		l.rate = GBIT;
	l.apart = PICK(0, 0, 1) * 1000 * PICK(10, 1000, 100000);
	l.timeout = PICK(8, 10, 14, 17);
	while (longest_start(&l) > SECONDS(20))
		l.flows /= 2;
	while (longest_start(&l) > 32 * 4096ULL << l.timeout)
		l.timeout++;

	return l;
}

static void run_line(u64 seed, bool verbose)
{
	struct line l = draw_line(seed);
	struct outcome o;
	struct sim_conf c;
	u64 from;

	c = conf_of(&l, &from);
	if (l.rate * (c.until / MSEC) / 1000 > 400000000)	/* bytes */
		return;
	o = measure_from(&c, from);
	if (o.fault || o.use < 0.5)
		tap_fault("test_sim line %llu: %.1f %% of the path%s%s", seed, 100 * o.use,
			  o.fault ? ", not: " : "", o.fault ?: "");
	if (verbose || ((o.fault || o.use < 0.5) && tap_faults <= TAP_FAULTS_SHOWN))
		printf("#   %s %u of %u, %llu Mbit/s, %.2f ms, timeout %u, %u flows each %.2f ms\n",
		       l.read ? "READ" : "WRITE", l.message, l.mtu, l.rate / MBIT, l.rtt / 1e6,
		       l.timeout, l.flows, l.apart / 1e6);
}

static void test_lines(u64 runs)
{
	u64 seed;

	for (seed = 1; seed <= runs; seed++)
		run_line(seed, false);
	tap_done("on random paths without losses no flow fails, and the path is used");
}

/* Messages of 256 packets, and a queue of 30, which the start overflows once */
static void test_restart(void)
{
	struct sim_conf c = steady(false, 4096, GBIT, 10 * MSEC, 125000);
	struct outcome o;

	c.message = 256;
	c.every = 200 * MSEC;
	o = measure(&c);
	expect("1 MB each 200 ms", &o, 0.04, 0.03);
	printf("# a median of %.1f ms, %llu lost\n", o.median / 1e6, o.lost);
	if (o.lost > c.message || o.median > 50 * MSEC)
		tap_fault("more lost than by one start, or more than 50 ms");
	tap_done("a message after a pause leaves at the pace of the path");
}

/* A peer that looks at nothing for a quarter of the time, from the start on */
static void test_pauses(void)
{
	struct sim_conf c;
	struct outcome o;
	u32 i;

	for (i = 0; i < 4; i++) {
		c = steady(i & 1, i & 2 ? 4096 : 1024, GBIT, 5 * MSEC, 0);
		c.timeout = 4096ULL << 10;
		c.pause_every = 50 * MSEC;
		c.pause_for = c.pause_every / 4;
		c.until = SECONDS(1);
		o = measure_from(&c, 20 * (10 * MSEC + c.pause_for));
		expect(c.reads ? "READ" : "WRITE", &o, 0.5, 0.05);
	}
	tap_done("a peer that pauses is not taken for a full queue for ever");
}

static struct sim_conf draw_by_name(const char *name, u64 seed)
{
	if (!strcmp(name, "untimed"))
		return draw_untimed(seed);

	return strcmp(name, "reads") ? draw(seed) : draw_reads(seed);
}

int main(int argc, char **argv)
{
	const char *seeds = getenv("SEEDS");
	u64 runs = seeds ? strtoull(seeds, NULL, 0) : RUNS;

	if (argc > 2 && !strcmp(argv[1], "line")) {
		run_line(strtoull(argv[2], NULL, 0), true);
		tap_done("a path without losses: no flow fails, and it is used");
		return tap_end();
	}
	if (argc > 2) {
		u64 seed = strtoull(argv[2], NULL, 0);
		struct sim_conf c = draw_by_name(argv[1], seed);

		run(&c, seed, true, argc > 3 ? strtoull(argv[3], NULL, 0) * MSEC : ~0ULL);
		tap_done("the seed finds no fault");
		return tap_end();
	}
	if (argc > 1)
		runs = strtoull(argv[1], NULL, 0);
	test_seeds(draw, runs, "on random paths all data arrives once, in order and in time");
	test_seeds(draw_untimed, runs, "with timeout 0 all data arrives if nothing is lost");
	test_seeds(draw_reads, 4 * runs, "READs that a peer may forget arrive as well");
	test_first_lost();
	test_short_queue();
	test_reordered();
	test_long_rtt();
	test_deep_queue();
	test_mixed();
	test_lost_requests();
	test_reordered_requests();
	test_fair();
	test_crowd();
	test_full_queue();
	test_bursts_on_short_path();
	test_lost_start();
	test_sparse();
	test_delay_changes();
	test_lossless();
	test_shallow();
	test_noisy();
	test_restart();
	test_pauses();
	test_lines(runs);

	return tap_end();
}
