// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* FLUSH and ATOMIC WRITE, which the core of 6.1 does not know */
#include <rdma/ib_verbs.h>

u64 probe(void);
u64 probe(void)
{
	return IB_DEVICE_FLUSH_GLOBAL | IB_DEVICE_ATOMIC_WRITE;
}
