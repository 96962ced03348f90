/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - congestion: marks noticed, notifications sent and obeyed
 */
#ifndef SRNIC_XPORT_CC_H
#define SRNIC_XPORT_CC_H

#include "qp.h"

void srnic_cc_init(struct srnic_qp *qp);

void srnic_cc_reset(struct srnic_qp *qp);

/* The traffic class of what @qp sends, where the user wants @tos. */
u8 srnic_cc_tos(const struct srnic_qp *qp, u8 tos);

/* A packet for @qp came with a mark. */
void srnic_cc_marked(struct srnic_qp *qp, const struct srnic_pkt *pkt);

/* The peer, or who can send in its name, got marks. */
void srnic_cc_cnp(struct srnic_qp *qp, const struct srnic_pkt *pkt);

/*
 * Keeps @skb, if it is a CNP, for the next run of the task: it must not wait
 * behind requests that wait for a READ to be answered, which it is to slow down.
 * False: it is none, or one is kept already.  Context: BH disabled.
 */
bool srnic_cc_keep_cnp(struct srnic_qp *qp, struct sk_buff *skb);

/* May the next burst leave?  If not, the task is kicked when it may. */
bool srnic_cc_pace(struct srnic_qp *qp);

static inline struct sk_buff *srnic_cc_take_cnp(struct srnic_qp *qp)
{
	/* stored in srnic_cc_keep_cnp(), before the task is kicked */
	return READ_ONCE(qp->cc.cnp) ? xchg(&qp->cc.cnp, NULL) : NULL;
}

/* May @qp send a packet as far as its rate is concerned? */
static inline bool srnic_cc_open(struct srnic_qp *qp)
{
	return !qp->cc.limited || srnic_cc_pace(qp);
}

/* Will a packet of full size be the last for a while? */
static inline bool srnic_cc_is_last(const struct srnic_qp *qp)
{
	return qp->cc.limited &&
	       qp->cc.credit <= qp->conf.mtu + SRNIC_HDR_MAX + SRNIC_ICRC_BYTES;
}

static inline void srnic_cc_spend(struct srnic_qp *qp, u32 bytes)
{
	if (!qp->cc.limited)
		return;

	qp->cc.credit -= min(qp->cc.credit, bytes);
	qp->cc.rate.bytes += bytes;
}

#endif /* SRNIC_XPORT_CC_H */
