/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - size of the headers in front of the BTH
 */
#ifndef SRNIC_NET_UDP_H
#define SRNIC_NET_UDP_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>

#define SRNIC_UDP4_BYTES	(sizeof(struct iphdr) + sizeof(struct udphdr))
#define SRNIC_UDP6_BYTES	(sizeof(struct ipv6hdr) + sizeof(struct udphdr))

#endif /* SRNIC_NET_UDP_H */
