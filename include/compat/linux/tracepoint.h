/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - wrapper of <linux/tracepoint.h>: the current API on older kernels
 *
 * No include guard, since a header of trace events is included several times, each time
 * with the macros it uses redefined.
 */
#include_next <linux/tracepoint.h>

#ifndef SRNIC_HAVE_ASSIGN_STR
/* The string assigned is the argument that has the name of the field. */
#undef __assign_str
#define __assign_str(field) \
	strscpy(__get_str(field), field, __get_dynamic_array_len(field))
#endif
