/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - wrapper of <linux/unaligned.h>: the current API on older kernels
 */
#ifndef SRNIC_COMPAT_UNALIGNED_H
#define SRNIC_COMPAT_UNALIGNED_H

#ifdef SRNIC_HAVE_LINUX_UNALIGNED
#include_next <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#endif /* SRNIC_COMPAT_UNALIGNED_H */
