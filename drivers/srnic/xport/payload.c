// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - payload: where that of a packet lies, and how it gets to memory
 *
 * Most NICs put the payload into page fragments.  It is copied from there to its
 * destination, without a copy in between.  Programs poll the last bytes of a message,
 * which a fragment boundary must not tear: they are gathered first, see mem/copy.h.
 */
#include "internal.h"

/* What srnic_copy_in() stores as one word */
#define PAYLOAD_LAST	8

/**
 * struct payload_sink - where payload is copied to
 * @sgl: list, at its position; or NULL
 * @mr: else a region
 * @addr: address there of the next byte
 * @rest: bytes to be accessed from @addr on
 * @pager: fetches missing pages of @mr
 */
struct payload_sink {
	struct srnic_sgl	*sgl;
	struct srnic_mr		*mr;
	u64			addr;
	u64			rest;
	struct srnic_pager	*pager;
};

void srnic_payload_find(struct srnic_seg *seg, struct sk_buff *skb)
{
	const struct srnic_pkt *pkt = &seg->pkt;

	seg->off = srnic_rxcb(skb)->bth + pkt->hdr_len;
	seg->payload = skb->data + seg->off;
	seg->skb = seg->off + pkt->payload <= skb_headlen(skb) ? NULL : skb;
}

static enum srnic_mem_err payload_put(struct payload_sink *to,
				      const void *data, u32 len)
{
	enum srnic_mem_err err;

	if (to->sgl)
		return srnic_sgl_write(to->sgl, data, len);

	err = srnic_mr_write(to->mr, to->addr, data, len, to->rest, to->pager);
	to->addr += len;
	to->rest -= len;

	return err;
}

/* Copies the first @len bytes of the payload, piece by piece. */
static enum srnic_mem_err payload_walk(const struct srnic_seg *seg, u32 len,
				       struct payload_sink *to)
{
	enum srnic_mem_err err = SRNIC_MEM_OK;
	struct skb_seq_state seq;
	unsigned int done = 0, n;
	const u8 *data;

	skb_prepare_seq_read(seg->skb, seg->off, seg->off + len, &seq);
	while (!err && (n = min(skb_seq_read(done, &data, &seq), len - done))) {
		err = payload_put(to, data, n);
		done += n;
	}
	skb_abort_seq_read(&seq);

	return err ?: done < len ? SRNIC_MEM_FAULT : SRNIC_MEM_OK;
}

/* Copies payload that lies in fragments. */
static enum srnic_mem_err payload_gather(const struct srnic_seg *seg,
					 struct payload_sink *to)
{
	u32 last = min_t(u32, seg->pkt.payload, PAYLOAD_LAST);
	u32 bulk = seg->pkt.payload - last;
	enum srnic_mem_err err;
	u8 buf[PAYLOAD_LAST];

	if (skb_copy_bits(seg->skb, seg->off + bulk, buf, last))
		return SRNIC_MEM_FAULT;
	err = payload_walk(seg, bulk, to);

	return err ?: payload_put(to, buf, last);
}

/* The whole copy will be retried if memory is absent. */
static noinline_for_stack enum srnic_mem_err
payload_gather_sgl(const struct srnic_seg *seg, struct srnic_sgl *sgl)
{
	struct payload_sink to = { .sgl = sgl };
	enum srnic_mem_err err;
	u64 pos = sgl->pos;

	err = payload_gather(seg, &to);
	if (err == SRNIC_MEM_ABSENT)
		srnic_sgl_seek(sgl, pos);

	return err;
}

static noinline_for_stack enum srnic_mem_err
payload_gather_mr(const struct srnic_seg *seg, struct srnic_mr *mr, u64 addr,
		  u64 rest, struct srnic_pager *pager)
{
	struct payload_sink to = {
		.mr	= mr,
		.addr	= addr,
		.rest	= rest,
		.pager	= pager,
	};

	return payload_gather(seg, &to);
}

enum srnic_mem_err srnic_payload_to_sgl(const struct srnic_seg *seg,
					struct srnic_sgl *sgl)
{
	if (seg->from)
		return srnic_sgl_copy(sgl, seg->from, seg->pkt.payload);
	if (!seg->skb)
		return srnic_sgl_write(sgl, seg->payload, seg->pkt.payload);

	return payload_gather_sgl(seg, sgl);
}

enum srnic_mem_err srnic_payload_to_mr(const struct srnic_seg *seg,
				       struct srnic_mr *mr, u64 addr, u64 rest,
				       struct srnic_pager *pager)
{
	u32 len = seg->pkt.payload;

	if (seg->from)
		return srnic_sgl_to_mr(seg->from, mr, addr, len, rest, pager);
	if (!seg->skb)
		return srnic_mr_write(mr, addr, seg->payload, len, rest, pager);

	return payload_gather_mr(seg, mr, addr, rest, pager);
}
