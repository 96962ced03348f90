// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - how well common paths are used, in simulation, beside TCP on the same path
 *
 * usage: sim_paths [WORD...]
 *
 * Prints a row for each path whose name contains one of the words.  The figures are those
 * of one run: the share of the line, headers included, or the median time of a message.
 * Other losses and delays are drawn with another SEED in the environment, 1 if there is none.
 */

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim_measure.h"

static char **words;

static bool wanted(const char *name)
{
	char **w;

	for (w = words; *w; w++)
		if (strstr(name, *w))
			return true;

	return !*words;
}

static const char *verb(const struct sim_conf *c)
{
	return c->reads ? "READ" : "WRITE";
}

static void print_state(const struct outcome *o)
{
	printf("  again %5.2f %% needless %5.2f %%  lost %7llu  gaps %6llu  probes %5llu",
	       100 * o->again, 100 * o->needless, o->lost, o->causes[SRNIC_CAUSE_GAP],
	       o->causes[SRNIC_CAUSE_PROBE]);
	printf("  timeouts %4llu", o->causes[SRNIC_CAUSE_TIMEOUT]);
	printf("  window %5u  dead %u%s%s\n", o->first.cwnd.window, o->dead,
	       o->fault ? "  NOT: " : "", o->fault ? o->fault : "");
	fflush(stdout);
}

/* @from: as in measure_from(); @goal: percent, 0: there is none */
static void row(struct sim_conf c, u64 from, double goal, const char *format, ...)
{
	struct outcome o, t;
	char name[80];
	va_list args;

	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	if (!wanted(name))
		return;
	c.may_fail = true;
	o = measure_from(&c, from);
	printf("%-60s %5.1f %%", name, 100 * o.use);
	if (goal)
		printf(" of %3.0f", goal);
	if (c.tcp)
		printf("  TCP %5.1f %%", 100 * o.tcp);
	if (c.flows > 1)
		printf("  Jain %.3f", o.jain);
	if (c.every)
		printf("  median %.2f ms", o.median / 1e6);
	if (!c.tcp && !c.reads && !c.every) {	/* TCP here always has something to send */
		c.tcp = c.flows;
		c.flows = 0;
		t = measure_from(&c, from);
		printf("  cubic %5.1f %% again %5.2f %% needless %5.2f %%", 100 * t.tcp,
		       100 * t.again, 100 * t.needless);
		if (c.tcp > 1)
			printf(" Jain %.3f", t.jain);
		printf(";");
	}
	print_state(&o);
}

/* A queue of one bandwidth-delay product, but at least 64 packets */
static struct sim_conf usual(bool read, u32 mtu, u64 rate, u64 rtt)
{
	u64 bdp = rate / 1000 * (rtt / 1000) / 1000;

	return steady(read, mtu, rate, rtt / 2, max(bdp, 64ULL * (mtu + SIM_HEADERS)));
}

static void short_paths(void)
{
	static const struct {
		u64	rate;
		u32	mtu;
		u32	usec;
		u32	goal;
	} rows[] = {
		{ 10 * GBIT, 1024, 50, 97 },
		{ 10 * GBIT, 1024, 100, 97 },
		{ 10 * GBIT, 1024, 200, 97 },
		{ 10 * GBIT, 1024, 390, 97 },
		{ 100 * GBIT, 4096, 20, 95 },
		{ 100 * GBIT, 4096, 50, 95 },
		{ 100 * GBIT, 4096, 100, 95 },
		{ 100 * GBIT, 4096, 200, 95 },
		{ 100 * GBIT, 1024, 20, 90 },
		{ 100 * GBIT, 1024, 50, 90 },
	};
	struct sim_conf c;
	u32 i;

	for (i = 0; i < 2 * ARRAY_SIZE(rows); i++) {
		c = usual(i & 1, rows[i / 2].mtu, rows[i / 2].rate, rows[i / 2].usec * USEC);
		c.until = SECONDS(1);
		row(c, 0, rows[i / 2].goal, "short: %s %u, %lluG, %u us", verb(&c), c.mtu,
		    rows[i / 2].rate / GBIT, rows[i / 2].usec);
	}
}

/* The round trip is longer by @more for a while; the use from one second after each change */
static void change(u64 rate, u64 rtt, u64 more, bool read)
{
	struct sim_conf c = usual(read, 4096, rate, rtt);

	c.far_from = SECONDS(5);
	c.far_to = SECONDS(10);
	c.far_delay = more / 2;
	c.until = SECONDS(10);
	row(c, SECONDS(6), 90, "rtt: %s, %lluG, %.1f to %.1f ms", verb(&c), rate / GBIT,
	    rtt / 1e6, (rtt + more) / 1e6);
	c.far_from = 0;
	c.far_to = SECONDS(5);
	row(c, SECONDS(6), 90, "rtt: %s, %lluG, %.1f to %.1f ms", verb(&c), rate / GBIT,
	    (rtt + more) / 1e6, rtt / 1e6);
}

static void changes(void)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		change(10 * GBIT, 200 * USEC, 400 * USEC, i);
		change(GBIT, 20 * MSEC, 80 * MSEC, i);
	}
}

static void losses(void)
{
	static const struct {
		u64	rate;
		u64	rtt;
		u32	loss;		/* of 1,000,000 */
		u32	write;		/* goal */
		u32	read;
	} rows[] = {
		{ GBIT, 20 * MSEC, 0, 97, 97 },
		{ GBIT, 20 * MSEC, 100, 97, 97 },
		{ GBIT, 20 * MSEC, 1000, 90, 90 },
		{ GBIT, 20 * MSEC, 10000, 70, 80 },
		{ GBIT, 20 * MSEC, 30000, 40, 50 },
		{ 10 * GBIT, MSEC, 1000, 90, 90 },
		{ 10 * GBIT, MSEC, 10000, 70, 70 },
		{ 50 * MBIT, 300 * MSEC, 1000, 90, 90 },
		{ 50 * MBIT, 300 * MSEC, 10000, 70, 70 },
	};
	struct sim_conf c;
	u32 i;

	for (i = 0; i < 2 * ARRAY_SIZE(rows); i++) {
		c = usual(i & 1, 4096, rows[i / 2].rate, rows[i / 2].rtt);
		c.until = rows[i / 2].rate > GBIT ? SECONDS(3) : SECONDS(10);
		if (rows[i / 2].rtt > 100 * MSEC)
			c.until = SECONDS(60);
		data_path(&c)->loss = rows[i / 2].loss;
		row(c, 0, i & 1 ? rows[i / 2].read : rows[i / 2].write,
		    "loss: %s, %.2fG, %.0f ms, %.2f %%", verb(&c),
		    (double)rows[i / 2].rate / GBIT, rows[i / 2].rtt / 1e6,
		    rows[i / 2].loss / 1e4);
	}
}

/* The first flight is lost, as one GSO chain may be */
static void starts(void)
{
	static const u32 losses[] = { 0, 10000, 30000, 50000 };
	struct sim_conf c;
	u32 i;

	for (i = 0; i < 2 * ARRAY_SIZE(losses); i++) {
		c = usual(i & 1, 4096, GBIT, 20 * MSEC);
		c.dark_to = MSEC;
		c.there.loss = losses[i / 2];
		c.back.loss = losses[i / 2];
		row(c, 0, 0, "start: %s, 1G, 20 ms, first flight lost, loss %u %%", verb(&c),
		    losses[i / 2] / 10000);
	}
}

static void disorder(void)
{
	struct sim_conf c;
	u32 i;

	for (i = 0; i < 2; i++) {
		c = usual(i, 4096, GBIT, 20 * MSEC);
		data_path(&c)->loss = 10000;
		data_path(&c)->reorder = 10000;
		row(c, 0, 60, "order: %s, 1G, 20 ms, loss 1 %%, reorder 1 %%", verb(&c));
	}
	for (i = 0; i < 4; i++) {
		c = usual(i & 1, 4096, GBIT, 20 * MSEC);
		data_path(&c)->jitter = i & 2 ? 40 * MSEC : 10 * MSEC;
		data_path(&c)->fifo = true;
		row(c, 0, i & 2 ? 90 : 95, "order: %s, 1G, 20 ms, FIFO jitter %llu ms", verb(&c),
		    data_path(&c)->jitter / MSEC);
	}
}

/* Round trips vary as on a busy host, and packets are lost both ways. */
static void noise(void)
{
	static const struct {
		u32	loss;		/* of 1,000,000 */
		u32	write;		/* goal */
		u32	read;
	} rows[] = { { 1000, 90, 90 }, { 10000, 70, 80 }, { 30000, 40, 50 } };
	struct sim_conf c;
	u32 i;

	for (i = 0; i < 2 * ARRAY_SIZE(rows); i++) {
		c = usual(i & 1, 4096, GBIT, 20 * MSEC);
		c.there.jitter = 2 * MSEC;
		c.there.fifo = true;
		c.there.loss = rows[i / 2].loss;
		c.back = c.there;
		c.room = 3400;
		row(c, 0, i & 1 ? rows[i / 2].read : rows[i / 2].write,
		    "busy: %s, 1G, 20 ms, FIFO jitter 2 ms, loss %.1f %%", verb(&c),
		    rows[i / 2].loss / 1e4);
	}
}

static void policers(void)
{
	static const struct {
		u64	bucket;
		u32	goal;
	} rows[] = { { 25000, 80 }, { 125000, 85 }, { 1250000, 95 } };
	struct sim_conf c;
	u32 i;

	for (i = 0; i < 2 * ARRAY_SIZE(rows); i++) {
		c = usual(i & 1, 4096, GBIT, 20 * MSEC);
		data_path(&c)->police = 100 * MBIT;
		data_path(&c)->bucket = rows[i / 2].bucket;
		row(c, 0, rows[i / 2].goal / 10.0,
		    "policer (of 1G, the whole is 10 %%): %s, bucket %llu kB", verb(&c),
		    rows[i / 2].bucket / 1000);
	}
}

static void crowds(void)
{
	static const u32 flows[] = { 1, 8, 32, 128 };
	struct sim_conf c;
	u32 i;

	for (i = 0; i < 2 * ARRAY_SIZE(flows); i++) {
		c = steady(i & 1, 4096, 10 * GBIT, 25 * USEC, 1000000);
		c.flows = flows[i / 2];
		c.until = SECONDS(2);
		row(c, 0, 0, "crowd: %u %s, 10G, 50 us, queue 1 MB", c.flows, verb(&c));
	}
	for (i = 0; i < 2; i++) {
		c = steady(false, 4096, 10 * GBIT, 25 * USEC, 1000000);
		c.flows = 512;
		c.there.mark = i ? 200000 : 0;
		c.until = SECONDS(2);
		row(c, 0, 98, "crowd: 512 WRITE, 10G, 50 us, %s", i ? "ECN" : "tail drop");
	}
	for (i = 0; i < 2; i++) {
		c = steady(i, 4096, GBIT, 20 * USEC, 400000);
		c.flows = 64;
		c.until = SECONDS(5);
		row(c, 0, 0, "crowd: 64 %s, 1G, 40 us, queue 400 kB", verb(&c));
	}
}

/* Messages at intervals; the ideal is a round trip and the time on the line. */
static void intervals(void)
{
	static const struct {
		u64	rate;
		u64	rtt;
		u64	queue;
		u64	bytes;
		u64	every;
		double	goal;	/* ms */
	} rows[] = {
		{ GBIT, 20 * MSEC, 125000, 2000000, 200 * MSEC, 60 },
		{ GBIT, 20 * MSEC, 125000, 8000000, 500 * MSEC, 130 },
		{ 10 * GBIT, MSEC, 250000, 1000000, 10 * MSEC, 3 },
	};
	struct sim_conf c;
	u32 i;

	for (i = 0; i < 2 * ARRAY_SIZE(rows); i++) {
		c = steady(i & 1, 4096, rows[i / 2].rate, rows[i / 2].rtt / 2, rows[i / 2].queue);
		c.message = DIV_ROUND_UP(rows[i / 2].bytes, c.mtu);
		c.every = rows[i / 2].every;
		c.until = SECONDS(20);
		row(c, 0, 0, "interval: %s %llu MB each %llu ms, %lluG, goal %.0f ms", verb(&c),
		    rows[i / 2].bytes / 1000000, rows[i / 2].every / MSEC,
		    rows[i / 2].rate / GBIT, rows[i / 2].goal);
	}
}

/* Flows that never fill their path, which loses packets by chance, and need 4.3 % of it */
static void sparse_flows(void)
{
	static const u32 losses[] = { 1000, 10000 }, rtts[] = { 200, 1000 };
	struct sim_conf c;
	u32 i;

	for (i = 0; i < 8; i++) {
		c = usual(i & 1, 4096, 10 * GBIT, rtts[i / 4] * USEC);
		data_path(&c)->loss = losses[i / 2 % 2];
		c.message = 64;
		c.every = 5 * MSEC;
		c.until = SECONDS(20);
		row(c, SECONDS(1), 4.3, "sparse: %s 256 KiB each 5 ms, 10G, %.1f ms, loss %.1f %%",
		    verb(&c), rtts[i / 4] / 1e3, losses[i / 2 % 2] / 1e4);
	}
	for (i = 0; i < 4; i++) {
		c = usual(i & 1, 4096, 10 * GBIT, MSEC);
		data_path(&c)->loss = losses[i / 2];
		data_path(&c)->burst = 5;
		c.until = SECONDS(3);
		row(c, 0, 0, "sparse: %s always, 10G, 1.0 ms, bursts of 5, loss %.1f %%", verb(&c),
		    losses[i / 2] / 1e4);
	}
}

static void fairness(void)
{
	struct sim_conf c = usual(false, 4096, GBIT, 20 * MSEC);

	c.flows = 4;
	c.tcp = 1;
	row(c, 0, 0, "fair: 4 WRITE beside TCP, 1G, 20 ms, goal 15 %%");
	c.flows = 1;
	row(c, 0, 0, "fair: 1 WRITE beside TCP, 1G, 20 ms");
	c.flows = 8;
	c.tcp = 0;
	c.until = SECONDS(2);
	row(c, 0, 0, "fair: 8 WRITE, 1G, 20 ms, first 2 s, goal 0.95");
	c.until = SECONDS(10);
	row(c, SECONDS(2), 0, "fair: 8 WRITE, 1G, 20 ms");
}

static void queues(void)
{
	static const u32 queues[] = { 30, 100, 400 };
	struct sim_conf c;
	u32 i, mtu;

	for (i = 0; i < 8 * ARRAY_SIZE(queues); i++) {
		mtu = i / 6 % 2 ? 4096 : 1024;
		c = steady(i >= 12, mtu, i % 2 ? GBIT : 100 * MBIT, 20000,
			   1000 * queues[i / 2 % 3]);
		row(c, 0, 0, "queue: %s %u, %s, %u kB", verb(&c), mtu, i % 2 ? "1G" : "100M",
		    queues[i / 2 % 3]);
	}
}

/* A long path, and queues of parts of what it holds */
static void shallow_queues(void)
{
	static const u32 queues[] = { 60, 125, 500 };
	struct sim_conf c;
	u32 i;

	for (i = 0; i < 2 * ARRAY_SIZE(queues); i++) {
		c = steady(i & 1, 4096, GBIT, 10 * MSEC, 1000 * queues[i / 2]);
		row(c, 0, 0, "shallow: %s, 1G, 20 ms, %u kB", verb(&c), queues[i / 2]);
	}
}

static void peers(void)
{
	static const char *const names[] = { "keeps", "drops", "rxe" };
	static const u32 losses[] = { 0, 1000, 10000, 50000 };
	struct sim_conf c;
	u32 i;

	for (i = 0; i < 16 * SIM_PEER_NUM; i++) {
		c = steady(i % 16 >= 8, 1024, GBIT, i % 8 < 4 ? 20000 : MSEC, 250000);
		c.peer = i / 16;
		c.there.loss = losses[i % 4];
		row(c, 0, 0, "peer: %s %s, 1G, %s ms, loss %.1f %%", names[c.peer], verb(&c),
		    i % 8 < 4 ? "0.04" : "2", c.there.loss / 1e4);
	}
}

int main(int argc, char **argv)
{
	const char *seed = getenv("SEED");

	words = argv + !!argc;
	measure_seed = seed ? strtoull(seed, NULL, 0) : 1;
	short_paths();
	changes();
	losses();
	starts();
	disorder();
	noise();
	policers();
	intervals();
	crowds();
	sparse_flows();
	fairness();
	queues();
	shallow_queues();
	peers();

	return 0;
}
