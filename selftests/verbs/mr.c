// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: ways to create, change and address memory
 * regions
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>

#include "vrb.h"

#define LEN	65536
#define PAGE	4096

static struct pair p;
static struct mem ma, mb;

static void setup(void)
{
	pair_make(&p, NULL, NULL);
	mem_make(&ma, &sides[0], LEN, FULL_ACCESS);
	mem_make(&mb, &sides[1], LEN, FULL_ACCESS);
	fill(ma.p, LEN, 1);
}

static void post_write(__u64 id, size_t len, __u64 addr, __u32 key)
{
	struct ibv_sge sge = sge_of(&ma, 0, len);
	struct ibv_send_wr wr = wr_of(id, IBV_WR_RDMA_WRITE, &sge, 1);

	wr.wr.rdma.remote_addr = addr;
	wr.wr.rdma.rkey = key;
	must_be(post_one(&p.a, &wr), 0);
}

static void write_to(__u64 addr, size_t len, __u32 key,
		     enum ibv_wc_status status)
{
	post_write(1, len, addr, key);
	wc_want(p.a.scq, 1, status);
}

static void read_from(__u64 addr, size_t len, __u32 key)
{
	struct ibv_sge sge = sge_of(&ma, 0, len);
	struct ibv_send_wr wr = wr_of(2, IBV_WR_RDMA_READ, &sge, 1);

	memset(ma.p, 0, len);
	wr.wr.rdma.remote_addr = addr;
	wr.wr.rdma.rkey = key;
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 2, IBV_WC_SUCCESS);
	same(ma.p, len, 1, "what was read back");
}

/* Registers part of b's memory; the caller deregisters it. */
static struct ibv_mr *reg(size_t off, size_t len, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(sides[1].pd, mb.p + off, len, access);

	must(mr);
	return mr;
}

/* ---- addresses ---- */

static void zero_based(void)
{
	struct ibv_mr *mr;

	setup();
	mr = reg(1234, 20000, FULL_ACCESS | IBV_ACCESS_ZERO_BASED);
	write_to(0, 20000, mr->rkey, IBV_WC_SUCCESS);
	same(mb.p + 1234, 20000, 1, "the region");
	untouched(mb.p, 1234, "before the region");
	untouched(mb.p + 21234, LEN - 21234, "behind the region");
	read_from(0, 20000, mr->rkey);
	write_to(1, 20000, mr->rkey, IBV_WC_REM_ACCESS_ERR);
	must_be(ibv_dereg_mr(mr), 0);
}

static void own_iova(void)
{
	static const __u64 bases[] = { 0, 7 * PAGE, 1ULL << 40, ~0ULL << 62 };
	struct ibv_mr *mr;
	__u64 iova;
	size_t i;

	setup();
	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		memset(mb.p, GUARD, LEN);
		fill(ma.p, LEN, 1);
		iova = bases[i] + 300;
		mr = ibv_reg_mr_iova(sides[1].pd, mb.p + PAGE + 300, 30000,
				     iova, FULL_ACCESS);
		must(mr);
		write_to(iova + 10, 29990, mr->rkey, IBV_WC_SUCCESS);
		same(mb.p + PAGE + 310, 29990, 1, "the region");
		untouched(mb.p, PAGE + 310, "before what was written");
		untouched(mb.p + PAGE + 30300, LEN - PAGE - 30300,
			  "behind the region");
		read_from(iova + 10, 29990, mr->rkey);
		must_be(ibv_dereg_mr(mr), 0);
	}
}

static void iova_wraps(void)
{
	setup();
	must(!ibv_reg_mr_iova(sides[1].pd, mb.p, LEN, ~0ULL - PAGE + 1,
			      FULL_ACCESS));
}

static void optional_flags(void)
{
	struct ibv_mr *mr;

	setup();
	mr = reg(0, LEN, FULL_ACCESS | IBV_ACCESS_RELAXED_ORDERING |
		 (1 << 29));
	write_to((uintptr_t)mb.p, LEN, mr->rkey, IBV_WC_SUCCESS);
	same(mb.p, LEN, 1, "the region");
	must_be(ibv_dereg_mr(mr), 0);
}

/* ---- registering again ---- */

static void rereg_access(void)
{
	struct ibv_mr *mr;
	__u32 old;

	setup();
	mr = reg(0, LEN, FULL_ACCESS);
	old = mr->rkey;
	must_be(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ),
		0);
	fill(mb.p, LEN, 1);
	read_from((uintptr_t)mb.p, LEN, mr->rkey);
	memset(mb.p, GUARD, LEN);
	write_to((uintptr_t)mb.p, 64, mr->rkey, IBV_WC_REM_ACCESS_ERR);
	untouched(mb.p, LEN, "the region that is now read-only");
	must_be(mr->rkey, old);
	must_be(ibv_dereg_mr(mr), 0);
}

static void rereg_pd(void)
{
	struct ibv_pd *pd;
	struct ibv_mr *mr;

	setup();
	pd = pd_make(&sides[1]);
	mr = reg(0, LEN, FULL_ACCESS);
	must_be(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0, 0), 0);
	must(mr->pd == pd);
	must_be(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, sides[1].pd, NULL, 0,
			     0), 0);
	write_to((uintptr_t)mb.p, LEN, mr->rkey, IBV_WC_SUCCESS);
	same(mb.p, LEN, 1, "the region that is writable again");
	must_be(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0, 0), 0);
	write_to((uintptr_t)mb.p, 64, mr->rkey, IBV_WC_REM_ACCESS_ERR);
	must_be(ibv_dereg_mr(mr), 0);
}

static void rereg_trans(void)
{
	struct ibv_mr *mr;

	setup();
	mr = reg(0, PAGE, FULL_ACCESS);
	must_be(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL,
			     mb.p + 8192, 5000, 0), 0);
	must(mr->addr == mb.p + 8192);
	must_be(mr->length, 5000);
	write_to((uintptr_t)mb.p + 8192, 5000, mr->rkey, IBV_WC_SUCCESS);
	same(mb.p + 8192, 5000, 1, "the region");
	untouched(mb.p, 8192, "where the region was");
	write_to((uintptr_t)mb.p, 64, mr->rkey, IBV_WC_REM_ACCESS_ERR);
	untouched(mb.p, 8192, "where the region was");
	must_be(ibv_dereg_mr(mr), 0);
}

static void rereg_all(void)
{
	struct ibv_pd *pd;
	struct ibv_mr *mr;

	setup();
	pd = pd_make(&sides[1]);
	mr = ibv_reg_mr(pd, mb.p, PAGE, 0);
	must(mr);
	must_be(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION |
			     IBV_REREG_MR_CHANGE_PD |
			     IBV_REREG_MR_CHANGE_ACCESS, sides[1].pd, mb.p, LEN,
			     FULL_ACCESS), 0);
	write_to((uintptr_t)mb.p, LEN, mr->rkey, IBV_WC_SUCCESS);
	same(mb.p, LEN, 1, "the region");
	must_be(ibv_dereg_mr(mr), 0);
}

/* A region is re-registered while it is written to; its old memory stays intact. */
static void rereg_busy(void)
{
	struct ibv_wc wc = {};
	struct ibv_mr *mr;
	int i, k;

	for (i = 0; i < rounds; i++) {
		setup();
		mr = reg(0, LEN / 2, FULL_ACCESS);
		for (k = 0; k < 60; k++)
			post_write(k, LEN / 2, (uintptr_t)mb.p, mr->rkey);
		usleep(i * 50);
		must_be(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL,
				     mb.p + LEN / 2, LEN / 2, 0), 0);
		memset(mb.p, GUARD, LEN / 2);
		do {
			if (!wc_wait(p.a.scq, &wc, BOUND))
				case_fail("the writes do not end");
		} while (wc.status == IBV_WC_SUCCESS && wc.wr_id < 59);
		if (wc.status != IBV_WC_SUCCESS)
			untouched(mb.p, LEN / 2, "where the region was");
		must_be(ibv_dereg_mr(mr), 0);
	}
}

/* ---- device memory ---- */

static struct ibv_dm *dm_make(size_t length)
{
	struct ibv_alloc_dm_attr attr = { .length = length };

	return ibv_alloc_dm(sides[1].ctx, &attr);
}

static void dm_data(void)
{
	struct ibv_mr *mr;
	struct ibv_dm *dm;
	__u8 *out;

	setup();
	out = mb.p;
	dm = dm_make(20000);
	must(dm);
	mr = ibv_reg_dm_mr(sides[1].pd, dm, 100, 19000,
			   FULL_ACCESS | IBV_ACCESS_ZERO_BASED);
	must(mr);
	must_be(ibv_memcpy_from_dm(out, dm, 0, 20000), 0);
	must_be(out[0] | out[19999], 0);
	write_to(0, 19000, mr->rkey, IBV_WC_SUCCESS);
	must_be(ibv_memcpy_from_dm(out, dm, 0, 20000), 0);
	same(out + 100, 19000, 1, "the device memory");
	must_be(out[99] | out[19100], 0);
	read_from(0, 19000, mr->rkey);
	fill(out, 500, 1);
	must_be(ibv_memcpy_to_dm(dm, 100, out, 500), 0);
	read_from(0, 500, mr->rkey);
	write_to(1, 19000, mr->rkey, IBV_WC_REM_ACCESS_ERR);
	must(ibv_free_dm(dm));		/* in use by the region */
	must_be(ibv_dereg_mr(mr), 0);
	must_be(ibv_free_dm(dm), 0);
}

static void dm_bounds(void)
{
	struct ibv_alloc_dm_attr attr = { .length = 64, .log_align_req = 30 };
	struct ibv_dm *dm;

	setup();
	must(!ibv_alloc_dm(sides[1].ctx, &attr));
	must(!dm_make(0));
	must(!dm_make(1UL << 40));
	dm = dm_make(5000);
	must(dm);
	must(!ibv_reg_dm_mr(sides[1].pd, dm, 0, 5001,
			    FULL_ACCESS | IBV_ACCESS_ZERO_BASED));
	must(!ibv_reg_dm_mr(sides[1].pd, dm, 5000, 1,
			    FULL_ACCESS | IBV_ACCESS_ZERO_BASED));
	must(!ibv_reg_dm_mr(sides[1].pd, dm, 0, 64, FULL_ACCESS));
	must(ibv_memcpy_to_dm(dm, 4999, mb.p, 2));
	must(ibv_memcpy_from_dm(mb.p, dm, ~0ULL, 2));
	must_be(ibv_free_dm(dm), 0);
}

/* The limit is exact, and freed memory can be allocated again. */
static void dm_limit(void)
{
	struct ibv_device_attr_ex attr;
	struct ibv_dm *dm;
	int i;

	setup();
	must_be(ibv_query_device_ex(sides[1].ctx, NULL, &attr), 0);
	for (i = 0; i < 3; i++) {
		dm = dm_make(attr.max_dm_size);
		must(dm);
		must(!dm_make(1));
		must_be(ibv_free_dm(dm), 0);
	}
}

/* ---- shared buffers ---- */

static int buffer_make(int memfd, size_t len)
{
	struct udmabuf_create create = { .memfd = memfd, .size = len };
	int dev = open("/dev/udmabuf", O_RDWR);
	int fd;

	if (dev < 0)
		case_skip("no /dev/udmabuf");
	/* It fails with a warning in the kernel's log there. */
	if (!kernel_before(6, 13) && kernel_before(6, 15))
		case_skip("udmabuf of this kernel cannot be mapped");
	fd = ioctl(dev, UDMABUF_CREATE, &create);
	close(dev);
	must(fd >= 0);
	return fd;
}

static void buffer_data(void)
{
	struct ibv_mr *mr;
	int memfd, fd;
	__u8 *map;

	setup();
	memfd = memfd_create("vrb", MFD_ALLOW_SEALING);
	must(memfd >= 0);
	must_be(ftruncate(memfd, LEN), 0);
	must_be(fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	map = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	must(map != MAP_FAILED);
	memset(map, GUARD, LEN);
	fd = buffer_make(memfd, LEN);

	mr = ibv_reg_dmabuf_mr(sides[1].pd, PAGE + 20, 30000, 20, fd,
			       FULL_ACCESS);
	if (!mr && errno == EINVAL && kernel_before(6, 2))
		case_skip("this kernel cannot map memory of udmabuf");
	must(mr);
	must(!ibv_reg_dmabuf_mr(sides[1].pd, PAGE, LEN, 0, fd, FULL_ACCESS));
	must(!ibv_reg_dmabuf_mr(sides[1].pd, 0, LEN, 0, memfd, FULL_ACCESS));
	/* the region holds a reference to the buffer */
	close(fd);
	close(memfd);
	write_to(20, 30000, mr->rkey, IBV_WC_SUCCESS);
	same(map + PAGE + 20, 30000, 1, "the buffer");
	untouched(map, PAGE + 20, "before the region");
	untouched(map + PAGE + 30020, LEN - PAGE - 30020, "behind the region");
	read_from(20, 30000, mr->rkey);
	write_to(19, 64, mr->rkey, IBV_WC_REM_ACCESS_ERR);
	must_be(ibv_dereg_mr(mr), 0);
	munmap(map, LEN);
}

/* The access mode of a dma-buf descriptor limits that of a region over it. */
static void buffer_read_only(void)
{
	static const int writable[] = { IBV_ACCESS_LOCAL_WRITE, FULL_ACCESS };
	struct dma_heap_allocation_data data = {
		.len = LEN,
		.fd_flags = O_RDONLY | O_CLOEXEC,
	};
	int heap = open("/dev/dma_heap/system", O_RDONLY | O_CLOEXEC);
	struct ibv_mr *mr;
	size_t i;
	int fd;

	if (heap < 0)
		case_skip("no /dev/dma_heap/system");
	setup();
	must_be(ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &data), 0);
	close(heap);
	fd = data.fd;
	for (i = 0; i < ARRAY_SIZE(writable); i++) {
		errno = 0;
		must(!ibv_reg_dmabuf_mr(sides[1].pd, 0, LEN, 0, fd,
					writable[i]));
		must_be(errno, EACCES);
	}
	mr = ibv_reg_dmabuf_mr(sides[1].pd, 0, LEN, 0, fd,
			       IBV_ACCESS_REMOTE_READ);
	must(mr);
	close(fd);
	write_to(0, 64, mr->rkey, IBV_WC_REM_ACCESS_ERR);
	must_be(ibv_dereg_mr(mr), 0);
}

/* ---- a null region: ibv_alloc_null_mr(3) ---- */

#define NULL_AT	(~0ULL - LEN)	/* it has all addresses */

static struct ibv_mr *null_make(void)
{
	struct ibv_mr *mr = ibv_alloc_null_mr(sides[1].pd);

	must(mr);
	must_be(mr->length, SIZE_MAX);
	must(mr->pd == sides[1].pd && mr->context == sides[1].ctx);
	return mr;
}

/* @len bytes of which only 100, from @before on, are in memory: those at the start of mb */
static void null_list(struct ibv_sge *sge, const struct ibv_mr *null, __u32 before,
		      __u32 len)
{
	sge[0] = (struct ibv_sge) { .addr = 0, .length = before, .lkey = null->lkey };
	sge[1] = sge_of(&mb, 0, 100);
	sge[2] = (struct ibv_sge) {
		.addr = NULL_AT, .length = len - before - 100, .lkey = null->lkey,
	};
}

static void all_zero(const __u8 *from, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		must_be(from[i], 0);
}

/* What is read from it is zeros. */
static void null_sends(const struct ibv_mr *null)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge[3];

	null_list(sge, null, 9001, 30000);
	wr = wr_of(1, IBV_WR_RDMA_WRITE, sge, 3);
	wr_target(&wr, &ma, 0);
	fill(ma.p, LEN, 1);
	fill(mb.p, LEN, 2);
	must_be(post_one(&p.b, &wr), 0);
	wc_want(p.b.scq, 1, IBV_WC_SUCCESS);
	all_zero(ma.p, 9001);
	same(ma.p + 9001, 100, 2, "the bytes from memory");
	all_zero(ma.p + 9101, 30000 - 9101);
	must_be(ma.p[30000], pattern(1, 30000));
}

/* What is written to it is discarded. */
static void null_takes(const struct ibv_mr *null, enum ibv_wr_opcode op)
{
	struct ibv_sge sge[3], from = sge_of(&ma, 0, 30000);
	struct end *poster = op == IBV_WR_SEND ? &p.a : &p.b;
	struct ibv_send_wr wr;
	__u8 want[100];
	int i;

	fill(ma.p, LEN, 3);
	memset(mb.p, GUARD, LEN);
	null_list(sge, null, 9001, 30000);
	if (op == IBV_WR_SEND) {
		must_be(post_recv(&p.b, 2, sge, 3), 0);
		wr = wr_of(3, op, &from, 1);
	} else {
		wr = wr_of(3, op, sge, 3);
		wr_target(&wr, &ma, 0);
	}
	must_be(post_one(poster, &wr), 0);
	wc_want(poster->scq, 3, IBV_WC_SUCCESS);
	if (op == IBV_WR_SEND)
		must_be(wc_want(p.b.rcq, 2, IBV_WC_SUCCESS).byte_len, 30000);
	for (i = 0; i < 100; i++)
		want[i] = pattern(3, 9001 + i);
	must(!memcmp(mb.p, want, 100));
	untouched(mb.p + 100, LEN - 100, "the rest of the memory");
}

/* An atomic operation whose result is not wanted */
static void null_adds(const struct ibv_mr *null)
{
	struct ibv_sge sge = { .addr = 8, .length = 8, .lkey = null->lkey };
	struct ibv_send_wr wr = wr_of(4, IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, 1);

	wr.wr.atomic.remote_addr = (uintptr_t)ma.p;
	wr.wr.atomic.rkey = ma.mr->rkey;
	wr.wr.atomic.compare_add = 5;
	memset(ma.p, 0, 8);
	must_be(post_one(&p.b, &wr), 0);
	wc_want(p.b.scq, 4, IBV_WC_SUCCESS);
	must_be(ma.p[0] + ma.p[7], 5);
	null_sends(null);	/* it still reads as zeros */
}

/* A peer cannot use its key. */
static void null_is_local(const struct ibv_mr *null)
{
	struct ibv_sge sge = sge_of(&ma, 0, 64);
	struct ibv_send_wr wr = wr_of(5, IBV_WR_RDMA_READ, &sge, 1);

	wr.wr.rdma.remote_addr = 0;
	wr.wr.rdma.rkey = null->lkey;
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 5, IBV_WC_REM_ACCESS_ERR);
}

/* @peer: the side of the end whose memory is ma */
static void null_with(struct side *peer)
{
	struct ibv_mr *null;

	end_make(&p.a, peer, &opt_default);
	end_make(&p.b, &sides[1], &opt_default);
	connect_pair(&p);
	mem_make(&ma, peer, LEN, FULL_ACCESS);
	mem_make(&mb, &sides[1], LEN, FULL_ACCESS);
	null = null_make();
	null_sends(null);
	null_takes(null, IBV_WR_SEND);
	null_takes(null, IBV_WR_RDMA_READ);
	null_adds(null);
	null_is_local(null);
	must_be(ibv_dereg_mr(null), 0);
}

static void null_on_wire(void)
{
	null_with(&sides[0]);
}

static void null_on_loopback(void)
{
	null_with(&sides[1]);
}

/* Windows need a right that it does not grant. */
static void null_window(void)
{
	struct ibv_send_wr wr = wr_of(6, IBV_WR_BIND_MW, NULL, 0);
	struct ibv_mr *null;

	pair_make(&p, NULL, NULL);
	null = null_make();
	wr.bind_mw.mw = mw_make(sides[1].pd, IBV_MW_TYPE_2);
	wr.bind_mw.rkey = ibv_inc_rkey(wr.bind_mw.mw->rkey);
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info) {
		.mr = null, .length = 64, .mw_access_flags = IBV_ACCESS_REMOTE_READ,
	};
	must_be(post_one(&p.b, &wr), 0);
	wc_want(p.b.scq, 6, IBV_WC_MW_BIND_ERR);
	must_be(ibv_dereg_mr(null), 0);
}

static const struct vrb_case mr_cases[] = {
	{ "mr", "zero based", zero_based },
	{ "mr", "any iova with the same offset in its page", own_iova },
	{ "mr", "an iova that wraps", iova_wraps },
	{ "mr", "optional access flags", optional_flags },
	{ "mr", "rereg: access", rereg_access },
	{ "mr", "rereg: domain", rereg_pd },
	{ "mr", "rereg: translation", rereg_trans },
	{ "mr", "rereg: all", rereg_all },
	{ "mr", "rereg of a region while it is written to", rereg_busy },
	{ "mr", "device memory: data", dm_data },
	{ "mr", "device memory: bounds", dm_bounds },
	{ "mr", "device memory: the limit", dm_limit },
	{ "mr", "a shared buffer", buffer_data },
	{ "mr", "a read-only shared buffer", buffer_read_only },
	{ "mr", "null region: peer on the wire", null_on_wire },
	{ "mr", "null region: peer on the same device", null_on_loopback },
	{ "mr", "null region: no memory windows", null_window },
};

VRB_TOPIC("mr", mr_cases);
