// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - SACK packets: which requests were kept out of order
 *
 * An acknowledgment is cumulative and a NAK names one packet.  A responder that keeps
 * requests tells its peer which ones, so that all holes can be filled in one round trip.
 * The packet is our own (wire/sack_hdr.h): a peer that has not sent one is told twice at
 * most, and asked to answer.  Not to be told costs a peer nothing but time: SACKs
 * acknowledge nothing.
 *
 * A requester of READs on a long path also tells its peer how fast responses are to come: they
 * would leave at the rate of the peer's own line otherwise, and fill a queue on the way.
 */
#include "../wire/sack_hdr.h"
#include "internal.h"

/* SACKs to a peer that may not understand them */
#define SACK_TRIES	2

/* How long responses are paced after a SACK that asked for it */
#define SACK_PACE_NSEC	(4 * NSEC_PER_SEC)

/* News in one run after which they are sent at once, before the list forgets some */
#define SACK_NEWS_MAX	(SRNIC_SACK_MAX / 2)

/* Why a SACK is ignored, for the trace point; NULL: it is not */
static const char * const sack_faults[SRNIC_SACK_PARSE_NUM] = {
	[SRNIC_SACK_LENGTH]	= "length",
	[SRNIC_SACK_MAGIC]	= "magic",
	[SRNIC_SACK_VERSION]	= "version",
	[SRNIC_SACK_COUNT]	= "count",
	[SRNIC_SACK_SEEN]	= "seen",
	[SRNIC_SACK_RANGE]	= "range",
};

void srnic_sack_reset(struct srnic_qp *qp)
{
	srnic_task_assert_mine(&qp->task);
	memset(&qp->sack, 0, sizeof(qp->sack));
}

/* PSNs that the request takes; a READ takes those of its response, see wire.rst. */
static u32 sack_npsn(const struct srnic_qp *qp, const struct srnic_pkt *pkt)
{
	u32 length;

	if (srnic_pkt_op(pkt)->family != SRNIC_FAM_READ || !pkt->dmalen)
		return 1;
	length = min_t(u32, pkt->dmalen, SRNIC_SACK_SPAN * qp->conf.mtu);

	return DIV_ROUND_UP(length, qp->conf.mtu);
}

/* May a SACK be sent?  A peer that does not understand them is not told for ever. */
static bool sack_may_send(const struct srnic_qp *qp)
{
	return READ_ONCE(qp->tuning->sack) && qp->path.ndev && srnic_qp_receives(qp) &&
	       (qp->sack.understood || qp->sack.tries < SACK_TRIES);
}

/* A failed allocation does no harm: a SACK may be lost, too. */
static void sack_send(struct srnic_qp *qp)
{
	struct srnic_sack *sack = &qp->sack;
	struct srnic_sack_hdr hdr;
	struct srnic_pkt pkt = {};
	struct sk_buff *skb;
	void *payload;

	if (!qp->resp.ooo.num)
		srnic_kept_clear(&sack->kept, qp->resp.psn);
	hdr.wants_reply = !sack->understood;
	hdr.pace = sack->told.pace;
	srnic_qp_pkt(qp, &pkt, 0, srnic_kept_list(&sack->kept, qp->resp.psn, &hdr));
	pkt.opcode = SRNIC_OPCODE_SACK;
	pkt.payload = srnic_sack_bytes(hdr.num);
	skb = srnic_tx_alloc(&qp->txb, &pkt, &payload);
	if (!skb)
		return;

	srnic_sack_build(payload, &hdr);
	trace_srnic_tx(qp->qpn, &pkt);
	trace_srnic_sack_tx(qp->qpn, pkt.psn, &hdr, sack->answer ? "answer" : "kept");
	srnic_task_spend(&qp->task, skb->len);
	srnic_tx_add(&qp->txb, skb);
	srnic_count(qp->stats, SRNIC_CNT_SACK_SENT);
	if (!sack->understood)
		sack->tries++;
}

void srnic_sack_run(struct srnic_qp *qp)
{
	srnic_task_assert_mine(&qp->task);
	if (sack_may_send(qp))
		sack_send(qp);
	qp->sack.more = 0;
	qp->sack.news = 0;
	qp->sack.answer = false;
}

/* The list may be that of packets which have been executed or dropped since. */
void srnic_sack_kept(struct srnic_qp *qp, const struct srnic_pkt *pkt)
{
	struct srnic_sack *sack = &qp->sack;

	srnic_task_assert_mine(&qp->task);
	if (qp->resp.ooo.num == 1)
		srnic_kept_clear(&sack->kept, qp->resp.psn);
	sack->more++;
	sack->news += srnic_kept_add(&sack->kept, qp->resp.psn, pkt->psn, sack_npsn(qp, pkt));
	if (sack->news >= SACK_NEWS_MAX)
		srnic_sack_run(qp);
}

/* Reads the payload.  Return: why the SACK is ignored, or NULL. */
static const char *sack_read(const struct srnic_qp *qp, const struct srnic_pkt *pkt,
			     const struct sk_buff *skb, struct srnic_sack_hdr *hdr)
{
	const struct srnic_rxcb *cb = (const struct srnic_rxcb *)skb->cb;
	u8 raw[SRNIC_SACK_BYTES_MAX];

	if (!READ_ONCE(qp->tuning->sack))
		return "off";
	if (pkt->payload > sizeof(raw) ||
	    skb_copy_bits(skb, cb->bth + pkt->hdr_len, raw, pkt->payload))
		return sack_faults[SRNIC_SACK_LENGTH];

	return sack_faults[srnic_sack_parse(raw, pkt->payload, pkt->psn, hdr)];
}

/* Does the QP send requests, so that PSNs of the peer can be compared with them? */
static bool sack_has_requests(const struct srnic_qp *qp)
{
	return qp->type != IB_QPT_XRC_TGT && qp->conf.state != IB_QPS_RTR;
}

/* Tells loss recovery what the peer has, from una to high, which may be none of it. */
static void sack_report(struct srnic_qp *qp, u32 psn, const struct srnic_sack_hdr *hdr)
{
	struct srnic_recovery *r = &qp->req.recovery;
	s32 room, seen = srnic_psn_diff(hdr->seen, r->high);
	u64 now = ktime_get_ns();
	u32 i;

	if (!hdr->num || !srnic_recovery_sacked(r, psn, now))
		return;
	for (i = 0; i < hdr->num; i++) {
		room = srnic_psn_diff(r->high, hdr->range[i].psn);
		if (room > 0)
			srnic_loss_kept(r, hdr->range[i].psn,
					min_t(u32, hdr->range[i].npsn, room), now);
	}
	srnic_req_recover(qp, srnic_recovery_select(r, seen < 0 ? hdr->seen : r->high, now));
}

/* A peer that wants a pace tells it in each round trip. */
static void sack_set_pace(struct srnic_sack *sack, u8 pace)
{
	sack->pace = pace;
	sack->paced_at = ktime_get_ns();
}

/*
 * Handles a valid payload.  Before the QP sends requests, and with a PSN that has been
 * acknowledged since, a SACK shows no more than that the peer understands.
 * Return: why it is ignored, or NULL.
 */
static const char *sack_obey(struct srnic_qp *qp, u32 psn, const struct srnic_sack_hdr *hdr)
{
	struct srnic_recovery *r = &qp->req.recovery;
	bool requests = sack_has_requests(qp);
	s32 ahead = srnic_psn_diff(psn, r->una);

	if (requests && (srnic_psn_diff(psn, r->high) > 0 || ahead < -SRNIC_SACK_SPAN))
		return "psn";

	qp->sack.understood = true;
	qp->sack.known |= !hdr->wants_reply;
	qp->sack.answer |= hdr->wants_reply;
	if (!requests || ahead >= 0)
		sack_set_pace(&qp->sack, hdr->pace);
	if (!requests)
		return NULL;
	srnic_recovery_understood(r);
	srnic_recovery_heard(r);
	if (ahead < 0)
		return "stale";
	sack_report(qp, psn, hdr);

	return NULL;
}

void srnic_sack_tell_pace(struct srnic_qp *qp)
{
	const struct srnic_recovery *r = &qp->req.recovery;
	struct srnic_sack *sack = &qp->sack;

	srnic_task_assert_mine(&qp->task);
	if (srnic_pace_tell(&sack->told, &r->cwnd, &r->rtt, sack->understood, ktime_get_ns()))
		srnic_sack_run(qp);
}

u64 srnic_sack_step(struct srnic_qp *qp, u64 now)
{
	struct srnic_sack *sack = &qp->sack;

	srnic_task_assert_mine(&qp->task);
	if (now - sack->paced_at > SACK_PACE_NSEC)
		sack->pace = 0;

	return sack->pace ? srnic_sack_pace_nsec(sack->pace) : 0;
}

void srnic_sack_ask(struct srnic_qp *qp)
{
	srnic_task_assert_mine(&qp->task);
	qp->sack.answer |= !qp->sack.known;
}

void srnic_sack_packet(struct srnic_qp *qp, const struct srnic_pkt *pkt,
		       const struct sk_buff *skb)
{
	struct srnic_sack_hdr hdr = { .seen = pkt->psn };
	const char *why;

	srnic_task_assert_mine(&qp->task);
	why = sack_read(qp, pkt, skb, &hdr) ?: sack_obey(qp, pkt->psn, &hdr);
	trace_srnic_sack_rx(qp->qpn, pkt->psn, &hdr, why ?: "");
	srnic_count(qp->stats, why ? SRNIC_CNT_SACK_IGNORED : SRNIC_CNT_SACK_RCVD);
}
