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

static const struct {
	const char	*what;
	bool		(*spoil)(struct maker *m, struct request *r);
} faults[] = {
	{ "invalid L_Key", bad_local_key },
	{ "SGE past the end", bad_local_end },
	{ "SGE before the start", bad_local_start },
	{ "SGE of another domain", bad_local_domain },
	{ "SGE without LOCAL_WRITE", bad_local_access },
	{ "empty SGE with an invalid L_Key", empty_local_key },
	{ "invalid R_Key", bad_remote_key },
	{ "no bytes, invalid R_Key", empty_remote_key },
	{ "past the end", bad_remote_end },
	{ "before the start", bad_remote_start },
	{ "any area", other_remote_area },
	{ "unaligned atomic", odd_address },
	{ "atomic with a short SGE", short_atomic },
	{ "any queue pair access", not_granted },
};

/* Adds one fault only, as the order in which two are found may depend on timing. */
void request_spoil(struct maker *m, struct step *step, __u32 room)
{
	struct request *r = &step->req[0];
	int fault, granted;

	do {
		fault = roll(&m->dice, ARRAY_SIZE(faults));
		granted = faults[fault].spoil == not_granted ? ALL_REMOTE :
							       m->epoch->access[!step->end];
		*r = (struct request) {};
		request_make(m, r, granted, room);
	} while (!faults[fault].spoil(m, r));
	step->what = faults[fault].what;
}

/* Adds a fault to a receive, unless it has no bytes. */
const char *receive_spoil(struct maker *m, struct request *r)
{
	struct piece *p;

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
		p->len -= 1 + roll(&m->dice, p->len);
		return "receive that may be short";
	}
}
