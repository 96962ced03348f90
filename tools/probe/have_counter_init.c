// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* struct ib_device_ops: counter_init(), and bind with the port, 6.15 */
#include <rdma/ib_verbs.h>

static void probe_init(struct rdma_counter *counter)
{
}

int probe_bind(struct rdma_counter *counter, struct ib_qp *qp, u32 port);

const struct ib_device_ops probe_ops = {
	.counter_init = probe_init,
	.counter_bind_qp = probe_bind,
};
