/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - wrapper of <linux/module.h>: the current API on older kernels
 */
#ifndef SRNIC_COMPAT_MODULE_H
#define SRNIC_COMPAT_MODULE_H

#include_next <linux/module.h>

/* The namespace is a string literal; the macro of older kernels stringifies it again. */
#undef MODULE_IMPORT_NS
#define MODULE_IMPORT_NS(ns) MODULE_INFO(import_ns, ns)

#endif /* SRNIC_COMPAT_MODULE_H */
