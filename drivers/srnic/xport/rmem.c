// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - receive memory: packets that are kept, charged to user and device
 */
#include <linux/compiler.h>
#include <linux/sizes.h>

#include "rmem.h"

static long rmem_max(const struct srnic_rmem *rmem)
{
	long max = (long)READ_ONCE(*rmem->kbytes) * SZ_1K;

	return rmem->percent ? max * READ_ONCE(*rmem->percent) / 100 : max;
}

bool srnic_rmem_charge(struct srnic_rmem *rmem, unsigned int bytes, unsigned int part)
{
	struct srnic_rmem *at, *full;

	for (at = rmem; at; at = at->parent)
		if (atomic_long_add_return(bytes, &at->bytes) > rmem_max(at) * part / 100)
			goto err_full;

	return true;

err_full:
	full = at->parent;
	for (at = rmem; at != full; at = at->parent)
		atomic_long_sub(bytes, &at->bytes);

	return false;
}

void srnic_rmem_recharge(struct srnic_rmem *rmem, unsigned int bytes)
{
	for (; rmem; rmem = rmem->parent)
		atomic_long_add(bytes, &rmem->bytes);
}

void srnic_rmem_uncharge(struct srnic_rmem *rmem, unsigned int bytes)
{
	for (; rmem; rmem = rmem->parent)
		atomic_long_sub(bytes, &rmem->bytes);
}
