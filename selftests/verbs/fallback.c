// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: memory beyond RLIMIT_MEMLOCK
 *
 * The process registers more memory than it may pin.  With odp_fallback set on the device,
 * the memory is paged on demand instead, as described in ibv_reg_mr(3).
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "odp.h"

#define BIG	(64UL << 20)
#define ROOM	(64UL << 10)	/* limit beyond what is already pinned */
#define NOBODY	65534

static struct pair p;
static struct mem here;

/* Bytes that this process has pinned */
static size_t pinned(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	size_t kb = 0;

	must(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "VmPin: %zu", &kb) == 1)
			break;
	fclose(f);
	return kb << 10;
}

/* Registers as a user who may pin @room more bytes; sets errno. */
static struct ibv_mr *reg(const struct side *s, void *mem, size_t len, size_t room, int access)
{
	struct rlimit old, now;
	struct ibv_mr *mr;
	int err;

	must_be(getrlimit(RLIMIT_MEMLOCK, &old), 0);
	now = old;
	now.rlim_cur = room ? pinned() + room : 0;
	must_be(setrlimit(RLIMIT_MEMLOCK, &now), 0);
	must_be(seteuid(NOBODY), 0);
	mr = ibv_reg_mr(s->pd, mem, len, access);
	err = errno;
	must_be(seteuid(0), 0);
	must_be(setrlimit(RLIMIT_MEMLOCK, &old), 0);
	errno = err;
	return mr;
}

/* Memory of the responder, which keeps its data when pages are dropped */
static __u8 *big(void)
{
	return map_make(BIG, MAP_SHARED | MAP_ANONYMOUS, -1);
}

static void setup(void)
{
	struct opt o = odp_opt();

	pair_make(&p, &o, &o);
	mem_make(&here, &sides[0], CHUNK, FULL_ACCESS);
}

static void go(enum ibv_wr_opcode op, const struct ibv_mr *mr, __u8 *at, enum ibv_wc_status want)
{
	struct ibv_sge sge = sge_of(&here, 0, here.len);
	struct ibv_send_wr wr = wr_of(1, op, &sge, 1);

	wr.wr.rdma.remote_addr = (uintptr_t)at;
	wr.wr.rdma.rkey = mr->rkey;
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 1, want);
}

/* ---- off ---- */

static void off_refused(void)
{
	__u8 *mem = big();

	must(!reg(&sides[1], mem, BIG, ROOM, FULL_ACCESS));
	must_be(errno, ENOMEM);
	must(!reg(&sides[1], mem, PAGE, 0, FULL_ACCESS));
	must_be(errno, EPERM);
}

/* ---- on ---- */

static void on_pins_nothing(void)
{
	size_t before = pinned();
	struct ibv_mr *mr, *small;
	__u8 *mem = big();

	mr = reg(&sides[1], mem, BIG, ROOM, FULL_ACCESS);
	must(mr);
	must_be(pinned(), before);
	small = reg(&sides[1], mem, PAGE, ROOM, FULL_ACCESS);
	must(small);
	must_be(pinned(), before + PAGE);	/* below the limit: pinned */
	must_be(ibv_dereg_mr(small), 0);
	small = reg(&sides[1], mem, PAGE, 0, FULL_ACCESS);
	must(small);
	must_be(pinned(), before);
	must_be(ibv_dereg_mr(small), 0);
	must_be(ibv_dereg_mr(mr), 0);
	must_be(pinned(), before);
}

/* Pages are faulted in, dropped or swapped out, and faulted in again. */
static void on_data(void)
{
	static const size_t places[] = { 0, PAGE + 100, 33 * CHUNK / 2, BIG - CHUNK };
	struct ibv_mr *mr;
	__u8 *mem = big();
	size_t i;

	setup();
	mr = reg(&sides[1], mem, BIG, ROOM, FULL_ACCESS);
	must(mr);
	for (i = 0; i < 2 * ARRAY_SIZE(places); i++) {
		__u8 *at = mem + places[i / 2];

		fill(here.p, here.len, i);
		go(IBV_WR_RDMA_WRITE, mr, at, IBV_WC_SUCCESS);
		if (i % 2)
			must_be(madvise(mem, BIG, MADV_DONTNEED), 0);
		else
			madvise(mem, BIG, MADV_PAGEOUT);	/* if there is swap */
		memset(here.p, 0, here.len);
		go(IBV_WR_RDMA_READ, mr, at, IBV_WC_SUCCESS);
		same(here.p, here.len, i, "what is read back");
		same(at, here.len, i, "the memory");
	}
	must_be(ibv_dereg_mr(mr), 0);
}

/* The region is the memory that the process has mapped there now. */
static void on_remapped(void)
{
	struct ibv_mr *mr;
	__u8 *mem = big();

	setup();
	mr = reg(&sides[1], mem, BIG, ROOM, FULL_ACCESS);
	must(mr);
	fill(here.p, here.len, 1);
	go(IBV_WR_RDMA_WRITE, mr, mem, IBV_WC_SUCCESS);
	must(mmap(mem, BIG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		  0) == mem);
	fill(here.p, here.len, 2);
	go(IBV_WR_RDMA_WRITE, mr, mem, IBV_WC_SUCCESS);
	same(mem, here.len, 2, "the new mapping");
	must_be(munmap(mem, BIG), 0);
	go(IBV_WR_RDMA_WRITE, mr, mem, IBV_WC_REM_ACCESS_ERR);
	must_be(ibv_dereg_mr(mr), 0);
}

/* After fork() the region is the memory of the process that registered it. */
static void on_forks(void)
{
	struct ibv_mr *mr;
	__u8 *mem = map_make(BIG, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	int status;
	pid_t pid;

	setup();
	mr = reg(&sides[1], mem, BIG, ROOM, FULL_ACCESS);
	must(mr);
	fill(here.p, here.len, 1);
	go(IBV_WR_RDMA_WRITE, mr, mem, IBV_WC_SUCCESS);
	pid = fork();
	must(pid >= 0);
	if (!pid) {
		pause();
		_exit(0);
	}
	fill(here.p, here.len, 2);
	go(IBV_WR_RDMA_WRITE, mr, mem, IBV_WC_SUCCESS);
	same(mem, here.len, 2, "the parent's memory");
	must_be(kill(pid, SIGKILL), 0);
	must_be(waitpid(pid, &status, 0), pid);
	must_be(ibv_dereg_mr(mr), 0);
}

/* Reregistration needs no flag for it, and pins again if the limit permits. */
static void on_again(void)
{
	size_t before;
	struct ibv_mr *mr;
	__u8 *mem = big();

	setup();
	before = pinned();
	mr = reg(&sides[1], mem, BIG, ROOM, IBV_ACCESS_LOCAL_WRITE);
	must(mr);
	must_be(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, FULL_ACCESS), 0);
	must_be(pinned(), before);
	fill(here.p, here.len, 1);
	go(IBV_WR_RDMA_WRITE, mr, mem, IBV_WC_SUCCESS);
	same(mem, here.len, 1, "the memory");
	must_be(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, mem + CHUNK, CHUNK, 0), 0);
	must_be(pinned(), before + CHUNK);
	go(IBV_WR_RDMA_WRITE, mr, mem + CHUNK, IBV_WC_SUCCESS);
	same(mem + CHUNK, here.len, 1, "the memory");
	must_be(ibv_dereg_mr(mr), 0);
}

static const struct vrb_case off_cases[] = {
	{ "fallback off", "beyond the limit is ENOMEM, with a limit of 0 EPERM", off_refused },
};

static const struct vrb_case on_cases[] = {
	{ "fallback", "beyond the limit nothing is pinned", on_pins_nothing },
	{ "fallback", "data, while pages are dropped and faulted in", on_data },
	{ "fallback", "memory that is remapped, then unmapped", on_remapped },
	{ "fallback", "a process that forks", on_forks },
	{ "fallback", "reregistration", on_again },
};

VRB_CASES(off_cases)
VRB_CASES(on_cases)
