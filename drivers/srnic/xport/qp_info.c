// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - a look at a queue pair, and where it counts
 *
 * Who looks owns the task for as long as it takes to copy, so that what is seen
 * belongs together and traffic goes on behind it.
 */
#include "flight.h"
#include "qp.h"
#include "xport.h"

static void info_req(const struct srnic_qp *qp, struct srnic_qp_info *info)
{
	const struct srnic_flight *f = &qp->req.flight;
	s64 left = f->deadline - ktime_get_ns();

	info->sq_head = qp->sq.head;
	info->sq_cur = qp->req.cur;
	info->sq_tail = qp->sq.tail;
	info->psn = f->psn;
	info->una = f->una;
	info->next = f->next;
	info->rd_out = f->rd_out;
	info->retry_left = f->retry_left;
	info->rnr_left = f->rnr_left;
	info->waiting_rnr = f->mode == SRNIC_FLIGHT_RNR;
	info->stalled = srnic_flight_is_held(f) && !info->waiting_rnr;
	info->burst = f->mode == SRNIC_FLIGHT_OPEN ? 0 : f->burst;
	info->window = f->window;
	info->srtt = f->srtt;
	info->timer = f->deadline ? max(left, 1) : 0;
	info->rate = qp->cc.limited ? qp->cc.rate.rate : 0;
	info->target = qp->cc.limited ? qp->cc.rate.target : 0;
}

static void info_resp(const struct srnic_qp *qp, struct srnic_qp_info *info)
{
	const struct srnic_resp *resp = &qp->resp;

	info->epsn = resp->psn;
	info->msn = resp->msn;
	info->early = resp->ooo.num + qp->req.ooo.num;
	info->early_bytes = resp->ooo.bytes + qp->req.ooo.bytes;
	info->read_left = resp->read_left;
	info->ack_due = resp->ack_due;
}

static void info_net(struct srnic_qp *qp, struct srnic_qp_info *info)
{
	spin_lock_bh(&qp->rxq.lock);
	info->rx_bytes = qp->rxq_bytes + qp->rx_todo_bytes;
	spin_unlock_bh(&qp->rxq.lock);
	info->gate_load = atomic_read(&qp->gate.load);
	info->gate_waiting = atomic_read(&qp->gate.waiting);
}

void srnic_qp_look(struct srnic_qp *qp, struct srnic_qp_info *info)
{
	srnic_task_own(&qp->task);
	info_req(qp, info);
	info_resp(qp, info);
	info_net(qp, info);
	srnic_rq_look(&qp->rq, &info->rq);
	srnic_task_release(&qp->task);
}

void srnic_qp_count_in(struct srnic_qp *qp, struct srnic_stats __percpu *stats)
{
	srnic_task_own(&qp->task);
	WRITE_ONCE(qp->stats, stats);	/* read in srnic_qp_stats() */
	qp->txb.stats = stats;
	srnic_task_release(&qp->task);
}
