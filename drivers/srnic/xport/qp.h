/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - the queue pair: everything that its task owns
 *
 * A queue pair is one task (exec/).  Everything it owns is touched by its task,
 * or by a caller that took the task with srnic_task_own(); there is no lock.
 * The verbs configure it, packets and doorbells kick it.
 */
#ifndef SRNIC_XPORT_QP_H
#define SRNIC_XPORT_QP_H

#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/skbuff.h>
#include <linux/stddef.h>
#include <linux/timer.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "../exec/task.h"
#include "../mem/mem.h"
#include "../net/net.h"
#include "../queue/queue.h"
#include "../stats.h"
#include "../trace.h"
#include "../wire/aeth.h"
#include "../wire/pkt.h"
#include "../wire/psn.h"
#include "../wire/rss.h"
#include "dcqcn.h"
#include "flight.h"
#include "ooo.h"
#include "pool.h"
#include "replay.h"

/**
 * struct srnic_qp_conf - what ib_modify_qp sets, in one piece
 * @state: enum ib_qp_state
 * @mtu: path MTU in bytes
 * @dest_qpn: peer
 * @qkey: UD
 * @sq_psn: initial PSN to send
 * @rq_psn: initial PSN to expect
 * @access: IB_ACCESS_* granted to the peer
 * @pkey_index: always 0
 * @timeout: local ACK timeout, exponent
 * @retry_cnt: transport retries, 0 to 7
 * @rnr_retry: RNR retries, 7 is forever
 * @min_rnr_timer: code to send in RNR NAKs
 * @max_rd_atomic: READs and atomics in flight as requester
 * @max_dest_rd_atomic: as responder
 * @sq_sig_all: every send is signalled
 */
struct srnic_qp_conf {
	u8	state;
	u16	mtu;
	u32	dest_qpn;
	u32	qkey;
	u32	sq_psn;
	u32	rq_psn;
	u32	access;
	u16	pkey_index;
	u8	timeout;
	u8	retry_cnt;
	u8	rnr_retry;
	u8	min_rnr_timer;
	u8	max_rd_atomic;
	u8	max_dest_rd_atomic;
	bool	sq_sig_all;
};

/**
 * struct srnic_req - requester half of a queue pair
 * @flight: PSNs in flight; flight.c alone writes it
 * @cur: index of the work request that the next PSN to send belongs to, see req_cursor.c
 * @ooo: responses ahead of the oldest PSN not acknowledged
 * @sgl: place in the list of work request @cur
 * @rsgl: place in the list of the oldest READ
 * @reading: a READ is going on without packets, see loopback.c
 * @sqd_told: SQ_DRAINED was raised
 */
struct srnic_req {
	struct srnic_flight	flight;
	u32			cur;
	struct srnic_ooo	ooo;
	struct srnic_sgl	sgl;
	struct srnic_sgl	rsgl;
	bool			reading;
	bool			sqd_told;
};

/**
 * struct srnic_resp - responder half of a queue pair
 * @psn: next PSN expected
 * @seq: PSNs accepted before @psn
 * @msn: messages completed
 * @ooo: requests ahead of @psn
 * @late_due: @late is a completion that waits until a key is out of use
 * @late_se: it is solicited
 * @late: that completion
 * @open: family of the message in progress, SRNIC_FAM_NONE between messages
 * @nak_sent: the gap at @psn was reported
 * @ack_due: an ACK for @psn - 1 is owed
 * @mr: WRITE in progress: region, held within a run of the task
 * @srqn: XRC: queue that the message in progress, or the last, named
 * @rkey: WRITE in progress: its key
 * @va: WRITE in progress: where the next byte goes
 * @left: WRITE in progress: bytes that must still come
 * @has_rwqe: @rwqe is a receive taken from the queue and not completed
 * @rwqe: receive in progress
 * @rwqe_srq: XRC: id of the queue that @rwqe was taken from
 * @sgl: place in @rwqe
 * @got: bytes received of the SEND in progress
 * @replays: the last READs and atomics
 * @read_left: packets of the READ response being sent that are still to go
 * @read_psn: PSN of the next of them
 * @read_va: address of its first byte
 * @read_bytes: bytes still to go
 * @read_first: none was sent
 * @read_again: the request is a duplicate
 * @read_srqn: XRC: queue that the READ named
 * @read_rkey: key of the region it comes from
 * @read_mr: that region, held within a run of the task
 * @flushed: bytes of the FLUSH at @psn that are written back
 * @comm_told: COMM_EST was raised
 * @last_told: LAST_WQE_REACHED was raised
 */
struct srnic_resp {
	u32			psn;
	u32			msn;
	u64			seq;
	struct srnic_ooo	ooo;
	bool			late_due;
	bool			late_se;
	struct srnic_cqe	late;
	u8			open;
	bool			nak_sent;
	bool			ack_due;
	struct srnic_mr		*mr;
	u32			srqn;
	u32			rkey;
	u64			va;
	u32			left;
	bool			has_rwqe;
	struct srnic_rwqe	rwqe;
	u64			rwqe_srq;
	struct srnic_sgl	sgl;
	u32			got;
	struct srnic_replays	replays;
	u32			read_left;
	u32			read_psn;
	u64			read_va;
	u32			read_bytes;
	bool			read_first;
	bool			read_again;
	u32			read_srqn;
	u32			read_rkey;
	struct srnic_mr		*read_mr;
	u64			flushed;
	bool			comm_told;
	bool			last_told;
};

/**
 * struct srnic_srq - receives that queue pairs share
 * @rq: the receives
 * @pd: protection domain of their buffers; with XRC also of the memory that
 *	requests for this queue name
 * @xrcd: XRC: queue pairs of this domain find it by its number; or NULL
 * @cq: XRC: where the receives complete
 * @srqn: XRC: its number
 * @id: XRC: no other has it, or ever had
 * @users: XRC: lookups in progress and one for being published
 * @unused: completed when @users is down to 0
 *
 * Without XRC it is made before the queue pairs that use it and gone after
 * them.
 */
struct srnic_srq {
	struct srnic_rq		rq;
	const struct ib_pd	*pd;
	const struct ib_xrcd	*xrcd;
	struct srnic_cq		*cq;
	u32			srqn;
	u64			id;
	refcount_t		users;
	struct completion	unused;
};

/**
 * struct srnic_av - address vector: where a datagram goes
 * @flow: the path; nobody's, it is copied to be used
 * @id: no other address vector has it, or ever had
 * @rcu: a sender may still look at it
 */
struct srnic_av {
	struct srnic_flow	flow;
	u64			id;
	struct rcu_head		rcu;
};

/**
 * struct srnic_avs - the address vectors of a protection domain
 * @xa: index to struct srnic_av; readers use RCU
 * @next: where the search for a free index goes on
 */
struct srnic_avs {
	struct xarray	xa;
	u32		next;
};

/**
 * struct srnic_watch - a send queue that needs no doorbell, see poll.c
 * @list: of those; empty: it needs one
 * @seen: producer index as it was found last
 * @since: when that was new
 */
struct srnic_watch {
	struct list_head	list;
	u32			seen;
	ktime_t			since;
};

/**
 * struct srnic_cc - what congestion on the path does to a queue pair
 * @limited: a CNP came, and the rate is not that of the line again
 * @rate: how fast it may send; while it is @limited
 * @credit: bytes of the present burst that are to go
 * @next: when the next burst may leave, ns
 * @timer: kicks the task then
 * @cnp_after: when it may send another CNP, ns
 * @cnp: CNP that was received and is not looked at; exchanged by the receiver and
 *	 the task
 */
struct srnic_cc {
	bool			limited;
	struct srnic_dcqcn	rate;
	u32			credit;
	u64			next;
	struct hrtimer		timer;
	u64			cnp_after;
	struct sk_buff		*cnp;
};

/**
 * struct srnic_qp - queue pair
 * @gate: transmit back pressure; its reference count is the QP's memory
 * @task: all of the QP's work
 * @users: lookups in progress and one for being published
 * @unused: completed when @users is down to 0
 * @watch: polled doorbell
 * @rxq: packets that wait for the task; under its lock, BH
 * @rxq_bytes: memory that they take; under the lock of @rxq
 * @rx_todo: those that the task has taken over
 * @rx_todo_bytes: memory that they take
 * @rx_charged: memory of both that is charged to @pools; under the lock of @rxq
 * @rx_done: datagrams of the first run in @rx_todo that are done
 * @rx_pager: fetches what received packets, and READs to be answered, need;
 *	      packets wait meanwhile
 * @tx_pager: the same for what is to be sent
 * @ooo_timer: runs while such packets are kept
 * @ooo_fired: set by @ooo_timer, cleared by the task
 * @timer: retransmission and RNR
 * @timer_fired: set by @timer, cleared by the task
 * @flow: path to the peer
 * @peer: who that is, for the receiver, which looks with RCU; NULL: nobody yet
 * @rx_life: number of the time in which it takes packets, 0: it does not now.
 *	     Another path is another time.  Written by the task's owner behind
 *	     @peer, read by the receiver before it
 * @rx_lives: how many such times there were
 * @self: which is on the same device, to judge by that
 * @cc: congestion on that path
 * @qpn: own number
 * @uid: number that no other QP ever has; windows know their owner by it
 * @inv_wait: told when a key that this QP has invalidated is out of use
 * @inv_pending: how many it waits for
 * @transport: upper bits of the opcodes it sends and takes, SRNIC_TP_*
 * @conf: what the verbs set; the task writes @conf.state alone
 * @sq: send queue
 * @rq: own receive queue
 * @recvq: @rq, or that of @srq
 * @stats: counters: of the device, or others that it was bound to; changed
 *	   by the task's owner, read with BH disabled elsewhere
 * @av: id of the address vector that @flow was copied from
 * @type: IB_QPT_RC, ...
 * @xrcd: XRC target: domain in which a request finds its SRQ; or NULL
 * @srq: where its receives come from instead, or NULL
 * @send_cq: completions of sends
 * @recv_cq: completions of receives
 * @pd: protection domain; an XRC target has none
 * @keys: key table of the device
 * @dev_stats: counters of the device, constant
 * @event: raises an async event; BH context
 * @owner: the verbs' object, for @event
 * @net: namespace that the QP's packets come from
 * @ndev: netdev of the device, compared and not looked at
 * @avs: address vectors that it may use
 * @pools: memory of packets: of its user, or of the device if the kernel is that
 * @no_loopback: it does not get the multicasts that it sends
 * @tap: frames of the netdev
 * @rss: raw: who receives in its place, or NULL
 *
 * @type to @rss are what its maker gives it, in one piece: struct srnic_qp_base.
 *
 * A receive work queue is a queue pair for raw packets that has nothing but
 * receives; an @rss names such.
 *
 * An XRC target has @srq, @recvq and @recv_cq within a run of the task only,
 * and they are those of the SRQ that the request named.
 */
struct srnic_qp {
	struct srnic_gate		gate;
	struct srnic_task		task;
	refcount_t			users;
	struct completion		unused;
	struct srnic_watch		watch;
	struct sk_buff_head		rxq;
	unsigned int			rxq_bytes;
	unsigned int			rx_charged;
	struct sk_buff_head		rx_todo;
	unsigned int			rx_todo_bytes;
	u32				rx_done;
	struct srnic_pager		rx_pager;
	struct srnic_pager		tx_pager;
	struct timer_list		ooo_timer;
	bool				ooo_fired;
	struct hrtimer			timer;
	bool				timer_fired;
	struct srnic_txb		txb;
	struct srnic_flow		flow;
	struct srnic_peer __rcu		*peer;
	u32				rx_life;
	u32				rx_lives;
	bool				self;
	struct srnic_cc			cc;
	u32				qpn;
	u64				uid;
	struct srnic_wait		inv_wait;
	atomic_t			inv_pending;
	u8				transport;
	struct srnic_qp_conf		conf;
	struct srnic_sq			sq;
	struct srnic_rq			rq;
	struct srnic_rq			*recvq;
	struct srnic_stats __percpu	*stats;
	u64				av;
	struct_group_tagged(srnic_qp_base, base,
		enum ib_qp_type			type;
		const struct ib_xrcd		*xrcd;
		struct srnic_srq		*srq;
		struct srnic_cq			*send_cq;
		struct srnic_cq			*recv_cq;
		const struct ib_pd		*pd;
		struct srnic_keys		*keys;
		struct srnic_stats __percpu	*dev_stats;
		void				(*event)(struct srnic_qp *qp,
							 enum ib_event_type type);
		void				*owner;
		struct net			*net;
		const struct net_device		*ndev;
		struct srnic_avs		*avs;
		struct srnic_pools		*pools;
		bool				no_loopback;
		const struct srnic_tap		*tap;
		struct srnic_rss		*rss;
	);
	struct srnic_req		req;
	struct srnic_resp		resp;
	struct rcu_head			rcu;
};

/**
 * struct srnic_rss - receive work queues that share the frames for a queue pair
 * @conf: how
 * @log_num: of how many, two to the power of it
 * @wqs: these; they outlive the queue pair
 */
struct srnic_rss {
	struct srnic_rss_conf	conf;
	u8			log_num;
	struct srnic_qp		*wqs[];
};

/* The state as it was a moment ago, or is about to be.  Context: any. */
static inline u8 srnic_qp_state(const struct srnic_qp *qp)
{
	/* who owns the task sets it, perhaps with the rest of the struct */
	return data_race(READ_ONCE(qp->conf.state));
}

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

static inline bool srnic_qp_is_datagram(const struct srnic_qp *qp)
{
	return qp->type == IB_QPT_UD || qp->type == IB_QPT_GSI;
}

/* Has it one peer, which it knows? */
static inline bool srnic_qp_is_connected(const struct srnic_qp *qp)
{
	return qp->transport != SRNIC_TP_UD;
}

static inline bool srnic_qp_is_raw(const struct srnic_qp *qp)
{
	return qp->type == IB_QPT_RAW_PACKET;
}

/* Are requests acknowledged, and repeated until they are? */
static inline bool srnic_qp_reliable(const struct srnic_qp *qp)
{
	return qp->transport == SRNIC_TP_RC || qp->transport == SRNIC_TP_XRC;
}

/* The number by which peers know the QP */
static inline u32 srnic_qp_wire_qpn(const struct srnic_qp *qp)
{
	return qp->type == IB_QPT_GSI ? SRNIC_QPN_GSI : qp->qpn;
}

/* Must the packets that wait go on waiting? */
static inline bool srnic_rx_busy(const struct srnic_qp *qp)
{
	return qp->resp.read_left || qp->resp.late_due ||
	       srnic_pager_busy(&qp->rx_pager);
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

#endif /* SRNIC_XPORT_QP_H */
