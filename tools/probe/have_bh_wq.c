// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Workqueues that are softirqs, 6.9 */
#include <linux/workqueue.h>

void probe(struct work_struct *work);
void probe(struct work_struct *work)
{
	queue_work(system_bh_wq, work);
}
