// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - a process that posts more than its system calls do: who does the rest?
 *
 * usage: owner DEV CASE PROCS STAT
 *
 * A hog, which is another user in a CPU cgroup of its own, posts long loopback WRITEs to
 * several pairs of queue pairs, and to a peer: this process, which is not in the cgroup.
 * PROCS and STAT are file descriptors of the cgroup's files cgroup.procs and cpu.stat.
 *
 *	sleep	the hog sleeps until all is done: its cgroup pays
 *	stop	it stops: no work is done for it, but its peer is answered; then it continues
 *	fork	its child posts the WRITEs, and has no thread for them
 *	exec	it executes another program, which keeps the device open
 *	thread	a thread posts the WRITEs, and exits
 *	kill	it is killed
 *	exit	it exits
 *	limit	it may have no other thread
 *	remove	it stops, and the device is removed; the module is not
 *	gone	it sleeps, and the device is removed
 *	idle	(after exec) waits for the end of its standard input
 *
 * The memory is shared, so this process sees what has been written.  Each WRITE of a pair
 * copies one half to the other, 8 bytes further on: the bytes at the end show that each was
 * executed once, in order and as a whole.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <infiniband/verbs.h>

#include "procs.h"
#include "rc.h"

#define USER 65534

#define PAIRS 4
#define WRITES 512		/* per pair */
#define WORDS 524288U		/* of 8 bytes, per WRITE */
#define HALF (WORDS + 512)	/* a page more, for the last word */
#define DOOR 64			/* words that the peer's requests write and read */
#define ROUNDS 500		/* requests of the peer */

/* What a process tells the other about its queue pair and memory */
struct door {
	__u32	qpn;
	__u32	rkey;
	__u64	addr;
};

struct shared {
	struct door	hog;
	struct door	peer;
	__u64		door[DOOR];
	__u64		given[WORDS];
	__u64		sunk[WORDS];
	__u64		half[PAIRS][2][HALF];
};

static struct shared *all;
static const char *device;
static int procs_fd, stat_fd;
static int to_hog[2], to_peer[2];
static pid_t hog;

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_comp_channel *channel;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static struct ibv_qp *door;
static struct ibv_qp *source[PAIRS];
static int gid_index;
static union ibv_gid gid;

static _Noreturn void die(const char *what)
{
	printf("%s: %s: %s\n", getpid() == hog || !hog ? "hog" : "peer", what,
	       strerror(errno));
	fflush(stdout);
	if (hog)
		kill(hog, SIGKILL);
	_exit(1);
}

/* ---- both processes ---- */

static void device_open(void)
{
	ctx = rc_open(device);
	if (!ctx)
		die("open");
	pd = ibv_alloc_pd(ctx);
	channel = ibv_create_comp_channel(ctx);
	if (!pd || !channel)
		die("PD, channel");
	cq = ibv_create_cq(ctx, PAIRS * WRITES + 2, NULL, channel, 0);
	mr = ibv_reg_mr(pd, all, sizeof(*all), IBV_ACCESS_LOCAL_WRITE |
			IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	if (!cq || !mr)
		die("CQ, MR");
	gid_index = rc_gid(ctx, &gid);
}

static struct ibv_qp *qp_make(void)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = cq,
		.recv_cq = cq,
		.sq_sig_all = 1,
		.cap = {
			.max_send_wr = WRITES, .max_recv_wr = 1,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	if (!qp)
		die("QP");
	return qp;
}

static void qp_connect(struct ibv_qp *qp, __u32 qpn)
{
	const char *failed = rc_connect(qp, (struct ibv_qp_attr) {
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
		.path_mtu = IBV_MTU_4096,
		.dest_qp_num = qpn,
		.max_dest_rd_atomic = 1,
		.ah_attr = rc_path(&gid, gid_index),
		.max_rd_atomic = 1,
	});

	if (failed)
		die(failed);
}

static void say(int fd, char c)
{
	if (write(fd, &c, 1) != 1)
		die("write");
}

/* Waits for the other process to say @c. */
static void hear(int fd, char c)
{
	char got;

	if (read(fd, &got, 1) != 1 || got != c) {
		errno = EPROTO;
		die("the other end");
	}
}

static __u64 *at(int pair, int half, __u32 word)
{
	return &all->half[pair][half][word];
}

static __u64 first_value(int pair, int half, __u32 word)
{
	return ((__u64)pair << 40 | (__u64)half << 32 | word) * 0x9e3779b97f4a7c15ULL;
}

static void fill(void)
{
	__u32 word;
	int half, pair;

	for (pair = 0; pair < PAIRS; pair++)
		for (half = 0; half < 2; half++)
			for (word = 0; word < HALF; word++)
				*at(pair, half, word) = first_value(pair, half, word);
	for (word = 0; word < WORDS; word++)
		all->given[word] = first_value(PAIRS, 0, word);
}

/*
 * The value of a word after @times WRITEs: WRITE i copies WORDS words of half i % 2 to the
 * other one, one word further on.  Follows the word back to where it was at the beginning.
 */
static __u64 value_after(int pair, int half, __u32 word, int times)
{
	/* the WRITEs up to the last to @half: the odd ones write half 0 */
	__u32 writes = times - (times % 2 != half);
	__u32 steps = word < writes ? word : writes;

	if (word > WORDS)
		return first_value(pair, half, word);
	return first_value(pair, half ^ (steps & 1), word - steps);
}

/* Have all WRITEs of all pairs been executed?  @verbose: prints what is wrong. */
static bool is_done(bool verbose)
{
	int half, pair;
	__u32 word;

	for (pair = 0; pair < PAIRS; pair++)
		for (half = 0; half < 2; half++)
			for (word = HALF; word-- > 0;) {
				__u64 is = __atomic_load_n(at(pair, half, word),
							   __ATOMIC_RELAXED);

				if (is == value_after(pair, half, word, WRITES))
					continue;
				if (verbose)
					printf("pair %d: half %d, word %u is wrong\n",
					       pair, half, word);
				return false;
			}
	return true;
}

/* ---- the hog ---- */

static void pairs_make(void)
{
	int i;

	for (i = 0; i < PAIRS; i++) {
		struct ibv_qp *sink = qp_make();

		source[i] = qp_make();
		qp_connect(sink, source[i]->qp_num);
		qp_connect(source[i], sink->qp_num);
	}
}

static void writes_post(int pair)
{
	static struct ibv_send_wr wrs[WRITES];
	static struct ibv_sge sges[WRITES];
	struct ibv_send_wr *bad;
	int i;

	for (i = 0; i < WRITES; i++) {
		sges[i] = (struct ibv_sge) {
			.addr = (uintptr_t)at(pair, i % 2, 0),
			.length = WORDS * sizeof(__u64),
			.lkey = mr->lkey,
		};
		wrs[i] = (struct ibv_send_wr) {
			.wr_id = (pair << 16) + i,
			.next = i + 1 < WRITES ? &wrs[i + 1] : NULL,
			.sg_list = &sges[i],
			.num_sge = 1,
			.opcode = IBV_WR_RDMA_WRITE,
			.wr.rdma = {
				.remote_addr = (uintptr_t)at(pair, !(i % 2), 1),
				.rkey = mr->rkey,
			},
		};
	}
	if (ibv_post_send(source[pair], wrs, &bad))
		die("post");
}

/* Posts to the peer: so the queue pair that answers it has requests left as well. */
static void door_post(int first, int end)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)all->given,
		.length = sizeof(all->sunk),
		.lkey = mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = PAIRS << 16,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { .remote_addr = all->peer.addr, .rkey = all->peer.rkey },
	};
	struct ibv_send_wr *bad;
	int i;

	for (i = first; i < end; i++) {
		wr.wr_id = (PAIRS << 16) + i;
		if (ibv_post_send(door, &wr, &bad))
			die("post to the peer");
	}
}

static void *post_all(void *unused)
{
	int i;

	for (i = 0; i < PAIRS; i++)
		writes_post(i);
	door_post(0, WRITES / 2);
	return unused;
}

/* All requests complete, in order on each queue pair. */
static void complete_all(void)
{
	int expected[PAIRS + 1] = {}, left = PAIRS * WRITES + WRITES / 2;
	struct ibv_cq *got_cq;
	struct ibv_wc wc;
	void *arg;
	int got;

	while (left) {
		if (ibv_req_notify_cq(cq, 0))
			die("notify");
		while ((got = ibv_poll_cq(cq, 1, &wc)) == 1) {
			if (wc.status || wc.wr_id >> 16 > PAIRS ||
			    (int)(wc.wr_id & 0xffff) != expected[wc.wr_id >> 16]++) {
				errno = EBADMSG;
				printf("WRITE %#llx: %s\n", (unsigned long long)wc.wr_id,
				       ibv_wc_status_str(wc.status));
				die("completion");
			}
			left--;
		}
		if (got < 0)
			die("poll");
		if (!left)
			break;
		if (ibv_get_cq_event(channel, &got_cq, &arg))
			die("event");
		ibv_ack_cq_events(cq, 1);
	}
}

/* To the same queue as its parent, too */
static void child_posts(void)
{
	pid_t child;
	int i, status;

	door_post(0, WRITES / 4);
	child = fork();
	if (!child) {
		for (i = 0; i < PAIRS; i++)
			writes_post(i);
		door_post(WRITES / 4, WRITES / 2);
		_exit(threads_of(getpid()) == 1 ? 0 : 2);
	}
	if (waitpid(child, &status, 0) != child || status) {
		errno = ECHILD;
		die("the child has a thread of the device");
	}
}

static void thread_posts(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, post_all, NULL) ||
	    pthread_join(thread, NULL))
		die("thread");
}

static void exec_idle(void)
{
	if (fcntl(ctx->cmd_fd, F_SETFD, 0) || dup2(to_hog[0], 0) < 0)
		die("dup");
	close(to_hog[1]);
	execl("/proc/self/exe", "hunt-owner", device, "idle", "0", "0", NULL);
	die("exec");
}

static void be_user(void)
{
	struct rlimit lock = { .rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY };

	if (setrlimit(RLIMIT_MEMLOCK, &lock))
		die("rlimit");
	if (write(procs_fd, "0", 1) != 1)
		die("cgroup");
	if (setresgid(USER, USER, USER) || setresuid(USER, USER, USER))
		die("user");
}

static _Noreturn void be_hog(const char *what)
{
	struct rlimit none = { .rlim_cur = 1, .rlim_max = 1 };

	be_user();
	device_open();
	door = qp_make();
	pairs_make();
	all->hog = (struct door) {
		.qpn = door->qp_num, .rkey = mr->rkey, .addr = (uintptr_t)all->door,
	};
	say(to_peer[1], 'm');
	hear(to_hog[0], 'm');
	qp_connect(door, all->peer.qpn);
	say(to_peer[1], 'c');
	hear(to_hog[0], 'c');

	if (!strcmp(what, "limit") && setrlimit(RLIMIT_NPROC, &none))
		die("rlimit");
	if (!strcmp(what, "fork"))
		child_posts();
	else if (!strcmp(what, "thread"))
		thread_posts();
	else
		post_all(NULL);
	if (!strcmp(what, "limit") && threads_of(getpid()) != 1) {
		errno = ECHILD;
		die("it has a thread of the device");
	}
	say(to_peer[1], 'p');

	if (!strcmp(what, "exec"))
		exec_idle();
	if (!strcmp(what, "exit")) {
		hear(to_hog[0], 'x');
		_exit(0);
	}
	if (!strcmp(what, "stop") || !strcmp(what, "remove"))
		raise(SIGSTOP);
	complete_all();
	hear(to_hog[0], 'x');
	if (memcmp(all->sunk, all->given, sizeof(all->sunk))) {
		errno = EBADMSG;
		die("the peer's memory");
	}
	_exit(!is_done(true));
}

/* ---- the peer ---- */

/* The peer's request completes. */
static void request(enum ibv_wr_opcode opcode, __u64 *word, __u64 *remote)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)word, .length = sizeof(*word), .lkey = mr->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.wr.rdma = {
			.remote_addr = all->hog.addr + ((char *)remote - (char *)all->door),
			.rkey = all->hog.rkey,
		},
	}, *bad;
	struct ibv_wc wc;
	int got;

	if (ibv_post_send(door, &wr, &bad))
		die("post");
	while (!(got = ibv_poll_cq(cq, 1, &wc)))
		sched_yield();
	if (got < 0 || wc.status) {
		printf("the peer: %s\n", ibv_wc_status_str(wc.status));
		errno = EBADMSG;
		die("completion");
	}
}

/* The hog's queue pair answers @num WRITEs and READs of its peer. */
static void visit(int num)
{
	__u64 *out = &all->door[0], *in = &all->door[1], *there = &all->door[8];
	static __u64 value = 0x1234567;
	int i;

	for (i = 0; i < num; i++) {
		*out = ++value;
		request(IBV_WR_RDMA_WRITE, out, there);
		request(IBV_WR_RDMA_READ, in, there);
		if (*in != value || *there != value) {
			errno = EBADMSG;
			die("the hog's memory");
		}
	}
}

/* A number of the line of cpu.stat that begins with @name */
static long long stat_of(const char *name)
{
	char text[1024], *line;
	ssize_t n = pread(stat_fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		die("cpu.stat");
	text[n] = 0;
	line = strstr(text, name);
	if (!line) {
		errno = ENOENT;
		die(name);
	}
	return atoll(line + strlen(name) + 1);
}

/* Are all threads of the hog in @state? */
static bool hog_is(char state)
{
	struct thread_stat stat;
	struct dirent *entry;
	char path[300];
	bool is = true;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", hog);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", hog, entry->d_name);
		is &= thread_stat_read(path, &stat) && stat.state == state;
	}
	if (dir)
		closedir(dir);
	return dir && is;
}

/* A sum over the hog's memory */
static __u64 sum(void)
{
	const __u64 *word = all->half[0][0], *end = word + sizeof(all->half) / sizeof(*word);
	__u64 sum = 0;

	for (; word < end; word++)
		sum = (sum << 1 | sum >> 63) ^ __atomic_load_n(word, __ATOMIC_RELAXED);
	for (word = all->sunk; word < all->sunk + WORDS; word++)
		sum = (sum << 1 | sum >> 63) ^ __atomic_load_n(word, __ATOMIC_RELAXED);
	return sum;
}

/* The stopped hog's requests rest while its peer is answered, and they are not done. */
static void rests(void)
{
	__u64 before;

	while (!hog_is('T'))
		sched_yield();
	/* A worker of the kernel may have begun before the thread existed. */
	do {
		before = sum();
		visit(ROUNDS);
		if (system("rdma -dd resource show qp >/dev/null"))
			die("rdma");
	} while (sum() != before);
	if (is_done(false)) {
		errno = EALREADY;
		die("all was done for a process that is stopped");
	}
}

/* Processor time of the workqueues' threads, us */
static long long worked(void)
{
	DIR *dir = opendir("/proc");
	struct thread_stat stat;
	struct dirent *entry;
	long long ticks = 0;
	char path[300];

	if (!dir)
		die("/proc");
	while ((entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		if (thread_stat_read(path, &stat) && !strncmp(stat.name, "kworker/", 8))
			ticks += stat.ticks;
	}
	closedir(dir);
	return ticks * 1000000 / sysconf(_SC_CLK_TCK);
}

/*
 * The cgroup pays for what is done while the hog sleeps.  Workqueues may take a part, which
 * answers packets.
 */
static void pays(long long usage, long long throttled, long long others)
{
	int status;

	if (waitpid(hog, &status, 0) != hog || status) {
		errno = ECHILD;
		die("the hog has failed");
	}
	usage = stat_of("usage_usec") - usage;
	throttled = stat_of("nr_throttled") - throttled;
	others = worked() - others;
	printf("the cgroup has paid %lld us, throttled %lld times, workqueues took %lld us\n",
	       usage, throttled, others);
	if (usage < 3 * others || !throttled) {
		errno = EBADE;
		die("the cgroup has not paid");
	}
}

static void ends(int wanted)
{
	int status;

	if (waitpid(hog, &status, 0) != hog || status != wanted) {
		printf("status %#x, not %#x\n", status, wanted);
		errno = ECHILD;
		die("the hog has failed");
	}
}

static void meet(void)
{
	hear(to_peer[0], 'm');
	device_open();
	door = qp_make();
	qp_connect(door, all->hog.qpn);
	all->peer = (struct door) {
		.qpn = door->qp_num, .rkey = mr->rkey, .addr = (uintptr_t)all->sunk,
	};
	say(to_hog[1], 'm');
	hear(to_peer[0], 'c');
	say(to_hog[1], 'c');
	hear(to_peer[0], 'p');
}

/* Its program keeps the device open; all that was posted is done nevertheless. */
static void outlives_exec(void)
{
	while (!is_done(false))
		sched_yield();
	visit(ROUNDS);
	close(to_hog[1]);
	ends(0);
}

/* The module is refused to be removed, at once, while the hog is stopped. */
static void module_stays(void)
{
	int status;
	pid_t child = fork();

	if (!child) {
		execlp("rmmod", "rmmod", "srnic", NULL);
		_exit(127);
	}
	if (waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
	    WEXITSTATUS(status) != 1) {
		errno = EBUSY;
		die("rmmod is not refused");
	}
}

static void removed(const char *what)
{
	bool stopped = !strcmp(what, "remove");
	char command[64];

	if (stopped)
		rests();
	snprintf(command, sizeof(command), "rdma link del %s", device);
	if (system(command))
		die(command);
	if (stopped)
		module_stays();
	/* If it runs, it has noticed, and may have ended. */
	kill(hog, SIGKILL);
	waitpid(hog, NULL, 0);
}

static void be_peer(const char *what)
{
	long long usage, throttled, others;

	meet();
	others = worked();
	usage = stat_of("usage_usec");
	throttled = stat_of("nr_throttled");
	if (!strcmp(what, "remove") || !strcmp(what, "gone")) {
		removed(what);
		return;
	}
	if (!strcmp(what, "stop")) {
		rests();
		kill(hog, SIGCONT);
	}
	visit(ROUNDS);
	if (!strcmp(what, "sleep") || !strcmp(what, "thread") || !strcmp(what, "stop")) {
		say(to_hog[1], 'x');
		pays(usage, throttled, others);
	} else if (!strcmp(what, "exec")) {
		outlives_exec();
	} else if (!strcmp(what, "kill")) {
		kill(hog, SIGKILL);
		ends(SIGKILL);
	} else {
		say(to_hog[1], 'x');
		ends(0);
	}
}

int main(int argc, char **argv)
{
	char c;

	if (argc != 5)
		return 2;
	if (!strcmp(argv[2], "idle"))
		return read(0, &c, 1);
	device = argv[1];
	procs_fd = atoi(argv[3]);
	stat_fd = atoi(argv[4]);
	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED || pipe2(to_hog, O_CLOEXEC) || pipe2(to_peer, O_CLOEXEC))
		die("memory, pipes");
	fill();
	hog = fork();
	if (!hog)
		be_hog(argv[2]);
	unsetenv("SRNIC_POLL_USECS");	/* for the hog alone */
	close(to_peer[1]);
	be_peer(argv[2]);
	return 0;
}
