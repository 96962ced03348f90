// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: the sender's own memory is checked first
 *
 * In each case both ends have a reason to refuse the request.  The sender cannot build the
 * packet from which the responder would learn of its own reason, so the sender fails alone:
 * the responder's queue pair stays in service and consumes no receive.
 */
#include <sys/mman.h>

#include "odp.h"

#define LEN	16384
#define FLIP	0x55000		/* XORed into a key: no such key exists */

static struct pair p;
static struct mem ma, mb;
static struct ibv_sge sa[2];

static void setup_opt(const struct opt *a, const struct opt *b)
{
	pair_make(&p, a, b);
	mem_make(&ma, &sides[0], LEN, FULL_ACCESS);
	mem_make(&mb, &sides[1], LEN, FULL_ACCESS);
	fill(ma.p, LEN, 1);
	sa[0] = sge_of(&ma, 0, 64);
	sa[1] = sge_of(&ma, 64, 64);
}

static void setup(void)
{
	setup_opt(NULL, NULL);
	sa[0].lkey ^= FLIP;
}

static void setup_type(enum ibv_qp_type type)
{
	struct opt o = opt_default;

	o.type = type;
	setup_opt(&o, &o);
	sa[0].lkey ^= FLIP;
}

/* A remote address that the responder would refuse */
static struct ibv_send_wr refused_wr(enum ibv_wr_opcode op, int num)
{
	struct ibv_send_wr wr = wr_of(1, op, sa, num);

	wr_target(&wr, &mb, 0);
	if (op == IBV_WR_ATOMIC_FETCH_AND_ADD)
		wr.wr.atomic.rkey ^= FLIP;
	else
		wr.wr.rdma.rkey ^= FLIP;
	return wr;
}

/* An error puts a reliable connection into ERR, and an unreliable one into SQE. */
static void sender_fails(struct ibv_send_wr *wr)
{
	must_be(post_one(&p.a, wr), 0);
	wc_want(p.a.scq, 1, IBV_WC_LOC_PROT_ERR);
	state_becomes(&p.a, p.a.o.type == IBV_QPT_UC ? IBV_QPS_SQE :
						       IBV_QPS_ERR);
	must_be(state_of(&p.b), IBV_QPS_RTS);
	wc_none(p.b.rcq, 0);
	error_none(&sides[0]);
	error_none(&sides[1]);
	untouched(mb.p, LEN, "the responder's memory");
}

static void access_fails(enum ibv_wr_opcode op, int num)
{
	struct ibv_send_wr wr = refused_wr(op, num);

	sender_fails(&wr);
}

/* The request would consume the receive @sge, which must be flushed instead. */
static void send_fails(enum ibv_wr_opcode op, int num, struct ibv_sge *sge)
{
	struct ibv_send_wr wr = refused_wr(op, num);

	must_be(post_recv(&p.b, 20, sge, 1), 0);
	sender_fails(&wr);
	must_be(to_state(&p.b, IBV_QPS_ERR), 0);
	wc_want(p.b.rcq, 20, IBV_WC_WR_FLUSH_ERR);
}

/* ---- access to the responder's memory ---- */

static void write_key(void)
{
	setup();
	access_fails(IBV_WR_RDMA_WRITE, 1);
}

static void write_long(void)
{
	setup();
	sa[0].length = LEN;
	access_fails(IBV_WR_RDMA_WRITE, 1);
}

static void write_range(void)
{
	setup_opt(NULL, NULL);
	sa[0] = sge_of(&ma, LEN - 63, 64);
	access_fails(IBV_WR_RDMA_WRITE, 1);
}

static void write_domain(void)
{
	setup_opt(NULL, NULL);
	mem_own(&ma, pd_make(&sides[0]), FULL_ACCESS);
	sa[0] = sge_of(&ma, 0, 64);
	access_fails(IBV_WR_RDMA_WRITE, 1);
}

static void write_second(void)
{
	setup_opt(NULL, NULL);
	sa[1].lkey ^= FLIP;
	access_fails(IBV_WR_RDMA_WRITE, 2);
}

static void write_not_enabled(void)
{
	struct opt b = opt_default;

	b.access = 0;
	setup_opt(NULL, &b);
	sa[0].lkey ^= FLIP;
	access_fails(IBV_WR_RDMA_WRITE, 1);
}

static void write_absent(void)
{
	struct store st;

	setup_opt(NULL, NULL);
	store_make(&st, &sides[0], CHUNK, 0, WAY_RANGE, FULL_ACCESS);
	must_be(munmap(st.start, PAGE), 0);
	sa[1] = sge_of(&st.m, 0, 64);
	access_fails(IBV_WR_RDMA_WRITE, 2);
}

static void atomic_write(void)
{
	struct opt a = opt_default;

	a.send_ops = IBV_QP_EX_WITH_ATOMIC_WRITE;
	a.inline_data = 0;
	setup_opt(&a, NULL);
	sa[0].length = 8;
	sa[0].lkey ^= FLIP;
	access_fails(IBV_WR_ATOMIC_WRITE, 1);
}

static void read_key(void)
{
	setup();
	access_fails(IBV_WR_RDMA_READ, 1);
}

static void read_second(void)
{
	setup_opt(NULL, NULL);
	sa[1].lkey ^= FLIP;
	access_fails(IBV_WR_RDMA_READ, 2);
}

static void atomic_key(void)
{
	setup();
	sa[0].length = 8;
	access_fails(IBV_WR_ATOMIC_FETCH_AND_ADD, 1);
}

/* ---- receives ---- */

static void send_short(void)
{
	struct ibv_sge sb;

	setup();
	sb = sge_of(&mb, 0, 63);
	send_fails(IBV_WR_SEND, 1, &sb);
}

static void send_second(void)
{
	struct ibv_sge sb;

	setup_opt(NULL, NULL);
	sa[1].lkey ^= FLIP;
	sb = sge_of(&mb, 0, 64);
	send_fails(IBV_WR_SEND, 2, &sb);
}

static void send_receive_key(void)
{
	struct ibv_sge sb;

	setup();
	sb = sge_of(&mb, 0, 64);
	sb.lkey ^= FLIP;
	send_fails(IBV_WR_SEND, 1, &sb);
}

static void send_none(void)
{
	setup();
	access_fails(IBV_WR_SEND, 1);
}

static void write_imm(void)
{
	struct ibv_sge sb;

	setup();
	sb = sge_of(&mb, 0, 64);
	send_fails(IBV_WR_RDMA_WRITE_WITH_IMM, 1, &sb);
}

/* The receive remains in the shared queue; another queue pair consumes it. */
static void send_srq(void)
{
	struct ibv_send_wr wr = wr_of(2, IBV_WR_SEND, NULL, 0);
	struct opt b = opt_default;
	struct ibv_sge sb;
	struct pair other;

	b.srq = srq_make(&sides[1], NULL, 8, 1);
	setup_opt(NULL, &b);
	pair_make(&other, NULL, &b);
	sa[0].lkey ^= FLIP;
	sb = sge_of(&mb, 0, 63);
	must_be(post_srq(b.srq, 20, &sb, 1), 0);
	access_fails(IBV_WR_SEND, 1);
	must_be(post_one(&other.a, &wr), 0);
	wc_want(other.a.scq, 2, IBV_WC_SUCCESS);
	wc_want(other.b.rcq, 20, IBV_WC_SUCCESS);
}

static void send_xrc(void)
{
	struct opt a = opt_default, b = opt_default;
	struct ibv_send_wr wr;

	if (!(sides[1].attr.device_cap_flags & IBV_DEVICE_XRC))
		case_skip("no XRC");
	a.type = IBV_QPT_XRC_SEND;
	b.type = IBV_QPT_XRC_RECV;
	b.xrcd = xrcd_make(sides[1].ctx, -1);
	setup_opt(&a, &b);
	sa[0].lkey ^= FLIP;
	wr = wr_of(1, IBV_WR_SEND, sa, 1);
	wr.qp_type.xrc.remote_srqn = 0xabcdef;
	sender_fails(&wr);
}

/* ---- unreliable connections, which have no NAKs ---- */

static void uc_write(void)
{
	setup_type(IBV_QPT_UC);
	access_fails(IBV_WR_RDMA_WRITE, 1);
}

static void uc_send(void)
{
	struct ibv_sge sb;

	setup_type(IBV_QPT_UC);
	sb = sge_of(&mb, 0, 63);
	send_fails(IBV_WR_SEND, 1, &sb);
}

static const struct vrb_case gather_cases[] = {
	{ "gather", "WRITE, both keys bad", write_key },
	{ "gather", "long WRITE, both keys bad", write_long },
	{ "gather", "WRITE past the end of its region, bad rkey", write_range },
	{ "gather", "WRITE from another domain, bad rkey", write_domain },
	{ "gather", "WRITE, second lkey and rkey bad", write_second },
	{ "gather", "WRITE with a bad lkey, not enabled", write_not_enabled },
	{ "gather", "WRITE from a page that is gone, bad rkey", write_absent },
	{ "gather", "ATOMIC WRITE, both keys bad", atomic_write },
	{ "gather", "READ, both keys bad", read_key },
	{ "gather", "READ, second lkey and rkey bad", read_second },
	{ "gather", "FETCH_ADD, both keys bad", atomic_key },
	{ "gather", "SEND with a bad lkey, longer than the receive", send_short },
	{ "gather", "SEND with a bad second lkey, longer than the receive",
	  send_second },
	{ "gather", "SEND, lkeys of both ends bad", send_receive_key },
	{ "gather", "SEND with a bad lkey, no receive", send_none },
	{ "gather", "WRITE with immediate, both keys bad", write_imm },
	{ "gather", "SEND with a bad lkey leaves the receive to others", send_srq },
	{ "gather", "SEND with a bad lkey, no such XRC SRQ", send_xrc },
	{ "gather", "UC: WRITE, both keys bad", uc_write },
	{ "gather", "UC: SEND with a bad lkey, longer than the receive", uc_send },
};

VRB_TOPIC("errors", gather_cases);
