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
#define QKEY		0x11223344
#define MAX_SGES	33

/* Completions of each status, of all types */
static long statuses[IBV_WC_TM_RNDV_INCOMPLETE + 1];

/**
 * struct shown - a memory window
 * @old: key that it had before it was bound
 * @base: what to subtract from addresses in it
 */
struct shown {
	struct ibv_mw	*mw;
	__u32		old;
	__u64		base;
};

/**
 * struct run - a running program
 * @windows: by end and number; 0 is none
 * @mr: region of the bind that is being posted
 * @torn: the content of an area is undefined after an error
 * @failed: the first request of the epoch that has failed
 * @late: a completion or a change of state did not come in time
 */
struct run {
	struct type	*type;
	struct program	*program;
	struct epoch	*epoch;
	int		number;
	struct pair	pair;
	struct end	*ends[2];
	struct shown	windows[2][WINDOWS + 1];
	struct ibv_mr	mr;
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
	__u32 key = p->window ? run->windows[end][p->window].mw->rkey : m->mr->lkey;

	return (struct ibv_sge) {
		.addr = (uintptr_t)m->p + p->off,
		.length = p->len,
		.lkey = key ^ p->bad_key,
	};
}

static __u32 rkey_of(struct run *run, int end, const struct piece *p)
{
	const struct shown *shown = &run->windows[end][p->window];
	__u32 key;

	if (!p->window)
		key = run->type->areas[end][p->area].mr->rkey;
	else
		key = p->old_key ? shown->old : shown->mw->rkey;
	return key ^ p->bad_key;
}

static __u64 address_of(struct run *run, int end, const struct piece *p)
{
	const struct mem *m = &run->type->areas[end][p->area];

	return (uintptr_t)m->p + p->off - run->windows[end][p->window].base;
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

static void bind_fill(struct run *run, int end, const struct request *r,
		      struct ibv_send_wr *wr)
{
	wr->bind_mw.mw = run->windows[end][r->window].mw;
	wr->bind_mw.rkey = ibv_inc_rkey(wr->bind_mw.mw->rkey);
	run->mr = *run->type->areas[end][r->target.area].mr;
	run->mr.lkey ^= r->target.bad_key;
	wr->bind_mw.bind_info.mr = &run->mr;
	wr->bind_mw.bind_info.addr = address_of(run, end, &r->target);
	wr->bind_mw.bind_info.length = r->target.len;
	wr->bind_mw.bind_info.mw_access_flags = r->rights;
}

/* From now on, requests use the new key. */
static void bind_note(struct run *run, int end, const struct request *r,
		      const struct ibv_send_wr *wr)
{
	struct shown *shown = &run->windows[end][r->window];

	shown->old = shown->mw->rkey;
	shown->mw->rkey = wr->bind_mw.rkey;
	shown->base = r->rights & IBV_ACCESS_ZERO_BASED ? wr->bind_mw.bind_info.addr : 0;
}

static struct ibv_send_wr send_make(struct run *run, int end, const struct request *r,
				    __u64 id, struct ibv_sge *sges)
{
	int owner = op_is_local(r->op) ? end : !end;
	__u64 addr = address_of(run, owner, &r->target);
	__u32 rkey = rkey_of(run, owner, &r->target);
	struct ibv_send_wr wr = {
		.wr_id = id,
		.opcode = r->op,
		.send_flags = r->flags,
		.imm_data = htobe32(r->imm),
		.sg_list = sges,
		.num_sge = sges_make(run, end, r, run->ends[end]->o.sge, sges),
	};

	if (run->program->kind == KIND_UD) {
		wr.wr.ud.ah = run->type->ah[end];
		wr.wr.ud.remote_qpn = run->ends[!end]->qp->qp_num;
		wr.wr.ud.remote_qkey = QKEY ^ r->bad_qkey;
	} else if (op_is_atomic(r->op)) {
		wr.wr.atomic.remote_addr = addr;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = r->compare;
		wr.wr.atomic.swap = r->swap;
	} else {
		wr.wr.rdma.remote_addr = addr;
		wr.wr.rdma.rkey = rkey;
	}
	if (r->op == IBV_WR_BIND_MW)
		bind_fill(run, end, r, &wr);
	else if (r->op == IBV_WR_LOCAL_INV || r->op == IBV_WR_SEND_WITH_INV)
		wr.invalidate_rkey = rkey;
	return wr;
}

/* A window of type 1 is bound by a verb, which sets its key. */
static int type1_bind(struct run *run, int number, const struct step *step)
{
	struct shown *shown = &run->windows[step->end][TYPE1_WINDOW];
	struct ibv_mw_bind bind = { .wr_id = number * BATCH };
	__u32 key = shown->mw->rkey;
	struct ibv_send_wr wr;

	bind_fill(run, step->end, &step->req[0], &wr);
	bind.send_flags = step->req[0].flags;
	bind.bind_info = wr.bind_mw.bind_info;
	if (ibv_bind_mw(run->ends[step->end]->qp, shown->mw, &bind))
		return 0;
	shown->old = key;
	return 1;
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
	if (step->req[0].op == IBV_WR_BIND_MW)
		bind_note(run, step->end, &step->req[0], &wr[0]);
	return step->num;
}

static int receive_post(struct run *run, int number, const struct step *step)
{
	struct end *e = run->ends[step->end];
	struct ibv_sge sges[MAX_SGES] = {};
	int n = sges_make(run, step->end, step->req, e->o.sge, sges);

	if (e->o.srq)
		return !post_srq(e->o.srq, number * BATCH, sges, n);
	return !post_recv(e, number * BATCH, sges, n);
}

static int step_post(struct run *run, int number, const struct step *step)
{
	int n;

	if (step->receive)
		n = receive_post(run, number, step);
	else if (step->req[0].window == TYPE1_WINDOW)
		n = type1_bind(run, number, step);
	else
		n = sends_post(run, number, step);
	if (n < step->num)
		run_say(run, POSTS, number, n, "refused");
	else
		run_say(run, POSTS, number, 0, "accepted");
	return n;
}

/* ---- completions ---- */

/* Has the message invalidated the key of a window? */
static bool wc_invalidates(struct run *run, int end, const struct ibv_wc *wc)
{
	int w;

	for (w = 1; w <= WINDOWS; w++)
		if (wc->wc_flags & IBV_WC_WITH_INV &&
		    wc->invalidated_rkey == run->windows[end][w].mw->rkey)
			return true;
	return false;
}

/*
 * The fields of a completion that ibv_poll_cq(3) defines: for a receive the immediate data
 * and the invalidated key, for a receive or a READ the length; if it has failed, only the
 * request and the status.
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
	if (!wc->status && received && run->program->kind == KIND_WINDOW)
		run_say(run, part, step, index, wc_invalidates(run, part - RECEIVES, wc) ?
			"key invalidated" : "no key invalidated");
}

/* Immediate data of arrivals; that of other requests is random. */
static bool is_arrival(const struct ibv_wc *wc)
{
	return wc->wc_flags & IBV_WC_WITH_IMM && !wc->imm_data;
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

/* Waits until the end is in ERR, or in SQE. */
static void err_wait(struct run *run, int end)
{
	__u64 bound = 0;

	while (state_of(run->ends[end]) == IBV_QPS_RTS && !run->late)
		run->late = !wait_more(&bound, "state ERR or SQE");
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
	if (step->fatal)
		err_wait(run, !step->end);
}

/*
 * Clears the header of datagrams, which depends on the device.  Call it when none is in
 * flight, as receives may overlap.
 */
static void headers_clear(struct run *run, int end, const __u64 *ids, int num)
{
	int i, j;

	for (i = 0; i < num; i++) {
		const struct request *r = run->epoch->steps[ids[i] / BATCH].req;
		__u32 left = GRH, len;

		for (j = 0; j < r->num; j++) {
			__u8 *p = run->type->areas[end][r->sge[j].area].p;

			len = r->sge[j].len < left ? r->sge[j].len : left;
			memset(p + r->sge[j].off, 0, len);
			left -= len;
		}
	}
}

/*
 * Waits for the receive that the last request of this step takes.  If it is the first, the
 * message before was dropped, perhaps in its middle.
 */
static void arrival_wait(struct run *run, int number, const struct step *step)
{
	const struct step *before = step - 1;
	int peer = !step->end, num = 0;
	__u64 ids[BATCH + 1];
	struct ibv_wc wc;

	do {
		must(num <= BATCH);
		if (!wc_next(run, RECEIVES + peer, run->ends[peer]->rcq, number, &wc))
			return;
		ids[num++] = wc.wr_id;
	} while (!wc.status && !is_arrival(&wc));
	if (wc.status)
		err_wait(run, peer);
	else if (run->program->kind == KIND_UD)
		headers_clear(run, peer, ids, num);
	if (wc.status || (before->risky && op_takes_receive(before->req[0].op) && num == 1))
		tear(run, before, &before->req[0]);
}

static void queue_drain(struct run *run, enum part part, struct ibv_cq *cq)
{
	struct ibv_wc wc;

	while (wc_next(run, part, cq, -1, &wc) && wc.wr_id != MARKER)
		;
}

/*
 * After this event, no more completions of receives are added.  A receive is flushed if the
 * queue pair has taken it for a message that was not complete, which depends on timing.
 */
static void shared_drain(struct run *run, enum part part, struct end *e)
{
	struct ibv_async_event ev;
	struct ibv_wc wc;

	do {
		run->late |= !event_wait(e->side, &ev, BOUND);
	} while (!run->late && (ev.event_type != IBV_EVENT_QP_LAST_WQE_REACHED ||
				ev.element.qp != e->qp));
	while (wc_wait(e->rcq, &wc, 0))
		if (wc.status != IBV_WC_WR_FLUSH_ERR)
			wc_say(run, part, &wc);
}

/* ---- epochs ---- */

/* Return: SGEs that a receive may have. */
static __u32 shared_new(struct end *e)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 64, .max_sge = PIECES } };

	e->o.srq = ibv_create_srq(e->side->pd, &init);
	must(e->o.srq);
	return init.attr.max_sge;
}

static void end_new(struct end *e, struct side *s, const struct program *p)
{
	struct ibv_qp_init_attr init = {
		.qp_type = kind_type(p->kind),
		.sq_sig_all = p->sig_all,
		.cap = {
			.max_send_wr = 64,
			.max_recv_wr = 64,
			.max_send_sge = PIECES,
			.max_recv_sge = PIECES,
			.max_inline_data = INLINE,
		},
	};
	__u32 shared_sge = 0;

	e->side = s;
	e->o = opt_default;
	e->o.type = init.qp_type;
	e->o.rnr_retry = 0;
	e->o.timeout = 18;	/* one second; nothing is lost */
	e->scq = ibv_create_cq(s->ctx, 256, NULL, NULL, 0);
	e->rcq = ibv_create_cq(s->ctx, 256, NULL, NULL, 0);
	must(e->scq && e->rcq);
	if (p->kind == KIND_SRQ)
		shared_sge = shared_new(e);
	init.srq = e->o.srq;
	init.send_cq = e->scq;
	init.recv_cq = e->rcq;
	e->qp = ibv_create_qp(s->pd, &init);
	must(e->qp);
	e->o.sge = init.cap.max_send_sge > init.cap.max_recv_sge ?
		   init.cap.max_send_sge : init.cap.max_recv_sge;
	if (e->o.sge < (int)shared_sge)
		e->o.sge = shared_sge;
}

static void end_free(struct end *e)
{
	must_be(ibv_destroy_qp(e->qp), 0);
	must_be(e->o.srq ? ibv_destroy_srq(e->o.srq) : 0, 0);
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

static void windows_new(struct run *run)
{
	int end, w;

	for (end = 0; end < 2 && run->program->kind == KIND_WINDOW; end++) {
		for (w = 1; w <= WINDOWS; w++) {
			struct shown *shown = &run->windows[end][w];

			*shown = (struct shown) {};
			shown->mw = ibv_alloc_mw(run->type->sides[end].pd,
						 w == TYPE1_WINDOW ? IBV_MW_TYPE_1 :
								     IBV_MW_TYPE_2);
			must(shown->mw);
		}
	}
}

static void windows_free(struct run *run)
{
	int end, w;

	for (end = 0; end < 2 && run->program->kind == KIND_WINDOW; end++)
		for (w = 1; w <= WINDOWS; w++)
			must_be(ibv_dealloc_mw(run->windows[end][w].mw), 0);
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
	windows_new(run);
	for (i = 0; i < 2 && run->program->kind == KIND_UD; i++)
		connect_ud(run->ends[i], QKEY);
	if (run->program->kind != KIND_UD)
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

	run_say(run, ENDS, -1, end, "state %d", state_of(run->ends[end]));
	for (area = 0; area < AREAS; area++) {
		const __u8 *p = run->type->areas[end][area].p;

		for (i = 0; i < PIECES && !run->torn[end][area]; i++)
			run_say(run, ENDS, -1, 0, "%c: area %d, slice %d: %016llx", 'A' + end,
				area, i, memory_hash((void *)(p + i * SLICE), SLICE));
	}
}

static void marker_post(struct run *run, int end)
{
	const struct request r = { .op = IBV_WR_SEND, .flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr wr = send_make(run, end, &r, MARKER, NULL);
	struct end *e = run->ends[end];

	must_be(post_one(e, &wr), 0);
	must_be(e->o.srq ? 0 : post_recv(e, MARKER, NULL, 0), 0);
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
	marker_post(run, 0);
	marker_post(run, 1);
	ends_to(run, IBV_QPS_ERR);
	for (i = 0; i < 2; i++) {
		queue_drain(run, SENDS + i, run->ends[i]->scq);
		if (run->ends[i]->o.srq)
			shared_drain(run, RECEIVES + i, run->ends[i]);
		else
			queue_drain(run, RECEIVES + i, run->ends[i]->rcq);
	}
	windows_free(run);
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
		if (step->arrival && !run->failed && !run->late)
			arrival_wait(run, i, step);
	}
	epoch_end(run);
}

static void ends_new(struct run *run)
{
	int i;

	for (i = 0; i < 2; i++)
		end_new(run->ends[i], &run->type->sides[i], run->program);
}

static void ends_free(struct run *run)
{
	int i;

	for (i = 0; i < 2; i++)
		end_free(run->ends[i]);
}

/* Receives remain in a shared queue, and packets of unreliable messages in the network. */
static bool needs_new_ends(const struct run *run)
{
	if (run->program->kind == KIND_SRQ)
		return true;
	return run->failed && (!kind_is_reliable(run->program->kind) ||
			       reset_is_partial(run->type->name, run->failed));
}

void program_run(struct type *t, struct program *p)
{
	struct run run = { .type = t, .program = p, .ends = { &run.pair.a, &run.pair.b } };

	memset(t->outcome.num, 0, sizeof(t->outcome.num));
	ends_new(&run);
	for (; run.number < p->num && !run.late; run.number++) {
		run.epoch = &p->epochs[run.number];
		epoch_run(&run);
		if (!needs_new_ends(&run))
			continue;
		ends_free(&run);
		ends_new(&run);
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
