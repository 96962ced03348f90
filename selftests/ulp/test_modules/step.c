// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - kernel verbs: the steps of a case
 *
 * Memory that a request is to change, or to leave alone, is filled before and compared after it,
 * byte by byte, with that around it.
 */
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "kverbs.h"

#define KV_BLANK	0xa5
#define KV_SLICE	30	/* seconds; the kernel reports tasks that are blocked for long */
#define KV_SEND_LEN	700

/* --- completions --------------------------------------------------------- */

static void kv_op_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kv_op *op = container_of(wc->wr_cqe, struct kv_op, cqe);

	if (op->came) {
		op->stray = true;
		return;
	}
	op->came = true;
	op->cpu = raw_smp_processor_id();
	op->wc = *wc;
	complete(&op->done);
}

static void kv_unsignalled_done(struct ib_cq *cq, struct ib_wc *wc)
{
	container_of(wc->wr_cqe, struct kv, unsignalled)->stray = true;
}

void kv_no_strays(struct kv *t)
{
	size_t i;

	if (t->stray)
		kv_fail(t, "a request that was not signalled has a completion");
	for (i = 0; i < ARRAY_SIZE(t->op); i++)
		if (t->op[i].stray)
			kv_fail(t, "a request has two completions");
}

struct kv_op *kv_op(struct kv *t, struct kv_end *end)
{
	struct kv_op *op;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(t->op); i++) {
		op = &t->op[t->next_op++ % ARRAY_SIZE(t->op)];
		if (op->end)
			continue;
		op->end = end;
		op->cqe.done = kv_op_done;
		op->came = false;
		init_completion(&op->done);
		return op;
	}
	kv_fail(t, "the case has too many work requests");

	return &t->op[0];
}

bool kv_is_done(struct kv_op *op)
{
	return completion_done(&op->done);
}

/* Return: false if @op is not completed by @end, or the process is killed. */
static bool kv_sleep(struct kv_op *op, unsigned long end)
{
	long left;

	do {
		left = wait_for_completion_killable_timeout(&op->done, KV_SLICE * HZ);
	} while (!left && time_before(jiffies, end));

	return left > 0;
}

static bool kv_poll(struct kv_op *op, unsigned long end)
{
	while (!completion_done(&op->done)) {
		if (time_after(jiffies, end) || fatal_signal_pending(current))
			return false;
		if (!ib_process_cq_direct(op->end->cq, -1))
			cond_resched();
	}

	return true;
}

static bool kv_wait(const struct kv *t, struct kv_op *op)
{
	unsigned long end = jiffies + (unsigned long)t->bound * HZ;

	return op->end->cq->poll_ctx == IB_POLL_DIRECT ? kv_poll(op, end) : kv_sleep(op, end);
}

/* What a completion says beside its status; without success it has no opcode. */
static void kv_check_wc(struct kv *t, const char *what, const struct kv_op *op)
{
	const struct ib_wc *wc = &op->wc;

	if (wc->qp != op->end->qp)
		kv_fail(t, "the completion of %s is one of another queue pair", what);
	else if (wc->status == IB_WC_SUCCESS && wc->opcode != op->opcode)
		kv_fail(t, "the completion of %s has opcode %d, not %d", what, wc->opcode,
			op->opcode);
}

static const char *kv_status(int status, char *buf, size_t size)
{
	if (status >= 0)
		return ib_wc_status_msg(status);

	snprintf(buf, size, "error %d", status);

	return buf;
}

void kv_want(struct kv *t, const char *what, int got, int want)
{
	char a[24], b[24];

	if (got != want)
		kv_fail(t, "%s: %s, not %s", what, kv_status(got, a, sizeof(a)),
			kv_status(want, b, sizeof(b)));
}

int kv_await(struct kv *t, const char *what, struct kv_op *op)
{
	if (!kv_goes_on(t))
		return -ECANCELED;

	if (!kv_wait(t, op)) {
		kv_fail(t, "%s has no completion", what);
		t->late = true;
		return -ETIME;
	}
	kv_check_wc(t, what, op);
	op->end = NULL;

	return op->wc.status;
}

void kv_done(struct kv *t, const char *what, struct kv_op *op, int want)
{
	kv_want(t, what, kv_await(t, what, op), want);
}

void kv_signal(struct kv_op *op, struct ib_send_wr *wr)
{
	static const enum ib_wc_opcode opcodes[] = {
		[IB_WR_RDMA_WRITE]		= IB_WC_RDMA_WRITE,
		[IB_WR_SEND]			= IB_WC_SEND,
		[IB_WR_RDMA_READ]		= IB_WC_RDMA_READ,
		[IB_WR_ATOMIC_FETCH_AND_ADD]	= IB_WC_FETCH_ADD,
		[IB_WR_MASKED_ATOMIC_CMP_AND_SWP]	= IB_WC_MASKED_COMP_SWAP,
		[IB_WR_MASKED_ATOMIC_FETCH_AND_ADD]	= IB_WC_MASKED_FETCH_ADD,
		[IB_WR_SEND_WITH_INV]		= IB_WC_SEND,
		[IB_WR_LOCAL_INV]		= IB_WC_LOCAL_INV,
		[IB_WR_REG_MR]			= IB_WC_REG_MR,
		[IB_WR_REG_MR_INTEGRITY]	= IB_WC_REG_MR,
	};

	op->opcode = opcodes[wr->opcode];
	wr->wr_cqe = &op->cqe;
	wr->send_flags |= IB_SEND_SIGNALED;
}

void kv_post(struct kv *t, struct kv_end *end, struct ib_send_wr *wr)
{
	const struct ib_send_wr *bad;
	struct ib_send_wr *one;
	int err;

	if (!kv_goes_on(t))
		return;

	t->unsignalled.done = kv_unsignalled_done;
	for (one = wr; one; one = one->next)
		if (!one->wr_cqe)
			one->wr_cqe = &t->unsignalled;
	err = ib_post_send(end->qp, wr, &bad);
	if (err)
		kv_fail(t, "posting fails, %d", err);
}

int kv_do(struct kv *t, struct kv_end *end, const char *what, struct ib_send_wr *wr)
{
	const struct ib_send_wr *bad;
	struct kv_op *op;
	int err;

	t->step++;
	op = kv_op(t, end);
	if (!kv_goes_on(t))
		return -ECANCELED;

	kv_signal(op, wr);
	err = ib_post_send(end->qp, wr, &bad);
	if (err) {
		op->end = NULL;
		return err;
	}

	return kv_await(t, what, op);
}

void kv_request(struct kv *t, struct kv_end *end, const char *what, struct ib_send_wr *wr,
		int want)
{
	kv_want(t, what, kv_do(t, end, what, wr), want);
}

/* --- contents ------------------------------------------------------------ */

/* Byte @i of the pattern of @seed */
static u8 kv_byte(u32 seed, u32 i)
{
	return i ^ (i >> 8) * 7 ^ seed * 29;
}

static void kv_pattern(u8 *buf, u32 seed, u32 from, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		buf[i] = kv_byte(seed, from + i);
}

static size_t kv_piece_bytes(const struct kv_mem *mem)
{
	return PAGE_SIZE << mem->order;
}

void kv_blank(struct kv_mem *mem)
{
	int i;

	for (i = 0; i < mem->num; i++)
		memset(page_address(mem->page[i]), KV_BLANK, kv_piece_bytes(mem));
}

/* Makes @len bytes of @mem, in the order of the list, the pattern of t->seed. */
static void kv_fill_mem(const struct kv *t, struct kv_mem *mem, u32 len)
{
	struct scatterlist *sg;
	u32 from = 0, n;
	int i;

	kv_blank(mem);
	for_each_sg(mem->sg, sg, mem->nents, i) {
		n = min(len - from, sg->length);
		kv_pattern(sg_virt(sg), t->seed, from, n);
		from += n;
	}
}

void kv_fill(struct kv *t, struct kv_end *end, u32 len)
{
	if (!kv_goes_on(t))
		return;

	t->seed++;
	kv_pattern(end->buf, t->seed, 0, len);
}

static void kv_compare(struct kv *t, const u8 *got, const u8 *want, u32 len)
{
	u32 i = 0;

	if (!memcmp(got, want, len))
		return;

	while (got[i] == want[i])
		i++;
	kv_fail(t, "byte %u of a page is %#x, not %#x", i, got[i], want[i]);
}

/* No byte of @buf from @from up to @size was written. */
static void kv_check_blank(struct kv *t, const char *what, const u8 *buf, u32 from, u32 size)
{
	const u8 *more = memchr_inv(buf + from, KV_BLANK, size - from);

	if (more)
		kv_fail(t, "byte %zu of %s was written", (size_t)(more - buf), what);
}

/* @buf has @len bytes of the pattern, which start with byte @from of it. */
static void kv_check_buf(struct kv *t, const char *what, const u8 *buf, u32 from, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++) {
		u8 want = kv_byte(t->seed, from + i);

		if (buf[i] == want)
			continue;
		kv_fail(t, "byte %u of %s is %#x, not %#x", i, what, buf[i], want);
		return;
	}
}

/* The pieces of @at have @len bytes of the pattern, in the order of the list. */
void kv_check(struct kv *t, const struct kv_target *at, u32 len)
{
	struct kv_mem *mem = at->mem;
	size_t bytes;
	u8 *got;
	int i;

	if (!kv_goes_on(t))
		return;

	bytes = kv_piece_bytes(mem);
	got = kmalloc(KV_BYTES, GFP_KERNEL);
	if (!got) {
		kv_fail(t, "no memory");
		return;
	}
	for (i = 0; i < mem->num; i++)
		memcpy(got + i * bytes, page_address(mem->page[i]), bytes);
	kv_fill_mem(t, mem, len);
	for (i = 0; i < mem->num; i++)
		kv_compare(t, got + i * bytes, page_address(mem->page[i]), bytes);
	kfree(got);
}

/* --- work requests ------------------------------------------------------- */

struct ib_sge kv_sge(const struct kv_end *end, u32 len)
{
	return (struct ib_sge) {
		.addr	= end->dma,
		.length	= len,
		.lkey	= end->pd ? end->pd->local_dma_lkey : 0,
	};
}

struct ib_rdma_wr kv_rdma_wr(enum ib_wr_opcode opcode, const struct kv_target *at,
			     struct ib_sge *sge)
{
	return (struct ib_rdma_wr) {
		.wr.opcode	= opcode,
		.wr.sg_list	= sge,
		.wr.num_sge	= 1,
		.remote_addr	= at->iova,
		.rkey		= at->key,
	};
}

struct ib_reg_wr kv_reg_wr(struct kv *t, struct kv_region *region, int access)
{
	return (struct ib_reg_wr) {
		.wr.opcode	= IB_WR_REG_MR,
		.mr		= region->mr,
		.key		= kv_goes_on(t) ? region->mr->rkey : 0,
		.access		= access,
	};
}

void kv_registered(struct kv *t, struct kv_region *region)
{
	if (!kv_goes_on(t))
		return;

	region->at = (struct kv_target) {
		.mem	= region->listed,
		.iova	= region->mr->iova,
		.len	= region->mr->length,
		.key	= region->mr->rkey,
	};
}

void kv_map(struct kv *t, struct kv_region *region, struct kv_mem *mem, int want)
{
	int n;

	t->step++;
	if (!kv_goes_on(t))
		return;

	n = ib_map_mr_sg(region->mr, mem->sg, mem->nents, NULL, kv_piece_bytes(mem));
	if (n != want)
		kv_fail(t, "%d entries are mapped, not %d", n, want);
	region->listed = mem;
}

void kv_new_key(struct kv *t, struct kv_region *region)
{
	if (kv_goes_on(t))
		ib_update_fast_reg_key(region->mr, ib_inc_rkey(region->mr->rkey));
}

void kv_reg(struct kv *t, struct kv_end *end, struct kv_region *region, int access, int want)
{
	struct ib_reg_wr wr = kv_reg_wr(t, region, access);
	int got = kv_do(t, end, "REG_MR", &wr.wr);

	kv_want(t, "REG_MR", got, want);
	if (got == IB_WC_SUCCESS)
		kv_registered(t, region);
}

void kv_register(struct kv *t, struct kv_end *end, struct kv_region *region,
		 struct kv_mem *mem, int access)
{
	kv_map(t, region, mem, mem->nents);
	kv_new_key(t, region);
	kv_reg(t, end, region, access, IB_WC_SUCCESS);
}

void kv_inv(struct kv *t, struct kv_end *end, u32 key, int want)
{
	struct ib_send_wr wr = {
		.opcode			= IB_WR_LOCAL_INV,
		.ex.invalidate_rkey	= key,
	};

	kv_request(t, end, "LOCAL_INV", &wr, want);
}

/* A request that is refused leaves the memory alone. */
void kv_write(struct kv *t, struct kv_end *end, const struct kv_target *at, int want)
{
	struct ib_sge sge = kv_sge(end, at->len);
	struct ib_rdma_wr wr = kv_rdma_wr(IB_WR_RDMA_WRITE, at, &sge);

	kv_fill(t, end, at->len);
	if (kv_goes_on(t) && at->mem)
		kv_blank(at->mem);
	kv_request(t, end, "WRITE", &wr.wr, want);
	if (at->mem)
		kv_check(t, at, want == IB_WC_SUCCESS ? at->len : 0);
}

void kv_read(struct kv *t, struct kv_end *end, const struct kv_target *at, int want)
{
	struct ib_sge sge = kv_sge(end, at->len);
	struct ib_rdma_wr wr = kv_rdma_wr(IB_WR_RDMA_READ, at, &sge);
	u32 len;

	if (!kv_goes_on(t))
		return;

	if (at->mem) {
		t->seed++;
		kv_fill_mem(t, at->mem, at->len);
	}
	memset(end->buf, KV_BLANK, KV_BYTES);
	kv_request(t, end, "READ", &wr.wr, want);
	len = want == IB_WC_SUCCESS ? at->len : 0;
	kv_check_buf(t, "the sink", end->buf, 0, len);
	kv_check_blank(t, "the sink", end->buf, len, KV_BYTES);
}

void kv_access(struct kv *t, struct kv_end *end, const struct kv_target *at)
{
	kv_write(t, end, at, IB_WC_SUCCESS);
	kv_read(t, end, at, IB_WC_SUCCESS);
}

/* Nothing else is written at either end. */
void kv_atomic(struct kv *t, struct kv_end *end, const struct kv_target *at,
	       struct ib_atomic_wr *wr, u64 before, u64 after, int want)
{
	struct ib_sge sge = kv_sge(end, sizeof(u64));
	bool done = want == IB_WC_SUCCESS;
	u64 *word;

	if (!kv_goes_on(t))
		return;

	wr->wr.sg_list = &sge;
	wr->wr.num_sge = 1;
	wr->remote_addr = at->iova;
	wr->rkey = at->key;
	kv_blank(at->mem);
	memset(end->buf, KV_BLANK, KV_BYTES);
	word = sg_virt(at->mem->sg);
	*word = before;
	kv_request(t, end, "the atomic", &wr->wr, want);
	if (!kv_goes_on(t))
		return;

	if (*word != (done ? after : before))
		kv_fail(t, "the word is %#llx, not %#llx", *word, done ? after : before);
	else if (done && *(u64 *)end->buf != before)
		kv_fail(t, "the word was %#llx, not %#llx", *(u64 *)end->buf, before);
	kv_check_blank(t, "the sink", end->buf, done ? sizeof(*word) : 0, KV_BYTES);
	memset(word, KV_BLANK, sizeof(*word));
	kv_check(t, at, 0);
}

void kv_fetch_add(struct kv *t, struct kv_end *end, const struct kv_target *at, int want)
{
	struct ib_atomic_wr wr = {
		.wr.opcode	= IB_WR_ATOMIC_FETCH_AND_ADD,
		.compare_add	= 5,
	};

	kv_atomic(t, end, at, &wr, 37, 42, want);
}

/* --- messages ------------------------------------------------------------ */

struct kv_op *kv_post_recv(struct kv *t, struct kv_end *end)
{
	struct ib_sge sge = {
		.addr	= end->recv_dma,
		.length	= PAGE_SIZE,
		.lkey	= end->pd ? end->pd->local_dma_lkey : 0,
	};
	struct ib_recv_wr wr = {
		.sg_list	= &sge,
		.num_sge	= 1,
	};
	const struct ib_recv_wr *bad;
	struct kv_op *op;
	int err;

	op = kv_op(t, end);
	if (!kv_goes_on(t))
		return op;

	memset(end->recv, KV_BLANK, PAGE_SIZE);
	op->opcode = IB_WC_RECV;
	wr.wr_cqe = &op->cqe;
	err = ib_post_recv(end->qp, &wr, &bad);
	if (err) {
		op->end = NULL;
		kv_fail(t, "no receive, %d", err);
	}

	return op;
}

/* As kv_received_from(); if @key is not 0 it was invalidated. */
static void kv_receive(struct kv *t, struct kv_end *end, struct kv_op *op, u32 from, u32 len,
		       u32 key)
{
	kv_done(t, "the receive", op, IB_WC_SUCCESS);
	if (!kv_goes_on(t))
		return;

	if (op->wc.byte_len != len)
		kv_fail(t, "the receive has %u bytes", op->wc.byte_len);
	else if (op->wc.wc_flags & IB_WC_WITH_INVALIDATE ?
		 op->wc.ex.invalidate_rkey != key : key)
		kv_fail(t, "the receive reports the key %#x of flags %#x, not %#x",
			op->wc.ex.invalidate_rkey, op->wc.wc_flags, key);
	kv_check_buf(t, "the message", end->recv, from, len);
	kv_check_blank(t, "the message", end->recv, len, PAGE_SIZE);
}

void kv_received_from(struct kv *t, struct kv_end *end, struct kv_op *op, u32 from, u32 len)
{
	kv_receive(t, end, op, from, len, 0);
}

void kv_received(struct kv *t, struct kv_end *end, struct kv_op *op, u32 len, u32 key)
{
	kv_receive(t, end, op, 0, len, key);
}

/* The receive of a message that is refused fails, or is flushed. */
static void kv_not_received(struct kv *t, struct kv_op *op)
{
	int status = kv_await(t, "the receive", op);

	if (status != IB_WC_LOC_ACCESS_ERR && status != IB_WC_REM_ACCESS_ERR)
		kv_want(t, "the receive", status, IB_WC_WR_FLUSH_ERR);
}

static void kv_message(struct kv *t, struct kv_link *link, struct kv_end *from,
		       struct ib_send_wr *wr, u32 key, int want)
{
	struct kv_end *to = from == &link->own ? &link->peer : &link->own;
	struct kv_op *op = kv_post_recv(t, to);

	kv_fill(t, from, KV_SEND_LEN);
	kv_request(t, from, "SEND", wr, want);
	if (want == IB_WC_SUCCESS)
		kv_received(t, to, op, KV_SEND_LEN, key);
	else
		kv_not_received(t, op);
}

void kv_send(struct kv *t, struct kv_link *link, struct kv_end *from, int want)
{
	struct ib_sge sge = kv_sge(from, KV_SEND_LEN);
	struct ib_send_wr wr = {
		.opcode		= IB_WR_SEND,
		.sg_list	= &sge,
		.num_sge	= 1,
	};

	kv_message(t, link, from, &wr, 0, want);
}

void kv_send_inv(struct kv *t, struct kv_link *link, struct kv_end *from, u32 key, int want)
{
	struct ib_sge sge = kv_sge(from, KV_SEND_LEN);
	struct ib_send_wr wr = {
		.opcode			= IB_WR_SEND_WITH_INV,
		.sg_list		= &sge,
		.num_sge		= 1,
		.ex.invalidate_rkey	= key,
	};

	kv_message(t, link, from, &wr, key, want);
}
