/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - memory accesses by the peer: WRITE, READ, atomics and FLUSH
 */
#ifndef SRNIC_XPORT_RESP_RDMA_H
#define SRNIC_XPORT_RESP_RDMA_H

#include "seg.h"
#include "verdict.h"

enum srnic_outcome srnic_resp_rdma_write(struct srnic_qp *qp,
					 const struct srnic_seg *seg);

enum srnic_outcome srnic_resp_rdma_read(struct srnic_qp *qp,
					const struct srnic_seg *seg);

/* Prepares to send the response to the READ request @pkt. */
enum srnic_outcome srnic_resp_rdma_read_start(struct srnic_qp *qp,
					      const struct srnic_pkt *pkt);

/*
 * Takes back a READ whose response has not begun, and drops one that is repeated, as the QP
 * fails or is reset: what was executed before it can be acknowledged then.
 */
void srnic_resp_rdma_forgo(struct srnic_qp *qp);

/* Continues the response; as srnic_resp_run() */
bool srnic_resp_rdma_run(struct srnic_qp *qp);

enum srnic_outcome srnic_resp_rdma_atomic(struct srnic_qp *qp,
					  const struct srnic_seg *seg);

enum srnic_outcome srnic_resp_rdma_atomic_write(struct srnic_qp *qp,
						const struct srnic_seg *seg);

enum srnic_outcome srnic_resp_rdma_flush(struct srnic_qp *qp,
					 const struct srnic_seg *seg);

/* Provides up to @max packets of the READ response as one; false: not available. */
bool srnic_resp_rdma_lend(struct srnic_qp *qp, u32 max, struct srnic_lent *lent);

/* Marks the packets provided as delivered. */
void srnic_resp_rdma_lent(struct srnic_qp *qp, const struct srnic_lent *lent);

#endif /* SRNIC_XPORT_RESP_RDMA_H */
