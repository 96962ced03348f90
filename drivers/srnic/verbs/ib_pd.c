// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - protection domains: an identity, compared by pointer, and the address
 * vectors that belong to it
 */
#include "verbs.h"

int srnic_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct srnic_pd *pd = to_pd(ibpd);
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;

	pd->user = srnic_user_of_udata(udata);
	err = srnic_quota_take(to_dev(ibpd->device), pd->user, SRNIC_Q_DOMAIN,
			       1);
	if (err)
		return err;

	srnic_avs_init(&pd->avs);

	return 0;
}

int srnic_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct srnic_pd *pd = to_pd(ibpd);

	srnic_avs_destroy(&pd->avs);
	srnic_quota_give(to_dev(ibpd->device), pd->user, SRNIC_Q_DOMAIN, 1);

	return 0;
}
