// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - completions and errors of a queue pair
 */
#include "../trace.h"
#include "failure.h"
#include "qp.h"
#include "qp_state.h"
#include "verdict.h"

void srnic_qp_cqe(struct srnic_qp *qp, struct srnic_cq *cq,
		  struct srnic_cqe *cqe, bool solicited)
{
	srnic_task_assert_mine(&qp->task);

	cqe->qpn = qp->qpn;
	trace_srnic_cqe(cqe);
	if (!srnic_cq_push(cq, cqe, solicited))
		srnic_qp_to_error_for(qp, SRNIC_V_OVERRUN);
}

void srnic_qp_blame(struct srnic_qp *qp, const struct srnic_failure *failure)
{
	srnic_task_assert_mine(&qp->task);

	if (qp->conf.state == IB_QPS_ERR || qp->failure.verdict)
		return;

	qp->failure = *failure;
	qp->failure.time = ktime_get_real_ns();
	if (srnic_qp_is_connected(qp))
		qp->failure.peer = qp->flow.daddr;
	trace_srnic_failure(qp->qpn, &qp->failure,
			    srnic_faults[failure->verdict].name,
			    srnic_failure_memory(failure),
			    srnic_failure_op(failure));
}

void srnic_qp_absolve(struct srnic_qp *qp)
{
	srnic_task_assert_mine(&qp->task);

	memset(&qp->failure, 0, sizeof(qp->failure));
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

void srnic_qp_to_error_for(struct srnic_qp *qp, enum srnic_verdict verdict)
{
	const struct srnic_failure failure = { .verdict = verdict };

	srnic_qp_blame(qp, &failure);
	srnic_qp_to_error_tell(qp, srnic_faults[verdict].event);
}
