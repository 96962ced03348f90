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
	if (!slot->run)
		return;

	kfree_skb(slot->run);
	slot->run = NULL;
	resp->num_early--;
}

void srnic_early_keep(struct srnic_qp *qp, struct sk_buff *run,
		      struct sk_buff *seg, u32 psn)
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
	slot->run = skb_get(run);
	slot->seg = seg;
	slot->psn = psn;
	resp->num_early++;
}

struct sk_buff *srnic_early_take(struct srnic_qp *qp, u32 psn,
				 struct sk_buff **run)
{
	struct srnic_resp *resp = &qp->resp;
	struct srnic_early *slot = &resp->early[psn % SRNIC_EARLY_MAX];

	if (!slot->run || slot->psn != psn)
		return NULL;

	*run = slot->run;
	slot->run = NULL;
	resp->num_early--;

	return slot->seg;
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
