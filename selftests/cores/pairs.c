// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - traffic of many processors, between marks that lines.c sees
 *
 * Each processor runs this program.  In each case all of them send messages of one kind, one
 * by one, by queue pairs of their own.  MARK_BEGIN and MARK_END enclose as many messages of
 * each as option -n says.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mark.h"
#include "vrb.h"

#define QKEY	0x11111111
#define SIZE	65536		/* of the memory at an end */
#define LONG	16384		/* several packets, in one GSO chain */
#define SEVERAL	4		/* queue pairs of a thread */

static int cpu, cpus;

static void stay_within(int first, int last)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (; first <= last; first++)
		CPU_SET(first, &set);
	must_be(sched_setaffinity(0, sizeof(set), &set), 0);
}

static void stay_on(int to)
{
	stay_within(to, to);
}

/**
 * struct common - memory that the processes share
 * @arrived: how many have met, in all meetings
 * @counted: messages of all processors
 * @last: the processor that has sent the last one
 * @ring: lines that one processor after the other writes
 */
static struct common {
	atomic_int	arrived;
	atomic_int	counted;
	atomic_int	last;
	struct {
		atomic_int	word;
		char		rest[60];	/* of the line */
	} ring[509];	/* prime: a processor meets the lines of others */
} *common;

static void common_map(void)
{
	int fd = open("/dev/shm/pairs", O_RDWR | O_CREAT, 0600);

	must(fd >= 0);
	must_be(ftruncate(fd, sizeof(*common)), 0);
	common = mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	must(common != MAP_FAILED);
	close(fd);
	cpu = sched_getcpu();
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
}

/* Waits until all processors are here.  Without one of them there is no test. */
static void meet(void)
{
	static int meetings;
	__u64 end = 0;

	if (!common)
		common_map();
	atomic_fetch_add(&common->arrived, 1);
	meetings++;
	while (atomic_load(&common->arrived) < meetings * cpus) {
		if (!wait_more(&end, "processors")) {
			fprintf(stderr, "pairs: a processor is missing\n");
			_exit(1);
		}
	}
}

static void meet_and_begin(void)
{
	meet();
	if (!cpu)
		MARK(MARK_BEGIN);
	meet();
}

static void meet_and_end(void)
{
	meet();
	if (!cpu)
		MARK(MARK_END);
	meet();
}

struct both {
	struct pair	pair;
	struct mem	from;
	struct mem	to;
	struct ibv_ah	*ah;
};

static void both_make(struct both *x, enum ibv_qp_type type)
{
	struct opt o = opt_default;

	o.type = type;
	end_make(&x->pair.a, &sides[0], &o);
	end_make(&x->pair.b, &sides[1], &o);
	mem_make(&x->from, &sides[0], SIZE, FULL_ACCESS);
	mem_make(&x->to, &sides[1], SIZE, FULL_ACCESS);
	if (type != IBV_QPT_UD) {
		connect_pair(&x->pair);
		return;
	}
	connect_ud(&x->pair.a, QKEY);
	connect_ud(&x->pair.b, QKEY);
	x->ah = ah_make(&sides[0], NULL, &sides[1].gid);
}

static void message(struct both *x, enum ibv_wr_opcode op, size_t size)
{
	struct ibv_sge from = sge_of(&x->from, 0, size), to = sge_of(&x->to, 0, SIZE);
	struct ibv_send_wr wr = wr_of(1, op, &from, 1);

	if (x->ah) {
		wr.wr.ud.ah = x->ah;
		wr.wr.ud.remote_qpn = x->pair.b.qp->qp_num;
		wr.wr.ud.remote_qkey = QKEY;
	} else {
		wr_target(&wr, &x->to, 0);
	}
	if (op == IBV_WR_SEND)
		must_be(post_recv(&x->pair.b, 2, &to, 1), 0);
	must_be(post_one(&x->pair.a, &wr), 0);
	wc_want(x->pair.a.scq, 1, IBV_WC_SUCCESS);
	if (op == IBV_WR_SEND)
		wc_want(x->pair.b.rcq, 2, IBV_WC_SUCCESS);
}

/* What is to be done before the message @i that is counted */
typedef void (*each_fn)(int i);

/*
 * An emulated processor runs until its next interrupt, unless it pauses: then the others do,
 * and their messages alternate.
 */
static void messages_each(enum ibv_qp_type type, enum ibv_wr_opcode op, size_t size,
			  each_fn each)
{
	struct both x = {};
	int i;

	both_make(&x, type);
	for (i = 0; i < rounds / 4; i++)
		message(&x, op, size);
	meet_and_begin();
	for (i = 0; i < rounds; i++) {
		if (each)
			each(i);
		message(&x, op, size);
		__builtin_ia32_pause();
	}
	meet_and_end();
}

static void messages(enum ibv_qp_type type, enum ibv_wr_opcode op, size_t size)
{
	messages_each(type, op, size, NULL);
}

static void write_64(void)
{
	messages(IBV_QPT_RC, IBV_WR_RDMA_WRITE, 64);
}

static void write_16k(void)
{
	messages(IBV_QPT_RC, IBV_WR_RDMA_WRITE, LONG);
}

static void read_64(void)
{
	messages(IBV_QPT_RC, IBV_WR_RDMA_READ, 64);
}

static void read_16k(void)
{
	messages(IBV_QPT_RC, IBV_WR_RDMA_READ, LONG);
}

static void fetch_add(void)
{
	messages(IBV_QPT_RC, IBV_WR_ATOMIC_FETCH_AND_ADD, 8);
}

static void send_64(void)
{
	messages(IBV_QPT_RC, IBV_WR_SEND, 64);
}

static void send_16k(void)
{
	messages(IBV_QPT_RC, IBV_WR_SEND, LONG);
}

static void datagram(void)
{
	messages(IBV_QPT_UD, IBV_WR_SEND, 64);
}

/* What shared.py must notice: every second message is sent by another processor. */
static void move(int i)
{
	stay_on((cpu + (i & 1) * cpus / 2) % cpus);
}

static void moving(void)
{
	messages_each(IBV_QPT_RC, IBV_WR_RDMA_WRITE, 64, move);
	stay_on(cpu);
}

/* Likewise: a shared line is written for every fourth message, */
static void count(int i)
{
	if (i % 4 == 0)
		atomic_fetch_add(&common->counted, 1);
}

static void counting(void)
{
	messages_each(IBV_QPT_RC, IBV_WR_RDMA_WRITE, 64, count);
}

/* or when the last one was another processor's, */
static void compare(int i)
{
	(void)i;
	if (atomic_load(&common->last) != cpu)
		atomic_store(&common->last, cpu);
}

static void comparing(void)
{
	messages_each(IBV_QPT_RC, IBV_WR_RDMA_WRITE, 64, compare);
}

/* or a line of a shared ring for each one. */
static void rotate(int i)
{
	atomic_store(&common->ring[(cpu + i * cpus) % ARRAY_SIZE(common->ring)].word, i);
}

static void rotating(void)
{
	messages_each(IBV_QPT_RC, IBV_WR_RDMA_WRITE, 64, rotate);
}

static long handed_over(void)
{
	FILE *f = fopen("/sys/class/infiniband/sr0/ports/1/hw_counters/doorbell_handed_over", "r");
	long count;

	must(f && fscanf(f, "%ld", &count) == 1);
	fclose(f);

	return count;
}

static void write_post(struct both *x)
{
	struct ibv_sge from = sge_of(&x->from, 0, SIZE);
	struct ibv_send_wr wr = wr_of(1, IBV_WR_RDMA_WRITE, &from, 1);

	wr_target(&wr, &x->to, 0);
	must_be(post_one(&x->pair.a, &wr), 0);
}

/* Other processors run while this one pauses. */
static void write_wait(struct both *x)
{
	struct ibv_wc wc;

	while (!ibv_poll_cq(x->pair.a.scq, 1, &wc))
		__builtin_ia32_pause();
	must_be(wc.status, IBV_WC_SUCCESS);
}

/* One WRITE by each of @num queue pairs, @rounds times */
static void writes(struct both *x, int num)
{
	int i, n;

	for (n = 0; n < rounds; n++) {
		for (i = 0; i < num; i++)
			write_post(&x[i]);
		for (i = 0; i < num; i++)
			write_wait(&x[i]);
	}
}

/* The queue pairs one by one, then all of them: 1 + SEVERAL reports */
static void several_count(struct both x[SEVERAL])
{
	long before;
	int i;

	for (i = 0; i < SEVERAL; i++) {
		MARK(MARK_BEGIN);
		writes(&x[i], 1);
		MARK(MARK_END);
	}
	stay_within(0, cpus - 1);
	writes(x, SEVERAL);
	before = handed_over();
	MARK(MARK_BEGIN);
	writes(x, SEVERAL);
	MARK(MARK_END);
	must(handed_over() - before >= rounds / 2);
	stay_on(cpu);
}

/*
 * A thread of processor 0 posts to several queue pairs while the other processors are idle;
 * @shared: the queue pairs share a region.
 */
static void several_write(bool shared)
{
	struct both x[SEVERAL] = {};
	int i;

	meet();
	for (i = 0; i < SEVERAL && !cpu; i++) {
		both_make(&x[i], IBV_QPT_RC);
		if (shared)
			x[i].to = x[0].to;
	}
	if (!cpu)
		several_count(x);
	meet();
}

static void several(void)
{
	several_write(false);
}

static void sharing(void)
{
	several_write(true);
}

static const struct vrb_case cases[] = {
	{ "lines", "WRITE of 64 bytes", write_64 },
	{ "lines", "WRITE of 16 KiB", write_16k },
	{ "lines", "READ of 64 bytes", read_64 },
	{ "lines", "READ of 16 KiB", read_16k },
	{ "lines", "FETCH_ADD", fetch_add },
	{ "lines", "SEND of 64 bytes", send_64 },
	{ "lines", "SEND of 16 KiB", send_16k },
	{ "lines", "datagram of 64 bytes", datagram },
	{ "lines", "several queue pairs", several },
	{ "lines", "sharing", sharing },
	{ "lines", "moving", moving },
	{ "lines", "counting", counting },
	{ "lines", "comparing", comparing },
	{ "lines", "rotating", rotating },
};

VRB_CASES(cases)
