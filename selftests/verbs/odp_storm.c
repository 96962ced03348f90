// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: on-demand memory while it is being unmapped
 *
 * A thread unmaps and moves pages continuously, in all ways that preserve their data.
 * Traffic must not be affected.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "odp.h"

#define SIZE	(256 * PAGE)
#define LONGEST	40000

static struct pair p;
static struct store sa, sb;
static struct {
	pthread_t	thread;
	bool		stop;
	unsigned int	turns;
} storm;

static unsigned int rnd(unsigned int *seed, unsigned int n)
{
	*seed = *seed * 1103515245 + 12345;
	return (*seed >> 8) % n;
}

/* ---- the storm ---- */

static void take(struct store *st, __u8 *at, size_t len)
{
	(void)st;
	madvise(at, len, MADV_DONTNEED);
}

static void protect(struct store *st, __u8 *at, size_t len)
{
	(void)st;
	mprotect(at, len, PROT_READ | PROT_WRITE | PROT_EXEC);
	mprotect(at, len, PROT_READ | PROT_WRITE);
}

/* Replaces the mapping by another one of the same pages. */
static void replace(struct store *st, __u8 *at, size_t len)
{
	__u8 *twin = mremap(at, 0, len, MREMAP_MAYMOVE);

	(void)st;
	if (twin == MAP_FAILED)
		return;
	if (mremap(twin, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, at) != at)
		munmap(twin, len);
}

static void spawn(struct store *st, __u8 *at, size_t len)
{
	pid_t pid = fork();

	(void)st;
	(void)len;
	if (!pid)
		_exit(*at & 1);
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

typedef void (*storm_fn)(struct store *st, __u8 *at, size_t len);

static const storm_fn gusts[] = { take, take, take, protect, replace };

static void *storm_run(void *arg)
{
	unsigned int seed = 1;

	while (!__atomic_load_n(&storm.stop, __ATOMIC_RELAXED)) {
		struct store *st = rnd(&seed, 2) ? &sa : &sb;
		size_t first = rnd(&seed, st->size / PAGE);
		size_t num = 1 + rnd(&seed, st->size / PAGE - first);

		gusts[rnd(&seed, ARRAY_SIZE(gusts))](st, st->start +
						     first * PAGE, num * PAGE);
		if (!rnd(&seed, 200))
			spawn(st, st->start + first * PAGE, num * PAGE);
		__atomic_fetch_add(&storm.turns, 1, __ATOMIC_RELAXED);
		usleep(rnd(&seed, 4) ? 0 : 300);
	}
	return arg;
}

static void storm_end(void)
{
	__atomic_store_n(&storm.stop, true, __ATOMIC_RELAXED);
	pthread_join(storm.thread, NULL);
}

static void storm_begin(void)
{
	storm.stop = false;
	storm.turns = 0;
	must_be(pthread_create(&storm.thread, NULL, storm_run, NULL), 0);
	case_end = storm_end;
}

/* Must the storm do more rounds? */
static bool storm_is_young(void)
{
	return __atomic_load_n(&storm.turns, __ATOMIC_RELAXED) <
	       (unsigned int)rounds;
}

/* ---- traffic during the storm ---- */

static void setup(enum way way)
{
	struct opt o = odp_opt();

	pair_make(&p, &o, &o);
	store_make(&sa, &sides[0], SIZE, 13, way, FULL_ACCESS);
	store_make(&sb, &sides[1], SIZE, 7, way, FULL_ACCESS);
}

/* One message between a's memory and b's */
static void one(enum ibv_wr_opcode op, unsigned int *seed)
{
	bool read = op == IBV_WR_RDMA_READ;
	size_t len = 1 + rnd(seed, LONGEST);
	size_t off_a = 64 + rnd(seed, sa.m.len - len - 128);
	size_t off_b = 64 + rnd(seed, sb.m.len - len - 128);
	__u8 *from = read ? sb.m.p + off_b : sa.m.p + off_a;
	__u8 *to = read ? sa.m.p + off_a : sb.m.p + off_b;
	struct ibv_sge sge = sge_of(&sa.m, off_a, len);
	struct ibv_sge room = sge_of(&sb.m, off_b, len);
	struct ibv_send_wr wr = wr_of(1, op, &sge, 1);

	fill(from, len, *seed);
	memset(to - 64, GUARD, len + 128);
	if (op == IBV_WR_SEND)
		must_be(post_recv(&p.b, 2, &room, 1), 0);
	else
		wr_target(&wr, &sb.m, off_b);
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 1, IBV_WC_SUCCESS);
	if (op == IBV_WR_SEND)
		wc_want(p.b.rcq, 2, IBV_WC_SUCCESS);
	same(to, len, *seed, "what arrived");
	untouched(to - 64, 64, "before it");
	untouched(to + len, 64, "behind it");
}

static void data(enum way way)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
	};
	unsigned int seed = 7;
	int i;

	setup(way);
	storm_begin();
	for (i = 0; i < 10 * rounds || storm_is_young(); i++)
		one(ops[i % 3], &seed);
}

static void data_range(void)
{
	data(WAY_RANGE);
}

static void data_all(void)
{
	data(WAY_ALL);
}

/* Neither the peer's nor the local process's additions are lost. */
static void atomics(void)
{
	struct opt o = odp_opt();
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	__u64 *word;
	int i, k;

	pair_make(&p, &o, &o);
	store_make(&sa, &sides[0], SIZE, 0, WAY_RANGE, FULL_ACCESS);
	store_make(&sb, &sides[1], SIZE, 0, WAY_RANGE, FULL_ACCESS);
	word = (__u64 *)(sb.m.p + 5 * PAGE);
	sge = sge_of(&sa.m, PAGE - 8, 8);
	storm_begin();
	for (i = 0; i < 2 * rounds || storm_is_young(); i++) {
		for (k = 0; k < 8; k++) {
			wr = wr_of(k, IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, 1);
			wr_target(&wr, &sb.m, 5 * PAGE);
			wr.wr.atomic.compare_add = 1;
			must_be(post_one(&p.a, &wr), 0);
			__atomic_fetch_add(word, 1ULL << 32, __ATOMIC_RELAXED);
		}
		for (k = 0; k < 8; k++) {
			wc_want(p.a.scq, k, IBV_WC_SUCCESS);
			__atomic_fetch_add(word, 1ULL << 32, __ATOMIC_RELAXED);
		}
	}
	must_be(*word & 0xffffffff, 8 * i);
	must_be(*word >> 32, 16 * i);
}

/* A region and its memory are removed while it is written to. */
static void goes_away(void)
{
	struct opt o = odp_opt();
	struct ibv_wc wc = {};
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct mem m;
	int i, k;

	for (i = 0; i < rounds; i++) {
		pair_make(&p, &o, &o);
		if (!i)
			store_make(&sa, &sides[0], SIZE, 0, WAY_RANGE,
				   FULL_ACCESS);
		m.len = SIZE / 2;
		m.p = mmap(NULL, m.len, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		must(m.p != MAP_FAILED);
		m.mr = ibv_reg_mr(sides[1].pd, m.p, m.len, FULL_ACCESS |
				  IBV_ACCESS_ON_DEMAND);
		must(m.mr);
		store_drop(&sa);
		for (k = 0; k < 8; k++) {
			sge = sge_of(&sa.m, 0, m.len);
			wr = wr_of(k, IBV_WR_RDMA_WRITE, &sge, 1);
			wr_target(&wr, &m, 0);
			must_be(post_one(&p.a, &wr), 0);
		}
		usleep(i * 50);
		if (i & 1) {
			must_be(munmap(m.p, m.len), 0);
			must_be(ibv_dereg_mr(m.mr), 0);
		} else {
			must_be(ibv_dereg_mr(m.mr), 0);
			must_be(munmap(m.p, m.len), 0);
		}
		do {
			if (!wc_wait(p.a.scq, &wc, BOUND))
				case_fail("the writes do not end");
		} while (wc.status == IBV_WC_SUCCESS && wc.wr_id < 7);
		must(wc.status == IBV_WC_SUCCESS ||
		     wc.status == IBV_WC_REM_ACCESS_ERR);
		end_destroy_qp(&p.a);
		end_destroy_qp(&p.b);
	}
}

/* ---- several threads prefetch the same range ---- */

#define FETCHERS	3

static pthread_t fetchers[FETCHERS];

static void *fetch_run(void *arg)
{
	const struct mem *m = arg;
	struct ibv_sge sge = sge_of(m, 0, m->len);

	while (!__atomic_load_n(&storm.stop, __ATOMIC_RELAXED))
		ibv_advise_mr(m->mr->pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
			      IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1);
	return arg;
}

static void fetch_end(void)
{
	int i;

	__atomic_store_n(&storm.stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < FETCHERS; i++)
		pthread_join(fetchers[i], NULL);
}

/* Replaces the mapping by a new one with protection @prot. */
static void map_over(const struct mem *m, int prot)
{
	must(mmap(m->p, m->len, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		  -1, 0) == m->p);
}

/* Threads find, miss and evict the same translations at the same time. */
static void comes_and_goes(void)
{
	static struct mem m = { .len = 4 * PAGE };
	unsigned int seed = run_seed;
	int i;

	m.p = map_make(m.len, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	mem_own(&m, sides[1].pd, FULL_ACCESS | IBV_ACCESS_ON_DEMAND);
	storm.stop = false;
	for (i = 0; i < FETCHERS; i++)
		must_be(pthread_create(&fetchers[i], NULL, fetch_run, &m), 0);
	case_end = fetch_end;
	for (i = 0; i < 100 * rounds; i++) {
		map_over(&m, PROT_READ | PROT_WRITE);
		usleep(rnd(&seed, 4) ? 0 : rnd(&seed, 100));
		map_over(&m, PROT_NONE);
	}
}

static const struct vrb_case odp_storm_cases[] = {
	{ "odp storm", "SEND, WRITE and READ, ranges", data_range },
	{ "odp storm", "SEND, WRITE and READ, all memory", data_all },
	{ "odp storm", "atomics of both sides", atomics },
	{ "odp storm", "region deregistered and unmapped", goes_away },
	{ "odp storm", "several threads prefetch remapped memory", comes_and_goes },
};

VRB_TOPIC("odp", odp_storm_cases);
