/* SPDX-License-Identifier: GPL-2.0 */
/* srnic - simulation: the run */
#ifndef SRNIC_UNIT_SIM_RUN_H
#define SRNIC_UNIT_SIM_RUN_H

#include "sim_responder.h"

/* The flows of TCP, whose packets have the number of one of these */

/* Has SIM_TCP_ALARM arrive when the timer fires; a later time is looked up then. */
static inline void sim_tcp_set_alarm(struct sim *s, u32 flow)
{
	struct sim_tcp *t = &s->tcp[flow];

	if (!t->due || t->alarm)
		return;
	t->alarm = true;
	sim_push(s, (struct sim_pkt) { .kind = SIM_TCP_ALARM, .flow = flow, .at = t->due });
}

static inline void sim_tcp_pump(struct sim *s, u32 flow)
{
	struct sim_tcp *t = &s->tcp[flow];
	u64 seq;

	while (sim_tcp_send(t, s->now, &seq))
		sim_transmit(s, &s->conf.there, (struct sim_pkt) {
			.kind = SIM_SEGMENT, .flow = flow, .seq = seq, .npsn = 1,
		}, s->conf.mtu);
	sim_tcp_set_alarm(s, flow);
}

static inline void sim_tcp_alarm(struct sim *s, u32 flow)
{
	struct sim_tcp *t = &s->tcp[flow];

	t->alarm = false;
	if (t->due && s->now >= t->due)
		sim_tcp_timeout(t, s->now);
}

/* Return: true if the packet is one of TCP. */
static inline bool sim_tcp_arrive(struct sim *s, const struct sim_pkt *pkt)
{
	struct sim_tcp *t = &s->tcp[pkt->flow];

	switch (pkt->kind) {
	case SIM_SEGMENT:
		sim_tcp_receive(t, pkt->seq);
		sim_transmit(s, &s->conf.back, (struct sim_pkt) {
			.kind = SIM_TCP_ACK, .flow = pkt->flow, .seq = pkt->seq,
			.cum = t->expected,
		}, 4);
		return true;
	case SIM_TCP_ACK:
		sim_tcp_acked(t, pkt->cum, pkt->seq, s->now);
		break;
	case SIM_TCP_ALARM:
		sim_tcp_alarm(s, pkt->flow);
		break;
	default:
		return false;
	}
	sim_tcp_pump(s, pkt->flow);

	return true;
}

/* Round trip time with all queues full */
static inline u64 sim_longest_rtt(const struct sim_conf *c)
{
	const struct sim_path *p[] = { &c->there, &c->back };
	u64 rtt = 2 * c->far_delay, queue;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(p); i++) {
		queue = p[i]->queue ? p[i]->queue :
			(u64)c->flows * 2 * SRNIC_CWND_MAX * (c->mtu + SIM_HEADERS);
		rtt += p[i]->delay + p[i]->jitter +
		       (p[i]->rate ? queue * 1000 / p[i]->rate * NSEC_PER_MSEC : 0);
	}

	return rtt;
}

static inline void sim_init(struct sim *s, const struct sim_conf *conf)
{
	struct sim_flow *w;
	struct sim_tcp *t;

	memset(s, 0, sizeof(*s));
	s->conf = *conf;
	s->trace_from = ~0ULL;
	s->now = 1;	/* 0 means no time */
	s->patience = 100 * (max(conf->timeout ? conf->timeout : SIM_UNTIMED_NSEC,
			     sim_longest_rtt(conf)) + conf->rnr_nsec) +
		      conf->dark_to - conf->dark_from;
	/* Consecutive losses, and page faults, extend many timeouts in a row. */
	if (conf->may_fail)
		s->patience *= 10;
	if (conf->busy)
		s->patience *= 10;
	s->flow = calloc(conf->flows, sizeof(*s->flow));
	s->tcp = calloc(conf->tcp, sizeof(*s->tcp));
	for (t = s->tcp; t < s->tcp + conf->tcp; t++)
		sim_tcp_init(t);
	for (w = s->flow; w < s->flow + conf->flows; w++) {
		w->here = calloc(SIM_STORE, sizeof(*w->here));
		w->slot = calloc(SIM_STORE, sizeof(*w->slot));
		w->sacks = calloc(SIM_SACKS, sizeof(*w->sacks));
		w->cursor = conf->psn;
		w->late = rand32() % 1024;
		srnic_kept_clear(&w->kept, conf->psn);
		srnic_recovery_start(&w->f, conf->psn);
		srnic_recovery_set_limits(&w->f, conf->timeout, conf->retry_cnt,
					  conf->rnr_retry, conf->places);
	}
}

static inline void sim_free(struct sim *s)
{
	struct sim_flow *w;
	struct sim_tcp *t;

	for (w = s->flow; w < s->flow + s->conf.flows; w++) {
		free(w->here);
		free(w->slot);
		free(w->sacks);
		free(w->took);
	}
	for (t = s->tcp; t < s->tcp + s->conf.tcp; t++)
		sim_tcp_free(t);
	free(s->flow);
	free(s->tcp);
	free(s->heap);
}

/* When the timer fires */
static inline u64 sim_due(const struct sim *s, const struct sim_flow *w)
{
	return w->f.deadline + srnic_rto_slack(&w->f) * w->late / 1024 * s->conf.late / 100;
}

/* Has SIM_ALARM arrive when the timer fires, or before; a later time is looked up then. */
static inline void sim_set_alarm(struct sim *s, u32 flow)
{
	struct sim_flow *w = &s->flow[flow];
	u64 due = max(sim_due(s, w), s->now);

	if (w->failed || !w->f.deadline || (w->alarm_at && w->alarm_at <= due))
		return;
	w->alarm_at = due;
	sim_push(s, (struct sim_pkt) { .kind = SIM_ALARM, .flow = flow, .at = due });
}

/* Have all requested PSNs been transferred? */
static inline bool sim_is_done(const struct sim *s)
{
	const struct sim_flow *w;

	for (w = s->flow; w < s->flow + s->conf.flows; w++)
		if (!w->failed && (!s->conf.num || w->assigned < s->conf.num ||
				   w->una != w->assigned))
			return false;

	return !s->conf.tcp;
}

static inline void sim_timeout(struct sim *s, u32 flow)
{
	struct sim_flow *w = &s->flow[flow];
	bool busy = sim_chance(s->conf.busy);

	w->late = rand32() % 1024;
	if (!busy && sim_chance(s->conf.busy) && srnic_rto_postpone(&w->f, s->now))
		return sim_check(s, w);

	sim_todo(s, w, srnic_recovery_timeout(&w->f, busy, s->now));
	if (w->f.late)
		sim_push(s, (struct sim_pkt) {
			.kind = SIM_PAGE, .flow = flow, .at = s->now + NSEC_PER_MSEC,
		});
	sim_send(s, flow);
}

static inline void sim_alarm(struct sim *s, const struct sim_pkt *pkt)
{
	struct sim_flow *w = &s->flow[pkt->flow];

	if (w->alarm_at != pkt->at)	/* an earlier one has replaced it */
		return;
	w->alarm_at = 0;
	if (w->f.deadline && sim_due(s, w) <= s->now)
		sim_timeout(s, pkt->flow);
}

/* The consumer posts a message, and another one later. */
static inline void sim_posts(struct sim *s, u32 flow)
{
	struct sim_flow *w = &s->flow[flow];

	if (w->num_waiting < SIM_QUEUE)
		w->waiting[w->num_waiting++] = s->now;
	sim_push(s, (struct sim_pkt) {
		.kind = SIM_POST, .flow = flow, .at = s->now + s->conf.every,
	});
}

static inline void sim_arrive(struct sim *s, const struct sim_pkt *pkt)
{
	sim_trace(s, "flow %u gets kind %u, %llu + %u, asks %u", pkt->flow, pkt->kind,
		  pkt->seq, pkt->npsn, pkt->ackreq);
	if (s->flow[pkt->flow].failed)
		return;
	sim_marked(s, pkt);
	switch (pkt->kind) {
	case SIM_WRITE:
	case SIM_SEND:
	case SIM_READ:
		sim_request(s, pkt);
		return;
	case SIM_TELL:
		sim_told(s, pkt);
		return;
	case SIM_ANSWER:
		s->flow[pkt->flow].answering = false;
		sim_answer(s, pkt->flow);
		return;
	case SIM_RESPONSE:
		sim_response(s, pkt);
		break;
	case SIM_PAGE:
		if (s->flow[pkt->flow].f.late)
			srnic_rto_arm(&s->flow[pkt->flow].f, s->now);
		break;
	case SIM_ALARM:
		sim_alarm(s, pkt);
		return;
	case SIM_START:
		break;
	case SIM_POST:
		sim_posts(s, pkt->flow);
		break;
	case SIM_PACE:
		s->flow[pkt->flow].pacing = false;
		break;
	case SIM_SACK:
		sim_sacked(s, pkt);
		break;
	case SIM_CNP:
		sim_cnp(s, &s->flow[pkt->flow]);
		break;
	default:
		sim_ack(s, pkt);
		break;
	}
	sim_send(s, pkt->flow);
}

static inline void sim_step(struct sim *s)
{
	struct sim_flow *w;
	struct sim_pkt pkt;
	u32 flow;

	s->steps++;
	if (!s->num) {
		sim_require(s, false, "until the end a packet is in flight or a timer runs");
		return;
	}
	pkt = sim_pop(s);
	s->now = pkt.at;
	if (sim_tcp_arrive(s, &pkt))
		return;
	sim_arrive(s, &pkt);
	sim_set_alarm(s, pkt.flow);

	flow = s->steps % s->conf.flows;
	w = &s->flow[flow];
	if (!w->failed && sim_chance(s->conf.hurry)) {
		srnic_rto_solicit_ack(&w->f, s->now);
		sim_set_alarm(s, flow);
	}
	if (!w->failed && w->una != w->assigned)
		sim_require(s, s->now - w->progress_at <= s->patience,
			    "there is progress within the patience");
}

/* At the end: retransmissions are limited by a multiple of the losses. */
static inline void sim_check_retransmitted(struct sim *s)
{
	u64 lost = s->conf.there.lost + s->conf.back.lost, again = 0;
	u32 i;

	for (i = 0; i < s->conf.flows; i++)
		again += s->flow[i].retransmitted;
	sim_require(s, again <= 3 * lost + 1000 * s->conf.flows,
		    "retransmissions are at most three times the losses");
}

/* Runs until the time is over, all is transferred, or an invariant does not hold. */
static inline void sim_run(struct sim *s)
{
	u32 i;

	for (i = 0; i < s->conf.flows && !s->steps; i++)
		sim_push(s, (struct sim_pkt) {
			.kind = s->conf.every ? SIM_POST : SIM_START, .flow = i,
			.at = s->now + i * s->conf.apart,
		});
	for (i = 0; i < s->conf.tcp && !s->steps; i++)
		sim_tcp_pump(s, i);
	while (!s->fault && s->now < s->conf.until && !sim_is_done(s))
		sim_step(s);
	if (s->conf.lossless)
		sim_check_retransmitted(s);
}

#endif /* SRNIC_UNIT_SIM_RUN_H */
