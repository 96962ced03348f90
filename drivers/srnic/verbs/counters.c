// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - counters as "rdma statistic" and sysfs show them
 */
#include "verbs.h"

#define X(field, text) [SRNIC_CNT_##field].name = text,
static const struct rdma_stat_desc counter_descs[SRNIC_CNT_NUM] = {
	SRNIC_COUNTERS(X)
};
#undef X

struct rdma_hw_stats *srnic_alloc_hw_port_stats(struct ib_device *ibdev,
						u32 port)
{
	return rdma_alloc_hw_stats_struct(counter_descs,
					  ARRAY_SIZE(counter_descs),
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

int srnic_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		       u32 port, int index)
{
	struct srnic_dev *dev = to_dev(ibdev);
	int i;

	if (!port || !stats)
		return -EINVAL;

	for (i = 0; i < SRNIC_CNT_NUM; i++)
		stats->value[i] = srnic_stats_sum(dev->stats, i);

	return SRNIC_CNT_NUM;
}
