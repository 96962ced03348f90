/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - headers and payload of what the requester sends
 */
#ifndef SRNIC_XPORT_REQ_DATA_H
#define SRNIC_XPORT_REQ_DATA_H

#include "qp.h"

/* Puts the cursor of the list of @wqe at byte @off of the message. */
enum srnic_mem_err srnic_req_place(struct srnic_qp *qp,
				   const struct srnic_swqe *wqe, u64 off);

/* Bytes [off, off + len) of the message of @wqe, to @dst. */
enum srnic_mem_err srnic_req_payload(struct srnic_qp *qp,
				     const struct srnic_swqe *wqe, u64 off,
				     void *dst, u32 len);

/* Fields of the extended headers of the packet at @off of the message. */
void srnic_req_fill(const struct srnic_swqe *wqe, u64 off,
		    struct srnic_pkt *pkt);

void srnic_req_let_go(struct srnic_qp *qp);

#endif /* SRNIC_XPORT_REQ_DATA_H */
