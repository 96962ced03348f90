// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - kernel verbs: the objects of a case
 *
 * Whatever a case creates is in struct kv, and destroyed after the case.
 */
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>

#include "kverbs.h"

#define KV_PORT		1
#define KV_PSN_OWN	0xfffff8	/* near the end, so that they wrap */
#define KV_PSN_PEER	0xfffff0
#define KV_PSN_STEP	0x10000		/* more than the packets of a connection */
#define KV_PSN_MASK	0xffffff

/* May a case that has @num objects of a kind have another one? */
static bool kv_has_room(struct kv *t, size_t num, size_t max)
{
	if (num == max)
		kv_fail(t, "the case has too many objects");

	return kv_goes_on(t);
}

struct ib_pd *kv_pd(struct kv *t, struct ib_device *dev)
{
	struct ib_pd *pd;

	if (!kv_has_room(t, t->num_pds, ARRAY_SIZE(t->pd)))
		return NULL;

	pd = ib_alloc_pd(dev, 0);
	if (IS_ERR(pd)) {
		kv_fail(t, "no protection domain, %ld", PTR_ERR(pd));
		return NULL;
	}
	t->pd[t->num_pds++] = pd;

	return pd;
}

/* --- connections --------------------------------------------------------- */

/* A GID of RoCEv2 with an IPv4 address */
static const struct ib_gid_attr *kv_gid(struct ib_device *dev)
{
	const struct ib_gid_attr *attr;
	int i;

	for (i = 0; i < dev->port_data[KV_PORT].immutable.gid_tbl_len; i++) {
		attr = rdma_get_gid_attr(dev, KV_PORT, i);
		if (IS_ERR(attr))
			continue;
		if (attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP &&
		    ipv6_addr_v4mapped((const struct in6_addr *)&attr->gid))
			return attr;
		rdma_put_gid_attr(attr);
	}

	return NULL;
}

static int kv_end_buffers(struct kv_end *end)
{
	end->buf = kzalloc(KV_BYTES, GFP_KERNEL);
	end->recv = kzalloc(PAGE_SIZE, GFP_KERNEL);
	if (!end->buf || !end->recv)
		return -ENOMEM;

	end->dma = ib_dma_map_single(end->dev, end->buf, KV_BYTES, DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(end->dev, end->dma)) {
		end->dma = 0;
		return -EIO;
	}
	end->recv_dma = ib_dma_map_single(end->dev, end->recv, PAGE_SIZE, DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(end->dev, end->recv_dma)) {
		end->recv_dma = 0;
		return -EIO;
	}

	return 0;
}

static bool kv_device_has_integrity(const struct ib_device *dev)
{
	return dev->attrs.kernel_cap_flags & IBK_INTEGRITY_HANDOVER;
}

static int kv_end_queues(struct kv_end *end, enum ib_poll_context poll)
{
	struct ib_qp_init_attr init = {
		.qp_type	= IB_QPT_RC,
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.cap		= {
			.max_send_wr		= KV_DEPTH,
			.max_recv_wr		= KV_DEPTH,
			.max_send_sge		= 2,
			.max_recv_sge		= 2,
			.max_inline_data	= KV_INLINE,
		},
	};
	struct ib_qp *qp;
	struct ib_cq *cq;

	if (kv_device_has_integrity(end->dev))
		init.create_flags = IB_QP_CREATE_INTEGRITY_EN;
	cq = ib_alloc_cq(end->dev, end, 4 * KV_DEPTH, 0, poll);
	if (IS_ERR(cq))
		return PTR_ERR(cq);

	end->cq = cq;
	init.send_cq = cq;
	init.recv_cq = cq;
	qp = ib_create_qp(end->pd, &init);
	if (IS_ERR(qp))
		return PTR_ERR(qp);

	end->qp = qp;

	return 0;
}

static void kv_end_make(struct kv *t, struct kv_end *end, struct ib_pd *pd,
			enum ib_poll_context poll)
{
	int err;

	if (!kv_goes_on(t))
		return;

	end->dev = pd->device;
	end->pd = pd;
	end->gid = kv_gid(end->dev);
	if (!end->gid) {
		kv_fail(t, "%s has no address", dev_name(&end->dev->dev));
		return;
	}
	err = kv_end_buffers(end);
	if (!err)
		err = kv_end_queues(end, poll);
	if (err)
		kv_fail(t, "no end on %s, %d", dev_name(&end->dev->dev), err);
}

static void kv_end_free(struct kv_end *end)
{
	if (end->qp)
		ib_destroy_qp(end->qp);
	if (end->cq)
		ib_free_cq(end->cq);
	if (end->recv_dma)
		ib_dma_unmap_single(end->dev, end->recv_dma, PAGE_SIZE, DMA_FROM_DEVICE);
	if (end->dma)
		ib_dma_unmap_single(end->dev, end->dma, KV_BYTES, DMA_BIDIRECTIONAL);
	kfree(end->recv);
	kfree(end->buf);
	if (end->gid)
		rdma_put_gid_attr(end->gid);
}

static enum ib_mtu kv_mtu(const struct kv_link *link)
{
	struct ib_port_attr own, peer;

	if (ib_query_port(link->own.dev, KV_PORT, &own) ||
	    ib_query_port(link->peer.dev, KV_PORT, &peer))
		return IB_MTU_256;

	return min(own.active_mtu, peer.active_mtu);
}

static int kv_to_init(struct kv_end *end)
{
	struct ib_qp_attr attr = {
		.qp_state		= IB_QPS_INIT,
		.port_num		= KV_PORT,
		.qp_access_flags	= IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE |
					  IB_ACCESS_REMOTE_ATOMIC,
	};

	return ib_modify_qp(end->qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			    IB_QP_ACCESS_FLAGS);
}

static int kv_to_rtr(struct kv_end *end, const struct kv_end *other, enum ib_mtu mtu)
{
	struct ib_qp_attr attr = {
		.qp_state		= IB_QPS_RTR,
		.rq_psn			= other->psn,
		.path_mtu		= mtu,
		.dest_qp_num		= other->qp->qp_num,
		.max_dest_rd_atomic	= KV_RD_ATOMIC,
		.min_rnr_timer		= 1,
		.ah_attr.type		= RDMA_AH_ATTR_TYPE_ROCE,
	};
	int err;

	rdma_ah_set_port_num(&attr.ah_attr, KV_PORT);
	rdma_ah_set_grh(&attr.ah_attr, NULL, 0, end->gid->index, 64, 0);
	rdma_ah_set_dgid_raw(&attr.ah_attr, (void *)other->gid->gid.raw);
	err = rdma_read_gid_l2_fields(other->gid, NULL, attr.ah_attr.roce.dmac);
	if (err)
		return err;

	return ib_modify_qp(end->qp, &attr, IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
			    IB_QP_DEST_QPN | IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC |
			    IB_QP_MIN_RNR_TIMER);
}

static int kv_to_rts(struct kv_end *end)
{
	struct ib_qp_attr attr = {
		.qp_state	= IB_QPS_RTS,
		.sq_psn		= end->psn,
		.timeout	= 18,	/* 1 s: a guest may be that busy */
		.retry_cnt	= 7,
		.rnr_retry	= 7,
		.max_rd_atomic	= KV_RD_ATOMIC,
	};

	return ib_modify_qp(end->qp, &attr, IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
			    IB_QP_RNR_RETRY | IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC);
}

static int kv_to(struct kv_end *end, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };

	return ib_modify_qp(end->qp, &attr, IB_QP_STATE);
}

/* A packet of this connection must not be one that the next one expects. */
static void kv_next_psn(struct kv_end *end)
{
	end->psn = (end->psn + KV_PSN_STEP) & KV_PSN_MASK;
}

static void kv_link_start(struct kv *t, struct kv_link *link)
{
	enum ib_mtu mtu = kv_mtu(link);
	int err;

	err = kv_to_init(&link->own) ?: kv_to_init(&link->peer) ?:
	      kv_to_rtr(&link->own, &link->peer, mtu) ?:
	      kv_to_rtr(&link->peer, &link->own, mtu) ?:
	      kv_to_rts(&link->own) ?: kv_to_rts(&link->peer);
	if (err)
		kv_fail(t, "no connection, %d", err);
	kv_next_psn(&link->own);
	kv_next_psn(&link->peer);
}

struct kv_link *kv_connect(struct kv *t, struct ib_pd *own, struct ib_pd *peer,
			   enum ib_poll_context poll)
{
	struct kv_link *link = &t->link[0];

	if (!kv_has_room(t, t->num_links, ARRAY_SIZE(t->link)))
		return link;

	link = &t->link[t->num_links++];
	kv_end_make(t, &link->own, own, poll);
	kv_end_make(t, &link->peer, peer, poll);
	link->own.psn = KV_PSN_OWN;
	link->peer.psn = KV_PSN_PEER;
	if (kv_goes_on(t))
		kv_link_start(t, link);

	return link;
}

struct kv_link *kv_link(struct kv *t)
{
	struct ib_pd *own = kv_pd(t, t->dev[0]);
	struct ib_pd *peer = kv_pd(t, t->dev[1]);

	return kv_connect(t, own, peer, IB_POLL_WORKQUEUE);
}

void kv_error(struct kv *t, struct kv_link *link)
{
	int err;

	if (!kv_goes_on(t))
		return;

	err = kv_to(&link->own, IB_QPS_ERR) ?: kv_to(&link->peer, IB_QPS_ERR);
	if (err)
		kv_fail(t, "no error state, %d", err);
}

/* All that was posted to @end must have been flushed, or have failed before. */
static void kv_end_flushed(struct kv *t, struct kv_end *end)
{
	size_t i;

	if (!kv_goes_on(t))
		return;

	for (i = 0; i < ARRAY_SIZE(t->op); i++) {
		struct kv_op *op = &t->op[i];

		if (op->end != end)
			continue;
		if (!kv_is_done(op))
			kv_fail(t, "a work request has no completion after the drain");
		else if (op->wc.status == IB_WC_SUCCESS)
			kv_fail(t, "a work request was executed that should be flushed");
		op->end = NULL;
	}
}

/* A request that is posted in the error state is flushed behind all others. */
static void kv_end_drain(struct kv *t, struct kv_end *end)
{
	struct ib_send_wr wr = { .opcode = IB_WR_SEND };
	struct kv_op *sent = kv_op(t, end);
	struct kv_op *received = kv_post_recv(t, end);

	kv_signal(sent, &wr);
	kv_post(t, end, &wr);
	kv_done(t, "the last SEND", sent, IB_WC_WR_FLUSH_ERR);
	kv_done(t, "the last receive", received, IB_WC_WR_FLUSH_ERR);
}

void kv_drain(struct kv *t, struct kv_link *link)
{
	if (!kv_goes_on(t))
		return;

	kv_error(t, link);
	kv_end_drain(t, &link->own);
	kv_end_drain(t, &link->peer);
}

void kv_restart(struct kv *t, struct kv_link *link)
{
	int err;

	kv_drain(t, link);
	kv_end_flushed(t, &link->own);
	kv_end_flushed(t, &link->peer);
	if (!kv_goes_on(t))
		return;

	err = kv_to(&link->own, IB_QPS_RESET) ?: kv_to(&link->peer, IB_QPS_RESET);
	if (err)
		kv_fail(t, "no reset, %d", err);
	else
		kv_link_start(t, link);
}

/* --- memory -------------------------------------------------------------- */

void kv_list_begin(struct kv *t, struct kv_mem *mem, int nents)
{
	if (!kv_goes_on(t))
		return;

	if (mem->mapped)
		ib_dma_unmap_sg(mem->dev, mem->sg, mem->nents, DMA_BIDIRECTIONAL);
	mem->mapped = false;
	sg_init_table(mem->sg, nents);
	mem->nents = 0;
}

void kv_list_add(struct kv *t, struct kv_mem *mem, int piece, u32 offset, u32 len)
{
	if (kv_goes_on(t))
		sg_set_page(&mem->sg[mem->nents++], mem->page[piece], len, offset);
}

void kv_list_end(struct kv *t, struct kv_mem *mem)
{
	if (!kv_goes_on(t))
		return;

	/* An IOMMU could merge entries, and with them gaps that a case is about. */
	mem->mapped = ib_dma_map_sg(mem->dev, mem->sg, mem->nents, DMA_BIDIRECTIONAL) ==
		      mem->nents;
	if (!mem->mapped)
		kv_fail(t, "the memory cannot be mapped entry by entry");
}

static struct kv_mem *kv_mem_new(struct kv *t, struct ib_device *dev)
{
	struct kv_mem *mem = &t->mem[0];

	if (kv_has_room(t, t->num_mems, ARRAY_SIZE(t->mem))) {
		mem = &t->mem[t->num_mems++];
		mem->dev = dev;
	}

	return mem;
}

static struct kv_mem *kv_mem_alloc(struct kv *t, struct ib_device *dev, unsigned int order)
{
	struct kv_mem *mem = kv_mem_new(t, dev);
	int i;

	if (!kv_goes_on(t))
		return mem;

	mem->order = order;
	for (i = 0; i < KV_PAGES >> order; i++) {
		mem->page[i] = alloc_pages(GFP_KERNEL | __GFP_ZERO | __GFP_COMP, order);
		if (!mem->page[i]) {
			kv_fail(t, "no memory");
			break;
		}
		mem->num++;
	}

	return mem;
}

void kv_list_of(struct kv *t, struct kv_mem *mem, u32 start, u32 len)
{
	u32 piece = start / PAGE_SIZE, offset = start % PAGE_SIZE;

	kv_list_begin(t, mem, DIV_ROUND_UP(offset + len, PAGE_SIZE));
	for (; len && kv_goes_on(t); piece++, offset = 0) {
		u32 n = min_t(u32, len, PAGE_SIZE - offset);

		kv_list_add(t, mem, piece, offset, n);
		len -= n;
	}
	kv_list_end(t, mem);
}

struct kv_mem *kv_mem(struct kv *t, struct ib_device *dev, u32 start, u32 len)
{
	struct kv_mem *mem = kv_mem_alloc(t, dev, 0);

	kv_list_of(t, mem, start, len);

	return mem;
}

struct kv_mem *kv_mem_again(struct kv *t, const struct kv_mem *of, u32 start, u32 len)
{
	struct kv_mem *mem = kv_mem_new(t, of->dev);

	if (!kv_goes_on(t))
		return mem;

	for (mem->num = 0; mem->num < of->num; mem->num++) {
		mem->page[mem->num] = of->page[mem->num];
		get_page(mem->page[mem->num]);
	}
	kv_list_of(t, mem, start, len);

	return mem;
}

struct kv_mem *kv_mem_of_order(struct kv *t, struct ib_device *dev, unsigned int order)
{
	struct kv_mem *mem = kv_mem_alloc(t, dev, order);
	int i;

	kv_list_begin(t, mem, KV_PAGES >> order);
	for (i = 0; i < KV_PAGES >> order; i++)
		kv_list_add(t, mem, i, 0, PAGE_SIZE << order);
	kv_list_end(t, mem);

	return mem;
}

static void kv_mem_free(struct kv_mem *mem)
{
	int i;

	if (mem->mapped)
		ib_dma_unmap_sg(mem->dev, mem->sg, mem->nents, DMA_BIDIRECTIONAL);
	for (i = 0; i < mem->num; i++)
		__free_pages(mem->page[i], mem->order);
}

/* --- regions ------------------------------------------------------------- */

static void kv_region_made(struct kv *t, struct kv_region *region, struct ib_mr *mr)
{
	if (IS_ERR(mr)) {
		kv_fail(t, "no region, %ld", PTR_ERR(mr));
		return;
	}

	region->mr = mr;
	region->at.key = mr->rkey;
}

/* A region that was deregistered leaves its entry to the next one. */
static struct kv_region *kv_region_new(struct kv *t)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(t->region) && t->region[i].mr)
		i++;

	return kv_has_room(t, i, ARRAY_SIZE(t->region)) ? &t->region[i] : &t->region[0];
}

struct kv_region *kv_region(struct kv *t, struct ib_pd *pd, u32 pages)
{
	struct kv_region *region = kv_region_new(t);

	if (!kv_goes_on(t))
		return region;

	/* A peer may try it before it is registered; without a length no key would be looked at. */
	*region = (struct kv_region) { .at.len = 64 };
	kv_region_made(t, region, ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, pages));

	return region;
}

bool kv_has_integrity(struct kv *t)
{
	struct kv_link *link;
	struct ib_mr *mr;

	if (kv_device_has_integrity(t->dev[0]))
		return true;

	link = kv_link(t);
	if (!kv_goes_on(t))
		return false;

	mr = ib_alloc_mr_integrity(link->own.pd, KV_PAGES, KV_PAGES);
	if (IS_ERR(mr)) {
		t->note = "refused, the device has no such regions";
	} else {
		kv_fail(t, "a region that the device does not advertise");
		ib_dereg_mr(mr);
	}

	return false;
}

struct kv_region *kv_integrity_region(struct kv *t, struct ib_pd *pd, u32 pieces)
{
	struct kv_region *region = kv_region_new(t);

	if (!kv_goes_on(t))
		return region;

	*region = (struct kv_region) {};
	kv_region_made(t, region, ib_alloc_mr_integrity(pd, pieces, pieces));

	return region;
}

struct kv_region *kv_user_region(struct kv *t, struct ib_pd *pd, int access)
{
	struct kv_region *region = kv_region_new(t);

	if (!kv_goes_on(t))
		return region;

	t->user = vm_mmap(NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
			  MAP_ANONYMOUS | MAP_PRIVATE, 0);
	if (IS_ERR_VALUE(t->user)) {
		t->user = 0;
		kv_fail(t, "no memory of the process");
		return region;
	}

	*region = (struct kv_region) {
		.at.iova	= t->user,
		.at.len		= PAGE_SIZE,
	};
	kv_region_made(t, region, ib_reg_user_mr(pd, t->user, PAGE_SIZE, t->user, access));

	return region;
}

void kv_dereg(struct kv *t, struct kv_region *region)
{
	int err;

	t->step++;
	if (!kv_goes_on(t))
		return;

	err = ib_dereg_mr(region->mr);
	if (err)
		kv_fail(t, "deregistration fails, %d", err);
	else
		region->mr = NULL;
}

/* --- the end ------------------------------------------------------------- */

/*
 * After a failure nothing is drained, for the drain could hang as well.  The operations that
 * completions refer to are there until the completion queues are not.
 */
static void kv_link_free(struct kv *t, struct kv_link *link)
{
	kv_drain(t, link);
	kv_end_free(&link->own);
	kv_end_free(&link->peer);
}

static void kv_region_free(struct kv *t, struct kv_region *region)
{
	int err;

	if (!region->mr)
		return;

	err = ib_dereg_mr(region->mr);
	if (err)
		kv_fail(t, "deregistration at the end fails, %d", err);
}

void kv_destroy(struct kv *t)
{
	size_t i;

	for (i = 0; i < t->num_links; i++)
		kv_link_free(t, &t->link[i]);
	kv_no_strays(t);
	for (i = 0; i < ARRAY_SIZE(t->region); i++)
		kv_region_free(t, &t->region[i]);
	for (i = 0; i < t->num_mems; i++)
		kv_mem_free(&t->mem[i]);
	if (t->user)
		vm_munmap(t->user, PAGE_SIZE);
	for (i = 0; i < t->num_pds; i++)
		ib_dealloc_pd(t->pd[i]);
}
