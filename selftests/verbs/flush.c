// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: ATOMIC WRITE and FLUSH
 *
 * IBTA volume 1, annex A19.  ATOMIC WRITE can be posted by either API, FLUSH
 * only by ibv_wr_*, and not by older versions of it.
 */
#include "vrb.h"

#define LEN	16384

static struct pair p;
static struct mem ma, mb;

/* ---- ATOMIC WRITE ---- */

static void setup(const struct opt *b, int access)
{
	struct opt o = opt_default;

	o.send_ops = IBV_QP_EX_WITH_ATOMIC_WRITE | IBV_QP_EX_WITH_RDMA_WRITE;
	o.inline_data = 0;
	pair_make(&p, &o, b);
	mem_make(&ma, &sides[0], LEN, FULL_ACCESS);
	mem_make(&mb, &sides[1], LEN, access);
	fill(ma.p, LEN, 1);
}

static void post_atomic(__u64 id, struct ibv_sge *sge, __u64 addr, __u32 key)
{
	struct ibv_send_wr wr = wr_of(id, IBV_WR_ATOMIC_WRITE, sge, 1);

	wr.wr.rdma.remote_addr = addr;
	wr.wr.rdma.rkey = key;
	must_be(post_one(&p.a, &wr), 0);
}

static void atomic_fails(size_t off, enum ibv_wc_status status)
{
	struct ibv_sge sge = sge_of(&ma, 0, 8);

	post_atomic(1, &sge, (uintptr_t)mb.p + off, mb.mr->rkey);
	wc_want(p.a.scq, 1, status);
	state_becomes(&p.b, IBV_QPS_ERR);
	untouched(mb.p, LEN, "the region");
}

static void atomic_writes(void)
{
	struct ibv_sge sge;
	struct ibv_wc wc;

	setup(NULL, FULL_ACCESS);
	sge = sge_of(&ma, 0, 8);
	post_atomic(1, &sge, (uintptr_t)mb.p + 64, mb.mr->rkey);
	wc = wc_want(p.a.scq, 1, IBV_WC_SUCCESS);
	must_be(wc.opcode, IBV_WC_ATOMIC_WRITE);
	same(mb.p + 64, 8, 1, "the word");
	untouched(mb.p, 64, "before the word");
	untouched(mb.p + 72, LEN - 72, "behind the word");
}

/* The source need not be writable. */
static void atomic_source(void)
{
	struct ibv_sge sge;

	setup(NULL, FULL_ACCESS);
	mem_own(&ma, sides[0].pd, 0);
	sge = sge_of(&ma, 0, 8);
	post_atomic(1, &sge, (uintptr_t)mb.p, mb.mr->rkey);
	wc_want(p.a.scq, 1, IBV_WC_SUCCESS);
	same(mb.p, 8, 1, "the word");
}

static void atomic_by_wr(void)
{
	struct ibv_qp_ex *ex;
	__u64 word = 0x1122334455667788;
	__u64 got;
	int i;

	setup(NULL, FULL_ACCESS);
	ex = ibv_qp_to_qp_ex(p.a.qp);
	must(ex);
	for (i = 0; i < 50; i++) {
		ibv_wr_start(ex);
		ex->wr_id = i;
		ex->wr_flags = IBV_SEND_SIGNALED;
		word += i;
		ibv_wr_atomic_write(ex, mb.mr->rkey, (uintptr_t)mb.p + 8,
				    &word);
		must_be(ibv_wr_complete(ex), 0);
		wc_want(p.a.scq, i, IBV_WC_SUCCESS);
		memcpy(&got, mb.p + 8, 8);
		must(got == word);
	}
}

/* Data written before the word is visible when the word is. */
static void atomic_after_write(void)
{
	__u64 *flag;
	int i, k;

	setup(NULL, FULL_ACCESS);
	flag = (__u64 *)mb.p;
	for (i = 1; i <= 200; i++) {
		struct ibv_sge data = sge_of(&ma, 64, 8192);
		struct ibv_sge word = sge_of(&ma, 8 * (i & 1), 8);
		struct ibv_send_wr wr = wr_of(2 * i, IBV_WR_RDMA_WRITE, &data,
					      1);

		memset(ma.p + 64, i, 8192);
		*(__u64 *)(ma.p + 8 * (i & 1)) = i;
		wr_target(&wr, &mb, 64);
		must_be(post_one(&p.a, &wr), 0);
		post_atomic(2 * i + 1, &word, (uintptr_t)mb.p, mb.mr->rkey);
		while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != (__u64)i)
			;
		for (k = 0; k < 8192; k++)
			must_be(mb.p[64 + k], i & 0xff);
		wc_want(p.a.scq, 2 * i, IBV_WC_SUCCESS);
		wc_want(p.a.scq, 2 * i + 1, IBV_WC_SUCCESS);
	}
}

/* More requests than may be in flight, with WRITEs between them */
static void atomic_many(void)
{
	int i, k;

	setup(NULL, FULL_ACCESS);
	for (k = 0; k < 20; k++) {
		memset(mb.p, GUARD, LEN);
		for (i = 0; i < 30; i++) {
			struct ibv_sge sge = sge_of(&ma, 8 * i, 8);
			struct ibv_send_wr wr = wr_of(2 * i, IBV_WR_RDMA_WRITE,
						      &sge, 1);

			wr_target(&wr, &mb, 1024 + 8 * i);
			must_be(post_one(&p.a, &wr), 0);
			post_atomic(2 * i + 1, &sge, (uintptr_t)mb.p + 8 * i,
				    mb.mr->rkey);
		}
		for (i = 0; i < 60; i++)
			wc_want(p.a.scq, i, IBV_WC_SUCCESS);
		same(mb.p, 240, 1, "the words");
		same(mb.p + 1024, 240, 1, "the writes");
	}
}

static void atomic_unaligned(void)
{
	setup(NULL, FULL_ACCESS);
	atomic_fails(4, IBV_WC_REM_INV_REQ_ERR);
}

static void atomic_outside(void)
{
	setup(NULL, FULL_ACCESS);
	atomic_fails(LEN, IBV_WC_REM_ACCESS_ERR);
}

static void atomic_no_right(void)
{
	setup(NULL, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
	      IBV_ACCESS_REMOTE_ATOMIC);
	atomic_fails(0, IBV_WC_REM_ACCESS_ERR);
}

static void atomic_not_enabled(void)
{
	struct opt o = opt_default;

	o.access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	setup(&o, FULL_ACCESS);
	atomic_fails(0, IBV_WC_REM_INV_REQ_ERR);
}

static void atomic_length(size_t len)
{
	struct ibv_sge sge;

	setup(NULL, FULL_ACCESS);
	sge = sge_of(&ma, 0, len);
	post_atomic(1, &sge, (uintptr_t)mb.p, mb.mr->rkey);
	wc_want(p.a.scq, 1, IBV_WC_LOC_LEN_ERR);
	untouched(mb.p, LEN, "the region");
}

static void atomic_short(void)
{
	atomic_length(7);
}

static void atomic_long(void)
{
	atomic_length(16);
}

/* The remote address is aligned, but the memory is not: it crosses a page boundary. */
static void atomic_split(enum ibv_wr_opcode op)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_mr *mr;

	setup(NULL, FULL_ACCESS);
	mr = ibv_reg_mr(sides[1].pd, mb.p + 4092, 64,
			FULL_ACCESS | IBV_ACCESS_ZERO_BASED);
	must(mr);
	sge = sge_of(&ma, 0, 8);
	wr = wr_of(1, op, &sge, 1);
	if (op == IBV_WR_ATOMIC_WRITE)
		wr.wr.rdma.rkey = mr->rkey;
	else
		wr.wr.atomic.rkey = mr->rkey;
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 1, IBV_WC_REM_INV_REQ_ERR);
	untouched(mb.p, LEN, "the region");
	must_be(ibv_dereg_mr(mr), 0);
}

static void atomic_split_write(void)
{
	atomic_split(IBV_WR_ATOMIC_WRITE);
}

static void atomic_split_add(void)
{
	atomic_split(IBV_WR_ATOMIC_FETCH_AND_ADD);
}

/* ---- FLUSH ---- */

/* Constants that older versions of verbs.h lack */
#define DEVICE_FLUSH_GLOBAL	0x4000000000ULL
#define ACCESS_FLUSH_GLOBAL	0x100

static bool device_flushes(const struct side *s)
{
	struct ibv_device_attr_ex attr;

	must_be(ibv_query_device_ex(s->ctx, NULL, &attr), 0);

	return attr.device_cap_flags_ex & DEVICE_FLUSH_GLOBAL;
}

/* Needs FLUSH in the RDMA core, which kernel 6.1 lacks. */
static void flush_rights(void)
{
	bool flushes = device_flushes(&sides[0]);
	struct opt o = opt_default;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct ibv_mr *mr;

	mem_make(&ma, &sides[0], LEN, FULL_ACCESS);
	mr = ibv_reg_mr(sides[0].pd, ma.p, LEN,
			FULL_ACCESS | ACCESS_FLUSH_GLOBAL);
	must_be(!!mr, flushes);
	if (mr)
		must_be(ibv_dereg_mr(mr), 0);

	o.access |= ACCESS_FLUSH_GLOBAL;
	end_make(&p.a, &sides[0], &o);
	must_be(to_init(&p.a), 0);
	must_be(ibv_query_qp(p.a.qp, &attr, IBV_QP_ACCESS_FLAGS, &init), 0);
	must_be(!!(attr.qp_access_flags & ACCESS_FLUSH_GLOBAL), flushes);
}

#ifdef HAVE_FLUSH
#define FLUSH_ACCESS	(FULL_ACCESS | IBV_ACCESS_FLUSH_GLOBAL)

static void setup_flush(int qp_access, int mr_access)
{
	struct opt a = opt_default, b = opt_default;

	if (!device_flushes(&sides[1]))
		case_skip("the kernel has no FLUSH");
	a.send_ops = IBV_QP_EX_WITH_FLUSH | IBV_QP_EX_WITH_RDMA_WRITE;
	b.access |= qp_access;
	pair_make(&p, &a, &b);
	mem_make(&ma, &sides[0], LEN, FULL_ACCESS);
	mem_make(&mb, &sides[1], LEN, mr_access);
	fill(ma.p, LEN, 1);
}

static void post_flush(__u64 id, size_t off, size_t len, int type, int level)
{
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(p.a.qp);

	must(ex);
	ibv_wr_start(ex);
	ex->wr_id = id;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_flush(ex, mb.mr->rkey, (uintptr_t)mb.p + off, len, type, level);
	must_be(ibv_wr_complete(ex), 0);
}

static void flush_fails(size_t off, size_t len, int type, int level,
			enum ibv_wc_status status)
{
	post_flush(1, off, len, type, level);
	wc_want(p.a.scq, 1, status);
	state_becomes(&p.b, IBV_QPS_ERR);
}

static void flush_range(void)
{
	struct ibv_wc wc;

	setup_flush(IBV_ACCESS_FLUSH_GLOBAL, FLUSH_ACCESS);
	post_flush(1, 100, 5000, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE);
	wc = wc_want(p.a.scq, 1, IBV_WC_SUCCESS);
	must_be(wc.opcode, IBV_WC_FLUSH);
	post_flush(2, 0, LEN, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE);
	wc_want(p.a.scq, 2, IBV_WC_SUCCESS);
	untouched(mb.p, LEN, "the region");
}

static void flush_region(void)
{
	setup_flush(IBV_ACCESS_FLUSH_GLOBAL, FLUSH_ACCESS);
	/* the range is ignored for this type */
	post_flush(1, -LEN, 4 * LEN, IBV_FLUSH_GLOBAL, IBV_FLUSH_MR);
	wc_want(p.a.scq, 1, IBV_WC_SUCCESS);
}

static void flush_many(void)
{
	int i, k;

	setup_flush(IBV_ACCESS_FLUSH_GLOBAL, FLUSH_ACCESS);
	for (k = 0; k < 20; k++) {
		memset(mb.p, GUARD, LEN);
		for (i = 0; i < 30; i++) {
			struct ibv_sge sge = sge_of(&ma, 500 * i, 500);
			struct ibv_send_wr wr = wr_of(2 * i, IBV_WR_RDMA_WRITE,
						      &sge, 1);

			wr_target(&wr, &mb, 500 * i);
			must_be(post_one(&p.a, &wr), 0);
			post_flush(2 * i + 1, 500 * i, 500, IBV_FLUSH_GLOBAL,
				   IBV_FLUSH_RANGE);
		}
		for (i = 0; i < 30; i++) {
			wc_want(p.a.scq, 2 * i, IBV_WC_SUCCESS);
			wc_want(p.a.scq, 2 * i + 1, IBV_WC_SUCCESS);
			same(mb.p, 500 * (i + 1), 1, "the flushed data");
		}
	}
}

static void flush_no_right(void)
{
	setup_flush(IBV_ACCESS_FLUSH_GLOBAL, FULL_ACCESS);
	flush_fails(0, 64, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE,
		    IBV_WC_REM_ACCESS_ERR);
}

static void flush_not_enabled(void)
{
	setup_flush(0, FLUSH_ACCESS);
	flush_fails(0, 64, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE,
		    IBV_WC_REM_INV_REQ_ERR);
}

static void flush_outside(void)
{
	setup_flush(IBV_ACCESS_FLUSH_GLOBAL, FLUSH_ACCESS);
	flush_fails(1, LEN, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE,
		    IBV_WC_REM_ACCESS_ERR);
}

static void flush_persistent(void)
{
	setup_flush(IBV_ACCESS_FLUSH_GLOBAL | IBV_ACCESS_FLUSH_PERSISTENT,
		    FLUSH_ACCESS);
	/* volatile memory cannot be registered as persistent */
	must(!ibv_reg_mr(sides[1].pd, mb.p, LEN,
			 FULL_ACCESS | IBV_ACCESS_FLUSH_PERSISTENT));
	flush_fails(0, 64, IBV_FLUSH_PERSISTENT, IBV_FLUSH_RANGE,
		    IBV_WC_REM_ACCESS_ERR);
}

static void flush_bad(int type, int level)
{
	setup_flush(IBV_ACCESS_FLUSH_GLOBAL, FLUSH_ACCESS);
	flush_fails(0, 64, type, level, IBV_WC_REM_INV_REQ_ERR);
}

static void flush_type(void)
{
	flush_bad(0, IBV_FLUSH_RANGE);
}

static void flush_level(void)
{
	flush_bad(IBV_FLUSH_GLOBAL, 2);
}
#endif

static const struct vrb_case flush_cases[] = {
	{ "atomic write", "eight bytes and no others", atomic_writes },
	{ "atomic write", "read-only source", atomic_source },
	{ "atomic write", "by ibv_wr_atomic_write", atomic_by_wr },
	{ "atomic write", "visible after earlier writes", atomic_after_write },
	{ "atomic write", "many, with writes between", atomic_many },
	{ "atomic write", "unaligned", atomic_unaligned },
	{ "atomic write", "past the end", atomic_outside },
	{ "atomic write", "without REMOTE_WRITE", atomic_no_right },
	{ "atomic write", "not enabled", atomic_not_enabled },
	{ "atomic write", "seven bytes", atomic_short },
	{ "atomic write", "sixteen bytes", atomic_long },
	{ "atomic write", "unaligned memory", atomic_split_write },
	{ "atomic write", "FETCH_ADD to unaligned memory", atomic_split_add },
	{ "memory flush", "access flags of devices that support it", flush_rights },
#ifdef HAVE_FLUSH
	{ "memory flush", "a range", flush_range },
	{ "memory flush", "a region", flush_region },
	{ "memory flush", "many, with writes between", flush_many },
	{ "memory flush", "without FLUSH_GLOBAL", flush_no_right },
	{ "memory flush", "not enabled", flush_not_enabled },
	{ "memory flush", "past the end", flush_outside },
	{ "memory flush", "persistent", flush_persistent },
	{ "memory flush", "without a type", flush_type },
	{ "memory flush", "of an unknown level", flush_level },
#endif
};

VRB_CASES(flush_cases);
