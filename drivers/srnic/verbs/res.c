// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - driver-specific attributes of objects for "rdma resource show"
 *
 * Unprivileged users can read them, so most readers get no keys, addresses or PSNs: see
 * res_may_see().
 */
#include <linux/slab.h>
#include <net/netlink.h>
#include <net/sock.h>
#include <rdma/restrack.h>

#include "verbs.h"

static int res_put_value(struct sk_buff *msg,
			 const struct srnic_look_value *value)
{
	switch (value->kind) {
	case SRNIC_LOOK_U32:
		return rdma_nl_put_driver_u32(msg, value->name, value->num);
	case SRNIC_LOOK_HEX:
		return rdma_nl_put_driver_u64_hex(msg, value->name, value->num);
	case SRNIC_LOOK_U64:
		return rdma_nl_put_driver_u64(msg, value->name, value->num);
	default:
		return rdma_nl_put_driver_string(msg, value->name, value->word);
	}
}

/* An empty list of values, too large for the stack of a kernel with KASAN */
static struct srnic_look *res_begin(void)
{
	return kzalloc(sizeof(struct srnic_look), GFP_KERNEL);
}

/* Adds the driver's part to @msg, which is left out if it does not fit. */
static int res_put(struct sk_buff *msg, const struct srnic_look *look)
{
	struct nlattr *table;
	unsigned int i;
	int err;

	if (WARN_ON_ONCE(look->num > SRNIC_LOOK_MAX))
		return -EMSGSIZE;

	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!table)
		return -EMSGSIZE;

	for (i = 0; i < look->num; i++) {
		err = res_put_value(msg, &look->values[i]);
		if (err) {
			nla_nest_cancel(msg, table);
			return err;
		}
	}
	nla_nest_end(msg, table);

	return 0;
}

/* Puts the values of @look into @msg, and frees @look. */
static int res_end(struct sk_buff *msg, struct srnic_look *look)
{
	int err = res_put(msg, look);

	kfree(look);

	return err;
}

/*
 * May the reader of @msg see keys, addresses and PSNs?  As for the keys that the RDMA core
 * shows, both the reader and the opener of its socket need the capability, or a privileged
 * program could be tricked into passing on what it reads.  A @msg that is not part of a dump
 * does not know its socket.
 */
static bool res_may_see(const struct sk_buff *msg)
{
	return msg->sk && sk_capable(msg->sk, CAP_NET_ADMIN);
}

/* Keys and addresses of kernel memory are for nobody. */
int srnic_fill_res_qp(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct srnic_look *look = res_begin();
	bool see = res_may_see(msg);
	struct srnic_ibqp *qp = to_qp(ibqp);
	int err = -EAGAIN;

	if (!look)
		return -ENOMEM;

	look->secrets = see && !rdma_is_kernel_res(&ibqp->res);
	look->wire = see;
	mutex_lock(&qp->lock);
	if (qp->qp) {
		srnic_qp_look(qp->qp, look);
		err = 0;
	}
	mutex_unlock(&qp->lock);

	err = err ?: res_put(msg, look);
	kfree(look);

	return err;
}

int srnic_fill_res_cq(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct srnic_look *look = res_begin();

	if (!look)
		return -ENOMEM;

	srnic_cq_look(srnic_cq_of(ibcq), look);

	return res_end(msg, look);
}

int srnic_fill_res_srq(struct sk_buff *msg, struct ib_srq *ibsrq)
{
	struct srnic_look *look = res_begin();
	struct srnic_rq_info info;

	if (!look)
		return -ENOMEM;

	srnic_rq_look(&to_srq(ibsrq)->srq.rq, &info);
	srnic_look_u32(look, "entries", info.entries);
	srnic_look_u32(look, "head", info.head);
	srnic_look_u32(look, "posted", info.posted);
	srnic_look_u32(look, "limit", info.limit);
	srnic_look_u32(look, "broken", info.broken);

	return res_end(msg, look);
}

int srnic_fill_res_mr(struct sk_buff *msg, struct ib_mr *ibmr)
{
	struct srnic_look *look = res_begin();

	if (!look)
		return -ENOMEM;

	srnic_mr_look(&to_mr(ibmr)->mr, look);

	return res_end(msg, look);
}
