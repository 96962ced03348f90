/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - loss recovery: what the flight decides, done to the send queue
 */
#ifndef SRNIC_XPORT_REQ_RECOVER_H
#define SRNIC_XPORT_REQ_RECOVER_H

#include "qp.h"

/* Does what an event of the flight asks for, and counts why. */
void srnic_req_recover(struct srnic_qp *qp, struct srnic_flight_todo todo);

/* The retransmission timer has expired. */
void srnic_req_timeout(struct srnic_qp *qp);

/* Packets were sent, or the page that the timer waited for is here. */
void srnic_req_arm(struct srnic_qp *qp, bool sent);

/* Somebody waits until all that is in flight is acknowledged: asks for an ACK. */
void srnic_req_hurry(struct srnic_qp *qp);

/*
 * What is at the cursor cannot be sent, and the work requests before it are not done.
 * True: the cursor is where their end can be asked for.
 */
bool srnic_req_refused(struct srnic_qp *qp);

#endif /* SRNIC_XPORT_REQ_RECOVER_H */
