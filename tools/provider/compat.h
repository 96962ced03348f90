/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic provider - differences between versions of rdma-core; only this file and
 * compat.c depend on the version
 *
 * The private ABI of libibverbs has a version number, which is part of the file name of
 * a provider.  Releases with the same number may still differ: functions get more
 * arguments, and struct ibv_qp_ex grows, which moves the members that follow it in
 * struct verbs_qp.  If these are the only differences, one binary works with all of
 * them; compat.c determines the layout at run time and rejects all other releases.
 */
#ifndef SRNIC_PROVIDER_COMPAT_H
#define SRNIC_PROVIDER_COMPAT_H

#include <config.h>

#include <stdbool.h>

#include <infiniband/driver.h>

/*
 * Determines the layout of the libibverbs that has loaded the provider.  Return: false,
 * after a message on stderr, if the provider is not compatible with it.
 */
bool srnic_compat_init(void);

/* Sets VERBS_QP_EX in comp_mask, wherever this libibverbs has it. */
void srnic_qp_set_ex(struct verbs_qp *vqp);

/* IBV_QP_EX_WITH_* operations for which libibverbs' struct ibv_qp_ex has a callback */
uint64_t srnic_qp_ex_ops(void);

/*
 * Function types with the arguments of all releases.  By the calling conventions of
 * Linux, a function that takes fewer arguments ignores the others.
 */
typedef int (*srnic_create_qp_ex2_fn)(struct ibv_context *ctx,
				      struct verbs_qp *qp,
				      struct ibv_qp_init_attr_ex *attr,
				      struct ibv_create_qp_ex *cmd,
				      size_t cmd_size,
				      struct ib_uverbs_ex_create_qp_resp *resp,
				      size_t resp_size,
				      struct ibv_command_buffer *driver);
typedef int (*srnic_reg_dmabuf_mr_fn)(struct ibv_pd *pd, uint64_t offset,
				      size_t length, uint64_t iova, int fd,
				      int access, struct verbs_mr *vmr,
				      struct ibv_command_buffer *driver);

/* An entry in the table of operations, if this release is known to have it */
#if IBVERBS_PABI_VERSION >= 65
#define SRNIC_QUERY_PORT_SPEED	.query_port_speed = ibv_cmd_query_port_speed,
#else
#define SRNIC_QUERY_PORT_SPEED
#endif

static inline int srnic_cmd_get_context(struct verbs_context *vctx,
					struct ibv_get_context *cmd, size_t cmd_size,
					struct ib_uverbs_get_context_resp *resp,
					size_t resp_size)
{
#if IBVERBS_PABI_VERSION >= 57
	return ibv_cmd_get_context(vctx, cmd, cmd_size, NULL, resp, resp_size);
#else
	return ibv_cmd_get_context(vctx, cmd, cmd_size, resp, resp_size);
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
	srnic_create_qp_ex2_fn create =
		(srnic_create_qp_ex2_fn)(void (*)(void))ibv_cmd_create_qp_ex2;

	return create(ctx, qp, attr, cmd, cmd_size, resp, resp_size, NULL);
}

static inline int
srnic_cmd_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
			uint64_t iova, int fd, int access, struct verbs_mr *vmr)
{
	srnic_reg_dmabuf_mr_fn reg =
		(srnic_reg_dmabuf_mr_fn)(void (*)(void))ibv_cmd_reg_dmabuf_mr;

	return reg(pd, offset, length, iova, fd, access, vmr, NULL);
}

#endif /* SRNIC_PROVIDER_COMPAT_H */
