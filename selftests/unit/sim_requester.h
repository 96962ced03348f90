/* SPDX-License-Identifier: GPL-2.0 */
/* srnic - simulation: the requester */
#ifndef SRNIC_UNIT_SIM_REQUESTER_H
#define SRNIC_UNIT_SIM_REQUESTER_H

#include "sim.h"

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

/* Return: when the next message was posted. */
static inline u64 sim_take_waiting(struct sim_flow *w, u64 now)
{
	u64 at = w->num_waiting ? w->waiting[0] : now;

	if (w->num_waiting)
		memmove(w->waiting, w->waiting + 1, --w->num_waiting * sizeof(at));

	return at;
}

static inline bool sim_post(struct sim *s, struct sim_flow *w)
{
	const struct sim_conf *c = &s->conf;
	u32 npsn = c->mixed ? 1 + rand32() % (2 * c->message) : c->message;

	if (c->num && w->assigned >= c->num)
		return false;
	if (c->every && !w->num_waiting)
		return false;
	if (w->tail - w->head == (c->depth ? c->depth : SIM_QUEUE) ||
	    w->assigned + npsn - w->una >= SRNIC_PSN_MASK / 2)
		return false;

	*sim_message(w, w->tail++) = (struct sim_message) {
		.seq = w->assigned, .npsn = npsn,
		.kind = sim_chance(c->reads) ? SIM_READ :
			sim_chance(c->sends) ? SIM_SEND : SIM_WRITE,
		.awaited = !sim_chance(c->unawaited),
		.posted_at = sim_take_waiting(w, s->now),
	};
	sim_require(s, srnic_flight_assign(&w->f, npsn) == sim_psn(s, w->assigned),
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
static inline u32 sim_read_span(struct sim_flow *w, const struct sim_message *m, u64 seq)
{
	struct srnic_recovery *f = &w->f;
	u32 left = sim_end(m) - seq, gap;

	if (!srnic_flight_may_read(f, seq == m->seq))
		return 0;
	if (srnic_psn_diff(f->high, f->next) > 0) {
		left = min_t(u32, left, srnic_psn_diff(f->high, f->next));
		gap = sim_gap(w, seq);
		if (gap)
			left = min(left, gap);
	}

	return srnic_flight_span(f, left);
}

/* Moves the send queue by @npsn, or to @next if the outcome was SEEK. */
static inline void sim_moved(struct sim_flow *w, bool seek, u32 npsn)
{
	w->cursor = seek ? w->f.next : srnic_psn_add(w->cursor, npsn);
}

/* The flow is to send at @at.  Return: false. */
static inline bool sim_wait(struct sim *s, u32 flow, u64 at)
{
	struct sim_flow *w = &s->flow[flow];

	if (!w->pacing)
		sim_push(s, (struct sim_pkt) { .kind = SIM_PACE, .flow = flow, .at = at });
	w->pacing = true;

	return false;
}

/* May the flow send now, with regard to CNPs?  As srnic_cc_pace() */
static inline bool sim_may_rate(struct sim *s, u32 flow)
{
	struct sim_flow *w = &s->flow[flow];

	if (!w->limited || w->credit)
		return true;
	w->limited = srnic_dcqcn_advance(&w->cc, s->now, w->f.rtt.srtt);
	if (!w->limited)
		return true;
	if (s->now < w->pace_at)
		return sim_wait(s, flow, w->pace_at);
	w->credit = srnic_dcqcn_burst(&w->cc, s->conf.mtu, &w->pace_at, s->now);

	return true;
}

/* May the flow send now, with regard to CNPs and to pacing? */
static inline bool sim_may_pace(struct sim *s, u32 flow)
{
	struct sim_flow *w = &s->flow[flow];

	if (!sim_may_rate(s, flow))
		return false;
	if (!srnic_pace_is_open(&w->pace, &w->f.rtt) &&
	    !srnic_pace_start(&w->pace, &w->f.cwnd, &w->f.rtt, SIM_CHAIN / s->conf.mtu, s->now))
		return sim_wait(s, flow, w->pace.next);

	return true;
}

static inline void sim_paced(struct sim_flow *w, u32 npsn, u32 bytes)
{
	srnic_pace_requested(&w->pace, &w->f.cwnd, npsn);
	if (!w->limited)
		return;
	w->credit -= min(w->credit, bytes);
	w->cc.bytes += bytes;
}

static inline void sim_cnp(struct sim *s, struct sim_flow *w)
{
	u64 rate = srnic_flight_rate(&w->f, s->now) * s->conf.mtu;

	if (!w->limited) {
		srnic_dcqcn_start(&w->cc, rate ? rate : SRNIC_DCQCN_LINE, s->now);
		w->limited = true;
		w->credit = 0;
		w->pace_at = s->now;
	}
	srnic_dcqcn_cut(&w->cc, s->now, w->f.rtt.srtt);
}

/* Tells the peer how fast responses are to come, like srnic_sack_tell_pace(). */
static inline void sim_tell_pace(struct sim *s, u32 flow)
{
	struct sim_flow *w = &s->flow[flow];
	const struct srnic_recovery *f = &w->f;

	if (!s->conf.sack ||
	    !srnic_pace_tell(&w->pace_told, &f->cwnd, &f->rtt, f->selects, s->now) ||
	    (!f->selects && w->tells++ >= 2))
		return;
	sim_transmit(s, &s->conf.there, (struct sim_pkt) {
		.kind = SIM_TELL, .flow = flow, .psn = f->next, .npsn = w->pace_told.pace,
		.ackreq = !f->selects,
	}, 12);
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

	if (!srnic_flight_open(f) || (f->next == f->psn && !sim_post(s, w)))
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
		npsn = sim_read_span(w, m, seq);
	if (!npsn && f->detour) {	/* the response has arrived meanwhile */
		sim_moved(w, srnic_recovery_pass(f, 1), 1);
		sim_check(s, w);
		return true;
	}
	if (!npsn || !sim_may_pace(s, flow))
		return false;
	if (sim_chance(s->conf.stall)) {
		srnic_rto_stall(f, SIM_STALL_NSEC, s->now);
		return false;
	}

	if (read && srnic_pace_concerns(&w->pace_told, &f->rtt, npsn))
		sim_tell_pace(s, flow);
	last = seq + npsn == sim_end(m);
	ask = srnic_flight_wants_ack(f, read || (last && m->awaited)) ||
	      (w->limited && w->credit <= s->conf.mtu);
	w->sent += npsn;
	if (srnic_psn_diff(f->high, f->next) > 0)
		w->retransmitted += npsn;
	sim_transmit(s, &s->conf.there, (struct sim_pkt) {
		.kind = m->kind, .flow = flow, .seq = seq, .psn = f->next,
		.npsn = npsn, .ackreq = ask, .first = seq == m->seq,
	}, read ? 16 : s->conf.mtu);
	sim_paced(w, npsn, read ? 16 : s->conf.mtu);
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
		srnic_rto_arm(&w->f, s->now);
	sim_check(s, w);
	fault = recovery_state_idle_fault(&w->f);
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

static inline void sim_completed(struct sim_flow *w, const struct sim_message *m, u64 now)
{
	if (!(w->num_took & (w->num_took - 1)))
		w->took = realloc(w->took, (2 * w->num_took + 1) * sizeof(*w->took));
	w->took[w->num_took++] = now - m->posted_at;
}

/* Moves @una to @seq, and removes completed messages. */
static inline void sim_advance(struct sim *s, struct sim_flow *w, u64 seq, u32 hole)
{
	u32 psn = sim_psn(s, seq);

	w->progress_at = s->now;
	for (; w->una < seq; w->una++) {
		w->num_here -= sim_is_here(w, w->una);
		w->here[w->una % SIM_STORE] = false;
	}
	sim_obey(s, w, srnic_recovery_acked(&w->f, psn, hole, s->now));
	/* Before a kept response una may be past what was retransmitted. */
	if (hole != SRNIC_RECOVERY_KEPT && !w->failed)
		sim_check(s, w);
	sim_require(s, w->f.una == psn, "una follows the acknowledged PSNs");
	while (w->head != w->tail && sim_end(sim_message(w, w->head)) <= seq)
		sim_completed(w, sim_message(w, w->head++), s->now);
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

/* Tells loss recovery what has arrived behind the holes that it had no room for. */
static inline void sim_recall(struct sim *s, struct sim_flow *w)
{
	u64 seq, first;

	while (!w->failed && srnic_loss_recalls(&w->f)) {
		seq = sim_seq(w, w->f.sb.top);
		for (; seq < w->covered && !sim_is_here(w, seq); seq++)
			;
		first = seq;
		for (; seq < w->covered && sim_is_here(w, seq); seq++)
			;
		if (seq == first)
			return srnic_loss_recalled(&w->f);
		sim_todo(s, w, srnic_recovery_recall(&w->f, sim_psn(s, first), seq - first,
						     s->now));
	}
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

/* Has the requester no memory for a response ahead of others? */
static inline bool sim_is_full(const struct sim *s, struct sim_flow *w, u64 seq)
{
	return s->conf.room && seq > sim_skip_writes(w, w->una) && w->num_here >= s->conf.room;
}

static inline void sim_response(struct sim *s, const struct sim_pkt *pkt)
{
	struct sim_flow *w = &s->flow[pkt->flow];
	u64 una = w->una;

	w->needless += srnic_psn_diff(pkt->psn, w->f.una) < 0 || sim_is_here(w, pkt->seq);
	if (!sim_is_ours(w, pkt->psn))
		return;
	sim_require(s, sim_seq(w, pkt->psn) == pkt->seq, "a response maps to its place");
	w->covered = max(w->covered, pkt->seq + 1);
	if (sim_is_full(s, w, pkt->seq)) {
		sim_todo(s, w, srnic_recovery_missing(&w->f, sim_gap(w, una), s->now));
		srnic_recovery_full(&w->f, w->num_here, s->now);
		return;
	}
	w->num_here += !sim_is_here(w, pkt->seq);
	w->here[pkt->seq % SIM_STORE] = true;
	/* Kept responses are handled one by one. */
	while (sim_next_response(s, w))
		;
	if (w->una != una)
		return sim_recall(s, w);
	/* The requester asks whether the peer is srnic, which answers at once here. */
	if (s->conf.sack && s->conf.peer == SIM_PEER_KEEPS)
		srnic_recovery_understood(&w->f);
	sim_todo(s, w, srnic_recovery_missing(&w->f, sim_gap(w, una), s->now));
	if (!w->failed)
		sim_todo(s, w, srnic_recovery_arrived(&w->f, pkt->psn, s->now));
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

static inline void sim_sacked(struct sim *s, const struct sim_pkt *pkt)
{
	struct sim_flow *w = &s->flow[pkt->flow];
	const struct srnic_sack_hdr *sack = w->sacks + pkt->cum % SIM_SACKS;
	u64 first, end;
	u32 i;

	srnic_recovery_understood(&w->f);
	if (!sack->num || pkt->seq < w->una || !srnic_recovery_sacked(&w->f, pkt->psn, s->now))
		return;
	for (i = 0; i < sack->num; i++) {
		end = sim_seq(w, srnic_psn_add(sack->range[i].psn, sack->range[i].npsn));
		first = max(end - sack->range[i].npsn, w->una + 1);
		if (first < end)
			srnic_loss_kept(&w->f, sim_psn(s, first), end - first, s->now);
	}
	sim_todo(s, w, srnic_recovery_select(&w->f, sack->seen, s->now));
}

#endif /* SRNIC_UNIT_SIM_REQUESTER_H */
