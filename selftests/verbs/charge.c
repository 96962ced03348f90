// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: charging of kernel memory
 *
 * A child in its own memory cgroup creates objects.  The kernel memory charged
 * to the cgroup must grow by at least the size of the objects.  When the cgroup
 * reaches its limit, the child, and no other process, fails or is killed.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vrb.h"

#define CGROUP		"/sys/fs/cgroup"
#define CAGE		CGROUP "/vrb"
#define PAGE		4096UL
#define CHUNK		(2UL << 20)
#define BIG		(256UL << 20)

/* QPs with counters of their own, and the minimum size of the counters of each */
#define COUNTED		400
#define COUNTERS	400L

/* Memory limit of a child beyond its usage at the start */
#define CAGE_ROOM	(4 << 20)
#define CAGE_MANY	100000

/**
 * struct kind - a kind of object
 * @make: creates object @i, which remains; on failure returns false and sets errno
 * @num: number of objects that are measured
 * @least: minimum size of each in bytes, excluding what is mapped from the device
 */
struct kind {
	bool	(*make)(struct side *s, int i);
	int	num;
	long	least;
};

/* Results of the child */
static struct told {
	long	grown;
	long	want;
	int	made;
	int	err;
} *told;

/* ---- cgroups ---- */

/* The number after @key in @file of the cgroup; the first number if @key is "" */
static long get(const char *file, const char *key)
{
	char path[128], line[128];
	long value = -1;
	FILE *f;

	snprintf(path, sizeof(path), CAGE "/%s", file);
	f = fopen(path, "r");
	while (f && value < 0 && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)))
			value = atol(line + strlen(key));
	if (f)
		fclose(f);
	return value;
}

static int cage_remove(void *path)
{
	__u64 end = 0;

	/* a reaped child may be in the cgroup a moment longer */
	while (rmdir(path) && wait_more(&end, NULL))
		;
	return access(path, F_OK) ? 0 : -1;
}

static void cage_make(void)
{
	static char cage[] = CAGE;

	if (!file_put(CGROUP "/cgroup.subtree_control", "+memory"))
		case_skip("no memory cgroups here");
	must(!mkdir(cage, 0755) || errno == EEXIST);
	undo_later(cage_remove, cage);
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(told != MAP_FAILED);
}

/* Runs @fn in the cgroup.  Return: its wait status. */
static int cage_run(void (*fn)(const struct kind *kind),
		    const struct kind *kind)
{
	int status;
	pid_t pid;

	cage_make();
	pid = fork();
	must(pid >= 0);
	if (!pid) {
		if (!file_put(CAGE "/cgroup.procs", "0"))
			_exit(6);
		fn(kind);
		_exit(0);
	}
	must_be(waitpid(pid, &status, 0), pid);
	return status;
}

/* The child opens the device again so that it owns what it creates. */
static void side_again(struct side *s)
{
	struct ibv_device *dev = sides[0].ctx->device;

	*s = sides[0];
	side_enter(s);
	s->ctx = ibv_open_device(dev);
	side_leave(s);
	if (s->ctx)
		s->pd = ibv_alloc_pd(s->ctx);
	if (!s->ctx || !s->pd)
		_exit(2);
}

/* ---- kinds ---- */

static bool make_cq(struct side *s, int i)
{
	(void)i;
	return ibv_create_cq(s->ctx, 65535, NULL, NULL, 0);
}

static bool make_qp(struct side *s, int i)
{
	static struct ibv_cq *cq;
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = 4096,
			.max_recv_wr = 4096,
			.max_send_sge = 16,
			.max_recv_sge = 16,
		},
	};

	if (!i)
		cq = ibv_create_cq(s->ctx, 1, NULL, NULL, 0);
	init.send_cq = cq;
	init.recv_cq = cq;
	return ibv_create_qp(s->pd, &init);
}

static bool make_srq(struct side *s, int i)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 16384, .max_sge = 16 },
	};

	(void)i;
	return ibv_create_srq(s->pd, &init);
}

static bool make_mr(struct side *s, int i)
{
	static __u8 mem[64];

	(void)i;
	return ibv_reg_mr(s->pd, mem, sizeof(mem), IBV_ACCESS_LOCAL_WRITE);
}

static bool make_mw(struct side *s, int i)
{
	(void)i;
	return ibv_alloc_mw(s->pd, IBV_MW_TYPE_2);
}

static bool make_ah(struct side *s, int i)
{
	struct ibv_ah_attr attr = ah_path(s, &sides[1].gid);
	struct ibv_ah *ah;

	(void)i;
	side_enter(s);
	ah = ibv_create_ah(s->pd, &attr);
	side_leave(s);
	return ah;
}

static bool make_dm(struct side *s, int i)
{
	struct ibv_alloc_dm_attr attr = { .length = 1 << 20 };

	(void)i;
	return ibv_alloc_dm(s->ctx, &attr);
}

static const struct kind cqs = { make_cq, 4, 0 };
static const struct kind qps = { make_qp, 8, 4096 * 16 * 16 };
static const struct kind srqs = { make_srq, 4, 0 };
static const struct kind mrs = { make_mr, 4000, 200 };
static const struct kind mws = { make_mw, 4000, 200 };
static const struct kind ahs = { make_ah, 4000, 64 };
static const struct kind dms = { make_dm, 8, 0 };

/* ---- measuring ---- */

/* Bytes mapped from devices */
static long mapped(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long first, end;
	char line[512];
	long sum = 0;

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "/dev/infiniband/") &&
		    sscanf(line, "%lx-%lx", &first, &end) == 2)
			sum += end - first;
	if (f)
		fclose(f);
	return sum;
}

static void measure(const struct kind *kind)
{
	struct side s;
	int i;

	side_again(&s);
	if (!kind->make(&s, 0))
		_exit(3);
	told->want = -mapped();
	told->grown = -get("memory.stat", "kernel ");
	for (i = 1; i <= kind->num; i++)
		if (!kind->make(&s, i))
			_exit(4);
	told->want += mapped() + kind->num * kind->least;
	told->grown += get("memory.stat", "kernel ");
}

/* Waits until @key of memory.stat has grown from @before by told->want. */
static void measure_late(const char *key, long before)
{
	__u64 end = 0;

	do {
		told->grown = get("memory.stat", key) - before;
	} while (told->grown < told->want && wait_more(&end, key));
}

static void charges(void (*fn)(const struct kind *kind),
		    const struct kind *kind)
{
	must_be(cage_run(fn, kind), 0);
	/* memory.stat lags behind by a few pages per processor */
	if (told->grown < told->want * 9 / 10)
		case_fail("%ld bytes were charged, not %ld", told->grown,
			  told->want);
}

static void is_charged(const struct kind *kind)
{
	charges(measure, kind);
}

static void charged_cqs(void)
{
	is_charged(&cqs);
}

static void charged_qps(void)
{
	is_charged(&qps);
}

static void charged_srqs(void)
{
	is_charged(&srqs);
}

static void charged_mrs(void)
{
	is_charged(&mrs);
}

static void charged_mws(void)
{
	is_charged(&mws);
}

static void charged_ahs(void)
{
	is_charged(&ahs);
}

static void charged_dms(void)
{
	is_charged(&dms);
}

/* ---- on demand ---- */

static struct ibv_mr *all_memory(struct side *s)
{
	struct ibv_mr *mr = ibv_reg_mr(s->pd, NULL, SIZE_MAX,
				       IBV_ACCESS_LOCAL_WRITE |
				       IBV_ACCESS_ON_DEMAND);

	if (!mr)
		_exit(3);
	return mr;
}

/* Prefetches one page in each chunk of the BIG bytes; returns the last error. */
static int ask_all(struct side *s, struct ibv_mr *mr, __u8 *mem, __u32 flags)
{
	int err = 0;
	size_t off;

	for (off = 0; off < BIG; off += CHUNK) {
		struct ibv_sge sge = {
			.addr = (uintptr_t)mem + off,
			.length = PAGE,
			.lkey = mr->lkey,
		};

		err = ibv_advise_mr(s->pd, IBV_ADVISE_MR_ADVICE_PREFETCH, flags,
				    &sge, 1);
	}
	return err;
}

/* Translations made by a worker are charged to the process as well. */
static void measure_odp(const struct kind *kind)
{
	struct side s;
	struct ibv_mr *mr;
	long before;
	__u8 *mem;

	(void)kind;
	side_again(&s);
	mr = all_memory(&s);
	mem = mmap(NULL, BIG, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	told->want = BIG / CHUNK * PAGE;
	before = get("memory.stat", "slab ");
	ask_all(&s, mr, mem, 0);
	measure_late("slab ", before);
}

static void charged_odp(void)
{
	charges(measure_odp, NULL);
}

/* No translations are kept for memory that cannot be accessed. */
static void measure_none(const struct kind *kind)
{
	struct side s;
	struct ibv_mr *mr;
	__u8 *mem;
	int i;

	(void)kind;
	side_again(&s);
	mr = all_memory(&s);
	mem = mmap(NULL, BIG, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	told->want = BIG / CHUNK * PAGE / 4;
	told->grown = -get("memory.stat", "slab ");
	for (i = 0; i < 4; i++)
		if (!ask_all(&s, mr, mem, IBV_ADVISE_MR_FLAG_FLUSH))
			_exit(4);
	told->grown += get("memory.stat", "slab ");
}

static void none_for_prot_none(void)
{
	must_be(cage_run(measure_none, NULL), 0);
	if (told->grown > told->want)
		case_fail("%ld bytes were kept for inaccessible memory", told->grown);
}

/* ---- counters ---- */

/* Creates a QP from @init with the counters of the calling thread; NULL on failure. */
static void *make_counted(void *init)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_qp_init_attr *qp_init = init;
	struct ibv_pd *pd = qp_init->qp_context;
	struct ibv_qp *qp = ibv_create_qp(pd, qp_init);

	if (!qp || ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
				 IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		return NULL;
	return qp;
}

static void measure_counters(const struct kind *kind)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1 },
	};
	struct side s;
	long before;
	int i;

	(void)kind;
	side_again(&s);
	init.qp_context = s.pd;
	init.send_cq = ibv_create_cq(s.ctx, 1, NULL, NULL, 0);
	init.recv_cq = init.send_cq;
	told->want = COUNTED * COUNTERS;
	before = get("memory.stat", "percpu ");
	for (i = 0; i < COUNTED; i++) {
		pthread_t thread;
		void *qp;

		if (pthread_create(&thread, NULL, make_counted, &init) ||
		    pthread_join(thread, &qp) || !qp)
			_exit(4);
	}
	measure_late("percpu ", before);
}

static void charged_counters(void)
{
	charges(measure_counters, NULL);
}

/* ---- the limit ---- */

static void fill_up(const struct kind *kind)
{
	char room[32];
	struct side s;
	int i;

	side_again(&s);
	if (!kind->make(&s, 0))
		_exit(3);
	snprintf(room, sizeof(room), "%ld",
		 get("memory.current", "") + CAGE_ROOM);
	if (!file_put(CAGE "/memory.max", room))
		_exit(6);
	for (i = 1; i < CAGE_MANY; i++) {
		told->made = i;
		if (kind->make(&s, i))
			continue;
		told->err = errno;
		_exit(0);
	}
	_exit(5);
}

static void is_limited(const struct kind *kind)
{
	int status = cage_run(fill_up, kind);

	must(get("memory.events", "max ") > 0);
	if (WIFSIGNALED(status))
		must_be(WTERMSIG(status), SIGKILL);
	else if (WEXITSTATUS(status) || told->err != ENOMEM)
		case_fail("%d objects, exit status %d, errno %d", told->made,
			  WEXITSTATUS(status), told->err);
}

static void limited_cqs(void)
{
	is_limited(&cqs);
}

static void limited_qps(void)
{
	is_limited(&qps);
}

static void limited_srqs(void)
{
	is_limited(&srqs);
}

static void limited_mrs(void)
{
	is_limited(&mrs);
}

static void limited_mws(void)
{
	is_limited(&mws);
}

static void limited_dms(void)
{
	is_limited(&dms);
}

static const struct vrb_case charge_cases[] = {
	{ "charge", "completion queues", charged_cqs },
	{ "charge", "queue pairs", charged_qps },
	{ "charge", "shared receive queues", charged_srqs },
	{ "charge", "regions", charged_mrs },
	{ "charge", "windows", charged_mws },
	{ "charge", "address handles", charged_ahs },
	{ "charge", "device memory", charged_dms },
	{ "charge", "on-demand translations", charged_odp },
	{ "charge", "no translations are kept for PROT_NONE memory", none_for_prot_none },
	{ "charge counters", "of many threads of one program", charged_counters },
	{ "cgroup limit", "completion queues", limited_cqs },
	{ "cgroup limit", "queue pairs", limited_qps },
	{ "cgroup limit", "shared receive queues", limited_srqs },
	{ "cgroup limit", "regions", limited_mrs },
	{ "cgroup limit", "windows", limited_mws },
	{ "cgroup limit", "device memory", limited_dms },
};

VRB_CASES(charge_cases);
