// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - a program that corrupts its own rings
 *
 * Whatever it writes, the kernel remains intact, the queues can be destroyed,
 * and other programs are not affected.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../include/uapi/rdma/srnic-abi.h"
#include "vrb.h"

#define MAX_RINGS	16
#define HEADER_WORDS	16

struct ring {
	__u32	*word;
	size_t	words;
};

static struct ring rings[MAX_RINGS];
static int num_rings;

/* Finds all memory that the device maps into this program. */
static void rings_find(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end;
	char line[512];

	must(maps);
	num_rings = 0;
	while (fgets(line, sizeof(line), maps) && num_rings < MAX_RINGS) {
		if (!strstr(line, "uverbs") ||
		    sscanf(line, "%lx-%lx", &start, &end) != 2)
			continue;
		rings[num_rings++] = (struct ring) {
			.word = (__u32 *)start,
			.words = (end - start) / sizeof(__u32),
		};
	}
	fclose(maps);
	if (!num_rings)
		case_skip("the device has no rings to write to");
}

static void scribble(size_t words)
{
	struct ring *r = &rings[rand() % num_rings];
	__u32 *word = r->word;
	size_t i = rand() % (words < r->words ? words : r->words);

	/* small steps and single bits find more than fully random values */
	switch (rand() % 4) {
	case 0:
		word[i] = rand();
		break;
	case 1:
		word[i] += rand() % 9 - 4;
		break;
	case 2:
		word[i] ^= 1U << (rand() % 32);
		break;
	case 3:
		word[i] = 0;
		break;
	}
}

/* Another pair, whose rings are not corrupted, transfers data. */
static void neighbour_works(struct pair *p, struct mem *ma, struct mem *mb)
{
	struct ibv_sge sge = sge_of(ma, 0, ma->len);
	struct ibv_send_wr wr = wr_of(7, IBV_WR_RDMA_WRITE, &sge, 1);

	memset(mb->p, 0, mb->len);
	wr_target(&wr, mb, 0);
	must_be(post_one(&p->a, &wr), 0);
	wc_want(p->a.scq, 7, IBV_WC_SUCCESS);
	same(mb->p, mb->len, 3, "the other pair's WRITE");
}

/* Corrupts the first @words of each ring while the rings are in use. */
static void scribble_and_post(struct pair *p, struct mem *ma, struct mem *mb,
			      size_t words)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_SEND, IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_SEND_WITH_IMM,
	};
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_wc wc;
	int i;

	for (i = 0; i < 50 * rounds; i++) {
		sge = sge_of(ma, 0, 8);
		wr = wr_of(i, ops[rand() % 5], &sge, 1);
		if (wr.opcode != IBV_WR_SEND &&
		    wr.opcode != IBV_WR_SEND_WITH_IMM)
			wr_target(&wr, mb, 0);
		scribble(words);
		post_one(&p->a, &wr);
		post_recv(&p->b, i, &sge, 1);
		post_one(&p->b, &wr);
		ibv_poll_cq(p->a.scq, 1, &wc);
	}
}

/* @words: to be corrupted in each ring; @error: the queue pairs are in error */
static void hostile(size_t words, bool error)
{
	struct mem ma, mb, na, nb;
	struct pair good, bad;
	int i;

	srand(1);
	pair_make(&bad, NULL, NULL);
	mem_make(&ma, &sides[0], 4096, FULL_ACCESS);
	mem_make(&mb, &sides[1], 4096, FULL_ACCESS);
	rings_find();
	pair_make(&good, NULL, NULL);
	mem_make(&na, &sides[0], 8192, FULL_ACCESS);
	mem_make(&nb, &sides[1], 8192, FULL_ACCESS);
	fill(na.p, na.len, 3);
	neighbour_works(&good, &na, &nb);

	if (error) {
		must_be(to_state(&bad.a, IBV_QPS_ERR), 0);
		must_be(to_state(&bad.b, IBV_QPS_ERR), 0);
	}
	for (i = 0; i < 10; i++) {
		scribble_and_post(&bad, &ma, &mb, words);
		neighbour_works(&good, &na, &nb);
	}
}

static void indices(void)
{
	hostile(HEADER_WORDS, false);
}

static void entries(void)
{
	hostile(~0UL, false);
}

static void indices_in_error(void)
{
	hostile(HEADER_WORDS, true);
}

/* ---- an inline operand whose SGE list extends past the queue ---- */

#define FIRST_ID	0x6f74736f6d656e6fULL

/* The ring whose first entry has FIRST_ID */
static struct srnic_ring_hdr *ring_of_first(void)
{
	struct srnic_sqe *sqe;
	int i;

	rings_find();
	for (i = 0; i < num_rings; i++) {
		sqe = (void *)((char *)rings[i].word + SRNIC_RING_ENTRIES);
		if (sqe->wr_id == FIRST_ID)
			return (void *)rings[i].word;
	}
	case_fail("no ring has the entry that was posted");
}

/* The send ring of @e, of which one entry has been used */
static struct srnic_ring_hdr *send_ring(struct end *e)
{
	struct ibv_send_wr wr = wr_of(FIRST_ID, IBV_WR_RDMA_WRITE, NULL, 0);
	__u64 end = 0;
	struct srnic_ring_hdr *hdr;

	wr.send_flags = 0;	/* otherwise the completion ring has the id as well */
	must_be(post_one(e, &wr), 0);
	hdr = ring_of_first();
	while (__atomic_load_n(&hdr->kern, __ATOMIC_ACQUIRE) != 1)
		wait_turn(&end, "doorbell");

	return hdr;
}

/* All entries except the last are empty WRITEs. */
static void list_behind(__u32 entries)
{
	struct opt o = opt_default;
	struct srnic_ring_hdr *hdr;
	struct srnic_sqe *last;
	struct mem mb;
	struct pair p;

	o.send_wr = entries;
	o.sge = 1;
	o.inline_data = sizeof(struct srnic_sge);
	pair_make(&p, &o, NULL);
	mem_make(&mb, &sides[1], 4096, FULL_ACCESS);
	hdr = send_ring(&p.a);
	last = (void *)((char *)hdr + SRNIC_RING_ENTRIES +
			(size_t)(entries - 1) *
			(sizeof(*last) + sizeof(struct srnic_sge)));
	*last = (struct srnic_sqe) {
		.wr_id = 7,
		.opcode = IBV_WR_ATOMIC_WRITE,
		.flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE,
		.inline_len = 8,
		.num_sge = 0xffff,
		.rkey = mb.mr->rkey,
		.remote_addr = (uintptr_t)mb.p,
	};
	__atomic_store_n(&hdr->user, entries + (entries == 1),
			 __ATOMIC_RELEASE);
	to_state(&p.a, IBV_QPS_RTS);	/* kicks the queue pair */
	wc_want(p.a.scq, 7, IBV_WC_LOC_QP_OP_ERR);
	untouched(mb.p, mb.len, "the region");
}

static void list_behind_one(void)
{
	list_behind(1);
}

static void list_behind_many(void)
{
	list_behind(65536);
}

static const struct vrb_case hostile_cases[] = {
	{ "hostile", "random ring indices", indices },
	{ "hostile", "random ring entries", entries },
	{ "hostile", "random ring indices, queue pairs in error", indices_in_error },
	{ "hostile", "an SGE list behind an inline operand", list_behind_one },
	{ "hostile", "an SGE list behind the last of 65536 entries", list_behind_many },
};

VRB_TOPIC("hostile", hostile_cases);
