// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* disable_work_sync(), 6.10 */
#include <linux/workqueue.h>

void probe(struct work_struct *work);
void probe(struct work_struct *work)
{
	disable_work_sync(work);
}
