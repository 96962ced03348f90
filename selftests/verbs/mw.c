// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: a memory window gives access to its range only, to its
 * queue pair only, and only while it is bound
 *
 * Windows are on side b, over the region mb; side a reads and writes through
 * them.
 */
#include <unistd.h>

#include "vrb.h"

#define LEN	16384
#define OFF	4096
#define WIN	5000
#define RIGHTS	(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
		 IBV_ACCESS_REMOTE_ATOMIC)

static struct pair p;
static struct mem ma, mb;
static struct ibv_mw *mw;

static void setup(int remote_access)
{
	pair_make(&p, NULL, NULL);
	mem_make(&ma, &sides[0], LEN, FULL_ACCESS);
	mem_make(&mb, &sides[1], LEN, remote_access);
	fill(ma.p, LEN, 1);
}

/* ---- binding ---- */

static struct ibv_mw_bind_info shown(const struct mem *m, size_t off,
				     size_t len, int access)
{
	return (struct ibv_mw_bind_info) {
		.mr = m->mr,
		.addr = (uintptr_t)m->p + off,
		.length = len,
		.mw_access_flags = access,
	};
}

static struct ibv_send_wr bind_wr(__u64 id, struct ibv_mw *w, __u32 key,
				  struct ibv_mw_bind_info info)
{
	struct ibv_send_wr wr = wr_of(id, IBV_WR_BIND_MW, NULL, 0);

	wr.bind_mw.mw = w;
	wr.bind_mw.rkey = key;
	wr.bind_mw.bind_info = info;
	return wr;
}

static struct ibv_send_wr inv_wr(__u64 id, __u32 key)
{
	struct ibv_send_wr wr = wr_of(id, IBV_WR_LOCAL_INV, NULL, 0);

	wr.invalidate_rkey = key;
	return wr;
}

/* Binds @w, type 2, with the next tag, and waits for the completion at @e. */
static void bind_2(struct end *e, struct ibv_mw *w,
		   struct ibv_mw_bind_info info)
{
	struct ibv_send_wr wr = bind_wr(50, w, ibv_inc_rkey(w->rkey), info);
	struct ibv_wc wc;

	must_be(post_one(e, &wr), 0);
	wc = wc_want(e->scq, 50, IBV_WC_SUCCESS);
	must_be(wc.opcode, IBV_WC_BIND_MW);
	w->rkey = wr.bind_mw.rkey;
}

static int post_bind_1(struct end *e, struct ibv_mw *w,
		       struct ibv_mw_bind_info info)
{
	struct ibv_mw_bind b = {
		.wr_id = 51,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = info,
	};

	return ibv_bind_mw(e->qp, w, &b);
}

static void bind_1(struct end *e, struct ibv_mw *w,
		   struct ibv_mw_bind_info info)
{
	struct ibv_wc wc;

	must_be(post_bind_1(e, w, info), 0);
	wc = wc_want(e->scq, 51, IBV_WC_SUCCESS);
	must_be(wc.opcode, IBV_WC_BIND_MW);
}

/* A window of type 2 over WIN bytes at OFF. */
static void setup_2(int access)
{
	setup(FULL_ACCESS | IBV_ACCESS_MW_BIND);
	mw = mw_make(sides[1].pd, IBV_MW_TYPE_2);
	bind_2(&p.b, mw, shown(&mb, OFF, WIN, access));
}

/* ---- access through a window ---- */

static struct ibv_send_wr via(__u64 id, enum ibv_wr_opcode op,
			      struct ibv_sge *sge, __u64 addr, __u32 key)
{
	struct ibv_send_wr wr = wr_of(id, op, sge, 1);

	if (op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		sge->length = 8;
		wr.wr.atomic.remote_addr = addr;
		wr.wr.atomic.rkey = key;
	} else {
		wr.wr.rdma.remote_addr = addr;
		wr.wr.rdma.rkey = key;
	}
	return wr;
}

static void do_op(enum ibv_wr_opcode op, __u64 addr, size_t len, __u32 key,
		  enum ibv_wc_status status)
{
	struct ibv_sge sge = sge_of(&ma, 0, len);
	struct ibv_send_wr wr = via(60, op, &sge, addr, key);

	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 60, status);
}

static void allowed(enum ibv_wr_opcode op, __u64 addr, size_t len, __u32 key)
{
	do_op(op, addr, len, key, IBV_WC_SUCCESS);
}

static void refused(enum ibv_wr_opcode op, __u64 addr, size_t len, __u32 key)
{
	do_op(op, addr, len, key, IBV_WC_REM_ACCESS_ERR);
	state_becomes(&p.b, IBV_QPS_ERR);
	event_want(&sides[1], IBV_EVENT_QP_ACCESS_ERR, p.b.qp);
}

static __u64 at(size_t off)
{
	return (uintptr_t)mb.p + off;
}

/* ---- type 1 ---- */

static void type1_shows(void)
{
	setup(FULL_ACCESS | IBV_ACCESS_MW_BIND);
	mw = mw_make(sides[1].pd, IBV_MW_TYPE_1);
	bind_1(&p.b, mw, shown(&mb, OFF, WIN, RIGHTS));
	allowed(IBV_WR_RDMA_WRITE, at(OFF), WIN, mw->rkey);
	same(mb.p + OFF, WIN, 1, "the window");
	untouched(mb.p, OFF, "before the window");
	untouched(mb.p + OFF + WIN, LEN - OFF - WIN, "behind the window");
	allowed(IBV_WR_RDMA_READ, at(OFF), WIN, mw->rkey);
	allowed(IBV_WR_ATOMIC_FETCH_AND_ADD, at(OFF), 8, mw->rkey);
	refused(IBV_WR_RDMA_WRITE, at(OFF + 1), WIN, mw->rkey);
}

static void type1_any_qp(void)
{
	struct pair other;

	setup(FULL_ACCESS | IBV_ACCESS_MW_BIND);
	pair_make(&other, NULL, NULL);
	mw = mw_make(sides[1].pd, IBV_MW_TYPE_1);
	bind_1(&other.b, mw, shown(&mb, OFF, WIN, RIGHTS));
	allowed(IBV_WR_RDMA_WRITE, at(OFF), WIN, mw->rkey);
}

static void type1_moves(void)
{
	__u32 old;

	setup(FULL_ACCESS | IBV_ACCESS_MW_BIND);
	mw = mw_make(sides[1].pd, IBV_MW_TYPE_1);
	bind_1(&p.b, mw, shown(&mb, OFF, WIN, RIGHTS));
	old = mw->rkey;
	bind_1(&p.b, mw, shown(&mb, 0, 64, RIGHTS));
	allowed(IBV_WR_RDMA_WRITE, at(0), 64, mw->rkey);
	refused(IBV_WR_RDMA_WRITE, at(OFF), 64, old);
	untouched(mb.p + OFF, WIN, "where the window was");
}

static void type1_unbinds(void)
{
	__u32 old;

	setup(FULL_ACCESS | IBV_ACCESS_MW_BIND);
	mw = mw_make(sides[1].pd, IBV_MW_TYPE_1);
	bind_1(&p.b, mw, shown(&mb, OFF, WIN, RIGHTS));
	old = mw->rkey;
	bind_1(&p.b, mw, (struct ibv_mw_bind_info) { .mr = NULL });
	refused(IBV_WR_RDMA_WRITE, at(OFF), 64, old);
	untouched(mb.p, LEN, "the region");
}

static void type1_not_by_wr(void)
{
	struct ibv_send_wr wr;

	setup(FULL_ACCESS | IBV_ACCESS_MW_BIND);
	mw = mw_make(sides[1].pd, IBV_MW_TYPE_1);
	wr = bind_wr(1, mw, ibv_inc_rkey(mw->rkey),
		     shown(&mb, 0, 64, RIGHTS));
	must_be(post_one(&p.b, &wr), EINVAL);
}

/* ---- type 2: the range ---- */

static void type2_shows(void)
{
	setup_2(RIGHTS);
	allowed(IBV_WR_RDMA_WRITE, at(OFF), WIN, mw->rkey);
	same(mb.p + OFF, WIN, 1, "the window");
	untouched(mb.p, OFF, "before the window");
	untouched(mb.p + OFF + WIN, LEN - OFF - WIN, "behind the window");
	memset(ma.p, 0, WIN);
	allowed(IBV_WR_RDMA_READ, at(OFF), WIN, mw->rkey);
	same(ma.p, WIN, 1, "what was read through the window");
	allowed(IBV_WR_ATOMIC_FETCH_AND_ADD, at(OFF), 8, mw->rkey);
}

static void type2_before(void)
{
	setup_2(RIGHTS);
	refused(IBV_WR_RDMA_WRITE, at(OFF - 1), 64, mw->rkey);
	untouched(mb.p, LEN, "the region");
}

static void type2_behind(void)
{
	setup_2(RIGHTS);
	refused(IBV_WR_RDMA_READ, at(OFF + WIN - 63), 64, mw->rkey);
}

static void type2_atomic_behind(void)
{
	setup_2(RIGHTS);
	refused(IBV_WR_ATOMIC_FETCH_AND_ADD, at(OFF + WIN), 8, mw->rkey);
	untouched(mb.p, LEN, "the region");
}

static void type2_based(void)
{
	setup_2(RIGHTS | IBV_ACCESS_ZERO_BASED);
	allowed(IBV_WR_RDMA_WRITE, 0, WIN, mw->rkey);
	same(mb.p + OFF, WIN, 1, "the window");
	untouched(mb.p, OFF, "before the window");
	untouched(mb.p + OFF + WIN, LEN - OFF - WIN, "behind the window");
	refused(IBV_WR_RDMA_WRITE, at(OFF), 64, mw->rkey);
}

static void type2_based_behind(void)
{
	setup_2(RIGHTS | IBV_ACCESS_ZERO_BASED);
	refused(IBV_WR_RDMA_WRITE, WIN - 63, 64, mw->rkey);
	untouched(mb.p, LEN, "the region");
}

/* ---- type 2: rights and owners ---- */

static void no_right(enum ibv_wr_opcode op, int without)
{
	setup_2(RIGHTS & ~without);
	refused(op, at(OFF), 8, mw->rkey);
	untouched(mb.p, LEN, "the region");
}

static void no_write(void)
{
	no_right(IBV_WR_RDMA_WRITE, IBV_ACCESS_REMOTE_WRITE);
}

static void no_read(void)
{
	no_right(IBV_WR_RDMA_READ, IBV_ACCESS_REMOTE_READ);
}

static void no_atomic(void)
{
	no_right(IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_ACCESS_REMOTE_ATOMIC);
}

/* A window may grant rights that the rkey of its region does not. */
static void more_rights(void)
{
	setup(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	mw = mw_make(sides[1].pd, IBV_MW_TYPE_2);
	bind_2(&p.b, mw, shown(&mb, OFF, WIN, RIGHTS));
	allowed(IBV_WR_RDMA_WRITE, at(OFF), WIN, mw->rkey);
	same(mb.p + OFF, WIN, 1, "the window");
	refused(IBV_WR_RDMA_WRITE, at(OFF), WIN, mb.mr->rkey);
}

static void other_qp(void)
{
	struct pair other;

	setup(FULL_ACCESS | IBV_ACCESS_MW_BIND);
	pair_make(&other, NULL, NULL);
	mw = mw_make(sides[1].pd, IBV_MW_TYPE_2);
	bind_2(&other.b, mw, shown(&mb, OFF, WIN, RIGHTS));
	refused(IBV_WR_RDMA_WRITE, at(OFF), 64, mw->rkey);
	untouched(mb.p, LEN, "the region");
}

static void other_tag(void)
{
	setup_2(RIGHTS);
	refused(IBV_WR_RDMA_WRITE, at(OFF), 64, mw->rkey ^ 0x80);
	untouched(mb.p, LEN, "the region");
}

static void not_local(void)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;

	setup_2(RIGHTS);
	sge = sge_of(&mb, OFF, 64);
	sge.lkey = mw->rkey;
	wr = via(1, IBV_WR_RDMA_WRITE, &sge, (uintptr_t)ma.p, ma.mr->rkey);
	must_be(post_one(&p.b, &wr), 0);
	wc_want(p.b.scq, 1, IBV_WC_LOC_PROT_ERR);
}

/* ---- binds that must fail ---- */

static void bind_fails(struct ibv_mw *w, __u32 key,
		       struct ibv_mw_bind_info info)
{
	struct ibv_send_wr wr = bind_wr(1, w, key, info);

	must_be(post_one(&p.b, &wr), 0);
	wc_want(p.b.scq, 1, IBV_WC_MW_BIND_ERR);
	state_becomes(&p.b, IBV_QPS_ERR);
}

static void bad_bind(int mr_access, size_t off, size_t len, int access)
{
	setup(mr_access);
	mw = mw_make(sides[1].pd, IBV_MW_TYPE_2);
	bind_fails(mw, ibv_inc_rkey(mw->rkey), shown(&mb, off, len, access));
}

static void bind_no_right(void)
{
	bad_bind(FULL_ACCESS, OFF, WIN, RIGHTS);
}

static void bind_no_write(void)
{
	bad_bind(IBV_ACCESS_MW_BIND, OFF, WIN, IBV_ACCESS_REMOTE_WRITE);
}

static void bind_no_atomic(void)
{
	bad_bind(IBV_ACCESS_MW_BIND, OFF, WIN, IBV_ACCESS_REMOTE_ATOMIC);
}

static void bind_read_only(void)
{
	setup(IBV_ACCESS_MW_BIND);
	mw = mw_make(sides[1].pd, IBV_MW_TYPE_2);
	bind_2(&p.b, mw, shown(&mb, OFF, WIN, IBV_ACCESS_REMOTE_READ));
	allowed(IBV_WR_RDMA_READ, at(OFF), WIN, mw->rkey);
}

static void bind_behind(void)
{
	bad_bind(FULL_ACCESS | IBV_ACCESS_MW_BIND, LEN - WIN + 1, WIN, RIGHTS);
}

static void bind_before(void)
{
	bad_bind(FULL_ACCESS | IBV_ACCESS_MW_BIND, -1, WIN, RIGHTS);
}

static void bind_nothing(void)
{
	bad_bind(FULL_ACCESS | IBV_ACCESS_MW_BIND, OFF, 0, RIGHTS);
}

static void bind_twice(void)
{
	setup_2(RIGHTS);
	bind_fails(mw, ibv_inc_rkey(mw->rkey), shown(&mb, 0, 64, RIGHTS));
}

/* Only the tag of the new key is used; the index is that of the window. */
static void bind_index(void)
{
	struct ibv_send_wr wr;
	__u32 key;

	setup(FULL_ACCESS | IBV_ACCESS_MW_BIND);
	mw = mw_make(sides[1].pd, IBV_MW_TYPE_2);
	key = ibv_inc_rkey(mw->rkey);
	wr = bind_wr(1, mw, key ^ 0x12345600, shown(&mb, OFF, WIN, RIGHTS));
	must_be(post_one(&p.b, &wr), 0);
	wc_want(p.b.scq, 1, IBV_WC_SUCCESS);
	mw->rkey = key;
	allowed(IBV_WR_RDMA_WRITE, at(OFF), 64, key);
	refused(IBV_WR_RDMA_WRITE, at(OFF), 64, key ^ 0x12345600);
}

static void bind_window(void)
{
	struct ibv_mw_bind_info info;
	struct ibv_mw *second;
	struct ibv_mr fake;

	setup_2(RIGHTS);
	second = mw_make(sides[1].pd, IBV_MW_TYPE_2);
	fake = *mb.mr;
	fake.lkey = mw->rkey;
	info = shown(&mb, OFF, 64, RIGHTS);
	info.mr = &fake;
	bind_fails(second, ibv_inc_rkey(second->rkey), info);
}

static void bind_region_pd(void)
{
	struct mem other = {};

	setup(FULL_ACCESS);
	other = mb;
	mem_own(&other, pd_make(&sides[1]), FULL_ACCESS | IBV_ACCESS_MW_BIND);
	mw = mw_make(sides[1].pd, IBV_MW_TYPE_2);
	bind_fails(mw, ibv_inc_rkey(mw->rkey), shown(&other, 0, 64, RIGHTS));
}

static void bind_window_pd(void)
{
	setup(FULL_ACCESS | IBV_ACCESS_MW_BIND);
	mw = mw_make(pd_make(&sides[1]), IBV_MW_TYPE_2);
	bind_fails(mw, ibv_inc_rkey(mw->rkey), shown(&mb, 0, 64, RIGHTS));
}

static void bind_old_key_1(void)
{
	struct ibv_mw old;

	setup(FULL_ACCESS | IBV_ACCESS_MW_BIND);
	mw = mw_make(sides[1].pd, IBV_MW_TYPE_1);
	old = *mw;
	bind_1(&p.b, mw, shown(&mb, OFF, WIN, RIGHTS));
	must_be(post_bind_1(&p.b, &old, shown(&mb, 0, 64, RIGHTS)), 0);
	wc_want(p.b.scq, 51, IBV_WC_MW_BIND_ERR);
}

static void bind_other_key_1(void)
{
	struct ibv_mw other;

	setup(FULL_ACCESS | IBV_ACCESS_MW_BIND);
	mw = mw_make(sides[1].pd, IBV_MW_TYPE_1);
	other = *mw;
	other.rkey = ibv_inc_rkey(mw->rkey);
	must_be(post_bind_1(&p.b, &other, shown(&mb, OFF, WIN, RIGHTS)), 0);
	wc_want(p.b.scq, 51, IBV_WC_MW_BIND_ERR);
}

/* ---- invalidating ---- */

static void invalidate(struct end *e, __u32 key, enum ibv_wc_status status)
{
	struct ibv_send_wr wr = inv_wr(52, key);
	struct ibv_wc wc;

	must_be(post_one(e, &wr), 0);
	wc = wc_want(e->scq, 52, status);
	if (status == IBV_WC_SUCCESS)
		must_be(wc.opcode, IBV_WC_LOCAL_INV);
}

static void inv_ends(void)
{
	setup_2(RIGHTS);
	allowed(IBV_WR_RDMA_WRITE, at(OFF), 64, mw->rkey);
	invalidate(&p.b, mw->rkey, IBV_WC_SUCCESS);
	memset(mb.p, GUARD, LEN);
	refused(IBV_WR_RDMA_WRITE, at(OFF), 64, mw->rkey);
	untouched(mb.p, LEN, "the region");
}

static void inv_again(void)
{
	setup_2(RIGHTS);
	invalidate(&p.b, mw->rkey, IBV_WC_SUCCESS);
	invalidate(&p.b, mw->rkey, IBV_WC_MW_BIND_ERR);
}

static void inv_rebind(void)
{
	__u32 old;
	int i;

	setup_2(RIGHTS);
	for (i = 0; i < 300; i++) {
		old = mw->rkey;
		invalidate(&p.b, old, IBV_WC_SUCCESS);
		bind_2(&p.b, mw, shown(&mb, i, 64, RIGHTS));
	}
	allowed(IBV_WR_RDMA_WRITE, at(299), 64, mw->rkey);
	refused(IBV_WR_RDMA_WRITE, at(299), 64, old);
}

static void inv_region(void)
{
	setup(FULL_ACCESS);
	invalidate(&p.b, mb.mr->rkey, IBV_WC_MW_BIND_ERR);
}

static void inv_type1(void)
{
	setup(FULL_ACCESS | IBV_ACCESS_MW_BIND);
	mw = mw_make(sides[1].pd, IBV_MW_TYPE_1);
	bind_1(&p.b, mw, shown(&mb, OFF, WIN, RIGHTS));
	invalidate(&p.b, mw->rkey, IBV_WC_MW_BIND_ERR);
}

static void inv_other_qp(void)
{
	struct pair other;

	setup_2(RIGHTS);
	pair_make(&other, NULL, NULL);
	invalidate(&other.b, mw->rkey, IBV_WC_MW_BIND_ERR);
	allowed(IBV_WR_RDMA_WRITE, at(OFF), 64, mw->rkey);
}

/* One list of requests, which are executed and completed in order */
static void in_order(void)
{
	struct ibv_send_wr wr[6], *bad;
	struct ibv_sge sge, got;
	__u32 first, second;
	int i;

	setup(FULL_ACCESS | IBV_ACCESS_MW_BIND);
	mw = mw_make(sides[1].pd, IBV_MW_TYPE_2);
	first = ibv_inc_rkey(mw->rkey);
	second = ibv_inc_rkey(first);
	sge = sge_of(&mb, 0, 8192);
	got = sge_of(&ma, 0, 8192);
	wr[0] = via(0, IBV_WR_RDMA_WRITE, &sge, (uintptr_t)ma.p, ma.mr->rkey);
	wr[1] = bind_wr(1, mw, first, shown(&mb, 0, 64, RIGHTS));
	wr[2] = wr_of(2, IBV_WR_SEND, &sge, 1);
	wr[3] = inv_wr(3, first);
	wr[4] = bind_wr(4, mw, second, shown(&mb, 64, 64, RIGHTS));
	wr[5] = wr_of(5, IBV_WR_SEND, &sge, 1);
	wr[4].send_flags |= IBV_SEND_FENCE;
	for (i = 0; i < 5; i++)
		wr[i].next = &wr[i + 1];
	must_be(post_recv(&p.a, 10, &got, 1), 0);
	must_be(ibv_post_send(p.b.qp, wr, &bad), 0);
	for (i = 0; i < 5; i++)
		wc_want(p.b.scq, i, IBV_WC_SUCCESS);
	wc_none(p.b.scq, 20);
	must_be(post_recv(&p.a, 11, &got, 1), 0);
	wc_want(p.b.scq, 5, IBV_WC_SUCCESS);
	allowed(IBV_WR_RDMA_WRITE, at(64), 64, second);
	refused(IBV_WR_RDMA_WRITE, at(0), 64, first);
}

static void post_send_inv(struct end *e, __u32 key)
{
	struct ibv_sge sge = sge_of(&ma, 0, 6000);
	struct ibv_send_wr wr = wr_of(70, IBV_WR_SEND_WITH_INV, &sge, 1);

	wr.invalidate_rkey = key;
	must_be(post_one(e, &wr), 0);
}

static void remote_inv(void)
{
	struct ibv_sge sge;
	struct ibv_wc wc;

	setup_2(RIGHTS);
	sge = sge_of(&mb, 8192, 8192);
	must_be(post_recv(&p.b, 71, &sge, 1), 0);
	post_send_inv(&p.a, mw->rkey);
	wc_want(p.a.scq, 70, IBV_WC_SUCCESS);
	wc = wc_want(p.b.rcq, 71, IBV_WC_SUCCESS);
	must_be(wc.opcode, IBV_WC_RECV);
	must_be(wc.byte_len, 6000);
	must_be(wc.wc_flags & IBV_WC_WITH_INV, IBV_WC_WITH_INV);
	must_be(wc.invalidated_rkey, mw->rkey);
	same(mb.p + 8192, 6000, 1, "the message");
	bind_2(&p.b, mw, shown(&mb, 0, 64, RIGHTS));
	allowed(IBV_WR_RDMA_WRITE, at(0), 64, mw->rkey);
	refused(IBV_WR_RDMA_WRITE, at(0), 64, mw->rkey - 1);
}

/* SEND with invalidate, of a key that the peer may not invalidate */
static void remote_inv_fails(__u32 key)
{
	struct ibv_sge sge = sge_of(&mb, 8192, 8192);

	must_be(post_recv(&p.b, 71, &sge, 1), 0);
	post_send_inv(&p.a, key);
	wc_want(p.a.scq, 70, IBV_WC_REM_ACCESS_ERR);
	wc_want(p.b.rcq, 71, IBV_WC_LOC_ACCESS_ERR);
	state_becomes(&p.b, IBV_QPS_ERR);
	event_none(&sides[1], IBV_EVENT_QP_ACCESS_ERR, 20);
}

static void remote_inv_tag(void)
{
	setup_2(RIGHTS);
	remote_inv_fails(mw->rkey ^ 1);
}

static void remote_inv_region(void)
{
	setup(FULL_ACCESS);
	remote_inv_fails(mb.mr->rkey);
}

static void remote_inv_type1(void)
{
	setup(FULL_ACCESS | IBV_ACCESS_MW_BIND);
	mw = mw_make(sides[1].pd, IBV_MW_TYPE_1);
	bind_1(&p.b, mw, shown(&mb, OFF, WIN, RIGHTS));
	remote_inv_fails(mw->rkey);
}

static void remote_inv_other(void)
{
	struct pair other;

	setup(FULL_ACCESS | IBV_ACCESS_MW_BIND);
	pair_make(&other, NULL, NULL);
	mw = mw_make(sides[1].pd, IBV_MW_TYPE_2);
	bind_2(&other.b, mw, shown(&mb, OFF, WIN, RIGHTS));
	remote_inv_fails(mw->rkey);
}

/* ---- lifetimes ---- */

static void region_busy(void)
{
	struct ibv_mr *mr;

	setup(FULL_ACCESS);
	mr = ibv_reg_mr(sides[1].pd, mb.p, LEN,
			FULL_ACCESS | IBV_ACCESS_MW_BIND);
	must(mr);
	mw = ibv_alloc_mw(sides[1].pd, IBV_MW_TYPE_2);
	must(mw);
	bind_2(&p.b, mw, (struct ibv_mw_bind_info) {
		.mr = mr, .addr = at(OFF), .length = WIN,
		.mw_access_flags = RIGHTS });
	must_be(ibv_dereg_mr(mr), EBUSY);
	must(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			  FULL_ACCESS) != 0);
	allowed(IBV_WR_RDMA_WRITE, at(OFF), 64, mw->rkey);
	must_be(ibv_dealloc_mw(mw), 0);
	must_be(ibv_dereg_mr(mr), 0);
}

static void window_gone(void)
{
	__u32 key;

	setup(FULL_ACCESS | IBV_ACCESS_MW_BIND);
	mw = ibv_alloc_mw(sides[1].pd, IBV_MW_TYPE_2);
	must(mw);
	bind_2(&p.b, mw, shown(&mb, OFF, WIN, RIGHTS));
	key = mw->rkey;
	must_be(ibv_dealloc_mw(mw), 0);
	refused(IBV_WR_RDMA_WRITE, at(OFF), 64, key);
	untouched(mb.p, LEN, "the region");
}

/* The queue pair of a bound window can be destroyed; the region cannot. */
static void window_outlives(void)
{
	setup(FULL_ACCESS | IBV_ACCESS_MW_BIND);
	mw = ibv_alloc_mw(sides[1].pd, IBV_MW_TYPE_2);
	must(mw);
	bind_2(&p.b, mw, shown(&mb, OFF, WIN, RIGHTS));
	end_destroy_qp(&p.b);
	must_be(ibv_dereg_mr(mb.mr), EBUSY);
	must_be(ibv_dealloc_mw(mw), 0);
}

/* ---- races ---- */

#define RACE_LEN	0x100000UL

static struct mem ra, rb;
static struct ibv_mw *race_mw;

static void race_setup(enum ibv_mw_type type)
{
	pair_make(&p, NULL, NULL);
	mem_make(&ra, &sides[0], RACE_LEN, FULL_ACCESS);
	mem_make(&rb, &sides[1], RACE_LEN, FULL_ACCESS | IBV_ACCESS_MW_BIND);
	race_mw = mw_make(sides[1].pd, type);
}

/* Large writes are in flight when the window is removed. */
static void race_writes(void)
{
	struct ibv_sge sge = sge_of(&ra, 0, RACE_LEN);
	struct ibv_send_wr wr;
	int i;

	for (i = 0; i < 16; i++) {
		wr = via(i, IBV_WR_RDMA_WRITE, &sge, (uintptr_t)rb.p,
			 race_mw->rkey);
		must_be(post_one(&p.a, &wr), 0);
	}
}

/* Nothing may be written after the removal has completed. */
static void race_quiet(void)
{
	struct ibv_wc wc = {};

	memset(rb.p, GUARD, RACE_LEN);
	do {
		if (!wc_wait(p.a.scq, &wc, BOUND))
			case_fail("the writes do not end");
	} while (wc.status == IBV_WC_SUCCESS && wc.wr_id < 15);
	if (wc.status != IBV_WC_SUCCESS)
		untouched(rb.p, RACE_LEN, "the memory of the former window");
}

/* A refused WRITE moves the QP to the error state, possibly before its completion. */
static void race_invalidate(void)
{
	struct ibv_send_wr wr = inv_wr(52, race_mw->rkey);
	struct ibv_wc wc = {};

	must_be(post_one(&p.b, &wr), 0);
	must(wc_wait(p.b.scq, &wc, BOUND));
	must_be(wc.wr_id, 52);
	if (wc.status != IBV_WC_WR_FLUSH_ERR)
		must_be(wc.status, IBV_WC_SUCCESS);
}

static void race_inv(void)
{
	int i;

	for (i = 0; i < rounds; i++) {
		race_setup(IBV_MW_TYPE_2);
		bind_2(&p.b, race_mw, shown(&rb, 0, RACE_LEN, RIGHTS));
		race_writes();
		usleep(i * 100);
		race_invalidate();
		race_quiet();
	}
}

static void race_unbind(void)
{
	struct pair other;
	int i;

	pair_make(&other, NULL, NULL);
	for (i = 0; i < rounds; i++) {
		race_setup(IBV_MW_TYPE_1);
		bind_1(&other.b, race_mw, shown(&rb, 0, RACE_LEN, RIGHTS));
		race_writes();
		usleep(i * 100);
		bind_1(&other.b, race_mw,
		       (struct ibv_mw_bind_info) { .mr = NULL });
		race_quiet();
	}
}

static void race_dealloc(void)
{
	int i;

	for (i = 0; i < rounds; i++) {
		race_setup(IBV_MW_TYPE_1);
		race_mw = ibv_alloc_mw(sides[1].pd, IBV_MW_TYPE_1);
		must(race_mw);
		bind_1(&p.b, race_mw, shown(&rb, 0, RACE_LEN, RIGHTS));
		race_writes();
		usleep(i * 100);
		must_be(ibv_dealloc_mw(race_mw), 0);
		race_quiet();
	}
}

/* The bind completes in order, without a timeout. */
static void bind_behind_unsignaled(void)
{
	struct opt o = opt_default;
	struct ibv_send_wr wr;
	struct pair q;
	struct mem m;

	o.timeout = 0;
	pair_make(&q, &o, NULL);
	mem_make(&m, &sides[0], LEN, FULL_ACCESS | IBV_ACCESS_MW_BIND);
	mw = mw_make(sides[0].pd, IBV_MW_TYPE_2);
	wr = wr_of(1, IBV_WR_RDMA_WRITE, NULL, 0);
	wr.send_flags = 0;
	must_be(post_one(&q.a, &wr), 0);
	bind_2(&q.a, mw, shown(&m, OFF, WIN, IBV_ACCESS_REMOTE_WRITE));
}

static const struct vrb_case mw_cases[] = {
	{ "mw", "type 1 gives access to its range", type1_shows },
	{ "mw", "type 1 works for every QP of the domain", type1_any_qp },
	{ "mw", "type 1 rebound gives access to the new range only", type1_moves },
	{ "mw", "type 1 bound with length 0 gives no access", type1_unbinds },
	{ "mw", "type 1 cannot be bound by a work request", type1_not_by_wr },
	{ "mw", "a bind behind an unsignalled request",
	  bind_behind_unsignaled },
	{ "mw", "type 1 cannot be bound with its old key", bind_old_key_1 },
	{ "mw", "type 1 cannot be bound with another key", bind_other_key_1 },
	{ "mw", "type 2 gives access to its range", type2_shows },
	{ "mw", "type 2: WRITE before the start", type2_before },
	{ "mw", "type 2: READ past the end", type2_behind },
	{ "mw", "type 2: FETCH_ADD past the end", type2_atomic_behind },
	{ "mw", "type 2, zero based", type2_based },
	{ "mw", "type 2, zero based: WRITE past the end", type2_based_behind },
	{ "mw", "WRITE without REMOTE_WRITE", no_write },
	{ "mw", "READ without REMOTE_READ", no_read },
	{ "mw", "FETCH_ADD without REMOTE_ATOMIC", no_atomic },
	{ "mw", "more rights than the region's rkey", more_rights },
	{ "mw", "type 2 gives no access to another QP", other_qp },
	{ "mw", "a wrong tag", other_tag },
	{ "mw", "a window's key is not an lkey", not_local },
	{ "mw", "bind without MW_BIND", bind_no_right },
	{ "mw", "bind to write without LOCAL_WRITE", bind_no_write },
	{ "mw", "bind for atomics without LOCAL_WRITE", bind_no_atomic },
	{ "mw", "bind to read without LOCAL_WRITE", bind_read_only },
	{ "mw", "bind past the end", bind_behind },
	{ "mw", "bind before the start", bind_before },
	{ "mw", "bind type 2 with length 0", bind_nothing },
	{ "mw", "bind type 2 twice", bind_twice },
	{ "mw", "bind with the index of another key", bind_index },
	{ "mw", "bind to a window", bind_window },
	{ "mw", "bind to a region of another domain", bind_region_pd },
	{ "mw", "bind a window of another domain", bind_window_pd },
	{ "mw", "LOCAL_INV ends a window", inv_ends },
	{ "mw", "LOCAL_INV of an invalidated window", inv_again },
	{ "mw", "LOCAL_INV and bind, 300 times", inv_rebind },
	{ "mw", "LOCAL_INV of a region", inv_region },
	{ "mw", "LOCAL_INV of type 1", inv_type1 },
	{ "mw", "LOCAL_INV by another QP", inv_other_qp },
	{ "mw", "binds and invalidations in the order of the queue", in_order },
	{ "mw", "SEND with invalidate ends a window", remote_inv },
	{ "mw", "SEND with invalidate, wrong tag", remote_inv_tag },
	{ "mw", "SEND with invalidate of a region", remote_inv_region },
	{ "mw", "SEND with invalidate of type 1", remote_inv_type1 },
	{ "mw", "SEND with invalidate by another QP", remote_inv_other },
	{ "mw", "a region with a window cannot be deregistered", region_busy },
	{ "mw", "a deallocated window", window_gone },
	{ "mw", "a window outlives its queue pair", window_outlives },
	{ "mw", "LOCAL_INV races with writes", race_inv },
	{ "mw", "unbind races with writes of another QP", race_unbind },
	{ "mw", "dealloc races with writes", race_dealloc },
};

VRB_TOPIC("mw", mw_cases);
