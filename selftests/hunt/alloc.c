// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - hunt: each allocation of a verb fails once
 *
 * The kernel fails the Nth allocation of a task on demand (fail-nth).  A verb
 * is called with N = 1, 2, ... until it makes fewer than N allocations.  Where
 * it fails it must return a valid error, leak nothing, and succeed when called
 * again.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <linux/udmabuf.h>

#include "frames.h"

#define LEN		(256UL << 10)
#define NTH_MAX		20000
#define MODULE		"srnic"

/**
 * struct verb - a verb under test
 * @before: creates the objects it needs, before each call
 * @call: returns 0 or an errno
 * @after: undoes the call
 */
struct verb {
	void	(*before)(void);
	int	(*call)(void);
	void	(*after)(void);
};

static int nth_fd = -1;

static void nth_close(void)
{
	close(nth_fd);
	nth_fd = -1;
}

static void nth_set(int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", n);

	must_be(pwrite(nth_fd, text, len, 0), len);
}

/* Allocations left until one fails; 0: it has failed */
static int nth_left(int fd)
{
	char text[16] = {};

	must(pread(fd, text, sizeof(text) - 1, 0) > 0);
	return atoi(text);
}

static void nth_open(void)
{
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (nth_fd < 0)
		case_skip("no fault injection in this kernel");
	case_end = nth_close;
	srandom(run_seed);
}

/* The next N: random steps of @rounds on average; with -n 1 every number */
static int nth_next(int n)
{
	return n + 1 + random() % (2 * rounds - 1);
}

/* Executes @call with the @nth allocation failing; sets *@hit if it was reached. */
static int call_nth(int (*call)(void), int nth, bool *hit)
{
	int err;

	side_enter(&sides[0]);	/* before the fault is armed, as it allocates */
	nth_set(nth);
	err = call();
	*hit = !nth_left(nth_fd);
	nth_set(0);
	side_leave(&sides[0]);
	return err;
}

/* ---- leak check ---- */

static void read_tool(const char *command, char *out, size_t size)
{
	FILE *f = popen(command, "r");
	size_t len;

	must(f);
	len = fread(out, 1, size - 1, f);
	out[len] = 0;
	pclose(f);
}

/* Counts objects, and memory that the module allocates by vmalloc(). */
static void census(char *out, size_t size)
{
	size_t len;

	side_enter(&sides[0]);
	read_tool("rdma res show", out, size);
	side_leave(&sides[0]);
	len = strlen(out);
	read_tool("grep -c " MODULE " /proc/vmallocinfo", out + len, size - len);
}

static char before[4096], after[4096];

static void nothing_is_left(void)
{
	__u64 end = 0;

	do {
		census(after, sizeof(after));
		if (!strcmp(before, after))
			return;
	} while (wait_more(&end, NULL));
	case_fail("before:\n# %s\n# now:\n# %s", before, after);
}

/*
 * Error codes for lack of memory, and EOPNOTSUPP, which the core returns for a request
 * that it could not copy
 */
static bool clean(int err)
{
	return err == ENOMEM || err == ENOBUFS || err == EOPNOTSUPP;
}

static int survive(const struct verb *v)
{
	int n, calls = 0, failed = 0;
	bool hit = true;
	int err;

	census(before, sizeof(before));
	for (n = 1; hit; n = nth_next(n)) {
		must(n < NTH_MAX);
		if (v->before)
			v->before();
		err = call_nth(v->call, n, &hit);
		calls++;
		if (err && !hit)
			case_fail("call %d failed without a fault: errno %d", n, err);
		if (err && !clean(err))
			case_fail("allocation %d: errno %d", n, err);
		if (err) {
			failed++;
			err = call_nth(v->call, 0, &hit);
			hit = true;
			if (err)
				case_fail("after allocation %d: errno %d", n, err);
		}
		if (v->after)
			v->after();
	}
	nothing_is_left();
	printf("# %d calls, %d of them failed\n", calls, failed);
	return failed;
}

/* ---- verbs ---- */

static struct side *s = &sides[0];
static struct pair p;
static struct mem m;

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_mw *mw;
static struct ibv_dm *dm;
static struct ibv_cq *cq;
static struct ibv_srq *srq;
static struct ibv_qp *qp;
static struct ibv_wq *wq;
static struct ibv_ah *ah;
static struct ibv_flow *flow;
static struct ibv_xrcd *xrcd;
static struct ibv_counters *counters;
static struct ibv_rwq_ind_table *table;
static struct ibv_comp_channel *channel;
static int buffer_fd = -1;

#define RESULT(thing)	((thing) ? 0 : errno)

/* For calls that fail only by fault injection */
static void none(int err)
{
	must_be(err, 0);
}

static void now(int (*call)(void))
{
	bool hit;

	none(call_nth(call, 0, &hit));
}

/* device */
static int context_fd;

/*
 * Not as ibv_open_device() does, by ioctl(): if there is no memory for the context, the core then
 * keeps a reference to the task
 */
static int do_make_context(void)
{
	struct ib_uverbs_get_context_resp resp = { .async_fd = -1 };
	struct {
		struct ib_uverbs_cmd_hdr	hdr;
		struct ib_uverbs_get_context	core;
	} cmd = {
		.hdr.command = IB_USER_VERBS_CMD_GET_CONTEXT,
		.hdr.in_words = sizeof(cmd) / 4,
		.hdr.out_words = sizeof(resp) / 4,
		.core.response = (uintptr_t)&resp,
	};
	char path[128];
	int err;

	snprintf(path, sizeof(path), "/dev/infiniband/%s", s->ctx->device->dev_name);
	context_fd = open(path, O_RDWR | O_CLOEXEC);
	if (context_fd < 0)
		return errno;
	if (write(context_fd, &cmd, sizeof(cmd)) == sizeof(cmd))
		return close(resp.async_fd) ? errno : 0;
	err = errno;
	close(context_fd);
	return err;
}

static void context_gone(void)
{
	must_be(close(context_fd), 0);
}

static int do_open(void)
{
	ctx = ibv_open_device(s->ctx->device);
	return RESULT(ctx);
}

static int do_close(void)
{
	return ibv_close_device(ctx) ? errno : 0;
}

static void open_now(void)
{
	now(do_open);
}

static void close_now(void)
{
	now(do_close);
}

static void open_full(void)
{
	open_now();
	pd = ibv_alloc_pd(ctx);
	must(pd);
	must(ibv_reg_mr(pd, m.p, LEN, FULL_ACCESS));
	must(ibv_reg_mr(pd, NULL, SIZE_MAX, IBV_ACCESS_ON_DEMAND |
			IBV_ACCESS_LOCAL_WRITE));
	must(ibv_alloc_mw(pd, IBV_MW_TYPE_2));
}

static int do_import(void)
{
	int fd = dup(s->ctx->cmd_fd);

	if (fd < 0)
		return errno;
	ctx = ibv_import_device(fd);
	if (ctx)
		return 0;
	close(fd);
	return ENOMEM;
}

static int do_import_pd(void)
{
	pd = ibv_import_pd(ctx, s->pd->handle);
	return RESULT(pd);
}

static void unimport_pd(void)
{
	ibv_unimport_pd(pd);
}

static int do_import_mr(void)
{
	mr = ibv_import_mr(pd, m.mr->handle);
	return RESULT(mr);
}

static void unimport_mr(void)
{
	ibv_unimport_mr(mr);
}

static int do_query(void)
{
	struct ibv_device_attr_ex attr;
	struct ibv_port_attr port;
	struct ibv_gid_entry gid;
	__be16 pkey;
	int err;

	err = ibv_query_device_ex(s->ctx, NULL, &attr);
	if (!err)
		err = ibv_query_port(s->ctx, 1, &port);
	if (!err)
		err = ibv_query_gid_ex(s->ctx, 1, s->gid_index, &gid, 0);
	if (!err && ibv_query_pkey(s->ctx, 1, 0, &pkey))
		err = errno;
	return err;
}

/* protection domain */
static int do_pd(void)
{
	pd = ibv_alloc_pd(s->ctx);
	return RESULT(pd);
}

static int undo_pd(void)
{
	return ibv_dealloc_pd(pd);
}

static void pd_now(void)
{
	now(do_pd);
}

static void pd_gone(void)
{
	now(undo_pd);
}

/* regions */
static int reg_access = FULL_ACCESS;

static int do_mr(void)
{
	mr = ibv_reg_mr(s->pd, m.p, LEN, reg_access);
	return RESULT(mr);
}

static int do_mr_all(void)
{
	mr = ibv_reg_mr(s->pd, NULL, SIZE_MAX, FULL_ACCESS | IBV_ACCESS_ON_DEMAND);
	return RESULT(mr);
}

static int do_mr_null(void)
{
	mr = ibv_alloc_null_mr(s->pd);
	return RESULT(mr);
}

static int undo_mr(void)
{
	return ibv_dereg_mr(mr);
}

static void mr_now(void)
{
	now(do_mr);
}

static void mr_gone(void)
{
	now(undo_mr);
}

static int do_mr_buffer(void)
{
	mr = ibv_reg_dmabuf_mr(s->pd, 0, LEN, 0, buffer_fd, FULL_ACCESS);
	return RESULT(mr);
}

static void buffer_now(void)
{
	now(do_mr_buffer);
}

static int do_mr_dm(void)
{
	mr = ibv_reg_dm_mr(s->pd, dm, 0, 4096, FULL_ACCESS |
			   IBV_ACCESS_ZERO_BASED);
	return RESULT(mr);
}

/* If this fails, its return code says that the region is unchanged. */
static int do_rereg_memory(void)
{
	return ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL,
			    m.p + 4096, LEN / 2, 0) ? errno : 0;
}

static int do_rereg_access(void)
{
	return ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			    IBV_ACCESS_LOCAL_WRITE) ? errno : 0;
}

static int advice;

static int do_advise(void)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)m.p, .length = LEN, .lkey = mr->lkey,
	};

	return ibv_advise_mr(s->pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, advice,
			     &sge, 1);
}

static void odp_now(void)
{
	madvise(m.p, LEN, MADV_DONTNEED);
	mr = ibv_reg_mr(s->pd, m.p, LEN, FULL_ACCESS | IBV_ACCESS_ON_DEMAND);
	must(mr);
}

static int do_mw(void)
{
	mw = ibv_alloc_mw(s->pd, IBV_MW_TYPE_1);
	return RESULT(mw);
}

static int undo_mw(void)
{
	return ibv_dealloc_mw(mw);
}

static void mw_now(void)
{
	now(do_mw);
}

static void mw_gone(void)
{
	now(undo_mw);
}

static int do_bind(void)
{
	struct ibv_mw_bind bind = {
		.wr_id = 5,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = {
			.mr = mr,
			.addr = (uintptr_t)m.p,
			.length = LEN,
			.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
		},
	};
	int err = ibv_bind_mw(p.a.qp, mw, &bind);

	return err;
}

static void bind_now(void)
{
	mr = ibv_reg_mr(s->pd, m.p, LEN, FULL_ACCESS | IBV_ACCESS_MW_BIND);
	must(mr);
	mw_now();
}

static void bind_over(void)
{
	wc_want(p.a.scq, 5, IBV_WC_SUCCESS);
	mw_gone();
	mr_gone();
}

/* device memory */
static int do_dm(void)
{
	struct ibv_alloc_dm_attr attr = { .length = 8192 };

	dm = ibv_alloc_dm(s->ctx, &attr);
	return RESULT(dm);
}

static int undo_dm(void)
{
	return ibv_free_dm(dm);
}

static void dm_now(void)
{
	now(do_dm);
}

static void dm_gone(void)
{
	now(undo_dm);
}

/* completion queue */
static int do_channel(void)
{
	channel = ibv_create_comp_channel(s->ctx);
	return RESULT(channel);
}

static void channel_gone(void)
{
	none(ibv_destroy_comp_channel(channel));
}

static int do_cq(void)
{
	cq = ibv_create_cq(s->ctx, 100, NULL, NULL, 0);
	return RESULT(cq);
}

static int undo_cq(void)
{
	return ibv_destroy_cq(cq);
}

static void cq_now(void)
{
	now(do_cq);
}

static void cq_gone(void)
{
	now(undo_cq);
}

static int do_resize(void)
{
	return ibv_resize_cq(cq, 5000);
}

/* shared receive queue */
static int do_srq(void)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 100, .max_sge = 2 },
	};

	srq = ibv_create_srq(s->pd, &init);
	return RESULT(srq);
}

static int undo_srq(void)
{
	return ibv_destroy_srq(srq);
}

static void srq_now(void)
{
	now(do_srq);
}

static void srq_gone(void)
{
	now(undo_srq);
}

static int do_srq_limit(void)
{
	struct ibv_srq_attr attr = { .srq_limit = 0 };
	int err = ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT);

	return err ? err : ibv_query_srq(srq, &attr);
}

static int srq_to(__u32 max_wr)
{
	struct ibv_srq_attr attr = { .max_wr = max_wr };

	return ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR);
}

static int do_srq_resize(void)
{
	return srq_to(4000);
}

/* Posts enough receives that the kernel refuses to shrink the ring. */
static void srq_grown_gone(void)
{
	struct ibv_recv_wr *bad, wr = {};
	int i;

	for (i = 0; i < 1000; i++)
		none(ibv_post_srq_recv(srq, &wr, &bad));
	must_be(srq_to(100), EINVAL);
	srq_gone();
}

static int do_xsrq(void)
{
	struct ibv_srq_init_attr_ex init = {
		.attr = { .max_wr = 10, .max_sge = 2 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = s->pd,
		.xrcd = xrcd,
		.cq = cq,
	};

	srq = ibv_create_srq_ex(s->ctx, &init);
	return RESULT(srq);
}

static int do_xrcd(void)
{
	struct ibv_xrcd_init_attr init = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};

	xrcd = ibv_open_xrcd(s->ctx, &init);
	return RESULT(xrcd);
}

static int undo_xrcd(void)
{
	return ibv_close_xrcd(xrcd);
}

static void xrcd_now(void)
{
	now(do_xrcd);
}

static void xrcd_gone(void)
{
	now(undo_xrcd);
}

/* queue pair */
static enum ibv_qp_type qp_type;

static int do_qp(void)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = qp_type,
		.cap = {
			.max_send_wr = 50, .max_recv_wr = 50,
			.max_send_sge = 4, .max_recv_sge = 4,
		},
	};

	init.comp_mask = IBV_QP_INIT_ATTR_PD;
	init.pd = s->pd;
	init.send_cq = cq;
	if (qp_type != IBV_QPT_XRC_SEND)
		init.recv_cq = cq;
	qp = ibv_create_qp_ex(s->ctx, &init);
	return RESULT(qp);
}

static int undo_qp(void)
{
	return ibv_destroy_qp(qp);
}

static void qp_now(void)
{
	now(do_qp);
}

static void qp_gone(void)
{
	now(undo_qp);
}

static int do_open_qp(void)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
			     IBV_QP_OPEN_ATTR_TYPE,
		.qp_type = IBV_QPT_XRC_RECV,
		.xrcd = xrcd,
		.qp_num = p.a.qp->qp_num,
	};

	qp = ibv_open_qp(s->ctx, &attr);
	return RESULT(qp);
}

/* State to which a connected queue pair is taken before the call */
static struct end walker;
static struct side here;	/* side of the peer, on the same host */
static enum ibv_qp_state walk_to;

static int walk_one(enum ibv_qp_state state)
{
	switch (state) {
	case IBV_QPS_INIT:
		return to_init(&walker);
	case IBV_QPS_RTR:
		return to_rtr(&walker, &p.b);
	case IBV_QPS_RTS:
		return to_rts(&walker);
	default:
		return to_state(&walker, state);
	}
}

static void walk_before(void)
{
	enum ibv_qp_state state;

	qp_now();
	walker = p.a;
	walker.qp = qp;
	walker.side = s;
	for (state = IBV_QPS_INIT; state < walk_to && state <= IBV_QPS_RTS; state++)
		none(walk_one(state));
	here = *s;
	here.nsfd = -1;
	walker.side = &here;
}

static int do_walk(void)
{
	return walk_one(walk_to);
}

static int do_query_qp(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return ibv_query_qp(p.a.qp, &attr, IBV_QP_STATE, &init);
}

/* address handle, multicast */
static int do_ah(void)
{
	struct ibv_ah_attr attr = ah_path(s, &sides[1].gid);

	ah = ibv_create_ah(s->pd, &attr);
	return RESULT(ah);
}

static int undo_ah(void)
{
	return ibv_destroy_ah(ah);
}

static void ah_now(void)
{
	now(do_ah);
}

static void ah_gone(void)
{
	now(undo_ah);
}

static const union ibv_gid mcast_gid = {
	.raw = { 0xff, 0x0e, [10] = 0xff, 0xff, 239, 9, 9, 9 },
};

static int do_attach(void)
{
	int err = ibv_attach_mcast(p.a.qp, &mcast_gid, 0);

	return err;
}

static int undo_attach(void)
{
	return ibv_detach_mcast(p.a.qp, &mcast_gid, 0);
}

static void attach_now(void)
{
	now(do_attach);
}

static void attach_gone(void)
{
	now(undo_attach);
}

/* flows, work queues */
static struct rule rule;

static int do_flow(void)
{
	flow = ibv_create_flow(p.a.qp, &rule.attr);
	return RESULT(flow);
}

static int undo_flow(void)
{
	return ibv_destroy_flow(flow);
}

static void flow_now(void)
{
	now(do_flow);
}

static void flow_gone(void)
{
	now(undo_flow);
}

static int do_counters(void)
{
	struct ibv_counters_init_attr init = {};

	counters = ibv_create_counters(s->ctx, &init);
	return RESULT(counters);
}

static int undo_counters(void)
{
	return ibv_destroy_counters(counters);
}

static void counters_now(void)
{
	now(do_counters);
}

static void counters_gone(void)
{
	now(undo_counters);
}

static int do_wq(void)
{
	struct ibv_wq_init_attr init = {
		.wq_type = IBV_WQT_RQ,
		.max_wr = 20,
		.max_sge = 1,
		.pd = s->pd,
		.cq = cq,
	};

	wq = ibv_create_wq(s->ctx, &init);
	return RESULT(wq);
}

static int undo_wq(void)
{
	return ibv_destroy_wq(wq);
}

static void wq_now(void)
{
	now(do_wq);
}

static void wq_gone(void)
{
	now(undo_wq);
}

static int do_wq_ready(void)
{
	struct ibv_wq_attr attr = {
		.attr_mask = IBV_WQ_ATTR_STATE,
		.wq_state = IBV_WQS_RDY,
	};

	return ibv_modify_wq(wq, &attr);
}

static int do_table(void)
{
	struct ibv_rwq_ind_table_init_attr init = {
		.log_ind_tbl_size = 0,
		.ind_tbl = &wq,
	};

	table = ibv_create_rwq_ind_table(s->ctx, &init);
	return RESULT(table);
}

static int undo_table(void)
{
	return ibv_destroy_rwq_ind_table(table);
}

static void table_now(void)
{
	now(do_table);
}

static void table_gone(void)
{
	now(undo_table);
}

static int do_rss_qp(void)
{
	static __u8 key[40] = { 1, 2, 3 };
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE |
			     IBV_QP_INIT_ATTR_RX_HASH,
		.pd = s->pd,
		.rwq_ind_tbl = table,
		.rx_hash_conf = {
			.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
			.rx_hash_key_len = sizeof(key),
			.rx_hash_key = key,
			.rx_hash_fields_mask = IBV_RX_HASH_SRC_IPV4,
		},
	};

	qp = ibv_create_qp_ex(s->ctx, &init);
	return RESULT(qp);
}

/* ---- the cases ---- */

static void memory(void)
{
	nth_open();
	m.len = LEN;
	m.p = map_make(LEN, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	memset(m.p, GUARD, LEN);
}

static void region(int access)
{
	memory();
	reg_access = access;
}

static void connected(void)
{
	memory();
	pair_make(&p, NULL, NULL);
}

/* Tests creation and destruction, each with failures. */
static void life(void (*make)(void), int (*call)(void), int (*undo)(void),
		 void (*gone)(void))
{
	const struct verb birth = { NULL, call, gone };
	const struct verb death = { make, undo, NULL };

	must(survive(&birth) > 0);
	survive(&death);
}

static void device(void)
{
	const struct verb birth = { NULL, do_make_context, context_gone };
	const struct verb death = { open_now, do_close, NULL };
	const struct verb death_full = { open_full, do_close, NULL };

	memory();
	must(survive(&birth) > 0);
	survive(&death);
	survive(&death_full);
}

static void imported(void)
{
	const struct verb device = { NULL, do_import, close_now };
	const struct verb domain = { NULL, do_import_pd, unimport_pd };
	const struct verb region = { NULL, do_import_mr, unimport_mr };

	memory();
	mem_own(&m, s->pd, FULL_ACCESS);
	survive(&device);
	now(do_import);
	survive(&domain);
	now(do_import_pd);
	survive(&region);
	unimport_pd();
	close_now();
}

static void queries(void)
{
	const struct verb query = { NULL, do_query, NULL };
	const struct verb query_qp = { NULL, do_query_qp, NULL };

	connected();
	survive(&query);
	survive(&query_qp);
}

static void domains(void)
{
	memory();
	life(pd_now, do_pd, undo_pd, pd_gone);
}

static void pinned(void)
{
	const struct verb null = { NULL, do_mr_null, mr_gone };

	region(FULL_ACCESS);
	life(mr_now, do_mr, undo_mr, mr_gone);
	survive(&null);
}

static void on_demand(void)
{
	const struct verb all = { NULL, do_mr_all, mr_gone };

	region(FULL_ACCESS | IBV_ACCESS_ON_DEMAND);
	life(odp_now, do_mr, undo_mr, mr_gone);
	survive(&all);
}

static void rereg(void)
{
	const struct verb access = { mr_now, do_rereg_access, mr_gone };
	const struct verb place = { mr_now, do_rereg_memory, mr_gone };

	region(FULL_ACCESS);
	survive(&access);
	survive(&place);
	reg_access |= IBV_ACCESS_ON_DEMAND;
	survive(&place);
}

static void advise(void)
{
	const struct verb prefetch = { odp_now, do_advise, mr_gone };

	memory();
	advice = IBV_ADVISE_MR_FLAG_FLUSH;
	survive(&prefetch);
	advice = 0;
	survive(&prefetch);
}

static int buffer_close(void *fd)
{
	return close(*(int *)fd);
}

static void dma_buffer(void)
{
	struct udmabuf_create create = { .size = LEN };
	int dev, memfd;

	memory();
	dev = open("/dev/udmabuf", O_RDWR);
	if (dev < 0)
		case_skip("no /dev/udmabuf");
	memfd = memfd_create("alloc", MFD_ALLOW_SEALING);
	none(ftruncate(memfd, LEN));
	none(fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK));
	create.memfd = memfd;
	buffer_fd = ioctl(dev, UDMABUF_CREATE, &create);
	close(dev);
	close(memfd);
	must(buffer_fd >= 0);
	undo_later(buffer_close, &buffer_fd);
	life(buffer_now, do_mr_buffer, undo_mr, mr_gone);
}

static void device_memory(void)
{
	const struct verb reg = { NULL, do_mr_dm, mr_gone };

	memory();
	life(dm_now, do_dm, undo_dm, dm_gone);
	dm_now();
	survive(&reg);
	dm_gone();
}

static void windows(void)
{
	const struct verb bind = { bind_now, do_bind, bind_over };

	connected();
	life(mw_now, do_mw, undo_mw, mw_gone);
	survive(&bind);
}

static void completion_queues(void)
{
	const struct verb channels = { NULL, do_channel, channel_gone };
	const struct verb resize = { cq_now, do_resize, cq_gone };

	memory();
	survive(&channels);
	life(cq_now, do_cq, undo_cq, cq_gone);
	survive(&resize);
}

static void receive_queues(void)
{
	const struct verb limit = { srq_now, do_srq_limit, srq_gone };
	const struct verb resize = { srq_now, do_srq_resize, srq_grown_gone };

	memory();
	life(srq_now, do_srq, undo_srq, srq_gone);
	survive(&limit);
	survive(&resize);
}

static void xrc_queues(void)
{
	const struct verb queue = { NULL, do_xsrq, srq_gone };

	memory();
	life(xrcd_now, do_xrcd, undo_xrcd, xrcd_gone);
	xrcd_now();
	cq_now();
	survive(&queue);
	cq_gone();
	xrcd_gone();
}

static void queue_pairs(void)
{
	/* not XRC targets, which the core opens once more by itself */
	static const enum ibv_qp_type types[] = {
		IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_XRC_SEND,
		IBV_QPT_RAW_PACKET,
	};
	size_t i;

	memory();
	cq_now();
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		qp_type = types[i];
		life(qp_now, do_qp, undo_qp, qp_gone);
	}
	cq_gone();
}

static void open_queue_pair(void)
{
	const struct verb open = { NULL, do_open_qp, qp_gone };
	struct opt o = opt_default;

	memory();
	o.type = IBV_QPT_XRC_RECV;
	o.xrcd = xrcd_make(s->ctx, -1);
	xrcd = o.xrcd;
	end_make(&p.a, s, &o);
	survive(&open);
}

static void states(void)
{
	static const enum ibv_qp_state to[] = {
		IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_SQD,
		IBV_QPS_ERR,
	};
	const struct verb walk = { walk_before, do_walk, qp_gone };
	size_t i;

	connected();
	cq_now();
	qp_type = IBV_QPT_RC;
	for (i = 0; i < ARRAY_SIZE(to); i++) {
		walk_to = to[i];
		survive(&walk);
	}
	cq_gone();
}

static void handles(void)
{
	memory();
	life(ah_now, do_ah, undo_ah, ah_gone);
}

static void groups(void)
{
	struct opt o = opt_default;

	memory();
	o.type = IBV_QPT_UD;
	end_make(&p.a, s, &o);
	life(attach_now, do_attach, undo_attach, attach_gone);
}

static void flows(void)
{
	struct opt o = raw_opt();

	memory();
	rule = rule_udp(1, 777, 0);
	raw_make(&p.a, s, &o);
	life(flow_now, do_flow, undo_flow, flow_gone);
	rule = rule_of(IBV_FLOW_ATTR_SNIFFER, 0, 0);
	life(flow_now, do_flow, undo_flow, flow_gone);
	life(counters_now, do_counters, undo_counters, counters_gone);
}

static void work_queues(void)
{
	const struct verb ready = { wq_now, do_wq_ready, wq_gone };
	const struct verb rss = { NULL, do_rss_qp, qp_gone };

	memory();
	cq_now();
	life(wq_now, do_wq, undo_wq, wq_gone);
	survive(&ready);
	wq_now();
	life(table_now, do_table, undo_table, table_gone);
	table_now();
	survive(&rss);
	table_gone();
	wq_gone();
	cq_gone();
}

static const struct vrb_case alloc_cases[] = {
	{ "alloc", "open and close", device },
	{ "alloc", "import", imported },
	{ "alloc", "queries", queries },
	{ "alloc", "protection domains", domains },
	{ "alloc", "regions", pinned },
	{ "alloc", "regions on demand", on_demand },
	{ "alloc", "rereg_mr", rereg },
	{ "alloc", "advise_mr", advise },
	{ "alloc", "regions of a dma-buf", dma_buffer },
	{ "alloc", "device memory", device_memory },
	{ "alloc", "memory windows, bind", windows },
	{ "alloc", "completion queues, resize", completion_queues },
	{ "alloc", "shared receive queues", receive_queues },
	{ "alloc", "XRC domains and receive queues", xrc_queues },
	{ "alloc", "queue pairs of each type", queue_pairs },
	{ "alloc", "open_qp", open_queue_pair },
	{ "alloc", "modify_qp to each state", states },
	{ "alloc", "address handles", handles },
	{ "alloc", "multicast", groups },
	{ "alloc", "flows and counters", flows },
	{ "alloc", "work queues, tables, RSS", work_queues },
};

VRB_CASES(alloc_cases);
