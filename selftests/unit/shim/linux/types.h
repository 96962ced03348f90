/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - the kernel's types for tests in user space
 */
#ifndef SRNIC_SHIM_LINUX_TYPES_H
#define SRNIC_SHIM_LINUX_TYPES_H

#include_next <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#define __force
#define __packed	__attribute__((packed))
#define __aligned(n)	__attribute__((aligned(n)))
#define __weak		__attribute__((weak))

#define U8_MAX	((u8)~0U)
#define U16_MAX	((u16)~0U)
#define U32_MAX	((u32)~0U)

typedef __u8	u8;
typedef __u16	u16;
typedef __u32	u32;
typedef __u64	u64;
typedef __s32	s32;
typedef __s64	s64;

struct list_head {
	struct list_head	*next, *prev;
};

struct rcu_head {
	struct rcu_head		*next;
};

#endif /* SRNIC_SHIM_LINUX_TYPES_H */
