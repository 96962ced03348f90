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

/*
 * Records why the QP, or its send queue, is about to leave service.  The first failure
 * is kept until srnic_qp_absolve(); what happens to a QP in the error state is none.
 */
void srnic_qp_blame(struct srnic_qp *qp, const struct srnic_failure *failure);

/* Forgets the failure: the QP begins anew. */
void srnic_qp_absolve(struct srnic_qp *qp);

/* Moves the QP to error after an error reported by a completion.  False: no change. */
bool srnic_qp_to_error(struct srnic_qp *qp);

/*
 * The same after an error that no completion reports and that therefore raises an
 * event: IBTA volume 1, affiliated asynchronous errors.
 */
void srnic_qp_to_error_tell(struct srnic_qp *qp, enum ib_event_type event);

/* The same for a fault of the QP itself */
void srnic_qp_to_error_for(struct srnic_qp *qp, enum srnic_verdict verdict);

#endif /* SRNIC_XPORT_QP_STATE_H */
