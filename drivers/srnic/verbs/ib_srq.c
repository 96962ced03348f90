// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - shared receive queues
 *
 * Posting needs no doorbell: a queue pair that needs a receive fetches it from the SRQ.
 * User space writes the ring directly.  A resize replaces the ring; the header of the
 * old ring tells user space where to map the new one.
 */
#include "verbs.h"

static void srq_event(struct srnic_rq *rq, enum ib_event_type type)
{
	struct ib_srq *ibsrq = &container_of(rq, struct srnic_ibsrq,
					     srq.rq)->ibsrq;
	struct ib_event event = {
		.device		= ibsrq->device,
		.element.srq	= ibsrq,
		.event		= type,
	};

	if (ibsrq->event_handler)
		ibsrq->event_handler(&event, ibsrq->srq_context);
}

static void srq_low(struct srnic_rq *rq)
{
	srq_event(rq, IB_EVENT_SRQ_LIMIT_REACHED);
}

static void srq_fatal(struct srnic_rq *rq)
{
	srq_event(rq, IB_EVENT_SRQ_ERR);
}

static bool srq_type_known(enum ib_srq_type type)
{
	return type == IB_SRQT_BASIC || type == IB_SRQT_XRC;
}

static int srq_check_size(struct ib_device *ibdev, u32 max_wr, u32 max_sge)
{
	u32 most_wr = srnic_max_wr(to_dev(ibdev));

	if (!max_wr || max_wr > most_wr || max_sge > SRNIC_MAX_SGE) {
		ibdev_dbg(ibdev, "SRQ: %u WRs of %u SGEs: at most %u of %u\n",
			  max_wr, max_sge, most_wr, SRNIC_MAX_SGE);
		return -EINVAL;
	}

	return 0;
}

static u32 srq_max_wr(const struct srnic_ibsrq *srq)
{
	return srq->srq.rq.ring.room;
}

/* Only XRC SRQs are looked up by number. */
static int srq_publish(struct srnic_ibsrq *srq)
{
	struct ib_srq *ibsrq = &srq->ibsrq;
	int err;

	if (ibsrq->srq_type != IB_SRQT_XRC)
		return 0;

	srq->srq.xrcd = ibsrq->ext.xrc.xrcd;
	srq->srq.cq = srnic_cq_of(ibsrq->ext.cq);
	err = srnic_srq_publish(&srq->srq);
	if (err)
		return err;
	ibsrq->ext.xrc.srq_num = srq->srq.srqn;

	return 0;
}

static void srq_hide(struct srnic_ibsrq *srq)
{
	if (srq->ibsrq.srq_type == IB_SRQT_XRC)
		srnic_srq_hide(&srq->srq);
}

/* Makes the ring mappable and describes it to the user. */
static int srq_expose(struct srnic_ibsrq *srq, struct ib_udata *udata)
{
	struct srnic_map where;
	int err;

	srq->map = srnic_ring_expose(&srq->srq.rq.ring, udata, &where);
	if (IS_ERR(srq->map))
		return PTR_ERR(srq->map);

	err = srnic_udata_respond_srq(udata, srq->srq.rq.ring.abi, &where,
				      srq->srq.srqn);
	if (err)
		srnic_mmap_hide(srq->map);

	return err;
}

int srnic_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		     struct ib_udata *udata)
{
	struct srnic_dev *dev = to_dev(ibsrq->device);
	struct srnic_ibsrq *srq = to_srq(ibsrq);
	int err;

	if (!srq_type_known(init->srq_type))
		return -EOPNOTSUPP;

	err = srq_check_size(ibsrq->device, init->attr.max_wr,
			     init->attr.max_sge);
	if (err)
		return err;

	err = ib_is_udata_in_empty(udata);
	if (err)
		return err;

	srq->user = srnic_user_of(ibsrq->pd);
	err = srnic_quota_take(dev, srq->user, SRNIC_Q_SRQ, 1);
	if (err)
		return err;
	err = srnic_rq_init(&srq->srq.rq, srnic_abi_for(dev, udata),
			    init->attr.max_wr, max(init->attr.max_sge, 1U));
	if (err)
		goto err_quota;
	srq->srq.rq.low = srq_low;
	srq->srq.rq.fatal = srq_fatal;
	srq->srq.pd = ibsrq->pd;
	mutex_init(&srq->lock);
	spin_lock_init(&srq->post_lock);

	err = srq_publish(srq);
	if (err)
		goto err_rq;
	if (udata) {
		err = srq_expose(srq, udata);
		if (err)
			goto err_publish;
	}

	init->attr.max_wr = srq_max_wr(srq);
	init->attr.max_sge = srq->srq.rq.max_sge;

	return 0;

err_publish:
	srq_hide(srq);
err_rq:
	srnic_rq_destroy(&srq->srq.rq);
err_quota:
	srnic_quota_give(dev, srq->user, SRNIC_Q_SRQ, 1);
	return err;
}

int srnic_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct srnic_ibsrq *srq = to_srq(ibsrq);

	srq_hide(srq);
	srnic_mmap_hide(srq->map);
	srnic_rq_destroy(&srq->srq.rq);
	mutex_destroy(&srq->lock);
	srnic_quota_give(to_dev(ibsrq->device), srq->user, SRNIC_Q_SRQ, 1);

	return 0;
}

/* The response is written first, as nothing may fail once the new ring is in use. */
static int srq_resize(struct srnic_ibsrq *srq, u32 entries,
		      struct ib_udata *udata)
{
	struct srnic_rq *rq = &srq->srq.rq;
	struct srnic_ring_hdr *hdr;
	struct srnic_ring ring;
	struct srnic_mmap *map;
	struct srnic_map where;
	int err;

	err = srnic_ring_alloc(&ring, rq->ring.abi, SRNIC_RING_WORK, entries,
			       rq->ring.stride);
	if (err)
		return err;

	map = srnic_ring_expose(&ring, udata, &where);
	if (IS_ERR(map)) {
		srnic_ring_free(&ring);
		return PTR_ERR(map);
	}

	err = srnic_udata_respond_srq_resize(udata, ring.abi, &where);
	if (!err)
		err = srnic_rq_replace(rq, &ring);
	if (!err) {
		hdr = ring.hdr;	/* of the old ring */
		if (ring.abi == SRNIC_ABI_OWN)
			hdr->next = where;
		swap(srq->map, map);
	}

	srnic_mmap_hide(map);
	srnic_ring_free(&ring);

	return err;
}

static int srq_modify(struct srnic_ibsrq *srq, const struct ib_srq_attr *attr,
		      int mask, struct ib_udata *udata)
{
	u32 max_wr = mask & IB_SRQ_MAX_WR ? attr->max_wr : srq_max_wr(srq);
	int err;

	if (mask & IB_SRQ_MAX_WR) {
		err = srq_check_size(srq->ibsrq.device, max_wr, 0);
		if (err)
			return err;
	}
	if (mask & IB_SRQ_LIMIT && attr->srq_limit > max_wr) {
		ibdev_dbg(srq->ibsrq.device, "SRQ: limit %u of %u WRs\n",
			  attr->srq_limit, max_wr);
		return -EINVAL;
	}
	if (mask & IB_SRQ_MAX_WR && !udata) {
		ibdev_dbg(srq->ibsrq.device, "SRQ: resizing is for user space only\n");
		return -EOPNOTSUPP;
	}

	if (mask & IB_SRQ_MAX_WR) {
		err = srq_resize(srq, max_wr, udata);
		if (err)
			return err;
	}
	if (mask & IB_SRQ_LIMIT)
		srnic_rq_arm(&srq->srq.rq, attr->srq_limit);

	return 0;
}

int srnic_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct srnic_ibsrq *srq = to_srq(ibsrq);
	int err;

	if (mask & ~(IB_SRQ_MAX_WR | IB_SRQ_LIMIT))
		return -EINVAL;

	if (srnic_abi_for(to_dev(ibsrq->device), udata) == SRNIC_ABI_OWN) {
		err = ib_no_udata_io(udata);
		if (err)
			return err;
	}

	mutex_lock(&srq->lock);
	err = srq_modify(srq, attr, mask, udata);
	mutex_unlock(&srq->lock);

	return err;
}

int srnic_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct srnic_ibsrq *srq = to_srq(ibsrq);

	mutex_lock(&srq->lock);
	attr->max_wr = srq_max_wr(srq);
	attr->max_sge = srq->srq.rq.max_sge;
	attr->srq_limit = srnic_rq_limit(&srq->srq.rq);
	mutex_unlock(&srq->lock);

	return 0;
}
