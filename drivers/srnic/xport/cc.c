// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - congestion: ECN marks received, CNPs sent and obeyed, pacing
 *
 * Packets are sent ECN capable.  When a congested router has marked one, the receiver
 * sends a CNP (IBTA annex A17.9.3), and the receiver of a CNP reduces its rate as
 * dcqcn.c computes.  A queue pair that never received a CNP has no rate: all this costs
 * it the test of one bit.  Requests on a long path are spread over the round trip as well
 * (pace.c), and so are responses if the peer wants it (sack.c).  One timer serves all.
 */
#include <net/inet_ecn.h>

#include "internal.h"

/*
 * CNPs are sent with DSCP CS6, as is usual, and as ECT(0): a full queue marks them, to
 * which nobody responds, instead of dropping them.
 */
#define CC_CNP_TOS	(0xc0 | INET_ECN_ECT_0)

/* Minimum interval between two CNPs of a queue pair */
#define CC_CNP_NSEC	(50 * NSEC_PER_USEC)

/* A burst on a long path has up to the size of a GSO chain. */
#define CC_BURST_MAX	SZ_64K

/* Bursts of responses are shorter, since no acknowledgments space them. */
#define CC_ANSWERS_MAX	SZ_32K

static enum hrtimer_restart cc_timer(struct hrtimer *timer)
{
	struct srnic_qp *qp = container_of(timer, struct srnic_qp, cc.timer);

	srnic_task_kick(&qp->task);

	return HRTIMER_NORESTART;
}

void srnic_cc_init(struct srnic_qp *qp)
{
	hrtimer_setup(&qp->cc.timer, cc_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
}

void srnic_cc_reset(struct srnic_qp *qp)
{
	struct srnic_cc *cc = &qp->cc;

	srnic_task_assert_mine(&qp->task);
	hrtimer_cancel(&cc->timer);
	kfree_skb(xchg(&cc->cnp, NULL));
	cc->limited = false;
	srnic_pace_reset(&cc->pace);
	srnic_pace_reset(&cc->answers);
	cc->marked = 0;
	cc->cnps = 0;
	cc->cnp_after = 0;
}

u8 srnic_cc_tos(const struct srnic_qp *qp, u8 tos)
{
	if (!READ_ONCE(qp->tuning->ecn) || srnic_qp_is_datagram(qp))
		return tos;

	return (tos & ~INET_ECN_MASK) | INET_ECN_ECT_0;
}

static void cc_trace(const struct srnic_qp *qp, const char *why)
{
	const struct srnic_dcqcn *rate = &qp->cc.rate;

	trace_srnic_rate(qp->qpn, rate->rate, rate->target, rate->alpha, why);
}

/* A failed allocation does no harm: the next marked packet triggers another CNP. */
static void cc_send_cnp(struct srnic_qp *qp)
{
	struct srnic_pkt pkt = {};
	struct sk_buff *skb;
	void *payload;

	srnic_qp_pkt(qp, &pkt, 0, 0);
	pkt.opcode = SRNIC_OPCODE_CNP;
	pkt.migreq = false;
	pkt.becn = true;
	pkt.payload = SRNIC_CNP_BYTES;
	skb = srnic_tx_alloc(&qp->txb, &pkt, &payload);
	if (!skb)
		return;

	memset(payload, 0, SRNIC_CNP_BYTES);
	trace_srnic_tx(qp->qpn, &pkt);
	srnic_tx_alone(&qp->txb, skb, CC_CNP_TOS);
	srnic_count(qp->stats, SRNIC_CNT_CNP_SENT);
}

void srnic_cc_marked(struct srnic_qp *qp, const struct srnic_pkt *pkt)
{
	u64 now;

	srnic_task_assert_mine(&qp->task);
	/* ACKs and other packets without data are not what fills a queue. */
	if (!pkt->payload || srnic_pkt_op(pkt)->family == SRNIC_FAM_CNP ||
	    srnic_pkt_op(pkt)->family == SRNIC_FAM_SACK)
		return;

	srnic_count(qp->stats, SRNIC_CNT_ECN_MARKED);
	qp->cc.marked++;
	now = ktime_get_ns();
	if (!READ_ONCE(qp->tuning->ecn) || now < qp->cc.cnp_after)
		return;

	qp->cc.cnp_after = now + CC_CNP_NSEC;
	cc_send_cnp(qp);
}

/* Sending rate of the QP: data in flight divided by the round trip time */
static u64 cc_estimate(const struct srnic_qp *qp, u64 now)
{
	u64 psns = srnic_flight_rate(&qp->req.recovery, now);

	if (!psns || qp->resp.read_left)
		return SRNIC_DCQCN_LINE;

	return psns * qp->conf.mtu;
}

/* Reduces the rate.  False: the previous cut has not taken effect yet. */
static bool cc_cut(struct srnic_qp *qp)
{
	struct srnic_cc *cc = &qp->cc;
	u64 now = ktime_get_ns();

	if (!cc->limited ||
	    !srnic_dcqcn_advance(&cc->rate, now, qp->req.recovery.rtt.srtt)) {
		srnic_dcqcn_start(&cc->rate, cc_estimate(qp, now), now);
		cc->limited = true;
		cc->credit = 0;
		cc->next = now;
	}
	if (!srnic_dcqcn_cut(&cc->rate, now, qp->req.recovery.rtt.srtt))
		return false;
	cc_trace(qp, "cnp");

	return true;
}

void srnic_cc_cnp(struct srnic_qp *qp, const struct srnic_pkt *pkt)
{
	bool obey = READ_ONCE(qp->tuning->ecn) && pkt->becn && cc_cut(qp);

	srnic_task_assert_mine(&qp->task);
	qp->cc.cnps++;
	srnic_count(qp->stats, obey ? SRNIC_CNT_CNP_HANDLED :
				      SRNIC_CNT_CNP_IGNORED);
}

bool srnic_cc_keep_cnp(struct srnic_qp *qp, struct sk_buff *skb)
{
	const struct srnic_rxcb *cb = srnic_rxcb(skb);

	if (!cb->good || skb->data[cb->bth] != SRNIC_OPCODE_CNP ||
	    skb_has_frag_list(skb) || !srnic_qp_is_connected(qp))
		return false;

	skb_orphan(skb);

	return !cmpxchg(&qp->cc.cnp, NULL, skb);	/* srnic_cc_take_cnp() */
}

/* Brings the rate up to date.  False: the QP is no longer limited. */
static bool cc_advance(struct srnic_qp *qp, u64 now)
{
	struct srnic_cc *cc = &qp->cc;
	u64 before = cc->rate.rate;

	cc->limited = srnic_dcqcn_advance(&cc->rate, now, qp->req.recovery.rtt.srtt);
	if (!cc->limited)
		cc_trace(qp, "free");
	else if (cc->rate.rate != before)
		cc_trace(qp, "rise");

	return cc->limited;
}

/* Has the task run at @nsec, unless it runs before. */
static void cc_run_at(struct srnic_cc *cc, u64 nsec)
{
	ktime_t when = ns_to_ktime(nsec);

	if (!hrtimer_is_queued(&cc->timer) ||
	    ktime_before(when, hrtimer_get_expires(&cc->timer)))
		hrtimer_start(&cc->timer, when, HRTIMER_MODE_ABS_SOFT);
}

bool srnic_cc_pace_path(struct srnic_qp *qp)
{
	const struct srnic_recovery *r = &qp->req.recovery;
	struct srnic_cc *cc = &qp->cc;

	srnic_task_assert_mine(&qp->task);
	if (srnic_pace_start(&cc->pace, &r->cwnd, &r->rtt, CC_BURST_MAX / qp->conf.mtu,
			     ktime_get_ns()))
		return true;
	cc_run_at(cc, cc->pace.next);

	return false;
}

bool srnic_cc_pace_answer(struct srnic_qp *qp)
{
	struct srnic_cc *cc = &qp->cc;
	u64 now = ktime_get_ns(), step = srnic_sack_step(qp, now);

	if (!step || srnic_pace_answer(&cc->answers, step, CC_ANSWERS_MAX / qp->conf.mtu, now))
		return true;
	cc_run_at(cc, cc->answers.next);

	return false;
}

bool srnic_cc_pace(struct srnic_qp *qp)
{
	struct srnic_cc *cc = &qp->cc;
	u64 now;

	srnic_task_assert_mine(&qp->task);
	if (cc->credit)
		return true;
	now = ktime_get_ns();
	if (!cc_advance(qp, now))
		return true;
	if (now < cc->next) {
		cc_run_at(cc, cc->next);
		return false;
	}
	cc->credit = srnic_dcqcn_burst(&cc->rate, qp->conf.mtu, &cc->next, now);

	return true;
}
