// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - driver-specific attributes of objects for "rdma resource show"
 *
 * Unprivileged users can read them, so they contain no addresses and no keys.
 */
#include <net/netlink.h>

#include "verbs.h"

/* A u32 member of one of the structs that describe an object */
struct res_word {
	const char	*name;
	size_t		offset;
};

#define QP_WORD(name, member) \
	{ name, offsetof(struct srnic_qp_info, member) }

static const struct res_word res_qp_words[] = {
	QP_WORD("sq_head",	sq_head),
	QP_WORD("sq_cur",	sq_cur),
	QP_WORD("sq_tail",	sq_tail),
	QP_WORD("psn",		psn),
	QP_WORD("una_psn",	una),
	QP_WORD("next_psn",	next),
	QP_WORD("reads_out",	rd_out),
	QP_WORD("retry_left",	retry_left),
	QP_WORD("rnr_left",	rnr_left),
	QP_WORD("rnr_wait",	waiting_rnr),
	QP_WORD("mem_wait",	stalled),
	QP_WORD("window",	window),
	QP_WORD("burst",	burst),
	QP_WORD("expected_psn",	epsn),
	QP_WORD("msn",		msn),
	QP_WORD("early",	early),
	QP_WORD("early_bytes",	early_bytes),
	QP_WORD("read_left",	read_left),
	QP_WORD("ack_due",	ack_due),
	QP_WORD("rq_entries",	rq.entries),
	QP_WORD("rq_head",	rq.head),
	QP_WORD("rq_posted",	rq.posted),
	QP_WORD("rx_bytes",	rx_bytes),
	QP_WORD("tx_load",	gate_load),
	QP_WORD("tx_wait",	gate_waiting),
};

static int res_put_words(struct sk_buff *msg, const struct res_word *words,
			 size_t num, const void *info)
{
	size_t i;
	int err;

	for (i = 0; i < num; i++) {
		err = rdma_nl_put_driver_u32(msg, words[i].name,
					     *(u32 *)(info + words[i].offset));
		if (err)
			return err;
	}

	return 0;
}

static int res_put_qp(struct sk_buff *msg, const struct srnic_qp_info *info)
{
	int err;

	err = res_put_words(msg, res_qp_words, ARRAY_SIZE(res_qp_words), info);
	if (err)
		return err;
	err = rdma_nl_put_driver_u64(msg, "srtt_ns", info->srtt);
	if (err)
		return err;

	err = rdma_nl_put_driver_u64(msg, "timer_ns", info->timer);
	if (err)
		return err;
	err = rdma_nl_put_driver_u64(msg, "rate", info->rate);
	if (err)
		return err;

	return rdma_nl_put_driver_u64(msg, "target_rate", info->target);
}

/* Ends the driver's attributes in @msg, or removes them if they did not fit. */
static int res_end(struct sk_buff *msg, struct nlattr *table, int err)
{
	if (err)
		nla_nest_cancel(msg, table);
	else
		nla_nest_end(msg, table);

	return err;
}

int srnic_fill_res_qp(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct srnic_ibqp *qp = to_qp(ibqp);
	struct srnic_qp_info info;
	struct nlattr *table;
	int err = -EAGAIN;

	mutex_lock(&qp->lock);
	if (qp->qp) {
		srnic_qp_look(qp->qp, &info);
		err = 0;
	}
	mutex_unlock(&qp->lock);
	if (err)
		return err;

	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!table)
		return -EMSGSIZE;

	return res_end(msg, table, res_put_qp(msg, &info));
}

#define CQ_WORD(name, member) \
	{ name, offsetof(struct srnic_cq_info, member) }

static const struct res_word res_cq_words[] = {
	CQ_WORD("entries",	entries),
	CQ_WORD("prod",		prod),
	CQ_WORD("cons",		cons),
};

/* Armed state, by enum srnic_cq_arm bits */
static const char * const res_cq_arms[] = {
	[0]						= "none",
	[SRNIC_CQ_ARM_NEXT]				= "next",
	[SRNIC_CQ_ARM_SOLICITED]			= "solicited",
	[SRNIC_CQ_ARM_NEXT | SRNIC_CQ_ARM_SOLICITED]	= "next",
};

static int res_put_cq(struct sk_buff *msg, const struct srnic_cq_info *info)
{
	u32 arm = info->arm & (SRNIC_CQ_ARM_NEXT | SRNIC_CQ_ARM_SOLICITED);
	int err;

	err = res_put_words(msg, res_cq_words, ARRAY_SIZE(res_cq_words), info);
	if (err)
		return err;
	err = rdma_nl_put_driver_string(msg, "armed", res_cq_arms[arm]);
	if (err)
		return err;

	return rdma_nl_put_driver_u32(msg, "overrun", info->dead);
}

int srnic_fill_res_cq(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct srnic_cq_info info;
	struct nlattr *table;

	srnic_cq_look(srnic_cq_of(ibcq), &info);
	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!table)
		return -EMSGSIZE;

	return res_end(msg, table, res_put_cq(msg, &info));
}

#define RQ_WORD(name, member) \
	{ name, offsetof(struct srnic_rq_info, member) }

static const struct res_word res_srq_words[] = {
	RQ_WORD("entries",	entries),
	RQ_WORD("head",		head),
	RQ_WORD("posted",	posted),
	RQ_WORD("limit",	limit),
};

int srnic_fill_res_srq(struct sk_buff *msg, struct ib_srq *ibsrq)
{
	struct srnic_rq_info info;
	struct nlattr *table;

	srnic_rq_look(&to_srq(ibsrq)->srq.rq, &info);
	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!table)
		return -EMSGSIZE;

	return res_end(msg, table, res_put_words(msg, res_srq_words,
						 ARRAY_SIZE(res_srq_words),
						 &info));
}

static int res_put_mr(struct sk_buff *msg, const struct srnic_mr_info *info)
{
	int err;

	err = rdma_nl_put_driver_string(msg, "kind", info->kind);
	if (err)
		return err;
	err = rdma_nl_put_driver_string(msg, "state", info->state);
	if (err)
		return err;
	err = rdma_nl_put_driver_u32_hex(msg, "access", info->access);
	if (err)
		return err;
	err = rdma_nl_put_driver_u32(msg, "block_shift", info->shift);
	if (err)
		return err;
	err = rdma_nl_put_driver_u64(msg, "blocks", info->blocks);
	if (err)
		return err;
	err = rdma_nl_put_driver_u32(msg, "windows", info->windows);
	if (err)
		return err;

	return rdma_nl_put_driver_u32(msg, "users", info->users);
}

int srnic_fill_res_mr(struct sk_buff *msg, struct ib_mr *ibmr)
{
	struct srnic_mr_info info;
	struct nlattr *table;

	srnic_mr_look(&to_mr(ibmr)->mr, &info);
	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!table)
		return -EMSGSIZE;

	return res_end(msg, table, res_put_mr(msg, &info));
}
