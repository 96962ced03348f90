// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: one user does not affect others
 *
 * The other user is a child with its own uid or user namespace, which opens the
 * device again.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/userfaultfd.h>

#include "frames.h"
#include "vrb.h"

#define USER		1000
#define CONTAINED	"0 100000 65536"	/* line of uid_map and gid_map */
#define PAGE		4096UL
#define MANY		40000	/* more than the share of a user */
#define FLOWS		(4096 / 100)	/* 1 % of the flows of a device */
#define COUNTERS	(65536 / 100)
#define STUCK		3000	/* more than the number of workers */
#define PREFETCHES	(4 + 64)	/* limit per user: in progress and queued */

/**
 * struct told - state shared by parent and child
 * @pid: the child, written by the parent
 * @made: number of objects that the child has created
 * @most: number of objects that the device advertises
 * @err: errno of the first failure
 * @done: the child has finished
 * @leave: the child may exit
 */
static struct told {
	pid_t	pid;
	int	made;
	int	most;
	int	err;
	bool	done;
	bool	leave;
} *told;

/* ---- users ---- */

/* Run by the child: calls @be to become another user, and opens the device of side 0. */
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

static void be_uid(uid_t uid)
{
	if (setresuid(uid, uid, uid))
		_exit(2);
}

static void be_user(void)
{
	be_uid(USER);
}

/* The prefetches of an earlier case's user may not have ended yet. */
static void be_new_user(void)
{
	be_uid(USER + getpid());
}

/* Maps the ids of a container into the new user namespace of process @pid. */
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
 * Becomes root of a container.  Only a process outside of the new namespace may
 * map more than one id.
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

/* Ends the child that shares @mem. */
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

/* Waits until the child is done, or has made @num. */
static void child_wait(int num)
{
	int made = -1, now;
	__u64 end = 0;

	while (!__atomic_load_n(&told->done, __ATOMIC_ACQUIRE)) {
		now = __atomic_load_n(&told->made, __ATOMIC_RELAXED);
		if (now >= num)
			return;
		if (now != made)
			end = 0;
		made = now;
		wait_turn(&end, "progress of the other user's process");
		if (waitpid(told->pid, NULL, WNOHANG) == told->pid)
			case_fail("the other user's process has exited");
	}
}

static void child_done(void)
{
	child_wait(INT_MAX);
}

/* Is the child sleeping? */
static bool child_sleeps(void)
{
	char path[32], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", told->pid);
	f = fopen(path, "r");
	must(f);
	must_be(fscanf(f, "%*d %*s %c", &state), 1);
	fclose(f);
	return state == 'S' || state == 'D';
}

/* In the child: sets user_share of the device of side 0, in a sysfs of its namespace. */
static bool share_put(const char *percent)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/user_share", sides[0].dev);
	side_enter(&sides[0]);
	return !unshare(CLONE_NEWNS) &&
	       !mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) &&
	       !mount("sysfs", "/sys", "sysfs", 0, NULL) && file_put(path, percent);
}

static void share_set(const char *percent)
{
	pid_t pid = fork();
	int status;

	must(pid >= 0);
	if (!pid)
		_exit(!share_put(percent));
	must(waitpid(pid, &status, 0) == pid);
	if (status)
		case_skip("user_share cannot be set");
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
static int (*most)(const struct ibv_device_attr_ex *attr);

static bool have_dm(struct side *s, int i)
{
	struct ibv_alloc_dm_attr attr = { .length = PAGE };

	(void)i;
	return ibv_alloc_dm(s->ctx, &attr);
}

static int most_dm(const struct ibv_device_attr_ex *attr)
{
	return attr->max_dm_size / PAGE;
}

static bool have_pd(struct side *s, int i)
{
	(void)i;
	return ibv_alloc_pd(s->ctx);
}

/* become() has created one already. */
static int most_pd(const struct ibv_device_attr_ex *attr)
{
	return attr->orig_attr.max_pd - 1;
}

static bool have_ah(struct side *s, int i)
{
	struct ibv_ah_attr attr = ah_path(s, &sides[1].gid);

	(void)i;
	return ibv_create_ah(s->pd, &attr);
}

static int most_ah(const struct ibv_device_attr_ex *attr)
{
	return attr->orig_attr.max_ah;
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

static int most_groups(const struct ibv_device_attr_ex *attr)
{
	return attr->orig_attr.max_mcast_grp;
}

static bool have_counters(struct side *s, int i)
{
	struct ibv_counters_init_attr attr = {};

	(void)i;
	return ibv_create_counters(s->ctx, &attr);
}

static int most_counters(const struct ibv_device_attr_ex *attr)
{
	(void)attr;
	return COUNTERS;
}

/*
 * Uses up the share of a user.  Neither a second context nor a new user
 * namespace gives the user another share.
 */
static void have_all_as(void (*be)(void))
{
	struct ibv_device_attr_ex attr;
	struct side s, again;

	become(&s, be);
	if (ibv_query_device_ex(s.ctx, NULL, &attr))
		_exit(7);
	told->most = most(&attr);
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

/* This process is another user than the child, and has its own share. */
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

static void share_is_kept(bool (*fn)(struct side *s, int i),
			  int (*says)(const struct ibv_device_attr_ex *attr),
			  int least)
{
	share_small();
	have = fn;
	most = says;
	child_start(have_all);
	child_done();
	must_be(told->err, EDQUOT);
	must(told->made >= least);
	must_be(told->made, told->most);
	others_have_some();
	/* the share is available again after the child has exited */
	undo_now(told);
	child_start(have_all);
	child_done();
	must(told->made >= least);
}

static void share_dm(void)
{
	share_is_kept(have_dm, most_dm, 100);
}

/* Run by the child: allocates at once all of which it is told. */
static void have_dm_at_once(void)
{
	struct ibv_alloc_dm_attr dm_attr = {};
	struct ibv_device_attr_ex attr;
	struct side s;

	become(&s, be_user);
	if (ibv_query_device_ex(s.ctx, NULL, &attr))
		_exit(7);
	dm_attr.length = attr.max_dm_size;
	if (!ibv_alloc_dm(s.ctx, &dm_attr))
		told->err = errno;
}

/* The share is no multiple of a page. */
static void share_dm_at_once(void)
{
	share_small();
	child_start(have_dm_at_once);
	child_done();
	must_be(told->err, 0);
}

static void share_pd(void)
{
	share_is_kept(have_pd, most_pd, 10000);
}

static void share_ah(void)
{
	share_is_kept(have_ah, most_ah, 10000);
}

static void share_group(void)
{
	share_is_kept(have_group, most_groups, 300);
}

static void share_counters(void)
{
	share_is_kept(have_counters, most_counters, 600);
}

static int flow_undo(void *flow)
{
	return ibv_destroy_flow(flow);
}

static struct ibv_flow *flow_of(struct end *e)
{
	struct ibv_flow_attr attr = {
		.type = IBV_FLOW_ATTR_SNIFFER,
		.size = sizeof(attr),
		.port = 1,
	};
	struct ibv_flow *flow = ibv_create_flow(e->qp, &attr);

	if (flow)
		undo_later(flow_undo, flow);
	return flow;
}

/* Root has a share like other users. */
static void share_flows(void)
{
	struct opt o = raw_opt();
	struct ibv_flow *last = NULL, *flow;
	struct end e;
	int n = 0;

	share_small();
	raw_make(&e, &sides[0], &o);
	while ((flow = flow_of(&e)) && n++ < FLOWS)
		last = flow;
	must_be(n, FLOWS);
	must_be(errno, EDQUOT);
	undo_now(last);
	must(flow_of(&e));
	must(!flow_of(&e));
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

/* A user who has many groups does not prevent the creation of a device. */
static void groups_and_link(void)
{
	have = have_group;
	most = most_groups;
	child_start(have_all);
	child_done();
	must(told->made > 8000);
	undo_later(link_undo, (void *)link_undo);
	must(runs("ip link add dummy9 type dummy && ip link set dummy9 up"));
	must(runs("rdma link add sr9 type srnic netdev dummy9"));
	must(runs("rdma res show qp link sr9 | grep -q 'type GSI'"));
}

/* Run by the child: re-registers a region when the user's share of keys is used up. */
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
	/* re-registration took no key: deregistration frees exactly one */
	if (ibv_alloc_mw(s.pd, IBV_MW_TYPE_2) || ibv_dereg_mr(mr) ||
	    !ibv_alloc_mw(s.pd, IBV_MW_TYPE_2) ||
	    ibv_alloc_mw(s.pd, IBV_MW_TYPE_2))
		_exit(6);
}

static void share_rereg(void)
{
	share_small();
	child_start(rereg_with_all_keys);
	child_done();
	must(told->made > 1000);
	must_be(told->err, 0);
}

/* Each container has the same share, and root still has its own. */
static void share_container(void)
{
	int num;

	if (access("/proc/self/ns/user", F_OK))
		case_skip("no user namespaces here");
	share_small();
	have = have_dm;
	most = most_dm;
	child_start(have_all_contained);
	child_done();
	must_be(told->err, EDQUOT);
	num = told->made;
	must(num >= 100);
	child_start(have_all_contained);
	child_done();
	must_be(told->err, EDQUOT);
	must_be(told->made, num);
	others_have_some();
}

/* ---- random numbers ---- */

/* How many of @num numbers are close to their predecessor? */
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

/* ---- page faults that are never resolved ---- */

/* Maps STUCK pages whose faults are never resolved; returns NULL on failure. */
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

/* Prefetches @num more pages asynchronously, one per call. */
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
	become(&s, be_new_user);
	ask(&s, mem, STUCK);
}

/* Prefetches as above, but closes and reopens the device in between. */
static void ask_in_vain_anew(void)
{
	__u8 *mem = map_stuck();
	struct side s;

	if (!mem)
		return;
	become(&s, be_new_user);
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

/* Reopening the device does not give a user more prefetches. */
static void places_are_kept(void)
{
	__u64 end = 0;

	child_start(ask_in_vain_anew);
	child_wait(PREFETCHES);
	if (told->err)
		case_skip("no userfaultfd (errno %d)", told->err);
	/* the next call of the child waits */
	while (!child_sleeps())
		wait_turn(&end, "sleep of the other user's process");
	must(!told->done);
	must_be(told->made, PREFETCHES);
}

/* Prefetches a page repeatedly until it is present. */
static void prefetched(void)
{
	__u64 end = 0;
	unsigned char there = 0;
	struct mem m = { .len = PAGE };
	struct ibv_sge sge;

	m.p = map_make(m.len, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	mem_own(&m, sides[0].pd, FULL_ACCESS | IBV_ACCESS_ON_DEMAND);
	sge = sge_of(&m, 0, m.len);
	must_be(ibv_advise_mr(sides[0].pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
			      0, &sge, 1), 0);
	while (!(there & 1)) {
		wait_turn(&end, "page that was asked for");
		must_be(mincore(m.p, m.len, &there), 0);
	}
}

/* Neither page faults nor prefetches wait behind those of another user. */
static void others_get_theirs(void)
{
	struct opt o = opt_default;
	struct mem ma, mb;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	child_start(ask_in_vain);
	child_wait(PREFETCHES);
	if (told->err)
		case_skip("no userfaultfd (errno %d)", told->err);

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
	if (!wc_wait(p.a.scq, &wc, BOUND))
		case_fail("no page fault is resolved behind %d stuck prefetches",
			  told->made);
	must_be(wc.status, IBV_WC_SUCCESS);
	prefetched();
}

static const struct vrb_case user_cases[] = {
	{ "users", "device memory", share_dm },
	{ "users", "device memory at once", share_dm_at_once },
	{ "users", "domains", share_pd },
	{ "users", "address handles", share_ah },
	{ "users", "multicast groups", share_group },
	{ "users", "flows", share_flows },
	{ "users", "counters of flows", share_counters },
	{ "users", "a new link in spite of many groups", groups_and_link },
	{ "users", "containers created by root", share_container },
	{ "users", "re-registration with all keys in use", share_rereg },
	{ "users", "random keys", keys_at_random },
	{ "users", "random QP numbers", qpns_at_random },
	{ "users", "stuck prefetches of another user", others_get_theirs },
	{ "users", "stuck prefetches, reopening the device", places_are_kept },
};

VRB_TOPIC_ALONE("users", user_cases);
