// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - loss recovery: applies the decisions of the flight to the send queue
 *
 * flight.c decides which PSN is sent next and when to act on silence.  This is
 * translated to work requests, counters and trace points here.
 */
#include "../trace.h"
#include "backlog.h"
#include "flight.h"
#include "outcome.h"
#include "qp.h"
#include "req_cursor.h"
#include "req_recover.h"
#include "req_wqe.h"

/* Is this end late?  The answer may have arrived already. */
static bool recover_is_busy(const struct srnic_qp *qp)
{
	return srnic_pager_busy(&qp->req_pager) ||
	       srnic_pager_busy(&qp->comp_pager) ||
	       srnic_pager_busy(&qp->resp_pager);
}

/* Names of enum srnic_flight_cause for the trace points */
static const char * const recover_causes[SRNIC_CAUSE_NUM] = {
	[SRNIC_CAUSE_MEMORY]	= "memory",
	[SRNIC_CAUSE_RNR]	= "rnr",
	[SRNIC_CAUSE_ASK]	= "ask",
	[SRNIC_CAUSE_PROBE]	= "probe",
	[SRNIC_CAUSE_GAP]	= "gap",
	[SRNIC_CAUSE_TIMEOUT]	= "ack",
};

static void recover_fail(struct srnic_qp *qp, u8 cause)
{
	bool rnr = cause == SRNIC_CAUSE_RNR;

	srnic_count(qp->stats, rnr ? SRNIC_CNT_RNR_EXCEEDED :
				     SRNIC_CNT_RETRY_EXCEEDED);
	srnic_req_fail(qp, srnic_fail(rnr ? SRNIC_V_NAK_RNR : SRNIC_V_SILENCE));
}

void srnic_req_recover(struct srnic_qp *qp, struct srnic_flight_todo todo)
{
	struct srnic_flight *f = &qp->req.flight;

	switch (todo.act) {
	case SRNIC_FLIGHT_SEEK:
		if (todo.cause && todo.cause != SRNIC_CAUSE_ASK) {
			trace_srnic_go_back(qp->qpn, f->high, f->una,
					    recover_causes[todo.cause]);
			srnic_count(qp->stats, SRNIC_CNT_GO_BACK);
		}
		srnic_req_seek(qp);
		break;
	case SRNIC_FLIGHT_FAIL:
		recover_fail(qp, todo.cause);
		break;
	}
}

void srnic_req_timeout(struct srnic_qp *qp)
{
	struct srnic_flight *f = &qp->req.flight;
	struct srnic_flight_todo todo;
	bool busy = recover_is_busy(qp);
	u64 now = ktime_get_ns();
	u32 una = f->una;

	if (qp->conf.state != IB_QPS_RTS && qp->conf.state != IB_QPS_SQD)
		return;
	if (!busy && srnic_backlog_is_unread(qp) && srnic_flight_put_off(f, now))
		return;

	todo = srnic_flight_timeout(f, busy, now);
	if (todo.cause)
		trace_srnic_timeout(qp->qpn, una, f->retry_left,
				    recover_causes[todo.cause]);
	if (todo.cause == SRNIC_CAUSE_TIMEOUT)
		srnic_count(qp->stats, SRNIC_CNT_ACK_TIMEOUT);
	srnic_req_recover(qp, todo);
}

void srnic_req_arm(struct srnic_qp *qp, bool sent)
{
	struct srnic_flight *f = &qp->req.flight;

	if (!f->silence && (sent || (f->late && !recover_is_busy(qp))))
		srnic_flight_arm(f, ktime_get_ns());
}

void srnic_req_hurry(struct srnic_qp *qp)
{
	if (!recover_is_busy(qp))
		srnic_flight_hurry(&qp->req.flight, ktime_get_ns());
}

bool srnic_req_refused(struct srnic_qp *qp)
{
	struct srnic_flight_todo todo = srnic_flight_refused(&qp->req.flight);

	srnic_req_recover(qp, todo);

	return todo.act;
}
