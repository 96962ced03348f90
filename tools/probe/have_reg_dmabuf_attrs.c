// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* struct ib_device_ops: reg_user_mr_dmabuf() takes all attributes, 6.12 */
#include <rdma/ib_verbs.h>

struct ib_mr *probe(struct ib_pd *pd, u64 offset, u64 length, u64 iova, int fd,
		    int access, struct uverbs_attr_bundle *attrs);

const struct ib_device_ops probe_ops = {
	.reg_user_mr_dmabuf = probe,
};
