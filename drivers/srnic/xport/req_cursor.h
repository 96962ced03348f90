/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - requester: the cursor, which work request the next packet belongs to
 */
#ifndef SRNIC_XPORT_REQ_CURSOR_H
#define SRNIC_XPORT_REQ_CURSOR_H

#include "qp.h"

/* Advances the cursor to the next work request. */
void srnic_req_advance(struct srnic_qp *qp);

/* Moves the cursor to the work request that the next PSN to send belongs to. */
void srnic_req_seek(struct srnic_qp *qp);

/* Do @npsn PSNs from the next one on complete @wqe? */
static inline bool srnic_req_is_end(const struct srnic_qp *qp,
				    const struct srnic_swqe *wqe, u32 npsn)
{
	return srnic_psn_diff(qp->req.flight.next, wqe->psn) + npsn ==
	       wqe->npsn;
}

#endif /* SRNIC_XPORT_REQ_CURSOR_H */
