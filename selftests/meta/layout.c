// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - the provider's view of a libibverbs that keeps comp_mask of
 * struct verbs_qp at MASK_AT, and is of rdma-core 36 or later if SINCE_36 is defined
 *
 * Prints which operations of ibv_wr_* it would offer there, or "refused".
 */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "compat.h"

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	__u32 mask;

	memcpy(&mask, (char *)qp + MASK_AT, sizeof(mask));
	return mask & VERBS_QP_EX ? (struct ibv_qp_ex *)qp : NULL;
}

#ifdef SINCE_36
int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op,
			       __u32 flags)
{
	return 0;
}
#endif

int main(void)
{
	union {
		struct verbs_qp vqp;
		char room[1024];
	} qp;

	memset(&qp, 0, sizeof(qp));
	if (!srnic_compat_init()) {
		puts("refused");
		return 0;
	}
	srnic_qp_set_ex(&qp.vqp);
	if (!ibv_qp_to_qp_ex(&qp.vqp.qp))
		return 1;
	printf("RDMA_WRITE%s%s\n",
	       srnic_qp_ex_ops() & IBV_QP_EX_WITH_ATOMIC_WRITE ?
	       " ATOMIC_WRITE" : "",
	       srnic_qp_ex_ops() & IBV_QP_EX_WITH_FLUSH ? " FLUSH" : "");
	return !(srnic_qp_ex_ops() & IBV_QP_EX_WITH_RDMA_WRITE);
}
