/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - wrapper of <linux/dma-buf.h>: the current API on older kernels
 */
#ifndef SRNIC_COMPAT_DMA_BUF_H
#define SRNIC_COMPAT_DMA_BUF_H

#include_next <linux/dma-buf.h>

#ifndef SRNIC_HAVE_DMA_BUF_UNLOCKED
#define dma_buf_vmap_unlocked(buf, map)		dma_buf_vmap(buf, map)
#define dma_buf_vunmap_unlocked(buf, map)	dma_buf_vunmap(buf, map)
#endif

#endif /* SRNIC_COMPAT_DMA_BUF_H */
