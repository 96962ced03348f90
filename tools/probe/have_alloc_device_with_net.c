// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* ib_alloc_device_with_net(): a device in a namespace of choice, 6.17 */
#include <rdma/ib_verbs.h>

struct probe {
	struct ib_device dev;
};

struct probe *probe(void);
struct probe *probe(void)
{
	return ib_alloc_device_with_net(probe, dev, &init_net);
}
