// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - raw packet queue pairs: whole Ethernet frames, no protocol of ours
 *
 * Frames to send are passed to the netdev unchanged.  Frames are received as the rules
 * of the netdev's tap decide, into the queue pair's receives or, selected by a hash,
 * into those of its work queues.
 */
#include <linux/etherdevice.h>

#include "internal.h"

/* A frame that cannot be sent, for lack of memory or otherwise, is dropped. */
enum srnic_outcome srnic_raw_send(struct srnic_qp *qp,
				  const struct srnic_swqe *wqe)
{
	const struct srnic_tap *tap = qp->tap;
	enum srnic_mem_err err;
	struct sk_buff *skb;
	void *data;

	srnic_task_assert_mine(&qp->task);
	if (!srnic_frame_fits(tap, NULL, wqe->length))
		return srnic_fail(SRNIC_V_WR_LENGTH);

	srnic_task_spend(&qp->task, wqe->length);
	skb = srnic_frame_alloc(tap, &qp->txb, wqe->length, &data);
	if (!skb)
		return SRNIC_DONE;
	err = srnic_req_sgl_read(qp, wqe, 0, data, wqe->length);
	if (!err && srnic_frame_fits(tap, data, wqe->length)) {
		srnic_frame_send(tap, &qp->txb, skb,
				 wqe->sqe.flags & IB_SEND_IP_CSUM,
				 qp->no_loopback ? qp : NULL);
		return SRNIC_DONE;
	}
	kfree_skb(skb);

	return err ? srnic_accessed(err, SRNIC_V_SOURCE) :
		     srnic_fail(SRNIC_V_WR_LENGTH);
}

/* Copies the frame, which may be nonlinear, to the receive in progress. */
static enum srnic_mem_err raw_put(struct srnic_qp *qp, struct sk_buff *skb)
{
	enum srnic_mem_err err = SRNIC_MEM_OK;
	struct skb_seq_state seq;
	unsigned int done = 0, n;
	const u8 *data;

	srnic_sgl_seek(&qp->resp.sgl, 0);	/* the frame may be processed again */
	skb_prepare_seq_read(skb, 0, skb->len, &seq);
	while (!err && (n = skb_seq_read(done, &data, &seq))) {
		err = srnic_sgl_write(&qp->resp.sgl, data, n);
		done += n;
	}
	skb_abort_seq_read(&seq);
	/* the CPU may not be able to read all fragments */
	if (!err && done < skb->len)
		err = SRNIC_MEM_FAULT;

	return err;
}

enum srnic_outcome srnic_raw_rx(struct srnic_qp *qp, struct sk_buff *skb)
{
	const struct srnic_framecb *cb = srnic_framecb(skb);
	struct srnic_cqe cqe = {
		.byte_len	= skb->len,
		.opcode		= IB_WC_RECV,
		.flags		= cb->csum_ok ? SRNIC_WC_IP_CSUM_OK : 0,
		.flow_tag	= cb->tag,
	};
	enum srnic_outcome outcome;

	srnic_task_assert_mine(&qp->task);
	srnic_task_spend(&qp->task, SRNIC_COST_ITEM + skb->len);
	if (!srnic_qp_receives(qp)) {
		srnic_qp_refuse(qp, SRNIC_CNT_RX_BAD_STATE);
		return SRNIC_DONE;
	}
	if (!srnic_recv_room(qp, NULL, skb->len))
		return SRNIC_DONE;
	outcome = srnic_accessed(raw_put(qp, skb), SRNIC_V_LOCAL_PROT);
	if (outcome)
		return srnic_recv_fail(qp, NULL, outcome);

	srnic_count(qp->stats, SRNIC_CNT_RCVD_PKTS);
	srnic_count_add(qp->stats, SRNIC_CNT_RCVD_BYTES, skb->len);
	if (is_multicast_ether_addr(skb->data))
		srnic_count(qp->stats, SRNIC_CNT_RCVD_MCAST);
	srnic_count(qp->stats, SRNIC_CNT_RDMA_RECVS);
	srnic_recv_cqe(qp, &cqe, false);

	return SRNIC_DONE;
}

/* Selects the work queue by the hash of the frame. */
static struct srnic_qp *raw_pick(const struct srnic_rss *rss,
				 const struct srnic_frame *frame)
{
	u32 hash = srnic_rss_hash(&rss->conf, &frame->f);

	return rss->wqs[hash & (BIT(rss->log_num) - 1)];
}

static void raw_deliver(struct srnic_qp *qp, struct sk_buff *skb, bool later)
{
	srnic_backlog_add(qp, skb);
	if (later)
		srnic_task_defer(&qp->task);
	else
		srnic_task_kick(&qp->task);
}

/*
 * With work queues it is their state that counts; the queue pair itself need not be in
 * a state in which it receives.  It cannot be destroyed while a rule names it.
 */
void srnic_raw_frame(void *target, struct sk_buff *skb,
		     const struct srnic_frame *frame, bool later)
{
	struct srnic_qp *qp = target;

	if (!qp->rss) {
		raw_deliver(qp, skb, later);
	} else if (srnic_qp_state(qp) != IB_QPS_ERR) {
		raw_deliver(raw_pick(qp->rss, frame), skb, later);
	} else {
		srnic_count(srnic_qp_stats(qp), SRNIC_CNT_RX_BAD_STATE);
		kfree_skb(skb);
	}
}
