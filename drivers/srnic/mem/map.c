// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - backing memory of regions: pinned, flat, a dma-buf, or paged on demand
 *
 * The device copies with the CPU, so the RDMA core passes kernel addresses in place of
 * DMA addresses, and a dma-buf needs no attachment: its exporter maps it into the kernel,
 * which also keeps it from being moved.  Blocks are as large as the pages are contiguous.
 */
#include <linux/dma-buf.h>
#include <linux/err.h>
#include <linux/iosys-map.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>
#include <rdma/iter.h>

#include "internal.h"

MODULE_IMPORT_NS("DMA_BUF");

/* Block sizes: every power of two from a page to 1 GiB */
#define MR_BLOCK_SIZES	GENMASK(30, PAGE_SHIFT)

/* Block size of a flat region: large enough for any length to fit into one block */
#define MR_FLAT_SHIFT	63

/*
 * The block size is chosen by the alignment of the memory, not of @iova: translation
 * uses the distance from @iova, so its alignment does not matter.
 */
int srnic_mr_map_umem(struct srnic_mr *mr, u64 iova)
{
	struct srnic_span *span = &mr->span;
	struct ib_umem *umem = mr->umem;
	struct ib_block_iter iter;
	unsigned long size;
	size_t num, i = 0;

	size = ib_umem_find_best_pgsz(umem, MR_BLOCK_SIZES, umem->address);
	if (!size)
		return -EINVAL;

	num = ib_umem_num_dma_blocks(umem, size);
	span->block = kvmalloc_array(num, sizeof(*span->block),
				     GFP_KERNEL_ACCOUNT);
	if (!span->block)
		return -ENOMEM;

	span->iova = iova;
	span->length = umem->length;
	span->shift = __ffs(size);
	span->offset = umem->address & (size - 1);

	rdma_umem_for_each_dma_block(umem, &iter, size) {
		dma_addr_t addr = rdma_block_iter_dma_address(&iter);

		span->block[i++] = (void *)(uintptr_t)addr;
		if (i == num)
			break;	/* the iterator of 6.1.0 goes on if 32 bits overflow */
		if (!(i % SZ_64K))
			cond_resched();
	}

	return 0;
}

int srnic_mr_map_flat(struct srnic_mr *mr, void *start, u64 length, u64 iova)
{
	struct srnic_span *span = &mr->span;

	span->block = kvmalloc_array(1, sizeof(*span->block),
				     GFP_KERNEL_ACCOUNT);
	if (!span->block)
		return -ENOMEM;

	span->block[0] = start;
	span->iova = iova;
	span->length = length;
	span->shift = MR_FLAT_SHIFT;

	return 0;
}

/**
 * struct srnic_dmabuf - a mapped dma-buf
 * @buf: the dma-buf; reference held
 * @map: its kernel mapping
 */
struct srnic_dmabuf {
	struct dma_buf		*buf;
	struct iosys_map	map;
};

static void dmabuf_put(struct srnic_dmabuf *dmabuf)
{
	if (!dmabuf)
		return;

	dma_buf_end_cpu_access(dmabuf->buf, DMA_BIDIRECTIONAL);
	dma_buf_vunmap_unlocked(dmabuf->buf, &dmabuf->map);
	dma_buf_put(dmabuf->buf);
	kfree(dmabuf);
}

/* Maps @buf and on success takes over the caller's reference. */
static struct srnic_dmabuf *dmabuf_map(struct dma_buf *buf)
{
	struct srnic_dmabuf *dmabuf;
	int err;

	dmabuf = kzalloc(sizeof(*dmabuf), GFP_KERNEL_ACCOUNT);
	if (!dmabuf)
		return ERR_PTR(-ENOMEM);

	dmabuf->buf = buf;
	err = dma_buf_vmap_unlocked(buf, &dmabuf->map);
	if (err)
		goto err_free;
	if (dmabuf->map.is_iomem) {
		err = -EOPNOTSUPP;	/* I/O memory, not for memcpy() */
		goto err_map;
	}
	err = dma_buf_begin_cpu_access(buf, DMA_BIDIRECTIONAL);
	if (err)
		goto err_map;

	return dmabuf;

err_map:
	dma_buf_vunmap_unlocked(buf, &dmabuf->map);
err_free:
	kfree(dmabuf);
	return ERR_PTR(err);
}

/* Is [offset, offset + length) inside @buf?  Pure. */
static bool dmabuf_covers(const struct dma_buf *buf, u64 offset, u64 length)
{
	u64 end;

	return length && !check_add_overflow(offset, length, &end) &&
	       end <= buf->size;
}

/* Was @buf opened with the access rights that the region grants?  Pure. */
static bool dmabuf_permits(const struct dma_buf *buf, u32 access)
{
	return buf->file->f_mode & FMODE_WRITE || !ib_access_writable(access);
}

int srnic_mr_map_dmabuf(struct srnic_mr *mr, int fd, u64 offset, u64 length,
			u64 iova)
{
	struct srnic_dmabuf *dmabuf;
	struct dma_buf *buf;

	buf = dma_buf_get(fd);
	if (IS_ERR(buf))
		return PTR_ERR(buf);

	if (!dmabuf_permits(buf, mr->access))
		dmabuf = ERR_PTR(-EACCES);
	else if (!dmabuf_covers(buf, offset, length))
		dmabuf = ERR_PTR(-EINVAL);
	else
		dmabuf = dmabuf_map(buf);
	if (IS_ERR(dmabuf)) {
		dma_buf_put(buf);
		return PTR_ERR(dmabuf);
	}
	mr->dmabuf = dmabuf;

	return srnic_mr_map_flat(mr, dmabuf->map.vaddr + offset, length, iova);
}

int srnic_mr_map_odp(struct srnic_mr *mr, struct srnic_owner *owner, u64 start,
		     u64 length, u64 iova)
{
	struct srnic_odp *odp = srnic_odp_make(owner);

	if (!odp)
		return -ENOMEM;

	mr->span.iova = iova;
	mr->span.length = length;
	mr->span.offset = start;
	mr->span.odp = odp;
	mr->span.indirect = true;

	return 0;
}

void srnic_mr_unmap(struct srnic_mr *mr)
{
	kvfree(mr->span.block);
	mr->span.block = NULL;
	kvfree(mr->next.block);
	mr->next.block = NULL;
	if (mr->umem)
		ib_umem_release(mr->umem);
	mr->umem = NULL;
	dmabuf_put(mr->dmabuf);
	mr->dmabuf = NULL;
	srnic_odp_put(mr->span.odp);
	mr->span.odp = NULL;
	srnic_pi_free(mr);
}
