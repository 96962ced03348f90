// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: unreliable connections
 *
 * A send completes when it has been handed to the netdev.  A message arrives
 * completely or not at all: the receive used by a message that was lost in part
 * serves the next.
 */
#include <unistd.h>

#include "vrb.h"

#define LEN	50000

static struct pair p;
static struct mem ma, mb;
static struct ibv_sge sa, sb;

static void setup_srq(struct ibv_srq *srq)
{
	struct opt o = opt_default;

	o.type = IBV_QPT_UC;
	p = (struct pair) {};
	end_make(&p.a, &sides[0], &o);
	o.srq = srq;
	end_make(&p.b, &sides[1], &o);
	connect_pair(&p);
	mem_make(&ma, &sides[0], LEN, FULL_ACCESS);
	mem_make(&mb, &sides[1], LEN, FULL_ACCESS);
	sa = sge_of(&ma, 0, 64);
	sb = sge_of(&mb, 0, LEN);
}

static void setup(void)
{
	setup_srq(NULL);
}

static void post(struct ibv_send_wr *wr)
{
	must_be(post_one(&p.a, wr), 0);
	wc_want(p.a.scq, wr->wr_id, IBV_WC_SUCCESS);
}

/* A SEND of @len bytes of stream @seed takes receive @id. */
static void send_takes(__u64 id, size_t len, __u32 seed)
{
	struct ibv_send_wr wr;
	struct ibv_wc wc;

	fill(ma.p, len, seed);
	sa = sge_of(&ma, 0, len);
	wr = wr_of(seed, IBV_WR_SEND_WITH_IMM, &sa, 1);
	wr.imm_data = htobe32(seed);
	post(&wr);
	wc = wc_want(p.b.rcq, id, IBV_WC_SUCCESS);
	must_be(wc.byte_len, len);
	must_be(be32toh(wc.imm_data), seed);
	must_be(wc.qp_num, p.b.qp->qp_num);
	same(mb.p, len, seed, "a send");
}

static const __u32 sizes[] = { 0, 1, 63, 4095, 4096, 4097, 8192, LEN };

static void sends(void)
{
	size_t i;

	setup();
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		must_be(post_recv(&p.b, i, &sb, 1), 0);
		memset(mb.p, GUARD, LEN);
		send_takes(i, sizes[i], i);
		untouched(mb.p + sizes[i], LEN - sizes[i], "behind it");
	}
}

static void writes(void)
{
	struct ibv_send_wr wr;
	struct ibv_wc wc;
	size_t i;

	setup();
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		fill(ma.p, sizes[i], i);
		memset(mb.p, GUARD, LEN);
		sa = sge_of(&ma, 0, sizes[i]);
		wr = wr_of(i, IBV_WR_RDMA_WRITE, &sa, 1);
		wr_target(&wr, &mb, 0);
		post(&wr);
		/* the receive shows that the WRITE before it has arrived */
		must_be(post_recv(&p.b, i, NULL, 0), 0);
		wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
		wr.imm_data = htobe32(i);
		post(&wr);
		wc = wc_want(p.b.rcq, i, IBV_WC_SUCCESS);
		must_be(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
		must_be(wc.byte_len, sizes[i]);
		must_be(be32toh(wc.imm_data), i);
		same(mb.p, sizes[i], i, "a write");
		untouched(mb.p + sizes[i], LEN - sizes[i], "behind it");
	}
}

/* Once this WRITE has arrived, so have all earlier messages. */
static void arrived(void)
{
	__u8 *last = mb.p + LEN - 1;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	__u64 end = 0;

	ma.p[LEN - 1] = *last + 1;
	sge = sge_of(&ma, LEN - 1, 1);
	wr = wr_of(NO_ID, IBV_WR_RDMA_WRITE, &sge, 1);
	wr_target(&wr, &mb, LEN - 1);
	post(&wr);
	while (__atomic_load_n(last, __ATOMIC_ACQUIRE) != ma.p[LEN - 1])
		wait_turn(&end, "data");
}

/* A message without a receive is dropped silently; a later message finds a receive. */
static void not_ready(void)
{
	struct ibv_send_wr wr;

	setup();
	sa.length = LEN;
	wr = wr_of(1, IBV_WR_SEND, &sa, 1);
	post(&wr);
	arrived();
	must_be(post_recv(&p.b, 2, &sb, 1), 0);
	wc_none(p.b.rcq, 20);
	send_takes(2, LEN, 2);
	must_be(state_of(&p.a), IBV_QPS_RTS);
	must_be(state_of(&p.b), IBV_QPS_RTS);
}

static void too_long(void)
{
	struct ibv_send_wr wr;

	setup();
	sb.length = 5000;
	must_be(post_recv(&p.b, 1, &sb, 1), 0);
	sa.length = 5001;
	wr = wr_of(1, IBV_WR_SEND, &sa, 1);
	post(&wr);
	wc_none(p.b.rcq, 20);
	untouched(mb.p + 5000, LEN - 5000, "behind the receive");
	/* the receive is unchanged, and serves the next message that fits */
	send_takes(1, 5000, 2);
	must_be(state_of(&p.b), IBV_QPS_RTS);
}

/* An invalid WRITE is dropped; both queue pairs stay in RTS. */
static void refused(void)
{
	struct ibv_send_wr wr;
	int i;

	setup();
	for (i = 0; i < 3; i++) {
		sa.length = LEN;
		wr = wr_of(i, IBV_WR_RDMA_WRITE, &sa, 1);
		wr_target(&wr, &mb, i == 1 ? LEN - 64 : 0);
		if (i == 0)
			wr.wr.rdma.rkey ^= 0x55000;
		if (i == 2)
			wr.wr.rdma.remote_addr = ~0ULL - 31;
		post(&wr);
	}
	must_be(post_recv(&p.b, 9, NULL, 0), 0);
	sa.length = 0;
	wr = wr_of(9, IBV_WR_SEND, &sa, 1);
	post(&wr);
	wc_want(p.b.rcq, 9, IBV_WC_SUCCESS);
	untouched(mb.p, LEN, "the region");
	must_be(state_of(&p.b), IBV_QPS_RTS);
}

static void rights(void)
{
	struct ibv_qp_attr attr = { .qp_access_flags = 0 };
	struct ibv_send_wr wr;

	setup();
	must_be(ibv_modify_qp(p.b.qp, &attr, IBV_QP_ACCESS_FLAGS), 0);
	wr = wr_of(1, IBV_WR_RDMA_WRITE, &sa, 1);
	wr_target(&wr, &mb, 0);
	post(&wr);
	must_be(post_recv(&p.b, 2, &sb, 1), 0);
	wc_none(p.b.rcq, 20);
	untouched(mb.p, LEN, "the region");
	send_takes(2, 10, 1);
}

/*
 * An error of the sender stops only its send queue: requests behind it are
 * flushed, receives continue, and RTS enables sending again.
 */
static void queue_error(struct ibv_send_wr *wr, enum ibv_wc_status status)
{
	struct ibv_send_wr behind = wr_of(2, IBV_WR_SEND, NULL, 0);
	struct ibv_send_wr back = wr_of(5, IBV_WR_SEND, NULL, 0);

	must_be(post_recv(&p.a, 5, NULL, 0), 0);
	must_be(post_recv(&p.b, 6, &sb, 1), 0);
	wr->next = &behind;
	must_be(post_one(&p.a, wr), 0);
	wc_want(p.a.scq, wr->wr_id, status);
	wc_want(p.a.scq, 2, IBV_WC_WR_FLUSH_ERR);
	must_be(state_of(&p.a), IBV_QPS_SQE);
	behind.wr_id = 3;
	must_be(post_one(&p.a, &behind), 0);
	wc_want(p.a.scq, 3, IBV_WC_WR_FLUSH_ERR);

	must_be(post_one(&p.b, &back), 0);
	wc_want(p.b.scq, 5, IBV_WC_SUCCESS);
	wc_want(p.a.rcq, 5, IBV_WC_SUCCESS);
	wc_none(p.b.rcq, 5);

	must_be(to_state(&p.a, IBV_QPS_RTS), 0);
	must_be(state_of(&p.a), IBV_QPS_RTS);
	send_takes(6, 9000, 6);
}

static void bad_lkey(void)
{
	struct ibv_send_wr wr;

	setup();
	sa.lkey ^= 0x55000;
	wr = wr_of(1, IBV_WR_SEND, &sa, 1);
	queue_error(&wr, IBV_WC_LOC_PROT_ERR);
}

/* the first packets have been sent when the second SGE fails */
static void bad_lkey_midway(void)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge[2];

	setup();
	sge[0] = sge_of(&ma, 0, 8192);
	sge[1] = sge[0];
	sge[1].lkey ^= 0x55000;
	wr = wr_of(1, IBV_WR_SEND, sge, 2);
	queue_error(&wr, IBV_WC_LOC_PROT_ERR);
}

static void no_such_operation(void)
{
	struct ibv_send_wr wr;

	setup();
	wr = wr_of(1, IBV_WR_RDMA_READ, &sa, 1);
	wr_target(&wr, &mb, 0);
	queue_error(&wr, IBV_WC_LOC_QP_OP_ERR);
}

static void bad_receive(void)
{
	struct ibv_send_wr wr;

	setup();
	sb.lkey ^= 0x55000;
	must_be(post_recv(&p.b, 1, &sb, 1), 0);
	must_be(post_recv(&p.b, 2, &sb, 1), 0);
	wr = wr_of(1, IBV_WR_SEND, &sa, 1);
	post(&wr);
	wc_want(p.b.rcq, 1, IBV_WC_LOC_PROT_ERR);
	wc_want(p.b.rcq, 2, IBV_WC_WR_FLUSH_ERR);
	event_none(&sides[1], IBV_EVENT_QP_FATAL, 20);
	must_be(state_of(&p.b), IBV_QPS_ERR);
	must_be(state_of(&p.a), IBV_QPS_RTS);
}

static void peer_gone(void)
{
	struct ibv_send_wr wr;
	int i;

	setup();
	end_destroy_qp(&p.b);
	for (i = 0; i < 100; i++) {
		wr = wr_of(i, IBV_WR_SEND, &sa, 1);
		post(&wr);
	}
	must_be(state_of(&p.a), IBV_QPS_RTS);
}

static void shared(void)
{
	struct ibv_srq *srq = srq_make(&sides[1], NULL, 8, 1);
	struct ibv_send_wr wr;

	setup_srq(srq);
	sb.length = 100;
	must_be(post_srq(srq, 1, &sb, 1), 0);
	sa.length = 101;
	wr = wr_of(1, IBV_WR_SEND, &sa, 1);
	post(&wr);
	wc_none(p.b.rcq, 10);
	send_takes(1, 100, 1);
	sb.length = LEN;
	must_be(post_srq(srq, 2, &sb, 1), 0);
	send_takes(2, LEN, 2);
	must_be(to_state(&p.b, IBV_QPS_ERR), 0);
	event_want(&sides[1], IBV_EVENT_QP_LAST_WQE_REACHED, p.b.qp);
}

static __u32 soak_len(__u32 n)
{
	return (n * 7919) % (LEN / 4);
}

/*
 * Messages of many sizes over a lossy wire: each completion has the data of one
 * message, and some messages complete.
 */
static void soak(void)
{
	__u32 got = 0, n, imm, slot;
	struct ibv_send_wr wr;
	struct ibv_sge r[4];
	struct ibv_wc wc;
	__u64 end = 0;

	setup();
	for (slot = 0; slot < 4; slot++) {
		r[slot] = sge_of(&mb, slot * (LEN / 4), LEN / 4);
		must_be(post_recv(&p.b, slot, &r[slot], 1), 0);
	}
	for (n = 0; n < (__u32)rounds * 20 || got < (__u32)rounds * 5; n++) {
		/* On a slow machine more is dropped, as receives are posted late. */
		must(n < (__u32)rounds * 20 || wait_more(&end, "messages"));
		fill(ma.p, soak_len(n), n);
		sa = sge_of(&ma, 0, soak_len(n));
		wr = wr_of(n, IBV_WR_SEND_WITH_IMM, &sa, 1);
		wr.imm_data = htobe32(n);
		post(&wr);
		while (wc_wait(p.b.rcq, &wc, n % 32 ? 1 : 30)) {
			must_be(wc.status, IBV_WC_SUCCESS);
			must(wc.wr_id < 4);
			imm = be32toh(wc.imm_data);
			must(imm <= n);
			must_be(wc.byte_len, soak_len(imm));
			same(mb.p + wc.wr_id * (LEN / 4), wc.byte_len, imm,
			     "what arrived");
			must_be(post_recv(&p.b, wc.wr_id, &r[wc.wr_id], 1), 0);
			got++;
			if (imm == n)
				break;
		}
	}
	must_be(state_of(&p.a), IBV_QPS_RTS);
	must_be(state_of(&p.b), IBV_QPS_RTS);
}

static const struct vrb_case uc_cases[] = {
	{ "uc", "SEND of each size", sends },
	{ "uc", "WRITE of each size, with and without immediate", writes },
	{ "uc", "a SEND without a receive is dropped", not_ready },
	{ "uc", "a SEND too long is dropped, its receive stays", too_long },
	{ "uc", "a WRITE to an invalid address is dropped", refused },
	{ "uc", "a WRITE without the access right is dropped", rights },
	{ "uc", "a bad lkey stops only the send queue", bad_lkey },
	{ "uc", "a bad lkey in the middle of a message", bad_lkey_midway },
	{ "uc", "READ is refused", no_such_operation },
	{ "uc", "a bad receive puts the receiver into the error state", bad_receive },
	{ "uc", "a peer that no longer exists is no error", peer_gone },
	{ "uc", "receives of a shared queue", shared },
};

VRB_TOPIC("uc", uc_cases);

static const struct vrb_case soak_cases[] = {
	{ "ucsoak", "messages arrive unmodified", soak },
};

VRB_TOPIC_ALONE("uc", soak_cases);
