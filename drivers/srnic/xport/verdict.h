/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - verdicts: what is wrong with a request, and the consequences
 *
 * Pure: values in, verdict out.
 */
#ifndef SRNIC_XPORT_VERDICT_H
#define SRNIC_XPORT_VERDICT_H

#include <linux/types.h>

#include "../wire/opcode.h"

/* What may be wrong with a request, from the responder's point of view */
enum srnic_verdict {
	SRNIC_V_OK,
	SRNIC_V_RNR,		/* no receive posted */
	SRNIC_V_SEQ,		/* opcode out of order */
	SRNIC_V_INV_REQ,	/* not allowed on this QP, or malformed */
	SRNIC_V_LENGTH,		/* longer than the receive buffer */
	SRNIC_V_ACCESS,		/* remote key, range or access right */
	SRNIC_V_LOCAL_PROT,	/* SGE of the receive is bad */
	SRNIC_V_LOCAL_OP,	/* receive work request is malformed */
	SRNIC_V_INVALIDATE,	/* key cannot be invalidated */
	SRNIC_V_NUM
};

/**
 * struct srnic_fault - consequences of a verdict
 * @name: for trace points
 * @syndrome: AETH syndrome of the NAK
 * @status: enum ib_wc_status of the receive in progress
 * @event: async event, if no receive completes with @status
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
