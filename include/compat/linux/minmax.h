/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - wrapper of <linux/minmax.h>: the header of 6.6 and before uses
 * BUILD_BUG_ON_ZERO() without an include of it
 */
#ifndef SRNIC_COMPAT_MINMAX_H
#define SRNIC_COMPAT_MINMAX_H

#include <linux/build_bug.h>

#include_next <linux/minmax.h>

#endif /* SRNIC_COMPAT_MINMAX_H */
