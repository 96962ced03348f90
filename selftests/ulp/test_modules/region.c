// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - kernel verbs: the registration cycles of a region, and the shapes of its list
 *
 * The orders are those of the kernel's consumers: NVMe over RDMA, iSER, RTRS, NFS and RDS.
 * ib_map_mr_sg() and ib_sg_to_pages() say in their comments which lists a region takes.
 */
#include <linux/err.h>

#include "kverbs.h"

#define LEN	(3 * PAGE_SIZE)

/* The region and the memory of most cases */
static struct kv_region *new_region(struct kv *t, struct kv_link *link, struct kv_mem **mem)
{
	*mem = kv_mem(t, link->own.dev, 0, LEN);

	return kv_region(t, link->own.pd, KV_PAGES);
}

static struct kv_region *registered(struct kv *t, struct kv_link *link, struct kv_mem **mem)
{
	struct kv_region *region = new_region(t, link, mem);

	kv_register(t, &link->own, region, *mem, KV_ALL);

	return region;
}

static void cycle(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_region *region;
	struct kv_mem *mem;

	region = registered(t, link, &mem);
	kv_access(t, &link->peer, &region->at);
	kv_inv(t, &link->own, region->at.key, IB_WC_SUCCESS);
	kv_dereg(t, region);
}

/* The peer uses @at, which is no longer registered. */
static void gone(struct kv *t, struct kv_link *link, const struct kv_target *at)
{
	kv_write(t, &link->peer, at, IB_WC_REM_ACCESS_ERR);
	kv_restart(t, link);
	kv_read(t, &link->peer, at, IB_WC_REM_ACCESS_ERR);
	kv_restart(t, link);
}

static void old_key(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_region *region;
	struct kv_target old;
	struct kv_mem *mem;

	region = registered(t, link, &mem);
	old = region->at;
	kv_inv(t, &link->own, region->at.key, IB_WC_SUCCESS);
	gone(t, link, &old);
	kv_register(t, &link->own, region, mem, KV_ALL);
	gone(t, link, &old);
	kv_access(t, &link->peer, &region->at);
}

/* The list of the previous registration is used again, with the same key. */
static void again(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_region *region;
	struct kv_mem *mem;

	region = registered(t, link, &mem);
	kv_inv(t, &link->own, region->at.key, IB_WC_SUCCESS);
	kv_reg(t, &link->own, region, KV_ALL, IB_WC_SUCCESS);
	kv_access(t, &link->peer, &region->at);
}

static void again_new_key(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_region *region;
	struct kv_target old;
	struct kv_mem *mem;

	region = registered(t, link, &mem);
	old = region->at;
	kv_inv(t, &link->own, old.key, IB_WC_SUCCESS);
	kv_new_key(t, region);
	kv_reg(t, &link->own, region, KV_ALL, IB_WC_SUCCESS);
	kv_access(t, &link->peer, &region->at);
	gone(t, link, &old);
}

/* The tag of a key has 8 bits, and comes again. */
static void many_cycles(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_region *region;
	struct kv_mem *mem, *other;
	int i;

	region = new_region(t, link, &mem);
	other = kv_mem(t, link->own.dev, PAGE_SIZE + 5, 70);
	for (i = 0; i < 300 && kv_goes_on(t); i++) {
		kv_register(t, &link->own, region, i & 1 ? mem : other, KV_ALL);
		kv_write(t, &link->peer, &region->at, IB_WC_SUCCESS);
		if (i & 2)
			kv_inv(t, &link->own, region->at.key, IB_WC_SUCCESS);
		else
			kv_send_inv(t, link, &link->peer, region->at.key, IB_WC_SUCCESS);
	}
}

static void inv_free(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_region *region;
	struct kv_mem *mem;

	region = new_region(t, link, &mem);
	kv_inv(t, &link->own, region->at.key, IB_WC_SUCCESS);
	kv_register(t, &link->own, region, mem, KV_ALL);
	kv_inv(t, &link->own, region->at.key, IB_WC_SUCCESS);
	kv_inv(t, &link->own, region->at.key, IB_WC_SUCCESS);
	kv_register(t, &link->own, region, mem, KV_ALL);
	kv_access(t, &link->peer, &region->at);
}

/* As iSER does: the next list is mapped before the old registration ends. */
static void map_valid(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_mem *mem, *other;
	struct kv_region *region;
	u32 old;

	region = registered(t, link, &mem);
	other = kv_mem(t, link->own.dev, PAGE_SIZE + 100, LEN);
	old = region->at.key;
	kv_map(t, region, other, other->nents);
	kv_new_key(t, region);
	kv_inv(t, &link->own, old, IB_WC_SUCCESS);
	kv_reg(t, &link->own, region, KV_ALL, IB_WC_SUCCESS);
	kv_access(t, &link->peer, &region->at);
}

/* The list is an input of REG_MR: until then the peer still accesses the old list. */
static void map_valid_used(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_mem *mem, *other;
	struct kv_region *region;

	region = registered(t, link, &mem);
	other = kv_mem(t, link->own.dev, PAGE_SIZE + 100, LEN);
	kv_map(t, region, other, other->nents);
	kv_access(t, &link->peer, &region->at);
}

static void remote_inv(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_region *region;
	struct kv_target old;
	struct kv_mem *mem;

	region = registered(t, link, &mem);
	old = region->at;
	kv_send_inv(t, link, &link->peer, old.key, IB_WC_SUCCESS);
	gone(t, link, &old);
	kv_reg(t, &link->own, region, KV_ALL, IB_WC_SUCCESS);
	kv_access(t, &link->peer, &region->at);
	kv_send_inv(t, link, &link->peer, region->at.key, IB_WC_SUCCESS);
	kv_register(t, &link->own, region, mem, KV_ALL);
	kv_access(t, &link->peer, &region->at);
}

/* The peer has invalidated the key; a consumer that does not look does it again. */
static void remote_inv_local_inv(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_region *region;
	struct kv_mem *mem;

	region = registered(t, link, &mem);
	kv_send_inv(t, link, &link->peer, region->at.key, IB_WC_SUCCESS);
	kv_inv(t, &link->own, region->at.key, IB_WC_SUCCESS);
	kv_register(t, &link->own, region, mem, KV_ALL);
	kv_access(t, &link->peer, &region->at);
}

/* Regions belong to a PD, not to the queue pair that registered them. */
static void other_qp(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_link *second = kv_connect(t, link->own.pd, link->peer.pd, IB_POLL_SOFTIRQ);
	struct kv_region *region;
	struct kv_mem *mem;

	region = registered(t, link, &mem);
	kv_access(t, &second->peer, &region->at);
	kv_send_inv(t, second, &second->peer, region->at.key, IB_WC_SUCCESS);
	kv_register(t, &second->own, region, mem, KV_ALL);
	kv_access(t, &link->peer, &region->at);
	kv_inv(t, &second->own, region->at.key, IB_WC_SUCCESS);
	gone(t, link, &region->at);
}

static void dereg_valid(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_region *region;
	struct kv_target old;
	struct kv_mem *mem;

	region = registered(t, link, &mem);
	old = region->at;
	kv_dereg(t, region);
	gone(t, link, &old);
	kv_send_inv(t, link, &link->peer, old.key, IB_WC_REM_ACCESS_ERR);
	kv_restart(t, link);
	kv_inv(t, &link->own, old.key, KV_MGMT_ERR);
}

static void dereg_unused(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_region *region;
	struct kv_mem *mem;

	region = new_region(t, link, &mem);
	kv_dereg(t, region);
	region = kv_region(t, link->own.pd, KV_PAGES);
	kv_map(t, region, mem, mem->nents);
	kv_dereg(t, region);
}

/* --- lists --------------------------------------------------------------- */

/* A list that starts and ends anywhere, as the pages of a user do */
static void offsets(struct kv *t)
{
	static const u32 starts[] = { 1, 100, PAGE_SIZE - 1, PAGE_SIZE + 513 };
	static const u32 lens[] = { 1, 99, PAGE_SIZE, PAGE_SIZE + 1, LEN };
	struct kv_link *link = kv_link(t);
	struct kv_region *region = kv_region(t, link->own.pd, KV_PAGES);
	struct kv_mem *mem = kv_mem(t, link->own.dev, 0, LEN);
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		for (k = 0; k < ARRAY_SIZE(lens) && kv_goes_on(t); k++) {
			kv_list_of(t, mem, starts[i], lens[k]);
			kv_register(t, &link->own, region, mem, KV_ALL);
			if (kv_goes_on(t) && region->at.len != lens[k])
				kv_fail(t, "the region has %u bytes, not %u", region->at.len,
					lens[k]);
			kv_access(t, &link->peer, &region->at);
			kv_inv(t, &link->own, region->at.key, IB_WC_SUCCESS);
		}
	}
}

/* One byte less and one more than the region, at either end */
static void bounds(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_mem *mem = kv_mem(t, link->own.dev, 100, PAGE_SIZE);
	struct kv_region *region = kv_region(t, link->own.pd, KV_PAGES);
	struct kv_target at;

	kv_register(t, &link->own, region, mem, KV_ALL);
	at = region->at;
	at.len++;
	gone(t, link, &at);
	at.iova--;
	gone(t, link, &at);
	at.len--;
	gone(t, link, &at);
	kv_access(t, &link->peer, &region->at);
}

/* ib_map_mr_sg() starts behind the offset that the caller gives. */
static void sg_offset(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_mem *mem = kv_mem(t, link->own.dev, 0, LEN);
	struct kv_mem *rest = kv_mem_again(t, mem, 512, LEN - 512);
	struct kv_region *region = kv_region(t, link->own.pd, KV_PAGES);
	unsigned int offset = 512;
	int n;

	if (!kv_goes_on(t))
		return;

	n = ib_map_mr_sg(region->mr, mem->sg, mem->nents, &offset, PAGE_SIZE);
	if (n != mem->nents || offset)
		kv_fail(t, "%d entries are mapped, up to %u", n, offset);
	kv_reg(t, &link->own, region, KV_ALL, IB_WC_SUCCESS);
	region->at.mem = rest;
	kv_access(t, &link->peer, &region->at);
}

/* Entries behind a gap are not mapped; those before it are. */
static void gap(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_mem *mem = kv_mem(t, link->own.dev, 0, LEN);
	struct kv_region *region = kv_region(t, link->own.pd, KV_PAGES);

	kv_list_begin(t, mem, 4);
	kv_list_add(t, mem, 0, 100, PAGE_SIZE - 100);
	kv_list_add(t, mem, 1, 0, PAGE_SIZE - 8);
	kv_list_add(t, mem, 2, 0, PAGE_SIZE);
	kv_list_add(t, mem, 3, 0, PAGE_SIZE);
	kv_list_end(t, mem);
	kv_map(t, region, mem, 2);
	kv_reg(t, &link->own, region, KV_ALL, IB_WC_SUCCESS);
	if (kv_goes_on(t) && region->at.len != 2 * PAGE_SIZE - 108)
		kv_fail(t, "the region has %u bytes", region->at.len);
	kv_access(t, &link->peer, &region->at);
}

/* Entries that continue each other within a page are no gap. */
static void adjacent(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_mem *mem = kv_mem(t, link->own.dev, 0, LEN);
	struct kv_region *region = kv_region(t, link->own.pd, 2);

	kv_list_begin(t, mem, 4);
	kv_list_add(t, mem, 0, 1000, 24);
	kv_list_add(t, mem, 0, 1024, 512);
	kv_list_add(t, mem, 0, 1536, PAGE_SIZE - 1536);
	kv_list_add(t, mem, 1, 0, 77);
	kv_list_end(t, mem);
	kv_map(t, region, mem, 4);
	kv_reg(t, &link->own, region, KV_ALL, IB_WC_SUCCESS);
	kv_access(t, &link->peer, &region->at);
}

static void too_long(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_mem *mem = kv_mem(t, link->own.dev, 0, LEN);
	struct kv_region *region = kv_region(t, link->own.pd, 2);

	kv_map(t, region, mem, 2);
	kv_reg(t, &link->own, region, KV_ALL, IB_WC_SUCCESS);
	if (kv_goes_on(t) && region->at.len != 2 * PAGE_SIZE)
		kv_fail(t, "the region has %u bytes", region->at.len);
	kv_access(t, &link->peer, &region->at);
}

/* A page of the region may be larger than one of the kernel. */
static void large_pages(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_mem *mem = kv_mem_of_order(t, link->own.dev, 1);
	struct kv_region *region = kv_region(t, link->own.pd, KV_PAGES / 2);

	kv_register(t, &link->own, region, mem, KV_ALL);
	kv_access(t, &link->peer, &region->at);
	kv_inv(t, &link->own, region->at.key, IB_WC_SUCCESS);
	kv_list_begin(t, mem, 2);
	kv_list_add(t, mem, 0, PAGE_SIZE + 100, PAGE_SIZE - 100);
	kv_list_add(t, mem, 1, 0, PAGE_SIZE + 1);
	kv_list_end(t, mem);
	kv_register(t, &link->own, region, mem, KV_ALL);
	kv_access(t, &link->peer, &region->at);
}

/* A device either has regions that map all entries, or refuses to make one. */
static void sg_gaps(struct kv *t)
{
	struct kv_link *link = kv_link(t);
	struct kv_mem *mem = kv_mem(t, link->own.dev, 0, LEN);
	struct kv_region *region = &t->region[0];
	struct ib_mr *mr;

	if (!kv_goes_on(t))
		return;

	mr = ib_alloc_mr(link->own.pd, IB_MR_TYPE_SG_GAPS, KV_PAGES);
	if (!IS_ERR(mr))
		region->mr = mr;
	if (!(link->own.dev->attrs.kernel_cap_flags & IBK_SG_GAPS_REG)) {
		t->note = "refused; mapping is not tested, the device has no such regions";
		if (!IS_ERR(mr))
			kv_fail(t, "a region with gaps, which the device does not advertise");
		return;
	}
	if (IS_ERR(mr)) {
		kv_fail(t, "no region with gaps, %ld", PTR_ERR(mr));
		return;
	}
	kv_list_begin(t, mem, 2);
	kv_list_add(t, mem, 0, 100, 200);
	kv_list_add(t, mem, 2, 300, 400);
	kv_list_end(t, mem);
	kv_map(t, region, mem, 2);
	kv_reg(t, &link->own, region, KV_ALL, IB_WC_SUCCESS);
	kv_access(t, &link->peer, &region->at);
}

const struct kv_case kv_region_cases[] = {
	{ "region: map, REG_MR, WRITE and READ by the peer, LOCAL_INV",	cycle },
	{ "region: an old key is refused",				old_key },
	{ "region: REG_MR again after LOCAL_INV, same list and key",	again },
	{ "region: REG_MR again after LOCAL_INV, a new key",		again_new_key },
	{ "region: 300 registration cycles",				many_cycles },
	{ "region: LOCAL_INV of a free region",				inv_free },
	{ "region: the next list is mapped before LOCAL_INV",		map_valid },
	{ "region: the next list changes nothing before REG_MR",	map_valid_used },
	{ "region: SEND with invalidate, then REG_MR again",		remote_inv },
	{ "region: SEND with invalidate, then LOCAL_INV",		remote_inv_local_inv },
	{ "region: any queue pair of its PD serves it",			other_qp },
	{ "region: nothing remains after dereg",			dereg_valid },
	{ "region: dereg of one that was never registered",		dereg_unused },
	{ "list: every offset and length",				offsets },
	{ "list: nothing outside is accessed",				bounds },
	{ "list: an offset into its first entry",			sg_offset },
	{ "list: mapped up to a gap",					gap },
	{ "list: adjacent entries in one page",				adjacent },
	{ "list: mapped up to the size of the region",			too_long },
	{ "list: pages of two kernel pages",				large_pages },
	{ "list: gaps are mapped, or refused with the region",		sg_gaps },
	{}
};
