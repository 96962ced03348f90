// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - random programs: verbs in any order, with any arguments
 *
 * A program has one to three processes with one to three threads each, which
 * call random verbs with random arguments.  Some programs send damaged copies
 * of each command ahead of it, share their device with a child, lose registered
 * memory, close descriptors in use, or are killed.  A verb may fail only with
 * the error codes of its row in verbs[], and the device has no new objects
 * after the program has ended.
 *
 * usage: as the verbs harness; -n programs, -s seed.  Program n of a seed is
 * the first of seed + n.  With HUNT_TRACE set, prints each verb when it returns, and the
 * location of a crash.
 */
#define _GNU_SOURCE
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <linux/dma-buf.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include "verbs.h"

#define MAX_JOBS	3
#define MAX_PROCS	3

/* ---- error codes of verbs ---- */

/*
 * The man pages of advise_mr, create_flow and the counters list their error
 * codes. Other verbs return errno: EINVAL for an argument, ENOMEM for memory or
 * space, EBUSY for an object in use, EOPNOTSUPP for what is not supported,
 * EFAULT for unmapped memory, EACCES for read-only memory, EDQUOT and ENOSPC
 * for limits of the user or the device, ENODATA for a missing GID, ETIMEDOUT,
 * ENODEV and E...UNREACH for an address that cannot be resolved.
 */
static const struct {
	const char	*name;
	short		errors[12];
} verbs[VERBS] = {
	[ALLOC_PD]	   = { "alloc_pd", { ENOMEM } },
	[DEALLOC_PD]	   = { "dealloc_pd", { EBUSY } },
	[CREATE_CHANNEL]   = { "create_comp_channel", { ENOMEM } },
	[DESTROY_CHANNEL]  = { "destroy_comp_channel", { EBUSY } },
	[CREATE_CQ]	   = { "create_cq", { EINVAL, ENOMEM } },
	[CREATE_CQ_EX]	   = { "create_cq_ex", { EINVAL, ENOMEM, EOPNOTSUPP } },
	[RESIZE_CQ]	   = { "resize_cq", { EINVAL, ENOMEM } },
	[MODIFY_CQ]	   = { "modify_cq", { EINVAL } },
	[DESTROY_CQ]	   = { "destroy_cq", { EBUSY } },
	[REQ_NOTIFY]	   = { "req_notify_cq", { 0 } },
	[POLL_CQ]	   = { "poll_cq", { 0 } },
	[REG_MR]	   = { "reg_mr", { EINVAL, ENOMEM, EFAULT, EOPNOTSUPP } },
	[REG_DMABUF]	   = { "reg_dmabuf_mr", { EINVAL, ENOMEM, EBADF, EOPNOTSUPP } },
	[REREG_MR]	   = { "rereg_mr", { EINVAL, ENOMEM, EFAULT, EOPNOTSUPP, EBUSY,
					     EACCES } },
	[DEREG_MR]	   = { "dereg_mr", { EBUSY } },
	[ADVISE_MR]	   = { "advise_mr", { EOPNOTSUPP, EFAULT, EINVAL, EPERM,
					      ENOENT, ENOMEM } },
	[ALLOC_DM]	   = { "alloc_dm", { EINVAL, ENOMEM, EDQUOT, ENOSPC } },
	[FREE_DM]	   = { "free_dm", { EBUSY } },
	[REG_DM_MR]	   = { "reg_dm_mr", { EINVAL, ENOMEM, EOPNOTSUPP } },
	[COPY_DM]	   = { "memcpy_to_dm", { EFAULT, EINVAL } },
	[ALLOC_MW]	   = { "alloc_mw", { EINVAL, ENOMEM, EOPNOTSUPP } },
	[BIND_MW]	   = { "bind_mw", { EINVAL, ENOMEM, EPERM, EOPNOTSUPP } },
	[DEALLOC_MW]	   = { "dealloc_mw", { 0 } },
	[CREATE_QP]	   = { "create_qp", { EINVAL, ENOMEM, EOPNOTSUPP } },
	[MODIFY_QP]	   = { "modify_qp", { EINVAL, ENOMEM, EOPNOTSUPP, ENODATA,
					      ETIMEDOUT, ENODEV, ENETUNREACH,
					      EHOSTUNREACH } },
	[QUERY_QP]	   = { "query_qp", { EOPNOTSUPP } },
	[DESTROY_QP]	   = { "destroy_qp", { EBUSY } },
	[POST_SEND]	   = { "post_send", { EINVAL, ENOMEM } },
	[POST_RECV]	   = { "post_recv", { EINVAL, ENOMEM } },
	[CREATE_SRQ]	   = { "create_srq", { EINVAL, ENOMEM, EOPNOTSUPP } },
	[MODIFY_SRQ]	   = { "modify_srq", { EINVAL, ENOMEM } },
	[QUERY_SRQ]	   = { "query_srq", { 0 } },
	[POST_SRQ]	   = { "post_srq_recv", { EINVAL, ENOMEM } },
	[DESTROY_SRQ]	   = { "destroy_srq", { EBUSY } },
	[OPEN_XRCD]	   = { "open_xrcd", { EINVAL, ENOMEM, EBADF, EAGAIN } },
	[CLOSE_XRCD]	   = { "close_xrcd", { EBUSY } },
	[CREATE_AH]	   = { "create_ah", { EINVAL, ENOMEM, ENODATA, ETIMEDOUT,
					      ENODEV, ENETUNREACH,
					      EHOSTUNREACH } },
	[DESTROY_AH]	   = { "destroy_ah", { 0 } },
	[ATTACH_MCAST]	   = { "attach_mcast", { EINVAL, ENOMEM } },
	[DETACH_MCAST]	   = { "detach_mcast", { EINVAL } },
	[CREATE_WQ]	   = { "create_wq", { EINVAL, ENOMEM, EOPNOTSUPP } },
	[MODIFY_WQ]	   = { "modify_wq", { EINVAL, EOPNOTSUPP } },
	[DESTROY_WQ]	   = { "destroy_wq", { EBUSY } },
	[CREATE_TABLE]	   = { "create_rwq_ind_table", { EINVAL, ENOMEM } },
	[DESTROY_TABLE]	   = { "destroy_rwq_ind_table", { EBUSY } },
	[CREATE_FLOW]	   = { "create_flow", { EINVAL, ENOMEM, ENXIO, EPERM,
						EOPNOTSUPP } },
	[DESTROY_FLOW]	   = { "destroy_flow", { EINVAL } },
	[CREATE_COUNTERS]  = { "create_counters", { EOPNOTSUPP, ENOMEM, EINVAL } },
	[ATTACH_COUNTERS]  = { "attach_counters_point_flow",
			       { EINVAL, ENOTSUP, EBUSY } },
	[READ_COUNTERS]	   = { "read_counters", { EINVAL } },
	[DESTROY_COUNTERS] = { "destroy_counters", { EBUSY } },
	[IMPORT]	   = { "import", { EINVAL, ENOENT, ENOMEM, EOPNOTSUPP } },
	/* any method of any object: all error codes above, and invalid formats */
	[COMMAND]	   = { "command", { EPROTONOSUPPORT, E2BIG } },
};

struct report *report;
atomic_long *verbs_done, *verbs_failed, *commands_done;

__thread struct job *me;

static bool traced;

static void say_first(const char *fmt, va_list ap)
{
	if (!atomic_exchange(&report->said, 1))
		vsnprintf(report->text, sizeof(report->text), fmt, ap);
}

void say(const char *fmt, ...)
{
	va_list ap;

	report->wrong = 1;
	va_start(ap, fmt);
	say_first(fmt, ap);
	va_end(ap);
}

static void say_late(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_first(fmt, ap);
	va_end(ap);
}

static bool verb_fails_with(enum verb v, int err)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(verbs[v].errors); i++)
		if (verbs[v].errors[i] == err)
			return true;
	return false;
}

static bool error_is_known(enum verb v, int err)
{
	enum verb other;

	if (v != COMMAND)
		return verb_fails_with(v, err);
	for (other = 0; other < VERBS; other++)
		if (verb_fails_with(other, err))
			return true;
	return false;
}

static bool error_is_loss(int loss, int err)
{
	switch (err) {
	case ENOENT:
	case EINVAL:
	case EBUSY:
		return loss & LOSS_OBJECTS;
	case EIO:	/* a failed doorbell */
		return loss & (LOSS_OBJECTS | LOSS_FILES);
	case EBADF:
		return loss & LOSS_FILES;
	case EACCES:
		return loss & LOSS_OWNER;
	default:
		return false;
	}
}

bool went(struct job *j, enum verb v, int err)
{
	if (traced)
		fprintf(stderr, "%d: %s in %s: %d\n", gettid(), verbs[v].name,
			j->doing, err);
	(*verbs_done)++;
	if (!err)
		return true;
	(*verbs_failed)++;
	if (!error_is_known(v, err) && !error_is_loss(j->loss, err))
		say("%s failed with %d (%s)", verbs[v].name, err, strerror(err));
	return false;
}

static void *job_main(void *arg)
{
	me = arg;
	while (me->steps-- > 0 && !report->said)
		job_step(me);
	me->scribble = false;
	return NULL;
}

/* ---- processes ---- */

static struct ibv_context *device_open(const struct side *s)
{
	struct ibv_context *ctx = NULL;
	struct ibv_device **list;
	int i;

	side_enter(s);
	list = ibv_get_device_list(NULL);
	for (i = 0; list && list[i]; i++)
		if (!ctx && !strcmp(ibv_get_device_name(list[i]), s->dev))
			ctx = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
	side_leave(s);
	return ctx;
}

/*
 * The first access makes the table of pages.  It must not be one of two at the same time, as
 * corrupted commands of other threads may have this descriptor.
 */
static void buffer_touch(int fd)
{
	struct dma_buf_sync sync = { .flags = DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW };

	ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync);
	sync.flags = DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW;
	ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync);
}

static int buffer_open(void)
{
	struct udmabuf_create create = { .size = ARENA };
	int dev = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	int fd = -1;

	create.memfd = memfd_create("hunt", MFD_ALLOW_SEALING);
	if (dev >= 0 && !ftruncate(create.memfd, ARENA) &&
	    !fcntl(create.memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		fd = ioctl(dev, UDMABUF_CREATE, &create);
	if (fd >= 0)
		buffer_touch(fd);
	close(create.memfd);
	close(dev);
	return fd;
}

static void job_init(struct job *j, __u32 program, struct dice *d,
		     struct side *s, struct ibv_context *ctx)
{
	/* an inaccessible arena follows, for regions that are too long */
	__u8 *p = mmap(NULL, (ARENAS + 1) * ARENA, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	mprotect(p, ARENAS * ARENA, PROT_READ | PROT_WRITE);
	*j = (struct job) {
		.program = program,
		.dice = { .state = dice_next(d) },
		.side = s,
		.ctx = ctx,
		.buffer = buffer_open(),
	};
	for (i = 0; i < ARENAS; i++)
		j->arena[i] = p + i * ARENA;
}

/* How a process ends */
enum ending {
	END_CLEAN,	/* destroys all objects */
	END_EXIT,	/* leaves destruction to the kernel */
	END_CLOSE,	/* closes descriptors in use, and continues */
	END_KILL,	/* kill -9 by one of its threads */
	END_SHARE,	/* a child uses the same objects at the same time */
	ENDINGS,
};

/* Handler of unexpected signals */
static void crashed(int sig, siginfo_t *info, void *context)
{
	void *frames[32];

	say("signal %d at %p in %s", sig, info->si_addr, me ? me->doing : "no step");
	(void)context;
	if (traced)
		backtrace_symbols_fd(frames, backtrace(frames, ARRAY_SIZE(frames)),
				     STDERR_FILENO);
	_exit(3);
}

static void *kill_main(void *arg)
{
	usleep(*(unsigned int *)arg);
	kill(getpid(), SIGKILL);
	return NULL;
}

static void job_more(struct job *j, int loss)
{
	j->loss |= loss;
	j->steps = 1 + roll(&j->dice, 30);
	job_main(j);
}

static void end_close(struct job *j)
{
	int nothing = open("/", O_PATH | O_CLOEXEC);
	int fds[2 + SLOTS], n = 0, i;

	fds[n++] = j->ctx->cmd_fd;
	fds[n++] = j->ctx->async_fd;
	for (i = 0; i < SLOTS; i++)
		if (j->channel[i])
			fds[n++] = j->channel[i]->fd;
	while (n) {
		i = roll(&j->dice, n);
		/* closed, but the number is not reused */
		dup2(nothing, fds[i]);
		fds[i] = fds[--n];
		job_more(j, LOSS_FILES | LOSS_OBJECTS);
	}
}

/* In a child: maps empty memory where MADV_DONTFORK has left a gap. */
static void arenas_mend(struct job *j)
{
	size_t at;

	for (at = 0; at < ARENAS * ARENA; at += 4096)
		syscall(SYS_mmap, j->arena[0] + at, 4096, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

static void end_share(struct job *j)
{
	pid_t pid = fork();

	j->loss |= LOSS_OBJECTS;
	if (!pid) {
		j->dice.state++;
		arenas_mend(j);
		job_more(j, LOSS_OWNER);
		_exit(0);
	}
	job_more(j, 0);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* The parent checks whether the process was killed by an unexpected signal. */
_Noreturn static void process_main(__u32 program, int number)
{
	struct sigaction crash = { .sa_sigaction = crashed, .sa_flags = SA_SIGINFO };
	struct dice d = dice_of(program, 1 + number);
	struct side *s = &sides[roll(&d, 2)];
	enum ending ending = roll(&d, ENDINGS);
	unsigned int usec = roll(&d, 30000);
	struct job jobs[MAX_JOBS];
	struct ibv_context *ctx;
	bool scribble = roll(&d, 2);
	pthread_t killer;
	int i, n;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGSEGV, &crash, NULL);
	sigaction(SIGBUS, &crash, NULL);
	ctx = device_open(s);
	if (!ctx) {
		say("the device does not open (errno %d)", errno);
		_exit(1);
	}
	n = ending == END_CLOSE || ending == END_SHARE ? 1 : 1 + roll(&d, MAX_JOBS);
	for (i = 0; i < n; i++) {
		job_init(&jobs[i], program, &d, s, ctx);
		jobs[i].steps = 20 + roll(&d, 150);
		jobs[i].scribble = scribble;
		jobs[i].loss = scribble ? LOSS_OBJECTS : 0;
	}
	if (ending == END_KILL && !pthread_create(&killer, NULL, kill_main, &usec))
		pthread_detach(killer);
	for (i = 1; i < n; i++)
		if (pthread_create(&jobs[i].thread, NULL, job_main, &jobs[i]))
			_exit(2);
	job_main(&jobs[0]);
	if (ending == END_CLOSE)
		end_close(&jobs[0]);
	if (ending == END_SHARE)
		end_share(&jobs[0]);
	for (i = 1; i < n; i++)
		pthread_join(jobs[i].thread, NULL);
	if (ending == END_CLEAN)
		for (i = 0; i < n; i++)
			job_clean(&jobs[i]);
	if (ending == END_KILL)
		pause();
	_exit(0);
}

/* ---- supervising process ---- */

/* Dumps the core's object counts for the devices of a host. */
static size_t objects_of(const struct side *s, __u8 *buf, size_t size)
{
	struct nlmsghdr req = {
		.nlmsg_len = sizeof(req),
		.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV,
					       RDMA_NLDEV_CMD_RES_GET),
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
	};
	__u8 answer[16384];
	struct nlmsghdr *h;
	size_t n = 0, body;
	ssize_t len;
	int fd;

	side_enter(s);
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	side_leave(s);
	must(fd >= 0);
	must_be(send(fd, &req, sizeof(req), 0), sizeof(req));
	for (;;) {
		len = recv(fd, answer, sizeof(answer), 0);
		must(len > 0);
		h = (struct nlmsghdr *)answer;
		for (; NLMSG_OK(h, (size_t)len); h = NLMSG_NEXT(h, len)) {
			if (h->nlmsg_type == NLMSG_DONE) {
				close(fd);
				return n;
			}
			must(h->nlmsg_type != NLMSG_ERROR);
			body = h->nlmsg_len - NLMSG_HDRLEN;
			must(n + body <= size);
			memcpy(buf + n, NLMSG_DATA(h), body);
			n += body;
		}
	}
}

struct objects {
	__u8	data[2][16384];
	size_t	len[2];
};

static void objects_get(struct objects *o)
{
	int i;

	for (i = 0; i < 2; i++)
		o->len[i] = objects_of(&sides[i], o->data[i], sizeof(o->data[i]));
}

static bool objects_same(const struct objects *a, const struct objects *b)
{
	int i;

	for (i = 0; i < 2; i++)
		if (a->len[i] != b->len[i] ||
		    memcmp(a->data[i], b->data[i], a->len[i]))
			return false;
	return true;
}

/* Reports the kernel stack of a process that does not exit. */
static void say_stuck(pid_t pid)
{
	char path[64], stack[160] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stack", pid);
	fd = open(path, O_RDONLY);
	if (fd >= 0 && read(fd, stack, sizeof(stack) - 1) < 0)
		stack[0] = 0;
	close(fd);
	say_late("a process does not exit: %s", stack);
}

static pid_t pids[MAX_PROCS];

static void programs_kill(void)
{
	int i;

	for (i = 0; i < MAX_PROCS; i++) {
		if (!pids[i])
			continue;
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
		pids[i] = 0;
	}
}

/* Returns false if it does not exit. */
static bool process_wait(int i, __u64 *end)
{
	int status = 0;

	while (!waitpid(pids[i], &status, WNOHANG)) {
		if (!wait_more(end, "exit of a process")) {
			say_stuck(pids[i]);
			return false;
		}
	}
	pids[i] = 0;
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
		say("a process died of signal %d", WTERMSIG(status));
	if (WIFEXITED(status) && WEXITSTATUS(status))
		say("a process returned %d", WEXITSTATUS(status));
	return true;
}

static void program_run(__u32 program, const struct objects *before)
{
	struct dice d = dice_of(program, 0);
	int i, n = 1 + roll(&d, MAX_PROCS);
	struct objects after;
	bool exited = true;
	__u64 end = 0;

	fflush(stdout);
	for (i = 0; i < n; i++) {
		pids[i] = fork();
		must(pids[i] >= 0);
		if (!pids[i])
			process_main(program, i);
	}
	for (i = 0; i < n; i++)
		exited &= process_wait(i, &end);
	do {
		objects_get(&after);
	} while (!objects_same(before, &after) &&
		 wait_more(&end, NULL));
	if (exited && !objects_same(before, &after))
		say("objects are left");
	if (report->wrong)
		not_late();
	if (report->said)
		case_fail("%s; to repeat: -n 1 -s %u", report->text, program);
}

/* Checks that another pair of queue pairs is not affected. */
static void neighbour_works(struct pair *p, struct mem *ma, struct mem *mb,
			    __u32 turn)
{
	struct ibv_sge sge = sge_of(ma, 0, ma->len);
	struct ibv_send_wr wr = wr_of(turn, IBV_WR_RDMA_WRITE, &sge, 1);

	fill(ma->p, ma->len, turn);
	wr_target(&wr, mb, 0);
	must_be(post_one(&p->a, &wr), 0);
	wc_want(p->a.scq, turn, IBV_WC_SUCCESS);
	same(mb->p, mb->len, turn, "a WRITE of the other pair");
}

static void random_programs(void)
{
	static struct objects before;
	struct mem ma, mb;
	struct pair p;
	__u8 *shared;
	int i;

	shared = map_make(4096, MAP_SHARED | MAP_ANONYMOUS, -1);
	verbs_done = (atomic_long *)shared;
	verbs_failed = verbs_done + 1;
	commands_done = verbs_done + 2;
	report = (struct report *)(verbs_done + 3);
	traced = getenv("HUNT_TRACE");
	case_end = programs_kill;
	pair_make(&p, NULL, NULL);
	mem_make(&ma, &sides[0], 9000, FULL_ACCESS);
	mem_make(&mb, &sides[1], 9000, FULL_ACCESS);
	objects_get(&before);
	for (i = 0; i < rounds; i++) {
		program_run(run_seed + i, &before);
		neighbour_works(&p, &ma, &mb, i);
	}
	printf("# %d programs, %ld verbs, %ld valid failures, %ld damaged commands\n",
	       rounds, *verbs_done, *verbs_failed, *commands_done);
}

static const struct vrb_case verbs_cases[] = {
	{ "verbs", "random programs", random_programs },
};

VRB_CASES(verbs_cases);
