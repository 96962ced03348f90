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

/*
 * Gets a reference to the first QP, from number @qpn on, for which @wanted returns
 * true; NULL: none.
 */
struct srnic_qp *srnic_qp_find(u32 qpn,
			       bool (*wanted)(const struct srnic_qp *qp,
					      const void *arg),
			       const void *arg);

/* Waits until the memory of all QPs has been freed.  May sleep. */
void srnic_qp_table_exit(void);

#endif /* SRNIC_XPORT_QP_TABLE_H */
