/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - memops: work requests that change a key and send nothing
 */
#ifndef SRNIC_XPORT_MEMOP_H
#define SRNIC_XPORT_MEMOP_H

#include "outcome.h"
#include "qp.h"
#include "wr.h"

/* Is @wqe a memop? */
static inline bool srnic_memop_is(const struct srnic_swqe *wqe)
{
	return srnic_wr_of(wqe)->memop != SRNIC_MEMOP_NONE;
}

/* Executes the memop @wqe, or continues it. */
enum srnic_outcome srnic_memop_run(struct srnic_qp *qp, struct srnic_swqe *wqe);

#endif /* SRNIC_XPORT_MEMOP_H */
