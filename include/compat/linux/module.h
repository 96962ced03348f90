/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - <linux/module.h> of older kernels made to look like today's
 */
#ifndef SRNIC_COMPAT_MODULE_H
#define SRNIC_COMPAT_MODULE_H

#include_next <linux/module.h>

/* The name of a namespace is a string; where it was not, it was made one. */
#undef MODULE_IMPORT_NS
#define MODULE_IMPORT_NS(ns) MODULE_INFO(import_ns, ns)

#endif /* SRNIC_COMPAT_MODULE_H */
