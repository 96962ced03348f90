/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - requester: sending by loopback or as packets
 */
#ifndef SRNIC_XPORT_OUT_H
#define SRNIC_XPORT_OUT_H

#include "outcome.h"
#include "qp.h"

/* Sends the part of @wqe at the cursor: one packet, or by loopback several at once. */
enum srnic_outcome srnic_out_send(struct srnic_qp *qp,
				  const struct srnic_swqe *wqe);

/* Continues the loopback READ in progress, see struct srnic_req. */
enum srnic_outcome srnic_out_run(struct srnic_qp *qp);

#endif /* SRNIC_XPORT_OUT_H */
