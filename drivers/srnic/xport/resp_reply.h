/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - what the responder answers, but for the data of a READ
 */
#ifndef SRNIC_XPORT_RESP_REPLY_H
#define SRNIC_XPORT_RESP_REPLY_H

#include "seg.h"
#include "verdict.h"

static inline void srnic_resp_put_mr(struct srnic_mr **mr)
{
	if (*mr)
		srnic_mr_put(*mr);
	*mr = NULL;
}

/* PSNs accepted before @psn, which is not ahead of what is expected. */
static inline u64 srnic_resp_seq(const struct srnic_resp *resp, u32 psn)
{
	return resp->seq - ((resp->psn - psn) & SRNIC_PSN_MASK);
}

/* What answers a request that is remembered, but for READ.  Pure. */
u8 srnic_resp_reply_opcode(u8 family);

/*
 * Forgets the message in progress; the receive that it has taken is as good as
 * new for the next.
 */
void srnic_resp_drop(struct srnic_qp *qp);

/* The ACK that is owed. */
void srnic_resp_ack(struct srnic_qp *qp);

/* What was received before the packet at fault is acknowledged by the NAK. */
void srnic_resp_nak(struct srnic_qp *qp, u32 psn, u8 syndrome);

/* Makes a verdict known to the peer, the completion queue and the QP. */
void srnic_resp_fail(struct srnic_qp *qp, u32 psn, enum srnic_verdict verdict);

/* Answers it, again perhaps, by a packet. */
void srnic_resp_reply(struct srnic_qp *qp, u8 family, u32 psn);

/* The answer to the request with @psn, no READ, for one on the same device. */
void srnic_resp_answer(struct srnic_qp *qp, u8 family, u32 psn,
		       struct srnic_seg *seg);

#endif /* SRNIC_XPORT_RESP_REPLY_H */
