// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* __assign_str() of one argument: the source is that of __string(), 6.10 */
#include <linux/trace_events.h>
#include <trace/stages/stage6_event_callback.h>

void probe(const char *why);

#undef __get_str
#define __get_str(field) __entry_##field
#undef __get_dynamic_array_len
#define __get_dynamic_array_len(field) sizeof(__entry_##field)

void probe(const char *why)
{
	struct {
		const char *why_ptr_;
	} __data_offsets = { why };
	char __entry_why[8];

	__assign_str(why);
}
