/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - memory of received packets: how much a device keeps, and for whom
 *
 * A packet that is kept is charged to its user and to the device, each of which has a
 * limit.  Packets kept by the kernel's own queue pairs are charged to the device alone.
 */
#ifndef SRNIC_XPORT_POOL_H
#define SRNIC_XPORT_POOL_H

#include <linux/atomic.h>
#include <linux/types.h>

/**
 * struct srnic_pool - memory of received packets that a device or a user keeps: packets
 *	waiting to be processed (backlog.c) and packets received out of order (ooo.c)
 * @bytes: memory charged
 * @kbytes: limit of the device, in KiB
 * @percent: share of that limit that this pool may use; NULL: all
 * @parent: pool that is charged as well, or NULL
 */
struct srnic_pool {
	atomic_long_t		bytes;
	const unsigned int	*kbytes;
	const unsigned int	*percent;
	struct srnic_pool	*parent;
};

/**
 * srnic_pool_charge() - charge memory, unless a limit would be exceeded
 * @pool: pool to charge, along with its parent
 * @bytes: amount
 * @part: percentage of each limit that may be used
 *
 * Context: any.
 * Return: true if there was room.
 */
bool srnic_pool_charge(struct srnic_pool *pool, unsigned int bytes, unsigned int part);

/**
 * srnic_pool_recharge() - charge memory regardless of the limit
 * @pool: pool to charge, along with its parent
 * @bytes: amount, which was uncharged a moment ago
 *
 * Context: any.
 */
void srnic_pool_recharge(struct srnic_pool *pool, unsigned int bytes);

/**
 * srnic_pool_uncharge() - undo srnic_pool_charge()
 * @pool: pool to uncharge, along with its parent
 * @bytes: amount
 *
 * Context: any.
 */
void srnic_pool_uncharge(struct srnic_pool *pool, unsigned int bytes);

#endif /* SRNIC_XPORT_POOL_H */
