// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* timer_delete_sync(), which was del_timer_sync() before, 6.2 */
#include <linux/timer.h>

int probe(struct timer_list *timer);
int probe(struct timer_list *timer)
{
	return timer_delete_sync(timer);
}
