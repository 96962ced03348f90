// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* WQ_PERCPU, which goes without saying before, 6.17 */
#include <linux/workqueue.h>

unsigned int probe(void);
unsigned int probe(void)
{
	return WQ_PERCPU;
}
