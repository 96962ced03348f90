// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: shared receive queues
 */
#include <unistd.h>

#include "vrb.h"

#define LEN	20000
#define QPS	4

/* Pairs whose ends b share one SRQ */
static struct ibv_srq *srq;
static struct pair p[QPS];
static struct mem ma, mb;
static struct ibv_sge sa;

static void setup_opt(const struct opt *a, int pairs, int wr)
{
	struct opt b = opt_default;
	int i;

	srq = srq_make(&sides[1], NULL, wr, 2);
	b.srq = srq;
	for (i = 0; i < pairs; i++)
		pair_make(&p[i], a, &b);
	mem_make(&ma, &sides[0], LEN, FULL_ACCESS);
	mem_make(&mb, &sides[1], LEN * QPS, FULL_ACCESS);
	sa = sge_of(&ma, 0, 64);
}

static void setup(int pairs, int wr)
{
	setup_opt(NULL, pairs, wr);
}

static int arm(__u32 limit)
{
	struct ibv_srq_attr attr = { .srq_limit = limit };

	return ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT);
}

static int resize(__u32 wr)
{
	struct ibv_srq_attr attr = { .max_wr = wr };

	return ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR);
}

static struct ibv_srq_attr query(void)
{
	struct ibv_srq_attr attr;

	must_be(ibv_query_srq(srq, &attr), 0);
	return attr;
}

/* One empty SEND over pair @i takes receive @id. */
static void send_takes(int i, __u64 id)
{
	struct ibv_send_wr wr = wr_of(1, IBV_WR_SEND, NULL, 0);

	must_be(post_one(&p[i].a, &wr), 0);
	wc_want(p[i].a.scq, 1, IBV_WC_SUCCESS);
	must_be(wc_want(p[i].b.rcq, id, IBV_WC_SUCCESS).qp_num,
		p[i].b.qp->qp_num);
}

static void data(void)
{
	static const __u32 sizes[] = { 0, 1, 64, 4096, 4097, LEN };
	struct ibv_send_wr wr;
	struct ibv_sge sb;
	struct ibv_wc wc;
	size_t len;
	int i, n;

	setup(QPS, 64);
	for (n = 0; n < QPS * (int)ARRAY_SIZE(sizes); n++) {
		i = n % QPS;
		len = sizes[n / QPS];
		fill(ma.p, len, n);
		memset(mb.p, GUARD, mb.len);
		sb = sge_of(&mb, i * LEN, LEN);
		must_be(post_srq(srq, n, &sb, 1), 0);
		sa = sge_of(&ma, 0, len);
		wr = wr_of(n, IBV_WR_SEND_WITH_IMM, &sa, 1);
		wr.imm_data = htobe32(n);
		must_be(post_one(&p[i].a, &wr), 0);
		wc_want(p[i].a.scq, n, IBV_WC_SUCCESS);
		wc = wc_want(p[i].b.rcq, n, IBV_WC_SUCCESS);
		must_be(wc.byte_len, len);
		must_be(be32toh(wc.imm_data), n);
		must_be(wc.qp_num, p[i].b.qp->qp_num);
		same(mb.p + i * LEN, len, n, "a send");
		untouched(mb.p + i * LEN + len, mb.len - i * LEN - len,
			  "behind it");
	}
}

static void write_imm(void)
{
	struct ibv_send_wr wr;
	struct ibv_wc wc;
	int i;

	setup(2, 8);
	for (i = 0; i < 2; i++) {
		must_be(post_srq(srq, 10 + i, NULL, 0), 0);
		sa = sge_of(&ma, 0, 5000);
		wr = wr_of(1, IBV_WR_RDMA_WRITE_WITH_IMM, &sa, 1);
		wr_target(&wr, &mb, 0);
		wr.imm_data = htobe32(7);
		must_be(post_one(&p[i].a, &wr), 0);
		wc_want(p[i].a.scq, 1, IBV_WC_SUCCESS);
		wc = wc_want(p[i].b.rcq, 10 + i, IBV_WC_SUCCESS);
		must_be(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
		must_be(wc.byte_len, 5000);
	}
}

static void full(void)
{
	struct ibv_recv_wr more[3] = {}, *bad;
	struct ibv_sge sge[3];
	int i, n, round;

	setup(1, 8);
	for (round = 0; round < 3; round++) {
		for (n = 0; n < 4096; n++)
			if (post_srq(srq, n, NULL, 0))
				break;
		must(n >= 8 && n < 4096);
		must_be(post_srq(srq, n, NULL, 0), ENOMEM);
		for (i = 0; i < n; i++)
			send_takes(0, i);
	}
	for (i = 0; i < n - 2; i++)
		must_be(post_srq(srq, i, NULL, 0), 0);
	for (i = 0; i < 3; i++)
		more[i].next = i < 2 ? &more[i + 1] : NULL;
	must_be(ibv_post_srq_recv(srq, more, &bad), ENOMEM);
	must(bad == &more[2]);
	send_takes(0, 0);
	for (i = 0; i < 3; i++)
		sge[i] = sge_of(&mb, 0, 1);
	must_be(post_srq(srq, 1, sge, query().max_sge + 1), EINVAL);
	/* a queue pair with an SRQ has no receive queue of its own */
	must_be(post_recv(&p[0].b, 1, NULL, 0), EINVAL);
}

static void limits(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_sge = 1 } };
	struct side *s = &sides[0];

	must(s->attr.max_srq > 0 && s->attr.max_srq_wr > 0);
	must(s->attr.device_cap_flags & IBV_DEVICE_SRQ_RESIZE);
	must(!ibv_create_srq(s->pd, &init));
	must_be(errno, EINVAL);
	init.attr.max_wr = s->attr.max_srq_wr + 1;
	must(!ibv_create_srq(s->pd, &init));
	must_be(errno, EINVAL);
	init.attr.max_wr = 1;
	init.attr.max_sge = s->attr.max_srq_sge + 1;
	must(!ibv_create_srq(s->pd, &init));
	must_be(errno, EINVAL);

	setup(1, 16);
	must_be(query().max_wr, 16);
	must_be(query().srq_limit, 0);
	must_be(arm(17), EINVAL);
	must_be(resize(0), EINVAL);
	must_be(resize(s->attr.max_srq_wr + 1), EINVAL);
	must_be(query().max_wr, 16);
}

/* The device grants what it advertises, in full. */
static void largest(void)
{
	int max = sides[1].attr.max_srq_wr;

	srq = srq_make(&sides[1], NULL, max, 1);
	must_be(query().max_wr, max);
	must_be(arm(max + 1), EINVAL);
	must_be(arm(max), 0);
	must_be(query().srq_limit, max);
	must_be(resize(1), 0);
	must_be(resize(max), 0);
	must_be(query().max_wr, max);
	must_be(arm(1), 0);
}

static void busy(void)
{
	setup(1, 8);
	must_be(ibv_destroy_srq(srq), EBUSY);
	must_be(ibv_dealloc_pd(sides[1].pd), EBUSY);
}

static void rnr_none(void)
{
	struct opt o = opt_default;
	struct ibv_send_wr wr;

	o.rnr_retry = 0;
	setup_opt(&o, 1, 8);
	wr = wr_of(1, IBV_WR_SEND, &sa, 1);
	must_be(post_one(&p[0].a, &wr), 0);
	wc_want(p[0].a.scq, 1, IBV_WC_RNR_RETRY_EXC_ERR);
	/* RNR does not put the responder into the error state */
	must_be(state_of(&p[0].b), IBV_QPS_RTS);
}

static void rnr_later(void)
{
	struct ibv_send_wr wr;
	struct ibv_sge sb;
	int i;

	setup(2, 8);
	fill(ma.p, LEN, 3);
	sa = sge_of(&ma, 0, LEN);
	for (i = 0; i < 2; i++) {
		wr = wr_of(i, IBV_WR_SEND, &sa, 1);
		must_be(post_one(&p[i].a, &wr), 0);
	}
	wc_none(p[0].a.scq, 30);
	for (i = 0; i < 2; i++) {
		sb = sge_of(&mb, i * LEN, LEN);
		must_be(post_srq(srq, 20, &sb, 1), 0);
	}
	for (i = 0; i < 2; i++) {
		wc_want(p[i].a.scq, i, IBV_WC_SUCCESS);
		wc_want(p[i].b.rcq, 20, IBV_WC_SUCCESS);
		same(mb.p + i * LEN, LEN, 3, "a send that waited");
	}
}

/* One event each time the limit is armed, once fewer receives are left. */
static void limit_event(void)
{
	int i, round;

	setup(2, 32);
	for (i = 0; i < 16; i++)
		must_be(post_srq(srq, i, NULL, 0), 0);
	for (round = 0; round < 2; round++) {
		must_be(arm(14), 0);
		must_be(query().srq_limit, 14);
		send_takes(0, round * 5);
		send_takes(1, round * 5 + 1);
		event_none(&sides[1], IBV_EVENT_SRQ_LIMIT_REACHED, 20);
		must_be(query().srq_limit, 14);
		send_takes(1, round * 5 + 2);
		event_want(&sides[1], IBV_EVENT_SRQ_LIMIT_REACHED, srq);
		must_be(query().srq_limit, 0);
		send_takes(0, round * 5 + 3);
		send_takes(0, round * 5 + 4);
		event_none(&sides[1], IBV_EVENT_SRQ_LIMIT_REACHED, 20);
		for (i = 0; i < 5; i++)
			must_be(post_srq(srq, (16 + i) % 16, NULL, 0), 0);
	}
	/* armed and disarmed */
	must_be(arm(16), 0);
	must_be(arm(0), 0);
	send_takes(0, 10);
	event_none(&sides[1], IBV_EVENT_SRQ_LIMIT_REACHED, 20);
}

static void resize_keeps(void)
{
	static const int sizes[] = { 64, 16, 1024, 8, 8, 256 };
	__u64 posted = 0, taken = 0;
	struct ibv_sge sb;
	size_t s;

	setup(2, 8);
	for (s = 0; s < ARRAY_SIZE(sizes); s++) {
		/* receives posted before the resize are kept in order */
		while (posted - taken < 7) {
			sb = sge_of(&mb, 0, 8);
			must_be(post_srq(srq, posted++, &sb, 1), 0);
		}
		must_be(resize(sizes[s]), 0);
		must_be(query().max_wr, sizes[s]);
		while (taken < posted - 3)
			send_takes(s & 1, taken++);
		while (posted - taken < (__u64)sizes[s])
			must_be(post_srq(srq, posted++, NULL, 0), 0);
		must_be(post_srq(srq, 0, NULL, 0), ENOMEM);
		must_be(resize(sizes[s] / 2), EINVAL);
		must_be(query().max_wr, sizes[s]);
		while (taken < posted - 2)
			send_takes(posted & 1, taken++);
	}
}

/* A resize that cannot be mapped is refused before the kernel carries it out. */
static void resize_no_space(void)
{
	struct ibv_send_wr wr = wr_of(1, IBV_WR_SEND, NULL, 0);
	struct ibv_wc wc;
	int max_wr;

	setup(1, 8);
	max_wr = query().max_wr;
	must_be(post_srq(srq, 0, NULL, 0), 0);
	space_limit(1 << 20);
	must_be(resize(1 << 16), ENOMEM);
	undo_now(NO_SPACE);
	must_be(query().max_wr, max_wr);
	must_be(post_srq(srq, 1, NULL, 0), 0);
	must_be(post_one(&p[0].a, &wr), 0);
	must_be(post_one(&p[0].a, &wr), 0);
	must(wc_wait(p[0].b.rcq, &wc, BOUND));
	must_be(wc.wr_id, 0);
	must(wc_wait(p[0].b.rcq, &wc, BOUND));
	must_be(wc.wr_id, 1);
	must_be(resize(1 << 16), 0);
}

/* Resized under traffic: no receive is lost or used twice. */
static void resize_busy(void)
{
	const int batch = 32, total = 60 * batch;
	struct ibv_send_wr wr = wr_of(1, IBV_WR_SEND, NULL, 0);
	int i, n = 0, posted = 0, got = 0, sent = 0;
	bool seen[60 * 32] = {};
	struct ibv_wc wc;

	setup(QPS, batch);
	while (got < total) {
		while (posted < total && posted - got < batch)
			must_be(post_srq(srq, posted++, NULL, 0), 0);
		while (sent < total && sent - got < batch)
			must_be(post_one(&p[sent++ % QPS].a, &wr), 0);
		must_be(resize(++n & 1 ? 4 * batch : batch), 0);
		for (i = 0; i < QPS; i++) {
			while (wc_wait(p[i].b.rcq, &wc, 0)) {
				must_be(wc.status, IBV_WC_SUCCESS);
				must(wc.wr_id < (__u64)total && !seen[wc.wr_id]);
				seen[wc.wr_id] = true;
				got++;
			}
			while (wc_wait(p[i].a.scq, &wc, 0))
				must_be(wc.status, IBV_WC_SUCCESS);
		}
	}
}

/* After an error of one queue pair, others can use the shared receives. */
static void error_keeps(void)
{
	int i;

	setup(2, 8);
	for (i = 0; i < 4; i++)
		must_be(post_srq(srq, i, NULL, 0), 0);
	send_takes(0, 0);
	must_be(to_state(&p[0].b, IBV_QPS_ERR), 0);
	event_want(&sides[1], IBV_EVENT_QP_LAST_WQE_REACHED, p[0].b.qp);
	wc_none(p[0].b.rcq, 10);
	must_be(to_state(&p[0].b, IBV_QPS_ERR), 0);
	event_none(&sides[1], IBV_EVENT_QP_LAST_WQE_REACHED, 20);
	for (i = 1; i < 4; i++)
		send_takes(1, i);

	/* others can use them after a reset as well */
	must_be(to_state(&p[0].b, IBV_QPS_RESET), 0);
	must_be(to_state(&p[0].a, IBV_QPS_RESET), 0);
	connect_pair(&p[0]);
	must_be(post_srq(srq, 9, NULL, 0), 0);
	send_takes(0, 9);
	must_be(to_state(&p[0].b, IBV_QPS_ERR), 0);
	event_want(&sides[1], IBV_EVENT_QP_LAST_WQE_REACHED, p[0].b.qp);
}

/* A receive in use is flushed by its queue pair, and the event follows. */
static void error_midway(void)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge[2];
	struct ibv_sge sb;

	setup(2, 8);
	sb = sge_of(&mb, 0, LEN);
	must_be(post_srq(srq, 1, &sb, 1), 0);
	must_be(post_srq(srq, 2, &sb, 1), 0);
	/* the first packet is sent; the second fails for a bad lkey */
	sge[0] = sge_of(&ma, 0, 8192);
	sge[1] = sge[0];
	sge[1].lkey ^= 0x55000;
	wr = wr_of(1, IBV_WR_SEND, sge, 2);
	must_be(post_one(&p[0].a, &wr), 0);
	wc_want(p[0].a.scq, 1, IBV_WC_LOC_PROT_ERR);
	wc_none(p[0].b.rcq, 20);
	must_be(to_state(&p[0].b, IBV_QPS_ERR), 0);
	event_want(&sides[1], IBV_EVENT_QP_LAST_WQE_REACHED, p[0].b.qp);
	wc_want(p[0].b.rcq, 1, IBV_WC_WR_FLUSH_ERR);
	wc_none(p[0].b.rcq, 10);
	send_takes(1, 2);
}

/* Buffers belong to the protection domain of the SRQ, not to that of the queue pair. */
static void other_domain(void)
{
	struct opt b = opt_default;
	struct ibv_send_wr wr;
	struct ibv_sge sb;
	struct ibv_pd *pd;
	struct mem mine;

	pd = pd_make(&sides[1]);
	srq = srq_make(&sides[1], pd, 8, 1);
	b.srq = srq;
	pair_make(&p[0], NULL, &b);
	mem_make(&ma, &sides[0], LEN, FULL_ACCESS);
	mem_make(&mb, &sides[1], LEN, FULL_ACCESS);
	mine = mb;
	mem_own(&mine, pd, FULL_ACCESS);
	fill(ma.p, LEN, 5);
	sa = sge_of(&ma, 0, LEN);
	sb = sge_of(&mine, 0, LEN);
	must_be(post_srq(srq, 1, &sb, 1), 0);
	wr = wr_of(1, IBV_WR_SEND, &sa, 1);
	must_be(post_one(&p[0].a, &wr), 0);
	wc_want(p[0].a.scq, 1, IBV_WC_SUCCESS);
	wc_want(p[0].b.rcq, 1, IBV_WC_SUCCESS);
	same(mb.p, LEN, 5, "a send to the queue's domain");

	sb = sge_of(&mb, 0, LEN);
	must_be(post_srq(srq, 2, &sb, 1), 0);
	must_be(post_one(&p[0].a, &wr), 0);
	wc_want(p[0].a.scq, 1, IBV_WC_REM_OP_ERR);
	wc_want(p[0].b.rcq, 2, IBV_WC_LOC_PROT_ERR);
	/* no other event, since the error has a completion */
	event_want(&sides[1], IBV_EVENT_QP_LAST_WQE_REACHED, p[0].b.qp);
}

static const struct vrb_case srq_cases[] = {
	{ "srq", "SEND of each size, through four queue pairs", data },
	{ "srq", "WRITE with immediate takes a receive", write_imm },
	{ "srq", "a full queue is ENOMEM, a bad post EINVAL", full },
	{ "srq", "limits of the device are enforced", limits },
	{ "srq", "the largest queue is as the device says", largest },
	{ "srq", "destroying an SRQ in use is EBUSY", busy },
	{ "srq", "an empty queue is not ready", rnr_none },
	{ "srq", "an empty queue, then receives", rnr_later },
	{ "srq", "one limit event for each arming", limit_event },
	{ "srq", "a resize keeps posted receives", resize_keeps },
	{ "srq", "a resize without address space changes nothing",
	  resize_no_space },
	{ "srq", "a resize under traffic loses nothing", resize_busy },
	{ "srq", "an error leaves the receives to other queue pairs", error_keeps },
	{ "srq", "an error flushes the receive in use", error_midway },
	{ "srq", "buffers belong to the domain of the SRQ", other_domain },
};

VRB_TOPIC("srq", srq_cases);
