/* SPDX-License-Identifier: GPL-2.0 */
/* srnic - the kernel's names of verbs constants, for tests in user space */
#ifndef SRNIC_SHIM_RDMA_IB_VERBS_H
#define SRNIC_SHIM_RDMA_IB_VERBS_H

#include <infiniband/verbs.h>
#include <linux/types.h>

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
/* not defined by the oldest rdma-core */
#define IB_WR_FLUSH			14
#define IB_WR_ATOMIC_WRITE		15
/* defined by the kernel only */
#define IB_WR_MASKED_ATOMIC_CMP_AND_SWP		12
#define IB_WR_MASKED_ATOMIC_FETCH_AND_ADD	13
#define IB_WR_REG_MR			32

#define IB_SEND_FENCE			IBV_SEND_FENCE
#define IB_SEND_SIGNALED		IBV_SEND_SIGNALED
#define IB_SEND_SOLICITED		IBV_SEND_SOLICITED
#define IB_SEND_INLINE			IBV_SEND_INLINE

#define IB_UVERBS_WC_SEND		IBV_WC_SEND
#define IB_UVERBS_WC_RDMA_WRITE		IBV_WC_RDMA_WRITE
#define IB_UVERBS_WC_RDMA_READ		IBV_WC_RDMA_READ
#define IB_UVERBS_WC_COMP_SWAP		IBV_WC_COMP_SWAP
#define IB_UVERBS_WC_FETCH_ADD		IBV_WC_FETCH_ADD
#define IB_UVERBS_WC_BIND_MW		IBV_WC_BIND_MW
#define IB_UVERBS_WC_LOCAL_INV		IBV_WC_LOCAL_INV
/* not defined by the oldest rdma-core */
#define IB_UVERBS_WC_FLUSH		8
#define IB_UVERBS_WC_ATOMIC_WRITE	9
/* defined by the kernel only */
#define IB_WC_REG_MR			10
#define IB_WC_MASKED_COMP_SWAP		11
#define IB_WC_MASKED_FETCH_ADD		12

#define ib_wc_status			ibv_wc_status
#define IB_WC_SUCCESS			IBV_WC_SUCCESS
#define IB_WC_RECV			IBV_WC_RECV
#define IB_WC_LOC_LEN_ERR		IBV_WC_LOC_LEN_ERR
#define IB_WC_LOC_QP_OP_ERR		IBV_WC_LOC_QP_OP_ERR

#define IB_ACCESS_LOCAL_WRITE		IBV_ACCESS_LOCAL_WRITE
#define IB_ACCESS_REMOTE_WRITE		IBV_ACCESS_REMOTE_WRITE
#define IB_ACCESS_REMOTE_READ		IBV_ACCESS_REMOTE_READ
#define IB_ACCESS_REMOTE_ATOMIC		IBV_ACCESS_REMOTE_ATOMIC
#define IB_ACCESS_MW_BIND		IBV_ACCESS_MW_BIND
#define IB_ZERO_BASED			IBV_ACCESS_ZERO_BASED
/* not defined by the oldest rdma-core */
#define IB_ACCESS_FLUSH_GLOBAL		(1 << 8)
#define IB_ACCESS_FLUSH_PERSISTENT	(1 << 9)
#define IB_ACCESS_SUPPORTED		0x3ff

/* <rdma/signature.h> */

enum ib_signature_type {
	IB_SIG_TYPE_NONE,
	IB_SIG_TYPE_T10_DIF,
};

enum ib_t10_dif_bg_type {
	IB_T10DIF_CRC,
	IB_T10DIF_CSUM,
};

enum ib_sig_err_type {
	IB_SIG_BAD_GUARD,
	IB_SIG_BAD_REFTAG,
	IB_SIG_BAD_APPTAG,
};

#define IB_SIG_CHECK_GUARD		0xc0
#define IB_SIG_CHECK_APPTAG		0x30
#define IB_SIG_CHECK_REFTAG		0x0f

struct ib_t10_dif_domain {
	enum ib_t10_dif_bg_type	bg_type;
	u16			pi_interval;
	u16			bg;
	u16			app_tag;
	u32			ref_tag;
	bool			ref_remap;
	bool			app_escape;
	bool			ref_escape;
	u16			apptag_check_mask;
};

struct ib_sig_domain {
	enum ib_signature_type	sig_type;
	union {
		struct ib_t10_dif_domain dif;
	} sig;
};

struct ib_sig_attrs {
	u8			check_mask;
	struct ib_sig_domain	mem;
	struct ib_sig_domain	wire;
	int			meta_length;
};

struct ib_sig_err {
	enum ib_sig_err_type	err_type;
	u32			expected;
	u32			actual;
	u64			sig_err_offset;
	u32			key;
};

#endif /* SRNIC_SHIM_RDMA_IB_VERBS_H */
