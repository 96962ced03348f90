/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - the device and the objects the RDMA core knows
 *
 * Lock order, outermost first: sleeping locks of the RDMA core and rtnl, a
 * task (srnic_task_own), srnic_rq.lock, srnic_cq.lock.  The data path holds
 * nothing but its task.  The locks of producers and consumers in the kernel
 * (srnic_ibqp.sq_lock, .rq_lock, srnic_ibsrq.post_lock, srnic_cq.poll_lock) have
 * none inside.
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
	SRNIC_Q_GROUP,		/* multicast groups that QPs are in */
	SRNIC_Q_DM,		/* bytes */
	SRNIC_Q_NUM
};

/**
 * struct srnic_user - a user of a device, with all its contexts
 * @list: of the device
 * @dev: the device
 * @refs: one for each context and each object
 * @used: what its contexts have of the device
 * @pools: memory of the packets that its queue pairs keep
 * @lanes: fetch its pages, and tell who it is; reference held
 */
struct srnic_user {
	struct list_head	list;
	struct srnic_dev	*dev;
	refcount_t		refs;
	atomic64_t		used[SRNIC_Q_NUM];
	struct srnic_pools	pools;
	struct srnic_lanes	*lanes;
};

/**
 * struct srnic_dev - one RDMA device bound to one netdev
 * @ib_dev: face to the RDMA core
 * @ndev: bound netdev; reference held
 * @ndev_tracker: of that reference
 * @net: its namespace
 * @keys: memory keys
 * @stats: counters
 * @counter_sets: id of a struct rdma_counter to the counters of its own that
 *		  queue pairs count in
 * @counter_past: what those have counted that are gone; under @counter_lock
 * @counter_lock: held while a set of @counter_sets goes into @counter_past
 * @users: struct srnic_user; under @users_lock
 * @users_lock: serialises changes of @users
 * @used: limited resources in use, of all users and the kernel
 * @pools: memory of the packets that queue pairs keep, of all users and the kernel
 * @tap: where flows take frames from @ndev
 */
struct srnic_dev {
	struct ib_device		ib_dev;
	struct net_device		*ndev;
	netdevice_tracker		ndev_tracker;
	struct net			*net;
	struct srnic_keys		keys;
	struct srnic_stats __percpu	*stats;
	struct xarray			counter_sets;
	u64				counter_past[SRNIC_CNT_NUM];
	struct mutex			counter_lock;	/* protects counter_past */
	struct list_head		users;
	struct mutex			users_lock;	/* protects users */
	atomic64_t			used[SRNIC_Q_NUM];
	struct srnic_pools		pools;
	struct srnic_tap		tap;
};

/* A TUN netdev has no Ethernet header, so no raw packets. */
static inline bool srnic_has_frames(const struct srnic_dev *dev)
{
	return dev->ndev->type != ARPHRD_NONE;
}

/**
 * struct srnic_ucontext - an open device
 * @ibuc: face to the RDMA core
 * @user: the user that opened it
 */
struct srnic_ucontext {
	struct ib_ucontext	ibuc;
	struct srnic_user	*user;
};

/**
 * struct srnic_pd - protection domain
 * @ibpd: face to the RDMA core
 * @user: whose it is; NULL, as with all objects: the kernel's
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
 * @ibah: face to the RDMA core
 * @user: whose it is
 * @attr: what it was made from, for query
 * @index: of its address vector in the protection domain
 */
struct srnic_ah {
	struct ib_ah		ibah;
	struct srnic_user	*user;
	struct rdma_ah_attr	attr;
	u32			index;
};

/**
 * struct srnic_ibmr - a region as the RDMA core sees it
 * @ibmr: face to the RDMA core
 * @user: whose key it has
 * @mr: the region proper
 */
struct srnic_ibmr {
	struct ib_mr		ibmr;
	struct srnic_user	*user;
	struct srnic_mr		mr;
};

/**
 * struct srnic_dm - memory of the device, which is the kernel's
 * @ibdm: face to the RDMA core
 * @user: whose it is
 * @start: zeroed vmalloc() memory
 * @size: bytes of it
 * @map: lets user space map it
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
 * @entry: of the RDMA core
 * @start: zeroed vmalloc() memory
 * @unused: completed when nobody can be mapping it any more
 */
struct srnic_mmap {
	struct rdma_user_mmap_entry	entry;
	void				*start;
	struct completion		unused;
};

/**
 * struct srnic_ibcq - a completion queue as the RDMA core sees it
 * @ibcq: face to the RDMA core
 * @user: whose it is
 * @cq: the queue proper
 * @map: its ring, if it is a user's; under @lock
 * @lock: serialises resizing and asking for events, of a user's queue
 * @cpu: where its events are raised
 * @events: how many @work has to raise
 * @work: raises events that came up on other processors
 * @period: microseconds that completions wait for company at most, 0: no limit
 * @timer: ends that wait
 */
struct srnic_ibcq {
	struct ib_cq		ibcq;
	struct srnic_user	*user;
	struct srnic_cq		cq;
	struct srnic_mmap	*map;
	struct mutex		lock;	/* protects map, and that cq stays */
	u32			cpu;
	atomic_t		events;
	struct work_struct	work;
	u32			period;
	struct hrtimer		timer;
};

/**
 * struct srnic_ibsrq - a shared receive queue as the RDMA core sees it
 * @ibsrq: face to the RDMA core
 * @user: whose it is
 * @srq: the queue proper
 * @map: its ring as user space sees it, or NULL; under @lock
 * @lock: serialises modify and query
 * @post_lock: serialises those in the kernel who post receives
 */
struct srnic_ibsrq {
	struct ib_srq		ibsrq;
	struct srnic_user	*user;
	struct srnic_srq	srq;
	struct srnic_mmap	*map;
	struct mutex		lock;	/* protects map */
	spinlock_t		post_lock;	/* of producers in the kernel */
};

/**
 * struct srnic_ibqp - a queue pair as the RDMA core sees it
 * @ibqp: face to the RDMA core
 * @user: whose it is
 * @qp: the queue pair proper; NULL when it was destroyed; under @lock for those
 *	who may ask then, see srnic_destroy_qp()
 * @sq_map: its send queue
 * @rq_map: its receive queue, or NULL
 * @lock: serialises modify and query
 * @attr: what was set, for query; under @lock
 * @init: what it was made with; constant
 * @tell_drained: an event was asked for when the send queue has drained
 * @sq_lock: serialises those in the kernel who post sends
 * @rq_lock: the same for receives
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
	bool			tell_drained;
	spinlock_t		sq_lock;	/* of producers in the kernel */
	spinlock_t		rq_lock;	/* of producers in the kernel */
};

/**
 * struct srnic_ibwq - a receive work queue as the RDMA core sees it
 * @ibwq: face to the RDMA core
 * @user: whose it is
 * @qp: the queue proper, see struct srnic_qp
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

/* What flows have counted for a user */
struct srnic_ibcounters {
	struct ib_counters	ibcounters;
	struct srnic_meter	meter;
};

/**
 * struct srnic_ibflow - a flow: a rule for frames, and the queue pair it is for
 * @ibflow: face to the RDMA core
 * @rule: the rule proper
 */
struct srnic_ibflow {
	struct ib_flow		ibflow;
	struct srnic_rule	rule;
};

extern const struct ib_device_ops srnic_dev_ops;

#endif /* SRNIC_H */
