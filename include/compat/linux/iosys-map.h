/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - wrapper of <linux/iosys-map.h>: the current API on older kernels
 */
#ifndef SRNIC_COMPAT_IOSYS_MAP_H
#define SRNIC_COMPAT_IOSYS_MAP_H

#ifdef SRNIC_HAVE_IOSYS_MAP
#include_next <linux/iosys-map.h>
#else
#include <linux/dma-buf-map.h>

#define iosys_map	dma_buf_map
#endif

#endif /* SRNIC_COMPAT_IOSYS_MAP_H */
