/* SPDX-License-Identifier: GPL-2.0 */
/* srnic - simulation: the responder */
#ifndef SRNIC_UNIT_SIM_RESPONDER_H
#define SRNIC_UNIT_SIM_RESPONDER_H

#include "sim_requester.h"

/* May a response leave now?  If not, SIM_ANSWER arrives when one may. */
static inline bool sim_may_answer(struct sim *s, u32 flow)
{
	struct sim_flow *w = &s->flow[flow];

	if (!w->step || w->answers.credit ||
	    srnic_pace_answer(&w->answers, w->step, SIM_ANSWERS / s->conf.mtu, s->now))
		return true;
	if (!w->answering)
		sim_push(s, (struct sim_pkt) {
			.kind = SIM_ANSWER, .flow = flow, .at = w->answers.next,
		});
	w->answering = true;

	return false;
}

/* Sends what is owed, in order, at the pace that the requester wants. */
static inline void sim_answer(struct sim *s, u32 flow)
{
	struct sim_flow *w = &s->flow[flow];
	struct sim_owed *owed;
	bool data;

	while (w->first_owed != w->num_owed) {
		owed = &w->owed[w->first_owed % SIM_OWED];
		data = owed->kind == SIM_RESPONSE;
		if (data && !sim_may_answer(s, flow))
			return;
		sim_transmit(s, &s->conf.back, (struct sim_pkt) {
			.kind = owed->kind, .flow = flow, .seq = owed->seq,
			.psn = sim_psn(s, owed->seq), .npsn = 1,
		}, data ? s->conf.mtu : 4);
		if (data)
			srnic_pace_sent(&w->answers, 1);
		owed->seq++;
		if (!--owed->npsn)
			w->first_owed++;
	}
}

static inline void sim_owe(struct sim *s, u32 flow, enum sim_kind kind, u64 seq, u32 npsn)
{
	struct sim_flow *w = &s->flow[flow];

	sim_require(s, w->num_owed - w->first_owed < SIM_OWED, "there is room for what is owed");
	if (s->fault)
		return;
	w->owed[w->num_owed++ % SIM_OWED] = (struct sim_owed) { kind, seq, npsn };
	sim_answer(s, flow);
}

static inline void sim_reply(struct sim *s, u32 flow, enum sim_kind kind, u64 seq)
{
	sim_owe(s, flow, kind, seq, 1);
}

static inline void sim_respond(struct sim *s, u32 flow, u64 seq, u32 npsn)
{
	sim_owe(s, flow, SIM_RESPONSE, seq, npsn);
}

/* Executes the expected request.  Return: must it be acknowledged? */
static inline bool sim_execute(struct sim *s, u32 flow, struct sim_slot what)
{
	struct sim_flow *w = &s->flow[flow];

	if (what.kind == SIM_READ) {
		w->replays[w->num_replays++ % s->conf.places] = (struct sim_replay) {
			w->expected, what.npsn,
		};
		sim_respond(s, flow, w->expected, what.npsn);
	}
	w->expected += what.npsn;

	return what.ackreq && what.kind != SIM_READ;
}

/* Keeps a packet.  Return: is that news, as srnic_kept_add()? */
static inline bool sim_keep(struct sim *s, struct sim_flow *w, const struct sim_pkt *pkt,
			    u64 ahead)
{
	if (s->conf.peer != SIM_PEER_KEEPS ||
	    ahead >= (s->conf.store ? s->conf.store : SIM_STORE))
		return false;

	w->needless += pkt->kind != SIM_READ && w->slot[pkt->seq % SIM_STORE].npsn;
	w->slot[pkt->seq % SIM_STORE] = (struct sim_slot) {
		.npsn = pkt->npsn, .kind = pkt->kind, .ackreq = pkt->ackreq,
	};

	return srnic_kept_add(&w->kept, sim_psn(s, w->expected), pkt->psn, pkt->npsn);
}

/* A READ is answered again if it is one of the last, or part of one. */
static inline void sim_replay(struct sim *s, const struct sim_pkt *pkt)
{
	const struct sim_flow *w = &s->flow[pkt->flow];
	const struct sim_replay *r = w->replays, *end = r + s->conf.places;

	while (r < end && pkt->seq - r->seq >= r->npsn)
		r++;
	sim_require(s, r < end || pkt->seq < w->una,
		    "the responder can answer again what is missing");
	if (r < end && pkt->seq + pkt->npsn <= r->seq + r->npsn)
		sim_respond(s, pkt->flow, pkt->seq, pkt->npsn);
}

static inline void sim_duplicate(struct sim *s, const struct sim_pkt *pkt)
{
	struct sim_flow *w = &s->flow[pkt->flow];

	if (pkt->kind == SIM_READ)
		return sim_replay(s, pkt);

	w->needless++;
	if (pkt->ackreq || s->conf.peer != SIM_PEER_RXE)
		sim_reply(s, pkt->flow, SIM_ACK, w->expected - 1);
}

static inline void sim_send_sack(struct sim *s, u32 flow)
{
	struct sim_flow *w = &s->flow[flow];
	struct srnic_sack_hdr *sack = w->sacks + w->num_sacks % SIM_SACKS;

	srnic_kept_list(&w->kept, sim_psn(s, w->expected), sack);
	sim_transmit(s, &s->conf.back, (struct sim_pkt) {
		.kind = SIM_SACK, .flow = flow, .seq = w->expected,
		.psn = sim_psn(s, w->expected), .npsn = 1, .cum = w->num_sacks++,
	}, 12 + 8 * sack->num);
	w->unsacked = 0;
}

static inline void sim_ahead(struct sim *s, const struct sim_pkt *pkt)
{
	struct sim_flow *w = &s->flow[pkt->flow];
	bool news;

	if (!w->told)
		sim_reply(s, pkt->flow, SIM_NAK, w->expected);
	w->told = true;
	news = sim_keep(s, w, pkt, pkt->seq - w->expected);
	w->unsacked++;
	if (s->conf.sack && s->conf.peer == SIM_PEER_KEEPS &&
	    (news || w->unsacked >= SIM_SACK_EVERY))
		sim_send_sack(s, pkt->flow);
}

/* The requester tells how fast responses are to come, and may ask for an answer. */
static inline void sim_told(struct sim *s, const struct sim_pkt *pkt)
{
	struct sim_flow *w = &s->flow[pkt->flow];

	if (s->conf.peer != SIM_PEER_KEEPS)
		return;
	w->step = pkt->npsn ? srnic_sack_pace_nsec(pkt->npsn) : 0;
	if (pkt->ackreq)
		sim_send_sack(s, pkt->flow);
}

/* Has the sender of a marked packet told, from time to time */
static inline void sim_marked(struct sim *s, const struct sim_pkt *pkt)
{
	struct sim_flow *w = &s->flow[pkt->flow];

	if (!pkt->marked || pkt->kind == SIM_READ || s->now < w->cnp_after)
		return;
	w->cnp_after = s->now + 50 * NSEC_PER_USEC;
	sim_reply(s, pkt->flow, SIM_CNP, w->expected);
}

static inline void sim_request(struct sim *s, const struct sim_pkt *pkt)
{
	struct sim_flow *w = &s->flow[pkt->flow];
	s32 ahead = srnic_psn_diff(pkt->psn, sim_psn(s, w->expected));
	struct sim_slot what = {
		.npsn = pkt->npsn, .kind = pkt->kind, .ackreq = pkt->ackreq,
	};
	bool ack = false;

	sim_require(s, w->expected + ahead == pkt->seq, "a request maps to its place");
	if (ahead < 0)
		return sim_duplicate(s, pkt);
	if (ahead)
		return sim_ahead(s, pkt);
	if (pkt->kind == SIM_SEND && pkt->first && sim_chance(s->conf.rnr)) {
		w->told = true;
		return sim_reply(s, pkt->flow, SIM_RNR, w->expected);
	}

	w->told = false;
	ack = s->conf.sack && w->slot[(pkt->seq + pkt->npsn) % SIM_STORE].npsn;
	do {
		ack |= sim_execute(s, pkt->flow, what);
		what = w->slot[w->expected % SIM_STORE];
		w->slot[w->expected % SIM_STORE].npsn = 0;
	} while (what.npsn);
	if (srnic_psn_diff(w->kept.seen, sim_psn(s, w->expected)) <= 0)
		srnic_kept_clear(&w->kept, sim_psn(s, w->expected));
	if (ack)
		sim_reply(s, pkt->flow, SIM_ACK, w->expected - 1);
}

#endif /* SRNIC_UNIT_SIM_RESPONDER_H */
