// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - receive work queues, and indirection tables that spread frames over them
 *
 * A work queue is a queue pair of the transport that only receives.  It is in state RTR
 * when the work queue is ready.
 */
#include <linux/slab.h>

#include "verbs.h"

static struct srnic_ibwq *to_wq(struct ib_wq *ibwq)
{
	return container_of(ibwq, struct srnic_ibwq, ibwq);
}

/* Context: bottom halves disabled. */
static void wq_event(struct srnic_qp *xqp, enum ib_event_type type)
{
	struct srnic_ibwq *wq = xqp->owner;
	struct ib_event event = {
		.device		= wq->ibwq.device,
		.element.wq	= &wq->ibwq,
		.event		= IB_EVENT_WQ_FATAL,
	};

	if (type == IB_EVENT_QP_FATAL && wq->ibwq.event_handler)
		wq->ibwq.event_handler(&event, wq->ibwq.wq_context);
}

static int wq_check_init(struct ib_device *ibdev,
			 const struct ib_wq_init_attr *init)
{
	if (init->wq_type != IB_WQT_RQ || init->create_flags ||
	    !srnic_has_frames(to_dev(ibdev))) {
		ibdev_dbg(ibdev, "WQ: type %d, flags %#x not supported\n",
			  init->wq_type, init->create_flags);
		return -EOPNOTSUPP;
	}
	if (!init->max_wr || init->max_wr > SRNIC_MAX_WR ||
	    init->max_sge > SRNIC_MAX_SGE) {
		ibdev_dbg(ibdev, "WQ: %u WRs of %u SGEs: at most %u of %u\n",
			  init->max_wr, init->max_sge, SRNIC_MAX_WR,
			  SRNIC_MAX_SGE);
		return -EINVAL;
	}

	return 0;
}

/* Creates the QP of the transport. */
static struct srnic_qp *wq_make(struct srnic_ibwq *wq, struct ib_pd *ibpd,
				const struct ib_wq_init_attr *init)
{
	struct srnic_dev *dev = to_dev(ibpd->device);
	const struct srnic_qp_init xinit = {
		.base = {
			.type		= IB_QPT_RAW_PACKET,
			.recv_cq	= srnic_cq_of(init->cq),
			.pd		= ibpd,
			.keys		= &dev->keys,
			.dev_stats	= dev->stats,
			.event		= wq_event,
			.owner		= wq,
			.net		= dev->net,
			.ndev		= dev->ndev,
			.tuning		= &dev->tuning,
			.rmem		= srnic_user_rmem(dev, wq->user),
			.tap		= &dev->tap,
		},
		.rq_entries	= init->max_wr,
		.recv_sge	= max(init->max_sge, 1U),
	};

	return srnic_qp_create(&xinit);
}

static int wq_expose(struct srnic_ibwq *wq, struct ib_udata *udata)
{
	struct srnic_create_wq_resp resp = {};
	int err;

	wq->map = srnic_ring_expose(&wq->qp->rq.ring, udata, &resp.ring);
	if (IS_ERR(wq->map))
		return PTR_ERR(wq->map);

	err = ib_respond_udata(udata, resp);
	if (err)
		srnic_mmap_hide(wq->map);

	return err;
}

struct ib_wq *srnic_create_wq(struct ib_pd *ibpd, struct ib_wq_init_attr *init,
			      struct ib_udata *udata)
{
	struct srnic_dev *dev = to_dev(ibpd->device);
	struct srnic_ibwq *wq;
	int err;

	err = wq_check_init(ibpd->device, init);
	if (!err)
		err = ib_is_udata_in_empty(udata);
	if (err)
		return ERR_PTR(err);

	wq = kzalloc(sizeof(*wq), GFP_KERNEL_ACCOUNT);
	if (!wq)
		return ERR_PTR(-ENOMEM);

	wq->ibwq.device = ibpd->device;
	wq->ibwq.event_handler = init->event_handler;
	wq->ibwq.wq_context = init->wq_context;
	wq->ibwq.state = IB_WQS_RESET;
	mutex_init(&wq->lock);
	wq->user = srnic_user_of(ibpd);
	err = srnic_quota_take(dev, wq->user, SRNIC_Q_QP, 1);
	if (err)
		goto err_free;
	wq->qp = wq_make(wq, ibpd, init);
	if (IS_ERR(wq->qp)) {
		err = PTR_ERR(wq->qp);
		goto err_quota;
	}
	err = wq_expose(wq, udata);
	if (err)
		goto err_qp;

	wq->ibwq.wq_num = wq->qp->qpn;
	init->max_wr = wq->qp->rq.ring.room;
	init->max_sge = wq->qp->rq.max_sge;

	return &wq->ibwq;

err_qp:
	srnic_qp_destroy(wq->qp);
err_quota:
	srnic_quota_give(dev, wq->user, SRNIC_Q_QP, 1);
err_free:
	kfree(wq);
	return ERR_PTR(err);
}

int srnic_destroy_wq(struct ib_wq *ibwq, struct ib_udata *udata)
{
	struct srnic_ibwq *wq = to_wq(ibwq);

	srnic_mmap_hide(wq->map);
	srnic_qp_destroy(wq->qp);
	mutex_destroy(&wq->lock);
	srnic_quota_give(to_dev(ibwq->device), wq->user, SRNIC_Q_QP, 1);
	kfree(wq);

	return 0;
}

/* State of the transport's queue pair in each state of the work queue */
static const u8 wq_states[] = {
	[IB_WQS_RESET]	= IB_QPS_RESET,
	[IB_WQS_RDY]	= IB_QPS_RTR,
	[IB_WQS_ERR]	= IB_QPS_ERR,
};

static enum ib_wq_state wq_state(u8 qp_state)
{
	switch (qp_state) {
	case IB_QPS_RESET:
		return IB_WQS_RESET;
	case IB_QPS_RTR:
		return IB_WQS_RDY;
	default:
		return IB_WQS_ERR;
	}
}

/* A work queue may move to RESET, to its current state, or to the next one. */
static bool wq_may_move(enum ib_wq_state from, enum ib_wq_state to)
{
	return to <= IB_WQS_ERR &&
	       (to == IB_WQS_RESET || to == from || to == from + 1);
}

static int wq_modify(struct srnic_ibwq *wq, const struct ib_wq_attr *attr,
		     u32 mask)
{
	struct srnic_qp_conf conf;
	enum ib_wq_state now, to;
	bool draining;
	u8 from;
	int err;

	srnic_qp_query(wq->qp, &conf, &draining);
	from = conf.state;
	now = wq_state(conf.state);
	to = mask & IB_WQ_STATE ? attr->wq_state : now;
	if ((mask & IB_WQ_CUR_STATE && attr->curr_wq_state != now) ||
	    !wq_may_move(now, to)) {
		ibdev_dbg(wq->ibwq.device, "WQ %u: is in state %d, cannot go to %d\n",
			  wq->ibwq.wq_num, now, to);
		return -EINVAL;
	}

	if (!(mask & IB_WQ_STATE))
		return 0;	/* RESET would discard receives */

	conf.state = wq_states[to];
	err = srnic_qp_apply(wq->qp, from, &conf, NULL);
	if (!err)
		wq->ibwq.state = to;

	return err;
}

int srnic_modify_wq(struct ib_wq *ibwq, struct ib_wq_attr *attr, u32 mask,
		    struct ib_udata *udata)
{
	struct srnic_ibwq *wq = to_wq(ibwq);
	int err;

	if (mask & IB_WQ_FLAGS) {
		ibdev_dbg(ibwq->device, "WQ %u: flags are not supported\n", ibwq->wq_num);
		return -EOPNOTSUPP;
	}

	err = ib_no_udata_io(udata);
	if (err)
		return err;

	mutex_lock(&wq->lock);
	do {
		err = wq_modify(wq, attr, mask);
	} while (err == -ESTALE);	/* at most once: the task may set ERR */
	mutex_unlock(&wq->lock);

	return err;
}

int srnic_create_rwq_ind_table(struct ib_rwq_ind_table *ibtable,
			       struct ib_rwq_ind_table_init_attr *init,
			       struct ib_udata *udata)
{
	/* The core keeps the table; its number is not used. */
	return ib_no_udata_io(udata);
}

int srnic_destroy_rwq_ind_table(struct ib_rwq_ind_table *ibtable)
{
	return 0;
}

static_assert((int)SRNIC_RX_HASH_FIELDS == (int)SRNIC_RSS_ALL);
static_assert((int)SRNIC_RX_HASH_KEY_BYTES == (int)SRNIC_RSS_KEY_BYTES);

#define RSS_V4		(SRNIC_RSS_SRC_IPV4 | SRNIC_RSS_DST_IPV4)
#define RSS_V6		(SRNIC_RSS_SRC_IPV6 | SRNIC_RSS_DST_IPV6)
#define RSS_TCP		(SRNIC_RSS_SRC_TCP | SRNIC_RSS_DST_TCP)
#define RSS_UDP		(SRNIC_RSS_SRC_UDP | SRNIC_RSS_DST_UDP)

static int rss_check(struct ib_device *ibdev, u32 log_num,
		     const struct srnic_create_qp_rss *cmd)
{
	u64 fields = cmd->fields;

	if (cmd->function != SRNIC_RX_HASH_TOEPLITZ ||
	    fields & ~(u64)SRNIC_RX_HASH_FIELDS) {
		ibdev_dbg(ibdev, "QP: hash %u over %#llx not supported\n",
			  cmd->function, fields);
		return -EOPNOTSUPP;
	}
	if (cmd->key_len != SRNIC_RX_HASH_KEY_BYTES ||
	    memchr_inv(cmd->rsvd, 0, sizeof(cmd->rsvd))) {
		ibdev_dbg(ibdev, "QP: hash with a key of %u bytes, not %u\n",
			  cmd->key_len, SRNIC_RX_HASH_KEY_BYTES);
		return -EINVAL;
	}
	/* As on other NICs, a hash covers one IP version and one transport protocol. */
	if ((fields & RSS_V4 && fields & RSS_V6) ||
	    (fields & RSS_TCP && fields & RSS_UDP) || (!fields && log_num)) {
		ibdev_dbg(ibdev, "QP: hash over %#llx for %u queues\n", fields,
			  1U << log_num);
		return -EINVAL;
	}

	return 0;
}

struct srnic_rss *srnic_rss_make(struct ib_device *ibdev,
				 const struct ib_rwq_ind_table *ibtable,
				 struct ib_udata *udata)
{
	struct srnic_create_qp_rss cmd;
	struct srnic_rss *rss;
	int err;
	u32 i;

	if (!ibtable)
		return ERR_PTR(ib_is_udata_in_empty(udata));

	err = srnic_udata_copy(&cmd, udata, sizeof(cmd));
	if (!err)
		err = rss_check(ibdev, ibtable->log_ind_tbl_size, &cmd);
	if (err)
		return ERR_PTR(err);

	rss = kzalloc(struct_size(rss, wqs, 1U << ibtable->log_ind_tbl_size),
		      GFP_KERNEL_ACCOUNT);
	if (!rss)
		return ERR_PTR(-ENOMEM);

	rss->conf.fields = cmd.fields;
	memcpy(rss->conf.key, cmd.key, sizeof(rss->conf.key));
	rss->log_num = ibtable->log_ind_tbl_size;
	for (i = 0; i < 1U << rss->log_num; i++)
		rss->wqs[i] = to_wq(ibtable->ind_tbl[i])->qp;

	return rss;
}
