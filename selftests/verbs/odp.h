/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic selftests - verbs harness: memory on demand that can be taken away and
 * keeps its bytes
 */
#ifndef ODP_H
#define ODP_H

#include "vrb.h"

#define PAGE		4096UL
#define CHUNK		(2UL << 20)	/* the driver's unit, and a huge page */

/*
 * What most cases want, but for time: user-mode Linux may need a second for a
 * page while another thread of the process polls.
 */
struct opt odp_opt(void);

/* How the memory of one side is registered */
enum way {
	WAY_RANGE,	/* on demand */
	WAY_ALL,	/* on demand, all of the address space */
	WAY_PINNED,
};

/**
 * struct store - memory with a file behind it
 * @m: what is registered and used of it
 * @start: all of it, at an address that begins a chunk
 * @size: bytes
 * @fd: the file
 */
struct store {
	struct mem	m;
	__u8		*start;
	size_t		size;
	int		fd;
};

/* The region starts @off bytes into the memory and leaves @off at its end. */
void store_make(struct store *st, struct side *s, size_t size, size_t off,
		enum way way, int access);

/* Takes all pages away from the process; the file keeps them. */
void store_drop(struct store *st);

#endif
