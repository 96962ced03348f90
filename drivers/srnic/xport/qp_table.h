/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - queue pairs by number, and the lifetime of their memory
 */
#ifndef SRNIC_XPORT_QP_TABLE_H
#define SRNIC_XPORT_QP_TABLE_H

#include "qp.h"

/* Looks up a QP and keeps it from being destroyed.  Context: RCU. */
struct srnic_qp *srnic_qp_get(struct net *net, u32 qpn);

void srnic_qp_put(struct srnic_qp *qp);

void srnic_qp_free(struct kref *ref);

/*
 * Assigns an unpredictable number to the QP without letting packets find it.  May
 * sleep.  0, -ENOMEM or -ENOSPC.
 */
int srnic_qp_reserve(struct srnic_qp *qp);

/*
 * Lets packets find the QP.  From then on references may be held, and its memory counts
 * as alive.
 */
void srnic_qp_publish(struct srnic_qp *qp);

/* Releases the number of a QP, published or not. */
void srnic_qp_unpublish(struct srnic_qp *qp);

/* Ties the QP to @ndev, or to none if that is NULL, in place of the netdev so far. */
void srnic_qp_tie(struct srnic_qp *qp, struct srnic_tie *tie,
		  const struct net_device *ndev);

/*
 * A walk over the QPs with a tie to a netdev.  Those that are tied to it meanwhile are not
 * part of it.
 */
u64 srnic_qp_walk(void);

/* Gets a reference to a QP that @walk has not come to; NULL: there is no more. */
struct srnic_qp *srnic_qp_next(const struct net_device *ndev, u64 walk);

/* Waits until the memory of all QPs has been freed.  May sleep. */
void srnic_qp_table_exit(void);

#endif /* SRNIC_XPORT_QP_TABLE_H */
