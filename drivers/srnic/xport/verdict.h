/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - verdicts: what is wrong with a request or a queue pair, and the consequences
 *
 * Pure: values in, verdict out.
 */
#ifndef SRNIC_XPORT_VERDICT_H
#define SRNIC_XPORT_VERDICT_H

#include <linux/types.h>

#include "../wire/opcode.h"

enum srnic_verdict {
	SRNIC_V_OK,

	/* a request of the peer, from the responder's point of view */
	SRNIC_V_RNR,		/* no receive posted */
	SRNIC_V_SEQ,		/* opcode out of order */
	SRNIC_V_SIZE,		/* payload does not suit the path MTU */
	SRNIC_V_MESSAGE,	/* length of the message is invalid or not kept to */
	SRNIC_V_INV_REQ,	/* malformed in another way */
	SRNIC_V_QP_ACCESS,	/* not among the access flags of the QP */
	SRNIC_V_QP_DEPTH,	/* READ or atomic, max_dest_rd_atomic is 0 */
	SRNIC_V_ALIGN,		/* atomic at an address that is not aligned */
	SRNIC_V_SRQ,		/* XRC: names no SRQ of the domain */
	SRNIC_V_LENGTH,		/* longer than the receive buffer */
	SRNIC_V_ACCESS,		/* remote key, range or access right */
	SRNIC_V_LOCAL_PROT,	/* SGE of the receive is bad */
	SRNIC_V_LOCAL_OP,	/* receive work request is malformed */
	SRNIC_V_RECV_RING,	/* index of the receive queue is invalid */
	SRNIC_V_INVALIDATE,	/* key cannot be invalidated */

	/* a work request, from the requester's point of view */
	SRNIC_V_WR,		/* malformed, or not for this type of QP */
	SRNIC_V_WR_LENGTH,	/* length is not valid for the operation */
	SRNIC_V_WR_DEPTH,	/* READ or atomic, max_rd_atomic is 0 */
	SRNIC_V_WR_KEY,		/* local operation: the key cannot be bound or invalidated */
	SRNIC_V_WR_AH,		/* no such address vector */
	SRNIC_V_SOURCE,		/* SGE that data is read from is bad */
	SRNIC_V_SINK,		/* SGE that the answer is written to is bad */
	SRNIC_V_NAK_INV_REQ,	/* the peer refused it */
	SRNIC_V_NAK_REM_ACC,
	SRNIC_V_NAK_REM_OP,
	SRNIC_V_NAK_INV_RD,
	SRNIC_V_NAK_RNR,	/* RNR retries exceeded */
	SRNIC_V_SILENCE,	/* retries exceeded */
	SRNIC_V_RESPONSE,	/* the response does not suit the request */

	/* the queue pair */
	SRNIC_V_SEND_RING,	/* index of the send queue is invalid */
	SRNIC_V_OVERRUN,	/* a completion was lost */
	SRNIC_V_PATH,		/* netdev of the path is gone */
	SRNIC_V_NUM
};

/**
 * struct srnic_fault - consequences of a verdict
 * @name: for trace points and "rdma resource"
 * @syndrome: AETH syndrome of the NAK that is sent; requester: that was received
 * @status: enum ib_wc_status of the receive in progress, or of the work request
 * @event: async event, if no completion reports @status
 * @local: the fault is the responder's own and ends the QP even on services without
 *	   NAKs
 */
struct srnic_fault {
	const char	*name;
	u8		syndrome;
	u8		status;
	u8		event;
	bool		local;
};

extern const struct srnic_fault srnic_faults[SRNIC_V_NUM];

/* Is @op allowed while a message of family @open is in progress?  Pure. */
enum srnic_verdict srnic_check_order(u8 open, const struct srnic_op *op);

/* Is the payload size valid for this position in the message?  Pure. */
bool srnic_check_size(const struct srnic_op *op, u32 payload, u16 mtu);

#endif /* SRNIC_XPORT_VERDICT_H */
