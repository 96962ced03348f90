/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - memory of received packets: how much a device keeps, and for whom
 *
 * A packet that stays is charged to its user and to the device, of which each has
 * a limit.  Packets that the kernel's own queue pairs keep are charged to the
 * device alone.
 */
#ifndef SRNIC_XPORT_POOL_H
#define SRNIC_XPORT_POOL_H

#include <linux/atomic.h>
#include <linux/types.h>

/**
 * struct srnic_pool - memory of packets that are kept for one purpose
 * @bytes: how much it is
 * @kbytes: how much a device may have, in KiB
 * @percent: how much of that this pool may have; NULL: all
 * @parent: pool that it counts in as well, or NULL
 */
struct srnic_pool {
	atomic_long_t		bytes;
	const unsigned int	*kbytes;
	const unsigned int	*percent;
	struct srnic_pool	*parent;
};

/**
 * struct srnic_pools - memory of packets that a device or a user keeps
 * @rx: packets that wait to be processed, see backlog.c
 * @ooo: packets that came before one that is missing, see ooo.c
 */
struct srnic_pools {
	struct srnic_pool	rx;
	struct srnic_pool	ooo;
};

/**
 * srnic_pools_init() - prepares the pools of a device or of a user
 * @pools: whose
 * @dev: those of the user's device; NULL: @pools are those
 * @percent: how much of the device's the user may have
 */
void srnic_pools_init(struct srnic_pools *pools, struct srnic_pools *dev,
		      const unsigned int *percent);

/**
 * srnic_pool_charge() - charges memory, unless a limit is reached
 * @pool: where it counts, and in the parent
 * @bytes: how much
 *
 * Context: any.
 * Return: true if there was room.
 */
bool srnic_pool_charge(struct srnic_pool *pool, unsigned int bytes);

/**
 * srnic_pool_recharge() - charges memory whatever the limit
 * @pool: where it counts, and in the parent
 * @bytes: how much; it was charged a moment ago
 *
 * Context: any.
 */
void srnic_pool_recharge(struct srnic_pool *pool, unsigned int bytes);

/**
 * srnic_pool_uncharge() - the reverse of srnic_pool_charge()
 * @pool: where it counts, and in the parent
 * @bytes: how much
 *
 * Context: any.
 */
void srnic_pool_uncharge(struct srnic_pool *pool, unsigned int bytes);

#endif /* SRNIC_XPORT_POOL_H */
