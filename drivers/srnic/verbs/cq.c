// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - completion queues
 *
 * User space polls its ring by itself.  Queues of kernel consumers are not
 * there yet.
 */
#include <linux/atomic.h>

#include "verbs.h"

static struct srnic_ibcq *to_cq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct srnic_ibcq, ibcq);
}

static void cq_notify(struct srnic_cq *cq)
{
	struct ib_cq *ibcq = &container_of(cq, struct srnic_ibcq, cq)->ibcq;

	if (ibcq->comp_handler)
		ibcq->comp_handler(ibcq, ibcq->cq_context);
}

static void cq_overrun(struct srnic_cq *cq)
{
	struct ib_cq *ibcq = &container_of(cq, struct srnic_ibcq, cq)->ibcq;
	struct ib_event event = {
		.device		= ibcq->device,
		.element.cq	= ibcq,
		.event		= IB_EVENT_CQ_ERR,
	};

	if (ibcq->event_handler)
		ibcq->event_handler(&event, ibcq->cq_context);
}

int srnic_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct uverbs_attr_bundle *attrs)
{
	struct srnic_create_cq_resp resp = {};
	struct srnic_ibcq *cq = to_cq(ibcq);
	struct ib_udata *udata;
	int err;

	if (!attrs)
		return -EOPNOTSUPP;
	udata = &attrs->driver_udata;

	if (attr->flags & ~IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION) {
		ibdev_dbg(ibcq->device, "CQ: flags %#x not supported\n",
			  attr->flags);
		return -EOPNOTSUPP;
	}
	if (!attr->cqe || attr->cqe > SRNIC_MAX_CQE) {
		ibdev_dbg(ibcq->device, "CQ: %u entries, at most %u\n",
			  attr->cqe, SRNIC_MAX_CQE);
		return -EINVAL;
	}

	err = ib_is_udata_in_empty(udata);
	if (err)
		return err;

	err = srnic_cq_init(&cq->cq, attr->cqe);
	if (err)
		return err;
	cq->cq.notify = cq_notify;
	cq->cq.overrun = cq_overrun;

	cq->map = srnic_ring_expose(&cq->cq.ring, udata, &resp.ring);
	if (IS_ERR(cq->map)) {
		err = PTR_ERR(cq->map);
		goto err_cq;
	}

	err = ib_respond_udata(udata, resp);
	if (err)
		goto err_map;

	ibcq->cqe = cq->cq.ring.mask + 1;

	return 0;

err_map:
	srnic_ring_hide(cq->map);
err_cq:
	srnic_cq_destroy(&cq->cq);
	return err;
}

int srnic_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct srnic_ibcq *cq = to_cq(ibcq);

	srnic_ring_hide(cq->map);
	srnic_cq_destroy(&cq->cq);

	return 0;
}

/* There are no kernel consumers. */
int srnic_poll_cq(struct ib_cq *ibcq, int num, struct ib_wc *wc)
{
	return -EOPNOTSUPP;
}

/* For a user that asks by system call instead of writing to its ring. */
int srnic_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct srnic_ring_hdr *hdr = to_cq(ibcq)->cq.ring.hdr;
	int arm;

	arm = (flags & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED ?
	      SRNIC_CQ_ARM_SOLICITED : SRNIC_CQ_ARM_NEXT;

	/* Fully ordered: visible before the user polls; see cq_disarm(). */
	atomic_fetch_or(arm, (atomic_t *)&hdr->arm);

	return 0;
}
