/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - what the files of this room share: types, and functions by the file that has them
 *
 * Not for the machines, which have headers of their own.
 */
#ifndef SRNIC_XPORT_INTERNAL_H
#define SRNIC_XPORT_INTERNAL_H

#include "../mem/mem.h"
#include "../net/net.h"
#include "../tap/tap.h"
#include "qp.h"
#include "verdict.h"
#include "wr.h"
#include "xport.h"

/**
 * enum srnic_outcome - outcome of a step of the protocol
 * @SRNIC_DONE: the step has been made
 * @SRNIC_EARLY: the packet arrived out of order
 * @SRNIC_AGAIN: the step cannot be made now, or not by loopback.  It has changed nothing, and
 *		 the task is kicked when what it waits for happens: a page fetched by a pager,
 *		 the invalidation of a key, room in the network stack, a timer, an answer.  The
 *		 end of the share kicks nothing: the run reports to the task that there is more
 *		 to do
 * @SRNIC_FAILED: the step failed; combined with the verdict and a memory error
 */
enum srnic_outcome {
	SRNIC_DONE,
	SRNIC_EARLY,
	SRNIC_AGAIN,
	SRNIC_FAILED = 0x100,
};

#define SRNIC_FAIL_MEMORY	16	/* shift of the memory error */

static inline enum srnic_outcome srnic_fail(enum srnic_verdict why)
{
	return SRNIC_FAILED | why;
}

/* Failure whose reason is that memory was refused, with @err */
static inline enum srnic_outcome srnic_fail_memory(enum srnic_verdict why,
						   enum srnic_mem_err err)
{
	return srnic_fail(why) | err << SRNIC_FAIL_MEMORY;
}

static inline bool srnic_has_failed(enum srnic_outcome outcome)
{
	return outcome & SRNIC_FAILED;
}

static inline enum srnic_verdict srnic_fail_why(enum srnic_outcome outcome)
{
	return (u8)outcome;
}

static inline enum srnic_mem_err srnic_fail_err(enum srnic_outcome outcome)
{
	return outcome >> SRNIC_FAIL_MEMORY;
}

/* Outcome of a memory access; @why is the verdict if it failed. */
static inline enum srnic_outcome srnic_accessed(enum srnic_mem_err err,
						enum srnic_verdict why)
{
	if (!err)
		return SRNIC_DONE;

	return err == SRNIC_MEM_ABSENT ? SRNIC_AGAIN :
					 srnic_fail_memory(why, err);
}

/**
 * struct srnic_seg - a packet being processed
 * @pkt: headers
 * @payload: payload, if it is in one piece
 * @skb: packet whose payload lies in fragments, else NULL
 * @off: where it starts in @skb
 * @local: there is no packet: loopback request or response, as long as several packets
 * @from: loopback: SGE list of the payload, if it is not at @payload
 */
struct srnic_seg {
	struct srnic_pkt	pkt;
	const void		*payload;
	struct sk_buff		*skb;
	u32			off;
	bool			local;
	struct srnic_sgl	*from;
};

/* Number of PSNs that the payload of @seg takes.  Pure. */
static inline u32 srnic_seg_npsn(const struct srnic_seg *seg, u16 mtu)
{
	return seg->pkt.payload <= mtu ? 1 :
	       DIV_ROUND_UP(seg->pkt.payload, mtu);
}

/**
 * struct srnic_read_part - a part of a READ response, for loopback
 * @seg: headers, and the location of the data
 * @sgl: list that @seg refers to
 * @sge: element that @sgl refers to
 */
struct srnic_read_part {
	struct srnic_seg	seg;
	struct srnic_sgl	sgl;
	struct srnic_sge	sge;
};

/* qp_table.c */

/*
 * Reserves an unpredictable @number in @table: the first free one from a random start.
 * Context: process.  Return: 0, -ENOSPC if there is none, or -ENOMEM.
 */
int srnic_number_reserve(struct xarray *table, u32 *number, u32 min, u32 max);

/* Looks up a QP and keeps it from being destroyed.  Context: RCU. */
struct srnic_qp *srnic_qp_get(struct net *net, u32 qpn);

void srnic_qp_put(struct srnic_qp *qp);

void srnic_qp_free(struct kref *ref);

/*
 * Assigns an unpredictable number to the QP without letting packets find it.  May
 * sleep.  0, -ENOMEM or -ENOSPC.
 */
int srnic_qp_reserve(struct srnic_qp *qp);

/*
 * Lets packets find the QP.  From then on references may be held, and its memory counts
 * as alive.
 */
void srnic_qp_publish(struct srnic_qp *qp);

/* Releases the number of a QP, published or not. */
void srnic_qp_unpublish(struct srnic_qp *qp);

/* Ties the QP to @ndev, or to none if that is NULL, in place of the netdev so far. */
void srnic_qp_tie(struct srnic_qp *qp, struct srnic_tie *tie,
		  const struct net_device *ndev);

/*
 * A walk over the QPs with a tie to a netdev.  Those that are tied to it meanwhile are not
 * part of it.
 */
u64 srnic_qp_walk(void);

/* Gets a reference to a QP that @walk has not come to; NULL: there is no more. */
struct srnic_qp *srnic_qp_next(const struct net_device *ndev, u64 walk);

/* Waits until the memory of all QPs has been freed.  May sleep. */
void srnic_qp_table_exit(void);

/* qp_state.c */

/* The request @pkt of the peer failed with @outcome. */
void srnic_failure_of_request(struct srnic_failure *failure,
			      struct srnic_qp *qp, const struct srnic_pkt *pkt,
			      enum srnic_outcome outcome);

/* The rest of the READ response in progress cannot be read. */
void srnic_failure_of_read(struct srnic_failure *failure,
			   const struct srnic_resp *resp,
			   enum srnic_outcome outcome);

/* A datagram from @src, or a frame if that is NULL, cannot be received. */
void srnic_failure_of_receive(struct srnic_failure *failure,
			      struct srnic_qp *qp,
			      const struct srnic_rx_src *src,
			      enum srnic_outcome outcome);

/* The work request @wqe failed. */
void srnic_failure_of_wqe(struct srnic_failure *failure, struct srnic_qp *qp,
			  const struct srnic_swqe *wqe,
			  enum srnic_outcome outcome);

/* Lists the failure, if there is one, for "rdma resource". */
void srnic_failure_fill_attrs(const struct srnic_failure *failure,
			      struct srnic_res_attrs *attrs);

/* Pushes a completion; if it is lost because the CQ is full, the QP goes to error. */
void srnic_qp_cqe(struct srnic_qp *qp, struct srnic_cq *cq,
		  struct srnic_cqe *cqe, bool solicited);

/*
 * Records why the QP, or its send queue, is about to leave service.  The first failure
 * is kept until srnic_qp_clear_failure(); what happens to a QP in the error state is none.
 */
void srnic_qp_record_failure(struct srnic_qp *qp, const struct srnic_failure *failure);

/* Forgets the failure: the QP begins anew. */
void srnic_qp_clear_failure(struct srnic_qp *qp);

/* Moves the QP to error after an error reported by a completion.  False: no change. */
bool srnic_qp_to_error(struct srnic_qp *qp);

/*
 * Moves the QP to error after an error that no completion reports and that therefore raises
 * an event: IBTA volume 1, affiliated asynchronous errors.
 */
void srnic_qp_to_error_event(struct srnic_qp *qp, enum ib_event_type event);

/* Records @verdict, a fault of the QP itself, moves the QP to error and raises its event. */
void srnic_qp_fail(struct srnic_qp *qp, enum srnic_verdict verdict);

/* backlog.c */

/*
 * Is it a response of the peer, an ACK included, with valid addresses and ICRC?  Responses
 * overtake requests that wait.
 */
bool srnic_backlog_is_response(struct sk_buff *seg);

/*
 * Queues @skb for the QP's task, if there is room.  Context: BH disabled.
 * Return: true if the task should run now, since as much as a GSO chain waits.
 */
bool srnic_backlog_add(struct srnic_qp *qp, struct sk_buff *skb);

/*
 * Charges the packets that a run leaves behind; drops those that exceed the limit.  Has the
 * responses among those that were dropped requested again.
 */
void srnic_backlog_settle(struct srnic_qp *qp);

/* Drops all waiting packets.  The caller owns the task. */
void srnic_backlog_purge(struct srnic_qp *qp);

/*
 * Is nothing charged, was nothing dropped, and does nothing stay?  Packets that arrived
 * during the run are processed immediately unless they must wait.
 */
static inline bool srnic_backlog_is_settled(const struct srnic_qp *qp)
{
	return skb_queue_empty(&qp->rx_todo) &&
	       !READ_ONCE(qp->rx_charged) &&	/* set under the lock of rxq, */
	       !READ_ONCE(qp->rx_lost) &&	/* and so is this */
	       (skb_queue_empty_lockless(&qp->rxq) || !srnic_rx_busy(qp));
}

/* Has an answer possibly arrived that has not been looked at? */
static inline bool srnic_backlog_is_unread(const struct srnic_qp *qp)
{
	struct sk_buff *last = skb_peek_tail(&qp->rx_todo);

	return (last && !srnic_rxcb(last)->passed) ||
	       !skb_queue_empty_lockless(&qp->rxq);
}

/* cc.c */

void srnic_cc_init(struct srnic_qp *qp);

void srnic_cc_reset(struct srnic_qp *qp);

/* Traffic class of packets that @qp sends, if the user requested @tos */
u8 srnic_cc_tos(const struct srnic_qp *qp, u8 tos);

/* Handles a packet for @qp that arrived with an ECN mark. */
void srnic_cc_marked(struct srnic_qp *qp, const struct srnic_pkt *pkt);

/* Handles a CNP from the peer, or from someone who forges its address. */
void srnic_cc_cnp(struct srnic_qp *qp, const struct srnic_pkt *pkt);

/*
 * Keeps @skb, if it is a CNP, for the next run of the task: it must not queue behind
 * requests that wait for a READ response, which the CNP is to slow down.  False: it is
 * not a CNP, or one is kept already.  Context: BH disabled.
 */
bool srnic_cc_keep_cnp(struct srnic_qp *qp, struct sk_buff *skb);

/* May the next burst leave?  If not, a timer kicks the task when it may. */
bool srnic_cc_pace(struct srnic_qp *qp);

static inline struct sk_buff *srnic_cc_take_cnp(struct srnic_qp *qp)
{
	/* stored in srnic_cc_keep_cnp(), before the task is kicked */
	return READ_ONCE(qp->cc.cnp) ? xchg(&qp->cc.cnp, NULL) : NULL;
}

/* Does the rate of @qp allow another packet? */
static inline bool srnic_cc_open(struct srnic_qp *qp)
{
	return !qp->cc.limited || srnic_cc_pace(qp);
}

/* As srnic_cc_pace(), for requests on a long path */
bool srnic_cc_pace_path(struct srnic_qp *qp);

/* Do the rate and the pace of @qp allow another request? */
static inline bool srnic_cc_may_request(struct srnic_qp *qp)
{
	return srnic_cc_open(qp) &&
	       (srnic_pace_is_open(&qp->cc.pace, &qp->req.recovery.rtt) ||
		srnic_cc_pace_path(qp));
}

/* As srnic_cc_pace(), for responses to a peer that wants them paced */
bool srnic_cc_pace_answer(struct srnic_qp *qp);

/* Do the rate and the pace that the peer wants allow another response? */
static inline bool srnic_cc_may_answer(struct srnic_qp *qp)
{
	return srnic_cc_open(qp) &&
	       (!qp->sack.pace || qp->cc.answers.credit || srnic_cc_pace_answer(qp));
}

/* Would a full-sized packet use up the credit? */
static inline bool srnic_cc_is_last(const struct srnic_qp *qp)
{
	return qp->cc.limited &&
	       qp->cc.credit <= qp->conf.mtu + SRNIC_HDR_MAX + SRNIC_ICRC_BYTES;
}

static inline void srnic_cc_spend(struct srnic_qp *qp, u32 bytes)
{
	if (!qp->cc.limited)
		return;

	qp->cc.credit -= min(qp->cc.credit, bytes);
	qp->cc.rate.bytes += bytes;
}

/* sack.c */

/* Packets that continue the last range are reported in such numbers. */
#define SRNIC_SACK_MORE		16

/* The request @pkt has been kept out of order. */
void srnic_sack_kept(struct srnic_qp *qp, const struct srnic_pkt *pkt);

/* Handles the SACK @pkt, which is part of @skb, from the peer or someone who forges it. */
void srnic_sack_packet(struct srnic_qp *qp, const struct srnic_pkt *pkt,
		       const struct sk_buff *skb);

/*
 * Requests are missing, or their responses: asks the peer whether it understands SACKs, and with
 * them any part of a READ.  If it has only asked so far, the answer was lost, and is given again.
 */
void srnic_sack_ask(struct srnic_qp *qp);

/* Sends what is due. */
void srnic_sack_run(struct srnic_qp *qp);

/* Time that each response is to take, as the peer wants it, ns; 0: none */
u64 srnic_sack_step(struct srnic_qp *qp, u64 now);

/* Tells the peer how fast responses are to come; called before a READ is requested. */
void srnic_sack_tell_pace(struct srnic_qp *qp);

/* Is there a pace to tell of, for @npsn responses, or one to change or take back? */
static inline bool srnic_sack_has_pace(const struct srnic_qp *qp, u32 npsn)
{
	return srnic_pace_concerns(&qp->sack.told, &qp->req.recovery.rtt, npsn);
}

void srnic_sack_reset(struct srnic_qp *qp);

/* Is there something to report to the peer? */
static inline bool srnic_sack_is_due(const struct srnic_qp *qp)
{
	const struct srnic_sack *sack = &qp->sack;

	return sack->news || sack->answer || sack->more >= SRNIC_SACK_MORE;
}

/* poll.c */

/* @usecs: how long the send queue is polled after the last post; 0: never */
void srnic_poll_init(struct srnic_qp *qp, u32 usecs);

/* Starts watching the send queue, for as long as it is in use. */
void srnic_poll_watch(struct srnic_qp *qp);

/* Stops watching the send queue.  Context: BH disabled or process. */
void srnic_poll_forget(struct srnic_qp *qp);

/* local_ops.c */

void srnic_inv_init(struct srnic_qp *qp);

/* Invalidates @key on behalf of @qp; pending while accesses by it are in progress. */
enum srnic_mem_err srnic_inv_key(struct srnic_qp *qp, u32 key);

static inline bool srnic_inv_pending(const struct srnic_qp *qp)
{
	return atomic_read_acquire(&qp->inv_pending);
}

/* Is @wqe a local operation? */
static inline bool srnic_local_op_is(const struct srnic_swqe *wqe)
{
	return srnic_wr_of(wqe)->local_op != SRNIC_LOCAL_OP_NONE;
}

/* Executes the local operation @wqe, or continues it. */
enum srnic_outcome srnic_local_op_run(struct srnic_qp *qp, struct srnic_swqe *wqe);

/* recv_wqe.c */

/* Gets a reference to SRQ @srqn of domain @xrcd; NULL: none.  Context: any. */
struct srnic_srq *srnic_srq_get(const struct ib_xrcd *xrcd, u32 srqn);

void srnic_srq_put(struct srnic_srq *srq);

/* Frees the table, which must be empty. */
void srnic_srq_exit(void);

/* Selects the SRQ named by @pkt, which stays the same throughout a message. */
enum srnic_verdict srnic_recv_select(struct srnic_qp *qp,
				     const struct srnic_pkt *pkt);

void srnic_recv_release_srq(struct srnic_qp *qp);

/* Makes sure that a receive work request is in progress, fetching one if necessary. */
enum srnic_verdict srnic_recv_need(struct srnic_qp *qp);

/* Completes the receive in progress.  False: its SRQ is gone, and so is its CQ. */
bool srnic_recv_cqe(struct srnic_qp *qp, struct srnic_cqe *cqe,
		    bool solicited);

/*
 * Is there a receive for a message of @bytes that will not be retransmitted?  Without
 * one, or if it is too short, the message is dropped and the receive is kept for the
 * next: a sender cannot stop the QP.  Only a malformed receive moves the QP to error.
 * @src: sender of the datagram; frames: NULL.
 */
bool srnic_recv_room(struct srnic_qp *qp, const struct srnic_rx_src *src,
		     u32 bytes);

/* Handles a failure to write the message to the receive: completion and QP state. */
enum srnic_outcome srnic_recv_fail(struct srnic_qp *qp,
				   const struct srnic_rx_src *src,
				   enum srnic_outcome outcome);

/* Completes it after a whole message; deferred while key invalidations are pending. */
void srnic_recv_complete(struct srnic_qp *qp, const struct srnic_pkt *pkt,
			 u32 byte_len);

/* Completes a deferred receive if no key is pending.  True: it was completed. */
bool srnic_recv_run_late(struct srnic_qp *qp);

/* Flushes the receive queue; as srnic_req_flush() */
bool srnic_recv_flush(struct srnic_qp *qp);

/* payload.c */

/* Sets the payload of @seg, whose headers are parsed, to that of the packet @skb. */
void srnic_payload_find(struct srnic_seg *seg, struct sk_buff *skb);

/*
 * Copies the payload of @seg to the list at the position of @sgl, in order and with the
 * last eight bytes in one piece.  Errors as srnic_sgl_write().
 * Context: BH disabled; the task of the packet's receiver.
 */
enum srnic_mem_err srnic_payload_to_sgl(const struct srnic_seg *seg,
					struct srnic_sgl *sgl);

/* Copies the payload of @seg to a region, see srnic_mr_write(). */
enum srnic_mem_err srnic_payload_to_mr(const struct srnic_seg *seg,
				       struct srnic_mr *mr, u64 addr, u64 rest,
				       struct srnic_pager *pager);

/* mcast.c */

/* Counters of the first device that @dest reaches; NULL: none.  Context: RCU. */
struct srnic_stats __percpu *
srnic_mcast_stats(const struct srnic_rx_dest *dest);

/*
 * Calls @fn with a reference to each member of the groups that @dest reaches, at most
 * SRNIC_MAX_GROUP_QPS of them; of the management queue pairs, for the first only.
 * Context: RCU.
 */
void srnic_mcast_each(const struct srnic_rx_dest *dest,
		      void (*fn)(struct srnic_qp *qp, struct sk_buff *skb),
		      struct sk_buff *skb);

/* send_queue.c */

/* Advances the cursor to the next work request. */
void srnic_req_advance(struct srnic_qp *qp);

/* Moves the cursor to the work request that the next PSN to send belongs to. */
void srnic_req_seek(struct srnic_qp *qp);

/* If the requester sends nothing more in this run, that is because of @limit. */
static inline void srnic_req_limit(struct srnic_qp *qp, enum srnic_limit limit)
{
	qp->req.limit = limit;
}

/* The requester sends nothing more in this run, because of @limit. */
static inline enum srnic_outcome srnic_req_wait(struct srnic_qp *qp,
						enum srnic_limit limit)
{
	srnic_req_limit(qp, limit);

	return SRNIC_AGAIN;
}

/* Do @npsn PSNs from the next one on complete @wqe? */
static inline bool srnic_req_is_end(const struct srnic_qp *qp,
				    const struct srnic_swqe *wqe, u32 npsn)
{
	return srnic_psn_diff(qp->req.recovery.next, wqe->psn) + npsn ==
	       wqe->npsn;
}

/* Fetches the next work request from the ring; NULL: none. */
struct srnic_swqe *srnic_req_fetch(struct srnic_qp *qp);

/* Completes the oldest work request with success. */
void srnic_req_complete(struct srnic_qp *qp);

/*
 * Completes the oldest work request with the error that @outcome stands for and moves the
 * QP to error, or just its send queue on a service without acknowledgments.
 */
void srnic_req_fail(struct srnic_qp *qp, enum srnic_outcome outcome);

/* Completes posted work requests as flushed.  True: the share of the run is used up. */
bool srnic_req_flush(struct srnic_qp *qp);

/* Does success generate a completion?  Pure. */
bool srnic_req_is_signaled(const struct srnic_qp *qp,
			   const struct srnic_swqe *wqe);

/* Is the next packet to request its ACK itself, as the send queue runs empty behind it? */
bool srnic_req_ends_burst(struct srnic_qp *qp);

/* Does a local operation follow, which waits for the ACK of the message at the cursor? */
bool srnic_req_delays_local_op(struct srnic_qp *qp);

/* Packets of @npsn PSNs at the cursor were sent; the last one @asks for an answer. */
void srnic_req_sent(struct srnic_qp *qp, const struct srnic_swqe *wqe,
		    u32 npsn, bool asks);

/* Carries out what loss recovery requires, and counts the cause. */
void srnic_req_recover(struct srnic_qp *qp, struct srnic_recovery_todo todo);

/* May loss recovery act, in the state that the QP is in? */
bool srnic_req_is_live(const struct srnic_qp *qp);

/* Handles the expiry of the retransmission timer. */
void srnic_req_timeout(struct srnic_qp *qp);

/* Starts the timer if packets were @sent, or once the page it was off for is there. */
void srnic_req_arm(struct srnic_qp *qp, bool sent);

/* Requests an ACK, for whoever waits until everything in flight is acknowledged. */
void srnic_req_solicit_ack(struct srnic_qp *qp);

/*
 * The work request at the cursor cannot be sent, and those before it are not complete.
 * True: the cursor was moved to where their acknowledgment can be requested.
 */
bool srnic_req_refused(struct srnic_qp *qp);

/* req_packet.c */

/* Positions the SGE list cursor of @wqe at byte @off of the message. */
enum srnic_mem_err srnic_req_sgl_seek(struct srnic_qp *qp,
				      const struct srnic_swqe *wqe, u64 off);

/* Copies bytes [off, off + len) of the message of @wqe to @dst. */
enum srnic_mem_err srnic_req_sgl_read(struct srnic_qp *qp,
				      const struct srnic_swqe *wqe, u64 off,
				      void *dst, u32 len);

/*
 * Builds the headers of a packet with the next @npsn PSNs of @wqe in @pkt, which is zero.
 * Return: offset of its payload in the message.
 */
u64 srnic_req_packet_build(const struct srnic_qp *qp, const struct srnic_swqe *wqe,
			   u32 npsn, struct srnic_pkt *pkt);

void srnic_req_sgl_release(struct srnic_qp *qp);

/* Sends the packet of @wqe at the cursor, or skips a response that has been kept. */
enum srnic_outcome srnic_req_packet_send(struct srnic_qp *qp,
					 const struct srnic_swqe *wqe);

/* Fills in what all packets of the QP have in common; @pkt is zero, @opcode without service. */
static inline void srnic_qp_pkt(const struct srnic_qp *qp, struct srnic_pkt *pkt,
				u8 opcode, u32 psn)
{
	srnic_pkt_init(pkt, qp->transport | opcode, qp->conf.dest_qpn, psn);
}

/* Appends a complete packet to the GSO chain, and accounts for it. */
static inline void srnic_qp_send(struct srnic_qp *qp,
				 const struct srnic_pkt *pkt,
				 struct sk_buff *skb)
{
	trace_srnic_tx(qp->qpn, pkt);
	srnic_cc_spend(qp, skb->len);
	srnic_task_spend(&qp->task, skb->len);
	srnic_tx_add(&qp->txb, skb);
}

/* ack.c */

/* Number of PSNs accepted before @psn, which is not ahead of the expected PSN */
static inline u64 srnic_resp_seq(const struct srnic_resp *resp, u32 psn)
{
	return resp->seq - ((resp->psn - psn) & SRNIC_PSN_MASK);
}

/* Opcode of the response to a request of @family other than READ.  Pure. */
u8 srnic_resp_reply_opcode(u8 family);

/* Drops the message in progress; its receive is reused for the next one. */
void srnic_resp_drop(struct srnic_qp *qp);

/*
 * Sends a pending ACK.  @may_wait: the requester may soon send a request that could leave
 * together with it.
 */
void srnic_resp_ack(struct srnic_qp *qp, bool may_wait);

/* Sends a NAK, which also acknowledges everything before @psn. */
void srnic_resp_nak(struct srnic_qp *qp, u32 psn, u8 syndrome);

/* Reports that a request failed to the peer, the completion queue and the QP. */
void srnic_resp_fail(struct srnic_qp *qp, const struct srnic_failure *failure);

/* Sends the response to a request or to a duplicate of it, as a packet. */
void srnic_resp_reply(struct srnic_qp *qp, u8 family, u32 psn);

/* Builds the response to the request with @psn, other than a READ, for loopback. */
void srnic_resp_answer(struct srnic_qp *qp, u8 family, u32 psn,
		       struct srnic_seg *seg);

/* responder.c */

enum srnic_outcome srnic_resp_packet(struct srnic_qp *qp,
				     const struct srnic_seg *seg);

/*
 * Completes a deferred receive, or sends the rest of a READ response within the share.
 * True: more to do, for that or for packets that waited behind it.
 */
bool srnic_resp_run(struct srnic_qp *qp);

void srnic_resp_release(struct srnic_qp *qp);

/* Flushes the receive queue; as srnic_req_flush() */
bool srnic_resp_flush(struct srnic_qp *qp);

void srnic_resp_reset(struct srnic_qp *qp);

/* resp_rdma.c */

enum srnic_outcome srnic_resp_rdma_write(struct srnic_qp *qp,
					 const struct srnic_seg *seg);

enum srnic_outcome srnic_resp_rdma_read(struct srnic_qp *qp,
					const struct srnic_seg *seg);

/* Prepares to send the response to the READ request @pkt. */
enum srnic_outcome srnic_resp_rdma_read_start(struct srnic_qp *qp,
					      const struct srnic_pkt *pkt);

/*
 * Takes back a READ whose response has not begun, and drops one that is repeated, as the QP
 * fails or is reset: what was executed before it can be acknowledged then.
 */
void srnic_resp_rdma_rollback(struct srnic_qp *qp);

/* Continues the response; as srnic_resp_run() */
bool srnic_resp_rdma_run(struct srnic_qp *qp);

enum srnic_outcome srnic_resp_rdma_atomic(struct srnic_qp *qp,
					  const struct srnic_seg *seg);

enum srnic_outcome srnic_resp_rdma_atomic_write(struct srnic_qp *qp,
						const struct srnic_seg *seg);

enum srnic_outcome srnic_resp_rdma_flush(struct srnic_qp *qp,
					 const struct srnic_seg *seg);

/* Provides up to @max packets of the READ response as one; false: not available. */
bool srnic_resp_rdma_peek(struct srnic_qp *qp, u32 max, struct srnic_read_part *part);

/* Marks the packets provided as delivered. */
void srnic_resp_rdma_consume(struct srnic_qp *qp, const struct srnic_read_part *part);

/* completer.c */

enum srnic_outcome srnic_comp_packet(struct srnic_qp *qp,
				     const struct srnic_seg *seg);

/* Everything before @psn is acknowledged. */
void srnic_comp_acked(struct srnic_qp *qp, u32 psn);

/* The response @psn, ahead of others, has been kept. */
void srnic_comp_kept(struct srnic_qp *qp, u32 psn);

/* PSN of the next response expected; requests before it need no response. */
u32 srnic_comp_next(struct srnic_qp *qp);

/* ud.c */

enum srnic_outcome srnic_ud_send(struct srnic_qp *qp,
				 const struct srnic_swqe *wqe);

/*
 * Does the chain contain a datagram for the QP?  Others are marked not good and
 * counted: packets without the right Q_Key take no room in the queue.  Context: BH
 * disabled.
 */
bool srnic_ud_admit(struct srnic_qp *qp, struct sk_buff *skb);

/* Receives a chain of datagrams.  SRNIC_AGAIN: part of it is left. */
enum srnic_outcome srnic_ud_rx(struct srnic_qp *qp, struct sk_buff *skb);

/* No netdev is held between runs, or it could not be unregistered. */
void srnic_ud_release(struct srnic_qp *qp);

/* raw.c */

enum srnic_outcome srnic_raw_send(struct srnic_qp *qp,
				  const struct srnic_swqe *wqe);

enum srnic_outcome srnic_raw_rx(struct srnic_qp *qp, struct sk_buff *skb);

/* Delivers a frame to the QP @target; see srnic_frame_fn. */
void srnic_raw_frame(void *target, struct sk_buff *skb,
		     const struct srnic_frame *frame, bool later);

/* rx.c */

void srnic_qp_ooo_init(struct srnic_qp *qp);

/* Drops and counts what both halves keep.  Context: BH disabled. */
void srnic_qp_ooo_lose(struct srnic_qp *qp);

/* Drops packets that have been kept for long without progress. */
void srnic_qp_ooo_expire(struct srnic_qp *qp);

/* Drops all kept packets and stops the timer, on reset or destruction.  May sleep. */
void srnic_qp_ooo_stop(struct srnic_qp *qp);

static inline void srnic_qp_ooo_check(struct srnic_qp *qp)
{
	if (READ_ONCE(qp->ooo_fired))	/* set by ooo_timer */
		srnic_qp_ooo_expire(qp);
}

/* Handles a loopback request.  SRNIC_AGAIN: it must be sent as packets. */
enum srnic_outcome srnic_rx_local(struct srnic_qp *qp,
				  const struct srnic_seg *seg);

/* Processes received packets within the task's share.  True: the share is used up. */
bool srnic_rx_run(struct srnic_qp *qp);

extern const struct srnic_rx_ops srnic_xport_rx_ops;

/* loopback.c */

/*
 * Executes part of @wqe without packets, if the peer is on the same device.
 * SRNIC_AGAIN: it must be sent as packets.
 */
enum srnic_outcome srnic_loopback_send(struct srnic_qp *qp,
				       const struct srnic_swqe *wqe);

/* Continues a READ; the outcome is that of srnic_loopback_send(). */
enum srnic_outcome srnic_loopback_read(struct srnic_qp *qp);

void srnic_loopback_release(struct srnic_qp *qp);

/* requester.c */

bool srnic_req_run(struct srnic_qp *qp);

void srnic_req_reset(struct srnic_qp *qp);

/* Is everything sent that was posted, so that the next step is the program's? */
bool srnic_req_is_idle(struct srnic_qp *qp);

/* Enables SQ_DRAINED, to be raised when nothing is in progress any more. */
void srnic_req_drain(struct srnic_qp *qp);

/* Resumes after an error of the send queue alone. */
void srnic_req_resume(struct srnic_qp *qp);

/* run.c */

void srnic_qp_timer_init(struct srnic_qp *qp);

/* Stops the timer, until it is set again.  May sleep. */
void srnic_qp_timer_stop(struct srnic_qp *qp);

/* Does all kinds of work of a QP once, each within its share.  True: more to do. */
unsigned int srnic_qp_run(struct srnic_task *task);

#endif /* SRNIC_XPORT_INTERNAL_H */
