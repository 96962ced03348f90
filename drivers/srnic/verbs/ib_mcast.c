// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - multicast: attaches a queue pair to a group, which the host then joins
 */
#include "verbs.h"

int srnic_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	const struct in6_addr *addr = (const struct in6_addr *)gid;
	struct srnic_dev *dev = to_dev(ibqp->device);
	struct srnic_ibqp *qp = to_qp(ibqp);
	struct srnic_membership *joined;
	int err;

	err = srnic_quota_take(dev, qp->user, SRNIC_Q_GROUP, 1);
	if (err)
		return err;
	joined = srnic_membership_join(dev->ndev, dev->net, addr);
	if (IS_ERR(joined)) {
		err = PTR_ERR(joined);
		goto err_quota;
	}
	err = srnic_mcast_attach(qp->qp, addr, joined);
	if (err)
		goto err_leave;

	return 0;

err_leave:
	srnic_membership_leave(joined);
err_quota:
	srnic_quota_give(dev, qp->user, SRNIC_Q_GROUP, 1);
	return err;
}

int srnic_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	const struct in6_addr *addr = (const struct in6_addr *)gid;
	struct srnic_dev *dev = to_dev(ibqp->device);
	struct srnic_ibqp *qp = to_qp(ibqp);
	struct srnic_membership *joined;

	joined = srnic_mcast_detach(qp->qp, addr);
	if (!joined)
		return -EINVAL;

	srnic_membership_leave(joined);
	srnic_quota_give(dev, qp->user, SRNIC_Q_GROUP, 1);

	return 0;
}
