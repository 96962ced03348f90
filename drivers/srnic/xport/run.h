/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - one run of the task of a queue pair
 */
#ifndef SRNIC_XPORT_RUN_H
#define SRNIC_XPORT_RUN_H

#include "../exec/task.h"

/* All that a QP ever does, once each, within its share of the run. */
bool srnic_qp_run(struct srnic_task *task);

#endif /* SRNIC_XPORT_RUN_H */
