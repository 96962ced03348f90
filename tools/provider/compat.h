/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic provider - calls that differ between the private ABIs of libibverbs;
 * no other file asks which one it is
 */
#ifndef SRNIC_PROVIDER_COMPAT_H
#define SRNIC_PROVIDER_COMPAT_H

#include <config.h>

#include <infiniband/driver.h>

static inline int srnic_cmd_get_context(struct verbs_context *vctx,
					struct ib_uverbs_get_context_resp *resp,
					size_t resp_size)
{
	struct ibv_get_context cmd;

#if IBVERBS_PABI_VERSION >= 57
	return ibv_cmd_get_context(vctx, &cmd, sizeof(cmd), NULL, resp,
				   resp_size);
#else
	return ibv_cmd_get_context(vctx, &cmd, sizeof(cmd), resp, resp_size);
#endif
}

static inline int
srnic_cmd_create_cq_ex(struct ibv_context *ctx,
		       const struct ibv_cq_init_attr_ex *attr,
		       struct verbs_cq *cq,
		       struct ib_uverbs_ex_create_cq_resp *resp,
		       size_t resp_size)
{
	struct ibv_create_cq_ex cmd = {};

#if IBVERBS_PABI_VERSION >= 59
	return ibv_cmd_create_cq_ex(ctx, attr, NULL, cq, &cmd, sizeof(cmd),
				    resp, resp_size,
				    CREATE_CQ_CMD_FLAGS_TS_IGNORED_EX);
#else
	return ibv_cmd_create_cq_ex(ctx, attr, cq, &cmd, sizeof(cmd), resp,
				    resp_size,
				    CREATE_CQ_CMD_FLAGS_TS_IGNORED_EX);
#endif
}

static inline int
srnic_cmd_create_qp_ex(struct ibv_context *ctx, struct verbs_qp *qp,
		       struct ibv_qp_init_attr_ex *attr,
		       struct ibv_create_qp_ex *cmd, size_t cmd_size,
		       struct ib_uverbs_ex_create_qp_resp *resp,
		       size_t resp_size)
{
#if IBVERBS_PABI_VERSION >= 65
	return ibv_cmd_create_qp_ex2(ctx, qp, attr, cmd, cmd_size, resp,
				     resp_size, NULL);
#else
	return ibv_cmd_create_qp_ex2(ctx, qp, attr, cmd, cmd_size, resp,
				     resp_size);
#endif
}

static inline int
srnic_cmd_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
			uint64_t iova, int fd, int access, struct verbs_mr *vmr)
{
#if SRNIC_RDMA_CORE > 44
	return ibv_cmd_reg_dmabuf_mr(pd, offset, length, iova, fd, access, vmr,
				     NULL);
#else
	return ibv_cmd_reg_dmabuf_mr(pd, offset, length, iova, fd, access, vmr);
#endif
}

/* FLUSH came after rdma-core 44. */
typedef void (*srnic_wr_flush_fn)(struct ibv_qp_ex *ex, uint32_t rkey,
				  uint64_t remote_addr, size_t len,
				  uint8_t type, uint8_t level);

#if SRNIC_RDMA_CORE > 44
#define SRNIC_OPS_FLUSH	IBV_QP_EX_WITH_FLUSH
#else
#define SRNIC_OPS_FLUSH	0
#endif

static inline void srnic_set_wr_flush(struct ibv_qp_ex *ex,
				      srnic_wr_flush_fn fn)
{
#if SRNIC_RDMA_CORE > 44
	ex->wr_flush = fn;
#else
	(void)ex;
	(void)fn;
#endif
}

#endif /* SRNIC_PROVIDER_COMPAT_H */
