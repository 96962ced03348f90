// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* struct rdma_stat_desc, and counters that can be disabled, 5.16 */
#include <rdma/ib_verbs.h>

unsigned long *probe(const struct rdma_hw_stats *stats);
unsigned long *probe(const struct rdma_hw_stats *stats)
{
	return stats->descs[0].name ? stats->is_disabled : NULL;
}
