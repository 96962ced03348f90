/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - work requests that change what a key names and send nothing
 */
#ifndef SRNIC_XPORT_MEMOP_H
#define SRNIC_XPORT_MEMOP_H

#include "qp.h"

bool srnic_memop_is(const struct srnic_swqe *wqe);

/*
 * Goes on with a work request that changes keys and sends nothing; what went
 * wrong is in its status.  False: not now, the task is kicked when it can be.
 */
bool srnic_memop_run(struct srnic_qp *qp, struct srnic_swqe *wqe);

#endif /* SRNIC_XPORT_MEMOP_H */
