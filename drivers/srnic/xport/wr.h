/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - properties of each work request opcode
 *
 * One row of the table answers every question: which packets it sends, what answers it,
 * what its SGE list is for, how it completes.  queue/sq.c decides who may post it, and
 * refuses all other opcodes.  Pure.
 */
#ifndef SRNIC_XPORT_WR_H
#define SRNIC_XPORT_WR_H

#include <linux/types.h>

#include "../queue/queue.h"
#include "../wire/opcode.h"
#include "masked.h"

/* Bits of srnic_wr.flags */
enum srnic_wr_flags {
	SRNIC_WR_SINK	= 1 << 0,	/* the SGE list is where the answer goes */
	SRNIC_WR_PARTS	= 1 << 1,	/* the answer can be requested in parts */
	SRNIC_WR_WORD	= 1 << 2,	/* eight bytes that are written at once */
};

/* Contents of its extended headers besides address and length */
enum srnic_wr_operands {
	SRNIC_WR_PLAIN,
	SRNIC_WR_CMP_SWAP,
	SRNIC_WR_FETCH_ADD,
	SRNIC_WR_FLUSH,
};

/* What it does to a key, if it is a local operation */
enum srnic_local_op {
	SRNIC_LOCAL_OP_NONE,
	SRNIC_LOCAL_OP_INV,
	SRNIC_LOCAL_OP_BIND,
	SRNIC_LOCAL_OP_REG,
	SRNIC_LOCAL_OP_NUM
};

/**
 * struct srnic_wr - a work request opcode
 * @wc: opcode of its completion
 * @counter: enum srnic_counter of completed ones; SRNIC_CNT_NUM: none
 * @answer: family of the packets that answer it, SRNIC_FAM_NONE: an ACK
 * @flags: enum srnic_wr_flags
 * @operands: enum srnic_wr_operands
 * @local_op: enum srnic_local_op
 * @only: opcode of a single-packet message; this and the following without service
 * @first: opcode of the first packet of several
 * @middle: opcode of a packet that is neither first nor last
 * @last: opcode of the last packet of several
 * @masked: opcode instead of @only if the masks change the operation, 0: it has no masks
 */
struct srnic_wr {
	u8	wc;
	u8	counter;
	u8	answer;
	u8	flags;
	u8	operands;
	u8	local_op;
	u8	only;
	u8	first;
	u8	middle;
	u8	last;
	u8	masked;
};

/* One row per opcode up to IB_WR_REG_MR; all zeros: no such opcode */
#define SRNIC_WR_NUM	33

extern const struct srnic_wr srnic_wrs[SRNIC_WR_NUM];

/* The row of @wqe, whose opcode was checked when it was fetched */
static inline const struct srnic_wr *srnic_wr_of(const struct srnic_swqe *wqe)
{
	return &srnic_wrs[wqe->sqe.opcode];
}

/* Does it wait for a response, and so count towards max_rd_atomic? */
static inline bool srnic_wr_has_answer(const struct srnic_swqe *wqe)
{
	return srnic_wr_of(wqe)->answer != SRNIC_FAM_NONE;
}

/* Does its SGE list name the destination of data, not the source? */
static inline bool srnic_wr_has_sink(const struct srnic_swqe *wqe)
{
	return srnic_wr_of(wqe)->flags & SRNIC_WR_SINK;
}

/* Do the masks of @wqe change the operation? */
static inline bool srnic_wr_is_masked(const struct srnic_swqe *wqe)
{
	const struct srnic_wr *wr = srnic_wr_of(wqe);
	u64 mask = wqe->sqe.masked.compare_add_mask;

	if (!wr->masked)
		return false;

	return wr->operands == SRNIC_WR_FETCH_ADD ? !srnic_masked_add_is_plain(mask) :
	       !srnic_masked_swap_is_plain(mask, wqe->sqe.masked.swap_mask);
}

/* Opcode of a packet of @wqe, without service */
static inline u8 srnic_wr_packet(const struct srnic_swqe *wqe, bool first,
				 bool last)
{
	const struct srnic_wr *wr = srnic_wr_of(wqe);

	if (srnic_wr_is_masked(wqe))
		return wr->masked;
	if (first)
		return last ? wr->only : wr->first;

	return last ? wr->last : wr->middle;
}

#endif /* SRNIC_XPORT_WR_H */
