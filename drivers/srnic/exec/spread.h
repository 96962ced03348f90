/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - does a consumer in the kernel have more in progress than its thread should do?
 *
 * A post sends its requests itself, and completions are handled where they are generated: nothing
 * is faster for one operation at a time.  With several in progress two processors do more than
 * one, and a single one does more if it handles several at a time.  That there are several shows in
 * what has piled up.  But where one processor does the work of both ends nothing piles up, since
 * each operation ends before the next one is posted.  So from time to time another thread gets the
 * work, to see whether it piles up there.
 *
 * Pure: values in, values out.
 */
#ifndef SRNIC_EXEC_SPREAD_H
#define SRNIC_EXEC_SPREAD_H

#include <linux/types.h>

/**
 * struct srnic_spread - is the work left to another thread?  Zeroed at first; by spread.c only
 * @left: for how long it is, unless work piles up again
 * @paused: how often it has not been since
 * @vain: number of attempts since work has piled up, as far as it matters
 */
struct srnic_spread {
	u32	left;
	u32	paused;
	u32	vain;
};

/* With as many requests outstanding, work has piled up. */
#define SRNIC_SPREAD_DEEP	2

/* Called for each post or event of a queue.  Return: the work is for another thread. */
bool srnic_spread_next(struct srnic_spread *spread, u32 outstanding);

#endif /* SRNIC_EXEC_SPREAD_H */
