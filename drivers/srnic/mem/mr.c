// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - memory regions: address translation, and copying to and from regions
 *
 * A region is a flat array of kernel addresses of equal-sized blocks, or indirect: an address
 * space whose pages are fetched on demand, or data with protection information.
 */
#include <linux/align.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/libnvdimm.h>
#include <linux/minmax.h>
#include <linux/nospec.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "copy.h"
#include "internal.h"

static const char *mr_kind(const struct srnic_mr *mr)
{
	if (mr->dma)
		return "dma";
	if (mr->null)
		return "null";
	if (mr->pi)
		return "integrity";
	if (mr->kind == SRNIC_MR_FAST)
		return "fast";
	if (mr->span.odp)
		return "odp";
	if (mr->dmabuf)
		return "dmabuf";

	return mr->umem ? "user" : "device";
}

/* Number of blocks that a range touches; @offset may exceed the block size (ODP). */
static u64 mr_num_blocks(u64 offset, u64 length, u32 shift)
{
	u64 mask = BIT_ULL(shift) - 1;

	return (length >> shift) +
	       (((length & mask) + (offset & mask) + mask) >> shift);
}

void srnic_mr_fill_attrs(const struct srnic_mr *mr, struct srnic_res_attrs *attrs)
{
	static const char * const states[] = {
		[SRNIC_MR_FREE]		= "free",
		[SRNIC_MR_BUSY]		= "busy",
		[SRNIC_MR_VALID]	= "valid",
		[SRNIC_MR_DEAD]		= "dead",
	};
	int state = atomic_read_acquire(&mr->state);
	u64 length = READ_ONCE(mr->span.length);
	u32 shift = READ_ONCE(mr->span.shift);
	bool valid = state == SRNIC_MR_VALID;
	bool listed = valid && !mr->dma && !mr->null && !mr->pi && length;

	srnic_res_add_string(attrs, "kind", mr_kind(mr));
	srnic_res_add_string(attrs, "state", states[state]);
	srnic_res_add_hex(attrs, "access", READ_ONCE(mr->access));
	srnic_res_add_u32(attrs, "block_shift", listed ? shift : 0);
	srnic_res_add_u64(attrs, "blocks", !listed ? 0 :
			  mr_num_blocks(READ_ONCE(mr->span.offset), length, shift));
	srnic_res_add_u32(attrs, "windows", max(atomic_read(&mr->windows), 0));
	/* The key itself holds one reference. */
	srnic_res_add_u32(attrs, "users", !valid ? 0 :
			  max((int)refcount_read(&mr->refs) - 1, 0));
}

bool srnic_mr_covers(const struct srnic_mr *mr, u64 addr, u64 len)
{
	u64 end, off;

	if (check_add_overflow(addr, len, &end))
		return false;
	if (mr->dma)
		return true;
	if (addr < mr->span.iova)
		return false;

	off = addr - mr->span.iova;

	return off <= mr->span.length && len <= mr->span.length - off;
}

u64 srnic_mr_rest(const struct srnic_mr *mr, u64 addr)
{
	u64 off = addr - mr->span.iova;

	if (mr->dma)
		return U64_MAX - addr;

	return off < mr->span.length ? mr->span.length - off : 0;
}

/* What a null region reads as */
static const u8 mr_zeros[SZ_4K];

void *srnic_mr_addr(const struct srnic_mr *mr, u64 addr, u64 *len)
{
	const struct srnic_span *span = &mr->span;
	u64 pos, num, rest;

	if (mr->dma)
		return (void *)(uintptr_t)addr;
	if (mr->null) {
		*len = min_t(u64, *len, sizeof(mr_zeros));
		return (void *)mr_zeros;
	}

	pos = addr - span->iova + span->offset;
	num = ((span->offset + span->length - 1) >> span->shift) + 1;
	rest = pos & (BIT_ULL(span->shift) - 1);
	*len = min(*len, BIT_ULL(span->shift) - rest);

	return span->block[array_index_nospec(pos >> span->shift, num)] + rest;
}

bool srnic_mr_is_pmem(const struct srnic_mr *mr)
{
	const struct srnic_span *span = &mr->span;
	u64 i, num;

	if (!mr->umem)
		return false;

	num = ((span->offset + span->length - 1) >> span->shift) + 1;
	for (i = 0; i < num; i++) {
		if (region_intersects(virt_to_phys(span->block[i]),
				      BIT_ULL(span->shift), IORESOURCE_MEM,
				      IORES_DESC_PERSISTENT_MEMORY) !=
		    REGION_INTERSECTS)
			return false;
		cond_resched();
	}

	return true;
}

void srnic_mr_persist(const struct srnic_mr *mr, u64 addr, u64 len)
{
	while (len) {
		u64 n = len;

		arch_wb_cache_pmem(srnic_mr_addr(mr, addr, &n), n);
		addr += n;
		len -= n;
	}
	wmb();	/* the write-back completes before the response to the peer */
}

/* Process address of @addr in an on-demand region. */
static u64 mr_va(const struct srnic_mr *mr, u64 addr)
{
	return addr - mr->span.iova + mr->span.offset;
}

static enum srnic_mem_err mr_write_indirect(struct srnic_mr *mr, u64 addr, const void *src,
					    u64 len, u64 rest, struct srnic_pager *pager)
{
	u64 va = mr_va(mr, addr), done;

	if (mr->pi) {
		srnic_pi_write(mr, addr, src, len);
		return SRNIC_MEM_OK;
	}

	done = srnic_odp_write(mr->span.odp, va, src, len);
	if (done == len)
		return SRNIC_MEM_OK;

	return srnic_pager_ask(pager, mr->span.odp, va + done, rest - done, true);
}

static enum srnic_mem_err mr_read_indirect(struct srnic_mr *mr, u64 addr, void *dst, u64 len,
					   u64 rest, struct srnic_pager *pager)
{
	u64 va = mr_va(mr, addr), done;

	if (mr->pi) {
		srnic_pi_read(mr, addr, dst, len, true);
		return SRNIC_MEM_OK;
	}

	done = srnic_odp_read(mr->span.odp, va, dst, len);
	if (done == len)
		return SRNIC_MEM_OK;

	return srnic_pager_ask(pager, mr->span.odp, va + done, rest - done, false);
}

/* Blocks are accessed whole: a word of a region with protection information cannot be. */
static enum srnic_mem_err mr_word_indirect(struct srnic_mr *mr, u64 addr, srnic_word_fn fn,
					   const void *arg, u64 *result,
					   struct srnic_pager *pager)
{
	u64 va = mr_va(mr, addr);

	if (mr->pi)
		return SRNIC_MEM_ACCESS;
	if (!IS_ALIGNED(va, sizeof(u64)))
		return SRNIC_MEM_ALIGN;
	if (srnic_odp_word(mr->span.odp, va, fn, arg, result))
		return SRNIC_MEM_OK;

	return srnic_pager_ask(pager, mr->span.odp, va, sizeof(u64), true);
}

enum srnic_mem_err srnic_mr_write(struct srnic_mr *mr, u64 addr,
				  const void *src, u64 len, u64 rest,
				  struct srnic_pager *pager)
{
	if (mr->span.indirect)
		return mr_write_indirect(mr, addr, src, len, rest, pager);
	if (mr->null)
		return SRNIC_MEM_OK;

	while (len) {
		u64 n = len;
		void *dst = srnic_mr_addr(mr, addr, &n);

		srnic_copy_in(dst, src, n);
		addr += n;
		src += n;
		len -= n;
	}

	return SRNIC_MEM_OK;
}

enum srnic_mem_err srnic_mr_read(struct srnic_mr *mr, u64 addr, void *dst,
				 u64 len, u64 rest, struct srnic_pager *pager)
{
	if (mr->span.indirect)
		return mr_read_indirect(mr, addr, dst, len, rest, pager);

	while (len) {
		u64 n = len;
		const void *src = srnic_mr_addr(mr, addr, &n);

		memcpy(dst, src, n);
		addr += n;
		dst += n;
		len -= n;
	}

	return SRNIC_MEM_OK;
}

enum srnic_mem_err srnic_mr_reread(struct srnic_mr *mr, u64 addr, void *dst,
				   u64 len, u64 rest, struct srnic_pager *pager)
{
	if (mr->pi) {
		srnic_pi_read(mr, addr, dst, len, false);
		return SRNIC_MEM_OK;
	}

	return srnic_mr_read(mr, addr, dst, len, rest, pager);
}

enum srnic_mem_err srnic_mr_word(struct srnic_mr *mr, u64 addr,
				 srnic_word_fn fn, const void *arg,
				 u64 *result, struct srnic_pager *pager)
{
	u64 len = sizeof(u64);
	void *word;

	if (mr->span.indirect)
		return mr_word_indirect(mr, addr, fn, arg, result, pager);

	word = srnic_mr_addr(mr, addr, &len);
	if (!IS_ALIGNED((uintptr_t)word, sizeof(u64)))
		return SRNIC_MEM_ALIGN;
	*result = fn(word, arg);

	return SRNIC_MEM_OK;
}
