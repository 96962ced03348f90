/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - transport: the protocol of queue pairs
 *
 * Public interface of this room; its own files include internal.h.
 */
#ifndef SRNIC_XPORT_H
#define SRNIC_XPORT_H

#include <rdma/ib_verbs.h>

#include "qp.h"

/* Lets the domain of @srq find it by a new number.  May sleep.  0, -ENOMEM or -ENOSPC. */
int srnic_srq_publish(struct srnic_srq *srq);

/* Unpublishes @srq and waits for its last user, so that it can be freed.  May sleep. */
void srnic_srq_hide(struct srnic_srq *srq);

void srnic_avs_init(struct srnic_avs *avs);
void srnic_avs_destroy(struct srnic_avs *avs);

/*
 * Publishes @av under a free index, *@index.  Context: any that @gfp allows.
 * Return: 0, -ENOMEM or -ENOSPC.
 */
int srnic_av_publish(struct srnic_avs *avs, struct srnic_av *av, gfp_t gfp,
		     u32 *index);

/* Unpublishes the address vector with that index and frees it.  Context: any. */
void srnic_av_hide(struct srnic_avs *avs, u32 index);

/**
 * struct srnic_qp_init - parameters of a new queue pair
 * @base: copied to the queue pair, which then owns @base.rss
 * @abi: format of its rings
 * @sq_entries: capacity of the send queue; 0: there is none
 * @rq_entries: capacity of the receive queue; 0: there is none
 * @send_sge: most SGEs of a send
 * @recv_sge: most SGEs of a receive
 * @max_inline: most inline bytes of a send
 * @sq_sig_all: every send is signalled
 * @trusted: sends are posted by an in-kernel consumer
 * @worker: that of the user, which outlives the queue pair; NULL: the kernel, or there is no
 *	    send queue
 * @poll_usecs: how long @worker polls the send queue after the last post; 0: never
 */
struct srnic_qp_init {
	struct srnic_qp_base	base;
	enum srnic_abi		abi;
	u32			sq_entries;
	u32			rq_entries;
	u32			send_sge;
	u32			recv_sge;
	u32			max_inline;
	bool			sq_sig_all;
	bool			trusted;
	struct srnic_worker	*worker;
	u32			poll_usecs;
};

/* Creates and publishes a QP in state RESET.  May sleep.  Return: QP or ERR_PTR. */
struct srnic_qp *srnic_qp_create(const struct srnic_qp_init *init);

/* Unpublishes @qp, stops its task and frees it.  May sleep. */
void srnic_qp_destroy(struct srnic_qp *qp);

/*
 * Applies @conf as a whole, including a state transition; the caller has validated it
 * for a QP in state @from.  @path: the new path, or NULL to keep the old one; on success
 * its reference on the netdev passes to the QP.  May sleep.
 * Return: 0; -ESTALE: the QP is no longer in state @from, validate again; or -ENOMEM.
 */
int srnic_qp_apply(struct srnic_qp *qp, u8 from,
		   const struct srnic_qp_conf *conf,
		   const struct srnic_path *path);

/*
 * Called when @ndev is being unregistered or has moved to another namespace: queue pairs
 * whose path uses it drop their reference and go to ERR, except those of the device on
 * @ndev itself.  May sleep.
 */
void srnic_qp_ndev_left(const struct net_device *ndev);

/* Copies the configuration, with current PSNs; is the SQ still draining?  May sleep. */
void srnic_qp_query(struct srnic_qp *qp, struct srnic_qp_conf *conf,
		    bool *draining);

/* Adds the attributes of @qp as they are between two runs of its task.  May sleep. */
void srnic_qp_fill_attrs(struct srnic_qp *qp, struct srnic_res_attrs *attrs);

/*
 * Makes @qp count in @stats.  The previous set may be freed after an RCU grace period.
 * May sleep.
 */
void srnic_qp_count_in(struct srnic_qp *qp, struct srnic_stats __percpu *stats);

/* Doorbell of a user's send queue.  Context: process, may sleep. */
void srnic_qp_doorbell(struct srnic_qp *qp);

/* Doorbell of a user's receive queue.  Context: process, BH enabled. */
void srnic_qp_recv_doorbell(struct srnic_qp *qp);

/*
 * Doorbell for in-kernel consumers; @spread: the work is for another thread.
 * With interrupts disabled it is left to the workqueue.  Context: any.
 */
void srnic_qp_ring(struct srnic_qp *qp, bool spread);

/* The verbs object of queue pair @qpn; NULL: there is no such QP.  Context: RCU. */
void *srnic_qp_owner(u32 qpn);

#define SRNIC_MAX_GROUP_QPS	BIT(8)

/*
 * Attaches @qp to the multicast group @addr of its device.  @joined is returned by
 * srnic_mcast_detach().  May sleep.
 * Return: 0; -EINVAL: it is attached already; -ENOMEM, also if the group has
 * SRNIC_MAX_GROUP_QPS members.
 */
int srnic_mcast_attach(struct srnic_qp *qp, const struct in6_addr *addr,
		       struct srnic_membership *joined);

/* Detaches @qp.  May sleep.  Return: the membership; NULL: it was not attached. */
struct srnic_membership *srnic_mcast_detach(struct srnic_qp *qp,
					    const struct in6_addr *addr);

int srnic_xport_init(void);
void srnic_xport_exit(void);

#endif /* SRNIC_XPORT_H */
