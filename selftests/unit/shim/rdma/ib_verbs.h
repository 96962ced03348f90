/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - the kernel's names of the verbs' numbers for tests in user space
 */
#ifndef SRNIC_SHIM_RDMA_IB_VERBS_H
#define SRNIC_SHIM_RDMA_IB_VERBS_H

#include <infiniband/verbs.h>

#define ib_qp_type			ibv_qp_type
#define IB_QPT_RC			IBV_QPT_RC
#define IB_QPT_UC			IBV_QPT_UC
#define IB_QPT_UD			IBV_QPT_UD
#define IB_QPT_RAW_PACKET		IBV_QPT_RAW_PACKET
#define IB_QPT_XRC_INI			IBV_QPT_XRC_SEND
#define IB_QPT_GSI			1

#define IB_WR_RDMA_WRITE		IBV_WR_RDMA_WRITE
#define IB_WR_RDMA_WRITE_WITH_IMM	IBV_WR_RDMA_WRITE_WITH_IMM
#define IB_WR_SEND			IBV_WR_SEND
#define IB_WR_SEND_WITH_IMM		IBV_WR_SEND_WITH_IMM
#define IB_WR_RDMA_READ			IBV_WR_RDMA_READ
#define IB_WR_ATOMIC_CMP_AND_SWP	IBV_WR_ATOMIC_CMP_AND_SWP
#define IB_WR_ATOMIC_FETCH_AND_ADD	IBV_WR_ATOMIC_FETCH_AND_ADD
#define IB_WR_LOCAL_INV			IBV_WR_LOCAL_INV
#define IB_WR_BIND_MW			IBV_WR_BIND_MW
#define IB_WR_SEND_WITH_INV		IBV_WR_SEND_WITH_INV
/* younger than the oldest rdma-core */
#define IB_WR_FLUSH			14
#define IB_WR_ATOMIC_WRITE		15
/* the kernel's own */
#define IB_WR_REG_MR			32

#define IB_SEND_INLINE			IBV_SEND_INLINE

#define ib_wc_status			ibv_wc_status
#define IB_WC_SUCCESS			IBV_WC_SUCCESS
#define IB_WC_LOC_LEN_ERR		IBV_WC_LOC_LEN_ERR
#define IB_WC_LOC_QP_OP_ERR		IBV_WC_LOC_QP_OP_ERR

#define IB_ACCESS_LOCAL_WRITE		IBV_ACCESS_LOCAL_WRITE
#define IB_ACCESS_REMOTE_WRITE		IBV_ACCESS_REMOTE_WRITE
#define IB_ACCESS_REMOTE_READ		IBV_ACCESS_REMOTE_READ
#define IB_ACCESS_REMOTE_ATOMIC		IBV_ACCESS_REMOTE_ATOMIC
#define IB_ACCESS_MW_BIND		IBV_ACCESS_MW_BIND
#define IB_ZERO_BASED			IBV_ACCESS_ZERO_BASED
/* younger than the oldest rdma-core */
#define IB_ACCESS_FLUSH_GLOBAL		(1 << 8)
#define IB_ACCESS_FLUSH_PERSISTENT	(1 << 9)
#define IB_ACCESS_SUPPORTED		0x3ff

#endif /* SRNIC_SHIM_RDMA_IB_VERBS_H */
