// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - regions backed by dma-bufs of other drivers
 *
 * The device copies with the CPU, so it needs neither an attachment nor DMA
 * addresses: the exporter maps the buffer into the kernel, which also keeps it
 * from being moved.
 */
#include <linux/dma-buf.h>
#include <linux/iosys-map.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "internal.h"

MODULE_IMPORT_NS("DMA_BUF");

/**
 * struct srnic_dmabuf - a mapped dma-buf
 * @buf: the dma-buf; reference held
 * @map: its kernel mapping
 */
struct srnic_dmabuf {
	struct dma_buf		*buf;
	struct iosys_map	map;
};

void srnic_dmabuf_put(struct srnic_dmabuf *dmabuf)
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

/* Was @buf opened with the rights that the region is to grant?  Pure. */
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
