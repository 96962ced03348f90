/* SPDX-License-Identifier: GPL-2.0 */
/* srnic selftests - device and RC queue pairs of programs that are no verbs harness */
#ifndef HUNT_RC_H
#define HUNT_RC_H

#include <string.h>
#include <infiniband/verbs.h>

/* Return: NULL if there is no such device, or it cannot be opened. */
static inline struct ibv_context *rc_open(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			return ibv_open_device(list[i]);
	return NULL;
}

/* Looks for the GID of an IPv4 address.  Return: its index, or -1. */
static inline int rc_gid(struct ibv_context *ctx, union ibv_gid *gid)
{
	int i;

	for (i = 0; i < 16; i++)
		if (!ibv_query_gid(ctx, 1, i, gid) && gid->raw[10] == 0xff)
			return i;
	return -1;
}

static inline struct ibv_ah_attr rc_path(const union ibv_gid *dgid, int gid_index)
{
	return (struct ibv_ah_attr) {
		.is_global = 1,
		.port_num = 1,
		.grh = { .dgid = *dgid, .sgid_index = gid_index, .hop_limit = 64 },
	};
}

/*
 * Takes a queue pair to RTS.  @attr: path MTU, access, path and number of the other queue pair,
 * READs in flight each way.  Return: NULL, or the state that it could not enter.
 */
static inline const char *rc_connect(struct ibv_qp *qp, struct ibv_qp_attr attr)
{
	attr.qp_state = IBV_QPS_INIT;
	attr.port_num = 1;
	attr.timeout = 21;
	attr.retry_cnt = 7;
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			  IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		return "INIT";
	attr.qp_state = IBV_QPS_RTR;
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV |
			  IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		return "RTR";
	attr.qp_state = IBV_QPS_RTS;
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT |
			  IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			  IBV_QP_MAX_QP_RD_ATOMIC))
		return "RTS";
	return NULL;
}

#endif
