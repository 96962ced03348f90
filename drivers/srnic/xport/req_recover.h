/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - loss recovery: applies the decisions of the flight to the send queue
 */
#ifndef SRNIC_XPORT_REQ_RECOVER_H
#define SRNIC_XPORT_REQ_RECOVER_H

#include "qp.h"

/* Carries out what an event of the flight requires, and counts its cause. */
void srnic_req_recover(struct srnic_qp *qp, struct srnic_flight_todo todo);

/* Handles the expiry of the retransmission timer. */
void srnic_req_timeout(struct srnic_qp *qp);

/* Starts the timer if packets were @sent, or once the page it was off for is there. */
void srnic_req_arm(struct srnic_qp *qp, bool sent);

/* Requests an ACK, for whoever waits until everything in flight is acknowledged. */
void srnic_req_hurry(struct srnic_qp *qp);

/*
 * The work request at the cursor cannot be sent, and those before it are not complete.
 * True: the cursor was moved to where their acknowledgment can be requested.
 */
bool srnic_req_refused(struct srnic_qp *qp);

#endif /* SRNIC_XPORT_REQ_RECOVER_H */
