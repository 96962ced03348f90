/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - requester: the ways out
 */
#ifndef SRNIC_XPORT_OUT_H
#define SRNIC_XPORT_OUT_H

#include "outcome.h"
#include "qp.h"

/* Sends what is at the cursor of @wqe, one packet or what would be several. */
enum srnic_outcome srnic_out_send(struct srnic_qp *qp,
				  const struct srnic_swqe *wqe);

/* Goes on with the READ that is in progress, see struct srnic_req. */
enum srnic_outcome srnic_out_run(struct srnic_qp *qp);

#endif /* SRNIC_XPORT_OUT_H */
