// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - requests that came before one that is missing
 *
 * They wait here for their turn, so that a lost packet costs that packet and not
 * all that was sent behind it.  The requester learns of it by the next
 * acknowledgment, as if they had come in order.
 */
#include <linux/slab.h>

#include "proto.h"

static void early_drop(struct srnic_resp *resp, struct srnic_early *slot)
{
	if (!slot->skb)
		return;

	kfree_skb(slot->skb);
	slot->skb = NULL;
	resp->num_early--;
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

void srnic_early_keep(struct srnic_qp *qp, struct sk_buff *skb, u32 psn)
{
	struct srnic_resp *resp = &qp->resp;
	struct srnic_early *slot;

	if (srnic_psn_diff(psn, resp->psn) >= SRNIC_EARLY_MAX)
		return;
	if (!resp->early)
		resp->early = kcalloc(SRNIC_EARLY_MAX, sizeof(*resp->early),
				      GFP_ATOMIC | __GFP_NOWARN);
	if (!resp->early)
		return;

	slot = &resp->early[psn % SRNIC_EARLY_MAX];
	early_drop(resp, slot);
	slot->skb = early_alone(skb);
	slot->psn = psn;
	if (slot->skb)
		resp->num_early++;
}

struct sk_buff *srnic_early_take(struct srnic_qp *qp, u32 psn)
{
	struct srnic_resp *resp = &qp->resp;
	struct srnic_early *slot = &resp->early[psn % SRNIC_EARLY_MAX];
	struct sk_buff *skb = slot->skb;

	if (!skb || slot->psn != psn)
		return NULL;

	slot->skb = NULL;
	resp->num_early--;

	return skb;
}

void srnic_early_purge(struct srnic_qp *qp)
{
	struct srnic_resp *resp = &qp->resp;
	u32 i;

	for (i = 0; resp->num_early; i++)
		early_drop(resp, &resp->early[i]);
	kfree(resp->early);
	resp->early = NULL;
}
