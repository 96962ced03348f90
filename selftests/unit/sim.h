/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - requesters, a path and responders, in simulated time
 *
 * Each flow is a struct srnic_recovery, used as in the driver, and a responder.
 * All flows share a path.  Randomness comes from a seed.  A packet carries its
 * 64-bit sequence number in the flow, which the ends use only to check the
 * conclusions that they draw from PSNs.
 *
 * Invariants are checked after every step; struct sim has @fault if one does
 * not hold.
 */
#ifndef SRNIC_UNIT_SIM_H
#define SRNIC_UNIT_SIM_H

#include <linux/kernel.h>
#include <linux/time64.h>
#include <stdio.h>
#include <stdlib.h>

#include "recovery_state.h"
#include "rand.h"
#include "wire/psn.h"
#include "xport/recovery.h"

#define SIM_HEADERS	62	/* bytes, Ethernet to ICRC */
#define SIM_STORE	32768	/* packets that an end keeps out of order */
#define SIM_QUEUE	64	/* messages in a send queue */
#define SIM_UNTIMED_NSEC (67 * NSEC_PER_MSEC)	/* in place of timeout 0 */
#define SIM_STALL_NSEC	(200 * NSEC_PER_USEC)

/* How a responder treats packets that arrive out of order */
enum sim_peer {
	SIM_PEER_KEEPS,		/* keeps them, as srnic does */
	SIM_PEER_DROPS,		/* drops them, and acknowledges each duplicate */
	SIM_PEER_RXE,		/* drops them; ACKs duplicates only if asked, as rdma_rxe */
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
	SIM_PAGE,		/* no packet: the page of a late timeout is present */
	SIM_ALARM,		/* no packet: the timer may be due */
	SIM_START,		/* no packet: the flow starts */
};

/**
 * struct sim_pkt - a packet in flight
 * @at: when it arrives, ns
 * @order: order of packets that arrive at the same time
 * @seq: its sequence number in the flow
 * @kind: enum sim_kind
 * @flow: index of the flow
 * @psn: PSN
 * @npsn: READ: PSNs of the response
 * @ackreq: requests an ACK
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
 * @rate: bytes per second, 0: unlimited
 * @delay: ns
 * @jitter: maximum additional delay at random, ns; it reorders packets
 * @queue: maximum bytes queued because of @rate, 0: unlimited
 * @loss: probability that a packet is lost
 * @burst: consecutive packets lost with it; 0 and 1: none
 * @reorder: probability that a packet overtakes others by up to 1 ms
 * @dup: probability that a packet arrives twice
 * @lose: number of the packet that is lost, counted from 1; 0: none
 * @free_at: when the queue is empty, ns
 * @losing: packets still to be lost in the current burst
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
 * @dark_from: start of an outage in which all packets are lost, ns
 * @dark_to: its end
 * @far_from: start of a period in which @far_delay is added to both delays, ns
 * @far_to: its end
 * @far_delay: ns
 * @pause_every: period in which the peer pauses, ns; 0: it does not
 * @pause_for: how long it pauses, ns: packets that arrive meanwhile are looked at later
 * @peer: enum sim_peer
 * @store: packets that the responder keeps, 0: SIM_STORE
 * @flows: number of flows
 * @apart: time between the starts of two of them, ns
 * @psn: first PSN
 * @mtu: bytes per packet
 * @message: PSNs per message
 * @mixed: random messages of 1 to 2 * @message PSNs
 * @reads: probability that a message is a READ
 * @sends: probability that a message that is not a READ is a SEND
 * @places: maximum number of outstanding READs
 * @num: PSNs to transfer for each flow, 0: unlimited
 * @until: time to run, ns
 * @timeout: ACK timeout, ns
 * @retry_cnt: transport retries
 * @rnr_retry: RNR retries
 * @rnr: probability that a SEND finds no receive
 * @rnr_nsec: the RNR timer
 * @unawaited: probability that a message is not signalled
 * @stall: probability that the allocation of a packet fails
 * @busy: probability that a page is being fetched when a deadline expires, or else that
 *	  packets wait
 * @late: part of srnic_recovery_slack() by which timers fire late at most, %
 * @hurry: probability per step of a call of srnic_recovery_solicit_ack()
 * @may_fail: losses may exhaust the retries
 * @lossless: only losses cause retransmissions, so their number is checked
 */
struct sim_conf {
	struct sim_path	there;
	struct sim_path	back;
	u64		dark_from;
	u64		dark_to;
	u64		far_from;
	u64		far_to;
	u64		far_delay;
	u64		pause_every;
	u64		pause_for;
	enum sim_peer	peer;
	u32		store;
	u32		flows;
	u64		apart;
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
	u32		late;
	u32		hurry;
	bool		may_fail;
	bool		lossless;
};

/**
 * struct sim_message - a work request
 * @seq: sequence number of its first packet
 * @npsn: number of PSNs
 * @kind: SIM_WRITE, SIM_SEND or SIM_READ
 * @awaited: signalled
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
 * @kind: enum sim_kind
 * @ackreq: requests an ACK
 */
struct sim_slot {
	u32	npsn;
	u8	kind;
	bool	ackreq;
};

/**
 * struct sim_flow - a requester and its responder
 * @f: the state machine under test
 * @queue: the send queue
 * @head: oldest message
 * @tail: index of the next message
 * @cur: message of the next packet to send
 * @cursor: position of the send queue according to the outcomes of events
 * @una: sequence number of @f.una
 * @assigned: number of packets of all messages
 * @here: which of SIM_STORE responses have arrived
 * @covered: sequence number after the highest response that has arrived
 * @expected: responder: sequence number of the expected packet
 * @told: responder: has sent a NAK for it
 * @slot: responder: packets kept out of order
 * @late: part of the slack by which the timer is late, in 1/1024
 * @alarm_at: when the next SIM_ALARM arrives, 0: there is none
 * @progress_at: time of the last advance of @una, ns
 * @failed: retries are exhausted
 * @sent: PSNs sent; a READ request counts those of its response
 * @retransmitted: PSNs among them that were sent before
 * @causes: number of events, by enum srnic_recovery_cause
 */
struct sim_flow {
	struct srnic_recovery	f;
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
	u32			late;
	u64			alarm_at;
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
 * @heap: packets in flight, ordered by time of arrival
 * @num: number of packets in @heap
 * @room: size of @heap
 * @now: current time, ns
 * @order: number of packets sent so far
 * @steps: number of events so far
 * @trace_from: time from which events are printed, ns
 * @patience: maximum time without progress of a flow, ns
 * @fault: invariant that does not hold, or NULL
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

/* Prints events, to debug a seed. */
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

/* When a paused peer looks at a packet that arrives at @at */
static inline u64 sim_looked_at(const struct sim_conf *c, u64 at)
{
	u64 since = c->pause_every ? at % c->pause_every : 0;

	return since < c->pause_for ? at - since + c->pause_for : at;
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
	if (p == &s->conf.there)
		pkt.at = sim_looked_at(&s->conf, pkt.at);
	sim_push(s, pkt);
	if (sim_chance(p->dup))
		sim_push(s, pkt);
}

/* The requester */

static inline u32 sim_psn(const struct sim *s, u64 seq)
{
	return srnic_psn_add(s->conf.psn, (u32)seq);
}

/* Sequence number of @psn, which is close to @f.una */
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

/* The message that contains the packet at @seq; it is in the send queue */
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
	const char *fault = recovery_state_fault(&w->f);

	sim_require(s, !fault, fault);
	sim_require(s, w->cursor == w->f.next, "the send queue is positioned at next");
	sim_require(s, w->una <= w->expected, "acknowledged packets have arrived");
}

/* Handles the outcome of an event, and checks invariants. */
static inline void sim_obey(struct sim *s, struct sim_flow *w,
			    struct srnic_recovery_todo todo)
{
	w->causes[todo.cause]++;
	if (todo.act == SRNIC_RECOVERY_FAIL) {
		w->failed = true;
		sim_require(s, s->conf.may_fail, "retries are sufficient for the losses");
		return;
	}
	sim_trace(s, "todo %u, cause %u: mode %u, una %llu, next +%d, high +%d, retries %u",
		  todo.act, todo.cause, w->f.mode, w->una, srnic_psn_diff(w->f.next, w->f.una),
		  srnic_psn_diff(w->f.high, w->f.una), w->f.retry_left);
	if (todo.act == SRNIC_RECOVERY_SEEK)
		w->cursor = w->f.next;
}

static inline void sim_todo(struct sim *s, struct sim_flow *w,
			    struct srnic_recovery_todo todo)
{
	sim_obey(s, w, todo);
	if (!w->failed)
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
	sim_require(s, srnic_recovery_assign(&w->f, npsn) == sim_psn(s, w->assigned),
		    "PSNs are assigned consecutively");
	if (w->una == w->assigned)
		w->progress_at = s->now;
	w->assigned += npsn;

	return true;
}

static inline bool sim_is_here(const struct sim_flow *w, u64 seq)
{
	return w->here[seq % SIM_STORE];
}

/* Number of consecutive responses known to be missing from @seq on, 0 if not known */
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

/* Return: number of PSNs to request of the READ at @next, 0 not to send a request now */
static inline u32 sim_read_span(struct sim *s, struct sim_flow *w,
				const struct sim_message *m, u64 seq)
{
	struct srnic_recovery *f = &w->f;
	u32 left = sim_end(m) - seq, gap;

	if (!srnic_recovery_may_read(f, seq == m->seq, s->conf.places))
		return 0;
	if (srnic_psn_diff(f->high, f->next) > 0) {
		left = min_t(u32, left, srnic_psn_diff(f->high, f->next));
		gap = sim_gap(w, seq);
		if (gap)
			left = min(left, gap);
	}

	return srnic_recovery_span(f, left, s->conf.places);
}

/* Moves the send queue by @npsn, or to @next if the outcome was SEEK. */
static inline void sim_moved(struct sim_flow *w, bool seek, u32 npsn)
{
	w->cursor = seek ? w->f.next : srnic_psn_add(w->cursor, npsn);
}

/* Return: true if a packet was sent or skipped. */
static inline bool sim_send_one(struct sim *s, u32 flow)
{
	struct sim_flow *w = &s->flow[flow];
	struct srnic_recovery *f = &w->f;
	struct sim_message *m;
	bool read, last, ask;
	u32 npsn = 1;
	u64 seq;

	if (!srnic_recovery_open(f) || (f->next == f->psn && !sim_post(s, w)))
		return false;

	seq = sim_seq(w, f->next);
	m = sim_find(w, seq);
	read = m->kind == SIM_READ;
	if (read && sim_is_here(w, seq)) {
		sim_moved(w, srnic_recovery_pass(f, 1), 1);
		sim_check(s, w);
		return true;
	}
	if (read)
		npsn = sim_read_span(s, w, m, seq);
	if (!npsn && f->detour) {	/* the response has arrived meanwhile */
		sim_moved(w, srnic_recovery_pass(f, 1), 1);
		sim_check(s, w);
		return true;
	}
	if (!npsn)
		return false;
	if (sim_chance(s->conf.stall)) {
		srnic_recovery_stall(f, SIM_STALL_NSEC, s->now);
		return false;
	}

	last = seq + npsn == sim_end(m);
	ask = srnic_recovery_wants_ack(f, read || (last && m->awaited));
	w->sent += npsn;
	if (srnic_psn_diff(f->high, f->next) > 0)
		w->retransmitted += npsn;
	sim_transmit(s, &s->conf.there, (struct sim_pkt) {
		.kind = m->kind, .flow = flow, .seq = seq, .psn = f->next,
		.npsn = npsn, .ackreq = ask, .first = seq == m->seq,
	}, read ? 16 : s->conf.mtu);
	sim_trace(s, "flow %u sends kind %u, %llu + %u, asks %u", flow, m->kind,
		  seq, npsn, ask);
	sim_moved(w, srnic_recovery_sent(f, npsn, read, ask, s->now), npsn);
	sim_check(s, w);

	return true;
}

/* Sends what may be sent, like the driver's requester. */
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
		srnic_recovery_arm(&w->f, s->now);
	sim_check(s, w);
	fault = flight_state_idle_fault(&w->f);
	sim_require(s, !fault, fault);
}

/* What is missing from @seq on, as srnic_recovery_acked() expects it */
static inline u32 sim_hole(struct sim_flow *w, u64 seq)
{
	if (seq < w->covered)
		return sim_is_here(w, seq) ? SRNIC_RECOVERY_KEPT : sim_gap(w, seq);
	if (seq < w->assigned && sim_find(w, seq)->kind == SIM_READ)
		return SRNIC_RECOVERY_DUE;

	return 0;
}

/* Moves @una to @seq, and removes completed messages. */
static inline void sim_advance(struct sim *s, struct sim_flow *w, u64 seq, u32 hole)
{
	u32 psn = sim_psn(s, seq);

	w->progress_at = s->now;
	for (; w->una < seq; w->una++)
		w->here[w->una % SIM_STORE] = false;
	sim_obey(s, w, srnic_recovery_acked(&w->f, psn, hole, s->now));
	/* Before a kept response una may be past what was retransmitted. */
	if (hole != SRNIC_RECOVERY_KEPT && !w->failed)
		sim_check(s, w);
	sim_require(s, w->f.una == psn, "una follows the acknowledged PSNs");
	while (w->head != w->tail && sim_end(sim_message(w, w->head)) <= seq)
		w->head++;
}

/* End of the complete part, when all requests before @end have been executed */
static inline u64 sim_complete(struct sim_flow *w, u64 end)
{
	u64 seq = w->una;

	while (seq < end && (sim_is_here(w, seq) || sim_find(w, seq)->kind != SIM_READ))
		seq++;

	return seq;
}

/* The first PSN from @seq on that needs a response, among those that were answered */
static inline u64 sim_skip_writes(struct sim_flow *w, u64 seq)
{
	while (seq < w->covered && sim_find(w, seq)->kind != SIM_READ)
		seq++;

	return seq;
}

/* Handles the response that is next.  Return: there was one. */
static inline bool sim_next_response(struct sim *s, struct sim_flow *w)
{
	u64 seq = sim_skip_writes(w, w->una);

	if (w->failed || seq == w->covered || !sim_is_here(w, seq))
		return false;

	if (seq > w->una)
		sim_advance(s, w, seq, SRNIC_RECOVERY_DUE);
	seq = sim_skip_writes(w, seq + 1);
	if (!w->failed)
		sim_advance(s, w, seq, sim_hole(w, seq));

	return true;
}

/* Is it for a packet in flight?  An older one shows that the peer is alive. */
static inline bool sim_is_ours(struct sim_flow *w, u32 psn)
{
	if (srnic_psn_diff(psn, w->f.una) < 0) {
		srnic_recovery_heard(&w->f);
		return false;
	}

	return srnic_psn_diff(w->f.high, psn) > 0;
}

static inline void sim_response(struct sim *s, const struct sim_pkt *pkt)
{
	struct sim_flow *w = &s->flow[pkt->flow];
	u64 una = w->una;

	if (!sim_is_ours(w, pkt->psn))
		return;
	sim_require(s, sim_seq(w, pkt->psn) == pkt->seq, "a response maps to its place");
	w->here[pkt->seq % SIM_STORE] = true;
	w->covered = max(w->covered, pkt->seq + 1);
	/* Kept responses are handled one by one. */
	while (sim_next_response(s, w))
		;
	if (w->una == una)
		sim_todo(s, w, srnic_recovery_missing(&w->f, sim_gap(w, una), s->now));
}

static inline void sim_ack(struct sim *s, const struct sim_pkt *pkt)
{
	struct sim_flow *w = &s->flow[pkt->flow];
	u64 end = pkt->seq + (pkt->kind == SIM_ACK), seq;

	if (!sim_is_ours(w, pkt->psn)) {
		if (pkt->kind == SIM_NAK)
			srnic_recovery_dropped(&w->f, false, s->now);
		return;
	}
	sim_require(s, sim_seq(w, pkt->psn) == pkt->seq, "an ACK maps to its place");
	seq = sim_complete(w, end);
	if (seq > w->una)
		sim_advance(s, w, seq, sim_hole(w, seq));
	if (seq < end) {	/* the response was lost */
		w->covered = max(w->covered, end);
		sim_todo(s, w, srnic_recovery_missing(&w->f, sim_gap(w, seq), s->now));
		if (pkt->kind != SIM_ACK)
			srnic_recovery_dropped(&w->f, false, s->now);
		return;
	}
	if (pkt->kind == SIM_NAK)
		sim_todo(s, w, srnic_recovery_missing(&w->f, 0, s->now));
	if (pkt->kind == SIM_RNR)
		sim_todo(s, w, srnic_recovery_rnr(&w->f, s->conf.rnr_nsec, s->now));
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

/* Executes the expected request.  Return: must it be acknowledged? */
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
	do {
		ack |= sim_execute(s, pkt->flow, what);
		what = w->slot[w->expected % SIM_STORE];
		w->slot[w->expected % SIM_STORE].npsn = 0;
	} while (what.npsn);
	if (ack)
		sim_reply(s, pkt->flow, SIM_ACK, w->expected - 1);
}

/* The run */

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
	for (w = s->flow; w < s->flow + conf->flows; w++) {
		w->here = calloc(SIM_STORE, sizeof(*w->here));
		w->slot = calloc(SIM_STORE, sizeof(*w->slot));
		w->cursor = conf->psn;
		w->late = rand32() % 1024;
		srnic_recovery_start(&w->f, conf->psn);
		srnic_recovery_set_limits(&w->f, conf->timeout, conf->retry_cnt,
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

/* When the timer fires */
static inline u64 sim_due(const struct sim *s, const struct sim_flow *w)
{
	return w->f.deadline + srnic_recovery_slack(&w->f) * w->late / 1024 * s->conf.late / 100;
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

	return true;
}

static inline void sim_timeout(struct sim *s, u32 flow)
{
	struct sim_flow *w = &s->flow[flow];
	bool busy = sim_chance(s->conf.busy);

	w->late = rand32() % 1024;
	if (!busy && sim_chance(s->conf.busy) && srnic_recovery_postpone(&w->f, s->now))
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

static inline void sim_arrive(struct sim *s, const struct sim_pkt *pkt)
{
	s->now = pkt->at;
	sim_trace(s, "flow %u gets kind %u, %llu + %u, asks %u", pkt->flow, pkt->kind,
		  pkt->seq, pkt->npsn, pkt->ackreq);
	if (s->flow[pkt->flow].failed)
		return;
	switch (pkt->kind) {
	case SIM_WRITE:
	case SIM_SEND:
	case SIM_READ:
		sim_request(s, pkt);
		return;
	case SIM_RESPONSE:
		sim_response(s, pkt);
		break;
	case SIM_PAGE:
		if (s->flow[pkt->flow].f.late)
			srnic_recovery_arm(&s->flow[pkt->flow].f, s->now);
		break;
	case SIM_ALARM:
		sim_alarm(s, pkt);
		return;
	case SIM_START:
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
	sim_arrive(s, &pkt);
	sim_set_alarm(s, pkt.flow);

	flow = s->steps % s->conf.flows;
	w = &s->flow[flow];
	if (!w->failed && sim_chance(s->conf.hurry)) {
		srnic_recovery_solicit_ack(&w->f, s->now);
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
			.kind = SIM_START, .flow = i, .at = s->now + i * s->conf.apart,
		});
	while (!s->fault && s->now < s->conf.until && !sim_is_done(s))
		sim_step(s);
	if (s->conf.lossless)
		sim_check_retransmitted(s);
}

#endif /* SRNIC_UNIT_SIM_H */
