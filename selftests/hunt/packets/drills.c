// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - hostile packets: sequences found by a storm
 *
 * Side 1 receives them.  Packets are written to the wire one by one, so that each is
 * processed in a run of its own.
 */
#include <sys/mman.h>

#include "../../verbs/frames.h"
#include "packets.h"

#define SUMMED_LEN	60
#define UNFINISHED_MAX	3042

static struct pair p;
static struct taker taker;

/* The target for forging packets of @peer to end @e. */
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

/* Objects of an XRC drill: one receive in an SRQ of its own XRC domain */
static struct {
	struct ibv_cq	*cq;
	struct ibv_srq	*srq;
	struct mem	m;
} shared;

/* Returns the target whose messages use the receive. */
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

/* Invalid sequence of opcodes: IBTA 9.7.4.1.2 */
static void drill_xrc_interrupted(void)
{
	struct target *t = drill_xrc();

	forge(t, 0x00);		/* SEND first */
	wc_none(shared.cq, 0);
	forge(t, 0x0a);		/* WRITE only */
	wc_want(shared.cq, 7, IBV_WC_REM_INV_REQ_ERR);
	wc_none(shared.cq, 0);
}

/* The rest of a message is dropped after its SRQ has been destroyed. */
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
	untouched(shared.m.p, shared.m.len, "the buffer of the receive");
	wc_none(shared.cq, 0);
}

/* Forges a UDP/IPv4 datagram of @len bytes that matches a flow, with offloads @hdr. */
static void forge_unfinished(const struct virtio_net_hdr *hdr, int len, __u16 sum)
{
	static __u8 frame[UNFINISHED_MAX];
	static const __u8 ip[] = {
		0x08, 0, 0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0, 10, 9, 0, 1, 10, 9, 0, 2,
	};

	memset(frame, 0, sizeof(frame));
	memcpy(frame, wire_mac[1], 6);
	memcpy(frame + 6, wire_mac[0], 6);
	memcpy(frame + 12, ip, sizeof(ip));
	put_be16(frame + 16, len - 14);
	put_be16(frame + 24, frame_sum_end(frame_sum(0, frame + 14, 20)));
	put_be16(frame + 36, FLOW_PORT);
	put_be16(frame + 38, len - 34);
	put_be16(frame + 40, sum);
	wire_put(1, hdr, frame, len);
	wire_flush();
}

/* The checksum of the bytes from @start on is to be stored at @at. */
static void forge_summed(int start, int at, __u16 sum)
{
	const struct virtio_net_hdr hdr = {
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.csum_start = start,
		.csum_offset = at - start,
	};

	forge_unfinished(&hdr, SUMMED_LEN, sum);
}

static void drill_taker(void)
{
	struct rule r = rule_udp(0, FLOW_PORT, 0);

	taker_make(&taker, &sides[1], NULL);
	flow_make(taker.e.qp, &r);
	wire_open(false);
}

/* A rule's queue pair receives the frames that match the rule, and no others. */
static void drill_raw_summed(void)
{
	static const int at[] = { 22, 23, 35, 36, 37 };	/* protocol, port */
	struct ibv_wc wc;
	size_t i;

	drill_taker();
	for (i = 0; i < ARRAY_SIZE(at); i++)
		forge_summed(20, at[i], 0);
	wc_none(taker.e.rcq, 0);
	forge_summed(20, 44, 0);
	wc = wc_want(taker.e.rcq, 0, IBV_WC_SUCCESS);
	must_be(wc.byte_len, SUMMED_LEN);
}

/* A checksum is reported as good only if it is. */
static void drill_raw_sum_ok(void)
{
	static const __u8 addrs[] = { 10, 9, 0, 1, 10, 9, 0, 2 };
	__u16 pseudo = ~frame_sum_end(frame_sum(17 + SUMMED_LEN - 34, addrs,
						sizeof(addrs)));
	struct ibv_wc wc;

	drill_taker();
	forge_summed(34, 40, pseudo);
	wc = wc_want(taker.e.rcq, 0, IBV_WC_SUCCESS);
	must(wc.wc_flags & IBV_WC_IP_CSUM_OK);
	forge_summed(34, 40, pseudo ^ 0x101);
	wc = wc_want(taker.e.rcq, 1, IBV_WC_SUCCESS);
	must(!(wc.wc_flags & IBV_WC_IP_CSUM_OK));
	forge_summed(34, 50, pseudo);
	wc = wc_want(taker.e.rcq, 2, IBV_WC_SUCCESS);
	must(!(wc.wc_flags & IBV_WC_IP_CSUM_OK));
}

/* A datagram to be sent in IP fragments matches no rule on ports. */
static void drill_raw_fragments(void)
{
	const struct virtio_net_hdr hdr = {
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.gso_type = VIRTIO_NET_HDR_GSO_UDP,
		.gso_size = 1480,
		.hdr_len = 42,
		.csum_start = 34,
		.csum_offset = 6,
	};

	drill_taker();
	forge_unfinished(&hdr, UNFINISHED_MAX, 0);
	wc_none(taker.e.rcq, 0);
	forge_summed(34, 40, 0);
	wc_want(taker.e.rcq, 0, IBV_WC_SUCCESS);
}

static const struct vrb_case drill_cases[] = {
	{ "drill", "XRC: an interrupted message completes its receive",
	  drill_xrc_interrupted },
	{ "drill", "XRC: a message continues after its SRQ was destroyed",
	  drill_xrc_gone },
	{ "drill", "raw: partial checksum within the headers",
	  drill_raw_summed },
	{ "drill", "raw: checksum offload flags", drill_raw_sum_ok },
	{ "drill", "raw: a datagram to be sent in fragments",
	  drill_raw_fragments },
};

VRB_CASES(drill_cases);
