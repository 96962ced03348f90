// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic provider - the extended poll API: completions are read field by field
 * in the ring, with timestamps
 *
 * The ring's lock is held from a successful start_poll to end_poll, which returns
 * the entries to the kernel.  In between, the same thread may arm the CQ or destroy
 * a queue pair.
 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "compat.h"
#include "srnic.h"

struct srnic_create_cq_ex_resp {
	struct ib_uverbs_ex_create_cq_resp	ibv;
	struct srnic_create_cq_resp		drv;
};

static inline struct srnic_cq *ex_to_cq(struct ibv_cq_ex *ex)
{
	return container_of(ex, struct srnic_cq, vcq.cq_ex);
}

/* Advances to the next completion.  Return: 0, or ENOENT if there is none. */
static int cq_advance(struct srnic_cq *cq)
{
	struct srnic_ring *ring = &cq->ring;

	if (ring->index == ring->seen && ring->index == srnic_look(ring))
		return ENOENT;
	cq->cur = srnic_entry(ring, ring->index++);
	cq->vcq.cq_ex.wr_id = cq->cur->wr_id;
	cq->vcq.cq_ex.status = cq->cur->status;

	return 0;
}

static void cq_set_poller(struct srnic_cq *cq, pthread_t poller)
{
	__atomic_store_n(&cq->poller, poller, __ATOMIC_RELAXED);
}

static int cq_start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	struct srnic_cq *cq = ex_to_cq(ex);
	int err;

	if (attr->comp_mask)
		return EINVAL;

	srnic_lock(&cq->ring);
	err = cq_advance(cq);
	if (err) {
		srnic_unlock(&cq->ring);
		return err;
	}
	cq_set_poller(cq, pthread_self());
	cq->has_wall = false;

	return 0;
}

static int cq_next_poll(struct ibv_cq_ex *ex)
{
	return cq_advance(ex_to_cq(ex));
}

static void cq_end_poll(struct ibv_cq_ex *ex)
{
	struct srnic_cq *cq = ex_to_cq(ex);

	cq_set_poller(cq, 0);
	srnic_publish(&cq->ring, cq->ring.index);
	srnic_unlock(&cq->ring);
}

static enum ibv_wc_opcode cq_read_opcode(struct ibv_cq_ex *ex)
{
	return ex_to_cq(ex)->cur->opcode;
}

static uint32_t cq_read_vendor_err(struct ibv_cq_ex *ex)
{
	return ex_to_cq(ex)->cur->vendor_err;
}

static unsigned int cq_read_wc_flags(struct ibv_cq_ex *ex)
{
	return ex_to_cq(ex)->cur->flags;
}

static uint32_t cq_read_byte_len(struct ibv_cq_ex *ex)
{
	return ex_to_cq(ex)->cur->byte_len;
}

/* ibv_wc_read_invalidated_rkey() calls this, too. */
static __be32 cq_read_imm_data(struct ibv_cq_ex *ex)
{
	return ex_to_cq(ex)->cur->imm_data;
}

static uint32_t cq_read_qp_num(struct ibv_cq_ex *ex)
{
	return ex_to_cq(ex)->cur->qpn;
}

static uint32_t cq_read_src_qp(struct ibv_cq_ex *ex)
{
	return ex_to_cq(ex)->cur->src_qp;
}

/* RoCE has no LIDs. */
static uint32_t cq_read_slid(struct ibv_cq_ex *ex)
{
	(void)ex;

	return 0;
}

static uint8_t cq_read_dlid_path_bits(struct ibv_cq_ex *ex)
{
	(void)ex;

	return 0;
}

static uint8_t cq_read_sl(struct ibv_cq_ex *ex)
{
	return srnic_cqe_sl(ex_to_cq(ex)->cur);
}

static uint64_t cq_read_completion_ts(struct ibv_cq_ex *ex)
{
	return ex_to_cq(ex)->cur->timestamp;
}

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);

	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/*
 * Wall clock minus timestamp clock, in ns.  The clocks are read three times, as the
 * thread may be preempted between two reads; the shortest attempt counts.
 */
static int64_t clock_wall(void)
{
	int64_t before, wall, after, ahead = 0, least = INT64_MAX;
	int i;

	for (i = 0; i < 3; i++) {
		before = clock_ns(CLOCK_MONOTONIC_RAW);
		wall = clock_ns(CLOCK_REALTIME);
		after = clock_ns(CLOCK_MONOTONIC_RAW);
		if (after - before < least) {
			least = after - before;
			ahead = wall - before - least / 2;
		}
	}

	return ahead;
}

/* All completions from one ibv_start_poll() to ibv_end_poll() use one clock offset. */
static uint64_t cq_read_wallclock(struct ibv_cq_ex *ex)
{
	struct srnic_cq *cq = ex_to_cq(ex);

	if (!cq->has_wall)
		cq->wall = clock_wall();
	cq->has_wall = true;

	return cq->cur->timestamp + cq->wall;
}

static uint16_t cq_read_cvlan(struct ibv_cq_ex *ex)
{
	return ex_to_cq(ex)->cur->vlan;
}

static uint32_t cq_read_flow_tag(struct ibv_cq_ex *ex)
{
	return ex_to_cq(ex)->cur->flow_tag;
}

static void cq_set_read_ops(struct ibv_cq_ex *ex, uint64_t fields)
{
	ex->start_poll = cq_start_poll;
	ex->next_poll = cq_next_poll;
	ex->end_poll = cq_end_poll;
	ex->read_opcode = cq_read_opcode;
	ex->read_vendor_err = cq_read_vendor_err;
	ex->read_wc_flags = cq_read_wc_flags;

	if (fields & IBV_WC_EX_WITH_BYTE_LEN)
		ex->read_byte_len = cq_read_byte_len;
	if (fields & IBV_WC_EX_WITH_IMM)
		ex->read_imm_data = cq_read_imm_data;
	if (fields & IBV_WC_EX_WITH_QP_NUM)
		ex->read_qp_num = cq_read_qp_num;
	if (fields & IBV_WC_EX_WITH_SRC_QP)
		ex->read_src_qp = cq_read_src_qp;
	if (fields & IBV_WC_EX_WITH_SLID)
		ex->read_slid = cq_read_slid;
	if (fields & IBV_WC_EX_WITH_SL)
		ex->read_sl = cq_read_sl;
	if (fields & IBV_WC_EX_WITH_DLID_PATH_BITS)
		ex->read_dlid_path_bits = cq_read_dlid_path_bits;
	if (fields & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		ex->read_completion_ts = cq_read_completion_ts;
	if (fields & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
		ex->read_completion_wallclock_ns = cq_read_wallclock;
	if (fields & IBV_WC_EX_WITH_CVLAN)
		ex->read_cvlan = cq_read_cvlan;
	if (fields & IBV_WC_EX_WITH_FLOW_TAG)
		ex->read_flow_tag = cq_read_flow_tag;
}

#define CQ_EX_FIELDS	((uint64_t)IBV_WC_STANDARD_FLAGS | \
			 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | \
			 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK | \
			 IBV_WC_EX_WITH_CVLAN | IBV_WC_EX_WITH_FLOW_TAG)
#define CQ_EX_ATTRS	(IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD)
#define CQ_EX_FLAGS	(IBV_CREATE_CQ_ATTR_SINGLE_THREADED | \
			 IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN)

/* Members that comp_mask does not select count as zero. */
static uint32_t cq_attr_flags(const struct ibv_cq_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS ? attr->flags : 0;
}

static struct ibv_pd *cq_attr_pd(const struct ibv_cq_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD ?
	       attr->parent_domain : NULL;
}

/* Return: 0 or errno. */
static int cq_attr_check(const struct ibv_cq_init_attr_ex *attr)
{
	struct ibv_pd *pd = cq_attr_pd(attr);

	if ((attr->comp_mask & ~CQ_EX_ATTRS) ||
	    (attr->wc_flags & ~CQ_EX_FIELDS) ||
	    (cq_attr_flags(attr) & ~CQ_EX_FLAGS))
		return EOPNOTSUPP;
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD &&
	    (!pd || !to_srnic_pd(pd)->real))
		return EINVAL;

	return 0;
}

struct ibv_cq_ex *srnic_create_cq_ex(struct ibv_context *ctx,
				     struct ibv_cq_init_attr_ex *attr)
{
	struct srnic_create_cq_ex_resp resp = {};
	struct srnic_cq *cq;
	int err;

	err = cq_attr_check(attr);
	if (err) {
		errno = err;
		return NULL;
	}

	cq = srnic_obj_alloc(cq_attr_pd(attr), sizeof(*cq), SRNIC_RES_CQ);
	if (!cq)
		return NULL;
	err = srnic_cmd_create_cq_ex(ctx, attr, &cq->vcq, &resp.ibv,
				     sizeof(resp));
	if (err)
		goto err_free;
	err = srnic_ring_map(&cq->ring, ctx->cmd_fd, &resp.drv.ring);
	if (err)
		goto err_destroy;
	cq->ring.lone = srnic_obj_is_lone(&cq->obj) ||
			cq_attr_flags(attr) & IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
	cq_set_read_ops(&cq->vcq.cq_ex, attr->wc_flags);

	return &cq->vcq.cq_ex;

err_destroy:
	ibv_cmd_destroy_cq(&cq->vcq.cq);
err_free:
	srnic_obj_free(&cq->obj);
	errno = err;
	return NULL;
}

/* Reads the clock of the completion timestamps; tv_nsec has the whole 64-bit value. */
int srnic_query_rt_values(struct ibv_context *ctx, struct ibv_values_ex *values)
{
	(void)ctx;
	if (values->comp_mask & ~(uint32_t)IBV_VALUES_MASK_RAW_CLOCK)
		return EINVAL;
	if (!values->comp_mask)
		return 0;
	values->raw_clock.tv_sec = 0;
	values->raw_clock.tv_nsec = clock_ns(CLOCK_MONOTONIC_RAW);

	return 0;
}
