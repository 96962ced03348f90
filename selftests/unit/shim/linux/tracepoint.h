/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - trace points that are off, for tests in user space
 */
#ifndef SRNIC_SHIM_LINUX_TRACEPOINT_H
#define SRNIC_SHIM_LINUX_TRACEPOINT_H

#include <linux/kernel.h>

#define TRACE_DEFINE_ENUM(name)
#define TP_PROTO(...)	(__VA_ARGS__)
#define TRACE_EVENT(name, proto, ...) \
	static inline void trace_##name proto { }
#define DEFINE_EVENT(class, name, proto, args) \
	static inline void trace_##name proto { }
#define DECLARE_EVENT_CLASS(name, proto, ...)

#pragma GCC diagnostic ignored "-Wunused-parameter"

#endif /* SRNIC_SHIM_LINUX_TRACEPOINT_H */
