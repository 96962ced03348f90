/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - congestion: ECN marks received, CNPs sent and obeyed
 */
#ifndef SRNIC_XPORT_CC_H
#define SRNIC_XPORT_CC_H

#include "qp.h"

void srnic_cc_init(struct srnic_qp *qp);

void srnic_cc_reset(struct srnic_qp *qp);

/* Traffic class of packets that @qp sends, if the user requested @tos */
u8 srnic_cc_tos(const struct srnic_qp *qp, u8 tos);

/* Handles a packet for @qp that arrived with an ECN mark. */
void srnic_cc_marked(struct srnic_qp *qp, const struct srnic_pkt *pkt);

/* Handles a CNP from the peer, or from someone who forges its address. */
void srnic_cc_cnp(struct srnic_qp *qp, const struct srnic_pkt *pkt);

/*
 * Keeps @skb, if it is a CNP, for the next run of the task: it must not queue behind
 * requests that wait for a READ response, which the CNP is to slow down.  False: it is
 * not a CNP, or one is kept already.  Context: BH disabled.
 */
bool srnic_cc_keep_cnp(struct srnic_qp *qp, struct sk_buff *skb);

/* May the next burst leave?  If not, a timer kicks the task when it may. */
bool srnic_cc_pace(struct srnic_qp *qp);

static inline struct sk_buff *srnic_cc_take_cnp(struct srnic_qp *qp)
{
	/* stored in srnic_cc_keep_cnp(), before the task is kicked */
	return READ_ONCE(qp->cc.cnp) ? xchg(&qp->cc.cnp, NULL) : NULL;
}

/* Does the rate of @qp allow another packet? */
static inline bool srnic_cc_open(struct srnic_qp *qp)
{
	return !qp->cc.limited || srnic_cc_pace(qp);
}

/* Would a full-sized packet use up the credit? */
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
