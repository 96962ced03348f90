/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - the queue pair: the state that its task owns
 *
 * A queue pair is one task (exec/).  Only the context that runs, has joined or owns the
 * task accesses its state, without a lock; Documentation/locking.rst has the exceptions.
 * Packets and doorbells kick the task, verbs own it to change the configuration.
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
#include "delack.h"
#include "flight.h"
#include "kept.h"
#include "loss.h"
#include "recovery.h"
#include "ooo.h"
#include "pace.h"
#include "rmem.h"
#include "replay.h"
#include "rto.h"
#include "verdict.h"

/**
 * struct srnic_qp_conf - configuration set by ib_modify_qp(), applied as a whole
 * @state: enum ib_qp_state
 * @mtu: path MTU in bytes
 * @dest_qpn: QP number of the peer
 * @qkey: UD: Q_Key of the queue pair
 * @sq_psn: initial PSN of requests to send
 * @rq_psn: initial PSN of requests to receive
 * @access: IB_ACCESS_* rights granted to the peer
 * @pkey_index: always 0
 * @timeout: exponent of the local ACK timeout
 * @retry_cnt: transport retries, 0 to 7
 * @rnr_retry: RNR retries, 7: unlimited
 * @min_rnr_timer: timer code sent in RNR NAKs
 * @max_rd_atomic: most READs and atomics in flight as requester
 * @max_dest_rd_atomic: most READs and atomics in flight as responder
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

/* What keeps a half of a queue pair from sending more, when its last run ended */
enum srnic_limit {
	SRNIC_LIMIT_APP,	/* nothing else has been posted, or may start */
	SRNIC_LIMIT_WINDOW,	/* the window is full */
	SRNIC_LIMIT_PACE,	/* the DCQCN rate, or the pace of a long path */
	SRNIC_LIMIT_PEER,	/* the peer has no receive */
	SRNIC_LIMIT_READS,	/* max_rd_atomic, or a fence */
	SRNIC_LIMIT_HOST,	/* processor time, memory, or room in the network stack */
};

/**
 * struct srnic_traffic - what a half of a queue pair has carried since it was reset
 * @data_out: bytes of payload sent, not including retransmissions
 * @data_in: bytes of payload received, in order and once
 * @messages: work requests, or requests of the peer, that were executed
 * @retransmitted: packets sent again
 * @lost: times that packets were found to be missing
 */
struct srnic_traffic {
	u64	data_out;
	u64	data_in;
	u64	messages;
	u32	retransmitted;
	u32	lost;
};

/**
 * struct srnic_req - requester half of a queue pair
 * @recovery: PSNs in flight, loss recovery and congestion window
 * @cur: index of the work request that the next PSN to send belongs to, see send_queue.c
 * @ooo: responses ahead of the oldest unacknowledged PSN
 * @sgl: cursor into the SGE list of work request @cur
 * @rsgl: cursor into the SGE list of the oldest READ or atomic
 * @sink: region that the last READ or atomic started has its result written to; held only
 *	  within a run of the task
 * @asked_at: when a packet that was not sent again last requested an answer, ns
 * @asked_seq: resp.seq at that time
 * @refused: why work request @cur, the last one, waits to fail: enum srnic_outcome;
 *	     0: it does not
 * @nak: syndrome of a fatal NAK that has overtaken a response; 0: none.  Set by completer.c
 * @nak_psn: its PSN
 * @ask_ahead: packets that may still request an ACK because the queue runs empty behind them,
 *	       see srnic_req_ends_burst()
 * @reading: a loopback READ is in progress, see loopback.c
 * @sq_drained_raised: event SQ_DRAINED has been raised
 * @limit: enum srnic_limit
 * @traffic: by requests of this end and the responses to them
 */
struct srnic_req {
	struct srnic_recovery	recovery;
	u32			cur;
	struct srnic_ooo	ooo;
	struct srnic_sgl	sgl;
	struct srnic_sgl	rsgl;
	struct srnic_mr		*sink;
	u64			asked_at;
	u64			asked_seq;
	u32			refused;
	u32			nak_psn;
	u8			nak;
	u8			ask_ahead;
	bool			reading;
	bool			sq_drained_raised;
	u8			limit;
	struct srnic_traffic	traffic;
};

/**
 * struct srnic_resp - responder half of a queue pair
 * @psn: next PSN expected
 * @msn: number of messages completed, modulo 2^24
 * @seq: number of PSNs accepted before @psn; never wraps
 * @traffic: by requests of the peer and the responses to them
 * @ooo: requests ahead of @psn
 * @late_due: @late is valid: a completion deferred until an invalidated key is out of use
 * @late_se: the deferred completion is solicited
 * @late: the deferred completion
 * @open: family of the message in progress, SRNIC_FAM_NONE between messages
 * @nak_sent: an RNR NAK, or a NAK for the gap at @psn, has been sent
 * @ack: the ACK for @psn - 1, if it is owed
 * @mr: region of the WRITE in progress, or of the last one; held only within a run of the task
 * @srqn: XRC: number of the SRQ that the current, or else the last, message named
 * @rkey: WRITE in progress: R_Key
 * @va: WRITE in progress: address of the next byte
 * @left: WRITE in progress: bytes not yet received
 * @has_rwqe: @rwqe has been fetched and has not completed
 * @rwqe: receive WQE in progress
 * @rwqe_srq: XRC: id of the SRQ that @rwqe was fetched from
 * @sgl: cursor into the SGE list of @rwqe
 * @got: SEND in progress: bytes received; WRITE in progress: length of the message
 * @replays: replay store: recent READs and atomics
 * @read_left: packets of the READ response in progress that are still to be sent
 * @read_psn: PSN of the next of these packets
 * @read_va: address of the next byte to send
 * @read_bytes: bytes still to be sent
 * @read_first: no packet of the response has been sent
 * @read_again: the READ request is a duplicate
 * @read_checked: it is one of a READ that was executed to its end
 * @read_yields: requests go first in this run, see run.c
 * @read_limit: enum srnic_limit; valid while @read_left is not 0
 * @read_srqn: XRC: number of the SRQ that the READ request named
 * @read_rkey: R_Key of the READ request
 * @read_mr: region that is read, or was read last; held only within a run of the task
 * @flushed: bytes of the FLUSH at @psn that have been written back
 * @comm_est_raised: COMM_EST has been raised
 * @last_wqe_raised: LAST_WQE_REACHED has been raised
 */
struct srnic_resp {
	u32			psn;
	u32			msn;
	u64			seq;
	struct srnic_traffic	traffic;
	struct srnic_ooo	ooo;
	bool			late_due;
	bool			late_se;
	struct srnic_cqe	late;
	u8			open;
	bool			nak_sent;
	struct srnic_delack	ack;
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
	bool			read_checked;
	bool			read_yields;
	u8			read_limit;
	u32			read_srqn;
	u32			read_rkey;
	struct srnic_mr		*read_mr;
	u64			flushed;
	bool			comm_est_raised;
	bool			last_wqe_raised;
};

/**
 * struct srnic_srq - shared receive queue
 * @rq: receive queue
 * @pd: protection domain of the receive buffers; with XRC also of the memory that
 *	requests for this SRQ access
 * @xrcd: XRC: domain whose queue pairs find the SRQ by its number; else NULL
 * @cq: XRC: CQ for completions of the receives
 * @srqn: XRC: number of the SRQ
 * @id: XRC: unique identifier, never reused
 * @users: XRC: reference count: one while published, and one per lookup in progress
 * @unused: completed when @users drops to 0
 *
 * Without XRC, an SRQ exists for at least as long as the queue pairs that use it.
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
 * struct srnic_av - address vector: destination of datagrams
 * @path: path to the destination, without netdev and route; copied before use
 * @id: unique identifier, never reused
 * @rcu: defers the free while a sender may read the vector
 */
struct srnic_av {
	struct srnic_path	path;
	u64			id;
	struct rcu_head		rcu;
};

/**
 * struct srnic_avs - the address vectors of a protection domain
 * @xa: maps indices to struct srnic_av; readers use RCU
 * @next: index at which the search for a free one continues
 */
struct srnic_avs {
	struct xarray	xa;
	u32		next;
};

/**
 * struct srnic_watch - polling of a send queue in place of doorbells, see poll.c
 * @usecs: how long to poll after the last post, us; 0: never
 * @seen: producer index when the queue was last polled
 * @since: time at which @seen last changed
 */
struct srnic_watch {
	u32		usecs;
	u32		seen;
	ktime_t		since;
};

/**
 * struct srnic_cc - congestion control of a queue pair
 * @limited: @rate limits the QP, after a CNP
 * @rate: sending rate; valid while @limited
 * @credit: bytes of the current burst that may still be sent
 * @next: when the next burst may be sent, ns
 * @pace: pacing of requests on a long path
 * @answers: pacing of responses to READs, as the peer wants it
 * @timer: kicks the task at @next, or when @pace or @answers permit a packet
 * @marked: packets with a payload that arrived with an ECN mark
 * @cnps: CNPs that arrived
 * @cnp_after: time before which the queue pair sends no other CNP, ns
 * @cnp: CNP received and not yet processed, or NULL; exchanged atomically by the
 *	 receiver and the task
 */
struct srnic_cc {
	bool			limited;
	struct srnic_dcqcn	rate;
	u32			credit;
	u64			next;
	struct srnic_pace	pace;
	struct srnic_pace	answers;
	struct hrtimer		timer;
	u32			marked;
	u32			cnps;
	u64			cnp_after;
	struct sk_buff		*cnp;
};

/**
 * struct srnic_sack - what both ends say in SACKs: requests kept out of order, and the pace of
 *		       responses
 * @kept: requests of the peer that were kept
 * @more: packets kept since they were last reported
 * @news: those of them that are reported at the end of the run
 * @tries: SACKs sent to a peer that may not understand them
 * @understood: the peer has sent a SACK
 * @known: the peer has not asked for an answer in one: it knows that this end understands them
 * @answer: the peer waits for one
 * @pace: of responses that the peer wants, as in struct srnic_sack_hdr
 * @paced_at: when it wanted that, ns
 * @told: the one that it was told last
 */
struct srnic_sack {
	struct srnic_kept	kept;
	u32			more;
	u32			news;
	u8			tries;
	bool			understood;
	bool			known;
	bool			answer;
	u8			pace;
	u64			paced_at;
	struct srnic_pace_told	told;
};

/**
 * struct srnic_tuning - what has been set for the queue pairs of a device
 * @ecn: packets are sent ECN capable, CNPs are sent and obeyed
 * @loopback: requests to a queue pair of the same device take no packets, if possible
 * @poll: programs may have their send queues polled
 * @sack: SACKs are sent and obeyed
 *
 * Read without a lock; each may change at any time.
 */
struct srnic_tuning {
	unsigned int	ecn;
	unsigned int	loopback;
	unsigned int	poll;
	unsigned int	sack;
};

/**
 * struct srnic_failure - the decision that ended the service of a queue pair
 * @time: when it was made, wall clock, ns
 * @addr: address that was to be accessed
 * @peer: network address of the peer, or of the sender of the datagram; zeros: none.
 *	  IPv4 addresses are v4-mapped
 * @key: key that was to be used
 * @psn: PSN of the packet, or of the work request's oldest unacknowledged packet
 * @length: bytes of the message, or of the SGE with @key
 * @room: what there was room for, if @length was too much; else 0
 * @verdict: enum srnic_verdict; SRNIC_V_OK: there was no failure
 * @memory: enum srnic_mem_err, if memory was refused
 * @op: operation, see qp_state.c
 */
struct srnic_failure {
	u64		time;
	u64		addr;
	struct in6_addr	peer;
	u32		key;
	u32		psn;
	u32		length;
	u32		room;
	u8		verdict;
	u8		memory;
	u8		op;
};

/**
 * struct srnic_tie - to a netdev whose end is that of the queue pair's service
 * @ndev: the netdev; NULL: none
 * @qp: the queue pair
 * @first: in the table of netdevs, for the first tie to @ndev
 * @ring: the ties to @ndev
 * @walk: number of the last walk that has come here
 *
 * Under ties_lock; the owner of the task, who sets the path's, may read its @ndev.
 */
struct srnic_tie {
	const struct net_device	*ndev;
	struct srnic_qp		*qp;
	struct hlist_node	first;
	struct list_head	ring;
	u64			walk;
};

/**
 * struct srnic_qp - queue pair
 * @gate: transmit back pressure; its reference count keeps the memory of the QP
 * @task: does all work of the QP
 * @users: reference count: one while published, and one per lookup in progress
 * @unused: completed when @users drops to 0
 * @watch: polled doorbell; under the lock of the worker
 * @burst: processes packets that arrive in one softirq together
 * @rxq: received packets waiting for the task; under its own lock, BH
 * @rxq_bytes: memory of the packets in @rxq; under the lock of @rxq
 * @rx_charged: memory of waiting packets charged to @rmem; under the lock of @rxq
 * @rx_todo: packets that the task has moved here from @rxq
 * @rx_todo_bytes: memory of the packets in @rx_todo
 * @rx_lost: a waiting packet has been dropped; under the lock of @rxq
 * @rx_at: packet of the first chain in @rx_todo to go on with; NULL: the first one
 * @req_pager: fetches pages for the requester
 * @comp_pager: fetches pages for received responses, which wait
 * @resp_pager: fetches pages for received requests, which wait, and for READ responses sent
 * @ooo_timer: runs while packets received out of order are kept
 * @ooo_fired: set by @ooo_timer, cleared by the task
 * @timer: fires at the deadline of @req (retransmission, RNR and others) or of an ACK
 * @timer_fired: set by @timer, cleared by the task
 * @txb: GSO chain being built
 * @path: path to the peer; UD: path of the last address vector used
 * @peer: addresses and device of the peer, for the receiver, under RCU; NULL: none yet
 * @rx_epoch: number of the current epoch, a period in which the QP receives by one path;
 *	     0: it does not receive.  Written by the task's owner after @peer, read by the
 *	     receiver before @peer
 * @rx_epochs: number of epochs so far
 * @self: the destination of @path is an address of its own device
 * @cc: congestion control
 * @qpn: QP number
 * @uid: unique identifier, never reused; owner of the windows that the QP binds
 * @inv_wait: called when a key that the QP has invalidated is out of use
 * @inv_pending: number of invalidated keys still in use
 * @transport: SRNIC_TP_*, upper bits of the opcodes that the QP sends and accepts
 * @conf: configuration, set by the verbs; the task itself changes only @conf.state
 * @failure: why the QP is in ERR or SQE; none if a verb moved it
 * @sq: send queue
 * @rq: own receive queue
 * @recvq: receive queue in use: @rq or that of @srq; NULL: none
 * @stats: counters of the device, or the set that the QP is bound to; changed by the
 *	   task's owner, read with BH disabled by others
 * @av: UD: id of the address vector that @path was copied from
 * @ud_qpn: UD: destination of the last datagram
 * @type: IB_QPT_*
 * @xrcd: XRC target: domain of the SRQs that requests name; else NULL
 * @srq: shared receive queue, or NULL
 * @send_cq: CQ for sends
 * @recv_cq: CQ for receives
 * @pd: protection domain; NULL for an XRC target
 * @keys: key table of the device
 * @dev_stats: counters of the device
 * @event: raises an async event.  Context: BH disabled
 * @owner: verbs object, for @event
 * @net: namespace of the device
 * @ndev: netdev of the device; the device holds the reference
 * @avs: address vectors of the protection domain
 * @tuning: settings of the device
 * @rmem: receive memory: of the user, or of the device for the kernel
 * @no_loopback: the QP does not receive multicast packets, or frames, that it sends
 * @tap: raw: frames of the netdev
 * @rss: raw: work queues that receive in place of the QP, or NULL
 * @rcu: defers the free while a lookup may read the QP; kfree_rcu() needs it in the first
 *	 4096 bytes, of which debug options leave few
 * @req: requester
 * @resp: responder
 * @sack: reports of what was kept
 * @dev_tie: to the netdev of the device, for all but the management QP
 * @path_tie: to that of @path if it is another one, unless it changes with each datagram
 *
 * The creator passes @type to @rss as one struct srnic_qp_base.  They are constant, but
 * for @srq and @recv_cq of an XRC target.  These, and @recvq, belong to the SRQ that the
 * current request names and are set only within a run of the task.
 *
 * A receive work queue, as in @rss, is a raw packet queue pair that only receives.
 */
struct srnic_qp {
	struct srnic_gate		gate;
	struct srnic_task		task;
	refcount_t			users;
	struct completion		unused;
	struct srnic_watch		watch;
	struct srnic_burst		burst;
	struct sk_buff_head		rxq;
	unsigned int			rxq_bytes;
	unsigned int			rx_charged;
	struct sk_buff_head		rx_todo;
	unsigned int			rx_todo_bytes;
	bool				rx_lost;
	struct sk_buff			*rx_at;
	struct srnic_pager		req_pager;
	struct srnic_pager		comp_pager;
	struct srnic_pager		resp_pager;
	struct timer_list		ooo_timer;
	bool				ooo_fired;
	struct hrtimer			timer;
	bool				timer_fired;
	struct srnic_txb		txb;
	struct srnic_path		path;
	struct srnic_peer __rcu		*peer;
	u32				rx_epoch;
	u32				rx_epochs;
	bool				self;
	struct srnic_cc			cc;
	u32				qpn;
	u64				uid;
	struct srnic_wait		inv_wait;
	atomic_t			inv_pending;
	u8				transport;
	struct srnic_qp_conf		conf;
	struct srnic_failure		failure;
	struct srnic_sq			sq;
	struct srnic_rq			rq;
	struct srnic_rq			*recvq;
	struct srnic_stats __percpu	*stats;
	u64				av;
	u32				ud_qpn;
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
		const struct srnic_tuning	*tuning;
		struct srnic_rmem		*rmem;
		bool				no_loopback;
		const struct srnic_tap		*tap;
		struct srnic_rss		*rss;
	);
	struct rcu_head			rcu;
	struct srnic_req		req;
	struct srnic_resp		resp;
	struct srnic_sack		sack;
	struct srnic_tie		dev_tie;
	struct srnic_tie		path_tie;
};

/**
 * struct srnic_rss - receive work queues that the frames of a queue pair are spread over
 * @conf: hash
 * @log_num: log2 of the number of @wqs
 * @wqs: work queues; they outlive the queue pair
 */
struct srnic_rss {
	struct srnic_rss_conf	conf;
	u8			log_num;
	struct srnic_qp		*wqs[];
};

/* The state; it may change at any time unless the caller owns the task.  Context: any. */
static inline u8 srnic_qp_state(const struct srnic_qp *qp)
{
	/* the task's owner writes it, possibly as part of the whole struct */
	return data_race(READ_ONCE(qp->conf.state));
}

/* Is the QP in a state in which it receives?  Context: any. */
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

/* Does the QP have a single peer? */
static inline bool srnic_qp_is_connected(const struct srnic_qp *qp)
{
	return qp->transport != SRNIC_TP_UD;
}

static inline bool srnic_qp_is_raw(const struct srnic_qp *qp)
{
	return qp->type == IB_QPT_RAW_PACKET;
}

/* Are requests acknowledged, and retransmitted if they are not? */
static inline bool srnic_qp_reliable(const struct srnic_qp *qp)
{
	return qp->transport == SRNIC_TP_RC || qp->transport == SRNIC_TP_XRC;
}

/* The number by which peers address the QP */
static inline u32 srnic_qp_wire_qpn(const struct srnic_qp *qp)
{
	return qp->type == IB_QPT_GSI ? SRNIC_QPN_GSI : qp->qpn;
}

/* Must received requests wait?  Responses wait for memory only. */
static inline bool srnic_rx_busy(const struct srnic_qp *qp)
{
	return qp->resp.read_left || qp->resp.late_due ||
	       srnic_pager_busy(&qp->resp_pager) ||
	       srnic_pager_busy(&qp->comp_pager);
}

/* Counters of @qp, for callers that do not own its task.  Context: BH disabled. */
static inline struct srnic_stats __percpu *
srnic_qp_stats(const struct srnic_qp *qp)
{
	return READ_ONCE(qp->stats);	/* set in srnic_qp_count_in() */
}

/*
 * Counts and traces why a packet for @qp is dropped.  Wrong P_Keys and Q_Keys are counted
 * for the device, whose port attributes report them.
 */
static inline void srnic_qp_refuse(const struct srnic_qp *qp,
				   enum srnic_counter why)
{
	bool key = why == SRNIC_CNT_RX_BAD_PKEY || why == SRNIC_CNT_RX_BAD_QKEY;

	trace_srnic_drop(qp->qpn, srnic_counter_names[why]);
	srnic_count(key ? qp->dev_stats : srnic_qp_stats(qp), why);
}

#endif /* SRNIC_XPORT_QP_H */
