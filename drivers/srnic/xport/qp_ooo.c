// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - out-of-order packets kept by a queue pair
 *
 * Both halves keep such packets; one timer drops them when there has been no progress
 * for some seconds.
 */
#include "flight.h"
#include "ooo.h"
#include "qp.h"
#include "qp_ooo.h"

/* Packets are dropped after one to two of these periods without progress */
#define OOO_AGE	(4 * HZ)

static void ooo_timer(struct timer_list *timer)
{
	struct srnic_qp *qp = container_of(timer, struct srnic_qp, ooo_timer);

	WRITE_ONCE(qp->ooo_fired, true);	/* read in srnic_qp_ooo_check() */
	srnic_task_kick(&qp->task);
}

void srnic_qp_ooo_init(struct srnic_qp *qp)
{
	timer_setup(&qp->ooo_timer, ooo_timer, 0);
}

/* A packet has been dropped.  If it was a response, it has to be requested again. */
static void ooo_dropped(struct srnic_qp *qp, const struct srnic_ooo *ooo)
{
	if (ooo == &qp->req.ooo)
		srnic_flight_dropped(&qp->req.flight, true, ktime_get_ns());
}

void srnic_qp_ooo_keep(struct srnic_qp *qp, struct srnic_ooo *ooo,
		       const struct sk_buff *skb, u32 psn, u32 next)
{
	srnic_task_assert_mine(&qp->task);

	if (srnic_psn_diff(psn, next) >= SRNIC_OOO_MAX)
		return;
	if (!srnic_ooo_put(ooo, &qp->pools->ooo, skb, psn)) {
		srnic_qp_refuse(qp, SRNIC_CNT_RX_EARLY);
		ooo_dropped(qp, ooo);
	} else if (!timer_pending(&qp->ooo_timer)) {
		mod_timer(&qp->ooo_timer, jiffies + OOO_AGE);
	}
}

/* Drops what one half keeps; the peer has to retransmit it. */
static void ooo_lose(struct srnic_qp *qp, struct srnic_ooo *ooo)
{
	if (ooo->num)
		ooo_dropped(qp, ooo);
	srnic_count_add(qp->stats, SRNIC_CNT_RX_EARLY, ooo->num);
	srnic_ooo_purge(ooo);
}

void srnic_qp_ooo_lose(struct srnic_qp *qp)
{
	srnic_task_assert_mine(&qp->task);

	ooo_lose(qp, &qp->resp.ooo);
	ooo_lose(qp, &qp->req.ooo);
}

/* Drops what is kept if @next was already expected at the last check. */
static void ooo_age(struct srnic_qp *qp, struct srnic_ooo *ooo, u32 next)
{
	if (!ooo->num)
		return;

	if (ooo->aged && ooo->psn == next) {
		ooo_lose(qp, ooo);
		return;
	}
	ooo->aged = true;
	ooo->psn = next;
	mod_timer(&qp->ooo_timer, jiffies + OOO_AGE);
}

void srnic_qp_ooo_expire(struct srnic_qp *qp)
{
	srnic_task_assert_mine(&qp->task);

	WRITE_ONCE(qp->ooo_fired, false);
	ooo_age(qp, &qp->resp.ooo, qp->resp.psn);
	ooo_age(qp, &qp->req.ooo, qp->req.flight.una);
}

void srnic_qp_ooo_stop(struct srnic_qp *qp)
{
	srnic_task_assert_mine(&qp->task);

	timer_delete_sync(&qp->ooo_timer);
	qp->ooo_fired = false;
	srnic_ooo_purge(&qp->resp.ooo);
	srnic_ooo_purge(&qp->req.ooo);
}
