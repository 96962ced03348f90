/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - bursts: packets of one receiver that arrive together
 */
#ifndef SRNIC_NET_BURST_H
#define SRNIC_NET_BURST_H

/* May sleep.  Return: 0 or -ENOMEM. */
int srnic_burst_init(void);
void srnic_burst_exit(void);

#endif /* SRNIC_NET_BURST_H */
