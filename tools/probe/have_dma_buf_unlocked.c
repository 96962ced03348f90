// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* dma_buf_vmap_unlocked(): who maps need not hold the lock, 6.2 */
#include <linux/dma-buf.h>

int probe(struct dma_buf *buf, struct iosys_map *map);
int probe(struct dma_buf *buf, struct iosys_map *map)
{
	return dma_buf_vmap_unlocked(buf, map);
}
