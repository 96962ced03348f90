/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - requester: sending over the wire, packet by packet
 */
#ifndef SRNIC_XPORT_WIRE_H
#define SRNIC_XPORT_WIRE_H

#include "outcome.h"
#include "qp.h"

/* Sends the packet of @wqe at the cursor, or skips what need not be requested. */
enum srnic_outcome srnic_wire_send(struct srnic_qp *qp,
				   const struct srnic_swqe *wqe);

#endif /* SRNIC_XPORT_WIRE_H */
