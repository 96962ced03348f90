/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic selftests - verbs harness: interface of the cases
 *
 * One process holds both ends, each opened in the network namespace of its
 * host.  A case makes what it needs, says what must be true, and returns; the
 * first thing that is not true ends it.  What it made is undone for it.
 */
#ifndef VRB_H
#define VRB_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/verbs.h>
#include <linux/types.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define NO_ID		(~0ULL)
#define FULL_ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
			 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

/**
 * struct side - one host
 * @dev: name of its device
 * @nsfd: its network namespace, -1 for the one we came from
 */
struct side {
	char			*dev;
	int			nsfd;
	struct ibv_context	*ctx;
	struct ibv_pd		*pd;
	struct ibv_device_attr	attr;
	struct ibv_port_attr	port;
	union ibv_gid		gid;
	int			gid_index;
	bool			no_events;
};

/* What a queue pair is made with; opt_default is what most cases want. */
struct opt {
	enum ibv_qp_type type;
	__u64		send_ops;	/* for ibv_wr_*, 0: without */
	__u32		create_flags;
	struct ibv_pd	*pd;		/* NULL: the side's */
	struct ibv_cq	*cq;		/* for sends, NULL: a new one */
	int		vector;
	struct ibv_srq	*srq;
	struct ibv_xrcd	*xrcd;
	int		send_wr;
	int		recv_wr;
	int		sge;
	int		inline_data;
	int		cqe;
	int		sig_all;
	int		access;
	__u8		timeout;
	__u8		retry;
	__u8		rnr_retry;
	__u8		min_rnr;
	__u8		rd_atomic;
	__u8		dest_rd_atomic;
	enum ibv_mtu	mtu;		/* 0: the largest there is */
};

struct end {
	struct side		*side;
	struct opt		o;
	struct ibv_comp_channel	*channel;
	struct ibv_cq		*scq;
	struct ibv_cq		*rcq;
	struct ibv_qp		*qp;
	__u32		psn;
};

struct pair {
	struct end a;
	struct end b;
};

struct mem {
	__u8		*p;
	size_t		len;
	struct ibv_mr	*mr;
};

struct vrb_case {
	const char *group;
	const char *name;
	void (*run)(void);
};

/**
 * struct vrb_set - a table of cases, registered by its file
 * @topic: "verbs/topics.sh TOPIC" runs them; NULL if only scripts that name their
 *	   groups or cases do
 * @alone: runs only if the topic is named: large or slow
 * @cases: the table
 * @num: number of cases
 * @next: the next set that was registered
 */
struct vrb_set {
	const char *topic;
	bool alone;
	const struct vrb_case *cases;
	size_t num;
	struct vrb_set *next;
};

void vrb_register(struct vrb_set *set);

#define VRB_SET(topic_, alone_, cases_)					\
	static void __attribute__((constructor)) cases_##_register(void)	\
	{								\
		static struct vrb_set set = {				\
			topic_, alone_, cases_, ARRAY_SIZE(cases_), NULL,	\
		};							\
									\
		vrb_register(&set);					\
	}

#define VRB_TOPIC(topic, cases)		VRB_SET(topic, false, cases)
#define VRB_TOPIC_ALONE(topic, cases)	VRB_SET(topic, true, cases)
#define VRB_CASES(cases)		VRB_SET(NULL, true, cases)

extern struct side sides[2];
extern const struct opt opt_default;
extern int rounds;
extern __u32 run_seed;	/* of what cases draw at random */
extern int patience;	/* timeout of the QPs whose packets may be lost */

/* Called before what the case has made is undone, however it ends; NULL: none */
extern void (*case_end)(void);

_Noreturn void case_fail(const char *fmt, ...);
_Noreturn void case_skip(const char *fmt, ...);

#define must(what)							\
	do {								\
		if (!(what))						\
			case_fail("%s:%d: not true: %s (errno %d)",	\
				  __FILE__, __LINE__, #what, errno);	\
	} while (0)

#define must_be(value, want)						\
	do {								\
		long long v_ = (value), w_ = (want);			\
									\
		if (v_ != w_)						\
			case_fail("%s:%d: %s is %lld, not %s (%lld)",	\
				  __FILE__, __LINE__, #value, v_, #want, w_); \
	} while (0)

__u64 now_us(void);

bool kernel_before(int major, int minor);

/* Writes @text to a file that exists. */
bool file_put(const char *path, const char *text);

/* in between, what is started and opened is in the namespace of that side */
void side_enter(const struct side *s);
void side_leave(const struct side *s);

/* What "rdma FMT..." says in the host of @s, until it is asked again. */
const char *rdma_tool(const struct side *s, const char *fmt, ...);

/*
 * Undoes by @undo, which returns 0, when the case is over, or now.  For things
 * that the functions below do not make.
 */
void undo_later(int (*undo)(void *thing), void *thing);
void undo_now(void *thing);

/* making things: all of it is undone when the case is over */
void end_make(struct end *e, struct side *s, const struct opt *o);
struct ibv_cq *cq_make(struct side *s, int cqe, struct ibv_comp_channel *ch);
struct ibv_pd *pd_make(struct side *s);
/* What a case made by itself is undone for it from now on. */
void cq_own(struct ibv_cq *cq);
void pd_own(struct ibv_pd *pd);
void qp_own(struct ibv_qp *qp);
void table_own(struct ibv_rwq_ind_table *table);
void wq_own(struct ibv_wq *wq);
void pair_make(struct pair *p, const struct opt *a, const struct opt *b);
struct ibv_srq *srq_make(struct side *s, struct ibv_pd *pd, int wr, int sge);
struct ibv_xrcd *xrcd_make(struct ibv_context *ctx, int fd);
struct ibv_srq *xsrq_make(struct ibv_pd *pd, struct ibv_xrcd *xrcd,
			  struct ibv_cq *cq, int wr);
void xsrq_destroy(struct ibv_srq *srq);
void mem_make(struct mem *m, struct side *s, size_t len, int access);
void mem_own(struct mem *m, struct ibv_pd *pd, int access);
/* Memory as mmap() makes it, which nobody has touched. */
void *map_make(size_t len, int flags, int fd);
/* Until the case is over, or undo_now(NO_SPACE), there is no more than @more. */
void space_limit(size_t more);
#define NO_SPACE	((void *)space_limit)
struct ibv_mw *mw_make(struct ibv_pd *pd, enum ibv_mw_type type);
/* An address handle on @s, in @pd or its own, that leads to @dgid. */
struct ibv_ah *ah_make(struct side *s, struct ibv_pd *pd,
		       const union ibv_gid *dgid);
void end_destroy_qp(struct end *e);

/* the state machine: each returns what ibv_modify_qp() returned */
int to_init(struct end *e);
int to_rtr(struct end *e, const struct end *peer);
int to_rts(struct end *e);
int to_state(struct end *e, enum ibv_qp_state state);
void connect_pair(struct pair *p);
/* A queue pair for datagrams, from its beginning to RTS */
void connect_ud(struct end *e, __u32 qkey);
enum ibv_qp_state state_of(struct end *e);
void state_becomes(struct end *e, enum ibv_qp_state want);

/* work */
int post_recv(struct end *e, __u64 id, struct ibv_sge *sge, int n);
int post_srq(struct ibv_srq *srq, __u64 id, struct ibv_sge *sge, int n);
int post_one(struct end *e, struct ibv_send_wr *wr);
struct ibv_send_wr wr_of(__u64 id, enum ibv_wr_opcode op,
			 struct ibv_sge *sge, int n);
void wr_target(struct ibv_send_wr *wr, const struct mem *m, size_t off);
struct ibv_sge sge_of(const struct mem *m, size_t off, size_t len);

/* completions: wc_want() ends the case when another one comes, or none */
bool wc_wait(struct ibv_cq *cq, struct ibv_wc *wc, int ms);
struct ibv_wc wc_want(struct ibv_cq *cq, __u64 id, enum ibv_wc_status status);
void wc_none(struct ibv_cq *cq, int ms);
bool event_wait(struct side *s, struct ibv_async_event *ev, int ms);
void event_want(struct side *s, enum ibv_event_type type, void *element);
void event_none(struct side *s, enum ibv_event_type type, int ms);

/* patterns: byte i of stream @seed */
__u8 pattern(__u32 seed, size_t i);
void fill(__u8 *p, size_t len, __u32 seed);
void same(const __u8 *p, size_t len, __u32 seed, const char *what);
void untouched(const __u8 *p, size_t len, const char *what);

#define GUARD 0xa5

#endif
