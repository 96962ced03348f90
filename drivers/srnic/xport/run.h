/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - one run of the task of a queue pair
 */
#ifndef SRNIC_XPORT_RUN_H
#define SRNIC_XPORT_RUN_H

#include "../exec/task.h"

/* Does all kinds of work of a QP once, each within its share.  True: more to do. */
bool srnic_qp_run(struct srnic_task *task);

#endif /* SRNIC_XPORT_RUN_H */
