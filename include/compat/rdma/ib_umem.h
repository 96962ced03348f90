/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - wrapper of <rdma/ib_umem.h>: the current API on older kernels
 */
#ifndef SRNIC_COMPAT_IB_UMEM_H
#define SRNIC_COMPAT_IB_UMEM_H

#include_next <rdma/ib_umem.h>

#ifndef SRNIC_HAVE_UMEM_GET_VA
#define ib_umem_get_va(device, addr, size, access) \
	ib_umem_get(device, addr, size, access)
#endif

#ifndef SRNIC_HAVE_UMEM_CHECK_REREG
static inline int ib_umem_check_rereg(struct ib_umem *umem, int flags,
				      int new_access_flags)
{
	if (flags & IB_MR_REREG_ACCESS && !(flags & IB_MR_REREG_TRANS) &&
	    ib_access_writable(new_access_flags) && !umem->writable)
		return -EACCES;

	return 0;
}
#endif

#endif /* SRNIC_COMPAT_IB_UMEM_H */
