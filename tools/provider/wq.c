// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic provider - receive work queues, and indirection tables of them
 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "srnic.h"

/**
 * struct srnic_wq - receive work queue
 * @wq: libibverbs' part
 * @ring: receive ring
 * @max_wr: maximum number of outstanding receives, as granted
 * @max_sge: maximum number of SGEs per receive
 */
struct srnic_wq {
	struct ibv_wq		wq;
	struct srnic_ring	ring;
	uint32_t		max_wr;
	uint32_t		max_sge;
};

struct srnic_create_wq_cmd_resp {
	struct ib_uverbs_ex_create_wq_resp	ibv;
	struct srnic_create_wq_resp		drv;
};

static struct srnic_wq *to_srnic_wq(struct ibv_wq *wq)
{
	return container_of(wq, struct srnic_wq, wq);
}

/*
 * Makes the kernel flush a queue in the error state, by a transition from that state to
 * itself.  The kernel rejects it with EINVAL if another thread has reset the queue
 * meanwhile.  Return: 0, or EIO if the device is gone.
 */
static int wq_ring(struct ibv_wq *ibwq)
{
	struct ibv_wq_attr attr = {
		.attr_mask = IBV_WQ_ATTR_STATE | IBV_WQ_ATTR_CURR_STATE,
		.wq_state = IBV_WQS_ERR,
		.curr_wq_state = IBV_WQS_ERR,
	};
	struct ibv_modify_wq cmd = {};
	int err = ibv_cmd_modify_wq(ibwq, &attr, &cmd, sizeof(cmd));

	return err == EIO ? EIO : 0;
}

static int wq_post_recv(struct ibv_wq *ibwq, struct ibv_recv_wr *wr,
			struct ibv_recv_wr **bad_wr)
{
	struct srnic_wq *wq = to_srnic_wq(ibwq);
	struct srnic_ring *ring = &wq->ring;
	int err;

	srnic_lock(ring);
	err = srnic_put_recvs(ring, wq->max_wr, wq->max_sge, wr, bad_wr);
	srnic_unlock(ring);

	if (srnic_ring_flag(ring, SRNIC_RING_KICK) && wq_ring(ibwq)) {
		*bad_wr = wr;
		return EIO;
	}

	return err;
}

struct ibv_wq *srnic_create_wq(struct ibv_context *ctx,
			       struct ibv_wq_init_attr *attr)
{
	struct srnic_create_wq_cmd_resp resp = {};
	struct ibv_create_wq cmd = {};
	struct srnic_wq *wq;
	int err;

	if (attr->comp_mask & ~IBV_WQ_INIT_ATTR_FLAGS) {
		errno = EOPNOTSUPP;
		return NULL;
	}

	wq = calloc(1, sizeof(*wq));
	if (!wq)
		return NULL;
	err = ibv_cmd_create_wq(ctx, attr, &wq->wq, &cmd, sizeof(cmd),
				&resp.ibv, sizeof(resp));
	if (err)
		goto err_free;
	err = srnic_ring_map(&wq->ring, ctx->cmd_fd, &resp.drv.ring);
	if (err)
		goto err_destroy;

	wq->max_wr = attr->max_wr;
	wq->max_sge = attr->max_sge;
	wq->wq.post_recv = wq_post_recv;

	return &wq->wq;

err_destroy:
	ibv_cmd_destroy_wq(&wq->wq);
err_free:
	free(wq);
	errno = err;
	return NULL;
}

/* uverbs leaks a reference to the work queue when it rejects a state beyond the last. */
static bool wq_states_ok(const struct ibv_wq_attr *attr)
{
	return (!(attr->attr_mask & IBV_WQ_ATTR_STATE) ||
		attr->wq_state <= IBV_WQS_ERR) &&
	       (!(attr->attr_mask & IBV_WQ_ATTR_CURR_STATE) ||
		attr->curr_wq_state <= IBV_WQS_ERR);
}

int srnic_modify_wq(struct ibv_wq *ibwq, struct ibv_wq_attr *attr)
{
	struct srnic_wq *wq = to_srnic_wq(ibwq);
	struct ibv_modify_wq cmd = {};
	int err;

	if (!wq_states_ok(attr))
		return EINVAL;
	err = ibv_cmd_modify_wq(ibwq, attr, &cmd, sizeof(cmd));
	if (err || !(attr->attr_mask & IBV_WQ_ATTR_STATE) ||
	    attr->wq_state != IBV_WQS_RESET)
		return err;

	srnic_ring_reset(&wq->ring);
	srnic_cq_clean(ibwq->cq, ibwq->wq_num);

	return 0;
}

int srnic_destroy_wq(struct ibv_wq *ibwq)
{
	struct srnic_wq *wq = to_srnic_wq(ibwq);
	int err = ibv_cmd_destroy_wq(ibwq);

	if (err)
		return err;
	srnic_cq_clean(ibwq->cq, ibwq->wq_num);
	srnic_ring_unmap(&wq->ring);
	free(wq);

	return 0;
}

struct ibv_rwq_ind_table *
srnic_create_rwq_ind_table(struct ibv_context *ctx,
			   struct ibv_rwq_ind_table_init_attr *attr)
{
	struct ib_uverbs_ex_create_rwq_ind_table_resp resp = {};
	struct ibv_rwq_ind_table *table;
	int err;

	table = calloc(1, sizeof(*table));
	if (!table)
		return NULL;
	err = ibv_cmd_create_rwq_ind_table(ctx, attr, table, &resp,
					   sizeof(resp));
	if (err) {
		free(table);
		errno = err;
		return NULL;
	}

	return table;
}

int srnic_destroy_rwq_ind_table(struct ibv_rwq_ind_table *table)
{
	int err = ibv_cmd_destroy_rwq_ind_table(table);

	if (!err)
		free(table);

	return err;
}
