// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - a look at a queue pair, and where it counts
 *
 * Who looks owns the task for as long as it takes to copy, so that what is seen
 * belongs together and traffic goes on behind it.
 */
#include "qp.h"
#include "xport.h"

static void info_req(const struct srnic_qp *qp, struct srnic_qp_info *info)
{
	const struct srnic_req *req = &qp->req;
	s64 left = ktime_to_ns(ktime_sub(req->deadline, ktime_get()));

	info->sq_head = qp->sq.head;
	info->sq_cur = req->cur;
	info->sq_tail = qp->sq.tail;
	info->psn = req->psn;
	info->una = req->una;
	info->next = req->next;
	info->rd_out = req->rd_out;
	info->retry_left = req->retry_left;
	info->rnr_left = req->rnr_left;
	info->waiting_rnr = req->waiting_rnr;
	info->stalled = req->stalled;
	info->burst = req->burst;
	info->window = req->window;
	info->srtt = req->srtt;
	info->timer = req->deadline ? max(left, 1) : 0;
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
