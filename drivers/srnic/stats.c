// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - names and totals of the counters
 */
#include <linux/cpumask.h>

#include "stats.h"

#define X(field, name) [SRNIC_CNT_##field] = name,
const char * const srnic_counter_names[SRNIC_CNT_NUM] = {
	SRNIC_COUNTERS(X)
};
#undef X

u64 srnic_stats_sum(struct srnic_stats __percpu *stats, enum srnic_counter what)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(stats, cpu)->val[what]);

	return sum;
}

void srnic_stats_add(struct srnic_stats __percpu *stats, const u8 *what,
		     unsigned int num, u64 *sums)
{
	const u64 *val;
	unsigned int i;
	int cpu;

	for_each_possible_cpu(cpu) {
		val = per_cpu_ptr(stats, cpu)->val;
		for (i = 0; i < num; i++)
			sums[what[i]] += READ_ONCE(val[what[i]]);
	}
}
