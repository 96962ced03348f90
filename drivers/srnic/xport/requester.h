/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - requester: work requests in, packets out
 */
#ifndef SRNIC_XPORT_REQUESTER_H
#define SRNIC_XPORT_REQUESTER_H

#include "qp.h"

bool srnic_req_run(struct srnic_qp *qp);

void srnic_req_reset(struct srnic_qp *qp);

/* Goes on after an error in the send queue alone. */
void srnic_req_resume(struct srnic_qp *qp);

/*
 * PSNs of the answer that one request of @wqe, from @psn on, asks for.  A long READ
 * is asked for in parts, or what is lost of it would be repeated with all that is
 * behind it; a probe asks for one, and none asks for what waits for its turn.
 */
u32 srnic_req_span(const struct srnic_qp *qp, const struct srnic_swqe *wqe,
		   u32 psn);

/* The @npsn packets at the cursor have left. */
void srnic_req_sent(struct srnic_qp *qp, const struct srnic_swqe *wqe,
		    u32 npsn);

#endif /* SRNIC_XPORT_REQUESTER_H */
