/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - failures: what a queue pair was doing when it left service
 *
 * The functions describe a failure for srnic_qp_blame(); they run once in the life of a
 * queue pair.
 */
#ifndef SRNIC_XPORT_FAILURE_H
#define SRNIC_XPORT_FAILURE_H

#include "outcome.h"
#include "qp.h"

/* Operations: families, followed by memops */
enum srnic_failure_op {
	SRNIC_FAILURE_MEMOP = SRNIC_FAM_CNP,
};

/* The request @pkt of the peer failed with @outcome. */
void srnic_failure_of_request(struct srnic_failure *failure,
			      struct srnic_qp *qp, const struct srnic_pkt *pkt,
			      enum srnic_outcome outcome);

/* The rest of the READ response in progress cannot be read. */
void srnic_failure_of_read(struct srnic_failure *failure,
			   const struct srnic_resp *resp,
			   enum srnic_outcome outcome);

/* A datagram from @src, or a frame if that is NULL, cannot be received. */
void srnic_failure_of_receive(struct srnic_failure *failure,
			      struct srnic_qp *qp,
			      const struct srnic_rx_src *src,
			      enum srnic_outcome outcome);

/* The work request @wqe failed. */
void srnic_failure_of_wqe(struct srnic_failure *failure, struct srnic_qp *qp,
			  const struct srnic_swqe *wqe,
			  enum srnic_outcome outcome);

/* Words for "rdma resource" and trace points; "none" if there is nothing to say. */
const char *srnic_failure_op(const struct srnic_failure *failure);
const char *srnic_failure_memory(const struct srnic_failure *failure);

/* Lists the failure, if there is one, for "rdma resource". */
void srnic_failure_look(const struct srnic_failure *failure,
			struct srnic_look *look);

#endif /* SRNIC_XPORT_FAILURE_H */
