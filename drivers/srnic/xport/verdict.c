// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - verdicts: what is wrong with a request or a queue pair, and the consequences
 *
 * Checks return a verdict and decide nothing else; the table defines the NAK, the
 * completion and the event that follow.  IBTA volume 1, 9.9.3, responder error
 * behaviour.
 */
#include <rdma/ib_verbs.h>

#include "../wire/aeth.h"
#include "verdict.h"

const struct srnic_fault srnic_faults[SRNIC_V_NUM] = {
	/* Not fatal; reply_not_ready() handles it. */
	[SRNIC_V_RNR]		= { "no receive" },
	[SRNIC_V_SEQ]		= { "order of opcodes",
				    SRNIC_AETH_NAK_INV_REQ,
				    IB_WC_REM_INV_REQ_ERR,
				    IB_EVENT_QP_REQ_ERR },
	[SRNIC_V_SIZE]		= { "packet size",
				    SRNIC_AETH_NAK_INV_REQ,
				    IB_WC_REM_INV_REQ_ERR,
				    IB_EVENT_QP_REQ_ERR },
	[SRNIC_V_MESSAGE]	= { "message length",
				    SRNIC_AETH_NAK_INV_REQ,
				    IB_WC_REM_INV_REQ_ERR,
				    IB_EVENT_QP_REQ_ERR },
	[SRNIC_V_INV_REQ]	= { "invalid request",
				    SRNIC_AETH_NAK_INV_REQ,
				    IB_WC_REM_INV_REQ_ERR,
				    IB_EVENT_QP_REQ_ERR },
	[SRNIC_V_QP_ACCESS]	= { "queue pair access",
				    SRNIC_AETH_NAK_INV_REQ,
				    IB_WC_REM_INV_REQ_ERR,
				    IB_EVENT_QP_REQ_ERR },
	[SRNIC_V_QP_DEPTH]	= { "max_dest_rd_atomic",
				    SRNIC_AETH_NAK_INV_REQ,
				    IB_WC_REM_INV_REQ_ERR,
				    IB_EVENT_QP_REQ_ERR },
	[SRNIC_V_ALIGN]		= { "alignment",
				    SRNIC_AETH_NAK_INV_REQ,
				    IB_WC_REM_INV_REQ_ERR,
				    IB_EVENT_QP_REQ_ERR },
	[SRNIC_V_SRQ]		= { "no receive queue",
				    SRNIC_AETH_NAK_INV_REQ,
				    IB_WC_REM_INV_REQ_ERR,
				    IB_EVENT_QP_REQ_ERR },
	[SRNIC_V_LENGTH]	= { "length",
				    SRNIC_AETH_NAK_INV_REQ,
				    IB_WC_LOC_LEN_ERR,
				    IB_EVENT_QP_REQ_ERR },
	[SRNIC_V_ACCESS]	= { "access",
				    SRNIC_AETH_NAK_REM_ACC,
				    IB_WC_LOC_ACCESS_ERR,
				    IB_EVENT_QP_ACCESS_ERR },
	[SRNIC_V_LOCAL_PROT]	= { "protection of the receive",
				    SRNIC_AETH_NAK_REM_OP,
				    IB_WC_LOC_PROT_ERR,
				    IB_EVENT_QP_FATAL, true },
	[SRNIC_V_LOCAL_OP]	= { "malformed receive",
				    SRNIC_AETH_NAK_REM_OP,
				    IB_WC_LOC_QP_OP_ERR,
				    IB_EVENT_QP_FATAL, true },
	[SRNIC_V_RECV_RING]	= { "receive queue index",
				    SRNIC_AETH_NAK_REM_OP,
				    .event = IB_EVENT_QP_FATAL, .local = true },
	[SRNIC_V_INVALIDATE]	= { "invalidation",
				    SRNIC_AETH_NAK_REM_ACC,
				    IB_WC_LOC_ACCESS_ERR,
				    IB_EVENT_QP_ACCESS_ERR },
	[SRNIC_V_WR]		= { "malformed work request",
				    .status = IB_WC_LOC_QP_OP_ERR },
	[SRNIC_V_WR_LENGTH]	= { "work request length",
				    .status = IB_WC_LOC_LEN_ERR },
	[SRNIC_V_WR_DEPTH]	= { "max_rd_atomic",
				    .status = IB_WC_LOC_QP_OP_ERR },
	[SRNIC_V_WR_KEY]	= { "key operation",
				    .status = IB_WC_MW_BIND_ERR },
	[SRNIC_V_WR_AH]		= { "no address handle",
				    .status = IB_WC_LOC_QP_OP_ERR },
	[SRNIC_V_SOURCE]	= { "protection of the source",
				    .status = IB_WC_LOC_PROT_ERR },
	[SRNIC_V_SINK]		= { "protection of the destination",
				    .status = IB_WC_LOC_PROT_ERR },
	[SRNIC_V_NAK_INV_REQ]	= { "NAK invalid request",
				    SRNIC_AETH_NAK_INV_REQ,
				    IB_WC_REM_INV_REQ_ERR },
	[SRNIC_V_NAK_REM_ACC]	= { "NAK remote access",
				    SRNIC_AETH_NAK_REM_ACC,
				    IB_WC_REM_ACCESS_ERR },
	[SRNIC_V_NAK_REM_OP]	= { "NAK remote operation",
				    SRNIC_AETH_NAK_REM_OP,
				    IB_WC_REM_OP_ERR },
	[SRNIC_V_NAK_INV_RD]	= { "NAK invalid RD request",
				    SRNIC_AETH_NAK_INV_RD,
				    IB_WC_REM_INV_RD_REQ_ERR },
	[SRNIC_V_NAK_RNR]	= { "RNR retries exceeded",
				    SRNIC_AETH_RNR,
				    IB_WC_RNR_RETRY_EXC_ERR },
	[SRNIC_V_SILENCE]	= { "retries exceeded",
				    .status = IB_WC_RETRY_EXC_ERR },
	[SRNIC_V_RESPONSE]	= { "bad response",
				    .status = IB_WC_BAD_RESP_ERR },
	[SRNIC_V_SEND_RING]	= { "send queue index",
				    .event = IB_EVENT_QP_FATAL },
	[SRNIC_V_OVERRUN]	= { "completion queue overrun",
				    .event = IB_EVENT_QP_FATAL },
	[SRNIC_V_PATH]		= { "path gone",
				    .event = IB_EVENT_QP_FATAL },
};

enum srnic_verdict srnic_check_order(u8 open, const struct srnic_op *op)
{
	bool start = op->flags & SRNIC_OP_START;

	if (open == SRNIC_FAM_NONE)
		return start ? SRNIC_V_OK : SRNIC_V_SEQ;

	return !start && op->family == open ? SRNIC_V_OK : SRNIC_V_SEQ;
}

bool srnic_check_size(const struct srnic_op *op, u32 payload, u16 mtu)
{
	if (!(op->flags & SRNIC_OP_END))
		return payload == mtu;
	if (!(op->flags & SRNIC_OP_START) && !payload)
		return false;

	return payload <= mtu;
}
