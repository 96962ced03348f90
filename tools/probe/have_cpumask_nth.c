// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* cpumask_nth(), 6.1 */
#include <linux/cpumask.h>

unsigned int probe(const struct cpumask *mask);
unsigned int probe(const struct cpumask *mask)
{
	return cpumask_nth(0, mask);
}
