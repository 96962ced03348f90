// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - hostile packets: sequences that a storm has found once
 *
 * Side 1 gets them, one run of its queue pair each, for the wire is written to
 * packet by packet.
 */
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

/* Opcodes that do not follow each other: IBTA 9.7.4.1.2 */
static void drill_xrc_interrupted(void)
{
	struct opt a = opt_default, b = opt_default;
	struct ibv_cq *cq = cq_make(&sides[1], 16, NULL);
	struct ibv_srq *srq;
	struct ibv_sge sge;
	struct target *t;
	struct mem m;

	b.xrcd = xrcd_make(sides[1].ctx, -1);
	srq = xsrq_make(sides[1].pd, b.xrcd, cq, 4);
	a.type = IBV_QPT_XRC_SEND;
	b.type = IBV_QPT_XRC_RECV;
	pair_make(&p, &a, &b);
	mem_make(&m, &sides[1], 8192, FULL_ACCESS);
	show(&m);
	sge = sge_of(&m, 0, m.len);
	must_be(post_srq(srq, 7, &sge, 1), 0);
	wire_open(false);

	t = aim(&p.b, &p.a, TP_XRC);
	must_be(ibv_get_srq_num(srq, &t->srqn), 0);
	forge(t, 0x00);		/* SEND first */
	wc_none(cq, 0);
	forge(t, 0x0a);		/* WRITE only */
	wc_want(cq, 7, IBV_WC_REM_INV_REQ_ERR);
	wc_none(cq, 0);
}

const struct vrb_case drill_cases[] = {
	{ "drill", "XRC: a message that is broken off completes its receive",
	  drill_xrc_interrupted },
	{ }
};
