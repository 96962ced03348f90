// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - completion queues
 *
 * User space polls its ring directly; this file polls it for kernel consumers.
 * Completions of a queue pair that has been destroyed are skipped.
 *
 * A completion vector stands for a CPU, on which the events of a queue are raised: a
 * completion generated on another CPU queues work there, unless that CPU is offline.  A
 * consumer in the kernel that has one operation in progress gets its events where the
 * completions are generated: it polls in a softirq or a work item of that CPU, whose cache has
 * the completion and its data, and to move them costs two CPUs more than it does with them.
 * With many in progress two CPUs do more than one.
 */
#include <linux/cpumask.h>
#include <linux/etherdevice.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/wait_bit.h>

#include "../trace.h"
#include "verbs.h"

static struct workqueue_struct *cq_wq;

int srnic_verbs_init(void)
{
	/* Stable releases have WQ_PERCPU, but do not allow it here: it goes without saying. */
	cq_wq = alloc_workqueue("srnic-cq", WQ_BH | (WQ_PERCPU & __WQ_BH_ALLOWS), 0);

	return cq_wq ? 0 : -ENOMEM;
}

void srnic_verbs_exit(void)
{
	destroy_workqueue(cq_wq);
}

/* Most events that are raised at once: others may need this CPU. */
#define CQ_RUN		16

/*
 * Raises the event that made @events non-zero and those that become due meanwhile, so that a
 * handler is not called by two CPUs at once.  Events are not coalesced.
 */
static void cq_raise(struct srnic_ibcq *cq)
{
	int budget = CQ_RUN;
	bool more;

	do {
		if (!budget--) {
			queue_work_on(smp_processor_id(), cq_wq, &cq->work);
			return;
		}
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
		/* pairs with cq_settle() */
		smp_store_release(&cq->raised, cq->raised + 1);
		more = !atomic_dec_and_test(&cq->events);
		/* @cq may be gone if there are no more. */
		wake_up_var(&cq->events);
	} while (more);
}

/* Handlers are called with BH disabled; before Linux 6.9 this is called by a thread. */
static void cq_raise_here(struct work_struct *work)
{
	local_bh_disable();
	cq_raise(container_of(work, struct srnic_ibcq, work));
	local_bh_enable();
}

/* As many completions per event are more than one operation of most consumers takes. */
#define CQ_LOAD		4

/* Is the vector's CPU a better place for an event of a kernel consumer? */
static bool cq_spreads(struct srnic_ibcq *cq)
{
	u32 prod = READ_ONCE(cq->cq.prod), events = max(cq->raised - cq->judged, 1u);
	u32 piled = prod - cq->told >= CQ_LOAD * events ? SRNIC_SPREAD_DEEP : 0;

	cq->told = prod;
	cq->judged = cq->raised;

	return srnic_spread_next(&cq->spread, piled) && !srnic_exec_is_relieved(cq->cpu);
}

/* Has events raised on the vector's CPU, unless it is this one or offline. */
static bool cq_move(struct srnic_ibcq *cq)
{
	bool moved;

	preempt_disable();	/* also on PREEMPT_RT, so that an online CPU remains so */
	moved = cq->cpu != smp_processor_id() && cpu_online(cq->cpu);
	if (moved)
		queue_work_on(cq->cpu, cq_wq, &cq->work);
	preempt_enable();

	return moved;
}

static void cq_notify(struct srnic_cq *srnic_cq)
{
	struct srnic_ibcq *cq = container_of(srnic_cq, struct srnic_ibcq, cq);
	bool there;

	if (!cq->ibcq.comp_handler || atomic_inc_return(&cq->events) > 1)
		return;

	there = cq->ibcq.uobject || cq_spreads(cq);
	if (!there || !cq_move(cq))
		cq_raise(cq);
}

static enum hrtimer_restart cq_timer(struct hrtimer *timer)
{
	srnic_cq_expire(&container_of(timer, struct srnic_ibcq, timer)->cq);

	return HRTIMER_NORESTART;
}

static void cq_later(struct srnic_cq *srnic_cq)
{
	struct srnic_ibcq *cq = container_of(srnic_cq, struct srnic_ibcq, cq);
	u32 period = READ_ONCE(cq->period);	/* set by srnic_modify_cq() */

	if (period)
		hrtimer_start(&cq->timer, ns_to_ktime(period * NSEC_PER_USEC),
			      HRTIMER_MODE_REL_SOFT);
}

static void cq_overrun(struct srnic_cq *cq)
{
	struct ib_cq *ibcq = &container_of(cq, struct srnic_ibcq, cq)->ibcq;
	struct ib_event event = {
		.device		= ibcq->device,
		.element.cq	= ibcq,
		.event		= IB_EVENT_CQ_ERR,
	};

	trace_srnic_overrun(ibcq->res.id, &cq->loss, srnic_cq_loss_of(&cq->loss),
			    srnic_cq_loss_why(&cq->loss));
	if (ibcq->event_handler)
		ibcq->event_handler(&event, ibcq->cq_context);
}

#define CQ_FLAGS	(IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION | \
			 IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN)

static int cq_check_size(struct ib_device *ibdev, u32 entries)
{
	u32 most = srnic_max_cqe(to_dev(ibdev));

	if (!entries || entries > most) {
		ibdev_dbg(ibdev, "CQ: %u entries, at most %u\n", entries, most);
		return -EINVAL;
	}

	return 0;
}

static int cq_check(struct ib_device *ibdev, const struct ib_cq_init_attr *attr)
{
	if (attr->flags & ~CQ_FLAGS) {
		ibdev_dbg(ibdev, "CQ: flags %#x not supported\n", attr->flags);
		return -EOPNOTSUPP;
	}
	if (attr->comp_vector >= ibdev->num_comp_vectors) {
		ibdev_dbg(ibdev, "CQ: vector %u of %d\n", attr->comp_vector,
			  ibdev->num_comp_vectors);
		return -EINVAL;
	}

	return cq_check_size(ibdev, attr->cqe);
}

/* Initialises everything that does not depend on the ring. */
static void cq_setup(struct srnic_ibcq *cq, const struct ib_cq_init_attr *attr)
{
	cq->cq.lossy = attr->flags & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN;
	cq->cq.notify = cq_notify;
	cq->cq.later = cq_later;
	cq->cq.overrun = cq_overrun;
	cq->cpu = cpumask_nth(attr->comp_vector, cpu_possible_mask);
	atomic_set(&cq->events, 0);
	cq->raised = 0;
	cq->judged = 0;
	cq->told = 0;
	cq->spread = (struct srnic_spread) {};
	INIT_WORK(&cq->work, cq_raise_here);
	cq->period = 0;
	hrtimer_setup(&cq->timer, cq_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	mutex_init(&cq->lock);
}

/* Makes the ring mappable and describes it to the user. */
static int cq_expose(struct srnic_ibcq *cq, struct ib_udata *udata)
{
	struct srnic_map where;
	int err;

	cq->map = srnic_ring_expose(&cq->cq.ring, udata, &where);
	if (IS_ERR(cq->map))
		return PTR_ERR(cq->map);

	err = srnic_udata_respond_cq(udata, cq->cq.ring.abi, &where);
	if (err)
		srnic_mmap_hide(cq->map);

	return err;
}

int srnic_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct uverbs_attr_bundle *attrs)
{
	struct ib_udata *udata = attrs ? &attrs->driver_udata : NULL;
	struct srnic_dev *dev = to_dev(ibcq->device);
	struct srnic_ibcq *cq = to_cq(ibcq);
	int err;

	err = cq_check(ibcq->device, attr);
	if (err)
		return err;

	err = ib_is_udata_in_empty(udata);
	if (err)
		return err;

	cq->user = srnic_user_of_udata(udata);
	err = srnic_quota_take(dev, cq->user, SRNIC_Q_CQ, 1);
	if (err)
		return err;
	err = srnic_cq_init(&cq->cq, srnic_abi_for(dev, udata), attr->cqe);
	if (err)
		goto err_quota;
	cq_setup(cq, attr);

	if (udata) {
		err = cq_expose(cq, udata);
		if (err)
			goto err_cq;
	}

	ibcq->cqe = cq->cq.ring.room;

	return 0;

err_cq:
	srnic_cq_destroy(&cq->cq);
err_quota:
	srnic_quota_give(dev, cq->user, SRNIC_Q_CQ, 1);
	return err;
}

static u32 cq_raised(const struct srnic_ibcq *cq)
{
	/* pairs with cq_raise(): what the handlers have written is visible */
	return smp_load_acquire(&cq->raised);
}

/* Raises the event that moderation defers. */
static void cq_hasten(struct srnic_ibcq *cq)
{
	hrtimer_cancel(&cq->timer);
	local_bh_disable();
	srnic_cq_expire(&cq->cq);
	local_bh_enable();
}

/* Returns when all events that are due have been raised, or as many as there were. */
static void cq_settle(struct srnic_ibcq *cq)
{
	u32 raised;
	int due;

	cq_hasten(cq);
	/* One that is raised between the two reads counts as due: the next one is as good. */
	due = atomic_read_acquire(&cq->events);
	raised = cq_raised(cq);
	wait_var_event(&cq->events, !atomic_read_acquire(&cq->events) ||
		       (int)(cq_raised(cq) - raised) >= due);
}

void srnic_settle_cq(struct ib_cq *ibcq)
{
	if (ibcq && !ibcq->uobject)
		cq_settle(to_cq(ibcq));
}

int srnic_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct srnic_ibcq *cq = to_cq(ibcq);

	cq_hasten(cq);
	/* No more become due.  cq_raise() still uses the CQ when it has raised the last one. */
	wait_var_event(&cq->events, !atomic_read_acquire(&cq->events));
	srnic_mmap_hide(cq->map);
	srnic_cq_destroy(&cq->cq);
	mutex_destroy(&cq->lock);
	srnic_quota_give(to_dev(ibcq->device), cq->user, SRNIC_Q_CQ, 1);

	return 0;
}

/* The response is written first, as nothing may fail once the new ring is in use. */
static int cq_resize(struct srnic_ibcq *cq, u32 entries, struct ib_udata *udata)
{
	enum srnic_abi abi = cq->cq.ring.abi;
	struct srnic_ring ring;
	struct srnic_map where;
	struct srnic_mmap *map;
	int err;

	err = srnic_ring_alloc(&ring, abi, SRNIC_RING_COMP, entries,
			       cq->cq.ring.stride);
	if (err)
		return err;

	map = srnic_ring_expose(&ring, udata, &where);
	if (IS_ERR(map)) {
		srnic_ring_free(&ring);
		return PTR_ERR(map);
	}

	err = srnic_udata_respond_cq(udata, abi, &where);
	if (!err)
		err = srnic_cq_replace(&cq->cq, &ring);
	if (!err)
		swap(cq->map, map);

	srnic_mmap_hide(map);
	srnic_ring_free(&ring);

	return err;
}

int srnic_resize_cq(struct ib_cq *ibcq, unsigned int cqe,
		    struct ib_udata *udata)
{
	struct srnic_ibcq *cq = to_cq(ibcq);
	int err;

	if (!udata)
		return -EOPNOTSUPP;

	err = cq_check_size(ibcq->device, cqe);
	if (err)
		return err;

	err = ib_is_udata_in_empty(udata);
	if (err)
		return err;

	mutex_lock(&cq->lock);
	err = cq_resize(cq, cqe, udata);
	if (!err)
		ibcq->cqe = cq->cq.ring.room;
	mutex_unlock(&cq->lock);

	return err;
}

/* If only @period is set, it alone limits how long completions are held back. */
int srnic_modify_cq(struct ib_cq *ibcq, u16 count, u16 period)
{
	struct srnic_ibcq *cq = to_cq(ibcq);

	/* read in cq_later() */
	WRITE_ONCE(cq->period, period);
	local_bh_disable();
	srnic_cq_moderate(&cq->cq, count || !period ? count : U32_MAX);
	local_bh_enable();

	return 0;
}

/* Converts completion flags, whose values in the kernel differ from those in the ABI. */
static int cq_wc_flags(const struct srnic_cqe *cqe)
{
	return (cqe->flags & SRNIC_WC_GRH ? IB_WC_GRH : 0) |
	       (cqe->flags & SRNIC_WC_WITH_IMM ? IB_WC_WITH_IMM : 0) |
	       (cqe->flags & SRNIC_WC_WITH_INV ? IB_WC_WITH_INVALIDATE : 0);
}

/* Fills in the address fields of a received datagram. */
static void cq_fill_ud(struct ib_wc *wc, const struct srnic_cqe *cqe)
{
	wc->network_hdr_type = cqe->ip_version == 4 ? RDMA_NETWORK_IPV4 :
						      RDMA_NETWORK_IPV6;
	wc->wc_flags |= IB_WC_WITH_NETWORK_HDR_TYPE;
	if (!is_zero_ether_addr(cqe->smac)) {
		memcpy(wc->smac, cqe->smac, sizeof(wc->smac));
		wc->wc_flags |= IB_WC_WITH_SMAC;
	}
	if (cqe->vlan != SRNIC_NO_VLAN) {
		wc->vlan_id = cqe->vlan;
		wc->wc_flags |= IB_WC_WITH_VLAN;
	}
}

/* Converts a completion.  False: its queue pair has been destroyed. */
static bool cq_fill_wc(struct ib_wc *wc, const struct srnic_cqe *cqe)
{
	struct srnic_ibqp *qp;

	rcu_read_lock();
	qp = srnic_qp_owner(cqe->qpn);
	rcu_read_unlock();
	if (!qp)
		return false;

	*wc = (struct ib_wc) {
		.wr_id		= cqe->wr_id,
		.status		= cqe->status,
		.opcode		= cqe->opcode,
		.vendor_err	= cqe->vendor_err,
		.byte_len	= cqe->byte_len,
		.qp		= &qp->ibqp,
		.ex.imm_data	= cqe->imm_data,
		.src_qp		= cqe->src_qp,
		.wc_flags	= cq_wc_flags(cqe),
		.pkey_index	= cqe->pkey_index,
		.sl		= cqe->sl,
		.port_num	= 1,
	};
	if (cqe->flags & SRNIC_WC_GRH)
		cq_fill_ud(wc, cqe);

	return true;
}

int srnic_poll_cq(struct ib_cq *ibcq, int num, struct ib_wc *wc)
{
	struct srnic_cq *cq = &to_cq(ibcq)->cq;
	struct srnic_cqe cqe;
	int n = 0;

	/* User space polls its ring directly. */
	if (ibcq->uobject)
		return -EOPNOTSUPP;

	while (n < num && srnic_cq_pop(cq, &cqe))
		n += cq_fill_wc(&wc[n], &cqe);

	return n;
}

int srnic_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	bool solicited = (flags & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED;
	struct srnic_ibcq *cq = to_cq(ibcq);
	bool missed;

	/* The ring of a user's CQ may be resized meanwhile. */
	if (ibcq->uobject)
		mutex_lock(&cq->lock);
	missed = srnic_cq_arm(&cq->cq, solicited);
	if (ibcq->uobject)
		mutex_unlock(&cq->lock);

	return missed && (flags & IB_CQ_REPORT_MISSED_EVENTS);
}
