// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - verdicts: what is wrong with a request, and the consequences
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
	[SRNIC_V_INV_REQ]	= { "invalid request",
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
	[SRNIC_V_INVALIDATE]	= { "invalidation",
				    SRNIC_AETH_NAK_REM_ACC,
				    IB_WC_LOC_ACCESS_ERR,
				    IB_EVENT_QP_ACCESS_ERR },
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
