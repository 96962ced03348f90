// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: on-demand memory
 *
 * Pages on both sides are dropped before a transfer, so they are absent when it
 * begins.  The expectations are those of ibv_reg_mr(3) and ibv_advise_mr(3),
 * and that the process and its peer see the same memory.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/userfaultfd.h>

#include "odp.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE	25
#endif

#define SIZE	(3 * CHUNK)
#define EDGE	64
#define ON_DEMAND	(FULL_ACCESS | IBV_ACCESS_ON_DEMAND)

static struct pair p;
static struct store sa, sb;

/* ---- making ---- */

void store_make(struct store *st, struct side *s, size_t size, size_t off,
		enum way way, int access)
{
	__u8 *room = map_make(size + CHUNK, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	st->size = size;
	st->start = (__u8 *)(((uintptr_t)room + CHUNK - 1) & ~(CHUNK - 1));
	st->fd = memfd_create("vrb", MFD_CLOEXEC);
	must(st->fd >= 0);
	must_be(ftruncate(st->fd, size), 0);
	must(mmap(st->start, size, PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_FIXED, st->fd, 0) == st->start);
	close(st->fd);		/* the mapping holds a reference to the file */
	if (way == WAY_ALL) {
		st->m.p = NULL;
		st->m.len = SIZE_MAX;
	} else {
		st->m.p = st->start + off;
		st->m.len = size - 2 * off;
	}
	if (way != WAY_PINNED)
		access |= IBV_ACCESS_ON_DEMAND;
	mem_own(&st->m, s->pd, access);
	st->m.p = st->start + off;
	st->m.len = size - 2 * off;
}

void store_drop(struct store *st)
{
	must_be(madvise(st->start, st->size, MADV_DONTNEED), 0);
}

struct opt odp_opt(void)
{
	struct opt o = opt_default;

	o.timeout = 19;		/* 2 s */
	return o;
}

static void odp_pair(void)
{
	struct opt o = odp_opt();

	pair_make(&p, &o, &o);
}

static void stores(enum way a, enum way b)
{
	store_make(&sa, &sides[0], SIZE, a == WAY_PINNED ? 0 : 13, a,
		   FULL_ACCESS);
	store_make(&sb, &sides[1], SIZE, b == WAY_PINNED ? 0 : 7, b,
		   FULL_ACCESS);
}

static void setup(enum way a, enum way b)
{
	odp_pair();
	stores(a, b);
}

/* Untouched anonymous memory, registered on demand */
static void fresh(struct mem *m, struct side *s, size_t len, int access)
{
	m->len = len;
	m->p = map_make(len, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	mem_own(m, s->pd, access | IBV_ACCESS_ON_DEMAND);
}

/* ---- data ---- */

static const enum ibv_wr_opcode ops[] = {
	IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
	IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
};

static bool op_is_send(enum ibv_wr_opcode op)
{
	return op == IBV_WR_SEND || op == IBV_WR_SEND_WITH_IMM;
}

static void go(struct end *a, struct end *b, struct store *st_a,
	       struct store *st_b, enum ibv_wr_opcode op, size_t off_a,
	       size_t off_b, size_t len)
{
	bool read = op == IBV_WR_RDMA_READ;
	struct store *from = read ? st_b : st_a, *to = read ? st_a : st_b;
	size_t off_from = read ? off_b : off_a, off_to = read ? off_a : off_b;
	struct ibv_sge sge_a = sge_of(&st_a->m, off_a, len);
	struct ibv_sge sge_b = sge_of(&st_b->m, off_b, len);
	struct ibv_send_wr wr = wr_of(1, op, &sge_a, 1);
	__u32 seed = len * 8 + op;

	fill(from->m.p + off_from, len, seed);
	memset(to->m.p + off_to - EDGE, GUARD, len + 2 * EDGE);
	if (op_is_send(op))
		must_be(post_recv(b, 2, &sge_b, 1), 0);
	else if (op == IBV_WR_RDMA_WRITE_WITH_IMM)
		must_be(post_recv(b, 2, NULL, 0), 0);
	if (!op_is_send(op))
		wr_target(&wr, &st_b->m, off_b);
	store_drop(st_a);
	store_drop(st_b);
	must_be(post_one(a, &wr), 0);
	wc_want(a->scq, 1, IBV_WC_SUCCESS);
	if (op_is_send(op) || op == IBV_WR_RDMA_WRITE_WITH_IMM)
		must_be(wc_want(b->rcq, 2, IBV_WC_SUCCESS).byte_len, len);
	same(to->m.p + off_to, len, seed, "what arrived");
	untouched(to->m.p + off_to - EDGE, EDGE, "before it");
	untouched(to->m.p + off_to + len, EDGE, "behind it");
}

static void all_sizes(void)
{
	static const size_t sizes[] = {
		1, 8, 1000, 4096, 4097, 70001, CHUNK + 5,
	};
	static const size_t offs[][2] = {
		{ EDGE, EDGE }, { PAGE - 20, EDGE + 1 }, { CHUNK - 17, 3 * PAGE },
		{ 5 * PAGE, CHUNK - 8 },
	};
	size_t i, k, o;

	for (o = 0; o < ARRAY_SIZE(ops); o++)
		for (i = 0; i < ARRAY_SIZE(sizes); i++)
			for (k = 0; k < ARRAY_SIZE(offs); k++)
				if (k == (i + o) % 4)
					go(&p.a, &p.b, &sa, &sb, ops[o],
					   offs[k][0], offs[k][1], sizes[i]);
	go(&p.b, &p.a, &sb, &sa, IBV_WR_RDMA_WRITE, 100, 200, 70001);
	go(&p.b, &p.a, &sb, &sa, IBV_WR_RDMA_READ, 100, 200, 70001);
	wc_none(p.a.scq, 0);
	wc_none(p.b.rcq, 0);
}

static void data_range(void)
{
	setup(WAY_RANGE, WAY_RANGE);
	all_sizes();
}

static void data_all(void)
{
	setup(WAY_ALL, WAY_ALL);
	all_sizes();
}

static void data_pinned_there(void)
{
	setup(WAY_RANGE, WAY_PINNED);
	all_sizes();
}

static void data_pinned_here(void)
{
	setup(WAY_PINNED, WAY_RANGE);
	all_sizes();
}

/* Each element of the list is on absent pages of its own. */
static void data_pieces(void)
{
	struct ibv_sge from[8], to[8];
	struct ibv_send_wr wr;
	int i, k;

	setup(WAY_RANGE, WAY_ALL);
	for (i = 0; i < 8; i++) {
		from[i] = sge_of(&sa.m, i * CHUNK / 3 + PAGE - 30, 100);
		to[i] = sge_of(&sb.m, (7 - i) * CHUNK / 3 + PAGE - 60, 100);
		fill((__u8 *)(uintptr_t)from[i].addr, 100, i);
	}
	for (k = 0; k < 3; k++) {
		for (i = 0; i < 8; i++)
			memset((void *)(uintptr_t)to[i].addr, 0, 100);
		must_be(post_recv(&p.b, 2, to, 8), 0);
		wr = wr_of(1, IBV_WR_SEND, from, 8);
		store_drop(&sa);
		store_drop(&sb);
		must_be(post_one(&p.a, &wr), 0);
		wc_want(p.a.scq, 1, IBV_WC_SUCCESS);
		wc_want(p.b.rcq, 2, IBV_WC_SUCCESS);
		for (i = 0; i < 8; i++)
			same((__u8 *)(uintptr_t)to[i].addr, 100, i, "a piece");
	}
}

static void data_atomic(void)
{
	__u64 *word, *result, want = 5;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	int i;

	odp_pair();
	store_make(&sa, &sides[0], SIZE, 0, WAY_RANGE, FULL_ACCESS);
	store_make(&sb, &sides[1], SIZE, 0, WAY_RANGE, FULL_ACCESS);
	result = (__u64 *)(sa.m.p + CHUNK - 8);
	word = (__u64 *)(sb.m.p + 3 * PAGE - 8);
	sge = sge_of(&sa.m, CHUNK - 8, 8);
	*word = want;
	for (i = 0; i < 20; i++) {
		*result = ~0ULL;
		wr = wr_of(i, i & 1 ? IBV_WR_ATOMIC_CMP_AND_SWP :
			   IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, 1);
		wr_target(&wr, &sb.m, 3 * PAGE - 8);
		wr.wr.atomic.compare_add = i & 1 ? want : 1000;
		wr.wr.atomic.swap = i;
		store_drop(&sa);
		store_drop(&sb);
		must_be(post_one(&p.a, &wr), 0);
		wc_want(p.a.scq, i, IBV_WC_SUCCESS);
		must(*result == want);
		want = i & 1 ? (__u64)i : want + 1000;
		must(*word == want);
	}
}

static void data_atomic_write(void)
{
	struct opt o = odp_opt();
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	int i;

	o.send_ops = IBV_QP_EX_WITH_ATOMIC_WRITE;
	o.inline_data = 0;
	pair_make(&p, &o, &o);
	store_make(&sa, &sides[0], SIZE, 0, WAY_ALL, FULL_ACCESS);
	store_make(&sb, &sides[1], SIZE, 0, WAY_ALL, FULL_ACCESS);
	for (i = 0; i < 5; i++) {
		fill(sa.m.p, 8, i);
		memset(sb.m.p, GUARD, 24);
		sge = sge_of(&sa.m, 0, 8);
		wr = wr_of(i, IBV_WR_ATOMIC_WRITE, &sge, 1);
		wr_target(&wr, &sb.m, 8);
		store_drop(&sa);
		store_drop(&sb);
		must_be(post_one(&p.a, &wr), 0);
		wc_want(p.a.scq, i, IBV_WC_SUCCESS);
		same(sb.m.p + 8, 8, i, "the word");
		untouched(sb.m.p, 8, "before the word");
		untouched(sb.m.p + 16, 8, "behind the word");
	}
}

/* Many messages at once: packets queue behind one that waits for a page. */
static void data_batch(void)
{
	size_t len = 20000, half = 32 * len;
	struct ibv_sge from, to;
	struct ibv_send_wr wr;
	int i, k;

	setup(WAY_ALL, WAY_RANGE);
	for (k = 0; k < 5; k++) {
		fill(sa.m.p, 32 * len, k);
		memset(sb.m.p, GUARD, 2 * half);
		store_drop(&sa);
		store_drop(&sb);
		for (i = 1; i < 32; i += 2) {
			to = sge_of(&sb.m, half + i * len, len);
			must_be(post_recv(&p.b, i, &to, 1), 0);
		}
		for (i = 0; i < 32; i++) {
			from = sge_of(&sa.m, i * len, len);
			wr = wr_of(i, i & 1 ? IBV_WR_SEND : IBV_WR_RDMA_WRITE,
				   &from, 1);
			if (!(i & 1))
				wr_target(&wr, &sb.m, half + i * len);
			must_be(post_one(&p.a, &wr), 0);
		}
		for (i = 0; i < 32; i++)
			wc_want(p.a.scq, i, IBV_WC_SUCCESS);
		for (i = 1; i < 32; i += 2)
			wc_want(p.b.rcq, i, IBV_WC_SUCCESS);
		same(sb.m.p + half, half, k, "all messages");
		untouched(sb.m.p, half, "memory that was not written to");
	}
}

/* ---- other services ---- */

static void data_uc(void)
{
	static const size_t sizes[] = { 1, 4097, 70001, CHUNK + 5 };
	struct opt o = odp_opt();
	size_t i;

	o.type = IBV_QPT_UC;
	pair_make(&p, &o, &o);
	stores(WAY_RANGE, WAY_RANGE);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		go(&p.a, &p.b, &sa, &sb, IBV_WR_SEND, 100, 200, sizes[i]);
		go(&p.a, &p.b, &sa, &sb, IBV_WR_RDMA_WRITE_WITH_IMM, 100, 200,
		   sizes[i]);
	}
}

static void data_srq(void)
{
	struct opt plain = odp_opt(), o = plain;
	struct ibv_sge from, to;
	struct ibv_send_wr wr;
	int i;

	o.srq = srq_make(&sides[1], NULL, 64, 2);
	pair_make(&p, &plain, &o);
	stores(WAY_RANGE, WAY_RANGE);
	fill(sa.m.p, 20 * 10000, 1);
	store_drop(&sa);
	store_drop(&sb);
	for (i = 0; i < 20; i++) {
		to = sge_of(&sb.m, i * 10000, 10000);
		must_be(post_srq(o.srq, i, &to, 1), 0);
	}
	for (i = 0; i < 20; i++) {
		from = sge_of(&sa.m, i * 10000, 10000);
		wr = wr_of(i, IBV_WR_SEND, &from, 1);
		must_be(post_one(&p.a, &wr), 0);
	}
	for (i = 0; i < 20; i++) {
		wc_want(p.a.scq, i, IBV_WC_SUCCESS);
		wc_want(p.b.rcq, i, IBV_WC_SUCCESS);
	}
	same(sb.m.p, 20 * 10000, 1, "all messages");
}

static void ud_make(struct end *e, struct side *s)
{
	struct opt o = odp_opt();

	o.type = IBV_QPT_UD;
	end_make(e, s, &o);
	connect_ud(e, 7);
}

/*
 * A batch of datagrams whose receive buffers are all absent: none is lost.
 * They may arrive out of order, since a datagram that waits for a page may be
 * sent by another processor.
 */
static void data_ud(void)
{
	struct ibv_sge from, to;
	struct ibv_send_wr wr;
	__u32 came = 0, n;
	struct ibv_ah *ah;
	struct ibv_wc wc;
	int i;

	ud_make(&p.a, &sides[0]);
	ud_make(&p.b, &sides[1]);
	stores(WAY_RANGE, WAY_RANGE);
	ah = ah_make(&sides[0], NULL, &sides[1].gid);
	fill(sa.m.p, 32 * PAGE, 1);
	store_drop(&sa);
	store_drop(&sb);
	for (i = 0; i < 32; i++) {
		to = sge_of(&sb.m, i * 4 * PAGE + PAGE - 20, 40 + 1000);
		must_be(post_recv(&p.b, i, &to, 1), 0);
	}
	for (i = 0; i < 32; i++) {
		from = sge_of(&sa.m, i * PAGE, 1000);
		wr = wr_of(i, IBV_WR_SEND_WITH_IMM, &from, 1);
		wr.imm_data = htobe32(i);
		wr.wr.ud.ah = ah;
		wr.wr.ud.remote_qpn = p.b.qp->qp_num;
		wr.wr.ud.remote_qkey = 7;
		must_be(post_one(&p.a, &wr), 0);
	}
	for (i = 0; i < 32; i++) {
		wc_want(p.a.scq, i, IBV_WC_SUCCESS);
		wc = wc_want(p.b.rcq, i, IBV_WC_SUCCESS);
		must_be(wc.byte_len, 1040);
		n = be32toh(wc.imm_data);
		must(n < 32);
		came |= 1U << n;
		must(!memcmp(sb.m.p + i * 4 * PAGE + PAGE + 20,
			     sa.m.p + n * PAGE, 1000));
	}
	must_be(came, ~0U);
}

/* ---- prefetch ---- */

static int advise(struct store *st, enum ibv_advise_mr_advice advice,
		  __u32 flags, size_t off, size_t len)
{
	struct ibv_sge sge = sge_of(&st->m, off, len);

	return ibv_advise_mr(st->m.mr->pd, advice, flags, &sge, 1);
}

#define SYNC	IBV_ADVISE_MR_FLAG_FLUSH

/* Number of pages present in the process; does not work for a memfd. */
static size_t present(const struct mem *m)
{
	unsigned char vec[256];
	size_t i, n = 0;

	must(m->len <= sizeof(vec) * PAGE);
	must_be(mincore(m->p, m->len, vec), 0);
	for (i = 0; i < m->len / PAGE; i++)
		n += vec[i] & 1;
	return n;
}

static int advise_mem(struct mem *m, enum ibv_advise_mr_advice advice,
		      __u32 flags)
{
	struct ibv_sge sge = sge_of(m, 0, m->len);

	return ibv_advise_mr(m->mr->pd, advice, flags, &sge, 1);
}

static void prefetch_pages(void)
{
	struct mem m;

	fresh(&m, &sides[0], 64 * PAGE, FULL_ACCESS);
	must_be(present(&m), 0);
	must_be(advise_mem(&m, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, SYNC),
		0);
	must_be(present(&m), 0);
	must_be(advise_mem(&m, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, SYNC), 0);
	must_be(present(&m), 64);
	fresh(&m, &sides[0], 64 * PAGE, FULL_ACCESS);
	must_be(advise_mem(&m, IBV_ADVISE_MR_ADVICE_PREFETCH, SYNC), 0);
	must_be(present(&m), 64);
}

/* A worker prefetches pages. */
static void comes_later(void)
{
	__u64 end = 0;
	struct mem m;

	fresh(&m, &sides[0], 64 * PAGE, FULL_ACCESS);
	must_be(advise_mem(&m, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, 0), 0);
	while (present(&m) != 64)
		wait_turn(&end, "prefetched page");
}

static void prefetch_later(void)
{
	comes_later();
}

#define PLACES		4		/* prefetches of one user in progress */
#define HUGE_RANGES	4000		/* of 4 GiB each; in one ibv_advise_mr() */
#define NOWHERE		0x1000000000000000ULL	/* not mapped in any process */

/* Prefetches what is present of HUGE_RANGES ranges, @step bytes apart. */
static int advise_huge(const struct ibv_mr *all, __u64 addr, __u64 step,
		       __u32 flags)
{
	static struct ibv_sge sge[HUGE_RANGES];
	int i;

	for (i = 0; i < HUGE_RANGES; i++)
		sge[i] = (struct ibv_sge) {
			.addr = addr + i * step,
			.length = UINT32_MAX & ~(PAGE - 1),
			.lkey = all->lkey,
		};
	return ibv_advise_mr(all->pd, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT,
			     flags, sge, HUGE_RANGES);
}

/* Holes are skipped at once, whether the caller or a worker prefetches. */
static void prefetch_holes(void)
{
	struct mem all = { .len = SIZE_MAX };
	int i;

	mem_own(&all, sides[0].pd, ON_DEMAND);
	for (i = 0; i < PLACES; i++)
		must_be(advise_huge(all.mr, NOWHERE, 1ULL << 32, 0), 0);
	comes_later();
	must_be(advise_huge(all.mr, NOWHERE, 1ULL << 32, SYNC), 0);
}

/* A mapping of the maximum size of a range, without any pages */
static __u8 *map_sparse(void)
{
	return map_make(1ULL << 32, MAP_PRIVATE | MAP_ANONYMOUS |
			MAP_NORESERVE, -1);
}

/* Scanning all of it would take too long, so the worker abandons the prefetch. */
static void prefetch_sparse(void)
{
	struct mem all = { .len = SIZE_MAX };
	__u8 *mem = map_sparse();
	int i;

	mem_own(&all, sides[0].pd, ON_DEMAND);
	for (i = 0; i < PLACES; i++)
		must_be(advise_huge(all.mr, (uintptr_t)mem, 0, 0), 0);
	comes_later();
}

/* Number of page faults of the device of @s */
static long long missed(const struct side *s)
{
	static const char key[] = " page_faults ";
	const char *at;

	/* counters are cached for that long */
	usleep(20000);
	at = strstr(rdma_tool(s, "statistic show link %s/1", s->dev), key);
	must(at);
	return atoll(at + strlen(key));
}

/* Absent pages are skipped; the present page after them is prefetched. */
static void prefetch_behind(void)
{
	struct mem m = { .len = 1UL << 29 };
	long long before;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	__u64 end = 0;
	__u8 *last;
	int ms;

	odp_pair();
	store_make(&sb, &sides[1], SIZE, 0, WAY_PINNED, FULL_ACCESS);
	m.p = map_make(m.len, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	mem_own(&m, sides[0].pd, ON_DEMAND);
	last = m.p + m.len - PAGE;
	sge = sge_of(&m, m.len - PAGE, PAGE);
	wr = wr_of(1, IBV_WR_RDMA_WRITE, &sge, 1);
	wr_target(&wr, &sb.m, 0);
	for (ms = 1; wait_more(&end, "prefetched page"); ms *= 2) {
		must_be(madvise(last, PAGE, MADV_DONTNEED), 0);
		fill(last, PAGE, ms);
		/* rdma_tool() forks, which invalidates translations */
		before = missed(&sides[0]);
		must_be(advise_mem(&m, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT,
				   0), 0);
		usleep(ms * 1000);
		must_be(post_one(&p.a, &wr), 0);
		wc_want(p.a.scq, 1, IBV_WC_SUCCESS);
		same(sb.m.p, PAGE, ms, "what arrived");
		if (missed(&sides[0]) == before)
			return;
	}
	case_fail("a page behind %zu absent pages is not prefetched",
		  m.len / PAGE - 1);
}

/* Run by the child, which exits while its prefetches are in progress. */
static void die_prefetching(const __u8 *mem)
{
	struct side s = sides[0];
	struct ibv_mr *all;
	int i;

	side_enter(&s);
	s.ctx = ibv_open_device(sides[0].ctx->device);
	s.pd = s.ctx ? ibv_alloc_pd(s.ctx) : NULL;
	all = s.pd ? ibv_reg_mr(s.pd, NULL, SIZE_MAX, ON_DEMAND) : NULL;
	if (!all)
		_exit(1);
	for (i = 0; i < 4 * PLACES; i++)
		if (advise_huge(all, (uintptr_t)mem, 0, 0))
			_exit(2);
	_exit(0);
}

static void prefetch_of_the_dead(void)
{
	__u8 *mem = map_sparse();
	pid_t pid = fork();
	int status;

	must(pid >= 0);
	if (!pid)
		die_prefetching(mem);
	must_be(waitpid(pid, &status, 0), pid);
	must_be(status, 0);
	comes_later();
}

/* The script checks by the counters that there were no page faults. */
static void prefetch_all(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr;

	odp_pair();
	stores(WAY_RANGE, WAY_ALL);
	fill(sa.m.p, CHUNK, 1);
	must_be(advise(&sa, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, SYNC, 0,
		       CHUNK), 0);
	must_be(advise(&sb, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, SYNC, 0,
		       CHUNK), 0);
	sge = sge_of(&sa.m, 0, CHUNK);
	wr = wr_of(1, IBV_WR_RDMA_WRITE, &sge, 1);
	wr_target(&wr, &sb.m, 0);
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 1, IBV_WC_SUCCESS);
	same(sb.m.p, CHUNK, 1, "what arrived");
}

static void prefetch_errors(void)
{
	struct ibv_sge sge;
	struct store pin;
	struct ibv_pd *pd;
	struct mem ro;

	stores(WAY_RANGE, WAY_ALL);
	store_make(&pin, &sides[0], SIZE, 0, WAY_PINNED, FULL_ACCESS);
	fresh(&ro, &sides[0], PAGE, 0);
	must_be(advise(&sa, 77, SYNC, 0, 1), EOPNOTSUPP);
	must(advise(&sa, IBV_ADVISE_MR_ADVICE_PREFETCH, 2, 0, 1));
	must_be(advise(&sa, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, 0,
		       sa.m.len + 1), EFAULT);
	must_be(advise(&pin, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, 0, 1), EINVAL);
	must_be(advise_mem(&ro, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, 0),
		EPERM);
	must_be(advise_mem(&ro, IBV_ADVISE_MR_ADVICE_PREFETCH, SYNC), 0);
	sge = sge_of(&sa.m, 0, 1);
	pd = pd_make(&sides[0]);
	must_be(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1),
		EPERM);
	sge.lkey ^= 0xffffff00;
	must_be(ibv_advise_mr(sides[0].pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0,
			      &sge, 1), ENOENT);
	must_be(munmap(sb.start + CHUNK, PAGE), 0);
	must_be(advise(&sb, IBV_ADVISE_MR_ADVICE_PREFETCH, SYNC, 0, 2 * CHUNK),
		EFAULT);
	must_be(advise(&sb, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, SYNC, 0,
		       2 * CHUNK), 0);
}

/* ---- registration ---- */

static void reg_caps(void)
{
	struct ibv_device_attr_ex attr;
	__u32 rc = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV |
		   IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ |
		   IBV_ODP_SUPPORT_ATOMIC | IBV_ODP_SUPPORT_SRQ_RECV;
	__u32 ud = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV;

	must_be(ibv_query_device_ex(sides[0].ctx, NULL, &attr), 0);
	must_be(attr.odp_caps.general_caps & 3, IBV_ODP_SUPPORT |
		IBV_ODP_SUPPORT_IMPLICIT);
	must_be(attr.odp_caps.per_transport_caps.rc_odp_caps & rc, rc);
	must_be(attr.odp_caps.per_transport_caps.ud_odp_caps & ud, ud);
}

static void reg_refused(void)
{
	struct ibv_pd *pd = sides[0].pd;

	must(!ibv_reg_mr_iova(pd, NULL, SIZE_MAX, PAGE, ON_DEMAND));
	must_be(errno, EINVAL);
	must(!ibv_reg_mr(pd, NULL, SIZE_MAX, ON_DEMAND | IBV_ACCESS_HUGETLB));
	must_be(errno, EINVAL);
	must(!ibv_reg_mr(pd, (void *)PAGE, SIZE_MAX, ON_DEMAND));
	must_be(errno, EINVAL);
}

/* Memory may be registered before it is mapped and after it is unmapped. */
static void reg_ahead(void)
{
	struct ibv_sge from;
	struct ibv_send_wr wr;
	__u8 *room;
	int i;

	odp_pair();
	store_make(&sa, &sides[0], SIZE, 0, WAY_RANGE, FULL_ACCESS);
	room = map_make(CHUNK, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	must_be(munmap(room, CHUNK), 0);
	sb.m.p = room;
	sb.m.len = CHUNK;
	mem_own(&sb.m, sides[1].pd, ON_DEMAND);
	for (i = 0; i < 3; i++) {
		must(mmap(room, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			  MAP_ANONYMOUS | MAP_FIXED, -1, 0) == room);
		fill(sa.m.p, 70000, i);
		from = sge_of(&sa.m, 0, 70000);
		wr = wr_of(i, IBV_WR_RDMA_WRITE, &from, 1);
		wr_target(&wr, &sb.m, 10);
		must_be(post_one(&p.a, &wr), 0);
		wc_want(p.a.scq, i, IBV_WC_SUCCESS);
		same(room + 10, 70000, i, "what arrived");
		must_be(munmap(room, CHUNK), 0);
	}
}

static void write_b(__u64 id, struct ibv_mr *mr, __u64 addr, size_t len,
		    enum ibv_wc_status status)
{
	struct ibv_sge sge = sge_of(&sa.m, 0, len);
	struct ibv_send_wr wr = wr_of(id, IBV_WR_RDMA_WRITE, &sge, 1);

	wr.wr.rdma.remote_addr = addr;
	wr.wr.rdma.rkey = mr->rkey;
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, id, status);
}

static void reg_iova(void)
{
	static const __u64 bases[] = { 0, 7 * PAGE, ~0ULL << 62 };
	struct ibv_mr *mr;
	size_t i;

	setup(WAY_PINNED, WAY_PINNED);
	fill(sa.m.p, 30000, 1);
	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		memset(sb.start, GUARD, CHUNK);
		store_drop(&sb);
		mr = ibv_reg_mr_iova(sides[1].pd, sb.start + PAGE + 300, 30000,
				     bases[i] + 300, ON_DEMAND);
		must(mr);
		write_b(i, mr, bases[i] + 310, 29990, IBV_WC_SUCCESS);
		same(sb.start + PAGE + 310, 29990, 1, "the region");
		untouched(sb.start, PAGE + 310, "before it");
		untouched(sb.start + PAGE + 30300, PAGE, "behind it");
		must_be(ibv_dereg_mr(mr), 0);
	}
}

static void reg_again(void)
{
	struct ibv_mr *mr;
	struct ibv_pd *pd;

	setup(WAY_PINNED, WAY_PINNED);
	fill(sa.m.p, 30000, 1);
	pd = pd_make(&sides[1]);
	mr = ibv_reg_mr(pd, sb.start, PAGE, IBV_ACCESS_ON_DEMAND);
	must(mr);
	must_be(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD |
			     IBV_REREG_MR_CHANGE_ACCESS, sides[1].pd, NULL, 0,
			     ON_DEMAND), 0);
	write_b(1, mr, (uintptr_t)sb.start, PAGE, IBV_WC_SUCCESS);
	must_be(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL,
			     sb.start + CHUNK, CHUNK, 0), 0);
	write_b(2, mr, (uintptr_t)sb.start + CHUNK, 30000, IBV_WC_SUCCESS);
	same(sb.start + CHUNK, 30000, 1, "the region");
	must(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			  FULL_ACCESS));
	must_be(ibv_dereg_mr(mr), 0);
}

static void reg_window(void)
{
	struct ibv_send_wr wr;
	struct ibv_mw *mw;
	struct ibv_mr shown;

	odp_pair();
	store_make(&sa, &sides[0], SIZE, 13, WAY_RANGE, FULL_ACCESS);
	store_make(&sb, &sides[1], SIZE, 7, WAY_RANGE, FULL_ACCESS |
		   IBV_ACCESS_MW_BIND);
	fill(sa.m.p, 30000, 1);
	mw = mw_make(sides[1].pd, IBV_MW_TYPE_2);
	wr = (struct ibv_send_wr) {
		.wr_id = 1,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {
			.mw = mw,
			.rkey = ibv_inc_rkey(mw->rkey),
			.bind_info = {
				.mr = sb.m.mr,
				.addr = (uintptr_t)sb.m.p + 5000,
				.length = 30000,
				.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
			},
		},
	};
	must_be(post_one(&p.b, &wr), 0);
	wc_want(p.b.scq, 1, IBV_WC_SUCCESS);
	shown.rkey = wr.bind_mw.rkey;
	store_drop(&sb);
	write_b(2, &shown, (uintptr_t)sb.m.p + 5000, 30000, IBV_WC_SUCCESS);
	same(sb.m.p + 5000, 30000, 1, "the window");
	write_b(3, &shown, (uintptr_t)sb.m.p + 4999, 8, IBV_WC_REM_ACCESS_ERR);
}

/* ---- unmapped and read-only memory ---- */

/* @op on b's memory at @off is refused, and both queue pairs enter the error state. */
static void refused(enum ibv_wr_opcode op, size_t off, size_t len)
{
	struct ibv_sge sge = sge_of(&sa.m, 0, len);
	struct ibv_send_wr wr = wr_of(9, op, &sge, 1);

	wr_target(&wr, &sb.m, off);
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 9, IBV_WC_REM_ACCESS_ERR);
	state_becomes(&p.a, IBV_QPS_ERR);
	state_becomes(&p.b, IBV_QPS_ERR);
}

static void gone(enum ibv_wr_opcode op, size_t len)
{
	static const size_t holes[] = { 0, 1, 5 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(holes); i++) {
		if (holes[i] * PAGE >= len)
			continue;
		setup(WAY_RANGE, i & 1 ? WAY_ALL : WAY_RANGE);
		memset(sb.m.p, GUARD, 16 * PAGE);
		must_be(munmap(sb.start + holes[i] * PAGE, PAGE), 0);
		refused(op, 1, len);
	}
}

static void gone_write(void)
{
	gone(IBV_WR_RDMA_WRITE, 8 * PAGE);
}

static void gone_read(void)
{
	gone(IBV_WR_RDMA_READ, 8 * PAGE);
}

static void gone_atomic(void)
{
	gone(IBV_WR_ATOMIC_FETCH_AND_ADD, 8);
}

/* The whole chunk, after it has been used */
static void gone_after_use(void)
{
	setup(WAY_RANGE, WAY_ALL);
	go(&p.a, &p.b, &sa, &sb, IBV_WR_RDMA_WRITE, EDGE, CHUNK, 70001);
	must_be(munmap(sb.start, sb.size), 0);
	refused(IBV_WR_RDMA_WRITE, CHUNK, 70001);
}

static void gone_source(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr;

	setup(WAY_RANGE, WAY_RANGE);
	must_be(munmap(sa.start + 2 * PAGE, PAGE), 0);
	sge = sge_of(&sa.m, 0, 8 * PAGE);
	wr = wr_of(1, IBV_WR_RDMA_WRITE, &sge, 1);
	wr_target(&wr, &sb.m, 0);
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 1, IBV_WC_LOC_PROT_ERR);
	state_becomes(&p.a, IBV_QPS_ERR);
}

static void gone_sink(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr;

	setup(WAY_RANGE, WAY_RANGE);
	must_be(munmap(sa.start + 2 * PAGE, PAGE), 0);
	sge = sge_of(&sa.m, 0, 8 * PAGE);
	wr = wr_of(1, IBV_WR_RDMA_READ, &sge, 1);
	wr_target(&wr, &sb.m, 0);
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 1, IBV_WC_LOC_PROT_ERR);
	state_becomes(&p.a, IBV_QPS_ERR);
}

static void gone_receive(void)
{
	struct ibv_sge from, to;
	struct ibv_send_wr wr;

	setup(WAY_RANGE, WAY_RANGE);
	must_be(munmap(sb.start + 2 * PAGE, PAGE), 0);
	from = sge_of(&sa.m, 0, 8 * PAGE);
	to = sge_of(&sb.m, 0, 8 * PAGE);
	must_be(post_recv(&p.b, 2, &to, 1), 0);
	wr = wr_of(1, IBV_WR_SEND, &from, 1);
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.b.rcq, 2, IBV_WC_LOC_PROT_ERR);
	wc_want(p.a.scq, 1, IBV_WC_REM_OP_ERR);
	state_becomes(&p.b, IBV_QPS_ERR);
}

/* A refused address is accepted again after it has been mapped again. */
static void gone_and_back(void)
{
	int i;

	setup(WAY_RANGE, WAY_RANGE);
	for (i = 0; i < 3; i++) {
		must_be(munmap(sb.start, CHUNK), 0);
		refused(IBV_WR_RDMA_WRITE, 0, 100);
		must_be(to_state(&p.a, IBV_QPS_RESET), 0);
		must_be(to_state(&p.b, IBV_QPS_RESET), 0);
		connect_pair(&p);
		must(mmap(sb.start, CHUNK, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
		     sb.start);
		fill(sa.m.p, 100, i);
		write_b(1, sb.m.mr, (uintptr_t)sb.m.p, 100, IBV_WC_SUCCESS);
		same(sb.m.p, 100, i, "what arrived");
	}
}

static void read_only(void)
{
	setup(WAY_RANGE, WAY_RANGE);
	memset(sb.m.p, GUARD, 4 * PAGE);
	must_be(mprotect(sb.start, sb.size, PROT_READ), 0);
	write_b(1, sb.m.mr, (uintptr_t)sb.m.p, 0, IBV_WC_SUCCESS);
	refused(IBV_WR_RDMA_WRITE, 5, 2 * PAGE);
	untouched(sb.m.p, 4 * PAGE, "the read-only memory");
}

static void read_only_reads(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr;

	setup(WAY_RANGE, WAY_RANGE);
	fill(sb.m.p, 4 * PAGE, 3);
	store_drop(&sb);
	must_be(mprotect(sb.start, sb.size, PROT_READ), 0);
	sge = sge_of(&sa.m, 0, 4 * PAGE);
	wr = wr_of(1, IBV_WR_RDMA_READ, &sge, 1);
	wr_target(&wr, &sb.m, 0);
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 1, IBV_WC_SUCCESS);
	same(sa.m.p, 4 * PAGE, 3, "what was read");
	/* the pages are present, but read-only */
	refused(IBV_WR_RDMA_WRITE, 0, 100);
}

/* ---- changes of the address space ---- */

static void moves_away(void)
{
	__u8 *to;

	setup(WAY_RANGE, WAY_ALL);
	go(&p.a, &p.b, &sa, &sb, IBV_WR_RDMA_WRITE, EDGE, EDGE, 70001);
	to = map_make(SIZE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	must(mremap(sb.start, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, to) ==
	     to);
	fill(sa.m.p, 70000, 1);
	write_b(1, sb.m.mr, (uintptr_t)to, 70000, IBV_WC_SUCCESS);
	same(to, 70000, 1, "where it is now");
	refused(IBV_WR_RDMA_WRITE, EDGE, 100);
}

/* A child's writes do not change the parent's memory. */
static void forks(void)
{
	int status, pipes[2];
	struct mem m;
	pid_t pid;
	char c;
	int i;

	odp_pair();
	store_make(&sa, &sides[0], SIZE, 0, WAY_RANGE, FULL_ACCESS);
	fresh(&m, &sides[1], 16 * PAGE, FULL_ACCESS);
	fill(sa.m.p, 16 * PAGE, 1);
	write_b(1, m.mr, (uintptr_t)m.p, 16 * PAGE, IBV_WC_SUCCESS);
	must_be(pipe(pipes), 0);
	pid = fork();
	must(pid >= 0);
	if (!pid) {
		close(pipes[1]);
		for (i = read(pipes[0], &c, 1); i < (int)(16 * PAGE); i++)
			if (m.p[i] != pattern(1, i))
				_exit(1);
		_exit(0);
	}
	fill(sa.m.p, 16 * PAGE, 2);
	write_b(2, m.mr, (uintptr_t)m.p, 16 * PAGE, IBV_WC_SUCCESS);
	same(m.p, 16 * PAGE, 2, "the parent's memory");
	close(pipes[1]);
	must_be(waitpid(pid, &status, 0), pid);
	close(pipes[0]);
	must_be(status, 0);
}

static void map_huge(size_t len)
{
	__u8 *room = map_make(len + CHUNK, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	__u8 *start = (__u8 *)(((uintptr_t)room + CHUNK - 1) & ~(CHUNK - 1));

	sb.start = start;
	sb.size = len;
	sb.m.p = start;
	sb.m.len = len;
	if (access("/sys/kernel/mm/transparent_hugepage/enabled", F_OK))
		case_skip("no huge pages here");
	must_be(madvise(start, len, MADV_HUGEPAGE), 0);
	mem_own(&sb.m, sides[1].pd, ON_DEMAND);
}

/* Huge pages that are created, split and lost under a region */
static void huge_pages(void)
{
	size_t len = 2 * CHUNK - 100;
	int i;

	odp_pair();
	store_make(&sa, &sides[0], SIZE, 13, WAY_RANGE, FULL_ACCESS);
	map_huge(3 * CHUNK);
	for (i = 0; i < 4; i++) {
		__u8 *at = sb.m.p + 33;

		fill(sa.m.p, len, i);
		write_b(i, sb.m.mr, (uintptr_t)at, len, IBV_WC_SUCCESS);
		same(at, len, i, "what arrived");
		/* split the huge pages */
		must_be(mprotect(sb.start + 3 * PAGE, PAGE, PROT_READ), 0);
		must_be(madvise(sb.start + CHUNK + PAGE, PAGE, MADV_DONTNEED),
			0);
		must_be(mprotect(sb.start + 3 * PAGE, PAGE,
				 PROT_READ | PROT_WRITE), 0);
		fill(sa.m.p, len, i + 10);
		write_b(i, sb.m.mr, (uintptr_t)at, len, IBV_WC_SUCCESS);
		same(at, len, i + 10, "what arrived in the split pages");
		madvise(sb.start, CHUNK, MADV_COLLAPSE);	/* may fail */
		same(at, len, i + 10, "the collapsed page");
		fill(sa.m.p, len, i + 20);
		write_b(i, sb.m.mr, (uintptr_t)at, len, IBV_WC_SUCCESS);
		same(at, len, i + 20, "what arrived in the collapsed page");
		must_be(madvise(sb.start, 3 * CHUNK, MADV_DONTNEED), 0);
	}
}

/* ---- slow pages ---- */

static struct {
	int		fd;
	__u8		*page;
	int		wait_ms;
	pthread_t	thread;
} slow;

static bool slow_read(struct uffd_msg *msg, int timeout_ms)
{
	struct pollfd fd = { .fd = slow.fd, .events = POLLIN };

	return poll(&fd, 1, timeout_ms) == 1 &&
	       read(slow.fd, msg, sizeof(*msg)) == sizeof(*msg);
}

static void *slow_serve(void *arg)
{
	struct uffd_msg msg;
	__u8 src[PAGE];
	struct uffdio_copy copy = {
		.src = (uintptr_t)src,
		.len = PAGE,
	};

	memset(src, 0x77, sizeof(src));
	while (slow_read(&msg, -1)) {
		usleep(slow.wait_ms * 1000);
		copy.dst = msg.arg.pagefault.address & ~(PAGE - 1);
		if (ioctl(slow.fd, UFFDIO_COPY, &copy))
			return arg;
	}
	return arg;
}

static void slow_end(void)
{
	if (slow.thread) {
		pthread_cancel(slow.thread);
		pthread_join(slow.thread, NULL);
	}
	close(slow.fd);
	slow.thread = 0;
}

/*
 * From now on this process provides the pages of @m, @wait_ms after they are requested.
 * Pages may be present already, from a fetch of an earlier case; these are dropped.
 */
static void slow_make(struct mem *m, int wait_ms)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = {
		.range = { .start = (uintptr_t)m->p, .len = m->len },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	slow.fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (slow.fd < 0)
		case_skip("no userfaultfd here");
	case_end = slow_end;
	must_be(ioctl(slow.fd, UFFDIO_API, &api), 0);
	must_be(ioctl(slow.fd, UFFDIO_REGISTER, &reg), 0);
	must_be(madvise(m->p, m->len, MADV_DONTNEED), 0);
	slow.wait_ms = wait_ms;
}

/* Retries end after 2 to 4.3 seconds with these; a page takes longer. */
#define SLOW_TIMEOUT	17
#define SLOW_RETRY	1
#define SLOW_MS		5000

/* A page that takes longer than all timeouts is not mistaken for packet loss. */
static void slow_source(void)
{
	struct opt o = odp_opt();
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct mem m;

	o.timeout = SLOW_TIMEOUT;
	o.retry = SLOW_RETRY;
	pair_make(&p, &o, &o);
	stores(WAY_RANGE, WAY_PINNED);
	fresh(&m, &sides[0], PAGE, FULL_ACCESS);
	slow_make(&m, SLOW_MS);
	must_be(pthread_create(&slow.thread, NULL, slow_serve, NULL), 0);
	sge = sge_of(&m, 0, PAGE);
	wr = wr_of(1, IBV_WR_RDMA_WRITE, &sge, 1);
	wr_target(&wr, &sb.m, 0);
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 1, IBV_WC_SUCCESS);
	must_be(sb.m.p[PAGE - 1], 0x77);
}

static void slow_sink(void)
{
	struct opt o = odp_opt();
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct mem m;

	o.timeout = SLOW_TIMEOUT;
	o.retry = SLOW_RETRY;
	pair_make(&p, &o, &o);
	stores(WAY_RANGE, WAY_PINNED);
	fill(sb.m.p, PAGE / 2, 1);
	fresh(&m, &sides[0], PAGE, FULL_ACCESS);
	slow_make(&m, SLOW_MS);
	must_be(pthread_create(&slow.thread, NULL, slow_serve, NULL), 0);
	sge = sge_of(&m, 0, PAGE / 2);
	wr = wr_of(1, IBV_WR_RDMA_READ, &sge, 1);
	wr_target(&wr, &sb.m, 0);
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 1, IBV_WC_SUCCESS);
	same(m.p, PAGE / 2, 1, "what was read");
	must_be(m.p[PAGE - 1], 0x77);
}

/* A page of B that is registered on demand, until the case deregisters it */
static void page_to_dereg(struct mem *m)
{
	m->len = PAGE;
	m->p = map_make(m->len, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	m->mr = ibv_reg_mr(sides[1].pd, m->p, m->len, ON_DEMAND);
	must(m->mr);
}

/* Destroying objects does not wait for a page that never arrives. */
static void slow_for_ever(void)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct mem m;

	odp_pair();
	stores(WAY_RANGE, WAY_RANGE);
	page_to_dereg(&m);
	slow_make(&m, 0);
	sge = sge_of(&sa.m, 0, 100);
	wr = wr_of(1, IBV_WR_RDMA_WRITE, &sge, 1);
	wr_target(&wr, &m, 0);
	must_be(post_one(&p.a, &wr), 0);
	wc_none(p.a.scq, 50);
	must_be(ibv_dereg_mr(m.mr), 0);
	must_be(to_state(&p.b, IBV_QPS_ERR), 0);
	must_be(to_state(&p.b, IBV_QPS_RESET), 0);
	end_destroy_qp(&p.b);
	end_destroy_qp(&p.a);
}

#define SERVED	32	/* page faults of one user that are served at a time */
#define WAITING	8	/* page faults queued behind those */

/*
 * The page that is requested next.  userfaultfd reports a page again when the thread that
 * waits for it is woken spuriously; @asked has those reported so far.
 */
static size_t slow_asked(const struct mem *m, bool *asked)
{
	struct uffd_msg msg;
	size_t page;

	do {
		if (!slow_read(&msg, BOUND))
			case_fail("no page is requested");
		must_be(msg.event, UFFD_EVENT_PAGEFAULT);
		page = (msg.arg.pagefault.address - (uintptr_t)m->p) / PAGE;
		must(page < m->len / PAGE);
	} while (asked[page]);
	asked[page] = true;

	return page;
}

static void slow_give(const struct mem *m, size_t page)
{
	static __u8 src[PAGE];
	struct uffdio_copy copy = {
		.src = (uintptr_t)src,
		.dst = (uintptr_t)m->p + page * PAGE,
		.len = PAGE,
	};

	must_be(ioctl(slow.fd, UFFDIO_COPY, &copy), 0);
}

/* B processes a SEND and a READ of @m in one run; the page for the READ is absent. */
static void send_and_miss(struct mem *m)
{
	struct ibv_sge at_a[2], at_b;
	struct ibv_send_wr wr[2];
	bool asked[1] = {};

	slow_make(m, 0);
	at_a[0] = sge_of(&sa.m, 0, 100);
	at_a[1] = sge_of(&sa.m, PAGE, 100);
	at_b = sge_of(&sb.m, 0, 100);
	must_be(post_recv(&p.b, 3, &at_b, 1), 0);
	wr[0] = wr_of(1, IBV_WR_SEND, &at_a[0], 1);
	wr[1] = wr_of(2, IBV_WR_RDMA_READ, &at_a[1], 1);
	wr_target(&wr[1], m, 0);
	wr[0].next = &wr[1];
	must_be(post_one(&p.a, wr), 0);
	must_be(slow_asked(m, asked), 0);
}

static void slow_make_once(struct mem *m)
{
	struct opt o = odp_opt();

	o.timeout = 0;
	pair_make(&p, &o, &o);
	stores(WAY_PINNED, WAY_PINNED);
	fresh(m, &sides[1], PAGE, FULL_ACCESS);
	send_and_miss(m);
}

/* A queue pair that fails acknowledges the message before a READ that has no answer yet. */
static void slow_to_error(void)
{
	struct mem m;

	slow_make_once(&m);
	must_be(to_state(&p.b, IBV_QPS_ERR), 0);
	wc_want(p.a.scq, 1, IBV_WC_SUCCESS);
	wc_none(p.a.scq, 50);
}

static void slow_fails(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr;
	struct mem m;

	slow_make_once(&m);
	sge = sge_of(&sb.m, 0, 100);
	sge.lkey ^= 0x100;
	wr = wr_of(4, IBV_WR_RDMA_WRITE, &sge, 1);
	wr_target(&wr, &sa.m, 0);
	must_be(post_one(&p.b, &wr), 0);
	wc_want(p.b.scq, 4, IBV_WC_LOC_PROT_ERR);
	wc_want(p.a.scq, 1, IBV_WC_SUCCESS);
	wc_none(p.a.scq, 50);
}

/* A READ whose region is deregistered while it waits is refused, once: see odp.sh. */
static void slow_dereg(void)
{
	struct mem m;

	odp_pair();
	stores(WAY_PINNED, WAY_PINNED);
	page_to_dereg(&m);
	send_and_miss(&m);
	must_be(ibv_dereg_mr(m.mr), 0);
	slow_give(&m, 0);
	wc_want(p.a.scq, 1, IBV_WC_SUCCESS);
	wc_want(p.a.scq, 2, IBV_WC_REM_ACCESS_ERR);
	state_becomes(&p.b, IBV_QPS_ERR);
}

/* Creates a queue pair that sends page @page of @m, which is absent. */
static void miss(struct end *e, struct ibv_ah *ah, const struct mem *m,
		 size_t page)
{
	struct ibv_sge sge = sge_of(m, page * PAGE, 1000);
	struct ibv_send_wr wr = wr_of(page, IBV_WR_SEND, &sge, 1);

	ud_make(e, &sides[0]);
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = e->qp->qp_num;
	wr.wr.ud.remote_qkey = 7;
	must_be(post_one(e, &wr), 0);
}

/* A send queue is draining while a datagram waits for its page. */
static void slow_drain(void)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_SQD,
		.en_sqd_async_notify = 1,
	};
	struct ibv_qp_init_attr init;
	bool asked[1] = {};
	struct ibv_ah *ah;
	struct end e;
	struct mem m;

	fresh(&m, &sides[0], PAGE, FULL_ACCESS);
	slow_make(&m, 0);
	ah = ah_make(&sides[0], NULL, &sides[1].gid);
	miss(&e, ah, &m, 0);
	must_be(slow_asked(&m, asked), 0);
	must_be(ibv_modify_qp(e.qp, &attr, IBV_QP_STATE |
			      IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
	must_be(ibv_query_qp(e.qp, &attr, IBV_QP_STATE, &init), 0);
	must_be(attr.sq_draining, 1);
	slow_give(&m, 0);
	wc_want(e.scq, 0, IBV_WC_SUCCESS);
	event_want(&sides[0], IBV_EVENT_SQ_DRAINED, e.qp);
}

/* Page faults of destroyed and reset queue pairs are not served before later ones. */
static void slow_of_the_gone(void)
{
	static struct end at_work[SERVED], waits[WAITING], last;
	bool asked[SERVED + WAITING + 1] = {};
	struct ibv_ah *ah;
	struct mem m;
	size_t i;

	fresh(&m, &sides[0], (SERVED + WAITING + 1) * PAGE, FULL_ACCESS);
	slow_make(&m, 0);
	ah = ah_make(&sides[0], NULL, &sides[1].gid);
	for (i = 0; i < SERVED; i++) {
		miss(&at_work[i], ah, &m, i);
		must_be(slow_asked(&m, asked), i);
	}
	for (i = 0; i < WAITING; i++)
		miss(&waits[i], ah, &m, SERVED + i);
	for (i = 0; i < WAITING; i += 2)
		end_destroy_qp(&waits[i]);
	for (i = 1; i < WAITING; i += 2)
		must_be(to_state(&waits[i], IBV_QPS_RESET), 0);
	i = SERVED + WAITING;
	miss(&last, ah, &m, i);
	slow_give(&m, 0);
	must_be(slow_asked(&m, asked), i);
	slow_give(&m, i);
	wc_want(last.scq, i, IBV_WC_SUCCESS);
	for (i = 1; i < SERVED; i++)
		slow_give(&m, i);
	for (i = 0; i < SERVED; i++)
		wc_want(at_work[i].scq, i, IBV_WC_SUCCESS);
}

static const struct vrb_case prefetch_cases[] = {
	{ "odp prefetch", "no page faults in later transfers", prefetch_all },
	{ "odp prefetch", "pages become present", prefetch_pages },
	{ "odp prefetch", "asynchronous", prefetch_later },
	{ "odp prefetch", "errors", prefetch_errors },
	{ "odp prefetch", "ranges that are not mapped", prefetch_holes },
	{ "odp prefetch", "mapped ranges without pages", prefetch_sparse },
	{ "odp prefetch", "pages behind absent ones", prefetch_behind },
	{ "odp prefetch", "of a process that has exited", prefetch_of_the_dead },
};

VRB_CASES(prefetch_cases);

static const struct vrb_case odp_cases[] = {
	{ "odp", "capabilities", reg_caps },
	{ "odp", "invalid ranges", reg_refused },
	{ "odp", "every size and offset, ranges", data_range },
	{ "odp", "every size and offset, all memory", data_all },
	{ "odp", "every size and offset, pinned at the responder",
	  data_pinned_there },
	{ "odp", "every size and offset, pinned at the requester",
	  data_pinned_here },
	{ "odp", "SGE list", data_pieces },
	{ "odp", "atomics", data_atomic },
	{ "odp", "ATOMIC WRITE", data_atomic_write },
	{ "odp", "many messages at once", data_batch },
	{ "odp", "uc", data_uc },
	{ "odp", "ud", data_ud },
	{ "odp", "srq", data_srq },
	{ "odp", "registered before it is mapped", reg_ahead },
	{ "odp", "any iova", reg_iova },
	{ "odp", "registered again", reg_again },
	{ "odp", "memory window", reg_window },
	{ "odp", "unmapped: WRITE", gone_write },
	{ "odp", "unmapped: READ", gone_read },
	{ "odp", "unmapped: FETCH_ADD", gone_atomic },
	{ "odp", "unmapped: the whole chunk, after use", gone_after_use },
	{ "odp", "unmapped: source", gone_source },
	{ "odp", "unmapped: sink of a READ", gone_sink },
	{ "odp", "unmapped: receive", gone_receive },
	{ "odp", "unmapped and mapped again", gone_and_back },
	{ "odp", "a read-only mapping is not written", read_only },
	{ "odp", "a read-only mapping is read", read_only_reads },
	{ "odp", "mremap", moves_away },
	{ "odp", "fork", forks },
	{ "odp", "huge pages", huge_pages },
	{ "odp", "a slow page: source", slow_source },
	{ "odp", "a slow page: sink of a READ", slow_sink },
	{ "odp", "a page that never arrives", slow_for_ever },
	{ "odp", "a page that never arrives, QP moved to error", slow_to_error },
	{ "odp", "a page that never arrives, QP fails", slow_fails },
	{ "odp dereg", "of a page that a READ waits for", slow_dereg },
	{ "odp", "a slow page: draining the send queue", slow_drain },
	{ "odp", "page faults of destroyed queue pairs", slow_of_the_gone },
};

VRB_TOPIC("odp", odp_cases);
