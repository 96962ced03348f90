// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - snapshots of a queue pair, and its set of counters
 *
 * The task is owned while its state is copied, so the values are consistent with each
 * other; traffic continues after the copy.  Any user may have it copied.
 */
#include "failure.h"
#include "flight.h"
#include "qp.h"
#include "xport.h"

static void info_req(const struct srnic_qp *qp, struct srnic_look *look)
{
	const struct srnic_flight *f = &qp->req.flight;
	bool rnr = f->mode == SRNIC_FLIGHT_RNR;
	s64 left = f->deadline - ktime_get_ns();

	srnic_look_u32(look, "sq_head", qp->sq.head);
	srnic_look_u32(look, "sq_cur", qp->req.cur);
	srnic_look_u32(look, "sq_tail", qp->sq.tail);
	srnic_look_psn(look, "psn", f->psn);
	srnic_look_psn(look, "una_psn", f->una);
	srnic_look_psn(look, "next_psn", f->next);
	srnic_look_u32(look, "reads_out", f->rd_out);
	srnic_look_u32(look, "retry_left", f->retry_left);
	srnic_look_u32(look, "rnr_left", f->rnr_left);
	srnic_look_u32(look, "rnr_wait", rnr);
	srnic_look_u32(look, "mem_wait", srnic_flight_is_held(f) && !rnr);
	srnic_look_u32(look, "window", f->window);
	srnic_look_u32(look, "burst",
		       f->mode == SRNIC_FLIGHT_OPEN ? 0 : f->burst);
	srnic_look_u64(look, "srtt_ns", f->srtt);
	srnic_look_u64(look, "timer_ns", f->deadline ? max_t(s64, left, 1) : 0);
}

static void info_cc(const struct srnic_cc *cc, struct srnic_look *look)
{
	srnic_look_u64(look, "rate", cc->limited ? cc->rate.rate : 0);
	srnic_look_u64(look, "target_rate", cc->limited ? cc->rate.target : 0);
}

static void info_resp(const struct srnic_qp *qp, struct srnic_look *look)
{
	const struct srnic_ooo *req = &qp->req.ooo;
	const struct srnic_resp *resp = &qp->resp;

	srnic_look_psn(look, "expected_psn", resp->psn);
	srnic_look_u32(look, "msn", resp->msn);
	srnic_look_u32(look, "early", resp->ooo.num + req->num);
	srnic_look_u32(look, "early_bytes", resp->ooo.bytes + req->bytes);
	srnic_look_u32(look, "read_left", resp->read_left);
	srnic_look_u32(look, "ack_due", resp->ack.due);
}

static void info_rq(struct srnic_rq *rq, struct srnic_look *look)
{
	struct srnic_rq_info info;

	srnic_rq_look(rq, &info);
	srnic_look_u32(look, "rq_entries", info.entries);
	srnic_look_u32(look, "rq_head", info.head);
	srnic_look_u32(look, "rq_posted", info.posted);
}

static void info_net(struct srnic_qp *qp, struct srnic_look *look)
{
	spin_lock_bh(&qp->rxq.lock);
	srnic_look_u32(look, "rx_bytes", qp->rxq_bytes + qp->rx_todo_bytes);
	spin_unlock_bh(&qp->rxq.lock);
	srnic_look_u32(look, "tx_load", atomic_read(&qp->gate.load));
	srnic_look_u32(look, "tx_wait", atomic_read(&qp->gate.waiting));
}

void srnic_qp_look(struct srnic_qp *qp, struct srnic_look *look)
{
	srnic_task_own_atomic(&qp->task);
	info_req(qp, look);
	info_cc(&qp->cc, look);
	info_resp(qp, look);
	info_rq(&qp->rq, look);
	info_net(qp, look);
	srnic_failure_look(&qp->failure, look);
	srnic_task_release_atomic(&qp->task);
}

void srnic_qp_count_in(struct srnic_qp *qp, struct srnic_stats __percpu *stats)
{
	srnic_task_own_atomic(&qp->task);
	WRITE_ONCE(qp->stats, stats);	/* read in srnic_qp_stats() */
	qp->txb.stats = stats;
	srnic_task_release_atomic(&qp->task);
}
