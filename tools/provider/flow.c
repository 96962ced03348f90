// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic provider - flows and their counters
 *
 * The kernel counts the frames and bytes of a flow; ibv_attach_counters_point_flow()
 * chooses the index of each in the array that ibv_read_counters() fills.
 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "srnic.h"

/* Number of indices in a counters object */
#define COUNTERS_PLACES	16

/**
 * struct srnic_counters - counters of flows
 * @vcounters: libibverbs' part
 * @what: enum ibv_counter_description of each index, or COUNTERS_NONE
 * @num: highest index used plus one
 * @lock: protects @what, and changes of @num
 */
struct srnic_counters {
	struct verbs_counters	vcounters;
	int			what[COUNTERS_PLACES];
	uint32_t		num;
	pthread_spinlock_t	lock;
};

#define COUNTERS_NONE	(-1)
#define COUNTERS_KINDS	2

static struct srnic_counters *to_srnic_counters(struct ibv_counters *counters)
{
	return container_of(counters, struct srnic_counters,
			    vcounters.counters);
}

struct ibv_flow *srnic_create_flow(struct ibv_qp *qp,
				   struct ibv_flow_attr *attr)
{
	struct ibv_flow *flow;
	int err;

	flow = calloc(1, sizeof(*flow));
	if (!flow)
		return NULL;
	err = ibv_cmd_create_flow(qp, flow, attr, NULL, 0);
	if (err) {
		free(flow);
		errno = err;
		return NULL;
	}

	return flow;
}

int srnic_destroy_flow(struct ibv_flow *flow)
{
	int err = ibv_cmd_destroy_flow(flow);

	if (!err)
		free(flow);

	return err;
}

struct ibv_counters *srnic_create_counters(struct ibv_context *ctx,
					   struct ibv_counters_init_attr *attr)
{
	struct srnic_counters *counters;
	int err, i;

	if (!check_comp_mask(attr->comp_mask, 0)) {
		errno = EOPNOTSUPP;
		return NULL;
	}

	counters = calloc(1, sizeof(*counters));
	if (!counters)
		return NULL;
	for (i = 0; i < COUNTERS_PLACES; i++)
		counters->what[i] = COUNTERS_NONE;
	pthread_spin_init(&counters->lock, PTHREAD_PROCESS_PRIVATE);
	err = ibv_cmd_create_counters(ctx, attr, &counters->vcounters, NULL);
	if (err) {
		pthread_spin_destroy(&counters->lock);
		free(counters);
		errno = err;
		return NULL;
	}

	return &counters->vcounters.counters;
}

int srnic_destroy_counters(struct ibv_counters *ibcounters)
{
	struct srnic_counters *counters = to_srnic_counters(ibcounters);
	int err = ibv_cmd_destroy_counters(&counters->vcounters);

	if (err)
		return err;
	pthread_spin_destroy(&counters->lock);
	free(counters);

	return 0;
}

/* Counters sum over all flows attached to them; a single @flow cannot be selected. */
int srnic_attach_counters(struct ibv_counters *ibcounters,
			  struct ibv_counter_attach_attr *attr,
			  struct ibv_flow *flow)
{
	struct srnic_counters *counters = to_srnic_counters(ibcounters);

	if (flow || !check_comp_mask(attr->comp_mask, 0))
		return EOPNOTSUPP;
	if (attr->index >= COUNTERS_PLACES ||
	    (attr->counter_desc != IBV_COUNTER_PACKETS &&
	     attr->counter_desc != IBV_COUNTER_BYTES))
		return EINVAL;

	pthread_spin_lock(&counters->lock);
	counters->what[attr->index] = attr->counter_desc;
	if (counters->num <= attr->index)
		counters->num = attr->index + 1;
	pthread_spin_unlock(&counters->lock);

	return 0;
}

int srnic_read_counters(struct ibv_counters *ibcounters, uint64_t *values,
			uint32_t num, uint32_t flags)
{
	struct srnic_counters *counters = to_srnic_counters(ibcounters);
	uint64_t now[COUNTERS_KINDS];
	uint32_t i;
	int err;

	if (num < counters->num)
		return EINVAL;
	err = ibv_cmd_read_counters(&counters->vcounters, now, COUNTERS_KINDS,
				    flags, NULL);
	if (err)
		return err;

	pthread_spin_lock(&counters->lock);
	for (i = 0; i < num && i < COUNTERS_PLACES; i++)
		if (counters->what[i] != COUNTERS_NONE)
			values[i] = now[counters->what[i]];
	pthread_spin_unlock(&counters->lock);

	return 0;
}
