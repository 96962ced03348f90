// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - work requests are validated according to the ABI header and the limits of IBTA
 *
 * The operations of a service and the length of a message (0 to 2^31 bytes, 8
 * of an atomic) are defined by the specification.  ibv_post_send() says that
 * READ and atomics have no inline data; ibv_wr_post() says that ATOMIC WRITE
 * may.
 */

#include <stdlib.h>

#include "queue/queue.h"
#include "tap.h"

#define MAX_SGE		32
#define MAX_INLINE	64
#define GIB		0x40000000U

static const enum ibv_qp_type services[] = {
	IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_XRC_SEND,
	IBV_QPT_RAW_PACKET,
};

#define SERVICES	"RUDXE"	/* one letter for each of them */

/* Required length of an operation, if it is fixed */
enum {
	ANY,
	NONE,
	EIGHT,
};

#define INLINE	BIT(0)	/* may have inline data */
#define KERNEL	BIT(1)	/* only the kernel may post it */

static const struct {
	unsigned int	opcode;
	const char	*services;
	int		bytes;
	unsigned int	marks;
} carried[] = {
	{ IBV_WR_SEND,			"RUDXE",	ANY,	INLINE },
	{ IBV_WR_SEND_WITH_IMM,		"RUDX",	ANY,	INLINE },
	{ IBV_WR_SEND_WITH_INV,		"RX",	ANY,	INLINE },
	{ IBV_WR_RDMA_WRITE,		"RUX",	ANY,	INLINE },
	{ IBV_WR_RDMA_WRITE_WITH_IMM,	"RUX",	ANY,	INLINE },
	{ IBV_WR_RDMA_READ,		"RX",	ANY,	0 },
	{ IBV_WR_ATOMIC_CMP_AND_SWP,	"RX",	EIGHT,	0 },
	{ IBV_WR_ATOMIC_FETCH_AND_ADD,	"RX",	EIGHT,	0 },
	{ IB_WR_MASKED_ATOMIC_CMP_AND_SWP,	"R",	EIGHT,	KERNEL },
	{ IB_WR_MASKED_ATOMIC_FETCH_AND_ADD,	"R",	EIGHT,	KERNEL },
	{ IB_WR_ATOMIC_WRITE,		"R",	EIGHT,	INLINE },
	{ IB_WR_FLUSH,			"R",	NONE,	0 },
	{ IBV_WR_LOCAL_INV,		"RUX",	NONE,	0 },
	{ IBV_WR_BIND_MW,		"RUX",	NONE,	0 },
	{ IB_WR_REG_MR,			"RUX",	NONE,	KERNEL },
};

/* The row of @opcode if @service supports it, as a number, or -1 */
static int line_of(unsigned int opcode, char service)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(carried); i++)
		if (carried[i].opcode == opcode)
			return strchr(carried[i].services, service) ? (int)i : -1;

	return -1;
}

static struct srnic_swqe *swqe;

static enum ib_wc_status judge_from(enum ibv_qp_type type, bool trusted)
{
	return srnic_swqe_check(swqe, type, MAX_SGE, MAX_INLINE, trusted);
}

static enum ib_wc_status judge(enum ibv_qp_type type)
{
	return judge_from(type, false);
}

/* Validates a request over RC whose SGEs have these lengths, up to a 0. */
static enum ib_wc_status judge_list(unsigned int opcode, const u32 *lengths)
{
	memset(swqe, 0, sizeof(*swqe));
	swqe->sqe.opcode = opcode;
	for (; *lengths; lengths++)
		swqe->sge[swqe->sqe.num_sge++].length = *lengths;

	return judge(IBV_QPT_RC);
}

#define lengths(...)	((const u32[]){ __VA_ARGS__, 0 })

static void test_opcode(unsigned int opcode, unsigned int service, bool trusted)
{
	int line = line_of(opcode, SERVICES[service]);
	bool taken = line >= 0 && (trusted || !(carried[line].marks & KERNEL));
	enum ib_wc_status status;

	swqe->sqe.opcode = opcode;
	swqe->sge[0].length = line >= 0 && carried[line].bytes == NONE ? 0 : 8;
	status = judge_from(services[service], trusted);
	if (status != (taken ? IBV_WC_SUCCESS : IBV_WC_LOC_QP_OP_ERR))
		tap_fault("opcode %u over %c: status %u", opcode,
			  SERVICES[service], status);
}

static void test_opcodes(bool trusted)
{
	unsigned int opcode, i;

	memset(swqe, 0, sizeof(*swqe));
	swqe->sqe.num_sge = 1;
	for (i = 0; i < ARRAY_SIZE(services); i++)
		for (opcode = 0; opcode < 256; opcode++)
			test_opcode(opcode, i, trusted);
	tap_done("a service accepts its operations, and no others");
}

static void test_length(void)
{
	u32 most[MAX_SGE + 1] = {};
	unsigned int i;

	tap_check(judge_list(IBV_WR_SEND, lengths(0)) == IBV_WC_SUCCESS,
		  "a message may be empty");
	tap_check(judge_list(IBV_WR_SEND, lengths(2 * GIB)) == IBV_WC_SUCCESS &&
		  judge_list(IBV_WR_SEND, lengths(GIB, GIB)) == IBV_WC_SUCCESS,
		  "a message may have 2^31 bytes");
	tap_check(judge_list(IBV_WR_SEND, lengths(2 * GIB + 1)) ==
		  IBV_WC_LOC_LEN_ERR &&
		  judge_list(IBV_WR_RDMA_READ, lengths(GIB, GIB, 1)) ==
		  IBV_WC_LOC_LEN_ERR, "it may not have more");
	tap_check(judge_list(IBV_WR_RDMA_WRITE, lengths(2 * GIB, 2 * GIB)) ==
		  IBV_WC_LOC_LEN_ERR &&
		  judge_list(IBV_WR_RDMA_WRITE, lengths(0xffffffff, 2)) ==
		  IBV_WC_LOC_LEN_ERR, "lengths are not added modulo 2^32");

	for (i = 0; i < MAX_SGE; i++)
		most[i] = 0xffffffff;
	tap_check(judge_list(IBV_WR_SEND, most) == IBV_WC_LOC_LEN_ERR,
		  "the maximum number of SGEs of maximum length");
}

static void test_fixed(void)
{
	static const u32 wrong[] = { 1, 4, 7, 9, 16, 0x80000000 };
	unsigned int i, line, opcode;
	bool eight;

	for (line = 0; line < ARRAY_SIZE(carried); line++) {
		opcode = carried[line].opcode;
		eight = carried[line].bytes == EIGHT;
		if (carried[line].bytes == ANY ||
		    carried[line].marks & KERNEL)
			continue;
		if (judge_list(opcode, lengths(8)) !=
		    (eight ? IBV_WC_SUCCESS : IBV_WC_LOC_LEN_ERR))
			tap_fault("opcode %u with 8 bytes", opcode);
		if (judge_list(opcode, lengths(0)) !=
		    (eight ? IBV_WC_LOC_LEN_ERR : IBV_WC_SUCCESS))
			tap_fault("opcode %u without an SGE", opcode);
		for (i = 0; i < ARRAY_SIZE(wrong); i++)
			if (judge_list(opcode, lengths(wrong[i])) !=
			    IBV_WC_LOC_LEN_ERR)
				tap_fault("opcode %u with %u bytes is accepted",
					  opcode, wrong[i]);
	}
	tap_done("an atomic has 8 bytes, operations without data have none");
}

static void test_num_sge(void)
{
	memset(swqe, 0, sizeof(*swqe) + MAX_SGE * sizeof(struct srnic_sge));
	swqe->sqe.opcode = IBV_WR_SEND;
	swqe->sqe.num_sge = MAX_SGE;
	tap_check(judge(IBV_QPT_RC) == IBV_WC_SUCCESS,
		  "as many SGEs as the queue supports");
	swqe->sqe.num_sge = MAX_SGE + 1;
	tap_check(judge(IBV_QPT_RC) != IBV_WC_SUCCESS,
		  "more SGEs than the queue supports are refused");
	swqe->sqe.num_sge = 0xffff;
	tap_check(judge(IBV_QPT_RC) != IBV_WC_SUCCESS,
		  "the largest number of SGEs is refused");
}

static void test_inline(void)
{
	unsigned int i;

	memset(swqe, 0, sizeof(*swqe));
	swqe->sqe.flags = IBV_SEND_INLINE;
	for (i = 0; i < ARRAY_SIZE(carried); i++) {
		swqe->sqe.opcode = carried[i].opcode;
		swqe->sqe.inline_len = carried[i].bytes == EIGHT ? 8 :
				       carried[i].bytes == NONE ? 0 : MAX_INLINE;
		if ((judge(IBV_QPT_RC) == IBV_WC_SUCCESS) !=
		    !!(carried[i].marks & INLINE))
			tap_fault("opcode %u", carried[i].opcode);
	}
	tap_done("data to be sent may be inline, and no other");

	swqe->sqe.opcode = IBV_WR_SEND;
	swqe->sqe.inline_len = MAX_INLINE + 1;
	tap_check(judge(IBV_QPT_RC) != IBV_WC_SUCCESS,
		  "more inline data than the queue supports is refused");
	swqe->sqe.inline_len = 0xffffffff;
	tap_check(judge(IBV_QPT_RC) != IBV_WC_SUCCESS,
		  "the largest inline length is refused");
}

/* The ABI: num_sge is 0 with inline data. */
static void test_inline_list(void)
{
	static const u16 nums[] = { 1, MAX_SGE, MAX_SGE + 1, 0xffff };
	unsigned int i, k;

	memset(swqe, 0, sizeof(*swqe));
	swqe->sqe.flags = IBV_SEND_INLINE;
	for (i = 0; i < ARRAY_SIZE(carried); i++) {
		swqe->sqe.opcode = carried[i].opcode;
		swqe->sqe.inline_len = carried[i].bytes == EIGHT ? 8 : 0;
		for (k = 0; k < ARRAY_SIZE(nums); k++) {
			swqe->sqe.num_sge = nums[k];
			if (judge(IBV_QPT_RC) == IBV_WC_SUCCESS)
				tap_fault("opcode %u, %u elements",
					  carried[i].opcode, nums[k]);
		}
	}
	tap_done("inline data and SGEs exclude each other");
}

/* Fills the entry that is posted next with nonzero values. */
static void *entry_new(struct srnic_ring *ring, u32 index)
{
	void *entry = srnic_ring_entry(ring, index);

	memset(entry, 0xa5, ring->stride);
	*ring->user = index + 1;

	return entry;
}

static void test_fetch_sges(struct srnic_sq *sq)
{
	struct srnic_sqe *sqe = entry_new(&sq->ring, 0);
	struct srnic_sge *sge = (struct srnic_sge *)(sqe + 1);
	struct srnic_swqe *wqe;

	sqe->opcode = IBV_WR_RDMA_WRITE;
	sqe->flags = IBV_SEND_SIGNALED;
	sqe->num_sge = 2;
	sge[0] = (struct srnic_sge){ .addr = 0x1000, .length = 3000, .lkey = 7 };
	sge[1] = (struct srnic_sge){ .addr = 0x9000, .length = 96, .lkey = 8 };
	wqe = srnic_sq_fetch(sq, IBV_QPT_RC);
	tap_check(wqe && wqe->status == IBV_WC_SUCCESS && wqe->length == 3096 &&
		  !memcmp(&wqe->sqe, sqe, sizeof(*sqe)) &&
		  !memcmp(wqe->sge, sge, 2 * sizeof(*sge)),
		  "a fetched request is the one that was posted");

	memset(sqe, 0xff, sq->ring.stride);
	tap_check(wqe && wqe->sqe.num_sge == 2 && wqe->sge[1].length == 96,
		  "a fetched request does not change if the ring is overwritten");
}

static void test_fetch_inline(struct srnic_sq *sq)
{
	static const char text[] = "sixteen bytes...";
	struct srnic_sqe *sqe = entry_new(&sq->ring, 1);
	struct srnic_swqe *wqe;

	sqe->opcode = IBV_WR_SEND;
	sqe->flags = IBV_SEND_INLINE;
	sqe->num_sge = 0;
	sqe->inline_len = sizeof(text);
	memcpy(sqe + 1, text, sizeof(text));
	wqe = srnic_sq_fetch(sq, IBV_QPT_RC);
	tap_check(wqe && wqe->status == IBV_WC_SUCCESS &&
		  wqe->length == sizeof(text) &&
		  !memcmp(wqe->sge, text, sizeof(text)), "its inline data is the posted data");
}

static void test_fetch_refused(struct srnic_sq *sq)
{
	struct srnic_sqe *sqe = entry_new(&sq->ring, 2);
	struct srnic_swqe *wqe;

	sqe->wr_id = 42;
	sqe->opcode = IBV_WR_SEND;
	sqe->flags = 0;
	sqe->num_sge = 0xffff;
	wqe = srnic_sq_fetch(sq, IBV_QPT_RC);
	tap_check(wqe && wqe->status != IBV_WC_SUCCESS && wqe->length == 0 &&
		  wqe->sqe.wr_id == 42, "a refused request has its wr_id");
	tap_check(wqe && !wqe->sqe.num_sge && !wqe->sqe.inline_len,
		  "a refused request has no SGE list");
}

static void test_fetch_inline_list(struct srnic_sq *sq)
{
	struct srnic_sqe *sqe = entry_new(&sq->ring, 3);
	struct srnic_swqe *wqe;

	memset(sqe, 0, sq->ring.stride);
	sqe->opcode = IB_WR_ATOMIC_WRITE;
	sqe->flags = IBV_SEND_INLINE;
	sqe->inline_len = 8;
	sqe->num_sge = 0xffff;
	wqe = srnic_sq_fetch(sq, IBV_QPT_RC);
	tap_check(wqe && wqe->status == IBV_WC_LOC_QP_OP_ERR &&
		  !wqe->sqe.num_sge,
		  "an inline operand with SGEs behind it is refused");
}

static void test_receive(struct srnic_rq *rq)
{
	struct srnic_rqe *rqe = entry_new(&rq->ring, 0);
	struct srnic_sge *sge = (struct srnic_sge *)(rqe + 1);
	struct srnic_rwqe wqe;

	rqe->wr_id = 1;
	rqe->num_sge = 2;
	sge[0].length = 0xffffffff;
	sge[1].length = 2;
	tap_check(srnic_rq_fetch(rq, &wqe) && wqe.status == IBV_WC_SUCCESS &&
		  wqe.wr_id == 1 && wqe.num_sge == 2 &&
		  wqe.length == 0x100000001ULL &&
		  !memcmp(wqe.sge, sge, 2 * sizeof(*sge)),
		  "a receive is as posted, its lengths added without overflow");

	rqe = entry_new(&rq->ring, 1);
	rqe->wr_id = 2;
	rqe->num_sge = 0;
	tap_check(srnic_rq_fetch(rq, &wqe) && wqe.status == IBV_WC_SUCCESS &&
		  wqe.num_sge == 0 && wqe.length == 0,
		  "a receive may have no SGEs");

	rqe = entry_new(&rq->ring, 2);
	rqe->wr_id = 3;
	rqe->num_sge = MAX_SGE + 1;
	tap_check(srnic_rq_fetch(rq, &wqe) && wqe.status != IBV_WC_SUCCESS &&
		  wqe.wr_id == 3 && wqe.num_sge == 0 && wqe.length == 0,
		  "one more than the queue supports is refused");

	rqe = entry_new(&rq->ring, 3);
	rqe->num_sge = 0xffffffff;
	tap_check(srnic_rq_fetch(rq, &wqe) && wqe.status != IBV_WC_SUCCESS &&
		  wqe.num_sge == 0, "the largest number of SGEs is refused");
}

int main(void)
{
	struct srnic_sq sq = {};
	struct srnic_rq rq = {};

	swqe = malloc(sizeof(*swqe) + MAX_SGE * sizeof(struct srnic_sge));
	test_opcodes(false);
	test_opcodes(true);
	test_length();
	test_fixed();
	test_num_sge();
	test_inline();
	test_inline_list();
	free(swqe);

	if (!srnic_sq_init(&sq, SRNIC_ABI_OWN, 4, MAX_SGE, MAX_INLINE)) {
		test_fetch_sges(&sq);
		test_fetch_inline(&sq);
		test_fetch_refused(&sq);
		test_fetch_inline_list(&sq);
		srnic_sq_destroy(&sq);
	}
	if (!srnic_rq_init(&rq, SRNIC_ABI_OWN, 4, MAX_SGE)) {
		test_receive(&rq);
		srnic_rq_destroy(&rq);
	}

	return tap_end();
}
