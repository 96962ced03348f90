/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - replies of the responder, except READ data
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

/* Number of PSNs accepted before @psn, which is not ahead of the expected PSN */
static inline u64 srnic_resp_seq(const struct srnic_resp *resp, u32 psn)
{
	return resp->seq - ((resp->psn - psn) & SRNIC_PSN_MASK);
}

/* Opcode of the response to a request of @family other than READ.  Pure. */
u8 srnic_resp_reply_opcode(u8 family);

/* Drops the message in progress; its receive is reused for the next one. */
void srnic_resp_drop(struct srnic_qp *qp);

/*
 * Sends the ACK that is owed, if any.  @may_wait: the requester may soon send a request
 * that it could leave with.
 */
void srnic_resp_ack(struct srnic_qp *qp, bool may_wait);

/* Sends a NAK, which also acknowledges everything before @psn. */
void srnic_resp_nak(struct srnic_qp *qp, u32 psn, u8 syndrome);

/* Reports that a request failed to the peer, the completion queue and the QP. */
void srnic_resp_fail(struct srnic_qp *qp, const struct srnic_failure *failure);

/* Sends the response to a request or to a duplicate of it, as a packet. */
void srnic_resp_reply(struct srnic_qp *qp, u8 family, u32 psn);

/* Builds the response to the request with @psn, other than a READ, for loopback. */
void srnic_resp_answer(struct srnic_qp *qp, u8 family, u32 psn,
		       struct srnic_seg *seg);

#endif /* SRNIC_XPORT_RESP_REPLY_H */
