/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - the polled doorbell
 */
#ifndef SRNIC_XPORT_POLL_H
#define SRNIC_XPORT_POLL_H

#include "qp.h"

/* Starts watching the send queue, for as long as it is in use. */
void srnic_poll_watch(struct srnic_qp *qp);

/* Stops watching the send queue.  Context: BH disabled or process. */
void srnic_poll_forget(struct srnic_qp *qp);

int srnic_poll_init(void);

void srnic_poll_exit(void);

#endif /* SRNIC_XPORT_POLL_H */
