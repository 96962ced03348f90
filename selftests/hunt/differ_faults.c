// SPDX-License-Identifier: GPL-2.0
/* srnic selftests - differential test: requests and receives that may fail */
#include "differ_maker.h"

static bool has_length(const struct request *r)
{
	return request_length(r) && !(r->flags & IBV_SEND_INLINE);
}

/* A random SGE of @r that has bytes */
static struct piece *piece_any(struct maker *m, struct request *r)
{
	struct piece *p;

	do {
		p = &r->sge[roll(&m->dice, r->num)];
	} while (!p->len);
	return p;
}

static bool bad_local_key(struct maker *m, struct request *r)
{
	return has_length(r) && (piece_any(m, r)->bad_key = true);
}

static bool bad_local_end(struct maker *m, struct request *r)
{
	struct piece *p;

	if (!has_length(r))
		return false;
	p = piece_any(m, r);
	p->off = AREA_SIZE - roll(&m->dice, p->len);
	return true;
}

static bool bad_local_start(struct maker *m, struct request *r)
{
	return has_length(r) &&
	       (piece_any(m, r)->off = -1 - (int)roll(&m->dice, SLICE));
}

static bool bad_local_domain(struct maker *m, struct request *r)
{
	return has_length(r) && (piece_any(m, r)->area = AREA_OTHER_PD);
}

static bool bad_local_access(struct maker *m, struct request *r)
{
	return has_length(r) && ops[r->op].returns &&
	       (piece_any(m, r)->area = rarely(&m->dice, 2) ? AREA_READ_ONLY :
							      AREA_REMOTE_READ);
}

static bool empty_local_key(struct maker *m, struct request *r)
{
	struct piece *p;

	if (!r->num || ops[r->op].atomic || r->flags & IBV_SEND_INLINE)
		return false;
	p = &r->sge[roll(&m->dice, r->num)];
	p->len = 0;
	p->bad_key = true;
	return true;
}

static bool bad_remote_key(struct maker *m, struct request *r)
{
	(void)m;
	return ops[r->op].access && r->target.len && (r->target.bad_key = true);
}

static bool empty_remote_key(struct maker *m, struct request *r)
{
	(void)m;
	if (!ops[r->op].access || ops[r->op].atomic)
		return false;
	r->num = 0;
	r->target.len = 0;
	return r->target.bad_key = true;
}

static bool bad_remote_end(struct maker *m, struct request *r)
{
	if (!ops[r->op].access || !r->target.len)
		return false;
	r->target.off = AREA_SIZE - roll(&m->dice, r->target.len);
	if (ops[r->op].atomic)
		r->target.off = AREA_SIZE;
	return true;
}

static bool bad_remote_start(struct maker *m, struct request *r)
{
	return ops[r->op].access && r->target.len &&
	       (r->target.off = -8 * (1 + (int)roll(&m->dice, SLICE)));
}

/* any other area, which may be valid, too */
static bool other_remote_area(struct maker *m, struct request *r)
{
	r->target.area = roll(&m->dice, AREAS);
	return ops[r->op].access && r->target.len;
}

static bool odd_address(struct maker *m, struct request *r)
{
	r->target.off += 1 + roll(&m->dice, 7);
	return ops[r->op].atomic && r->target.off <= AREA_SIZE - 8;
}

static bool short_atomic(struct maker *m, struct request *r)
{
	r->sge[0].len = roll(&m->dice, 8);
	return ops[r->op].atomic;
}

static bool not_granted(struct maker *m, struct request *r)
{
	(void)m;
	(void)r;
	return true;
}

/* ---- windows ---- */

/* A window of the peer with all rights that @r needs, as its target */
static const struct request *shown_target(struct maker *m, struct request *r)
{
	int w = window_any(m, !m->end, true), access = ops[r->op].access;
	const struct request *bind = &m->binds[!m->end][w];

	if (!access || !r->target.len || (bind->rights & access) != access)
		return NULL;
	r->target.window = w;
	r->target.area = bind->target.area;
	r->target.off = bind->target.off;
	return bind;
}

static bool past_window(struct maker *m, struct request *r)
{
	const struct request *bind = shown_target(m, r);

	if (!bind)
		return false;
	r->target.off += bind->target.len;
	if (ops[r->op].atomic)
		r->target.off &= ~7;
	else
		r->target.off -= roll(&m->dice, r->target.len);
	return true;
}

static bool before_window(struct maker *m, struct request *r)
{
	if (!shown_target(m, r))
		return false;
	r->target.off -= 8 * (1 + roll(&m->dice, SLICE / 8));
	return true;
}

static bool not_shown(struct maker *m, struct request *r)
{
	int w = window_any(m, !m->end, true), access = ops[r->op].access;
	const struct request *bind = &m->binds[!m->end][w];

	if (!w || !r->target.len || (bind->rights & access) == access)
		return false;
	r->target = bind->target;
	r->target.window = w;
	r->target.len = request_length(r);
	return true;
}

static bool old_window_key(struct maker *m, struct request *r)
{
	int w = 1 + roll(&m->dice, WINDOWS);

	r->target.window = w;
	r->target.old_key = true;
	return ops[r->op].access && r->target.len && m->was_bound[!m->end][w];
}

static bool not_bound(struct maker *m, struct request *r)
{
	r->target.window = window_any(m, !m->end, false);
	return ops[r->op].access && r->target.len && r->target.window;
}

static bool window_as_lkey(struct maker *m, struct request *r)
{
	int w = window_any(m, m->end, true);

	return w && has_length(r) && (piece_any(m, r)->window = w);
}

/* Each of these faults has the same outcome. */
static bool bad_bind(struct maker *m, struct request *r)
{
	int w = 1 + roll(&m->dice, WINDOWS);

	bind_make(m, r, w);
	if (m->binds[m->end][w].window && w != TYPE1_WINDOW)
		return true;
	switch (roll(&m->dice, 7)) {
	case 0:
		r->target.area = AREA_REMOTE_READ;
		return true;
	case 1:
		r->target.area = AREA_READ_ONLY;
		r->rights |= IBV_ACCESS_REMOTE_WRITE;
		return true;
	case 2:
		r->target.off = AREA_SIZE - roll(&m->dice, r->target.len);
		return true;
	case 3:
		r->target.off = -8;
		return true;
	case 4:
		r->target.len = 0;
		return w != TYPE1_WINDOW;
	case 5:
		r->target.area = AREA_OTHER_PD;
		return true;
	default:
		return r->target.bad_key = true;
	}
}

/*
 * A key that cannot be invalidated: that of a region or a window of type 1, or another tag
 * of a window.  rdma_rxe is never asked to invalidate a window that is not bound.
 */
static void bad_name(struct maker *m, struct piece *p)
{
	*p = (struct piece) { .area = roll(&m->dice, AREAS) };
	p->window = roll(&m->dice, 1 + WINDOWS);
	p->bad_key = p->window && p->window != TYPE1_WINDOW;
}

static bool bad_local_inv(struct maker *m, struct request *r)
{
	*r = (struct request) { .op = IBV_WR_LOCAL_INV };
	bad_name(m, &r->target);
	return true;
}

static bool bad_remote_inv(struct maker *m, struct request *r)
{
	bad_name(m, &r->target);
	if (r->op != IBV_WR_SEND)
		return false;
	r->op = IBV_WR_SEND_WITH_INV;
	return true;
}

/* ---- unreliable queue pairs ---- */

static bool read_on_uc(struct maker *m, struct request *r)
{
	(void)m;
	r->flags &= ~IBV_SEND_INLINE;
	r->op = IBV_WR_RDMA_READ;
	return true;
}

static bool write_on_ud(struct maker *m, struct request *r)
{
	(void)m;
	r->flags &= ~IBV_SEND_INLINE;
	r->op = IBV_WR_RDMA_WRITE;
	return true;
}

static bool other_qkey(struct maker *m, struct request *r)
{
	(void)m;
	return r->bad_qkey = true;
}

static bool long_datagram(struct maker *m, struct request *r)
{
	r->num = 2;
	r->sge[0] = (struct piece) { .area = AREA_ALL, .len = SLICE };
	r->sge[1] = (struct piece) { .area = AREA_ALL, .off = SLICE };
	r->sge[1].len = 1 + roll(&m->dice, SLICE);
	r->flags &= ~IBV_SEND_INLINE;
	return true;
}

static bool longer_than_receive(struct maker *m, struct request *r)
{
	int i;

	*r = (struct request) { .op = IBV_WR_SEND };
	r->num = m->kind == KIND_UD ? 1 : PIECES;
	for (i = 0; i < r->num; i++)
		r->sge[i] = (struct piece) { .off = i * SLICE, .len = SLICE };
	return request_length(r) > room_of(m, !m->end);
}

struct fault {
	enum kind	kind;
	const char	*what;
	bool		(*spoil)(struct maker *m, struct request *r);
};

/* Faults of programs of one kind */
static const struct fault more_faults[] = {
	{ KIND_WINDOW, "past the end of a window", past_window },
	{ KIND_WINDOW, "before the start of a window", before_window },
	{ KIND_WINDOW, "right that the window does not give", not_shown },
	{ KIND_WINDOW, "old key of a window", old_window_key },
	{ KIND_WINDOW, "window that is not bound", not_bound },
	{ KIND_WINDOW, "R_Key of a window as L_Key", window_as_lkey },
	{ KIND_WINDOW, "invalid bind", bad_bind },
	{ KIND_WINDOW, "invalidation of another key", bad_local_inv },
	{ KIND_WINDOW, "remote invalidation of another key", bad_remote_inv },
	{ KIND_UC, "READ on UC", read_on_uc },
	{ KIND_UC, "longer than the receive", longer_than_receive },
	{ KIND_UD, "WRITE on UD", write_on_ud },
	{ KIND_UD, "longer than the receive", longer_than_receive },
	{ KIND_UD, "another Q_Key", other_qkey },
	{ KIND_UD, "longer than the MTU", long_datagram },
};

static const struct fault faults[] = {
	{ KIND_RC, "invalid L_Key", bad_local_key },
	{ KIND_RC, "SGE past the end", bad_local_end },
	{ KIND_RC, "SGE before the start", bad_local_start },
	{ KIND_RC, "SGE of another domain", bad_local_domain },
	{ KIND_RC, "SGE without LOCAL_WRITE", bad_local_access },
	{ KIND_RC, "empty SGE with an invalid L_Key", empty_local_key },
	{ KIND_RC, "invalid R_Key", bad_remote_key },
	{ KIND_RC, "no bytes, invalid R_Key", empty_remote_key },
	{ KIND_RC, "past the end", bad_remote_end },
	{ KIND_RC, "before the start", bad_remote_start },
	{ KIND_RC, "any area", other_remote_area },
	{ KIND_RC, "unaligned atomic", odd_address },
	{ KIND_RC, "atomic with a short SGE", short_atomic },
	{ KIND_RC, "any queue pair access", not_granted },
};

static const struct fault *fault_any(struct maker *m)
{
	const struct fault *fault;

	if (m->kind == KIND_RC || m->kind == KIND_SRQ || rarely(&m->dice, 3))
		return &faults[roll(&m->dice, ARRAY_SIZE(faults))];
	do {
		fault = &more_faults[roll(&m->dice, ARRAY_SIZE(more_faults))];
	} while (fault->kind != m->kind);
	return fault;
}

/* Adds one fault only, as the order in which two are found may depend on timing. */
void request_spoil(struct maker *m, struct step *step, __u32 room)
{
	struct request *r = &step->req[0];
	const struct fault *fault;
	int granted;

	do {
		fault = fault_any(m);
		granted = fault->spoil == not_granted ? kind_rights(m->kind) :
							m->epoch->access[!step->end];
		*r = (struct request) {};
		request_make(m, r, granted, room);
	} while (!fault->spoil(m, r));
	if (m->kind == KIND_WINDOW)
		r->flags |= IBV_SEND_SIGNALED;	/* it may succeed on one type only */
	step->what = fault->what;
	step->fatal = r->op == IBV_WR_SEND_WITH_INV;
}

/* Adds a fault to a receive, unless it has no bytes. */
const char *receive_spoil(struct maker *m, struct request *r)
{
	struct piece *p;
	__u32 less;

	if (!request_length(r))
		return "receive without bytes";
	p = piece_any(m, r);
	switch (roll(&m->dice, 5)) {
	case 0:
		p->bad_key = true;
		return "receive with an invalid L_Key";
	case 1:
		p->area = AREA_REMOTE_READ;
		return "receive without LOCAL_WRITE";
	case 2:
		p->area = AREA_OTHER_PD;
		return "receive of another domain";
	case 3:
		p->off = AREA_SIZE - roll(&m->dice, p->len);
		return "receive past the end";
	default:
		less = 1 + roll(&m->dice, p->len);
		if (m->kind != KIND_UD || request_length(r) >= GRH + less)
			p->len -= less;
		return "receive that may be short";
	}
}
