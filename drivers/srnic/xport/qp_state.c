// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - completions of a queue pair, and how it leaves service: the error state, and the
 * record of what it was doing
 *
 * A failure is recorded once in the life of a queue pair, so nothing here is fast.
 */

#include "internal.h"

/* Operations, in struct srnic_failure: families, followed by local operations */
enum failure_op {
	FAILURE_LOCAL_OP = SRNIC_FAM_CNP,
};

/* Names of operations, by enum failure_op */
static const char * const failure_op_names[] = {
	[SRNIC_FAM_SEND]			= "SEND",
	[SRNIC_FAM_WRITE]			= "RDMA WRITE",
	[SRNIC_FAM_READ]			= "RDMA READ",
	[SRNIC_FAM_ATOMIC]			= "atomic",
	[SRNIC_FAM_FLUSH]			= "FLUSH",
	[SRNIC_FAM_ATOMIC_WRITE]		= "ATOMIC WRITE",
	[FAILURE_LOCAL_OP + SRNIC_LOCAL_OP_INV]	= "LOCAL_INV",
	[FAILURE_LOCAL_OP + SRNIC_LOCAL_OP_BIND] = "BIND_MW",
	[FAILURE_LOCAL_OP + SRNIC_LOCAL_OP_REG]	= "REG_MR",
};

static_assert(ARRAY_SIZE(failure_op_names) ==
	      FAILURE_LOCAL_OP + SRNIC_LOCAL_OP_NUM);

/* Why memory was refused, by enum srnic_mem_err; none: the verdict says it */
static const char * const failure_memory_names[] = {
	[SRNIC_MEM_KEY]		= "no such key",
	[SRNIC_MEM_PD]		= "protection domain",
	[SRNIC_MEM_ACCESS]	= "access right",
	[SRNIC_MEM_RANGE]	= "range",
	[SRNIC_MEM_OWNER]	= "window owner",
	[SRNIC_MEM_STATE]	= "key state",
	[SRNIC_MEM_FAULT]	= "page fault",
};

static const char *failure_word(const char * const *words, size_t num, u8 index)
{
	return index < num && words[index] ? words[index] : "none";
}

static const char *failure_op(const struct srnic_failure *failure)
{
	return failure_word(failure_op_names, ARRAY_SIZE(failure_op_names), failure->op);
}

static const char *failure_memory(const struct srnic_failure *failure)
{
	return failure_word(failure_memory_names, ARRAY_SIZE(failure_memory_names),
			    failure->memory);
}

static void failure_begin(struct srnic_failure *failure,
			  enum srnic_outcome outcome)
{
	*failure = (struct srnic_failure) {
		.verdict	= srnic_fail_why(outcome),
		.memory		= srnic_fail_err(outcome),
	};
}

static void failure_access(struct srnic_failure *failure, u32 key, u64 addr,
			   u32 length)
{
	failure->key = key;
	failure->addr = addr;
	failure->length = length;
}

/*
 * Finds the element of an SGE list that was refused: the first that is refused for the
 * same reason again.  There is none if the region has changed since.
 */
static void failure_sge(struct srnic_failure *failure, struct srnic_qp *qp,
			const struct ib_pd *pd, const struct srnic_sge *sge,
			u32 num, u32 access)
{
	struct srnic_mr *mr = NULL;
	u32 i;

	for (i = 0; i < num; i++) {
		if (srnic_sgl_check(qp->keys, pd, &sge[i], 1, access, &mr) !=
		    failure->memory)
			continue;
		failure_access(failure, sge[i].lkey, sge[i].addr,
			       sge[i].length);
		break;
	}
	srnic_mr_release(&mr);
}

/* The receive in progress: its element at fault, or its length */
static void failure_receive(struct srnic_failure *failure, struct srnic_qp *qp)
{
	const struct srnic_resp *resp = &qp->resp;

	if (failure->verdict == SRNIC_V_LENGTH) {
		failure->length += resp->got;
		failure->room = resp->rwqe.length;
	} else if (failure->verdict == SRNIC_V_LOCAL_PROT) {
		failure_sge(failure, qp, resp->sgl.pd, resp->rwqe.sge,
			    resp->rwqe.num_sge, IB_ACCESS_LOCAL_WRITE);
	}
}

void srnic_failure_of_request(struct srnic_failure *failure,
			      struct srnic_qp *qp, const struct srnic_pkt *pkt,
			      enum srnic_outcome outcome)
{
	const struct srnic_op *op = srnic_pkt_op(pkt);
	const struct srnic_resp *resp = &qp->resp;

	failure_begin(failure, outcome);
	failure->op = op->family;
	failure->psn = pkt->psn;
	if (failure->verdict == SRNIC_V_SIZE) {
		failure->length = pkt->payload;
		failure->room = qp->conf.mtu;
	} else if (failure->verdict == SRNIC_V_INVALIDATE) {
		failure->key = pkt->inv_rkey;
	} else if (op->hdrs & SRNIC_H_RETH) {
		failure_access(failure, pkt->rkey, pkt->va, pkt->dmalen);
	} else if (op->hdrs & SRNIC_H_ATOMIC) {
		failure_access(failure, pkt->rkey, pkt->va, sizeof(u64));
	} else if (op->family == SRNIC_FAM_WRITE) {
		failure_access(failure, resp->rkey, resp->va, resp->left);
	} else {
		failure->length = pkt->payload;
	}
	failure_receive(failure, qp);
}

void srnic_failure_of_read(struct srnic_failure *failure,
			   const struct srnic_resp *resp,
			   enum srnic_outcome outcome)
{
	failure_begin(failure, outcome);
	failure->op = SRNIC_FAM_READ;
	failure->psn = resp->read_psn;
	failure_access(failure, resp->read_rkey, resp->read_va,
		       resp->read_bytes);
}

void srnic_failure_of_receive(struct srnic_failure *failure,
			      struct srnic_qp *qp,
			      const struct srnic_rx_src *src,
			      enum srnic_outcome outcome)
{
	failure_begin(failure, outcome);
	failure->op = SRNIC_FAM_SEND;
	if (src)
		srnic_rx_sender(src, &failure->peer);
	failure_receive(failure, qp);
}

/* The key that a local operation changes */
static u32 failure_local_op_key(u8 local_op, const struct srnic_sqe *sqe)
{
	if (local_op == SRNIC_LOCAL_OP_INV)
		return sqe->invalidate_rkey;

	return local_op == SRNIC_LOCAL_OP_BIND ? sqe->bind.mw_rkey :
					   sqe->bind.new_rkey;
}

/* What the work request names, for the peer or as a local operation */
static void failure_wqe(struct srnic_failure *failure,
			const struct srnic_swqe *wqe)
{
	const struct srnic_wr *wr = srnic_wr_of(wqe);
	const struct srnic_sqe *sqe = &wqe->sqe;

	if (wr->local_op) {
		failure->op = FAILURE_LOCAL_OP + wr->local_op;
		failure->key = failure_local_op_key(wr->local_op, sqe);
		return;
	}
	failure->op = srnic_ops[wr->only].family;
	failure->length = wr->operands == SRNIC_WR_FLUSH ? sqe->flush.length :
							   wqe->length;
	if (failure->op == SRNIC_FAM_SEND)
		return;
	failure->key = sqe->rkey;
	failure->addr = sqe->remote_addr;
}

void srnic_failure_of_wqe(struct srnic_failure *failure, struct srnic_qp *qp,
			  const struct srnic_swqe *wqe,
			  enum srnic_outcome outcome)
{
	failure_begin(failure, outcome);
	failure->psn = wqe->started ? qp->req.recovery.una : qp->req.recovery.psn;
	switch (failure->verdict) {
	case SRNIC_V_WR:
	case SRNIC_V_WR_LENGTH:
		return;		/* not even the opcode has to be valid */
	case SRNIC_V_SOURCE:
	case SRNIC_V_SINK:
		failure->op = srnic_ops[srnic_wr_of(wqe)->only].family;
		failure_sge(failure, qp, qp->pd, wqe->sge, wqe->sqe.num_sge,
			    failure->verdict == SRNIC_V_SINK ?
			    IB_ACCESS_LOCAL_WRITE : 0);
		return;
	default:
		failure_wqe(failure, wqe);
	}
}

void srnic_failure_fill_attrs(const struct srnic_failure *failure,
			      struct srnic_res_attrs *attrs)
{
	const struct srnic_fault *fault = &srnic_faults[failure->verdict];

	if (!failure->verdict)
		return;

	srnic_res_add_string(attrs, "failure", fault->name);
	srnic_res_add_string(attrs, "failure_memory", failure_memory(failure));
	srnic_res_add_string(attrs, "failure_op", failure_op(failure));
	srnic_res_add_psn(attrs, "failure_psn", failure->psn);
	srnic_res_add_u32(attrs, "failure_length", failure->length);
	srnic_res_add_u32(attrs, "failure_room", failure->room);
	srnic_res_add_hex(attrs, "failure_syndrome", fault->syndrome);
	srnic_res_add_u64(attrs, "failure_time", failure->time);
	srnic_res_add_addr(attrs, "failure_peer", &failure->peer);
	if (!attrs->secrets)
		return;
	srnic_res_add_hex(attrs, "failure_key", failure->key);
	srnic_res_add_hex(attrs, "failure_addr", failure->addr);
}

void srnic_qp_cqe(struct srnic_qp *qp, struct srnic_cq *cq,
		  struct srnic_cqe *cqe, bool solicited)
{
	srnic_task_assert_mine(&qp->task);

	cqe->qpn = qp->qpn;
	trace_srnic_cqe(cqe);
	if (!srnic_cq_push(cq, cqe, solicited))
		srnic_qp_fail(qp, SRNIC_V_OVERRUN);
}

void srnic_qp_record_failure(struct srnic_qp *qp, const struct srnic_failure *failure)
{
	srnic_task_assert_mine(&qp->task);

	if (qp->conf.state == IB_QPS_ERR || qp->failure.verdict)
		return;

	qp->failure = *failure;
	qp->failure.time = ktime_get_real_ns();
	if (srnic_qp_is_connected(qp))
		qp->failure.peer = qp->path.daddr;
	trace_srnic_failure(qp->qpn, &qp->failure,
			    srnic_faults[failure->verdict].name,
			    failure_memory(failure),
			    failure_op(failure));
}

void srnic_qp_clear_failure(struct srnic_qp *qp)
{
	srnic_task_assert_mine(&qp->task);

	memset(&qp->failure, 0, sizeof(qp->failure));
}

bool srnic_qp_to_error(struct srnic_qp *qp)
{
	srnic_task_assert_mine(&qp->task);

	if (qp->conf.state == IB_QPS_ERR)
		return false;

	trace_srnic_qp_state(qp->qpn, qp->conf.state, IB_QPS_ERR);
	qp->conf.state = IB_QPS_ERR;
	WRITE_ONCE(qp->rx_epoch, 0);	/* read in deliver_admit() */

	return true;
}

void srnic_qp_to_error_event(struct srnic_qp *qp, enum ib_event_type event)
{
	srnic_task_assert_mine(&qp->task);

	if (srnic_qp_to_error(qp))
		qp->event(qp, event);
}

void srnic_qp_fail(struct srnic_qp *qp, enum srnic_verdict verdict)
{
	const struct srnic_failure failure = { .verdict = verdict };

	srnic_qp_record_failure(qp, &failure);
	srnic_qp_to_error_event(qp, srnic_faults[verdict].event);
}
