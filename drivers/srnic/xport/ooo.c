// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - packets that came before one that is missing
 *
 * They wait here for their turn, so that a lost packet costs that packet and not
 * all that was sent behind it.  The requester learns of requests that wait by the
 * next acknowledgment, as if they had come in order, and asks for no response that
 * does.
 *
 * Anybody who can send in the peer's name can have packets kept.  So each is a copy
 * of its own size, whatever it came in; their memory is charged to the user and to
 * the device; and they go when nothing before them comes for some seconds.  To
 * forget one costs what it would have cost not to keep it.
 */
#include <linux/skbuff.h>
#include <linux/slab.h>

#include "../net/net.h"
#include "../wire/psn.h"
#include "ooo.h"
#include "pool.h"

#define OOO_SLOTS_BYTES \
	(SRNIC_OOO_MAX * sizeof(struct srnic_ooo_slot))

static void ooo_put(struct srnic_ooo *ooo, struct srnic_ooo_slot *slot,
		    struct sk_buff *skb, u32 psn)
{
	slot->skb = skb;
	slot->psn = psn;
	ooo->num++;
	ooo->bytes += skb->truesize;
}

/* Takes the packet out of its slot; it is charged no more. */
static struct sk_buff *ooo_get(struct srnic_ooo *ooo,
			       struct srnic_ooo_slot *slot)
{
	struct sk_buff *skb = slot->skb;

	if (!skb)
		return NULL;

	slot->skb = NULL;
	ooo->num--;
	ooo->bytes -= skb->truesize;
	srnic_pool_uncharge(ooo->pool, skb->truesize);

	return skb;
}

/* The packet alone: what it came in may be large, and not the host's to keep. */
static struct sk_buff *ooo_copy(const struct sk_buff *skb)
{
	const struct srnic_rxcb *cb = (const struct srnic_rxcb *)skb->cb;
	struct sk_buff *copy;

	copy = alloc_skb(cb->len, GFP_ATOMIC | __GFP_NOWARN);
	if (!copy)
		return NULL;
	skb_put_data(copy, skb->data + cb->bth, cb->len);
	*srnic_rxcb(copy) = (struct srnic_rxcb) { .len = cb->len };

	return copy;
}

/* Room for all that may be kept, made with the first. */
static bool ooo_slots(struct srnic_ooo *ooo, struct srnic_pool *pool)
{
	if (ooo->slot)
		return true;
	if (!srnic_pool_charge(pool, OOO_SLOTS_BYTES))
		return false;
	ooo->slot = kcalloc(SRNIC_OOO_MAX, sizeof(*ooo->slot),
			    GFP_ATOMIC | __GFP_NOWARN);
	if (!ooo->slot) {
		srnic_pool_uncharge(pool, OOO_SLOTS_BYTES);
		return false;
	}
	ooo->pool = pool;
	ooo->bytes = OOO_SLOTS_BYTES;

	return true;
}

bool srnic_ooo_put(struct srnic_ooo *ooo, struct srnic_pool *pool,
		   const struct sk_buff *skb, u32 psn)
{
	struct srnic_ooo_slot *slot;
	struct sk_buff *copy;

	if (!ooo_slots(ooo, pool))
		return false;
	slot = &ooo->slot[psn % SRNIC_OOO_MAX];
	kfree_skb(ooo_get(ooo, slot));
	copy = ooo_copy(skb);
	if (!copy || !srnic_pool_charge(ooo->pool, copy->truesize)) {
		kfree_skb(copy);
		if (!ooo->num)
			srnic_ooo_purge(ooo);
		return false;
	}
	ooo_put(ooo, slot, copy, psn);

	return true;
}

bool srnic_ooo_has(const struct srnic_ooo *ooo, u32 psn)
{
	const struct srnic_ooo_slot *slot;

	if (!ooo->num)
		return false;
	slot = &ooo->slot[psn % SRNIC_OOO_MAX];

	return slot->skb && slot->psn == psn;
}

u32 srnic_ooo_gap(const struct srnic_ooo *ooo, u32 psn, u32 max)
{
	u32 n = 1;

	if (!ooo->num)
		return max;
	while (n < max && !srnic_ooo_has(ooo, srnic_psn_add(psn, n)))
		n++;

	return n;
}

struct sk_buff *srnic_ooo_take(struct srnic_ooo *ooo, u32 psn)
{
	if (!srnic_ooo_has(ooo, psn))
		return NULL;

	return ooo_get(ooo, &ooo->slot[psn % SRNIC_OOO_MAX]);
}

void srnic_ooo_give_back(struct srnic_ooo *ooo, struct sk_buff *skb,
			 u32 psn)
{
	struct srnic_ooo_slot *slot = &ooo->slot[psn % SRNIC_OOO_MAX];

	kfree_skb(ooo_get(ooo, slot));
	srnic_pool_recharge(ooo->pool, skb->truesize);
	ooo_put(ooo, slot, skb, psn);
}

void srnic_ooo_purge(struct srnic_ooo *ooo)
{
	u32 i;

	if (!ooo->slot)
		return;

	for (i = 0; ooo->num; i++)
		kfree_skb(ooo_get(ooo, &ooo->slot[i]));
	kfree(ooo->slot);
	srnic_pool_uncharge(ooo->pool, OOO_SLOTS_BYTES);
	memset(ooo, 0, sizeof(*ooo));
}
