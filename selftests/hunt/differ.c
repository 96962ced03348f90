// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - differential test: one program, three device types, one outcome
 *
 * Each random program of valid and invalid requests runs on a pair of srnic devices, of
 * srnic_rxe devices through rdma-core's provider, and of rdma_rxe devices.  All must have
 * the same completions, in the same order in each completion queue, the same states and
 * the same memory, except where the specification permits differences, and for the known
 * ones.
 *
 * usage: as the verbs harness; -n programs, -s seed.  Program n of a seed is the first of
 * seed + n.
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "differ.h"

#define TYPES	3
#define SHOWN	20	/* differences that are printed */

static struct type types[TYPES] = {
	{ .name = "srnic" }, { .name = "srnic_rxe" }, { .name = "rxe" },
};

/* ---- comparing ---- */

/* The first records of an epoch that differ; NULL if a run has no more records */
struct difference {
	const struct type	*type;
	const struct epoch	*epoch;
	enum part		part;
	const struct line	*one, *two;
};

static const char *line_text(const struct line *line)
{
	return line ? line->text : "nothing";
}

static bool line_is(const struct line *one, const struct line *two)
{
	return one && two && one->step == two->step && one->index == two->index &&
	       !strcmp(one->text, two->text);
}

static enum place place_of(enum part part)
{
	static const enum place places[PARTS] = {
		IN_POSTING, IN_SENDS, IN_SENDS, IN_RECEIVES, IN_RECEIVES, AT_END,
	};

	return places[part];
}

static enum likeness difference_judge(const struct difference *d)
{
	const struct line *line = d->one ?: d->two;
	const struct request *r = NULL;

	if (line_is(d->one, d->two))
		return ALIKE;
	if (d->one && d->two &&
	    (d->one->step != d->two->step || d->one->index != d->two->index))
		return UNLIKE;
	if (line->step >= 0)
		r = &d->epoch->steps[line->step].req[line->index];
	return difference_known(d->type->name, place_of(d->part), r, line_text(d->one),
				line_text(d->two));
}

static void difference_say(const struct difference *d, int number, __u32 seed)
{
	const struct line *line = d->one ?: d->two;
	static int shown;

	if (shown++ >= SHOWN)
		return;
	printf("# program %u, epoch %d, step %d.%d, record %d: %s: %s; %s: %s\n", seed, number,
	       line->step, line->index, d->part, types[0].name, line_text(d->one),
	       d->type->name, line_text(d->two));
	if (line->step >= 0)
		printf("# %s\n", step_describe(&d->epoch->steps[line->step]));
}

/* Compares a record; *@d is the first difference if they are not alike. */
static enum likeness part_compare(struct difference *d, int number)
{
	const struct outcome *one = &types[0].outcome, *two = &d->type->outcome;
	int n = one->num[number][d->part], m = two->num[number][d->part], i;
	enum likeness how = ALIKE;

	for (i = 0; (i < n || i < m) && how == ALIKE; i++) {
		d->one = i < n ? &one->lines[number][d->part][i] : NULL;
		d->two = i < m ? &two->lines[number][d->part][i] : NULL;
		how = difference_judge(d);
	}
	return how;
}

static bool epoch_compare(struct difference *d, int number, __u32 seed)
{
	enum likeness how = ALIKE;
	bool alike = true;

	for (d->part = 0; d->part < PARTS && how != UNLIKE_AFTER; d->part++) {
		how = part_compare(d, number);
		if (how != UNLIKE)
			continue;
		difference_say(d, number, seed);
		alike = false;
	}
	return alike;
}

/* On the first type, a request that is valid succeeds, whatever the others say. */
static bool valid_succeeds(const struct epoch *epoch, int number, __u32 seed)
{
	const struct outcome *o = &types[0].outcome;
	const struct line *line;
	int part, i;

	for (part = SENDS; part < RECEIVES; part++) {
		for (i = 0; i < o->num[number][part]; i++) {
			line = &o->lines[number][part][i];
			if (line->step < 0 || epoch->steps[line->step].risky ||
			    epoch->steps[line->step].late ||
			    outcome_is_success(line->text))
				continue;
			printf("# program %u, epoch %d, step %d.%d is valid: %s\n", seed, number,
			       line->step, line->index, line->text);
			return false;
		}
	}
	return true;
}

static bool program_compare(const struct program *p, __u32 seed)
{
	struct difference d;
	bool alike = true;
	int number, i;

	for (number = 0; number < p->num; number++)
		alike &= valid_succeeds(&p->epochs[number], number, seed);
	for (i = 1; i < TYPES; i++) {
		for (number = 0; number < p->num && alike; number++) {
			d.type = &types[i];
			d.epoch = &p->epochs[number];
			alike &= epoch_compare(&d, number, seed);
		}
	}
	return alike;
}

/* ---- devices ---- */

static void areas_make(struct type *t, int end)
{
	struct side *s = &t->sides[end];
	enum area area;

	t->other_pd[end] = pd_make(s);
	for (area = 0; area < AREAS; area++) {
		struct mem *m = &t->areas[end][area];

		m->len = AREA_SIZE;
		m->p = map_make(AREA_SIZE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1);
		mem_own(m, area == AREA_OTHER_PD ? t->other_pd[end] : s->pd,
			area_access[area]);
	}
}

static void types_make(void)
{
	char name[16];
	int i, end;

	memcpy(types[0].sides, sides, sizeof(sides));
	for (i = 0; i < TYPES; i++) {
		for (end = 0; end < 2; end++) {
			snprintf(name, sizeof(name), "sr%d@ns%c", 2 * i + end,
				 'A' + 2 * i + end);
			if (i)
				must_be(side_make(&types[i].sides[end], strdup(name), false),
					0);
			areas_make(&types[i], end);
		}
		for (end = 0; end < 2; end++)
			types[i].ah[end] = ah_make(&types[i].sides[end], NULL,
						   &types[i].sides[!end].gid);
	}
}

static void same_outcome(void)
{
	static struct program p;
	int i, t, bad = 0;
	__u32 first = 0;

	types_make();
	for (i = 0; i < rounds; i++) {
		program_make(&p, run_seed + i);
		for (t = 0; t < TYPES; t++)
			program_run(&types[t], &p);
		if (program_compare(&p, run_seed + i))
			continue;
		if (!bad++)
			first = run_seed + i;
	}
	statuses_say();
	known_say();
	if (bad)
		case_fail("%d of %d programs differ; to repeat the first: -n 1 -s %u", bad,
			  rounds, first);
}

static const struct vrb_case differ_cases[] = {
	{ "differ", "the same outcome on each type of device", same_outcome },
};

VRB_CASES(differ_cases);
