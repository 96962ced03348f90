/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - <linux/tracepoint.h> of older kernels made to look like today's
 *
 * It has no guard: a header of trace events is read again for each thing that is
 * made of it, after the kernel has redefined the words in it.
 */
#include_next <linux/tracepoint.h>

#ifndef SRNIC_HAVE_ASSIGN_STR
/* What is assigned is the argument with the name of the field. */
#undef __assign_str
#define __assign_str(field) \
	strscpy(__get_str(field), field, __get_dynamic_array_len(field))
#endif
