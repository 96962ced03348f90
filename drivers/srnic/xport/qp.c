// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - queue pairs: creation, configuration, destruction, and snapshots
 *
 * The verbs own the task of a queue pair while they change or copy its state, so a
 * configuration takes effect as a whole and the values of a snapshot are consistent with
 * each other.  Any user may have a snapshot taken; traffic continues after it.
 */
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "internal.h"

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

/* The skb may be freed under a qdisc lock that the task needs to send: defer the task. */
static void qp_wake(struct srnic_gate *gate)
{
	srnic_task_defer(&container_of(gate, struct srnic_qp, gate)->task);
}

/* A page is missing: the fetch keeps the memory of the QP until it ends. */
static void qp_fetch_begin(struct srnic_pager *pager)
{
	struct srnic_qp *qp = pager->owner;

	if (pager == &qp->req_pager)
		srnic_task_want_worker(&qp->task);
	srnic_count(qp->stats, SRNIC_CNT_PAGE_FAULTS);
	kref_get(&qp->gate.ref);
}

static void qp_fetch_end(struct srnic_pager *pager)
{
	struct srnic_qp *qp = pager->owner;

	if (pager == &qp->req_pager)
		srnic_task_owe(&qp->task);
	srnic_task_kick(&qp->task);
	kref_put(&qp->gate.ref, srnic_qp_free);
}

static const struct srnic_pager_ops qp_pager_ops = {
	.begin	= qp_fetch_begin,
	.end	= qp_fetch_end,
};

static int qp_init_queues(struct srnic_qp *qp, const struct srnic_qp_init *init)
{
	int err = 0;

	qp->sq.trusted = init->trusted;
	if (init->sq_entries)
		err = srnic_sq_init(&qp->sq, init->abi, init->sq_entries,
				    init->send_sge, init->max_inline);
	if (err || !init->rq_entries)
		return err;

	err = srnic_rq_init(&qp->rq, init->abi, init->rq_entries, init->recv_sge);
	if (err) {
		srnic_sq_destroy(&qp->sq);
		return err;
	}
	qp->recvq = &qp->rq;

	return 0;
}

/*
 * Assigns a number to the QP and lets packets find it.  From then on references may be
 * held, so nothing may fail afterwards.
 */
static int qp_publish(struct srnic_qp *qp)
{
	int err;

	err = srnic_qp_reserve(qp);
	if (err)
		return err;
	qp->task.id = qp->qpn;
	if (qp->type == IB_QPT_GSI) {
		err = srnic_mcast_attach(qp, &in6addr_any, NULL);
		if (err) {
			srnic_qp_unpublish(qp);
			return err;
		}
	}
	srnic_qp_publish(qp);
	/* Datagrams of the management QP by a netdev that is gone find no route. */
	if (qp->type != IB_QPT_GSI)
		srnic_qp_tie(qp, &qp->dev_tie, qp->ndev);

	return 0;
}

struct srnic_qp *srnic_qp_create(const struct srnic_qp_init *init)
{
	struct srnic_qp *qp;
	int err;

	qp = kzalloc(sizeof(*qp), GFP_KERNEL_ACCOUNT);
	if (!qp)
		return ERR_PTR(-ENOMEM);

	qp->base = init->base;
	qp->stats = qp->dev_stats;
	kref_init(&qp->gate.ref);
	qp->gate.wake = qp_wake;
	qp->gate.free = srnic_qp_free;
	srnic_task_init(&qp->task, srnic_qp_run, init->worker);
	refcount_set(&qp->users, 1);
	init_completion(&qp->unused);
	srnic_poll_init(qp, init->poll_usecs);
	skb_queue_head_init(&qp->rxq);
	__skb_queue_head_init(&qp->rx_todo);
	srnic_qp_timer_init(qp);
	srnic_cc_init(qp);
	srnic_qp_ooo_init(qp);
	qp->txb.path = &qp->path;
	qp->txb.net = qp->net;
	qp->txb.gate = &qp->gate;
	qp->txb.stats = qp->stats;
	srnic_pager_init(&qp->req_pager, &qp_pager_ops, qp);
	srnic_pager_init(&qp->comp_pager, &qp_pager_ops, qp);
	srnic_pager_init(&qp->resp_pager, &qp_pager_ops, qp);
	srnic_inv_init(qp);
	qp->transport = qp_transports[qp->type];
	qp->conf.state = IB_QPS_RESET;
	qp->conf.sq_sig_all = init->sq_sig_all;
	if (qp->srq)
		qp->recvq = &qp->srq->rq;
	srnic_req_reset(qp);

	err = qp_init_queues(qp, init);
	if (err)
		goto err_free;
	err = qp_publish(qp);
	if (err)
		goto err_queues;

	return qp;

err_queues:
	srnic_sq_destroy(&qp->sq);
	srnic_rq_destroy(&qp->rq);
err_free:
	kfree(qp);
	return ERR_PTR(err);
}

/* Before state @next the peer has to learn which of its messages have been executed. */
static void qp_acknowledge(struct srnic_qp *qp, u8 next)
{
	local_bh_disable();
	if (next == IB_QPS_RESET)
		srnic_resp_rdma_rollback(qp);
	srnic_resp_ack(qp, false);
	if (qp->path.ndev)
		srnic_tx_flush(&qp->txb);
	local_bh_enable();
}

/* Stops timers, drops packets, clears protocol state.  The caller owns the task. */
static void qp_reset(struct srnic_qp *qp)
{
	srnic_qp_timer_stop(qp);
	srnic_cc_reset(qp);
	srnic_qp_ooo_stop(qp);
	srnic_backlog_purge(qp);
	srnic_pager_cancel(&qp->req_pager);
	srnic_pager_cancel(&qp->comp_pager);
	srnic_pager_cancel(&qp->resp_pager);
	srnic_req_reset(qp);
	srnic_resp_reset(qp);
	srnic_sack_reset(qp);
}

static void qp_set_path(struct srnic_qp *qp, const struct srnic_path *path,
			struct srnic_peer *peer)
{
	struct srnic_peer *old;

	old = rcu_replace_pointer(qp->peer, peer, true);
	kfree_rcu(old, rcu);
	srnic_qp_tie(qp, &qp->path_tie, path->ndev == qp->ndev ? NULL : path->ndev);
	srnic_path_reset(&qp->path);
	dev_put(qp->path.ndev);
	qp->path = *path;
	qp->self = path->ndev && srnic_path_is_self(path);
	qp->path.tos = srnic_cc_tos(qp, path->tos);
}

/* Is @ndev being unregistered, or in another namespace? */
static bool qp_ndev_is_gone(const struct srnic_qp *qp, const struct net_device *ndev)
{
	/* a bit-field before 6.9, which READ_ONCE() cannot read */
	return data_race(ndev->reg_state) != NETREG_REGISTERED ||
	       !net_eq(dev_net(ndev), qp->net);
}

/* Is the netdev of the device, or that of the path? */
static bool qp_path_left(const struct srnic_qp *qp)
{
	if (qp->type == IB_QPT_GSI)
		return false;

	return qp_ndev_is_gone(qp, qp->ndev) ||
	       (qp->path.ndev && qp_ndev_is_gone(qp, qp->path.ndev));
}

/*
 * Drops the reference on the netdev of the path.  A QP that uses the path goes to ERR.
 * The caller owns the task.
 */
static void qp_leave_path(struct srnic_qp *qp)
{
	srnic_qp_tie(qp, &qp->path_tie, NULL);
	srnic_path_reset(&qp->path);
	srnic_path_close(&qp->path);
	qp->self = false;
	/* The rest of a READ response cannot be sent without a path, not even in ERR. */
	qp->resp.read_left = 0;
	if (!srnic_qp_receives(qp))
		return;

	local_bh_disable();
	srnic_qp_fail(qp, SRNIC_V_PATH);
	local_bh_enable();
}

/* The QP may have another path by now. */
static void qp_ndev_left(struct srnic_qp *qp, const struct net_device *ndev)
{
	srnic_task_own(&qp->task);
	if (qp->ndev == ndev || qp->path_tie.ndev == ndev)
		qp_leave_path(qp);
	srnic_task_release(&qp->task);
	srnic_task_kick(&qp->task);	/* to flush */
}

/*
 * The netdev is marked as gone: a QP that is tied to it too late for this walk finds that
 * out by itself, in srnic_qp_apply().
 */
void srnic_qp_ndev_left(const struct net_device *ndev)
{
	u64 walk = srnic_qp_walk();
	struct srnic_qp *qp;

	while ((qp = srnic_qp_next(ndev, walk))) {
		qp_ndev_left(qp, ndev);
		srnic_qp_put(qp);
	}
}

void srnic_qp_destroy(struct srnic_qp *qp)
{
	static const struct srnic_path nowhere;

	if (qp->type == IB_QPT_GSI)
		srnic_mcast_detach(qp, &in6addr_any);
	srnic_poll_forget(qp);
	srnic_qp_tie(qp, &qp->dev_tie, NULL);
	srnic_qp_unpublish(qp);
	srnic_qp_put(qp);
	wait_for_completion(&qp->unused);
	srnic_task_stop(&qp->task);
	qp_acknowledge(qp, IB_QPS_RESET);
	qp_reset(qp);
	qp_set_path(qp, &nowhere, NULL);
	srnic_sq_destroy(&qp->sq);
	srnic_rq_destroy(&qp->rq);
	kfree(qp->rss);
	kref_put(&qp->gate.ref, srnic_qp_free);
}

/* Performs the transition from state @old. */
static void qp_enter(struct srnic_qp *qp, u8 old)
{
	struct srnic_qp_conf *conf = &qp->conf;

	/* a WQ in RESET may have receives */
	if (conf->state == old && old != IB_QPS_RESET)
		return;

	trace_srnic_qp_state(qp->qpn, old, conf->state);
	switch (conf->state) {
	case IB_QPS_RESET:
		srnic_poll_forget(qp);
		qp_reset(qp);
		srnic_qp_clear_failure(qp);
		srnic_sq_reset(&qp->sq);
		if (qp->recvq == &qp->rq)
			srnic_rq_reset(&qp->rq);
		break;
	case IB_QPS_RTR:
		qp->resp.psn = conf->rq_psn;
		qp->resp.msn = 0;
		break;
	case IB_QPS_RTS:
		if (old == IB_QPS_SQE) {
			srnic_qp_clear_failure(qp);
			srnic_req_resume(qp);
		}
		if (old != IB_QPS_RTR)
			break;
		srnic_recovery_start(&qp->req.recovery, conf->sq_psn);
		break;
	case IB_QPS_SQD:
		srnic_req_drain(qp);
		break;
	}
}

/* Puts the new configuration into effect.  Return: 0, or -ENOMEM with no change. */
static int qp_configure(struct srnic_qp *qp, u8 old)
{
	struct srnic_qp_conf *conf = &qp->conf;

	if (srnic_replay_resize(&qp->resp.replays, conf->max_dest_rd_atomic))
		return -ENOMEM;

	qp_enter(qp, old);
	srnic_recovery_set_limits(&qp->req.recovery,
				  srnic_ack_timeout_nsec(conf->timeout),
				  conf->retry_cnt, conf->rnr_retry, conf->max_rd_atomic);
	srnic_rto_arm(&qp->req.recovery, ktime_get_ns());

	return 0;
}

/*
 * Out-of-order packets kept so far came by the old path, not from the current peer.  A
 * gap reported on the old path has not been reported on the new one.
 */
static void qp_forget_path(struct srnic_qp *qp)
{
	local_bh_disable();
	srnic_qp_ooo_lose(qp);
	local_bh_enable();
	qp->resp.nak_sent = false;
}

/*
 * Admits received packets, or stops admitting them, according to the state.  Packets
 * admitted by an earlier path are dropped when the task processes them.
 */
static void qp_set_epoch(struct srnic_qp *qp, bool moved)
{
	if (!srnic_qp_receives(qp)) {
		WRITE_ONCE(qp->rx_epoch, 0);	/* read in deliver_admit() */
	} else if (moved || !qp->rx_epoch) {
		qp_forget_path(qp);
		if (!++qp->rx_epochs)
			qp->rx_epochs++;
		/* pairs with the acquire in deliver_admit(): behind qp->peer */
		smp_store_release(&qp->rx_epoch, qp->rx_epochs);
	}
}

int srnic_qp_apply(struct srnic_qp *qp, u8 from,
		   const struct srnic_qp_conf *conf,
		   const struct srnic_path *path)
{
	struct srnic_peer *peer = NULL;
	struct srnic_qp_conf old;
	int err;

	if (path) {
		peer = srnic_peer_new(path);
		if (!peer)
			return -ENOMEM;
	}
	srnic_task_own(&qp->task);
	old = qp->conf;
	if (old.state != from) {
		srnic_task_release(&qp->task);
		kfree(peer);
		return -ESTALE;
	}
	if (conf->state != IB_QPS_RTS)
		qp_acknowledge(qp, conf->state);
	qp->conf = *conf;
	err = qp_configure(qp, old.state);
	if (err) {
		qp->conf = old;
		kfree(peer);
	} else if (path) {
		qp_set_path(qp, path, peer);
	}
	if (qp_path_left(qp))
		qp_leave_path(qp);
	qp_set_epoch(qp, path && !err);
	srnic_task_release(&qp->task);
	/* Work requests may have been posted before the QP could process them. */
	srnic_task_kick(&qp->task);

	return err;
}

void srnic_qp_query(struct srnic_qp *qp, struct srnic_qp_conf *conf,
		    bool *draining)
{
	srnic_task_own_atomic(&qp->task);
	*conf = qp->conf;
	if (conf->state >= IB_QPS_RTR)
		conf->rq_psn = qp->resp.psn;
	if (conf->state >= IB_QPS_RTS)
		conf->sq_psn = qp->req.recovery.psn;
	*draining = conf->state == IB_QPS_SQD && !qp->req.sq_drained_raised;
	srnic_task_release_atomic(&qp->task);
}

static void qp_count(const struct srnic_qp *qp, enum srnic_counter counter)
{
	local_bh_disable();
	srnic_count(srnic_qp_stats(qp), counter);
	local_bh_enable();
}

void srnic_qp_doorbell(struct srnic_qp *qp)
{
	srnic_poll_watch(qp);
	qp_count(qp, SRNIC_CNT_DOORBELLS);
	if (srnic_task_kick_owner(&qp->task))
		qp_count(qp, SRNIC_CNT_HANDED_OVER);
}

void srnic_qp_recv_doorbell(struct srnic_qp *qp)
{
	qp_count(qp, SRNIC_CNT_DOORBELLS);
	srnic_task_kick_process(&qp->task);
}

void srnic_qp_ring(struct srnic_qp *qp, bool spread)
{
	if (irqs_disabled())
		srnic_task_defer(&qp->task);
	else if (!spread)
		srnic_task_kick(&qp->task);
	else if (srnic_task_spread(&qp->task))
		qp_count(qp, SRNIC_CNT_HANDED_OVER);
}

static void qp_fill_req(const struct srnic_qp *qp, struct srnic_res_attrs *attrs)
{
	const struct srnic_recovery *r = &qp->req.recovery;
	bool rnr = r->mode == SRNIC_RECOVERY_RNR;
	s64 left = r->deadline - ktime_get_ns();

	srnic_res_add_u32(attrs, "sq_head", qp->sq.head);
	srnic_res_add_u32(attrs, "sq_cur", qp->req.cur);
	srnic_res_add_u32(attrs, "sq_tail", qp->sq.tail);
	srnic_res_add_psn(attrs, "psn", r->psn);
	srnic_res_add_psn(attrs, "una_psn", r->una);
	srnic_res_add_psn(attrs, "next_psn", r->next);
	srnic_res_add_u32(attrs, "reads_out", r->reads.num);
	srnic_res_add_u32(attrs, "retry_left", r->retry_left);
	srnic_res_add_u32(attrs, "rnr_left", r->rnr_left);
	srnic_res_add_u32(attrs, "rnr_wait", rnr);
	srnic_res_add_u32(attrs, "mem_wait", srnic_rto_is_held(r) && !rnr);
	srnic_res_add_u32(attrs, "window", r->cwnd.window);
	srnic_res_add_u32(attrs, "burst",
			  r->mode == SRNIC_RECOVERY_OPEN ? 0 : r->burst);
	srnic_res_add_u64(attrs, "srtt_ns", r->rtt.srtt);
	srnic_res_add_u64(attrs, "timer_ns", r->deadline ? max_t(s64, left, 1) : 0);
}

/* Names of enum srnic_limit for "rdma resource" */
static const char * const qp_limits[] = {
	[SRNIC_LIMIT_APP]	= "application",
	[SRNIC_LIMIT_WINDOW]	= "window",
	[SRNIC_LIMIT_PACE]	= "pace",
	[SRNIC_LIMIT_PEER]	= "peer",
	[SRNIC_LIMIT_READS]	= "reads",
	[SRNIC_LIMIT_HOST]	= "host",
};

/* Has everything that was posted been sent? */
static bool qp_has_sent_all(const struct srnic_qp *qp)
{
	return qp->req.cur == qp->sq.tail && srnic_sq_is_empty(&qp->sq);
}

/* READ responses go first.  A full window limits only a requester with more to send. */
static enum srnic_limit qp_limit(const struct srnic_qp *qp)
{
	if (qp->resp.read_left)
		return qp->resp.read_limit;
	if (qp->conf.state != IB_QPS_RTS ||
	    (qp->req.limit == SRNIC_LIMIT_WINDOW && qp_has_sent_all(qp)))
		return SRNIC_LIMIT_APP;

	return qp->req.limit;
}

static void qp_fill_traffic(const struct srnic_qp *qp, struct srnic_res_attrs *attrs)
{
	const struct srnic_traffic *req = &qp->req.traffic, *resp = &qp->resp.traffic;

	srnic_res_add_u64(attrs, "data_out", req->data_out + resp->data_out);
	srnic_res_add_u64(attrs, "data_in", req->data_in + resp->data_in);
	srnic_res_add_u64(attrs, "messages_out", req->messages);
	srnic_res_add_u64(attrs, "messages_in", resp->messages);
	srnic_res_add_u32(attrs, "retransmitted", req->retransmitted + resp->retransmitted);
	srnic_res_add_u32(attrs, "lost", req->lost + resp->lost);
	srnic_res_add_u32(attrs, "marked", qp->cc.marked);
	srnic_res_add_u32(attrs, "cnps", qp->cc.cnps);
	srnic_res_add_string(attrs, "limit", qp_limits[qp_limit(qp)]);
	srnic_res_add_addr(attrs, "peer", &qp->path.daddr);
}

static void qp_fill_cc(const struct srnic_cc *cc, struct srnic_res_attrs *attrs)
{
	srnic_res_add_u64(attrs, "rate", cc->limited ? cc->rate.rate : 0);
	srnic_res_add_u64(attrs, "target_rate", cc->limited ? cc->rate.target : 0);
}

static void qp_fill_resp(const struct srnic_qp *qp, struct srnic_res_attrs *attrs)
{
	const struct srnic_ooo *req = &qp->req.ooo;
	const struct srnic_resp *resp = &qp->resp;

	srnic_res_add_psn(attrs, "expected_psn", resp->psn);
	srnic_res_add_u32(attrs, "msn", resp->msn);
	srnic_res_add_u32(attrs, "early", resp->ooo.num + req->num);
	srnic_res_add_u32(attrs, "early_bytes", resp->ooo.bytes + req->bytes);
	srnic_res_add_u32(attrs, "read_left", resp->read_left);
	srnic_res_add_u32(attrs, "ack_due", resp->ack.due);
}

static void qp_fill_rq(struct srnic_rq *rq, struct srnic_res_attrs *attrs)
{
	struct srnic_rq_info info;

	srnic_rq_query(rq, &info);
	srnic_res_add_u32(attrs, "rq_entries", info.entries);
	srnic_res_add_u32(attrs, "rq_head", info.head);
	srnic_res_add_u32(attrs, "rq_posted", info.posted);
}

static void qp_fill_net(struct srnic_qp *qp, struct srnic_res_attrs *attrs)
{
	spin_lock_bh(&qp->rxq.lock);
	srnic_res_add_u32(attrs, "rx_bytes", qp->rxq_bytes + qp->rx_todo_bytes);
	spin_unlock_bh(&qp->rxq.lock);
	srnic_res_add_u32(attrs, "tx_load", atomic_read(&qp->gate.load));
	srnic_res_add_u32(attrs, "tx_wait", atomic_read(&qp->gate.waiting));
}

void srnic_qp_fill_attrs(struct srnic_qp *qp, struct srnic_res_attrs *attrs)
{
	srnic_task_own_atomic(&qp->task);
	qp_fill_req(qp, attrs);
	if (srnic_qp_is_connected(qp))
		qp_fill_traffic(qp, attrs);
	qp_fill_cc(&qp->cc, attrs);
	qp_fill_resp(qp, attrs);
	qp_fill_rq(&qp->rq, attrs);
	qp_fill_net(qp, attrs);
	srnic_failure_fill_attrs(&qp->failure, attrs);
	srnic_task_release_atomic(&qp->task);
}

void srnic_qp_count_in(struct srnic_qp *qp, struct srnic_stats __percpu *stats)
{
	srnic_task_own_atomic(&qp->task);
	WRITE_ONCE(qp->stats, stats);	/* read in srnic_qp_stats() */
	qp->txb.stats = stats;
	srnic_task_release_atomic(&qp->task);
}

int srnic_xport_init(void)
{
	srnic_tap_set_receiver(srnic_raw_frame);

	return srnic_net_init(&srnic_xport_rx_ops);
}

void srnic_xport_exit(void)
{
	srnic_net_exit();
	srnic_qp_table_exit();
	srnic_srq_exit();
}
