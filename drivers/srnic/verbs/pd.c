// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - protection domains: an identity, compared by address, and the address
 * vectors that belong to it
 */
#include "verbs.h"

int srnic_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	int err = ib_no_udata_io(udata);

	if (!err)
		srnic_avs_init(&to_pd(ibpd)->avs);

	return err;
}

int srnic_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	srnic_avs_destroy(&to_pd(ibpd)->avs);

	return 0;
}
