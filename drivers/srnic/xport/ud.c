// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - datagrams: each has its own destination and is never acknowledged
 *
 * The destination is an address vector, found by its index in the protection domain.  The
 * queue pair's path is a copy of the one used last; datagrams with the same one to the same
 * queue pair leave as one GSO chain.  While idle, the copy keeps its route but not its
 * netdev.
 */
#include <linux/slab.h>
#include <linux/unaligned.h>
#include <rdma/ib_addr.h>

#include "internal.h"

#define AV_LIMIT	XA_LIMIT(1, BIT(20))

static atomic64_t av_id;

void srnic_avs_init(struct srnic_avs *avs)
{
	xa_init_flags(&avs->xa, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ |
		      XA_FLAGS_ACCOUNT);
	avs->next = 0;
}

void srnic_avs_destroy(struct srnic_avs *avs)
{
	WARN_ON(!srnic_table_is_empty(&avs->xa));
	xa_destroy(&avs->xa);
}

int srnic_av_publish(struct srnic_avs *avs, struct srnic_av *av, gfp_t gfp,
		     u32 *index)
{
	unsigned long flags;
	int err;

	av->id = atomic64_inc_return(&av_id);

	xa_lock_irqsave(&avs->xa, flags);
	err = __xa_alloc_cyclic(&avs->xa, index, av, AV_LIMIT, &avs->next,
				gfp);
	xa_unlock_irqrestore(&avs->xa, flags);
	if (err < 0)
		return err == -EBUSY ? -ENOSPC : err;

	return 0;
}

void srnic_av_hide(struct srnic_avs *avs, u32 index)
{
	unsigned long flags;
	struct srnic_av *av;

	xa_lock_irqsave(&avs->xa, flags);
	av = __xa_erase(&avs->xa, index);
	xa_unlock_irqrestore(&avs->xa, flags);
	kfree_rcu(av, rcu);
}

/* Work requests with this bit set use the queue pair's own Q_Key: 10.2.5 */
#define UD_QKEY_OWN	BIT(31)

/* Sends the pending chain before the path changes. */
static void ud_flush(struct srnic_qp *qp)
{
	if (qp->path.ndev)
		srnic_tx_flush(&qp->txb);
}

void srnic_ud_release(struct srnic_qp *qp)
{
	srnic_task_assert_mine(&qp->task);

	srnic_path_close(&qp->path);
}

/*
 * Sets the path to address vector @index.  The index comes from user space: any number
 * may be looked up, but only in the table of the QP's own PD.
 */
static bool ud_seek(struct srnic_qp *qp, u32 index)
{
	const struct srnic_av *av;

	rcu_read_lock();
	av = xa_load(&qp->avs->xa, index);
	if (av && av->id != qp->av) {
		ud_flush(qp);
		srnic_path_reset(&qp->path);
		srnic_path_close(&qp->path);
		qp->path = av->path;
		qp->av = av->id;
	}
	rcu_read_unlock();

	return av;
}

/*
 * Sets the source port to that of a stream from this QP to QP @qpn.  With a flow label all
 * QPs of a host have the same port, but a GSO chain is delivered to one QP.
 */
static void ud_aim(struct srnic_qp *qp, u32 qpn)
{
	__be16 sport = htons(rdma_get_udp_sport(qp->path.label, qp->qpn, qpn));

	if (qpn != qp->ud_qpn) {
		ud_flush(qp);
		qp->ud_qpn = qpn;
	}
	if (sport != qp->path.sport)
		srnic_path_set_sport(&qp->path, sport);
}

/* Payload of the longest datagram; 0: the netdev's MTU is too small for RoCE */
static u32 ud_mtu(const struct srnic_qp *qp)
{
	enum ib_mtu mtu = iboe_get_mtu(READ_ONCE(qp->path.ndev->mtu));

	return mtu ? ib_mtu_enum_to_int(mtu) : 0;
}

static void ud_fill(const struct srnic_qp *qp, const struct srnic_swqe *wqe,
		    struct srnic_pkt *pkt)
{
	const struct srnic_sqe *sqe = &wqe->sqe;

	srnic_qp_pkt(qp, pkt, srnic_wr_packet(wqe, true, true), wqe->psn);
	pkt->qpn = sqe->ud.qpn & SRNIC_QPN_MASK;
	pkt->qkey = sqe->ud.qkey & UD_QKEY_OWN ? qp->conf.qkey : sqe->ud.qkey;
	pkt->src_qp = srnic_qp_wire_qpn(qp);
	pkt->se = sqe->flags & IB_SEND_SOLICITED;
	pkt->imm = sqe->imm_data;
	pkt->payload = wqe->length;
}

/*
 * A datagram that cannot be sent is dropped; so is one longer than the MTU: IBTA volume
 * 1, C10-93.1.1.
 */
enum srnic_outcome srnic_ud_send(struct srnic_qp *qp,
				 const struct srnic_swqe *wqe)
{
	enum srnic_mem_err err = SRNIC_MEM_OK;
	struct srnic_pkt pkt = {};
	struct sk_buff *skb;
	void *payload;

	srnic_task_assert_mine(&qp->task);
	if (!ud_seek(qp, wqe->sqe.ud.ah))
		return srnic_fail(SRNIC_V_WR_AH);
	if (!srnic_path_open(&qp->path, qp->net) || wqe->length > ud_mtu(qp)) {
		srnic_count(qp->stats, SRNIC_CNT_SEND_ERR);
		return SRNIC_DONE;
	}
	ud_aim(qp, wqe->sqe.ud.qpn);
	ud_fill(qp, wqe, &pkt);

	skb = srnic_tx_alloc(&qp->txb, &pkt, &payload);
	if (!skb)
		return SRNIC_DONE;
	if (pkt.payload)
		err = srnic_req_sgl_read(qp, wqe, 0, payload, pkt.payload);
	if (!err) {
		srnic_qp_send(qp, &pkt, skb);
		if (pkt.qpn == SRNIC_QPN_MCAST)
			srnic_count(qp->stats, SRNIC_CNT_SENT_MCAST);
		return SRNIC_DONE;
	}
	kfree_skb(skb);

	return srnic_accessed(err, SRNIC_V_SOURCE);
}

/* May be called without owning the task; the task checks again. */
static u32 ud_qkey(const struct srnic_qp *qp)
{
	return data_race(READ_ONCE(qp->conf.qkey));	/* written as part of conf */
}

/* May the QP get the datagram?  Counts those that it may not. */
static bool ud_check(const struct srnic_qp *qp, const struct srnic_pkt *pkt,
		     const struct srnic_rx_src *src)
{
	u32 qpn = src->mcast ? SRNIC_QPN_MCAST : srnic_qp_wire_qpn(qp);
	enum srnic_counter why;

	if (SRNIC_TRANSPORT(pkt->opcode) != SRNIC_TP_UD ||
	    pkt->payload > ib_mtu_enum_to_int(IB_MTU_4096))
		why = SRNIC_CNT_RX_MALFORMED;
	else if (pkt->qpn != qpn)
		why = SRNIC_CNT_RX_BAD_ADDR;
	else if ((pkt->pkey & 0x7fff) != (SRNIC_PKEY_DEFAULT & 0x7fff))
		why = SRNIC_CNT_RX_BAD_PKEY;
	else if (!srnic_qp_receives(qp))
		why = SRNIC_CNT_RX_BAD_STATE;
	else if (pkt->qkey != ud_qkey(qp))
		why = SRNIC_CNT_RX_BAD_QKEY;
	else
		return true;

	srnic_qp_refuse(qp, why);
	return false;
}

/* Parses a packet of chain @skb.  False: it is not for this QP, and was counted. */
static bool ud_read(struct srnic_qp *qp, struct sk_buff *skb,
		    struct sk_buff *packet, struct srnic_pkt *pkt,
		    struct srnic_rx_src *src)
{
	const struct srnic_rxcb *cb = srnic_rxcb(packet);

	if (srnic_pkt_parse(packet->data + cb->bth, srnic_rx_linear(packet),
			    cb->len, pkt)) {
		srnic_qp_refuse(qp, SRNIC_CNT_RX_MALFORMED);
		return false;
	}
	trace_srnic_rx(qp->qpn, pkt);
	srnic_rx_describe(skb, packet, src);

	return ud_check(qp, pkt, src);
}

/* Does the datagram carry the QP's Q_Key?  Its offset is the same in all datagrams. */
static bool ud_has_qkey(const struct srnic_qp *qp, struct sk_buff *packet)
{
	const struct srnic_rxcb *cb = srnic_rxcb(packet);
	const struct srnic_deth *deth;

	deth = (void *)packet->data + cb->bth + sizeof(struct srnic_bth);

	return min_t(unsigned int, cb->len, srnic_rx_linear(packet)) >=
	       sizeof(struct srnic_bth) + sizeof(*deth) &&
	       get_unaligned_be32(&deth->qkey) == ud_qkey(qp);
}

/* Multicast is not taken as chains, so nobody else shares the packets of this one. */
bool srnic_ud_admit(struct srnic_qp *qp, struct sk_buff *skb)
{
	struct srnic_rx_src src;
	struct sk_buff *packet;
	struct srnic_pkt pkt;
	bool any = false;

	for (packet = skb; packet; packet = srnic_rx_next(skb, packet)) {
		struct srnic_rxcb *cb = srnic_rxcb(packet);

		if (cb->good && !ud_has_qkey(qp, packet))
			/* ud_read() reads conf, too */
			cb->good = data_race(ud_read(qp, skb, packet, &pkt,
						     &src));
		any |= cb->good;
	}

	return any;
}

/* The GRH is placed in front of the payload, as if received with it. */
static enum srnic_outcome ud_put(struct srnic_qp *qp,
				 const struct srnic_seg *seg,
					    const struct srnic_rx_src *src)
{
	struct srnic_sgl *sgl = &qp->resp.sgl;
	enum srnic_mem_err err;

	srnic_sgl_seek(sgl, 0);	/* the packet may be processed again */
	err = srnic_sgl_write(sgl, src->grh, sizeof(src->grh));
	if (!err)
		err = srnic_payload_to_sgl(seg, sgl);

	return srnic_accessed(err, SRNIC_V_LOCAL_PROT);
}

static void ud_complete(struct srnic_qp *qp,
			const struct srnic_pkt *pkt,
				   const struct srnic_rx_src *src, u16 vlan)
{
	bool imm = srnic_pkt_op(pkt)->hdrs & SRNIC_H_IMM;
	struct srnic_cqe cqe = {
		.byte_len = sizeof(src->grh) + pkt->payload,
		.opcode = IB_WC_RECV,
		.flags = SRNIC_WC_GRH | (imm ? SRNIC_WC_WITH_IMM : 0),
		.src_qp = pkt->src_qp,
		.vlan = vlan,
		.ip_version = src->version,
	};

	if (imm)
		cqe.imm_data = pkt->imm;
	memcpy(cqe.smac, src->smac, sizeof(cqe.smac));
	srnic_count(qp->stats, SRNIC_CNT_RDMA_RECVS);
	srnic_recv_cqe(qp, &cqe, pkt->se);
}

/* Writes a datagram to a receive and completes that. */
static enum srnic_outcome ud_receive(struct srnic_qp *qp,
				     const struct srnic_seg *seg,
				    const struct srnic_rx_src *src, u16 vlan)
{
	enum srnic_outcome outcome;

	if (!srnic_recv_room(qp, src, sizeof(src->grh) + seg->pkt.payload))
		return SRNIC_DONE;

	outcome = ud_put(qp, seg, src);
	if (outcome)
		return srnic_recv_fail(qp, src, outcome);

	ud_complete(qp, &seg->pkt, src, vlan);

	return SRNIC_DONE;
}

static enum srnic_outcome ud_packet(struct srnic_qp *qp, struct sk_buff *skb,
				    struct sk_buff *packet)
{
	const struct srnic_rxcb *cb = srnic_rxcb(packet);
	struct srnic_rx_src src;
	struct srnic_seg seg;

	srnic_task_spend(&qp->task, SRNIC_COST_ITEM + cb->len);
	if (!ud_read(qp, skb, packet, &seg.pkt, &src))
		return SRNIC_DONE;
	if (qp->no_loopback && src.looped && seg.pkt.src_qp == qp->qpn)
		return SRNIC_DONE;

	srnic_payload_find(&seg, packet);
	seg.from = NULL;
	if (ud_receive(qp, &seg, &src, srnic_rxcb(skb)->vlan) ==
	    SRNIC_AGAIN)
		return SRNIC_AGAIN;
	srnic_count(qp->stats, SRNIC_CNT_RCVD_PKTS);
	srnic_count_add(qp->stats, SRNIC_CNT_RCVD_BYTES, cb->len);
	if (src.mcast)
		srnic_count(qp->stats, SRNIC_CNT_RCVD_MCAST);

	return SRNIC_DONE;
}

/* The QP itself remembers how much of the chain is done: nothing in the chain changes. */
enum srnic_outcome srnic_ud_rx(struct srnic_qp *qp, struct sk_buff *skb)
{
	struct sk_buff *packet = qp->rx_at ?: skb;

	srnic_task_assert_mine(&qp->task);
	for (; packet; packet = srnic_rx_next(skb, packet)) {
		qp->rx_at = packet;
		if (!srnic_task_may(&qp->task) ||
		    (srnic_rxcb(packet)->good && ud_packet(qp, skb, packet)))
			return SRNIC_AGAIN;
	}
	qp->rx_at = NULL;

	return SRNIC_DONE;
}
