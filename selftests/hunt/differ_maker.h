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
 */
struct op {
	const char	*name;
	int		access;
	bool		receive;
	bool		atomic;
	bool		returns;
};

extern const struct op ops[];

/* Receives that are posted and not consumed, in bytes */
struct queue {
	int	first;
	int	num;
	__u32	room[STEPS];
};

struct maker {
	struct dice	dice;
	struct epoch	*epoch;
	struct queue	queue[2];
};

/* A request that succeeds if the peer grants these rights and has a receive with @room */
void request_make(struct maker *m, struct request *r, int granted, __u32 room);
/* Makes a request that may fail the first of @step. */
void request_spoil(struct maker *m, struct step *step, __u32 room);
/* Adds a fault to a receive.  Return: what it is. */
const char *receive_spoil(struct maker *m, struct request *r);

#endif
