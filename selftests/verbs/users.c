// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: one user does not affect others
 *
 * The other user is a child with an id, or a user namespace, of its own that opens
 * the device again.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/userfaultfd.h>

#include "vrb.h"

#define SHARE		"/sys/module/srnic/parameters/user_share"
#define USER		1000
#define CONTAINED	"0 100000 65536"	/* ids of a container on the host */
#define PAGE		4096UL
#define MANY		40000	/* more than one user gets */
#define STUCK		3000	/* more than there are workers */
#define PREFETCHES	(4 + 64)	/* of one user, at work and waiting */

/**
 * struct told - what parent and child tell each other
 * @pid: the child, for the parent
 * @made: things that the child has
 * @err: why it has no more
 * @done: it is done
 * @leave: it may go
 */
static struct told {
	pid_t	pid;
	int	made;
	int	err;
	bool	done;
	bool	leave;
} *told;

/* ---- users ---- */

/* In the child: another user, which @be makes it, opens the device of side 0. */
static void become(struct side *s, void (*be)(void))
{
	struct ibv_device *dev = sides[0].ctx->device;

	*s = sides[0];
	side_enter(s);
	be();
	s->ctx = ibv_open_device(dev);
	if (s->ctx)
		s->pd = ibv_alloc_pd(s->ctx);
	if (!s->pd)
		_exit(3);
}

static void be_user(void)
{
	if (setresuid(USER, USER, USER))
		_exit(2);
}

/* Gives process @pid, which is in a new user namespace, the ids of a container. */
static bool map_ids(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/gid_map", pid);
	if (!file_put(path, CONTAINED))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/uid_map", pid);
	return file_put(path, CONTAINED);
}

/*
 * Root of a container: only a process outside of the new namespace may map more
 * than one id.
 */
static void be_contained(void)
{
	pid_t self = getpid(), helper;
	int ready[2], status;
	char c;

	if (pipe(ready))
		_exit(4);
	helper = fork();
	if (!helper) {
		close(ready[1]);
		_exit(read(ready[0], &c, 1) || !map_ids(self));
	}
	if (helper < 0 || unshare(CLONE_NEWUSER))
		_exit(5);
	close(ready[1]);
	if (waitpid(helper, &status, 0) != helper || status ||
	    setresgid(0, 0, 0) || setresuid(0, 0, 0))
		_exit(6);
}

/* Ends the child that tells @mem. */
static int child_undo(void *mem)
{
	struct told *child = mem;
	pid_t pid = child->pid;

	kill(pid, SIGKILL);
	return waitpid(pid, NULL, 0) != pid || munmap(child, sizeof(*child));
}

static void child_start(void (*fn)(void))
{
	pid_t pid;

	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(told != MAP_FAILED);
	pid = fork();
	must(pid >= 0);
	if (!pid) {
		fn();
		told->done = true;
		while (!__atomic_load_n(&told->leave, __ATOMIC_ACQUIRE))
			usleep(1000);
		_exit(0);
	}
	told->pid = pid;
	undo_later(child_undo, told);
}

/* Until the child has done what it can, or has not got on for @ms. */
static void child_wait(int ms)
{
	__u64 end = now_us() + ms * 1000ULL;
	int made = -1;

	while (!__atomic_load_n(&told->done, __ATOMIC_ACQUIRE) &&
	       now_us() < end) {
		if (__atomic_load_n(&told->made, __ATOMIC_RELAXED) != made)
			end = now_us() + ms * 1000ULL;
		made = told->made;
		usleep(10000);
		if (waitpid(told->pid, NULL, WNOHANG) == told->pid)
			case_fail("the other user is gone");
	}
}

static void share_set(const char *percent)
{
	if (!file_put(SHARE, percent))
		case_skip("no %s", SHARE);
}

static int share_undo(void *percent)
{
	share_set(percent);
	return 0;
}

static void share_small(void)
{
	share_set("1");
	undo_later(share_undo, "25");
}

/* ---- shares ---- */

static bool (*have)(struct side *s, int i);

static bool have_dm(struct side *s, int i)
{
	struct ibv_alloc_dm_attr attr = { .length = PAGE };

	(void)i;
	return ibv_alloc_dm(s->ctx, &attr);
}

static bool have_pd(struct side *s, int i)
{
	(void)i;
	return ibv_alloc_pd(s->ctx);
}

static bool have_group(struct side *s, int i)
{
	union ibv_gid group = { .raw = { 0xff, 0x1e, [12] = 1 } };
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1 },
	};
	static struct ibv_qp *qp;

	if (!i) {
		init.send_cq = ibv_create_cq(s->ctx, 1, NULL, NULL, 0);
		init.recv_cq = init.send_cq;
		qp = ibv_create_qp(s->pd, &init);
	}
	group.raw[14] = i >> 8;
	group.raw[15] = i;
	errno = ibv_attach_mcast(qp, &group, 0);
	return !errno;
}

/*
 * All that one may have.  Neither a second context is a second user, nor are the
 * users of a namespace others than the one who made it.
 */
static void have_all_as(void (*be)(void))
{
	struct side s, again;

	become(&s, be);
	while (told->made < MANY && have(&s, told->made))
		told->made++;
	if (told->made == MANY)
		return;
	told->err = errno;
	again = s;
	if (unshare(CLONE_NEWUSER))
		_exit(4);
	again.ctx = ibv_open_device(s.ctx->device);
	again.pd = again.ctx ? ibv_alloc_pd(again.ctx) : NULL;
	if (again.pd && have(&again, 0))
		told->err = 0;
}

static void have_all(void)
{
	have_all_as(be_user);
}

static void have_all_contained(void)
{
	have_all_as(be_contained);
}

/* We are somebody else than the child, and have our own share. */
static void others_have_some(void)
{
	struct side s = sides[0];

	side_enter(&s);
	s.ctx = ibv_open_device(sides[0].ctx->device);
	side_leave(&s);
	must(s.ctx);
	s.pd = ibv_alloc_pd(s.ctx);
	must(s.pd);
	must(have(&s, 0));
	must_be(ibv_close_device(s.ctx), 0);
}

static void share_is_kept(bool (*fn)(struct side *s, int i), int least)
{
	share_small();
	have = fn;
	child_start(have_all);
	child_wait(60000);
	must(told->done);
	must_be(told->err, EDQUOT);
	must(told->made >= least);
	others_have_some();
	/* and what was taken comes back */
	undo_now(told);
	child_start(have_all);
	child_wait(60000);
	must(told->done);
	must(told->made >= least);
}

static void share_dm(void)
{
	share_is_kept(have_dm, 100);
}

static void share_pd(void)
{
	share_is_kept(have_pd, 10000);
}

static void share_group(void)
{
	share_is_kept(have_group, 300);
}

/* Runs @command on the host of side 0. */
static bool runs(const char *command)
{
	int status;

	side_enter(&sides[0]);
	status = system(command);
	side_leave(&sides[0]);
	return !status;
}

static int link_undo(void *name)
{
	(void)name;
	return !runs("rdma link del sr9; ip link del dummy9");
}

/* However many groups a user joins, a new device has its management queue pair. */
static void groups_and_link(void)
{
	have = have_group;
	child_start(have_all);
	child_wait(60000);
	must(told->done);
	must(told->made > 8000);
	undo_later(link_undo, (void *)link_undo);
	must(runs("ip link add dummy9 type dummy && ip link set dummy9 up"));
	must(runs("rdma link add sr9 type srnic netdev dummy9"));
	must(runs("rdma res show qp link sr9 | grep -q 'type GSI'"));
}

/* In the child: a region is given other memory when there are no more keys. */
static void rereg_with_all_keys(void)
{
	static __u8 mem[2 * PAGE];
	struct ibv_mr *mr;
	struct side s;

	become(&s, be_user);
	mr = ibv_reg_mr(s.pd, mem, PAGE, IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		_exit(4);
	while (ibv_alloc_mw(s.pd, IBV_MW_TYPE_2))
		told->made++;
	if (errno != EDQUOT)
		_exit(5);
	if (ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, mem + PAGE,
			 PAGE, 0))
		told->err = errno;
	/* it has as many as before, and one less without the region */
	if (ibv_alloc_mw(s.pd, IBV_MW_TYPE_2) || ibv_dereg_mr(mr) ||
	    !ibv_alloc_mw(s.pd, IBV_MW_TYPE_2) ||
	    ibv_alloc_mw(s.pd, IBV_MW_TYPE_2))
		_exit(6);
}

static void share_rereg(void)
{
	share_small();
	child_start(rereg_with_all_keys);
	child_wait(60000);
	must(told->done);
	must(told->made > 1000);
	must_be(told->err, 0);
}

/* Each has as much as any other, and root has its share as well. */
static void share_container(void)
{
	int num;

	if (access("/proc/self/ns/user", F_OK))
		case_skip("no user namespaces here");
	share_small();
	have = have_dm;
	child_start(have_all_contained);
	child_wait(60000);
	must(told->done);
	must_be(told->err, EDQUOT);
	num = told->made;
	must(num >= 100);
	child_start(have_all_contained);
	child_wait(60000);
	must(told->done);
	must_be(told->err, EDQUOT);
	must_be(told->made, num);
	others_have_some();
}

/* ---- numbers ---- */

/* How many of @num numbers follow their predecessor closely? */
static int close_by(const __u32 *numbers, int num)
{
	int i, n = 0;

	for (i = 1; i < num; i++)
		n += numbers[i] - numbers[i - 1] + 4 <= 8;
	return n;
}

static void keys_at_random(void)
{
	struct ibv_mw *mw[64];
	__u32 index[ARRAY_SIZE(mw)];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(mw); i++) {
		mw[i] = mw_make(sides[0].pd, IBV_MW_TYPE_2);
		index[i] = mw[i]->rkey >> 8;
	}
	must(close_by(index, ARRAY_SIZE(mw)) < 4);
}

static void qpns_at_random(void)
{
	static struct end e[16];
	__u32 qpn[ARRAY_SIZE(e)];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(e); i++) {
		end_make(&e[i], &sides[0], &opt_default);
		qpn[i] = e[i].qp->qp_num;
		must(qpn[i] > 15 && qpn[i] < 0xffffff);
	}
	must(close_by(qpn, ARRAY_SIZE(e)) < 4);
}

/* ---- pages that never come ---- */

/* STUCK pages that nobody provides, or NULL. */
static __u8 *map_stuck(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = {
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	__u8 *mem;
	int fd;

	fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	mem = mmap(NULL, STUCK * PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	reg.range.start = (uintptr_t)mem;
	reg.range.len = STUCK * PAGE;
	if (fd >= 0 && mem != MAP_FAILED && !ioctl(fd, UFFDIO_API, &api) &&
	    !ioctl(fd, UFFDIO_REGISTER, &reg))
		return mem;
	told->err = errno;
	return NULL;
}

/* Asks for @num pages more, each with a call that does not wait. */
static void ask(struct side *s, __u8 *mem, int num)
{
	struct ibv_mr *mr;

	mr = ibv_reg_mr(s->pd, mem, STUCK * PAGE, IBV_ACCESS_LOCAL_WRITE |
			IBV_ACCESS_ON_DEMAND);
	if (!mr)
		_exit(4);
	for (; num; num--, told->made++) {
		struct ibv_sge sge = {
			.addr = (uintptr_t)mem + told->made * PAGE,
			.length = PAGE,
			.lkey = mr->lkey,
		};

		if (ibv_advise_mr(s->pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge,
				  1))
			_exit(5);
	}
	if (ibv_dereg_mr(mr))
		_exit(6);
}

static void ask_in_vain(void)
{
	__u8 *mem = map_stuck();
	struct side s;

	if (!mem)
		return;
	become(&s, be_user);
	ask(&s, mem, STUCK);
}

/* The same, with the device closed and opened again in between. */
static void ask_in_vain_anew(void)
{
	__u8 *mem = map_stuck();
	struct side s;

	if (!mem)
		return;
	become(&s, be_user);
	while (told->made < STUCK) {
		ask(&s, mem, STUCK / 50);
		if (ibv_dealloc_pd(s.pd) || ibv_close_device(s.ctx))
			_exit(7);
		s.ctx = ibv_open_device(sides[0].ctx->device);
		s.pd = s.ctx ? ibv_alloc_pd(s.ctx) : NULL;
		if (!s.pd)
			_exit(8);
	}
}

/* Who comes back gets no new places. */
static void places_are_kept(void)
{
	child_start(ask_in_vain_anew);
	child_wait(2000);
	if (told->err)
		case_skip("no userfaultfd (errno %d)", told->err);
	must(!told->done);
	must_be(told->made, PREFETCHES);
}

/* Does a page that is asked for come within @ms? */
static bool prefetched(int ms)
{
	__u64 end = now_us() + ms * 1000ULL;
	unsigned char there = 0;
	struct mem m = { .len = PAGE };
	struct ibv_sge sge;

	m.p = map_make(m.len, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	mem_own(&m, sides[0].pd, FULL_ACCESS | IBV_ACCESS_ON_DEMAND);
	sge = sge_of(&m, 0, m.len);
	must_be(ibv_advise_mr(sides[0].pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
			      0, &sge, 1), 0);
	while (!(there & 1) && now_us() < end) {
		usleep(1000);
		must_be(mincore(m.p, m.len, &there), 0);
	}
	return there & 1;
}

/* Neither what is missed nor what is asked for ahead waits behind another user. */
static void others_get_theirs(void)
{
	struct opt o = opt_default;
	struct mem ma, mb;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	child_start(ask_in_vain);
	child_wait(1000);
	if (told->err)
		case_skip("no userfaultfd (errno %d)", told->err);
	must(told->made > 10);

	o.timeout = 19;
	pair_make(&p, &o, &o);
	ma.len = 16 * PAGE;
	mb.len = 16 * PAGE;
	ma.p = map_make(ma.len, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	mb.p = map_make(mb.len, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	mem_own(&ma, sides[0].pd, FULL_ACCESS | IBV_ACCESS_ON_DEMAND);
	mem_own(&mb, sides[1].pd, FULL_ACCESS | IBV_ACCESS_ON_DEMAND);
	sge = sge_of(&ma, 0, ma.len);
	wr = wr_of(1, IBV_WR_RDMA_WRITE, &sge, 1);
	wr_target(&wr, &mb, 0);
	must_be(post_one(&p.a, &wr), 0);
	if (!wc_wait(p.a.scq, &wc, 20000))
		case_fail("behind %d pages that never come there is none",
			  told->made);
	must_be(wc.status, IBV_WC_SUCCESS);
	if (!prefetched(20000))
		case_fail("behind %d pages that never come none is prefetched",
			  told->made);
}

static const struct vrb_case user_cases[] = {
	{ "users", "device memory", share_dm },
	{ "users", "domains", share_pd },
	{ "users", "multicast groups", share_group },
	{ "users", "a new link beside many groups", groups_and_link },
	{ "users", "containers that root made", share_container },
	{ "users", "registering again with all keys taken", share_rereg },
	{ "users", "keys are at random", keys_at_random },
	{ "users", "QP numbers are at random", qpns_at_random },
	{ "users", "pages that never come", others_get_theirs },
	{ "users", "pages that never come, time and again", places_are_kept },
};

VRB_TOPIC_ALONE("users", user_cases);
