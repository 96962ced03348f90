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
#include <linux/slab.h>

#include "proto.h"

/* How long nothing may come, between once and twice that */
#define EARLY_AGE	(4 * HZ)

#define EARLY_SLOTS_BYTES \
	(SRNIC_EARLY_MAX * sizeof(struct srnic_early_slot))

/* In softirq. */
static void early_timer(struct timer_list *timer)
{
	struct srnic_qp *qp = container_of(timer, struct srnic_qp, early_timer);

	WRITE_ONCE(qp->early_fired, true);	/* read in srnic_early_check() */
	srnic_task_kick(&qp->task);
}

void srnic_early_init(struct srnic_qp *qp)
{
	timer_setup(&qp->early_timer, early_timer, 0);
}

static void early_put(struct srnic_early *early, struct srnic_early_slot *slot,
		      struct sk_buff *skb, u32 psn)
{
	slot->skb = skb;
	slot->psn = psn;
	early->num++;
	early->bytes += skb->truesize;
}

/* Takes the packet out of its slot; it is charged no more. */
static struct sk_buff *early_get(struct srnic_early *early,
				 struct srnic_early_slot *slot)
{
	struct sk_buff *skb = slot->skb;

	if (!skb)
		return NULL;

	slot->skb = NULL;
	early->num--;
	early->bytes -= skb->truesize;
	srnic_pool_uncharge(early->pool, skb->truesize);

	return skb;
}

/* The packet alone: what it came in may be large, and not the host's to keep. */
static struct sk_buff *early_copy(const struct sk_buff *skb)
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
static bool early_slots(struct srnic_qp *qp, struct srnic_early *early)
{
	struct srnic_pool *pool = &qp->pools->early;

	if (early->slot)
		return true;
	if (!srnic_pool_charge(pool, EARLY_SLOTS_BYTES))
		return false;
	early->slot = kcalloc(SRNIC_EARLY_MAX, sizeof(*early->slot),
			      GFP_ATOMIC | __GFP_NOWARN);
	if (!early->slot) {
		srnic_pool_uncharge(pool, EARLY_SLOTS_BYTES);
		return false;
	}
	early->pool = pool;
	early->bytes = EARLY_SLOTS_BYTES;

	return true;
}

static bool early_keep(struct srnic_qp *qp, struct srnic_early *early,
		       const struct sk_buff *skb, u32 psn)
{
	struct srnic_early_slot *slot;
	struct sk_buff *copy;

	if (!early_slots(qp, early))
		return false;
	slot = &early->slot[psn % SRNIC_EARLY_MAX];
	kfree_skb(early_get(early, slot));
	copy = early_copy(skb);
	if (!copy || !srnic_pool_charge(early->pool, copy->truesize)) {
		kfree_skb(copy);
		if (!early->num)
			srnic_early_purge(early);
		return false;
	}
	early_put(early, slot, copy, psn);
	if (!timer_pending(&qp->early_timer))
		mod_timer(&qp->early_timer, jiffies + EARLY_AGE);

	return true;
}

void srnic_early_keep(struct srnic_qp *qp, struct srnic_early *early,
		      const struct sk_buff *skb, u32 psn, u32 next)
{
	if (srnic_psn_diff(psn, next) < SRNIC_EARLY_MAX &&
	    !early_keep(qp, early, skb, psn))
		srnic_qp_refuse(qp, SRNIC_CNT_RX_EARLY);
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
	if (!srnic_early_has(early, psn))
		return NULL;

	return early_get(early, &early->slot[psn % SRNIC_EARLY_MAX]);
}

void srnic_early_give_back(struct srnic_early *early, struct sk_buff *skb,
			   u32 psn)
{
	struct srnic_early_slot *slot = &early->slot[psn % SRNIC_EARLY_MAX];

	kfree_skb(early_get(early, slot));
	srnic_pool_recharge(early->pool, skb->truesize);
	early_put(early, slot, skb, psn);
}

void srnic_early_purge(struct srnic_early *early)
{
	u32 i;

	if (!early->slot)
		return;

	for (i = 0; early->num; i++)
		kfree_skb(early_get(early, &early->slot[i]));
	kfree(early->slot);
	srnic_pool_uncharge(early->pool, EARLY_SLOTS_BYTES);
	memset(early, 0, sizeof(*early));
}

/* Drops what is kept for one half; the peer has to retransmit it. */
static void early_lose(struct srnic_qp *qp, struct srnic_early *early)
{
	srnic_count_add(qp->stats, SRNIC_CNT_RX_EARLY, early->num);
	srnic_early_purge(early);
}

void srnic_early_lose(struct srnic_qp *qp)
{
	early_lose(qp, &qp->resp.early);
	early_lose(qp, &qp->req.early);
}

/* @next is expected, which was so long ago perhaps. */
static void early_age(struct srnic_qp *qp, struct srnic_early *early, u32 next)
{
	if (!early->slot)
		return;

	if (!early->num || (early->aged && early->psn == next)) {
		early_lose(qp, early);
		return;
	}
	early->aged = true;
	early->psn = next;
	mod_timer(&qp->early_timer, jiffies + EARLY_AGE);
}

void srnic_early_expire(struct srnic_qp *qp)
{
	WRITE_ONCE(qp->early_fired, false);
	early_age(qp, &qp->resp.early, qp->resp.psn);
	early_age(qp, &qp->req.early, qp->req.una);
}

void srnic_early_stop(struct srnic_qp *qp)
{
	timer_delete_sync(&qp->early_timer);
	qp->early_fired = false;
	srnic_early_purge(&qp->resp.early);
	srnic_early_purge(&qp->req.early);
}
