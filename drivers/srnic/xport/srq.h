/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - shared receive queues that requests find by number (XRC)
 */
#ifndef SRNIC_XPORT_SRQ_H
#define SRNIC_XPORT_SRQ_H

#include "qp.h"

/* Gets a reference to SRQ @srqn of domain @xrcd; NULL: none.  Context: any. */
struct srnic_srq *srnic_srq_get(const struct ib_xrcd *xrcd, u32 srqn);

void srnic_srq_put(struct srnic_srq *srq);

/* Frees the table, which must be empty. */
void srnic_srq_exit(void);

#endif /* SRNIC_XPORT_SRQ_H */
