// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - when does a process get a thread of the device, and when does that run?
 *
 * usage: worker DEV CASE [NETNS DEV]
 *
 *	fifo	a real-time thread posts, and polls without a system call: its requests do not
 *		wait for a thread that never has the processor, be it new or not
 *	signal	a signal is pending when a thread would be created: the next doorbell creates it
 *	close	the process closes the device: its thread ends
 *	fair	many queue pairs have requests left: none is far behind the others
 *	beside	of two queues one always has requests left, and the other is polled: that is not
 *		kept waiting
 *	several	a thread posts long WRITEs to several queue pairs in turn
 *	single	the same, to one queue pair
 *	short	short WRITEs to several
 *	bound	long ones to several, by a thread that is bound to a processor
 *	behind	long ones to several, while the device's thread has a lower priority
 *	idle	the same, by its policy, SCHED_IDLE
 *	ahead	long ones to several, while the device's thread has a higher priority
 *	many	long ones to several, until there are two threads of the device
 *	receive	doorbells of a receive queue create no thread, whoever uses the queue pair
 *	busy	a peer, on the other device, reads without end: the requests that were left to the
 *		thread are done nevertheless, while the peer gets a limited number of responses
 *	flood	the same, with short WRITEs
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>

#include "procs.h"
#include "rc.h"

#define DEPTH 32768		/* busy: work requests, more than a doorbell does */
#define LENGTH (4 << 20)	/* bytes of a long WRITE */
#define LONG 64			/* long WRITEs that no doorbell finishes */
#define REPEATS 8		/* fifo: doorbells with as many */
#define SEVERAL 4		/* several: pairs of queue pairs */
#define SHARED (256 << 10)	/* bytes of each WRITE */
#define TURNS 200		/* and posts to each */
#define PAIRS 32		/* fair: pairs of queue pairs */
#define SHARE 48		/* fair: WRITEs on each */
#define READS 4			/* that the peer has in flight */
#define READ_LENGTH (8 << 20)
#define BELLS 1000
#define ROUNDS 16		/* busy: doorbells of DEPTH requests */
#define TRIES 100		/* fair, beside */

/**
 * struct flow - requests of the peer
 * @opcode: what it requests
 * @length: bytes of each
 * @depth: how many are in flight
 * @most: how many complete in a round, at most; 0: any number
 */
struct flow {
	enum ibv_wr_opcode	opcode;
	__u32			length;
	unsigned int		depth;
	unsigned int		most;
};

static const struct flow busy_flow = { IBV_WR_RDMA_READ, READ_LENGTH, READS, 200 };
static const struct flow flood_flow = { IBV_WR_RDMA_WRITE, 1024, 128, 0 };

/* What a process tells the other about itself */
struct end {
	union ibv_gid	gid;
	__u32		qpn;
	__u32		rkey;
	int		step;		/* 1: the above is valid, 2: the queue pair is connected */
};

struct shared {
	struct end	ends[2];
	unsigned int	visits;		/* requests of the peer that have completed */
	char		memory[2][READ_LENGTH];
};

static struct shared *all;
static const char *device;
static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static union ibv_gid gid;
static int gid_index;

static _Noreturn void die(const char *what)
{
	printf("%s: %s: %s\n", device, what, strerror(errno));
	exit(1);
}

/* ---- objects ---- */

static void device_open(void)
{
	ctx = rc_open(device);
	if (!ctx)
		die("open");
	pd = ibv_alloc_pd(ctx);
	cq = ibv_create_cq(ctx, PAIRS * SHARE + DEPTH, NULL, NULL, 0);
	if (!pd || !cq)
		die("PD, CQ");
	mr = ibv_reg_mr(pd, all, sizeof(*all), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_MW_BIND);
	if (!mr)
		die("MR");
	gid_index = rc_gid(ctx, &gid);
	if (gid_index < 0)
		die("GID");
}

static struct ibv_qp *qp_make(int depth)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = cq,
		.recv_cq = cq,
		.sq_sig_all = 1,
		.cap = {
			.max_send_wr = depth, .max_recv_wr = 1,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	if (!qp)
		die("QP");
	return qp;
}

static void qp_connect(struct ibv_qp *qp, const union ibv_gid *dgid, __u32 qpn)
{
	const char *failed = rc_connect(qp, (struct ibv_qp_attr) {
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
		.path_mtu = IBV_MTU_4096,
		.dest_qp_num = qpn,
		.max_dest_rd_atomic = READS,
		.ah_attr = rc_path(dgid, gid_index),
		.max_rd_atomic = READS,
	});

	if (failed)
		die(failed);
}

/* Return: the sending one of two queue pairs that are connected by loopback. */
static struct ibv_qp *pair_make(void)
{
	struct ibv_qp *source = qp_make(2 * LONG), *sink = qp_make(1);

	qp_connect(sink, &gid, source->qp_num);
	qp_connect(source, &gid, sink->qp_num);
	return source;
}

/* Posts @num WRITEs by one doorbell. */
static void post_all(struct ibv_qp *qp, int num, __u64 id, __u32 length)
{
	static struct ibv_send_wr wrs[LONG];
	struct ibv_send_wr *bad;
	struct ibv_sge sge = {
		.addr = (uintptr_t)all->memory[0], .length = length, .lkey = mr->lkey,
	};
	int i;

	for (i = 0; i < num; i++)
		wrs[i] = (struct ibv_send_wr) {
			.wr_id = id,
			.next = i + 1 < num ? &wrs[i + 1] : NULL,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = IBV_WR_RDMA_WRITE,
			.wr.rdma = {
				.remote_addr = (uintptr_t)all->memory[1], .rkey = mr->rkey,
			},
		};
	if (ibv_post_send(qp, wrs, &bad))
		die("post");
}

/* Posts @num long WRITEs by one doorbell. */
static void writes_post(struct ibv_qp *qp, int num, __u64 id)
{
	post_all(qp, num, id, LENGTH);
}

/* Polls without a system call.  Return: the wr_id of the next completion. */
static __u64 complete(void)
{
	struct ibv_wc wc;
	int got;

	while (!(got = ibv_poll_cq(cq, 1, &wc)))
		;
	if (got < 0)
		die("poll");
	if (wc.status) {
		errno = EBADMSG;
		die(ibv_wc_status_str(wc.status));
	}
	return wc.wr_id;
}

/* ---- threads ---- */

static void must_have_threads(int expected)
{
	int is = threads_of(getpid());

	if (is == expected)
		return;
	printf("%d threads, not %d\n", is, expected);
	errno = ECHILD;
	die("threads");
}

/* ---- fifo ---- */

static void bind_here(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		die("affinity");
}

static void be_scheduled(int policy)
{
	struct sched_param param = { .sched_priority = policy == SCHED_FIFO ? 10 : 0 };

	if (sched_setscheduler(0, policy, &param))
		die("scheduler");
}

static void posts_and_spins(struct ibv_qp *qp)
{
	int i;

	writes_post(qp, LONG, 0);
	for (i = 0; i < LONG; i++)
		complete();
}

/* Processor time of the device's thread, in ticks */
static long thread_ticks(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct thread_stat stat;
	struct dirent *entry;
	char path[300];
	long ticks = 0;

	if (!dir)
		die("/proc");
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || atoi(entry->d_name) == getpid())
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%s/stat", entry->d_name);
		if (!thread_stat_read(path, &stat))
			die(path);
		ticks += stat.ticks;
	}
	closedir(dir);
	return ticks;
}

/* Return: by how much that has grown. */
static long posts_repeatedly(struct ibv_qp *qp)
{
	long before = thread_ticks();
	int i;

	for (i = 0; i < REPEATS; i++)
		posts_and_spins(qp);
	return thread_ticks() - before;
}

static void fifo(void)
{
	struct ibv_qp *qp = pair_make();
	long other, real_time;

	bind_here();
	be_scheduled(SCHED_FIFO);
	posts_and_spins(qp);
	must_have_threads(1);
	be_scheduled(SCHED_OTHER);
	posts_and_spins(qp);
	must_have_threads(2);
	other = posts_repeatedly(qp);
	be_scheduled(SCHED_FIFO);
	real_time = posts_repeatedly(qp);
	printf("the thread took %ld ticks, and %ld for a real-time thread\n", other, real_time);
	if (real_time * 2 >= other) {
		errno = EBUSY;
		die("requests were left to the other thread");
	}
}

/* ---- signal ---- */

static void handler(int sig)
{
	(void)sig;
}

static void signals(int usecs)
{
	struct itimerval timer = {
		.it_value.tv_usec = usecs, .it_interval.tv_usec = usecs,
	};

	if (setitimer(ITIMER_REAL, &timer, NULL))
		die("timer");
}

static void signal_pending(void)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	int tries;

	sigaction(SIGALRM, &action, NULL);
	for (tries = 0; tries < 20; tries++) {
		struct ibv_qp *qp = pair_make();
		int before = threads_of(getpid());

		signals(200);
		writes_post(qp, LONG, 0);
		signals(0);
		if (threads_of(getpid()) == before) {
			writes_post(qp, LONG, 0);
			must_have_threads(before + 1);
			return;
		}
		/* There was no signal at the right time: once more, without that thread */
		device_open();
	}
	errno = EAGAIN;
	die("no signal was pending");
}

/* ---- close ---- */

static void closes(void)
{
	struct ibv_qp *source = qp_make(LONG), *sink = qp_make(1);
	int i;

	qp_connect(sink, &gid, source->qp_num);
	qp_connect(source, &gid, sink->qp_num);
	writes_post(source, LONG, 0);
	for (i = 0; i < LONG; i++)
		complete();
	must_have_threads(2);
	if (ibv_destroy_qp(source) || ibv_destroy_qp(sink) || ibv_dereg_mr(mr) ||
	    ibv_destroy_cq(cq) || ibv_dealloc_pd(pd) || ibv_close_device(ctx))
		die("close");
	while (threads_of(getpid()) > 1)
		sched_yield();
}

/* ---- fair ---- */

/* Counts the completions that are there.  Return: how many. */
static int count_done(int done[PAIRS])
{
	struct ibv_wc wc;
	int num;

	for (num = 0; ibv_poll_cq(cq, 1, &wc) > 0; num++)
		done[wc.wr_id]++;
	return num;
}

/*
 * Finds the @least and the @most WRITEs that a queue pair got, by the order of completions, from
 * when all had requests until one had no more.
 */
static void shares_find(struct ibv_qp *qp[PAIRS], int *least, int *most)
{
	int done[PAIRS] = {}, before[PAIRS], left = PAIRS * SHARE, i;

	for (i = 0; i < PAIRS; i++)
		writes_post(qp[i], SHARE, i);
	if (threads_of(getpid()) < 2)
		must_have_threads(2);
	left -= count_done(done);
	memcpy(before, done, sizeof(done));
	*least = SHARE;
	*most = 0;
	if (!left)
		return;
	do
		left--;
	while (++done[complete()] < SHARE);
	for (i = 0; i < PAIRS; i++) {
		int more = done[i] - before[i];

		if (before[i] == SHARE)
			continue;
		*least = more < *least ? more : *least;
		*most = more > *most ? more : *most;
	}
	while (left--)
		complete();
}

/* Shares are few if this process waits for a processor: that shows nothing, and is tried again. */
static void fair(void)
{
	struct ibv_qp *qp[PAIRS];
	int least, most, i;

	for (i = 0; i < PAIRS; i++)
		qp[i] = pair_make();
	for (i = 0; i < TRIES; i++) {
		shares_find(qp, &least, &most);
		printf("%d to %d WRITEs of each\n", least, most);
		if (most > SHARE / 4)
			break;
	}
	if (least < most / 2) {
		errno = ERANGE;
		die("a queue pair is behind");
	}
}

/* ---- beside ---- */

#define BUSY (2 * LONG)

/* Return: how many requests of @busy were left when those of @polled had completed. */
static int left_beside(struct ibv_qp *busy, struct ibv_qp *polled)
{
	int left = BUSY, still, i;

	/* The first doorbell creates the thread, the second one has it poll. */
	for (i = 0; i < 2; i++) {
		writes_post(polled, 1, 0);
		complete();
	}
	writes_post(busy, LONG, 1);
	writes_post(busy, LONG, 1);
	for (i = 0; i < 4; i++) {
		writes_post(polled, 1, 0);
		while (complete())
			left--;
	}
	for (still = left; still; still--)
		complete();
	return left;
}

/*
 * The busy queue also finishes first if this process waits for a processor in the meantime: that
 * shows nothing, and is tried again.
 */
static void beside(void)
{
	struct ibv_qp *busy = pair_make(), *polled = pair_make();
	int tries, left;

	for (tries = 1; tries <= TRIES; tries++) {
		left = left_beside(busy, polled);
		if (left) {
			printf("try %d: %d of %d left\n", tries, left, BUSY);
			return;
		}
	}
	errno = ERANGE;
	die("the polled queue was kept waiting");
}

/* ---- several, single, short, bound, behind, idle, ahead, many ---- */

static void in_turn(int num, __u32 length)
{
	struct ibv_qp *qp[SEVERAL];
	int i, turn;

	for (i = 0; i < num; i++)
		qp[i] = pair_make();
	for (turn = 0; turn < TURNS; turn++) {
		memset(all->memory[0], turn, length);
		for (i = 0; i < num; i++)
			post_all(qp[i], 2, i, length);
		for (i = 0; i < 2 * num; i++)
			complete();
		if (memcmp(all->memory[1], all->memory[0], length)) {
			errno = EILSEQ;
			die("data");
		}
	}
}

static void bound(void)
{
	bind_here();
	in_turn(SEVERAL, SHARED);
}

static void be_nice(int nice)
{
	if (setpriority(PRIO_PROCESS, 0, nice))
		die("priority");
}

static void behind(void)
{
	be_nice(19);
	posts_and_spins(pair_make());
	must_have_threads(2);
	be_nice(0);
	in_turn(SEVERAL, SHARED);
}

static void idle(void)
{
	be_scheduled(SCHED_IDLE);
	posts_and_spins(pair_make());
	must_have_threads(2);
	be_scheduled(SCHED_OTHER);
	in_turn(SEVERAL, SHARED);
}

static void ahead(void)
{
	posts_and_spins(pair_make());
	must_have_threads(2);
	be_nice(19);
	in_turn(SEVERAL, SHARED);
}

static void many(void)
{
	while (threads_of(getpid()) < 3)
		in_turn(SEVERAL, SHARED);
}

/* ---- with a peer ---- */

/* Tells the other process about @qp, and connects it with that of the other one. */
static void meet(struct ibv_qp *qp, int me)
{
	struct end *mine = &all->ends[me], *other = &all->ends[!me];

	mine->gid = gid;
	mine->qpn = qp->qp_num;
	mine->rkey = mr->rkey;
	__atomic_store_n(&mine->step, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&other->step, __ATOMIC_ACQUIRE) < 1)
		sched_yield();
	qp_connect(qp, &other->gid, other->qpn);
	__atomic_store_n(&mine->step, 2, __ATOMIC_RELEASE);
	while (__atomic_load_n(&other->step, __ATOMIC_ACQUIRE) < 2)
		sched_yield();
}

static void visit(struct ibv_qp *qp, const struct flow *flow)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)all->memory[1], .length = flow->length, .lkey = mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = flow->opcode,
		.wr.rdma = {
			.remote_addr = (uintptr_t)all->memory[0], .rkey = all->ends[0].rkey,
		},
	};

	if (ibv_post_send(qp, &wr, &bad))
		die("post");
}

/* Requests @flow until it is killed. */
static _Noreturn void be_peer(const char *netns, const struct flow *flow)
{
	struct ibv_qp *qp;
	struct ibv_wc wc;
	char path[64];
	unsigned int i;
	int fd, got;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	fd = open(path, O_RDONLY);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die(netns);
	device_open();
	qp = qp_make(flow->depth);
	meet(qp, 1);
	for (i = 0; i < flow->depth; i++)
		visit(qp, flow);
	for (;;) {
		while (!(got = ibv_poll_cq(cq, 1, &wc)))
			sched_yield();
		if (got < 0 || wc.status)
			die("the peer's request");
		__atomic_fetch_add(&all->visits, 1, __ATOMIC_RELAXED);
		visit(qp, flow);
	}
}

static unsigned int visits(void)
{
	return __atomic_load_n(&all->visits, __ATOMIC_RELAXED);
}

/* A queue pair that the peer uses */
static struct ibv_qp *door_make(void)
{
	struct ibv_qp *qp = qp_make(DEPTH);

	meet(qp, 0);
	while (visits() < READS)
		sched_yield();
	return qp;
}

static void receive(struct ibv_qp *qp)
{
	struct ib_uverbs_post_recv_resp resp;
	struct {
		struct ib_uverbs_cmd_hdr	hdr;
		struct ib_uverbs_post_recv	core;
	} bell = {
		.hdr.command = IB_USER_VERBS_CMD_POST_RECV,
		.hdr.in_words = sizeof(bell) / 4,
		.hdr.out_words = sizeof(resp) / 4,
		.core.response = (uintptr_t)&resp,
		.core.qp_handle = qp->handle,
		.core.wqe_size = sizeof(struct ib_uverbs_recv_wr),
	};
	int i;

	for (i = 0; i < BELLS; i++) {
		if (write(ctx->cmd_fd, &bell, sizeof(bell)) != sizeof(bell))
			die("doorbell");
		if (i % 10 == 0)
			sched_yield();
	}
	must_have_threads(1);
}

/* Binds and invalidates a memory window many times, by one doorbell. */
static void binds_post(struct ibv_qp *qp, struct ibv_mw *mw)
{
	static struct ibv_send_wr wrs[DEPTH];
	__u32 rkey = mw->rkey;
	struct ibv_send_wr *bad;
	int i;

	for (i = 0; i < DEPTH; i += 2) {
		rkey = ibv_inc_rkey(rkey);
		wrs[i] = (struct ibv_send_wr) {
			.next = &wrs[i + 1],
			.opcode = IBV_WR_BIND_MW,
			.bind_mw.mw = mw,
			.bind_mw.rkey = rkey,
			.bind_mw.bind_info = {
				.mr = mr,
				.addr = (uintptr_t)all->memory[0],
				.length = LENGTH,
				.mw_access_flags = IBV_ACCESS_REMOTE_READ,
			},
		};
		wrs[i + 1] = (struct ibv_send_wr) {
			.next = i + 2 < DEPTH ? &wrs[i + 2] : NULL,
			.opcode = IBV_WR_LOCAL_INV,
			.invalidate_rkey = rkey,
		};
	}
	if (ibv_post_send(qp, wrs, &bad))
		die("post");
	mw->rkey = rkey;
}

static void busy(struct ibv_qp *qp, const struct flow *flow)
{
	struct ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	unsigned int during = 0;
	int i, round;

	if (!mw)
		die("MW");
	for (round = 0; round < ROUNDS; round++) {
		unsigned int before;

		binds_post(qp, mw);
		before = visits();
		for (i = 0; i < DEPTH; i++)
			complete();
		during += visits() - before;
		while (visits() - before < flow->depth)
			sched_yield();
	}
	must_have_threads(2);
	printf("%u requests of the peer in %d rounds\n", during, ROUNDS);
	if (flow->most && during > ROUNDS * flow->most) {
		errno = ETIME;
		die("the peer is served, and the process is not");
	}
}

int main(int argc, char **argv)
{
	struct rlimit lock = { .rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY };
	const struct flow *flow;

	if (argc != 3 && argc != 5)
		return 2;
	device = argv[1];
	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED || setrlimit(RLIMIT_MEMLOCK, &lock))
		die("memory");
	flow = strcmp(argv[2], "flood") ? &busy_flow : &flood_flow;
	if (argc == 5 && !fork()) {
		device = argv[4];
		be_peer(argv[3], flow);
	}
	device_open();
	if (!strcmp(argv[2], "fifo"))
		fifo();
	else if (!strcmp(argv[2], "signal"))
		signal_pending();
	else if (!strcmp(argv[2], "close"))
		closes();
	else if (!strcmp(argv[2], "fair"))
		fair();
	else if (!strcmp(argv[2], "beside"))
		beside();
	else if (!strcmp(argv[2], "several"))
		in_turn(SEVERAL, SHARED);
	else if (!strcmp(argv[2], "single"))
		in_turn(1, SHARED);
	else if (!strcmp(argv[2], "short"))
		in_turn(SEVERAL, 64);
	else if (!strcmp(argv[2], "bound"))
		bound();
	else if (!strcmp(argv[2], "behind"))
		behind();
	else if (!strcmp(argv[2], "idle"))
		idle();
	else if (!strcmp(argv[2], "ahead"))
		ahead();
	else if (!strcmp(argv[2], "many"))
		many();
	else if (!strcmp(argv[2], "receive"))
		receive(door_make());
	else if (!strcmp(argv[2], "busy") || !strcmp(argv[2], "flood"))
		busy(door_make(), flow);
	else
		return 2;
	return 0;
}
