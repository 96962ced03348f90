/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic selftests - verbs harness: on-demand memory whose pages can be dropped
 * without losing the data
 */
#ifndef ODP_H
#define ODP_H

#include "vrb.h"

#define PAGE		4096UL
#define CHUNK		(2UL << 20)	/* unit of the driver: the size of a huge page */

/*
 * opt_default with a longer timeout: in user-mode Linux a page fault may take a second
 * page while another thread of the process polls.
 */
struct opt odp_opt(void);

/* How memory of one side is registered */
enum way {
	WAY_RANGE,	/* on demand */
	WAY_ALL,	/* on demand, all of the address space */
	WAY_PINNED,
};

/**
 * struct store - memory backed by a file
 * @m: the part that is registered and used
 * @start: start of the mapping, aligned to a chunk
 * @size: bytes
 * @fd: the file
 */
struct store {
	struct mem	m;
	__u8		*start;
	size_t		size;
	int		fd;
};

/* The region excludes @off bytes at each end of the memory. */
void store_make(struct store *st, struct side *s, size_t size, size_t off,
		enum way way, int access);

/* Drops all pages from the process; the file keeps the data. */
void store_drop(struct store *st);

#endif
