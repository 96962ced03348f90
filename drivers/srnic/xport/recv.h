/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - receives: the buffers that incoming messages are written to
 */
#ifndef SRNIC_XPORT_RECV_H
#define SRNIC_XPORT_RECV_H

#include "seg.h"
#include "verdict.h"

/* Selects the SRQ named by @pkt, which stays the same throughout a message. */
enum srnic_verdict srnic_recv_select(struct srnic_qp *qp,
				     const struct srnic_pkt *pkt);

void srnic_recv_give_back(struct srnic_qp *qp);

/* Makes sure that a receive work request is in progress, fetching one if necessary. */
enum srnic_verdict srnic_recv_need(struct srnic_qp *qp);

/* Completes the receive in progress.  False: its SRQ is gone, so nobody is notified. */
bool srnic_recv_cqe(struct srnic_qp *qp, struct srnic_cqe *cqe,
		    bool solicited);

/*
 * Is there a receive for a message of @bytes that will not be retransmitted?  Without
 * one, or if it is too short, the message is dropped and the receive is kept for the
 * next: nobody can stop the QP by sending to it.  Only a malformed receive moves the QP
 * to error.  @src: sender of the datagram; frames: NULL.
 */
bool srnic_recv_room(struct srnic_qp *qp, const struct srnic_rx_src *src,
		     u32 bytes);

/* Handles a failure to write the message to the receive: completion and QP state. */
enum srnic_outcome srnic_recv_spoil(struct srnic_qp *qp,
				    const struct srnic_rx_src *src,
				    enum srnic_outcome outcome);

/* Completes it after a whole message; deferred while key invalidations are pending. */
void srnic_recv_complete(struct srnic_qp *qp, const struct srnic_pkt *pkt,
			 u32 byte_len);

/* Completes a deferred receive if no key is pending.  True: it was completed. */
bool srnic_recv_run_late(struct srnic_qp *qp);

/* Flushes the receive queue; as srnic_req_flush() */
bool srnic_recv_flush(struct srnic_qp *qp);

#endif /* SRNIC_XPORT_RECV_H */
