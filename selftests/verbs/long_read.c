// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: requests of a queue pair that answers a long READ
 *
 * machines/long_read.sh has a wire on which the READ would take minutes.
 */
#include <sys/mman.h>

#include "vrb.h"

#define LONG		(256UL << 20)
#define REQUESTS	4

static struct pair p;

static void mem_long(struct mem *m, struct side *s)
{
	m->len = LONG;
	m->p = map_make(LONG, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	mem_own(m, s->pd, FULL_ACCESS);
}

static void post_long_read(void)
{
	struct mem into, from;
	struct ibv_send_wr wr;
	struct ibv_sge sge;

	mem_long(&into, &sides[0]);
	mem_long(&from, &sides[1]);
	sge = sge_of(&into, 0, LONG);
	wr = wr_of(100, IBV_WR_RDMA_READ, &sge, 1);
	wr_target(&wr, &from, 0);
	must_be(post_one(&p.a, &wr), 0);
}

/* One after the other, each from the start of @from to the start of @into */
static void requests(enum ibv_wr_opcode op, const struct mem *from, const struct mem *into)
{
	struct ibv_sge near = sge_of(from, 0, 64), far = sge_of(into, 0, 64);
	struct ibv_send_wr wr = wr_of(0, op, &near, 1);
	int i;

	if (op != IBV_WR_SEND)
		wr_target(&wr, into, 0);
	for (i = 0; i < REQUESTS; i++) {
		fill(from->p, 64, i);
		wr.wr_id = i;
		if (op == IBV_WR_SEND)
			must_be(post_recv(&p.a, i, &far, 1), 0);
		must_be(post_one(&p.b, &wr), 0);
		wc_want(p.b.scq, i, IBV_WC_SUCCESS);
		if (op == IBV_WR_SEND)
			wc_want(p.a.rcq, i, IBV_WC_SUCCESS);
		same(into->p, 64, i, "from the responder");
	}
}

static void beside(enum ibv_wr_opcode op)
{
	struct mem from, into;

	pair_make(&p, NULL, NULL);
	mem_make(&into, &sides[0], 64, FULL_ACCESS);
	mem_make(&from, &sides[1], 64, FULL_ACCESS);
	post_long_read();
	requests(op, &from, &into);
	wc_none(p.a.scq, 0);
}

static void beside_write(void)
{
	beside(IBV_WR_RDMA_WRITE);
}

static void beside_send(void)
{
	beside(IBV_WR_SEND);
}

static const struct vrb_case long_read_cases[] = {
	{ "long read", "WRITEs of the responder complete before it", beside_write },
	{ "long read", "SENDs of the responder complete before it", beside_send },
};

VRB_CASES(long_read_cases);
