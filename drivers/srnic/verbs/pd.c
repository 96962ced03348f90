// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - protection domains: an identity, compared by address
 */
#include "verbs.h"

int srnic_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return ib_no_udata_io(udata);
}

int srnic_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return 0;
}
