/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - loopback: two queue pairs of one device, from region to region
 */
#ifndef SRNIC_XPORT_LOOPBACK_H
#define SRNIC_XPORT_LOOPBACK_H

#include "outcome.h"
#include "qp.h"

/*
 * Executes part of @wqe without packets, if the peer is on the same device.
 * SRNIC_AGAIN: it must be sent as packets.
 */
enum srnic_outcome srnic_loopback_send(struct srnic_qp *qp,
				       const struct srnic_swqe *wqe);

/* Continues a READ; the outcome is that of srnic_loopback_send(). */
enum srnic_outcome srnic_loopback_read(struct srnic_qp *qp);

void srnic_loopback_let_go(struct srnic_qp *qp);

#endif /* SRNIC_XPORT_LOOPBACK_H */
