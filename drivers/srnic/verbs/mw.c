// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - memory windows: made and unmade here, bound by work requests
 */
#include <linux/slab.h>

#include "verbs.h"

static struct srnic_ibmw *to_mw(struct ib_mw *ibmw)
{
	return container_of(ibmw, struct srnic_ibmw, ibmw);
}

int srnic_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct srnic_ibmw *mw = to_mw(ibmw);
	struct srnic_mr *win;
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;

	win = kzalloc(sizeof(*win), GFP_KERNEL);
	if (!win)
		return -ENOMEM;

	win->kind = ibmw->type == IB_MW_TYPE_1 ? SRNIC_MW_1 : SRNIC_MW_2;
	win->pd = ibmw->pd;
	err = srnic_mr_publish(&to_dev(ibmw->device)->keys, win);
	if (err) {
		kfree(win);
		return err;
	}
	mw->win = win;
	ibmw->rkey = win->key;

	return 0;
}

int srnic_dealloc_mw(struct ib_mw *ibmw)
{
	struct srnic_mr *win = to_mw(ibmw)->win;

	srnic_mr_hide(&to_dev(ibmw->device)->keys, win);
	kfree_rcu(win, rcu);	/* work requests may be looking at it */

	return 0;
}
