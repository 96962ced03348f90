// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - address vectors of a protection domain
 */
#include <linux/slab.h>

#include "qp.h"
#include "xport.h"

#define AV_LIMIT	XA_LIMIT(1, BIT(20))

static atomic64_t av_id;

void srnic_avs_init(struct srnic_avs *avs)
{
	xa_init_flags(&avs->xa, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ |
		      XA_FLAGS_ACCOUNT);
	avs->next = 0;
}

void srnic_avs_destroy(struct srnic_avs *avs)
{
	WARN_ON(!srnic_table_is_empty(&avs->xa));
	xa_destroy(&avs->xa);
}

int srnic_av_publish(struct srnic_avs *avs, struct srnic_av *av, gfp_t gfp,
		     u32 *index)
{
	unsigned long flags;
	int err;

	av->id = atomic64_inc_return(&av_id);

	xa_lock_irqsave(&avs->xa, flags);
	err = __xa_alloc_cyclic(&avs->xa, index, av, AV_LIMIT, &avs->next,
				gfp);
	xa_unlock_irqrestore(&avs->xa, flags);
	if (err < 0)
		return err == -EBUSY ? -ENOSPC : err;

	return 0;
}

void srnic_av_hide(struct srnic_avs *avs, u32 index)
{
	unsigned long flags;
	struct srnic_av *av;

	xa_lock_irqsave(&avs->xa, flags);
	av = __xa_erase(&avs->xa, index);
	xa_unlock_irqrestore(&avs->xa, flags);
	kfree_rcu(av, rcu);
}
