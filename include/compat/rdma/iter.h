/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - wrapper of <rdma/iter.h>: the current API on older kernels
 */
#ifndef SRNIC_COMPAT_ITER_H
#define SRNIC_COMPAT_ITER_H

#ifdef SRNIC_HAVE_RDMA_ITER
#include_next <rdma/iter.h>
#else
#include <rdma/ib_umem.h>
#endif

#endif /* SRNIC_COMPAT_ITER_H */
