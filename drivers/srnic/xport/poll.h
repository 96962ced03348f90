/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - the polled doorbell
 */
#ifndef SRNIC_XPORT_POLL_H
#define SRNIC_XPORT_POLL_H

#include "qp.h"

/* Looks at the send queue from now on, as long as there is something to see. */
void srnic_poll_watch(struct srnic_qp *qp);

/* Looks no more.  Context: BH disabled or process. */
void srnic_poll_forget(struct srnic_qp *qp);

int srnic_poll_init(void);

void srnic_poll_exit(void);

#endif /* SRNIC_XPORT_POLL_H */
