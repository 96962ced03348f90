// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - FLUSH to persistence, in pieces
 */
#include <linux/minmax.h>
#include <linux/sizes.h>

#include "persist.h"

/* Bytes written back before the share of the run is checked again */
#define PERSIST_PIECE	SZ_64K

bool srnic_persist(struct srnic_task *task, const struct srnic_mr *mr,
		   u64 addr, u64 len, u64 *done)
{
	while (*done < len) {
		u64 n = min_t(u64, len - *done, PERSIST_PIECE);

		if (!srnic_task_may(task))
			return false;
		srnic_mr_persist(mr, addr + *done, n);
		srnic_task_spend(task, n);
		*done += n;
	}
	*done = 0;

	return true;
}
