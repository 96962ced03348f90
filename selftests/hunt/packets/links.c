// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - hostile packets: queue pairs that transfer data meanwhile
 *
 * Victims accept packets forged for them: RoCEv2 does not authenticate packets,
 * so a sender that knows addresses, QP number, PSN and key cannot be told from the peer.
 * Each of their work requests must complete once and in order, nothing else may complete,
 * and no byte may change outside memory with remote access.
 *
 * Guarded queue pairs receive only packets that the protocol refuses.  Their
 * memory belongs to a protection domain of its own, whose keys the forger
 * knows.  They verify every byte, and all of their work requests must succeed.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "../../verbs/frames.h"
#include "packets.h"

#define QKEY		0x11223344
#define QKEY_GUARDED	0x55667788
#define ARENA		0x100000
#define BLOCK		0x10000
#define MARGIN		4136		/* before and behind each block */
#define BLOCK_LEN	(BLOCK - 2 * MARGIN)
#define RECVS		16
#define RECV_LEN	8000
#define SENDS		4
#define GUARDED_LEN	20000

__u64 links_verified, links_completed, links_renewed;

/* ---- memory ---- */

/* Blocks in the arena of a side */
enum {
	B_SOURCE,		/* of sends; never written */
	B_RECV,			/* receives and sinks of READs */
	B_SHOWN,		/* remote write access, like the next two */
	B_ODP,
	B_WINDOW,
	B_READ_ONLY,		/* remote read access */
	B_HIDDEN,		/* no remote access */
	B_STALE,		/* a deregistered key */
	B_NUM,
};

static const int block_access[B_NUM] = {
	[B_SOURCE]	= 0,
	[B_RECV]	= IBV_ACCESS_LOCAL_WRITE,
	[B_SHOWN]	= FULL_ACCESS,
	[B_ODP]		= FULL_ACCESS | IBV_ACCESS_ON_DEMAND,
	[B_WINDOW]	= IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND,
	[B_READ_ONLY]	= IBV_ACCESS_REMOTE_READ,
	[B_HIDDEN]	= IBV_ACCESS_LOCAL_WRITE,
	[B_STALE]	= FULL_ACCESS,
};

static struct arena {
	__u8		*p;
	struct ibv_pd	*pd;
	struct mem	block[B_NUM];
} arenas[2];

static struct ibv_mw *windows[2];

/* Windows that SEND with invalidate may end; bound again at each reconnection */
static struct ibv_mw *short_windows[2];
static int short_grants[2];

static void grant_add(int side, __u32 rkey, const __u8 *p, size_t len)
{
	must(num_grants < MAX_GRANTS);
	grants[num_grants++] = (struct grant) {
		.side = side, .rkey = rkey, .va = (uintptr_t)p, .len = len,
	};
}

static void stale_make(struct mem *m, struct ibv_pd *pd, int access)
{
	m->mr = ibv_reg_mr(pd, m->p, m->len, access);
	must(m->mr);
	grant_add(pd->context == sides[1].ctx, m->mr->rkey, m->p, m->len);
	must_be(ibv_dereg_mr(m->mr), 0);
	m->mr = NULL;
}

static void arena_make(int side)
{
	struct arena *a = &arenas[side];
	int i, fd;

	fd = memfd_create("packets", MFD_CLOEXEC);
	must(fd >= 0 && !ftruncate(fd, ARENA));
	a->pd = pd_make(&sides[side]);
	a->p = map_make(ARENA, MAP_SHARED, fd);
	close(fd);		/* the mapping holds a reference to the file */
	memset(a->p, GUARD, ARENA);
	for (i = 0; i < B_NUM; i++) {
		struct mem *m = &a->block[i];

		m->p = a->p + i * BLOCK + MARGIN;
		m->len = BLOCK_LEN - 3 * i;	/* unaligned ends */
		if (i == B_STALE) {
			stale_make(m, a->pd, block_access[i]);
			continue;
		}
		mem_own(m, a->pd, block_access[i]);
		if (i >= B_SHOWN && i != B_WINDOW)
			grant_add(side, m->mr->rkey, m->p, m->len);
	}
}

static bool block_is_written(int i)
{
	return i == B_RECV || i == B_SHOWN || i == B_ODP;
}

/* The part of its block to which a window gives access */
#define WINDOW_OFF	8192
#define WINDOW_LEN	12345

static void arena_check(const struct arena *a)
{
	const __u8 *at = a->p;
	int i;

	for (i = 0; i < B_NUM; i++) {
		const struct mem *m = &a->block[i];

		if (block_is_written(i)) {
			untouched(at, m->p - at, "before a region");
			at = m->p + m->len;
		} else if (i == B_WINDOW) {
			untouched(at, m->p + WINDOW_OFF - at, "before a window");
			at = m->p + WINDOW_OFF + WINDOW_LEN;
		}
	}
	untouched(at, a->p + ARENA - at, "behind a region");
}

/* ---- queue pairs ---- */

enum what {
	RC, RC_SRQ, RC_ODP, UC, UD, XRC, RC_GUARDED, UD_GUARDED,
	RC_INIT, RC_RTR, RC_SQD, RC_ERR, RC_RESET, NUM_LINKS,
};

/**
 * struct link - two connected queue pairs
 * @e: ends of both sides
 * @t: targets of the forger
 * @ah: to the other side, for datagrams
 * @srq: SRQ of each side, if any
 * @rcq: CQ of the receives
 * @posted: number of sends posted by each side
 * @done: number of sends completed
 * @rposted: number of receives posted
 * @rdone: number of receives completed
 * @broken: a work request has failed
 * @why: status of the first that failed
 * @mem: of a guarded link: source and destination, adjacent
 * @pd: of a guarded link
 * @op: current operation of a guarded link
 * @len: length of @op
 * @seed: pattern of its data
 * @since: time when @op was last posted
 * @until: see in_bound()
 * @again: @op was posted more than once
 * @got: the data of @op has been received
 * @turn: side whose turn it is
 */
struct link {
	struct end	e[2];
	struct target	*t[2];
	struct ibv_ah	*ah[2];
	struct ibv_srq	*srq[2];
	struct ibv_cq	*rcq[2];
	__u64		posted[2], done[2];
	__u64		rposted[2], rdone[2];
	bool		broken;
	enum ibv_wc_status why;
	struct ibv_pd	*pd[2];
	struct mem	mem[2];
	int		op[2];
	__u32		len[2];
	__u32		seed[2];
	__u64		since[2];
	__u64		until[2];
	bool		again[2];
	bool		got[2];
	int		turn;
};

static struct link links[NUM_LINKS];
static struct ibv_xrcd *xrcd;
static struct ibv_srq *xsrq;
static __u32 xsrqn;
static struct taker taker;
static struct ibv_cq *wq_cq;

static bool is_guarded(int what)
{
	return what == RC_GUARDED || what == UD_GUARDED;
}

static bool is_ud(int what)
{
	return what == UD || what == UD_GUARDED;
}

static bool works(int what)
{
	return what <= UD_GUARDED;
}

static __u8 transport_of(int what)
{
	switch (what) {
	case UC:
		return TP_UC;
	case UD:
	case UD_GUARDED:
		return TP_UD;
	case XRC:
		return TP_XRC;
	default:
		return TP_RC;
	}
}

static struct target *target_add(int side, __u32 qpn, __u8 transport)
{
	struct target *t = &targets[num_targets++];

	must(num_targets <= MAX_TARGETS);
	*t = (struct target) {
		.side = side, .qpn = qpn, .transport = transport, .open = -1,
	};
	return t;
}

static void link_opt(int what, int side, struct opt *o)
{
	struct link *l = &links[what];

	*o = opt_default;
	o->pd = is_guarded(what) ? l->pd[side] : arenas[side].pd;
	o->access |= IBV_ACCESS_MW_BIND;
	o->timeout = 18;	/* a host that gets little processor time answers late */
	o->min_rnr = 1;
	if (what == UC)
		o->type = IBV_QPT_UC;
	if (is_ud(what))
		o->type = IBV_QPT_UD;
	if (what == XRC) {
		o->type = side ? IBV_QPT_XRC_RECV : IBV_QPT_XRC_SEND;
		o->xrcd = xrcd;
	}
	if (what == RC_SRQ) {
		l->srq[side] = srq_make(&sides[side], o->pd, 64, 4);
		o->srq = l->srq[side];
	}
}

static void guarded_memory(struct link *l, int side)
{
	struct mem *m = &l->mem[side];

	l->pd[side] = pd_make(&sides[side]);
	m->len = 2 * GUARDED_LEN + 64;
	m->p = map_make(m->len, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	memset(m->p, GUARD, m->len);
	mem_own(m, l->pd[side], FULL_ACCESS);
	grant_add(side, m->mr->rkey, m->p, m->len);
}

static void link_targets(int what)
{
	struct link *l = &links[what];
	int side;

	for (side = 0; side < 2; side++) {
		l->t[side] = target_add(side, l->e[side].qp->qp_num,
					transport_of(what));
		l->t[side]->peer = l->e[!side].qp->qp_num;
		l->t[side]->guarded = is_guarded(what);
		l->t[side]->qkey = QKEY;
		l->t[side]->srqn = xsrqn;
	}
}

static void link_make(int what)
{
	struct link *l = &links[what];
	struct opt o;
	int side;

	for (side = 0; side < 2; side++) {
		if (is_guarded(what))
			guarded_memory(l, side);
		link_opt(what, side, &o);
		end_make(&l->e[side], &sides[side], &o);
		l->rcq[side] = l->e[side].rcq;
		if (is_ud(what))
			l->ah[side] = ah_make(&sides[side], o.pd,
					      &sides[!side].gid);
	}
	link_targets(what);
}

static void xrc_make(struct ibv_cq **cq)
{
	xrcd = xrcd_make(sides[1].ctx, -1);
	*cq = cq_make(&sides[1], 256, NULL);
	xsrq = xsrq_make(arenas[1].pd, xrcd, *cq, 64);
	must_be(ibv_get_srq_num(xsrq, &xsrqn), 0);
}

static void raw_targets(void)
{
	struct rule r = rule_type(0, FLOW_TYPE);

	taker_make(&taker, &sides[1], NULL);
	flow_make(taker.e.qp, &r);
	r = rule_udp(1, FLOW_PORT, 0);
	flow_make(taker.e.qp, &r);
	target_add(1, taker.e.qp->qp_num, TP_RC);
	target_add(1, taker.e.qp->qp_num, TP_UD);
}

/* A work queue in no indirection table: it must not receive anything. */
static void wq_target(void)
{
	struct ibv_wq_init_attr init = {
		.wq_type = IBV_WQT_RQ,
		.max_wr = 4,
		.max_sge = 1,
		.pd = arenas[1].pd,
		.cq = cq_make(&sides[1], 4, NULL),
	};
	struct ibv_wq_attr attr = {
		.attr_mask = IBV_WQ_ATTR_STATE,
		.wq_state = IBV_WQS_RDY,
	};
	struct ibv_sge sge = sge_of(&arenas[1].block[B_RECV], 0, RECV_LEN);
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
	struct ibv_wq *wq = ibv_create_wq(sides[1].ctx, &init);

	wq_own(wq);
	must_be(ibv_modify_wq(wq, &attr), 0);
	must_be(ibv_post_wq_recv(wq, &wr, &bad), 0);
	target_add(1, wq->wq_num, TP_RC);
	wq_cq = init.cq;
}

static int mcast_leave(void *qp)
{
	union ibv_gid gid = {};

	forge_group(&gid);
	return ibv_detach_mcast(qp, &gid, 0);
}

static void mcast_join(struct end *e)
{
	union ibv_gid gid = {};

	forge_group(&gid);
	must_be(ibv_attach_mcast(e->qp, &gid, 0), 0);
	undo_later(mcast_leave, e->qp);
}

/* ---- the state machine ---- */

static int ud_up(struct end *e, __u32 qkey)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = qkey,
	};
	int err;

	err = ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			    IBV_QP_PORT | IBV_QP_QKEY);
	if (!err)
		err = to_state(e, IBV_QPS_RTR);
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = e->psn;
	return err ? err : ibv_modify_qp(e->qp, &attr,
					 IBV_QP_STATE | IBV_QP_SQ_PSN);
}

static void link_up(int what)
{
	struct link *l = &links[what];
	int side;

	if (is_ud(what)) {
		for (side = 0; side < 2; side++)
			must_be(ud_up(&l->e[side], is_guarded(what) ?
				      QKEY_GUARDED : QKEY), 0);
		return;
	}
	for (side = 0; side < 2 && what != RC_RESET; side++)
		must_be(to_init(&l->e[side]), 0);
	for (side = 0; side < 2 && what != RC_RESET && what != RC_INIT; side++)
		must_be(to_rtr(&l->e[side], &l->e[!side]), 0);
	for (side = 0; side < 2 && (works(what) || what == RC_SQD); side++)
		must_be(to_rts(&l->e[side]), 0);
	for (side = 0; side < 2 && what == RC_SQD; side++)
		must_be(to_state(&l->e[side], IBV_QPS_SQD), 0);
	for (side = 0; side < 2 && what == RC_ERR; side++)
		must_be(to_state(&l->e[side], IBV_QPS_ERR), 0);
}

static void link_psns(struct link *l, struct dice *r)
{
	static const __u32 interesting[] = { 0, 0xfffff0, 0x7ffff0, 0x800000 };
	int side;

	for (side = 0; side < 2; side++)
		l->e[side].psn = rarely(r, 2) ? dice_next(r) & PSN_MASK :
						    dice_pick(r, interesting);
	for (side = 0; side < 2; side++) {
		l->t[side]->epsn = l->e[!side].psn;
		l->t[side]->una = l->e[side].psn;
		l->t[side]->high = l->e[side].psn;
		l->t[side]->open = -1;
	}
}

/* ---- victims ---- */

static void victim_recvs(struct link *l, int side)
{
	struct mem *m = &arenas[side].block[B_RECV];
	struct ibv_sge sge[2];
	__u64 at;

	while (l->rposted[side] - l->rdone[side] < RECVS) {
		at = l->rposted[side] % 4 * RECV_LEN + l->rposted[side] % 13;
		sge[0] = sge_of(m, at, 100);
		sge[1] = sge_of(m, at + 200, RECV_LEN - 100);
		if (l->srq[side])
			must_be(post_srq(l->srq[side], l->rposted[side], sge, 2), 0);
		else
			must_be(post_recv(&l->e[side], l->rposted[side], sge, 2), 0);
		l->rposted[side]++;
	}
}

static const struct grant *victim_grant(struct dice *r, int side)
{
	int i = roll(r, num_grants), n;

	for (n = 0; n < num_grants; n++, i = (i + 1) % num_grants)
		if (grants[i].side == side &&
		    (grants[i].rkey == arenas[side].block[B_SHOWN].mr->rkey ||
		     grants[i].rkey == arenas[side].block[B_ODP].mr->rkey ||
		     grants[i].rkey == windows[side]->rkey))
			break;
	return &grants[i];
}

static void victim_target(struct ibv_send_wr *wr, const struct grant *g)
{
	if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
	    wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
		wr->wr.atomic.remote_addr = (g->va + 7) & ~7ULL;
		wr->wr.atomic.rkey = g->rkey;
		wr->sg_list->length = 8;
	} else {
		wr->wr.rdma.remote_addr = g->va;
		wr->wr.rdma.rkey = g->rkey;
	}
}

static void victim_post(int what, int side, struct dice *r)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ, IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_CMP_AND_SWP,
	};
	int num = is_ud(what) ? 2 : what == UC ? 4 : ARRAY_SIZE(ops);
	struct ibv_send_wr wr;
	struct link *l = &links[what];
	struct ibv_sge sge;

	wr = wr_of(l->posted[side], ops[roll(r, num)], &sge, 1);
	sge = sge_of(&arenas[side].block[wr.opcode < IBV_WR_RDMA_READ ? B_SOURCE :
					 B_RECV], roll(r, 64),
		     is_ud(what) ? roll(r, forge_mtu()) :
		     roll(r, rarely(r, 2) ? RECV_LEN - 200 : 300));
	if (is_ud(what)) {
		wr.wr.ud.ah = l->ah[side];
		wr.wr.ud.remote_qpn = l->e[!side].qp->qp_num;
		wr.wr.ud.remote_qkey = QKEY;
	} else if (wr.opcode != IBV_WR_SEND &&
		   wr.opcode != IBV_WR_SEND_WITH_IMM) {
		victim_target(&wr, victim_grant(r, !side));
	}
	if (what == XRC)
		wr.qp_type.xrc.remote_srqn = xsrqn;
	must_be(post_one(&l->e[side], &wr), 0);
	l->posted[side]++;
}

static bool sends(int what, int side)
{
	return works(what) && !(what == XRC && side);
}

static bool receives(int what, int side)
{
	return !(what == XRC && !side);
}

/* Checks that @wc is for the next outstanding work request. */
static void completed(int what, int side, const char *kind,
		      const struct ibv_wc *wc, __u64 *done, __u64 posted)
{
	if (*done == posted)
		case_fail("link %d side %d: a %s completes that was not posted: %llu, %s",
			  what, side, kind, (unsigned long long)wc->wr_id,
			  ibv_wc_status_str(wc->status));
	if (wc->wr_id != *done)
		case_fail("link %d side %d: %s %llu of %llu completes, not %llu: %s",
			  what, side, kind, (unsigned long long)wc->wr_id,
			  posted, *done, ibv_wc_status_str(wc->status));
	++*done;
	links_completed++;
	if (wc->status == IBV_WC_SUCCESS || links[what].broken)
		return;
	links[what].broken = true;
	links[what].why = wc->status;
}

/* Work requests complete once and in order, with valid contents. */
static void victim_poll(int what, int side)
{
	struct link *l = &links[what];
	struct ibv_wc wc;

	while (sends(what, side) && ibv_poll_cq(l->e[side].scq, 1, &wc) > 0)
		completed(what, side, "send", &wc, &l->done[side],
			  l->posted[side]);
	while (receives(what, side) && ibv_poll_cq(l->rcq[side], 1, &wc) > 0) {
		completed(what, side, "receive", &wc, &l->rdone[side],
			  l->rposted[side]);
		if (wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV)
			must(wc.byte_len <= RECV_LEN);
	}
}

static void victim_step(int what, struct dice *r)
{
	struct link *l = &links[what];
	int side;

	for (side = 0; side < 2; side++) {
		victim_poll(what, side);
		if (l->broken)
			continue;
		if (receives(what, side))
			victim_recvs(l, side);
		if (sends(what, side) && l->posted[side] - l->done[side] < SENDS)
			victim_post(what, side, r);
	}
}

static bool link_is_empty(int what)
{
	struct link *l = &links[what];
	int side;

	for (side = 0; side < 2; side++) {
		victim_poll(what, side);
		if (l->posted[side] != l->done[side])
			return false;
		if (!l->srq[side] && l->rposted[side] != l->rdone[side])
			return false;
	}
	return true;
}

/* In the error state all posted requests must complete. */
static void link_drain(int what)
{
	struct link *l = &links[what];
	__u64 end = 0;
	int side;

	for (side = 0; side < 2 && what != RC_RESET; side++)
		must_be(to_state(&l->e[side], IBV_QPS_ERR), 0);
	while (!link_is_empty(what)) {
		wire_pump();
		if (!in_bound(&end, "completions of all requests"))
			case_fail("link %d: not all completes: %lld %lld sends, %lld %lld receives",
				  what, l->posted[0] - l->done[0],
				  l->posted[1] - l->done[1],
				  l->rposted[0] - l->rdone[0],
				  l->rposted[1] - l->rdone[1]);
	}
}

static struct ibv_mw_bind_info window_info(int side)
{
	struct mem *m = &arenas[side].block[B_WINDOW];

	return (struct ibv_mw_bind_info) {
		.mr = m->mr,
		.addr = (uintptr_t)m->p + WINDOW_OFF,
		.length = WINDOW_LEN,
		.mw_access_flags = FULL_ACCESS & ~IBV_ACCESS_LOCAL_WRITE,
	};
}

static int short_window_undo(void *window)
{
	struct ibv_mw **w = window;
	int err = *w ? ibv_dealloc_mw(*w) : 0;

	*w = NULL;
	return err;
}

/* @l is the link whose queue pair binds the window. */
static void short_window_renew(struct link *l, int side)
{
	struct ibv_send_wr wr = wr_of(l->posted[side], IBV_WR_BIND_MW, NULL, 0);
	struct ibv_mw **w = &short_windows[side];

	must_be(short_window_undo(w), 0);
	*w = ibv_alloc_mw(arenas[side].pd, IBV_MW_TYPE_2);
	must(*w);
	wr.bind_mw.mw = *w;
	wr.bind_mw.rkey = ibv_inc_rkey((*w)->rkey);
	wr.bind_mw.bind_info = window_info(side);
	must_be(post_one(&l->e[side], &wr), 0);
	l->posted[side]++;
	grants[short_grants[side]].rkey = wr.bind_mw.rkey;
}

static void link_renew(int what, struct dice *r)
{
	struct link *l = &links[what];
	int side;

	link_drain(what);
	wire_pump();	/* old packets could match the new PSNs */
	for (side = 0; side < 2; side++)
		must_be(to_state(&l->e[side], IBV_QPS_RESET), 0);
	link_psns(l, r);
	link_up(what);
	for (side = 0; side < 2 && what == RC; side++)
		short_window_renew(l, side);
	l->broken = false;
	links_renewed++;
}

/* ---- guarded links ---- */

enum { G_WRITE, G_READ, G_SEND, G_ADD, G_NUM };

static __u8 *source_of(struct link *l, int side)
{
	return l->mem[side].p;
}

static __u8 *dest_of(struct link *l, int side)
{
	return l->mem[side].p + GUARDED_LEN + 64;
}

static void guarded_wr(struct link *l, int side, struct ibv_send_wr *wr)
{
	static const enum ibv_wr_opcode ops[G_NUM] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND,
		IBV_WR_ATOMIC_FETCH_AND_ADD,
	};

	wr->opcode = ops[l->op[side]];
	if (l->op[side] == G_WRITE)
		wr_target(wr, &l->mem[!side], GUARDED_LEN + 64);
	else
		wr_target(wr, &l->mem[!side], 0);
}

/* Side of the destination: the peer for a WRITE or a SEND, @side for READs and atomics */
static int dest_side(const struct link *l, int side)
{
	return l->op[side] == G_READ || l->op[side] == G_ADD ? side : !side;
}

static void guarded_post(int what, int side, struct dice *r)
{
	struct link *l = &links[what];
	bool back = l->op[side] == G_READ || l->op[side] == G_ADD;
	struct ibv_send_wr wr;
	struct ibv_sge sge;

	sge = sge_of(&l->mem[side], back ? GUARDED_LEN + 64 : 0, l->len[side]);
	wr = wr_of(l->posted[side]++, IBV_WR_SEND, &sge, 1);
	if (is_ud(what)) {
		wr.wr.ud.ah = l->ah[side];
		wr.wr.ud.remote_qpn = l->e[!side].qp->qp_num;
		wr.wr.ud.remote_qkey = QKEY_GUARDED;
	} else {
		guarded_wr(l, side, &wr);
	}
	if (l->op[side] == G_ADD)
		wr.wr.atomic.compare_add = dice_next(r);
	must_be(post_one(&l->e[side], &wr), 0);
}

/*
 * One operation at a time, alternating between the sides, so that every byte of
 * the memory is known.
 */
static void guarded_begin(int what, int side, struct dice *r)
{
	struct link *l = &links[what];
	int to, from;
	struct ibv_sge sge;

	l->op[side] = is_ud(what) ? G_SEND : (int)roll(r, G_NUM);
	l->len[side] = is_ud(what) ? roll(r, forge_mtu()) :
		       l->op[side] == G_ADD ? 8 : roll(r, GUARDED_LEN);
	l->seed[side] = dice_next(r);
	l->since[side] = now_us();
	l->until[side] = 0;
	l->got[side] = l->op[side] != G_SEND;
	to = dest_side(l, side);
	from = !to;
	memset(l->mem[to].p, GUARD, l->mem[to].len);
	memset(l->mem[from].p, GUARD, l->mem[from].len);
	fill(source_of(l, from), l->len[side], l->seed[side]);
	if (l->op[side] == G_SEND) {
		sge = sge_of(&l->mem[to], GUARDED_LEN + 64 - (is_ud(what) ? 40 : 0),
			     GUARDED_LEN);
		must_be(post_recv(&l->e[to], l->rposted[to]++, &sge, 1), 0);
	}
	guarded_post(what, side, r);
}

/* Checks every byte of the memory of both sides. */
static void guarded_verify(int what, int side)
{
	struct link *l = &links[what];
	int to = dest_side(l, side);
	__u32 len = l->len[side];
	size_t room = l->mem[to].len;
	__u8 *dest = dest_of(l, to);

	same(dest, len, l->seed[side], "guarded destination");
	untouched(dest + len, l->mem[to].p + room - dest - len,
		  "behind the guarded destination");
	untouched(l->mem[to].p, GUARDED_LEN + 64 - (is_ud(what) ? 40 : 0),
		  "before the guarded destination");
	if (l->op[side] != G_ADD)
		same(source_of(l, !to), len, l->seed[side], "guarded source");
	untouched(l->mem[!to].p + len, room - len, "behind the guarded source");
	links_verified++;
}

static void guarded_poll(int what, int side)
{
	struct link *l = &links[what];
	struct ibv_wc wc;

	if (ibv_poll_cq(l->e[side].scq, 1, &wc) > 0) {
		must_be(wc.status, IBV_WC_SUCCESS);
		must_be(wc.wr_id, l->done[side]);
		must(l->done[side] < l->posted[side]);
		l->done[side]++;
	}
	if (ibv_poll_cq(l->e[!side].rcq, 1, &wc) > 0) {
		must_be(wc.status, IBV_WC_SUCCESS);
		must_be(wc.wr_id, l->rdone[!side]);
		must(l->rdone[!side] < l->rposted[!side]);
		must_be(wc.byte_len, l->len[side] + (is_ud(what) ? 40 : 0));
		l->rdone[!side]++;
		l->got[side] = true;
	}
	must(!ibv_poll_cq(l->e[!side].scq, 1, &wc));
	must(!ibv_poll_cq(l->e[side].rcq, 1, &wc));
}

/* A lost datagram is sent again. */
static void guarded_again(int what, int side, struct dice *r)
{
	struct link *l = &links[what];

	if (is_ud(what) && now_us() - l->since[side] > 1000000) {
		l->since[side] = now_us();
		l->again[side] = true;
		guarded_post(what, side, r);
	} else if (!in_bound(&l->until[side], "completion of a guarded operation")) {
		case_fail("guarded link %d: operation %d of %u bytes does not complete",
			  what, l->op[side], l->len[side]);
	}
}

static void guarded_step(int what, struct dice *r)
{
	struct link *l = &links[what];
	int side = l->turn;

	if (!l->since[side]) {
		guarded_begin(what, side, r);
		return;
	}
	guarded_poll(what, side);
	if (l->done[side] != l->posted[side] || !l->got[side]) {
		guarded_again(what, side, r);
		return;
	}
	guarded_verify(what, side);
	l->since[side] = 0;
	l->turn = !side;
	if (!l->again[side])
		return;
	/* The first datagram may be in flight, and must not match the next operation. */
	l->again[side] = false;
	wire_hold(false);
	wire_pump();
}

/* ---- other traffic ---- */

/* Frames that match the flows, and no others */
static void taker_step(void)
{
	struct ibv_sge sge;
	struct ibv_wc wc;
	const __u8 *p;
	size_t at;

	while (ibv_poll_cq(taker.e.rcq, 1, &wc) > 0) {
		must_be(wc.status, IBV_WC_SUCCESS);
		must_be(wc.wr_id, taker.next % TAKER_SLOTS);
		p = taker.m.p + wc.wr_id * TAKER_SLOT;
		for (at = 12; at < 24 && (get_be16(p + at) == 0x8100 ||
					  get_be16(p + at) == 0x88a8); at += 4)
			;
		if (get_be16(p + at) != FLOW_TYPE &&
		    !(get_be16(p + at) == 0x0800 && p[at + 11] == 17))
			case_fail("a raw queue pair got %u bytes that no flow names",
				  wc.byte_len);
		taker.next++;
		sge = sge_of(&taker.m, wc.wr_id * TAKER_SLOT, TAKER_SLOT - 64);
		must_be(post_recv(&taker.e, wc.wr_id, &sge, 1), 0);
	}
}

static void events_step(void)
{
	struct ibv_async_event ev;
	int side;

	for (side = 0; side < 2; side++)
		while (event_wait(&sides[side], &ev, 0))
			;
}

/* Drops pages of the on-demand region, whose contents must not change. */
static void pages_step(struct dice *r)
{
	struct mem *m = &arenas[roll(r, 2)].block[B_ODP];
	__u8 *p = (__u8 *)(((uintptr_t)m->p + 4095) & ~4095UL);

	must_be(madvise(p, 32768, MADV_DONTNEED), 0);
}

void links_step(struct dice *r)
{
	static unsigned int turn;
	int what;

	for (what = 0; what < NUM_LINKS; what++) {
		if (is_guarded(what))
			guarded_step(what, r);
		else if (works(what))
			victim_step(what, r);
		if (!is_guarded(what) &&
		    (links[what].broken || rarely(r, 500)))
			link_renew(what, r);
	}
	taker_step();
	wc_none(wq_cq, 0);
	if (++turn % 16)
		return;
	events_step();
	pages_step(r);
}

void links_renew(struct dice *r)
{
	int what;

	for (what = 0; what < NUM_LINKS; what++)
		if (!is_guarded(what))
			link_renew(what, r);
}

/* No packets are forged now: all posted requests must succeed. */
static bool link_proved(int what, __u64 want)
{
	struct link *l = &links[what];
	bool proved = true;
	int side;

	for (side = 0; side < 2; side++)
		if (sends(what, side))
			proved &= l->done[side] >= want;
	if (l->broken)
		case_fail("link %d: %s", what, ibv_wc_status_str(l->why));
	return proved;
}

static void victim_prove(int what, struct dice *r)
{
	struct link *l = &links[what];
	__u64 want = l->posted[0] + 8, end = 0;

	while (!link_proved(what, want)) {
		victim_step(what, r);
		wire_pump();
		if (!in_bound(&end, "work of a link"))
			case_fail("link %d does not work", what);
	}
}

void links_prove(struct dice *r)
{
	__u64 want, end = 0;
	int what;

	links_renew(r);
	for (what = 0; what < NUM_LINKS; what++)
		if (works(what) && !is_guarded(what))
			victim_prove(what, r);
	want = links_verified + 16;
	while (links_verified < want) {
		guarded_step(RC_GUARDED, r);
		guarded_step(UD_GUARDED, r);
		wire_pump();
		must(in_bound(&end, "work of the guarded links"));
	}
	taker_step();
}

void links_check_memory(void)
{
	arena_check(&arenas[0]);
	arena_check(&arenas[1]);
}

/* ---- making ---- */

static void window_make(int side)
{
	struct mem *m = &arenas[side].block[B_WINDOW];
	struct ibv_mw_bind bind = {
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = window_info(side),
	};
	struct link *l = &links[RC];

	windows[side] = mw_make(arenas[side].pd, IBV_MW_TYPE_1);
	bind.wr_id = l->posted[side];
	must_be(ibv_bind_mw(l->e[side].qp, windows[side], &bind), 0);
	wc_want(l->e[side].scq, l->posted[side]++, IBV_WC_SUCCESS);
	l->done[side]++;
	grant_add(side, windows[side]->rkey, m->p + WINDOW_OFF, WINDOW_LEN);
	short_grants[side] = num_grants;
	grant_add(side, 0, m->p + WINDOW_OFF, WINDOW_LEN);
	undo_later(short_window_undo, &short_windows[side]);
}

void links_make(struct dice *r)
{
	struct ibv_cq *cq;
	int what, side;

	memset(links, 0, sizeof(links));
	num_targets = 0;
	num_grants = 0;
	for (side = 0; side < 2; side++)
		arena_make(side);
	xrc_make(&cq);
	for (what = 0; what < NUM_LINKS; what++) {
		link_make(what);
		link_psns(&links[what], r);
		link_up(what);
	}
	links[XRC].rcq[1] = cq;
	links[XRC].srq[1] = xsrq;
	for (side = 0; side < 2; side++) {
		window_make(side);
		mcast_join(&links[UD].e[side]);
	}
	raw_targets();
	wq_target();
}
