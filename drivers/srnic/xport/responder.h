/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - responder: packet in, memory touched, reply out
 */
#ifndef SRNIC_XPORT_RESPONDER_H
#define SRNIC_XPORT_RESPONDER_H

#include "seg.h"

enum srnic_outcome srnic_resp_packet(struct srnic_qp *qp,
				     const struct srnic_seg *seg);

/*
 * Completes a deferred receive, or sends the rest of a READ response within the share.
 * True: more to do, for that or for packets that waited behind it.
 */
bool srnic_resp_run(struct srnic_qp *qp);

void srnic_resp_let_go(struct srnic_qp *qp);

/* Flushes the receive queue; as srnic_req_flush() */
bool srnic_resp_flush(struct srnic_qp *qp);

void srnic_resp_reset(struct srnic_qp *qp);

#endif /* SRNIC_XPORT_RESPONDER_H */
