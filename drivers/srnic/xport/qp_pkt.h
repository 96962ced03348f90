/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - the template of the packets of a queue pair
 */
#ifndef SRNIC_XPORT_QP_PKT_H
#define SRNIC_XPORT_QP_PKT_H

#include "qp.h"

/* Fills in what all packets of the QP have in common. */
void srnic_qp_pkt(const struct srnic_qp *qp, struct srnic_pkt *pkt, u8 opcode,
		  u32 psn);

#endif /* SRNIC_XPORT_QP_PKT_H */
