/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - queues shared with user space
 *
 * The only reader of user-writable memory and the only writer of completions.
 * An entry is copied once and the copy is judged.  All state that matters is in
 * the structs below; the shared header is a mailbox.
 */
#ifndef SRNIC_QUEUE_H
#define SRNIC_QUEUE_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include <rdma/srnic-abi.h>

#include "../look.h"

#define SRNIC_MAX_SGE		32
#define SRNIC_MAX_INLINE	512
#define SRNIC_MAX_WR		65536
#define SRNIC_MAX_CQE		(4 << 20)
#define SRNIC_MAX_MSG		0x80000000U

/**
 * struct srnic_ring - memory of one ring
 * @hdr: start of the mapping; zeroed vmalloc() memory
 * @size: bytes of the mapping
 * @mask: number of entries less one
 * @stride: bytes from one entry to the next
 */
struct srnic_ring {
	struct srnic_ring_hdr	*hdr;
	size_t			size;
	u32			mask;
	u32			stride;
};

/*
 * At least @entries entries (rounded up to a power of two) of @stride bytes.
 * May sleep.  0, -EINVAL or -ENOMEM.
 */
int srnic_ring_alloc(struct srnic_ring *ring, u32 entries, u32 stride);
void srnic_ring_free(struct srnic_ring *ring);

static inline void *srnic_ring_entry(const struct srnic_ring *ring, u32 idx)
{
	return (void *)(ring->hdr + 1) +
	       (size_t)(idx & ring->mask) * ring->stride;
}

/* Is there no room for entry @idx?  For a producer in the kernel. */
static inline bool srnic_ring_full(const struct srnic_ring *ring, u32 idx)
{
	/* Pairs with the consumer's release: the entry was read. */
	return idx - smp_load_acquire(&ring->hdr->kern) > ring->mask;
}

/* Shows the entries before @idx to the consumer. */
static inline void srnic_ring_show(const struct srnic_ring *ring, u32 idx)
{
	/* Pairs with the consumer's acquire: the entries are whole. */
	smp_store_release(&ring->hdr->user, idx);
}

/**
 * struct srnic_cq - completion queue
 * @ring: shared memory; under @lock where it may be replaced, that is not for
 *	  consumers in the kernel
 * @lock: serialises producers; innermost lock of the driver
 * @prod: next entry to write; under @lock
 * @dead: an overrun was reported; under @lock
 * @lossy: a completion that finds no room is dropped, and that is no error
 * @gather: completions that share an event, 0 and 1: none do; under @lock
 * @gathered: completions that wait for their event; under @lock
 * @poll_lock: serialises consumers in the kernel
 * @notify: called without @lock after an armed completion was written
 * @later: called without @lock after the first one that waits for its event
 * @overrun: called without @lock, once, when a completion was lost
 */
struct srnic_cq {
	struct srnic_ring	ring;
	spinlock_t		lock;	/* protects ring, prod and dead */
	u32			prod;
	bool			dead;
	bool			lossy;
	u32			gather;
	u32			gathered;
	spinlock_t		poll_lock;	/* serialises srnic_cq_pop() */
	void			(*notify)(struct srnic_cq *cq);
	void			(*later)(struct srnic_cq *cq);
	void			(*overrun)(struct srnic_cq *cq);
};

int srnic_cq_init(struct srnic_cq *cq, u32 entries);
void srnic_cq_destroy(struct srnic_cq *cq);

/*
 * Writes one completion and raises the event that was asked for.  @solicited:
 * it also satisfies a request for solicited events (errors always do).
 * Context: process or softirq.  Return: false if the CQ is full: the
 * completion is lost, @overrun was called.
 */
bool srnic_cq_push(struct srnic_cq *cq, const struct srnic_cqe *cqe,
		   bool solicited);

/*
 * From now on @gather completions share an event, or as many as there is room
 * for.  Context: as srnic_cq_push().
 */
void srnic_cq_moderate(struct srnic_cq *cq, u32 gather);

/* Completions that wait for their event have it now.  Context: the same. */
void srnic_cq_expire(struct srnic_cq *cq);

/*
 * Moves to @ring, with the completions that were not read; one caller at a
 * time.  May sleep.  On success *@ring is the old one.  Return: 0, or -EINVAL: there are
 * more than fit.
 */
int srnic_cq_replace(struct srnic_cq *cq, struct srnic_ring *ring);

/*
 * Takes the oldest completion into *@cqe; false if there is none.  For
 * consumers in the kernel.  Context: any.
 */
bool srnic_cq_pop(struct srnic_cq *cq, struct srnic_cqe *cqe);

/* How @cq is; nothing once it was destroyed.  Context: not hard interrupt. */
void srnic_cq_look(struct srnic_cq *cq, struct srnic_look *look);

/*
 * Asks for an event on the next completion.  Context: any.  Return: is there
 * a completion that came before?
 */
bool srnic_cq_arm(struct srnic_cq *cq, bool solicited);

/**
 * struct srnic_swqe - a send work request, checked, in kernel memory
 * @sqe: copy of the user's entry
 * @length: bytes of the message (READ, atomics: of the response)
 * @psn: first PSN
 * @npsn: number of PSNs it takes
 * @status: enum ib_wc_status; not success: refused when fetched
 * @started: a packet of it was sent, @psn and @npsn are valid
 * @done: READ and atomics: its response has arrived in full; those that send
 *	  nothing: it has been executed in full
 * @sge: scatter/gather list; inline data stands here too
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
 * @ring: shared memory; none: nothing can be sent
 * @copy: srnic_swqe of each slot, @copy_stride bytes apart
 * @copy_stride: bytes
 * @max_sge: of one work request
 * @max_inline: bytes
 * @trusted: a kernel consumer posts to it, and nobody else can
 * @head: oldest work request not completed
 * @tail: next entry to fetch
 *
 * head and tail belong to the queue pair's task.
 */
struct srnic_sq {
	struct srnic_ring	ring;
	void			*copy;
	u32			copy_stride;
	u32			max_sge;
	u32			max_inline;
	bool			trusted;
	u32			head;
	u32			tail;
};

int srnic_sq_init(struct srnic_sq *sq, u32 entries, u32 max_sge,
		  u32 max_inline);
void srnic_sq_destroy(struct srnic_sq *sq);
void srnic_sq_reset(struct srnic_sq *sq);

static inline struct srnic_swqe *srnic_sq_wqe(const struct srnic_sq *sq,
					      u32 idx)
{
	return sq->copy + (size_t)(idx & sq->ring.mask) * sq->copy_stride;
}

/*
 * Copies and checks the next entry; NULL if user space posted none.  Entry
 * with status other than success: what is wrong with it; it has no list and no
 * inline data.
 */
struct srnic_swqe *srnic_sq_fetch(struct srnic_sq *sq, enum ib_qp_type type);

/* Producer index as user space has it now, whatever it may be.  Context: any. */
u32 srnic_sq_posted(const struct srnic_sq *sq);

/* Tells user space whether it may post without a doorbell. */
void srnic_sq_set_polled(struct srnic_sq *sq, bool polled);

/* Lets user space write again over the entries before @sq->head. */
void srnic_sq_publish(struct srnic_sq *sq);

/*
 * Judges @wqe->sqe and the list behind it: pure.  @type: IB_QPT_*, @trusted:
 * as in struct srnic_sq.
 * Return: enum ib_wc_status.
 */
enum ib_wc_status srnic_swqe_check(const struct srnic_swqe *wqe,
				   enum ib_qp_type type, u32 max_sge,
				   u32 max_inline, bool trusted);

/**
 * struct srnic_rwqe - a receive work request, checked, in kernel memory
 * @wr_id: of the work request
 * @length: sum of the SGEs
 * @num_sge: number of SGEs
 * @status: enum ib_wc_status; not success: malformed
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
 * struct srnic_rq - receive queue, of one queue pair or shared
 * @ring: shared memory; that of a shared queue is under @lock
 * @lock: serialises consumers
 * @max_sge: of one work request
 * @head: next entry to fetch; under @lock
 * @limit: @low is called when fewer are posted, once; 0: it is not; under @lock
 * @low: called without @lock
 */
struct srnic_rq {
	struct srnic_ring	ring;
	spinlock_t		lock;	/* protects ring, head and limit */
	u32			max_sge;
	u32			head;
	u32			limit;
	void			(*low)(struct srnic_rq *rq);
};

int srnic_rq_init(struct srnic_rq *rq, u32 entries, u32 max_sge);
void srnic_rq_destroy(struct srnic_rq *rq);
void srnic_rq_reset(struct srnic_rq *rq);

/* Takes the oldest receive into *@wqe; false if there is none. */
bool srnic_rq_fetch(struct srnic_rq *rq, struct srnic_rwqe *wqe);

/* Asks for a call of @low, or with 0 for none. */
void srnic_rq_arm(struct srnic_rq *rq, u32 limit);
/* What was asked for, 0 once @low was called. */
u32 srnic_rq_limit(struct srnic_rq *rq);

/**
 * struct srnic_rq_info - a receive queue at one moment
 * @entries: room
 * @head: index of the next entry to fetch
 * @posted: entries that can be fetched
 * @limit: as srnic_rq_limit()
 */
struct srnic_rq_info {
	u32	entries;
	u32	head;
	u32	posted;
	u32	limit;
};

/* How @rq is; all zeros if there is none.  Context: not hard interrupt. */
void srnic_rq_look(struct srnic_rq *rq, struct srnic_rq_info *info);

/*
 * Moves to @ring, whose stride is the same; what is posted stays posted, and
 * receives are taken meanwhile.  Nobody posts meanwhile, or it is lost; one caller
 * at a time.  May sleep.  On success *@ring is the old one.  Return: 0, or
 * -EINVAL: more is posted than fits.
 */
int srnic_rq_replace(struct srnic_rq *rq, struct srnic_ring *ring);

/* From now on (or no longer) user space rings after posting a receive. */
void srnic_rq_want_kick(struct srnic_rq *rq, bool want);

/* Is that so?  For a producer in the kernel that has shown its entries. */
static inline bool srnic_rq_wants_kick(const struct srnic_rq *rq)
{
	smp_mb();	/* user before flags; pairs with srnic_rq_want_kick() */

	return READ_ONCE(rq->ring.hdr->flags) & SRNIC_RING_KICK;
}

#endif /* SRNIC_QUEUE_H */
