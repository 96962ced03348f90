// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: each error is completed with its status at both ends
 *
 * IBTA 1.x, chapter 9.9: what the requester and the responder of a reliable
 * connection report for each class of error, and the final states of the queue pairs.
 */
#include <unistd.h>

#include "vrb.h"

#define LEN	8192

/* A pair, and a region at each end; most cases use these. */
static struct pair p;
static struct mem ma, mb;
static struct ibv_sge sa;

static void setup(const struct opt *a, const struct opt *b, int remote_access)
{
	pair_make(&p, a, b);
	mem_make(&ma, &sides[0], LEN, FULL_ACCESS);
	mem_make(&mb, &sides[1], LEN, remote_access);
	fill(ma.p, LEN, 1);
	sa = sge_of(&ma, 0, 64);
}

/*
 * The requester's first request fails with @status.  The next request and a
 * receive of the responder are flushed, both ends enter the error state, and
 * the responder's program gets @event.
 */
static void refused(struct ibv_send_wr *wr, enum ibv_wc_status status,
		    enum ibv_event_type event)
{
	struct ibv_send_wr behind = wr_of(2, IBV_WR_RDMA_WRITE, &sa, 1);

	wr_target(&behind, &mb, 0);
	must_be(post_recv(&p.a, 10, NULL, 0), 0);
	must_be(post_recv(&p.b, 20, NULL, 0), 0);
	wr->next = &behind;
	must_be(post_one(&p.a, wr), 0);
	wc_want(p.a.scq, wr->wr_id, status);
	wc_want(p.a.scq, 2, IBV_WC_WR_FLUSH_ERR);
	wc_want(p.a.rcq, 10, IBV_WC_WR_FLUSH_ERR);
	wc_want(p.b.rcq, 20, IBV_WC_WR_FLUSH_ERR);
	state_becomes(&p.a, IBV_QPS_ERR);
	state_becomes(&p.b, IBV_QPS_ERR);
	event_want(&sides[1], event, p.b.qp);
	wc_none(p.a.scq, 10);
	error_none(&sides[0]);
	untouched(mb.p, mb.len, "the region of the responder");
}

static void access_refused(struct ibv_send_wr *wr)
{
	refused(wr, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
}

static void request_refused(struct ibv_send_wr *wr)
{
	refused(wr, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
}

static const enum ibv_wr_opcode ops[] = {
	IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD,
};

static struct ibv_send_wr op_wr(enum ibv_wr_opcode op, size_t off)
{
	struct ibv_send_wr wr;

	if (op == IBV_WR_ATOMIC_FETCH_AND_ADD ||
	    op == IBV_WR_ATOMIC_CMP_AND_SWP)
		sa.length = 8;
	wr = wr_of(1, op, &sa, 1);
	wr_target(&wr, &mb, off);
	return wr;
}

static void spoil_key(struct ibv_send_wr *wr, __u32 flip)
{
	if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		wr->wr.atomic.rkey ^= flip;
	else
		wr->wr.rdma.rkey ^= flip;
}

static void bad_key(enum ibv_wr_opcode op, __u32 flip)
{
	struct ibv_send_wr wr;

	setup(NULL, NULL, FULL_ACCESS);
	wr = op_wr(op, 0);
	spoil_key(&wr, flip);
	access_refused(&wr);
}

static void rkey_write(void)
{
	bad_key(ops[0], 0x55000);
}

static void rkey_read(void)
{
	bad_key(ops[1], 0x55000);
}

static void rkey_atomic(void)
{
	bad_key(ops[2], 0x55000);
}

static void rkey_old(void)
{
	bad_key(ops[0], 1);
}

static void rkey_write_imm(void)
{
	bad_key(IBV_WR_RDMA_WRITE_WITH_IMM, 0x55000);
}

static void rkey_gone(void)
{
	struct ibv_send_wr wr;
	struct ibv_mr *mr;

	setup(NULL, NULL, FULL_ACCESS);
	mr = ibv_reg_mr(sides[1].pd, mb.p, LEN, FULL_ACCESS);
	must(mr);
	wr = op_wr(IBV_WR_RDMA_WRITE, 0);
	wr.wr.rdma.rkey = mr->rkey;
	must_be(ibv_dereg_mr(mr), 0);
	access_refused(&wr);
}

static void range(enum ibv_wr_opcode op, ssize_t off)
{
	struct ibv_send_wr wr;

	setup(NULL, NULL, FULL_ACCESS);
	wr = op_wr(op, off);
	access_refused(&wr);
}

static void range_write(void)
{
	range(ops[0], LEN - 63);
}

static void range_read(void)
{
	range(ops[1], LEN - 63);
}

static void range_atomic(void)
{
	range(ops[2], LEN);
}

static void range_before(void)
{
	range(ops[0], -1);
}

static void range_wrap(void)
{
	struct ibv_send_wr wr;

	setup(NULL, NULL, FULL_ACCESS);
	wr = op_wr(ops[0], 0);
	wr.wr.rdma.remote_addr = ~0ULL - 31;
	access_refused(&wr);
}

/* only the last byte of a message of many packets is out of range */
static void range_long(void)
{
	struct ibv_send_wr wr;
	struct mem big;

	setup(NULL, NULL, FULL_ACCESS);
	mem_make(&big, &sides[0], 4 * LEN, FULL_ACCESS);
	fill(big.p, big.len, 2);
	sa = sge_of(&big, 0, LEN + 1);
	wr = op_wr(ops[0], 0);
	access_refused(&wr);
}

static void right(enum ibv_wr_opcode op, int without)
{
	struct ibv_send_wr wr;

	setup(NULL, NULL, FULL_ACCESS & ~without);
	wr = op_wr(op, 0);
	access_refused(&wr);
}

static void right_write(void)
{
	right(ops[0], IBV_ACCESS_REMOTE_WRITE);
}

static void right_read(void)
{
	right(ops[1], IBV_ACCESS_REMOTE_READ);
}

static void right_atomic(void)
{
	right(ops[2], IBV_ACCESS_REMOTE_ATOMIC);
}

static void other_pd(enum ibv_wr_opcode op)
{
	struct ibv_send_wr wr;

	setup(NULL, NULL, FULL_ACCESS);
	mem_own(&mb, pd_make(&sides[1]), FULL_ACCESS);
	wr = op_wr(op, 0);
	access_refused(&wr);
}

static void pd_write(void)
{
	other_pd(ops[0]);
}

static void pd_read(void)
{
	other_pd(ops[1]);
}

static void pd_atomic(void)
{
	other_pd(ops[2]);
}

static void not_enabled(enum ibv_wr_opcode op, int without)
{
	struct opt o = opt_default;
	struct ibv_send_wr wr;

	o.access &= ~without;
	setup(NULL, &o, FULL_ACCESS);
	wr = op_wr(op, 0);
	request_refused(&wr);
}

static void enabled_write(void)
{
	not_enabled(ops[0], IBV_ACCESS_REMOTE_WRITE);
}

static void enabled_read(void)
{
	not_enabled(ops[1], IBV_ACCESS_REMOTE_READ);
}

static void enabled_atomic(void)
{
	not_enabled(ops[2], IBV_ACCESS_REMOTE_ATOMIC);
}

static void unaligned(enum ibv_wr_opcode op)
{
	struct ibv_send_wr wr;

	setup(NULL, NULL, FULL_ACCESS);
	wr = op_wr(op, 4);
	request_refused(&wr);
}

static void unaligned_add(void)
{
	unaligned(IBV_WR_ATOMIC_FETCH_AND_ADD);
}

static void unaligned_swap(void)
{
	unaligned(IBV_WR_ATOMIC_CMP_AND_SWP);
}

static void no_depth(void)
{
	struct opt o = opt_default;
	struct ibv_send_wr wr;

	o.dest_rd_atomic = 0;
	setup(NULL, &o, FULL_ACCESS);
	wr = op_wr(IBV_WR_RDMA_READ, 0);
	request_refused(&wr);
}

/* A SEND fails at the receiver's buffer; each end has its own status. */
static void recv_fails(struct ibv_sge *recv, int n, size_t len,
		       enum ibv_wc_status at_b, enum ibv_wc_status at_a)
{
	struct ibv_send_wr wr;

	sa.length = len;
	wr = wr_of(1, IBV_WR_SEND, &sa, 1);
	must_be(post_recv(&p.b, 20, recv, n), 0);
	must_be(post_recv(&p.b, 21, NULL, 0), 0);
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.b.rcq, 20, at_b);
	wc_want(p.b.rcq, 21, IBV_WC_WR_FLUSH_ERR);
	wc_want(p.a.scq, 1, at_a);
	state_becomes(&p.a, IBV_QPS_ERR);
	state_becomes(&p.b, IBV_QPS_ERR);
	error_none(&sides[0]);
	error_none(&sides[1]);
}

static void recv_short(void)
{
	struct ibv_sge sge;

	setup(NULL, NULL, FULL_ACCESS);
	sge = sge_of(&mb, 0, 63);
	recv_fails(&sge, 1, 64, IBV_WC_LOC_LEN_ERR, IBV_WC_REM_INV_REQ_ERR);
	untouched(mb.p + 63, 100, "behind the receive buffer");
}

static void recv_short_long(void)
{
	struct ibv_sge sge;

	setup(NULL, NULL, FULL_ACCESS);
	sge = sge_of(&mb, 0, 6000);
	recv_fails(&sge, 1, LEN, IBV_WC_LOC_LEN_ERR, IBV_WC_REM_INV_REQ_ERR);
	untouched(mb.p + 6000, 100, "behind the receive buffer");
}

static void recv_none(void)
{
	setup(NULL, NULL, FULL_ACCESS);
	recv_fails(NULL, 0, 1, IBV_WC_LOC_LEN_ERR, IBV_WC_REM_INV_REQ_ERR);
}

static void recv_bad_lkey(void)
{
	struct ibv_sge sge;

	setup(NULL, NULL, FULL_ACCESS);
	sge = sge_of(&mb, 0, 64);
	sge.lkey ^= 0x55000;
	recv_fails(&sge, 1, 64, IBV_WC_LOC_PROT_ERR, IBV_WC_REM_OP_ERR);
}

static void recv_read_only(void)
{
	struct ibv_sge sge;

	setup(NULL, NULL, IBV_ACCESS_REMOTE_READ);
	sge = sge_of(&mb, 0, 64);
	recv_fails(&sge, 1, 64, IBV_WC_LOC_PROT_ERR, IBV_WC_REM_OP_ERR);
	untouched(mb.p, 64, "the read-only region");
}

static void recv_over_end(void)
{
	struct ibv_sge sge;

	setup(NULL, NULL, FULL_ACCESS);
	sge = sge_of(&mb, LEN - 32, 64);
	recv_fails(&sge, 1, 64, IBV_WC_LOC_PROT_ERR, IBV_WC_REM_OP_ERR);
}

/* Only the bytes that arrive must be in the region: programs round receives up. */
static void recv_beyond(size_t len)
{
	struct ibv_sge sge = sge_of(&mb, LEN - len, len + 4096);
	struct ibv_send_wr wr;

	fill(ma.p, len, len);
	sa.length = len;
	wr = wr_of(1, IBV_WR_SEND, &sa, 1);
	must_be(post_recv(&p.b, 20, &sge, 1), 0);
	must_be(post_one(&p.a, &wr), 0);
	must_be(wc_want(p.b.rcq, 20, IBV_WC_SUCCESS).byte_len, len);
	wc_want(p.a.scq, 1, IBV_WC_SUCCESS);
	same(mb.p + LEN - len, len, len, "received");
}

static void recv_names_more(void)
{
	setup(NULL, NULL, FULL_ACCESS);
	recv_beyond(1);
	recv_beyond(64);
	recv_beyond(5000);
	recv_beyond(LEN);
}

static void recv_other_pd(void)
{
	struct ibv_sge sge;

	setup(NULL, NULL, FULL_ACCESS);
	mem_own(&mb, pd_make(&sides[1]), FULL_ACCESS);
	sge = sge_of(&mb, 0, 64);
	recv_fails(&sge, 1, 64, IBV_WC_LOC_PROT_ERR, IBV_WC_REM_OP_ERR);
	untouched(mb.p, 64, "the region of another domain");
}

/* The requester's own memory is at fault, so the responder sees no request. */
static void local_fails(struct ibv_send_wr *wr)
{
	must_be(post_one(&p.a, wr), 0);
	wc_want(p.a.scq, 1, IBV_WC_LOC_PROT_ERR);
	state_becomes(&p.a, IBV_QPS_ERR);
	must_be(state_of(&p.b), IBV_QPS_RTS);
	error_none(&sides[0]);
}

static void local_bad_lkey(void)
{
	struct ibv_send_wr wr;

	setup(NULL, NULL, FULL_ACCESS);
	sa.lkey ^= 0x55000;
	wr = op_wr(IBV_WR_RDMA_WRITE, 0);
	local_fails(&wr);
	untouched(mb.p, mb.len, "the target");
}

static void local_over_end(void)
{
	struct ibv_send_wr wr;

	setup(NULL, NULL, FULL_ACCESS);
	sa = sge_of(&ma, LEN - 32, 64);
	wr = op_wr(IBV_WR_RDMA_WRITE, 0);
	local_fails(&wr);
	untouched(mb.p, mb.len, "the target");
}

static void local_other_pd(void)
{
	struct ibv_send_wr wr;

	setup(NULL, NULL, FULL_ACCESS);
	mem_own(&ma, pd_make(&sides[0]), FULL_ACCESS);
	sa = sge_of(&ma, 0, 64);
	wr = op_wr(IBV_WR_RDMA_WRITE, 0);
	local_fails(&wr);
	untouched(mb.p, mb.len, "the target");
}

static void local_read_only(enum ibv_wr_opcode op)
{
	struct ibv_send_wr wr;

	setup(NULL, NULL, FULL_ACCESS);
	mem_own(&ma, sides[0].pd, 0);
	sa = sge_of(&ma, 0, 64);
	wr = op_wr(op, 0);
	local_fails(&wr);
	same(ma.p, 64, 1, "the read-only region");
}

static void local_ro_read(void)
{
	local_read_only(IBV_WR_RDMA_READ);
}

static void local_ro_atomic(void)
{
	local_read_only(IBV_WR_ATOMIC_FETCH_AND_ADD);
}

/* ---- retries ---- */

static void rnr_exceeded(int retry)
{
	struct opt a = opt_default, b = opt_default;
	__u64 begin, took;
	struct ibv_send_wr wr;

	a.rnr_retry = retry;
	b.min_rnr = 20;		/* 10.24 ms */
	setup(&a, &b, FULL_ACCESS);
	wr = wr_of(1, IBV_WR_SEND, &sa, 1);
	begin = now_us();
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 1, IBV_WC_RNR_RETRY_EXC_ERR);
	took = now_us() - begin;
	if (took < retry * 10240ULL)
		case_fail("gave up after %llu us, %d times 10.24 ms is more",
			  (unsigned long long)took, retry);
	state_becomes(&p.a, IBV_QPS_ERR);
	must_be(state_of(&p.b), IBV_QPS_RTS);
	error_none(&sides[0]);
}

static void rnr_none(void)
{
	rnr_exceeded(0);
}

static void rnr_one(void)
{
	rnr_exceeded(1);
}

static void rnr_six(void)
{
	rnr_exceeded(6);
}

static void rnr_success(void)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	int i;

	setup(NULL, NULL, FULL_ACCESS);
	fill(ma.p, 64, 3);
	sge = sge_of(&mb, 0, 64);
	wr = wr_of(0, IBV_WR_SEND, &sa, 1);
	for (i = 0; i < 5; i++) {
		memset(mb.p, GUARD, 64);
		wr.wr_id = i;
		wr.opcode = i & 1 ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND;
		must_be(post_one(&p.a, &wr), 0);
		wc_none(p.a.scq, 15);
		must_be(post_recv(&p.b, i, &sge, 1), 0);
		wc_want(p.a.scq, i, IBV_WC_SUCCESS);
		wc_want(p.b.rcq, i, IBV_WC_SUCCESS);
		same(mb.p, 64, 3, "the send that had to wait");
	}
}

/* A WRITE with immediate that was delayed by RNR still carries all of its data. */
static void rnr_write_imm(void)
{
	struct ibv_send_wr wr;

	setup(NULL, NULL, FULL_ACCESS);
	fill(ma.p, LEN, 4);
	sa.length = LEN;
	wr = wr_of(1, IBV_WR_RDMA_WRITE_WITH_IMM, &sa, 1);
	wr_target(&wr, &mb, 0);
	must_be(post_one(&p.a, &wr), 0);
	wc_none(p.a.scq, 15);
	must_be(post_recv(&p.b, 2, NULL, 0), 0);
	wc_want(p.a.scq, 1, IBV_WC_SUCCESS);
	wc_want(p.b.rcq, 2, IBV_WC_SUCCESS);
	same(mb.p, LEN, 4, "the write that had to wait");
}

static void peer_gone(void)
{
	struct opt o = opt_default;
	struct ibv_send_wr wr;
	__u64 begin, took;
	int i;

	o.timeout = 12;		/* 16.8 ms */
	o.retry = 3;
	setup(&o, NULL, FULL_ACCESS);
	end_destroy_qp(&p.b);
	for (i = 0; i < 8; i++)
		must_be(post_recv(&p.a, 100 + i, NULL, 0), 0);
	begin = now_us();
	for (i = 1; i <= 8; i++) {
		wr = op_wr(IBV_WR_RDMA_WRITE, 0);
		wr.wr_id = i;
		must_be(post_one(&p.a, &wr), 0);
	}
	wc_want(p.a.scq, 1, IBV_WC_RETRY_EXC_ERR);
	took = now_us() - begin;
	/* at least one timeout for the request and one for each retransmission */
	if (took < 4 * 16777)
		case_fail("gave up after %llu us", (unsigned long long)took);
	for (i = 2; i <= 8; i++)
		wc_want(p.a.scq, i, IBV_WC_WR_FLUSH_ERR);
	for (i = 0; i < 8; i++)
		wc_want(p.a.rcq, 100 + i, IBV_WC_WR_FLUSH_ERR);
	wc_none(p.a.scq, 10);
	wc_none(p.a.rcq, 10);
	state_becomes(&p.a, IBV_QPS_ERR);
	error_none(&sides[0]);
}

static void peer_in_error(void)
{
	struct opt o = opt_default;
	struct ibv_send_wr wr;

	o.timeout = 10;
	o.retry = 2;
	setup(&o, NULL, FULL_ACCESS);
	must_be(to_state(&p.b, IBV_QPS_ERR), 0);
	wr = op_wr(IBV_WR_RDMA_WRITE, 0);
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 1, IBV_WC_RETRY_EXC_ERR);
}

/* ---- flushing ---- */

static void flush_order(void)
{
	struct ibv_send_wr wr;
	struct ibv_wc wc;
	int i;

	setup(NULL, NULL, FULL_ACCESS);
	/* SENDs that wait for receives that are never posted */
	for (i = 0; i < 32; i++) {
		must_be(post_recv(&p.a, 100 + i, NULL, 0), 0);
		wr = wr_of(i, IBV_WR_SEND, &sa, 1);
		if (i % 4)
			wr.send_flags = 0;
		must_be(post_one(&p.a, &wr), 0);
	}
	must_be(to_state(&p.a, IBV_QPS_ERR), 0);
	/* all are flushed in order, signalled or not */
	for (i = 0; i < 32; i++) {
		wc = wc_want(p.a.scq, i, IBV_WC_WR_FLUSH_ERR);
		must_be(wc.qp_num, p.a.qp->qp_num);
		wc_want(p.a.rcq, 100 + i, IBV_WC_WR_FLUSH_ERR);
	}
	/* requests posted in the error state are flushed as well */
	for (i = 0; i < 80; i++) {
		wr = wr_of(500 + i, IBV_WR_SEND, &sa, 1);
		must_be(post_one(&p.a, &wr), 0);
		must_be(post_recv(&p.a, 700 + i, NULL, 0), 0);
		wc_want(p.a.scq, 500 + i, IBV_WC_WR_FLUSH_ERR);
		wc_want(p.a.rcq, 700 + i, IBV_WC_WR_FLUSH_ERR);
	}
	wc_none(p.a.scq, 10);
	wc_none(p.a.rcq, 10);
}

static const struct vrb_case error_cases[] = {
	{ "access", "WRITE with a bad rkey", rkey_write },
	{ "access", "READ with a bad rkey", rkey_read },
	{ "access", "FETCH_ADD with a bad rkey", rkey_atomic },
	{ "access", "WRITE with a stale rkey", rkey_old },
	{ "access", "WRITE with immediate and a bad rkey", rkey_write_imm },
	{ "access", "WRITE to a deregistered region", rkey_gone },
	{ "access", "WRITE past the end", range_write },
	{ "access", "READ past the end", range_read },
	{ "access", "FETCH_ADD past the end", range_atomic },
	{ "access", "WRITE before the start", range_before },
	{ "access", "WRITE that wraps around the address space", range_wrap },
	{ "access", "long WRITE whose last byte is past the end", range_long },
	{ "access", "WRITE without REMOTE_WRITE", right_write },
	{ "access", "READ without REMOTE_READ", right_read },
	{ "access", "FETCH_ADD without REMOTE_ATOMIC", right_atomic },
	{ "access", "WRITE to another domain", pd_write },
	{ "access", "READ from another domain", pd_read },
	{ "access", "FETCH_ADD in another domain", pd_atomic },
	{ "invalid", "WRITE not enabled", enabled_write },
	{ "invalid", "READ not enabled", enabled_read },
	{ "invalid", "FETCH_ADD not enabled", enabled_atomic },
	{ "invalid", "FETCH_ADD not aligned", unaligned_add },
	{ "invalid", "CMP_SWP not aligned", unaligned_swap },
	{ "invalid", "READ of a responder with max_dest_rd_atomic 0", no_depth },
	{ "invalid", "SEND longer than the receive", recv_short },
	{ "invalid", "long SEND longer than the receive", recv_short_long },
	{ "invalid", "SEND to a receive without a buffer", recv_none },
	{ "local", "receive with a bad lkey", recv_bad_lkey },
	{ "local", "receive without LOCAL_WRITE", recv_read_only },
	{ "local", "receive past the end of its region", recv_over_end },
	{ "local", "receive longer than its region, message shorter",
	  recv_names_more },
	{ "local", "receive in another domain", recv_other_pd },
	{ "local", "send with a bad lkey", local_bad_lkey },
	{ "local", "send past the end of its region", local_over_end },
	{ "local", "send from another domain", local_other_pd },
	{ "local", "READ without LOCAL_WRITE", local_ro_read },
	{ "local", "FETCH_ADD without LOCAL_WRITE", local_ro_atomic },
	{ "retry", "RNR, no retry", rnr_none },
	{ "retry", "RNR, one retry", rnr_one },
	{ "retry", "RNR, six retries", rnr_six },
	{ "retry", "RNR, then a receive", rnr_success },
	{ "retry", "RNR of a WRITE with immediate, then a receive", rnr_write_imm },
	{ "retry", "the peer does not exist", peer_gone },
	{ "retry", "the peer is in error", peer_in_error },
	{ "flush", "all in order, posted before and after the error", flush_order },
};

VRB_TOPIC("errors", error_cases);
