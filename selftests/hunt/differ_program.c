// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - differential test: programs
 *
 * The outcome of a program must not depend on timing, so only the first request of the last
 * step of an epoch may be invalid.  Programs avoid what the specification leaves undefined:
 * requests after a READ or an atomic in the same batch have a fence, and the SGEs of a
 * request do not overlap.
 */
#include "differ_maker.h"

const int area_access[AREAS] = {
	[AREA_ALL]		= FULL_ACCESS | IBV_ACCESS_MW_BIND,
	[AREA_READ_ONLY]	= IBV_ACCESS_MW_BIND,
	[AREA_LOCAL]		= IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND,
	[AREA_REMOTE_READ]	= IBV_ACCESS_REMOTE_READ,
	[AREA_REMOTE_WRITE]	= IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
	[AREA_REMOTE_ATOMIC]	= IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC,
	[AREA_OTHER_PD]		= FULL_ACCESS | IBV_ACCESS_MW_BIND,
};

const struct op ops[] = {
	[IBV_WR_SEND]			= { "SEND", 0, true, false, false },
	[IBV_WR_SEND_WITH_IMM]		= { "SEND_WITH_IMM", 0, true, false, false },
	[IBV_WR_RDMA_WRITE]		= { "RDMA_WRITE", IBV_ACCESS_REMOTE_WRITE,
					    false, false, false },
	[IBV_WR_RDMA_WRITE_WITH_IMM]	= { "RDMA_WRITE_WITH_IMM",
					    IBV_ACCESS_REMOTE_WRITE, true, false, false },
	[IBV_WR_RDMA_READ]		= { "RDMA_READ", IBV_ACCESS_REMOTE_READ,
					    false, false, true },
	[IBV_WR_ATOMIC_CMP_AND_SWP]	= { "CMP_AND_SWP", IBV_ACCESS_REMOTE_ATOMIC,
					    false, true, true },
	[IBV_WR_ATOMIC_FETCH_AND_ADD]	= { "FETCH_AND_ADD", IBV_ACCESS_REMOTE_ATOMIC,
					    false, true, true },
	[IBV_WR_LOCAL_INV]		= { .name = "LOCAL_INV", .names = true },
	[IBV_WR_BIND_MW]		= { .name = "BIND_MW", .names = true },
	[IBV_WR_SEND_WITH_INV]		= { .name = "SEND_WITH_INV", .receive = true,
					    .names = true },
};

/* Independent of the rest of the program */
static enum kind kind_of(__u32 seed)
{
	static const enum kind choice[] = {
		KIND_RC, KIND_RC, KIND_SRQ, KIND_WINDOW, KIND_UC, KIND_UD,
	};
	struct dice d = dice_of(seed, 1);

	return choice[roll(&d, ARRAY_SIZE(choice))];
}

static const struct {
	enum ibv_qp_type type;
	int		rights;
} kinds[] = {
	[KIND_RC]	= { IBV_QPT_RC, ALL_REMOTE },
	[KIND_SRQ]	= { IBV_QPT_RC, ALL_REMOTE },
	[KIND_WINDOW]	= { IBV_QPT_RC, ALL_REMOTE },
	[KIND_UC]	= { IBV_QPT_UC, IBV_ACCESS_REMOTE_WRITE },
	[KIND_UD]	= { IBV_QPT_UD, 0 },
};

enum ibv_qp_type kind_type(enum kind kind)
{
	return kinds[kind].type;
}

bool kind_is_reliable(enum kind kind)
{
	return kinds[kind].type == IBV_QPT_RC;
}

int kind_rights(enum kind kind)
{
	return kinds[kind].rights;
}

bool op_takes_receive(enum ibv_wr_opcode op)
{
	return ops[op].receive;
}

bool op_has_target(enum ibv_wr_opcode op)
{
	return ops[op].access;
}

bool op_is_atomic(enum ibv_wr_opcode op)
{
	return ops[op].atomic;
}

bool op_is_local(enum ibv_wr_opcode op)
{
	return ops[op].names && !ops[op].receive;
}

bool op_returns(enum ibv_wr_opcode op)
{
	return ops[op].returns;
}

__u32 request_length(const struct request *r)
{
	__u32 len = 0;
	int i;

	for (i = 0; i < r->num; i++)
		len += r->sge[i].len;
	return len;
}

static __u32 size_any(struct maker *m, __u32 max)
{
	__u32 mtu = 128U << m->epoch->mtu, size;

	switch (roll(&m->dice, 6)) {
	case 0:
		return 0;
	case 1:
		size = roll(&m->dice, INLINE + 1);
		break;
	case 2:
		size = mtu * (1 + roll(&m->dice, 4)) + roll(&m->dice, 3) - 1;
		break;
	case 3:
		size = max;
		break;
	default:
		size = roll(&m->dice, max + 1);
	}
	return size < max ? size : max;
}

static enum area area_with(struct maker *m, int access)
{
	enum area area;

	do {
		area = roll(&m->dice, AREAS);
	} while (area == AREA_OTHER_PD || (area_access[area] & access) != access);
	return area;
}

/* Sets the SGEs of @r, of at most @max bytes. */
static void pieces_make(struct maker *m, struct request *r, __u32 max, int access)
{
	struct dice *d = &m->dice;
	int i;

	r->num = roll(d, PIECES + 1);
	for (i = 0; i < r->num; i++) {
		struct piece *p = &r->sge[i];

		p->area = area_with(m, access);
		p->len = size_any(m, max < SLICE ? max : SLICE);
		p->off = i * SLICE + roll(d, SLICE - p->len + 1);
		max -= p->len;
	}
}

/* ---- windows ---- */

int window_any(struct maker *m, int end, bool bound)
{
	int first = roll(&m->dice, WINDOWS), i, w;

	for (i = 0; i < WINDOWS; i++) {
		w = 1 + (first + i) % WINDOWS;
		if (!!m->binds[end][w].window == bound)
			return w;
	}
	return 0;
}

void bind_make(struct maker *m, struct request *r, int window)
{
	static const enum area areas[] = { AREA_ALL, AREA_LOCAL, AREA_READ_ONLY };
	struct dice *d = &m->dice;

	*r = (struct request) { .op = IBV_WR_BIND_MW, .window = window };
	r->flags = rarely(d, 2) ? IBV_SEND_SIGNALED : 0;
	r->target.area = areas[roll(d, ARRAY_SIZE(areas))];
	r->target.off = 8 * roll(d, SLICE / 8);
	r->target.len = AREA_SIZE - r->target.off - roll(d, 3 * SLICE);
	r->rights = (ALL_REMOTE | IBV_ACCESS_ZERO_BASED) & dice_next(d);
	if (window == TYPE1_WINDOW)
		r->rights &= ~IBV_ACCESS_ZERO_BASED;
	if (r->target.area == AREA_READ_ONLY)
		r->rights &= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ZERO_BASED;
}

/* Takes a window of the peer that permits the request as its target. */
static bool target_show(struct maker *m, struct request *r)
{
	const struct request *bind = m->binds[!m->end];
	__u32 len = request_length(r);
	int access = ops[r->op].access;

	bind += window_any(m, !m->end, true);
	if ((bind->rights & access) != access || bind->target.len < len)
		return false;
	r->target.window = bind->window;
	r->target.area = bind->target.area;
	r->target.off = bind->target.off;
	if (ops[r->op].atomic)
		r->target.off += 8 * roll(&m->dice, bind->target.len / 8);
	else
		r->target.off += roll(&m->dice, bind->target.len - len + 1);
	return true;
}

static void target_make(struct maker *m, struct request *r)
{
	__u32 len = request_length(r);

	r->target.len = len;
	if (m->kind == KIND_WINDOW && roll(&m->dice, 4) && target_show(m, r))
		return;
	r->target.area = area_with(m, ops[r->op].access);
	r->target.off = roll(&m->dice, AREA_SIZE - len + 1);
	if (ops[r->op].atomic)
		r->target.off = 8 * roll(&m->dice, rarely(&m->dice, 2) ? ZEROES / 8 :
								AREA_SIZE / 8);
}

static struct step *step_add(struct maker *m, int end)
{
	struct step *step = &m->epoch->steps[m->epoch->num++];

	step->end = end;
	m->end = end;
	return step;
}

static struct step *receive_add(struct maker *m, int end)
{
	struct step *step = step_add(m, end);
	struct queue *q = &m->queue[end];

	step->receive = true;
	step->num = 1;
	do {
		pieces_make(m, step->req, AREA_SIZE, IBV_ACCESS_LOCAL_WRITE);
	} while (m->kind == KIND_UD && request_length(step->req) < GRH);
	q->room[q->num++] = request_length(step->req);
	return step;
}

/* Adds receives until @end has @num. */
static void receives_add(struct maker *m, int end, int num)
{
	struct queue *q = &m->queue[end];

	while (q->num - q->first < num)
		receive_add(m, end);
}

__u32 room_of(struct maker *m, int end)
{
	__u32 room = m->queue[end].room[m->queue[end].first];

	if (m->kind != KIND_UD)
		return room;
	return room - GRH < DATAGRAM ? room - GRH : DATAGRAM;
}

static enum ibv_wr_opcode op_any(struct maker *m, int granted)
{
	enum ibv_wr_opcode op;

	do {
		op = roll(&m->dice, IBV_WR_ATOMIC_FETCH_AND_ADD + 1);
	} while (!ops[op].name || (ops[op].access & granted) != ops[op].access);
	return op;
}

void request_make(struct maker *m, struct request *r, int granted, __u32 room)
{
	struct dice *d = &m->dice;
	int access;

	r->op = op_any(m, granted);
	access = ops[r->op].returns ? IBV_ACCESS_LOCAL_WRITE : 0;
	r->flags = roll(d, 4) ? IBV_SEND_SIGNALED : 0;
	r->flags |= roll(d, 8) ? 0 : IBV_SEND_FENCE;
	r->flags |= roll(d, 8) ? 0 : IBV_SEND_SOLICITED;
	r->imm = dice_next(d);
	r->compare = roll(d, 2);
	r->swap = dice_next(d);
	if (ops[r->op].atomic) {
		r->num = 1;
		r->sge[0] = (struct piece) { .area = area_with(m, access), .len = 8 };
		r->sge[0].off = 8 * roll(d, AREA_SIZE / 8);
	} else if (!ops[r->op].access) {
		pieces_make(m, r, room, access);
	} else {
		pieces_make(m, r, AREA_SIZE, access);
	}
	if (ops[r->op].access)
		target_make(m, r);
	if (!ops[r->op].returns && request_length(r) <= INLINE && rarely(d, 2))
		r->flags |= IBV_SEND_INLINE;
}

/* Adds requests that succeed to the batch; only the first may take a receive. */
static void batch_fill(struct maker *m, struct step *step, int num, int granted)
{
	bool fence = false;

	for (; granted && step->num < num; step->num++) {
		struct request *r = &step->req[step->num];

		if (step->num)
			fence |= ops[r[-1].op].returns;
		do {
			*r = (struct request) {};
			request_make(m, r, granted, 0);
		} while (ops[r->op].receive);
		if (fence)
			r->flags |= IBV_SEND_FENCE;
	}
	step->req[step->num - 1].flags |= IBV_SEND_SIGNALED;
}

/* Adds datagrams that succeed to the batch; one receive remains. */
static void datagrams_fill(struct maker *m, struct step *step, int num)
{
	struct queue *q = &m->queue[!step->end];

	for (; step->num < num && q->num - q->first > 1; step->num++) {
		request_make(m, &step->req[step->num], 0, room_of(m, !step->end));
		q->first++;
	}
	step->req[step->num - 1].flags |= IBV_SEND_SIGNALED;
}

/*
 * Adds a message that arrives after those before have arrived or been dropped.  On UC an
 * empty WRITE precedes it: after a message that rdma_rxe has dropped in its middle, it also
 * drops the first packet of the next.
 */
static void arrival_add(struct maker *m, int end)
{
	struct step *step = step_add(m, end);
	struct request *r = step->req;

	if (m->kind == KIND_UC)
		r++->op = IBV_WR_RDMA_WRITE;
	r->op = IBV_WR_SEND_WITH_IMM;
	r->flags = IBV_SEND_SIGNALED;
	step->arrival = true;
	step->num = r - step->req + 1;
	m->queue[!end].first++;
}

/* Adds a SEND to @end that is to invalidate, and a receive unless there is one. */
static struct step *remote_inv_add(struct maker *m, int end)
{
	struct request *r;
	struct step *step;

	receives_add(m, end, 1);
	step = step_add(m, !end);
	r = &step->req[0];
	r->op = IBV_WR_SEND_WITH_INV;
	pieces_make(m, r, room_of(m, end), 0);
	m->queue[end].first++;
	if (request_length(r) <= INLINE && rarely(&m->dice, 2))
		r->flags |= IBV_SEND_INLINE;
	return step;
}

/* Binds the window of type 1, bound or not, or unbinds it. */
static void type1_bind_add(struct maker *m, int end)
{
	struct step *step = step_add(m, end);
	struct request *r = &step->req[0], *bind = &m->binds[end][TYPE1_WINDOW];

	bind_make(m, r, TYPE1_WINDOW);
	r->flags = IBV_SEND_SIGNALED;
	m->was_bound[end][TYPE1_WINDOW] = true;
	step->num = 1;
	*bind = *r;
	if (rarely(&m->dice, 4)) {
		r->target.len = 0;
		bind->window = 0;
		bind->rights = 0;
	}
}

/* Binds a window, or invalidates it if it is bound. */
static void window_add(struct maker *m)
{
	int end = roll(&m->dice, 2), w = 1 + roll(&m->dice, WINDOWS);
	struct request *bind = &m->binds[end][w];
	struct step *step;

	if (w == TYPE1_WINDOW) {
		type1_bind_add(m, end);
		return;
	}
	if (!bind->window) {
		step = step_add(m, end);
		bind_make(m, &step->req[0], w);
		*bind = step->req[0];
		m->was_bound[end][w] = true;
	} else {
		if (rarely(&m->dice, 2)) {
			step = remote_inv_add(m, end);
		} else {
			step = step_add(m, end);
			step->req[0].op = IBV_WR_LOCAL_INV;
		}
		step->req[0].target.window = w;
		*bind = (struct request) {};
	}
	step->num = 1;
	batch_fill(m, step, 1 + roll(&m->dice, BATCH), m->epoch->access[!step->end]);
}

static void batch_add(struct maker *m)
{
	int end = roll(&m->dice, 2), num = 1 + roll(&m->dice, BATCH);
	int receives = m->kind == KIND_UD ? num : 1;
	struct queue *q = &m->queue[!end];
	struct step *step;

	if (!kind_is_reliable(m->kind))
		receives++;	/* for the arrival */
	receives_add(m, !end, receives);
	step = step_add(m, end);
	request_make(m, &step->req[0], m->epoch->access[!end], room_of(m, !end));
	q->first += ops[step->req[0].op].receive;
	step->num = 1;
	if (m->kind == KIND_UD)
		datagrams_fill(m, step, num);
	else
		batch_fill(m, step, num, m->epoch->access[!end]);
	if (!kind_is_reliable(m->kind))
		arrival_add(m, end);
}

/*
 * A message for a receive that may be invalid or missing.  RC reports a message that is too
 * long and a receive that is invalid; otherwise it has one fault only.
 */
static void risky_message(struct maker *m, struct step *step, const char *what)
{
	__u32 room = kind_is_reliable(m->kind) ? AREA_SIZE : room_of(m, !step->end);
	struct request *r = &step->req[0];

	step->what = what;
	do {
		*r = (struct request) {};
		request_make(m, r, m->epoch->access[!step->end], room);
	} while (!ops[r->op].receive);
}

/*
 * Adds an invalid receive, or none, if there is no other.  Return: its fault.  A message
 * without a receive may find one that is posted later, unless it has been answered.
 */
static const char *risky_receive(struct maker *m, int end)
{
	struct queue *q = &m->queue[end];

	if (q->first < q->num || !roll(&m->dice, 3))
		return NULL;
	if (!roll(&m->dice, 4) && kind_is_reliable(m->kind))
		return "no receive";
	return receive_spoil(m, receive_add(m, end)->req);
}

static void risky_add(struct maker *m)
{
	int end = roll(&m->dice, 2), num = 1 + roll(&m->dice, BATCH);
	const char *what = risky_receive(m, !end);
	struct queue *q = &m->queue[!end];
	struct step *step;

	if (!kind_is_reliable(m->kind))
		receives_add(m, !end, 2);
	step = step_add(m, end);
	step->risky = true;
	if (what) {
		risky_message(m, step, what);
	} else if (q->first == q->num) {
		do {
			request_spoil(m, step, 0);
		} while (ops[step->req[0].op].receive);
	} else {
		request_spoil(m, step, room_of(m, !end));
	}
	step->num = 1;
	if (step->fatal || step->req[0].window == TYPE1_WINDOW)
		num = 1;
	batch_fill(m, step, num, m->epoch->access[!end]);
	if (!kind_is_reliable(m->kind))
		arrival_add(m, end);
}

/* A request that is refused when it is posted */
static void refused_add(struct maker *m)
{
	struct step *step = step_add(m, roll(&m->dice, 2));

	step->num = 1;
	step->receive = rarely(&m->dice, 3);
	step->what = "refused";
	request_make(m, &step->req[0], kind_rights(m->kind), AREA_SIZE);
	step->req[0].too_many = true;
}

/* Requests posted in ERR, which are flushed */
static void late_add(struct maker *m)
{
	struct step *step = step_add(m, roll(&m->dice, 2));

	step->late = true;
	step->receive = rarely(&m->dice, 2);
	step->num = step->receive ? 1 : 1 + roll(&m->dice, BATCH);
	request_make(m, &step->req[0], kind_rights(m->kind), AREA_SIZE);
	if (!step->receive) {
		int num = step->num;

		step->num = 1;
		batch_fill(m, step, num, kind_rights(m->kind));
	}
}

static void epoch_make(struct maker *m)
{
	struct dice *d = &m->dice;
	int i, n;

	memset(m->queue, 0, sizeof(m->queue));
	memset(m->binds, 0, sizeof(m->binds));
	memset(m->was_bound, 0, sizeof(m->was_bound));
	m->epoch->mtu = IBV_MTU_256 + roll(d, 5);
	for (i = 0; i < 2; i++) {
		m->epoch->access[i] = roll(d, 3) ? ALL_REMOTE : ALL_REMOTE & dice_next(d);
		m->epoch->access[i] &= kind_rights(m->kind);
	}
	for (n = roll(d, 7) + (m->kind == KIND_WINDOW ? 4 : 0); n > 0; n--) {
		if (rarely(d, 5))
			receive_add(m, roll(d, 2));
		else if (rarely(d, 8))
			refused_add(m);
		else if (m->kind == KIND_WINDOW && roll(d, 3))
			window_add(m);
		else
			batch_add(m);
	}
	if (roll(d, 4))
		risky_add(m);
	for (n = roll(d, 3); n > 0; n--)
		late_add(m);
}

void program_make(struct program *p, __u32 seed)
{
	struct maker m = { .dice = dice_of(seed, 0), .kind = kind_of(seed) };
	int i;

	*p = (struct program) {
		.kind = m.kind,
		.sig_all = rarely(&m.dice, 4),
		.num = 1 + roll(&m.dice, EPOCHS),
	};
	for (i = 0; i < p->num; i++) {
		m.epoch = &p->epochs[i];
		epoch_make(&m);
	}
}

/* ---- their description ---- */

static void piece_describe(FILE *f, const struct piece *p)
{
	static const char * const names[AREAS] = {
		"all", "read-only", "local", "remote-read", "remote-write",
		"remote-atomic", "other-pd",
	};

	if (p->window)
		fprintf(f, " %swindow %d", p->old_key ? "old " : "", p->window);
	fprintf(f, " %s%+d:%u%s", names[p->area], p->off, p->len, p->bad_key ? "!" : "");
}

static void request_describe(FILE *f, const struct request *r, bool receive)
{
	int i;

	fprintf(f, " %s", receive ? "receive" : ops[r->op].name);
	if (r->flags & IBV_SEND_INLINE)
		fprintf(f, " inline");
	if (r->flags & IBV_SEND_FENCE)
		fprintf(f, " fence");
	if (r->bad_qkey)
		fprintf(f, " Q_Key!");
	for (i = 0; i < r->num; i++)
		piece_describe(f, &r->sge[i]);
	if (!receive && r->window)
		fprintf(f, " window %d rights %x", r->window, r->rights);
	if (!receive && (ops[r->op].access || ops[r->op].names)) {
		fprintf(f, " to");
		piece_describe(f, &r->target);
	}
}

const char *step_describe(const struct step *step)
{
	static char text[1024];
	FILE *f = fmemopen(text, sizeof(text), "w");
	int i;

	must(f);
	fprintf(f, "%c", 'A' + step->end);
	if (step->late)
		fprintf(f, " in ERR");
	if (step->what)
		fprintf(f, " (%s)", step->what);
	for (i = 0; i < step->num; i++) {
		fprintf(f, "%s", i ? "," : "");
		request_describe(f, &step->req[i], step->receive);
	}
	fclose(f);
	return text;
}
