/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - wrapper of <trace/misc/rdma.h>: the current name on older kernels
 *
 * No include guard, like the header itself.
 */
#ifdef SRNIC_HAVE_TRACE_MISC_RDMA
#include_next <trace/misc/rdma.h>
#else
#include <trace/events/rdma.h>
#endif
