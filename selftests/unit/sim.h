/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - requesters, a path and responders, in simulated time
 *
 * Each flow is a struct srnic_flight, driven as the driver drives it, and a responder.
 * All flows share a path.  What is random comes from a seed.  A packet carries its
 * place among all that its flow ever sends, in 64 bits, which no end looks at but to
 * prove that PSNs led it to the same conclusion.
 *
 * After every step it is checked what must hold: struct sim has @fault then.
 */
#ifndef SRNIC_UNIT_SIM_H
#define SRNIC_UNIT_SIM_H

#include <linux/kernel.h>
#include <linux/time64.h>
#include <stdio.h>
#include <stdlib.h>

#include "flight_state.h"
#include "rand.h"
#include "wire/psn.h"
#include "xport/flight.h"

#define SIM_HEADERS	62	/* bytes, Ethernet to ICRC */
#define SIM_STORE	32768	/* packets out of order that an end keeps */
#define SIM_QUEUE	64	/* messages in a send queue */
#define SIM_STALL_NSEC	(200 * NSEC_PER_USEC)

/* What a responder does with packets that arrive out of order */
enum sim_peer {
	SIM_PEER_KEEPS,		/* keeps them, as srnic does */
	SIM_PEER_DROPS,		/* drops them, and answers each duplicate */
	SIM_PEER_RXE,		/* the same, but answers who asks only, as rdma_rxe */
	SIM_PEER_NUM
};

enum sim_kind {
	SIM_WRITE,
	SIM_SEND,
	SIM_READ,
	SIM_ACK,
	SIM_NAK,
	SIM_RNR,
	SIM_RESPONSE,
	SIM_PAGE,		/* no packet: the page that a timeout waited for is here */
};

/**
 * struct sim_pkt - a packet in flight
 * @at: when it arrives, ns
 * @order: its place among those that arrive at that time
 * @seq: its place among all of its flow
 * @kind: enum sim_kind
 * @flow: index of the flow
 * @psn: PSN
 * @npsn: READ: PSNs of the response
 * @ackreq: asks for an ACK
 * @first: first packet of a message
 */
struct sim_pkt {
	u64		at;
	u64		order;
	u64		seq;
	enum sim_kind	kind;
	u32		flow;
	u32		psn;
	u32		npsn;
	bool		ackreq;
	bool		first;
};

/**
 * struct sim_path - one direction; probabilities are of 1,000,000
 * @rate: bytes a second, 0: without limit
 * @delay: ns
 * @jitter: more delay at random, ns, which reorders
 * @queue: bytes that wait for @rate at most, 0: without limit
 * @loss: probability that a packet is lost
 * @burst: packets that are lost with it, in a row; 0 and 1: none
 * @reorder: probability that a packet overtakes others by up to 1 ms
 * @dup: probability that a packet arrives twice
 * @lose: number of a packet that is lost, counted from 1; 0: none is
 * @free_at: when the last packet has left the queue
 * @losing: packets that are lost next
 * @num: packets so far
 * @lost: PSNs lost, or dropped
 */
struct sim_path {
	u64	rate;
	u64	delay;
	u64	jitter;
	u64	queue;
	u32	loss;
	u32	burst;
	u32	reorder;
	u32	dup;
	u32	lose;

	u64	free_at;
	u32	losing;
	u32	num;
	u64	lost;
};

/**
 * struct sim_conf - what is simulated; probabilities are of 1,000,000
 * @there: path of requests
 * @back: path of responses
 * @dark_from: from then on all packets are lost, ns
 * @dark_to: until then
 * @far_from: from then on @far_delay is added to the delay of both paths, ns
 * @far_to: until then
 * @far_delay: ns
 * @peer: enum sim_peer
 * @store: packets that the responder keeps, 0: SIM_STORE
 * @flows: number of flows
 * @psn: first PSN
 * @mtu: bytes in a packet
 * @message: PSNs in a message
 * @mixed: 1 to 2 * @message of them, at random
 * @reads: probability that a message is a READ
 * @sends: probability that another is a SEND
 * @places: READs that may be outstanding
 * @num: PSNs to transfer for each flow, 0: no end
 * @until: time to run, ns
 * @timeout: ACK timeout, ns
 * @retry_cnt: transport retries
 * @rnr_retry: RNR retries
 * @rnr: probability that a SEND finds no receive
 * @rnr_nsec: the RNR timer
 * @unawaited: probability that nobody waits for the ACK of a message
 * @stall: probability that there is no memory for a packet
 * @busy: probability that a page is being fetched when a deadline has passed
 * @hurry: probability that somebody begins to wait for all ACKs, at a step
 * @may_fail: losses are more than the retries cover
 * @lossless: bound retransmissions by losses: nothing looks like a loss that is none
 */
struct sim_conf {
	struct sim_path	there;
	struct sim_path	back;
	u64		dark_from;
	u64		dark_to;
	u64		far_from;
	u64		far_to;
	u64		far_delay;
	enum sim_peer	peer;
	u32		store;
	u32		flows;
	u32		psn;
	u32		mtu;
	u32		message;
	bool		mixed;
	u32		reads;
	u32		sends;
	u32		places;
	u64		num;
	u64		until;
	u64		timeout;
	u8		retry_cnt;
	u8		rnr_retry;
	u32		rnr;
	u64		rnr_nsec;
	u32		unawaited;
	u32		stall;
	u32		busy;
	u32		hurry;
	bool		may_fail;
	bool		lossless;
};

/**
 * struct sim_message - a work request
 * @seq: place of its first packet
 * @npsn: how many
 * @kind: SIM_WRITE, SIM_SEND or SIM_READ
 * @awaited: somebody waits for the ACK
 */
struct sim_message {
	u64		seq;
	u32		npsn;
	enum sim_kind	kind;
	bool		awaited;
};

/**
 * struct sim_slot - a packet that arrived out of order
 * @npsn: as in struct sim_pkt, 0: there is none
 * @kind: the same
 * @ackreq: the same
 */
struct sim_slot {
	u32	npsn;
	u8	kind;
	bool	ackreq;
};

/**
 * struct sim_flow - a requester and its responder
 * @f: the machine under test
 * @queue: the send queue
 * @head: oldest message
 * @tail: number of the next
 * @cur: message of the packet that is sent next
 * @cursor: where the send queue stands, as it was told
 * @una: place of the packet @f.una
 * @assigned: packets of all messages
 * @here: responses that arrived, of the last SIM_STORE
 * @covered: a response behind all before has arrived
 * @expected: responder: the next packet
 * @told: responder: has sent a NAK for it
 * @slot: responder: packets out of order
 * @progress_at: when @una moved last, ns
 * @failed: the queue pair ended
 * @sent: packets sent; a READ counts for those that it asks for
 * @retransmitted: those of them that were sent before
 * @causes: events that had a cause, by enum srnic_flight_cause
 */
struct sim_flow {
	struct srnic_flight	f;
	struct sim_message	queue[SIM_QUEUE];
	u32			head;
	u32			tail;
	u32			cur;
	u32			cursor;
	u64			una;
	u64			assigned;
	u8			*here;
	u64			covered;
	u64			expected;
	bool			told;
	struct sim_slot		*slot;
	u64			progress_at;
	bool			failed;
	u64			sent;
	u64			retransmitted;
	u64			causes[SRNIC_CAUSE_NUM];
};

/**
 * struct sim - a simulation
 * @conf: what is simulated
 * @flow: the flows
 * @heap: packets in flight, the first to arrive on top
 * @num: of these
 * @room: for so many
 * @now: the time, ns
 * @order: packets sent so far
 * @steps: events so far
 * @trace_from: from then on events are printed, ns
 * @patience: how long a flow may be without progress, ns
 * @fault: what should hold and does not
 */
struct sim {
	struct sim_conf	conf;
	struct sim_flow	*flow;
	struct sim_pkt	*heap;
	size_t		num;
	size_t		room;
	u64		now;
	u64		order;
	u64		steps;
	u64		trace_from;
	u64		patience;
	const char	*fault;
};

static inline void sim_require(struct sim *s, bool holds, const char *what)
{
	if (!holds && !s->fault)
		s->fault = what;
}

/* For those who look into a seed */
#define sim_trace(s, ...)						\
	do {								\
		const struct sim *_s = (s);				\
									\
		if (_s->now >= _s->trace_from) {			\
			printf("# %.6f ms: ", _s->now / 1e6);		\
			printf(__VA_ARGS__);				\
			printf("\n");					\
		}							\
	} while (0)

static inline bool sim_chance(u32 of)
{
	return of && rand32() % 1000000 < of;
}

/* The path */

static inline bool sim_before(const struct sim_pkt *a, const struct sim_pkt *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static inline void sim_push(struct sim *s, struct sim_pkt pkt)
{
	size_t i, up;

	if (s->num == s->room) {
		s->room = s->room ? 2 * s->room : 1024;
		s->heap = realloc(s->heap, s->room * sizeof(*s->heap));
	}
	pkt.order = s->order++;
	for (i = s->num++; i; i = up) {
		up = (i - 1) / 2;
		if (sim_before(&s->heap[up], &pkt))
			break;
		s->heap[i] = s->heap[up];
	}
	s->heap[i] = pkt;
}

static inline struct sim_pkt sim_pop(struct sim *s)
{
	struct sim_pkt first = s->heap[0], last = s->heap[--s->num];
	size_t i = 0, down;

	while ((down = 2 * i + 1) < s->num) {
		if (down + 1 < s->num && sim_before(&s->heap[down + 1], &s->heap[down]))
			down++;
		if (!sim_before(&s->heap[down], &last))
			break;
		s->heap[i] = s->heap[down];
		i = down;
	}
	s->heap[i] = last;

	return first;
}

static inline bool sim_is_between(const struct sim *s, u64 from, u64 to)
{
	return s->now >= from && s->now < to;
}

static inline bool sim_is_lost(struct sim *s, struct sim_path *p)
{
	if (sim_is_between(s, s->conf.dark_from, s->conf.dark_to))
		return true;
	if (p->losing) {
		p->losing--;
		return true;
	}
	if (++p->num == p->lose)
		return true;
	if (!sim_chance(p->loss))
		return false;
	p->losing = max(p->burst, 1U) - 1;

	return true;
}

static inline u64 sim_delay(const struct sim *s, const struct sim_path *p)
{
	u64 delay = p->delay;

	if (sim_is_between(s, s->conf.far_from, s->conf.far_to))
		delay += s->conf.far_delay;
	if (sim_chance(p->reorder))
		delay -= min(delay, (u64)NSEC_PER_MSEC);
	if (p->jitter)
		delay += rand64() % p->jitter;

	return delay;
}

static inline void sim_transmit(struct sim *s, struct sim_path *p, struct sim_pkt pkt,
				u32 payload)
{
	u32 bytes = payload + SIM_HEADERS;
	u64 start = max(s->now, p->free_at);
	u64 waiting = p->rate ? (start - s->now) * (p->rate / 1000) / NSEC_PER_MSEC : 0;

	if (p->queue && waiting / 1000 * 1000 + bytes > p->queue) {
		p->lost += pkt.npsn;
		return;
	}
	p->free_at = start + (p->rate ? (u64)bytes * NSEC_PER_SEC / p->rate : 0);
	if (sim_is_lost(s, p)) {
		p->lost += pkt.npsn;
		return;
	}
	pkt.at = p->free_at + sim_delay(s, p);
	sim_push(s, pkt);
	if (sim_chance(p->dup))
		sim_push(s, pkt);
}

/* The requester */

static inline u32 sim_psn(const struct sim *s, u64 seq)
{
	return srnic_psn_add(s->conf.psn, (u32)seq);
}

/* Place of a packet of which @f.una is not far */
static inline u64 sim_seq(const struct sim_flow *w, u32 psn)
{
	return w->una + srnic_psn_diff(psn, w->f.una);
}

static inline struct sim_message *sim_message(struct sim_flow *w, u32 i)
{
	return &w->queue[i % SIM_QUEUE];
}

static inline u64 sim_end(const struct sim_message *m)
{
	return m->seq + m->npsn;
}

/* The message of the packet at @seq, which is in the send queue */
static inline struct sim_message *sim_find(struct sim_flow *w, u64 seq)
{
	if ((s32)(w->cur - w->head) < 0 || w->cur == w->tail)
		w->cur = w->head;
	while (sim_message(w, w->cur)->seq > seq)
		w->cur--;
	while (sim_end(sim_message(w, w->cur)) <= seq)
		w->cur++;

	return sim_message(w, w->cur);
}

static inline void sim_check(struct sim *s, const struct sim_flow *w)
{
	const char *fault = flight_state_fault(&w->f);

	sim_require(s, !fault, fault);
	sim_require(s, w->cursor == w->f.next, "the send queue stands at next");
	sim_require(s, w->una <= w->expected, "what is acknowledged has arrived");
}

/* Checks after an event, which has told what to do. */
static inline void sim_todo(struct sim *s, struct sim_flow *w,
			    struct srnic_flight_todo todo)
{
	w->causes[todo.cause]++;
	if (todo.act == SRNIC_FLIGHT_FAIL) {
		w->failed = true;
		sim_require(s, s->conf.may_fail, "what is lost is covered by retries");
		return;
	}
	sim_trace(s, "todo %u, cause %u: mode %u, una %llu, next +%d, high +%d, retries %u",
		  todo.act, todo.cause, w->f.mode, w->una, srnic_psn_diff(w->f.next, w->f.una),
		  srnic_psn_diff(w->f.high, w->f.una), w->f.retry_left);
	if (todo.act == SRNIC_FLIGHT_SEEK)
		w->cursor = w->f.next;
	sim_check(s, w);
}

static inline bool sim_post(struct sim *s, struct sim_flow *w)
{
	const struct sim_conf *c = &s->conf;
	u32 npsn = c->mixed ? 1 + rand32() % (2 * c->message) : c->message;

	if (c->num && w->assigned >= c->num)
		return false;
	if (w->tail - w->head == SIM_QUEUE ||
	    w->assigned + npsn - w->una >= SRNIC_PSN_MASK / 2)
		return false;

	*sim_message(w, w->tail++) = (struct sim_message) {
		.seq = w->assigned, .npsn = npsn,
		.kind = sim_chance(c->reads) ? SIM_READ :
			sim_chance(c->sends) ? SIM_SEND : SIM_WRITE,
		.awaited = !sim_chance(c->unawaited),
	};
	sim_require(s, srnic_flight_assign(&w->f, npsn) == sim_psn(s, w->assigned),
		    "PSNs are assigned in a row");
	if (w->una == w->assigned)
		w->progress_at = s->now;
	w->assigned += npsn;

	return true;
}

static inline bool sim_is_here(const struct sim_flow *w, u64 seq)
{
	return w->here[seq % SIM_STORE];
}

/* Responses known to be missing in a row from @seq on; 0: none, or not known */
static inline u32 sim_gap(struct sim_flow *w, u64 seq)
{
	const struct sim_message *m;
	u32 n = 0;

	if (seq >= w->covered)
		return 0;
	m = sim_find(w, seq);
	if (m->kind != SIM_READ)
		return 0;
	while (seq + n < w->covered && seq + n < sim_end(m) && !sim_is_here(w, seq + n))
		n++;

	return n;
}

/* Return: PSNs that the request for a READ at @next is for, 0: it is not sent now. */
static inline u32 sim_read_span(struct sim *s, struct sim_flow *w,
				const struct sim_message *m, u64 seq)
{
	struct srnic_flight *f = &w->f;
	u32 left = sim_end(m) - seq, gap;

	if (!srnic_flight_may_read(f, seq == m->seq, s->conf.places))
		return 0;
	if (srnic_psn_diff(f->high, f->next) > 0) {
		left = min_t(u32, left, srnic_psn_diff(f->high, f->next));
		gap = sim_gap(w, seq);
		if (gap)
			left = min(left, gap);
	}

	return srnic_flight_span(f, left, s->conf.places);
}

/* Moves the send queue, unless it is told where to. */
static inline void sim_moved(struct sim_flow *w, bool seek, u32 npsn)
{
	w->cursor = seek ? w->f.next : srnic_psn_add(w->cursor, npsn);
}

/* Return: true if a packet was sent, or passed over. */
static inline bool sim_send_one(struct sim *s, u32 flow)
{
	struct sim_flow *w = &s->flow[flow];
	struct srnic_flight *f = &w->f;
	struct sim_message *m;
	bool read, last, ask;
	u32 npsn = 1;
	u64 seq;

	if (!srnic_flight_open(f) || (f->next == f->psn && !sim_post(s, w)))
		return false;

	seq = sim_seq(w, f->next);
	m = sim_find(w, seq);
	read = m->kind == SIM_READ;
	if (read && sim_is_here(w, seq)) {
		sim_moved(w, srnic_flight_pass(f, 1), 1);
		sim_check(s, w);
		return true;
	}
	if (read)
		npsn = sim_read_span(s, w, m, seq);
	if (!npsn && f->detour) {	/* it was for what is here by now */
		sim_moved(w, srnic_flight_pass(f, 1), 1);
		sim_check(s, w);
		return true;
	}
	if (!npsn)
		return false;
	if (sim_chance(s->conf.stall)) {
		srnic_flight_stall(f, SIM_STALL_NSEC, s->now);
		return false;
	}

	last = seq + npsn == sim_end(m);
	ask = srnic_flight_wants_ack(f, read || (last && m->awaited));
	w->sent += npsn;
	if (srnic_psn_diff(f->high, f->next) > 0)
		w->retransmitted += npsn;
	sim_transmit(s, &s->conf.there, (struct sim_pkt) {
		.kind = m->kind, .flow = flow, .seq = seq, .psn = f->next,
		.npsn = npsn, .ackreq = ask, .first = seq == m->seq,
	}, read ? 16 : s->conf.mtu);
	sim_trace(s, "flow %u sends kind %u, %llu + %u, asks %u", flow, m->kind,
		  seq, npsn, ask);
	sim_moved(w, srnic_flight_sent(f, npsn, read, ask, s->now), npsn);
	sim_check(s, w);

	return true;
}

/* Sends what may be sent, as the driver's requester does. */
static inline void sim_send(struct sim *s, u32 flow)
{
	struct sim_flow *w = &s->flow[flow];
	const char *fault;
	bool sent = false;

	while (!w->failed && !s->fault && sim_send_one(s, flow))
		sent = true;
	if (w->failed || s->fault)
		return;
	if (!w->f.silence && sent)
		srnic_flight_arm(&w->f, s->now);
	sim_check(s, w);
	fault = flight_state_idle_fault(&w->f);
	sim_require(s, !fault, fault);
}

/* Moves @una to @seq, over messages that are complete. */
static inline void sim_advance(struct sim *s, struct sim_flow *w, u64 seq)
{
	u32 psn = sim_psn(s, seq);
	u32 hole = sim_gap(w, seq);

	w->progress_at = s->now;
	for (; w->una < seq; w->una++)
		w->here[w->una % SIM_STORE] = false;
	sim_todo(s, w, srnic_flight_acked(&w->f, psn, hole, s->now));
	sim_require(s, w->f.una == psn, "una is what is acknowledged");
	while (w->head != w->tail && sim_end(sim_message(w, w->head)) <= seq)
		w->head++;
}

/* How far all is complete, when all before @end was executed */
static inline u64 sim_complete(struct sim_flow *w, u64 end)
{
	u64 seq = w->una;

	while (seq < end && (sim_is_here(w, seq) || sim_find(w, seq)->kind != SIM_READ))
		seq++;

	return seq;
}

/* Is it neither old news nor the answer to something never sent? */
static inline bool sim_is_ours(const struct sim_flow *w, u32 psn)
{
	return srnic_psn_diff(psn, w->f.una) >= 0 && srnic_psn_diff(w->f.high, psn) > 0;
}

static inline void sim_response(struct sim *s, const struct sim_pkt *pkt)
{
	struct sim_flow *w = &s->flow[pkt->flow];
	u64 seq;

	if (!sim_is_ours(w, pkt->psn))
		return;
	sim_require(s, sim_seq(w, pkt->psn) == pkt->seq, "a response is where it belongs");
	w->here[pkt->seq % SIM_STORE] = true;
	w->covered = max(w->covered, pkt->seq + 1);
	seq = sim_complete(w, w->covered);
	if (seq > w->una)
		sim_advance(s, w, seq);
	else
		sim_todo(s, w, srnic_flight_missing(&w->f, sim_gap(w, seq), s->now));
}

static inline void sim_ack(struct sim *s, const struct sim_pkt *pkt)
{
	struct sim_flow *w = &s->flow[pkt->flow];
	u64 end = pkt->seq + (pkt->kind == SIM_ACK), seq;

	if (!sim_is_ours(w, pkt->psn))
		return;
	sim_require(s, sim_seq(w, pkt->psn) == pkt->seq, "an ACK is of where it belongs");
	seq = sim_complete(w, end);
	if (seq > w->una)
		sim_advance(s, w, seq);
	if (seq < end) {	/* the response came to grief */
		w->covered = max(w->covered, end);
		sim_todo(s, w, srnic_flight_missing(&w->f, sim_gap(w, seq), s->now));
		return;
	}
	if (pkt->kind == SIM_NAK)
		sim_todo(s, w, srnic_flight_missing(&w->f, 0, s->now));
	if (pkt->kind == SIM_RNR)
		sim_todo(s, w, srnic_flight_rnr(&w->f, s->conf.rnr_nsec, s->now));
}

/* The responder */

static inline void sim_reply(struct sim *s, u32 flow, enum sim_kind kind, u64 seq)
{
	sim_transmit(s, &s->conf.back, (struct sim_pkt) {
		.kind = kind, .flow = flow, .seq = seq, .psn = sim_psn(s, seq),
		.npsn = 1,
	}, 4);
}

static inline void sim_respond(struct sim *s, u32 flow, u64 seq, u32 npsn)
{
	u32 i;

	for (i = 0; i < npsn; i++)
		sim_transmit(s, &s->conf.back, (struct sim_pkt) {
			.kind = SIM_RESPONSE, .flow = flow, .seq = seq + i,
			.psn = sim_psn(s, seq + i), .npsn = 1,
		}, s->conf.mtu);
}

/* Executes the request that is next.  Return: it is to be acknowledged. */
static inline bool sim_execute(struct sim *s, u32 flow, struct sim_slot what)
{
	struct sim_flow *w = &s->flow[flow];

	if (what.kind == SIM_READ)
		sim_respond(s, flow, w->expected, what.npsn);
	w->expected += what.npsn;

	return what.ackreq && what.kind != SIM_READ;
}

static inline void sim_keep(struct sim *s, struct sim_flow *w, const struct sim_pkt *pkt,
			    u64 ahead)
{
	if (s->conf.peer != SIM_PEER_KEEPS ||
	    ahead >= (s->conf.store ? s->conf.store : SIM_STORE))
		return;

	w->slot[pkt->seq % SIM_STORE] = (struct sim_slot) {
		.npsn = pkt->npsn, .kind = pkt->kind, .ackreq = pkt->ackreq,
	};
}

static inline void sim_duplicate(struct sim *s, const struct sim_pkt *pkt)
{
	const struct sim_flow *w = &s->flow[pkt->flow];

	if (pkt->kind == SIM_READ)
		sim_respond(s, pkt->flow, pkt->seq,
			    min((u64)pkt->npsn, w->expected - pkt->seq));
	else if (pkt->ackreq || s->conf.peer != SIM_PEER_RXE)
		sim_reply(s, pkt->flow, SIM_ACK, w->expected - 1);
}

static inline void sim_ahead(struct sim *s, const struct sim_pkt *pkt)
{
	struct sim_flow *w = &s->flow[pkt->flow];

	if (!w->told)
		sim_reply(s, pkt->flow, SIM_NAK, w->expected);
	w->told = true;
	sim_keep(s, w, pkt, pkt->seq - w->expected);
}

static inline void sim_request(struct sim *s, const struct sim_pkt *pkt)
{
	struct sim_flow *w = &s->flow[pkt->flow];
	s32 ahead = srnic_psn_diff(pkt->psn, sim_psn(s, w->expected));
	struct sim_slot what = {
		.npsn = pkt->npsn, .kind = pkt->kind, .ackreq = pkt->ackreq,
	};
	bool ack = false;

	sim_require(s, w->expected + ahead == pkt->seq, "a request is where it belongs");
	if (ahead < 0)
		return sim_duplicate(s, pkt);
	if (ahead)
		return sim_ahead(s, pkt);
	if (pkt->kind == SIM_SEND && pkt->first && sim_chance(s->conf.rnr)) {
		w->told = true;
		return sim_reply(s, pkt->flow, SIM_RNR, w->expected);
	}

	w->told = false;
	do {
		ack |= sim_execute(s, pkt->flow, what);
		what = w->slot[w->expected % SIM_STORE];
		w->slot[w->expected % SIM_STORE].npsn = 0;
	} while (what.npsn);
	if (ack)
		sim_reply(s, pkt->flow, SIM_ACK, w->expected - 1);
}

/* The run */

/* How long a round trip takes when all queues are full */
static inline u64 sim_longest_rtt(const struct sim_conf *c)
{
	const struct sim_path *p[] = { &c->there, &c->back };
	u64 rtt = 2 * c->far_delay, queue;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(p); i++) {
		queue = p[i]->queue ? p[i]->queue :
			(u64)c->flows * 2 * SRNIC_FLIGHT_MAX * (c->mtu + SIM_HEADERS);
		rtt += p[i]->delay + p[i]->jitter +
		       (p[i]->rate ? queue * 1000 / p[i]->rate * NSEC_PER_MSEC : 0);
	}

	return rtt;
}

static inline void sim_init(struct sim *s, const struct sim_conf *conf)
{
	struct sim_flow *w;

	memset(s, 0, sizeof(*s));
	s->conf = *conf;
	s->trace_from = ~0ULL;
	s->now = 1;	/* 0 is no time */
	s->patience = 20 * (max(conf->timeout, sim_longest_rtt(conf)) + conf->rnr_nsec) +
		      conf->dark_to - conf->dark_from;
	/* Losses in a row, and pages, hold up many timeouts in a row. */
	if (conf->may_fail)
		s->patience *= 10;
	if (conf->busy)
		s->patience *= 10;
	s->flow = calloc(conf->flows, sizeof(*s->flow));
	for (w = s->flow; w < s->flow + conf->flows; w++) {
		w->here = calloc(SIM_STORE, sizeof(*w->here));
		w->slot = calloc(SIM_STORE, sizeof(*w->slot));
		w->cursor = conf->psn;
		srnic_flight_start(&w->f, conf->psn);
		srnic_flight_set_limits(&w->f, conf->timeout, conf->retry_cnt,
					conf->rnr_retry);
	}
}

static inline void sim_free(struct sim *s)
{
	struct sim_flow *w;

	for (w = s->flow; w < s->flow + s->conf.flows; w++) {
		free(w->here);
		free(w->slot);
	}
	free(s->flow);
	free(s->heap);
}

/* The flow whose deadline is next, -1: there is none */
static inline int sim_deadline(const struct sim *s)
{
	u64 first = ~0ULL;
	int found = -1;
	u32 i;

	for (i = 0; i < s->conf.flows; i++) {
		const struct sim_flow *w = &s->flow[i];

		if (w->failed || !w->f.deadline || w->f.deadline >= first)
			continue;
		first = w->f.deadline;
		found = i;
	}

	return found;
}

/* Is all that was asked for transferred? */
static inline bool sim_is_done(const struct sim *s)
{
	const struct sim_flow *w;

	for (w = s->flow; w < s->flow + s->conf.flows; w++)
		if (!w->failed && (!s->conf.num || w->assigned < s->conf.num ||
				   w->una != w->assigned))
			return false;

	return true;
}

static inline void sim_timeout(struct sim *s, u32 flow)
{
	struct sim_flow *w = &s->flow[flow];
	bool busy = sim_chance(s->conf.busy);

	s->now = max(s->now, w->f.deadline);
	sim_todo(s, w, srnic_flight_timeout(&w->f, busy, s->now));
	if (w->f.late)
		sim_push(s, (struct sim_pkt) {
			.kind = SIM_PAGE, .flow = flow, .at = s->now + NSEC_PER_MSEC,
		});
	sim_send(s, flow);
}

static inline void sim_arrive(struct sim *s)
{
	struct sim_pkt pkt = sim_pop(s);

	s->now = pkt.at;
	sim_trace(s, "flow %u gets kind %u, %llu + %u, asks %u", pkt.flow, pkt.kind,
		  pkt.seq, pkt.npsn, pkt.ackreq);
	if (s->flow[pkt.flow].failed)
		return;
	switch (pkt.kind) {
	case SIM_WRITE:
	case SIM_SEND:
	case SIM_READ:
		sim_request(s, &pkt);
		return;
	case SIM_RESPONSE:
		sim_response(s, &pkt);
		break;
	case SIM_PAGE:
		if (s->flow[pkt.flow].f.late)
			srnic_flight_arm(&s->flow[pkt.flow].f, s->now);
		break;
	default:
		sim_ack(s, &pkt);
		break;
	}
	sim_send(s, pkt.flow);
}

static inline void sim_step(struct sim *s)
{
	int due = sim_deadline(s);
	struct sim_flow *w;

	s->steps++;
	if (due < 0 && !s->num) {
		sim_require(s, false, "something is in flight, or due, until all is done");
		return;
	}
	if (due >= 0 && (!s->num || s->flow[due].f.deadline < s->heap[0].at))
		sim_timeout(s, due);
	else
		sim_arrive(s);

	w = &s->flow[s->steps % s->conf.flows];
	if (!w->failed && sim_chance(s->conf.hurry))
		srnic_flight_hurry(&w->f, s->now);
	if (!w->failed && w->una != w->assigned)
		sim_require(s, s->now - w->progress_at <= s->patience,
			    "there is progress from time to time");
}

/* At the end: what was retransmitted was lost, but for a part. */
static inline void sim_check_retransmitted(struct sim *s)
{
	u64 lost = s->conf.there.lost + s->conf.back.lost, again = 0;
	u32 i;

	for (i = 0; i < s->conf.flows; i++)
		again += s->flow[i].retransmitted;
	sim_require(s, again <= 3 * lost + 1000 * s->conf.flows,
		    "no more is retransmitted than three times what was lost");
}

/* Runs until the time is over, or all is done, or something does not hold. */
static inline void sim_run(struct sim *s)
{
	u32 i;

	if (!s->steps)
		for (i = 0; i < s->conf.flows; i++)
			sim_send(s, i);
	while (!s->fault && s->now < s->conf.until && !sim_is_done(s))
		sim_step(s);
	if (s->conf.lossless)
		sim_check_retransmitted(s);
}

#endif /* SRNIC_UNIT_SIM_H */
