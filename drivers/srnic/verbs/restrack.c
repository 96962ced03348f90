// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - driver-specific attributes of objects for "rdma resource show"
 *
 * Unprivileged users can read them, so most readers get no keys, addresses or PSNs: see
 * res_may_see().
 */
#include <linux/slab.h>
#include <net/ipv6.h>
#include <net/netlink.h>
#include <net/sock.h>
#include <rdma/restrack.h>

#include "verbs.h"

#define RES_TEXT_LEN	48	/* a network address, or a number, as text */

/* An address that is not known is not shown. */
static int res_put_addr(struct sk_buff *msg, const struct srnic_res_attr *attr)
{
	const struct in6_addr *addr = &attr->addr;
	char text[RES_TEXT_LEN];

	if (ipv6_addr_any(addr))
		return 0;
	if (ipv6_addr_v4mapped(addr))
		snprintf(text, sizeof(text), "%pI4", &addr->s6_addr32[3]);
	else
		snprintf(text, sizeof(text), "%pI6c", addr);

	return rdma_nl_put_driver_string(msg, attr->name, text);
}

/* In JSON, rdma(8) prints a number as a signed one of 32 bits: those of 64 are sent as text. */
static int res_put_num(struct sk_buff *msg, const struct srnic_res_attr *attr)
{
	bool hex = attr->kind == SRNIC_RES_ATTR_HEX;
	char text[RES_TEXT_LEN];

	snprintf(text, sizeof(text), hex ? "0x%llx" : "%llu", attr->num);

	return rdma_nl_put_driver_string(msg, attr->name, text);
}

static int res_put_attr(struct sk_buff *msg, const struct srnic_res_attr *attr)
{
	switch (attr->kind) {
	case SRNIC_RES_ATTR_U32:
		return rdma_nl_put_driver_u32(msg, attr->name, attr->num);
	case SRNIC_RES_ATTR_HEX:
	case SRNIC_RES_ATTR_U64:
		return res_put_num(msg, attr);
	case SRNIC_RES_ATTR_ADDR:
		return res_put_addr(msg, attr);
	default:
		return rdma_nl_put_driver_string(msg, attr->name, attr->string);
	}
}

/* An empty list of attributes, too large for the stack of a kernel with KASAN */
static struct srnic_res_attrs *res_begin(void)
{
	return kzalloc(sizeof(struct srnic_res_attrs), GFP_KERNEL);
}

/* Adds all of @attrs to @msg, or none if they do not fit. */
static int res_put(struct sk_buff *msg, const struct srnic_res_attrs *attrs)
{
	struct nlattr *table;
	unsigned int i;
	int err;

	if (WARN_ON_ONCE(attrs->num > SRNIC_RES_ATTRS_MAX))
		return -EMSGSIZE;

	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!table)
		return -EMSGSIZE;

	for (i = 0; i < attrs->num; i++) {
		err = res_put_attr(msg, &attrs->attrs[i]);
		if (err) {
			nla_nest_cancel(msg, table);
			return err;
		}
	}
	nla_nest_end(msg, table);

	return 0;
}

/* Adds @attrs to @msg, and frees them. */
static int res_end(struct sk_buff *msg, struct srnic_res_attrs *attrs)
{
	int err = res_put(msg, attrs);

	kfree(attrs);

	return err;
}

/*
 * May the reader of @msg see keys, addresses and PSNs?  As for the keys that the RDMA core
 * shows, both the reader and the opener of its socket need the capability, or a privileged
 * program could be tricked into passing on what it reads.  Outside of a dump, @msg has no
 * socket, and they are left out.
 */
static bool res_may_see(const struct sk_buff *msg)
{
	return msg->sk && sk_capable(msg->sk, CAP_NET_ADMIN);
}

/* Nobody may see keys and addresses of kernel memory. */
int srnic_fill_res_qp(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct srnic_res_attrs *attrs = res_begin();
	bool see = res_may_see(msg);
	struct srnic_ibqp *qp = to_qp(ibqp);
	int err = -EAGAIN;

	if (!attrs)
		return -ENOMEM;

	attrs->secrets = see && !rdma_is_kernel_res(&ibqp->res);
	attrs->wire = see;
	mutex_lock(&qp->lock);
	if (qp->qp) {
		srnic_qp_fill_attrs(qp->qp, attrs);
		err = 0;
	}
	mutex_unlock(&qp->lock);

	err = err ?: res_put(msg, attrs);
	kfree(attrs);

	return err;
}

int srnic_fill_res_cq(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct srnic_res_attrs *attrs = res_begin();

	if (!attrs)
		return -ENOMEM;

	srnic_cq_fill_attrs(srnic_cq_of(ibcq), attrs);

	return res_end(msg, attrs);
}

int srnic_fill_res_srq(struct sk_buff *msg, struct ib_srq *ibsrq)
{
	struct srnic_res_attrs *attrs = res_begin();
	struct srnic_rq_info info;

	if (!attrs)
		return -ENOMEM;

	srnic_rq_query(&to_srq(ibsrq)->srq.rq, &info);
	srnic_res_add_u32(attrs, "entries", info.entries);
	srnic_res_add_u32(attrs, "head", info.head);
	srnic_res_add_u32(attrs, "posted", info.posted);
	srnic_res_add_u32(attrs, "limit", info.limit);
	srnic_res_add_u32(attrs, "broken", info.broken);

	return res_end(msg, attrs);
}

int srnic_fill_res_mr(struct sk_buff *msg, struct ib_mr *ibmr)
{
	struct srnic_res_attrs *attrs = res_begin();

	if (!attrs)
		return -ENOMEM;

	srnic_mr_fill_attrs(&to_mr(ibmr)->mr, attrs);

	return res_end(msg, attrs);
}
