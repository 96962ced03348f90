/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - packets that are sent
 */
#ifndef SRNIC_NET_TX_H
#define SRNIC_NET_TX_H

#include "net.h"

/* Frees what the sender keeps; nobody sends any more. */
void srnic_tx_exit(void);

#endif /* SRNIC_NET_TX_H */
