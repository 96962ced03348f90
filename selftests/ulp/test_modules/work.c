// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - kernel verbs: lists of work requests, as consumers post them
 *
 * Only the last one of a list is signalled, so the order of execution is all that a consumer can
 * rely on: a region is valid for what follows its REG_MR, and LOCAL_INV ends it for the peer.
 */
#include <linux/mm.h>
#include <linux/string.h>

#include "kverbs.h"

#define LEN	(3 * PAGE_SIZE)
#define TAIL	64

/* A list of work requests of one end, of which the last is signalled */
struct list {
	struct ib_send_wr	*first;
	struct ib_send_wr	*last;
};

static void list_add_wr(struct list *list, struct ib_send_wr *wr)
{
	if (list->last)
		list->last->next = wr;
	else
		list->first = wr;
	list->last = wr;
}

/* Posts @list; the last of it ends with @want. */
static void list_post(struct kv *t, struct kv_end *end, const struct list *list,
		      const char *what, int want)
{
	struct kv_op *op = kv_op(t, end);

	kv_signal(op, list->last);
	kv_post(t, end, list->first);
	kv_done(t, what, op, want);
}

static struct ib_send_wr send_wr(struct ib_sge *sge, int flags)
{
	return (struct ib_send_wr) {
		.opcode		= IB_WR_SEND,
		.sg_list	= sge,
		.num_sge	= 1,
		.send_flags	= flags,
	};
}

static struct ib_send_wr inv_wr(u32 key, int flags)
{
	return (struct ib_send_wr) {
		.opcode			= IB_WR_LOCAL_INV,
		.send_flags		= flags,
		.ex.invalidate_rkey	= key,
	};
}

/* REG_MR and the SEND that tells the peer of it, as in NVMe over RDMA */
static void reg_send(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_mem *mem = kv_mem(t, link->own.dev, 100, LEN);
	struct kv_region *region = kv_region(t, link->own.pd, KV_PAGES);
	struct ib_sge sge = kv_sge(&link->own, 64);
	struct ib_send_wr send = send_wr(&sge, 0);
	struct kv_op *received;
	struct ib_reg_wr reg;
	int i;

	for (i = 0; i < 20; i++) {
		struct list list = {};

		kv_map(t, region, mem, mem->nents);
		kv_new_key(t, region);
		reg = kv_reg_wr(t, region, KV_ALL);
		kv_fill(t, &link->own, 64);
		received = kv_post_recv(t, &link->peer);
		list_add_wr(&list, &reg.wr);
		list_add_wr(&list, &send);
		list_post(t, &link->own, &list, "SEND", IB_WC_SUCCESS);
		kv_received(t, &link->peer, received, 64, 0);
		kv_registered(t, region);
		kv_access(t, &link->peer, &region->at);
		kv_send_inv(t, link, &link->peer, region->at.key, IB_WC_SUCCESS);
	}
}

/* LOCAL_INV, REG_MR with the next list and a SEND, as in iSER */
static void inv_reg_send(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_mem *mem = kv_mem(t, link->own.dev, 100, LEN);
	struct kv_region *region = kv_region(t, link->own.pd, KV_PAGES);
	struct ib_sge sge = kv_sge(&link->own, 64);
	struct ib_send_wr inv, send = send_wr(&sge, 0);
	struct kv_target old;
	struct kv_op *received;
	struct ib_reg_wr reg;
	int i;

	kv_register(t, &link->own, region, mem, KV_ALL);
	for (i = 0; i < 20; i++) {
		struct list list = {};

		old = region->at;
		inv = inv_wr(old.key, 0);
		kv_new_key(t, region);
		kv_map(t, region, mem, mem->nents);
		reg = kv_reg_wr(t, region, KV_ALL);
		kv_fill(t, &link->own, 64);
		received = kv_post_recv(t, &link->peer);
		list_add_wr(&list, &inv);
		list_add_wr(&list, &reg.wr);
		list_add_wr(&list, &send);
		list_post(t, &link->own, &list, "SEND", IB_WC_SUCCESS);
		kv_received(t, &link->peer, received, 64, 0);
		kv_registered(t, region);
		kv_access(t, &link->peer, &region->at);
	}
	kv_write(t, &link->peer, &old, IB_WC_REM_ACCESS_ERR);
}

/* WRITEs and the SEND with invalidate that ends the transfer, as a target of NVMe posts them */
static void write_send_inv(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_mem *mem = kv_mem(t, link->own.dev, 100, LEN);
	struct kv_region *region = kv_region(t, link->own.pd, KV_PAGES);
	struct ib_sge sge = kv_sge(&link->peer, LEN), message = kv_sge(&link->peer, 64);
	struct ib_send_wr send;
	struct ib_rdma_wr write;
	struct kv_op *received;
	int i;

	for (i = 0; i < 20; i++) {
		struct list list = {};

		kv_register(t, &link->own, region, mem, KV_ALL);
		if (kv_goes_on(t))
			kv_blank(mem);
		kv_fill(t, &link->peer, LEN);
		received = kv_post_recv(t, &link->own);
		write = kv_rdma_wr(IB_WR_RDMA_WRITE, &region->at, &sge);
		send = send_wr(&message, 0);
		send.opcode = IB_WR_SEND_WITH_INV;
		send.ex.invalidate_rkey = region->at.key;
		list_add_wr(&list, &write.wr);
		list_add_wr(&list, &send);
		list_post(t, &link->peer, &list, "SEND", IB_WC_SUCCESS);
		kv_received(t, &link->own, received, 64, region->at.key);
		kv_check(t, &region->at, LEN);
	}
	kv_write(t, &link->peer, &region->at, IB_WC_REM_ACCESS_ERR);
}

/*
 * REG_MR of a sink, a READ into it and LOCAL_INV with a fence, as in the servers of NFS and iSER:
 * the sink has all of the data when the LOCAL_INV is complete, and is no longer valid.
 */
static void read_fence_inv(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_mem *mem = kv_mem(t, link->own.dev, 100, LEN);
	struct kv_mem *source_mem = kv_mem(t, link->peer.dev, 0, LEN);
	struct kv_region *region = kv_region(t, link->own.pd, KV_PAGES);
	struct kv_region *source = kv_region(t, link->peer.pd, KV_PAGES);
	struct ib_rdma_wr read;
	struct ib_send_wr inv;
	struct ib_reg_wr reg;
	struct ib_sge sge;
	int i;

	kv_register(t, &link->peer, source, source_mem, KV_ALL);
	for (i = 0; i < 20; i++) {
		struct list list = {};

		kv_write(t, &link->own, &source->at, IB_WC_SUCCESS);
		kv_map(t, region, mem, mem->nents);
		kv_new_key(t, region);
		if (!kv_goes_on(t))
			return;

		kv_blank(mem);
		reg = kv_reg_wr(t, region, IB_ACCESS_LOCAL_WRITE);
		kv_registered(t, region);
		sge = (struct ib_sge) { region->at.iova, LEN, region->at.key };
		read = kv_rdma_wr(IB_WR_RDMA_READ, &source->at, &sge);
		inv = inv_wr(region->at.key, IB_SEND_FENCE);
		list_add_wr(&list, &reg.wr);
		list_add_wr(&list, &read.wr);
		list_add_wr(&list, &inv);
		list_post(t, &link->own, &list, "LOCAL_INV", IB_WC_SUCCESS);
		kv_check(t, &region->at, LEN);
	}
	kv_read(t, &link->own, &source->at, IB_WC_SUCCESS);
}

/* A SEND with a fence starts when the READ before it has all of its data. */
static void read_fence_send(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_mem *mem = kv_mem(t, link->peer.dev, 100, LEN);
	struct kv_region *source = kv_region(t, link->peer.pd, KV_PAGES);
	struct ib_sge sge = kv_sge(&link->own, LEN), message = kv_sge(&link->own, TAIL);
	struct ib_send_wr send = send_wr(&message, IB_SEND_FENCE);
	struct ib_rdma_wr read;
	struct kv_op *received;
	int i;

	message.addr += LEN - TAIL;
	kv_register(t, &link->peer, source, mem, KV_ALL);
	for (i = 0; i < 20; i++) {
		struct list list = {};

		kv_write(t, &link->own, &source->at, IB_WC_SUCCESS);
		if (!kv_goes_on(t))
			return;

		memset(link->own.buf, 0, LEN);
		received = kv_post_recv(t, &link->peer);
		read = kv_rdma_wr(IB_WR_RDMA_READ, &source->at, &sge);
		list_add_wr(&list, &read.wr);
		list_add_wr(&list, &send);
		list_post(t, &link->own, &list, "SEND", IB_WC_SUCCESS);
		/* The bytes that the READ brought last */
		kv_received_from(t, &link->peer, received, LEN - TAIL, TAIL);
	}
}

/* 25 lists of REG_MR and LOCAL_INV, none of them signalled */
static void unsignalled(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_mem *mem = kv_mem(t, link->own.dev, 100, LEN);
	struct kv_region *region = kv_region(t, link->own.pd, KV_PAGES);
	struct ib_send_wr inv;
	struct ib_reg_wr reg;
	int i;

	kv_map(t, region, mem, mem->nents);
	for (i = 0; i < 25; i++) {
		struct list list = {};

		reg = kv_reg_wr(t, region, KV_ALL);
		inv = inv_wr(reg.key, 0);
		list_add_wr(&list, &reg.wr);
		list_add_wr(&list, &inv);
		kv_post(t, &link->own, list.first);
	}
	kv_reg(t, &link->own, region, KV_ALL, IB_WC_SUCCESS);
	kv_access(t, &link->peer, &region->at);
}

/* A work request that fails is completed, signalled or not. */
static void unsignalled_failure(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_mem *mem = kv_mem(t, link->own.dev, 100, LEN);
	struct kv_region *region = kv_region(t, link->own.pd, KV_PAGES);
	struct kv_op *op, *behind;
	struct ib_send_wr inv;
	struct ib_reg_wr reg;

	kv_register(t, &link->own, region, mem, KV_ALL);
	reg = kv_reg_wr(t, region, KV_ALL);
	inv = inv_wr(reg.key, 0);
	op = kv_op(t, &link->own);
	behind = kv_op(t, &link->own);
	/* They have an operation each, but no flag. */
	kv_signal(op, &reg.wr);
	kv_signal(behind, &inv);
	reg.wr.send_flags = 0;
	inv.send_flags = 0;
	reg.wr.next = &inv;
	kv_post(t, &link->own, &reg.wr);
	kv_done(t, "REG_MR", op, KV_MGMT_ERR);
	kv_done(t, "LOCAL_INV", behind, IB_WC_WR_FLUSH_ERR);
	kv_restart(t, link);
	/* What was flushed was not executed. */
	kv_access(t, &link->peer, &region->at);
}

/* Data is copied when it is posted, from an address of the kernel; no key is needed. */
static void inline_send(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct ib_sge sge[2] = {
		{ (uintptr_t)link->own.buf, 24 },
		{ (uintptr_t)link->own.buf + 24, KV_INLINE - 24 },
	};
	struct ib_send_wr send = send_wr(sge, IB_SEND_INLINE);
	struct kv_op *op, *received;

	send.num_sge = 2;
	received = kv_post_recv(t, &link->peer);
	op = kv_op(t, &link->own);
	kv_fill(t, &link->own, KV_INLINE);
	kv_signal(op, &send);
	kv_post(t, &link->own, &send);
	if (kv_goes_on(t))
		memset(link->own.buf, 0, KV_BYTES);
	kv_done(t, "SEND", op, IB_WC_SUCCESS);
	kv_received(t, &link->peer, received, KV_INLINE, 0);
}

/* The region is a source of SENDs and the sink of receives of its own end. */
static void local_use(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_mem *mem = kv_mem(t, link->own.dev, 100, LEN);
	struct kv_region *region = kv_region(t, link->own.pd, KV_PAGES);
	struct kv_op *received;
	struct ib_send_wr send;
	struct ib_sge sge;

	kv_register(t, &link->own, region, mem, KV_ALL);
	kv_write(t, &link->peer, &region->at, IB_WC_SUCCESS);
	sge = (struct ib_sge) { region->at.iova, 600, region->at.key };
	send = send_wr(&sge, 0);
	received = kv_post_recv(t, &link->peer);
	kv_request(t, &link->own, "SEND", &send, IB_WC_SUCCESS);
	kv_received(t, &link->peer, received, 600, 0);
	kv_inv(t, &link->own, region->at.key, IB_WC_SUCCESS);
	kv_request(t, &link->own, "SEND", &send, IB_WC_LOC_PROT_ERR);
}

const struct kv_case kv_work_cases[] = {
	{ "list of WRs: REG_MR, SEND",				reg_send },
	{ "list of WRs: LOCAL_INV, REG_MR, SEND",		inv_reg_send },
	{ "list of WRs: WRITE, SEND with invalidate",		write_send_inv },
	{ "list of WRs: REG_MR, READ, LOCAL_INV with fence",	read_fence_inv },
	{ "list of WRs: READ, SEND with fence",			read_fence_send },
	{ "list of WRs: 25 times REG_MR and LOCAL_INV",		unsignalled },
	{ "list of WRs: one that fails is completed",		unsignalled_failure },
	{ "SEND: inline data of two pieces",			inline_send },
	{ "SEND: from a region, while it is valid",		local_use },
	{}
};
