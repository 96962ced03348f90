// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic provider - shared receive queues: receives are posted without a system call
 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "srnic.h"

struct srnic_create_srq_cmd_resp {
	struct ib_uverbs_create_srq_resp	ibv;
	struct srnic_create_srq_resp		drv;
};

/* Sets up @srq from the response of a create command.  Return: 0 or errno. */
static int srq_setup(struct srnic_srq *srq, const struct ibv_srq_attr *attr,
		     const struct srnic_create_srq_resp *resp)
{
	srq->max_wr = attr->max_wr;
	srq->max_sge = attr->max_sge;
	srq->ring.lone = srnic_obj_is_lone(&srq->obj);

	return srnic_ring_map(&srq->ring, srq->vsrq.srq.context->cmd_fd,
			      &resp->ring);
}

struct ibv_srq *srnic_create_srq(struct ibv_pd *pd,
				 struct ibv_srq_init_attr *attr)
{
	struct srnic_create_srq_cmd_resp resp = {};
	struct ibv_create_srq cmd;
	struct srnic_srq *srq;
	int err;

	srq = srnic_obj_alloc(pd, sizeof(*srq), SRNIC_RES_SRQ);
	if (!srq)
		return NULL;
	err = ibv_cmd_create_srq(pd, &srq->vsrq.srq, attr, &cmd, sizeof(cmd),
				 &resp.ibv, sizeof(resp));
	if (err)
		goto err_free;
	err = srq_setup(srq, &attr->attr, &resp.drv);
	if (err)
		goto err_destroy;

	return &srq->vsrq.srq;

err_destroy:
	ibv_cmd_destroy_srq(&srq->vsrq.srq);
err_free:
	srnic_obj_free(&srq->obj);
	errno = err;
	return NULL;
}

struct ibv_srq *srnic_create_srq_ex(struct ibv_context *ctx,
				    struct ibv_srq_init_attr_ex *attr)
{
	struct srnic_create_srq_cmd_resp resp = {};
	struct ibv_create_xsrq cmd;
	struct srnic_srq *srq;
	struct ibv_pd *pd;
	int err;

	pd = attr->comp_mask & IBV_SRQ_INIT_ATTR_PD ? attr->pd : NULL;
	srq = srnic_obj_alloc(pd, sizeof(*srq), SRNIC_RES_SRQ);
	if (!srq)
		return NULL;
	err = ibv_cmd_create_srq_ex(ctx, &srq->vsrq, attr, &cmd, sizeof(cmd),
				    &resp.ibv, sizeof(resp));
	if (err)
		goto err_free;
	err = srq_setup(srq, &attr->attr, &resp.drv);
	if (err)
		goto err_destroy;
	srq->vsrq.srq.srq_context = attr->srq_context;

	return &srq->vsrq.srq;

err_destroy:
	ibv_cmd_destroy_srq(&srq->vsrq.srq);
err_free:
	srnic_obj_free(&srq->obj);
	errno = err;
	return NULL;
}

int srnic_get_srq_num(struct ibv_srq *ibsrq, uint32_t *num)
{
	struct srnic_srq *srq = to_srnic_srq(ibsrq);

	if (srq->vsrq.srq_type != IBV_SRQT_XRC)
		return EOPNOTSUPP;
	*num = srq->vsrq.srq_num;

	return 0;
}

/* Switches to the kernel's new ring; the kernel has copied all posted entries to it. */
static int srq_follow(struct srnic_srq *srq, struct srnic_room *room)
{
	const struct srnic_map next = srq->ring.hdr->next;
	int fd = srq->vsrq.srq.context->cmd_fd;
	int err;

	err = srnic_ring_remap(&srq->ring, fd, &next, room);
	if (!err)
		srq->max_wr = srq->ring.mask + 1;

	return err;
}

int srnic_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int mask)
{
	struct srnic_srq *srq = to_srnic_srq(ibsrq);
	bool resize = mask & IBV_SRQ_MAX_WR;
	struct srnic_room room = {};
	struct ibv_modify_srq cmd;
	int err = 0;

	/* No other thread may post while the ring is replaced. */
	srnic_lock(&srq->ring);
	if (resize)
		err = srnic_room_take(&room, &srq->ring, attr->max_wr);
	if (err)
		goto out;
	err = ibv_cmd_modify_srq(ibsrq, attr, mask, &cmd, sizeof(cmd));
	if (!err && resize)
		err = srq_follow(srq, &room);
	srnic_room_drop(&room);
out:
	srnic_unlock(&srq->ring);

	return err;
}

int srnic_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr)
{
	struct ibv_query_srq cmd;

	return ibv_cmd_query_srq(ibsrq, attr, &cmd, sizeof(cmd));
}

int srnic_destroy_srq(struct ibv_srq *ibsrq)
{
	struct srnic_srq *srq = to_srnic_srq(ibsrq);
	int err = ibv_cmd_destroy_srq(ibsrq);

	if (err)
		return err;
	srnic_ring_unmap(&srq->ring);
	srnic_obj_free(&srq->obj);

	return 0;
}

int srnic_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
			struct ibv_recv_wr **bad_wr)
{
	struct srnic_srq *srq = to_srnic_srq(ibsrq);
	bool gone;
	int err;

	/* The flag is read under the lock, as a resize unmaps the ring. */
	srnic_lock(&srq->ring);
	err = srnic_put_recvs(&srq->ring, srq->max_wr, srq->max_sge, wr,
			      bad_wr);
	gone = srnic_ring_flag(&srq->ring, SRNIC_RING_KICK);
	srnic_unlock(&srq->ring);

	if (gone) {
		*bad_wr = wr;
		return EIO;
	}

	return err;
}
