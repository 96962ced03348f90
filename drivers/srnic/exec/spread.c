// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - spreading the work of a consumer in the kernel: when
 */
#include <linux/minmax.h>

#include "spread.h"

/* An attempt lasts for so many times with one request outstanding each, or a quarter with none. */
#define SPREAD_TRY	64U
#define SPREAD_NONE	4U

/* The same once work has piled up */
#define SPREAD_STAY	256U

/* How often the work is not spread before it is tried: twice as often after each one in vain */
#define SPREAD_PAUSE	256U
#define SPREAD_VAIN_MAX	2U

bool srnic_spread_next(struct srnic_spread *spread, u32 outstanding)
{
	if (outstanding >= SRNIC_SPREAD_DEEP) {
		*spread = (struct srnic_spread) { .left = SPREAD_STAY };
		return true;
	}
	if (!spread->left) {
		if (spread->paused++ < SPREAD_PAUSE << spread->vain)
			return false;
		spread->paused = 0;
		spread->vain = min(spread->vain + 1, SPREAD_VAIN_MAX);
		spread->left = SPREAD_TRY;
	}
	spread->left -= min(spread->left, outstanding ? 1 : SPREAD_NONE);

	return true;
}
