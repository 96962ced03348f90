/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - sending of packets
 */
#ifndef SRNIC_NET_TX_H
#define SRNIC_NET_TX_H

#include "net.h"

/* Frees the per-CPU page fragments.  The caller ensures that nothing is sent any more. */
void srnic_tx_exit(void);

#endif /* SRNIC_NET_TX_H */
