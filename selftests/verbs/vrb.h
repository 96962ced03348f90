/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic selftests - verbs harness: interface of the cases
 *
 * One process has both ends, each opened in the network namespace of its host.
 * A case creates its objects, states its expectations, and returns; the first
 * expectation that fails ends it.  Its objects are destroyed automatically.
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
#define MAX_THINGS	128	/* maximum number of objects of a kind in a case */
#define BOUND		(-1)	/* for @ms: a timeout that only a hang reaches */
#define FULL_ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
			 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

/**
 * struct side - one host
 * @dev: name of its device
 * @nsfd: its network namespace, -1 for that of the process
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

/* Attributes of a queue pair; opt_default suits most cases. */
struct opt {
	enum ibv_qp_type type;
	__u64		send_ops;	/* for ibv_wr_*; 0 for none */
	__u32		create_flags;
	struct ibv_pd	*pd;		/* NULL: that of the side */
	struct ibv_cq	*cq;		/* for sends; NULL: a new one */
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
	enum ibv_mtu	mtu;		/* 0: the maximum */
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
 * @alone: large or slow; runs only if the topic is named
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
extern struct opt opt_default;
extern int rounds;
extern __u32 run_seed;	/* seed of random numbers in cases */
extern int patience;	/* timeout of QPs on a lossy wire */

/**
 * struct vrb_far - a peer on another machine, see far.c
 * @open: makes @s a device there; 0 or an error that has been reported
 * @serve: is that machine, for one program; returns the exit status
 * @place: where a mapping is to lie; NULL if it may be anywhere
 */
struct vrb_far {
	int (*open)(struct side *s, const char *address);
	int (*serve)(void);
	void *(*place)(size_t len);
};

extern const struct vrb_far *vrb_far;	/* NULL in programs without it */

/* Called however the case ends, before its objects are destroyed; NULL for none */
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

/*
 * For loops that wait for @what, with a bound that only a hang reaches; @what is NULL if
 * reaching the bound is a failure rather than a hang.  @end is 0 before the first turn.
 * in_bound() returns false after the bound; wait_more() also sleeps briefly if not, and
 * wait_turn() fails the case instead of returning false.
 */
bool in_bound(__u64 *end, const char *what);
bool wait_more(__u64 *end, const char *what);
void wait_turn(__u64 *end, const char *what);
/* Forgets an earlier timeout, as the case fails for another reason. */
void not_late(void);
/* Waits up to @ms, or BOUND, for data on @fd.  Return: false on timeout. */
bool readable(int fd, int ms);
/* Starts a timer that ends the program in case of a deadlock, or stops it. */
void watchdog(bool on);

bool kernel_before(int major, int minor);

/* Writes @text to an existing file. */
bool file_put(const char *path, const char *text);

/* Opens the device @arg, DEV[@NS]; modifies @arg.  Return: 0, or an error after a message. */
int side_make(struct side *s, char *arg, bool ipv6);

/* Sockets and processes created between these calls are in the side's namespace. */
void side_enter(const struct side *s);
void side_leave(const struct side *s);

/* Output of "rdma FMT..." in the host of @s; valid until the next call */
const char *rdma_tool(const struct side *s, const char *fmt, ...);

/*
 * Registers @undo, which must return 0, to be called when the case ends, or calls it
 * now.  For objects that the functions below do not create.
 */
void undo_later(int (*undo)(void *thing), void *thing);
void undo_now(void *thing);

/* creation of objects, which are destroyed when the case ends */
void end_make(struct end *e, struct side *s, const struct opt *o);
struct ibv_cq *cq_make(struct side *s, int cqe, struct ibv_comp_channel *ch);
struct ibv_pd *pd_make(struct side *s);
/* Hands an object to the harness, which destroys it when the case ends. */
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
/* A new mapping that has no pages yet */
void *map_make(size_t len, int flags, int fd);
/*
 * Limits the address space to @more bytes beyond its present size, until
 * undo_now(NO_SPACE) or the end of the case.
 */
void space_limit(size_t more);
#define NO_SPACE	((void *)space_limit)
struct ibv_mw *mw_make(struct ibv_pd *pd, enum ibv_mw_type type);
/* The path from @s to @dgid */
struct ibv_ah_attr ah_path(const struct side *s, const union ibv_gid *dgid);
/* An address handle on @s to @dgid, in @pd or the domain of the side */
struct ibv_ah *ah_make(struct side *s, struct ibv_pd *pd,
		       const union ibv_gid *dgid);
/* Like ah_make(), with a flow label */
struct ibv_ah *ah_make_label(struct side *s, struct ibv_pd *pd,
			     const union ibv_gid *dgid, __u32 label);
void end_destroy_qp(struct end *e);

/* state transitions: each returns the result of ibv_modify_qp() */
int to_init(struct end *e);
int to_rtr(struct end *e, const struct end *peer);
int to_rts(struct end *e);
int to_state(struct end *e, enum ibv_qp_state state);
void connect_pair(struct pair *p);
/* Takes a datagram queue pair from RESET to RTS. */
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

/* completions: wc_want() fails the case if none arrives, or a different one */
bool wc_wait(struct ibv_cq *cq, struct ibv_wc *wc, int ms);
struct ibv_wc wc_want(struct ibv_cq *cq, __u64 id, enum ibv_wc_status status);
void wc_none(struct ibv_cq *cq, int ms);
bool event_wait(struct side *s, struct ibv_async_event *ev, int ms);
void event_want(struct side *s, enum ibv_event_type type, void *element);
void event_none(struct side *s, enum ibv_event_type type, int ms);
/* Checks that no asynchronous error is reported in addition to a completion. */
void error_none(struct side *s);

/* patterns: byte i of stream @seed */
__u8 pattern(__u32 seed, size_t i);
void fill(__u8 *p, size_t len, __u32 seed);
void same(const __u8 *p, size_t len, __u32 seed, const char *what);
void untouched(const __u8 *p, size_t len, const char *what);

#define GUARD 0xa5

#endif
