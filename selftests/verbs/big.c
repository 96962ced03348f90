// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: large regions, large pages, large messages
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "vrb.h"

#define MIB	1048576ULL
#define GIB	(1024 * MIB)

static void copy_to(struct pair *p, struct mem *ma, struct mem *mb,
		    __u64 off, size_t len)
{
	struct ibv_sge sge = sge_of(ma, 0, len);
	struct ibv_send_wr wr = wr_of(off, IBV_WR_RDMA_WRITE, &sge, 1);

	wr_target(&wr, mb, off);
	must_be(post_one(&p->a, &wr), 0);
	wc_want(p->a.scq, off, IBV_WC_SUCCESS);
}

static void exercise(struct mem *mb, __u64 step)
{
	const size_t len = MIB + 1000;
	__u64 off;
	struct mem ma;
	struct pair p;

	pair_make(&p, NULL, NULL);
	mem_make(&ma, &sides[0], len, FULL_ACCESS);
	for (off = 0; off + len <= mb->len; off += step) {
		fill(ma.p, len, off >> 12);
		copy_to(&p, &ma, mb, off, len);
		same(mb->p + off, len, off >> 12, "in the large region");
	}
	off = mb->len - len;	/* the last bytes of the region */
	fill(ma.p, len, 1);
	copy_to(&p, &ma, mb, off, len);
	same(mb->p + off, len, 1, "at the end of the large region");
}

static void gib_1(void)
{
	struct mem mb = { .len = GIB };

	if (sysconf(_SC_AVPHYS_PAGES) < (long)(3 * GIB / 2 / 4096))
		case_skip("1.5 GiB of free memory needed");
	mem_make(&mb, &sides[1], GIB, FULL_ACCESS);
	exercise(&mb, 333 * MIB - 4096 - 8);
}

/* Maps the same 64 MiB of memory repeatedly over @len bytes of address space. */
static void mosaic(struct mem *m, __u64 len)
{
	const size_t tile = 64 * MIB;
	__u64 off;
	int fd;

	m->len = len;
	fd = memfd_create("vrb", MFD_CLOEXEC);
	must(fd >= 0 && !ftruncate(fd, tile));
	m->p = mmap(NULL, len, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	must(m->p != MAP_FAILED);
	for (off = 0; off < len; off += tile)
		must(mmap(m->p + off, tile, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED);
	close(fd);
}

static void gib_8(void)
{
	struct mem mb;

	if (sizeof(void *) < 8)
		case_skip("64-bit addresses needed");
	if (sysconf(_SC_AVPHYS_PAGES) < (long)(400 * MIB / 4096))
		case_skip("400 MiB of free memory needed");
	mosaic(&mb, 8 * GIB);
	mem_own(&mb, sides[1].pd, FULL_ACCESS);
	exercise(&mb, 2047 * MIB + 4088);
	must_be(munmap(mb.p, mb.len), 0);
}

static void hugepages(void)
{
	const size_t len = 8 * MIB;
	struct mem mb = { .len = len };

	mb.p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (mb.p == MAP_FAILED)
		case_skip("no huge pages");
	mem_own(&mb, sides[1].pd, FULL_ACCESS);
	exercise(&mb, MIB + 8);
	must_be(munmap(mb.p, len), 0);
}

static void longest_of(enum ibv_wr_opcode op, enum ibv_mtu mtu)
{
	__u64 len = sides[0].port.max_msg_sz;
	struct opt o = opt_default;
	struct ibv_sge sge[2];
	struct ibv_send_wr wr;
	struct mem ma, mb;
	struct pair p;

	if (sysconf(_SC_AVPHYS_PAGES) < (long)(400 * MIB / 4096))
		case_skip("400 MiB of free memory needed");
	o.mtu = mtu;
	pair_make(&p, &o, &o);
	mosaic(&ma, 2 * GIB + 64 * MIB);
	mem_own(&ma, sides[0].pd, FULL_ACCESS);
	mosaic(&mb, 2 * GIB + 64 * MIB);
	mem_own(&mb, sides[1].pd, FULL_ACCESS);
	fill(op == IBV_WR_RDMA_READ ? mb.p : ma.p, 64 * MIB, 6);
	sge[0] = sge_of(&ma, 0, len / 2);
	sge[1] = sge_of(&ma, len / 2, len - len / 2);
	wr = wr_of(1, op, sge, 2);
	wr_target(&wr, &mb, 0);
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 1, IBV_WC_SUCCESS);
	same(op == IBV_WR_RDMA_READ ? ma.p : mb.p, 64 * MIB, 6,
	     "the longest message");

	/* one byte more fails, either at the post or by its completion */
	sge[1].length++;
	if (!post_one(&p.a, &wr))
		wc_want(p.a.scq, 1, IBV_WC_LOC_LEN_ERR);
	must_be(munmap(ma.p, ma.len), 0);
	must_be(munmap(mb.p, mb.len), 0);
}

static void longest_message(void)
{
	longest_of(IBV_WR_RDMA_WRITE, 0);
}

/* Half of the PSN space */
static void longest_write(void)
{
	longest_of(IBV_WR_RDMA_WRITE, IBV_MTU_256);
}

static void longest_read(void)
{
	longest_of(IBV_WR_RDMA_READ, IBV_MTU_256);
}

/* ---- millions of PSNs, with a small buffer mapped repeatedly ---- */

#define LIST	32

/* Two ends for SENDs of up to 2^31 bytes */
struct wrap {
	struct pair p;
	struct mem ma, mb;
};

static void wrap_make(struct wrap *w)
{
	struct opt o = opt_default;

	o.mtu = IBV_MTU_256;
	o.sge = LIST;
	pair_make(&w->p, &o, &o);
	mem_make(&w->ma, &sides[0], 64 * MIB, FULL_ACCESS);
	mem_make(&w->mb, &sides[1], 64 * MIB, FULL_ACCESS);
}

/* Sends @len bytes, with 256 bytes per PSN. */
static void wrap_send(struct wrap *w, __u64 id, __u64 len)
{
	struct ibv_sge from[LIST], to[LIST];
	struct ibv_send_wr wr;
	int i;

	for (i = 0; i < LIST; i++) {
		size_t part = len / LIST + (i == LIST - 1 ? len % LIST : 0);

		from[i] = sge_of(&w->ma, 0, part);
		to[i] = sge_of(&w->mb, 0, part);
	}
	must_be(post_recv(&w->p.b, id, to, LIST), 0);
	wr = wr_of(id, IBV_WR_SEND, from, LIST);
	must_be(post_one(&w->p.a, &wr), 0);
	wc_want(w->p.a.scq, id, IBV_WC_SUCCESS);
	must_be(wc_want(w->p.b.rcq, id, IBV_WC_SUCCESS).byte_len, len);
}

/* A message of 2^23 PSNs, followed by another message */
static void wrap_half(void)
{
	struct wrap w;

	wrap_make(&w);
	fill(w.ma.p, 64 * MIB, 4);
	wrap_send(&w, 1, 1000);
	wrap_send(&w, 2, 2 * GIB);
	same(w.mb.p, 64 * MIB, 4, "2^31 bytes");
	memset(w.mb.p, GUARD, w.mb.len);
	wrap_send(&w, 3, 2 * GIB - 255);
	same(w.mb.p, 64 * MIB - 255, 4, "2^31 - 255 bytes");
	wrap_send(&w, 4, 1000);
}

/* A READ that loopback splits into several parts, followed by another message */
static void wrap_read(void)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct wrap w;

	wrap_make(&w);
	fill(w.mb.p, w.mb.len, 9);
	sge = sge_of(&w.ma, 0, w.ma.len - 1000);
	wr = wr_of(1, IBV_WR_RDMA_READ, &sge, 1);
	wr_target(&wr, &w.mb, 0);
	must_be(post_one(&w.p.a, &wr), 0);
	wc_want(w.p.a.scq, 1, IBV_WC_SUCCESS);
	same(w.ma.p, w.ma.len - 1000, 9, "the READ");
	untouched(w.ma.p + w.ma.len - 1000, 1000, "behind the READ");
	wrap_send(&w, 2, 1000);
}

static __u64 wrap_add(struct wrap *w, __u64 id)
{
	struct ibv_sge sge = sge_of(&w->ma, 0, 8);
	struct ibv_send_wr wr = wr_of(id, IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, 1);
	__u64 was;

	wr.wr.atomic.compare_add = 1;
	wr_target(&wr, &w->mb, 0);
	must_be(post_one(&w->p.a, &wr), 0);
	wc_want(w->p.a.scq, id, IBV_WC_SUCCESS);
	memcpy(&was, w->ma.p, sizeof(was));

	return was;
}

/* An atomic must not be answered from the replay store by one 2^24 PSNs earlier. */
static void wrap_atomic(void)
{
	struct wrap w;
	__u64 word = 40;

	wrap_make(&w);
	memcpy(w.mb.p, &word, sizeof(word));
	must_be(wrap_add(&w, 1), 40);
	wrap_send(&w, 2, 2 * GIB - 256);
	wrap_send(&w, 3, 2 * GIB - 256);
	wrap_send(&w, 4, 0);
	word = 70;
	memcpy(w.mb.p, &word, sizeof(word));
	must_be(wrap_add(&w, 5), 70);
	memcpy(&word, w.mb.p, sizeof(word));
	must_be(word, 71);
}

static const struct vrb_case big_cases[] = {
	{ "big", "a region of 1 GiB", gib_1 },
	{ "big", "a region of 8 GiB", gib_8 },
	{ "big", "a region of huge pages", hugepages },
};

VRB_TOPIC_ALONE("big", big_cases);

static const struct vrb_case longest_cases[] = {
	{ "longest", "the longest message", longest_message },
};

VRB_TOPIC_ALONE("longest", longest_cases);

static const struct vrb_case psn_cases[] = {
	{ "half", "a WRITE of half the PSN space", longest_write },
	{ "half", "a READ of half the PSN space", longest_read },
	{ "wrap", "a SEND of half the PSN space", wrap_half },
	{ "wrap", "a READ of many PSNs", wrap_read },
	{ "wrap", "an atomic that reuses the PSN of an earlier one", wrap_atomic },
};

VRB_CASES(psn_cases);
