// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - one run of the task of a queue pair: the order of its steps
 */
#include "backlog.h"
#include "loopback.h"
#include "qp.h"
#include "qp_ooo.h"
#include "qp_timer.h"
#include "req_data.h"
#include "req_recover.h"
#include "req_wqe.h"
#include "requester.h"
#include "resp_rdma.h"
#include "resp_reply.h"
#include "responder.h"
#include "run.h"
#include "rx.h"
#include "ud.h"

/*
 * Processes received packets and answers READs, so that responses leave together.
 * True: more to do.
 */
static bool run_respond(struct srnic_qp *qp)
{
	bool more;

	srnic_task_share(&qp->task);
	if (!qp->resp.read_yields)	/* or packets may use the share up in each run */
		srnic_resp_run(qp);
	srnic_task_share(&qp->task);
	do {
		more = srnic_rx_run(qp);
		if (!srnic_resp_run(qp))
			return more;
	} while (srnic_task_may(&qp->task));

	return true;
}

/*
 * May an ACK leave with a request yet to be posted?  Not if that may use loopback, nor on a
 * long path: there it would save little, and the peer would measure its wait as a queue.
 */
static bool run_may_answer(struct srnic_qp *qp)
{
	return !qp->self && !srnic_flight_is_long(&qp->req.flight) &&
	       srnic_req_is_idle(qp);
}

/* Sends the ACK that is owed.  In the error state no response follows that would do. */
static void run_acknowledge(struct srnic_qp *qp, bool may_wait)
{
	if (qp->conf.state == IB_QPS_ERR)
		srnic_resp_rdma_forgo(qp);
	srnic_resp_ack(qp, may_wait);
}

/* Sends requests, and then the ACK that is owed.  True: more to do. */
static bool run_request(struct srnic_qp *qp)
{
	u32 high = qp->req.flight.high;
	bool more = srnic_req_run(qp);
	bool sent = qp->req.flight.high != high;

	if (sent)
		srnic_delack_answered(&qp->resp.ack);
	run_acknowledge(qp, !sent && run_may_answer(qp));
	srnic_qp_timer_sync(qp);

	return more;
}

static bool run_may_request(const struct srnic_qp *qp)
{
	return qp->conf.state == IB_QPS_RTS || qp->conf.state == IB_QPS_SQD;
}

/*
 * Whoever comes first may use up what the rate and the network stack let pass.  While a
 * READ is answered, requests and responses to them are first in every other run.
 * True: more to do.
 */
static bool run_alternate(struct srnic_qp *qp)
{
	struct srnic_resp *resp = &qp->resp;

	resp->read_yields = resp->read_left && !resp->read_yields;

	return resp->read_yields && run_may_request(qp) && srnic_req_run(qp);
}

bool srnic_qp_run(struct srnic_task *task)
{
	struct srnic_qp *qp = container_of(task, struct srnic_qp, task);
	bool more;

	srnic_qp_ooo_check(qp);
	more = run_alternate(qp);
	more |= run_respond(qp);
	/* The answer may have been among the packets processed just now, or still wait. */
	if (srnic_qp_timer_is_due(qp))
		srnic_req_timeout(qp);
	if (!srnic_backlog_is_settled(qp))
		srnic_backlog_settle(qp);
	if (run_may_request(qp))
		more |= run_request(qp);
	else
		run_acknowledge(qp, false);
	if (qp->flow.ndev)
		srnic_tx_flush(&qp->txb);
	if (qp->conf.state == IB_QPS_ERR || qp->conf.state == IB_QPS_SQE)
		more |= srnic_req_flush(qp);
	if (qp->conf.state == IB_QPS_ERR)
		more |= srnic_resp_flush(qp);
	if (srnic_qp_is_datagram(qp))
		srnic_ud_let_go(qp);
	srnic_loopback_let_go(qp);
	srnic_req_let_go(qp);
	srnic_resp_let_go(qp);

	return more;
}
