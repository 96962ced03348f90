// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - kernel verbs: what is refused, with which status, and what it leaves alone
 *
 * A key that a peer may not use is a remote access error at its end (IBTA volume 1, 9.9.3,
 * responder error behaviour); a memory management operation that is not possible ends with
 * IB_WC_MW_BIND_ERR, as in mlx5 and other drivers.  Keys that were to be invalidated stay valid.
 */
#include <linux/errno.h>

#include "kverbs.h"

#define LEN	(2 * PAGE_SIZE)

static struct kv_region *registered(struct kv *t, struct kv_link *link, int access)
{
	struct kv_mem *mem = kv_mem(t, link->own.dev, 100, LEN);
	struct kv_region *region = kv_region(t, link->own.pd, KV_PAGES);

	kv_register(t, &link->own, region, mem, access);

	return region;
}

/* --- rights -------------------------------------------------------------- */

static void only_read(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_region *region = registered(t, link, KV_READ);

	kv_read(t, &link->peer, &region->at, IB_WC_SUCCESS);
	kv_write(t, &link->peer, &region->at, IB_WC_REM_ACCESS_ERR);
	kv_restart(t, link);
	kv_read(t, &link->peer, &region->at, IB_WC_SUCCESS);
}

static void only_write(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_region *region = registered(t, link, KV_WRITE);

	kv_write(t, &link->peer, &region->at, IB_WC_SUCCESS);
	kv_read(t, &link->peer, &region->at, IB_WC_REM_ACCESS_ERR);
	kv_restart(t, link);
	kv_write(t, &link->peer, &region->at, IB_WC_SUCCESS);
}

static void only_local(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_region *region = registered(t, link, IB_ACCESS_LOCAL_WRITE);

	kv_write(t, &link->peer, &region->at, IB_WC_REM_ACCESS_ERR);
	kv_restart(t, link);
	kv_read(t, &link->peer, &region->at, IB_WC_REM_ACCESS_ERR);
}

static void atomic_right(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_mem *mem = kv_mem(t, link->own.dev, 104, LEN);
	struct kv_region *region = kv_region(t, link->own.pd, KV_PAGES);

	kv_register(t, &link->own, region, mem, KV_ALL);
	kv_fetch_add(t, &link->peer, &region->at, IB_WC_SUCCESS);
	kv_inv(t, &link->own, region->at.key, IB_WC_SUCCESS);
	kv_register(t, &link->own, region, mem, KV_READ | KV_WRITE);
	kv_fetch_add(t, &link->peer, &region->at, IB_WC_REM_ACCESS_ERR);
}

/* The rights of a registration are those of its REG_MR. */
static void rights_change(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_region *region = registered(t, link, KV_ALL);

	kv_access(t, &link->peer, &region->at);
	kv_inv(t, &link->own, region->at.key, IB_WC_SUCCESS);
	kv_reg(t, &link->own, region, KV_READ, IB_WC_SUCCESS);
	kv_read(t, &link->peer, &region->at, IB_WC_SUCCESS);
	kv_write(t, &link->peer, &region->at, IB_WC_REM_ACCESS_ERR);
	kv_restart(t, link);
	kv_inv(t, &link->own, region->at.key, IB_WC_SUCCESS);
	kv_reg(t, &link->own, region, KV_WRITE, IB_WC_SUCCESS);
	kv_write(t, &link->peer, &region->at, IB_WC_SUCCESS);
}

/* The end that has @region reads from the peer into it. */
static void read_into(struct kv *t, struct kv_link *link, struct kv_region *region, int want)
{
	struct ib_sge sge = {
		.addr	= region->at.iova,
		.length	= region->at.len,
		.lkey	= region->at.key,
	};
	struct kv_mem *from_mem = kv_mem(t, link->peer.dev, 0, LEN);
	struct kv_region *from = kv_region(t, link->peer.pd, KV_PAGES);
	struct ib_rdma_wr wr;
	struct kv_op *op;

	kv_register(t, &link->peer, from, from_mem, KV_ALL);
	/* The peer's memory has the pattern of the WRITE. */
	kv_write(t, &link->own, &from->at, IB_WC_SUCCESS);
	if (!kv_goes_on(t))
		return;

	kv_blank(region->at.mem);
	op = kv_op(t, &link->own);
	wr = kv_rdma_wr(IB_WR_RDMA_READ, &from->at, &sge);
	kv_signal(op, &wr.wr);
	kv_post(t, &link->own, &wr.wr);
	kv_done(t, "READ", op, want);
	kv_check(t, &region->at, want == IB_WC_SUCCESS ? region->at.len : 0);
}

static void sink(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_region *region = registered(t, link, IB_ACCESS_LOCAL_WRITE);

	read_into(t, link, region, IB_WC_SUCCESS);
}

static void sink_no_right(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_region *region = registered(t, link, KV_READ);

	read_into(t, link, region, IB_WC_LOC_PROT_ERR);
	kv_restart(t, link);
	kv_read(t, &link->peer, &region->at, IB_WC_SUCCESS);
}

static void sink_invalid(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_region *region = registered(t, link, IB_ACCESS_LOCAL_WRITE);

	kv_inv(t, &link->own, region->at.key, IB_WC_SUCCESS);
	read_into(t, link, region, IB_WC_LOC_PROT_ERR);
}

/* The local DMA lkey must not work as an rkey. */
static void dma_key(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_mem *mem = kv_mem(t, link->own.dev, 0, LEN);
	struct kv_target at = { .mem = mem, .len = LEN };

	kv_send(t, link, &link->own, IB_WC_SUCCESS);
	kv_send(t, link, &link->peer, IB_WC_SUCCESS);
	if (!kv_goes_on(t))
		return;

	at.iova = sg_dma_address(mem->sg);
	at.key = link->own.pd->local_dma_lkey;
	kv_write(t, &link->peer, &at, IB_WC_REM_ACCESS_ERR);
	kv_restart(t, link);
	kv_read(t, &link->peer, &at, IB_WC_REM_ACCESS_ERR);
	kv_restart(t, link);
	kv_send_inv(t, link, &link->peer, at.key, IB_WC_REM_ACCESS_ERR);
	kv_restart(t, link);
	kv_inv(t, &link->own, at.key, KV_MGMT_ERR);
	kv_restart(t, link);
	kv_send(t, link, &link->own, IB_WC_SUCCESS);
}

/* --- registration -------------------------------------------------------- */

static void reg_valid(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_region *region = registered(t, link, KV_ALL);

	kv_reg(t, &link->own, region, KV_ALL, KV_MGMT_ERR);
	kv_restart(t, link);
	kv_access(t, &link->peer, &region->at);
	kv_new_key(t, region);
	kv_reg(t, &link->own, region, KV_ALL, KV_MGMT_ERR);
	kv_restart(t, link);
	kv_access(t, &link->peer, &region->at);
}

/* A region without a list has no memory. */
static void reg_unmapped(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_mem *mem = kv_mem(t, link->own.dev, 0, LEN);
	struct kv_region *region = kv_region(t, link->own.pd, KV_PAGES);

	kv_reg(t, &link->own, region, KV_ALL, KV_MGMT_ERR);
	kv_restart(t, link);
	kv_register(t, &link->own, region, mem, KV_ALL);
	kv_access(t, &link->peer, &region->at);
}

/* A second connection whose own end has another PD */
static struct kv_link *other_pd(struct kv *t, struct kv_link *link)
{
	return kv_connect(t, kv_pd(t, link->own.dev), kv_pd(t, link->peer.dev),
			  IB_POLL_WORKQUEUE);
}

/* A REG_MR of @region was refused: a peer has no access to its list. */
static void not_registered(struct kv *t, struct kv_link *link, struct kv_region *region)
{
	kv_registered(t, region);
	kv_write(t, &link->peer, &region->at, IB_WC_REM_ACCESS_ERR);
	kv_restart(t, link);
}

/* A queue pair registers regions of its own PD. */
static void reg_other_pd(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_link *second = other_pd(t, link);
	struct kv_mem *mem = kv_mem(t, link->own.dev, 0, LEN);
	struct kv_region *region = kv_region(t, second->own.pd, KV_PAGES);

	kv_map(t, region, mem, mem->nents);
	kv_reg(t, &link->own, region, KV_ALL, KV_MGMT_ERR);
	kv_restart(t, link);
	not_registered(t, link, region);
	not_registered(t, second, region);
	kv_reg(t, &second->own, region, KV_ALL, IB_WC_SUCCESS);
	kv_access(t, &second->peer, &region->at);
}

/* REG_MR may change the tag of a key, and not the region that it belongs to. */
static void reg_other_key(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_region *other = registered(t, link, KV_ALL);
	struct kv_mem *mem = kv_mem(t, link->own.dev, 0, LEN);
	struct kv_region *region = kv_region(t, link->own.pd, KV_PAGES);
	struct kv_target at;
	struct ib_reg_wr wr;

	kv_inv(t, &link->own, other->at.key, IB_WC_SUCCESS);
	kv_map(t, region, mem, mem->nents);
	wr = kv_reg_wr(t, region, KV_ALL);
	wr.key = other->at.key;
	kv_request(t, &link->own, "REG_MR", &wr.wr, KV_MGMT_ERR);
	kv_restart(t, link);
	kv_write(t, &link->peer, &other->at, IB_WC_REM_ACCESS_ERR);
	kv_restart(t, link);
	not_registered(t, link, region);
	at = region->at;
	at.key = other->at.key;
	kv_write(t, &link->peer, &at, IB_WC_REM_ACCESS_ERR);
}

/* --- invalidation -------------------------------------------------------- */

static void inv_unknown(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_region *region = registered(t, link, KV_ALL);

	kv_inv(t, &link->own, region->at.key + 1, KV_MGMT_ERR);
	kv_restart(t, link);
	kv_access(t, &link->peer, &region->at);
	kv_send_inv(t, link, &link->peer, region->at.key + 1, IB_WC_REM_ACCESS_ERR);
	kv_restart(t, link);
	kv_access(t, &link->peer, &region->at);
	kv_send_inv(t, link, &link->peer, 0x123400 ^ region->at.key, IB_WC_REM_ACCESS_ERR);
	kv_restart(t, link);
	kv_access(t, &link->peer, &region->at);
}

static void send_inv_free(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_region *region = registered(t, link, KV_ALL);

	kv_inv(t, &link->own, region->at.key, IB_WC_SUCCESS);
	kv_send_inv(t, link, &link->peer, region->at.key, IB_WC_REM_ACCESS_ERR);
	kv_restart(t, link);
	kv_reg(t, &link->own, region, KV_ALL, IB_WC_SUCCESS);
	kv_access(t, &link->peer, &region->at);
}

static void inv_other_pd(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_link *second = other_pd(t, link);
	struct kv_region *region = registered(t, link, KV_ALL);

	kv_send_inv(t, second, &second->peer, region->at.key, IB_WC_REM_ACCESS_ERR);
	kv_restart(t, second);
	kv_access(t, &link->peer, &region->at);
	kv_inv(t, &second->own, region->at.key, KV_MGMT_ERR);
	kv_restart(t, second);
	kv_access(t, &link->peer, &region->at);
}

static void access_other_pd(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_link *second = other_pd(t, link);
	struct kv_region *region = registered(t, link, KV_ALL);

	kv_write(t, &second->peer, &region->at, IB_WC_REM_ACCESS_ERR);
	kv_restart(t, second);
	kv_read(t, &second->peer, &region->at, IB_WC_REM_ACCESS_ERR);
	kv_restart(t, second);
	kv_access(t, &link->peer, &region->at);
}

/* Memory of a process that a kernel consumer has registered: its key is not to be invalidated. */
static void inv_user(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_region *region = kv_user_region(t, link->own.pd, KV_ALL);

	kv_access(t, &link->peer, &region->at);
	kv_send_inv(t, link, &link->peer, region->at.key, IB_WC_REM_ACCESS_ERR);
	kv_restart(t, link);
	kv_access(t, &link->peer, &region->at);
	kv_inv(t, &link->own, region->at.key, KV_MGMT_ERR);
	kv_restart(t, link);
	kv_access(t, &link->peer, &region->at);
}

const struct kv_case kv_refuse_cases[] = {
	{ "rights: REMOTE_READ alone",				only_read },
	{ "rights: REMOTE_WRITE without REMOTE_READ",		only_write },
	{ "rights: LOCAL_WRITE alone",				only_local },
	{ "rights: REMOTE_ATOMIC",				atomic_right },
	{ "rights: those of the last REG_MR",			rights_change },
	{ "rights: a READ into a region",			sink },
	{ "rights: a READ into a region without LOCAL_WRITE",	sink_no_right },
	{ "rights: a READ into a region that is not valid",	sink_invalid },
	{ "rights: local_dma_lkey is for local requests",	dma_key },
	{ "refused: REG_MR of a valid region",			reg_valid },
	{ "refused: REG_MR without a list",			reg_unmapped },
	{ "refused: REG_MR in another PD",			reg_other_pd },
	{ "refused: REG_MR with the key of another region",	reg_other_key },
	{ "refused: invalidation of an unknown key",		inv_unknown },
	{ "refused: SEND with invalidate of a free region",	send_inv_free },
	{ "refused: invalidation of a region of another PD",	inv_other_pd },
	{ "refused: access to a region of another PD",		access_other_pd },
	{ "refused: invalidation of a region of a process",	inv_user },
	{}
};
