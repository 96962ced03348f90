/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - memory: keys, the regions they name, and copying to and from regions
 *
 * A region is a flat array of equal power-of-two blocks of kernel-addressable memory, or
 * an address space that is paged on demand.  This room deals with no packets, opcodes or
 * queue pairs; failed accesses are reported as enum srnic_mem_err.
 */
#ifndef SRNIC_MEM_H
#define SRNIC_MEM_H

#include <linux/atomic.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/srnic-abi.h>

#include "../res_attrs.h"

enum srnic_mem_err {
	SRNIC_MEM_OK,
	SRNIC_MEM_KEY,		/* no such key */
	SRNIC_MEM_PD,		/* the key belongs to another protection domain */
	SRNIC_MEM_ACCESS,	/* access right not granted */
	SRNIC_MEM_RANGE,	/* outside the region */
	SRNIC_MEM_LENGTH,	/* the SGE list is shorter than the data */
	SRNIC_MEM_OWNER,	/* window bound by another owner */
	SRNIC_MEM_STATE,	/* not possible in this state or for this kind of key */
	SRNIC_MEM_BUSY,		/* still in use until srnic_wait.wake() is called */
	SRNIC_MEM_ALIGN,	/* the word is not naturally aligned in memory */
	SRNIC_MEM_ABSENT,	/* page being fetched: retry after srnic_pager_ops.end() */
	SRNIC_MEM_FAULT,	/* an on-demand page could not be fetched */
};

/**
 * srnic_table_is_empty() - does @xa contain no entries?
 * @xa: xarray to which nothing is added any more
 *
 * Not xa_empty(): an allocation failure while an xarray grows leaves nodes without
 * entries behind, which xa_destroy() frees.
 *
 * Return: true if there are no entries.
 */
static inline bool srnic_table_is_empty(struct xarray *xa)
{
	unsigned long index = 0;

	return !xa_find(xa, &index, ULONG_MAX, XA_PRESENT);
}

/* Access rights for FLUSH, as far as the RDMA core of this kernel supports them */
#define SRNIC_ACCESS_FLUSH	((IB_ACCESS_FLUSH_GLOBAL |	\
				  IB_ACCESS_FLUSH_PERSISTENT) &	\
				 IB_ACCESS_SUPPORTED)

/* A key is an index (upper 24 bits) and a tag (lower 8 bits), both initially random. */
#define SRNIC_KEY_INDEX(key)	((key) >> 8)

/**
 * struct srnic_keys - the key table of one device
 * @xa: maps key indices to struct srnic_mr; readers use RCU
 * @num: number of keys in @xa
 */
struct srnic_keys {
	struct xarray	xa;
	atomic_t	num;
};

/* What a key refers to */
enum srnic_mr_kind {
	SRNIC_MR_PLAIN,		/* region registered by a verb, valid until hidden */
	SRNIC_MR_FAST,		/* region registered by a work request */
	SRNIC_MW_1,		/* memory window, type 1 */
	SRNIC_MW_2,		/* memory window, type 2: usable by its binder only */
};

/*
 * Key states.  Whoever moves a key to BUSY owns it exclusively; it becomes FREE
 * once the last user of the memory it named has dropped its reference.
 */
enum srnic_mr_state {
	SRNIC_MR_FREE,
	SRNIC_MR_BUSY,
	SRNIC_MR_VALID,
	SRNIC_MR_DEAD,
};

/**
 * struct srnic_wait - notification that a key has gone out of use
 * @wake: called once, in the context of the last user, possibly softirq
 */
struct srnic_wait {
	void	(*wake)(struct srnic_wait *wait);
};

/**
 * struct srnic_span - an address range and the memory backing it
 * @iova: first address, as used with the key
 * @length: length in bytes
 * @offset: bytes from the start of block 0 to @iova
 * @shift: log2 of the block size
 * @block: kernel address of each block
 * @odp: on-demand paged address space that replaces @block, or NULL; @offset
 *	 is then the user address of the first byte
 * @indirect: there are no blocks, but @odp or the region's integrity part
 */
struct srnic_span {
	u64			iova;
	u64			length;
	u64			offset;
	u8			shift;
	void			**block;
	struct srnic_odp	*odp;
	bool			indirect;
};

/**
 * struct srnic_mr - memory region, or memory window: a region that borrows the
 *		     pages of another
 * @key: lkey and rkey
 * @kind: enum srnic_mr_kind
 * @state: enum srnic_mr_state
 * @access: IB_ACCESS_* bits
 * @pd: protection domain
 * @owner: type 2 windows: the binder, compared with @owner of srnic_mr_get_remote()
 * @span: memory that the key names; a window borrows the blocks of @parent
 * @next: fast region: block list for the next registration
 * @num_next: fast region: number of blocks in @next
 * @listed: fast region: @next has been filled since the last registration
 * @num_blocks: fast region: number of blocks in @span
 * @max_blocks: fast region: capacity of the block lists
 * @dma: the region covers all kernel memory and is addressed by kernel addresses
 * @null: the region has no memory: it reads as zeros and discards what is written
 * @pi: fast region with protection information: its lists and domains; @span then has
 *	no blocks
 * @parent: region to which a window is bound
 * @windows: number of windows bound to this region; negative: binding is barred
 * @umem: pinned user memory, or NULL
 * @dmabuf: dma-buf that provides the memory, or NULL
 * @refs: one reference while valid, plus one per user
 * @wait: called when @refs drops to 0; set by whoever made the key BUSY, or NULL
 * @rcu: defers the free, as a lookup may still read a dead region
 *
 * @windows, @state and @refs are atomic; @next, @num_next and @listed belong to
 * the consumer until it posts the registration.
 * All else is written only while @state is BUSY or DEAD or the region is unpublished,
 * and constant while it is valid, so holders of a reference need no lock.
 */
struct srnic_mr {
	u32			key;
	u8			kind;
	atomic_t		state;
	u32			access;
	const struct ib_pd	*pd;
	u64			owner;
	struct srnic_span	span;
	struct srnic_span	next;
	u32			num_next;
	bool			listed;
	u32			num_blocks;
	u32			max_blocks;
	bool			dma;
	bool			null;
	struct srnic_pi		*pi;
	struct srnic_mr		*parent;
	atomic_t		windows;
	struct ib_umem		*umem;
	struct srnic_dmabuf	*dmabuf;
	refcount_t		refs;
	struct srnic_wait	*wait;
	struct rcu_head		rcu;
};

void srnic_keys_init(struct srnic_keys *keys);
void srnic_keys_destroy(struct srnic_keys *keys);

/*
 * Assigns a key to @mr and inserts it into @keys.  A plain region is valid at once,
 * other kinds start out FREE.  May sleep.  Return: 0, -ENOMEM or -ENOSPC.
 */
int srnic_mr_publish(struct srnic_keys *keys, struct srnic_mr *mr);

/* Removes @mr from @keys and waits for its last user to put it.  May sleep. */
void srnic_mr_hide(struct srnic_keys *keys, struct srnic_mr *mr);

/*
 * Transfers the key of @old to @mr and waits for the last user of @old to put it.
 * The key names one of the two regions at any time.  May sleep.
 */
void srnic_mr_replace(struct srnic_keys *keys, struct srnic_mr *old,
		      struct srnic_mr *mr);

/* Bars windows from binding to @mr until it is unsealed; false if one is bound. */
bool srnic_mr_seal(struct srnic_mr *mr);
void srnic_mr_unseal(struct srnic_mr *mr);

/*
 * Fills @mr->span from @mr->umem, which the key addresses from @iova on; huge pages
 * become large blocks.  May sleep.  Return: 0, -EINVAL or -ENOMEM.
 */
int srnic_mr_map_umem(struct srnic_mr *mr, u64 iova);

/*
 * Fills @mr->span from virtually contiguous kernel memory.  May sleep.
 * Return: 0 or -ENOMEM.
 */
int srnic_mr_map_flat(struct srnic_mr *mr, void *start, u64 length, u64 iova);

/*
 * Fills @mr->span from the dma-buf @fd, starting at @offset.  The buffer stays
 * mapped until srnic_mr_unmap().  May sleep.  Return: 0 or negative errno.
 */
int srnic_mr_map_dmabuf(struct srnic_mr *mr, int fd, u64 offset, u64 length,
			u64 iova);

/**
 * struct srnic_owner_id - user or container that resources are charged to
 * @uid: uid in the initial user namespace; INVALID_UID if @userns is set
 * @userns: user namespace whose users are charged as one, or NULL
 */
struct srnic_owner_id {
	kuid_t			uid;
	struct user_namespace	*userns;
};

/*
 * Returns the owner @id, with a reference.  Its page fetches are limited across all
 * devices, and it persists while anything, even a fetch, holds it.  NULL: no memory.
 * As an argument, a NULL owner stands for the kernel.  May sleep.
 */
struct srnic_owner *srnic_owner_of(const struct srnic_owner_id *id);
const struct srnic_owner_id *srnic_owner_id(const struct srnic_owner *owner);

/* Takes a reference.  Context: any. */
struct srnic_owner *srnic_owner_get(struct srnic_owner *owner);
/* @owner may be NULL.  Context: process. */
void srnic_owner_put(struct srnic_owner *owner);

/*
 * Fills @mr->span from the caller's address space without pinning: missing pages are
 * fetched when accessed, for @owner.  May sleep.  Return: 0 or -ENOMEM.
 */
int srnic_mr_map_odp(struct srnic_mr *mr, struct srnic_owner *owner, u64 start,
		     u64 length, u64 iova);

/* Allocates both block lists, of @max entries, of fast region @mr.  May sleep. */
int srnic_fast_alloc(struct srnic_mr *mr, u32 max);

/* Starts a new list of blocks of @size bytes, a power of two. */
void srnic_fast_begin(struct srnic_mr *mr, u32 size);

/* Appends the block at kernel address @addr to that list.  Return: 0 or -ENOMEM. */
int srnic_fast_add(struct srnic_mr *mr, u64 addr);

/**
 * struct srnic_fast - parameters of a fast registration
 * @pd: protection domain of the requesting queue pair
 * @key: new key: the region's index, with a tag chosen by the consumer
 * @access: rights to grant, IB_ACCESS_* bits
 * @iova: first address, as used with the key; its offset within a block is also
 *	  that of the first byte
 * @length: length in bytes
 */
struct srnic_fast {
	const struct ib_pd	*pd;
	u32			key;
	u32			access;
	u64			iova;
	u64			length;
};

/*
 * Registers a fast region whose key is FREE, with the block list that was begun last.
 * Context: any.
 */
enum srnic_mem_err srnic_fast_register(struct srnic_keys *keys,
				       const struct srnic_fast *fast);

/* Integrity regions need the kernel's CRC of T10-DIF. */
#define SRNIC_HAVE_INTEGRITY	IS_REACHABLE(CONFIG_CRC_T10DIF)

/*
 * Makes fast region @mr one with protection information, of up to @max_data pieces of data
 * and @max_tuples pieces of tuples.  May sleep.  Return: 0 or -ENOMEM.
 */
int srnic_pi_alloc(struct srnic_mr *mr, u32 max_data, u32 max_tuples);

/* Starts new lists of data and tuples. */
void srnic_pi_begin(struct srnic_mr *mr);

/* Append @len bytes at kernel address @addr to those lists.  Return: 0 or -ENOMEM. */
int srnic_pi_add_data(struct srnic_mr *mr, u64 addr, u32 len);
int srnic_pi_add_tuples(struct srnic_mr *mr, u64 addr, u32 len);

/*
 * Sets what the next registration of @mr generates and checks.
 * Return: bytes that the region then has on the wire, 0: not possible with these lists.
 */
u64 srnic_pi_prepare(struct srnic_mr *mr, const struct ib_sig_attrs *attrs);

/* Takes the first error since the registration or the last call; false: there is none. */
bool srnic_pi_take_error(struct srnic_mr *mr, struct ib_sig_err *err);

/* Releases the memory backing @mr, which must be hidden.  May sleep. */
void srnic_mr_unmap(struct srnic_mr *mr);

/*
 * Looks up @key and checks that it grants all rights in @access (IB_ACCESS_* bits,
 * 0 for local read) to [addr, addr + len).
 * @out: NULL, or a region to which the caller holds a reference: if @key still names it, that
 * is used again, otherwise it is dropped.
 * Context: any.  On SRNIC_MEM_OK the caller holds a reference to *@out, else it is NULL.
 */
enum srnic_mem_err srnic_mr_get(struct srnic_keys *keys, u32 key,
				const struct ib_pd *pd, u32 access,
				u64 addr, u64 len, struct srnic_mr **out);
void srnic_mr_put(struct srnic_mr *mr);

/* Drops the reference to *@mr, if there is one. */
static inline void srnic_mr_release(struct srnic_mr **mr)
{
	if (*mr)
		srnic_mr_put(*mr);
	*mr = NULL;
}

/*
 * Looks up @key like srnic_mr_get(), for a peer, which may use windows.
 * @owner: uid of the QP that received the peer's request.
 */
enum srnic_mem_err srnic_mr_get_remote(struct srnic_keys *keys, u32 key,
				       const struct ib_pd *pd, u64 owner,
				       u32 access, u64 addr, u64 len,
				       struct srnic_mr **out);

/* Looks up @key like srnic_mr_get_remote(), without a range: for a whole region. */
enum srnic_mem_err srnic_mr_get_whole(struct srnic_keys *keys, u32 key,
				      const struct ib_pd *pd, u64 owner,
				      u32 access, struct srnic_mr **out);

/**
 * struct srnic_bind - parameters of a memory window bind
 * @pd: protection domain of the requesting queue pair
 * @owner: uid of the requesting queue pair, never 0
 * @mw_key: current key of the window; its tag is checked for type 1 only
 * @new_key: its lower 8 bits are the tag of the key after the bind
 * @mr_key: key of the region to bind to
 * @addr: first byte, as addressed by @mr_key
 * @length: length in bytes; 0 unbinds a type 1 window
 * @access: rights that the window grants, and IB_ZERO_BASED
 */
struct srnic_bind {
	const struct ib_pd	*pd;
	u64			owner;
	u32			mw_key;
	u32			new_key;
	u32			mr_key;
	u64			addr;
	u64			length;
	u32			access;
};

/*
 * Binds a window.  SRNIC_MEM_BUSY: accesses through its previous binding are still
 * in progress; retry when @wait->wake() is called.  Context: any.
 */
enum srnic_mem_err srnic_mw_bind(struct srnic_keys *keys,
				 const struct srnic_bind *bind,
				 struct srnic_wait *wait);

/*
 * Invalidates @key, a type 2 window or a fast region: no new access through it
 * starts.  SRNIC_MEM_BUSY: the key is invalid, but earlier accesses continue until
 * @wait->wake() is called.  Context: any.
 */
enum srnic_mem_err srnic_mr_invalidate(struct srnic_keys *keys, u32 key,
				       const struct ib_pd *pd, u64 owner,
				       struct srnic_wait *wait);

/*
 * Does @key name a fast region that is not registered?  A concurrent registration may or
 * may not be seen.  Context: any.
 */
bool srnic_fast_is_free(struct srnic_keys *keys, u32 key,
			const struct ib_pd *pd);

/* Adds the attributes of @mr, which may be mutually inconsistent.  Context: any. */
void srnic_mr_fill_attrs(const struct srnic_mr *mr, struct srnic_res_attrs *attrs);

/* Is [addr, addr + len) inside @mr?  The caller holds @mr. */
bool srnic_mr_covers(const struct srnic_mr *mr, u64 addr, u64 len);

/* Number of bytes from @addr to the end of @mr, 0 outside.  The caller holds @mr. */
u64 srnic_mr_rest(const struct srnic_mr *mr, u64 addr);

struct srnic_job_limit;

/**
 * struct srnic_job - page fetch executed by a worker on behalf of an owner
 * @work: entry in a workqueue
 * @list: link in the list of the owner's waiting jobs, else empty
 * @limit: limit that the job was last queued under; reference on its owner held while the
 *	   job waits or runs
 * @fn: executes the job, in process context
 */
struct srnic_job {
	struct work_struct	work;
	struct list_head	list;
	struct srnic_job_limit	*limit;
	void			(*fn)(struct srnic_job *job);
};

struct srnic_pager;

/**
 * struct srnic_pager_ops - callbacks to the owner of a pager
 * @begin: a fetch begins; the owner must not be freed before @end
 * @end: the fetch has ended.  Context: process
 */
struct srnic_pager_ops {
	void	(*begin)(struct srnic_pager *pager);
	void	(*end)(struct srnic_pager *pager);
};

/**
 * struct srnic_pager - fetches pages on behalf of a task that must not sleep
 * @job: does the fetch, in process context
 * @ops: callbacks to the owner
 * @owner: private data of the owner
 * @busy: a fetch is pending; the job then owns the fields below, except @id
 * @odp: address space of the pages; reference held while @busy
 * @id: id of @odp; 0: the result of the fetch is no longer wanted
 * @va: address of the missing page
 * @num: number of pages to fetch from @va on
 * @write: fetch for write access
 * @failed: the page could not be fetched
 *
 * Only module unload waits for a fetch to end, as user space can delay a page for
 * as long as it likes.  A fetch that has not started can be cancelled.
 */
struct srnic_pager {
	struct srnic_job		job;
	const struct srnic_pager_ops	*ops;
	void				*owner;
	bool				busy;
	struct srnic_odp		*odp;
	u64				id;
	u64				va;
	u32				num;
	bool				write;
	bool				failed;
};

void srnic_pager_init(struct srnic_pager *pager,
		      const struct srnic_pager_ops *ops, void *owner);

/* Is a fetch pending, so that retrying is pointless? */
static inline bool srnic_pager_busy(const struct srnic_pager *pager)
{
	return smp_load_acquire(&pager->busy);	/* pairs with pager_end() */
}

/*
 * Discards the result of the last fetch, so that a later request for the same page
 * does not fail because of it.  The caller owns the task that uses @pager.
 */
void srnic_pager_forget(struct srnic_pager *pager);
/*
 * Like srnic_pager_forget(), and cancels a fetch that has not started, calling
 * end().  The caller owns the task that uses @pager.  May sleep.
 */
void srnic_pager_cancel(struct srnic_pager *pager);

/*
 * Copy @len bytes; the caller holds @mr and has checked the range.  @rest is the
 * number of bytes to be accessed from @addr on, @len included.  With
 * SRNIC_MEM_ABSENT retry the whole copy; other errors: SRNIC_MEM_FAULT.
 */
enum srnic_mem_err srnic_mr_write(struct srnic_mr *mr, u64 addr,
				  const void *src, u64 len, u64 rest,
				  struct srnic_pager *pager);
enum srnic_mem_err srnic_mr_read(struct srnic_mr *mr, u64 addr, void *dst,
				 u64 len, u64 rest, struct srnic_pager *pager);

/* Like srnic_mr_read(), of bytes whose protection information was checked before. */
enum srnic_mem_err srnic_mr_reread(struct srnic_mr *mr, u64 addr, void *dst,
				   u64 len, u64 rest, struct srnic_pager *pager);

/* Operation on an aligned eight-byte word of a region; must not sleep. */
typedef u64 (*srnic_word_fn)(void *word, const void *arg);

/*
 * Applies @fn to the eight bytes at @addr and stores what it returns in *@result.
 * The caller holds @mr and has checked the range.
 */
enum srnic_mem_err srnic_mr_word(struct srnic_mr *mr, u64 addr,
				 srnic_word_fn fn, const void *arg,
				 u64 *result, struct srnic_pager *pager);

/* How pages are fetched */
enum srnic_fetch_how {
	SRNIC_FETCH_READ,
	SRNIC_FETCH_WRITE,
	SRNIC_FETCH_PRESENT,	/* only pages already present in the process */
};

/* Allocates a prefetch of up to @max ranges.  NULL: no memory. */
struct srnic_prefetch *srnic_prefetch_alloc(enum srnic_fetch_how how, u32 max);
void srnic_prefetch_free(struct srnic_prefetch *fetch);

/* Adds a range of a region; SRNIC_MEM_STATE: the region is not on-demand paged. */
enum srnic_mem_err srnic_prefetch_add(struct srnic_prefetch *fetch,
				      struct srnic_keys *keys,
				      const struct ib_pd *pd, u32 key, u64 addr,
				      u64 len);

/* Fetches all ranges.  May sleep.  Return: 0 or negative errno.  Does not free @fetch. */
int srnic_prefetch_now(struct srnic_prefetch *fetch);

/*
 * Queues @fetch, charged to @owner; it is freed when done.  Very large prefetches may be
 * done in part.  False: too many are pending, and the caller keeps @fetch.
 */
bool srnic_prefetch_queue(struct srnic_prefetch *fetch, struct srnic_owner *owner);

int srnic_mem_init(void);
void srnic_mem_exit(void);

/* Is all memory backing @mr persistent? */
bool srnic_mr_is_pmem(const struct srnic_mr *mr);

/* Flushes a range to persistence; the caller holds @mr and has checked the range. */
void srnic_mr_persist(const struct srnic_mr *mr, u64 addr, u64 len);

/* The position in a list is unknown */
#define SRNIC_SGL_NOWHERE	(~0ULL)

/**
 * struct srnic_sgl - cursor into a scatter/gather list
 * @keys: key table
 * @pd: protection domain of the list's owner
 * @sge: the list, in kernel memory
 * @num: number of elements in the list
 * @cur: index of the current element
 * @off: bytes already processed in the current element
 * @pos: bytes already processed in the whole list, or SRNIC_SGL_NOWHERE
 * @access: rights required, IB_ACCESS_LOCAL_WRITE or 0
 * @pager: fetches missing on-demand pages
 * @mr: region used last, reference held, or NULL
 * @found: @mr is the region of the current element
 */
struct srnic_sgl {
	struct srnic_keys	*keys;
	const struct ib_pd	*pd;
	const struct srnic_sge	*sge;
	u32			num;
	u32			cur;
	u32			off;
	u64			pos;
	u32			access;
	struct srnic_pager	*pager;
	struct srnic_mr		*mr;
	bool			found;
};

/* @sgl is zero, or has been in use: then it keeps the reference that it holds. */
void srnic_sgl_init(struct srnic_sgl *sgl, struct srnic_keys *keys,
		    const struct ib_pd *pd, const struct srnic_sge *sge,
		    u32 num, u32 access, struct srnic_pager *pager);

/* Drops the reference that @sgl holds. */
void srnic_sgl_put(struct srnic_sgl *sgl);

/* Drops the reference unless it is to the region of the current element. */
void srnic_sgl_trim(struct srnic_sgl *sgl);

/* Sets the position of @sgl to SRNIC_SGL_NOWHERE. */
void srnic_sgl_forget(struct srnic_sgl *sgl);

/*
 * Moves @sgl to byte @pos of the list.  Return: SRNIC_MEM_OK or SRNIC_MEM_LENGTH.
 */
enum srnic_mem_err srnic_sgl_seek(struct srnic_sgl *sgl, u64 pos);

/*
 * Copy @len bytes between a buffer and the list at the position of @sgl.  Each
 * element touched is first checked against its key.  SRNIC_MEM_ABSENT leaves the
 * position unchanged, any other error makes it SRNIC_SGL_NOWHERE.
 */
enum srnic_mem_err srnic_sgl_write(struct srnic_sgl *sgl, const void *src,
				   u32 len);
enum srnic_mem_err srnic_sgl_read(struct srnic_sgl *sgl, void *dst, u32 len);

/*
 * Can the next @len bytes be read without fetching pages?  If so, holds the region of the
 * first of them.
 */
bool srnic_sgl_ready(struct srnic_sgl *sgl, u32 len);

/*
 * Copies from one list to another.  Any error in @src, and on-demand paged memory in
 * it, also yields SRNIC_MEM_ABSENT.  On error the position of @dst is unchanged and
 * that of @src is SRNIC_SGL_NOWHERE.
 */
enum srnic_mem_err srnic_sgl_copy(struct srnic_sgl *dst, struct srnic_sgl *src,
				  u32 len);

/* Copies from a list to a region: errors as srnic_sgl_copy(), see also srnic_mr_write(). */
enum srnic_mem_err srnic_sgl_to_mr(struct srnic_sgl *src, struct srnic_mr *mr,
				   u64 addr, u32 len, u64 rest,
				   struct srnic_pager *pager);

/*
 * Checks the keys and ranges of a whole list without accessing the memory.  @mr: as
 * srnic_mr_get() has @out
 */
enum srnic_mem_err srnic_sgl_check(struct srnic_keys *keys,
				   const struct ib_pd *pd,
				   const struct srnic_sge *sge, u32 num,
				   u32 access, struct srnic_mr **mr);

#endif /* SRNIC_MEM_H */
