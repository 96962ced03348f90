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

enum srnic_outcome {
	SRNIC_DONE,
	SRNIC_EARLY,	/* a packet that arrived out of order */
	SRNIC_AGAIN,	/* not now, or not by loopback */
	SRNIC_FAILED = 0x100,	/* combined with the reason */
};

/*
 * Failure with a reason that is not zero: enum ib_wc_status for the requester, enum
 * srnic_verdict for the responder.
 */
static inline enum srnic_outcome srnic_fail(u8 why)
{
	return SRNIC_FAILED | why;
}

static inline bool srnic_has_failed(enum srnic_outcome outcome)
{
	return outcome & SRNIC_FAILED;
}

static inline u8 srnic_fail_why(enum srnic_outcome outcome)
{
	return outcome;
}

/* Outcome of a memory access; @why is the reason if it failed. */
static inline enum srnic_outcome srnic_accessed(enum srnic_mem_err err, u8 why)
{
	if (!err)
		return SRNIC_DONE;

	return err == SRNIC_MEM_ABSENT ? SRNIC_AGAIN : srnic_fail(why);
}

#endif /* SRNIC_XPORT_OUTCOME_H */
