/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - completions and errors of a queue pair
 */
#ifndef SRNIC_XPORT_QP_STATE_H
#define SRNIC_XPORT_QP_STATE_H

#include "qp.h"

/* Sends a completion; one that is lost takes the QP to error. */
void srnic_qp_cqe(struct srnic_qp *qp, struct srnic_cq *cq,
		  struct srnic_cqe *cqe, bool solicited);

/*
 * Ends the QP after an error that a completion reports.  False: it was in error.
 */
bool srnic_qp_to_error(struct srnic_qp *qp);

/*
 * The same after one that no completion reports, which takes an event: IBTA volume
 * 1, affiliated asynchronous errors.
 */
void srnic_qp_to_error_tell(struct srnic_qp *qp, enum ib_event_type event);

#endif /* SRNIC_XPORT_QP_STATE_H */
