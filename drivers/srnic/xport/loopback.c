// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - loopback: two queue pairs of one device, from region to region
 *
 * The requester's task joins that of its peer and passes it the request as if a packet
 * had arrived, except that the request may be as long as many packets, that its payload
 * is still described by the requester's SGE list, and that it is acknowledged at once.
 * Both ends are left in the state in which packets would have left them.  So anything
 * unusual falls back to packets, even in the middle of a message: the peer is busy,
 * packets are in flight, memory has to be fetched, a NAK is due.
 */
#include "internal.h"

/* PSNs per piece; other work of the queue pairs may run between pieces */
#define LOOPBACK_PIECE	64

/*
 * Response PSNs per READ request, far more than SRNIC_FLIGHT_READ, and far below 2^23,
 * half the PSN space, beyond which PSNs cannot be ordered.
 */
#define LOOPBACK_READ	65536

/* Is each of the two the other's peer? */
static bool loopback_is_pair(const struct srnic_qp *a, const struct srnic_qp *b)
{
	return a->conf.dest_qpn == b->qpn && b->conf.dest_qpn == a->qpn &&
	       a->conf.mtu == b->conf.mtu &&
	       ipv6_addr_equal(&a->path.saddr, &b->path.daddr) &&
	       ipv6_addr_equal(&a->path.daddr, &b->path.saddr);
}

/*
 * Joins the task of @peer.  The two can be compared reliably only with both tasks held;
 * the unlocked checks avoid joining the task of an unrelated QP.
 */
static bool loopback_join(struct srnic_qp *qp, struct srnic_qp *peer)
{
	if (peer->ndev != qp->ndev || peer->transport != qp->transport ||
	    /* if it is being changed, the guess is wrong at worst */
	    data_race(READ_ONCE(peer->conf.dest_qpn)) != qp->qpn ||
	    !srnic_task_join(&qp->task, &peer->task))
		return false;
	if (loopback_is_pair(qp, peer))
		return true;
	srnic_task_part(&qp->task);

	return false;
}

/* The peer with its task joined; NULL: not suitable, or its task is running */
static struct srnic_qp *loopback_peer(struct srnic_qp *qp)
{
	struct srnic_qp *peer;
	bool joined;

	if (qp->task.joined)
		return container_of(qp->task.joined, struct srnic_qp, task);
	if (!READ_ONCE(qp->tuning->loopback))
		return NULL;

	peer = srnic_qp_get(qp->net, qp->conf.dest_qpn);
	if (!peer)
		return NULL;
	joined = loopback_join(qp, peer);
	srnic_qp_put(peer);	/* its task is held, so it cannot be destroyed */

	return joined ? peer : NULL;
}

/* Is there nothing unfinished that must be done first? */
static bool loopback_ready(const struct srnic_qp *qp, const struct srnic_qp *peer)
{
	const struct srnic_req *req = &qp->req;

	return srnic_flight_is_idle(&req->recovery) && !req->ooo.num &&
	       req->cur == qp->sq.head &&
	       peer->resp.psn == req->recovery.next && !peer->resp.ooo.num &&
	       !srnic_rx_busy(peer) && netif_running(qp->path.ndev);
}

/*
 * Locates the payload; @word is a buffer for an ATOMIC WRITE.  False: it cannot be copied
 * now.  Packets are built before the responder judges them, so this comes first here, too.
 */
static bool loopback_payload(struct srnic_qp *qp, const struct srnic_swqe *wqe,
			     u64 off, struct srnic_seg *seg, u64 *word)
{
	if (srnic_wr_of(wqe)->flags & SRNIC_WR_WORD) {
		seg->payload = word;
		return !srnic_req_sgl_read(qp, wqe, off, word, sizeof(*word));
	}
	if (wqe->sqe.flags & IB_SEND_INLINE) {
		seg->payload = (const u8 *)wqe->sge + off;
		return true;
	}
	seg->from = &qp->req.sgl;

	return !srnic_req_sgl_seek(qp, wqe, off) &&
	       srnic_sgl_ready(seg->from, seg->pkt.payload);
}

/* Builds the rest of the message, or a part of it, as one packet.  Return: its PSNs. */
static u32 loopback_build(struct srnic_qp *qp, const struct srnic_swqe *wqe,
			  struct srnic_seg *seg, u64 *word)
{
	u32 left = wqe->npsn - srnic_psn_diff(qp->req.recovery.next, wqe->psn);
	u32 most = srnic_wr_has_answer(wqe) ? LOOPBACK_READ : LOOPBACK_PIECE;
	u32 npsn = min(left, most);
	u64 off;

	memset(seg, 0, sizeof(*seg));
	seg->local = true;
	off = srnic_req_packet_build(qp, wqe, npsn, &seg->pkt);
	if (srnic_wr_has_sink(wqe))
		return npsn;

	return loopback_payload(qp, wqe, off, seg, word) ? npsn : 0;
}

/* The peer has executed the request: acknowledge it to the requester. */
static void loopback_answer(struct srnic_qp *qp, struct srnic_qp *peer,
			    const struct srnic_seg *seg)
{
	u8 family = srnic_pkt_op(&seg->pkt)->family;
	struct srnic_seg answer;

	switch (family) {
	case SRNIC_FAM_READ:
		qp->req.reading = true;
		break;
	case SRNIC_FAM_ATOMIC:
	case SRNIC_FAM_ATOMIC_WRITE:
	case SRNIC_FAM_FLUSH:
		srnic_resp_answer(peer, family, seg->pkt.psn, &answer);
		if (srnic_comp_packet(qp, &answer) != SRNIC_AGAIN)
			break;
		srnic_resp_reply(peer, family, seg->pkt.psn);
		srnic_task_kick(&peer->task);
		break;
	default:
		srnic_comp_acked(qp, qp->req.recovery.next);
	}
}

enum srnic_outcome srnic_loopback_send(struct srnic_qp *qp,
				       const struct srnic_swqe *wqe)
{
	struct srnic_qp *peer = loopback_peer(qp);
	struct srnic_seg seg;
	bool moved;
	u64 word;
	u32 npsn;

	srnic_task_assert_mine(&qp->task);
	if (!peer || !loopback_ready(qp, peer))
		return SRNIC_AGAIN;
	npsn = loopback_build(qp, wqe, &seg, &word);
	if (!npsn)
		return SRNIC_AGAIN;
	srnic_task_spend(&qp->task, seg.pkt.payload);
	if (srnic_rx_local(peer, &seg) == SRNIC_AGAIN)
		return SRNIC_AGAIN;

	trace_srnic_tx(qp->qpn, &seg.pkt);
	srnic_count(qp->stats, SRNIC_CNT_LOCAL);
	qp->req.traffic.data_out += seg.pkt.payload;
	srnic_req_sent(qp, wqe, npsn, srnic_qp_reliable(qp));
	moved = peer->resp.psn != seg.pkt.psn;
	if (!moved || peer->conf.state == IB_QPS_ERR)
		srnic_task_kick(&peer->task);	/* a NAK, or receives to flush */
	if (moved && srnic_qp_reliable(qp))
		loopback_answer(qp, peer, &seg);

	return SRNIC_DONE;
}

/*
 * Makes the peer run, even if its task is held by a context that would release it
 * without a run.
 */
static void loopback_kick_peer(const struct srnic_qp *qp)
{
	struct srnic_qp *peer = srnic_qp_get(qp->net, qp->conf.dest_qpn);

	if (!peer)
		return;

	srnic_task_defer(&peer->task);	/* our own run is still in progress */
	srnic_qp_put(peer);
}

enum srnic_outcome srnic_loopback_read(struct srnic_qp *qp)
{
	struct srnic_qp *peer = loopback_peer(qp);
	struct srnic_req *req = &qp->req;
	struct srnic_read_part part;
	u32 una = req->recovery.una;

	req->reading = peer && srnic_resp_rdma_peek(peer, LOOPBACK_PIECE, &part) &&
		       part.seg.pkt.psn == una;
	if (req->reading) {
		srnic_comp_packet(qp, &part.seg);
		req->reading = req->recovery.una != una;
	}
	if (!req->reading) {
		loopback_kick_peer(qp);	/* continue by packets */
		return SRNIC_AGAIN;
	}
	srnic_resp_rdma_consume(peer, &part);
	req->reading = peer->resp.read_left;

	srnic_task_spend(&qp->task, part.seg.pkt.payload);

	return SRNIC_DONE;
}

/* No region is held between runs of a task, see srnic_qp_run(). */
void srnic_loopback_release(struct srnic_qp *qp)
{
	if (qp->task.joined)
		srnic_resp_release(container_of(qp->task.joined, struct srnic_qp,
						task));
}
