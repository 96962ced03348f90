// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* resize_user_cq() of an unsigned number of entries, 7.x */
#include <rdma/ib_verbs.h>

int probe(struct ib_cq *cq, struct ib_udata *udata);
int probe(struct ib_cq *cq, struct ib_udata *udata)
{
	return cq->device->ops.resize_user_cq(cq, 1U, udata);
}
