// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - the table of work requests matches the operations that may be posted,
 * and the packet opcodes
 *
 * queue/sq.c defines what may be posted, wire/opcode.c the packets.  The order
 * of the packets of a message, and their responses, are those of IBTA volume 1,
 * 9.4.
 */

#include <linux/kernel.h>
#include <string.h>

#include "stats.h"
#include "tap.h"
#include "wire/opcode.h"
#include "xport/wr.h"

static const enum ib_qp_type types[] = {
	IB_QPT_RC, IB_QPT_UC, IB_QPT_UD, IB_QPT_RAW_PACKET, IB_QPT_XRC_INI,
};

/* A work request of @opcode; with eight bytes if @data */
static struct srnic_swqe *request(u8 opcode, bool data)
{
	static u64 space[(sizeof(struct srnic_swqe) +
			  sizeof(struct srnic_sge)) / sizeof(u64)];
	struct srnic_swqe *wqe = (void *)space;

	memset(space, 0, sizeof(space));
	wqe->sqe.opcode = opcode;
	wqe->sqe.num_sge = data;
	wqe->length = data ? sizeof(u64) : 0;
	wqe->sge[0].length = wqe->length;

	return wqe;
}

/* May it be posted, with data or without, to a queue pair of any type? */
static bool can_be_posted(u8 opcode)
{
	unsigned int i, data;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		for (data = 0; data < 2; data++)
			if (!srnic_swqe_check(request(opcode, data), types[i],
					      1, 0, true))
				return true;

	return false;
}

static bool has_row(u8 opcode)
{
	static const struct srnic_wr none;

	return opcode < SRNIC_WR_NUM &&
	       memcmp(&srnic_wrs[opcode], &none, sizeof(none));
}

static void test_rows(void)
{
	unsigned int opcode;

	for (opcode = 0; opcode < 256; opcode++)
		if (can_be_posted(opcode) != has_row(opcode))
			tap_fault("opcode %u\n", opcode);
	tap_done("exactly the opcodes that can be posted have a row");
}

static bool has_several(const struct srnic_wr *wr)
{
	return wr->answer == SRNIC_FAM_NONE;
}

static void test_packet(unsigned int opcode, bool first, bool last)
{
	struct srnic_swqe *wqe = request(opcode, true);
	const struct srnic_op *op = &srnic_ops[srnic_wr_packet(wqe, first,
							       last)];
	u8 want = (first ? SRNIC_OP_START : 0) | (last ? SRNIC_OP_END : 0);

	if (!(op->flags & SRNIC_OP_REQ) ||
	    (op->flags & (SRNIC_OP_START | SRNIC_OP_END)) != want ||
	    op->family != srnic_ops[srnic_wr_of(wqe)->only].family)
		tap_fault("opcode %u, first %u, last %u\n", opcode, first,
			  last);
}

static void test_packets(void)
{
	unsigned int i;

	for (i = 0; i < SRNIC_WR_NUM; i++) {
		if (!has_row(i) || srnic_wrs[i].local_op)
			continue;
		test_packet(i, true, true);
		if (!has_several(&srnic_wrs[i]))
			continue;
		test_packet(i, true, false);
		test_packet(i, false, false);
		test_packet(i, false, true);
	}
	tap_done("packets are requests of one family, in their positions");
}

static struct srnic_swqe *masked(u8 opcode, u64 compare_add_mask, u64 swap_mask)
{
	struct srnic_swqe *wqe = request(opcode, true);

	wqe->sqe.masked.compare_add_mask = compare_add_mask;
	wqe->sqe.masked.swap_mask = swap_mask;

	return wqe;
}

/* The packet of IBTA if the masks change nothing: every peer executes it. */
static void test_masks(void)
{
	static const struct {
		u8	opcode;
		u64	compare_add;
		u64	swap;
		u8	packet;
	} cases[] = {
		{ 12, ~0ULL, ~0ULL, 0x13 },
		{ 12, ~0ULL, ~0ULL << 1, 0xd4 },
		{ 12, ~0ULL >> 1, ~0ULL, 0xd4 },
		{ 12, 0, 0, 0xd4 },
		{ 13, 0, 0, 0x14 },
		{ 13, 0, ~0ULL, 0x14 },
		{ 13, 1ULL << 63, 0, 0x14 },
		{ 13, 1ULL << 62, 0, 0xd5 },
		{ 13, 1, ~0ULL, 0xd5 },
		{ 13, ~0ULL, ~0ULL, 0xd5 },
		/* plain atomics have no masks */
		{ 5, 1, 1, 0x13 },
		{ 6, 1, 1, 0x14 },
	};
	unsigned int i;
	u8 packet;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		packet = srnic_wr_packet(masked(cases[i].opcode, cases[i].compare_add,
						cases[i].swap), true, true);
		if (packet != cases[i].packet)
			tap_fault("row %u: packet 0x%02x", i, packet);
	}
	tap_done("masks are sent if they change the operation");
}

/* Headers of the last packet are those of the only one, except for the RETH */
static void test_ends(void)
{
	unsigned int i;

	for (i = 0; i < SRNIC_WR_NUM; i++) {
		const struct srnic_wr *wr = &srnic_wrs[i];
		u16 ends = SRNIC_H_IMM | SRNIC_H_IETH;

		if (!has_row(i) || wr->local_op || !has_several(wr))
			continue;
		if ((srnic_ops[wr->only].hdrs & ends) !=
		    (srnic_ops[wr->last].hdrs & ends) ||
		    (srnic_ops[wr->first].hdrs | srnic_ops[wr->middle].hdrs) &
		    ends)
			tap_fault("opcode %u\n", i);
	}
	tap_done("immediate data and keys come with the last packet");
}

static void test_answers(void)
{
	/* responses of the request's family */
	static const u8 answers[] = {
		[SRNIC_FAM_SEND]	 = SRNIC_FAM_NONE,
		[SRNIC_FAM_WRITE]	 = SRNIC_FAM_NONE,
		[SRNIC_FAM_READ]	 = SRNIC_FAM_READ_RESP,
		[SRNIC_FAM_ATOMIC]	 = SRNIC_FAM_ATOMIC_ACK,
		[SRNIC_FAM_FLUSH]	 = SRNIC_FAM_READ_RESP,
		[SRNIC_FAM_ATOMIC_WRITE] = SRNIC_FAM_READ_RESP,
	};
	unsigned int i;

	for (i = 0; i < SRNIC_WR_NUM; i++) {
		const struct srnic_wr *wr = &srnic_wrs[i];

		if (has_row(i) && !wr->local_op &&
		    wr->answer != answers[srnic_ops[wr->only].family])
			tap_fault("opcode %u\n", i);
	}
	tap_done("each request has the response of its family");
}

/* If the response goes to the SGE list, the request has no payload, and vice versa */
static void test_sinks(void)
{
	unsigned int i;

	for (i = 0; i < SRNIC_WR_NUM; i++) {
		const struct srnic_wr *wr = &srnic_wrs[i];
		bool data;

		if (!has_row(i) || wr->local_op)
			continue;
		data = srnic_ops[wr->only].flags & SRNIC_OP_DATA;
		if (data == srnic_wr_has_sink(request(i, true)))
			tap_fault("opcode %u\n", i);
	}
	tap_done("an SGE list is for the payload or for the response");
}

static void test_keys(void)
{
	unsigned int i;

	for (i = 0; i < SRNIC_WR_NUM; i++) {
		const struct srnic_wr *wr = &srnic_wrs[i];

		if (wr->local_op && (wr->answer || wr->flags || wr->only ||
				     wr->first || wr->counter != SRNIC_CNT_NUM))
			tap_fault("opcode %u\n", i);
	}
	tap_done("operations that change a key send nothing");
}

int main(void)
{
	test_rows();
	test_packets();
	test_masks();
	test_ends();
	test_answers();
	test_sinks();
	test_keys();

	return tap_end();
}
