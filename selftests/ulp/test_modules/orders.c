// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - kernel verbs: all orders of what can happen to a region
 *
 * A model with three values says what each step of an order must return.  Where an order has a
 * step that fails, the queue pairs are connected again, and the order goes on: the region is as
 * it was.  Only REG_MR without a list is left out.
 */
#include "kverbs.h"

#define LEN	(PAGE_SIZE + 200)
#define STEPS	4

enum act {
	MAP,
	REG,
	INV,
	SEND_INV,	/* by the peer */
	USE,		/* by the peer: WRITE and READ */
	RENEW,		/* dereg, and another region */
	NUM_ACTS,
};

/**
 * struct model - an order that is executed
 * @link: the connection
 * @region: the region, another one after a deregistration
 * @mem: two lists, which are mapped in turn
 * @maps: number of times that a list was mapped in @region
 * @valid: the region is registered
 */
struct model {
	struct kv_link		*link;
	struct kv_region	*region;
	struct kv_mem		*mem[2];
	unsigned int		maps;
	bool			valid;
};

static void act_map(struct kv *t, struct model *m)
{
	struct kv_mem *mem = m->mem[m->maps++ & 1];

	kv_map(t, m->region, mem, mem->nents);
}

static void act_reg(struct kv *t, struct model *m)
{
	kv_new_key(t, m->region);
	kv_reg(t, &m->link->own, m->region, KV_ALL, m->valid ? KV_MGMT_ERR : IB_WC_SUCCESS);
	if (m->valid)
		kv_restart(t, m->link);
	m->valid = true;
}

static void act_inv(struct kv *t, struct model *m)
{
	kv_inv(t, &m->link->own, m->region->at.key, IB_WC_SUCCESS);
	m->valid = false;
}

static void act_send_inv(struct kv *t, struct model *m)
{
	kv_send_inv(t, m->link, &m->link->peer, m->region->at.key,
		    m->valid ? IB_WC_SUCCESS : IB_WC_REM_ACCESS_ERR);
	if (!m->valid)
		kv_restart(t, m->link);
	m->valid = false;
}

/* @at is not, or no longer, registered. */
static void refused(struct kv *t, struct model *m, const struct kv_target *at)
{
	kv_write(t, &m->link->peer, at, IB_WC_REM_ACCESS_ERR);
	kv_restart(t, m->link);
}

static void act_use(struct kv *t, struct model *m)
{
	if (m->valid)
		kv_access(t, &m->link->peer, &m->region->at);
	else
		refused(t, m, &m->region->at);
}

static void act_renew(struct kv *t, struct model *m)
{
	struct kv_target old = m->region->at;

	kv_dereg(t, m->region);
	refused(t, m, &old);
	m->region = kv_region(t, m->link->own.pd, KV_PAGES);
	m->maps = 0;
	m->valid = false;
}

static void (* const acts[NUM_ACTS])(struct kv *t, struct model *m) = {
	[MAP]		= act_map,
	[REG]		= act_reg,
	[INV]		= act_inv,
	[SEND_INV]	= act_send_inv,
	[USE]		= act_use,
	[RENEW]		= act_renew,
};

static const char * const act_names[NUM_ACTS] = {
	[MAP]		= "map",
	[REG]		= "REG_MR",
	[INV]		= "LOCAL_INV",
	[SEND_INV]	= "SEND with invalidate",
	[USE]		= "access",
	[RENEW]		= "dereg",
};

/* Step @i of order @order, whose steps are the digits of a number */
static enum act act_of(unsigned int order, int i)
{
	while (i--)
		order /= NUM_ACTS;

	return order % NUM_ACTS;
}

/*
 * Is that an order which @all includes?  Each REG_MR needs a list.  If not @all, no step is to
 * be refused, and lists are mapped while the region is free.
 */
static bool is_order(unsigned int order, bool all)
{
	bool listed = false, valid = false;
	int i;

	for (i = 0; i < STEPS; i++) {
		enum act act = act_of(order, i);

		if ((act == REG && !listed) ||
		    (!all && valid && (act == MAP || act == REG)) ||
		    (!all && !valid && (act == USE || act == SEND_INV)))
			return false;
		if (act == MAP || act == RENEW)
			listed = act == MAP;
		if (act != MAP && act != USE)
			valid = act == REG;
	}

	return true;
}

/* Says which order has failed. */
static void name_order(struct kv *t, unsigned int order)
{
	char why[sizeof(t->why)];
	int i, n = 0;

	if (kv_goes_on(t))
		return;

	strscpy(why, t->why, sizeof(why));
	for (i = 0; i < STEPS; i++)
		n += scnprintf(t->why + n, sizeof(t->why) - n, "%s%s", i ? ", " : "",
			       act_names[act_of(order, i)]);
	scnprintf(t->why + n, sizeof(t->why) - n, ": %s", why);
}

static void run_order(struct kv *t, struct model *m, unsigned int order)
{
	int i;

	m->region = kv_region(t, m->link->own.pd, KV_PAGES);
	m->maps = 0;
	m->valid = false;
	t->step = 0;
	for (i = 0; i < STEPS; i++)
		acts[act_of(order, i)](t, m);
	kv_dereg(t, m->region);
	name_order(t, order);
}

/* Every @nth of the orders */
static void run_orders(struct kv *t, bool all, unsigned int nth)
{
	struct kv_link *link = kv_link(t);
	struct model m = {
		.link	= link,
		.mem	= {
			kv_mem(t, link->own.dev, 100, LEN),
			kv_mem(t, link->own.dev, 8, LEN),
		},
	};
	unsigned int order, num = 1, found = 0;
	int i;

	for (i = 0; i < STEPS; i++)
		num *= NUM_ACTS;
	for (order = 0; order < num && kv_goes_on(t); order++)
		if (is_order(order, all) && found++ % nth == 0)
			run_order(t, &m, order);
}

static void granted(struct kv *t)
{
	run_orders(t, false, 1);
}

static void all(struct kv *t)
{
	run_orders(t, true, 1);
}

static void some(struct kv *t)
{
	run_orders(t, true, 5);
}

const struct kv_case kv_orders_cases[] = {
	{ "orders: those of four steps of which none is refused",	granted },
	{ "orders: a fifth of all of four steps",			some },
	{ "orders: all of four steps",					all },
	{}
};
