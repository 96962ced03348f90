/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - queues shared with user space
 *
 * The only code that reads user-writable memory and writes completions.  Each entry is
 * copied once and the copy is validated.  All state that the kernel relies on is in the
 * structs below; nothing that it has written to the shared header is read back.
 */
#ifndef SRNIC_QUEUE_H
#define SRNIC_QUEUE_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include <rdma/srnic-abi.h>

#include "../res_attrs.h"

#define SRNIC_MAX_SGE		32
#define SRNIC_MAX_INLINE	512
#define SRNIC_MAX_WR		65536
#define SRNIC_MAX_CQE		(4 << 20)
#define SRNIC_MAX_MSG		0x80000000U

/* User ABI of a queue: format of its ring and of its entries */
enum srnic_abi {
	SRNIC_ABI_OWN,	/* srnic-abi.h; all queues of in-kernel consumers */
	SRNIC_ABI_RXE,	/* rdma_user_rxe.h, the ABI of rdma_rxe */
};

/* Who writes the entries of a ring */
enum srnic_ring_role {
	SRNIC_RING_WORK,	/* user space */
	SRNIC_RING_COMP,	/* the kernel */
};

/**
 * struct srnic_ring - memory of one ring
 * @hdr: start of the mapping; zeroed vmalloc() memory
 * @user: index that user space writes
 * @kern: index that the kernel writes; never read back
 * @arm: CQ: enum srnic_cq_arm
 * @flags: enum srnic_ring_flags
 * @entries: first entry
 * @size: size of the mapping in bytes
 * @mask: number of slots minus one
 * @wrap: bits of an index that are stored in @user and @kern
 * @room: capacity in entries
 * @stride: bytes from one entry to the next
 * @abi: format of the ring and its entries
 *
 * The kernel's own indices are free-running modulo 2^32.  An ABI that stores them
 * modulo the number of slots leaves one slot unused.
 */
struct srnic_ring {
	void			*hdr;
	u32			*user;
	u32			*kern;
	u32			*arm;
	u32			*flags;
	void			*entries;
	size_t			size;
	u32			mask;
	u32			wrap;
	u32			room;
	u32			stride;
	enum srnic_abi		abi;
};

/*
 * Allocates room for @entries entries of @stride bytes each; both may be rounded up.
 * Context: process, may sleep.  Return: 0, -EINVAL or -ENOMEM.
 */
int srnic_ring_alloc(struct srnic_ring *ring, enum srnic_abi abi,
		     enum srnic_ring_role role, u32 entries, u32 stride);
void srnic_ring_free(struct srnic_ring *ring);

static inline void *srnic_ring_entry(const struct srnic_ring *ring, u32 idx)
{
	return ring->entries + (size_t)(idx & ring->mask) * ring->stride;
}

/*
 * Number of entries from index @from to the one that user space wrote.  If it exceeds
 * @room, the index is invalid.
 */
static inline u32 srnic_ring_ahead(const struct srnic_ring *ring, u32 from)
{
	/* Pairs with user space's release: the entries before it are complete. */
	u32 user = smp_load_acquire(ring->user);

	return user > ring->wrap ? U32_MAX : (user - from) & ring->wrap;
}

/*
 * Number of entries from the index that user space wrote to @to.  If it exceeds @room, the
 * index is invalid.
 */
static inline u32 srnic_ring_behind(const struct srnic_ring *ring, u32 to)
{
	/* Pairs with user space's release: the entries before it have been read. */
	u32 user = smp_load_acquire(ring->user);

	return user > ring->wrap ? U32_MAX : (to - user) & ring->wrap;
}

/* Passes the entries before @idx to user space. */
static inline void srnic_ring_pass(const struct srnic_ring *ring, u32 idx)
{
	/* Pairs with user space's acquire: the kernel is done with them. */
	smp_store_release(ring->kern, idx & ring->wrap);
}

/* Number of entries before @idx that the consumer still has.  For in-kernel producers. */
static inline u32 srnic_ring_used(const struct srnic_ring *ring, u32 idx)
{
	/* Pairs with the consumer's release: the old entries have been read. */
	return idx - smp_load_acquire(ring->kern);
}

/* Is there no room for entry @idx?  For in-kernel producers. */
static inline bool srnic_ring_full(const struct srnic_ring *ring, u32 idx)
{
	return srnic_ring_used(ring, idx) >= ring->room;
}

/* Publishes the entries before @idx to the consumer. */
static inline void srnic_ring_show(const struct srnic_ring *ring, u32 idx)
{
	/* Pairs with the consumer's acquire: the entries are complete. */
	smp_store_release(ring->user, idx);
}

/**
 * struct srnic_cq_loss - the first completion that a CQ lost
 * @time: when, wall clock, ns; 0: none was lost
 * @qpn: queue pair whose completion it was
 * @recv: it was the completion of a receive
 * @index: the CQ was not full, but the index that user space writes was invalid
 */
struct srnic_cq_loss {
	u64	time;
	u32	qpn;
	bool	recv;
	bool	index;
};

/**
 * struct srnic_cq - completion queue
 * @ring: shared memory; under @lock if it can be replaced, which is never the
 *	  case for an in-kernel consumer
 * @lock: serialises producers; innermost lock of the driver
 * @prod: number of completions written, modulo 2^32; under @lock
 * @dead: an overrun has been reported; under @lock
 * @loss: the first completion that was lost; constant once @dead is set
 * @lossy: a completion that does not fit is dropped without an error
 * @gather: number of completions per event, 0 and 1: no moderation; under @lock
 * @gathered: completions whose event is still pending; under @lock
 * @poll_lock: serialises in-kernel consumers
 * @notify: called without @lock when an event is due
 * @later: called without @lock when the first completion of several defers its event
 * @overrun: called without @lock, once, when the first completion is lost
 */
struct srnic_cq {
	struct srnic_ring	ring;
	spinlock_t		lock;	/* protects ring to gathered, but lossy */
	u32			prod;
	bool			dead;
	struct srnic_cq_loss	loss;
	bool			lossy;
	u32			gather;
	u32			gathered;
	spinlock_t		poll_lock;	/* serialises srnic_cq_pop() */
	void			(*notify)(struct srnic_cq *cq);
	void			(*later)(struct srnic_cq *cq);
	void			(*overrun)(struct srnic_cq *cq);
};

int srnic_cq_init(struct srnic_cq *cq, enum srnic_abi abi, u32 entries);
void srnic_cq_destroy(struct srnic_cq *cq);

/* Strings for "rdma resource" and trace points */
static inline const char *srnic_cq_loss_of(const struct srnic_cq_loss *loss)
{
	return loss->recv ? "receive" : "send";
}

static inline const char *srnic_cq_loss_why(const struct srnic_cq_loss *loss)
{
	return loss->index ? "index" : "full";
}

/*
 * Writes one completion and raises the event that was requested.  @solicited: the
 * completion also satisfies a request for solicited events (errors always do).
 * Context: process or softirq.  Return: false if the completion is lost because the
 * CQ is or was full, which @overrun reported; never false for a lossy CQ.
 */
bool srnic_cq_push(struct srnic_cq *cq, const struct srnic_cqe *cqe,
		   bool solicited);

/*
 * Moderates events to one per @gather completions, or one per full ring.
 * Context: process or softirq.
 */
void srnic_cq_moderate(struct srnic_cq *cq, u32 gather);

/* Raises the event of deferred completions now.  Context: process or softirq. */
void srnic_cq_expire(struct srnic_cq *cq);

/*
 * Moves the CQ and its unread completions to @ring; on success *@ring is the old ring.
 * Context: process, may sleep; one caller at a time.  Return: 0, or -EINVAL if the
 * unread completions do not fit.
 */
int srnic_cq_replace(struct srnic_cq *cq, struct srnic_ring *ring);

/*
 * Moves the oldest completion into *@cqe, for in-kernel consumers.
 * Context: any.  Return: false if there is none.
 */
bool srnic_cq_pop(struct srnic_cq *cq, struct srnic_cqe *cqe);

/* Adds the attributes of @cq, unless it is destroyed.  Context: any but hard interrupt. */
void srnic_cq_fill_attrs(struct srnic_cq *cq, struct srnic_res_attrs *attrs);

/*
 * Requests an event for the next completion.
 * Context: any.  Return: true if the CQ already holds an unread completion.
 */
bool srnic_cq_arm(struct srnic_cq *cq, bool solicited);

/**
 * struct srnic_swqe - validated kernel copy of a send WQE
 * @sqe: copy of the user's entry
 * @length: message length in bytes (READ, atomics: of the response)
 * @psn: first PSN
 * @npsn: number of PSNs used
 * @status: enum ib_wc_status; anything but success: refused when fetched
 * @started: a packet has been sent, @psn and @npsn are valid
 * @done: READ and atomics: the complete response has arrived; operations that
 *	  send no packets: execution is complete
 * @sge: scatter/gather list or inline data
 */
struct srnic_swqe {
	struct srnic_sqe	sqe;
	u32			length;
	u32			psn;
	u32			npsn;
	u8			status;
	bool			started;
	bool			done;
	struct srnic_sge	sge[];
};

/**
 * struct srnic_sq - send queue
 * @ring: shared memory; without a ring nothing can be sent
 * @copy: struct srnic_swqe of each slot, @copy_stride bytes apart
 * @copy_stride: bytes from one copy to the next
 * @max_sge: most SGEs of one WQE
 * @max_inline: most bytes of inline data of one WQE
 * @trusted: only an in-kernel consumer can post to this queue
 * @broken: user space wrote an invalid index: nothing more is fetched
 * @head: oldest WQE that has not completed
 * @tail: next entry to fetch
 *
 * @broken, @head and @tail are accessed by the queue pair's task only.
 */
struct srnic_sq {
	struct srnic_ring	ring;
	void			*copy;
	u32			copy_stride;
	u32			max_sge;
	u32			max_inline;
	bool			trusted;
	bool			broken;
	u32			head;
	u32			tail;
};

int srnic_sq_init(struct srnic_sq *sq, enum srnic_abi abi, u32 entries,
		  u32 max_sge, u32 max_inline);
void srnic_sq_destroy(struct srnic_sq *sq);
void srnic_sq_reset(struct srnic_sq *sq);

static inline struct srnic_swqe *srnic_sq_wqe(const struct srnic_sq *sq,
					      u32 idx)
{
	return sq->copy + (size_t)(idx & sq->ring.mask) * sq->copy_stride;
}

/*
 * Copies and validates the next entry.  A malformed one has the error as its status
 * and neither SGEs nor inline data.  Return: the copy, NULL if nothing is posted or
 * the queue is broken.
 */
struct srnic_swqe *srnic_sq_fetch(struct srnic_sq *sq, enum ib_qp_type type);

/* Is nothing posted behind the entries fetched so far? */
bool srnic_sq_is_empty(const struct srnic_sq *sq);

/* Producer index as user space has written it, unchecked.  Context: any. */
u32 srnic_sq_posted(const struct srnic_sq *sq);

/* Sets whether user space may post without ringing the doorbell. */
void srnic_sq_set_polled(struct srnic_sq *sq, bool polled);

/* Returns the entries before @sq->head to user space for reuse. */
void srnic_sq_publish(struct srnic_sq *sq);

/*
 * Validates @wqe->sqe and its SGEs; a pure function.  @type: IB_QPT_*;
 * @trusted: as in struct srnic_sq.
 * Return: enum ib_wc_status.
 */
enum ib_wc_status srnic_swqe_check(const struct srnic_swqe *wqe,
				   enum ib_qp_type type, u32 max_sge,
				   u32 max_inline, bool trusted);

/**
 * struct srnic_rwqe - validated kernel copy of a receive WQE
 * @wr_id: returned in the completion
 * @length: total length of the SGEs in bytes
 * @num_sge: number of SGEs
 * @status: enum ib_wc_status; anything but success: malformed
 * @sge: scatter list
 */
struct srnic_rwqe {
	u64			wr_id;
	u64			length;
	u32			num_sge;
	u8			status;
	struct srnic_sge	sge[SRNIC_MAX_SGE];
};

/**
 * struct srnic_rq - receive queue of one queue pair, or shared receive queue
 * @ring: shared memory; under @lock for a shared receive queue
 * @lock: serialises consumers
 * @max_sge: most SGEs of one WQE
 * @head: next entry to fetch; under @lock
 * @limit: call @low, once, when fewer WQEs are posted; 0: never; under @lock
 * @broken: user space wrote an invalid index: nothing more is fetched; set under @lock
 * @low: called without @lock
 * @fatal: called without @lock, once, when @broken becomes set; or NULL
 */
struct srnic_rq {
	struct srnic_ring	ring;
	spinlock_t		lock;	/* protects ring, head, limit and broken */
	u32			max_sge;
	u32			head;
	u32			limit;
	bool			broken;
	void			(*low)(struct srnic_rq *rq);
	void			(*fatal)(struct srnic_rq *rq);
};

int srnic_rq_init(struct srnic_rq *rq, enum srnic_abi abi, u32 entries,
		  u32 max_sge);
void srnic_rq_destroy(struct srnic_rq *rq);
void srnic_rq_reset(struct srnic_rq *rq);

/*
 * Copies the oldest receive WQE into *@wqe.  Return: false if there is none or the queue
 * is broken.
 */
bool srnic_rq_fetch(struct srnic_rq *rq, struct srnic_rwqe *wqe);

/* Context: any. */
static inline bool srnic_rq_is_broken(const struct srnic_rq *rq)
{
	return READ_ONCE(rq->broken);	/* set in rq_break() */
}

/* Arms the call of @low at @limit; 0 disarms it. */
void srnic_rq_arm(struct srnic_rq *rq, u32 limit);
/* The armed limit; 0 once @low has been called. */
u32 srnic_rq_limit(struct srnic_rq *rq);

/**
 * struct srnic_rq_info - snapshot of a receive queue
 * @entries: capacity
 * @head: index of the next entry to fetch
 * @posted: entries that can be fetched
 * @limit: as srnic_rq_limit()
 * @broken: as in struct srnic_rq
 */
struct srnic_rq_info {
	u32	entries;
	u32	head;
	u32	posted;
	u32	limit;
	bool	broken;
};

/* Takes a snapshot; all zeros if @rq has no ring.  Context: any but hard interrupt. */
void srnic_rq_query(struct srnic_rq *rq, struct srnic_rq_info *info);

/*
 * Moves the queue and its posted WQEs to @ring of the same stride; on success *@ring
 * is the old ring.  WQEs may be fetched concurrently; WQEs posted concurrently are lost.
 * Context: process, may sleep; one caller at a time.  Return: 0, or -EINVAL if the
 * posted WQEs do not fit.
 */
int srnic_rq_replace(struct srnic_rq *rq, struct srnic_ring *ring);

/* Sets whether user space must ring the doorbell after posting a receive. */
void srnic_rq_want_kick(struct srnic_rq *rq, bool want);

/* Must the queue pair be kicked?  For an in-kernel producer, after srnic_ring_show(). */
static inline bool srnic_rq_wants_kick(const struct srnic_rq *rq)
{
	smp_mb();	/* user before flags; pairs with srnic_rq_want_kick() */

	return READ_ONCE(*rq->ring.flags) & SRNIC_RING_KICK;
}

#endif /* SRNIC_QUEUE_H */
