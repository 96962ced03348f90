/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - <linux/workqueue.h> of older kernels made to look like today's
 */
#ifndef SRNIC_COMPAT_WORKQUEUE_H
#define SRNIC_COMPAT_WORKQUEUE_H

#include_next <linux/workqueue.h>

#ifndef SRNIC_HAVE_WQ_PERCPU
#define WQ_PERCPU	0	/* what is not unbound */
#endif

#ifndef SRNIC_HAVE_BH_WQ
#define system_bh_wq	system_highpri_wq
#endif

#ifndef SRNIC_HAVE_DISABLE_WORK
/*
 * Work that looks as if it was in a queue already is put into none.  There is no
 * way back from that, but to initialise it anew.
 */
static inline bool disable_work_sync(struct work_struct *work)
{
	bool pending = cancel_work_sync(work);

	while (test_and_set_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(work)))
		cancel_work_sync(work);
	flush_work(work);	/* one that began before the bit was set */

	return pending;
}
#endif

#endif /* SRNIC_COMPAT_WORKQUEUE_H */
