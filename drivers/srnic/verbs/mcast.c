// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - multicast: the queue pair joins a group, and the host with it
 */
#include "verbs.h"

int srnic_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	const struct in6_addr *addr = (const struct in6_addr *)gid;
	struct srnic_qp *qp = to_qp(ibqp)->qp;
	int err;

	err = srnic_group_join(qp, addr);
	if (err)
		return err;

	err = srnic_mcast_join(to_dev(ibqp->device)->ndev, addr);
	if (err)
		srnic_group_leave(qp, addr);

	return err;
}

int srnic_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	const struct in6_addr *addr = (const struct in6_addr *)gid;
	int err = srnic_group_leave(to_qp(ibqp)->qp, addr);

	if (!err)
		srnic_mcast_leave(to_dev(ibqp->device)->ndev, addr);

	return err;
}
