// SPDX-License-Identifier: GPL-2.0
/* srnic selftests - verbs harness: full queues, and posts that must fail */
#include "vrb.h"

static void sq_full(void)
{
	struct opt o = opt_default;
	struct ibv_send_wr wr, *bad;
	struct ibv_send_wr more[3];
	struct pair p;
	int i, n, round;

	o.send_wr = 8;
	pair_make(&p, &o, NULL);
	wr = wr_of(1, IBV_WR_SEND, NULL, 0);
	for (round = 0; round < 3; round++) {
		/* there is no receive, so none of them completes */
		for (n = 0; n < 4096; n++)
			if (post_one(&p.a, &wr))
				break;
		must(n >= 8 && n < 4096);
		must_be(post_one(&p.a, &wr), ENOMEM);
		for (i = 0; i < n; i++) {
			must_be(post_recv(&p.b, i, NULL, 0), 0);
			wc_want(p.a.scq, 1, IBV_WC_SUCCESS);
			wc_want(p.b.rcq, i, IBV_WC_SUCCESS);
		}
	}
	/* Requests of a list are posted up to the first that does not fit. */
	for (i = 0; i < n - 2; i++)
		must_be(post_one(&p.a, &wr), 0);
	for (i = 0; i < 3; i++) {
		more[i] = wr;
		more[i].next = i < 2 ? &more[i + 1] : NULL;
	}
	must_be(ibv_post_send(p.a.qp, more, &bad), ENOMEM);
	must(bad == &more[2]);
}

/* Posts as soon as there is room. */
static void post_patiently(struct end *e, struct ibv_send_wr *wr)
{
	__u64 end = 0;

	while (post_one(e, wr))
		wait_turn(&end, "room in the ring");
}

/* ACKs are requested for unsignalled WQEs, too: no timeout is needed. */
static void sq_unsignaled(void)
{
	struct opt o = opt_default;
	struct ibv_send_wr wr;
	struct pair p;
	int i;

	o.send_wr = 4;
	o.timeout = 0;
	pair_make(&p, &o, NULL);
	wr = wr_of(1, IBV_WR_RDMA_WRITE, NULL, 0);
	wr.send_flags = 0;
	for (i = 0; i < 100; i++)
		post_patiently(&p.a, &wr);
	wr.wr_id = 2;
	wr.send_flags = IBV_SEND_SIGNALED;
	post_patiently(&p.a, &wr);
	wc_want(p.a.scq, 2, IBV_WC_SUCCESS);
}

/* An invalid request fails as soon as those before it have completed. */
static void sq_fails_behind(void)
{
	struct opt o = opt_default;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct mem ma, mb;
	struct pair p;

	o.timeout = 0;
	pair_make(&p, &o, NULL);
	mem_make(&ma, &sides[0], 64, FULL_ACCESS);
	mem_make(&mb, &sides[1], 64, FULL_ACCESS);
	wr = wr_of(1, IBV_WR_RDMA_WRITE, NULL, 0);
	wr.send_flags = 0;
	must_be(post_one(&p.a, &wr), 0);
	must_be(post_one(&p.a, &wr), 0);
	sge = sge_of(&ma, 0, 64);
	sge.lkey++;
	wr = wr_of(3, IBV_WR_RDMA_WRITE, &sge, 1);
	wr_target(&wr, &mb, 0);
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 3, IBV_WC_LOC_PROT_ERR);
}

static void rq_full(void)
{
	struct opt o = opt_default;
	struct ibv_send_wr wr;
	struct pair p;
	int n, i, round;

	o.recv_wr = 8;
	pair_make(&p, NULL, &o);
	wr = wr_of(1, IBV_WR_SEND, NULL, 0);
	for (round = 0; round < 3; round++) {
		for (n = 0; n < 4096; n++)
			if (post_recv(&p.b, n, NULL, 0))
				break;
		must(n >= 8 && n < 4096);
		must_be(post_recv(&p.b, n, NULL, 0), ENOMEM);
		for (i = 0; i < n; i++) {
			must_be(post_one(&p.a, &wr), 0);
			wc_want(p.b.rcq, i, IBV_WC_SUCCESS);
			wc_want(p.a.scq, 1, IBV_WC_SUCCESS);
		}
	}
}

static void too_many_sges(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct ibv_sge sge[256];
	struct ibv_send_wr wr;
	struct mem m;
	struct pair p;
	int i;

	pair_make(&p, NULL, NULL);
	mem_make(&m, &sides[0], 4096, FULL_ACCESS);
	must_be(ibv_query_qp(p.a.qp, &attr, IBV_QP_CAP, &init), 0);
	must(init.cap.max_send_sge >= 8 && init.cap.max_send_sge < 256);
	for (i = 0; i < 256; i++)
		sge[i] = sge_of(&m, 0, 1);
	wr = wr_of(1, IBV_WR_RDMA_WRITE, sge, init.cap.max_send_sge + 1);
	wr_target(&wr, &m, 0);
	must_be(post_one(&p.a, &wr), EINVAL);
	must_be(post_recv(&p.a, 1, sge, init.cap.max_recv_sge + 1), EINVAL);
	must_be(state_of(&p.a), IBV_QPS_RTS);
	wc_none(p.a.scq, 5);
}

static void inline_too_long(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct mem m;
	struct pair p;

	pair_make(&p, NULL, NULL);
	mem_make(&m, &sides[0], 8192, FULL_ACCESS);
	must_be(ibv_query_qp(p.a.qp, &attr, IBV_QP_CAP, &init), 0);
	must(init.cap.max_inline_data >= 64 && init.cap.max_inline_data < 8192);
	sge = sge_of(&m, 0, init.cap.max_inline_data + 1);
	wr = wr_of(1, IBV_WR_SEND, &sge, 1);
	wr.send_flags |= IBV_SEND_INLINE;
	must_be(post_one(&p.a, &wr), EINVAL);
}

static void bad_opcode(void)
{
	struct ibv_send_wr wr;
	struct pair p;

	pair_make(&p, NULL, NULL);
	wr = wr_of(1, IBV_WR_SEND, NULL, 0);
	wr.opcode = 200;
	must_be(post_one(&p.a, &wr), EINVAL);
	must_be(state_of(&p.a), IBV_QPS_RTS);
}

static void wrong_state(void)
{
	struct ibv_send_wr wr = wr_of(1, IBV_WR_SEND, NULL, 0);
	struct pair p;

	end_make(&p.a, &sides[0], &opt_default);
	end_make(&p.b, &sides[1], &opt_default);
	must_be(post_one(&p.a, &wr), EINVAL);
	must_be(post_recv(&p.a, 1, NULL, 0), EINVAL);
	must_be(to_init(&p.a), 0);
	must_be(to_init(&p.b), 0);
	must_be(post_one(&p.a, &wr), EINVAL);
	must_be(post_recv(&p.a, 1, NULL, 0), 0);
	must_be(to_rtr(&p.a, &p.b), 0);
	must_be(to_rtr(&p.b, &p.a), 0);
	must_be(post_one(&p.a, &wr), EINVAL);
	must_be(post_recv(&p.a, 2, NULL, 0), 0);
	must_be(to_rts(&p.a), 0);
	must_be(to_rts(&p.b), 0);
	/* receives freed by completions are available again */
	must_be(post_one(&p.b, &wr), 0);
	must_be(post_one(&p.b, &wr), 0);
	wc_want(p.a.rcq, 1, IBV_WC_SUCCESS);
	wc_want(p.a.rcq, 2, IBV_WC_SUCCESS);
}

static void cq_overrun(void)
{
	struct ibv_async_event ev = {};
	struct opt o = opt_default;
	struct ibv_send_wr wr;
	struct pair p;
	int i;

	o.cqe = 4;
	pair_make(&p, NULL, &o);
	must(p.b.rcq->cqe < 64);
	wr = wr_of(1, IBV_WR_SEND, NULL, 0);
	for (i = 0; i < 64; i++)
		must_be(post_recv(&p.b, i, NULL, 0), 0);
	for (i = 0; i <= p.b.rcq->cqe; i++)
		must_be(post_one(&p.a, &wr), 0);
	do {
		if (!event_wait(&sides[1], &ev, BOUND))
			case_fail("no event for the overrun");
	} while (ev.event_type != IBV_EVENT_CQ_ERR);
	must(ev.element.cq == p.b.rcq);
}

/* Exactly as many CQEs as requested fit, and none is lost. */
static void cq_exact(void)
{
	struct ibv_async_event ev = {};
	struct opt o = opt_default;
	struct ibv_send_wr wr;
	struct pair p;
	int i, round;

	o.cqe = 31;
	pair_make(&p, NULL, &o);
	wr = wr_of(1, IBV_WR_SEND, NULL, 0);
	for (round = 0; round < 5; round++) {
		for (i = 0; i < 31; i++) {
			must_be(post_recv(&p.b, i, NULL, 0), 0);
			must_be(post_one(&p.a, &wr), 0);
		}
		for (i = 0; i < 31; i++)
			wc_want(p.a.scq, 1, IBV_WC_SUCCESS);
		for (i = 0; i < 31; i++)
			wc_want(p.b.rcq, i, IBV_WC_SUCCESS);
	}
	must(!event_wait(&sides[1], &ev, 0));
}

static void limits(void)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC };
	struct side *s = &sides[0];
	struct end e;

	end_make(&e, s, &opt_default);
	init.send_cq = e.scq;
	init.recv_cq = e.rcq;
	init.cap.max_send_wr = s->attr.max_qp_wr + 1;
	init.cap.max_send_sge = 1;
	must(!ibv_create_qp(s->pd, &init));
	must_be(errno, EINVAL);
	init.cap.max_send_wr = 1;
	init.cap.max_send_sge = s->attr.max_sge + 1;
	must(!ibv_create_qp(s->pd, &init));
	must_be(errno, EINVAL);
	must(!ibv_create_cq(s->ctx, s->attr.max_cqe + 1, NULL, NULL, 0));
	must_be(errno, EINVAL);
	must(!ibv_create_cq(s->ctx, 0, NULL, NULL, 0));
	must_be(errno, EINVAL);
}

/* The device grants what it advertises. */
static void largest(void)
{
	int max = sides[0].attr.max_qp_wr;
	struct ibv_qp_init_attr init;
	struct opt o = opt_default;
	struct ibv_qp_attr attr;
	struct end e;

	o.send_wr = max;
	o.recv_wr = max;
	end_make(&e, &sides[0], &o);
	must_be(ibv_query_qp(e.qp, &attr, IBV_QP_CAP, &init), 0);
	must_be(init.cap.max_send_wr, max);
	must_be(init.cap.max_recv_wr, max);
}

/* Objects in use cannot be destroyed. */
static void busy(void)
{
	struct pair p;
	struct mem m;

	pair_make(&p, NULL, NULL);
	mem_make(&m, &sides[0], 4096, FULL_ACCESS);
	must_be(ibv_destroy_cq(p.a.scq), EBUSY);
	must_be(ibv_dealloc_pd(sides[0].pd), EBUSY);
}

static const struct vrb_case queue_cases[] = {
	{ "queue", "a full send queue is ENOMEM", sq_full },
	{ "queue", "unsignalled requests make room", sq_unsignaled },
	{ "queue", "an invalid request behind unsignalled ones", sq_fails_behind },
	{ "queue", "a full receive queue is ENOMEM", rq_full },
	{ "queue", "too many SGEs are EINVAL", too_many_sges },
	{ "queue", "too much inline data is EINVAL", inline_too_long },
	{ "queue", "an unknown opcode is EINVAL", bad_opcode },
	{ "queue", "posts in the wrong state are EINVAL", wrong_state },
	{ "queue", "a completion queue overrun raises an event", cq_overrun },
	{ "queue", "a completion queue has the requested size", cq_exact },
	{ "queue", "limits of the device are enforced", limits },
	{ "queue", "the largest queues are as the device says", largest },
	{ "queue", "destroying objects in use is EBUSY", busy },
};

VRB_TOPIC("queue", queue_cases);
