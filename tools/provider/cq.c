// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic provider - completion queues: polled from the ring without a system call
 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "srnic.h"

struct srnic_resize_cq_cmd_resp {
	struct ib_uverbs_resize_cq_resp	ibv;
	struct srnic_resize_cq_resp	drv;
};

struct srnic_create_cq_cmd_resp {
	struct ib_uverbs_create_cq_resp	ibv;
	struct srnic_create_cq_resp	drv;
};

struct ibv_cq *srnic_create_cq(struct ibv_context *ctx, int cqe,
			       struct ibv_comp_channel *channel, int vector)
{
	struct srnic_create_cq_cmd_resp resp = {};
	struct ibv_create_cq cmd;
	struct srnic_cq *cq;
	int err;

	cq = srnic_obj_alloc(NULL, sizeof(*cq), SRNIC_RES_CQ);
	if (!cq)
		return NULL;
	err = ibv_cmd_create_cq(ctx, cqe, channel, vector, &cq->vcq.cq, &cmd,
				sizeof(cmd), &resp.ibv, sizeof(resp));
	if (err)
		goto err_free;
	err = srnic_ring_map(&cq->ring, ctx->cmd_fd, &resp.drv.ring);
	if (err)
		goto err_destroy;

	return &cq->vcq.cq;

err_destroy:
	ibv_cmd_destroy_cq(&cq->vcq.cq);
err_free:
	srnic_obj_free(&cq->obj);
	errno = err;
	return NULL;
}

int srnic_destroy_cq(struct ibv_cq *ibcq)
{
	struct srnic_cq *cq = to_srnic_cq(ibcq);
	int err = ibv_cmd_destroy_cq(ibcq);

	if (err)
		return err;
	srnic_ring_unmap(&cq->ring);
	srnic_obj_free(&cq->obj);

	return 0;
}

/*
 * IBTA A17.4.5.1 requires that a datagram's IP version be reported, but struct ibv_wc
 * has no field for it.  Other providers encode it in sl, which UCX checks before it
 * accepts IPv4 packets: 8 for UDP, and 1 for IPv6 or 2 for IPv4.
 */
uint8_t srnic_cqe_sl(const struct srnic_cqe *cqe)
{
	switch (cqe->ip_version) {
	case 4:
		return 8 | 2;
	case 6:
		return 8 | 1;
	default:
		return cqe->sl;
	}
}

static void cq_fill(struct ibv_wc *wc, const struct srnic_cqe *cqe)
{
	wc->wr_id = cqe->wr_id;
	wc->status = cqe->status;
	wc->opcode = cqe->opcode;
	wc->vendor_err = cqe->vendor_err;
	wc->byte_len = cqe->byte_len;
	wc->imm_data = cqe->imm_data;
	wc->qp_num = cqe->qpn;
	wc->src_qp = cqe->src_qp;
	wc->wc_flags = cqe->flags;
	wc->pkey_index = cqe->pkey_index;
	wc->slid = 0;
	wc->sl = srnic_cqe_sl(cqe);
	wc->dlid_path_bits = 0;
}

int srnic_poll_cq(struct ibv_cq *ibcq, int num, struct ibv_wc *wc)
{
	struct srnic_cq *cq = to_srnic_cq(ibcq);
	struct srnic_ring *ring = &cq->ring;
	int n;

	srnic_lock(ring);
	/*
	 * A caller that has armed the CQ takes fewer than @num as empty, so read the
	 * kernel's index before returning fewer.
	 */
	if ((int64_t)(ring->seen - ring->index) < num)
		srnic_look(ring);
	for (n = 0; n < num && ring->index + n != ring->seen; n++)
		cq_fill(&wc[n], srnic_entry(ring, ring->index + n));
	if (n)
		srnic_publish(ring, ring->index + n);
	srnic_unlock(ring);

	return n;
}

/* Takes the lock, unless the caller has held it since start_poll: then returns false. */
static bool cq_lock(struct srnic_cq *cq)
{
	if (srnic_cq_is_mine(cq))
		return false;
	srnic_lock(&cq->ring);

	return true;
}

int srnic_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	struct srnic_cq *cq = to_srnic_cq(ibcq);
	bool locked = cq_lock(cq);

	__atomic_fetch_or(&cq->ring.hdr->arm,
			  solicited_only ? SRNIC_CQ_ARM_SOLICITED :
			  SRNIC_CQ_ARM_NEXT, __ATOMIC_RELAXED);
	/*
	 * Makes arm visible before the next poll reads kern; pairs with the kernel's
	 * barrier between kern and arm.  The OR alone does not suffice, not even a
	 * sequentially consistent one: a later acquire load may pass it.
	 */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (locked)
		srnic_unlock(&cq->ring);

	return 0;
}

int srnic_resize_cq(struct ibv_cq *ibcq, int cqe)
{
	struct srnic_resize_cq_cmd_resp resp = {};
	struct srnic_cq *cq = to_srnic_cq(ibcq);
	struct ibv_resize_cq cmd;
	struct srnic_room room;
	int err;

	/* No other thread may poll or arm while the ring is replaced. */
	srnic_lock(&cq->ring);
	err = srnic_room_take(&room, &cq->ring, cqe);
	if (err)
		goto out;
	err = ibv_cmd_resize_cq(ibcq, cqe, &cmd, sizeof(cmd), &resp.ibv,
				sizeof(resp));
	if (!err)
		err = srnic_ring_remap(&cq->ring, ibcq->context->cmd_fd,
				       &resp.drv.ring, &room);
	srnic_room_drop(&room);
out:
	srnic_unlock(&cq->ring);

	return err;
}

int srnic_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	struct ibv_modify_cq cmd = {};

	return ibv_cmd_modify_cq(cq, attr, &cmd, sizeof(cmd));
}

void srnic_cq_clean(struct ibv_cq *ibcq, uint32_t qpn)
{
	struct srnic_cq *cq = to_srnic_cq(ibcq);
	struct srnic_ring *ring = &cq->ring;
	bool locked = cq_lock(cq);
	uint32_t prod, from, to;
	struct srnic_cqe *cqe;

	prod = srnic_look(ring);
	/* From newest to oldest, moving the completions of other queue pairs up. */
	for (from = prod, to = prod; from != ring->index; ) {
		cqe = srnic_entry(ring, --from);
		if (cqe->qpn != qpn && from != --to)
			memcpy(srnic_entry(ring, to), cqe, sizeof(*cqe));
	}
	if (!locked) {
		/* The caller is polling; its end_poll publishes the index. */
		ring->index = to;
		return;
	}
	srnic_publish(ring, to);
	srnic_unlock(ring);
}
