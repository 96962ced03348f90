// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - packets received out of order
 *
 * Packets that arrive ahead of a missing one are kept until it is their turn, so that a
 * loss costs one packet and not all that were sent behind it.  The requester learns
 * about requests that were kept from the next acknowledgment, as if they had arrived in
 * order, and does not request responses again that it has kept.
 *
 * Anybody who can forge the peer's address can have packets kept.  So each is a copy of
 * its own size, independent of the skb it arrived in; the memory is charged to the user
 * and the device; and it is freed after some seconds without progress.  Dropping a kept
 * packet costs no more than not having kept it.
 */
#include <linux/skbuff.h>
#include <linux/slab.h>

#include "../net/net.h"
#include "../wire/hdr.h"
#include "../wire/psn.h"
#include "ooo.h"
#include "rmem.h"

/* Percentage of the limits that may be in use when a packet is kept */
#define OOO_PART	50

/* The copy begins with the BTH. */
static u32 ooo_psn(const struct sk_buff *skb)
{
	const struct srnic_bth *bth = (const void *)skb->data;

	return be32_to_cpu(bth->apsn) & SRNIC_PSN_MASK;
}

/* The packet with @psn or the next one after it; NULL: there is none */
static struct sk_buff *ooo_find(const struct srnic_ooo *ooo, u32 psn)
{
	struct rb_node *node = ooo->packets.rb_node;
	struct sk_buff *skb, *best = NULL;

	while (node) {
		skb = rb_to_skb(node);
		if (srnic_psn_diff(ooo_psn(skb), psn) < 0) {
			node = node->rb_right;
		} else {
			best = skb;
			node = node->rb_left;
		}
	}

	return best;
}

/* No packet with the same PSN may be present. */
static void ooo_insert(struct srnic_ooo *ooo, struct sk_buff *skb)
{
	struct rb_node **link = &ooo->packets.rb_node, *parent = NULL;
	u32 psn = ooo_psn(skb);

	while (*link) {
		parent = *link;
		link = srnic_psn_diff(psn, ooo_psn(rb_to_skb(parent))) < 0 ?
		       &parent->rb_left : &parent->rb_right;
	}
	rb_link_node(&skb->rbnode, parent, link);
	rb_insert_color(&skb->rbnode, &ooo->packets);
	ooo->num++;
	ooo->bytes += skb->truesize;
}

/* rbnode shares its memory with these fields. */
static void ooo_clear_node(struct sk_buff *skb)
{
	skb->next = NULL;
	skb->prev = NULL;
	skb->dev = NULL;
}

/* Takes the packet out and uncharges it. */
static void ooo_remove(struct srnic_ooo *ooo, struct sk_buff *skb)
{
	rb_erase(&skb->rbnode, &ooo->packets);
	ooo_clear_node(skb);
	ooo->num--;
	ooo->bytes -= skb->truesize;
	srnic_rmem_uncharge(ooo->rmem, skb->truesize);
}

/*
 * Bytes of a copy that go into a page: a linear buffer of a little more than a page takes two.
 * The headers are in the linear part.
 */
static u32 ooo_paged(u32 len)
{
	return len <= SKB_WITH_OVERHEAD(PAGE_SIZE) ? 0 : min_t(u32, len - SRNIC_HDR_MAX, PAGE_SIZE);
}

/* Copies @npaged bytes, from offset @off of @skb on, to a page of @copy. */
static bool ooo_copy_page(struct sk_buff *copy, const struct sk_buff *skb, u32 off, u32 npaged)
{
	struct page *page = alloc_page(GFP_ATOMIC | __GFP_NOWARN);

	if (!page)
		return false;
	skb_add_rx_frag(copy, 0, page, 0, npaged, PAGE_SIZE);

	return !skb_copy_bits(skb, off, page_address(page), npaged);
}

/* Copies the packet alone: its skb may be large, or hold pages of a page pool. */
static struct sk_buff *ooo_copy(const struct sk_buff *skb)
{
	const struct srnic_rxcb *cb = (const struct srnic_rxcb *)skb->cb;
	u32 npaged = ooo_paged(cb->len), linear = cb->len - npaged;
	struct sk_buff *copy;

	copy = alloc_skb(linear, GFP_ATOMIC | __GFP_NOWARN);
	if (!copy)
		return NULL;
	if (skb_copy_bits(skb, cb->bth, skb_put(copy, linear), linear) ||
	    (npaged && !ooo_copy_page(copy, skb, cb->bth + linear, npaged))) {
		kfree_skb(copy);
		return NULL;
	}
	*srnic_rxcb(copy) = (struct srnic_rxcb) { .len = cb->len };

	return copy;
}

bool srnic_ooo_put(struct srnic_ooo *ooo, struct srnic_rmem *rmem,
		   const struct sk_buff *skb, u32 psn)
{
	struct sk_buff *copy;

	if (srnic_ooo_has(ooo, psn))
		return true;
	copy = ooo_copy(skb);
	if (!copy || !srnic_rmem_charge(rmem, copy->truesize, OOO_PART)) {
		kfree_skb(copy);
		return false;
	}
	ooo->rmem = rmem;
	ooo_insert(ooo, copy);

	return true;
}

bool srnic_ooo_has(const struct srnic_ooo *ooo, u32 psn)
{
	const struct sk_buff *skb = ooo->num ? ooo_find(ooo, psn) : NULL;

	return skb && ooo_psn(skb) == psn;
}

u32 srnic_ooo_first(const struct srnic_ooo *ooo, u32 psn)
{
	const struct sk_buff *skb = ooo->num ? ooo_find(ooo, psn) : NULL;

	return skb ? ooo_psn(skb) : psn;
}

u32 srnic_ooo_gap(const struct srnic_ooo *ooo, u32 psn, u32 max)
{
	const struct sk_buff *skb;

	skb = ooo->num ? ooo_find(ooo, srnic_psn_add(psn, 1)) : NULL;
	if (!skb)
		return max;

	return min_t(u32, max, srnic_psn_diff(ooo_psn(skb), psn));
}

u32 srnic_ooo_run(const struct srnic_ooo *ooo, u32 psn, u32 max)
{
	struct sk_buff *skb = ooo->num ? ooo_find(ooo, psn) : NULL;
	u32 npsn = 0;

	while (npsn < max && skb && ooo_psn(skb) == srnic_psn_add(psn, npsn)) {
		npsn++;
		skb = skb_rb_next(skb);
	}

	return npsn;
}

struct sk_buff *srnic_ooo_take(struct srnic_ooo *ooo, u32 psn)
{
	struct rb_node *node;
	struct sk_buff *skb;

	while ((node = rb_first(&ooo->packets))) {
		skb = rb_to_skb(node);
		if (srnic_psn_diff(ooo_psn(skb), psn) > 0)
			break;
		ooo_remove(ooo, skb);
		if (ooo_psn(skb) == psn)
			return skb;
		kfree_skb(skb);	/* a duplicate arrived in order */
	}

	return NULL;
}

/* No packet with the same PSN has been added since it was taken. */
void srnic_ooo_requeue(struct srnic_ooo *ooo, struct sk_buff *skb)
{
	srnic_rmem_recharge(ooo->rmem, skb->truesize);
	ooo_insert(ooo, skb);
}

void srnic_ooo_purge(struct srnic_ooo *ooo)
{
	struct sk_buff *skb, *next;

	rbtree_postorder_for_each_entry_safe(skb, next, &ooo->packets, rbnode) {
		ooo_clear_node(skb);
		kfree_skb(skb);
	}
	if (ooo->num)
		srnic_rmem_uncharge(ooo->rmem, ooo->bytes);
	memset(ooo, 0, sizeof(*ooo));
}
