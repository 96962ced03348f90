// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: extended reliable connections
 *
 * End a sends only, end b receives only, into the SRQ that each request names
 * by its number.
 */
#include <fcntl.h>
#include <unistd.h>

#include "vrb.h"

#define LEN	50000
#define QUEUES	2

static struct pair p;
static struct ibv_xrcd *xrcd;
static struct ibv_srq *srq[QUEUES];
static struct ibv_cq *cq[QUEUES];
static __u32 srqn[QUEUES];
static struct mem ma, mb;
static struct ibv_sge sa, sb;

static void queue_make(int i, struct ibv_pd *pd, struct ibv_xrcd *domain)
{
	cq[i] = cq_make(&sides[1], 256, NULL);
	srq[i] = xsrq_make(pd, domain, cq[i], 16);
	must_be(ibv_get_srq_num(srq[i], &srqn[i]), 0);
}

/* @named: the target is created with an SRQ, which has no effect */
static void setup_ends(struct opt *a, bool named)
{
	struct opt b = opt_default;
	int i;

	if (!(sides[1].attr.device_cap_flags & IBV_DEVICE_XRC))
		case_skip("no XRC");
	xrcd = xrcd_make(sides[1].ctx, -1);
	for (i = 0; i < QUEUES; i++)
		queue_make(i, sides[1].pd, xrcd);
	must(srqn[0] != srqn[1]);
	a->type = IBV_QPT_XRC_SEND;
	b.type = IBV_QPT_XRC_RECV;
	b.xrcd = xrcd;
	b.srq = named ? srq[0] : NULL;
	p = (struct pair) {};
	pair_make(&p, a, &b);
	mem_make(&ma, &sides[0], LEN, FULL_ACCESS);
	mem_make(&mb, &sides[1], LEN, FULL_ACCESS);
	sa = sge_of(&ma, 0, 64);
	sb = sge_of(&mb, 0, LEN);
}

static void setup_opt(struct opt *a)
{
	setup_ends(a, false);
}

static void setup(void)
{
	struct opt a = opt_default;

	setup_opt(&a);
}

static void post(struct ibv_send_wr *wr, __u32 number,
		 enum ibv_wc_status status)
{
	wr->qp_type.xrc.remote_srqn = number;
	must_be(post_one(&p.a, wr), 0);
	wc_want(p.a.scq, wr->wr_id, status);
}

/* A SEND of @len bytes of stream @seed takes receive @id of queue @i. */
static void send_takes(int i, __u64 id, size_t len, __u32 seed)
{
	struct ibv_send_wr wr;
	struct ibv_wc wc;

	fill(ma.p, len, seed);
	sa = sge_of(&ma, 0, len);
	wr = wr_of(seed, IBV_WR_SEND_WITH_IMM, &sa, 1);
	wr.imm_data = htobe32(seed);
	post(&wr, srqn[i], IBV_WC_SUCCESS);
	wc = wc_want(cq[i], id, IBV_WC_SUCCESS);
	must_be(wc.opcode, IBV_WC_RECV);
	must_be(wc.byte_len, len);
	must_be(be32toh(wc.imm_data), seed);
	must_be(wc.qp_num, p.b.qp->qp_num);
	same(mb.p, len, seed, "a send");
}

static const __u32 sizes[] = { 0, 1, 4095, 4096, 4097, LEN };

static void sends(void)
{
	size_t n;
	int i;

	setup();
	for (n = 0; n < 2 * ARRAY_SIZE(sizes); n++) {
		i = n & 1;
		must_be(post_srq(srq[i], n, &sb, 1), 0);
		memset(mb.p, GUARD, LEN);
		send_takes(i, n, sizes[n / 2], n);
		untouched(mb.p + sizes[n / 2], LEN - sizes[n / 2], "behind it");
		wc_none(cq[!i], 0);
	}
}

static void named(void)
{
	struct opt a = opt_default;
	int i;

	setup_ends(&a, true);
	for (i = 0; i < 2 * QUEUES; i++) {
		must_be(post_srq(srq[i % QUEUES], i, &sb, 1), 0);
		send_takes(i % QUEUES, i, 64, i);
	}
}

static void one_sided(void)
{
	struct ibv_send_wr wr;
	struct ibv_wc wc;
	size_t n;

	setup();
	for (n = 0; n < ARRAY_SIZE(sizes); n++) {
		fill(ma.p, sizes[n], n);
		sa = sge_of(&ma, 0, sizes[n]);
		wr = wr_of(n, IBV_WR_RDMA_WRITE, &sa, 1);
		wr_target(&wr, &mb, 0);
		post(&wr, srqn[0], IBV_WC_SUCCESS);
		same(mb.p, sizes[n], n, "a write");

		memset(ma.p, GUARD, LEN);
		wr.opcode = IBV_WR_RDMA_READ;
		post(&wr, srqn[1], IBV_WC_SUCCESS);
		same(ma.p, sizes[n], n, "a read");
		untouched(ma.p + sizes[n], LEN - sizes[n], "behind it");

		must_be(post_srq(srq[1], n, NULL, 0), 0);
		wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
		wr.imm_data = htobe32(n);
		post(&wr, srqn[1], IBV_WC_SUCCESS);
		wc = wc_want(cq[1], n, IBV_WC_SUCCESS);
		must_be(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
		must_be(wc.byte_len, sizes[n]);
	}
}

static void atomics(void)
{
	struct ibv_send_wr wr;
	__u64 *result, *word;

	setup();
	result = (__u64 *)ma.p;
	word = (__u64 *)mb.p;
	*word = 40;
	sa = sge_of(&ma, 0, 8);
	wr = wr_of(1, IBV_WR_ATOMIC_FETCH_AND_ADD, &sa, 1);
	wr_target(&wr, &mb, 0);
	wr.wr.atomic.compare_add = 2;
	post(&wr, srqn[0], IBV_WC_SUCCESS);
	must_be(*result, 40);
	must_be(*word, 42);

	wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	wr.wr.atomic.compare_add = 42;
	wr.wr.atomic.swap = 7;
	post(&wr, srqn[1], IBV_WC_SUCCESS);
	must_be(*result, 42);
	must_be(*word, 7);
}

/* One request of each operation by ibv_wr_*, in one batch */
static void wr_api(void)
{
	struct opt a = opt_default;
	struct ibv_qp_ex *ex;
	__u64 *word;

	a.send_ops = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
	setup_opt(&a);
	word = (__u64 *)mb.p;
	must_be(post_srq(srq[1], 5, &sb, 1), 0);
	ex = ibv_qp_to_qp_ex(p.a.qp);
	must(ex);
	*word = 1;
	ibv_wr_start(ex);
	ex->wr_flags = IBV_SEND_SIGNALED;
	ex->wr_id = 1;
	ibv_wr_atomic_fetch_add(ex, mb.mr->rkey, (uintptr_t)mb.p, 3);
	ibv_wr_set_xrc_srqn(ex, srqn[0]);
	ibv_wr_set_sge(ex, ma.mr->lkey, (uintptr_t)ma.p, 8);
	ex->wr_id = 2;
	ibv_wr_send(ex);
	ibv_wr_set_xrc_srqn(ex, srqn[1]);
	ibv_wr_set_sge(ex, ma.mr->lkey, (uintptr_t)ma.p + 64, 0);
	must_be(ibv_wr_complete(ex), 0);
	wc_want(p.a.scq, 1, IBV_WC_SUCCESS);
	wc_want(p.a.scq, 2, IBV_WC_SUCCESS);
	wc_want(cq[1], 5, IBV_WC_SUCCESS);
	must_be(*word, 4);
}

/* Both ends enter the error state; the responder's program gets the event. */
static void refused(struct ibv_send_wr *wr, __u32 number,
		    enum ibv_wc_status status, enum ibv_event_type event)
{
	post(wr, number, status);
	state_becomes(&p.b, IBV_QPS_ERR);
	event_want(&sides[1], event, p.b.qp);
	event_want(&sides[1], IBV_EVENT_QP_LAST_WQE_REACHED, p.b.qp);
	untouched(mb.p, LEN, "the region");
}

static void no_such_queue(void)
{
	struct ibv_send_wr wr;

	setup();
	must_be(post_srq(srq[0], 1, &sb, 1), 0);
	wr = wr_of(1, IBV_WR_SEND, &sa, 1);
	refused(&wr, srqn[1] ^ 0x800000, IBV_WC_REM_INV_REQ_ERR,
		IBV_EVENT_QP_REQ_ERR);
	wc_none(cq[0], 5);
}

static void queue_gone(void)
{
	struct ibv_send_wr wr;

	setup();
	xsrq_destroy(srq[0]);
	wr = wr_of(1, IBV_WR_RDMA_WRITE, &sa, 1);
	wr_target(&wr, &mb, 0);
	refused(&wr, srqn[0], IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
}

static void other_domain(void)
{
	struct ibv_send_wr wr;

	setup();
	queue_make(1, sides[1].pd, xrcd_make(sides[1].ctx, -1));
	must_be(post_srq(srq[1], 1, &sb, 1), 0);
	wr = wr_of(1, IBV_WR_SEND, &sa, 1);
	refused(&wr, srqn[1], IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
	wc_none(cq[1], 5);
}

/* Keys belong to the protection domain of the SRQ named in the request. */
static void other_pd(enum ibv_wr_opcode op)
{
	struct ibv_send_wr wr;

	setup();
	queue_make(1, pd_make(&sides[1]), xrcd);
	sa.length = 8;
	wr = wr_of(1, op, &sa, 1);
	wr_target(&wr, &mb, 0);
	refused(&wr, srqn[1], IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
}

static void other_pd_write(void)
{
	other_pd(IBV_WR_RDMA_WRITE);
}

static void other_pd_read(void)
{
	other_pd(IBV_WR_RDMA_READ);
}

static void other_pd_atomic(void)
{
	other_pd(IBV_WR_ATOMIC_FETCH_AND_ADD);
}

static void not_ready(void)
{
	struct ibv_send_wr wr;

	setup();
	must_be(post_srq(srq[1], 1, &sb, 1), 0);
	wr = wr_of(1, IBV_WR_SEND, &sa, 1);
	wr.qp_type.xrc.remote_srqn = srqn[0];
	must_be(post_one(&p.a, &wr), 0);
	wc_none(p.a.scq, 30);
	must_be(post_srq(srq[0], 2, &sb, 1), 0);
	wc_want(p.a.scq, 1, IBV_WC_SUCCESS);
	wc_want(cq[0], 2, IBV_WC_SUCCESS);
	send_takes(1, 1, 10, 3);
}

/* Sends only the first packets of a message. */
static void begin_message(void)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge[2];

	setup();
	must_be(post_srq(srq[0], 1, &sb, 1), 0);
	sge[0] = sge_of(&ma, 0, 8192);
	sge[1] = sge[0];
	sge[1].lkey ^= 0x55000;
	wr = wr_of(1, IBV_WR_SEND, sge, 2);
	post(&wr, srqn[0], IBV_WC_LOC_PROT_ERR);
	wc_none(cq[0], 20);
}

static void error_midway(void)
{
	begin_message();
	must_be(to_state(&p.b, IBV_QPS_ERR), 0);
	event_want(&sides[1], IBV_EVENT_QP_LAST_WQE_REACHED, p.b.qp);
	must_be(wc_want(cq[0], 1, IBV_WC_WR_FLUSH_ERR).qp_num, p.b.qp->qp_num);
}

/* The SRQ is destroyed before the message ends, without further errors. */
static void gone_midway(void)
{
	begin_message();
	xsrq_destroy(srq[0]);
	must_be(to_state(&p.b, IBV_QPS_ERR), 0);
	event_want(&sides[1], IBV_EVENT_QP_LAST_WQE_REACHED, p.b.qp);
	wc_none(cq[0], 10);
}

/* An initiator on the responder's host, which binds windows for the pair */
static void binder_make(struct end *e, __u64 send_ops)
{
	struct opt o = opt_default;

	o.type = IBV_QPT_XRC_SEND;
	o.send_ops = send_ops;
	end_make(e, &sides[1], &o);
	must_be(to_init(e), 0);
	must_be(to_rtr(e, &p.a), 0);
	must_be(to_rts(e), 0);
	mem_own(&mb, sides[1].pd, FULL_ACCESS | IBV_ACCESS_MW_BIND);
}

static struct ibv_mw_bind_info shown(void)
{
	return (struct ibv_mw_bind_info) {
		.mr = mb.mr,
		.addr = (uintptr_t)mb.p + 100,
		.length = 64,
		.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
}

/* ibv_bind_mw(3), ibv_post_send(3): a window of type 1 */
static void binds_1(void)
{
	struct ibv_mw_bind bind = { .wr_id = 5, .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr wr;
	struct ibv_mw *mw;
	struct end e;

	setup();
	binder_make(&e, 0);
	mw = mw_make(sides[1].pd, IBV_MW_TYPE_1);
	bind.bind_info = shown();
	must_be(ibv_bind_mw(e.qp, mw, &bind), 0);
	must_be(wc_want(e.scq, 5, IBV_WC_SUCCESS).opcode, IBV_WC_BIND_MW);

	fill(ma.p, 64, 3);
	wr = wr_of(6, IBV_WR_RDMA_WRITE, &sa, 1);
	wr.wr.rdma.remote_addr = (uintptr_t)mb.p + 100;
	wr.wr.rdma.rkey = mw->rkey;
	post(&wr, srqn[0], IBV_WC_SUCCESS);
	same(mb.p + 100, 64, 3, "the window");
	untouched(mb.p, 100, "before the window");
	untouched(mb.p + 164, LEN - 164, "behind the window");
}

/* A window of type 2, bound by a work request and ended by LOCAL_INV */
static void binds_2(void)
{
	struct ibv_send_wr wr = wr_of(7, IBV_WR_BIND_MW, NULL, 0);
	struct ibv_mw *mw;
	struct end e;
	int i;

	setup();
	binder_make(&e, 0);
	mw = mw_make(sides[1].pd, IBV_MW_TYPE_2);
	for (i = 0; i < 3; i++) {
		wr = wr_of(7, IBV_WR_BIND_MW, NULL, 0);
		wr.bind_mw.mw = mw;
		wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
		wr.bind_mw.bind_info = shown();
		wr.qp_type.xrc.remote_srqn = 0xffffff;	/* ignored */
		must_be(post_one(&e, &wr), 0);
		must_be(wc_want(e.scq, 7, IBV_WC_SUCCESS).opcode, IBV_WC_BIND_MW);
		mw->rkey = wr.bind_mw.rkey;
		wr = wr_of(8, IBV_WR_LOCAL_INV, NULL, 0);
		wr.invalidate_rkey = mw->rkey;
		must_be(post_one(&e, &wr), 0);
		must_be(wc_want(e.scq, 8, IBV_WC_SUCCESS).opcode,
			IBV_WC_LOCAL_INV);
	}
	must_be(state_of(&e), IBV_QPS_RTS);
}

/* ibv_wr_post(3): bind and invalidation in one batch */
static void binds_by_wr(void)
{
	struct ibv_mw_bind_info info;
	struct ibv_qp_ex *ex;
	struct ibv_mw *mw;
	struct end e;
	__u32 rkey;

	setup();
	binder_make(&e, IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV);
	ex = ibv_qp_to_qp_ex(e.qp);
	must(ex);
	mw = mw_make(sides[1].pd, IBV_MW_TYPE_2);
	rkey = ibv_inc_rkey(mw->rkey);
	info = shown();
	ibv_wr_start(ex);
	ex->wr_flags = IBV_SEND_SIGNALED;
	ex->wr_id = 1;
	ibv_wr_bind_mw(ex, mw, rkey, &info);
	ex->wr_id = 2;
	ibv_wr_local_inv(ex, rkey);
	must_be(ibv_wr_complete(ex), 0);
	must_be(wc_want(e.scq, 1, IBV_WC_SUCCESS).opcode, IBV_WC_BIND_MW);
	must_be(wc_want(e.scq, 2, IBV_WC_SUCCESS).opcode, IBV_WC_LOCAL_INV);
}

static void cannot(void)
{
	struct ibv_send_wr wr = wr_of(1, IBV_WR_SEND, NULL, 0);
	struct ibv_srq *basic;
	__u32 number;

	setup();
	must_be(post_one(&p.b, &wr), EINVAL);
	must_be(post_recv(&p.a, 1, NULL, 0), EINVAL);
	must_be(post_recv(&p.b, 1, NULL, 0), EINVAL);
	must_be(ibv_destroy_cq(cq[0]), EBUSY);
	must_be(ibv_close_xrcd(xrcd), EBUSY);
	basic = srq_make(&sides[1], NULL, 8, 1);
	must(ibv_get_srq_num(basic, &number));
}

/*
 * A second context, which the kernel cannot tell from another process, opens
 * the domain by its file and the queue pair by its number.  Both survive the
 * first context.
 */
static void opened(void)
{
	char path[] = "/tmp/vrb-xrcd-XXXXXX";
	struct ibv_qp_open_attr open = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
			     IBV_QP_OPEN_ATTR_TYPE,
		.qp_type = IBV_QPT_XRC_RECV,
	};
	struct ibv_qp_init_attr init;
	struct ibv_context *ctx;
	struct ibv_qp_attr attr;
	struct ibv_xrcd *second;
	int fd;

	setup();
	ctx = ibv_open_device(sides[1].ctx->device);
	must(ctx);
	fd = mkstemp(path);
	must(fd >= 0);
	unlink(path);

	end_destroy_qp(&p.b);
	p.b.o.xrcd = xrcd_make(sides[1].ctx, fd);
	second = ibv_open_xrcd(ctx, &(struct ibv_xrcd_init_attr) {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = fd,
	});
	must(second);
	end_make(&p.b, &sides[1], &p.b.o);
	must_be(to_init(&p.b), 0);

	open.xrcd = second;
	open.qp_num = p.b.qp->qp_num ^ 1;
	must(!ibv_open_qp(ctx, &open));
	must_be(errno, EINVAL);
	open.qp_num = p.b.qp->qp_num;
	end_destroy_qp(&p.b);
	must(!ibv_open_qp(ctx, &open));

	end_make(&p.b, &sides[1], &p.b.o);
	must_be(to_init(&p.b), 0);
	open.qp_num = p.b.qp->qp_num;
	p.b.qp = ibv_open_qp(ctx, &open);
	must(p.b.qp);
	must_be(p.b.qp->qp_num, open.qp_num);
	must_be(ibv_query_qp(p.b.qp, &attr, IBV_QP_STATE, &init), 0);
	must_be(attr.qp_state, IBV_QPS_INIT);
	must_be(to_state(&p.a, IBV_QPS_RESET), 0);
	must_be(to_init(&p.a), 0);
	must_be(to_rtr(&p.b, &p.a), 0);
	must_be(to_rtr(&p.a, &p.b), 0);
	must_be(to_rts(&p.a), 0);

	queue_make(0, sides[1].pd, p.b.o.xrcd);
	must_be(post_srq(srq[0], 1, &sb, 1), 0);
	send_takes(0, 1, 9000, 4);
	must_be(ibv_destroy_qp(p.b.qp), 0);
	must_be(ibv_close_xrcd(second), 0);
	must_be(ibv_close_device(ctx), 0);
	/* the first context can still use the queue pair */
	must_be(post_srq(srq[0], 2, &sb, 1), 0);
	send_takes(0, 2, 9000, 5);
	close(fd);
}

static void soak(void)
{
	struct opt a = opt_default;
	struct ibv_send_wr wr;
	__u32 n;

	a.timeout = patience;
	setup_opt(&a);
	for (n = 0; n < (__u32)rounds; n++) {
		size_t len = (n * 7919) % LEN;

		must_be(post_srq(srq[n & 1], n, &sb, 1), 0);
		send_takes(n & 1, n, len, n);
		memset(ma.p, GUARD, LEN);
		sa = sge_of(&ma, 0, len);
		wr = wr_of(n, IBV_WR_RDMA_READ, &sa, 1);
		wr_target(&wr, &mb, 0);
		post(&wr, srqn[!(n & 1)], IBV_WC_SUCCESS);
		same(ma.p, len, n, "a read");
		*(__u64 *)mb.p = n;
		sa = sge_of(&ma, 0, 8);
		wr = wr_of(n, IBV_WR_ATOMIC_FETCH_AND_ADD, &sa, 1);
		wr_target(&wr, &mb, 0);
		wr.wr.atomic.compare_add = 5;
		post(&wr, srqn[0], IBV_WC_SUCCESS);
		must_be(*(__u64 *)ma.p, n);
		must_be(*(__u64 *)mb.p, n + 5);
	}
}

/* An initiator has no receive CQ, so that CQ can be destroyed. */
static void unused_cq(void)
{
	struct ibv_cq *cq = ibv_create_cq(sides[0].ctx, 8, NULL, NULL, 0);
	struct ibv_cq *unused = ibv_create_cq(sides[0].ctx, 8, NULL, NULL, 0);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_XRC_SEND,
		.send_cq = cq,
		.recv_cq = unused,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = sides[0].pd,
	};
	struct ibv_qp *qp;

	if (!(sides[0].attr.device_cap_flags & IBV_DEVICE_XRC))
		case_skip("no XRC");
	must(cq && unused);
	qp = ibv_create_qp_ex(sides[0].ctx, &init);
	must(qp);
	must_be(ibv_destroy_cq(unused), 0);
	must_be(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	must_be(ibv_destroy_qp(qp), 0);
	must_be(ibv_destroy_cq(cq), 0);
}

/* Only a device that offers XRC has initiators. */
static void offered(void)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_XRC_SEND,
		.send_cq = cq_make(&sides[0], 8, NULL),
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
	};
	struct ibv_qp *qp = ibv_create_qp(sides[0].pd, &init);

	if (sides[0].attr.device_cap_flags & IBV_DEVICE_XRC) {
		qp_own(qp);
	} else {
		must(!qp);
		must_be(errno, EOPNOTSUPP);
	}
}

static const struct vrb_case xrc_cases[] = {
	{ "xrc", "SEND of each size to two queues", sends },
	{ "xrc", "SEND to a target created with an SRQ", named },
	{ "xrc", "WRITE and READ of each size", one_sided },
	{ "xrc", "CMP_SWP and FETCH_ADD", atomics },
	{ "xrc", "ibv_wr_*", wr_api },
	{ "xrc", "an invalid SRQ number", no_such_queue },
	{ "xrc", "a destroyed SRQ", queue_gone },
	{ "xrc", "an SRQ of another XRC domain", other_domain },
	{ "xrc", "WRITE to another protection domain", other_pd_write },
	{ "xrc", "READ from another protection domain", other_pd_read },
	{ "xrc", "FETCH_ADD in another protection domain", other_pd_atomic },
	{ "xrc", "an empty queue, then a receive", not_ready },
	{ "xrc", "an error flushes the receive in use", error_midway },
	{ "xrc", "an SRQ destroyed in the middle of a message", gone_midway },
	{ "xrc", "ibv_bind_mw of an initiator", binds_1 },
	{ "xrc", "BIND_MW and LOCAL_INV of an initiator", binds_2 },
	{ "xrc", "ibv_wr_bind_mw and ibv_wr_local_inv of an initiator",
	  binds_by_wr },
	{ "xrc", "unsupported operations", cannot },
	{ "xrc", "a queue pair opened by another context", opened },
	{ "xrc", "an unused CQ is destroyed first", unused_cq },
	{ "xrc", "initiators only if the device says so", offered },
};

VRB_TOPIC("xrc", xrc_cases);

static const struct vrb_case soak_cases[] = {
	{ "xrcsoak", "batches of all operations", soak },
};

VRB_TOPIC_ALONE("xrc", soak_cases);
