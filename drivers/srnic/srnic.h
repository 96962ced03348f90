/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - the device and the objects of the RDMA core
 *
 * Lock order, outermost first: sleeping locks of the RDMA core and rtnl, a
 * task (srnic_task_own), srnic_rq.lock, srnic_cq.lock.  The data path holds
 * only its task.  No other lock is taken under the locks of in-kernel producers
 * and consumers (srnic_ibqp.sq_lock, .rq_lock, srnic_ibsrq.post_lock,
 * srnic_cq.poll_lock).
 */
#ifndef SRNIC_H
#define SRNIC_H

#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/if_arp.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <rdma/srnic-abi.h>

#include "exec/spread.h"
#include "mem/mem.h"
#include "queue/queue.h"
#include "stats.h"
#include "tap/tap.h"
#include "xport/xport.h"

/* Limited resources of a device, see quota.c */
enum srnic_quota {
	SRNIC_Q_DOMAIN,		/* PDs and XRC domains */
	SRNIC_Q_CQ,
	SRNIC_Q_QP,		/* and WQs */
	SRNIC_Q_SRQ,
	SRNIC_Q_AH,
	SRNIC_Q_KEY,		/* MRs and MWs */
	SRNIC_Q_GROUP,		/* attachments of QPs to multicast groups */
	SRNIC_Q_DM,		/* bytes */
	SRNIC_Q_FLOW,
	SRNIC_Q_COUNTERS,	/* ib_counters of flows */
	SRNIC_Q_NUM
};

/**
 * struct srnic_user - a user of a device, with all its contexts
 * @list: entry in srnic_dev.users
 * @dev: the device
 * @refs: one for each context and each object
 * @used: limited resources in use by its contexts
 * @rmem: receive memory of its queue pairs
 * @owner: the user across all devices; reference held
 */
struct srnic_user {
	struct list_head	list;
	struct srnic_dev	*dev;
	refcount_t		refs;
	atomic64_t		used[SRNIC_Q_NUM];
	struct srnic_rmem	rmem;
	struct srnic_owner	*owner;
};

/**
 * struct srnic_dev - one RDMA device bound to one netdev
 * @ib_dev: device of the RDMA core
 * @list: entry in the list of all devices
 * @round: last round of devs_finish() that has visited it; under its lock
 * @abi: user ABI, chosen by the link type
 * @leave: unregisters the device
 * @released: releases @net once the core is done with the device
 * @ndev: bound netdev; reference held
 * @ndev_tracker: tracker of that reference
 * @net: network namespace of the device
 * @tuning: settings of its queue pairs; like the settings below, see verbs/sysfs.c
 * @rx_kbytes: limit of @rmem, in KiB
 * @user_share: part of the limited resources that one user may have, in percent
 * @odp_fallback: page memory on demand that the user may not pin
 * @integrity: offer signature handover to kernel consumers
 * @keys: memory keys
 * @stats: counters
 * @counter_sets: maps the id of a struct rdma_counter to the counters of the
 *		  queue pairs bound to it
 * @counter_past: sum of the removed sets; under @counter_lock
 * @counter_lock: held while a set of @counter_sets is added to @counter_past
 * @users: struct srnic_user; under @users_lock
 * @users_lock: serialises changes of @users
 * @used: limited resources in use, of all users and the kernel
 * @rmem: receive memory of all queue pairs
 * @tap: rules of verbs flows on @ndev
 */
struct srnic_dev {
	struct ib_device		ib_dev;
	struct list_head		list;
	unsigned long			round;
	enum srnic_abi			abi;
	struct work_struct		leave;
	struct work_struct		released;
	struct net_device		*ndev;
	netdevice_tracker		ndev_tracker;
	struct net			*net;
	struct srnic_tuning		tuning;
	unsigned int			rx_kbytes;
	unsigned int			user_share;
	unsigned int			odp_fallback;
	unsigned int			integrity;
	struct srnic_keys		keys;
	struct srnic_stats __percpu	*stats;
	struct xarray			counter_sets;
	u64				counter_past[SRNIC_CNT_NUM];
	struct mutex			counter_lock;	/* protects counter_past */
	struct list_head		users;
	struct mutex			users_lock;	/* protects users */
	atomic64_t			used[SRNIC_Q_NUM];
	struct srnic_rmem		rmem;
	struct srnic_tap		tap;
};

/*
 * Does the device offer raw packets?  A TUN netdev has no Ethernet header, and librxe does
 * not support such queue pairs.
 */
static inline bool srnic_has_frames(const struct srnic_dev *dev)
{
	return dev->ndev->type != ARPHRD_NONE && dev->abi == SRNIC_ABI_OWN;
}

/*
 * May the caller use raw packets?  The core checks CAP_NET_RAW in the namespace of the RDMA
 * device, which may have been moved without its netdev.
 */
static inline bool srnic_may_have_frames(const struct srnic_dev *dev)
{
	return ns_capable(dev->net->user_ns, CAP_NET_RAW);
}

/* Does the device offer XRC?  librxe does not implement it. */
static inline bool srnic_has_xrc(const struct srnic_dev *dev)
{
	return dev->abi == SRNIC_ABI_OWN;
}

/* Largest capacity of a queue.  One slot of a ring in the ABI of rdma_rxe stays unused. */
static inline u32 srnic_max_wr(const struct srnic_dev *dev)
{
	return SRNIC_MAX_WR - (dev->abi == SRNIC_ABI_RXE);
}

static inline u32 srnic_max_cqe(const struct srnic_dev *dev)
{
	return SRNIC_MAX_CQE - (dev->abi == SRNIC_ABI_RXE);
}

/**
 * struct srnic_ucontext - user context, an open device
 * @ibuc: user context of the RDMA core
 * @user: the user that opened it
 * @worker: does what doorbells leave, as a thread of the process that opened it
 * @poll_usecs: how long that polls a send queue after the last post; 0: never
 */
struct srnic_ucontext {
	struct ib_ucontext	ibuc;
	struct srnic_user	*user;
	struct srnic_worker	*worker;
	u32			poll_usecs;
};

/**
 * struct srnic_pd - protection domain
 * @ibpd: protection domain of the RDMA core
 * @user: owner; NULL here and in all objects below: the kernel
 * @avs: its address vectors
 */
struct srnic_pd {
	struct ib_pd		ibpd;
	struct srnic_user	*user;
	struct srnic_avs	avs;
};

struct srnic_xrcd {
	struct ib_xrcd		ibxrcd;
	struct srnic_user	*user;
};

/**
 * struct srnic_ah - address handle
 * @ibah: address handle of the RDMA core
 * @user: owner
 * @attr: attributes it was created with, for query
 * @index: index of its address vector in the protection domain
 */
struct srnic_ah {
	struct ib_ah		ibah;
	struct srnic_user	*user;
	struct rdma_ah_attr	attr;
	u32			index;
};

/**
 * struct srnic_ibmr - verbs object of a memory region
 * @ibmr: region of the RDMA core
 * @user: user charged for its key
 * @asked: access flags that the user requested; if its memory could not be pinned, @mr is
 *	   paged on demand without IB_ACCESS_ON_DEMAND in them, see mr_may_page()
 * @mr: the region itself
 */
struct srnic_ibmr {
	struct ib_mr		ibmr;
	struct srnic_user	*user;
	int			asked;
	struct srnic_mr		mr;
};

/**
 * struct srnic_dm - device memory, which is kernel memory here
 * @ibdm: device memory object of the RDMA core
 * @user: owner
 * @start: zeroed vmalloc() memory
 * @size: size in bytes
 * @map: mmap() entry for user space
 */
struct srnic_dm {
	struct ib_dm		ibdm;
	struct srnic_user	*user;
	void			*start;
	u64			size;
	struct srnic_mmap	*map;
};

struct srnic_ibmw {
	struct ib_mw		ibmw;
	struct srnic_user	*user;
	struct srnic_mr		*win;
};

/**
 * struct srnic_mmap - a ring, or device memory, that user space may map
 * @entry: mmap() entry of the RDMA core
 * @start: zeroed vmalloc() memory
 * @unused: completed when no mmap() of it can be in progress any more
 */
struct srnic_mmap {
	struct rdma_user_mmap_entry	entry;
	void				*start;
	struct completion		unused;
};

/**
 * struct srnic_ibcq - verbs object of a completion queue
 * @ibcq: completion queue of the RDMA core
 * @user: owner
 * @cq: the queue itself
 * @map: its ring as mapped by a user, or NULL; under @lock
 * @lock: serialises resizing and requests for events of a user's queue
 * @cpu: CPU on which the events of a user's queue are raised, and of others that are loaded
 * @events: number of events that are due; who makes it non-zero raises them all, and owns the
 *	    next words meanwhile
 * @raised: number of events that were raised, modulo 2^32
 * @judged: @raised when cq_spreads() was called last
 * @told: number of completions at that time
 * @spread: are events raised on that CPU?
 * @work: raises events; pending only while @events is not zero
 * @period: longest time that moderation defers an event, in us; 0: no limit
 * @timer: expires after @period
 */
struct srnic_ibcq {
	struct ib_cq		ibcq;
	struct srnic_user	*user;
	struct srnic_cq		cq;
	struct srnic_mmap	*map;
	struct mutex		lock;	/* protects map, and cq against replacement */
	u32			cpu;
	atomic_t		events;
	u32			raised;
	u32			judged;
	u32			told;
	struct srnic_spread	spread;
	struct work_struct	work;
	u32			period;
	struct hrtimer		timer;
};

/**
 * struct srnic_ibsrq - verbs object of a shared receive queue
 * @ibsrq: shared receive queue of the RDMA core
 * @user: owner
 * @srq: the queue itself
 * @map: its ring as mapped by a user, or NULL; under @lock
 * @lock: serialises modify and query
 * @post_lock: serialises in-kernel producers of receives
 */
struct srnic_ibsrq {
	struct ib_srq		ibsrq;
	struct srnic_user	*user;
	struct srnic_srq	srq;
	struct srnic_mmap	*map;
	struct mutex		lock;	/* protects map */
	spinlock_t		post_lock;	/* serialises in-kernel producers */
};

/**
 * struct srnic_ibqp - verbs object of a queue pair
 * @ibqp: queue pair of the RDMA core
 * @user: owner
 * @qp: the queue pair itself; NULL once destroyed; under @lock for readers that may
 *	run then, see srnic_destroy_qp()
 * @sq_map: its send queue
 * @rq_map: its receive queue, or NULL
 * @lock: serialises modify and query
 * @attr: attributes that were set, for query; under @lock
 * @init: attributes it was created with; constant
 * @notify_drained: raise an event when the send queue has drained
 * @sq_lock: serialises in-kernel producers of sends
 * @spread: are they sent by another thread?  Under @sq_lock
 * @rq_lock: serialises in-kernel producers of receives
 */
struct srnic_ibqp {
	struct ib_qp		ibqp;
	struct srnic_user	*user;
	struct srnic_qp		*qp;
	struct srnic_mmap	*sq_map;
	struct srnic_mmap	*rq_map;
	struct mutex		lock;	/* protects attr */
	struct ib_qp_attr	attr;
	struct ib_qp_init_attr	init;
	bool			notify_drained;
	spinlock_t		sq_lock;	/* serialises in-kernel producers; spread */
	struct srnic_spread	spread;
	spinlock_t		rq_lock;	/* serialises in-kernel producers */
};

/**
 * struct srnic_ibwq - verbs object of a receive work queue
 * @ibwq: work queue of the RDMA core
 * @user: owner
 * @qp: the queue itself, see struct srnic_qp
 * @map: its ring
 * @lock: serialises modify
 */
struct srnic_ibwq {
	struct ib_wq		ibwq;
	struct srnic_user	*user;
	struct srnic_qp		*qp;
	struct srnic_mmap	*map;
	struct mutex		lock;	/* protects ibwq.state */
};

struct srnic_ind_table {
	struct ib_rwq_ind_table	ibtable;
};

/* Counters of verbs flows (struct ib_counters) */
struct srnic_ibcounters {
	struct ib_counters	ibcounters;
	struct srnic_user	*user;	/* charged for them */
	struct srnic_rule_counters counters;
};

/**
 * struct srnic_ibflow - verbs flow: a rule for frames and its target queue pair
 * @ibflow: flow of the RDMA core
 * @user: user charged for it
 * @rule: the rule itself
 */
struct srnic_ibflow {
	struct ib_flow		ibflow;
	struct srnic_user	*user;
	struct srnic_rule	rule;
};

/* device.c */

/*
 * Creates the device @name on @ndev, which has none, and registers it.  Users may remove
 * it at any time.  May sleep.  Return: 0 or negative errno.
 */
int srnic_dev_add(const char *name, struct net_device *ndev, enum srnic_abi abi);

/*
 * Gets the device on @ndev, or any if that is NULL; registered or not, but not yet freed.
 * The caller drops the reference by put_device().  Context: process.
 */
struct srnic_dev *srnic_dev_find(const struct net_device *ndev);

/*
 * Starts removing @dev, which may be about to be registered in another namespace.
 * Context: any.
 */
void srnic_dev_remove(struct srnic_dev *dev);

int srnic_devs_init(void);
/* Removes all devices and waits until they are freed.  None may be added meanwhile. */
void srnic_devs_exit(void);

/* netdev.c */

int srnic_netdev_init(void);
void srnic_netdev_exit(void);

#endif /* SRNIC_H */
