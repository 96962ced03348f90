// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - the template of the packets of a queue pair
 */
#include "qp.h"
#include "qp_pkt.h"

void srnic_qp_pkt(const struct srnic_qp *qp, struct srnic_pkt *pkt, u8 opcode,
		  u32 psn)
{
	memset(pkt, 0, sizeof(*pkt));
	pkt->opcode = qp->transport | opcode;
	pkt->migreq = true;
	pkt->pkey = SRNIC_PKEY_DEFAULT;
	pkt->qpn = qp->conf.dest_qpn;
	pkt->psn = psn;
}
