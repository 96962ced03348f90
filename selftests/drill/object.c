// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - drill: the device and its objects
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "drill.h"

#define MAX_OBJECTS	16
#define MR_BYTES	32768
#define CQ_ENTRIES	128
#define QUEUE_ENTRIES	64

/* Numbers for use without a device */
#define DRY_QPN		0x1111
#define DRY_SRQN	0x2200
#define DRY_RKEY	0x33445500

#define REMOTE_ACCESS	(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
			 IBV_ACCESS_REMOTE_ATOMIC)
/* Not defined by the oldest rdma-core */
#define FLUSH_GLOBAL	0x100
#define FLUSH_PERSISTENT 0x200
#define FLUSH_ACCESS	(FLUSH_GLOBAL | FLUSH_PERSISTENT)

#ifdef HAVE_FLUSH
#define EX_OPS		IBV_QP_EX_WITH_FLUSH
#else
#define EX_OPS		0
#endif

struct ibv_context *device;
struct qp *qp;

static int gid_index[2];	/* GID indices of the IPv4 and the IPv6 address */

/* Objects of the script */
static struct qp qps[MAX_OBJECTS];
static struct region regions[MAX_OBJECTS];
static struct {
	char		name[16];
	struct ibv_srq	*srq;
	__u32		num;
} srqs[MAX_OBJECTS];
static int num_qps, num_regions, num_srqs;
static struct ibv_pd *pds[2];	/* the default one, and another */
static struct ibv_xrcd *xrcd;
static struct ibv_cq *srq_cq;
static __u32 next_peer = 0x100000;

static void *made(void *object, const char *what)
{
	if (!object)
		fail("no %s: %s", what, strerror(errno));
	return object;
}

static void name_set(char *to, const char *name)
{
	snprintf(to, 16, "%s", name);
}

/* ---- the device ---- */

void device_address(int ip, __u8 *addr)
{
	inet_pton(ip == 4 ? AF_INET : AF_INET6,
		  ip == 4 ? "10.9.0.1" : "fd09::1", addr);
}

void peer_address(int ip, __u8 *addr)
{
	inet_pton(ip == 4 ? AF_INET : AF_INET6,
		  ip == 4 ? "10.9.0.2" : "fd09::2", addr);
}

/* Converts an address to a GID. */
static void gid_make(void (*address)(int ip, __u8 *addr), int ip, __u8 *gid)
{
	memset(gid, 0, 16);
	if (ip == 4)
		memset(gid + 10, 0xff, 2);
	address(ip, ip == 4 ? gid + 12 : gid);
}

static int gid_find(int ip)
{
	struct ibv_gid_entry entry;
	__u8 gid[16];
	int i;

	gid_make(device_address, ip, gid);
	for (i = 0; i < 256; i++)
		if (!ibv_query_gid_ex(device, 1, i, &entry, 0) &&
		    entry.gid_type == IBV_GID_TYPE_ROCE_V2 &&
		    !memcmp(entry.gid.raw, gid, 16))
			return i;
	return -1;
}

int device_open(const char *name, const char *ns)
{
	struct ibv_device **devs;
	int flags, i;

	/* The process stays in the namespace, whose routes and addresses it needs. */
	ns_enter(ns);
	devs = ibv_get_device_list(NULL);
	for (i = 0; devs && devs[i] && !device; i++)
		if (!strcmp(ibv_get_device_name(devs[i]), name))
			device = ibv_open_device(devs[i]);
	if (devs)
		ibv_free_device_list(devs);
	if (!device)
		return -ENODEV;
	flags = fcntl(device->async_fd, F_GETFL);
	fcntl(device->async_fd, F_SETFL, flags | O_NONBLOCK);
	gid_index[0] = gid_find(4);
	gid_index[1] = gid_find(6);
	return gid_index[0] < 0 || gid_index[1] < 0 ? -ENODEV : 0;
}

static struct ibv_pd *pd_get(int other)
{
	if (!pds[other])
		pds[other] = made(ibv_alloc_pd(device), "protection domain");
	return pds[other];
}

static struct ibv_cq *cq_make(int entries)
{
	return made(ibv_create_cq(device, entries, NULL, NULL, 0), "CQ");
}

/* ---- memory ---- */

/* "read,write", "none" ... */
int access_of(const char *text)
{
	static const struct name names[] = {
		{ "none", 0 },
		{ "read", IBV_ACCESS_REMOTE_READ },
		{ "write", IBV_ACCESS_REMOTE_WRITE },
		{ "atomic", IBV_ACCESS_REMOTE_ATOMIC },
		{ "flush_global", FLUSH_GLOBAL },
		{ "flush_persistent", FLUSH_PERSISTENT },
		{ "all", REMOTE_ACCESS | FLUSH_ACCESS },
	};
	char copy[128], *save, *word;
	int access = 0;

	snprintf(copy, sizeof(copy), "%s", text);
	for (word = strtok_r(copy, ",", &save); word;
	     word = strtok_r(NULL, ",", &save))
		access |= name_value(names, ARRAY_SIZE(names), "right", word);
	return access;
}

struct region *region_find(const char *name)
{
	int i;

	for (i = 0; i < num_regions; i++)
		if (!strcmp(regions[i].name, name))
			return &regions[i];
	return NULL;
}

static struct region *region_new(const char *name, size_t len)
{
	struct region *r = &regions[num_regions];

	if (num_regions == MAX_OBJECTS || region_find(name))
		fail("region '%s' cannot be registered", name);
	*r = (struct region) { .len = len };
	name_set(r->name, name);
	num_regions++;
	return r;
}

static struct region *region_make(const char *name, size_t len, int access,
				  int other_pd)
{
	struct region *r = region_new(name, len);
	size_t i;

	r->p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r->p == MAP_FAILED) {
		num_regions--;
		fail("no memory");
	}
	for (i = 0; i < len; i++)
		r->p[i] = stream_byte(name[0], i);
	r->rkey = DRY_RKEY + num_regions;
	if (dry)
		return r;
	access |= IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND;
	r->mr = ibv_reg_mr(pd_get(other_pd), r->p, len, access);
	/* "all" means all that the device supports */
	if (!r->mr && access & FLUSH_PERSISTENT)
		r->mr = ibv_reg_mr(pd_get(other_pd), r->p, len,
				   access & ~FLUSH_PERSISTENT);
	if (!r->mr && access & FLUSH_GLOBAL)
		r->mr = ibv_reg_mr(pd_get(other_pd), r->p, len,
				   access & ~FLUSH_ACCESS);
	made(r->mr, "region");
	r->rkey = r->mr->rkey;
	return r;
}

/* mr NAME [len=N] [access=RIGHT,...] [pd=other] */
void do_mr(struct line *l)
{
	const char *name = line_word(l, 1);
	const char *access = line_get(l, "access");

	if (!name)
		fail("a region needs a name");
	region_make(name, line_num(l, "len", MR_BYTES),
		    access_of(access ? access : "all"), line_has(l, "pd"));
	line_end(l);
}

struct region *region_of(const char *text)
{
	char name[32];
	struct region *r;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, "+"), text);
	r = region_find(name);
	if (!r)
		fail("unknown region '%s'", name);
	return r;
}

/* Sets *@off to the offset after the name, which may be outside of the region. */
static struct region *region_parse(const char *text, __u64 *off)
{
	const char *plus = strchr(text, '+');

	*off = 0;
	if (plus && !num_parse(plus + 1, off))
		fail("'%s' is not REGION+OFFSET", text);
	return region_of(text);
}

__u8 *region_at(const char *text, size_t len)
{
	__u64 off;
	struct region *r = region_parse(text, &off);

	if (off > r->len || len > r->len - off)
		fail("'%s' is outside of the region", text);
	return r->p + off;
}

__u64 address_of(const char *text)
{
	struct region *r;
	__u64 v;

	if (num_parse(text, &v))
		return v;
	r = region_parse(text, &v);
	return (uintptr_t)r->p + v;
}

__u32 key_of(const char *text)
{
	__u64 v;

	return num_parse(text, &v) ? v : region_of(text)->rkey;
}

/* mw NAME REGION+OFFSET len=N [access=RIGHT,...]: a window of type 2, bound */
void do_mw(struct line *l)
{
	const char *name = line_word(l, 1), *at = line_word(l, 2);
	const char *access = line_get(l, "access");
	size_t len = line_num(l, "len", 4096);
	struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW }, *bad;
	struct region *r;
	struct ibv_wc wc;

	if (!name || !at)
		fail("a window needs a name and an address");
	r = region_new(name, len);
	r->p = region_at(at, len);
	line_end(l);
	if (dry)
		return;
	r->mw = made(ibv_alloc_mw(pd_get(0), IBV_MW_TYPE_2), "window");
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.bind_mw.mw = r->mw;
	wr.bind_mw.rkey = ibv_inc_rkey(r->mw->rkey);
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info) {
		.mr = region_of(at)->mr,
		.addr = (uintptr_t)r->p,
		.length = len,
		.mw_access_flags = access_of(access ? access : "read,write"),
	};
	r->rkey = wr.bind_mw.rkey;
	if (ibv_post_send(qp->qp, &wr, &bad))
		fail("the window cannot be bound");
	if (!cq_wait(qp->scq, &wc, 3000000) || wc.status)
		fail("the window was not bound");
}

/* dereg NAME: deregisters the region, so that its key is invalid */
void do_dereg(struct line *l)
{
	const char *name = line_word(l, 1);
	struct region *r = region_of(name ? name : "");

	line_end(l);
	if (!r->mr || ibv_dereg_mr(r->mr))
		fail("%s cannot be deregistered", r->name);
	r->mr = NULL;
}

/* ---- receive queues of XRC ---- */

static struct ibv_srq *srq_make(const char *name)
{
	struct ibv_xrcd_init_attr domain = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};
	struct ibv_srq_init_attr_ex init = {
		.attr = { .max_wr = QUEUE_ENTRIES, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
	};
	int i = num_srqs;

	if (i == MAX_OBJECTS)
		fail("too many receive queues");
	name_set(srqs[i].name, name);
	srqs[i].num = DRY_SRQN + i;
	if (!dry) {
		if (!xrcd)
			xrcd = ibv_open_xrcd(device, &domain);
		if (!xrcd)
			skip("no XRC");
		if (!srq_cq)
			srq_cq = cq_make(CQ_ENTRIES);
		init.pd = pd_get(0);
		init.xrcd = xrcd;
		init.cq = srq_cq;
		srqs[i].srq = made(ibv_create_srq_ex(device, &init), "SRQ");
	}
	num_srqs++;
	if (!dry && ibv_get_srq_num(srqs[i].srq, &srqs[i].num))
		fail("the SRQ has no number");
	return srqs[i].srq;
}

static int srq_find(const char *name)
{
	int i;

	for (i = 0; i < num_srqs; i++)
		if (!strcmp(srqs[i].name, name))
			return i;
	fail("unknown SRQ '%s'", name);
}

struct ibv_srq *srq_of(const char *name)
{
	return srqs[srq_find(name)].srq;
}

__u32 srqn_of(const char *text)
{
	__u64 v;

	return num_parse(text, &v) ? v : srqs[srq_find(text)].num;
}

/* srq NAME: creates another SRQ for the XRC target */
void do_srq(struct line *l)
{
	const char *name = line_word(l, 1);

	line_end(l);
	srq_make(name ? name : "");
}

/* ---- queue pairs ---- */

static const struct {
	const char		*name;
	enum ibv_qp_type	type;
	__u8			transport;
	bool			initiates;
	bool			responds;
} types[] = {
	{ "rc", IBV_QPT_RC, TP_RC, true, true },
	{ "uc", IBV_QPT_UC, TP_UC },
	{ "ud", IBV_QPT_UD, TP_UD },
	{ "xrc", IBV_QPT_XRC_RECV, TP_XRC, false, true },
	{ "xrc_ini", IBV_QPT_XRC_SEND, TP_XRC, true, false },
};

static enum ibv_mtu mtu_of(__u64 bytes)
{
	enum ibv_mtu mtu;

	for (mtu = IBV_MTU_256; mtu <= IBV_MTU_4096; mtu++)
		if (128U << mtu == bytes)
			return mtu;
	fail("%llu bytes is not a path MTU", (unsigned long long)bytes);
}

static struct ibv_qp *qp_create(struct qp *q)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = q->type,
		.send_cq = q->scq,
		.recv_cq = q->rcq,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.cap = {
			.max_send_wr = QUEUE_ENTRIES,
			.max_recv_wr = QUEUE_ENTRIES,
			.max_send_sge = 2,
			.max_recv_sge = 1,
		},
	};
	struct ibv_qp *made_qp = NULL;

	if (q->type == IBV_QPT_XRC_RECV) {
		init.comp_mask = IBV_QP_INIT_ATTR_XRCD;
		init.xrcd = xrcd;
		init.recv_cq = NULL;
		init.send_cq = NULL;
	} else {
		init.pd = pd_get(0);
	}
	if (q->type == IBV_QPT_XRC_SEND)
		init.recv_cq = NULL;
	if (EX_OPS && q->type == IBV_QPT_RC) {
		init.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		init.send_ops_flags = EX_OPS;
		made_qp = ibv_create_qp_ex(device, &init);
		init.comp_mask &= ~IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	}
	if (!made_qp)
		made_qp = ibv_create_qp_ex(device, &init);
	if (!made_qp && q->transport == TP_XRC && errno == EOPNOTSUPP)
		skip("no XRC");
	return made(made_qp, "queue pair");
}

static void modify(struct qp *q, struct ibv_qp_attr *attr, int mask)
{
	if (dry)
		return;
	if (ibv_modify_qp(q->qp, attr, mask | IBV_QP_STATE))
		fail("the queue pair does not go to state %d: %s", attr->qp_state,
		     strerror(errno));
}

static void path_make(const struct qp *q, struct ibv_ah_attr *path, int tclass)
{
	*path = (struct ibv_ah_attr) {
		.is_global = 1,
		.port_num = 1,
		.grh = {
			.sgid_index = gid_index[q->ip == 6],
			.hop_limit = 64,
			.traffic_class = tclass,
		},
	};
	gid_make(peer_address, q->ip, path->grh.dgid.raw);
}

static void to_init(struct qp *q, struct line *l)
{
	const char *access = line_get(l, "access");
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qkey = q->qkey,
	};
	int mask = IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	attr.qp_access_flags = access_of(access ? access : "all");
	if (q->type == IBV_QPT_UD)
		mask |= IBV_QP_QKEY;
	else
		mask |= IBV_QP_ACCESS_FLAGS;
	if (!dry && attr.qp_access_flags & FLUSH_ACCESS &&
	    !ibv_modify_qp(q->qp, &attr, mask | IBV_QP_STATE))
		return;
	if (!access)	/* not all devices support FLUSH */
		attr.qp_access_flags &= ~FLUSH_ACCESS;
	modify(q, &attr, mask);
}

static void to_rtr(struct qp *q, struct line *l, bool responds)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = mtu_of(line_num(l, "mtu", 1024)),
		.dest_qp_num = q->peer,
		.rq_psn = line_num(l, "rq_psn", 0),
		.max_dest_rd_atomic = line_num(l, "dest_rd_atomic", 4),
		.min_rnr_timer = line_num(l, "min_rnr", 12),
	};
	int mask = 0;

	path_make(q, &attr.ah_attr, line_num(l, "tclass", 0));
	if (q->type != IBV_QPT_UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			IBV_QP_RQ_PSN;
	if (responds)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	modify(q, &attr, mask);
	if (q->type == IBV_QPT_UD && !dry)
		q->ah = made(ibv_create_ah(pd_get(0), &attr.ah_attr),
			     "address handle");
}

static void to_rts(struct qp *q, struct line *l)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = line_num(l, "sq_psn", 0),
		.timeout = line_num(l, "timeout", 0),
		.retry_cnt = line_num(l, "retry", 7),
		.rnr_retry = line_num(l, "rnr_retry", 7),
		.max_rd_atomic = line_num(l, "rd_atomic", 4),
	};
	int mask = IBV_QP_SQ_PSN;

	if (q->initiates)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	else if (q->type == IBV_QPT_XRC_RECV)
		mask |= IBV_QP_TIMEOUT;
	modify(q, &attr, mask);
}

/*
 * qp rc|uc|ud|xrc|xrc_ini [name=N] [ip=6] [mtu=BYTES] [rq_psn=N] [sq_psn=N]
 *	[access=RIGHT,...] [rd_atomic=N] [dest_rd_atomic=N] [min_rnr=CODE]
 *	[timeout=EXP] [retry=N] [rnr_retry=N] [qkey=N] [tclass=N] [cqe=N]
 *	[state=init|rtr|rts]
 */
void do_qp(struct line *l)
{
	const char *type = line_word(l, 1), *name = line_get(l, "name");
	const char *state = line_get(l, "state");
	int cqe = line_num(l, "cqe", CQ_ENTRIES);
	struct qp *q = &qps[num_qps];
	size_t t;

	for (t = 0; type && t < ARRAY_SIZE(types); t++)
		if (!strcmp(types[t].name, type))
			break;
	if (!type || t == ARRAY_SIZE(types) || num_qps == MAX_OBJECTS)
		fail("a queue pair is rc, uc, ud, xrc or xrc_ini");
	*q = (struct qp) {
		.type = types[t].type,
		.transport = types[t].transport,
		.initiates = types[t].initiates,
		.peer = next_peer++,
		.qpn = DRY_QPN,
		.ip = line_num(l, "ip", 4),
		.qkey = line_num(l, "qkey", 0x11111111),
	};
	name_set(q->name, name ? name : type);
	num_qps++;
	qp = q;
	if (!region_find("mr"))
		region_make("mr", MR_BYTES, access_of("all"), 0);
	if (q->type == IBV_QPT_XRC_RECV && !num_srqs)
		srq_make("srq");
	if (q->type == IBV_QPT_XRC_RECV)
		q->srqn = srqs[0].num;
	if (!dry) {
		q->scq = cq_make(cqe);
		q->rcq = cq_make(cqe);
		q->qp = qp_create(q);
		q->qpn = q->qp->qp_num;
	}
	if (q->type == IBV_QPT_XRC_RECV && !dry) {
		ibv_destroy_cq(q->rcq);
		q->rcq = srq_cq;
	}
	to_init(q, l);
	if (!state || strcmp(state, "init"))
		to_rtr(q, l, types[t].responds);
	if (!state || !strcmp(state, "rts"))
		to_rts(q, l);
	line_get(l, "sq_psn");
	line_end(l);
}

/* use NAME: later lines refer to that queue pair */
void do_use(struct line *l)
{
	const char *name = line_word(l, 1);
	int i;

	line_end(l);
	for (i = 0; i < num_qps; i++) {
		if (!name || strcmp(qps[i].name, name))
			continue;
		qp = &qps[i];
		return;
	}
	fail("unknown queue pair '%s'", name ? name : "");
}

/* modify reset|error|sqd|rts; "rts" takes the attributes of "qp" for that transition */
void do_modify(struct line *l)
{
	static const struct name states[] = {
		{ "reset", IBV_QPS_RESET }, { "error", IBV_QPS_ERR },
		{ "sqd", IBV_QPS_SQD }, { "rts", IBV_QPS_RTS },
	};
	struct ibv_qp_attr attr = {
		.en_sqd_async_notify = 1,
		.timeout = line_num(l, "timeout", 0),
	};
	int mask = attr.timeout ? IBV_QP_TIMEOUT : 0;

	attr.qp_state = name_value(states, ARRAY_SIZE(states), "state",
				   line_word(l, 1));
	if (attr.qp_state == IBV_QPS_RTS && qp->qp->state == IBV_QPS_RTR)
		to_rts(qp, l);
	else
		modify(qp, &attr, attr.qp_state == IBV_QPS_SQD && !mask ?
		       IBV_QP_EN_SQD_ASYNC_NOTIFY : mask);
	line_end(l);
}

/* ---- the end of a script ---- */

static void region_undo(struct region *r)
{
	if (r->mr)
		ibv_dereg_mr(r->mr);
	if (r->p && !r->mw)
		munmap(r->p, r->len);
}

void objects_undo(void)
{
	int i;

	/* rdma_rxe frees a queue pair without regard to the windows bound by it. */
	for (i = 0; i < num_regions; i++)
		if (regions[i].mw)
			ibv_dealloc_mw(regions[i].mw);
	for (i = 0; i < num_qps; i++) {
		if (qps[i].qp)
			ibv_destroy_qp(qps[i].qp);
		if (qps[i].ah)
			ibv_destroy_ah(qps[i].ah);
		if (qps[i].scq)
			ibv_destroy_cq(qps[i].scq);
		if (qps[i].rcq && qps[i].rcq != srq_cq)
			ibv_destroy_cq(qps[i].rcq);
	}
	for (i = 0; i < num_srqs; i++)
		if (srqs[i].srq)
			ibv_destroy_srq(srqs[i].srq);
	if (xrcd)
		ibv_close_xrcd(xrcd);
	if (srq_cq)
		ibv_destroy_cq(srq_cq);
	for (i = 0; i < num_regions; i++)
		region_undo(&regions[i]);
	for (i = 0; i < 2; i++)
		if (pds[i])
			ibv_dealloc_pd(pds[i]);
	memset(pds, 0, sizeof(pds));
	memset(qps, 0, sizeof(qps));
	memset(srqs, 0, sizeof(srqs));
	memset(regions, 0, sizeof(regions));
	num_qps = 0;
	num_srqs = 0;
	num_regions = 0;
	xrcd = NULL;
	srq_cq = NULL;
	qp = NULL;
	verbs_undo();
}
