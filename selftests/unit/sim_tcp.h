/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - a TCP sender, to compare with and to compete with
 *
 * CUBIC (RFC 9438) with the delay increase of HyStart (RFC 9406), selective ACKs,
 * the pipe of RFC 6675 and the loss detection of RACK (RFC 8985).  The receiver
 * acknowledges each segment and never limits the window.  Segments are counted, not
 * bytes; times are ns.
 */
#ifndef SRNIC_UNIT_SIM_TCP_H
#define SRNIC_UNIT_SIM_TCP_H

#include <linux/kernel.h>
#include <linux/time64.h>
#include <math.h>
#include <stdlib.h>

#define SIM_TCP_WINDOW	65536	/* segments, a power of two */
#define SIM_TCP_FIRST	10
#define SIM_TCP_BETA	0.7
#define SIM_TCP_C	0.4
#define SIM_TCP_RTO	(200 * NSEC_PER_MSEC)

/**
 * struct sim_segment - a segment in flight
 * @sent_at: when it was last sent
 * @here: it has arrived, as a selective ACK says
 * @lost: it is to be sent again
 * @again: it was sent more than once
 */
struct sim_segment {
	u64	sent_at;
	bool	here;
	bool	lost;
	bool	again;
};

/**
 * struct sim_tcp - a flow of TCP
 * @seg: segments from @una to @high, by sequence number
 * @una: oldest unacknowledged segment
 * @high: the next new segment
 * @top: after the highest segment that has arrived
 * @pipe: segments believed to be in the network
 * @losses: segments marked as lost and not sent again
 * @rack_at: when the youngest segment that has arrived was sent
 * @recover: recovery ends when this is acknowledged
 * @recovering: it has not
 * @cwnd: congestion window
 * @ssthresh: end of slow start
 * @wmax: window when it was last cut
 * @epoch: when growth began after that, 0: it has not
 * @start: window at @epoch
 * @west: window that Reno would have
 * @srtt: smoothed round trip time, 0: not known
 * @var: its variation
 * @min: shortest round trip time
 * @round_end: end of the current round
 * @round_min: shortest round trip time in it
 * @last_min: that of the round before
 * @samples: measured in it
 * @backoff: log2 of the factor of the timeout
 * @due: when the timeout expires
 * @alarm: SIM_TCP_ALARM will arrive
 * @expected: receiver: next segment in order
 * @got: receiver: which segments from @expected on have arrived
 * @sent: segments sent
 * @retransmitted: segments among them that were sent before
 * @needless: segments that had arrived already, and have arrived again
 */
struct sim_tcp {
	struct sim_segment	*seg;
	u64			una;
	u64			high;
	u64			top;
	u32			pipe;
	u32			losses;
	u64			rack_at;
	u64			recover;
	bool			recovering;
	double			cwnd;
	double			ssthresh;
	double			wmax;
	u64			epoch;
	double			start;
	double			west;
	u64			srtt;
	u64			var;
	u64			min;
	u64			round_end;
	u64			round_min;
	u64			last_min;
	u32			samples;
	u32			backoff;
	u64			due;
	bool			alarm;
	u64			expected;
	u8			*got;
	u64			sent;
	u64			retransmitted;
	u64			needless;
};

static inline void sim_tcp_init(struct sim_tcp *t)
{
	t->seg = calloc(SIM_TCP_WINDOW, sizeof(*t->seg));
	t->got = calloc(SIM_TCP_WINDOW, sizeof(*t->got));
	t->cwnd = SIM_TCP_FIRST;
	t->ssthresh = INFINITY;
	t->round_min = ~0ULL;
	t->last_min = ~0ULL;
}

static inline void sim_tcp_free(struct sim_tcp *t)
{
	free(t->seg);
	free(t->got);
}

static inline struct sim_segment *sim_tcp_seg(const struct sim_tcp *t, u64 seq)
{
	return &t->seg[seq % SIM_TCP_WINDOW];
}

static inline u64 sim_tcp_rto(const struct sim_tcp *t)
{
	u64 rto = t->srtt ? max(t->srtt + 4 * t->var, (u64)SIM_TCP_RTO) :
			    (u64)NSEC_PER_SEC;

	return rto << min(t->backoff, 6U);
}

/* Return: true if a segment may be sent, which is *@seq. */
static inline bool sim_tcp_send(struct sim_tcp *t, u64 now, u64 *seq)
{
	struct sim_segment *g;
	u64 n = t->una;

	if (t->pipe >= t->cwnd || (!t->losses && t->high - t->una == SIM_TCP_WINDOW))
		return false;
	if (t->losses) {
		while (!sim_tcp_seg(t, n)->lost)
			n++;
		t->losses--;
		t->retransmitted++;
	} else {
		n = t->high++;
		sim_tcp_seg(t, n)->here = false;
	}
	g = sim_tcp_seg(t, n);
	g->again = g->lost;
	g->lost = false;
	g->sent_at = now;
	t->pipe++;
	t->sent++;
	if (!t->due)
		t->due = now + sim_tcp_rto(t);
	*seq = n;

	return true;
}

/* The receiver gets a segment, and is to acknowledge all before @expected, and @seq. */
static inline void sim_tcp_receive(struct sim_tcp *t, u64 seq)
{
	if (seq < t->expected || t->got[seq % SIM_TCP_WINDOW]) {
		t->needless++;
		return;
	}
	t->got[seq % SIM_TCP_WINDOW] = true;
	for (; t->got[t->expected % SIM_TCP_WINDOW]; t->expected++)
		t->got[t->expected % SIM_TCP_WINDOW] = false;
}

static inline void sim_tcp_cut(struct sim_tcp *t)
{
	if (t->recovering)
		return;
	t->recovering = true;
	t->recover = t->high;
	/* Fast convergence */
	t->wmax = t->cwnd < t->wmax ? t->cwnd * (1 + SIM_TCP_BETA) / 2 : t->cwnd;
	t->cwnd = max(t->cwnd * SIM_TCP_BETA, 2.0);
	t->ssthresh = t->cwnd;
	t->epoch = 0;
}

/* HyStart: slow start ends when the shortest round trip of a round has grown. */
static inline void sim_tcp_hystart(struct sim_tcp *t, u64 rtt)
{
	u64 most = t->last_min / 8;

	t->round_min = min(t->round_min, rtt);
	if (++t->samples < 8 || t->last_min == ~0ULL || t->cwnd < 16)
		return;
	most = max((u64)4 * NSEC_PER_MSEC, min(most, (u64)16 * NSEC_PER_MSEC));
	if (t->round_min >= t->last_min + most)
		t->ssthresh = t->cwnd;
}

static inline void sim_tcp_measured(struct sim_tcp *t, u64 rtt)
{
	u64 diff = t->srtt > rtt ? t->srtt - rtt : rtt - t->srtt;

	t->var = t->srtt ? (3 * t->var + diff) / 4 : rtt / 2;
	t->srtt = t->srtt ? (7 * t->srtt + rtt) / 8 : rtt;
	t->min = t->min ? min(t->min, rtt) : rtt;
	t->backoff = 0;
	if (t->cwnd < t->ssthresh)
		sim_tcp_hystart(t, rtt);
}

static inline void sim_tcp_cubic(struct sim_tcp *t, u64 now)
{
	double k, secs, target;

	if (!t->epoch) {
		t->epoch = now;
		t->start = t->cwnd;
		t->west = t->cwnd;
		t->wmax = max(t->wmax, t->cwnd);
	}
	k = cbrt((t->wmax - t->start) / SIM_TCP_C);
	secs = (now - t->epoch + t->srtt) / 1e9;
	target = SIM_TCP_C * pow(secs - k, 3) + t->wmax;
	target = min(max(target, t->cwnd), 1.5 * t->cwnd);
	t->west += 3 * (1 - SIM_TCP_BETA) / (1 + SIM_TCP_BETA) / t->cwnd;
	t->cwnd += (target - t->cwnd) / t->cwnd;
	t->cwnd = max(t->cwnd, t->west);
}

/* RACK: what was sent long enough before something that has arrived is lost. */
static inline void sim_tcp_detect(struct sim_tcp *t)
{
	struct sim_segment *g;
	u64 n;

	for (n = t->una; n < t->top; n++) {
		g = sim_tcp_seg(t, n);
		if (g->here || g->lost || g->sent_at + t->min / 4 >= t->rack_at)
			continue;
		g->lost = true;
		t->losses++;
		t->pipe--;
		sim_tcp_cut(t);
	}
}

static inline void sim_tcp_advance(struct sim_tcp *t, u64 cum, u64 now)
{
	for (; t->una < cum; t->una++) {
		if (!sim_tcp_seg(t, t->una)->here) {
			sim_tcp_seg(t, t->una)->lost ? t->losses-- : t->pipe--;
			sim_tcp_seg(t, t->una)->lost = false;
		}
		if (t->recovering)
			continue;
		if (t->cwnd < t->ssthresh)
			t->cwnd++;
		else
			sim_tcp_cubic(t, now);
	}
	if (t->recovering && t->una >= t->recover)
		t->recovering = false;
	if (t->una >= t->round_end) {
		t->round_end = t->high;
		t->last_min = t->round_min;
		t->round_min = ~0ULL;
		t->samples = 0;
	}
	t->due = t->una == t->high ? 0 : now + sim_tcp_rto(t);
}

/* All before @cum have arrived, and so has @seq. */
static inline void sim_tcp_acked(struct sim_tcp *t, u64 cum, u64 seq, u64 now)
{
	struct sim_segment *g = sim_tcp_seg(t, seq);

	if (seq >= t->una && !g->here) {
		g->here = true;
		if (g->lost)
			t->losses--;
		else
			t->pipe--;
		g->lost = false;
		if (!g->again)
			sim_tcp_measured(t, now - g->sent_at);
		if (!g->again || now - g->sent_at >= t->min)
			t->rack_at = max(t->rack_at, g->sent_at);
		t->top = max(t->top, seq + 1);
	}
	if (cum > t->una)
		sim_tcp_advance(t, cum, now);
	if (t->una < t->top)
		sim_tcp_detect(t);
}

static inline void sim_tcp_timeout(struct sim_tcp *t, u64 now)
{
	struct sim_segment *g;
	u64 n;

	t->recovering = false;
	sim_tcp_cut(t);
	t->cwnd = 1;
	t->pipe = 0;
	t->losses = 0;
	for (n = t->una; n < t->high; n++) {
		g = sim_tcp_seg(t, n);
		g->lost = !g->here;
		t->losses += g->lost;
	}
	t->backoff++;
	t->due = now + sim_tcp_rto(t);
}

#endif /* SRNIC_UNIT_SIM_TCP_H */
