/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - wrapper of <rdma/rdma_user_rxe.h>: the current API on older kernels
 */
#ifndef SRNIC_COMPAT_RDMA_USER_RXE_H
#define SRNIC_COMPAT_RDMA_USER_RXE_H

#include_next <rdma/rdma_user_rxe.h>

#ifndef SRNIC_HAVE_RXE_AH
struct rxe_create_ah_resp {
	__u32	ah_num;
	__u32	reserved;
};
#endif

#endif /* SRNIC_COMPAT_RDMA_USER_RXE_H */
