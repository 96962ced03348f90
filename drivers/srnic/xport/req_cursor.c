// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - requester: the place in the send queue that the next packet belongs to
 */
#include "flight.h"
#include "qp.h"
#include "req_cursor.h"
#include "req_recover.h"
#include "req_wqe.h"
#include "wr.h"

void srnic_req_advance(struct srnic_qp *qp)
{
	qp->req.cur++;
	srnic_sgl_put(&qp->req.sgl);
	qp->req.sgl_pos = SRNIC_NOWHERE;
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

	/* Nobody will acknowledge: what was handed to the stack is done. */
	srnic_flight_forget(f);
	if (last)
		srnic_req_complete(qp);
}
