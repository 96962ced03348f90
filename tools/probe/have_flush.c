// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* FLUSH and ATOMIC WRITE in the RDMA core, 6.2 */
#include <rdma/ib_verbs.h>

u64 probe(void);
u64 probe(void)
{
	return IB_DEVICE_FLUSH_GLOBAL | IB_DEVICE_ATOMIC_WRITE;
}
