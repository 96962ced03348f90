/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - wrapper of <net/gso.h>: the current API on older kernels
 */
#ifndef SRNIC_COMPAT_GSO_H
#define SRNIC_COMPAT_GSO_H

#ifdef SRNIC_HAVE_NET_GSO
#include_next <net/gso.h>
#else
#include <linux/netdevice.h>
#endif

#endif /* SRNIC_COMPAT_GSO_H */
