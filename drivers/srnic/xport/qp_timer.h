/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - the retransmission timer of a queue pair
 */
#ifndef SRNIC_XPORT_QP_TIMER_H
#define SRNIC_XPORT_QP_TIMER_H

#include "qp.h"

void srnic_qp_timer_init(struct srnic_qp *qp);

/* Something is to be done in @nsec. */
void srnic_qp_timer_set(struct srnic_qp *qp, u64 nsec);

/* Has the time come?  Then nothing is due any more. */
bool srnic_qp_timer_is_due(struct srnic_qp *qp);

/* Stops it for good, or until it is set again.  May sleep. */
void srnic_qp_timer_stop(struct srnic_qp *qp);

#endif /* SRNIC_XPORT_QP_TIMER_H */
