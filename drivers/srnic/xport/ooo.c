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
#define OOO_AGE	(4 * HZ)

#define OOO_SLOTS_BYTES \
	(SRNIC_OOO_MAX * sizeof(struct srnic_ooo_slot))

/* In softirq. */
static void ooo_timer(struct timer_list *timer)
{
	struct srnic_qp *qp = container_of(timer, struct srnic_qp, ooo_timer);

	WRITE_ONCE(qp->ooo_fired, true);	/* read in srnic_ooo_check() */
	srnic_task_kick(&qp->task);
}

void srnic_ooo_init(struct srnic_qp *qp)
{
	timer_setup(&qp->ooo_timer, ooo_timer, 0);
}

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
static bool ooo_slots(struct srnic_qp *qp, struct srnic_ooo *ooo)
{
	struct srnic_pool *pool = &qp->pools->ooo;

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

static bool ooo_keep(struct srnic_qp *qp, struct srnic_ooo *ooo,
		     const struct sk_buff *skb, u32 psn)
{
	struct srnic_ooo_slot *slot;
	struct sk_buff *copy;

	if (!ooo_slots(qp, ooo))
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
	if (!timer_pending(&qp->ooo_timer))
		mod_timer(&qp->ooo_timer, jiffies + OOO_AGE);

	return true;
}

void srnic_ooo_keep(struct srnic_qp *qp, struct srnic_ooo *ooo,
		    const struct sk_buff *skb, u32 psn, u32 next)
{
	if (srnic_psn_diff(psn, next) < SRNIC_OOO_MAX &&
	    !ooo_keep(qp, ooo, skb, psn))
		srnic_qp_refuse(qp, SRNIC_CNT_RX_EARLY);
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

/* Drops what is kept for one half; the peer has to retransmit it. */
static void ooo_lose(struct srnic_qp *qp, struct srnic_ooo *ooo)
{
	srnic_count_add(qp->stats, SRNIC_CNT_RX_EARLY, ooo->num);
	srnic_ooo_purge(ooo);
}

void srnic_ooo_lose(struct srnic_qp *qp)
{
	ooo_lose(qp, &qp->resp.ooo);
	ooo_lose(qp, &qp->req.ooo);
}

/* @next is expected, which was so long ago perhaps. */
static void ooo_age(struct srnic_qp *qp, struct srnic_ooo *ooo, u32 next)
{
	if (!ooo->slot)
		return;

	if (!ooo->num || (ooo->aged && ooo->psn == next)) {
		ooo_lose(qp, ooo);
		return;
	}
	ooo->aged = true;
	ooo->psn = next;
	mod_timer(&qp->ooo_timer, jiffies + OOO_AGE);
}

void srnic_ooo_expire(struct srnic_qp *qp)
{
	WRITE_ONCE(qp->ooo_fired, false);
	ooo_age(qp, &qp->resp.ooo, qp->resp.psn);
	ooo_age(qp, &qp->req.ooo, qp->req.una);
}

void srnic_ooo_stop(struct srnic_qp *qp)
{
	timer_delete_sync(&qp->ooo_timer);
	qp->ooo_fired = false;
	srnic_ooo_purge(&qp->resp.ooo);
	srnic_ooo_purge(&qp->req.ooo);
}
