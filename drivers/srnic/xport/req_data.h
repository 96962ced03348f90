/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - requester: headers and payload of packets
 */
#ifndef SRNIC_XPORT_REQ_DATA_H
#define SRNIC_XPORT_REQ_DATA_H

#include "qp.h"

/* Positions the SGE list cursor of @wqe at byte @off of the message. */
enum srnic_mem_err srnic_req_place(struct srnic_qp *qp,
				   const struct srnic_swqe *wqe, u64 off);

/* Copies bytes [off, off + len) of the message of @wqe to @dst. */
enum srnic_mem_err srnic_req_payload(struct srnic_qp *qp,
				     const struct srnic_swqe *wqe, u64 off,
				     void *dst, u32 len);

/*
 * Builds the headers of a packet with the next @npsn PSNs of @wqe.  Return: offset of
 * its payload in the message.
 */
u64 srnic_req_build(const struct srnic_qp *qp, const struct srnic_swqe *wqe,
		    u32 npsn, struct srnic_pkt *pkt);

void srnic_req_let_go(struct srnic_qp *qp);

#endif /* SRNIC_XPORT_REQ_DATA_H */
