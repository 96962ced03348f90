// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* struct ib_device_ops: fill_res_srq_entry(), not in 6.6 */
#include <rdma/ib_verbs.h>

int probe(struct sk_buff *msg, struct ib_srq *srq);

const struct ib_device_ops probe_ops = {
	.fill_res_srq_entry = probe,
};
