/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - what a step of the protocol came to
 *
 * A step that is to come again has changed nothing, and what it waits for kicks the
 * task: a page that a pager fetches, a key that goes out of use, room in the network
 * stack, a timer, an answer.  What it does not wait for is the end of the share: of
 * that the run tells the task itself.
 */
#ifndef SRNIC_XPORT_OUTCOME_H
#define SRNIC_XPORT_OUTCOME_H

#include "../mem/mem.h"

enum srnic_outcome {
	SRNIC_DONE,
	SRNIC_EARLY,	/* a packet that came before one that is missing */
	SRNIC_AGAIN,	/* not now, or not this way */
	SRNIC_FAILED = 0x100,	/* and why */
};

/*
 * It failed, for a reason that is not zero: enum ib_wc_status of the requester, enum
 * srnic_verdict of the responder.
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

/* What an access came to, which failed for that reason if it did. */
static inline enum srnic_outcome srnic_accessed(enum srnic_mem_err err, u8 why)
{
	if (!err)
		return SRNIC_DONE;

	return err == SRNIC_MEM_ABSENT ? SRNIC_AGAIN : srnic_fail(why);
}

#endif /* SRNIC_XPORT_OUTCOME_H */
