/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - from a received GSO chain to the half of the QP that handles it
 */
#ifndef SRNIC_XPORT_RX_H
#define SRNIC_XPORT_RX_H

#include "seg.h"

/* Handles a loopback request.  SRNIC_AGAIN: it must be sent as packets. */
enum srnic_outcome srnic_rx_local(struct srnic_qp *qp,
				  const struct srnic_seg *seg);

/* Processes received packets within the task's share.  True: the share is used up. */
bool srnic_rx_run(struct srnic_qp *qp);

#endif /* SRNIC_XPORT_RX_H */
