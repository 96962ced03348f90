/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic selftests - verbs harness: the record of a case, to compare two ways to the peer
 */
#ifndef RECORD_H
#define RECORD_H

#include "vrb.h"

/* Objects are numbered in the order of their creation. */
void record_wc(int cq, const struct ibv_wc *wc);
void record_event(int side, const struct ibv_async_event *ev);
void record_state(int qp, enum ibv_qp_state state);
void record_memory(int map, const void *p, size_t len);
/* Takes a connected queue pair to ERR and records what is flushed, except for an SRQ. */
void record_drain(struct ibv_qp *qp);

/* Ends the record; the caller frees the text. */
char *record_take(void);

/*
 * Are two records of the case alike?  @name is its group and name; if not, describes the
 * first difference in @text.
 */
bool record_alike(const char *name, const char *one, const char *two, char *text,
		  size_t size);

#endif
