/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - what the files of xport/ tell each other
 *
 * Everything here runs in the QP's task unless it says otherwise.
 */
#ifndef SRNIC_XPORT_PROTO_H
#define SRNIC_XPORT_PROTO_H

#include <linux/sizes.h>

#include "../trace.h"
#include "xport.h"

/* PSNs a requester has outstanding; it asks for an ACK four times in that */
#define SRNIC_WINDOW		128

/* PSNs of the answer that one READ request asks for */
#define SRNIC_READ_PSNS		SRNIC_WINDOW

/* Packets that each half of a QP keeps while one before them is missing */
#define SRNIC_EARLY_MAX		128

/* No byte of a message: the place in a list is not known */
#define SRNIC_NOWHERE		(~0ULL)

/* Memory of packets that wait for the task before more are dropped */
#define SRNIC_RXQ_BYTES		SZ_4M

/* How much of that is not charged to anybody until the task runs */
#define SRNIC_RXQ_FREE		SZ_64K

/**
 * struct srnic_seg - a packet being processed
 * @pkt: its headers
 * @payload: its payload
 * @local: there is no packet: it is a request, or an answer, of a QP of the same
 *	   device, as long as several packets
 * @from: local: where the payload is, if it is not at @payload
 */
struct srnic_seg {
	struct srnic_pkt	pkt;
	const void		*payload;
	bool			local;
	struct srnic_sgl	*from;
};

/* PSNs that the payload of @seg takes.  Pure. */
static inline u32 srnic_seg_npsn(const struct srnic_seg *seg, u16 mtu)
{
	return seg->pkt.payload <= mtu ? 1 :
	       DIV_ROUND_UP(seg->pkt.payload, mtu);
}

/**
 * struct srnic_lent - a part of a READ response, for one on the same device
 * @seg: headers, and where the bytes are
 * @sgl: what that points to
 * @sge: what that points to
 */
struct srnic_lent {
	struct srnic_seg	seg;
	struct srnic_sgl	sgl;
	struct srnic_sge	sge;
};

/* What may be wrong with a request, as the responder sees it */
enum srnic_verdict {
	SRNIC_V_OK,
	SRNIC_V_RNR,		/* no receive posted */
	SRNIC_V_SEQ,		/* opcode out of order */
	SRNIC_V_INV_REQ,	/* not allowed on this QP, or malformed */
	SRNIC_V_LENGTH,		/* longer than the receive */
	SRNIC_V_ACCESS,		/* remote key, range or right */
	SRNIC_V_LOCAL_PROT,	/* SGE of the receive is bad */
	SRNIC_V_LOCAL_OP,	/* receive work request is malformed */
	SRNIC_V_INVALIDATE,	/* key cannot be invalidated */
	SRNIC_V_ABSENT,		/* not a fault: to be tried again, and not done yet */
	SRNIC_V_NUM
};

/**
 * struct srnic_fault - what a verdict means
 * @name: for those who trace
 * @syndrome: AETH syndrome of the NAK
 * @status: enum ib_wc_status of the receive in progress
 * @event: async event, where no receive completes with @status
 * @local: the fault is the responder's own: it fails even if the peer is not
 *	   told
 */
struct srnic_fault {
	const char	*name;
	u8		syndrome;
	u8		status;
	u8		event;
	bool		local;
};

extern const struct srnic_fault srnic_faults[SRNIC_V_NUM];

/* May @op come while a message of family @open is in progress?  Pure. */
enum srnic_verdict srnic_check_order(u8 open, const struct srnic_op *op);

/* Does the payload fit its place in the message?  Pure. */
bool srnic_check_size(const struct srnic_op *op, u32 payload, u16 mtu);

/* qp.c */
/* Looks a QP up and keeps it from being destroyed.  Context: RCU. */
struct srnic_qp *srnic_qp_get(struct net *net, u32 qpn);
void srnic_qp_put(struct srnic_qp *qp);
/* Sends a completion; one that is lost takes the QP to error. */
void srnic_qp_cqe(struct srnic_qp *qp, struct srnic_cq *cq,
		  struct srnic_cqe *cqe, bool solicited);
/*
 * Ends the QP after an error that a completion reports.  False: it was in error.
 */
bool srnic_qp_to_error(struct srnic_qp *qp);
/*
 * The same after one that no completion reports, which takes an event: IBTA volume
 * 1, affiliated asynchronous errors.
 */
void srnic_qp_to_error_tell(struct srnic_qp *qp, enum ib_event_type event);
void srnic_qp_pkt(const struct srnic_qp *qp, struct srnic_pkt *pkt, u8 opcode,
		  u32 psn);
/* Is it in a state in which it receives?  Context: any. */
static inline bool srnic_qp_receives(const struct srnic_qp *qp)
{
	switch (srnic_qp_state(qp)) {
	case IB_QPS_RTR:
	case IB_QPS_RTS:
	case IB_QPS_SQD:
	case IB_QPS_SQE:
		return true;
	default:
		return false;
	}
}

/* Where @qp counts, for who does not own its task.  Context: BH disabled. */
static inline struct srnic_stats __percpu *
srnic_qp_stats(const struct srnic_qp *qp)
{
	return READ_ONCE(qp->stats);	/* set in srnic_qp_count_in() */
}

/*
 * Counts why a packet was not given to @qp.  Wrong keys are the port's affair:
 * ib_query_port() reports them.
 */
static inline void srnic_qp_refuse(const struct srnic_qp *qp,
				   enum srnic_counter why)
{
	bool key = why == SRNIC_CNT_RX_BAD_PKEY || why == SRNIC_CNT_RX_BAD_QKEY;

	trace_srnic_drop(qp->qpn, srnic_counter_names[why]);
	srnic_count(key ? qp->dev_stats : srnic_qp_stats(qp), why);
}

/* congest.c */
void srnic_cc_init(struct srnic_qp *qp);
void srnic_cc_reset(struct srnic_qp *qp);
/* The traffic class of what @qp sends, where the user wants @tos. */
u8 srnic_cc_tos(const struct srnic_qp *qp, u8 tos);
/* A packet for @qp came with a mark. */
void srnic_cc_marked(struct srnic_qp *qp, const struct srnic_pkt *pkt);
/* The peer, or who can send in its name, got marks. */
void srnic_cc_cnp(struct srnic_qp *qp, const struct srnic_pkt *pkt);
/*
 * Keeps @skb, if it is a CNP, for the next run of the task: it must not wait
 * behind requests that wait for a READ to be answered, which it is to slow down.
 * False: it is none, or one is kept already.  Context: BH disabled.
 */
bool srnic_cc_keep_cnp(struct srnic_qp *qp, struct sk_buff *skb);
/* May the next burst leave?  If not, the task is kicked when it may. */
bool srnic_cc_pace(struct srnic_qp *qp);

static inline struct sk_buff *srnic_cc_take_cnp(struct srnic_qp *qp)
{
	/* stored in srnic_cc_keep_cnp(), before the task is kicked */
	return READ_ONCE(qp->cc.cnp) ? xchg(&qp->cc.cnp, NULL) : NULL;
}

/* May @qp send a packet as far as its rate is concerned? */
static inline bool srnic_cc_open(struct srnic_qp *qp)
{
	return !qp->cc.limited || srnic_cc_pace(qp);
}

/* Will a packet of full size be the last for a while? */
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

/* Puts a packet that is whole behind those on their way. */
static inline void srnic_qp_send(struct srnic_qp *qp,
				 const struct srnic_pkt *pkt,
				 struct sk_buff *skb)
{
	trace_srnic_tx(qp->qpn, pkt);
	srnic_cc_spend(qp, skb->len);
	srnic_task_spend(&qp->task, skb->len);
	srnic_tx_add(&qp->txb, skb);
}

/* Are requests acknowledged, and repeated until they are? */
static inline bool srnic_qp_reliable(const struct srnic_qp *qp)
{
	return qp->transport == SRNIC_TP_RC || qp->transport == SRNIC_TP_XRC;
}

void srnic_qp_timer_set(struct srnic_qp *qp, u64 nsec);
void srnic_qp_free(struct kref *ref);

/* requester.c */
bool srnic_req_run(struct srnic_qp *qp);
void srnic_req_let_go(struct srnic_qp *qp);
/* Completes what is posted as flushed.  True: its share of the run is used up. */
bool srnic_req_flush(struct srnic_qp *qp);
void srnic_req_reset(struct srnic_qp *qp);
/* Goes on after an error in the send queue alone. */
void srnic_req_resume(struct srnic_qp *qp);
/*
 * Ends the oldest work request with @status, which takes the QP to error, or
 * just its send queue when the peer need not know.
 */
void srnic_req_fail(struct srnic_qp *qp, enum ib_wc_status status);
/* Family of the packets that answer @wqe; SRNIC_FAM_NONE: an ACK does. */
u8 srnic_req_answer(const struct srnic_swqe *wqe);
/* Completes the oldest work request with success. */
void srnic_req_complete(struct srnic_qp *qp);

/* Bytes [off, off + len) of the message of @wqe, to @dst. */
enum srnic_mem_err srnic_req_payload(struct srnic_qp *qp,
				     const struct srnic_swqe *wqe, u64 off,
				     void *dst, u32 len);

/* Fields of the extended headers of the packet at @off of the message. */
void srnic_req_fill(const struct srnic_swqe *wqe, u64 off,
		    struct srnic_pkt *pkt);
/* Opcode of a packet of an operation, without the service.  Pure. */
u8 srnic_req_opcode(u8 wr_opcode, bool first, bool last);
/*
 * PSNs of the answer that one request of @wqe, from @psn on, asks for.  A long READ
 * is asked for in parts, or what is lost of it would be repeated with all that is
 * behind it; a probe asks for one, and none asks for what waits for its turn.
 */
u32 srnic_req_span(const struct srnic_qp *qp, const struct srnic_swqe *wqe,
		   u32 psn);
/* The @npsn packets at the cursor have left. */
void srnic_req_sent(struct srnic_qp *qp, const struct srnic_swqe *wqe,
		    u32 npsn);
/* Puts the cursor of the list of @wqe at byte @off of the message. */
enum srnic_mem_err srnic_req_place(struct srnic_qp *qp,
				   const struct srnic_swqe *wqe, u64 off);
/* Does its success make a completion?  Pure. */
bool srnic_req_is_signaled(const struct srnic_qp *qp,
			   const struct srnic_swqe *wqe);
/* Is there an answer to wait for?  Such ones count as rd_atomic.  Pure. */
bool srnic_req_has_response(const struct srnic_swqe *wqe);
/* Does its list say where data goes, not where it comes from?  Pure. */
bool srnic_req_has_sink(const struct srnic_swqe *wqe);

/* flight.c */
/* The next packet to send is @psn. */
void srnic_flight_seek(struct srnic_qp *qp, u32 psn);
/*
 * @gap packets from @una on were lost, 0: it is not known how many.  Goes back there;
 * with no retry left the QP fails instead.
 */
void srnic_flight_retry(struct srnic_qp *qp, u32 gap);
/* May another packet be on the way?  Pure. */
bool srnic_flight_open(const struct srnic_req *req);
/* Of how many PSNs a request for a READ from @psn on may ask the answer.  Pure. */
u32 srnic_flight_room(const struct srnic_req *req, u32 psn);
/* Is an acknowledgment wanted of the packet being sent, @last of @wqe or not? */
bool srnic_flight_wants_ack(struct srnic_qp *qp, const struct srnic_swqe *wqe,
			    bool last);
/* The packet being sent asks for an answer, which covers all before @end. */
void srnic_flight_asks(struct srnic_req *req, u32 end);
/* All before @psn is acknowledged, which it was not before: it is @una. */
void srnic_flight_acked(struct srnic_qp *qp, u32 psn);
/* The timer is off since a page was being fetched, and the page is here? */
bool srnic_flight_is_back(const struct srnic_qp *qp);
/* Restarts the timer: the peer is alive. */
void srnic_flight_progress(struct srnic_qp *qp);
/* Something waits for an acknowledgment: do not wait to ask for it. */
void srnic_flight_hurry(struct srnic_qp *qp);
/* The timer has fired. */
void srnic_flight_timeout(struct srnic_qp *qp);

/* local.c */
/*
 * Does without packets a piece of @wqe, for a peer on the same device.  False: it
 * must go by packets.
 */
bool srnic_local_send(struct srnic_qp *qp, struct srnic_swqe *wqe);
/* Goes on with a READ; the same. */
bool srnic_local_read(struct srnic_qp *qp);
void srnic_local_let_go(struct srnic_qp *qp);

/* poll.c */
/* Looks at the send queue from now on, as long as there is something to see. */
void srnic_poll_watch(struct srnic_qp *qp);
/* Looks no more.  Context: BH disabled or process. */
void srnic_poll_forget(struct srnic_qp *qp);
int srnic_poll_init(void);
void srnic_poll_exit(void);

/* srq.c */
/* The SRQ with that number in that domain, or NULL.  Context: any. */
struct srnic_srq *srnic_srq_get(const struct ib_xrcd *xrcd, u32 srqn);
void srnic_srq_put(struct srnic_srq *srq);
/* Frees the table, which has no queue any more. */
void srnic_srq_exit(void);
/* memop.c */
void srnic_memop_init(struct srnic_qp *qp);
bool srnic_memop_is(const struct srnic_swqe *wqe);
/*
 * Goes on with a work request that changes keys and sends nothing; what went
 * wrong is in its status.  False: not now, the task is kicked when it can be.
 */
bool srnic_memop_run(struct srnic_qp *qp, struct srnic_swqe *wqe);
/* Invalidates @key on behalf of @qp; what is left to wait for is pending. */
enum srnic_mem_err srnic_memop_inv(struct srnic_qp *qp, u32 key);

static inline bool srnic_memop_pending(const struct srnic_qp *qp)
{
	return atomic_read_acquire(&qp->inv_pending);
}

/* What becomes of a packet */
enum srnic_fate {
	SRNIC_PKT_DONE,
	SRNIC_PKT_EARLY,	/* it came before one that is missing */
	SRNIC_PKT_AGAIN,	/* not done, for want of memory or time: it stays */
};

/* completer.c */
enum srnic_fate srnic_comp_packet(struct srnic_qp *qp,
				  const struct srnic_seg *seg);
/* All before @psn is acknowledged. */
void srnic_comp_acked(struct srnic_qp *qp, u32 psn);

/* responder.c */
enum srnic_fate srnic_resp_packet(struct srnic_qp *qp,
				  const struct srnic_seg *seg);
/* The answer to the request with @psn, no READ, for one on the same device. */
void srnic_resp_answer(struct srnic_qp *qp, u8 family, u32 psn,
		       struct srnic_seg *seg);
/* Answers it, again perhaps, by a packet. */
void srnic_resp_reply(struct srnic_qp *qp, u8 family, u32 psn);
/*
 * Sends what is left of a READ response, as far as the share goes.  True: more to
 * do, there or for what waited behind it.
 */
bool srnic_resp_run(struct srnic_qp *qp);
void srnic_resp_ack(struct srnic_qp *qp);

/* Must the packets that wait go on waiting? */
static inline bool srnic_rx_busy(const struct srnic_qp *qp)
{
	return qp->resp.read_left || qp->resp.late_due ||
	       srnic_pager_busy(&qp->rx_pager);
}

void srnic_resp_let_go(struct srnic_qp *qp);
/* As srnic_req_flush(). */
bool srnic_resp_flush(struct srnic_qp *qp);
void srnic_resp_reset(struct srnic_qp *qp);

/* remote.c */
/* The next packets of the READ response, @max at most, as one; or false. */
bool srnic_remote_lend(struct srnic_qp *qp, u32 max, struct srnic_lent *lent);
/* They need not be sent. */
void srnic_remote_lent(struct srnic_qp *qp, const struct srnic_lent *lent);

/* recv.c */
/* A datagram for this QP. */
enum srnic_fate srnic_resp_datagram(struct srnic_qp *qp,
				    const struct srnic_seg *seg,
				    const struct srnic_rx_src *src, u16 vlan);

/* ud.c */
static inline bool srnic_qp_is_datagram(const struct srnic_qp *qp)
{
	return qp->type == IB_QPT_UD || qp->type == IB_QPT_GSI;
}

/* The number by which peers know the QP */
static inline u32 srnic_qp_wire_qpn(const struct srnic_qp *qp)
{
	return qp->type == IB_QPT_GSI ? SRNIC_QPN_GSI : qp->qpn;
}

/*
 * Sends the datagram, or the frame, of @wqe; what is wrong with that is in its
 * status.  False: its memory is being fetched.
 */
bool srnic_ud_send(struct srnic_qp *qp, struct srnic_swqe *wqe);
/*
 * Is there a datagram in the run that the QP may be given?  Others are marked not
 * good, and counted: who does not know the Q_Key takes no room in the queue.
 * Context: BH disabled.
 */
bool srnic_ud_admit(struct srnic_qp *qp, struct sk_buff *skb);
/* Receives a run of datagrams.  False: not all of them yet. */
bool srnic_ud_rx(struct srnic_qp *qp, struct sk_buff *skb);
/* Between runs no netdev is held, or it could not go. */
void srnic_ud_let_go(struct srnic_qp *qp);

/* Has it one peer, which it knows? */
static inline bool srnic_qp_is_connected(const struct srnic_qp *qp)
{
	return qp->transport != SRNIC_TP_UD;
}

/* raw.c */
static inline bool srnic_qp_is_raw(const struct srnic_qp *qp)
{
	return qp->type == IB_QPT_RAW_PACKET;
}

/* As srnic_ud_send(). */
bool srnic_raw_send(struct srnic_qp *qp, struct srnic_swqe *wqe);
/* Receives a frame.  False: it must come again. */
bool srnic_raw_rx(struct srnic_qp *qp, struct sk_buff *skb);
/* A frame for the QP @target; see struct srnic_rx_ops. */
void srnic_raw_frame(void *target, struct sk_buff *skb,
		     const struct srnic_frame *frame, bool later);

/* group.c */
/* Counters of the first device that @dest reaches, or NULL.  Context: RCU. */
struct srnic_stats __percpu *
srnic_group_stats(const struct srnic_rx_dest *dest);
/*
 * Calls @fn, with a reference, for each member of the groups that @dest reaches, at
 * most SRNIC_MAX_GROUP_QPS of them, or for the first of the management queue pairs.
 * Context: RCU.
 */
void srnic_group_each(const struct srnic_rx_dest *dest,
		      void (*fn)(struct srnic_qp *qp, struct sk_buff *skb),
		      struct sk_buff *skb);

/* backlog.c */
/* Charges @bytes of packets that wait.  False: no room.  Under the lock of rxq. */
bool srnic_backlog_charge(struct srnic_qp *qp, unsigned int bytes);
/* Charges what the task leaves behind, drops what cannot be. */
void srnic_backlog_settle(struct srnic_qp *qp);
/* Drops all that waits.  The caller owns the task. */
void srnic_backlog_purge(struct srnic_qp *qp);

/* Is a packet that arrives now charged?  Under the lock of rxq. */
static inline bool srnic_backlog_counts(const struct srnic_qp *qp)
{
	lockdep_assert_held(&qp->rxq.lock);

	return qp->rx_charged || qp->rxq_bytes > SRNIC_RXQ_FREE;
}

/*
 * Is nothing charged, and does nothing stay?  What has come behind the back of the
 * run is processed at once unless it must wait.
 */
static inline bool srnic_backlog_is_settled(const struct srnic_qp *qp)
{
	return skb_queue_empty(&qp->rx_todo) &&
	       !READ_ONCE(qp->rx_charged) &&	/* set under the lock of rxq */
	       (skb_queue_empty_lockless(&qp->rxq) || !srnic_rx_busy(qp));
}

/* early.c */
void srnic_early_init(struct srnic_qp *qp);
/*
 * Keeps a copy of the packet @skb until its turn comes, if @psn is not far from
 * @next and the device has room for it.
 */
void srnic_early_keep(struct srnic_qp *qp, struct srnic_early *early,
		      const struct sk_buff *skb, u32 psn, u32 next);
/* Is the packet with @psn here? */
bool srnic_early_has(const struct srnic_early *early, u32 psn);
/* How many are missing from @psn, which is, on; at most @max, at least 1.  Pure. */
u32 srnic_early_gap(const struct srnic_early *early, u32 psn, u32 max);
/* The packet with @psn if it is here; the caller frees it, or gives it back. */
struct sk_buff *srnic_early_take(struct srnic_early *early, u32 psn);
void srnic_early_give_back(struct srnic_early *early, struct sk_buff *skb,
			   u32 psn);
void srnic_early_purge(struct srnic_early *early);
/* Drops what both halves keep, and counts it.  Context: BH disabled. */
void srnic_early_lose(struct srnic_qp *qp);
/* Purges what has been kept for long although nothing before it came. */
void srnic_early_expire(struct srnic_qp *qp);
/* Purges all, for good or until the QP has another life.  May sleep. */
void srnic_early_stop(struct srnic_qp *qp);

static inline void srnic_early_check(struct srnic_qp *qp)
{
	if (READ_ONCE(qp->early_fired))	/* set by early_timer */
		srnic_early_expire(qp);
}

/* rx.c */
/* Leaves @skb to the QP's task, if there is room.  Context: BH disabled. */
void srnic_rx_enqueue(struct srnic_qp *qp, struct sk_buff *skb);
extern const struct srnic_rx_ops srnic_xport_rx_ops;
/* A request that came without a packet.  SRNIC_PKT_AGAIN: not this way. */
enum srnic_fate srnic_rx_local(struct srnic_qp *qp,
			       const struct srnic_seg *seg);
/* Packets that came, as far as the share goes.  True: it is used up. */
bool srnic_rx_run(struct srnic_qp *qp);

#endif /* SRNIC_XPORT_PROTO_H */
