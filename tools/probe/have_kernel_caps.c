// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* struct ib_device_attr: capabilities that only the kernel sees, 5.19 */
#include <rdma/ib_verbs.h>

u64 probe(const struct ib_device_attr *attr);
u64 probe(const struct ib_device_attr *attr)
{
	return attr->kernel_cap_flags & IBK_ALLOW_USER_UNREG;
}
