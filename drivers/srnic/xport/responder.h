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
 * Sends what is left of a READ response, as far as the share goes.  True: more to
 * do, there or for what waited behind it.
 */
bool srnic_resp_run(struct srnic_qp *qp);

void srnic_resp_let_go(struct srnic_qp *qp);

/* As srnic_req_flush(). */
bool srnic_resp_flush(struct srnic_qp *qp);

void srnic_resp_reset(struct srnic_qp *qp);

#endif /* SRNIC_XPORT_RESPONDER_H */
