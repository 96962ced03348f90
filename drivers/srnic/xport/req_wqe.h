/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - requester: fetching and completing work requests
 */
#ifndef SRNIC_XPORT_REQ_WQE_H
#define SRNIC_XPORT_REQ_WQE_H

#include "outcome.h"
#include "qp.h"

/* Fetches the next work request from the ring; NULL: none. */
struct srnic_swqe *srnic_req_fetch(struct srnic_qp *qp);

/* Completes the oldest work request with success. */
void srnic_req_complete(struct srnic_qp *qp);

/*
 * Completes the oldest work request with the error that @outcome stands for and moves the
 * QP to error, or just its send queue on a service without acknowledgments.
 */
void srnic_req_fail(struct srnic_qp *qp, enum srnic_outcome outcome);

/* Completes posted work requests as flushed.  True: the share of the run is used up. */
bool srnic_req_flush(struct srnic_qp *qp);

/* Does success generate a completion?  Pure. */
bool srnic_req_is_signaled(const struct srnic_qp *qp,
			   const struct srnic_swqe *wqe);

/* Packets of @npsn PSNs at the cursor were sent; the last one @asks for an answer. */
void srnic_req_sent(struct srnic_qp *qp, const struct srnic_swqe *wqe,
		    u32 npsn, bool asks);

#endif /* SRNIC_XPORT_REQ_WQE_H */
