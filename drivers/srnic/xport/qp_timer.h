/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - the timer of a queue pair: retransmissions and delayed ACKs
 */
#ifndef SRNIC_XPORT_QP_TIMER_H
#define SRNIC_XPORT_QP_TIMER_H

#include "qp.h"

void srnic_qp_timer_init(struct srnic_qp *qp);

/* Sets the timer to the deadlines of the flight and of an ACK that waits, if there are any. */
void srnic_qp_timer_sync(struct srnic_qp *qp);

/* Has the timer fired, and has the deadline of the flight passed? */
bool srnic_qp_timer_is_due(struct srnic_qp *qp);

/* Stops the timer, until it is set again.  May sleep. */
void srnic_qp_timer_stop(struct srnic_qp *qp);

#endif /* SRNIC_XPORT_QP_TIMER_H */
