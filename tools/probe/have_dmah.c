// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* struct ib_device_ops: reg_user_mr() takes a DMA handle, 6.17 */
#include <rdma/ib_verbs.h>

struct ib_mr *probe(struct ib_pd *pd, u64 start, u64 length, u64 iova,
		    int access, struct ib_dmah *dmah, struct ib_udata *udata);

const struct ib_device_ops probe_ops = {
	.reg_user_mr = probe,
};
