/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic selftests - verbs harness: what the two files for a far device share
 */
#ifndef FAR_H
#define FAR_H

#include <poll.h>

#include "vrb.h"

#define FAR_SGES	16
#define FAR_FD		0x100000	/* added to file descriptors of the server */

/**
 * struct call - the arguments of a call, and its results
 * @run: offset of the function that the server executes
 * @thing: object of the server
 * @parts: objects that it belongs to
 * @stand_in: what stands for it in the client
 * @addr: memory, in both processes
 * @len: its length
 * @numbers: whatever else a function takes and returns
 * @ret: what the verb returned
 * @err: errno
 */
struct call {
	intptr_t	run;
	void		*thing;
	void		*parts[3];
	void		*stand_in;
	void		*addr;
	size_t		len;
	int		numbers[2];
	int		ret;
	int		err;
	union {
		struct side		side;
		struct ibv_async_event	event;
		struct ibv_wc		wc;
		struct {
			struct ibv_qp_attr	attr;
			struct ibv_qp_init_attr	init;
		};
		struct {
			struct ibv_send_wr	send;
			struct ibv_recv_wr	recv;
			struct ibv_sge		sge[FAR_SGES];
		};
	};
};

/**
 * struct region - registered memory of the far host
 * @p: where it lies, in both processes
 * @len: its length
 * @last: its contents as last exchanged; NULL if it is so long that they are not
 * @users: number of its registrations
 */
struct region {
	__u8	*p;
	size_t	len;
	__u8	*last;
	int	users;
};

extern struct verbs_context far_device;
extern const struct ibv_context_ops far_ops;
struct ibv_xrcd *far_open_xrcd(struct ibv_context *ctx,
			       struct ibv_xrcd_init_attr *init);

/* The server executes @run; returns what the verb does. */
int ask(void (*run)(struct call *c), struct call *c);

/* The functions of the libraries, see --wrap in ld(1) */
struct ibv_pd *__real_ibv_alloc_pd(struct ibv_context *ctx);
int __real_ibv_dealloc_pd(struct ibv_pd *pd);
struct ibv_comp_channel *__real_ibv_create_comp_channel(struct ibv_context *ctx);
int __real_ibv_destroy_comp_channel(struct ibv_comp_channel *channel);
struct ibv_cq *__real_ibv_create_cq(struct ibv_context *ctx, int cqe, void *context,
				    struct ibv_comp_channel *channel, int vector);
struct ibv_srq *__real_ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init);
int __real_ibv_destroy_cq(struct ibv_cq *cq);
int __real_ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq,
			    void **context);
struct ibv_qp *__real_ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init);
int __real_ibv_destroy_qp(struct ibv_qp *qp);
int __real_ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int __real_ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
			struct ibv_qp_init_attr *init);
struct ibv_mr *__real_ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t len, int access);
struct ibv_mr *__real_ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t len,
				       __u64 iova, unsigned int access);
int __real_ibv_dereg_mr(struct ibv_mr *mr);
int __real_ibv_get_async_event(struct ibv_context *ctx, struct ibv_async_event *event);
int __real_poll(struct pollfd *fds, nfds_t num, int ms);

struct region *region_find(const __u8 *p, size_t len);
/* One more user of a region, which may be new; NULL if there are too many */
struct region *region_get(__u8 *p, size_t len);
void region_put(struct region *r);
/* The server gets what the case has changed. */
void push(void);
/* The case gets what the far device has changed. */
void pull(void);

#endif
