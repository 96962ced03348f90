// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - packets that came before one that is missing
 *
 * They wait here for their turn, so that a lost packet costs that packet and not
 * all that was sent behind it.  The requester learns of requests that wait by the
 * next acknowledgment, as if they had come in order, and asks for no response that
 * does.
 */
#include <linux/slab.h>

#include "proto.h"

static void early_drop(struct srnic_early *early, struct srnic_early_slot *slot)
{
	if (!slot->skb)
		return;

	kfree_skb(slot->skb);
	slot->skb = NULL;
	early->num--;
}

/* The packet without the others of its run, which would stay with it. */
static struct sk_buff *early_alone(struct sk_buff *skb)
{
	struct srnic_rxcb *cb = srnic_rxcb(skb);
	struct sk_buff *copy;

	if (!skb_has_frag_list(skb))
		return skb_get(skb);

	copy = alloc_skb(cb->len, GFP_ATOMIC | __GFP_NOWARN);
	if (!copy)
		return NULL;
	skb_put_data(copy, skb->data + cb->bth, cb->len);
	*srnic_rxcb(copy) = (struct srnic_rxcb) { .len = cb->len };

	return copy;
}

void srnic_early_keep(struct srnic_early *early, struct sk_buff *skb, u32 psn,
		      u32 next)
{
	struct srnic_early_slot *slot;

	if (srnic_psn_diff(psn, next) >= SRNIC_EARLY_MAX)
		return;
	if (!early->slot)
		early->slot = kcalloc(SRNIC_EARLY_MAX, sizeof(*early->slot),
				      GFP_ATOMIC | __GFP_NOWARN);
	if (!early->slot)
		return;

	slot = &early->slot[psn % SRNIC_EARLY_MAX];
	early_drop(early, slot);
	slot->skb = early_alone(skb);
	slot->psn = psn;
	if (slot->skb)
		early->num++;
}

bool srnic_early_has(const struct srnic_early *early, u32 psn)
{
	const struct srnic_early_slot *slot;

	if (!early->num)
		return false;
	slot = &early->slot[psn % SRNIC_EARLY_MAX];

	return slot->skb && slot->psn == psn;
}

u32 srnic_early_gap(const struct srnic_early *early, u32 psn, u32 max)
{
	u32 n = 1;

	if (!early->num)
		return max;
	while (n < max && !srnic_early_has(early, srnic_psn_add(psn, n)))
		n++;

	return n;
}

struct sk_buff *srnic_early_take(struct srnic_early *early, u32 psn)
{
	struct srnic_early_slot *slot;
	struct sk_buff *skb;

	if (!srnic_early_has(early, psn))
		return NULL;

	slot = &early->slot[psn % SRNIC_EARLY_MAX];
	skb = slot->skb;
	slot->skb = NULL;
	early->num--;

	return skb;
}

void srnic_early_purge(struct srnic_early *early)
{
	u32 i;

	for (i = 0; early->num; i++)
		early_drop(early, &early->slot[i]);
	kfree(early->slot);
	early->slot = NULL;
}
