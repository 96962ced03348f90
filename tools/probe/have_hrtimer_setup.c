// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* hrtimer_setup(), 6.13 */
#include <linux/hrtimer.h>

void probe(struct hrtimer *timer,
	   enum hrtimer_restart (*fn)(struct hrtimer *));
void probe(struct hrtimer *timer,
	   enum hrtimer_restart (*fn)(struct hrtimer *))
{
	hrtimer_setup(timer, fn, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
}
