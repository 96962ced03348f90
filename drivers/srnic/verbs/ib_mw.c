// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - memory windows: allocated and freed here, bound by work requests
 */
#include <linux/slab.h>

#include "verbs.h"

static struct srnic_ibmw *to_mw(struct ib_mw *ibmw)
{
	return container_of(ibmw, struct srnic_ibmw, ibmw);
}

int srnic_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct srnic_dev *dev = to_dev(ibmw->device);
	struct srnic_ibmw *mw = to_mw(ibmw);
	struct srnic_mr *win;
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;

	mw->user = srnic_user_of(ibmw->pd);
	err = srnic_quota_take(dev, mw->user, SRNIC_Q_KEY, 1);
	if (err)
		return err;
	win = kzalloc(sizeof(*win), GFP_KERNEL_ACCOUNT);
	if (!win) {
		err = -ENOMEM;
		goto err_quota;
	}

	win->kind = ibmw->type == IB_MW_TYPE_1 ? SRNIC_MW_1 : SRNIC_MW_2;
	win->pd = ibmw->pd;
	err = srnic_mr_publish(&dev->keys, win);
	if (err)
		goto err_free;
	mw->win = win;
	ibmw->rkey = win->key;

	return 0;

err_free:
	kfree(win);
err_quota:
	srnic_quota_give(dev, mw->user, SRNIC_Q_KEY, 1);
	return err;
}

int srnic_dealloc_mw(struct ib_mw *ibmw)
{
	struct srnic_dev *dev = to_dev(ibmw->device);
	struct srnic_ibmw *mw = to_mw(ibmw);

	srnic_mr_hide(&dev->keys, mw->win);
	kfree_rcu(mw->win, rcu);	/* work requests may still be reading it */
	srnic_quota_give(dev, mw->user, SRNIC_Q_KEY, 1);

	return 0;
}
