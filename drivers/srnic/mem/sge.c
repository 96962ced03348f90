// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - scatter/gather lists: a cursor over keys and addresses
 *
 * The cursor holds the region of its current element, so that successive packets for one
 * element cost a single key lookup.  When it moves on it keeps that region, since the next
 * element, or the next list, often has the same key.  Of an element that is written to, only
 * the bytes written must be inside the region: receives may post larger elements than that.
 * The key of an element of length 0 is not checked.
 */
#include <linux/minmax.h>

#include "internal.h"

void srnic_sgl_init(struct srnic_sgl *sgl, struct srnic_keys *keys,
		    const struct ib_pd *pd, const struct srnic_sge *sge,
		    u32 num, u32 access, struct srnic_pager *pager)
{
	sgl->keys = keys;
	sgl->pd = pd;
	sgl->sge = sge;
	sgl->num = num;
	sgl->cur = 0;
	sgl->off = 0;
	sgl->pos = 0;
	sgl->access = access;
	sgl->pager = pager;
	sgl->found = false;
}

void srnic_sgl_put(struct srnic_sgl *sgl)
{
	srnic_mr_release(&sgl->mr);
	sgl->found = false;
}

void srnic_sgl_trim(struct srnic_sgl *sgl)
{
	if (!sgl->found)
		srnic_sgl_put(sgl);
}

void srnic_sgl_forget(struct srnic_sgl *sgl)
{
	sgl->found = false;
	sgl->pos = SRNIC_SGL_NOWHERE;
}

/* Moves the cursor to byte @off of element @idx. */
static void sgl_set(struct srnic_sgl *sgl, u32 idx, u32 off)
{
	if (idx != sgl->cur)
		sgl->found = false;
	sgl->cur = idx;
	sgl->off = off;
}

enum srnic_mem_err srnic_sgl_seek(struct srnic_sgl *sgl, u64 pos)
{
	u64 off = pos;
	u32 i;

	sgl->pos = SRNIC_SGL_NOWHERE;
	for (i = 0; i < sgl->num; i++) {
		if (off < sgl->sge[i].length)
			break;
		off -= sgl->sge[i].length;
	}

	/* The end of the list is a valid position. */
	if (i == sgl->num && off)
		return SRNIC_MEM_LENGTH;

	sgl_set(sgl, i, off);
	sgl->pos = pos;

	return SRNIC_MEM_OK;
}

/* Finds the next element that has bytes left and holds its region. */
static enum srnic_mem_err sgl_hold(struct srnic_sgl *sgl)
{
	const struct srnic_sge *sge;
	enum srnic_mem_err err;

	while (sgl->cur < sgl->num && sgl->off >= sgl->sge[sgl->cur].length)
		sgl_set(sgl, sgl->cur + 1, 0);

	if (sgl->cur >= sgl->num)
		return SRNIC_MEM_LENGTH;
	if (sgl->found)
		return SRNIC_MEM_OK;

	sge = &sgl->sge[sgl->cur];
	if (sgl->access & IB_ACCESS_LOCAL_WRITE)
		err = srnic_mr_get_whole(sgl->keys, sge->lkey, sgl->pd, 0,
					 sgl->access, &sgl->mr);
	else
		err = srnic_mr_get(sgl->keys, sge->lkey, sgl->pd, sgl->access,
				   sge->addr, sge->length, &sgl->mr);
	sgl->found = !err;

	return err;
}

/**
 * struct sgl_piece - part of one element
 * @addr: address of the first byte
 * @len: length in bytes
 * @rest: bytes of the element from @addr to its end, or to that of its region
 */
struct sgl_piece {
	u64	addr;
	u32	len;
	u32	rest;
};

/* Finds the next piece, of @len bytes at most, and holds its region. */
static enum srnic_mem_err sgl_next(struct srnic_sgl *sgl, u32 len,
				   struct sgl_piece *piece)
{
	enum srnic_mem_err err = sgl_hold(sgl);
	const struct srnic_sge *sge;
	u32 left;

	if (err)
		return err;

	sge = &sgl->sge[sgl->cur];
	left = sge->length - sgl->off;
	piece->addr = sge->addr + sgl->off;
	piece->len = min(len, left);
	piece->rest = min_t(u64, left, srnic_mr_rest(sgl->mr, piece->addr));

	return piece->len <= piece->rest ? SRNIC_MEM_OK : SRNIC_MEM_RANGE;
}

static enum srnic_mem_err sgl_write(struct srnic_sgl *sgl, const void *src,
				    u32 len)
{
	struct sgl_piece piece;
	enum srnic_mem_err err;

	for (; len; len -= piece.len) {
		err = sgl_next(sgl, len, &piece);
		if (!err)
			err = srnic_mr_write(sgl->mr, piece.addr, src,
					     piece.len, piece.rest, sgl->pager);
		if (err)
			return err;
		sgl->off += piece.len;
		src += piece.len;
	}

	return SRNIC_MEM_OK;
}

static enum srnic_mem_err sgl_read(struct srnic_sgl *sgl, void *dst, u32 len)
{
	struct sgl_piece piece;
	enum srnic_mem_err err;

	for (; len; len -= piece.len) {
		err = sgl_next(sgl, len, &piece);
		if (!err)
			err = srnic_mr_read(sgl->mr, piece.addr, dst,
					    piece.len, piece.rest, sgl->pager);
		if (err)
			return err;
		sgl->off += piece.len;
		dst += piece.len;
	}

	return SRNIC_MEM_OK;
}

/* Advances @pos by @len, or with SRNIC_MEM_ABSENT rewinds to @cur and @off. */
static void sgl_moved(struct srnic_sgl *sgl, u32 cur, u32 off, u32 len,
		      enum srnic_mem_err err)
{
	if (!err)
		sgl->pos += len;
	else if (err == SRNIC_MEM_ABSENT)
		sgl_set(sgl, cur, off);
	else
		sgl->pos = SRNIC_SGL_NOWHERE;
}

enum srnic_mem_err srnic_sgl_write(struct srnic_sgl *sgl, const void *src,
				   u32 len)
{
	u32 cur = sgl->cur, off = sgl->off;
	enum srnic_mem_err err;

	err = sgl_write(sgl, src, len);
	sgl_moved(sgl, cur, off, len, err);

	return err;
}

enum srnic_mem_err srnic_sgl_read(struct srnic_sgl *sgl, void *dst, u32 len)
{
	u32 cur = sgl->cur, off = sgl->off;
	enum srnic_mem_err err;

	err = sgl_read(sgl, dst, len);
	sgl_moved(sgl, cur, off, len, err);

	return err;
}

/* Advances the cursor past @len bytes returned by sgl_peek(). */
static void sgl_taken(struct srnic_sgl *sgl, u32 len)
{
	sgl->off += len;
	sgl->pos += len;
}

/* The next bytes that are contiguous in memory, *@len at most; NULL on any error. */
static const void *sgl_peek(struct srnic_sgl *sgl, u32 *len)
{
	struct sgl_piece piece;
	const void *src;
	u64 n;

	if (sgl_next(sgl, *len, &piece) || sgl->mr->span.indirect)
		return NULL;

	n = piece.len;
	src = srnic_mr_addr(sgl->mr, piece.addr, &n);
	*len = n;

	return src;
}

/* May @sgl use the memory of element @sge, and is that pinned? */
static bool sgl_is_pinned(const struct srnic_sgl *sgl,
			  const struct srnic_sge *sge)
{
	struct srnic_mr *mr = NULL;
	bool pinned;

	if (srnic_mr_get(sgl->keys, sge->lkey, sgl->pd, sgl->access, sge->addr,
			 sge->length, &mr))
		return false;
	pinned = !mr->span.indirect;
	srnic_mr_put(mr);

	return pinned;
}

bool srnic_sgl_ready(struct srnic_sgl *sgl, u32 len)
{
	u32 i, found;

	if (!len)
		return true;
	if (sgl_hold(sgl) || sgl->mr->span.indirect)
		return false;

	found = sgl->sge[sgl->cur].length - sgl->off;
	for (i = sgl->cur + 1; i < sgl->num && found < len; i++) {
		const struct srnic_sge *sge = &sgl->sge[i];

		if (sge->length && !sgl_is_pinned(sgl, sge))
			return false;
		found += sge->length;
	}

	return true;
}

enum srnic_mem_err srnic_sgl_copy(struct srnic_sgl *dst, struct srnic_sgl *src,
				  u32 len)
{
	u32 cur = dst->cur, off = dst->off, n, left;
	enum srnic_mem_err err;
	const void *from;

	for (left = len; left; left -= n) {
		n = left;
		from = sgl_peek(src, &n);
		err = from ? sgl_write(dst, from, n) : SRNIC_MEM_ABSENT;
		if (err) {
			sgl_set(dst, cur, off);
			src->pos = SRNIC_SGL_NOWHERE;
			return err;
		}
		sgl_taken(src, n);
	}
	dst->pos += len;

	return SRNIC_MEM_OK;
}

enum srnic_mem_err srnic_sgl_to_mr(struct srnic_sgl *src, struct srnic_mr *mr,
				   u64 addr, u32 len, u64 rest,
				   struct srnic_pager *pager)
{
	enum srnic_mem_err err;
	const void *from;
	u32 n;

	for (; len; len -= n, addr += n, rest -= n) {
		n = len;
		from = sgl_peek(src, &n);
		err = from ? srnic_mr_write(mr, addr, from, n, rest, pager) :
			     SRNIC_MEM_ABSENT;
		if (err) {
			src->pos = SRNIC_SGL_NOWHERE;
			return err;
		}
		sgl_taken(src, n);
	}

	return SRNIC_MEM_OK;
}

enum srnic_mem_err srnic_sgl_check(struct srnic_keys *keys,
				   const struct ib_pd *pd,
				   const struct srnic_sge *sge, u32 num,
				   u32 access, struct srnic_mr **mr)
{
	enum srnic_mem_err err;
	u32 i;

	for (i = 0; i < num; i++) {
		if (!sge[i].length)
			continue;

		err = srnic_mr_get(keys, sge[i].lkey, pd, access, sge[i].addr,
				   sge[i].length, mr);
		if (err)
			return err;
	}

	return SRNIC_MEM_OK;
}
