/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - receives: what a message that arrives lands in
 */
#ifndef SRNIC_XPORT_RECV_H
#define SRNIC_XPORT_RECV_H

#include "seg.h"
#include "verdict.h"

/* Turns to the SRQ of @pkt, which stays the same throughout a message. */
enum srnic_verdict srnic_recv_select(struct srnic_qp *qp,
				     const struct srnic_pkt *pkt);

void srnic_recv_give_back(struct srnic_qp *qp);

/* Makes sure that a receive work request is at hand. */
enum srnic_verdict srnic_recv_need(struct srnic_qp *qp);

/* Completes the receive at hand.  False: its SRQ is gone, no one is told. */
bool srnic_recv_cqe(struct srnic_qp *qp, struct srnic_cqe *cqe,
		    bool solicited);

/*
 * Is there a receive for a message of @bytes that nobody will repeat?  What has
 * none, or one that is too short, is dropped and the receive waits for the next:
 * nobody can stop the QP by sending to it.  Only receives that are bad in
 * themselves do.
 */
bool srnic_recv_room(struct srnic_qp *qp, u32 bytes);

/* The message could not be put into it: what becomes of it, and of the QP. */
enum srnic_outcome srnic_recv_spoil(struct srnic_qp *qp,
				    enum srnic_outcome outcome);

/* Completes it for a message that is whole, or later if a key must go first. */
void srnic_recv_complete(struct srnic_qp *qp, const struct srnic_pkt *pkt,
			 u32 byte_len);

/* Later is now if the key is gone; true: it was. */
bool srnic_recv_run_late(struct srnic_qp *qp);

/* As srnic_req_flush(). */
bool srnic_recv_flush(struct srnic_qp *qp);

#endif /* SRNIC_XPORT_RECV_H */
