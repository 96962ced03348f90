// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - random programs: the steps, mostly verbs
 *
 * A step draws its random numbers first, so that later steps do not depend on
 * its result.  A verb is skipped if an object that it needs is missing.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs.h"

/* A size that is mostly valid, and never large enough to take all memory */
static __u32 some_size(struct dice *d, __u32 good, __u32 limit)
{
	__u32 n;

	if (roll(d, 4))
		return 1 + roll(d, good);
	n = odd_number(d);
	return n > good * 64 && n <= limit ? n % (good * 64) : n;
}

static int some_access(struct dice *d)
{
	static const int good[] = {
		0, IBV_ACCESS_LOCAL_WRITE, FULL_ACCESS,
		FULL_ACCESS | IBV_ACCESS_MW_BIND,
		FULL_ACCESS | IBV_ACCESS_ON_DEMAND,
		IBV_ACCESS_REMOTE_READ, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ON_DEMAND,
		FULL_ACCESS | IBV_ACCESS_ZERO_BASED,
		FULL_ACCESS | IBV_ACCESS_MW_BIND | IBV_ACCESS_RELAXED_ORDERING,
	};

	return roll(d, 6) ? good[roll(d, ARRAY_SIZE(good))] : (int)odd_number(d);
}

static __u8 *some_memory(struct job *j, struct dice *d, size_t *len)
{
	size_t off = roll(d, 4) ? roll(d, 32) * 4096 : roll(d, ARENA);

	*len = roll(d, 6) ? 1 + roll(d, ARENA - off) : odd_number(d);
	return j->arena[roll(d, ARENAS)] + off;
}

/* A random slot */
#define slot(j, d, what)	(&(j)->what[roll(d, ARRAY_SIZE((j)->what))])
#define any(j, d, what)		((j)->what[roll(d, SLOTS)])

/* Destroys the object in a slot by @undo. */
#define end_slot(j, d, what, v, undo)					\
	do {								\
		typeof(&(j)->what[0]) at_ = slot(j, d, what);		\
									\
		if (*at_ && went(j, v, undo(*at_)))			\
			*at_ = NULL;					\
	} while (0)

static void do_alloc_pd(struct job *j, struct dice *d)
{
	struct ibv_pd **at = slot(j, d, pd);

	if (!*at)
		*at = made(j, ALLOC_PD, ibv_alloc_pd(j->ctx));
}

static void do_dealloc_pd(struct job *j, struct dice *d)
{
	end_slot(j, d, pd, DEALLOC_PD, ibv_dealloc_pd);
}

static void do_create_channel(struct job *j, struct dice *d)
{
	struct ibv_comp_channel **at = slot(j, d, channel);

	if (*at)
		return;
	*at = made(j, CREATE_CHANNEL, ibv_create_comp_channel(j->ctx));
	if (*at)
		fcntl((*at)->fd, F_SETFL, O_NONBLOCK);
}

static void do_destroy_channel(struct job *j, struct dice *d)
{
	end_slot(j, d, channel, DESTROY_CHANNEL, ibv_destroy_comp_channel);
}

static void do_create_cq(struct job *j, struct dice *d)
{
	__u32 cqe = some_size(d, 256, 4 << 20);
	struct ibv_cq_init_attr_ex attr = {
		.cqe = cqe,
		.channel = any(j, d, channel),
		.comp_vector = roll(d, 4) ? 0 : odd_number(d),
		.wc_flags = roll(d, 2) ? IBV_WC_STANDARD_FLAGS : odd_number(d),
		.comp_mask = roll(d, 2) ? 0 : roll(d, 8),
		.flags = roll(d, 4),
	};
	struct ibv_cq **at = slot(j, d, cq);
	struct ibv_cq_ex *ex;

	if (*at)
		return;
	if (roll(d, 2)) {
		ex = made(j, CREATE_CQ_EX, ibv_create_cq_ex(j->ctx, &attr));
		*at = ex ? ibv_cq_ex_to_cq(ex) : NULL;
		return;
	}
	*at = made(j, CREATE_CQ, ibv_create_cq(j->ctx, cqe, NULL, attr.channel,
					       attr.comp_vector));
}

static void do_resize_cq(struct job *j, struct dice *d)
{
	struct ibv_cq *cq = any(j, d, cq);

	if (cq)
		went(j, RESIZE_CQ,
		     ibv_resize_cq(cq, some_size(d, 512, 4 << 20)));
}

static void do_modify_cq(struct job *j, struct dice *d)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = roll(d, 4) ? IBV_CQ_ATTR_MODERATE : odd_number(d),
		.moderate = { roll(d, 64), roll(d, 1000) },
	};
	struct ibv_cq *cq = any(j, d, cq);

	if (cq)
		went(j, MODIFY_CQ, ibv_modify_cq(cq, &attr));
}

/* The kernel may have fewer queue pairs than the library, and so destroy a CQ in use. */
static void do_destroy_cq(struct job *j, struct dice *d)
{
	if (j->loss & LOSS_OBJECTS)
		return;
	end_slot(j, d, cq, DESTROY_CQ, ibv_destroy_cq);
}

static void do_req_notify(struct job *j, struct dice *d)
{
	struct ibv_cq *cq = any(j, d, cq);

	if (cq)
		went(j, REQ_NOTIFY, ibv_req_notify_cq(cq, roll(d, 2)));
}

static void do_poll_cq(struct job *j, struct dice *d)
{
	struct ibv_comp_channel *channel = any(j, d, channel);
	struct ibv_cq *cq = any(j, d, cq), *told;
	struct ibv_wc wc[8];
	void *context;
	int n;

	if (cq) {
		n = ibv_poll_cq(cq, ARRAY_SIZE(wc), wc);
		went(j, POLL_CQ, n < 0 ? -n : 0);
	}
	/* the library does not see changes that other processes make to these queues */
	while (channel && !j->loss &&
	       !ibv_get_cq_event(channel, &told, &context))
		ibv_ack_cq_events(told, 1);
}

static void do_reg_mr(struct job *j, struct dice *d)
{
	struct ibv_mr **at = slot(j, d, mr);
	struct ibv_pd *pd = any(j, d, pd);
	int access = some_access(d);
	size_t len;
	__u8 *p;

	p = some_memory(j, d, &len);
	if (*at || !pd)
		return;
	switch (roll(d, 8)) {
	case 0:
		*at = made(j, REG_MR, ibv_reg_mr(pd, NULL, SIZE_MAX, access |
						 IBV_ACCESS_ON_DEMAND));
		break;
	case 1:
		*at = made(j, REG_MR, ibv_reg_mr_iova(pd, p, len, odd_number(d),
						      access));
		break;
	case 2:
		*at = made(j, REG_MR,
			   ibv_reg_mr(pd, (void *)(uintptr_t)odd_number(d), len,
				      access));
		break;
	case 3:
		*at = made(j, REG_MR, ibv_alloc_null_mr(pd));
		break;
	default:
		*at = made(j, REG_MR, ibv_reg_mr(pd, p, len, access));
	}
}

static void do_reg_dmabuf(struct job *j, struct dice *d)
{
	__u64 off = roll(d, 4) ? roll(d, 8) * 4096 : odd_number(d);
	size_t len = roll(d, 4) ? 1 + roll(d, ARENA / 2) : odd_number(d);
	int fd = roll(d, 8) ? j->buffer : (int)roll(d, 16);
	struct ibv_mr **at = slot(j, d, mr);
	struct ibv_pd *pd = any(j, d, pd);

	if (!*at && pd)
		*at = made(j, REG_DMABUF,
			   ibv_reg_dmabuf_mr(pd, off, len, off & 4095, fd,
					     some_access(d)));
}

static void do_rereg_mr(struct job *j, struct dice *d)
{
	int flags = roll(d, 8) ? (int)roll(d, 8) : (int)odd_number(d);
	struct ibv_mr **at = slot(j, d, mr);
	struct ibv_pd *pd = any(j, d, pd);
	int access = some_access(d);
	size_t len;
	__u8 *p;
	int err;

	p = some_memory(j, d, &len);
	if (!*at || !pd)
		return;
	errno = 0;
	err = ibv_rereg_mr(*at, flags, pd, p, len, access);
	if (!err)
		went(j, REREG_MR, 0);
	else if (err == IBV_REREG_MR_ERR_CMD)
		went(j, REREG_MR, errno);
	else if (err > IBV_REREG_MR_ERR_INPUT ||
		 err < IBV_REREG_MR_ERR_CMD_AND_DO_FORK_NEW)
		say("rereg_mr returned %d", err);
}

static void do_dereg_mr(struct job *j, struct dice *d)
{
	end_slot(j, d, mr, DEREG_MR, ibv_dereg_mr);
}

static struct ibv_sge some_sge(struct job *j, struct dice *d)
{
	struct ibv_mr *mr = any(j, d, mr);
	struct ibv_sge sge = {
		.addr = (uintptr_t)j->arena[roll(d, ARENAS)] + roll(d, ARENA),
		.length = roll(d, 4) ? roll(d, 9000) : odd_number(d),
		.lkey = odd_number(d),
	};

	if (mr && mr->length)
		sge.lkey = mr->lkey;
	if (mr && mr->length > ARENA)
		return sge;	/* other addresses could be memory of this program */
	if (mr && mr->length)
		sge.addr = (uintptr_t)mr->addr + roll(d, mr->length);
	if (rarely(d, 16))
		sge.addr += odd_number(d);
	return sge;
}

static void do_advise_mr(struct job *j, struct dice *d)
{
	enum ibv_advise_mr_advice advice = roll(d, roll(d, 8) ? 3 : 8);
	__u32 flags = roll(d, 8) ? roll(d, 2) : odd_number(d);
	struct ibv_pd *pd = any(j, d, pd);
	struct ibv_sge sge[4];
	int i, n = roll(d, 5);

	for (i = 0; i < n; i++)
		sge[i] = some_sge(j, d);
	if (pd)
		went(j, ADVISE_MR, ibv_advise_mr(pd, advice, flags, sge, n));
}

static void do_alloc_dm(struct job *j, struct dice *d)
{
	struct ibv_alloc_dm_attr attr = {
		.length = roll(d, 4) ? 1 + roll(d, 65536) : odd_number(d),
		.log_align_req = roll(d, 4) ? 0 : odd_number(d),
	};
	struct ibv_dm **at = slot(j, d, dm);

	if (!*at)
		*at = made(j, ALLOC_DM, ibv_alloc_dm(j->ctx, &attr));
}

static void do_free_dm(struct job *j, struct dice *d)
{
	end_slot(j, d, dm, FREE_DM, ibv_free_dm);
}

static void do_reg_dm_mr(struct job *j, struct dice *d)
{
	int access = roll(d, 4) ? FULL_ACCESS | IBV_ACCESS_ZERO_BASED :
				  some_access(d);
	__u64 off = roll(d, 4) ? 0 : odd_number(d);
	size_t len = roll(d, 4) ? roll(d, 4096) : odd_number(d);
	struct ibv_mr **at = slot(j, d, mr);
	struct ibv_dm *dm = any(j, d, dm);
	struct ibv_pd *pd = any(j, d, pd);

	if (!*at && pd && dm)
		*at = made(j, REG_DM_MR, ibv_reg_dm_mr(pd, dm, off, len, access));
}

static void do_copy_dm(struct job *j, struct dice *d)
{
	__u64 off = roll(d, 4) ? roll(d, 64) * 4 : odd_number(d);
	size_t len = roll(d, 4) ? roll(d, 64) * 4 : odd_number(d);
	struct ibv_dm *dm = any(j, d, dm);

	if (dm && len <= ARENA)
		went(j, COPY_DM, ibv_memcpy_to_dm(dm, off, j->arena[0], len));
}

static void do_alloc_mw(struct job *j, struct dice *d)
{
	enum ibv_mw_type type = roll(d, 8) ? 1 + roll(d, 2) : roll(d, 4);
	struct ibv_mw **at = slot(j, d, mw);
	struct ibv_pd *pd = any(j, d, pd);

	if (!*at && pd)
		*at = made(j, ALLOC_MW, ibv_alloc_mw(pd, type));
}

static struct ibv_mw_bind_info some_bind(struct job *j, struct dice *d)
{
	struct ibv_mr *mr = any(j, d, mr);
	struct ibv_mw_bind_info info = {
		.mr = mr,
		.addr = mr ? (uintptr_t)mr->addr + roll(d, 4096) : 0,
		.length = roll(d, 4) ? roll(d, 9000) : odd_number(d),
		.mw_access_flags = some_access(d),
	};

	return info;
}

static void do_bind_mw(struct job *j, struct dice *d)
{
	struct ibv_mw_bind bind = {
		.wr_id = dice_next(d),
		.send_flags = roll(d, 4) ? IBV_SEND_SIGNALED : odd_number(d),
		.bind_info = some_bind(j, d),
	};
	struct ibv_qp *qp = any(j, d, qp);
	struct ibv_mw *mw = any(j, d, mw);

	if (qp && mw)
		went(j, BIND_MW, ibv_bind_mw(qp, mw, &bind));
}

static void do_dealloc_mw(struct job *j, struct dice *d)
{
	end_slot(j, d, mw, DEALLOC_MW, ibv_dealloc_mw);
}

static void do_create_qp(struct job *j, struct dice *d)
{
	static const enum ibv_qp_type types[] = {
		IBV_QPT_RC, IBV_QPT_RC, IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD,
		IBV_QPT_RAW_PACKET, IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV,
	};
	struct ibv_qp_init_attr_ex init = {
		.qp_type = roll(d, 16) ? types[roll(d, ARRAY_SIZE(types))] :
					 odd_number(d),
		.sq_sig_all = roll(d, 2),
		.send_cq = any(j, d, cq),
		.recv_cq = any(j, d, cq),
		.srq = roll(d, 3) ? NULL : any(j, d, srq),
		.xrcd = any(j, d, xrcd),
		.pd = any(j, d, pd),
		.cap = {
			.max_send_wr = some_size(d, 64, 65536),
			.max_recv_wr = some_size(d, 64, 65536),
			.max_send_sge = some_size(d, 8, 32),
			.max_recv_sge = some_size(d, 8, 32),
			.max_inline_data = some_size(d, 256, 512),
		},
		.rwq_ind_tbl = any(j, d, table),
	};
	static __u8 key[40];
	struct ibv_qp **at = slot(j, d, qp);

	init.comp_mask = init.qp_type == IBV_QPT_XRC_RECV ?
			 IBV_QP_INIT_ATTR_XRCD : IBV_QP_INIT_ATTR_PD;
	if (rarely(d, 8)) {
		init.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
		init.create_flags = odd_number(d);
	}
	if (init.qp_type == IBV_QPT_RAW_PACKET && init.rwq_ind_tbl && roll(d, 2)) {
		init.comp_mask |= IBV_QP_INIT_ATTR_IND_TABLE |
				  IBV_QP_INIT_ATTR_RX_HASH;
		init.rx_hash_conf.rx_hash_function = roll(d, 8) ? 1 : odd_number(d);
		init.rx_hash_conf.rx_hash_key = key;
		init.rx_hash_conf.rx_hash_key_len = roll(d, 8) ? sizeof(key) :
						    roll(d, sizeof(key));
		init.rx_hash_conf.rx_hash_fields_mask = roll(d, 4) ? 0xff :
							odd_number(d);
	}
	if (roll(d, 2)) {
		init.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		init.send_ops_flags = IBV_QP_EX_WITH_SEND;
	}
	/* libibverbs dereferences the pointers that the type requires */
	if (*at || (init.comp_mask & IBV_QP_INIT_ATTR_XRCD ? !init.xrcd :
		    !init.pd || !init.send_cq || !init.recv_cq))
		return;
	*at = made(j, CREATE_QP, ibv_create_qp_ex(j->ctx, &init));
}

/* The attributes that a step to the next state requires, and random ones */
static int some_attrs(struct job *j, struct dice *d, const struct ibv_qp *qp,
		      struct ibv_qp_attr *attr)
{
	bool rd = qp->qp_type == IBV_QPT_RC || qp->qp_type == IBV_QPT_XRC_SEND ||
		  qp->qp_type == IBV_QPT_XRC_RECV;
	bool conn = rd || qp->qp_type == IBV_QPT_UC;
	struct ibv_qp *peer = any(j, d, qp);

	*attr = (struct ibv_qp_attr) {
		.port_num = 1,
		.qkey = 0x40aa0001,
		.qp_access_flags = FULL_ACCESS,
		.path_mtu = j->side->port.active_mtu,
		.dest_qp_num = peer ? peer->qp_num : roll(d, 1 << 24),
		.rq_psn = 77,
		.sq_psn = 77,
		.max_rd_atomic = roll(d, 8),
		.max_dest_rd_atomic = roll(d, 8),
		.min_rnr_timer = 1,
		.timeout = 8,
		.retry_cnt = 1,
		.rnr_retry = 1,
		.ah_attr = {
			.is_global = 1,
			.port_num = 1,
			.grh = {
				.dgid = sides[roll(d, 2)].gid,
				.sgid_index = j->side->gid_index,
				.hop_limit = 64,
			},
		},
	};
	switch (qp->state) {
	case IBV_QPS_RESET:
		attr->qp_state = IBV_QPS_INIT;
		if (qp->qp_type == IBV_QPT_RAW_PACKET)
			return IBV_QP_STATE | IBV_QP_PORT;
		return IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
		       (conn ? IBV_QP_ACCESS_FLAGS : IBV_QP_QKEY);
	case IBV_QPS_INIT:
		attr->qp_state = IBV_QPS_RTR;
		return IBV_QP_STATE | (!conn ? 0 : IBV_QP_AV | IBV_QP_PATH_MTU |
				       IBV_QP_DEST_QPN | IBV_QP_RQ_PSN) |
		       (rd && qp->qp_type != IBV_QPT_XRC_SEND ?
			IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0);
	case IBV_QPS_RTR:
		attr->qp_state = IBV_QPS_RTS;
		return IBV_QP_STATE |
		       (qp->qp_type == IBV_QPT_RAW_PACKET ? 0 : IBV_QP_SQ_PSN) |
		       (!rd ? 0 : qp->qp_type == IBV_QPT_XRC_RECV ?
			IBV_QP_TIMEOUT : IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
	default:
		attr->qp_state = roll(d, 7);
		return IBV_QP_STATE;
	}
}

static void do_modify_qp(struct job *j, struct dice *d)
{
	struct ibv_qp *qp = any(j, d, qp);
	struct ibv_qp_attr attr;
	int mask;

	if (!qp)
		return;
	mask = some_attrs(j, d, qp, &attr);
	switch (roll(d, 12)) {
	case 0:
		mask ^= 1 << roll(d, 26);
		break;
	case 1:
		mask = odd_number(d);
		break;
	case 2:
		attr.qp_state = roll(d, 9);
		break;
	case 3:
		((__u32 *)&attr)[roll(d, sizeof(attr) / 4)] = odd_number(d);
		break;
	}
	side_enter(j->side);
	went(j, MODIFY_QP, ibv_modify_qp(qp, &attr, mask));
	side_leave(j->side);
}

static void do_query_qp(struct job *j, struct dice *d)
{
	struct ibv_qp *qp = any(j, d, qp);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (qp)
		went(j, QUERY_QP, ibv_query_qp(qp, &attr, odd_number(d), &init));
}

/* The queue pair may be detached from its groups already. */
static void do_destroy_qp(struct job *j, struct dice *d)
{
	struct ibv_qp **at = slot(j, d, qp);
	size_t i;

	if (!*at || !went(j, DESTROY_QP, ibv_destroy_qp(*at)))
		return;
	for (i = 0; i < ARRAY_SIZE(j->group); i++)
		if (j->group[i].qp == *at)
			j->group[i].qp = NULL;
	*at = NULL;
}

/* The provider reads the data of an inline request, so it must be mapped. */
static void wr_shorten(struct job *j, struct dice *d, struct ibv_send_wr *wr)
{
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		wr->sg_list[i].addr = (uintptr_t)j->arena[0];
		wr->sg_list[i].length = roll(d, 64);
	}
}

static void wr_put_target(struct job *j, struct dice *d, struct ibv_qp *qp,
			  struct ibv_send_wr *wr)
{
	struct ibv_mr *mr = any(j, d, mr);
	__u32 rkey = mr ? mr->rkey : odd_number(d);
	__u64 addr = mr ? (uintptr_t)mr->addr + roll(d, 4096) : odd_number(d);

	if (qp->qp_type == IBV_QPT_UD) {
		wr->wr.ud.ah = any(j, d, ah);
		wr->wr.ud.remote_qpn = any(j, d, qp) ? qp->qp_num : odd_number(d);
		wr->wr.ud.remote_qkey = 0x40aa0001;
	} else if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
		   wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr->wr.atomic.remote_addr = addr & ~7ULL;
		wr->wr.atomic.rkey = rkey;
	} else if (wr->opcode == IBV_WR_BIND_MW) {
		wr->bind_mw.mw = any(j, d, mw);
		wr->bind_mw.rkey = wr->bind_mw.mw ?
				   ibv_inc_rkey(wr->bind_mw.mw->rkey) : 0;
		wr->bind_mw.bind_info = some_bind(j, d);
	} else {
		wr->wr.rdma.remote_addr = addr;
		wr->wr.rdma.rkey = rkey;
	}
}

static void do_post_send(struct job *j, struct dice *d)
{
	struct ibv_qp *qp = any(j, d, qp);
	struct ibv_send_wr wr[4] = {}, *bad;
	struct ibv_sge sge[4][4];
	int i, k, n = 1 + roll(d, 4);

	if (!qp)
		return;
	for (i = 0; i < n; i++) {
		for (k = 0; k < 4; k++)
			sge[i][k] = some_sge(j, d);
		wr[i] = wr_of(dice_next(d), roll(d, 8) ? roll(d, 10) :
			      odd_number(d), sge[i], roll(d, 5));
		wr[i].send_flags = roll(d, 8) ? roll(d, 16) : odd_number(d);
		if (wr[i].send_flags & IBV_SEND_INLINE)
			wr_shorten(j, d, &wr[i]);
		wr_put_target(j, d, qp, &wr[i]);
		if (wr[i].opcode == IBV_WR_BIND_MW && !wr[i].bind_mw.mw)
			wr[i].opcode = IBV_WR_SEND;
		wr[i].next = i + 1 < n ? &wr[i + 1] : NULL;
	}
	went(j, POST_SEND, ibv_post_send(qp, wr, &bad));
}

static struct ibv_recv_wr some_recv(struct job *j, struct dice *d,
				    struct ibv_sge *sge)
{
	int i;

	for (i = 0; i < 4; i++)
		sge[i] = some_sge(j, d);
	return (struct ibv_recv_wr) {
		.wr_id = dice_next(d),
		.sg_list = sge,
		.num_sge = roll(d, 5),
	};
}

static void do_post_recv(struct job *j, struct dice *d)
{
	struct ibv_qp *qp = any(j, d, qp);
	struct ibv_recv_wr wr, *bad;
	struct ibv_sge sge[4];

	wr = some_recv(j, d, sge);
	if (qp)
		went(j, POST_RECV, ibv_post_recv(qp, &wr, &bad));
}

static void do_create_srq(struct job *j, struct dice *d)
{
	struct ibv_srq_init_attr_ex init = {
		.attr = {
			.max_wr = some_size(d, 64, 65536),
			.max_sge = some_size(d, 8, 32),
			.srq_limit = roll(d, 32),
		},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = roll(d, 8) ? IBV_SRQT_BASIC + roll(d, 2) : roll(d, 5),
		.pd = any(j, d, pd),
		.xrcd = any(j, d, xrcd),
		.cq = any(j, d, cq),
	};
	struct ibv_srq **at = slot(j, d, srq);

	if (*at || !init.pd || !init.xrcd || !init.cq)
		return;
	*at = made(j, CREATE_SRQ, ibv_create_srq_ex(j->ctx, &init));
}

static void do_modify_srq(struct job *j, struct dice *d)
{
	struct ibv_srq_attr attr = {
		.max_wr = some_size(d, 128, 65536),
		.srq_limit = some_size(d, 64, 65536),
	};
	int mask = roll(d, 8) ? 1 + (int)roll(d, 3) : (int)odd_number(d);
	struct ibv_srq *srq = any(j, d, srq);

	if (srq)
		went(j, MODIFY_SRQ, ibv_modify_srq(srq, &attr, mask));
}

static void do_query_srq(struct job *j, struct dice *d)
{
	struct ibv_srq *srq = any(j, d, srq);
	struct ibv_srq_attr attr;

	if (srq)
		went(j, QUERY_SRQ, ibv_query_srq(srq, &attr));
}

static void do_post_srq(struct job *j, struct dice *d)
{
	struct ibv_srq *srq = any(j, d, srq);
	struct ibv_recv_wr wr, *bad;
	struct ibv_sge sge[4];

	wr = some_recv(j, d, sge);
	if (srq)
		went(j, POST_SRQ, ibv_post_srq_recv(srq, &wr, &bad));
}

static void do_destroy_srq(struct job *j, struct dice *d)
{
	end_slot(j, d, srq, DESTROY_SRQ, ibv_destroy_srq);
}

static void do_open_xrcd(struct job *j, struct dice *d)
{
	struct ibv_xrcd_init_attr init = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = roll(d, 8) ? -1 : (int)roll(d, 16),
		.oflags = roll(d, 8) ? O_CREAT : odd_number(d),
	};
	struct ibv_xrcd **at = slot(j, d, xrcd);

	if (!*at)
		*at = made(j, OPEN_XRCD, ibv_open_xrcd(j->ctx, &init));
}

static void do_close_xrcd(struct job *j, struct dice *d)
{
	end_slot(j, d, xrcd, CLOSE_XRCD, ibv_close_xrcd);
}

static void do_create_ah(struct job *j, struct dice *d)
{
	struct ibv_ah_attr attr = {
		.is_global = roll(d, 8) != 0,
		.port_num = roll(d, 8) ? 1 : odd_number(d),
		.grh = {
			.dgid = sides[roll(d, 2)].gid,
			.sgid_index = roll(d, 8) ? (__u32)j->side->gid_index :
						 odd_number(d),
			.hop_limit = 64,
		},
	};
	struct ibv_ah **at = slot(j, d, ah);
	struct ibv_pd *pd = any(j, d, pd);

	if (rarely(d, 8))
		attr.grh.dgid.raw[roll(d, 16)] = odd_number(d);
	if (*at || !pd)
		return;
	side_enter(j->side);
	*at = made(j, CREATE_AH, ibv_create_ah(pd, &attr));
	side_leave(j->side);
}

static void do_destroy_ah(struct job *j, struct dice *d)
{
	end_slot(j, d, ah, DESTROY_AH, ibv_destroy_ah);
}

static union ibv_gid some_group(struct dice *d)
{
	union ibv_gid gid = { .raw = { 0xff, 0x0e, [15] = roll(d, 4) } };

	if (rarely(d, 4))
		gid = (union ibv_gid) {
			.raw = { [10] = 0xff, 0xff, 239, 1, 1, roll(d, 4) },
		};
	if (rarely(d, 8))
		gid.raw[roll(d, 16)] = odd_number(d);
	return gid;
}

static void do_attach_mcast(struct job *j, struct dice *d)
{
	struct group *at = slot(j, d, group);
	struct group g = {
		.gid = some_group(d),
		.qp = any(j, d, qp),
		.lid = roll(d, 8) ? 0 : odd_number(d),
	};

	if (g.qp && !at->qp &&
	    went(j, ATTACH_MCAST, ibv_attach_mcast(g.qp, &g.gid, g.lid)))
		*at = g;
}

static void do_detach_mcast(struct job *j, struct dice *d)
{
	union ibv_gid gid = some_group(d);
	struct group *at = slot(j, d, group);
	struct ibv_qp *qp = any(j, d, qp);

	if (at->qp) {
		went(j, DETACH_MCAST, ibv_detach_mcast(at->qp, &at->gid, at->lid));
		at->qp = NULL;
	} else if (qp) {
		went(j, DETACH_MCAST, ibv_detach_mcast(qp, &gid, 0));
	}
}

static void do_create_wq(struct job *j, struct dice *d)
{
	struct ibv_wq_init_attr init = {
		.wq_type = roll(d, 8) ? IBV_WQT_RQ : odd_number(d),
		.max_wr = some_size(d, 64, 65536),
		.max_sge = some_size(d, 8, 32),
		.pd = any(j, d, pd),
		.cq = any(j, d, cq),
		.comp_mask = rarely(d, 8) ? IBV_WQ_INIT_ATTR_FLAGS : 0,
		.create_flags = odd_number(d),
	};
	struct ibv_wq **at = slot(j, d, wq);

	if (!*at && init.pd && init.cq)
		*at = made(j, CREATE_WQ, ibv_create_wq(j->ctx, &init));
}

static void do_modify_wq(struct job *j, struct dice *d)
{
	struct ibv_wq_attr attr = {
		.attr_mask = roll(d, 8) ? IBV_WQ_ATTR_STATE : odd_number(d),
		.wq_state = roll(d, 8) ? roll(d, 3) : odd_number(d),
		.curr_wq_state = roll(d, 4),
	};
	struct ibv_wq *wq = any(j, d, wq);

	if (wq)
		went(j, MODIFY_WQ, ibv_modify_wq(wq, &attr));
}

static void do_destroy_wq(struct job *j, struct dice *d)
{
	end_slot(j, d, wq, DESTROY_WQ, ibv_destroy_wq);
}

static void do_create_table(struct job *j, struct dice *d)
{
	struct ibv_rwq_ind_table **at = slot(j, d, table);
	struct ibv_wq *wqs[8];
	struct ibv_rwq_ind_table_init_attr init = {
		.log_ind_tbl_size = roll(d, 4),
		.ind_tbl = wqs,
	};
	int i;

	for (i = 0; i < 8; i++) {
		wqs[i] = any(j, d, wq);
		if (!wqs[i])
			return;
	}
	if (!*at)
		*at = made(j, CREATE_TABLE,
			   ibv_create_rwq_ind_table(j->ctx, &init));
}

static void do_destroy_table(struct job *j, struct dice *d)
{
	end_slot(j, d, table, DESTROY_TABLE, ibv_destroy_rwq_ind_table);
}

static void do_create_flow(struct job *j, struct dice *d)
{
	struct rule r = roll(d, 2) ? rule_type(roll(d, 4), 0x88b7) :
				     rule_udp(roll(d, 4), 7777, 0);
	struct ibv_flow **at = slot(j, d, flow);
	struct ibv_qp *qp = any(j, d, qp);
	__u32 word = roll(d, (sizeof(r.attr) + 64) / 4);
	struct ibv_flow_spec *spec = (struct ibv_flow_spec *)r.specs;
	__u16 spec_size = spec->hdr.size;
	__u16 size = r.attr.size;

	if (rarely(d, 3)) {
		((__u32 *)&r)[word] ^= 1U << roll(d, 32);
		/* libibverbs copies by these sizes without checks */
		r.attr.size = size;
		r.attr.num_of_specs = 1;
		spec->hdr.size = spec_size;
	}
	if (!*at && qp)
		*at = made(j, CREATE_FLOW, ibv_create_flow(qp, &r.attr));
}

static void do_destroy_flow(struct job *j, struct dice *d)
{
	end_slot(j, d, flow, DESTROY_FLOW, ibv_destroy_flow);
}

static void do_create_counters(struct job *j, struct dice *d)
{
	struct ibv_counters_init_attr init = { .comp_mask = rarely(d, 8) };
	struct ibv_counters **at = slot(j, d, counters);

	if (!*at)
		*at = made(j, CREATE_COUNTERS,
			   ibv_create_counters(j->ctx, &init));
}

static void do_use_counters(struct job *j, struct dice *d)
{
	struct ibv_counter_attach_attr attach = {
		.counter_desc = roll(d, 8) ? roll(d, 2) : odd_number(d),
		.index = roll(d, 8) ? roll(d, 2) : odd_number(d),
	};
	struct ibv_counters *counters = any(j, d, counters);
	struct ibv_flow *flow = any(j, d, flow);
	__u64 values[4];

	if (counters && flow)
		went(j, ATTACH_COUNTERS,
		     ibv_attach_counters_point_flow(counters, &attach, flow));
	if (counters)
		went(j, READ_COUNTERS,
		     ibv_read_counters(counters, (void *)values, roll(d, 5),
				       roll(d, 8) ? 0 : odd_number(d)));
}

static void do_destroy_counters(struct job *j, struct dice *d)
{
	end_slot(j, d, counters, DESTROY_COUNTERS, ibv_destroy_counters);
}

/* Imports the device again, with objects of another of its contexts. */
static void do_import(struct job *j, struct dice *d)
{
	__u32 handle = roll(d, 2) ? roll(d, 40) : odd_number(d);
	int fd = dup(j->ctx->cmd_fd);
	struct ibv_context *ctx;
	struct ibv_mr *mr;
	struct ibv_pd *pd;
	struct ibv_dm *dm;

	if (fd < 0)
		return;
	ctx = made(j, IMPORT, ibv_import_device(fd));
	if (!ctx)
		return;		/* fd may already be closed, and reused by another thread */
	pd = made(j, IMPORT, ibv_import_pd(ctx, handle));
	mr = pd ? made(j, IMPORT, ibv_import_mr(pd, roll(d, 40))) : NULL;
	dm = made(j, IMPORT, ibv_import_dm(ctx, handle));
	if (dm)
		ibv_unimport_dm(dm);
	if (mr)
		ibv_unimport_mr(mr);
	if (pd)
		ibv_unimport_pd(pd);
	ibv_close_device(ctx);
}

/* ---- steps other than verbs ---- */

static void do_memory(struct job *j, struct dice *d)
{
	static const int advices[] = {
		MADV_DONTNEED, MADV_FREE, MADV_HUGEPAGE, MADV_NOHUGEPAGE,
		MADV_DONTFORK, MADV_DOFORK, MADV_WILLNEED, MADV_MERGEABLE,
		MADV_COLD, MADV_PAGEOUT,
	};
	__u8 *p = j->arena[roll(d, ARENAS)] + roll(d, ARENA / 4096) * 4096;
	size_t len = (1 + roll(d, 16)) * 4096;

	if (p + len > j->arena[0] + ARENAS * ARENA)
		len = 4096;
	switch (roll(d, 6)) {
	case 0:	/* replace by other memory */
		syscall(SYS_mmap, p, len, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		break;
	case 1:
		syscall(SYS_mmap, p, len, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		break;
	case 2:
		mprotect(p, len, PROT_READ);
		mprotect(p, len, PROT_READ | PROT_WRITE);
		break;
	case 3:
		memset(p, 1, len);
		break;
	default:
		madvise(p, len, advices[roll(d, ARRAY_SIZE(advices))]);
	}
}

/* Moves the mapping, or grows or shrinks it in place. */
static void twin_remap(struct twin *t, size_t len, int flags)
{
	void *p = mremap(t->p, t->len, len, flags);

	if (p != MAP_FAILED)
		*t = (struct twin) { p, len };
}

/* Moves, splits or removes the second mapping of a ring. */
static void do_twin(struct job *j, struct dice *d)
{
	struct twin t = twin_take(d);

	(void)j;
	if (!t.len)
		return;
	switch (roll(d, 6)) {
	case 0:
		munmap(t.p, t.len);
		return;
	case 1:
		t.len -= 4096;
		munmap(t.p + t.len, 4096);
		break;
	case 2:
		mprotect(t.p, t.len, roll(d, 8));
		break;
	case 3:
		twin_remap(&t, t.len * 2, roll(d, 2));
		break;
	case 4:
		twin_remap(&t, ((t.len / 2) & ~4095UL) + 4096, MREMAP_MAYMOVE);
		break;
	default:
		madvise(t.p, t.len, MADV_DONTNEED);
	}
	twin_give(t);
}

struct act {
	const char	*name;
	int		weight;
	void		(*run)(struct job *j, struct dice *d);
};

#define ACT(name, weight)	{ #name, weight, do_##name }

static const struct act acts[] = {
	ACT(alloc_pd, 4), ACT(dealloc_pd, 1), ACT(create_channel, 2),
	ACT(destroy_channel, 1), ACT(create_cq, 6), ACT(resize_cq, 3),
	ACT(modify_cq, 1), ACT(destroy_cq, 2), ACT(req_notify, 2),
	ACT(poll_cq, 8), ACT(reg_mr, 10), ACT(reg_dmabuf, 3), ACT(rereg_mr, 4),
	ACT(dereg_mr, 4), ACT(advise_mr, 3), ACT(alloc_dm, 2), ACT(free_dm, 1),
	ACT(reg_dm_mr, 2), ACT(copy_dm, 1), ACT(alloc_mw, 3), ACT(bind_mw, 3),
	ACT(dealloc_mw, 1), ACT(create_qp, 8), ACT(modify_qp, 24),
	ACT(query_qp, 2), ACT(destroy_qp, 3), ACT(post_send, 24),
	ACT(post_recv, 8), ACT(create_srq, 3), ACT(modify_srq, 3),
	ACT(query_srq, 1), ACT(post_srq, 3), ACT(destroy_srq, 1),
	ACT(open_xrcd, 2), ACT(close_xrcd, 1), ACT(create_ah, 3),
	ACT(destroy_ah, 1), ACT(attach_mcast, 2), ACT(detach_mcast, 2),
	ACT(create_wq, 4), ACT(modify_wq, 3), ACT(destroy_wq, 1),
	ACT(create_table, 2), ACT(destroy_table, 1), ACT(create_flow, 4),
	ACT(destroy_flow, 2), ACT(create_counters, 1), ACT(use_counters, 2),
	ACT(destroy_counters, 1), ACT(import, 1), ACT(memory, 8), ACT(twin, 4),
};

static const struct act *some_act(struct dice *d)
{
	int at, sum = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(acts); i++)
		sum += acts[i].weight;
	at = roll(d, sum);
	for (i = 0; at >= acts[i].weight; i++)
		at -= acts[i].weight;
	return &acts[i];
}

/* A step depends only on the seed, not on the results of others. */
void job_step(struct job *j)
{
	struct dice d = { .state = dice_next(&j->dice) };
	const struct act *a = some_act(&d);

	j->doing = a->name;
	a->run(j, &d);
}

/* Destroys all objects of a kind; if one cannot be destroyed it is a failure. */
#define end_all(j, what, v, undo)					\
	do {								\
		size_t i_;						\
									\
		for (i_ = 0; i_ < SLOTS; i_++) {			\
			if ((j)->what[i_] && !went(j, v, undo((j)->what[i_])) && \
			    !(j)->loss)					\
				say(#what "[]: still in use at the end"); \
			(j)->what[i_] = NULL;				\
		}							\
	} while (0)

void job_clean(struct job *j)
{
	struct group *g;

	j->doing = "the end";
	for (g = j->group; g < j->group + ARRAY_SIZE(j->group); g++)
		if (g->qp)
			went(j, DETACH_MCAST, ibv_detach_mcast(g->qp, &g->gid, g->lid));
	end_all(j, flow, DESTROY_FLOW, ibv_destroy_flow);
	end_all(j, counters, DESTROY_COUNTERS, ibv_destroy_counters);
	end_all(j, qp, DESTROY_QP, ibv_destroy_qp);
	end_all(j, table, DESTROY_TABLE, ibv_destroy_rwq_ind_table);
	end_all(j, wq, DESTROY_WQ, ibv_destroy_wq);
	end_all(j, ah, DESTROY_AH, ibv_destroy_ah);
	end_all(j, mw, DEALLOC_MW, ibv_dealloc_mw);
	end_all(j, mr, DEREG_MR, ibv_dereg_mr);
	end_all(j, dm, FREE_DM, ibv_free_dm);
	end_all(j, srq, DESTROY_SRQ, ibv_destroy_srq);
	end_all(j, xrcd, CLOSE_XRCD, ibv_close_xrcd);
	end_all(j, cq, DESTROY_CQ, ibv_destroy_cq);
	end_all(j, channel, DESTROY_CHANNEL, ibv_destroy_comp_channel);
	end_all(j, pd, DEALLOC_PD, ibv_dealloc_pd);
}
