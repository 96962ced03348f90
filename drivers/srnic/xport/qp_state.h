/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - completions and errors of a queue pair
 */
#ifndef SRNIC_XPORT_QP_STATE_H
#define SRNIC_XPORT_QP_STATE_H

#include "qp.h"

/* Pushes a completion; if it is lost because the CQ is full, the QP goes to error. */
void srnic_qp_cqe(struct srnic_qp *qp, struct srnic_cq *cq,
		  struct srnic_cqe *cqe, bool solicited);

/* Moves the QP to error after an error reported by a completion.  False: no change. */
bool srnic_qp_to_error(struct srnic_qp *qp);

/*
 * The same after an error that no completion reports and that therefore raises an
 * event: IBTA volume 1, affiliated asynchronous errors.
 */
void srnic_qp_to_error_tell(struct srnic_qp *qp, enum ib_event_type event);

#endif /* SRNIC_XPORT_QP_STATE_H */
