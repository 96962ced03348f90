// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - completions and errors of a queue pair
 */
#include "../trace.h"
#include "qp.h"
#include "qp_state.h"

void srnic_qp_cqe(struct srnic_qp *qp, struct srnic_cq *cq,
		  struct srnic_cqe *cqe, bool solicited)
{
	srnic_task_assert_mine(&qp->task);

	cqe->qpn = qp->qpn;
	trace_srnic_cqe(cqe);
	if (!srnic_cq_push(cq, cqe, solicited))
		srnic_qp_to_error_tell(qp, IB_EVENT_QP_FATAL);
}

bool srnic_qp_to_error(struct srnic_qp *qp)
{
	srnic_task_assert_mine(&qp->task);

	if (qp->conf.state == IB_QPS_ERR)
		return false;

	trace_srnic_qp_state(qp->qpn, qp->conf.state, IB_QPS_ERR);
	qp->conf.state = IB_QPS_ERR;
	WRITE_ONCE(qp->rx_life, 0);	/* read in deliver_admit() */

	return true;
}

void srnic_qp_to_error_tell(struct srnic_qp *qp, enum ib_event_type event)
{
	srnic_task_assert_mine(&qp->task);

	if (srnic_qp_to_error(qp))
		qp->event(qp, event);
}
