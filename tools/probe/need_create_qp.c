// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* struct ib_device_ops: create_qp() is given the QP, 5.15 */
#include <rdma/ib_verbs.h>

int probe(struct ib_qp *qp, struct ib_qp_init_attr *attr,
	  struct ib_udata *udata);

const struct ib_device_ops probe_ops = {
	.create_qp = probe,
};
