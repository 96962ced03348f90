// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - queue pairs: birth, configuration, death and the task between
 *
 * QP numbers are unique on the whole host, so a packet finds its QP without a
 * look at the device it came through.  The management QP has one too, which is
 * not what its peers call it: they find it by its device.  Memory outlives the QP until the last
 * skb that points to its gate is gone.
 */
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include <net/net_namespace.h>

#include "proto.h"

#define QPN_MIN		16
#define QPN_MAX		0xfffffe

/* Upper bits of the opcodes of each service */
static const u8 qp_transports[] = {
	[IB_QPT_RC]	= SRNIC_TP_RC,
	[IB_QPT_UC]	= SRNIC_TP_UC,
	[IB_QPT_UD]	= SRNIC_TP_UD,
	[IB_QPT_GSI]	= SRNIC_TP_UD,
	[IB_QPT_RAW_PACKET] = SRNIC_TP_UD,
	[IB_QPT_XRC_INI] = SRNIC_TP_XRC,
	[IB_QPT_XRC_TGT] = SRNIC_TP_XRC,
};

static DEFINE_XARRAY_ALLOC(qp_table);
static u32 qp_next;

/* QPs whose memory somebody may still touch, packets on their way included */
static atomic_t qp_alive;

struct srnic_qp *srnic_qp_get(struct net *net, u32 qpn)
{
	struct srnic_qp *qp = xa_load(&qp_table, qpn);

	if (qp && net_eq(qp->net, net) && refcount_inc_not_zero(&qp->users))
		return qp;

	return NULL;
}

void srnic_qp_put(struct srnic_qp *qp)
{
	if (refcount_dec_and_test(&qp->users))
		complete(&qp->unused);
}

void srnic_qp_free(struct kref *ref)
{
	struct srnic_qp *qp = container_of(ref, struct srnic_qp, gate.ref);

	kfree_rcu(qp, rcu);
	if (atomic_dec_and_test(&qp_alive))
		wake_up_var(&qp_alive);
}

/* Who frees a packet may hold the lock of the queue that the next goes to. */
static void qp_wake(struct srnic_gate *gate)
{
	srnic_task_defer(&container_of(gate, struct srnic_qp, gate)->task);
}

/* What all packets of the QP have in common. */
void srnic_qp_pkt(const struct srnic_qp *qp, struct srnic_pkt *pkt, u8 opcode,
		  u32 psn)
{
	memset(pkt, 0, sizeof(*pkt));
	pkt->opcode = qp->transport | opcode;
	pkt->migreq = true;
	pkt->pkey = SRNIC_PKEY_DEFAULT;
	pkt->qpn = qp->conf.dest_qpn;
	pkt->psn = psn;
}

void srnic_qp_cqe(struct srnic_qp *qp, struct srnic_cq *cq,
		  struct srnic_cqe *cqe, bool solicited)
{
	cqe->qpn = qp->qpn;
	trace_srnic_cqe(cqe);
	if (!srnic_cq_push(cq, cqe, solicited))
		srnic_qp_to_error(qp, IB_EVENT_QP_FATAL);
}

void srnic_qp_to_error(struct srnic_qp *qp, enum ib_event_type event)
{
	if (qp->conf.state == IB_QPS_ERR)
		return;

	trace_srnic_qp_state(qp->qpn, qp->conf.state, IB_QPS_ERR);
	qp->conf.state = IB_QPS_ERR;
	qp->req.deadline = 0;
	qp->event(qp, event);
}

static enum hrtimer_restart qp_timer(struct hrtimer *timer)
{
	struct srnic_qp *qp = container_of(timer, struct srnic_qp, timer);

	WRITE_ONCE(qp->timer_fired, true);	/* read in qp_check_timer() */
	srnic_task_kick(&qp->task);

	return HRTIMER_NORESTART;
}

/*
 * The deadline moves with every acknowledgment, the timer does not: it looks
 * when it fires.  Only a deadline before the running timer's starts it anew.
 */
void srnic_qp_timer_set(struct srnic_qp *qp, u64 nsec)
{
	ktime_t when = ktime_add_ns(ktime_get(), nsec);

	qp->req.deadline = when;
	if (!hrtimer_is_queued(&qp->timer) ||
	    ktime_before(when, hrtimer_get_softexpires(&qp->timer)))
		hrtimer_start(&qp->timer, when, HRTIMER_MODE_ABS_SOFT);
}

static void qp_check_timer(struct srnic_qp *qp)
{
	if (!xchg(&qp->timer_fired, false) || !qp->req.deadline)
		return;

	if (ktime_before(ktime_get(), qp->req.deadline)) {
		hrtimer_start(&qp->timer, qp->req.deadline,
			      HRTIMER_MODE_ABS_SOFT);
		return;
	}
	qp->req.deadline = 0;
	srnic_flight_timeout(qp);
}

/* A page is missed; the QP goes on without, and must stay. */
static void qp_fetch_begin(struct srnic_pager *pager)
{
	struct srnic_qp *qp = pager->owner;

	srnic_count(qp->stats, SRNIC_CNT_PAGE_FAULTS);
	kref_get(&qp->gate.ref);
}

static void qp_fetch_end(struct srnic_pager *pager)
{
	struct srnic_qp *qp = pager->owner;

	srnic_task_kick(&qp->task);
	kref_put(&qp->gate.ref, srnic_qp_free);
}

static const struct srnic_pager_ops qp_pager_ops = {
	.begin	= qp_fetch_begin,
	.end	= qp_fetch_end,
};

/*
 * What has come, and the READs in it, whose responses then leave together.  True:
 * more to do.
 */
static bool qp_respond(struct srnic_qp *qp)
{
	int budget = SRNIC_RUN_BUDGET;
	bool more;

	do {
		more = srnic_rx_run(qp, &budget);
		if (!srnic_resp_run(qp, &budget))
			return more;
	} while (budget > 0);

	return true;
}

/* All that a QP ever does, once each, within budgets. */
static bool qp_run(struct srnic_task *task)
{
	struct srnic_qp *qp = container_of(task, struct srnic_qp, task);
	bool more;

	qp_check_timer(qp);
	more = qp_respond(qp);
	if (qp->conf.state == IB_QPS_RTS || qp->conf.state == IB_QPS_SQD)
		more |= srnic_req_run(qp);
	srnic_resp_ack(qp);
	if (qp->flow.ndev)
		srnic_tx_flush(&qp->txb);
	if (qp->conf.state == IB_QPS_ERR || qp->conf.state == IB_QPS_SQE)
		more |= srnic_req_flush(qp);
	if (qp->conf.state == IB_QPS_ERR)
		more |= srnic_resp_flush(qp);
	if (srnic_qp_is_datagram(qp))
		srnic_ud_let_go(qp);
	srnic_local_let_go(qp);
	srnic_req_let_go(qp);
	srnic_resp_let_go(qp);

	return more;
}

static int qp_init_queues(struct srnic_qp *qp, const struct srnic_qp_init *init)
{
	int err = 0;

	qp->sq.trusted = init->trusted;
	if (init->sq_entries)
		err = srnic_sq_init(&qp->sq, init->sq_entries, init->send_sge,
				    init->max_inline);
	if (err || !init->rq_entries)
		return err;

	err = srnic_rq_init(&qp->rq, init->rq_entries, init->recv_sge);
	if (err) {
		srnic_sq_destroy(&qp->sq);
		return err;
	}
	qp->recvq = &qp->rq;

	return 0;
}

struct srnic_qp *srnic_qp_create(const struct srnic_qp_init *init)
{
	struct srnic_qp *qp;
	int err;

	qp = kzalloc(sizeof(*qp), GFP_KERNEL);
	if (!qp)
		return ERR_PTR(-ENOMEM);

	kref_init(&qp->gate.ref);
	qp->gate.wake = qp_wake;
	qp->gate.free = srnic_qp_free;
	srnic_task_init(&qp->task, qp_run);
	refcount_set(&qp->users, 1);
	init_completion(&qp->unused);
	INIT_LIST_HEAD(&qp->watch.list);
	skb_queue_head_init(&qp->rxq);
	__skb_queue_head_init(&qp->rx_todo);
	hrtimer_setup(&qp->timer, qp_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
	srnic_cc_init(qp);
	qp->txb.flow = &qp->flow;
	qp->txb.gate = &qp->gate;
	qp->txb.stats = init->stats;
	srnic_pager_init(&qp->rx_pager, &qp_pager_ops, qp);
	srnic_pager_init(&qp->tx_pager, &qp_pager_ops, qp);
	srnic_memop_init(qp);
	qp->type = init->type;
	qp->transport = qp_transports[init->type];
	qp->conf.state = IB_QPS_RESET;
	qp->conf.sq_sig_all = init->sq_sig_all;
	qp->xrcd = init->xrcd;
	qp->srq = init->srq;
	if (qp->srq)
		qp->recvq = &qp->srq->rq;
	qp->send_cq = init->send_cq;
	qp->recv_cq = init->recv_cq;
	qp->pd = init->pd;
	qp->keys = init->keys;
	qp->stats = init->stats;
	qp->dev_stats = init->stats;
	qp->event = init->event;
	qp->owner = init->owner;
	qp->net = init->net;
	qp->ndev = init->ndev;
	qp->avs = init->avs;
	qp->no_loopback = init->no_loopback;
	qp->tap = init->tap;
	srnic_req_reset(qp);

	err = qp_init_queues(qp, init);
	if (err)
		goto err_free;
	err = xa_alloc_cyclic(&qp_table, &qp->qpn, NULL,
			      XA_LIMIT(QPN_MIN, QPN_MAX), &qp_next, GFP_KERNEL);
	if (err < 0)
		goto err_queues;
	qp->task.id = qp->qpn;
	err = xa_err(xa_store(&qp_table, qp->qpn, qp, GFP_KERNEL));
	if (err)
		goto err_number;
	if (qp->type == IB_QPT_GSI) {
		err = srnic_group_join(qp, &in6addr_any);
		if (err)
			goto err_number;
	}
	qp->rss = init->rss;
	atomic_inc(&qp_alive);

	return qp;

err_number:
	xa_erase(&qp_table, qp->qpn);
err_queues:
	srnic_sq_destroy(&qp->sq);
	srnic_rq_destroy(&qp->rq);
err_free:
	kfree(qp);
	return ERR_PTR(err);
}

/* Forgets everything but the configuration; the caller owns the task. */
static void qp_reset(struct srnic_qp *qp)
{
	hrtimer_cancel(&qp->timer);
	qp->timer_fired = false;
	srnic_cc_reset(qp);
	spin_lock_bh(&qp->rxq.lock);
	skb_queue_splice_tail_init(&qp->rxq, &qp->rx_todo);
	qp->rxq_bytes = 0;
	spin_unlock_bh(&qp->rxq.lock);
	__skb_queue_purge(&qp->rx_todo);
	qp->rx_done = 0;
	srnic_pager_forget(&qp->rx_pager);
	srnic_pager_forget(&qp->tx_pager);
	srnic_req_reset(qp);
	srnic_resp_reset(qp);
}

static void qp_set_flow(struct srnic_qp *qp, const struct srnic_flow *flow)
{
	srnic_flow_reset(&qp->flow);
	dev_put(qp->flow.ndev);
	qp->flow = *flow;
	qp->self = flow->ndev && srnic_flow_is_self(flow);
	qp->flow.tos = srnic_cc_tos(qp, flow->tos);
}

void srnic_qp_destroy(struct srnic_qp *qp)
{
	static const struct srnic_flow nowhere;

	if (qp->type == IB_QPT_GSI)
		srnic_group_leave(qp, &in6addr_any);
	srnic_poll_forget(qp);
	xa_erase(&qp_table, qp->qpn);
	srnic_qp_put(qp);
	wait_for_completion(&qp->unused);
	srnic_task_stop(&qp->task);
	qp_reset(qp);
	qp_set_flow(qp, &nowhere);
	srnic_sq_destroy(&qp->sq);
	srnic_rq_destroy(&qp->rq);
	kfree(qp->rss);
	kref_put(&qp->gate.ref, srnic_qp_free);
}

/* What entering a state does beyond remembering it. */
static int qp_enter(struct srnic_qp *qp, u8 old)
{
	struct srnic_qp_conf *conf = &qp->conf;

	if (srnic_replay_resize(qp, conf->max_dest_rd_atomic))
		return -ENOMEM;
	if (conf->state == old)
		return 0;

	trace_srnic_qp_state(qp->qpn, old, conf->state);
	switch (conf->state) {
	case IB_QPS_RESET:
		srnic_poll_forget(qp);
		qp_reset(qp);
		srnic_sq_reset(&qp->sq);
		if (qp->recvq == &qp->rq)
			srnic_rq_reset(&qp->rq);
		break;
	case IB_QPS_RTR:
		qp->resp.psn = conf->rq_psn;
		qp->resp.msn = 0;
		break;
	case IB_QPS_RTS:
		if (old == IB_QPS_SQE)
			srnic_req_resume(qp);
		if (old != IB_QPS_RTR)
			break;
		qp->req.psn = conf->sq_psn;
		qp->req.una = conf->sq_psn;
		qp->req.next = conf->sq_psn;
		qp->req.high = conf->sq_psn;
		qp->req.asked = conf->sq_psn;
		qp->req.retry_left = conf->retry_cnt;
		qp->req.rnr_left = conf->rnr_retry;
		break;
	case IB_QPS_SQD:
		qp->req.sqd_told = false;
		break;
	}

	return 0;
}

int srnic_qp_apply(struct srnic_qp *qp, const struct srnic_qp_conf *conf,
		   const struct srnic_flow *flow)
{
	struct srnic_qp_conf old;
	int err;

	srnic_task_own(&qp->task);
	old = qp->conf;
	/* It may have failed since the caller looked. */
	if (old.state == IB_QPS_ERR && conf->state != IB_QPS_ERR &&
	    conf->state != IB_QPS_RESET) {
		srnic_task_release(&qp->task);
		return -EINVAL;
	}
	qp->conf = *conf;
	err = qp_enter(qp, old.state);
	if (err)
		qp->conf = old;
	else if (flow)
		qp_set_flow(qp, flow);
	srnic_task_release(&qp->task);
	/* Things may have been posted before the QP could do them. */
	srnic_task_kick(&qp->task);

	return err;
}

void srnic_qp_query(struct srnic_qp *qp, struct srnic_qp_conf *conf,
		    bool *draining)
{
	srnic_task_own(&qp->task);
	*conf = qp->conf;
	if (conf->state >= IB_QPS_RTR)
		conf->rq_psn = qp->resp.psn;
	if (conf->state >= IB_QPS_RTS)
		conf->sq_psn = qp->req.psn;
	*draining = conf->state == IB_QPS_SQD && !qp->req.sqd_told;
	srnic_task_release(&qp->task);
}

void srnic_qp_doorbell(struct srnic_qp *qp)
{
	if (qp->sq.ring.hdr)
		srnic_poll_watch(qp);
	local_bh_disable();
	srnic_count(qp->stats, SRNIC_CNT_DOORBELLS);
	srnic_task_kick(&qp->task);
	local_bh_enable();
}

void srnic_qp_ring(struct srnic_qp *qp)
{
	if (irqs_disabled())
		srnic_task_defer(&qp->task);
	else
		srnic_task_kick(&qp->task);
}

void *srnic_qp_owner(u32 qpn)
{
	struct srnic_qp *qp = xa_load(&qp_table, qpn);

	return qp ? qp->owner : NULL;
}

int srnic_xport_init(void)
{
	int err;

	qp_next = QPN_MIN + get_random_u32_below(QPN_MAX / 2);
	err = srnic_poll_init();
	if (err)
		return err;
	err = srnic_net_init(&srnic_xport_rx_ops);
	if (err)
		srnic_poll_exit();

	return err;
}

void srnic_xport_exit(void)
{
	srnic_net_exit();
	srnic_poll_exit();
	/* The stack may hold packets whose destructor is code of ours. */
	wait_var_event(&qp_alive, !atomic_read(&qp_alive));
	rcu_barrier();	/* kfree_rcu() of QPs */
}
