// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - the receive WQE in progress, from fetch to completion
 *
 * queue/rq.c reads the ring; this file decides when, and what becomes of the WQE.  One is
 * in progress at a time.  It comes from the queue pair's own queue, from its SRQ, or with
 * XRC from the SRQ whose number, valid within a domain, the request names.  A queue pair
 * holds such an SRQ only within a run of its task, so a peer that stops in the middle of a
 * message cannot prevent its destruction.
 */
#include "internal.h"

#define SRQN_MIN	1
#define SRQN_MAX	SRNIC_QPN_MASK

static DEFINE_XARRAY_FLAGS(srq_table, XA_FLAGS_ALLOC | XA_FLAGS_ACCOUNT);
static atomic64_t srq_id;

int srnic_srq_publish(struct srnic_srq *srq)
{
	int err;

	refcount_set(&srq->users, 1);
	init_completion(&srq->unused);
	srq->id = atomic64_inc_return(&srq_id);
	err = srnic_number_reserve(&srq_table, &srq->srqn, SRQN_MIN, SRQN_MAX);
	if (err)
		return err;
	/* The slot is reserved, so no memory is allocated. */
	xa_store(&srq_table, srq->srqn, srq, GFP_KERNEL_ACCOUNT);

	return 0;
}

void srnic_srq_exit(void)
{
	xa_destroy(&srq_table);
}

void srnic_srq_hide(struct srnic_srq *srq)
{
	xa_erase(&srq_table, srq->srqn);
	srnic_srq_put(srq);
	wait_for_completion(&srq->unused);
	synchronize_rcu();	/* the core kfree()s it */
}

struct srnic_srq *srnic_srq_get(const struct ib_xrcd *xrcd, u32 srqn)
{
	struct srnic_srq *srq;

	rcu_read_lock();
	srq = xa_load(&srq_table, srqn);
	if (srq && (srq->xrcd != xrcd || !refcount_inc_not_zero(&srq->users)))
		srq = NULL;
	rcu_read_unlock();

	return srq;
}

void srnic_srq_put(struct srnic_srq *srq)
{
	if (refcount_dec_and_test(&srq->users))
		complete(&srq->unused);
}

/*
 * XRC: borrows, for this run, the queues of the SRQ named by the request.  The number
 * may be that of a new SRQ by now, which the receive in progress is not from.
 */
static bool recv_hold_srq(struct srnic_qp *qp)
{
	struct srnic_resp *resp = &qp->resp;
	struct srnic_srq *srq;

	if (!qp->xrcd || qp->srq)
		return true;

	srq = srnic_srq_get(qp->xrcd, resp->srqn);
	if (!srq)
		return false;
	if (resp->has_rwqe && resp->rwqe_srq != srq->id) {
		srnic_srq_put(srq);
		return false;
	}
	qp->srq = srq;
	qp->recvq = &srq->rq;
	qp->recv_cq = srq->cq;
	resp->sgl.pd = srq->pd;

	return true;
}

bool srnic_recv_cqe(struct srnic_qp *qp, struct srnic_cqe *cqe,
		    bool solicited)
{
	struct srnic_cq *cq;

	srnic_task_assert_mine(&qp->task);

	/* An earlier run may have taken the receive and released the SRQ. */
	cq = recv_hold_srq(qp) ? qp->recv_cq : NULL;
	if (cqe->status == IB_WC_WR_FLUSH_ERR)
		srnic_count(qp->stats, SRNIC_CNT_RESP_FLUSH);
	else if (cqe->status)
		srnic_count(qp->stats, SRNIC_CNT_RESP_ERR);
	if (cqe->status)
		cqe->opcode = IB_WC_RECV;
	cqe->wr_id = qp->resp.rwqe.wr_id;
	qp->resp.has_rwqe = false;
	srnic_sgl_forget(&qp->resp.sgl);
	/* No one is left to notify once the SRQ has been destroyed. */
	if (cq)
		srnic_qp_cqe(qp, cq, cqe, solicited);

	return cq;
}

void srnic_recv_release_srq(struct srnic_qp *qp)
{
	srnic_task_assert_mine(&qp->task);

	if (!qp->xrcd || !qp->srq)
		return;

	srnic_srq_put(qp->srq);
	qp->srq = NULL;
	qp->recvq = NULL;
	qp->recv_cq = NULL;
	qp->resp.sgl.pd = NULL;
}

enum srnic_verdict srnic_recv_select(struct srnic_qp *qp,
				     const struct srnic_pkt *pkt)
{
	struct srnic_resp *resp = &qp->resp;

	srnic_task_assert_mine(&qp->task);
	if (!qp->xrcd)
		return SRNIC_V_OK;
	if (pkt->srqn != resp->srqn) {
		if (resp->open != SRNIC_FAM_NONE)
			return SRNIC_V_INV_REQ;
		srnic_recv_release_srq(qp);
		resp->srqn = pkt->srqn;
	}

	return recv_hold_srq(qp) ? SRNIC_V_OK : SRNIC_V_SRQ;
}

static void recv_flush_one(struct srnic_qp *qp)
{
	struct srnic_cqe cqe = { .status = IB_WC_WR_FLUSH_ERR };

	srnic_recv_cqe(qp, &cqe, false);
}

/* The QP fetches no more receives from its SRQ and has completed its last one. */
static void recv_raise_last_wqe(struct srnic_qp *qp)
{
	if (qp->resp.last_wqe_raised)
		return;

	qp->resp.last_wqe_raised = true;
	qp->event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
}

bool srnic_recv_flush(struct srnic_qp *qp)
{
	struct srnic_resp *resp = &qp->resp;

	srnic_task_assert_mine(&qp->task);
	if (resp->has_rwqe)
		recv_flush_one(qp);
	if (qp->srq || qp->xrcd) {
		recv_raise_last_wqe(qp);
		return false;
	}
	if (!qp->recvq)
		return false;

	srnic_rq_want_kick(qp->recvq, true);
	srnic_task_share(&qp->task);
	while (srnic_task_may(&qp->task)) {
		if (!srnic_rq_fetch(qp->recvq, &resp->rwqe))
			return false;
		recv_flush_one(qp);
		srnic_task_spend(&qp->task, SRNIC_COST_ITEM);
	}

	return true;
}

enum srnic_verdict srnic_recv_need(struct srnic_qp *qp)
{
	struct srnic_resp *resp = &qp->resp;

	srnic_task_assert_mine(&qp->task);
	if (resp->has_rwqe)
		return SRNIC_V_OK;
	if (!qp->recvq)
		return SRNIC_V_RNR;
	if (!srnic_rq_fetch(qp->recvq, &resp->rwqe))
		return srnic_rq_is_broken(qp->recvq) ? SRNIC_V_RECV_RING :
						       SRNIC_V_RNR;

	resp->has_rwqe = true;
	if (qp->xrcd)
		resp->rwqe_srq = qp->srq->id;
	srnic_sgl_init(&resp->sgl, qp->keys, qp->srq ? qp->srq->pd : qp->pd,
		       resp->rwqe.sge, resp->rwqe.num_sge,
		       IB_ACCESS_LOCAL_WRITE, &qp->resp_pager);

	return resp->rwqe.status ? SRNIC_V_LOCAL_OP : SRNIC_V_OK;
}

void srnic_recv_complete(struct srnic_qp *qp, const struct srnic_pkt *pkt,
			 u32 byte_len)
{
	const struct srnic_op *op = srnic_pkt_op(pkt);
	struct srnic_cqe cqe = {
		.byte_len = byte_len,
		.opcode = op->family == SRNIC_FAM_SEND ? IB_WC_RECV :
			  IB_WC_RECV_RDMA_WITH_IMM,
		.src_qp = qp->conf.dest_qpn,
	};

	srnic_task_assert_mine(&qp->task);
	if (op->hdrs & SRNIC_H_IMM) {
		cqe.imm_data = pkt->imm;
		cqe.flags = SRNIC_WC_WITH_IMM;
	}
	if (op->hdrs & SRNIC_H_IETH) {
		cqe.invalidated_rkey = pkt->inv_rkey;
		cqe.flags = SRNIC_WC_WITH_INV;
	}
	if (srnic_inv_pending(qp)) {
		qp->resp.late = cqe;
		qp->resp.late_se = pkt->se;
		qp->resp.late_due = true;
		return;
	}
	srnic_recv_cqe(qp, &cqe, pkt->se);
}

bool srnic_recv_run_late(struct srnic_qp *qp)
{
	srnic_task_assert_mine(&qp->task);

	if (srnic_inv_pending(qp))
		return false;

	qp->resp.late_due = false;
	srnic_recv_cqe(qp, &qp->resp.late, qp->resp.late_se);

	return true;	/* for the packets that waited */
}

bool srnic_recv_room(struct srnic_qp *qp, const struct srnic_rx_src *src,
		     u32 bytes)
{
	enum srnic_verdict verdict = srnic_recv_need(qp);

	srnic_task_assert_mine(&qp->task);
	if (verdict == SRNIC_V_RNR) {
		srnic_qp_refuse(qp, SRNIC_CNT_OUT_OF_BUFFER);
		return false;
	}
	if (verdict) {
		srnic_recv_fail(qp, src, srnic_fail(verdict));
		return false;
	}
	if (bytes > qp->resp.rwqe.length) {
		srnic_qp_refuse(qp, SRNIC_CNT_RX_TOO_LONG);
		return false;
	}

	return true;
}

enum srnic_outcome srnic_recv_fail(struct srnic_qp *qp,
				   const struct srnic_rx_src *src,
				   enum srnic_outcome outcome)
{
	const struct srnic_fault *fault;
	struct srnic_failure failure;
	struct srnic_cqe cqe = { };

	srnic_task_assert_mine(&qp->task);
	if (!srnic_has_failed(outcome))
		return outcome;

	srnic_failure_of_receive(&failure, qp, src, outcome);
	srnic_qp_record_failure(qp, &failure);
	fault = &srnic_faults[failure.verdict];
	if (!qp->resp.has_rwqe) {
		srnic_qp_to_error_event(qp, fault->event);
		return SRNIC_DONE;
	}
	cqe.status = fault->status;
	srnic_recv_cqe(qp, &cqe, true);
	srnic_qp_to_error(qp);

	return SRNIC_DONE;
}
