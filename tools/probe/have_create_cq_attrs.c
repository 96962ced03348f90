// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* struct ib_device_ops: create_cq() takes all attributes, 6.11 */
#include <rdma/ib_verbs.h>

int probe(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
	  struct uverbs_attr_bundle *attrs);

const struct ib_device_ops probe_ops = {
	.create_cq = probe,
};
