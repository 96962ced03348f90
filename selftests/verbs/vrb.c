// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: two devices, one process, TAP
 *
 * usage: vrb [-a DEV[@NS]] [-b DEV[@NS]] [-c DEV[@NS]] [-6] [-n ROUNDS] [-r REPEATS]
 *	      [-s SEED] [-t TIMEOUT] [-l] [-e] [GROUP|CASE...|-T [TOPIC...]]
 *	  vrb -p ADDRESS OPTION...
 *	  vrb -P [-b DEV[@NS]]
 *	  vrb -L
 *
 * Without arguments all cases run, with -T all topics except for cases that run only if
 * their topic is named.  -l lists cases; -L lists topics, with "alone" after those that
 * have such cases.  With -c each case runs a second time, with that device in place of -b:
 * completions, events, states and memory must be the same, see record.c.  With -p the peer
 * is the device of another machine, where "vrb -P" serves one program by TCP, see far.c.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "record.h"
#include "vrb.h"
#include "../lib/tap.h"

struct side sides[2];
int rounds = 20;
__u32 run_seed = 1;
int patience = 14;
static int repeats = 1;	/* of each case */
static struct side other;	/* replaces sides[1] in the second run of each case */
static bool comparing, recording;

struct opt opt_default = {
	.type = IBV_QPT_RC,
	.send_wr = 64,
	.recv_wr = 64,
	.sge = 8,
	.inline_data = 64,
	.cqe = 256,
	.access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
		  IBV_ACCESS_REMOTE_ATOMIC,
	.timeout = 14,
	.retry = 7,
	.rnr_retry = 7,
	.min_rnr = 12,
	.rd_atomic = 4,
	.dest_rd_atomic = 4,
};

/* objects created by the running case, by kind */
static struct ibv_qp *qps[MAX_THINGS];
static struct ibv_srq *srqs[MAX_THINGS];
static struct ibv_xrcd *xrcds[MAX_THINGS];
static struct ibv_cq *cqs[MAX_THINGS];
static struct ibv_comp_channel *channels[MAX_THINGS];
static struct ibv_mr *mrs[MAX_THINGS];
static struct ibv_mw *mws[MAX_THINGS];
static struct ibv_pd *pds[MAX_THINGS];
static struct ibv_ah *ahs[MAX_THINGS];
static struct {
	void *p;
	size_t len;
} maps[MAX_THINGS];
static int num_qps, num_srqs, num_xrcds, num_cqs, num_channels, num_mrs;
static int num_mws, num_pds, num_ahs, num_maps;

void (*case_end)(void);
const struct vrb_far *vrb_far;

/* Undo functions of the running case; called in reverse order, before other clean-up */
static struct {
	int (*undo)(void *thing);
	void *thing;
} others[MAX_THINGS];
static int num_others;

static jmp_buf case_over;
static char verdict[512];
static int home_ns = -1;

enum { CASE_OK, CASE_FAILED, CASE_SKIPPED };

void case_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(verdict, sizeof(verdict), fmt, ap);
	va_end(ap);
	longjmp(case_over, CASE_FAILED);
}

void case_skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(verdict, sizeof(verdict), fmt, ap);
	va_end(ap);
	longjmp(case_over, CASE_SKIPPED);
}

__u64 now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000ULL + ts.tv_nsec / 1000;
}

static __u64 end_of(int ms)
{
	return now_us() + (ms == BOUND ? tap_bound() * 1000000ULL : ms * 1000ULL);
}

bool in_bound(__u64 *end, const char *what)
{
	if (!*end)
		*end = end_of(BOUND);
	if (now_us() < *end)
		return true;
	if (what)
		tap_late("%s", what);
	return false;
}

void not_late(void)
{
	*tap_late_what = '\0';
}

bool wait_more(__u64 *end, const char *what)
{
	return in_bound(end, what) && !usleep(1000);
}

void wait_turn(__u64 *end, const char *what)
{
	if (!wait_more(end, what))
		case_fail("no %s", what);
}

bool readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (poll(&p, 1, ms == BOUND ? (int)tap_bound() * 1000 : ms) == 1)
		return true;
	if (ms == BOUND)
		tap_late("something to read");
	return false;
}

void watchdog(bool on)
{
	alarm(on ? tap_bound() : 0);
}

bool kernel_before(int major, int minor)
{
	struct utsname name;
	int x, y;

	must_be(uname(&name), 0);
	if (sscanf(name.release, "%d.%d", &x, &y) != 2)
		case_fail("unknown version format of kernel %s", name.release);

	return x < major || (x == major && y < minor);
}

bool file_put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done;

	if (fd < 0)
		return false;
	done = write(fd, text, strlen(text)) > 0;
	close(fd);
	return done;
}

void side_enter(const struct side *s)
{
	if (s->nsfd >= 0 && setns(s->nsfd, CLONE_NEWNET))
		perror("vrb: setns");
}

void side_leave(const struct side *s)
{
	if (s->nsfd >= 0 && setns(home_ns, CLONE_NEWNET))
		perror("vrb: setns home");
}

/* ---- creating and destroying ---- */

void undo_later(int (*undo)(void *thing), void *thing)
{
	must(thing);
	must(num_others < MAX_THINGS);
	others[num_others].undo = undo;
	others[num_others++].thing = thing;
}

void undo_now(void *thing)
{
	int i;

	for (i = 0; i < num_others; i++) {
		if (others[i].thing != thing)
			continue;
		others[i].thing = NULL;
		must_be(others[i].undo(thing), 0);
	}
}

static int qp_undo(void *qp)
{
	return ibv_destroy_qp(qp);
}

void qp_own(struct ibv_qp *qp)
{
	undo_later(qp_undo, qp);
}

static int table_undo(void *table)
{
	return ibv_destroy_rwq_ind_table(table);
}

void table_own(struct ibv_rwq_ind_table *table)
{
	undo_later(table_undo, table);
}

static int wq_undo(void *wq)
{
	return ibv_destroy_wq(wq);
}

void wq_own(struct ibv_wq *wq)
{
	undo_later(wq_undo, wq);
}

static struct rlimit space_before;

static int space_restore(void *thing)
{
	(void)thing;
	return setrlimit(RLIMIT_AS, &space_before);
}

void space_limit(size_t more)
{
	FILE *f = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;
	struct rlimit limit;
	int n;

	must(f);
	n = fscanf(f, "%lu", &pages);
	fclose(f);
	must_be(n, 1);
	must_be(getrlimit(RLIMIT_AS, &space_before), 0);
	undo_later(space_restore, NO_SPACE);
	limit = space_before;
	limit.rlim_cur = pages * sysconf(_SC_PAGESIZE) + more;
	must_be(setrlimit(RLIMIT_AS, &limit), 0);
}

void cq_own(struct ibv_cq *cq)
{
	must(cq);
	must(num_cqs < MAX_THINGS);
	cqs[num_cqs++] = cq;
}

static struct ibv_cq *cq_make_on(struct side *s, int cqe,
				 struct ibv_comp_channel *ch, int vector)
{
	struct ibv_cq *cq = ibv_create_cq(s->ctx, cqe, NULL, ch, vector);

	cq_own(cq);
	return cq;
}

struct ibv_cq *cq_make(struct side *s, int cqe, struct ibv_comp_channel *ch)
{
	return cq_make_on(s, cqe, ch, 0);
}

void pd_own(struct ibv_pd *pd)
{
	must(pd);
	must(num_pds < MAX_THINGS);
	pds[num_pds++] = pd;
}

struct ibv_pd *pd_make(struct side *s)
{
	struct ibv_pd *pd = ibv_alloc_pd(s->ctx);

	pd_own(pd);
	return pd;
}

struct ibv_srq *srq_make(struct side *s, struct ibv_pd *pd, int wr, int sge)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = wr, .max_sge = sge },
	};
	struct ibv_srq *srq = ibv_create_srq(pd ? pd : s->pd, &init);

	must(srq);
	must(init.attr.max_wr >= (__u32)wr && init.attr.max_sge >= (__u32)sge);
	must(num_srqs < MAX_THINGS);
	srqs[num_srqs++] = srq;
	return srq;
}

/* fd -1: a domain without a file */
struct ibv_xrcd *xrcd_make(struct ibv_context *ctx, int fd)
{
	struct ibv_xrcd_init_attr init = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = fd,
		.oflags = O_CREAT,
	};
	struct ibv_xrcd *xrcd = ibv_open_xrcd(ctx, &init);

	must(xrcd);
	must(num_xrcds < MAX_THINGS);
	xrcds[num_xrcds++] = xrcd;
	return xrcd;
}

struct ibv_srq *xsrq_make(struct ibv_pd *pd, struct ibv_xrcd *xrcd,
			  struct ibv_cq *cq, int wr)
{
	struct ibv_srq_init_attr_ex init = {
		.attr = { .max_wr = wr, .max_sge = 2 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = pd,
		.xrcd = xrcd,
		.cq = cq,
	};
	struct ibv_srq *srq = ibv_create_srq_ex(pd->context, &init);

	must(srq);
	must(num_srqs < MAX_THINGS);
	srqs[num_srqs++] = srq;
	return srq;
}

void xsrq_destroy(struct ibv_srq *srq)
{
	int i;

	for (i = 0; i < num_srqs; i++)
		if (srqs[i] == srq)
			srqs[i] = NULL;
	must_be(ibv_destroy_srq(srq), 0);
}

/* Sets the domain and the queues that this type of queue pair is created with. */
static void end_belongs(struct ibv_qp_init_attr_ex *init, const struct end *e)
{
	if (e->o.type == IBV_QPT_XRC_RECV) {
		init->comp_mask = IBV_QP_INIT_ATTR_XRCD;
		init->xrcd = e->o.xrcd;
		return;
	}
	init->comp_mask = IBV_QP_INIT_ATTR_PD;
	init->pd = e->o.pd ? e->o.pd : e->side->pd;
	init->send_cq = e->scq;
	if (e->o.type != IBV_QPT_XRC_SEND)
		init->recv_cq = e->rcq;
	if (e->o.send_ops) {
		init->comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		init->send_ops_flags = e->o.send_ops;
	}
}

void end_make(struct end *e, struct side *s, const struct opt *o)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = o->type,
		.srq = o->srq,
		.sq_sig_all = o->sig_all,
		.cap = {
			.max_send_wr = o->send_wr,
			.max_recv_wr = o->recv_wr,
			.max_send_sge = o->sge,
			.max_recv_sge = o->sge,
			.max_inline_data = o->inline_data,
		},
	};

	e->side = s;
	e->o = *o;
	e->channel = ibv_create_comp_channel(s->ctx);
	must(e->channel);
	channels[num_channels++] = e->channel;
	e->scq = o->cq ? o->cq : cq_make_on(s, o->cqe, e->channel, o->vector);
	e->rcq = cq_make(s, o->cqe, e->channel);
	end_belongs(&init, e);
	if (o->create_flags) {
		init.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
		init.create_flags = o->create_flags;
	}
	e->qp = ibv_create_qp_ex(s->ctx, &init);
	must(e->qp);
	must(num_qps < MAX_THINGS);
	qps[num_qps++] = e->qp;
	/* PSNs wrap after a few packets */
	e->psn = 0xfffff0 + (s == &sides[1]);
}

struct ibv_ah_attr ah_path(const struct side *s, const union ibv_gid *dgid)
{
	return (struct ibv_ah_attr) {
		.is_global = 1,
		.port_num = 1,
		.grh = {
			.dgid = *dgid,
			.sgid_index = s->gid_index,
			.hop_limit = 64,
		},
	};
}

struct ibv_ah *ah_make_label(struct side *s, struct ibv_pd *pd,
			     const union ibv_gid *dgid, __u32 label)
{
	struct ibv_ah_attr attr = ah_path(s, dgid);
	struct ibv_ah *ah;

	attr.grh.traffic_class = 0x28;
	attr.grh.flow_label = label;
	side_enter(s);
	ah = ibv_create_ah(pd ? pd : s->pd, &attr);
	side_leave(s);
	must(ah);
	must(num_ahs < MAX_THINGS);
	ahs[num_ahs++] = ah;
	return ah;
}

struct ibv_ah *ah_make(struct side *s, struct ibv_pd *pd,
		       const union ibv_gid *dgid)
{
	return ah_make_label(s, pd, dgid, 0);
}

void end_destroy_qp(struct end *e)
{
	int i;

	for (i = 0; i < num_qps; i++)
		if (qps[i] == e->qp)
			qps[i] = NULL;
	must_be(ibv_destroy_qp(e->qp), 0);
	e->qp = NULL;
}

void mem_own(struct mem *m, struct ibv_pd *pd, int access)
{
	m->mr = ibv_reg_mr(pd, m->p, m->len, access);
	must(m->mr);
	must(num_mrs < MAX_THINGS);
	mrs[num_mrs++] = m->mr;
}

struct ibv_mw *mw_make(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct ibv_mw *mw = ibv_alloc_mw(pd, type);

	must(mw);
	must(num_mws < MAX_THINGS);
	mws[num_mws++] = mw;
	return mw;
}

void *map_make(size_t len, int flags, int fd)
{
	void *place = vrb_far ? vrb_far->place(len) : NULL;
	void *p = mmap(place, len, PROT_READ | PROT_WRITE, flags, fd, 0);

	must(p != MAP_FAILED);
	must(num_maps < MAX_THINGS);
	maps[num_maps].p = p;
	maps[num_maps++].len = len;
	return p;
}

void mem_make(struct mem *m, struct side *s, size_t len, int access)
{
	m->len = len;
	m->p = map_make(len, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	memset(m->p, GUARD, len);
	mem_own(m, s->pd, access);
}

/* Destroys all objects.  Return: false if one could not be destroyed. */
static bool undo(void)
{
	struct ibv_async_event ev;
	int bad = 0;
	int i;

	while (num_others--)
		bad += others[num_others].thing &&
		       others[num_others].undo(others[num_others].thing);
	num_others = 0;
	if (case_end)
		case_end();
	case_end = NULL;
	/* rdma_rxe frees a queue pair without regard to the windows bound by it. */
	for (i = 0; i < num_mws; i++)
		bad += !!ibv_dealloc_mw(mws[i]);
	for (i = 0; i < num_qps; i++)
		bad += qps[i] && ibv_destroy_qp(qps[i]);
	for (i = 0; i < num_srqs; i++)
		bad += srqs[i] && ibv_destroy_srq(srqs[i]);
	for (i = 0; i < num_xrcds; i++)
		bad += !!ibv_close_xrcd(xrcds[i]);
	for (i = 0; i < num_cqs; i++)
		bad += !!ibv_destroy_cq(cqs[i]);
	for (i = 0; i < num_channels; i++)
		bad += !!ibv_destroy_comp_channel(channels[i]);
	for (i = 0; i < num_mrs; i++)
		bad += !!ibv_dereg_mr(mrs[i]);
	for (i = 0; i < num_ahs; i++)
		bad += !!ibv_destroy_ah(ahs[i]);
	/* in the reverse order of creation */
	for (i = num_pds; i-- > 0; )
		bad += !!ibv_dealloc_pd(pds[i]);
	for (i = 0; i < num_maps; i++)
		munmap(maps[i].p, maps[i].len);
	num_qps = 0;
	num_srqs = 0;
	num_xrcds = 0;
	num_cqs = 0;
	num_channels = 0;
	num_mrs = 0;
	num_mws = 0;
	num_pds = 0;
	num_ahs = 0;
	num_maps = 0;
	for (i = 0; i < 2; i++)
		while (event_wait(&sides[i], &ev, 0))
			;
	return !bad;
}

/* ---- the state machine ---- */

int to_state(struct end *e, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return ibv_modify_qp(e->qp, &attr, IBV_QP_STATE);
}

int to_init(struct end *e)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = e->o.access,
	};

	return ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			     IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

/* Attribute masks of each type of queue pair, beyond the path and the PSNs */
static const struct {
	int rtr;
	int rts;
} type_attrs[] = {
	[IBV_QPT_RC] = {
		IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
		IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		IBV_QP_MAX_QP_RD_ATOMIC
	},
	[IBV_QPT_UC] = { 0, 0 },
	[IBV_QPT_XRC_SEND] = {
		0,
		IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		IBV_QP_MAX_QP_RD_ATOMIC
	},
	[IBV_QPT_XRC_RECV] = {
		IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
		IBV_QP_TIMEOUT
	},
};

static enum ibv_mtu path_mtu(const struct side *a, const struct side *b)
{
	return a->port.active_mtu < b->port.active_mtu ? a->port.active_mtu :
							 b->port.active_mtu;
}

int to_rtr(struct end *e, const struct end *peer)
{
	struct side *s = e->side;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = e->o.mtu ?: path_mtu(s, peer->side),
		.dest_qp_num = peer->qp->qp_num,
		.rq_psn = peer->psn,
		.max_dest_rd_atomic = e->o.dest_rd_atomic,
		.min_rnr_timer = e->o.min_rnr,
		.ah_attr = ah_path(s, &peer->side->gid),
	};
	int err;

	side_enter(s);
	err = ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_AV |
			    IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			    type_attrs[e->o.type].rtr);
	side_leave(s);
	return err;
}

int to_rts(struct end *e)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = e->o.timeout,
		.retry_cnt = e->o.retry,
		.rnr_retry = e->o.rnr_retry,
		.sq_psn = e->psn,
		.max_rd_atomic = e->o.rd_atomic,
	};

	return ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN |
			     type_attrs[e->o.type].rts);
}

static bool path_is_missing(int err)
{
	return err == ETIMEDOUT || err == ENETUNREACH || err == EHOSTUNREACH;
}

/*
 * Neighbour resolution may take a while on a lossy wire, and routes appear a while after
 * the link comes up.
 */
static int to_rtr_patiently(struct end *e, const struct end *peer)
{
	__u64 end = 0;
	int err;

	for (;;) {
		err = to_rtr(e, peer);
		if (!path_is_missing(err))
			return err;
		wait_turn(&end, "path");
	}
}

void connect_pair(struct pair *p)
{
	must_be(to_init(&p->a), 0);
	must_be(to_init(&p->b), 0);
	must_be(to_rtr_patiently(&p->a, &p->b), 0);
	must_be(to_rtr_patiently(&p->b, &p->a), 0);
	must_be(to_rts(&p->a), 0);
	must_be(to_rts(&p->b), 0);
}

void connect_ud(struct end *e, __u32 qkey)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qkey = qkey,
		.sq_psn = e->psn,
	};

	must_be(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			      IBV_QP_PORT | IBV_QP_QKEY), 0);
	must_be(to_state(e, IBV_QPS_RTR), 0);
	attr.qp_state = IBV_QPS_RTS;
	must_be(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
}

void pair_make(struct pair *p, const struct opt *a, const struct opt *b)
{
	end_make(&p->a, &sides[0], a ? a : &opt_default);
	end_make(&p->b, &sides[1], b ? b : &opt_default);
	connect_pair(p);
}

enum ibv_qp_state state_of(struct end *e)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	must_be(ibv_query_qp(e->qp, &attr, IBV_QP_STATE, &init), 0);
	return attr.qp_state;
}

void state_becomes(struct end *e, enum ibv_qp_state want)
{
	enum ibv_qp_state first = state_of(e), now;
	__u64 end = 0;

	while ((now = state_of(e)) != want) {
		if (now != first)
			case_fail("it is in state %d, not %d", now, want);
		wait_turn(&end, "change of state");
	}
}

/* ---- work ---- */

int post_recv(struct end *e, __u64 id, struct ibv_sge *sge, int n)
{
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = sge, .num_sge = n };
	struct ibv_recv_wr *bad;

	return ibv_post_recv(e->qp, &wr, &bad);
}

int post_srq(struct ibv_srq *srq, __u64 id, struct ibv_sge *sge, int n)
{
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = sge, .num_sge = n };
	struct ibv_recv_wr *bad;

	return ibv_post_srq_recv(srq, &wr, &bad);
}

int post_one(struct end *e, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	return ibv_post_send(e->qp, wr, &bad);
}

struct ibv_send_wr wr_of(__u64 id, enum ibv_wr_opcode op,
			 struct ibv_sge *sge, int n)
{
	return (struct ibv_send_wr) {
		.wr_id = id,
		.opcode = op,
		.sg_list = sge,
		.num_sge = n,
		.send_flags = IBV_SEND_SIGNALED,
	};
}

void wr_target(struct ibv_send_wr *wr, const struct mem *m, size_t off)
{
	if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	    wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr->wr.atomic.remote_addr = (uintptr_t)m->p + off;
		wr->wr.atomic.rkey = m->mr->rkey;
	} else {
		wr->wr.rdma.remote_addr = (uintptr_t)m->p + off;
		wr->wr.rdma.rkey = m->mr->rkey;
	}
}

struct ibv_sge sge_of(const struct mem *m, size_t off, size_t len)
{
	return (struct ibv_sge) {
		.addr = (uintptr_t)m->p + off,
		.length = len,
		.lkey = m->mr->lkey,
	};
}

/* ---- completions and events ---- */

static int cq_index(const struct ibv_cq *cq)
{
	int i = 0;

	while (i < num_cqs && cqs[i] != cq)
		i++;
	must(i < num_cqs);
	return i;
}

bool wc_wait(struct ibv_cq *cq, struct ibv_wc *wc, int ms)
{
	__u64 end = end_of(ms);
	int n;

	do {
		n = ibv_poll_cq(cq, 1, wc);
		if (n > 0 && recording)
			record_wc(cq_index(cq), wc);
		if (n > 0)
			return true;
		must(n == 0);
		sched_yield();
	} while (now_us() < end);
	if (ms == BOUND)
		tap_late("a completion");
	return false;
}

struct ibv_wc wc_want(struct ibv_cq *cq, __u64 id, enum ibv_wc_status status)
{
	struct ibv_wc wc = {};

	if (!wc_wait(cq, &wc, BOUND))
		case_fail("no completion of %llu, wanted %s",
			  (unsigned long long)id, ibv_wc_status_str(status));
	if (wc.status != status)
		case_fail("completion of %llu is '%s', wanted '%s' for %llu",
			  (unsigned long long)wc.wr_id,
			  ibv_wc_status_str(wc.status),
			  ibv_wc_status_str(status), (unsigned long long)id);
	if (id != NO_ID)
		must_be(wc.wr_id, id);
	return wc;
}

void wc_none(struct ibv_cq *cq, int ms)
{
	struct ibv_wc wc = {};

	if (wc_wait(cq, &wc, ms))
		case_fail("an unexpected completion: %llu, %s",
			  (unsigned long long)wc.wr_id,
			  ibv_wc_status_str(wc.status));
}

bool event_wait(struct side *s, struct ibv_async_event *ev, int ms)
{
	if (!readable(s->ctx->async_fd, ms) || ibv_get_async_event(s->ctx, ev))
		return false;
	ibv_ack_async_event(ev);
	if (recording)
		record_event(s - sides, ev);
	return true;
}

void event_want(struct side *s, enum ibv_event_type type, void *element)
{
	struct ibv_async_event ev;

	if (s->no_events)
		return;
	do {
		if (!event_wait(s, &ev, BOUND))
			case_fail("no event '%s' on %s",
				  ibv_event_type_str(type), s->dev);
		/* port and GID changes are ignored */
	} while (ev.event_type >= IBV_EVENT_PORT_ACTIVE && ev.event_type !=
		 IBV_EVENT_QP_LAST_WQE_REACHED && ev.event_type != type);
	if (ev.event_type != type)
		case_fail("event '%s' on %s, wanted '%s'",
			  ibv_event_type_str(ev.event_type), s->dev,
			  ibv_event_type_str(type));
	must(ev.element.qp == element);
}

void event_none(struct side *s, enum ibv_event_type type, int ms)
{
	struct ibv_async_event ev;

	while (event_wait(s, &ev, ms))
		if (ev.event_type == type)
			case_fail("an unexpected event '%s' on %s",
				  ibv_event_type_str(type), s->dev);
}

/*
 * Asynchronous errors are those that are not reported by a completion: IBTA
 * volume 1, affiliated asynchronous errors.
 */
void error_none(struct side *s)
{
	struct ibv_async_event ev;

	while (event_wait(s, &ev, 10))
		if (ev.event_type <= IBV_EVENT_QP_ACCESS_ERR)
			case_fail("event '%s' on %s in addition to a completion",
				  ibv_event_type_str(ev.event_type), s->dev);
}

/* ---- patterns ---- */

__u8 pattern(__u32 seed, size_t i)
{
	__u32 x = seed * 2654435761U + (__u32)(i >> 2) * 2246822519U;

	x ^= x >> 15;
	x *= 2654435761U;
	return x >> (8 * (i & 3));
}

void fill(__u8 *p, size_t len, __u32 seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		p[i] = pattern(seed, i);
}

void same(const __u8 *p, size_t len, __u32 seed, const char *what)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (p[i] != pattern(seed, i))
			case_fail("%s: byte %zu of %zu is %02x, not %02x", what,
				  i, len, p[i], pattern(seed, i));
}

void untouched(const __u8 *p, size_t len, const char *what)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (p[i] != GUARD)
			case_fail("%s: byte %zu of the guard was written", what, i);
}

/* ---- the program ---- */

static int side_open(struct side *s, bool ipv6)
{
	static const __u8 v4[12] = { [10] = 0xff, [11] = 0xff };
	struct ibv_device **list;
	struct ibv_gid_entry gid;
	int i;

	side_enter(s);
	list = ibv_get_device_list(NULL);
	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), s->dev))
			s->ctx = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
	if (!s->ctx)
		goto err_leave;
	s->pd = ibv_alloc_pd(s->ctx);
	if (!s->pd || ibv_query_device(s->ctx, &s->attr) ||
	    ibv_query_port(s->ctx, 1, &s->port))
		goto err_leave;
	s->gid_index = -1;
	for (i = 0; i < s->port.gid_tbl_len && s->gid_index < 0; i++) {
		bool is_v4, is_local;

		if (ibv_query_gid_ex(s->ctx, 1, i, &gid, 0) ||
		    gid.gid_type != IBV_GID_TYPE_ROCE_V2)
			continue;
		is_v4 = !memcmp(gid.gid.raw, v4, sizeof(v4));
		is_local = gid.gid.raw[0] == 0xfe;
		if (is_local || is_v4 == ipv6)
			continue;
		s->gid = gid.gid;
		s->gid_index = i;
	}
	if (s->gid_index < 0)
		goto err_leave;
	side_leave(s);
	return 0;

err_leave:
	side_leave(s);
	fprintf(stderr, "vrb: %s cannot be used (errno %d)\n", s->dev, errno);
	return -ENODEV;
}

int side_make(struct side *s, char *arg, bool ipv6)
{
	char path[128];
	char *at = strchr(arg, '@');

	s->dev = arg;
	s->nsfd = -1;
	if (!at)
		return side_open(s, ipv6);
	*at = 0;
	snprintf(path, sizeof(path), "/run/netns/%s", at + 1);
	s->nsfd = open(path, O_RDONLY | O_CLOEXEC);
	if (s->nsfd >= 0)
		return side_open(s, ipv6);
	perror(path);
	return -ENODEV;
}

static struct vrb_set *sets, **sets_end = &sets;

void vrb_register(struct vrb_set *set)
{
	*sets_end = set;
	sets_end = &set->next;
}

static bool topic_is(const struct vrb_set *set, const char *topic)
{
	return set->topic && !strcmp(set->topic, topic);
}

/* The first set of @topic, or the first of those that run only if the topic is named */
static const struct vrb_set *topic_find(const char *topic, bool alone)
{
	const struct vrb_set *set = sets;

	while (set && !(topic_is(set, topic) && set->alone >= alone))
		set = set->next;
	return set;
}

/* Lists each topic once, even if several sets belong to it. */
static void topics_list(void)
{
	const struct vrb_set *set;

	for (set = sets; set; set = set->next)
		if (set->topic && topic_find(set->topic, false) == set)
			printf("%s%s\n", set->topic,
			       topic_find(set->topic, true) ? " alone" : "");
}

static bool topic_wanted(const struct vrb_set *set, char **words)
{
	if (!*words)
		return !set->alone;
	for (; *words; words++)
		if (topic_is(set, *words))
			return true;
	return false;
}

static bool case_wanted(const struct vrb_case *c, char **words)
{
	char name[128];

	if (!*words)
		return true;
	snprintf(name, sizeof(name), "%s: %s", c->group, c->name);
	for (; *words; words++)
		if (!strcmp(*words, c->group) || !strcmp(*words, name))
			return true;
	return false;
}

/*
 * Records what the case leaves behind.  Querying a queue pair waits for its task, so all
 * that the task has begun to report is complete.
 */
static void case_record(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_async_event ev;
	struct ibv_qp_attr attr;
	int i;

	for (i = 0; i < num_qps; i++) {
		if (!qps[i])
			continue;
		must_be(ibv_query_qp(qps[i], &attr, IBV_QP_STATE, &init), 0);
		record_state(i, attr.qp_state);
	}
	for (i = 0; i < 2; i++)
		while (event_wait(&sides[i], &ev, 0))
			;
	for (i = 0; i < num_maps; i++)
		record_memory(i, maps[i].p, maps[i].len);
	for (i = 0; i < num_qps; i++)
		if (qps[i])
			record_drain(qps[i]);
}

static int case_run_once(const struct vrb_case *c)
{
	int how = setjmp(case_over);
	bool clean, late = *tap_late_what;

	if (!how) {
		verdict[0] = 0;
		recording = comparing;
		c->run();
		if (recording)
			case_record();
	}
	recording = false;
	clean = undo();
	if (how == CASE_FAILED && !late)
		not_late();
	if (how == CASE_OK && !clean) {
		snprintf(verdict, sizeof(verdict),
			 "something could not be destroyed");
		how = CASE_FAILED;
	}
	return how;
}

static void sides_turn(void)
{
	struct side s = sides[1];

	sides[1] = other;
	other = s;
}

/* Runs the case with each of two peers; the outcome must be the same. */
static int case_compare(const struct vrb_case *c)
{
	char *one, *two, name[128];
	int how;

	how = case_run_once(c);
	one = record_take();
	if (how == CASE_OK) {
		sides_turn();
		how = case_run_once(c);
		sides_turn();
	}
	two = record_take();
	snprintf(name, sizeof(name), "%s: %s", c->group, c->name);
	if (how == CASE_OK &&
	    (!one || !two ||
	     !record_alike(name, one, two, verdict, sizeof(verdict))))
		how = CASE_FAILED;
	free(one);
	free(two);
	return how;
}

static void case_run(const struct vrb_case *c)
{
	int how = CASE_OK;
	int i;

	for (i = 0; i < repeats && how == CASE_OK; i++) {
		if (comparing)
			how = case_compare(c);
		else
			how = case_run_once(c);
	}
	tap_point(how != CASE_FAILED, how == CASE_SKIPPED ? "SKIP" : NULL, verdict,
		  "%s: %s", c->group, c->name);
	if (how == CASE_FAILED)
		tap_remark("%s", verdict);
}

int main(int argc, char **argv)
{
	char *a = strdup("sr0@nsA"), *b = strdup("sr1@nsB"), *third = NULL;
	char *peer = NULL;
	int opt;
	bool list = false, ipv6 = false, topics = false, serve = false;
	const struct vrb_set *set;
	const struct vrb_case *c;

	while ((opt = getopt(argc, argv, "a:b:c:6n:p:Pr:s:t:lLTe")) != -1) {
		switch (opt) {
		case 'a':
			a = optarg;
			break;
		case 'b':
			b = optarg;
			break;
		case 'c':
			third = optarg;
			break;
		case '6':
			ipv6 = true;
			break;
		case 'n':
			rounds = atoi(optarg);
			if (rounds <= 0)
				return 2;
			break;
		case 'p':
			peer = optarg;
			break;
		case 'P':
			serve = true;
			break;
		case 'r':
			repeats = atoi(optarg);
			break;
		case 's':
			run_seed = strtoul(optarg, NULL, 0);
			break;
		case 't':
			patience = atoi(optarg);
			break;
		case 'l':
			list = true;
			break;
		case 'L':
			topics_list();
			return 0;
		case 'T':
			topics = true;
			break;
		case 'e':
			sides[1].no_events = true;
			break;
		default:
			return 2;
		}
	}
	if ((peer || serve) && !vrb_far)
		return 2;
	if (peer) {	/* it may be without a processor for seconds */
		patience = 21;
		opt_default.timeout = patience;
	}
	if (!list) {
		home_ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
		if (!serve && side_make(&sides[0], a, ipv6))
			return 2;
		if (peer ? vrb_far->open(&sides[1], peer) : side_make(&sides[1], b, ipv6))
			return 2;
		if (serve)
			return vrb_far->serve();
		comparing = third;
		if (comparing && side_make(&other, third, ipv6))
			return 2;
	}
	for (set = sets; set; set = set->next) {
		if (topics && !topic_wanted(set, argv + optind))
			continue;
		for (c = set->cases; c < set->cases + set->num; c++) {
			if (!topics && !case_wanted(c, argv + optind))
				continue;
			if (list)
				printf("%s: %s\n", c->group, c->name);
			else
				case_run(c);
		}
	}

	return list ? 0 : tap_end();
}
