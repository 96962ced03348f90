// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - kernel verbs: completion queues of each kind, queue pairs in error, and
 * deregistration while a peer is using the region
 */
#include <linux/cpumask.h>
#include <linux/sched.h>

#include "kverbs.h"

#define LEN	(3 * PAGE_SIZE)
#define IN_FLIGHT	48
#define WRITES		(IN_FLIGHT + 1)	/* and one that finds no region */

/* All that the other cases do, polled in the context @poll */
static void polled(struct kv *t, enum ib_poll_context poll)
{
	struct kv_link *link = kv_connect(t, kv_pd(t, t->dev[0]), kv_pd(t, t->dev[1]), poll);
	struct kv_mem *mem = kv_mem(t, link->own.dev, 100, LEN);
	struct kv_region *region = kv_region(t, link->own.pd, KV_PAGES);
	int i;

	for (i = 0; i < 20; i++) {
		kv_register(t, &link->own, region, mem, KV_ALL);
		kv_access(t, &link->peer, &region->at);
		kv_send(t, link, &link->own, IB_WC_SUCCESS);
		kv_send_inv(t, link, &link->peer, region->at.key, IB_WC_SUCCESS);
	}
	kv_write(t, &link->peer, &region->at, IB_WC_REM_ACCESS_ERR);
	kv_restart(t, link);
	kv_register(t, &link->own, region, mem, KV_ALL);
	kv_access(t, &link->peer, &region->at);
}

static void direct(struct kv *t)
{
	polled(t, IB_POLL_DIRECT);
}

static void softirq(struct kv *t)
{
	polled(t, IB_POLL_SOFTIRQ);
}

static void workqueue(struct kv *t)
{
	polled(t, IB_POLL_WORKQUEUE);
}

static void unbound(struct kv *t)
{
	polled(t, IB_POLL_UNBOUND_WORKQUEUE);
}

/* Executes a local operation on @cpu, which completes it there. */
static void placed_on(struct kv *t, struct kv_end *end, unsigned int cpu)
{
	struct ib_send_wr wr = {
		.opcode	= IB_WR_LOCAL_INV,
		.ex	= { .invalidate_rkey = kv_region(t, end->pd, 1)->at.key },
	};
	struct kv_op *op = kv_op(t, end);

	if (set_cpus_allowed_ptr(current, cpumask_of(cpu))) {
		kv_fail(t, "no CPU %u for this thread", cpu);
		return;
	}
	kv_signal(op, &wr);
	kv_post(t, end, &wr);
	kv_done(t, "LOCAL_INV", op, IB_WC_SUCCESS);
	if (op->cpu != cpu)
		kv_fail(t, "a completion of CPU %u was polled on CPU %u", cpu, op->cpu);
}

/* The vector of the queue does not matter. */
static void placed(struct kv *t)
{
	struct kv_link *link = kv_connect(t, kv_pd(t, t->dev[0]), kv_pd(t, t->dev[1]),
					  IB_POLL_SOFTIRQ);
	cpumask_var_t before;

	if (!alloc_cpumask_var(&before, GFP_KERNEL)) {
		kv_fail(t, "no memory");
		return;
	}
	cpumask_copy(before, current->cpus_ptr);
	placed_on(t, &link->own, cpumask_first(cpu_online_mask));
	placed_on(t, &link->own, cpumask_last(cpu_online_mask));
	set_cpus_allowed_ptr(current, before);
	free_cpumask_var(before);
}

/* Posts all of a receive queue but the entry that the drain takes, and flushes it. */
static void full_drain(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_op *op[KV_DEPTH - 1];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(op); i++)
		op[i] = kv_post_recv(t, &link->own);
	kv_drain(t, link);
	for (i = 0; i < ARRAY_SIZE(op) && kv_goes_on(t); i++) {
		if (!kv_is_done(op[i]))
			kv_fail(t, "receive %zu has no completion after the drain", i);
		kv_done(t, "a receive", op[i], IB_WC_WR_FLUSH_ERR);
	}
	kv_restart(t, link);
	kv_send(t, link, &link->peer, IB_WC_SUCCESS);
}

/* What is posted in the error state is flushed and not executed. */
static void flushed(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_mem *mem = kv_mem(t, link->own.dev, 100, LEN);
	struct kv_region *region = kv_region(t, link->own.pd, KV_PAGES);

	kv_map(t, region, mem, mem->nents);
	kv_error(t, link);
	kv_reg(t, &link->own, region, KV_ALL, IB_WC_WR_FLUSH_ERR);
	kv_restart(t, link);
	/* It is free: it would be refused otherwise. */
	kv_reg(t, &link->own, region, KV_ALL, IB_WC_SUCCESS);
	kv_error(t, link);
	kv_inv(t, &link->own, region->at.key, IB_WC_WR_FLUSH_ERR);
	kv_restart(t, link);
	kv_access(t, &link->peer, &region->at);
}

/* The peer WRITEs to the region, @num times and all at once. */
static void write_much(struct kv *t, struct kv_link *link, struct kv_region *region,
		       struct kv_op **op, int num)
{
	struct ib_sge sge = kv_sge(&link->peer, LEN);
	struct ib_rdma_wr *wr = t->wr;
	int i;

	for (i = 0; i < num; i++) {
		op[i] = kv_op(t, &link->peer);
		wr[i] = kv_rdma_wr(IB_WR_RDMA_WRITE, &region->at, &sge);
		kv_signal(op[i], &wr[i].wr);
		wr[i].wr.next = i + 1 < num ? &wr[i + 1].wr : NULL;
	}
	kv_post(t, &link->peer, &wr[0].wr);
}

/*
 * They end in order: those that were executed, one with status @refused, and those that were
 * flushed behind it.  The last of them was posted when the region was gone.
 */
static void ended(struct kv *t, struct kv_op **op, enum ib_wc_status refused)
{
	enum ib_wc_status status, last = IB_WC_SUCCESS;
	int i;

	for (i = 0; i < WRITES && kv_goes_on(t); i++) {
		status = kv_await(t, "WRITE", op[i]);
		if (last == IB_WC_SUCCESS ? status != IB_WC_SUCCESS && status != refused :
					    status != IB_WC_WR_FLUSH_ERR)
			kv_fail(t, "WRITE %d: %s, after %s", i, ib_wc_status_msg(status),
				ib_wc_status_msg(last));
		last = status;
	}
	if (last == IB_WC_SUCCESS)
		kv_fail(t, "a WRITE succeeds without a region");
}

/* The WRITEs end with @refused once the region is gone, and none comes after that. */
static void dereg_in_use(struct kv *t, bool error, enum ib_wc_status refused)
{
	struct kv_link *link = kv_link(t);
	struct kv_mem *mem = kv_mem(t, link->own.dev, 100, LEN);
	struct kv_op *op[WRITES];
	struct kv_region *region;
	int i;

	for (i = 0; i < 10; i++) {
		region = kv_region(t, link->own.pd, KV_PAGES);
		kv_register(t, &link->own, region, mem, KV_ALL);
		write_much(t, link, region, op, IN_FLIGHT);
		if (error)
			kv_error(t, link);
		kv_dereg(t, region);
		if (kv_goes_on(t))
			kv_blank(mem);
		write_much(t, link, region, op + IN_FLIGHT, 1);
		ended(t, op, refused);
		kv_restart(t, link);
		kv_check(t, &(struct kv_target) { .mem = mem }, 0);
	}
}

/* As consumers do it: the queue pair is in error before the region goes. */
static void dereg_error(struct kv *t)
{
	dereg_in_use(t, true, IB_WC_WR_FLUSH_ERR);
}

/* Nothing warns the peer. */
static void dereg_alive(struct kv *t)
{
	dereg_in_use(t, false, IB_WC_REM_ACCESS_ERR);
}

/*
 * Once LOCAL_INV is complete nothing more arrives.  It is flushed if a WRITE is refused, and
 * with it the queue pair, while it waits for the end of an earlier one.
 */
static void inv_alive(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_mem *mem = kv_mem(t, link->own.dev, 100, LEN);
	struct kv_op *op[WRITES], *inv;
	struct kv_region *region;
	int i, status;

	for (i = 0; i < 10; i++) {
		struct ib_send_wr wr = {
			.opcode = IB_WR_LOCAL_INV,
		};

		region = kv_region(t, link->own.pd, KV_PAGES);
		kv_register(t, &link->own, region, mem, KV_ALL);
		write_much(t, link, region, op, IN_FLIGHT);
		inv = kv_op(t, &link->own);
		kv_signal(inv, &wr);
		wr.ex.invalidate_rkey = region->at.key;
		kv_post(t, &link->own, &wr);
		status = kv_await(t, "LOCAL_INV", inv);
		if (status != IB_WC_WR_FLUSH_ERR)
			kv_want(t, "LOCAL_INV", status, IB_WC_SUCCESS);
		if (kv_goes_on(t))
			kv_blank(mem);
		write_much(t, link, region, op + IN_FLIGHT, 1);
		/* A WRITE is refused, whether LOCAL_INV was flushed or not. */
		ended(t, op, IB_WC_REM_ACCESS_ERR);
		if (status == IB_WC_SUCCESS)
			kv_check(t, &(struct kv_target) { .mem = mem }, 0);
		kv_restart(t, link);
		kv_dereg(t, region);
	}
}

const struct kv_case kv_queue_cases[] = {
	{ "CQ: polled directly",				direct },
	{ "CQ: softirq",					softirq },
	{ "CQ: workqueue",					workqueue },
	{ "CQ: unbound workqueue",				unbound },
	{ "CQ: polled where completions are written",		placed },
	{ "error: a drain flushes a full receive queue",	full_drain },
	{ "error: REG_MR and LOCAL_INV are flushed",		flushed },
	{ "in use: dereg after the queue pair's error",		dereg_error },
	{ "in use: dereg of a region that a peer WRITEs to",	dereg_alive },
	{ "in use: LOCAL_INV of a region that a peer WRITEs to", inv_alive },
	{}
};
