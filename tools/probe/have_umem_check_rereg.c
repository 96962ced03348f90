// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* ib_umem_check_rereg(), 7.x and late point releases */
#include <rdma/ib_umem.h>

int probe(struct ib_umem *umem);
int probe(struct ib_umem *umem)
{
	return ib_umem_check_rereg(umem, 0, 0);
}
