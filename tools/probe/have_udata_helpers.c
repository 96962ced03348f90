// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* ib_respond_udata() and its relatives, 7.1 */
#include <rdma/uverbs_ioctl.h>

int probe(struct ib_udata *udata);
int probe(struct ib_udata *udata)
{
	int resp = 0;

	return ib_no_udata_io(udata) ?: ib_respond_udata(udata, resp);
}
