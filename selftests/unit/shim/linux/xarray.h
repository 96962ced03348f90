/* SPDX-License-Identifier: GPL-2.0 */
/* srnic - small xarrays for tests in user space */
#ifndef SRNIC_SHIM_LINUX_XARRAY_H
#define SRNIC_SHIM_LINUX_XARRAY_H

#include <errno.h>
#include <limits.h>
#include <linux/gfp.h>
#include <linux/kernel.h>

#define XA_PRESENT		8U
#define XA_FLAGS_ALLOC1		0
#define XA_FLAGS_ACCOUNT	0

#define SHIM_XA_MAX		64

struct xarray {
	void	*entry[SHIM_XA_MAX];
	bool	used[SHIM_XA_MAX];
};

struct shim_xa_limit {
	u32	min;
	u32	max;
};

#define XA_LIMIT(min, max)	((struct shim_xa_limit) { min, max })

static inline void xa_init_flags(struct xarray *xa, int flags)
{
	(void)flags;
	memset(xa, 0, sizeof(*xa));
}

static inline void xa_destroy(struct xarray *xa)
{
	memset(xa, 0, sizeof(*xa));
}

static inline int xa_alloc(struct xarray *xa, u32 *id, void *entry,
			   struct shim_xa_limit limit, int gfp)
{
	(void)gfp;
	for (*id = limit.min; *id <= limit.max && *id < SHIM_XA_MAX; ++*id) {
		if (xa->used[*id])
			continue;
		xa->used[*id] = true;
		xa->entry[*id] = entry;
		return 0;
	}

	return -EBUSY;
}

/* one for all files of a program */
void (*shim_at_load)(void) __weak;

/* Called after an entry was loaded, to play the part of another processor. */
static inline void *xa_load(struct xarray *xa, unsigned long index)
{
	void *entry = index < SHIM_XA_MAX ? xa->entry[index] : NULL;

	if (shim_at_load)
		shim_at_load();

	return entry;
}

static inline void xa_store(struct xarray *xa, unsigned long index, void *entry,
			    int gfp)
{
	(void)gfp;
	xa->entry[index] = entry;
}

static inline void xa_erase(struct xarray *xa, unsigned long index)
{
	xa->entry[index] = NULL;
	xa->used[index] = false;
}

static inline void *xa_find(struct xarray *xa, unsigned long *index,
			    unsigned long max, unsigned int filter)
{
	(void)filter;
	for (; *index <= max && *index < SHIM_XA_MAX; ++*index)
		if (xa->entry[*index])
			return xa->entry[*index];

	return NULL;
}

#endif /* SRNIC_SHIM_LINUX_XARRAY_H */
