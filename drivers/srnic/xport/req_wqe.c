// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - requester: fetching and completing work requests
 */
#include "../trace.h"
#include "failure.h"
#include "flight.h"
#include "ooo.h"
#include "qp.h"
#include "qp_state.h"
#include "req_cursor.h"
#include "req_wqe.h"
#include "verdict.h"
#include "wr.h"

bool srnic_req_is_signaled(const struct srnic_qp *qp,
			   const struct srnic_swqe *wqe)
{
	return qp->conf.sq_sig_all || (wqe->sqe.flags & IB_SEND_SIGNALED);
}

static void req_cqe(struct srnic_qp *qp, const struct srnic_swqe *wqe,
		    enum ib_wc_status status)
{
	struct srnic_cqe cqe = {
		.wr_id = wqe->sqe.wr_id,
		.status = status,
	};

	if (status == IB_WC_SUCCESS) {
		cqe.opcode = srnic_wr_of(wqe)->wc;
		cqe.byte_len = wqe->length;
	} else {
		srnic_count(qp->stats, status == IB_WC_WR_FLUSH_ERR ?
				       SRNIC_CNT_REQ_FLUSH : SRNIC_CNT_REQ_ERR);
	}
	srnic_qp_cqe(qp, qp->send_cq, &cqe, false);
}

/* Removes the oldest work request from the queue. */
static void req_retire(struct srnic_qp *qp, enum ib_wc_status status)
{
	struct srnic_sq *sq = &qp->sq;

	trace_srnic_retire(qp->qpn, sq->head, srnic_sq_wqe(sq, sq->head), status);
	if (qp->req.cur == sq->head)
		srnic_req_advance(qp);
	sq->head++;
	srnic_sq_publish(sq);
}

static void req_count(struct srnic_qp *qp, const struct srnic_swqe *wqe)
{
	u8 counter = srnic_wr_of(wqe)->counter;

	if (counter != SRNIC_CNT_NUM)
		srnic_count(qp->stats, counter);
}

void srnic_req_complete(struct srnic_qp *qp)
{
	const struct srnic_swqe *wqe = srnic_sq_wqe(&qp->sq, qp->sq.head);
	struct srnic_swqe copy = *wqe;

	srnic_task_assert_mine(&qp->task);
	req_count(qp, wqe);
	req_retire(qp, IB_WC_SUCCESS);
	if (srnic_req_is_signaled(qp, &copy))
		req_cqe(qp, &copy, IB_WC_SUCCESS);
}

void srnic_req_fail(struct srnic_qp *qp, enum srnic_outcome outcome)
{
	const struct srnic_swqe *wqe = srnic_sq_wqe(&qp->sq, qp->sq.head);
	struct srnic_swqe copy = *wqe;
	struct srnic_failure failure;
	enum ib_wc_status status;

	srnic_task_assert_mine(&qp->task);
	srnic_failure_of_wqe(&failure, qp, wqe, outcome);
	srnic_qp_blame(qp, &failure);
	status = srnic_faults[failure.verdict].status;
	req_retire(qp, status);
	if (!srnic_qp_reliable(qp)) {
		trace_srnic_qp_state(qp->qpn, qp->conf.state, IB_QPS_SQE);
		qp->conf.state = IB_QPS_SQE;
	}
	req_cqe(qp, &copy, status);
	if (srnic_qp_reliable(qp))
		srnic_qp_to_error(qp);
}

struct srnic_swqe *srnic_req_fetch(struct srnic_qp *qp)
{
	struct srnic_swqe *wqe = srnic_sq_fetch(&qp->sq, qp->type);

	srnic_task_assert_mine(&qp->task);
	if (wqe)
		trace_srnic_fetch(qp->qpn, qp->sq.tail - 1, wqe);
	else if (qp->sq.broken)
		srnic_qp_to_error_for(qp, SRNIC_V_SEND_RING);

	return wqe;
}

bool srnic_req_flush(struct srnic_qp *qp)
{
	struct srnic_sq *sq = &qp->sq;
	struct srnic_swqe copy;

	srnic_task_assert_mine(&qp->task);
	srnic_ooo_purge(&qp->req.ooo);
	srnic_task_share(&qp->task);
	while (srnic_task_may(&qp->task)) {
		if (sq->head == sq->tail && !srnic_req_fetch(qp))
			return false;
		copy = *srnic_sq_wqe(sq, sq->head);
		req_retire(qp, IB_WC_WR_FLUSH_ERR);
		req_cqe(qp, &copy, IB_WC_WR_FLUSH_ERR);
		srnic_task_spend(&qp->task, SRNIC_COST_ITEM);
	}

	return true;
}

void srnic_req_sent(struct srnic_qp *qp, const struct srnic_swqe *wqe,
		    u32 npsn, bool asks)
{
	struct srnic_flight *f = &qp->req.flight;
	u64 now = asks || f->next == f->una ? ktime_get_ns() : 0;
	bool last = srnic_req_is_end(qp, wqe, npsn);

	if (last)
		srnic_req_advance(qp);
	if (srnic_flight_sent(f, npsn, srnic_wr_has_answer(wqe), asks, now))
		srnic_req_seek(qp);
	if (srnic_qp_reliable(qp))
		return;

	/* Nothing is acknowledged: the message is complete once passed to the stack. */
	srnic_flight_forget(f);
	if (last)
		srnic_req_complete(qp);
}
