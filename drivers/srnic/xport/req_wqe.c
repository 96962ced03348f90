// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - work requests that the requester takes and completes
 */
#include "../trace.h"
#include "ooo.h"
#include "qp.h"
#include "qp_state.h"
#include "req_wqe.h"

/* Completion opcode of a work request, by enum ib_uverbs_wr_opcode */
static const u8 req_wc_opcodes[] = {
	[IB_WR_RDMA_WRITE]		= IB_UVERBS_WC_RDMA_WRITE,
	[IB_WR_RDMA_WRITE_WITH_IMM]	= IB_UVERBS_WC_RDMA_WRITE,
	[IB_WR_SEND]			= IB_UVERBS_WC_SEND,
	[IB_WR_SEND_WITH_IMM]		= IB_UVERBS_WC_SEND,
	[IB_WR_RDMA_READ]		= IB_UVERBS_WC_RDMA_READ,
	[IB_WR_ATOMIC_CMP_AND_SWP]	= IB_UVERBS_WC_COMP_SWAP,
	[IB_WR_ATOMIC_FETCH_AND_ADD]	= IB_UVERBS_WC_FETCH_ADD,
	[IB_WR_LOCAL_INV]		= IB_UVERBS_WC_LOCAL_INV,
	[IB_WR_BIND_MW]			= IB_UVERBS_WC_BIND_MW,
	[IB_WR_SEND_WITH_INV]		= IB_UVERBS_WC_SEND,
	[IB_WR_FLUSH]			= IB_UVERBS_WC_FLUSH,
	[IB_WR_ATOMIC_WRITE]		= IB_UVERBS_WC_ATOMIC_WRITE,
	[IB_WR_REG_MR]			= IB_WC_REG_MR,
};

/* What answers a work request other than an acknowledgment */
static const u8 req_answers[] = {
	[IB_WR_RDMA_READ]		= SRNIC_FAM_READ_RESP,
	[IB_WR_ATOMIC_CMP_AND_SWP]	= SRNIC_FAM_ATOMIC_ACK,
	[IB_WR_ATOMIC_FETCH_AND_ADD]	= SRNIC_FAM_ATOMIC_ACK,
	[IB_WR_FLUSH]			= SRNIC_FAM_READ_RESP,
	[IB_WR_ATOMIC_WRITE]		= SRNIC_FAM_READ_RESP,
};

/**
 * struct req_codes - opcodes of the packets of one operation
 * @only: the message is one packet
 * @first: first of several
 * @middle: neither first nor last
 * @last: last of several
 */
struct req_codes {
	u8	only;
	u8	first;
	u8	middle;
	u8	last;
};

static const struct req_codes req_codes[] = {
	[IB_WR_RDMA_WRITE] = {
		SRNIC_OP_WRITE_ONLY, SRNIC_OP_WRITE_FIRST,
		SRNIC_OP_WRITE_MIDDLE, SRNIC_OP_WRITE_LAST,
	},
	[IB_WR_RDMA_WRITE_WITH_IMM] = {
		SRNIC_OP_WRITE_ONLY_IMM, SRNIC_OP_WRITE_FIRST,
		SRNIC_OP_WRITE_MIDDLE, SRNIC_OP_WRITE_LAST_IMM,
	},
	[IB_WR_SEND] = {
		SRNIC_OP_SEND_ONLY, SRNIC_OP_SEND_FIRST,
		SRNIC_OP_SEND_MIDDLE, SRNIC_OP_SEND_LAST,
	},
	[IB_WR_SEND_WITH_IMM] = {
		SRNIC_OP_SEND_ONLY_IMM, SRNIC_OP_SEND_FIRST,
		SRNIC_OP_SEND_MIDDLE, SRNIC_OP_SEND_LAST_IMM,
	},
	[IB_WR_SEND_WITH_INV] = {
		SRNIC_OP_SEND_ONLY_INV, SRNIC_OP_SEND_FIRST,
		SRNIC_OP_SEND_MIDDLE, SRNIC_OP_SEND_LAST_INV,
	},
	[IB_WR_RDMA_READ] = { .only = SRNIC_OP_READ_REQ },
	[IB_WR_ATOMIC_CMP_AND_SWP] = { .only = SRNIC_OP_CMP_SWAP },
	[IB_WR_ATOMIC_FETCH_AND_ADD] = { .only = SRNIC_OP_FETCH_ADD },
	[IB_WR_FLUSH] = { .only = SRNIC_OP_FLUSH },
	[IB_WR_ATOMIC_WRITE] = { .only = SRNIC_OP_ATOMIC_WRITE },
};

u8 srnic_req_opcode(u8 wr_opcode, bool first, bool last)
{
	const struct req_codes *codes = &req_codes[wr_opcode];

	if (first)
		return last ? codes->only : codes->first;

	return last ? codes->last : codes->middle;
}

u8 srnic_req_answer(const struct srnic_swqe *wqe)
{
	if (wqe->sqe.opcode >= ARRAY_SIZE(req_answers))
		return SRNIC_FAM_NONE;

	return req_answers[wqe->sqe.opcode];
}

bool srnic_req_has_response(const struct srnic_swqe *wqe)
{
	return srnic_req_answer(wqe) != SRNIC_FAM_NONE;
}

bool srnic_req_has_sink(const struct srnic_swqe *wqe)
{
	return srnic_req_has_response(wqe) &&
	       wqe->sqe.opcode != IB_WR_ATOMIC_WRITE;
}

bool srnic_req_is_signaled(const struct srnic_qp *qp,
			   const struct srnic_swqe *wqe)
{
	return qp->conf.sq_sig_all || (wqe->sqe.flags & IB_SEND_SIGNALED);
}

static void req_cqe(struct srnic_qp *qp, const struct srnic_swqe *wqe,
		    enum ib_wc_status status)
{
	struct srnic_cqe cqe = {
		.wr_id = wqe->sqe.wr_id,
		.status = status,
	};

	if (status == IB_WC_SUCCESS) {
		cqe.opcode = req_wc_opcodes[wqe->sqe.opcode];
		cqe.byte_len = wqe->length;
	} else {
		srnic_count(qp->stats, status == IB_WC_WR_FLUSH_ERR ?
				       SRNIC_CNT_REQ_FLUSH : SRNIC_CNT_REQ_ERR);
	}
	srnic_qp_cqe(qp, qp->send_cq, &cqe, false);
}

/* Takes the oldest work request off the queue. */
static void req_retire(struct srnic_qp *qp)
{
	struct srnic_sq *sq = &qp->sq;

	if (qp->req.cur == sq->head) {
		qp->req.cur++;
		srnic_sgl_put(&qp->req.sgl);
		qp->req.sgl_pos = SRNIC_NOWHERE;
	}
	sq->head++;
	srnic_sq_publish(sq);
}

/* Counts a work request that is done. */
static void req_count(struct srnic_qp *qp, const struct srnic_swqe *wqe)
{
	switch (req_wc_opcodes[wqe->sqe.opcode]) {
	case IB_UVERBS_WC_SEND:
		srnic_count(qp->stats, SRNIC_CNT_RDMA_SENDS);
		break;
	case IB_UVERBS_WC_RDMA_WRITE:
		srnic_count(qp->stats, SRNIC_CNT_RDMA_WRITES);
		break;
	case IB_UVERBS_WC_RDMA_READ:
		srnic_count(qp->stats, SRNIC_CNT_RDMA_READS);
		break;
	case IB_UVERBS_WC_COMP_SWAP:
	case IB_UVERBS_WC_FETCH_ADD:
	case IB_UVERBS_WC_ATOMIC_WRITE:
		srnic_count(qp->stats, SRNIC_CNT_RDMA_ATOMICS);
		break;
	}
}

void srnic_req_complete(struct srnic_qp *qp)
{
	const struct srnic_swqe *wqe = srnic_sq_wqe(&qp->sq, qp->sq.head);
	struct srnic_swqe copy = *wqe;

	req_count(qp, wqe);
	req_retire(qp);
	if (srnic_req_is_signaled(qp, &copy))
		req_cqe(qp, &copy, IB_WC_SUCCESS);
}

void srnic_req_fail(struct srnic_qp *qp, enum ib_wc_status status)
{
	struct srnic_swqe copy = *srnic_sq_wqe(&qp->sq, qp->sq.head);

	req_retire(qp);
	if (!srnic_qp_reliable(qp)) {
		trace_srnic_qp_state(qp->qpn, qp->conf.state, IB_QPS_SQE);
		qp->conf.state = IB_QPS_SQE;
	}
	req_cqe(qp, &copy, status);
	if (srnic_qp_reliable(qp))
		srnic_qp_to_error(qp);
}

struct srnic_swqe *srnic_req_fetch(struct srnic_qp *qp)
{
	struct srnic_swqe *wqe = srnic_sq_fetch(&qp->sq, qp->type);

	if (wqe)
		trace_srnic_fetch(qp->qpn, qp->sq.tail - 1, wqe);

	return wqe;
}

bool srnic_req_flush(struct srnic_qp *qp)
{
	struct srnic_sq *sq = &qp->sq;
	struct srnic_swqe copy;

	srnic_ooo_purge(&qp->req.ooo);
	srnic_task_share(&qp->task);
	while (srnic_task_may(&qp->task)) {
		if (sq->head == sq->tail && !srnic_req_fetch(qp))
			return false;
		copy = *srnic_sq_wqe(sq, sq->head);
		req_retire(qp);
		req_cqe(qp, &copy, IB_WC_WR_FLUSH_ERR);
		srnic_task_spend(&qp->task, SRNIC_COST_ITEM);
	}

	return true;
}
