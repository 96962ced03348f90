/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - outcome of a step of the protocol
 *
 * A step that has to be repeated has changed nothing, and the task is kicked when what
 * it waits for happens: a page fetched by a pager, the invalidation of a key, room in
 * the network stack, a timer, an answer.  The end of the share kicks nothing: the run
 * reports to the task that there is more to do.
 */
#ifndef SRNIC_XPORT_OUTCOME_H
#define SRNIC_XPORT_OUTCOME_H

#include "../mem/mem.h"
#include "verdict.h"

enum srnic_outcome {
	SRNIC_DONE,
	SRNIC_EARLY,	/* a packet that arrived out of order */
	SRNIC_AGAIN,	/* not now, or not by loopback */
	SRNIC_FAILED = 0x100,	/* combined with the verdict and a memory error */
};

#define SRNIC_FAIL_MEMORY	16	/* shift of the memory error */

static inline enum srnic_outcome srnic_fail(enum srnic_verdict why)
{
	return SRNIC_FAILED | why;
}

/* Failure whose reason is that memory was refused, with @err */
static inline enum srnic_outcome srnic_fail_memory(enum srnic_verdict why,
						   enum srnic_mem_err err)
{
	return srnic_fail(why) | err << SRNIC_FAIL_MEMORY;
}

static inline bool srnic_has_failed(enum srnic_outcome outcome)
{
	return outcome & SRNIC_FAILED;
}

static inline enum srnic_verdict srnic_fail_why(enum srnic_outcome outcome)
{
	return (u8)outcome;
}

static inline enum srnic_mem_err srnic_fail_err(enum srnic_outcome outcome)
{
	return outcome >> SRNIC_FAIL_MEMORY;
}

/* Outcome of a memory access; @why is the verdict if it failed. */
static inline enum srnic_outcome srnic_accessed(enum srnic_mem_err err,
						enum srnic_verdict why)
{
	if (!err)
		return SRNIC_DONE;

	return err == SRNIC_MEM_ABSENT ? SRNIC_AGAIN :
					 srnic_fail_memory(why, err);
}

#endif /* SRNIC_XPORT_OUTCOME_H */
