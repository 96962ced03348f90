/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - wrapper of <net/ip6_fib.h>: the current API on older kernels
 */
#ifndef SRNIC_COMPAT_IP6_FIB_H
#define SRNIC_COMPAT_IP6_FIB_H

#include_next <net/ip6_fib.h>

#ifndef dst_rt6_info
#define dst_rt6_info(dst_entry)	container_of(dst_entry, struct rt6_info, dst)
#endif

#endif /* SRNIC_COMPAT_IP6_FIB_H */
