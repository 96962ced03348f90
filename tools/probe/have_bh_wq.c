// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Workqueues that are softirqs, 6.9 */
#include <linux/workqueue.h>

struct workqueue_struct *probe(void);
struct workqueue_struct *probe(void)
{
	return alloc_workqueue("probe", WQ_BH, 0);
}
