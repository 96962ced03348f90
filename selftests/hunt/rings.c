// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - a hostile program that corrupts its rings
 *
 * While the kernel uses the rings, threads write to them: entries with one invalid field,
 * indices that are too large, go backwards or wrap, arm words and completions.  Another
 * connection of this process, in its own protection domain, must not be affected; the
 * caller checks connections of other processes.
 *
 * usage: as the verbs harness; -n entries per round, -r rounds, -s seed
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <rdma/ib_user_verbs.h>

#include "../../include/uapi/rdma/srnic-abi.h"
#include "frames.h"
#include "hunt.h"
#include <rdma/rdma_user_rxe.h>	/* after <netinet/in.h> */

#define THREADS		3
#define WR		16
#define SGE		4
#define INLINE		64
#define CQE		64
#define MAX_RINGS	256
#define LEN		65536
#define QKEY		0x40ffee11	/* not used by neighbours */
#define ETH_HOSTILE	0x88b6		/* EtherType not used by neighbours */
#define OP_FLUSH	14		/* not defined by the oldest rdma-core */
#define OP_ATOMIC_WRITE	15
#define RXE_ABI		2		/* uverbs_abi_ver of rdma_rxe */

#define SQE_BYTES	(sizeof(struct srnic_sqe) + INLINE)
#define RQE_BYTES	(sizeof(struct srnic_rqe) + SGE * sizeof(struct srnic_sge))
#define XRQE_BYTES	(sizeof(struct srnic_rqe) + 2 * sizeof(struct srnic_sge))

struct ring {
	void	*hdr;
	__u32	*user;	/* index that user space writes */
	__u32	*kern;	/* index that the kernel writes */
	__u32	*arm;
	__u32	*flags;
	size_t	len;
	__u32	mask;
	__u32	stride;
};

enum {
	RING_SQ,
	RING_RQ,
	RING_SCQ,
	RING_RCQ,
	RING_NUM,
};

/* Contents of a ring */
enum content { SQES, RQES, XRQES, CQES, CONTENTS };

/* Layout of the rings in one user ABI */
struct format {
	__u32	first;			/* offset of the first entry */
	__u32	user;			/* offsets in a ring of work requests */
	__u32	kern;
	__u32	arm;
	__u32	flags;
	__u32	stride[CONTENTS];
	bool	sq_first;		/* mapped before the receive ring */
	bool	swaps;			/* in a CQ, @user and @kern are swapped */
	bool	spare;			/* one slot is unused, and indices wrap */
};

static const struct format own = {
	.first		= SRNIC_RING_ENTRIES,
	.user		= offsetof(struct srnic_ring_hdr, user),
	.kern		= offsetof(struct srnic_ring_hdr, kern),
	.arm		= offsetof(struct srnic_ring_hdr, arm),
	.flags		= offsetof(struct srnic_ring_hdr, flags),
	.stride		= { SQE_BYTES, RQE_BYTES, XRQE_BYTES,
			    sizeof(struct srnic_cqe) },
	.sq_first	= true,
};

/* Strides are powers of two; there is no XRC. */
static const struct format rxe = {
	.first		= offsetof(struct rxe_queue_buf, data),
	.user		= offsetof(struct rxe_queue_buf, producer_index),
	.kern		= offsetof(struct rxe_queue_buf, consumer_index),
	.arm		= offsetof(struct rxe_queue_buf, pad_1[0]),
	.flags		= offsetof(struct rxe_queue_buf, pad_1[1]),
	.stride		= { 512, 128, 0, 64 },
	.swaps		= true,
	.spare		= true,
};

static const struct format *format = &own;

_Static_assert(sizeof(struct rxe_send_wqe) + INLINE <= 512 &&
	       sizeof(struct rxe_send_wqe) + INLINE > 256 &&
	       sizeof(struct rxe_recv_wqe) + SGE * sizeof(struct rxe_sge) <= 128 &&
	       sizeof(struct rxe_recv_wqe) + SGE * sizeof(struct rxe_sge) > 64,
	       "strides of the ABI of rdma_rxe");

/* ---- rings, mapped a second time and never unmapped ---- */

static struct ring rings[MAX_RINGS];	/* including those replaced by a resize */
static atomic_int num_rings;
static int first_seen;
static __thread bool looking;

/* Overrides the C library's function, in the provider as well. */
void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	void *p = (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, off);
	void *twin;

	if (!looking || fd < 0 || !(flags & MAP_SHARED) || p == MAP_FAILED ||
	    num_rings == MAX_RINGS)
		return p;
	twin = (void *)syscall(SYS_mmap, NULL, len, prot, flags & ~MAP_FIXED,
			       fd, off);
	if (twin == MAP_FAILED)
		return p;
	rings[num_rings] = (struct ring) { .hdr = twin, .len = len };
	num_rings++;
	return p;
}

/* The name used by programs with large file support */
void *mmap64(void *addr, size_t len, int prot, int flags, int fd, off64_t off)
{
	return mmap(addr, len, prot, flags, fd, off);
}

static void look(void)
{
	first_seen = num_rings;
	looking = true;
}

static size_t ring_bytes(__u32 slots, __u32 stride)
{
	return (format->first + (size_t)slots * stride + 4095) & ~4095UL;
}

/* The @i'th ring mapped since look(), or NULL; @entries: a power of two */
static struct ring *ring_seen(int i, __u32 entries, enum content what)
{
	bool swap = format->swaps && what == CQES;
	__u32 slots = format->spare ? 2 * entries : entries;
	struct ring *r = &rings[first_seen + i];

	if (first_seen + i >= num_rings ||
	    r->len != ring_bytes(slots, format->stride[what]))
		return NULL;
	r->user = r->hdr + (swap ? format->kern : format->user);
	r->kern = r->hdr + (swap ? format->user : format->kern);
	r->arm = r->hdr + format->arm;
	r->flags = r->hdr + format->flags;
	r->mask = slots - 1;
	r->stride = format->stride[what];
	return r;
}

static void *entry(const struct ring *r, __u32 index)
{
	return r->hdr + format->first + (size_t)(index & r->mask) * r->stride;
}

/* Both devices have the same user ABI. */
static void format_find(void)
{
	char path[IBV_SYSFS_PATH_MAX + 16], abi[16] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s/abi_version",
		 sides[0].ctx->device->dev_path);
	f = fopen(path, "r");
	must(f && fgets(abi, sizeof(abi), f));
	fclose(f);
	format = atoi(abi) == RXE_ABI ? &rxe : &own;
}

/* ---- corrupted objects ---- */

static const __u8 rc_ops[] = {
	IB_UVERBS_WR_RDMA_WRITE, IB_UVERBS_WR_RDMA_WRITE_WITH_IMM,
	IB_UVERBS_WR_SEND, IB_UVERBS_WR_SEND_WITH_IMM, IB_UVERBS_WR_RDMA_READ,
	IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD,
	IB_UVERBS_WR_LOCAL_INV, IB_UVERBS_WR_BIND_MW,
	IB_UVERBS_WR_SEND_WITH_INV, OP_FLUSH, OP_ATOMIC_WRITE,
};

static const __u8 uc_ops[] = {
	IB_UVERBS_WR_RDMA_WRITE, IB_UVERBS_WR_RDMA_WRITE_WITH_IMM,
	IB_UVERBS_WR_SEND, IB_UVERBS_WR_SEND_WITH_IMM,
	IB_UVERBS_WR_LOCAL_INV, IB_UVERBS_WR_BIND_MW,
};

static const __u8 xrc_ops[] = {
	IB_UVERBS_WR_RDMA_WRITE, IB_UVERBS_WR_RDMA_WRITE_WITH_IMM,
	IB_UVERBS_WR_SEND, IB_UVERBS_WR_SEND_WITH_IMM, IB_UVERBS_WR_RDMA_READ,
	IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD,
	IB_UVERBS_WR_SEND_WITH_INV,
};

static const __u8 ud_ops[] = {
	IB_UVERBS_WR_SEND, IB_UVERBS_WR_SEND_WITH_IMM,
};

static const __u8 raw_ops[] = {
	IB_UVERBS_WR_SEND,
};

struct kind {
	enum ibv_qp_type	a;
	enum ibv_qp_type	b;
	bool			shared;	/* receives are those of an SRQ */
	bool			queued;	/* b's receives are of a work queue */
	const __u8		*ops;
	size_t			num_ops;
};

enum { RC, RC_SRQ, UC, UD, XRC, RAW, WQ, KINDS };

static const struct kind kinds[KINDS] = {
	[RC]	 = { IBV_QPT_RC, IBV_QPT_RC, false, false, rc_ops, ARRAY_SIZE(rc_ops) },
	[RC_SRQ] = { IBV_QPT_RC, IBV_QPT_RC, true, false, rc_ops, ARRAY_SIZE(rc_ops) },
	[UC]	 = { IBV_QPT_UC, IBV_QPT_UC, false, false, uc_ops, ARRAY_SIZE(uc_ops) },
	[UD]	 = { IBV_QPT_UD, IBV_QPT_UD, false, false, ud_ops, ARRAY_SIZE(ud_ops) },
	[XRC]	 = { IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV, true, false,
		     xrc_ops, ARRAY_SIZE(xrc_ops) },
	[RAW]	 = { IBV_QPT_RAW_PACKET, IBV_QPT_RAW_PACKET, false, false,
		     raw_ops, ARRAY_SIZE(raw_ops) },
	[WQ]	 = { IBV_QPT_RAW_PACKET, IBV_QPT_RAW_PACKET, false, true,
		     raw_ops, ARRAY_SIZE(raw_ops) },
};

/* Two connected queue pairs, and all their rings */
struct cell {
	const struct kind	*kind;
	struct pair		p;
	struct ring		*ring[2][RING_NUM];	/* NULL: none; see ring_of() */
	struct mem		m[2];
	struct ibv_mw		*mw[2];
	struct ibv_srq		*srq;
	struct ibv_wq		*wq;
	__u32			srqn;
	__u32			ah;
	pthread_mutex_t		lock;	/* held to recover or resize */
};

static struct cell cells[KINDS];
static int num_cells;
static __u32 keys[KINDS * 4 + 8];	/* of all regions */
static int num_keys;

/* A resize replaces the ring concurrently. */
static const struct ring *ring_of(struct cell *c, int side, int which)
{
	return __atomic_load_n(&c->ring[side][which], __ATOMIC_ACQUIRE);
}

static void ring_put(struct cell *c, int side, int which, struct ring *r)
{
	if (r)
		__atomic_store_n(&c->ring[side][which], r, __ATOMIC_RELEASE);
}

static struct end *end_of(struct cell *c, int i)
{
	return i ? &c->p.b : &c->p.a;
}

/* A queue pair with one work queue, which receives the frames of a flow */
static void wq_make(struct cell *c, struct ibv_pd *pd)
{
	struct ibv_wq_attr up = { .attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_RDY };
	struct side *s = &sides[1];
	struct ibv_wq_init_attr init = {
		.wq_type = IBV_WQT_RQ,
		.max_wr = WR,
		.max_sge = SGE,
		.pd = pd,
		.cq = cq_make(s, CQE, NULL),
	};
	struct ibv_rwq_ind_table_init_attr table = { .ind_tbl = &c->wq };
	struct ibv_qp_init_attr_ex qi = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE |
			     IBV_QP_INIT_ATTR_RX_HASH,
		.pd = pd,
		.rx_hash_conf = { .rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ },
	};
	struct rule r = rule_type(0, ETH_HOSTILE);
	static __u8 key[SRNIC_RX_HASH_KEY_BYTES];
	struct ibv_qp *qp;

	c->ring[1][RING_RCQ] = ring_seen(0, CQE, CQES);
	c->wq = ibv_create_wq(s->ctx, &init);
	wq_own(c->wq);
	c->ring[1][RING_RQ] = ring_seen(1, WR, RQES);
	must(c->ring[1][RING_RCQ] && c->ring[1][RING_RQ]);
	must_be(ibv_modify_wq(c->wq, &up), 0);
	qi.rwq_ind_tbl = ibv_create_rwq_ind_table(s->ctx, &table);
	table_own(qi.rwq_ind_tbl);
	qi.rx_hash_conf.rx_hash_key = key;
	qi.rx_hash_conf.rx_hash_key_len = sizeof(key);
	qp = ibv_create_qp_ex(s->ctx, &qi);
	qp_own(qp);
	flow_make(qp, &r);
}

/* Finds the rings, which end_make() maps in this order. */
static void rings_take(struct cell *c, int i)
{
	struct end *e = end_of(c, i);
	bool receives;
	int n = 0;

	c->ring[i][RING_SCQ] = ring_seen(n++, CQE, CQES);
	c->ring[i][RING_RCQ] = ring_seen(n++, CQE, CQES);
	must(c->ring[i][RING_SCQ] && c->ring[i][RING_RCQ]);
	if (e->o.type == IBV_QPT_XRC_RECV)
		return;
	receives = e->o.type != IBV_QPT_XRC_SEND && !e->o.srq;
	if (receives) {
		c->ring[i][RING_RQ] = ring_seen(n + format->sq_first, WR, RQES);
		must(c->ring[i][RING_RQ]);
	}
	if (receives && !format->sq_first)
		n++;
	c->ring[i][RING_SQ] = ring_seen(n, WR, SQES);
	must(c->ring[i][RING_SQ]);
}

static void end_hostile(struct cell *c, int i, struct opt o)
{
	struct end *e = end_of(c, i);
	struct ring *shared = NULL;

	o.pd = pd_make(&sides[i]);
	o.type = i ? c->kind->b : c->kind->a;
	look();
	if (c->kind->shared && o.type == IBV_QPT_RC) {
		o.srq = srq_make(&sides[i], o.pd, WR, SGE);
		shared = ring_seen(0, WR, RQES);
		must(shared);
		c->srq = o.srq;
	}
	if (o.type == IBV_QPT_XRC_RECV)
		o.xrcd = xrcd_make(sides[i].ctx, -1);
	look();
	end_make(e, &sides[i], &o);
	rings_take(c, i);
	if (o.type == IBV_QPT_XRC_RECV) {
		look();
		c->srq = xsrq_make(o.pd, o.xrcd, e->rcq, WR);
		must_be(ibv_get_srq_num(c->srq, &c->srqn), 0);
		shared = ring_seen(0, WR, XRQES);
		must(shared);
	}
	if (shared)
		c->ring[i][RING_RQ] = shared;
	if (i && c->kind->queued) {
		look();
		wq_make(c, o.pd);
	}
	looking = false;
	c->m[i] = (struct mem) {
		.p = map_make(LEN, MAP_PRIVATE | MAP_ANONYMOUS, -1),
		.len = LEN,
	};
	mem_own(&c->m[i], o.pd, FULL_ACCESS | IBV_ACCESS_MW_BIND);
	c->mw[i] = mw_make(o.pd, IBV_MW_TYPE_2);
	keys[num_keys++] = c->m[i].mr->rkey;
	keys[num_keys++] = c->mw[i]->rkey;
	/* the provider must not process corrupted completions */
	e->qp->send_cq = NULL;
	e->qp->recv_cq = NULL;
	fcntl(e->channel->fd, F_SETFL, O_NONBLOCK);
}

/* Takes an end to RTS; may fail because of concurrent changes. */
static void end_up(struct cell *c, int i)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qkey = QKEY,
	};
	struct end *e = end_of(c, i);
	int mask = IBV_QP_STATE | IBV_QP_PORT;

	if (e->o.type == IBV_QPT_UD)
		mask |= IBV_QP_PKEY_INDEX | IBV_QP_QKEY;
	if (ibv_modify_qp(e->qp, &attr, mask) || to_state(e, IBV_QPS_RTR))
		return;
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = e->psn;
	ibv_modify_qp(e->qp, &attr, IBV_QP_STATE |
		      (e->o.type == IBV_QPT_UD ? IBV_QP_SQ_PSN : 0));
}

static void cell_up(struct cell *c)
{
	struct end *a = &c->p.a, *b = &c->p.b;

	if (c->kind->a == IBV_QPT_UD || c->kind->a == IBV_QPT_RAW_PACKET) {
		end_up(c, 0);
		end_up(c, 1);
		return;
	}
	to_init(a);
	to_init(b);
	to_rtr(a, b);
	to_rtr(b, a);
	to_rts(a);
	to_rts(b);
}

/* Reads the address handle's kernel number from what the provider posts. */
static void cell_learn_ah(struct cell *c)
{
	struct ibv_sge sge = sge_of(&c->m[0], 0, 8);
	struct ibv_send_wr wr = wr_of(1, IBV_WR_SEND, &sge, 1);

	wr.wr.ud.ah = ah_make(&sides[0], c->p.a.o.pd, &sides[1].gid);
	wr.wr.ud.remote_qpn = c->p.b.qp->qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	must_be(post_one(&c->p.a, &wr), 0);
	c->ah = format == &own ?
		((struct srnic_sqe *)entry(c->ring[0][RING_SQ], 0))->ud.ah :
		((struct rxe_send_wqe *)entry(c->ring[0][RING_SQ], 0))->wr.wr.ud.ah_num;
}

static void cell_frames(struct cell *c)
{
	struct rule r = rule_type(0, ETH_HOSTILE);
	struct frame f = frame_plain(1, LEN > 1000 ? 1000 : LEN);
	int i;

	f.type = ETH_HOSTILE;
	for (i = 0; i < 2; i++)
		frame_make(&f, c->m[i].p);
	if (!c->kind->queued)
		flow_make(c->p.b.qp, &r);
}

static void cell_make(struct cell *c, const struct kind *kind)
{
	struct opt o = opt_default;

	*c = (struct cell) { .kind = kind };
	pthread_mutex_init(&c->lock, NULL);
	o.send_wr = WR;
	o.recv_wr = WR;
	o.sge = SGE;
	o.inline_data = INLINE;
	o.cqe = CQE;
	o.timeout = 8;
	o.retry = 1;
	o.rnr_retry = 1;
	o.min_rnr = 1;
	end_hostile(c, 0, o);
	end_hostile(c, 1, o);
	cell_up(c);
	if (kind->a == IBV_QPT_UD)
		cell_learn_ah(c);
	if (kind->a == IBV_QPT_RAW_PACKET)
		cell_frames(c);
}

/* ---- entries ---- */

static __u32 some_length(struct dice *d)
{
	static const __u32 lens[] = { 0, 1, 3, 8, 64, 255, 256, 1024, 4095, 4096,
				      4097, 9000, 20000 };

	return lens[roll(d, ARRAY_SIZE(lens))];
}

static void sges_put(struct cell *c, int side, struct dice *d,
		     struct srnic_sge *sge, __u32 num, __u32 len)
{
	__u32 i, part;

	for (i = 0; i < num; i++) {
		part = i + 1 < num ? len / 2 : len;
		sge[i] = (struct srnic_sge) {
			.addr = (uintptr_t)c->m[side].p + roll(d, 4) * 4096,
			.length = part,
			.lkey = c->m[side].mr->lkey,
		};
		len -= part;
	}
}

/* Fills in the last words of the WQE header. */
static void sqe_put_tail(struct cell *c, int side, struct dice *d,
			 struct srnic_sqe *sqe)
{
	switch (sqe->opcode) {
	case IB_UVERBS_WR_BIND_MW:
		sqe->bind.addr = (uintptr_t)c->m[side].p + roll(d, 4096);
		sqe->bind.length = 1 + roll(d, 8192);
		sqe->bind.mr_lkey = c->m[side].mr->lkey;
		sqe->bind.mw_rkey = c->mw[side]->rkey;
		sqe->bind.new_rkey = (c->mw[side]->rkey & ~0xffU) | roll(d, 256);
		sqe->bind.access = FULL_ACCESS;
		break;
	case OP_FLUSH:
		sqe->flush.length = some_length(d);
		sqe->flush.type = 1 + roll(d, 3);
		sqe->flush.level = roll(d, 2);
		break;
	case IB_UVERBS_WR_LOCAL_INV:
		sqe->invalidate_rkey = c->mw[side]->rkey;
		break;
	default:
		sqe->atomic.compare_add = roll(d, 2);
		sqe->atomic.swap = dice_next(d);
		if (c->kind->a == IBV_QPT_XRC_SEND)
			sqe->xrc.srqn = c->srqn;
	}
	if (c->kind->a == IBV_QPT_UD) {
		sqe->ud.ah = c->ah;
		sqe->ud.qpn = c->p.b.qp->qp_num;
		sqe->ud.qkey = QKEY;
	}
}

/* A valid WQE */
static void sqe_put(struct cell *c, int side, struct dice *d,
		    struct srnic_sqe *sqe)
{
	__u32 len = some_length(d);

	*sqe = (struct srnic_sqe) {
		.wr_id = dice_next(d),
		.opcode = c->kind->ops[roll(d, c->kind->num_ops)],
		.flags = roll(d, 8) ? IBV_SEND_SIGNALED : roll(d, 8),
		.num_sge = 1 + roll(d, SGE),
		.imm_data = dice_next(d),
		.rkey = c->m[!side].mr->rkey,
		.remote_addr = (uintptr_t)c->m[!side].p + roll(d, 4096) * 8,
	};
	sqe_put_tail(c, side, d, sqe);
	switch (sqe->opcode) {
	case IB_UVERBS_WR_ATOMIC_CMP_AND_SWP:
	case IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD:
	case OP_ATOMIC_WRITE:
		len = 8;
		break;
	case IB_UVERBS_WR_LOCAL_INV:
	case IB_UVERBS_WR_BIND_MW:
	case OP_FLUSH:
		sqe->num_sge = 0;
		return;
	}
	if (c->kind->a == IBV_QPT_RAW_PACKET)
		len = 60 + roll(d, 900);
	if (len <= INLINE && rarely(d, 4)) {
		sqe->flags |= IBV_SEND_INLINE;
		sqe->inline_len = len;
		sqe->num_sge = 0;
		return;
	}
	sges_put(c, side, d, (struct srnic_sge *)(sqe + 1), sqe->num_sge, len);
}

static __u32 some_key(struct dice *d)
{
	switch (roll(d, 3)) {
	case 0:
		return keys[roll(d, num_keys)] ^ (roll(d, 4) ? 0 : 1 << roll(d, 32));
	case 1:
		return roll(d, 512) << 8 | roll(d, 256);
	default:
		return odd_number(d);
	}
}

/* Changes one field of a WQE. */
static void sqe_spoil(struct dice *d, struct srnic_sqe *sqe)
{
	struct srnic_sge *sge = (struct srnic_sge *)(sqe + 1) + roll(d, SGE);

	switch (roll(d, 13)) {
	case 0:
		sqe->opcode = roll(d, roll(d, 2) ? 256 : 36);
		break;
	case 1:
		sqe->flags = dice_next(d);
		break;
	case 2:
		sqe->num_sge = odd_number(d);
		break;
	case 3:
		sqe->inline_len = odd_number(d);
		sqe->flags |= IBV_SEND_INLINE;
		break;
	case 4:
		sqe->flags ^= IBV_SEND_INLINE;
		sqe->num_sge = odd_number(d);
		break;
	case 5:
		sge->length = odd_number(d);
		break;
	case 6:
		sge->lkey = some_key(d);
		break;
	case 7:
		sge->addr = roll(d, 2) ? odd_number(d) : sge->addr + odd_number(d);
		break;
	case 8:
		sqe->rkey = some_key(d);
		break;
	case 9:
		sqe->remote_addr += odd_number(d);
		break;
	case 10:
		sqe->invalidate_rkey = some_key(d);
		break;
	case 11:
		((__u32 *)sqe)[8 + roll(d, 8)] = some_key(d);
		break;
	case 12:
		((__u32 *)sqe)[roll(d, SQE_BYTES / 4)] ^= 1U << roll(d, 32);
		break;
	}
}

static void rqe_put(struct cell *c, int side, struct dice *d,
		    struct srnic_rqe *rqe)
{
	*rqe = (struct srnic_rqe) {
		.wr_id = dice_next(d),
		.num_sge = 1 + roll(d, 2),
	};
	sges_put(c, side, d, (struct srnic_sge *)(rqe + 1), rqe->num_sge,
		 LEN / 2);
}

static void rqe_spoil(struct dice *d, struct srnic_rqe *rqe)
{
	struct srnic_sge *sge = (struct srnic_sge *)(rqe + 1) + roll(d, 2);

	switch (roll(d, 5)) {
	case 0:
		rqe->num_sge = odd_number(d);
		break;
	case 1:
		sge->length = odd_number(d);
		break;
	case 2:
		sge->lkey = some_key(d);
		break;
	case 3:
		sge->addr += odd_number(d);
		break;
	case 4:
		((__u32 *)rqe)[roll(d, 12)] ^= 1U << roll(d, 32);
		break;
	}
}

/* ---- conversion of entries to the ABI of rdma_rxe ---- */

static __u32 sges_length(const struct srnic_sge *sge, __u32 num)
{
	__u32 i, len = 0;

	for (i = 0; i < num && i < SGE; i++)
		len += sge[i].length;
	return len;
}

/* Fills in the words whose layout depends on the opcode. */
static void rxe_put_wr(const struct srnic_sqe *sqe, struct rxe_send_wr *wr)
{
	switch (sqe->opcode) {
	case IB_UVERBS_WR_ATOMIC_CMP_AND_SWP:
	case IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD:
		wr->wr.atomic.remote_addr = sqe->remote_addr;
		wr->wr.atomic.rkey = sqe->rkey;
		wr->wr.atomic.compare_add = sqe->atomic.compare_add;
		wr->wr.atomic.swap = sqe->atomic.swap;
		break;
	case IB_UVERBS_WR_BIND_MW:
		wr->wr.mw.addr = sqe->bind.addr;
		wr->wr.mw.length = sqe->bind.length;
		wr->wr.mw.mr_lkey = sqe->bind.mr_lkey;
		wr->wr.mw.mw_rkey = sqe->bind.mw_rkey;
		wr->wr.mw.rkey = sqe->bind.new_rkey;
		wr->wr.mw.access = sqe->bind.access;
		break;
	case OP_FLUSH:	/* older headers do not define its parameters */
		wr->wr.rdma.remote_addr = sqe->remote_addr;
		((__u32 *)&wr->wr)[3] = sqe->rkey;
		((__u8 *)&wr->wr)[16] = sqe->flush.type;
		((__u8 *)&wr->wr)[17] = sqe->flush.level;
		break;
	default:
		wr->wr.rdma.remote_addr = sqe->remote_addr;
		wr->wr.rdma.rkey = sqe->rkey;
	}
}

/* Converts an entry; words that the kernel is to ignore get any value. */
static void rxe_put_sqe(struct cell *c, struct dice *d,
			const struct srnic_sqe *sqe, struct rxe_send_wqe *wqe)
{
	memset(wqe, odd_number(d), sizeof(*wqe));
	wqe->wr.wr_id = sqe->wr_id;
	wqe->wr.opcode = sqe->opcode;
	wqe->wr.send_flags = sqe->flags;
	wqe->wr.ex.imm_data = sqe->imm_data;
	rxe_put_wr(sqe, &wqe->wr);
	if (c->kind->a == IBV_QPT_UD) {
		wqe->wr.wr.ud.ah_num = sqe->ud.ah;
		wqe->wr.wr.ud.remote_qpn = sqe->ud.qpn;
		wqe->wr.wr.ud.remote_qkey = sqe->ud.qkey;
	}
	wqe->dma.num_sge = sqe->num_sge;
	wqe->dma.length = sges_length((void *)(sqe + 1), sqe->num_sge);
	if (sqe->flags & IBV_SEND_INLINE)
		wqe->dma.length = sqe->inline_len;
	if (sqe->opcode == OP_FLUSH)
		wqe->dma.length = sqe->flush.length;
	memcpy(wqe + 1, sqe + 1, INLINE);
}

static void rxe_put_rqe(struct dice *d, const struct srnic_rqe *rqe,
			struct rxe_recv_wqe *wqe)
{
	memset(wqe, odd_number(d), sizeof(*wqe));
	wqe->wr_id = rqe->wr_id;
	wqe->dma.num_sge = rqe->num_sge;
	memcpy(wqe + 1, rqe + 1, 2 * sizeof(struct srnic_sge));
}

/* Changes any word of an entry that the kernel may already be reading. */
static void entry_spoil(struct dice *d, const struct ring *r, __u32 index)
{
	__u32 *word = (__u32 *)entry(r, index) + roll(d, r->stride / 4);

	if (roll(d, 2))
		*word = odd_number(d);
	else
		*word ^= 1U << roll(d, 32);
}

/* Writes a send WQE, of which one field may be wrong. */
static void send_put(struct cell *c, int side, struct dice *d,
		     const struct ring *r, __u32 index)
{
	union {
		struct srnic_sqe sqe;
		__u8 bytes[SQE_BYTES];
	} wqe = {};

	sqe_put(c, side, d, &wqe.sqe);
	if (rarely(d, 3))
		sqe_spoil(d, &wqe.sqe);
	if (format == &own)
		memcpy(entry(r, index), &wqe, sizeof(wqe));
	else
		rxe_put_sqe(c, d, &wqe.sqe, entry(r, index));
	if (rarely(d, 12))
		entry_spoil(d, r, index);
}

/* Writes a receive WQE, of which one field may be wrong; valid ones have up to two SGEs. */
static void recv_put(struct cell *c, int side, struct dice *d,
		     const struct ring *r, __u32 index)
{
	union {
		struct srnic_rqe rqe;
		__u8 bytes[XRQE_BYTES];
	} wqe = {};

	rqe_put(c, side, d, &wqe.rqe);
	if (rarely(d, 6))
		rqe_spoil(d, &wqe.rqe);
	if (format == &own)
		memcpy(entry(r, index), &wqe, sizeof(wqe));
	else
		rxe_put_rqe(d, &wqe.rqe, entry(r, index));
	if (rarely(d, 12))
		entry_spoil(d, r, index);
}

/* ---- steps of a thread ---- */

static void doorbell(struct end *e, bool recv)
{
	struct ib_uverbs_post_send_resp resp;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_post_send body;
	} cmd = {
		.hdr.command = recv ? IB_USER_VERBS_CMD_POST_RECV :
				      IB_USER_VERBS_CMD_POST_SEND,
		.hdr.in_words = sizeof(cmd) / 4,
		.hdr.out_words = sizeof(resp) / 4,
		.body.response = (uintptr_t)&resp,
		.body.qp_handle = e->qp->handle,
		.body.wqe_size = recv ? sizeof(struct ib_uverbs_recv_wr) :
					sizeof(struct ib_uverbs_send_wr),
	};

	if (write(e->qp->context->cmd_fd, &cmd, sizeof(cmd)) < 0)
		return;	/* the queue pair has no such queue */
}

static void show(const struct ring *r, __u32 index)
{
	__atomic_store_n(r->user, format->spare ? index & r->mask : index,
			 __ATOMIC_RELEASE);
}

static void do_send(struct cell *c, int side, struct dice *d)
{
	const struct ring *r = ring_of(c, side, RING_SQ);
	__u32 index, n;

	if (!r)
		return;
	index = *r->user;
	for (n = 1 + roll(d, 4); n; n--, index++)
		send_put(c, side, d, r, index);
	show(r, index);
	if (roll(d, 4))
		doorbell(end_of(c, side), false);
}

static void do_recv(struct cell *c, int side, struct dice *d)
{
	const struct ring *r = ring_of(c, side, RING_RQ);
	__u32 index, n;

	if (!r)
		return;
	index = *r->user;
	for (n = 1 + roll(d, 4); n; n--, index++)
		recv_put(c, side, d, r, index);
	show(r, index);
	if (rarely(d, 8))
		doorbell(end_of(c, side), true);
}

/* Consumes completions like a normal program, or corrupts the ring. */
static void do_poll(struct cell *c, int side, struct dice *d)
{
	const struct ring *r = ring_of(c, side, RING_SCQ + roll(d, 2));
	struct end *e = end_of(c, side);
	struct ibv_cq *cq;
	void *context;

	if (!r)
		return;
	switch (roll(d, 16)) {
	case 0:
		memset(entry(r, roll(d, CQE)), dice_next(d), r->stride);
		break;
	case 1:
		*r->user += odd_number(d);
		break;
	case 2:
		*r->kern = odd_number(d);
		break;
	case 3:
		__atomic_fetch_or(r->arm, (__u32)odd_number(d), __ATOMIC_SEQ_CST);
		break;
	case 4:
		__atomic_fetch_or(r->arm, 1 + roll(d, 3), __ATOMIC_SEQ_CST);
		break;
	default:
		show(r, __atomic_load_n(r->kern, __ATOMIC_ACQUIRE));
	}
	while (!ibv_get_cq_event(e->channel, &cq, &context))
		ibv_ack_cq_events(cq, 1);
}

static void do_index(struct cell *c, int side, struct dice *d)
{
	const struct ring *r = ring_of(c, side, roll(d, 2));

	if (!r)
		return;
	switch (roll(d, 6)) {
	case 0:
		*r->user = odd_number(d);
		break;
	case 1:
		*r->user = *r->kern + r->mask + roll(d, 3);
		break;
	case 2:
		*r->user -= 1 + roll(d, 20);
		break;
	case 3:
		*r->kern = odd_number(d);
		break;
	case 4:
		*r->flags = odd_number(d);
		break;
	case 5:
		((__u32 *)r->hdr)[roll(d, format->first / 4)] = odd_number(d);
		break;
	}
	if (rarely(d, 2))
		doorbell(end_of(c, side), roll(d, 2));
}

/* Any ring, including those replaced by a resize */
static void do_word(struct cell *c, int side, struct dice *d)
{
	const struct ring *r = &rings[roll(d, num_rings)];
	__u32 *word = (__u32 *)r->hdr;

	(void)c;
	(void)side;
	word += roll(d, r->len / sizeof(*word));
	if (roll(d, 2))
		*word = odd_number(d);
	else
		*word ^= 1U << roll(d, 32);
}

static void do_revive(struct cell *c, int side, struct dice *d)
{
	if (pthread_mutex_trylock(&c->lock))
		return;
	if (rarely(d, 4)) {
		to_state(end_of(c, side), roll(d, 2) ? IBV_QPS_ERR : IBV_QPS_SQD);
	} else {
		to_state(&c->p.a, IBV_QPS_RESET);
		to_state(&c->p.b, IBV_QPS_RESET);
		cell_up(c);
	}
	pthread_mutex_unlock(&c->lock);
}

static void resize_cq(struct cell *c, int side, struct dice *d)
{
	int which = RING_SCQ + roll(d, 2);
	struct end *e = end_of(c, side);
	__u32 n = 1 << roll(d, 8);

	if (!ibv_resize_cq(which == RING_SCQ ? e->scq : e->rcq, n))
		ring_put(c, side, which, ring_seen(0, n, CQES));
}

static void resize_srq(struct cell *c, int side, struct dice *d)
{
	struct ibv_srq_attr attr = { .max_wr = 1 << roll(d, 7) };
	enum content what = c->kind->a == IBV_QPT_XRC_SEND ? XRQES : RQES;

	/* the ring of the XRC SRQ, or the last one mapped, which is b's */
	(void)side;
	if (!ibv_modify_srq(c->srq, &attr, IBV_SRQ_MAX_WR))
		ring_put(c, 1, RING_RQ, ring_seen(0, attr.max_wr, what));
}

/* Replaced rings stay mapped. */
static void do_resize(struct cell *c, int side, struct dice *d)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&lock);
	look();
	if (c->srq && roll(d, 2))
		resize_srq(c, side, d);
	else
		resize_cq(c, side, d);
	looking = false;
	pthread_mutex_unlock(&lock);
}

static const struct {
	int	weight;
	void	(*act)(struct cell *c, int side, struct dice *d);
} acts[] = {
	{ 50, do_send },
	{ 15, do_recv },
	{ 20, do_poll },
	{  4, do_index },
	{  5, do_word },
	{  6, do_revive },
	{  1, do_resize },
};

struct hostile {
	pthread_t	thread;
	struct dice	dice;
	int		steps;
};

static struct hostile hostiles[THREADS];
static int num_hostiles;
static atomic_int at_work;
static atomic_bool enough;

static void act_once(struct dice *d)
{
	struct cell *c = &cells[roll(d, num_cells)];
	int side = roll(d, 2);
	size_t i;
	int at;

	at = roll(d, 101);
	for (i = 0; i + 1 < ARRAY_SIZE(acts) && at >= acts[i].weight; i++)
		at -= acts[i].weight;
	acts[i].act(c, side, d);
}

static void *hostile_main(void *arg)
{
	struct hostile *h = arg;

	while (h->steps-- && !enough)
		act_once(&h->dice);
	at_work--;
	return NULL;
}

/* Joins the threads, and restores the rings so that the provider can destroy them. */
static void hostile_end(void)
{
	enough = true;
	while (num_hostiles)
		pthread_join(hostiles[--num_hostiles].thread, NULL);
	while (num_rings) {
		num_rings--;
		memset(rings[num_rings].hdr, 0, format->first);
		munmap(rings[num_rings].hdr, rings[num_rings].len);
	}
	num_cells = 0;
}

static void hostile_begin(void)
{
	static __u32 lives;
	int i;

	lives++;
	enough = false;
	at_work = THREADS;
	for (i = 0; i < THREADS; i++) {
		hostiles[i].dice = dice_of(run_seed, lives * THREADS + i);
		hostiles[i].steps = rounds / THREADS;
		must_be(pthread_create(&hostiles[i].thread, NULL, hostile_main,
				       &hostiles[i]), 0);
		num_hostiles++;
	}
}

/* ---- the neighbour in this process ---- */

#define GOOD_LEN	20000

struct neighbour {
	struct pair	p;
	struct mem	ma;
	struct mem	mb;
	__u32		turn;
};

static void neighbour_make(struct neighbour *n)
{
	struct opt o = opt_default;

	o.timeout = 18;
	pair_make(&n->p, &o, &o);
	mem_make(&n->ma, &sides[0], GOOD_LEN + 64, FULL_ACCESS);
	mem_make(&n->mb, &sides[1], GOOD_LEN + 64, FULL_ACCESS);
	keys[num_keys++] = n->ma.mr->rkey;
	keys[num_keys++] = n->mb.mr->rkey;
	n->turn = 0;
}

/* Verifies every byte of a WRITE, a READ and a SEND, and the bytes around them. */
static void neighbour_works(struct neighbour *n)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND,
	};
	enum ibv_wr_opcode op = ops[n->turn % 3];
	__u32 len = 1 + n->turn * 977 % GOOD_LEN;
	struct mem *from = op == IBV_WR_RDMA_READ ? &n->mb : &n->ma;
	struct mem *to = op == IBV_WR_RDMA_READ ? &n->ma : &n->mb;
	struct ibv_sge sge = sge_of(&n->ma, 0, len);
	struct ibv_sge into = sge_of(&n->mb, 0, GOOD_LEN);
	struct ibv_send_wr wr = wr_of(n->turn, op, &sge, 1);

	fill(from->p, len, n->turn);
	memset(to->p, GUARD, GOOD_LEN + 64);
	if (op == IBV_WR_SEND)
		must_be(post_recv(&n->p.b, n->turn, &into, 1), 0);
	else
		wr_target(&wr, &n->mb, 0);
	must_be(post_one(&n->p.a, &wr), 0);
	wc_want(n->p.a.scq, n->turn, IBV_WC_SUCCESS);
	if (op == IBV_WR_SEND)
		must_be(wc_want(n->p.b.rcq, n->turn, IBV_WC_SUCCESS).byte_len,
			len);
	same(to->p, len, n->turn, "the neighbour's message");
	untouched(to->p + len, GOOD_LEN + 64 - len, "behind it");
	wc_none(n->p.a.scq, 0);
	wc_none(n->p.b.rcq, 0);
	n->turn++;
}

static void events_drain(void)
{
	struct ibv_async_event ev;
	int i;

	for (i = 0; i < 2; i++)
		while (event_wait(&sides[i], &ev, 0))
			;
}

/* Corrupts the rings of kinds @first to @last concurrently. */
static void maltreat(int first, int last)
{
	static struct neighbour good;
	int i;

	format_find();
	if (format == &rxe && first > UD)
		case_skip("not offered in the ABI of rdma_rxe");
	if (format == &rxe && last > UD)
		last = UD;
	num_cells = 0;
	num_keys = 0;
	case_end = hostile_end;
	good = (struct neighbour) {};
	neighbour_make(&good);
	for (i = first; i <= last; i++) {
		num_cells++;
		cell_make(&cells[num_cells - 1], &kinds[i]);
	}
	hostile_begin();
	do {
		neighbour_works(&good);
		events_drain();
	} while (at_work);
	neighbour_works(&good);
	hostile_end();
}

static void rings_rc(void)
{
	maltreat(RC, RC);
}

static void rings_srq(void)
{
	maltreat(RC_SRQ, RC_SRQ);
}

static void rings_uc(void)
{
	maltreat(UC, UC);
}

static void rings_ud(void)
{
	maltreat(UD, UD);
}

static void rings_xrc(void)
{
	maltreat(XRC, XRC);
}

static void rings_raw(void)
{
	maltreat(RAW, RAW);
}

static void rings_wq(void)
{
	maltreat(WQ, WQ);
}

static void rings_all(void)
{
	maltreat(RC, RAW);
}

static const struct vrb_case rings_cases[] = {
	{ "rings", "reliable connections", rings_rc },
	{ "rings", "reliable connections with an SRQ", rings_srq },
	{ "rings", "unreliable connections", rings_uc },
	{ "rings", "datagrams", rings_ud },
	{ "rings", "extended reliable connections", rings_xrc },
	{ "rings", "raw packets", rings_raw },
	{ "rings", "work queues", rings_wq },
	{ "rings", "all of them at once", rings_all },
};

VRB_CASES(rings_cases);
