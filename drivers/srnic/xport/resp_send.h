/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - the responder of SEND
 */
#ifndef SRNIC_XPORT_RESP_SEND_H
#define SRNIC_XPORT_RESP_SEND_H

#include "seg.h"
#include "verdict.h"

enum srnic_outcome srnic_resp_send(struct srnic_qp *qp,
				   const struct srnic_seg *seg);

#endif /* SRNIC_XPORT_RESP_SEND_H */
