/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - work requests that the requester takes and completes
 */
#ifndef SRNIC_XPORT_REQ_WQE_H
#define SRNIC_XPORT_REQ_WQE_H

#include "qp.h"

/* Takes the next off the ring; NULL: there is none. */
struct srnic_swqe *srnic_req_fetch(struct srnic_qp *qp);

/* Completes the oldest work request with success. */
void srnic_req_complete(struct srnic_qp *qp);

/*
 * Ends the oldest work request with @status, which takes the QP to error, or
 * just its send queue when the peer need not know.
 */
void srnic_req_fail(struct srnic_qp *qp, enum ib_wc_status status);

/* Completes what is posted as flushed.  True: its share of the run is used up. */
bool srnic_req_flush(struct srnic_qp *qp);

/* Does its success make a completion?  Pure. */
bool srnic_req_is_signaled(const struct srnic_qp *qp,
			   const struct srnic_swqe *wqe);

/* The @npsn packets at the cursor have left, the last of which @asks for an answer. */
void srnic_req_sent(struct srnic_qp *qp, const struct srnic_swqe *wqe,
		    u32 npsn, bool asks);

#endif /* SRNIC_XPORT_REQ_WQE_H */
