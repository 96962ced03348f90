/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - entries in the user ABI of rdma_rxe
 */
#ifndef SRNIC_QUEUE_RXE_H
#define SRNIC_QUEUE_RXE_H

#include <rdma/rdma_user_rxe.h>

#include "queue.h"

/* Entries without SGEs and inline data */
#define SRNIC_RXE_SQE_BYTES	sizeof(struct rxe_send_wqe)
#define SRNIC_RXE_RQE_BYTES	sizeof(struct rxe_recv_wqe)

/*
 * Copies a send WQE once and converts the copy, unchecked, to @wqe->sqe.
 * Return: the SGEs or inline data in @slot, not yet read.
 */
const void *srnic_rxe_copy_sqe(struct srnic_swqe *wqe,
			       const struct rxe_send_wqe *slot);

/* Copies a receive WQE once and converts the copy, as srnic_rxe_copy_sqe() does. */
const void *srnic_rxe_copy_rqe(struct srnic_rqe *rqe,
			       const struct rxe_recv_wqe *slot);

/* Writes a completion, without the fields that the ABI lacks. */
void srnic_rxe_put_cqe(struct ib_uverbs_wc *slot, const struct srnic_cqe *cqe);

#endif /* SRNIC_QUEUE_RXE_H */
