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
#include "sim_path.h"
#include "sim_tcp.h"
#include "wire/psn.h"
#include "wire/sack_hdr.h"
#include "xport/dcqcn.h"
#include "xport/flight.h"
#include "xport/kept.h"
#include "xport/loss.h"
#include "xport/pace.h"
#include "xport/recovery.h"
#include "xport/rto.h"

#define SIM_STORE	16384	/* packets that an end keeps out of order */
#define SIM_QUEUE	64	/* messages in a send queue */
#define SIM_UNTIMED_NSEC (67 * NSEC_PER_MSEC)	/* in place of timeout 0 */
#define SIM_SACKS	1024	/* of a flow, that may be in flight */
#define SIM_SACK_EVERY	4	/* packets kept for each, at least */
#define SIM_STALL_NSEC	(200 * NSEC_PER_USEC)
#define SIM_OWED	2048	/* parts of the responses that wait */
#define SIM_CHAIN	65536	/* bytes of a GSO chain */
#define SIM_ANSWERS	32768	/* bytes of a burst of responses */

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
	SIM_CNP,
	SIM_SACK,
	SIM_SEGMENT,		/* of TCP */
	SIM_TCP_ACK,
	SIM_TCP_ALARM,		/* no packet: the timer of TCP may be due */
	SIM_PAGE,		/* no packet: the page of a late timeout is present */
	SIM_ALARM,		/* no packet: the timer may be due */
	SIM_START,		/* no packet: the flow starts */
	SIM_POST,		/* no packet: the consumer posts a message */
	SIM_TELL,		/* a SACK that tells how fast responses are to come */
	SIM_ANSWER,		/* no packet: the peer's pace permits another response */
	SIM_PACE,		/* no packet: the rate permits another packet */
};

/**
 * struct sim_pkt - a packet in flight
 * @at: when it arrives, ns
 * @order: order of packets that arrive at the same time
 * @seq: its sequence number in the flow
 * @kind: enum sim_kind
 * @flow: index of the flow
 * @psn: PSN
 * @npsn: READ: PSNs of the response; SIM_TELL: as @pace of struct srnic_sack_hdr
 * @cum: SIM_TCP_ACK: all before it have arrived
 * @ackreq: requests an ACK
 * @first: first packet of a message
 * @marked: a queue has marked it (ECN)
 */
struct sim_pkt {
	u64		at;
	u64		order;
	u64		seq;
	enum sim_kind	kind;
	u32		flow;
	u32		psn;
	u32		npsn;
	u64		cum;
	bool		ackreq;
	bool		first;
	bool		marked;
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
 * @room: responses that the requester keeps, 0: SIM_STORE
 * @sack: the responder sends SACKs
 * @flows: number of flows
 * @tcp: number of flows of TCP beside them, in the direction of requests
 * @apart: time between the starts of two of them, ns
 * @psn: first PSN
 * @mtu: bytes per packet
 * @message: PSNs per message
 * @depth: maximum number of messages in the send queue, 0: SIM_QUEUE
 * @every: time between two messages, ns; 0: there is always one to send
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
 * @late: part of srnic_rto_slack() by which timers fire late at most, %
 * @hurry: probability per step of a call of srnic_rto_solicit_ack()
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
	u32		room;
	bool		sack;
	u32		flows;
	u32		tcp;
	u64		apart;
	u32		psn;
	u32		mtu;
	u32		message;
	u32		depth;
	u64		every;
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
 * @posted_at: when it was posted, ns
 */
struct sim_message {
	u64		seq;
	u32		npsn;
	enum sim_kind	kind;
	bool		awaited;
	u64		posted_at;
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
 * struct sim_owed - packets of the responder that wait for those before them
 * @kind: SIM_RESPONSE, or what follows such
 * @seq: sequence number of the first
 * @npsn: their number
 */
struct sim_owed {
	enum sim_kind	kind;
	u64		seq;
	u32		npsn;
};

/* A READ that the responder has executed, and can answer again */
struct sim_replay {
	u64	seq;
	u32	npsn;
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
 * @num_here: number of these
 * @covered: sequence number after the highest response that has arrived
 * @expected: responder: sequence number of the expected packet
 * @told: responder: has sent a NAK for it
 * @slot: responder: packets kept out of order
 * @replays: responder: the last READs, as many as the requester may have outstanding
 * @num_replays: number of READs executed
 * @kept: responder: ranges of @slot that it reports
 * @unsacked: responder: packets that it has kept since the last SACK
 * @sacks: what the last SIM_SACKS of them list
 * @num_sacks: number of SACKs
 * @late: part of the slack by which the timer is late, in 1/1024
 * @alarm_at: when the next SIM_ALARM arrives, 0: there is none
 * @progress_at: time of the last advance of @una, ns
 * @failed: retries are exhausted
 * @sent: PSNs sent; a READ request counts those of its response
 * @retransmitted: PSNs among them that were sent before
 * @needless: PSNs whose data had arrived already, and has arrived again
 * @causes: number of events, by enum srnic_recovery_cause
 * @waiting: messages posted that are not in the send queue yet; see struct sim_conf, @every
 * @cc: rate since a CNP was received
 * @limited: it applies
 * @credit: bytes of the current burst that may still be sent
 * @pace_at: when it permits the next burst, ns
 * @pace: pacing on a long path
 * @pacing: SIM_PACE will arrive
 * @pace_told: that of responses that the peer was told last
 * @tells: SACKs sent to a peer that may not understand them
 * @step: responder: time that a PSN of a response is to take, ns; 0: none
 * @answers: responder: pacing of responses
 * @answering: responder: SIM_ANSWER will arrive
 * @owed: responder: packets to send
 * @first_owed: index of the next of them
 * @num_owed: number of them so far
 * @cnp_after: responder: no CNP is sent before, ns
 * @took: how long messages took, ns
 * @num_took: number of them
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
	u32			num_here;
	u64			covered;
	u64			expected;
	bool			told;
	struct sim_slot		*slot;
	struct sim_replay	replays[SRNIC_MAX_RD_ATOMIC];
	u32			num_replays;
	struct srnic_kept	kept;
	u32			unsacked;
	struct srnic_sack_hdr	*sacks;
	u32			num_sacks;
	u32			late;
	u64			alarm_at;
	u64			progress_at;
	bool			failed;
	u64			sent;
	u64			retransmitted;
	u64			needless;
	u64			causes[SRNIC_CAUSE_NUM];
	u64			waiting[SIM_QUEUE];
	u32			num_waiting;
	struct srnic_dcqcn	cc;
	bool			limited;
	u32			credit;
	u64			pace_at;
	struct srnic_pace	pace;
	bool			pacing;
	struct srnic_pace_told	pace_told;
	u32			tells;
	u64			step;
	struct srnic_pace	answers;
	bool			answering;
	struct sim_owed		owed[SIM_OWED];
	u32			first_owed;
	u32			num_owed;
	u64			cnp_after;
	u64			*took;
	u32			num_took;
};

/**
 * struct sim - a simulation
 * @conf: what is simulated
 * @flow: the flows
 * @tcp: those of TCP
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
	struct sim_tcp	*tcp;
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

/* When a paused peer looks at a packet that arrives at @at */
static inline u64 sim_looked_at(const struct sim_conf *c, u64 at)
{
	u64 since = c->pause_every ? at % c->pause_every : 0;

	return since < c->pause_for ? at - since + c->pause_for : at;
}

static inline void sim_transmit(struct sim *s, struct sim_path *p, struct sim_pkt pkt,
				u32 payload)
{
	bool far = sim_is_between(s, s->conf.far_from, s->conf.far_to);
	bool dark = sim_is_between(s, s->conf.dark_from, s->conf.dark_to);
	struct sim_fate fate = sim_path_send(p, payload + SIM_HEADERS,
					     far ? s->conf.far_delay : 0, dark, s->now);

	if (!fate.at) {
		p->lost += pkt.npsn;
		return;
	}
	pkt.at = p == &s->conf.there ? sim_looked_at(&s->conf, fate.at) : fate.at;
	pkt.marked = fate.marked;
	sim_push(s, pkt);
	if (sim_chance(p->dup))
		sim_push(s, pkt);
}

#endif /* SRNIC_UNIT_SIM_H */
