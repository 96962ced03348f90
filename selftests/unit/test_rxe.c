// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - rings in the user ABI of rdma_rxe have the layout that its provider expects
 *
 * Offsets and sizes are literal numbers, those that librxe has been compiled with.
 */
#include <stdlib.h>
#include <string.h>
#include <rdma/rdma_user_rxe.h>

#include "queue/queue.h"
#include "tap.h"

#define ENTRIES		5	/* in 8 slots, of which one is unused */
#define ROOM		7
#define MAX_SGE		4
#define MAX_INLINE	64
#define WQE_BYTES	sizeof(struct rxe_send_wqe)

static u32 overruns;

static void cq_event(struct srnic_cq *cq)
{
	(void)cq;
}

static void cq_overrun(struct srnic_cq *cq)
{
	(void)cq;
	overruns++;
}

/* Offsets of the words of the header in librxe */
static u32 *word(const struct srnic_ring *ring, size_t offset)
{
	return (u32 *)((char *)ring->hdr + offset);
}

#define LOG2_SIZE	0
#define INDEX_MASK	4
#define PRODUCER	128
#define CONSUMER	256
#define DATA		384

static void *slot(const struct srnic_ring *ring, u32 index)
{
	return (char *)ring->hdr + DATA +
	       ((size_t)(index & *word(ring, INDEX_MASK)) <<
		*word(ring, LOG2_SIZE));
}

static void test_layout(void)
{
	static const struct {
		u32	asked;
		u32	slots;
	} sizes[] = {
		{ 1, 2 }, { 3, 4 }, { 4, 8 }, { 7, 8 }, { 1024, 2048 },
		{ SRNIC_MAX_WR - 1, SRNIC_MAX_WR },
	};
	struct srnic_ring ring = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		if (srnic_ring_alloc(&ring, SRNIC_ABI_RXE, SRNIC_RING_WORK,
				     sizes[i].asked, 300)) {
			tap_fault("no ring of %u entries", sizes[i].asked);
			continue;
		}
		if (*word(&ring, INDEX_MASK) != sizes[i].slots - 1 ||
		    *word(&ring, LOG2_SIZE) != 9)
			tap_fault("%u entries: mask %u, size 2^%u",
				  sizes[i].asked, *word(&ring, INDEX_MASK),
				  *word(&ring, LOG2_SIZE));
		if (ring.room != sizes[i].slots - 1 ||
		    ring.size < DATA + sizes[i].slots * 512)
			tap_fault("%u entries: room for %u in %zu bytes",
				  sizes[i].asked, ring.room, ring.size);
		srnic_ring_free(&ring);
	}
	tap_done("one slot more than entries, and sizes are powers of two");

	tap_check(srnic_ring_alloc(&ring, SRNIC_ABI_RXE, SRNIC_RING_WORK,
				   0x80000000, 64) == -EINVAL,
		  "a number of slots that has 33 bits is refused");
}

/* Writes a WQE at the producer's index and moves that, as librxe does. */
static struct rxe_send_wqe *sq_post(struct srnic_sq *sq)
{
	u32 *prod = word(&sq->ring, PRODUCER);
	struct rxe_send_wqe *wqe = slot(&sq->ring, *prod);

	memset(wqe, 0, sq->ring.stride);
	*prod = (*prod + 1) & *word(&sq->ring, INDEX_MASK);

	return wqe;
}

/* Fields of a WQE that belong to rdma_rxe's kernel must be ignored. */
static void wqe_soil(struct rxe_send_wqe *wqe)
{
	wqe->status = ~0U;
	wqe->state = ~0U;
	wqe->iova = ~0ULL;
	wqe->mask = ~0U;
	wqe->first_psn = ~0U;
	wqe->last_psn = ~0U;
	wqe->ack_length = ~0U;
	wqe->ssn = ~0U;
	wqe->has_rd_atomic = ~0U;
	wqe->dma.resid = ~0U;
	wqe->dma.cur_sge = ~0U;
	wqe->dma.sge_offset = ~0U;
	wqe->dma.reserved = ~0U;
}

static const struct srnic_swqe *sq_complete(struct srnic_sq *sq,
					    enum ibv_qp_type type)
{
	const struct srnic_swqe *wqe = srnic_sq_fetch(sq, type);

	sq->head = sq->tail;
	srnic_sq_publish(sq);

	return wqe;
}

static void test_sq_indices(struct srnic_sq *sq)
{
	const struct srnic_swqe *wqe;
	u32 i, n;

	for (i = 0; i < 100; i += n)  {
		for (n = 0; n < ROOM; n++) {
			struct rxe_send_wqe *posted = sq_post(sq);

			posted->wr.opcode = IBV_WR_SEND;
			posted->wr.wr_id = i + n;
		}
		for (n = 0; n < ROOM; n++) {
			wqe = srnic_sq_fetch(sq, IBV_QPT_RC);
			if (!wqe || wqe->status || wqe->sqe.wr_id != i + n)
				tap_fault("not %u", i + n);
		}
		if (srnic_sq_fetch(sq, IBV_QPT_RC))
			tap_fault("more than was posted");
		sq->head = sq->tail;
		srnic_sq_publish(sq);
		if (*word(&sq->ring, CONSUMER) != ((i + n) & 7))
			tap_fault("consumer is %u", *word(&sq->ring, CONSUMER));
	}
	tap_done("a full send ring is fetched repeatedly");
	srnic_sq_reset(sq);
	tap_check(!*word(&sq->ring, CONSUMER) && !*word(&sq->ring, PRODUCER),
		  "reset resets both indices");
}

static void test_rdma(struct srnic_sq *sq)
{
	struct rxe_send_wqe *wqe = sq_post(sq);
	const struct srnic_swqe *got;

	wqe_soil(wqe);
	wqe->wr.wr_id = 0x1122334455667788;
	wqe->wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	wqe->wr.send_flags = IBV_SEND_SIGNALED | 0x100;
	wqe->wr.ex.imm_data = htobe32(0x01020304);
	wqe->wr.wr.rdma.remote_addr = 0x123456789a;
	wqe->wr.wr.rdma.rkey = 0xabcd;
	wqe->dma.num_sge = 2;
	wqe->dma.length = 12345;
	wqe->dma.sge[0] = (struct rxe_sge){ 0x1000, 100, 7 };
	wqe->dma.sge[1] = (struct rxe_sge){ 0x2000, 11, 8 };
	got = sq_complete(sq, IBV_QPT_RC);
	tap_check(got && !got->status && got->length == 111 &&
		  got->sqe.wr_id == 0x1122334455667788 &&
		  got->sqe.flags == IBV_SEND_SIGNALED &&
		  got->sqe.opcode == IBV_WR_RDMA_WRITE_WITH_IMM &&
		  got->sqe.imm_data == htobe32(0x01020304) &&
		  got->sqe.remote_addr == 0x123456789a &&
		  got->sqe.rkey == 0xabcd && got->sqe.num_sge == 2 &&
		  got->sge[0].addr == 0x1000 && got->sge[0].length == 100 &&
		  got->sge[0].lkey == 7 && got->sge[1].addr == 0x2000 &&
		  got->sge[1].length == 11 && got->sge[1].lkey == 8,
		  "WRITE with immediate; its length is that of the SGEs");
}

static void test_atomic(struct srnic_sq *sq)
{
	struct rxe_send_wqe *wqe = sq_post(sq);
	const struct srnic_swqe *got;

	wqe_soil(wqe);
	wqe->wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	wqe->wr.wr.atomic.remote_addr = 0x123456789a;
	wqe->wr.wr.atomic.rkey = 0xabcd;
	wqe->wr.wr.atomic.compare_add = 0x1111111122222222;
	wqe->wr.wr.atomic.swap = 0x3333333344444444;
	wqe->dma.num_sge = 1;
	wqe->dma.sge[0] = (struct rxe_sge){ 0x1000, 8, 7 };
	got = sq_complete(sq, IBV_QPT_RC);
	tap_check(got && !got->status && got->length == 8 &&
		  got->sqe.remote_addr == 0x123456789a &&
		  got->sqe.rkey == 0xabcd &&
		  got->sqe.atomic.compare_add == 0x1111111122222222 &&
		  got->sqe.atomic.swap == 0x3333333344444444,
		  "CMP_SWP and its operands");
}

static void test_ud(struct srnic_sq *sq)
{
	struct rxe_send_wqe *wqe = sq_post(sq);
	const struct srnic_swqe *got;

	wqe_soil(wqe);
	memset(&wqe->wr.wr.ud.av, 0xff, sizeof(wqe->wr.wr.ud.av));
	wqe->wr.opcode = IBV_WR_SEND;
	wqe->wr.wr.ud.remote_qpn = 0x123456;
	wqe->wr.wr.ud.remote_qkey = 0x11111111;
	wqe->wr.wr.ud.ah_num = 77;
	got = sq_complete(sq, IBV_QPT_UD);
	tap_check(got && !got->status && !got->length &&
		  got->sqe.ud.ah == 77 && got->sqe.ud.qpn == 0x123456 &&
		  got->sqe.ud.qkey == 0x11111111,
		  "the destination of a datagram is an address handle's number");
}

static void test_bind(struct srnic_sq *sq)
{
	struct rxe_send_wqe *wqe = sq_post(sq);
	const struct srnic_swqe *got;

	wqe_soil(wqe);
	wqe->wr.opcode = IBV_WR_BIND_MW;
	wqe->wr.wr.mw.addr = 0x1000;
	wqe->wr.wr.mw.length = 0x2000;
	wqe->wr.wr.mw.mr_lkey = 3;
	wqe->wr.wr.mw.mw_rkey = 4;
	wqe->wr.wr.mw.rkey = 5;
	wqe->wr.wr.mw.access = 6;
	got = sq_complete(sq, IBV_QPT_RC);
	tap_check(got && !got->status && got->sqe.bind.addr == 0x1000 &&
		  got->sqe.bind.length == 0x2000 &&
		  got->sqe.bind.mr_lkey == 3 && got->sqe.bind.mw_rkey == 4 &&
		  got->sqe.bind.new_rkey == 5 && got->sqe.bind.access == 6,
		  "BIND_MW and its parameters");
}

static void test_inv(struct srnic_sq *sq)
{
	struct rxe_send_wqe *wqe = sq_post(sq);
	const struct srnic_swqe *got;

	wqe_soil(wqe);
	wqe->wr.opcode = IBV_WR_LOCAL_INV;
	wqe->wr.ex.invalidate_rkey = 0x1234;
	got = sq_complete(sq, IBV_QPT_RC);
	tap_check(got && !got->status && got->sqe.invalidate_rkey == 0x1234,
		  "LOCAL_INV and its key");
}

/* The length is 8 bytes after remote_addr; the key, type and level follow. */
static void test_flush(struct srnic_sq *sq)
{
	struct rxe_send_wqe *wqe = sq_post(sq);
	u8 *par = (u8 *)&wqe->wr.wr;
	const struct srnic_swqe *got;
	u64 addr = 0x123456789a;
	u32 key = 0xabcd;

	wqe_soil(wqe);
	wqe->wr.opcode = IB_WR_FLUSH;
	wqe->dma.length = 0x5000;
	memcpy(par, &addr, 8);
	memcpy(par + 12, &key, 4);
	par[16] = 2;
	par[17] = 1;
	got = sq_complete(sq, IBV_QPT_RC);
	tap_check(got && !got->status && !got->length &&
		  got->sqe.remote_addr == addr && got->sqe.rkey == key &&
		  got->sqe.flush.length == 0x5000 &&
		  got->sqe.flush.type == 2 && got->sqe.flush.level == 1,
		  "FLUSH and its range, which carries no data");
}

static const struct {
	u32		opcode;
	u32		flags;
	u32		num_sge;
	u32		length;
	u8		status;
	const char	*what;
} inlines[] = {
	{ IBV_WR_SEND, IBV_SEND_INLINE, 3, 20, 0,
	  "inline data from three SGEs" },
	{ IBV_WR_SEND, 0, 0, 20, 0,
	  "inline data of ibv_wr_set_inline_data(), without a flag" },
	{ IB_WR_ATOMIC_WRITE, 0, 0, 8, 0,
	  "the operand of ATOMIC_WRITE" },
	{ IBV_WR_RDMA_WRITE, IBV_SEND_INLINE, 1, MAX_INLINE + 1,
	  IBV_WC_LOC_QP_OP_ERR, "too much inline data is refused" },
	{ IBV_WR_RDMA_WRITE, IBV_SEND_INLINE, 1, 0xffffffff,
	  IBV_WC_LOC_QP_OP_ERR, "far too much inline data is refused" },
	{ IBV_WR_RDMA_READ, 0, 0, 20, IBV_WC_LOC_QP_OP_ERR,
	  "READ into inline data is refused" },
	{ IBV_WR_SEND, 0, MAX_SGE + 1, 0, IBV_WC_LOC_QP_OP_ERR,
	  "too many SGEs are refused" },
	{ IBV_WR_SEND, 0, 0x10001, 0, IBV_WC_LOC_QP_OP_ERR,
	  "more SGEs than 16 bits count are refused" },
	{ 0x102, 0, 0, 0, IBV_WC_LOC_QP_OP_ERR,
	  "an operation of nine bits is refused" },
	{ IB_WR_REG_MR, 0, 0, 0, IBV_WC_LOC_QP_OP_ERR,
	  "REG_MR is refused, as only the kernel may post it" },
};

static void test_inline(struct srnic_sq *sq)
{
	const struct srnic_swqe *got;
	struct rxe_send_wqe *wqe;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(inlines); i++) {
		wqe = sq_post(sq);
		wqe_soil(wqe);
		wqe->wr.opcode = inlines[i].opcode;
		wqe->wr.send_flags = inlines[i].flags;
		wqe->dma.num_sge = inlines[i].num_sge;
		wqe->dma.length = inlines[i].length;
		memset((char *)wqe + WQE_BYTES, 0x5a, 20);
		got = sq_complete(sq, IBV_QPT_RC);
		if (!got || got->status != inlines[i].status)
			tap_fault("status %d", got ? got->status : -1);
		else if (!got->status &&
			 (got->length != inlines[i].length ||
			  got->sqe.num_sge ||
			  memcmp(got->sge, (char *)wqe + WQE_BYTES,
				 got->length)))
			tap_fault("%u bytes", got->length);
		tap_done(inlines[i].what);
	}
}

static void test_recv(struct srnic_rq *rq)
{
	u32 *prod = word(&rq->ring, PRODUCER);
	struct rxe_recv_wqe *wqe;
	struct srnic_rwqe got;
	u32 i;

	for (i = 0; i < 50; i++) {
		wqe = slot(&rq->ring, *prod);
		memset(wqe, 0xff, sizeof(*wqe));
		wqe->wr_id = i;
		wqe->dma.num_sge = i % (MAX_SGE + 2);
		wqe->dma.sge[0] = (struct rxe_sge){ 0x1000, 100, 7 };
		memset(&wqe->dma.sge[1], 0, (MAX_SGE - 1) * sizeof(wqe->dma.sge[0]));
		*prod = (*prod + 1) & *word(&rq->ring, INDEX_MASK);
		if (!srnic_rq_fetch(rq, &got) || got.wr_id != i ||
		    *word(&rq->ring, CONSUMER) != *prod)
			tap_fault("not %u", i);
		else if (!got.status != (wqe->dma.num_sge <= MAX_SGE) ||
			 got.length != (got.num_sge ? 100 : 0))
			tap_fault("%u: status %u, %u SGEs", i, got.status,
				  got.num_sge);
		if (srnic_rq_fetch(rq, &got))
			tap_fault("more than was posted");
	}
	tap_done("receives, some of them with too many SGEs");
}

/* librxe writes no index above the mask. */
static void test_bad_index(struct srnic_sq *sq, struct srnic_rq *rq)
{
	static const u32 bad[] = { 8, 0x80000003, 0xffffffff, 0x7fffffff };
	struct srnic_rwqe got;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		srnic_sq_reset(sq);
		srnic_rq_reset(rq);
		*word(&sq->ring, PRODUCER) = bad[i];
		*word(&rq->ring, PRODUCER) = bad[i];
		if (srnic_sq_fetch(sq, IBV_QPT_RC) || !sq->broken)
			tap_fault("%#x: the SQ works", bad[i]);
		if (srnic_rq_fetch(rq, &got) || !srnic_rq_is_broken(rq))
			tap_fault("%#x: the RQ works", bad[i]);
	}
	tap_done("an index out of range breaks the queue");
}

/* struct ibv_wc: what librxe copies to the program */
static void test_cq(struct srnic_cq *cq)
{
	struct srnic_cqe cqe = {
		.wr_id = 0x1122334455667788, .status = IBV_WC_RNR_RETRY_EXC_ERR,
		.opcode = IBV_WC_RECV_RDMA_WITH_IMM, .vendor_err = 9,
		.byte_len = 10, .imm_data = htobe32(0x01020304), .qpn = 11,
		.src_qp = 12, .flags = IBV_WC_GRH | IBV_WC_WITH_IMM,
		.pkey_index = 13, .sl = 14,
	};
	struct ibv_wc wc;
	u32 i;

	for (i = 0; i < 30; i++) {
		if (!srnic_cq_push(cq, &cqe, false))
			tap_fault("completion %u is lost", i);
		memset(&wc, 0xff, sizeof(wc));
		memcpy(&wc, slot(&cq->ring, *word(&cq->ring, CONSUMER)),
		       sizeof(wc));
		*word(&cq->ring, CONSUMER) = (i + 1) & 7;
		if (*word(&cq->ring, PRODUCER) != ((i + 1) & 7))
			tap_fault("producer is %u", *word(&cq->ring, PRODUCER));
	}
	tap_done("completions wrap around the ring");
	tap_check(wc.wr_id == 0x1122334455667788 &&
		  wc.status == IBV_WC_RNR_RETRY_EXC_ERR &&
		  wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM &&
		  wc.vendor_err == 9 && wc.byte_len == 10 &&
		  wc.imm_data == htobe32(0x01020304) && wc.qp_num == 11 &&
		  wc.src_qp == 12 && wc.pkey_index == 13 && wc.sl == 14 &&
		  wc.wc_flags == (IBV_WC_GRH | IBV_WC_WITH_IMM) && !wc.slid,
		  "a completion is a struct ibv_wc");
}

/* The sl field has bit 3 for UDP, and 1 for IPv6 or 2 for IPv4; UCX requires it. */
static void test_ip_version(struct srnic_cq *cq)
{
	static const struct {
		u8	version;
		u8	sl;
	} rows[] = { { 4, 10 }, { 6, 9 }, { 0, 3 } };
	struct srnic_cqe cqe = { .flags = IBV_WC_GRH, .sl = 3 };
	struct ibv_wc wc;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		cqe.ip_version = rows[i].version;
		srnic_cq_push(cq, &cqe, false);
		memcpy(&wc, slot(&cq->ring, *word(&cq->ring, CONSUMER)),
		       sizeof(wc));
		*word(&cq->ring, CONSUMER) = *word(&cq->ring, PRODUCER);
		if (wc.sl != rows[i].sl)
			tap_fault("IP version %u: sl %u", rows[i].version, wc.sl);
	}
	tap_done("a datagram's completion has its IP version");
}

static void test_overrun(struct srnic_cq *cq)
{
	struct srnic_cqe cqe = {};
	u32 n = 0;

	while (n < 20 && srnic_cq_push(cq, &cqe, false))
		n++;
	tap_check(n == ROOM && overruns == 1,
		  "one completion too many is an overrun");
}

/* The unread completions move, wherever they are in the ring. */
static void test_resize(struct srnic_cq *cq)
{
	static const u32 sizes[] = { 20, 5, 3, 60 };
	struct srnic_cqe cqe = {};
	struct srnic_ring ring;
	struct ibv_wc wc;
	unsigned int i;
	u32 n;

	for (i = 0; i < 3; i++) {
		cqe.wr_id = i;
		srnic_cq_push(cq, &cqe, false);
	}
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		if (srnic_ring_alloc(&ring, SRNIC_ABI_RXE, SRNIC_RING_COMP,
				     sizes[i], cq->ring.stride) ||
		    srnic_cq_replace(cq, &ring)) {
			tap_fault("not moved to %u entries", sizes[i]);
			continue;
		}
		srnic_ring_free(&ring);
		for (n = 0; n < 3; n++) {
			memcpy(&wc, slot(&cq->ring, *word(&cq->ring, CONSUMER) + n),
			       sizeof(wc));
			if (wc.wr_id != n)
				tap_fault("%u entries: not %u", sizes[i], n);
		}
		n = *word(&cq->ring, PRODUCER) - *word(&cq->ring, CONSUMER);
		if ((n & *word(&cq->ring, INDEX_MASK)) != 3)
			tap_fault("%u entries: %u unread", sizes[i], n);
	}
	tap_done("unread completions move to a ring of another size");
	srnic_cq_push(cq, &cqe, false);
	if (!srnic_ring_alloc(&ring, SRNIC_ABI_RXE, SRNIC_RING_COMP, 1,
			      cq->ring.stride)) {
		tap_check(srnic_cq_replace(cq, &ring) == -EINVAL,
			  "a ring that is too small for the unread completions is refused");
		srnic_ring_free(&ring);
	}
}

static bool cq_make(struct srnic_cq *cq)
{
	cq->notify = cq_event;
	cq->later = cq_event;
	cq->overrun = cq_overrun;

	return !srnic_cq_init(cq, SRNIC_ABI_RXE, ENTRIES);
}

int main(void)
{
	struct srnic_cq cq = {};
	struct srnic_sq sq = {};
	struct srnic_rq rq = {};

	test_layout();
	if (!srnic_sq_init(&sq, SRNIC_ABI_RXE, ENTRIES, MAX_SGE, MAX_INLINE)) {
		test_sq_indices(&sq);
		test_rdma(&sq);
		test_atomic(&sq);
		test_ud(&sq);
		test_bind(&sq);
		test_inv(&sq);
		test_flush(&sq);
		test_inline(&sq);
		if (!srnic_rq_init(&rq, SRNIC_ABI_RXE, ENTRIES, MAX_SGE)) {
			test_recv(&rq);
			test_bad_index(&sq, &rq);
			srnic_rq_destroy(&rq);
		}
		srnic_sq_destroy(&sq);
	}
	if (cq_make(&cq)) {
		test_cq(&cq);
		test_ip_version(&cq);
		test_overrun(&cq);
		srnic_cq_destroy(&cq);
	}
	if (cq_make(&cq)) {
		test_cq(&cq);
		test_resize(&cq);
		srnic_cq_destroy(&cq);
	}

	return tap_end();
}
