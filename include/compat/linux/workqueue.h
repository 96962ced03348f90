/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - wrapper of <linux/workqueue.h>: the current API on older kernels
 */
#ifndef SRNIC_COMPAT_WORKQUEUE_H
#define SRNIC_COMPAT_WORKQUEUE_H

#include_next <linux/workqueue.h>

#ifndef SRNIC_HAVE_WQ_PERCPU
#define WQ_PERCPU	0	/* implied without WQ_UNBOUND */
#endif

#ifndef SRNIC_HAVE_BH_WQ
#define WQ_BH		(WQ_HIGHPRI | WQ_MEM_RECLAIM)	/* as soon as a thread can */
#define __WQ_BH_ALLOWS	WQ_BH
#endif

#ifndef SRNIC_HAVE_DISABLE_WORK
/*
 * Work that is marked as pending cannot be queued.  Only initialising it anew
 * enables it again.
 */
static inline bool disable_work_sync(struct work_struct *work)
{
	bool pending = cancel_work_sync(work);

	while (test_and_set_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(work)))
		cancel_work_sync(work);
	flush_work(work);	/* a run that began before the bit was set */

	return pending;
}
#endif

#endif /* SRNIC_COMPAT_WORKQUEUE_H */
