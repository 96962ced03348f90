// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - differential test: running a program on a pair of devices
 *
 * Requests of a step are posted together, and their completions awaited before the next
 * step.  What the specification defines of the outcome is recorded.
 */
#include <stdarg.h>

#include "differ.h"

#define MARKER		NO_ID	/* ID of the requests that follow those of an epoch */
#define MAX_SGES	33

/* Completions of each status, of all types */
static long statuses[IBV_WC_TM_RNDV_INCOMPLETE + 1];

/**
 * struct run - a running program
 * @torn: the content of an area is undefined after an error
 * @failed: the first request of the epoch that has failed
 * @late: a completion or a change of state did not come in time
 */
struct run {
	struct type	*type;
	struct epoch	*epoch;
	int		number;
	struct pair	pair;
	struct end	*ends[2];
	bool		torn[2][AREAS];
	const struct request *failed;
	bool		late;
};

static void run_say(struct run *run, enum part part, int step, int index,
		    const char *fmt, ...)
{
	struct outcome *o = &run->type->outcome;
	int *num = &o->num[run->number][part];
	struct line *line = &o->lines[run->number][part][*num];
	va_list ap;

	must(++*num <= LINES);
	line->step = step;
	line->index = index;
	va_start(ap, fmt);
	vsnprintf(line->text, sizeof(line->text), fmt, ap);
	va_end(ap);
}

/* ---- posting ---- */

static struct ibv_sge sge_at(struct run *run, int end, const struct piece *p)
{
	const struct mem *m = &run->type->areas[end][p->area];

	return (struct ibv_sge) {
		.addr = (uintptr_t)m->p + p->off,
		.length = p->len,
		.lkey = m->mr->lkey ^ p->bad_key,
	};
}

/* Return: number of SGEs. */
static int sges_make(struct run *run, int end, const struct request *r, int max,
		     struct ibv_sge *sges)
{
	int i;

	must(max < MAX_SGES);
	for (i = 0; i < r->num; i++)
		sges[i] = sge_at(run, end, &r->sge[i]);
	return r->too_many ? max + 1 : r->num;
}

static struct ibv_send_wr send_make(struct run *run, int end, const struct request *r,
				    __u64 id, struct ibv_sge *sges)
{
	const struct mem *m = &run->type->areas[!end][r->target.area];
	__u64 addr = (uintptr_t)m->p + r->target.off;
	__u32 rkey = m->mr->rkey ^ r->target.bad_key;
	struct ibv_send_wr wr = {
		.wr_id = id,
		.opcode = r->op,
		.send_flags = r->flags,
		.imm_data = htobe32(r->imm),
		.sg_list = sges,
		.num_sge = sges_make(run, end, r, run->ends[end]->o.sge, sges),
	};

	if (op_is_atomic(r->op)) {
		wr.wr.atomic.remote_addr = addr;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = r->compare;
		wr.wr.atomic.swap = r->swap;
	} else {
		wr.wr.rdma.remote_addr = addr;
		wr.wr.rdma.rkey = rkey;
	}
	return wr;
}

/* Return: number of accepted requests. */
static int sends_post(struct run *run, int number, const struct step *step)
{
	struct ibv_sge sges[BATCH][MAX_SGES] = {};
	struct ibv_send_wr wr[BATCH], *bad = NULL;
	int i;

	for (i = 0; i < step->num; i++) {
		wr[i] = send_make(run, step->end, &step->req[i], number * BATCH + i,
				  sges[i]);
		if (i)
			wr[i - 1].next = &wr[i];
	}
	if (ibv_post_send(run->ends[step->end]->qp, wr, &bad))
		return bad ? bad - wr : 0;
	return step->num;
}

static int receive_post(struct run *run, int number, const struct step *step)
{
	struct end *e = run->ends[step->end];
	struct ibv_sge sges[MAX_SGES] = {};
	int n = sges_make(run, step->end, step->req, e->o.sge, sges);

	return !post_recv(e, number * BATCH, sges, n);
}

static int step_post(struct run *run, int number, const struct step *step)
{
	int n = step->receive ? receive_post(run, number, step) :
				sends_post(run, number, step);

	if (n < step->num)
		run_say(run, POSTS, number, n, "refused");
	else
		run_say(run, POSTS, number, 0, "accepted");
	return n;
}

/* ---- completions ---- */

/*
 * The fields of a completion that ibv_poll_cq(3) defines: for a receive the immediate data,
 * for a receive or a READ the length; if it has failed, only the request and the status.
 */
static void wc_say(struct run *run, enum part part, const struct ibv_wc *wc)
{
	int step = wc->wr_id / BATCH, index = wc->wr_id % BATCH;
	bool received = wc->opcode & IBV_WC_RECV;
	bool length = received || wc->opcode == IBV_WC_RDMA_READ ||
		      wc->opcode == IBV_WC_COMP_SWAP || wc->opcode == IBV_WC_FETCH_ADD;
	bool imm = received && wc->wc_flags & IBV_WC_WITH_IMM;

	if (wc->status < ARRAY_SIZE(statuses))
		statuses[wc->status]++;
	if (wc->status)
		run_say(run, part, step, index, "%s", ibv_wc_status_str(wc->status));
	else
		run_say(run, part, step, index, "opcode %d, %u bytes, %simmediate %x",
			wc->opcode, length ? wc->byte_len : 0, imm ? "" : "no ",
			imm ? be32toh(wc->imm_data) : 0);
}

static bool area_is_used(const struct request *r, enum area area)
{
	int i;

	for (i = 0; i < r->num; i++)
		if (r->sge[i].area == area)
			return true;
	return false;
}

/* The message may have been written in part, to the buffer of the receive. */
static void tear(struct run *run, const struct step *step, const struct request *r)
{
	enum area area;
	int i;

	run->failed = r;
	for (area = 0; area < AREAS; area++) {
		if (op_returns(r->op) && area_is_used(r, area))
			run->torn[step->end][area] = true;
		if (op_has_target(r->op) && r->target.area == area)
			run->torn[!step->end][area] = true;
		for (i = 0; op_takes_receive(r->op) && i < run->epoch->num; i++)
			if (run->epoch->steps[i].receive &&
			    area_is_used(run->epoch->steps[i].req, area))
				run->torn[!step->end][area] = true;
	}
}

/* Does the peer enter ERR when the requester gets this status? */
static bool status_is_of_peer(enum ibv_wc_status status)
{
	return status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_REM_INV_REQ_ERR ||
	       status == IBV_WC_REM_OP_ERR;
}

static void err_wait(struct run *run, int end)
{
	__u64 bound = 0;

	while (state_of(run->ends[end]) != IBV_QPS_ERR && !run->late)
		run->late = !wait_more(&bound, "state ERR");
}

/* Records the next completion of @cq, or that there is none for @step. */
static bool wc_next(struct run *run, enum part part, struct ibv_cq *cq, int step,
		    struct ibv_wc *wc)
{
	if (!wc_wait(cq, wc, BOUND)) {
		run->late = true;
		run_say(run, part, step, 0, "no completion");
		return false;
	}
	if (wc->wr_id != MARKER)
		wc_say(run, part, wc);
	return true;
}

static void sends_wait(struct run *run, int number, const struct step *step)
{
	__u64 last = number * BATCH + step->num - 1;
	struct ibv_cq *cq = run->ends[step->end]->scq;
	struct ibv_wc wc;

	do {
		if (!wc_next(run, SENDS + step->end, cq, number, &wc))
			return;
		if (!wc.status || run->failed)
			continue;
		tear(run, step, &step->req[wc.wr_id % BATCH]);
		err_wait(run, step->end);
		if (status_is_of_peer(wc.status))
			err_wait(run, !step->end);
	} while (wc.wr_id != last);
}

static void queue_drain(struct run *run, enum part part, struct ibv_cq *cq)
{
	struct ibv_wc wc;

	while (wc_next(run, part, cq, -1, &wc) && wc.wr_id != MARKER)
		;
}

/* ---- epochs ---- */

static void end_new(struct end *e, struct side *s, bool sig_all)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = sig_all,
		.cap = {
			.max_send_wr = 64,
			.max_recv_wr = 64,
			.max_send_sge = PIECES,
			.max_recv_sge = PIECES,
			.max_inline_data = INLINE,
		},
	};

	e->side = s;
	e->o = opt_default;
	e->o.rnr_retry = 0;
	e->o.timeout = 18;	/* one second; nothing is lost */
	e->scq = ibv_create_cq(s->ctx, 256, NULL, NULL, 0);
	e->rcq = ibv_create_cq(s->ctx, 256, NULL, NULL, 0);
	must(e->scq && e->rcq);
	init.send_cq = e->scq;
	init.recv_cq = e->rcq;
	e->qp = ibv_create_qp(s->pd, &init);
	must(e->qp);
	e->o.sge = init.cap.max_send_sge > init.cap.max_recv_sge ?
		   init.cap.max_send_sge : init.cap.max_recv_sge;
}

static void end_free(struct end *e)
{
	must_be(ibv_destroy_qp(e->qp), 0);
	must_be(ibv_destroy_cq(e->scq), 0);
	must_be(ibv_destroy_cq(e->rcq), 0);
}

static void memory_fill(struct type *t)
{
	static __u8 first[2][AREAS][AREA_SIZE];
	enum area area;
	int end;

	for (end = 0; end < 2; end++) {
		for (area = 0; area < AREAS; area++) {
			__u8 *p = first[end][area];

			if (!p[ZEROES]) {
				fill(p, AREA_SIZE, 2 * area + end);
				memset(p, 0, ZEROES);
				p[ZEROES] = 1;
			}
			memcpy(t->areas[end][area].p, p, AREA_SIZE);
		}
	}
}

static void epoch_begin(struct run *run)
{
	int i;

	run->failed = NULL;
	memset(run->torn, 0, sizeof(run->torn));
	memory_fill(run->type);
	for (i = 0; i < 2; i++) {
		run->ends[i]->o.access = run->epoch->access[i];
		run->ends[i]->o.mtu = run->epoch->mtu;
		run->ends[i]->psn = 0x123456 * (i + 1) & 0xffffff;
	}
	connect_pair(&run->pair);
}

/* FNV-1a, by words */
static __u64 memory_hash(const __u64 *words, size_t len)
{
	__u64 hash = 0xcbf29ce484222325ULL;
	size_t i;

	for (i = 0; i < len / sizeof(*words); i++)
		hash = (hash ^ words[i]) * 0x100000001b3ULL;
	return hash;
}

static void ends_say(struct run *run, int end)
{
	enum area area;
	int i;

	run_say(run, ENDS, -1, 0, "%c is in state %d", 'A' + end, state_of(run->ends[end]));
	for (area = 0; area < AREAS; area++) {
		const __u8 *p = run->type->areas[end][area].p;

		for (i = 0; i < PIECES && !run->torn[end][area]; i++)
			run_say(run, ENDS, -1, 0, "%c: area %d, slice %d: %016llx", 'A' + end,
				area, i, memory_hash((void *)(p + i * SLICE), SLICE));
	}
}

static void marker_post(struct end *e)
{
	struct ibv_send_wr wr = wr_of(MARKER, IBV_WR_SEND, NULL, 0);

	must_be(post_one(e, &wr), 0);
	must_be(post_recv(e, MARKER, NULL, 0), 0);
}

static void ends_to(struct run *run, enum ibv_qp_state state)
{
	must_be(to_state(&run->pair.a, state), 0);
	must_be(to_state(&run->pair.b, state), 0);
}

/* A receive that is posted in ERR need not complete before the next change of the state. */
static void epoch_end(struct run *run)
{
	int i;

	for (i = 0; i < 2; i++)
		ends_say(run, i);
	ends_to(run, IBV_QPS_ERR);
	for (i = 0; i < run->epoch->num; i++)
		if (run->epoch->steps[i].late)
			step_post(run, i, &run->epoch->steps[i]);
	marker_post(&run->pair.a);
	marker_post(&run->pair.b);
	ends_to(run, IBV_QPS_ERR);
	for (i = 0; i < 2; i++) {
		queue_drain(run, SENDS + i, run->ends[i]->scq);
		queue_drain(run, RECEIVES + i, run->ends[i]->rcq);
	}
	ends_to(run, IBV_QPS_RESET);
}

static void epoch_run(struct run *run)
{
	int i, n;

	epoch_begin(run);
	for (i = 0; i < run->epoch->num && !run->failed && !run->late; i++) {
		struct step *step = &run->epoch->steps[i];

		if (step->late)
			continue;
		n = step_post(run, i, step);
		if (!step->receive && n == step->num)
			sends_wait(run, i, step);
	}
	epoch_end(run);
}

static void ends_new(struct run *run, bool sig_all)
{
	int i;

	for (i = 0; i < 2; i++)
		end_new(run->ends[i], &run->type->sides[i], sig_all);
}

static void ends_free(struct run *run)
{
	int i;

	for (i = 0; i < 2; i++)
		end_free(run->ends[i]);
}

void program_run(struct type *t, struct program *p)
{
	struct run run = { .type = t, .ends = { &run.pair.a, &run.pair.b } };

	memset(t->outcome.num, 0, sizeof(t->outcome.num));
	ends_new(&run, p->sig_all);
	for (; run.number < p->num && !run.late; run.number++) {
		run.epoch = &p->epochs[run.number];
		epoch_run(&run);
		if (!run.failed || !reset_is_partial(t->name, run.failed))
			continue;
		ends_free(&run);
		ends_new(&run, p->sig_all);
	}
	ends_free(&run);
}

void statuses_say(void)
{
	size_t i;

	printf("# %d programs, their completions:\n", rounds);
	for (i = 0; i < ARRAY_SIZE(statuses); i++)
		if (statuses[i])
			printf("# %8ld %s\n", statuses[i], ibv_wc_status_str(i));
}
