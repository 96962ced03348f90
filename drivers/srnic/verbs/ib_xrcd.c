// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - XRC domains: an identity, compared by pointer
 */
#include "verbs.h"

static struct srnic_xrcd *to_xrcd(struct ib_xrcd *ibxrcd)
{
	return container_of(ibxrcd, struct srnic_xrcd, ibxrcd);
}

int srnic_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	struct srnic_xrcd *xrcd = to_xrcd(ibxrcd);
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;

	xrcd->user = srnic_user_of_udata(udata);

	return srnic_quota_take(to_dev(ibxrcd->device), xrcd->user,
				SRNIC_Q_DOMAIN, 1);
}

int srnic_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	srnic_quota_give(to_dev(ibxrcd->device), to_xrcd(ibxrcd)->user,
			 SRNIC_Q_DOMAIN, 1);

	return 0;
}
