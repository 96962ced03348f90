/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic selftests - random programs: interface of the parts
 */
#ifndef HUNT_VERBS_H
#define HUNT_VERBS_H

#include <pthread.h>
#include <stdatomic.h>

#include "frames.h"
#include "hunt.h"

#define SLOTS		4
#define ARENAS		3
#define ARENA		(256 << 10)

enum verb {
	ALLOC_PD, DEALLOC_PD, CREATE_CHANNEL, DESTROY_CHANNEL, CREATE_CQ,
	CREATE_CQ_EX, RESIZE_CQ, MODIFY_CQ, DESTROY_CQ, REQ_NOTIFY, POLL_CQ,
	REG_MR, REG_DMABUF, REREG_MR, DEREG_MR, ADVISE_MR, ALLOC_DM, FREE_DM,
	REG_DM_MR, COPY_DM, ALLOC_MW, BIND_MW, DEALLOC_MW, CREATE_QP, MODIFY_QP,
	QUERY_QP, DESTROY_QP, POST_SEND, POST_RECV, CREATE_SRQ, MODIFY_SRQ,
	QUERY_SRQ, POST_SRQ, DESTROY_SRQ, OPEN_XRCD, CLOSE_XRCD, CREATE_AH,
	DESTROY_AH, ATTACH_MCAST, DETACH_MCAST, CREATE_WQ, MODIFY_WQ,
	DESTROY_WQ, CREATE_TABLE, DESTROY_TABLE, CREATE_FLOW, DESTROY_FLOW,
	CREATE_COUNTERS, ATTACH_COUNTERS, READ_COUNTERS, DESTROY_COUNTERS,
	IMPORT, COMMAND, VERBS,
};

/* Reasons for failures in addition to those in the row of a verb */
enum {
	LOSS_OBJECTS	= 1 << 0,	/* objects are destroyed by others */
	LOSS_FILES	= 1 << 1,	/* descriptors are closed */
	LOSS_OWNER	= 1 << 2,	/* the device belongs to another process */
};

/* A multicast group of a queue pair, which blocks its destruction */
struct group {
	struct ibv_qp	*qp;	/* NULL: unused */
	union ibv_gid	gid;
	__u16		lid;
};

/* A thread of a program, and its objects */
struct job {
	pthread_t		thread;
	struct dice		dice;
	__u32			program;
	int			steps;
	int			loss;		/* LOSS_* */
	const char		*doing;		/* name of the step */
	bool			scribble;	/* corrupted copies of commands are sent first */
	struct side		*side;
	struct ibv_context	*ctx;
	struct ibv_pd		*pd[SLOTS];
	struct ibv_comp_channel	*channel[SLOTS];
	struct ibv_cq		*cq[SLOTS];
	struct ibv_mr		*mr[SLOTS];
	struct ibv_dm		*dm[SLOTS];
	struct ibv_mw		*mw[SLOTS];
	struct ibv_qp		*qp[SLOTS];
	struct ibv_srq		*srq[SLOTS];
	struct ibv_xrcd		*xrcd[SLOTS];
	struct ibv_ah		*ah[SLOTS];
	struct ibv_wq		*wq[SLOTS];
	struct ibv_rwq_ind_table *table[SLOTS];
	struct ibv_flow		*flow[SLOTS];
	struct ibv_counters	*counters[SLOTS];
	struct group		group[2 * SLOTS];
	__u8			*arena[ARENAS];
	int			buffer;		/* dma-buf, or -1 */
};

/* Message of the process that fails first, shared with the supervising process */
struct report {
	atomic_int	said;
	atomic_int	wrong;	/* a failure other than a process that does not exit */
	char		text[240];
};

extern struct report *report;
extern atomic_long *verbs_done, *verbs_failed, *commands_done;

/* Job of this thread; NULL if it belongs to no program */
extern __thread struct job *me;

/* Reports a failure; only the first of all processes counts. */
void say(const char *fmt, ...);

/* Checks @err, the result of a verb: 0 or an errno.  Returns true for success. */
bool went(struct job *j, enum verb v, int err);

/* Checks the result of a verb that returns an object, NULL with errno on failure. */
#define made(j, v, what)						\
	({								\
		typeof(what) made_ = (errno = 0, (what));		\
									\
		went(j, v, made_ ? 0 : errno ? errno : -1);		\
		made_;							\
	})

/* Executes one random step. */
void job_step(struct job *j);
/* Destroys all objects of @j. */
void job_clean(struct job *j);

/* A second mapping of memory that the device maps */
struct twin {
	void	*p;
	size_t	len;
};

/* Takes a random mapping exclusively; its length is 0 if there is none. */
struct twin twin_take(struct dice *d);
/* Returns the remaining part of a mapping. */
void twin_give(struct twin t);

#endif
