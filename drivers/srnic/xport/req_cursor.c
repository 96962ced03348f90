// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - requester: the cursor, which work request the next packet belongs to
 */
#include "qp.h"
#include "req_cursor.h"

static void cursor_set(struct srnic_qp *qp, u32 idx)
{
	qp->req.cur = idx;
	srnic_sgl_forget(&qp->req.sgl);
}

void srnic_req_advance(struct srnic_qp *qp)
{
	cursor_set(qp, qp->req.cur + 1);
}

/* Is no part of @wqe left to send, or to execute, from @psn on? */
static bool cursor_is_behind(const struct srnic_swqe *wqe, u32 psn)
{
	if (!wqe->started || (!wqe->npsn && !wqe->done))
		return false;

	return srnic_psn_diff(psn, srnic_psn_add(wqe->psn, wqe->npsn)) >= 0;
}

void srnic_req_seek(struct srnic_qp *qp)
{
	u32 psn = qp->req.flight.next, idx = qp->sq.head;
	struct srnic_sq *sq = &qp->sq;

	while (idx != sq->tail && cursor_is_behind(srnic_sq_wqe(sq, idx), psn)) {
		srnic_task_spend(&qp->task, sizeof(struct srnic_swqe));
		idx++;
	}
	cursor_set(qp, idx);
}
