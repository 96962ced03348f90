/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - keys that a queue pair invalidates, and the wait for accesses in progress
 */
#ifndef SRNIC_XPORT_INV_H
#define SRNIC_XPORT_INV_H

#include "qp.h"

void srnic_inv_init(struct srnic_qp *qp);

/* Called before and after a function that may keep @qp->inv_wait to wake later. */
void srnic_inv_expect(struct srnic_qp *qp);
void srnic_inv_settle(struct srnic_qp *qp, enum srnic_mem_err err);

/* Invalidates @key on behalf of @qp; pending while accesses by it are in progress. */
enum srnic_mem_err srnic_inv_key(struct srnic_qp *qp, u32 key);

static inline bool srnic_inv_pending(const struct srnic_qp *qp)
{
	return atomic_read_acquire(&qp->inv_pending);
}

#endif /* SRNIC_XPORT_INV_H */
