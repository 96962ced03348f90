// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - kernel verbs: completion queues of each kind, queue pairs in error, and
 * deregistration while a peer is using the region
 */
#include <linux/atomic.h>
#include <linux/bottom_half.h>
#include <linux/cpumask.h>
#include <linux/kthread.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include "kverbs.h"

#define LEN	(3 * PAGE_SIZE)
#define IN_FLIGHT	48
#define WRITES		(IN_FLIGHT + 1)	/* and one that finds no region */
#define CHAIN		1000		/* of KV_BYTES: several times what one softirq may do */

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

/* Has this thread run on @cpu. */
static void run_on(struct kv *t, unsigned int cpu)
{
	if (set_cpus_allowed_ptr(current, cpumask_of(cpu)))
		kv_fail(t, "no CPU %u for this thread", cpu);
}

/* Calls @move, which has this thread run on other CPUs, with an end that is polled in a softirq. */
static void elsewhere(struct kv *t, void (*move)(struct kv *t, struct kv_end *end))
{
	struct kv_link *link = kv_connect(t, kv_pd(t, t->dev[0]), kv_pd(t, t->dev[1]),
					  IB_POLL_SOFTIRQ);
	cpumask_var_t before;

	if (!kv_goes_on(t))
		return;
	if (!alloc_cpumask_var(&before, GFP_KERNEL)) {
		kv_fail(t, "no memory");
		return;
	}
	cpumask_copy(before, current->cpus_ptr);
	move(t, &link->own);
	set_cpus_allowed_ptr(current, before);
	free_cpumask_var(before);
}

/* Executes @num local operations before they can be polled: on @cpu, if this thread runs there. */
static void load(struct kv *t, struct kv_end *end, size_t num, unsigned int cpu)
{
	struct ib_send_wr wr[4] = { };
	struct kv_op *op[ARRAY_SIZE(wr)];
	struct kv_region *region;
	size_t i;

	for (i = 0; i < num; i++) {
		region = kv_region(t, end->pd, 1);
		if (!kv_goes_on(t))
			return;
		wr[i].opcode = IB_WR_LOCAL_INV;
		wr[i].ex.invalidate_rkey = region->at.key;
		wr[i].next = i + 1 < num ? &wr[i + 1] : NULL;
		op[i] = kv_op(t, end);
		kv_signal(op[i], &wr[i]);
	}
	local_bh_disable();
	kv_post(t, end, wr);
	local_bh_enable();
	for (i = 0; i < num; i++) {
		kv_done(t, "LOCAL_INV", op[i], IB_WC_SUCCESS);
		if (op[i]->cpu != cpu)
			kv_fail(t, "%zu was polled on CPU %u instead of %u", i, op[i]->cpu, cpu);
	}
}

/* The vector of the queue does not matter. */
static void place(struct kv *t, struct kv_end *end)
{
	const unsigned int cpus[] = { cpumask_first(cpu_online_mask),
				      cpumask_last(cpu_online_mask) };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cpus); i++) {
		run_on(t, cpus[i]);
		load(t, end, 1, cpus[i]);
	}
}

static void placed(struct kv *t)
{
	elsewhere(t, place);
}

/* The vector of the queue is the first CPU.  Before the first burst the queue is not loaded. */
static void burst(struct kv *t, struct kv_end *end)
{
	unsigned int vector = cpumask_first(cpu_possible_mask);
	unsigned int cpu = cpumask_last(cpu_online_mask);

	if (cpu == vector || !cpu_online(vector)) {
		t->note = "the CPU of the vector is the only one, or offline";
		return;
	}
	run_on(t, cpu);
	load(t, end, 4, cpu);
	load(t, end, 4, vector);
}

static void loaded(struct kv *t)
{
	elsewhere(t, burst);
}

/**
 * struct nested - two queue pairs in error with a queue that has a handler of its own
 * @qp: the two
 * @left: receives that the handler posts
 * @done: it has been called after the last one
 * @busy: it is running
 * @overlaps: calls of it meanwhile
 */
struct nested {
	struct ib_qp		*qp[2];
	atomic_t		left;
	struct completion	done;
	atomic_t		busy;
	atomic_t		overlaps;
};

/* A receive is flushed at once. */
static int nested_flush(struct ib_qp *qp)
{
	struct ib_recv_wr wr = { };

	return ib_post_recv(qp, &wr, NULL);
}

/* Asks for the next event, and causes it. */
static void nested_handler(struct ib_cq *cq, void *context)
{
	struct nested *nested = context;
	int left = atomic_dec_return(&nested->left);

	if (atomic_xchg(&nested->busy, 1))
		atomic_inc(&nested->overlaps);
	ib_req_notify_cq(cq, IB_CQ_NEXT_COMP);
	if (left >= 0)
		nested_flush(nested->qp[left & 1]);
	else
		complete(&nested->done);
	atomic_set(&nested->busy, 0);
}

static struct ib_qp *nested_qp(struct kv *t, struct ib_pd *pd, struct ib_cq *cq)
{
	struct ib_qp_init_attr init = {
		.qp_type	= IB_QPT_RC,
		.send_cq	= cq,
		.recv_cq	= cq,
		.cap		= { .max_send_wr = 1, .max_recv_wr = KV_DEPTH, .max_recv_sge = 1 },
	};
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = 1 };
	struct ib_qp *qp = ib_create_qp(pd, &init);

	if (IS_ERR(qp)) {
		kv_fail(t, "no queue pair, %ld", PTR_ERR(qp));
		return NULL;
	}
	kv_want(t, "to INIT", ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PORT |
					   IB_QP_PKEY_INDEX | IB_QP_ACCESS_FLAGS), 0);
	attr.qp_state = IB_QPS_ERR;
	kv_want(t, "to ERR", ib_modify_qp(qp, &attr, IB_QP_STATE), 0);

	return qp;
}

/* Events that become due while the handler is running are raised after it has returned. */
static void nested(struct kv *t)
{
	struct ib_cq_init_attr attr = { .cqe = 4 * KV_DEPTH };
	struct ib_pd *pd = kv_pd(t, t->dev[0]);
	struct nested nested = { .left = ATOMIC_INIT(16) };
	struct ib_cq *cq;
	int i;

	if (!kv_goes_on(t))
		return;
	init_completion(&nested.done);
	cq = ib_create_cq(t->dev[0], nested_handler, NULL, &nested, &attr);
	if (IS_ERR(cq)) {
		kv_fail(t, "no completion queue, %ld", PTR_ERR(cq));
		return;
	}
	for (i = 0; i < ARRAY_SIZE(nested.qp); i++)
		nested.qp[i] = nested_qp(t, pd, cq);
	if (kv_goes_on(t)) {
		ib_req_notify_cq(cq, IB_CQ_NEXT_COMP);
		kv_want(t, "post a receive", nested_flush(nested.qp[0]), 0);
	}
	if (kv_goes_on(t) &&
	    wait_for_completion_killable_timeout(&nested.done, t->bound * HZ) <= 0)
		kv_fail(t, "%d events have not come", atomic_read(&nested.left) + 1);
	atomic_set(&nested.left, 0);	/* the queue pairs will be gone */
	for (i = 0; i < ARRAY_SIZE(nested.qp); i++)
		if (nested.qp[i])
			ib_destroy_qp(nested.qp[i]);
	ib_destroy_cq(cq);
	if (atomic_read(&nested.overlaps))
		kv_fail(t, "called %d times while it was running", atomic_read(&nested.overlaps));
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

/* The peer WRITEs @len bytes to the region, @num times and all at once. */
static void write_much(struct kv *t, struct kv_link *link, struct kv_region *region,
		       struct kv_op **op, u32 len, int num)
{
	struct ib_sge sge = kv_sge(&link->peer, len);
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
		write_much(t, link, region, op, LEN, IN_FLIGHT);
		if (error)
			kv_error(t, link);
		kv_dereg(t, region);
		if (kv_goes_on(t))
			kv_blank(mem);
		write_much(t, link, region, op + IN_FLIGHT, LEN, 1);
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
		write_much(t, link, region, op, LEN, IN_FLIGHT);
		inv = kv_op(t, &link->own);
		kv_signal(inv, &wr);
		wr.ex.invalidate_rkey = region->at.key;
		kv_post(t, &link->own, &wr);
		status = kv_await(t, "LOCAL_INV", inv);
		if (status != IB_WC_WR_FLUSH_ERR)
			kv_want(t, "LOCAL_INV", status, IB_WC_SUCCESS);
		if (kv_goes_on(t))
			kv_blank(mem);
		write_much(t, link, region, op + IN_FLIGHT, LEN, 1);
		/* A WRITE is refused, whether LOCAL_INV was flushed or not. */
		ended(t, op, IB_WC_REM_ACCESS_ERR);
		if (status == IB_WC_SUCCESS)
			kv_check(t, &(struct kv_target) { .mem = mem }, 0);
		kv_restart(t, link);
		kv_dereg(t, region);
	}
}

/* No answer is received with BHs disabled: two WRITEs are in flight when a third is posted. */
static void behind(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_mem *mem = kv_mem(t, link->own.dev, 100, LEN);
	struct kv_region *region = kv_region(t, link->own.pd, KV_PAGES);
	struct kv_op *op[3];
	size_t i;

	kv_register(t, &link->own, region, mem, KV_ALL);
	local_bh_disable();
	write_much(t, link, region, op, LEN, 2);
	write_much(t, link, region, op + 2, LEN, 1);
	local_bh_enable();
	for (i = 0; i < ARRAY_SIZE(op) && kv_goes_on(t); i++)
		kv_done(t, "WRITE", op[i], IB_WC_SUCCESS);
}

/* Without packets, more than a task does in one stretch */
static void much(struct kv *t)
{
	struct kv_link *link = kv_connect(t, kv_pd(t, t->dev[0]), kv_pd(t, t->dev[1]),
					  IB_POLL_DIRECT);
	struct kv_mem *mem = kv_mem(t, link->own.dev, 0, KV_BYTES);
	struct kv_region *region = kv_region(t, link->own.pd, KV_PAGES);
	struct kv_op *op[IN_FLIGHT];
	size_t i;

	kv_register(t, &link->own, region, mem, KV_ALL);
	write_much(t, link, region, op, KV_BYTES, IN_FLIGHT);
	for (i = 0; i < ARRAY_SIZE(op) && kv_goes_on(t); i++)
		kv_done(t, "WRITE", op[i], IB_WC_SUCCESS);
}

/**
 * struct chain - WRITEs, of which each is posted by the handler of the one before
 * @end: where they are posted
 * @sink: the last byte that each of them writes
 * @left: how many are to be posted yet
 * @at_once: how many had been executed when the post returned
 * @status: of the last one that has completed
 */
struct chain {
	struct kv_end		*end;
	const u8		*sink;
	unsigned int		left;
	unsigned int		at_once;
	enum ib_wc_status	status;
	struct ib_sge		sge;
	struct ib_rdma_wr	wr;
	struct ib_cqe		cqe;
	struct completion	done;
};

/* Posts a WRITE whose last byte is a new one. */
static int chain_post(struct chain *chain)
{
	u8 *source = chain->end->buf + KV_BYTES - 1;
	int err;

	chain->left--;
	(*source)++;
	err = ib_post_send(chain->end->qp, &chain->wr.wr, NULL);
	if (!err && READ_ONCE(*chain->sink) == *source)
		chain->at_once++;

	return err;
}

static void chain_handler(struct ib_cq *cq, struct ib_wc *wc)
{
	struct chain *chain = container_of(wc->wr_cqe, struct chain, cqe);

	chain->status = wc->status;
	if (wc->status != IB_WC_SUCCESS || !chain->left || chain_post(chain))
		complete(&chain->done);
}

/*
 * Handlers are called in a softirq, which may do so much and no more.  The next one has as much to
 * do again, though no packet and no timer has come.
 */
static void chained(struct kv *t)
{
	struct kv_link *link = kv_connect(t, kv_pd(t, t->dev[0]), kv_pd(t, t->dev[1]),
					  IB_POLL_SOFTIRQ);
	struct kv_mem *mem = kv_mem(t, link->own.dev, 0, KV_BYTES);
	struct kv_region *region = kv_region(t, link->own.pd, KV_PAGES);
	struct chain chain = { .end = &link->peer, .left = CHAIN };

	kv_register(t, &link->own, region, mem, KV_ALL);
	if (!kv_goes_on(t))
		return;
	if (t->dev[0] != t->dev[1]) {
		t->note = "a WRITE needs packets";
		return;
	}

	chain.sink = sg_virt(&mem->sg[mem->nents - 1]) + mem->sg[mem->nents - 1].length - 1;
	chain.sge = kv_sge(&link->peer, KV_BYTES);
	chain.wr = kv_rdma_wr(IB_WR_RDMA_WRITE, &region->at, &chain.sge);
	chain.wr.wr.wr_cqe = &chain.cqe;
	chain.wr.wr.send_flags = IB_SEND_SIGNALED;
	chain.cqe.done = chain_handler;
	init_completion(&chain.done);
	kv_want(t, "post a WRITE", chain_post(&chain), 0);
	if (!kv_goes_on(t))
		return;
	if (!wait_for_completion_timeout(&chain.done, t->bound * HZ)) {
		kv_fail(t, "%u WRITEs have not been posted", chain.left);
		t->late = true;
		ib_drain_sq(link->peer.qp);	/* the handler uses what is on the stack */
	}
	kv_want(t, "WRITE", chain.status, IB_WC_SUCCESS);
	if (chain.at_once < CHAIN / 2)
		kv_fail(t, "%u of %u WRITEs were executed at once", chain.at_once, CHAIN);
}

/**
 * struct waits - a thread that waits for a queue pair, and has no processor
 * @qp: the queue pair
 * @begun: the thread has begun
 * @busy: another one has its processor
 */
struct waits {
	struct ib_qp	*qp;
	bool		begun;
	bool		busy;
};

static int waits_query(void *data)
{
	struct waits *waits = data;
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	WRITE_ONCE(waits->begun, true);
	ib_query_qp(waits->qp, &attr, IB_QP_STATE, &init);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ);

	return 0;
}

static int waits_occupy(void *data)
{
	struct waits *waits = data;

	WRITE_ONCE(waits->busy, true);
	while (!kthread_should_stop())
		cond_resched();

	return 0;
}

/* Runs this thread on the first CPU, and leaves the last one to others.  Return: there are two. */
static bool other_cpu(struct kv *t, unsigned int *cpu)
{
	unsigned int here = cpumask_first(cpu_online_mask);

	*cpu = cpumask_last(cpu_online_mask);
	if (*cpu == here) {
		t->note = "there is one CPU";
		return false;
	}
	run_on(t, here);

	return true;
}

static struct task_struct *waits_thread(struct kv *t, int (*run)(void *data), void *data,
					unsigned int cpu)
{
	struct task_struct *thread = kthread_create(run, data, "kverbs");

	if (IS_ERR(thread)) {
		kv_fail(t, "no thread, %ld", PTR_ERR(thread));
		return NULL;
	}
	kthread_bind(thread, cpu);

	return thread;
}

static void waits_stop(struct task_struct *thread)
{
	if (thread)
		kthread_stop(thread);
}

/* A real-time thread that takes @cpu once it is woken */
static struct task_struct *waits_occupier(struct kv *t, struct waits *waits, unsigned int cpu)
{
	struct task_struct *thread = waits_thread(t, waits_occupy, waits, cpu);

	if (thread)
		sched_set_fifo(thread);

	return thread;
}

/*
 * What a post has left is done by this CPU, and not before @query waits for the queue pair and
 * @occupy has taken its CPU.  It is more than one run of the queue pair does.
 */
static void waits_post(struct kv *t, struct kv_link *link, struct kv_region *region,
		       struct task_struct *query, struct task_struct *occupy, struct waits *waits)
{
	unsigned long end = jiffies + t->bound * HZ;
	struct kv_op *op[KV_DEPTH];
	size_t i;

	preempt_disable();
	write_much(t, link, region, op, KV_BYTES, ARRAY_SIZE(op));
	wake_up_process(query);
	while ((!READ_ONCE(waits->begun) || task_is_running(query)) && time_before(jiffies, end))
		cpu_relax();
	wake_up_process(occupy);
	while (!READ_ONCE(waits->busy) && time_before(jiffies, end))
		cpu_relax();
	preempt_enable();
	for (i = 0; i < ARRAY_SIZE(op) && kv_goes_on(t); i++)
		kv_done(t, "WRITE", op[i], IB_WC_SUCCESS);
}

static void waits_elsewhere(struct kv *t, struct kv_end *end)
{
	struct kv_link *link = container_of(end, struct kv_link, own);
	struct kv_mem *mem = kv_mem(t, end->dev, 0, KV_BYTES);
	struct kv_region *region = kv_region(t, end->pd, KV_PAGES);
	struct waits waits = { .qp = link->peer.qp };
	struct task_struct *query, *occupy;
	unsigned int cpu;

	if (!other_cpu(t, &cpu))
		return;
	kv_register(t, end, region, mem, KV_ALL);
	query = waits_thread(t, waits_query, &waits, cpu);
	occupy = waits_occupier(t, &waits, cpu);
	if (kv_goes_on(t))
		waits_post(t, link, region, query, occupy, &waits);
	waits_stop(occupy);
	waits_stop(query);
}

static void waited(struct kv *t)
{
	elsewhere(t, waits_elsewhere);
}

/*
 * LOCAL_INV completes after the request, which has no completion of its own, and whose ACK comes
 * with the answer if it was asked for.
 */
static void answered(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_mem *mem = kv_mem(t, link->own.dev, 100, LEN);
	struct kv_region *region = kv_region(t, link->own.pd, KV_PAGES);
	struct ib_sge sge = kv_sge(&link->own, 64);
	struct ib_send_wr wr = {
		.opcode		= IB_WR_SEND,
		.sg_list	= &sge,
		.num_sge	= 1,
	};
	struct kv_op *op;
	int i;

	for (i = 0; i < 100 && kv_goes_on(t); i++) {
		kv_register(t, &link->own, region, mem, KV_ALL);
		op = kv_post_recv(t, &link->peer);
		kv_fill(t, &link->own, 64);
		kv_post(t, &link->own, &wr);
		kv_received(t, &link->peer, op, 64, 0);
		kv_send(t, link, &link->peer, IB_WC_SUCCESS);
		kv_inv(t, &link->own, region->at.key, IB_WC_SUCCESS);
	}
}

/**
 * struct taken - a processor that is taken from work in progress
 * @t: the case
 * @link: its link
 * @region: what is written to
 * @occupy: the thread that takes the processor
 * @op: the WRITEs, which are more than a task does in one stretch
 * @waits: for @occupy
 * @posted: they have been posted
 */
struct taken {
	struct kv		*t;
	struct kv_link		*link;
	struct kv_region	*region;
	struct task_struct	*occupy;
	struct kv_op		*op[KV_DEPTH];
	struct waits		waits;
	struct completion	posted;
};

static int taken_post(void *data)
{
	struct taken *taken = data;

	preempt_disable();
	write_much(taken->t, taken->link, taken->region, taken->op, KV_BYTES, KV_DEPTH);
	complete(&taken->posted);
	wake_up_process(taken->occupy);
	preempt_enable();
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ);

	return 0;
}

/* A real-time thread takes the processor that has posted, and where the rest was left. */
static void taken_elsewhere(struct kv *t, struct kv_end *end)
{
	struct taken taken = { .t = t, .link = container_of(end, struct kv_link, own) };
	struct kv_mem *mem = kv_mem(t, end->dev, 0, KV_BYTES);
	unsigned int cpu;
	struct task_struct *post;
	size_t i;

	if (!other_cpu(t, &cpu))
		return;
	taken.region = kv_region(t, end->pd, KV_PAGES);
	kv_register(t, end, taken.region, mem, KV_ALL);
	init_completion(&taken.posted);
	taken.occupy = waits_occupier(t, &taken.waits, cpu);
	post = waits_thread(t, taken_post, &taken, cpu);
	if (kv_goes_on(t)) {
		wake_up_process(post);
		wait_for_completion(&taken.posted);
	}
	for (i = 0; i < ARRAY_SIZE(taken.op) && kv_goes_on(t); i++)
		kv_done(t, "WRITE", taken.op[i], IB_WC_SUCCESS);
	waits_stop(taken.occupy);
	waits_stop(post);
}

static void taken(struct kv *t)
{
	elsewhere(t, taken_elsewhere);
}

/* LOCAL_INV is posted with a WRITE of the same key, whose ACK it waits for. */
static void followed(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_mem *mem = kv_mem(t, link->peer.dev, 100, LEN);
	struct kv_mem *source_mem = kv_mem(t, link->own.dev, 0, LEN);
	struct kv_region *region = kv_region(t, link->peer.pd, KV_PAGES);
	struct kv_region *source = kv_region(t, link->own.pd, KV_PAGES);
	struct ib_send_wr inv;
	struct ib_rdma_wr write;
	struct kv_op *op;
	struct ib_sge sge;
	int i;

	kv_register(t, &link->peer, region, mem, KV_ALL);
	for (i = 0; i < 100 && kv_goes_on(t); i++) {
		kv_register(t, &link->own, source, source_mem, IB_ACCESS_LOCAL_WRITE);
		sge = (struct ib_sge) { source->at.iova, LEN, source->at.key };
		write = kv_rdma_wr(IB_WR_RDMA_WRITE, &region->at, &sge);
		inv = (struct ib_send_wr) {
			.opcode			= IB_WR_LOCAL_INV,
			.ex.invalidate_rkey	= source->at.key,
		};
		write.wr.next = &inv;
		op = kv_op(t, &link->own);
		kv_signal(op, &inv);
		kv_post(t, &link->own, &write.wr);
		kv_done(t, "LOCAL_INV", op, IB_WC_SUCCESS);
	}
}

const struct kv_case kv_queue_cases[] = {
	{ "CQ: polled directly",				direct },
	{ "CQ: softirq",					softirq },
	{ "CQ: workqueue",					workqueue },
	{ "CQ: unbound workqueue",				unbound },
	{ "CQ: polled where completions are written",		placed },
	{ "CQ: polled on the vector's CPU if it is loaded",	loaded },
	{ "CQ: its handler is called once at a time",		nested },
	{ "in flight: a WRITE is posted behind others",		behind },
	{ "in flight: 1.5 MiB of WRITEs are polled for",		much },
	{ "in flight: a handler posts each WRITE",		chained },
	{ "in flight: a thread waits for them, without a CPU",	waited },
	{ "in flight: a real-time thread takes their CPU",	taken },
	{ "in flight: a key is invalidated after each answer",	answered },
	{ "in flight: a key is invalidated behind a WRITE",	followed },
	{ "error: a drain flushes a full receive queue",	full_drain },
	{ "error: REG_MR and LOCAL_INV are flushed",		flushed },
	{ "in use: dereg after the queue pair's error",		dereg_error },
	{ "in use: dereg of a region that a peer WRITEs to",	dereg_alive },
	{ "in use: LOCAL_INV of a region that a peer WRITEs to", inv_alive },
	{}
};
