/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - what a peer does to memory: WRITE, READ, atomics and FLUSH
 */
#ifndef SRNIC_XPORT_RESP_RDMA_H
#define SRNIC_XPORT_RESP_RDMA_H

#include "seg.h"
#include "verdict.h"

enum srnic_outcome srnic_resp_rdma_write(struct srnic_qp *qp,
					 const struct srnic_seg *seg);

enum srnic_outcome srnic_resp_rdma_read(struct srnic_qp *qp,
					const struct srnic_seg *seg);

/* Starts to send the response to @pkt. */
enum srnic_verdict srnic_resp_rdma_read_start(struct srnic_qp *qp,
					      const struct srnic_pkt *pkt);

/* Goes on with it; as srnic_resp_run(). */
bool srnic_resp_rdma_run(struct srnic_qp *qp);

enum srnic_outcome srnic_resp_rdma_atomic(struct srnic_qp *qp,
					  const struct srnic_seg *seg);

enum srnic_outcome srnic_resp_rdma_atomic_write(struct srnic_qp *qp,
						const struct srnic_seg *seg);

enum srnic_outcome srnic_resp_rdma_flush(struct srnic_qp *qp,
					 const struct srnic_seg *seg);

/* The next packets of the READ response, @max at most, as one; or false. */
bool srnic_resp_rdma_lend(struct srnic_qp *qp, u32 max, struct srnic_lent *lent);

/* They need not be sent. */
void srnic_resp_rdma_lent(struct srnic_qp *qp, const struct srnic_lent *lent);

#endif /* SRNIC_XPORT_RESP_RDMA_H */
