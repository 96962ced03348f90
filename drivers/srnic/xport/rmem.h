/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - receive memory: packets that are kept, charged to user and device
 *
 * Kept are packets that wait to be processed (backlog.c) and packets that arrived out of
 * order (ooo.c).  User and device have a limit each.  Packets kept by the kernel's own queue
 * pairs are charged to the device alone.
 */
#ifndef SRNIC_XPORT_RMEM_H
#define SRNIC_XPORT_RMEM_H

#include <linux/atomic.h>
#include <linux/types.h>

/**
 * struct srnic_rmem - receive memory of a user or a device
 * @bytes: memory charged
 * @kbytes: limit of the device, in KiB
 * @percent: percentage of that limit that is the user's; NULL: all of it
 * @parent: that of the device, charged as well, or NULL
 */
struct srnic_rmem {
	atomic_long_t		bytes;
	const unsigned int	*kbytes;
	const unsigned int	*percent;
	struct srnic_rmem	*parent;
};

/**
 * srnic_rmem_charge() - charge memory, unless a limit would be exceeded
 * @rmem: what to charge, along with its parent
 * @bytes: amount
 * @part: percentage of each limit that may be used
 *
 * Context: any.
 * Return: true if there was room.
 */
bool srnic_rmem_charge(struct srnic_rmem *rmem, unsigned int bytes, unsigned int part);

/**
 * srnic_rmem_recharge() - charge memory regardless of the limit
 * @rmem: what to charge, along with its parent
 * @bytes: amount, which was uncharged a moment ago
 *
 * Context: any.
 */
void srnic_rmem_recharge(struct srnic_rmem *rmem, unsigned int bytes);

/**
 * srnic_rmem_uncharge() - undo srnic_rmem_charge()
 * @rmem: what to uncharge, along with its parent
 * @bytes: amount
 *
 * Context: any.
 */
void srnic_rmem_uncharge(struct srnic_rmem *rmem, unsigned int bytes);

#endif /* SRNIC_XPORT_RMEM_H */
