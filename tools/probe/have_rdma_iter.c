// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* <rdma/iter.h>, a part of <rdma/ib_umem.h> before: 7.x and late point releases */
#include <rdma/iter.h>

dma_addr_t probe(struct ib_block_iter *iter);
dma_addr_t probe(struct ib_block_iter *iter)
{
	return rdma_block_iter_dma_address(iter);
}
