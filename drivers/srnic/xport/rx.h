/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - from a received run of packets to the half of the QP it is for
 */
#ifndef SRNIC_XPORT_RX_H
#define SRNIC_XPORT_RX_H

#include "seg.h"

/* A request that came without a packet.  SRNIC_AGAIN: not this way. */
enum srnic_outcome srnic_rx_local(struct srnic_qp *qp,
				  const struct srnic_seg *seg);

/* Packets that came, as far as the share goes.  True: it is used up. */
bool srnic_rx_run(struct srnic_qp *qp);

#endif /* SRNIC_XPORT_RX_H */
