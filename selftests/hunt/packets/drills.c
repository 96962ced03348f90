// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - hostile packets: sequences that a storm has found once
 *
 * Side 1 gets them, one run of its queue pair each, for the wire is written to
 * packet by packet.
 */
#include <sys/mman.h>

#include "../../verbs/frames.h"
#include "packets.h"

#define SUMMED_LEN	60

static struct pair p;
static struct taker taker;

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

/* UDP over IPv4 that a flow names; its checksum is to be written to @at. */
static void forge_summed(int at)
{
	const struct virtio_net_hdr hdr = {
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.csum_start = 20,
		.csum_offset = at - 20,
	};
	__u8 frame[SUMMED_LEN] = {
		[12] = 0x08, [14] = 0x45, [17] = SUMMED_LEN - 14, [22] = 64, 17,
		[26] = 10, 9, 0, 1, 10, 9, 0, 2, [39] = SUMMED_LEN - 34,
	};

	memcpy(frame, wire_mac[1], 6);
	memcpy(frame + 6, wire_mac[0], 6);
	put_be16(frame + 36, FLOW_PORT);
	wire_put(1, &hdr, frame, sizeof(frame));
	wire_flush();
}

/* A rule's queue pair gets what the rule names, and nothing else. */
static void drill_raw_summed(void)
{
	struct rule r = rule_udp(0, FLOW_PORT, 0);
	struct ibv_wc wc;
	int at;

	taker_make(&taker, &sides[1], NULL);
	flow_make(taker.e.qp, &r);
	wire_open(false);
	for (at = 20; at < 38; at++)
		forge_summed(at);
	wc_none(taker.e.rcq, 0);
	forge_summed(40);
	wc = wc_want(taker.e.rcq, 0, IBV_WC_SUCCESS);
	must_be(wc.byte_len, SUMMED_LEN);
}

const struct vrb_case drill_cases[] = {
	{ "drill", "XRC: a message that is broken off completes its receive",
	  drill_xrc_interrupted },
	{ "drill", "XRC: a message goes on when its queue has gone",
	  drill_xrc_gone },
	{ "drill", "raw: a checksum that is to be written into the headers",
	  drill_raw_summed },
	{ }
};
