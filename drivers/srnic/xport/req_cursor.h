/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - requester: the place in the send queue that the next packet belongs to
 */
#ifndef SRNIC_XPORT_REQ_CURSOR_H
#define SRNIC_XPORT_REQ_CURSOR_H

#include "qp.h"

/* Moves the cursor on to the next work request. */
void srnic_req_advance(struct srnic_qp *qp);

/* Moves it to the work request that the PSN to send next belongs to. */
void srnic_req_seek(struct srnic_qp *qp);

/* Is @npsn what is left of @wqe from the next PSN on? */
static inline bool srnic_req_is_end(const struct srnic_qp *qp,
				    const struct srnic_swqe *wqe, u32 npsn)
{
	return srnic_psn_diff(qp->req.flight.next, wqe->psn) + npsn ==
	       wqe->npsn;
}

#endif /* SRNIC_XPORT_REQ_CURSOR_H */
