// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: the state machine of a queue pair
 */
#include <pthread.h>
#include <unistd.h>

#include "vrb.h"

static void illegal_transitions(void)
{
	struct pair p;

	end_make(&p.a, &sides[0], &opt_default);
	end_make(&p.b, &sides[1], &opt_default);

	must_be(to_rtr(&p.a, &p.b), EINVAL);
	must_be(to_rts(&p.a), EINVAL);
	must_be(to_state(&p.a, IBV_QPS_SQD), EINVAL);
	must_be(state_of(&p.a), IBV_QPS_RESET);

	must_be(to_init(&p.a), 0);
	must_be(to_init(&p.b), 0);
	must_be(to_rts(&p.a), EINVAL);
	must_be(to_state(&p.a, IBV_QPS_SQD), EINVAL);
	must_be(state_of(&p.a), IBV_QPS_INIT);
	must_be(to_init(&p.a), 0);	/* INIT to INIT is allowed */

	must_be(to_rtr(&p.a, &p.b), 0);
	must_be(to_init(&p.a), EINVAL);
	must_be(to_state(&p.a, IBV_QPS_SQD), EINVAL);
	must_be(state_of(&p.a), IBV_QPS_RTR);

	must_be(to_rts(&p.a), 0);
	must_be(to_init(&p.a), EINVAL);
	must_be(to_rtr(&p.a, &p.b), EINVAL);
	must_be(to_state(&p.a, IBV_QPS_SQE), EINVAL);
	must_be(state_of(&p.a), IBV_QPS_RTS);

	must_be(to_state(&p.a, IBV_QPS_ERR), 0);
	must_be(to_init(&p.a), EINVAL);
	must_be(to_rtr(&p.a, &p.b), EINVAL);
	must_be(to_rts(&p.a), EINVAL);
	must_be(to_state(&p.a, IBV_QPS_ERR), 0);
	must_be(to_state(&p.a, IBV_QPS_RESET), 0);
	must_be(to_state(&p.a, IBV_QPS_RESET), 0);
	must_be(state_of(&p.a), IBV_QPS_RESET);
}

static void illegal_attributes(void)
{
	struct ibv_qp_attr attr;
	struct pair p;

	end_make(&p.a, &sides[0], &opt_default);
	end_make(&p.b, &sides[1], &opt_default);

	/* a required attribute is missing */
	attr = (struct ibv_qp_attr) { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	must_be(ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE | IBV_QP_PORT |
			      IBV_QP_PKEY_INDEX), EINVAL);
	/* an attribute that is not allowed */
	must_be(ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE | IBV_QP_PORT |
			      IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS |
			      IBV_QP_DEST_QPN), EINVAL);
	/* invalid port, P_Key index and state */
	attr.port_num = 2;
	must_be(ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE | IBV_QP_PORT |
			      IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS), EINVAL);
	attr.port_num = 1;
	attr.pkey_index = 9;
	must_be(ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE | IBV_QP_PORT |
			      IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS), EINVAL);
	must_be(state_of(&p.a), IBV_QPS_RESET);

	must_be(to_init(&p.a), 0);
	must_be(to_init(&p.b), 0);
	attr = (struct ibv_qp_attr) { .qp_state = IBV_QPS_RTR };
	must_be(ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE), EINVAL);
	must_be(to_rtr(&p.a, &p.b), 0);

	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTS,
		.cur_qp_state = IBV_QPS_INIT,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};
	must_be(ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE |
			      IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			      IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			      IBV_QP_MAX_QP_RD_ATOMIC), EINVAL);
	p.a.o.retry = 8;
	must_be(to_rts(&p.a), EINVAL);
	p.a.o.retry = 7;
	p.a.o.rnr_retry = 8;
	must_be(to_rts(&p.a), EINVAL);
	p.a.o.rnr_retry = 7;
	p.a.o.timeout = 32;
	must_be(to_rts(&p.a), EINVAL);
	p.a.o.timeout = 14;
	if (sides[0].attr.max_qp_init_rd_atom < 255) {
		p.a.o.rd_atomic = sides[0].attr.max_qp_init_rd_atom + 1;
		must_be(to_rts(&p.a), EINVAL);
		p.a.o.rd_atomic = 1;
	}
	must_be(state_of(&p.a), IBV_QPS_RTR);
	must_be(to_rts(&p.a), 0);
}

/* A connected queue pair has one path, to one host. */
static void one_path(void)
{
	struct ibv_qp_attr attr = { .path_mig_state = IBV_MIG_MIGRATED };
	struct side group = sides[1];
	struct end b;
	struct pair p;

	pair_make(&p, NULL, NULL);
	must_be(ibv_modify_qp(p.a.qp, &attr, IBV_QP_PATH_MIG_STATE), 0);
	attr.path_mig_state = IBV_MIG_ARMED;
	must_be(ibv_modify_qp(p.a.qp, &attr, IBV_QP_PATH_MIG_STATE), EINVAL);
	must_be(state_of(&p.a), IBV_QPS_RTS);

	must_be(to_state(&p.a, IBV_QPS_RESET), 0);
	must_be(to_init(&p.a), 0);
	memset(group.gid.raw, 0xff, 2);	/* ff00::/8 is multicast */
	b = p.b;
	b.side = &group;
	must_be(to_rtr(&p.a, &b), EINVAL);
	must_be(to_rtr(&p.a, &p.b), 0);
}

/* The queues keep the size that they were created with. */
static void no_resize(void)
{
	struct ibv_qp_attr attr = { .cap.max_send_wr = 128, .cap.max_recv_wr = 128 };
	struct pair p;

	pair_make(&p, NULL, NULL);
	must_be(ibv_modify_qp(p.a.qp, &attr, IBV_QP_CAP), EOPNOTSUPP);
}

static void query(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct opt o = opt_default;
	struct pair p;

	o.timeout = 13;
	o.retry = 5;
	o.rnr_retry = 3;
	o.min_rnr = 9;
	o.rd_atomic = 2;
	o.dest_rd_atomic = 3;
	o.access = IBV_ACCESS_REMOTE_READ;
	o.sig_all = 1;
	pair_make(&p, &o, NULL);
	must_be(ibv_query_qp(p.a.qp, &attr, IBV_QP_STATE | IBV_QP_CAP |
			     IBV_QP_AV | IBV_QP_TIMEOUT, &init), 0);
	must_be(attr.qp_state, IBV_QPS_RTS);
	must_be(attr.cur_qp_state, IBV_QPS_RTS);
	must_be(attr.port_num, 1);
	must_be(attr.pkey_index, 0);
	must_be(attr.qp_access_flags, IBV_ACCESS_REMOTE_READ);
	must_be(attr.dest_qp_num, p.b.qp->qp_num);
	must_be(attr.rq_psn, p.b.psn);
	must_be(attr.sq_psn, p.a.psn);
	must_be(attr.timeout, 13);
	must_be(attr.retry_cnt, 5);
	must_be(attr.rnr_retry, 3);
	must_be(attr.min_rnr_timer, 9);
	must_be(attr.max_rd_atomic, 2);
	must_be(attr.max_dest_rd_atomic, 3);
	must_be(attr.path_mtu, sides[0].port.active_mtu);
	must_be(attr.sq_draining, 0);
	must_be(attr.ah_attr.is_global, 1);
	must_be(attr.ah_attr.port_num, 1);
	must_be(attr.ah_attr.grh.sgid_index, sides[0].gid_index);
	must_be(attr.ah_attr.grh.hop_limit, 64);
	must(!memcmp(&attr.ah_attr.grh.dgid, &sides[1].gid, 16));
	must(attr.cap.max_send_wr >= 64 && attr.cap.max_recv_wr >= 64);
	must(attr.cap.max_send_sge >= 8 && attr.cap.max_recv_sge >= 8);
	must(attr.cap.max_inline_data >= 64);
	must_be(init.qp_type, IBV_QPT_RC);
	must_be(init.sq_sig_all, 1);
	must(init.send_cq == p.a.scq && init.recv_cq == p.a.rcq);
	must_be(init.cap.max_send_wr, attr.cap.max_send_wr);
}

/* RTS to RTS: access rights are removed and the RNR timer is changed under traffic. */
static void change_in_rts(void)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.qp_access_flags = IBV_ACCESS_REMOTE_READ,
		.min_rnr_timer = 5,
	};
	struct ibv_qp_init_attr init;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct mem ma, mb;
	struct pair p;

	pair_make(&p, NULL, NULL);
	mem_make(&ma, &sides[0], 4096, FULL_ACCESS);
	mem_make(&mb, &sides[1], 4096, FULL_ACCESS);
	sge = sge_of(&ma, 0, 64);
	wr = wr_of(1, IBV_WR_RDMA_WRITE, &sge, 1);
	wr_target(&wr, &mb, 0);
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 1, IBV_WC_SUCCESS);
	must_be(ibv_modify_qp(p.b.qp, &attr, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS |
			      IBV_QP_MIN_RNR_TIMER), 0);
	must_be(ibv_query_qp(p.b.qp, &attr, IBV_QP_STATE, &init), 0);
	must_be(attr.qp_access_flags, IBV_ACCESS_REMOTE_READ);
	must_be(attr.min_rnr_timer, 5);
	wr.wr_id = 2;
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 2, IBV_WC_REM_INV_REQ_ERR);
}

static void sqd(void)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_SQD,
		.en_sqd_async_notify = 1,
	};
	const size_t len = 1 << 20;
	struct ibv_qp_init_attr init;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct mem ma, mb;
	struct pair p;
	int i;

	pair_make(&p, NULL, NULL);
	mem_make(&ma, &sides[0], len, FULL_ACCESS);
	mem_make(&mb, &sides[1], len, FULL_ACCESS);
	fill(ma.p, len, 9);
	sge = sge_of(&ma, 0, len);
	wr = wr_of(0, IBV_WR_RDMA_WRITE, &sge, 1);
	wr_target(&wr, &mb, 0);
	for (i = 0; i < 4; i++) {
		wr.wr_id = i;
		must_be(post_one(&p.a, &wr), 0);
	}
	must_be(ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE |
			      IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
	event_want(&sides[0], IBV_EVENT_SQ_DRAINED, p.a.qp);
	must_be(ibv_query_qp(p.a.qp, &attr, IBV_QP_STATE, &init), 0);
	must_be(attr.qp_state, IBV_QPS_SQD);
	must_be(attr.sq_draining, 0);

	/*
	 * In SQD, requests in progress have completed; later ones wait, including those
	 * posted in SQD.
	 */
	for (i = 0; i < 4; i++) {
		struct ibv_wc wc;

		if (!wc_wait(p.a.scq, &wc, 0))
			break;
		must_be(wc.status, IBV_WC_SUCCESS);
		must_be(wc.wr_id, i);
	}
	wr.wr_id = 4;
	must_be(post_one(&p.a, &wr), 0);
	wc_none(p.a.scq, 100);

	/* the responder continues in SQD */
	wr.wr_id = 77;
	wr.sg_list = NULL;
	wr.num_sge = 0;
	wr.opcode = IBV_WR_SEND;
	must_be(post_recv(&p.a, 5, NULL, 0), 0);
	must_be(post_one(&p.b, &wr), 0);
	wc_want(p.b.scq, 77, IBV_WC_SUCCESS);
	wc_want(p.a.rcq, 5, IBV_WC_SUCCESS);

	must_be(to_state(&p.a, IBV_QPS_RTS), 0);
	for (; i <= 4; i++)
		wc_want(p.a.scq, i, IBV_WC_SUCCESS);
	same(mb.p, len, 9, "the writes");
}

/* Unsignalled requests in flight drain without a timeout. */
static void sqd_unsignaled(void)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_SQD,
		.en_sqd_async_notify = 1,
	};
	struct opt o = opt_default;
	struct ibv_send_wr wr;
	struct pair p;
	int i;

	o.timeout = 0;
	pair_make(&p, &o, NULL);
	wr = wr_of(1, IBV_WR_SEND, NULL, 0);
	wr.send_flags = 0;
	for (i = 0; i < 3; i++) {
		must_be(post_recv(&p.b, i, NULL, 0), 0);
		must_be(post_one(&p.a, &wr), 0);
	}
	must_be(ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE |
			      IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
	event_want(&sides[0], IBV_EVENT_SQ_DRAINED, p.a.qp);
	for (i = 0; i < 3; i++)
		wc_want(p.b.rcq, i, IBV_WC_SUCCESS);
	wc_none(p.b.rcq, 20);
	wc_none(p.a.scq, 0);
}

/* Sets how many READs and atomics @e may have in flight as requester or responder. */
static void deepen(struct end *e, int depth, enum ibv_qp_attr_mask which)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_SQD,
		.cur_qp_state = IBV_QPS_SQD,
		.max_rd_atomic = depth,
		.max_dest_rd_atomic = depth,
	};

	must_be(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE), 0);
	must_be(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | which), 0);
	attr.qp_state = IBV_QPS_RTS;
	must_be(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE), 0);
}

static void sqd_deeper(void)
{
	const int depth = 16;
	struct opt o = opt_default;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct mem ma, mb;
	struct pair p;
	int i;

	o.rd_atomic = 1;
	o.dest_rd_atomic = 1;
	pair_make(&p, &o, &o);
	mem_make(&ma, &sides[0], 4096, FULL_ACCESS);
	mem_make(&mb, &sides[1], 4096, FULL_ACCESS);
	memset(mb.p, 0, mb.len);
	deepen(&p.b, depth, IBV_QP_MAX_DEST_RD_ATOMIC);
	deepen(&p.a, depth, IBV_QP_MAX_QP_RD_ATOMIC);
	for (i = 0; i < 3 * depth; i++) {
		sge = sge_of(&ma, 8 * i, 8);
		wr = wr_of(i, IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, 1);
		wr.wr.atomic.compare_add = 1;
		wr_target(&wr, &mb, 0);
		must_be(post_one(&p.a, &wr), 0);
	}
	for (i = 0; i < 3 * depth; i++) {
		wc_want(p.a.scq, i, IBV_WC_SUCCESS);
		must_be(((__u64 *)ma.p)[i], i);
	}
}

static void sqd_idle(void)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_SQD,
		.en_sqd_async_notify = 1,
	};
	struct pair p;

	pair_make(&p, NULL, NULL);
	must_be(ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE |
			      IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
	event_want(&sides[0], IBV_EVENT_SQ_DRAINED, p.a.qp);
	must_be(to_state(&p.a, IBV_QPS_ERR), 0);
}

/* Packets that arrive in RTR are accepted, and reported by one event. */
static void established(void)
{
	struct ibv_send_wr wr = wr_of(1, IBV_WR_SEND, NULL, 0);
	struct pair p;
	int i;

	end_make(&p.a, &sides[0], &opt_default);
	end_make(&p.b, &sides[1], &opt_default);
	must_be(to_init(&p.a), 0);
	must_be(to_init(&p.b), 0);
	must_be(to_rtr(&p.a, &p.b), 0);
	must_be(to_rtr(&p.b, &p.a), 0);
	must_be(to_rts(&p.a), 0);
	for (i = 0; i < 3; i++) {
		must_be(post_recv(&p.b, i, NULL, 0), 0);
		must_be(post_one(&p.a, &wr), 0);
		wc_want(p.a.scq, 1, IBV_WC_SUCCESS);
		wc_want(p.b.rcq, i, IBV_WC_SUCCESS);
		if (!i)
			event_want(&sides[1], IBV_EVENT_COMM_EST, p.b.qp);
	}
	event_none(&sides[1], IBV_EVENT_COMM_EST, 20);
	must_be(to_rts(&p.b), 0);
	must_be(post_recv(&p.a, 5, NULL, 0), 0);
	must_be(post_one(&p.b, &wr), 0);
	wc_want(p.a.rcq, 5, IBV_WC_SUCCESS);
	event_none(&sides[0], IBV_EVENT_COMM_EST, 20);
}

static void reuse(void)
{
	struct ibv_send_wr wr;
	struct ibv_sge sa, sb;
	struct mem ma, mb;
	struct ibv_wc wc;
	struct pair p;
	int i, k;

	pair_make(&p, NULL, NULL);
	mem_make(&ma, &sides[0], 100000, FULL_ACCESS);
	mem_make(&mb, &sides[1], 100000, FULL_ACCESS);
	sa = sge_of(&ma, 0, 100000);
	sb = sge_of(&mb, 0, 100000);
	for (i = 0; i < 20; i++) {
		fill(ma.p, 100000, i);
		must_be(post_recv(&p.b, i, &sb, 1), 0);
		wr = wr_of(i, IBV_WR_SEND, &sa, 1);
		must_be(post_one(&p.a, &wr), 0);
		wc_want(p.a.scq, i, IBV_WC_SUCCESS);
		wc_want(p.b.rcq, i, IBV_WC_SUCCESS);
		same(mb.p, 100000, i, "a send after reset");

		/* a reset discards queued work without completions */
		for (k = 0; k < i; k++) {
			must_be(post_one(&p.a, &wr), 0);
			must_be(post_recv(&p.a, 900, NULL, 0), 0);
		}
		if (i & 1) {
			must_be(to_state(&p.a, IBV_QPS_ERR), 0);
			must_be(to_state(&p.b, IBV_QPS_ERR), 0);
		}
		must_be(to_state(&p.a, IBV_QPS_RESET), 0);
		must_be(to_state(&p.b, IBV_QPS_RESET), 0);
		while (wc_wait(p.a.scq, &wc, 0) || wc_wait(p.a.rcq, &wc, 0) ||
		       wc_wait(p.b.rcq, &wc, 0))
			;
		wc_none(p.a.scq, 2);
		wc_none(p.a.rcq, 2);
		p.a.psn = (p.a.psn + 12345) & 0xffffff;
		connect_pair(&p);
	}
}

/* ---- a send queue that fails while its queue pair is modified ---- */

static struct {
	struct end *e;
	bool stop;
} modified;

/* Modifies the queue pair from RTS to RTS, although it may be in SQE by then. */
static void *modify_on(void *arg)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.cur_qp_state = IBV_QPS_RTS,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};

	(void)arg;
	while (!__atomic_load_n(&modified.stop, __ATOMIC_RELAXED))
		ibv_modify_qp(modified.e->qp, &attr, IBV_QP_STATE |
			      IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS);
	return NULL;
}

/*
 * UC does not support READ, so the request fails.  The send queue stays in SQE until the
 * program moves it to RTS.
 */
static void fail_and_resume(struct end *e, int i)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.cur_qp_state = IBV_QPS_SQE,
	};
	struct ibv_send_wr bad = wr_of(3 * i, IBV_WR_RDMA_READ, NULL, 0);
	struct ibv_send_wr behind = wr_of(3 * i + 1, IBV_WR_SEND, NULL, 0);

	must_be(post_one(e, &bad), 0);
	wc_want(e->scq, 3 * i, IBV_WC_LOC_QP_OP_ERR);
	must_be(post_one(e, &behind), 0);
	wc_want(e->scq, 3 * i + 1, IBV_WC_WR_FLUSH_ERR);
	must_be(state_of(e), IBV_QPS_SQE);
	must_be(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE), 0);
	behind.wr_id = 3 * i + 2;
	must_be(post_one(e, &behind), 0);
	wc_want(e->scq, 3 * i + 2, IBV_WC_SUCCESS);
}

/* The thread ends before the objects it uses are destroyed. */
static int modify_stop(void *thread)
{
	__atomic_store_n(&modified.stop, true, __ATOMIC_RELAXED);
	return pthread_join(*(pthread_t *)thread, NULL);
}

static void modify_race(void)
{
	static pthread_t thread;
	struct opt o = opt_default;
	struct pair p;
	int i;

	o.type = IBV_QPT_UC;
	o.access = IBV_ACCESS_REMOTE_WRITE;
	pair_make(&p, &o, &o);
	modified.e = &p.a;
	modified.stop = false;
	must_be(pthread_create(&thread, NULL, modify_on, NULL), 0);
	undo_later(modify_stop, &thread);
	for (i = 0; i < 50 * rounds; i++)
		fail_and_resume(&p.a, i);
}

static void thirty(void)
{
	struct ibv_send_wr wr = wr_of(1, IBV_WR_SEND, NULL, 0);
	struct pair p[30];
	int i;

	for (i = 0; i < 30; i++) {
		pair_make(&p[i], NULL, NULL);
		must_be(post_recv(&p[i].b, i, NULL, 0), 0);
	}
	for (i = 29; i >= 0; i--)
		must_be(post_one(&p[i].a, &wr), 0);
	for (i = 0; i < 30; i++)
		must_be(wc_want(p[i].b.rcq, i, IBV_WC_SUCCESS).qp_num,
			p[i].b.qp->qp_num);
}

static const struct vrb_case state_cases[] = {
	{ "state", "invalid transitions are EINVAL", illegal_transitions },
	{ "state", "invalid attributes are EINVAL", illegal_attributes },
	{ "state", "one path, which is not to a group", one_path },
	{ "state", "queues cannot be resized", no_resize },
	{ "state", "query_qp returns what was set", query },
	{ "state", "rights change in RTS", change_in_rts },
	{ "state", "the send queue drains, raises an event, and resumes", sqd },
	{ "state", "unsignalled requests drain", sqd_unsignaled },
	{ "state", "an idle send queue is drained at once", sqd_idle },
	{ "state", "READ and atomic depth increased in SQD", sqd_deeper },
	{ "state", "a packet to a queue pair in RTR raises an event", established },
	{ "state", "a queue pair is reset and used again", reuse },
	{ "state", "a send queue fails while it is modified", modify_race },
	{ "state", "thirty pairs do not mix up messages", thirty },
};

VRB_TOPIC("state", state_cases);
