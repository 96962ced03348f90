/* SPDX-License-Identifier: GPL-2.0 */
/* srnic selftests - differential test: a program in the making */
#ifndef HUNT_DIFFER_MAKER_H
#define HUNT_DIFFER_MAKER_H

#include "differ.h"

/**
 * struct op - an operation
 * @access: access right needed at the peer
 * @receive: it takes a receive
 * @returns: it writes to memory of its own end
 * @names: it binds or invalidates a window
 */
struct op {
	const char	*name;
	int		access;
	bool		receive;
	bool		atomic;
	bool		returns;
	bool		names;
};

extern const struct op ops[];

/* Receives that are posted and not consumed, in bytes */
struct queue {
	int	first;
	int	num;
	__u32	room[STEPS];
};

/**
 * struct maker - a program in the making
 * @end: the end that posts the request in the making
 * @binds: binds in effect, by end and window; @window is 0 where there is none
 * @was_bound: the window has a former key
 */
struct maker {
	struct dice	dice;
	enum kind	kind;
	struct epoch	*epoch;
	struct queue	queue[2];
	int		end;
	struct request	binds[2][WINDOWS + 1];
	bool		was_bound[2][WINDOWS + 1];
};

/* Access rights that operations of @kind need */
int kind_rights(enum kind kind);
/* The payload that the next receive of @end has room for */
__u32 room_of(struct maker *m, int end);
/* A request that succeeds if the peer grants these rights and has a receive with @room */
void request_make(struct maker *m, struct request *r, int granted, __u32 room);
/* A bind of @window of the end, which succeeds if it is not bound */
void bind_make(struct maker *m, struct request *r, int window);
/* A window of @end that is bound, or one that is not; 0 if there is none */
int window_any(struct maker *m, int end, bool bound);
/* Makes a request that may fail the first of @step. */
void request_spoil(struct maker *m, struct step *step, __u32 room);
/* Adds a fault to a receive.  Return: what it is. */
const char *receive_spoil(struct maker *m, struct request *r);

#endif
