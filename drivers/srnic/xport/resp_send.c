// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - the responder of SEND
 */
#include "inv.h"
#include "outcome.h"
#include "payload.h"
#include "qp.h"
#include "recv.h"
#include "resp_send.h"
#include "seg.h"
#include "verdict.h"

static enum srnic_outcome send_put(struct srnic_qp *qp,
				   const struct srnic_seg *seg)
{
	return srnic_accessed(srnic_payload_to_sgl(seg, &qp->resp.sgl),
			      SRNIC_V_LOCAL_PROT);
}

enum srnic_outcome srnic_resp_send(struct srnic_qp *qp,
				   const struct srnic_seg *seg)
{
	const struct srnic_op *op = srnic_pkt_op(&seg->pkt);
	struct srnic_resp *resp = &qp->resp;
	enum srnic_outcome outcome;
	enum srnic_verdict verdict;
	enum srnic_mem_err err;

	srnic_task_assert_mine(&qp->task);
	if (op->flags & SRNIC_OP_START) {
		verdict = srnic_recv_need(qp);
		if (verdict)
			return srnic_fail(verdict);
		resp->got = 0;
	}
	if (resp->got + (u64)seg->pkt.payload > resp->rwqe.length)
		return srnic_fail(SRNIC_V_LENGTH);
	outcome = send_put(qp, seg);
	if (outcome)
		return outcome;
	resp->got += seg->pkt.payload;
	if (!(op->flags & SRNIC_OP_END))
		return SRNIC_DONE;

	if (op->hdrs & SRNIC_H_IETH) {
		err = srnic_inv_key(qp, seg->pkt.inv_rkey);
		if (err)
			return srnic_fail_memory(SRNIC_V_INVALIDATE, err);
	}
	srnic_count(qp->stats, SRNIC_CNT_RDMA_RECVS);
	srnic_recv_complete(qp, &seg->pkt, resp->got);

	return SRNIC_DONE;
}
