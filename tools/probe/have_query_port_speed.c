// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* struct ib_device_ops: query_port_speed(), 7.x */
#include <rdma/ib_verbs.h>

int probe(struct ib_device *ibdev, u32 port, u64 *speed);

const struct ib_device_ops probe_ops = {
	.query_port_speed = probe,
};
