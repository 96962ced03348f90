/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic provider - objects of the verbs API and the rings behind them
 */
#ifndef SRNIC_PROVIDER_H
#define SRNIC_PROVIDER_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/driver.h>
#include <infiniband/verbs.h>
#include <rdma/srnic-abi.h>

#define SRNIC_LINE	64	/* bytes of a cache line */

/**
 * struct srnic_ring - a mapped ring
 * @hdr: start of the mapping, NULL if there is no such queue
 * @length: bytes mapped
 * @mask: number of entries minus one
 * @stride: bytes from one entry to the next
 * @index: our index: producer of an SQ or RQ, consumer of a CQ
 * @seen: the kernel's index when last read; cached, as reading it costs a miss on
 *	  a cache line that the kernel writes
 * @lone: a thread domain guarantees a single user, so @lock is not taken
 * @lock: serialises threads of this process
 */
struct srnic_ring {
	struct srnic_ring_hdr	*hdr;
	size_t			length;
	uint32_t		mask;
	uint32_t		stride;
	uint32_t		index;
	uint32_t		seen;
	bool			lone;
	pthread_spinlock_t	lock;
};

/**
 * struct srnic_room - address space reserved for a ring
 * @start: start address, NULL: none reserved
 * @length: size in bytes
 */
struct srnic_room {
	void	*start;
	size_t	length;
};

/**
 * struct srnic_context - open device
 * @no_write: uverbs has rejected a write() with EACCES; doorbells use ioctl()
 * @vctx: libibverbs' part
 */
struct srnic_context {
	atomic_bool		no_write;
	struct verbs_context	vctx;
};

/**
 * struct srnic_td - thread domain
 * @td: libibverbs' part
 * @users: number of parent domains that use it
 */
struct srnic_td {
	struct ibv_td	td;
	atomic_uint	users;
};

/**
 * struct srnic_pd - protection domain, or a parent domain
 * @pd: libibverbs' part
 * @users: number of parent domains of a protection domain, of objects in a parent domain
 * @real: protection domain of a parent domain; NULL if this is not a parent domain
 * @td: thread domain of a parent domain, or NULL
 * @alloc: the application's allocator for objects in a parent domain, or NULL
 * @free: frees memory from @alloc
 * @context: argument of @alloc and @free
 */
struct srnic_pd {
	struct ibv_pd	pd;
	atomic_uint	users;
	struct srnic_pd	*real;
	struct srnic_td	*td;
	void		*(*alloc)(struct ibv_pd *pd, void *context, size_t size,
				  size_t alignment, uint64_t type);
	void		(*free)(struct ibv_pd *pd, void *context, void *ptr,
				uint64_t type);
	void		*context;
};

/* Resource types passed to the application's allocator */
#define SRNIC_RES(number)	((uint64_t)SRNIC_DRIVER_ID << 32 | (number))
#define SRNIC_RES_CQ		SRNIC_RES(1)
#define SRNIC_RES_QP		SRNIC_RES(2)
#define SRNIC_RES_SRQ		SRNIC_RES(3)

/**
 * struct srnic_obj - first member of objects that the application may allocate
 * @pd: parent domain it was created in, or NULL
 * @type: SRNIC_RES_*
 * @custom: the memory came from the allocator of @pd
 */
struct srnic_obj {
	struct srnic_pd	*pd;
	uint64_t	type;
	bool		custom;
};

/**
 * struct srnic_cq - completion queue
 * @obj: where its memory came from
 * @vcq: libibverbs' part
 * @ring: completions; a resize replaces it, under its lock
 * @cur: current completion of the extended poll API
 * @poller: thread between start_poll and end_poll, or 0; only that thread writes it, so
 *	    it equals the caller only if the caller holds the lock
 * @has_wall: @wall has been read since start_poll
 * @wall: wall clock minus timestamp clock, in ns
 */
struct srnic_cq {
	struct srnic_obj	obj;
	struct verbs_cq		vcq;
	struct srnic_ring	ring;
	const struct srnic_cqe	*cur;
	pthread_t		poller;
	bool			has_wall;
	int64_t			wall;
};

/**
 * struct srnic_qp - queue pair
 * @obj: where its memory came from
 * @vqp: libibverbs' part
 * @sig_all: all sends are signalled
 * @dead: a doorbell has failed because the device is gone; posting fails
 * @sq: send ring
 * @max_send_wr: maximum number of outstanding sends, as granted
 * @max_send_sge: maximum number of SGEs per send
 * @max_inline: maximum number of inline bytes per send
 * @wr_index: producer index at the end of the ibv_wr_* batch in progress
 * @wr_sqe: current send queue entry of that batch, NULL after an error
 * @wr_err: first error of that batch
 * @rq: receive ring
 * @max_recv_wr: maximum number of outstanding receives, as granted
 * @max_recv_sge: maximum number of SGEs per receive
 *
 * One thread may post sends while another posts receives, so the fields that they
 * write are on separate cache lines.
 */
struct srnic_qp {
	struct srnic_obj	obj;
	struct verbs_qp		vqp;
	bool			sig_all;
	atomic_bool		dead;

	alignas(SRNIC_LINE) struct srnic_ring sq;
	uint32_t		max_send_wr;
	uint32_t		max_send_sge;
	uint32_t		max_inline;
	uint32_t		wr_index;
	struct srnic_sqe	*wr_sqe;
	int			wr_err;

	alignas(SRNIC_LINE) struct srnic_ring rq;
	uint32_t		max_recv_wr;
	uint32_t		max_recv_sge;
};

/**
 * struct srnic_srq - shared receive queue
 * @obj: where its memory came from
 * @vsrq: libibverbs' part
 * @ring: receive ring; a resize replaces it, under its lock
 * @max_wr: maximum number of outstanding receives, as granted
 * @max_sge: maximum number of SGEs per receive
 */
struct srnic_srq {
	struct srnic_obj	obj;
	struct verbs_srq	vsrq;
	struct srnic_ring	ring;
	uint32_t		max_wr;
	uint32_t		max_sge;
};

struct srnic_ah {
	struct ibv_ah	ah;
	uint32_t	index;
};

static inline struct srnic_context *to_srnic_ctx(struct ibv_context *ctx)
{
	return container_of(ctx, struct srnic_context, vctx.context);
}

static inline struct srnic_pd *to_srnic_pd(struct ibv_pd *pd)
{
	return container_of(pd, struct srnic_pd, pd);
}

static inline struct srnic_td *to_srnic_td(struct ibv_td *td)
{
	return container_of(td, struct srnic_td, td);
}

static inline struct srnic_cq *to_srnic_cq(struct ibv_cq *cq)
{
	return container_of(cq, struct srnic_cq, vcq.cq);
}

static inline struct srnic_qp *to_srnic_qp(struct ibv_qp *qp)
{
	return container_of(qp, struct srnic_qp, vqp.qp);
}

static inline struct srnic_srq *to_srnic_srq(struct ibv_srq *srq)
{
	return container_of(srq, struct srnic_srq, vsrq.srq);
}

static inline struct srnic_ah *to_srnic_ah(struct ibv_ah *ah)
{
	return container_of(ah, struct srnic_ah, ah);
}

static inline void *srnic_entry(const struct srnic_ring *ring, uint32_t index)
{
	return (char *)ring->hdr + SRNIC_RING_ENTRIES +
	       (size_t)(index & ring->mask) * ring->stride;
}

/* Adds to @flags those that only raw packet queue pairs accept. */
static inline unsigned int srnic_wr_flags(const struct srnic_qp *qp,
					  unsigned int flags)
{
	return qp->vqp.qp.qp_type == IBV_QPT_RAW_PACKET ?
	       flags | IBV_SEND_IP_CSUM : flags;
}

/* Updates @seen from the kernel's index; the kernel has finished all entries before it. */
static inline uint32_t srnic_look(struct srnic_ring *ring)
{
	ring->seen = __atomic_load_n(&ring->hdr->kern, __ATOMIC_ACQUIRE);

	return ring->seen;
}

/* Is there room for entry @index in a ring of @max entries? */
static inline bool srnic_has_room(struct srnic_ring *ring, uint32_t index,
				  uint32_t max)
{
	return index - ring->seen < max || index - srnic_look(ring) < max;
}

/* Publishes the entries before @index to the kernel. */
static inline void srnic_publish(struct srnic_ring *ring, uint32_t index)
{
	ring->index = index;
	__atomic_store_n(&ring->hdr->user, index, __ATOMIC_RELEASE);
}

/* Resets the indices after the kernel has emptied the ring. */
static inline void srnic_ring_reset(struct srnic_ring *ring)
{
	ring->index = 0;
	ring->seen = 0;
}

static inline void srnic_lock(struct srnic_ring *ring)
{
	if (!ring->lone)
		pthread_spin_lock(&ring->lock);
}

static inline void srnic_unlock(struct srnic_ring *ring)
{
	if (!ring->lone)
		pthread_spin_unlock(&ring->lock);
}

/* Is the caller between start_poll and end_poll, and so holds the lock? */
static inline bool srnic_cq_is_mine(const struct srnic_cq *cq)
{
	return __atomic_load_n(&cq->poller, __ATOMIC_RELAXED) == pthread_self();
}

/*
 * Tests @flag after publishing entries.  The fence pairs with the kernel's barrier
 * between writing flags and reading user.
 */
static inline bool srnic_ring_flag(const struct srnic_ring *ring,
				   enum srnic_ring_flags flag)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);

	return __atomic_load_n(&ring->hdr->flags, __ATOMIC_RELAXED) & flag;
}

/* Maps a ring; does nothing if map->length is 0.  Return: 0 or errno. */
int srnic_ring_map(struct srnic_ring *ring, int fd,
		   const struct srnic_map *map);
/*
 * Reserves address space for @ring with @entries before a resize: once the kernel has
 * switched rings, mapping the new one must not fail.  Return: 0 or errno.
 */
int srnic_room_take(struct srnic_room *room, const struct srnic_ring *ring,
		    uint32_t entries);
/* Releases reserved address space that was not used. */
void srnic_room_drop(struct srnic_room *room);
/* Replaces the mapping of @ring by @map, placed in @room.  Return: 0 or errno. */
int srnic_ring_remap(struct srnic_ring *ring, int fd,
		     const struct srnic_map *map, struct srnic_room *room);
void srnic_ring_unmap(struct srnic_ring *ring);

/* pd.c */
struct ibv_pd *srnic_alloc_pd(struct ibv_context *ctx);
int srnic_dealloc_pd(struct ibv_pd *pd);
struct ibv_pd *srnic_import_pd(struct ibv_context *ctx, uint32_t handle);
void srnic_unimport_pd(struct ibv_pd *pd);
struct ibv_td *srnic_alloc_td(struct ibv_context *ctx,
			      struct ibv_td_init_attr *attr);
int srnic_dealloc_td(struct ibv_td *td);
struct ibv_pd *
srnic_alloc_parent_domain(struct ibv_context *ctx,
			  struct ibv_parent_domain_init_attr *attr);
/*
 * Allocates a zeroed object that begins with a struct srnic_obj.  The memory comes from
 * the allocator of @pd if it has one, or else from the heap, aligned to cache lines.
 * Return: NULL with errno set on failure.
 */
void *srnic_obj_alloc(struct ibv_pd *pd, size_t size, uint64_t type);
void srnic_obj_free(struct srnic_obj *obj);
/* Was the object created in a thread domain? */
bool srnic_obj_is_lone(const struct srnic_obj *obj);

/* mr.c */
struct ibv_mr *srnic_import_mr(struct ibv_pd *pd, uint32_t handle);
void srnic_unimport_mr(struct ibv_mr *mr);
struct ibv_mr *srnic_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			    uint64_t hca_va, int access);
struct ibv_mr *srnic_alloc_null_mr(struct ibv_pd *pd);
int srnic_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd,
		   void *addr, size_t length, int access);
int srnic_dereg_mr(struct verbs_mr *vmr);
struct ibv_mr *srnic_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset,
				   size_t length, uint64_t iova, int fd,
				   int access);
struct ibv_mw *srnic_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int srnic_dealloc_mw(struct ibv_mw *mw);
int srnic_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw,
		  struct ibv_mw_bind *bind);

/* dm.c */
struct ibv_dm *srnic_alloc_dm(struct ibv_context *ctx,
			      struct ibv_alloc_dm_attr *attr);
int srnic_free_dm(struct ibv_dm *dm);
struct ibv_dm *srnic_import_dm(struct ibv_context *ctx, uint32_t handle);
void srnic_unimport_dm(struct ibv_dm *dm);
struct ibv_mr *srnic_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm,
			       uint64_t offset, size_t length,
			       unsigned int access);

/* cq.c */
struct ibv_cq *srnic_create_cq(struct ibv_context *ctx, int cqe,
			       struct ibv_comp_channel *channel, int vector);
int srnic_destroy_cq(struct ibv_cq *cq);
int srnic_poll_cq(struct ibv_cq *cq, int num, struct ibv_wc *wc);
uint8_t srnic_cqe_sl(const struct srnic_cqe *cqe);
int srnic_req_notify_cq(struct ibv_cq *cq, int solicited_only);
int srnic_resize_cq(struct ibv_cq *cq, int cqe);
int srnic_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);
/* Removes the completions of queue pair @qpn. */
void srnic_cq_clean(struct ibv_cq *cq, uint32_t qpn);

/* cqex.c */
struct ibv_cq_ex *srnic_create_cq_ex(struct ibv_context *ctx,
				     struct ibv_cq_init_attr_ex *attr);
int srnic_query_rt_values(struct ibv_context *ctx,
			  struct ibv_values_ex *values);

/* qp.c */
struct ibv_qp *srnic_create_qp(struct ibv_pd *pd,
			       struct ibv_qp_init_attr *attr);
/*
 * Sets up @qp from the response of a create command.  @is_hash: it has an indirection
 * table instead of a receive queue.  Return: 0 or errno.
 */
int srnic_qp_setup(struct srnic_qp *qp, const struct ibv_qp_cap *cap,
		   bool sig_all, bool is_hash,
		   const struct srnic_create_qp_resp *resp);
int srnic_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int srnic_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		   struct ibv_qp_init_attr *init);
int srnic_destroy_qp(struct ibv_qp *qp);
int srnic_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		    struct ibv_send_wr **bad_wr);
int srnic_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
		    struct ibv_recv_wr **bad_wr);
/*
 * Posts to a receive ring of @max_wr work requests of @max_sge SGEs; the caller holds
 * its lock.  Return: 0, or errno with *@bad_wr set.
 */
int srnic_put_recvs(struct srnic_ring *ring, uint32_t max_wr, uint32_t max_sge,
		    struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
/* Fills in the bind fields of a send queue entry. */
void srnic_put_bind(struct srnic_sqe *sqe, const struct ibv_mw *mw,
		    uint32_t rkey, const struct ibv_mw_bind_info *info);
/* Posts the bind of a type 1 memory window.  Return: 0 or errno. */
int srnic_post_bind(struct ibv_qp *qp, struct ibv_send_wr *wr);
/* May @qp post to @ring, which needs at least state @least?  Return: 0 or errno. */
int srnic_may_post(const struct srnic_qp *qp, const struct srnic_ring *ring,
		   enum ibv_qp_state least);
/*
 * Rings the doorbell for published sends if the kernel does not poll the ring; called
 * without the lock.  Return: 0, or EIO if the device is gone.
 */
int srnic_ring_send(struct srnic_qp *qp);

/* doorbell.c */
/* Executes an empty IB_USER_VERBS_CMD_POST_*.  Return: false if the device is gone. */
bool srnic_doorbell(struct ibv_qp *qp, uint32_t command);

/* srq.c */
struct ibv_srq *srnic_create_srq(struct ibv_pd *pd,
				 struct ibv_srq_init_attr *attr);
struct ibv_srq *srnic_create_srq_ex(struct ibv_context *ctx,
				    struct ibv_srq_init_attr_ex *attr);
int srnic_get_srq_num(struct ibv_srq *srq, uint32_t *num);
int srnic_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask);
int srnic_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr);
int srnic_destroy_srq(struct ibv_srq *srq);
int srnic_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
			struct ibv_recv_wr **bad_wr);

/* qpex.c */
struct ibv_qp *srnic_create_qp_ex(struct ibv_context *ctx,
				  struct ibv_qp_init_attr_ex *attr);

/* xrc.c */
struct ibv_xrcd *srnic_open_xrcd(struct ibv_context *ctx,
				 struct ibv_xrcd_init_attr *attr);
int srnic_close_xrcd(struct ibv_xrcd *xrcd);
struct ibv_qp *srnic_open_qp(struct ibv_context *ctx,
			     struct ibv_qp_open_attr *attr);

/* wq.c */
struct ibv_wq *srnic_create_wq(struct ibv_context *ctx,
			       struct ibv_wq_init_attr *attr);
int srnic_modify_wq(struct ibv_wq *wq, struct ibv_wq_attr *attr);
int srnic_destroy_wq(struct ibv_wq *wq);
struct ibv_rwq_ind_table *
srnic_create_rwq_ind_table(struct ibv_context *ctx,
			   struct ibv_rwq_ind_table_init_attr *attr);
int srnic_destroy_rwq_ind_table(struct ibv_rwq_ind_table *table);

/* flow.c */
struct ibv_flow *srnic_create_flow(struct ibv_qp *qp,
				   struct ibv_flow_attr *attr);
int srnic_destroy_flow(struct ibv_flow *flow);
struct ibv_counters *
srnic_create_counters(struct ibv_context *ctx,
		      struct ibv_counters_init_attr *attr);
int srnic_destroy_counters(struct ibv_counters *counters);
int srnic_attach_counters(struct ibv_counters *counters,
			  struct ibv_counter_attach_attr *attr,
			  struct ibv_flow *flow);
int srnic_read_counters(struct ibv_counters *counters, uint64_t *values,
			uint32_t num, uint32_t flags);

#endif /* SRNIC_PROVIDER_H */
