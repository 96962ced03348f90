/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - wrapper of <linux/cpumask.h>: the current API on older kernels
 */
#ifndef SRNIC_COMPAT_CPUMASK_H
#define SRNIC_COMPAT_CPUMASK_H

#include_next <linux/cpumask.h>

#ifndef SRNIC_HAVE_CPUMASK_NTH
static inline unsigned int cpumask_nth(unsigned int n,
				       const struct cpumask *mask)
{
	unsigned int cpu;

	for_each_cpu(cpu, mask) {
		if (!n--)
			return cpu;
	}

	return nr_cpu_ids;
}
#endif

#endif /* SRNIC_COMPAT_CPUMASK_H */
