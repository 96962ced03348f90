/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - delivery: from the softirq that receives a packet to the queue of its QP
 */
#ifndef SRNIC_XPORT_DELIVER_H
#define SRNIC_XPORT_DELIVER_H

#include "qp.h"

extern const struct srnic_rx_ops srnic_xport_rx_ops;

#endif /* SRNIC_XPORT_DELIVER_H */
