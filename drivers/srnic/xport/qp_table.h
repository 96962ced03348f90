/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - queue pairs by number, and how long their memory stays
 */
#ifndef SRNIC_XPORT_QP_TABLE_H
#define SRNIC_XPORT_QP_TABLE_H

#include "qp.h"

/* Looks a QP up and keeps it from being destroyed.  Context: RCU. */
struct srnic_qp *srnic_qp_get(struct net *net, u32 qpn);

void srnic_qp_put(struct srnic_qp *qp);

void srnic_qp_free(struct kref *ref);

/*
 * Gives the QP a number, which nobody can guess, without letting packets find it.
 * May sleep.  0, -ENOMEM or -ENOSPC.
 */
int srnic_qp_reserve(struct srnic_qp *qp);

/*
 * Lets packets find it.  From then on somebody may hold it, and its memory counts
 * as alive.
 */
void srnic_qp_publish(struct srnic_qp *qp);

/* Takes the number back, of a QP that is published or not. */
void srnic_qp_unpublish(struct srnic_qp *qp);

/*
 * Holds the first QP, from number @qpn on, that @wanted says yes to; NULL: there is
 * none.
 */
struct srnic_qp *srnic_qp_find(u32 qpn,
			       bool (*wanted)(const struct srnic_qp *qp,
					      const void *arg),
			       const void *arg);

/* Waits for the end of all memory of QPs.  May sleep. */
void srnic_qp_table_exit(void);

#endif /* SRNIC_XPORT_QP_TABLE_H */
