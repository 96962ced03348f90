/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - requester: work requests in, packets out
 */
#ifndef SRNIC_XPORT_REQUESTER_H
#define SRNIC_XPORT_REQUESTER_H

#include "qp.h"

bool srnic_req_run(struct srnic_qp *qp);

void srnic_req_reset(struct srnic_qp *qp);

/* Is everything sent that was posted, so that the next step is the program's? */
bool srnic_req_is_idle(struct srnic_qp *qp);

/* Enables SQ_DRAINED, to be raised when nothing is in progress any more. */
void srnic_req_drain(struct srnic_qp *qp);

/* Resumes after an error of the send queue alone. */
void srnic_req_resume(struct srnic_qp *qp);

#endif /* SRNIC_XPORT_REQUESTER_H */
