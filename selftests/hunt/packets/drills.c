// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - hostile packets: sequences that a storm has found once
 *
 * Side 1 gets them, one run of its queue pair each, for the wire is written to
 * packet by packet.
 */
#include <sys/mman.h>

#include "packets.h"

static struct pair p;

/* The target that end @e is for one who forges packets of @peer. */
static struct target *aim(const struct end *e, const struct end *peer,
			  __u8 transport)
{
	num_targets = 1;
	targets[0] = (struct target) {
		.side = 1,
		.qpn = e->qp->qp_num,
		.peer = peer->qp->qp_num,
		.transport = transport,
		.epsn = peer->psn,
		.una = e->psn,
		.high = e->psn,
		.open = -1,
	};
	return &targets[0];
}

static void show(const struct mem *m)
{
	num_grants = 1;
	grants[0] = (struct grant) {
		.side = 1,
		.rkey = m->mr->rkey,
		.va = (uintptr_t)m->p,
		.len = m->len,
	};
}

static void forge(struct target *t, __u8 op)
{
	struct dice r = { run_seed };
	static struct forged f;

	forge_operation(&f, &r, t, t->transport | op);
	forge_send(&f, &r);
	wire_flush();
}

/* What an XRC drill is about: one receive in a shared queue of a domain of its own */
static struct {
	struct ibv_cq	*cq;
	struct ibv_srq	*srq;
	struct mem	m;
} shared;

/* Returns the target that is to fill the receive. */
static struct target *drill_xrc(void)
{
	struct opt a = opt_default, b = opt_default;
	struct ibv_pd *pd = pd_make(&sides[1]);
	struct ibv_sge sge;
	struct target *t;

	b.xrcd = xrcd_make(sides[1].ctx, -1);
	shared.cq = cq_make(&sides[1], 16, NULL);
	shared.srq = xsrq_make(pd, b.xrcd, shared.cq, 4);
	a.type = IBV_QPT_XRC_SEND;
	b.type = IBV_QPT_XRC_RECV;
	pair_make(&p, &a, &b);
	shared.m.p = map_make(8192, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	shared.m.len = 8192;
	memset(shared.m.p, GUARD, shared.m.len);
	mem_own(&shared.m, pd, FULL_ACCESS);
	show(&shared.m);
	sge = sge_of(&shared.m, 0, shared.m.len);
	must_be(post_srq(shared.srq, 7, &sge, 1), 0);
	wire_open(false);

	t = aim(&p.b, &p.a, TP_XRC);
	must_be(ibv_get_srq_num(shared.srq, &t->srqn), 0);
	return t;
}

/* Opcodes that do not follow each other: IBTA 9.7.4.1.2 */
static void drill_xrc_interrupted(void)
{
	struct target *t = drill_xrc();

	forge(t, 0x00);		/* SEND first */
	wc_none(shared.cq, 0);
	forge(t, 0x0a);		/* WRITE only */
	wc_want(shared.cq, 7, IBV_WC_REM_INV_REQ_ERR);
	wc_none(shared.cq, 0);
}

/* The rest of a message whose queue has gone goes nowhere. */
static void drill_xrc_gone(void)
{
	struct target *t = drill_xrc();

	forge(t, 0x00);		/* SEND first */
	wc_none(shared.cq, 0);
	memset(shared.m.p, GUARD, shared.m.len);
	xsrq_destroy(shared.srq);
	forge(t, 0x01);		/* SEND middle */
	state_becomes(&p.b, IBV_QPS_ERR);
	event_want(&sides[1], IBV_EVENT_QP_REQ_ERR, p.b.qp);
	untouched(shared.m.p, shared.m.len, "what the receive named");
	wc_none(shared.cq, 0);
}

const struct vrb_case drill_cases[] = {
	{ "drill", "XRC: a message that is broken off completes its receive",
	  drill_xrc_interrupted },
	{ "drill", "XRC: a message goes on when its queue has gone",
	  drill_xrc_gone },
	{ }
};
