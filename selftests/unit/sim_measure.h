/* SPDX-License-Identifier: GPL-2.0 */
/* srnic - how well flows of a simulation use a fixed path */
#ifndef SRNIC_UNIT_SIM_MEASURE_H
#define SRNIC_UNIT_SIM_MEASURE_H

#include <stdlib.h>

#include "sim_run.h"

#define MSEC		((u64)NSEC_PER_MSEC)
#define USEC		1000ULL
#define MBIT		125000ULL
#define GBIT		(1000 * MBIT)
#define SECONDS(n)	((u64)(n) * NSEC_PER_SEC)

/* A path with the same properties in both directions */
static inline struct sim_path path(u64 rate, u64 delay, u64 queue)
{
	return (struct sim_path) { .rate = rate, .delay = delay, .queue = queue };
}

/* An unlimited flow on such a path */
static inline struct sim_conf steady(bool read, u32 mtu, u64 rate, u64 delay, u64 queue)
{
	return (struct sim_conf) {
		.there = path(rate, delay, queue), .back = path(rate, delay, queue),
		.sack = true, .flows = 1, .psn = 1, .mtu = mtu, .message = (1 << 20) / mtu,
		.reads = read ? 1000000 : 0, .places = 16, .until = SECONDS(10),
		.timeout = 67109 * NSEC_PER_USEC, .retry_cnt = 7, .rnr_retry = 7, .late = 100,
	};
}

/* The path in the direction of the data */
static inline struct sim_path *data_path(struct sim_conf *c)
{
	return c->reads ? &c->back : &c->there;
}

/**
 * struct outcome - the result of a simulation
 * @fault: invariant that does not hold, or NULL
 * @use: fraction of the path's rate
 * @tcp: fraction that the flows of TCP use
 * @jain: Jain's index over the flows, or over those of TCP
 * @again: fraction of the packets sent that were retransmissions
 * @needless: fraction of the packets sent whose data had arrived already
 * @lost: PSNs lost
 * @dead: flows whose retries are exhausted
 * @causes: number of events, by enum srnic_recovery_cause
 * @median: median time that a message took, ns; 0: none was completed
 * @first: final state of the first flow
 */
struct outcome {
	const char		*fault;
	double			use;
	double			tcp;
	double			jain;
	double			again;
	double			needless;
	u64			lost;
	u32			dead;
	u64			causes[SRNIC_CAUSE_NUM];
	u64			median;
	struct srnic_recovery	first;
};

static inline int compare_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static inline u64 median_of(const struct sim_flow *w)
{
	if (!w->num_took)
		return 0;
	qsort(w->took, w->num_took, sizeof(*w->took), compare_u64);

	return w->took[w->num_took / 2];
}

/* What the flows have had acknowledged so far, in PSNs or segments */
static inline double transferred(const struct sim *s, bool tcp)
{
	double sum = 0;
	u32 i;

	for (i = 0; i < s->conf.flows && !tcp; i++)
		sum += s->flow[i].una;
	for (i = 0; i < s->conf.tcp && tcp; i++)
		sum += s->tcp[i].una;

	return sum;
}

/* Jain's index of the flows, or of those of TCP if there are no others */
static inline double jain_of(const struct sim *s)
{
	u32 num = s->conf.flows ? s->conf.flows : s->conf.tcp, i;
	double all = 0, squares = 0, una;

	for (i = 0; i < num; i++) {
		una = s->conf.flows ? s->flow[i].una : s->tcp[i].una;
		all += una;
		squares += una * una;
	}

	return all * all / (num * squares);
}

static inline void add_flows(struct outcome *o, const struct sim *s)
{
	double sent = 0, again = 0, needless = 0;
	const struct sim_flow *w;
	const struct sim_tcp *t;
	u32 k;

	for (w = s->flow; w < s->flow + s->conf.flows; w++) {
		sent += w->sent;
		again += w->retransmitted;
		needless += w->needless;
		o->dead += w->failed;
		for (k = 0; k < SRNIC_CAUSE_NUM; k++)
			o->causes[k] += w->causes[k];
	}
	for (t = s->tcp; t < s->tcp + s->conf.tcp && !s->conf.flows; t++) {
		sent += t->sent;
		again += t->retransmitted;
		needless += t->needless;
	}
	o->jain = jain_of(s);
	o->again = again / sent;
	o->needless = needless / sent;
}

/* What measure_from() draws random numbers from */
static u64 measure_seed = 1;

/* @from: time from which the use of the path is measured, ns */
static inline struct outcome measure_from(const struct sim_conf *c, u64 from)
{
	u64 rate = c->reads ? c->back.rate : c->there.rate;
	double before, before_tcp, unit;
	struct outcome o = {};
	struct sim s;

	rand_state = measure_seed;
	sim_init(&s, c);
	s.conf.until = from;
	if (from)
		sim_run(&s);
	before = transferred(&s, false);
	before_tcp = transferred(&s, true);
	from = from ? s.now : 0;
	s.conf.until = c->until;
	sim_run(&s);
	unit = rate ? (c->mtu + SIM_HEADERS) / ((s.now - from) / 1e9) / rate : 0;
	o.use = (transferred(&s, false) - before) * unit;
	o.tcp = (transferred(&s, true) - before_tcp) * unit;
	add_flows(&o, &s);
	o.fault = s.fault;
	o.lost = s.conf.there.lost + s.conf.back.lost;
	if (c->flows) {
		o.median = median_of(&s.flow[0]);
		o.first = s.flow[0].f;
	}
	sim_free(&s);

	return o;
}

static inline struct outcome measure(const struct sim_conf *c)
{
	return measure_from(c, 0);
}

#endif /* SRNIC_UNIT_SIM_MEASURE_H */
