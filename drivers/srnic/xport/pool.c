// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - memory of received packets: how much a device keeps, and for whom
 */
#include <linux/compiler.h>
#include <linux/sizes.h>

#include "pool.h"

static long pool_max(const struct srnic_pool *pool)
{
	long max = (long)READ_ONCE(*pool->kbytes) * SZ_1K;

	return pool->percent ? max * READ_ONCE(*pool->percent) / 100 : max;
}

bool srnic_pool_charge(struct srnic_pool *pool, unsigned int bytes, unsigned int part)
{
	struct srnic_pool *at, *full;

	for (at = pool; at; at = at->parent)
		if (atomic_long_add_return(bytes, &at->bytes) > pool_max(at) * part / 100)
			goto err_full;

	return true;

err_full:
	full = at->parent;
	for (at = pool; at != full; at = at->parent)
		atomic_long_sub(bytes, &at->bytes);

	return false;
}

void srnic_pool_recharge(struct srnic_pool *pool, unsigned int bytes)
{
	for (; pool; pool = pool->parent)
		atomic_long_add(bytes, &pool->bytes);
}

void srnic_pool_uncharge(struct srnic_pool *pool, unsigned int bytes)
{
	for (; pool; pool = pool->parent)
		atomic_long_sub(bytes, &pool->bytes);
}
