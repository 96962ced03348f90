/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - two queue pairs of one device: from region to region, no packets
 */
#ifndef SRNIC_XPORT_LOOPBACK_H
#define SRNIC_XPORT_LOOPBACK_H

#include "outcome.h"
#include "qp.h"

/*
 * Does without packets a piece of @wqe, for a peer on the same device.  SRNIC_AGAIN:
 * it must go by packets.
 */
enum srnic_outcome srnic_loopback_send(struct srnic_qp *qp,
				       const struct srnic_swqe *wqe);

/* Goes on with a READ; the same. */
enum srnic_outcome srnic_loopback_read(struct srnic_qp *qp);

void srnic_loopback_let_go(struct srnic_qp *qp);

#endif /* SRNIC_XPORT_LOOPBACK_H */
