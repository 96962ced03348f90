/* SPDX-License-Identifier: GPL-2.0 */
/* srnic - unaligned access for tests in user space */
#ifndef SRNIC_SHIM_LINUX_UNALIGNED_H
#define SRNIC_SHIM_LINUX_UNALIGNED_H

#define get_unaligned(p)				\
({							\
	const struct {					\
		__typeof__(*(p)) v;			\
	} __attribute__((packed)) *_p = (const void *)(p);	\
	_p->v;						\
})

#define put_unaligned(value, p)				\
do {							\
	struct {					\
		__typeof__(*(p)) v;			\
	} __attribute__((packed)) *_p = (void *)(p);	\
	_p->v = (value);				\
} while (0)

#endif /* SRNIC_SHIM_LINUX_UNALIGNED_H */
