// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - XRC domains: an identity, compared by address
 */
#include "verbs.h"

int srnic_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	return ib_no_udata_io(udata);
}

int srnic_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	return 0;
}
