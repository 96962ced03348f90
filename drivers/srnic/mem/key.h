/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - what the files of mem/ tell each other: the life of a key
 */
#ifndef SRNIC_MEM_KEY_H
#define SRNIC_MEM_KEY_H

#include "mem.h"

/* Changes @mr's state; false if it was not @from. */
bool srnic_mr_move(struct srnic_mr *mr, enum srnic_mr_state from,
		   enum srnic_mr_state to);

/* Changes the state of a key that is BUSY by the caller. */
void srnic_mr_set_state(struct srnic_mr *mr, enum srnic_mr_state state);

/* The same, to VALID: from now on lookups find what was written before. */
void srnic_mr_make_valid(struct srnic_mr *mr);

/*
 * Ends the validity of @mr and takes over the caller's reference.
 * SRNIC_MEM_OK, SRNIC_MEM_STATE, or SRNIC_MEM_BUSY: @wait will be told.
 */
enum srnic_mem_err srnic_mr_end(struct srnic_mr *mr, struct srnic_wait *wait);

/* Unmaps and forgets a shared buffer; NULL is fine.  May sleep. */
void srnic_dmabuf_put(struct srnic_dmabuf *dmabuf);

#endif /* SRNIC_MEM_KEY_H */
