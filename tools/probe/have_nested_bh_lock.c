// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* local_lock_nested_bh(), 6.11 */
#include <linux/interrupt.h>
#include <linux/local_lock.h>
#include <linux/percpu.h>

void probe(void);

static DEFINE_PER_CPU(local_lock_t, probe_lock);

void probe(void)
{
	local_lock_nested_bh(&probe_lock);
}
