// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - queue pairs: commands are validated and passed on to the transport
 *
 * ib_modify_qp() sets some attributes; the transport gets a complete configuration.
 * All attributes are validated before any is applied, so a call that fails leaves the
 * configuration unchanged.
 */
#include <linux/netdevice.h>
#include <rdma/ib_addr.h>

#include "verbs.h"

/*
 * Rights of a peer, and flags that are accepted but have no effect here: applications
 * use one set of flags for regions and queue pairs, and request FLUSH on any device, even
 * with an older core that does not support it.
 */
#define QP_ACCESS	(IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
			 IB_ACCESS_REMOTE_ATOMIC | SRNIC_ACCESS_FLUSH)
#define QP_NO_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_MW_BIND | \
			 IB_ZERO_BASED | IB_ACCESS_ON_DEMAND | \
			 IB_ACCESS_HUGETLB | IB_ACCESS_OPTIONAL | \
			 IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_FLUSH_PERSISTENT)

/* Supported attributes: no alternate path, no resizing of the queues */
#define QP_ATTRS	(IB_QP_ATTR_STANDARD_BITS & \
			 ~(IB_QP_ALT_PATH | IB_QP_CAP))

/* Async event of the transport.  Context: bottom halves disabled. */
static void qp_event(struct srnic_qp *xqp, enum ib_event_type type)
{
	struct srnic_ibqp *qp = xqp->owner;
	struct ib_event event = {
		.device		= qp->ibqp.device,
		.element.qp	= &qp->ibqp,
		.event		= type,
	};

	/* written in qp_modify(), before the transport drains */
	if (type == IB_EVENT_SQ_DRAINED && !READ_ONCE(qp->notify_drained))
		return;

	if (qp->ibqp.event_handler)
		qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
}

/* Only the kernel may create the management QP, only users raw packet QPs. */
static bool qp_type_ok(struct ib_device *ibdev,
		       const struct ib_qp_init_attr *init, bool user)
{
	switch (init->qp_type) {
	case IB_QPT_RC:
	case IB_QPT_UC:
	case IB_QPT_UD:
		return true;
	case IB_QPT_XRC_INI:
	case IB_QPT_XRC_TGT:
		return srnic_has_xrc(to_dev(ibdev));
	case IB_QPT_RAW_PACKET:
		return user && srnic_has_frames(to_dev(ibdev));
	case IB_QPT_GSI:
		return !user;
	default:
		return false;
	}
}

/*
 * An XRC target only receives, into SRQs with CQs of their own; an XRC initiator only
 * sends.  A QP with an indirection table need not send and has no receive queue.
 */
static bool qp_has_cqs(const struct ib_qp_init_attr *init)
{
	switch (init->qp_type) {
	case IB_QPT_XRC_INI:
		return init->send_cq;
	case IB_QPT_XRC_TGT:
		return init->xrcd;
	default:
		if (init->rwq_ind_tbl)
			return init->send_cq || !init->cap.max_send_wr;
		return init->send_cq && init->recv_cq;
	}
}

static u32 qp_flags_ok(const struct ib_qp_init_attr *init, bool user)
{
	switch (init->qp_type) {
	case IB_QPT_UD:
	case IB_QPT_RAW_PACKET:
		return IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK;
	case IB_QPT_RC:
		return SRNIC_HAVE_INTEGRITY && !user ? IB_QP_CREATE_INTEGRITY_EN : 0;
	default:
		return 0;
	}
}

static int qp_check_init(struct ib_device *ibdev,
			 const struct ib_qp_init_attr *init, bool user)
{
	const struct ib_qp_cap *cap = &init->cap;
	u32 most_wr = srnic_max_wr(to_dev(ibdev));

	if (!qp_type_ok(ibdev, init, user) ||
	    (init->rwq_ind_tbl && init->qp_type != IB_QPT_RAW_PACKET) ||
	    (init->create_flags & ~qp_flags_ok(init, user))) {
		ibdev_dbg(ibdev, "QP: type %d, flags %#x not supported\n",
			  init->qp_type, init->create_flags);
		return -EOPNOTSUPP;
	}
	if (init->qp_type == IB_QPT_RAW_PACKET &&
	    !srnic_may_have_frames(to_dev(ibdev))) {
		ibdev_dbg(ibdev, "QP: raw packets need CAP_NET_RAW in the namespace of the netdev\n");
		return -EPERM;
	}
	if (!qp_has_cqs(init)) {
		ibdev_dbg(ibdev, "QP: lacks a CQ, or its XRC domain\n");
		return -EINVAL;
	}
	if (cap->max_send_wr > most_wr || cap->max_recv_wr > most_wr ||
	    cap->max_send_sge > SRNIC_MAX_SGE ||
	    cap->max_recv_sge > SRNIC_MAX_SGE ||
	    cap->max_inline_data > SRNIC_MAX_INLINE) {
		ibdev_dbg(ibdev, "QP: %u+%u WRs of %u+%u SGEs, %u inline: at most %u of %u, %u\n",
			  cap->max_send_wr, cap->max_recv_wr,
			  cap->max_send_sge, cap->max_recv_sge,
			  cap->max_inline_data, most_wr, SRNIC_MAX_SGE,
			  SRNIC_MAX_INLINE);
		return -EINVAL;
	}

	return 0;
}

static u32 qp_sq_entries(const struct ib_qp_init_attr *init)
{
	if (init->qp_type == IB_QPT_XRC_TGT ||
	    (init->rwq_ind_tbl && !init->cap.max_send_wr))
		return 0;

	return max(init->cap.max_send_wr, 1U);
}

/* librxe maps a receive ring unless there is an SRQ. */
static u32 qp_rq_entries(const struct ib_qp_init_attr *init,
			 enum srnic_abi abi)
{
	if (init->srq || init->rwq_ind_tbl ||
	    init->qp_type == IB_QPT_XRC_INI || init->qp_type == IB_QPT_XRC_TGT)
		return 0;

	return max(init->cap.max_recv_wr, abi == SRNIC_ABI_RXE ? 1U : 0);
}

/*
 * Inline data takes the place of the SGEs, so their bytes are available for it.  A single
 * SGE is larger than the operand of an ATOMIC WRITE, which may always be inline.
 */
static u32 qp_max_inline(const struct ib_qp_cap *cap)
{
	return max_t(u32, cap->max_inline_data,
		     max(cap->max_send_sge, 1U) * sizeof(struct srnic_sge));
}

/* Each request to an XRC target names an SRQ, so an SRQ given here is ignored. */
static struct srnic_srq *qp_srq(const struct ib_qp_init_attr *init)
{
	return init->srq && init->qp_type != IB_QPT_XRC_TGT ?
	       &to_srq(init->srq)->srq : NULL;
}

/* The context for what is sent; an XRC target, which may outlive its context, sends nothing. */
static struct srnic_ucontext *qp_sender(const struct ib_qp_init_attr *init,
					struct ib_udata *udata)
{
	return qp_sq_entries(init) ?
	       rdma_udata_to_drv_context(udata, struct srnic_ucontext, ibuc) : NULL;
}

/* Creates the QP of the transport. */
static struct srnic_qp *qp_make(struct srnic_ibqp *qp,
				const struct ib_qp_init_attr *init,
				struct srnic_rss *rss, struct ib_udata *udata)
{
	struct srnic_dev *dev = to_dev(qp->ibqp.device);
	enum srnic_abi abi = srnic_abi_for(dev, udata);
	struct srnic_ucontext *sender = qp_sender(init, udata);
	const struct srnic_qp_init xinit = {
		.base = {
			.type		= init->qp_type,
			.xrcd		= init->qp_type == IB_QPT_XRC_TGT ?
					  init->xrcd : NULL,
			.srq		= qp_srq(init),
			.send_cq	= srnic_cq_of(init->send_cq),
			.recv_cq	= srnic_cq_of(init->recv_cq),
			.pd		= qp->ibqp.pd,
			.keys		= &dev->keys,
			.dev_stats	= dev->stats,
			.event		= qp_event,
			.owner		= qp,
			.net		= dev->net,
			.ndev		= dev->ndev,
			.avs		= &to_pd(qp->ibqp.pd)->avs,
			.tuning		= &dev->tuning,
			.rmem		= srnic_user_rmem(dev, qp->user),
			.no_loopback	= init->create_flags &
					  IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK,
			.tap		= &dev->tap,
			.rss		= rss,
		},
		.abi		= abi,
		.sq_entries	= qp_sq_entries(init),
		.rq_entries	= qp_rq_entries(init, abi),
		.send_sge	= max(init->cap.max_send_sge, 1U),
		.recv_sge	= max(init->cap.max_recv_sge, 1U),
		.max_inline	= qp_max_inline(&init->cap),
		.sq_sig_all	= init->sq_sig_type == IB_SIGNAL_ALL_WR,
		.trusted	= !udata,
		.worker		= sender ? sender->worker : NULL,
		.poll_usecs	= sender ? sender->poll_usecs : 0,
	};

	return srnic_qp_create(&xinit);
}

/* Makes the rings mappable by the user. */
static int qp_expose(struct srnic_ibqp *qp, struct ib_udata *udata)
{
	struct srnic_map sq = {}, rq = {};
	int err;

	if (qp->qp->sq.ring.hdr) {
		qp->sq_map = srnic_ring_expose(&qp->qp->sq.ring, udata, &sq);
		if (IS_ERR(qp->sq_map))
			return PTR_ERR(qp->sq_map);
	}

	if (qp->qp->rq.ring.hdr) {
		qp->rq_map = srnic_ring_expose(&qp->qp->rq.ring, udata, &rq);
		if (IS_ERR(qp->rq_map)) {
			err = PTR_ERR(qp->rq_map);
			goto err_sq;
		}
	}

	err = srnic_udata_respond_qp(udata, qp->qp->sq.ring.abi, &sq, &rq);
	if (err)
		goto err_rq;

	return 0;

err_rq:
	srnic_mmap_hide(qp->rq_map);
err_sq:
	srnic_mmap_hide(qp->sq_map);
	return err;
}

/* Reports the capacity granted, which may be larger than requested. */
static void qp_report_cap(const struct srnic_qp *xqp, struct ib_qp_cap *cap)
{
	cap->max_send_wr = xqp->sq.ring.hdr ? xqp->sq.ring.room : 0;
	cap->max_send_sge = xqp->sq.max_sge;
	cap->max_inline_data = xqp->sq.max_inline;
	if (xqp->rq.ring.hdr) {
		cap->max_recv_wr = xqp->rq.ring.room;
		cap->max_recv_sge = xqp->rq.max_sge;
	} else {
		cap->max_recv_wr = 0;
		cap->max_recv_sge = 0;
	}
}

int srnic_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		    struct ib_udata *udata)
{
	struct srnic_dev *dev = to_dev(ibqp->device);
	struct srnic_ibqp *qp = to_qp(ibqp);
	struct srnic_rss *rss;
	int err;

	err = qp_check_init(ibqp->device, init, udata);
	if (err)
		return err;

	qp->user = srnic_user_of_udata(udata);
	err = srnic_quota_take(dev, qp->user, SRNIC_Q_QP, 1);
	if (err)
		return err;
	rss = srnic_rss_make(ibqp->device, init->rwq_ind_tbl, udata);
	if (IS_ERR(rss)) {
		err = PTR_ERR(rss);
		goto err_quota;
	}

	mutex_init(&qp->lock);
	spin_lock_init(&qp->sq_lock);
	spin_lock_init(&qp->rq_lock);
	qp->qp = qp_make(qp, init, rss, udata);
	if (IS_ERR(qp->qp)) {
		err = PTR_ERR(qp->qp);
		kfree(rss);
		goto err_quota;
	}

	if (udata) {
		err = qp_expose(qp, udata);
		if (err)
			goto err_qp;
	}

	ibqp->qp_num = init->qp_type == IB_QPT_GSI ? SRNIC_QPN_GSI :
						     qp->qp->qpn;
	qp_report_cap(qp->qp, &init->cap);
	qp->init = *init;

	return 0;

err_qp:
	srnic_qp_destroy(qp->qp);
err_quota:
	srnic_quota_give(dev, qp->user, SRNIC_Q_QP, 1);
	return err;
}

int srnic_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct srnic_ibqp *qp = to_qp(ibqp);
	struct srnic_qp *xqp = qp->qp;

	/* The core may still query the QP until it frees it. */
	mutex_lock(&qp->lock);
	qp->qp = NULL;
	mutex_unlock(&qp->lock);

	srnic_mmap_hide(qp->sq_map);
	srnic_mmap_hide(qp->rq_map);
	srnic_qp_destroy(xqp);
	srnic_settle_cq(ibqp->send_cq);
	srnic_settle_cq(ibqp->recv_cq);
	srnic_quota_give(to_dev(ibqp->device), qp->user, SRNIC_Q_QP, 1);

	return 0;
}

/* Name of an invalid attribute among those in @mask, or NULL */
static const char *qp_bad_attr(const struct ib_qp_attr *attr, int mask,
			       enum ib_mtu port_mtu)
{
	if (mask & IB_QP_PORT && attr->port_num != 1)
		return "port";
	if (mask & IB_QP_PKEY_INDEX && attr->pkey_index)
		return "P_Key index";
	if (mask & IB_QP_ACCESS_FLAGS &&
	    attr->qp_access_flags & ~(QP_ACCESS | QP_NO_ACCESS))
		return "access flags";
	if (mask & IB_QP_PATH_MTU &&
	    (attr->path_mtu < IB_MTU_256 || attr->path_mtu > port_mtu))
		return "path MTU, larger than the port's";
	if (mask & IB_QP_DEST_QPN && attr->dest_qp_num > SRNIC_QPN_MASK)
		return "destination QP number";
	if (mask & IB_QP_TIMEOUT && attr->timeout > 31)
		return "timeout";
	if (mask & IB_QP_RETRY_CNT && attr->retry_cnt > 7)
		return "retry count";
	if (mask & IB_QP_RNR_RETRY && attr->rnr_retry > 7)
		return "RNR retry count";
	if (mask & IB_QP_MIN_RNR_TIMER && attr->min_rnr_timer > 31)
		return "RNR timer";
	if (mask & IB_QP_MAX_QP_RD_ATOMIC &&
	    attr->max_rd_atomic > SRNIC_MAX_RD_ATOMIC)
		return "max_rd_atomic";
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC &&
	    attr->max_dest_rd_atomic > SRNIC_MAX_RD_ATOMIC)
		return "max_dest_rd_atomic";
	if (mask & IB_QP_PATH_MIG_STATE &&
	    attr->path_mig_state != IB_MIG_MIGRATED)
		return "path migration state";
	if (mask & IB_QP_AV &&
	    rdma_is_multicast_addr((struct in6_addr *)&attr->ah_attr.grh.dgid))
		return "destination GID";

	return NULL;
}

static int qp_check_attr(struct ib_qp *ibqp, const struct ib_qp_attr *attr,
			 int mask, u8 cur)
{
	enum ib_qp_state old = cur;
	enum ib_qp_state new = mask & IB_QP_STATE ? attr->qp_state : old;
	const char *what;

	if (mask & IB_QP_CUR_STATE && attr->cur_qp_state != old) {
		ibdev_dbg(ibqp->device, "QP %u: is in state %d, not %d\n",
			  ibqp->qp_num, old, attr->cur_qp_state);
		return -EINVAL;
	}
	if (!ib_modify_qp_is_ok(old, new, ibqp->qp_type, mask)) {
		ibdev_dbg(ibqp->device, "QP %u: state %d to %d, mask %#x: not allowed\n",
			  ibqp->qp_num, old, new, mask);
		return -EINVAL;
	}

	what = qp_bad_attr(attr, mask, srnic_port_mtu(to_dev(ibqp->device)));
	if (what) {
		ibdev_dbg(ibqp->device, "QP %u: bad %s\n", ibqp->qp_num, what);
		return -EINVAL;
	}

	return 0;
}

/* Copies the attributes in @mask, which have been validated, to @conf. */
static void qp_conf_update(struct srnic_qp_conf *conf,
			   const struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_STATE)
		conf->state = attr->qp_state;
	if (mask & IB_QP_PATH_MTU)
		conf->mtu = ib_mtu_enum_to_int(attr->path_mtu);
	if (mask & IB_QP_DEST_QPN)
		conf->dest_qpn = attr->dest_qp_num;
	if (mask & IB_QP_QKEY)
		conf->qkey = attr->qkey;
	if (mask & IB_QP_SQ_PSN)
		conf->sq_psn = attr->sq_psn & SRNIC_PSN_MASK;
	if (mask & IB_QP_RQ_PSN)
		conf->rq_psn = attr->rq_psn & SRNIC_PSN_MASK;
	if (mask & IB_QP_ACCESS_FLAGS)
		conf->access = attr->qp_access_flags & IB_ACCESS_SUPPORTED;
	if (mask & IB_QP_TIMEOUT)
		conf->timeout = attr->timeout;
	if (mask & IB_QP_RETRY_CNT)
		conf->retry_cnt = attr->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		conf->rnr_retry = attr->rnr_retry;
	if (mask & IB_QP_MIN_RNR_TIMER)
		conf->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		conf->max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		conf->max_dest_rd_atomic = attr->max_dest_rd_atomic;
}

/* Saves, for query, attributes that the transport does not keep. */
static void qp_attr_update(struct ib_qp_attr *kept,
			   const struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_STATE && attr->qp_state == IB_QPS_RESET)
		memset(kept, 0, sizeof(*kept));
	if (mask & IB_QP_PORT)
		kept->port_num = attr->port_num;
	if (mask & IB_QP_PATH_MTU)
		kept->path_mtu = attr->path_mtu;
	if (mask & IB_QP_EN_SQD_ASYNC_NOTIFY)
		kept->en_sqd_async_notify = attr->en_sqd_async_notify;
	if (mask & IB_QP_AV) {
		kept->ah_attr = attr->ah_attr;
		/* The core owns the source GID attribute; keep only its index. */
		kept->ah_attr.grh.sgid_attr = NULL;
	}
}

/* RESET clears all attributes that were set since the QP was created. */
static void qp_conf_reset(struct srnic_qp_conf *conf)
{
	*conf = (struct srnic_qp_conf) {
		.state		= IB_QPS_RESET,
		.sq_sig_all	= conf->sq_sig_all,
	};
}

/* Return: -ESTALE if the QP changed its state while the attributes were validated. */
static int qp_modify(struct srnic_ibqp *qp, const struct ib_qp_attr *attr,
		     int mask)
{
	struct srnic_path path, *new_path = NULL;
	struct srnic_qp_conf conf;
	bool draining;
	u8 from;
	int err;

	srnic_qp_query(qp->qp, &conf, &draining);
	from = conf.state;

	err = qp_check_attr(&qp->ibqp, attr, mask, conf.state);
	if (err)
		return err;

	qp_conf_update(&conf, attr, mask);
	if (conf.state == IB_QPS_RESET)
		qp_conf_reset(&conf);

	if (mask & IB_QP_AV) {
		err = srnic_path_from_ah(&path, &attr->ah_attr);
		if (err) {
			ibdev_dbg(qp->ibqp.device, "QP %u: bad address vector\n",
				  qp->ibqp.qp_num);
			return err;
		}
		path.sport = htons(rdma_get_udp_sport(path.label, qp->qp->qpn,
						      conf.dest_qpn));
		new_path = &path;
	}

	if (mask & IB_QP_STATE && attr->qp_state == IB_QPS_SQD)
		WRITE_ONCE(qp->notify_drained,	/* read in qp_event() */
			   mask & IB_QP_EN_SQD_ASYNC_NOTIFY &&
			   attr->en_sqd_async_notify);

	err = srnic_qp_apply(qp->qp, from, &conf, new_path);
	if (err) {
		if (new_path)
			dev_put(new_path->ndev);
		return err;
	}

	qp_attr_update(&qp->attr, attr, mask);

	return 0;
}

int srnic_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata)
{
	struct srnic_ibqp *qp = to_qp(ibqp);
	int err;

	if (mask & ~QP_ATTRS) {
		ibdev_dbg(ibqp->device, "QP %u: attributes %#x not supported\n",
			  ibqp->qp_num, mask & ~QP_ATTRS);
		return -EOPNOTSUPP;
	}

	err = ib_no_udata_io(udata);
	if (err)
		return err;

	mutex_lock(&qp->lock);
	do {
		err = qp_modify(qp, attr, mask);
	} while (err == -ESTALE);	/* at most twice: the task may set SQE, then ERR */
	mutex_unlock(&qp->lock);

	return err;
}

/*
 * Like other drivers, returns more attributes than @mask requests, but no PSNs if @mask is
 * empty: the RDMA core then shows the result to every user ("rdma resource").
 */
int srnic_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init)
{
	struct srnic_ibqp *qp = to_qp(ibqp);
	struct srnic_qp_conf conf;
	bool draining;

	mutex_lock(&qp->lock);
	if (!qp->qp) {
		mutex_unlock(&qp->lock);
		return -EAGAIN;	/* a listing of queue pairs skips it */
	}
	srnic_qp_query(qp->qp, &conf, &draining);
	*attr = qp->attr;
	mutex_unlock(&qp->lock);

	attr->qp_state = conf.state;
	attr->cur_qp_state = conf.state;
	attr->path_mig_state = IB_MIG_MIGRATED;
	attr->qkey = conf.qkey;
	attr->rq_psn = mask ? conf.rq_psn : 0;
	attr->sq_psn = mask ? conf.sq_psn : 0;
	attr->dest_qp_num = conf.dest_qpn;
	attr->qp_access_flags = conf.access;
	attr->cap = qp->init.cap;
	attr->pkey_index = conf.pkey_index;
	attr->sq_draining = draining;
	attr->max_rd_atomic = conf.max_rd_atomic;
	attr->max_dest_rd_atomic = conf.max_dest_rd_atomic;
	attr->min_rnr_timer = conf.min_rnr_timer;
	attr->timeout = conf.timeout;
	attr->retry_cnt = conf.retry_cnt;
	attr->rnr_retry = conf.rnr_retry;
	*init = qp->init;

	return 0;
}
