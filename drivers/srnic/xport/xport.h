/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - transport: the protocol of queue pairs
 *
 * What the room shows to others.  Its own files include the headers of the floors
 * below them; tools/layers has the list.
 */
#ifndef SRNIC_XPORT_H
#define SRNIC_XPORT_H

#include <rdma/ib_verbs.h>

#include "qp.h"

/* Gives @srq a number and lets its domain find it.  0, -ENOMEM or -ENOSPC. */
int srnic_srq_publish(struct srnic_srq *srq);

/* Hides it; when it returns nobody uses it.  May sleep. */
void srnic_srq_hide(struct srnic_srq *srq);

void srnic_avs_init(struct srnic_avs *avs);
void srnic_avs_destroy(struct srnic_avs *avs);

/*
 * Makes @av visible as *@index.  Context: as @gfp allows.  0, -ENOMEM or
 * -ENOSPC.
 */
int srnic_av_publish(struct srnic_avs *avs, struct srnic_av *av, gfp_t gfp,
		     u32 *index);

/* Hides and frees what has that index.  Context: any. */
void srnic_av_hide(struct srnic_avs *avs, u32 index);

/**
 * struct srnic_qp_init - what a queue pair is made from
 * @base: becomes the queue pair's as it is; that frees @base.rss
 * @sq_entries: send work requests; 0: none
 * @rq_entries: receive work requests; 0: none
 * @send_sge: SGEs of a send
 * @recv_sge: SGEs of a receive
 * @max_inline: inline bytes of a send
 * @sq_sig_all: every send is signalled
 * @trusted: a kernel consumer posts the sends
 */
struct srnic_qp_init {
	struct srnic_qp_base	base;
	u32			sq_entries;
	u32			rq_entries;
	u32			send_sge;
	u32			recv_sge;
	u32			max_inline;
	bool			sq_sig_all;
	bool			trusted;
};

/* Makes a QP in RESET, with a number, not yet reachable.  May sleep. */
struct srnic_qp *srnic_qp_create(const struct srnic_qp_init *init);

/* Hides it, stops it, frees it.  May sleep. */
void srnic_qp_destroy(struct srnic_qp *qp);

/*
 * Applies @conf as a whole, with the transition of state that it asks for; the
 * caller has checked it for a QP in state @from.  @flow: the new path, or NULL to
 * keep the old one.  The flow's ndev is held by the QP from now on.  May sleep.
 * 0; -ESTALE: the QP has failed since, judge again; or -ENOMEM.
 */
int srnic_qp_apply(struct srnic_qp *qp, u8 from,
		   const struct srnic_qp_conf *conf,
		   const struct srnic_flow *flow);

/*
 * @ndev is being unregistered, or moves to another namespace: queue pairs whose
 * path leads over it let go of it and fail, but for those of its own device.
 * May sleep.
 */
void srnic_qp_ndev_left(const struct net_device *ndev);

/* The configuration as it is now (PSNs included) and whether SQ drains. */
void srnic_qp_query(struct srnic_qp *qp, struct srnic_qp_conf *conf,
		    bool *draining);

/* How @qp is; nothing happens to it meanwhile.  May sleep. */
void srnic_qp_look(struct srnic_qp *qp, struct srnic_look *look);

/*
 * From now on @qp counts in @stats.  What it counted in before may be freed
 * after a grace period of RCU.  May sleep.
 */
void srnic_qp_count_in(struct srnic_qp *qp, struct srnic_stats __percpu *stats);

/* Rings the send or receive doorbell. */
void srnic_qp_doorbell(struct srnic_qp *qp);

/*
 * The same for those in the kernel, who may be in a hurry: with interrupts
 * disabled the work is left to others.  Context: any.
 */
void srnic_qp_ring(struct srnic_qp *qp);

/* The verbs' object of a queue pair; NULL: it is gone.  Context: RCU. */
void *srnic_qp_owner(u32 qpn);

#define SRNIC_MAX_GROUP_QPS	BIT(8)

/*
 * From now on (or no longer) @qp gets what is sent to @addr on its device.
 * May sleep.  0; -ENOMEM, also when the group has too many members; or
 * -EINVAL: it does (or does not) already.
 */
int srnic_mcast_attach(struct srnic_qp *qp, const struct in6_addr *addr);
int srnic_mcast_detach(struct srnic_qp *qp, const struct in6_addr *addr);

int srnic_xport_init(void);
void srnic_xport_exit(void);

#endif /* SRNIC_XPORT_H */
