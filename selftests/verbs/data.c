// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: every byte arrives, and no other byte is modified
 */
#include <poll.h>
#include <pthread.h>

#include "vrb.h"

#define BIG	(8UL << 20)
#define GAP	40

static const size_t sizes[] = {
	0, 1, 3, 64, 1023, 1024, 1025, 4095, 4096, 4097, 65537, 1UL << 20, BIG,
};

/* Splits @len bytes into @n pieces separated by gaps; returns the number of pieces. */
static int pieces(struct ibv_sge *sge, const struct mem *m, size_t off,
		  size_t len, int n)
{
	size_t at = off, piece, left = len;
	int i, k = 0;

	for (i = 0; i < n && left; i++) {
		piece = i == n - 1 ? left : len / n + (i == 0);
		if (piece > left)
			piece = left;
		if (!piece)
			continue;
		sge[k++] = sge_of(m, at, piece);
		at += piece + GAP;
		left -= piece;
	}
	return k;
}

static void sg_fill(struct ibv_sge *sge, int n, __u32 seed)
{
	size_t i, pos = 0;
	int k;

	for (k = 0; k < n; k++)
		for (i = 0; i < sge[k].length; i++)
			((__u8 *)(uintptr_t)sge[k].addr)[i] = pattern(seed, pos++);
}

/* The first @len bytes of the list match the stream; all others are untouched. */
static void sg_same(struct ibv_sge *sge, int n, size_t len, __u32 seed,
		    const char *what)
{
	size_t i, pos = 0;
	__u8 *p;
	int k;

	for (k = 0; k < n; k++) {
		p = (__u8 *)(uintptr_t)sge[k].addr;
		untouched(p - GAP, GAP, what);
		for (i = 0; i < sge[k].length && pos < len; i++, pos++)
			if (p[i] != pattern(seed, pos))
				case_fail("%s: byte %zu of %zu is %02x, not %02x",
					  what, pos, len, p[i],
					  pattern(seed, pos));
		untouched(p + i, sge[k].length - i, what);
		untouched(p + sge[k].length, GAP, what);
	}
	must_be(pos, len);
}

static bool op_is_send(enum ibv_wr_opcode op)
{
	return op == IBV_WR_SEND || op == IBV_WR_SEND_WITH_IMM;
}

static bool op_has_imm(enum ibv_wr_opcode op)
{
	return op == IBV_WR_SEND_WITH_IMM || op == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static enum ibv_wc_opcode wc_opcode(enum ibv_wr_opcode op)
{
	switch (op) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		return IBV_WC_SEND;
	case IBV_WR_RDMA_READ:
		return IBV_WC_RDMA_READ;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		return IBV_WC_COMP_SWAP;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return IBV_WC_FETCH_ADD;
	default:
		return IBV_WC_RDMA_WRITE;
	}
}

/* One message of @len bytes, from @na pieces at the sender to @nb at the receiver */
static void transfer(struct end *a, struct end *b, struct mem *ma,
		     struct mem *mb, enum ibv_wr_opcode op, size_t len, int na,
		     int nb, int flags)
{
	__u32 seed = len * 16 + op * 4 + na;
	struct ibv_sge sa[8], sb[8];
	struct ibv_send_wr wr;
	struct ibv_wc wc;
	char what[64];
	int n;

	snprintf(what, sizeof(what), "%zu bytes, %d to %d pieces", len, na, nb);
	memset(ma->p, GUARD, len + 16 * GAP);
	memset(mb->p, GUARD, len + 16 * GAP);
	na = pieces(sa, ma, GAP, len, na);
	if (op_is_send(op)) {
		/* seven bytes to spare */
		n = pieces(sb, mb, GAP, len + 7, nb);
		must_be(post_recv(b, 77, sb, n), 0);
	} else if (op_has_imm(op)) {
		n = 0;
		must_be(post_recv(b, 77, NULL, 0), 0);
	}
	if (!op_is_send(op))
		n = pieces(sb, mb, GAP, len, 1);

	wr = wr_of(seed, op, sa, na);
	wr.send_flags |= flags;
	wr.imm_data = htobe32(0xc0de0000 + len);
	if (!op_is_send(op))
		wr_target(&wr, mb, GAP);
	if (op == IBV_WR_RDMA_READ)
		sg_fill(sb, n, seed);
	else
		sg_fill(sa, na, seed);
	must_be(post_one(a, &wr), 0);
	if (flags & IBV_SEND_INLINE)
		memset(ma->p, 0, len + 16 * GAP);	/* may be reused now */

	wc = wc_want(a->scq, seed, IBV_WC_SUCCESS);
	must_be(wc.opcode, wc_opcode(op));
	must_be(wc.qp_num, a->qp->qp_num);
	if (op_is_send(op) || op_has_imm(op)) {
		wc = wc_want(b->rcq, 77, IBV_WC_SUCCESS);
		must_be(wc.byte_len, len);
		must_be(wc.opcode, op_is_send(op) ? IBV_WC_RECV :
			IBV_WC_RECV_RDMA_WITH_IMM);
		must_be(wc.wc_flags & IBV_WC_WITH_IMM,
			op_has_imm(op) ? IBV_WC_WITH_IMM : 0);
		if (op_has_imm(op))
			must_be(be32toh(wc.imm_data), 0xc0de0000 + len);
		must_be(wc.qp_num, b->qp->qp_num);
	}
	if (op == IBV_WR_RDMA_READ)
		sg_same(sa, na, len, seed, what);
	else
		sg_same(sb, n, len, seed, what);
}

static void all_sizes(enum ibv_wr_opcode op)
{
	static const int shapes[][2] = { {1, 1}, {3, 1}, {1, 4}, {8, 5} };
	struct mem ma, mb;
	struct pair p;
	size_t i, k;

	pair_make(&p, NULL, NULL);
	mem_make(&ma, &sides[0], BIG + 16 * GAP, FULL_ACCESS);
	mem_make(&mb, &sides[1], BIG + 16 * GAP, FULL_ACCESS);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (k = 0; k < ARRAY_SIZE(shapes); k++) {
			if (sizes[i] == BIG && k && k != 3)
				continue;
			transfer(&p.a, &p.b, &ma, &mb, op, sizes[i],
				 shapes[k][0], shapes[k][1], 0);
		}
		transfer(&p.b, &p.a, &mb, &ma, op, sizes[i], 2, 2, 0);
	}
	wc_none(p.a.scq, 0);
	wc_none(p.b.rcq, 0);
}

static void data_send(void)
{
	all_sizes(IBV_WR_SEND);
}

static void data_send_imm(void)
{
	all_sizes(IBV_WR_SEND_WITH_IMM);
}

static void data_write(void)
{
	all_sizes(IBV_WR_RDMA_WRITE);
}

static void data_write_imm(void)
{
	all_sizes(IBV_WR_RDMA_WRITE_WITH_IMM);
}

static void data_read(void)
{
	all_sizes(IBV_WR_RDMA_READ);
}

static void data_inline(void)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE_WITH_IMM,
	};
	struct mem ma, mb;
	struct pair p;
	size_t i, len;

	pair_make(&p, NULL, NULL);
	mem_make(&ma, &sides[0], 4096, FULL_ACCESS);
	mem_make(&mb, &sides[1], 4096, FULL_ACCESS);
	for (i = 0; i < ARRAY_SIZE(ops); i++)
		for (len = 0; len <= 64; len++)
			transfer(&p.a, &p.b, &ma, &mb, ops[i], len, 1 + len % 3,
				 2, IBV_SEND_INLINE);
}

static void data_atomic(void)
{
	struct ibv_send_wr wr;
	__u64 *local, *remote;
	struct ibv_sge sge;
	struct mem ma, mb;
	struct pair p;
	__u64 want;
	int i;

	pair_make(&p, NULL, NULL);
	mem_make(&ma, &sides[0], 4096, FULL_ACCESS);
	mem_make(&mb, &sides[1], 4096, FULL_ACCESS);
	local = (__u64 *)(ma.p + 64);
	remote = (__u64 *)(mb.p + 64);
	want = 0xfffffffffffffff0ULL;
	*remote = want;
	sge = sge_of(&ma, 64, 8);
	for (i = 0; i < 200; i++) {
		bool hit = i % 3;

		wr = wr_of(i, i & 1 ? IBV_WR_ATOMIC_CMP_AND_SWP :
			   IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, 1);
		wr_target(&wr, &mb, 64);
		if (i & 1) {
			wr.wr.atomic.compare_add = hit ? want : ~want;
			wr.wr.atomic.swap = 0x0123456789abcdefULL * i;
		} else {
			wr.wr.atomic.compare_add = 0x100000001ULL * i;
		}
		*local = ~0ULL;
		must_be(post_one(&p.a, &wr), 0);
		must_be(wc_want(p.a.scq, i, IBV_WC_SUCCESS).opcode,
			wc_opcode(wr.opcode));
		must(*local == want);
		if (!(i & 1))
			want += wr.wr.atomic.compare_add;
		else if (hit)
			want = wr.wr.atomic.swap;
		must(*remote == want);
	}
	untouched(ma.p, 64, "before the result");
	untouched(ma.p + 72, 64, "after the result");
	untouched(mb.p, 64, "before the target");
	untouched(mb.p + 72, 64, "after the target");
}

static void data_zero_bad_key(void)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
	};
	struct ibv_send_wr wr;
	struct pair p;
	size_t i;

	pair_make(&p, NULL, NULL);
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		wr = wr_of(i, ops[i], NULL, 0);
		wr.wr.rdma.rkey = 0xdead00;
		wr.wr.rdma.remote_addr = 0x1000;
		must_be(post_one(&p.a, &wr), 0);
		wc_want(p.a.scq, i, IBV_WC_SUCCESS);
	}
}

static void data_unsignalled(void)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct mem ma, mb;
	struct pair p;
	int i, k;

	pair_make(&p, NULL, NULL);
	mem_make(&ma, &sides[0], 64 << 10, FULL_ACCESS);
	mem_make(&mb, &sides[1], 64 << 10, FULL_ACCESS);
	fill(ma.p, ma.len, 5);
	for (k = 0; k < 10; k++) {
		for (i = 0; i < 32; i++) {
			sge = sge_of(&ma, i * 2048, 2048);
			wr = wr_of(k * 32 + i, IBV_WR_RDMA_WRITE, &sge, 1);
			wr_target(&wr, &mb, i * 2048);
			if (i != 31)
				wr.send_flags = 0;
			must_be(post_one(&p.a, &wr), 0);
		}
		wc_want(p.a.scq, k * 32 + 31, IBV_WC_SUCCESS);
	}
	same(mb.p, mb.len, 5, "all writes");
	wc_none(p.a.scq, 20);
}

/* Overwrites all of a region except its last word. */
static void *scribble(void *arg)
{
	struct mem *m = arg;
	__u32 *word = (void *)m->p;
	size_t i, num = m->len / sizeof(*word) - 1;

	for (i = 0;; i = (i + 1) % num) {
		__atomic_add_fetch(&word[i], 1, __ATOMIC_RELAXED);
		if (!(i % 1024))
			pthread_testcancel();
	}
	return NULL;
}

/* The data sent from a changing buffer is undefined, but nothing else is affected. */
static void data_changing(void)
{
	const size_t len = 256 << 10;
	struct mem ma, mb;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	pthread_t thread;
	struct pair p;
	int i;

	pair_make(&p, NULL, NULL);
	mem_make(&ma, &sides[0], len, FULL_ACCESS);
	mem_make(&mb, &sides[1], 2 * len, FULL_ACCESS);
	memset(mb.p, GUARD, mb.len);
	must_be(pthread_create(&thread, NULL, scribble, &ma), 0);
	for (i = 0; i < 200; i++) {
		memcpy(ma.p + len - 4, &i, 4);
		wr = wr_of(i, i % 2 ? IBV_WR_SEND : IBV_WR_RDMA_WRITE, &sge, 1);
		wr_target(&wr, &mb, 0);
		sge = sge_of(&mb, 0, len);
		if (i % 2)
			must_be(post_recv(&p.b, i, &sge, 1), 0);
		sge = sge_of(&ma, 0, len);
		must_be(post_one(&p.a, &wr), 0);
		wc_want(p.a.scq, i, IBV_WC_SUCCESS);
		if (i % 2)
			wc_want(p.b.rcq, i, IBV_WC_SUCCESS);
		must(!memcmp(mb.p + len - 4, &i, 4));
	}
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	for (i = len; i < (int)mb.len; i++)
		must_be(mb.p[i], GUARD);

	fill(ma.p, len, 9);
	sge = sge_of(&ma, 0, len);
	wr = wr_of(i, IBV_WR_RDMA_WRITE, &sge, 1);
	wr_target(&wr, &mb, 0);
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, i, IBV_WC_SUCCESS);
	same(mb.p, len, 9, "data that does not change");
}

static void data_sig_all(void)
{
	struct opt o = opt_default;
	struct ibv_send_wr wr;
	struct pair p;
	int i;

	o.sig_all = 1;
	pair_make(&p, &o, NULL);
	for (i = 0; i < 16; i++) {
		must_be(post_recv(&p.b, i, NULL, 0), 0);
		wr = wr_of(i, IBV_WR_SEND, NULL, 0);
		wr.send_flags = 0;
		must_be(post_one(&p.a, &wr), 0);
	}
	for (i = 0; i < 16; i++) {
		wc_want(p.a.scq, i, IBV_WC_SUCCESS);
		wc_want(p.b.rcq, i, IBV_WC_SUCCESS);
	}
}

/* A fenced SEND carries the data that the preceding READ returned. */
static void data_fence(void)
{
	const size_t len = 1 << 20;
	struct ibv_send_wr read, send;
	struct ibv_sge all, back;
	struct mem ma, mb, mr;
	struct pair p;
	int i;

	pair_make(&p, NULL, NULL);
	mem_make(&ma, &sides[0], len, FULL_ACCESS);
	mem_make(&mb, &sides[1], len, FULL_ACCESS);
	mem_make(&mr, &sides[1], len, FULL_ACCESS);
	all = sge_of(&ma, 0, len);
	back = sge_of(&mr, 0, len);
	for (i = 0; i < 5; i++) {
		fill(mb.p, len, 100 + i);
		must_be(post_recv(&p.b, i, &back, 1), 0);
		read = wr_of(2 * i, IBV_WR_RDMA_READ, &all, 1);
		wr_target(&read, &mb, 0);
		send = wr_of(2 * i + 1, IBV_WR_SEND, &all, 1);
		send.send_flags |= IBV_SEND_FENCE;
		read.next = &send;
		must_be(post_one(&p.a, &read), 0);
		wc_want(p.a.scq, 2 * i, IBV_WC_SUCCESS);
		wc_want(p.a.scq, 2 * i + 1, IBV_WC_SUCCESS);
		wc_want(p.b.rcq, i, IBV_WC_SUCCESS);
		same(mr.p, len, 100 + i, "the fenced send");
	}
}

static bool channel_fires(struct end *e, struct ibv_cq *want, int ms)
{
	struct ibv_cq *cq;
	void *context;

	if (!readable(e->channel->fd, ms))
		return false;
	must_be(ibv_get_cq_event(e->channel, &cq, &context), 0);
	ibv_ack_cq_events(cq, 1);
	must(cq == want);
	return true;
}

static void data_solicited(void)
{
	struct ibv_send_wr wr = wr_of(1, IBV_WR_SEND, NULL, 0);
	struct pair p;
	int i;

	pair_make(&p, NULL, NULL);
	for (i = 0; i < 4; i++)
		must_be(post_recv(&p.b, i, NULL, 0), 0);
	must_be(ibv_req_notify_cq(p.b.rcq, 1), 0);
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.b.rcq, 0, IBV_WC_SUCCESS);
	must(!channel_fires(&p.b, p.b.rcq, 50));

	wr.send_flags |= IBV_SEND_SOLICITED;
	must_be(post_one(&p.a, &wr), 0);
	must(channel_fires(&p.b, p.b.rcq, BOUND));
	wc_want(p.b.rcq, 1, IBV_WC_SUCCESS);

	/* one event for each time the queue is armed */
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.b.rcq, 2, IBV_WC_SUCCESS);
	must(!channel_fires(&p.b, p.b.rcq, 50));

	/* an error always raises an event */
	must_be(ibv_req_notify_cq(p.b.rcq, 1), 0);
	must_be(to_state(&p.b, IBV_QPS_ERR), 0);
	must(channel_fires(&p.b, p.b.rcq, BOUND));
	wc_want(p.b.rcq, 3, IBV_WC_WR_FLUSH_ERR);
	for (i = 0; i < 3; i++)
		wc_want(p.a.scq, 1, IBV_WC_SUCCESS);
}

static void data_notify_all(void)
{
	struct ibv_send_wr wr = wr_of(1, IBV_WR_SEND, NULL, 0);
	struct pair p;
	int i;

	pair_make(&p, NULL, NULL);
	for (i = 0; i < 20; i++) {
		must_be(post_recv(&p.b, i, NULL, 0), 0);
		must_be(ibv_req_notify_cq(p.b.rcq, 0), 0);
		must_be(post_one(&p.a, &wr), 0);
		must(channel_fires(&p.b, p.b.rcq, BOUND));
		wc_want(p.b.rcq, i, IBV_WC_SUCCESS);
		wc_want(p.a.scq, 1, IBV_WC_SUCCESS);
	}
}

static void reads_at_depth(int depth)
{
	const size_t len = 9000;
	struct opt o = opt_default;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct mem ma, mb;
	struct pair p;
	int i;

	/* the responder refuses more READs than it was configured for */
	o.rd_atomic = depth;
	o.dest_rd_atomic = depth;
	pair_make(&p, &o, &o);
	mem_make(&ma, &sides[0], 64 * len, FULL_ACCESS);
	mem_make(&mb, &sides[1], 64 * len, FULL_ACCESS);
	for (i = 0; i < 64; i++) {
		fill(mb.p + i * len, len, i);
		sge = sge_of(&ma, i * len, len);
		wr = wr_of(i, IBV_WR_RDMA_READ, &sge, 1);
		wr_target(&wr, &mb, i * len);
		must_be(post_one(&p.a, &wr), 0);
	}
	for (i = 0; i < 64; i++) {
		wc_want(p.a.scq, i, IBV_WC_SUCCESS);
		same(ma.p + i * len, len, i, "a read of many");
	}
}

static void data_depth_1(void)
{
	reads_at_depth(1);
}

static void data_depth_4(void)
{
	reads_at_depth(4);
}

/* ---- soak: batches of all operations, both ways at once ---- */

#define SLOTS	16
#define SLOT	(96UL << 10)

static const enum ibv_wr_opcode soak_ops[] = {
	IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
	IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
	IBV_WR_ATOMIC_FETCH_AND_ADD,
};

struct flow {
	struct end *from, *to;
	struct mem near, far;
	struct {
		enum ibv_wr_opcode op;
		size_t len;
		struct ibv_sge near[4], far[4];
		int n, m;
		__u32 seed;
		__u64 before;
	} slot[SLOTS];
	int recvs;
};

static void flow_post(struct flow *f, int round)
{
	struct ibv_send_wr wr;
	size_t off;
	int i;

	memset(f->near.p, GUARD, f->near.len);
	memset(f->far.p, GUARD, f->far.len);
	f->recvs = 0;
	for (i = 0; i < SLOTS; i++) {
		off = i * SLOT + GAP + 24;
		f->slot[i].op = soak_ops[random() % ARRAY_SIZE(soak_ops)];
		f->slot[i].seed = round * 1000 + i;
		f->slot[i].len = random() % 3 ? (size_t)random() % 5000 :
				 random() % (SLOT - 1024);
		if (f->slot[i].op == IBV_WR_ATOMIC_FETCH_AND_ADD)
			f->slot[i].len = 8;
		f->slot[i].n = pieces(f->slot[i].near, &f->near, off,
				      f->slot[i].len, f->slot[i].len == 8 ? 1 :
				      1 + random() % 4);
		f->slot[i].m = pieces(f->slot[i].far, &f->far, off,
				      f->slot[i].len,
				      op_is_send(f->slot[i].op) ? 3 : 1);
		if (f->slot[i].op == IBV_WR_RDMA_READ ||
		    f->slot[i].op == IBV_WR_ATOMIC_FETCH_AND_ADD)
			sg_fill(f->slot[i].far, f->slot[i].m, f->slot[i].seed);
		else
			sg_fill(f->slot[i].near, f->slot[i].n, f->slot[i].seed);
		if (op_is_send(f->slot[i].op) || op_has_imm(f->slot[i].op)) {
			f->recvs++;
			must_be(post_recv(f->to, i, f->slot[i].far,
					  op_is_send(f->slot[i].op) ?
					  f->slot[i].m : 0), 0);
		}
	}
	for (i = 0; i < SLOTS; i++) {
		off = i * SLOT + GAP + 24;
		wr = wr_of(i, f->slot[i].op, f->slot[i].near, f->slot[i].n);
		wr.imm_data = htobe32(f->slot[i].seed);
		if (!op_is_send(f->slot[i].op))
			wr_target(&wr, &f->far, off);
		if (f->slot[i].op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
			memcpy(&f->slot[i].before, f->far.p + off, 8);
			wr.wr.atomic.compare_add = f->slot[i].seed;
		}
		must_be(post_one(f->from, &wr), 0);
	}
}

static void flow_check(struct flow *f)
{
	__u64 after, result;
	struct ibv_wc wc;
	char what[64];
	int i;

	for (i = 0; i < SLOTS; i++)
		wc_want(f->from->scq, i, IBV_WC_SUCCESS);
	for (i = 0; i < SLOTS; i++) {
		enum ibv_wr_opcode op = f->slot[i].op;

		snprintf(what, sizeof(what), "slot %d, opcode %d", i, op);
		if (op_is_send(op) || op_has_imm(op)) {
			wc = wc_want(f->to->rcq, i, IBV_WC_SUCCESS);
			must_be(wc.byte_len, f->slot[i].len);
			if (op_has_imm(op))
				must_be(be32toh(wc.imm_data), f->slot[i].seed);
		}
		if (op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
			memcpy(&result, f->near.p + i * SLOT + GAP + 24, 8);
			memcpy(&after, f->far.p + i * SLOT + GAP + 24, 8);
			must(result == f->slot[i].before);
			must(after == result + f->slot[i].seed);
		} else if (op == IBV_WR_RDMA_READ) {
			sg_same(f->slot[i].near, f->slot[i].n, f->slot[i].len,
				f->slot[i].seed, what);
		} else {
			sg_same(f->slot[i].far, f->slot[i].m, f->slot[i].len,
				f->slot[i].seed, what);
		}
	}
}

static void soak_all(void)
{
	struct opt o = opt_default;
	static struct flow there, back;
	struct pair p;
	int i;

	o.rd_atomic = 8;
	o.dest_rd_atomic = 8;
	o.timeout = patience;
	pair_make(&p, &o, &o);
	there.from = &p.a;
	there.to = &p.b;
	back.from = &p.b;
	back.to = &p.a;
	mem_make(&there.near, &sides[0], SLOTS * SLOT, FULL_ACCESS);
	mem_make(&there.far, &sides[1], SLOTS * SLOT, FULL_ACCESS);
	mem_make(&back.near, &sides[1], SLOTS * SLOT, FULL_ACCESS);
	mem_make(&back.far, &sides[0], SLOTS * SLOT, FULL_ACCESS);
	srandom(run_seed);
	for (i = 0; i < rounds; i++) {
		flow_post(&there, 2 * i);
		flow_post(&back, 2 * i + 1);
		flow_check(&there);
		flow_check(&back);
	}
}

static const struct vrb_case data_cases[] = {
	{ "data", "SEND of every size and shape", data_send },
	{ "data", "SEND with immediate of every size and shape", data_send_imm },
	{ "data", "WRITE of every size and shape", data_write },
	{ "data", "WRITE with immediate of every size and shape", data_write_imm },
	{ "data", "READ of every size and shape", data_read },
	{ "data", "CMP_SWP and FETCH_ADD compute and return", data_atomic },
	{ "data", "inline data of every length", data_inline },
	{ "data", "no key check for zero bytes", data_zero_bad_key },
	{ "data", "unsignalled requests produce no completions", data_unsignalled },
	{ "data", "a buffer that changes while it is being sent", data_changing },
	{ "data", "sq_sig_all signals all", data_sig_all },
	{ "data", "a fence waits for the read", data_fence },
	{ "data", "64 reads, one at a time", data_depth_1 },
	{ "data", "64 reads, four at a time", data_depth_4 },
	{ "notify", "solicited events only", data_solicited },
	{ "notify", "one event per completion", data_notify_all },
	{ "soak", "batches of all operations, both ways", soak_all },
};

VRB_TOPIC("data", data_cases);
