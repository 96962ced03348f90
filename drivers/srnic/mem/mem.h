/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - memory: keys in, bytes out
 *
 * A key names a region; a region is a flat array of equal power-of-two blocks
 * of kernel-addressable memory.  Nothing here knows packets, opcodes or queue
 * pairs; what is wrong with an access is told in enum srnic_mem_err.
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

enum srnic_mem_err {
	SRNIC_MEM_OK,
	SRNIC_MEM_KEY,		/* no such key */
	SRNIC_MEM_PD,		/* key of another protection domain */
	SRNIC_MEM_ACCESS,	/* right not granted */
	SRNIC_MEM_RANGE,	/* outside the region */
	SRNIC_MEM_LENGTH,	/* a list of SGEs is shorter than the data */
	SRNIC_MEM_OWNER,	/* window of another owner */
	SRNIC_MEM_STATE,	/* not one that allows it, or no such operation */
	SRNIC_MEM_BUSY,		/* not yet: told when it can be */
	SRNIC_MEM_ALIGN,	/* a word that is not aligned where it is */
	SRNIC_MEM_ABSENT,	/* being fetched: the pager tells when to try again */
	SRNIC_MEM_FAULT,	/* on demand: there is no memory, or not for that */
};

/**
 * srnic_table_is_empty() - has @xa no entry?
 * @xa: where nothing is added any more
 *
 * Not xa_empty(): when memory ends while an xarray grows, nodes without an entry stay
 * in it, which xa_destroy() frees.
 */
static inline bool srnic_table_is_empty(struct xarray *xa)
{
	unsigned long index = 0;

	return !xa_find(xa, &index, ULONG_MAX, XA_PRESENT);
}

/* Rights that a peer's FLUSH needs, as far as the core lets them be granted */
#define SRNIC_ACCESS_FLUSH	((IB_ACCESS_FLUSH_GLOBAL |	\
				  IB_ACCESS_FLUSH_PERSISTENT) &	\
				 IB_ACCESS_SUPPORTED)

/* A key is an index (upper 24 bits) and a tag (lower 8 bits), both random. */
#define SRNIC_KEY_INDEX(key)	((key) >> 8)

/**
 * struct srnic_keys - the key table of one device
 * @xa: index to struct srnic_mr; readers use RCU
 * @num: keys in it
 */
struct srnic_keys {
	struct xarray	xa;
	atomic_t	num;
};

/* What a key stands for */
enum srnic_mr_kind {
	SRNIC_MR_PLAIN,		/* registered by a verb, valid until the end */
	SRNIC_MR_FAST,		/* registered by a work request */
	SRNIC_MW_1,		/* window, type 1 */
	SRNIC_MW_2,		/* window, type 2: of the owner that bound it */
};

/*
 * Life of a key.  Who moves it to BUSY has it alone; it becomes FREE when the
 * last user of what it named is gone.
 */
enum srnic_mr_state {
	SRNIC_MR_FREE,
	SRNIC_MR_BUSY,
	SRNIC_MR_VALID,
	SRNIC_MR_DEAD,
};

/**
 * struct srnic_wait - who wants to know that a key is out of use
 * @wake: called once; the context is that of the last user, softirq perhaps
 */
struct srnic_wait {
	void	(*wake)(struct srnic_wait *wait);
};

/**
 * struct srnic_span - a range of addresses and the memory behind it
 * @iova: first address as the key's users name it
 * @length: bytes
 * @offset: bytes from the start of block 0 to @iova
 * @shift: log2 of the block size
 * @block: kernel address of each block
 * @odp: an address space, paged on demand, instead of blocks: block 0 starts
 *	 at its address 0
 */
struct srnic_span {
	u64			iova;
	u64			length;
	u64			offset;
	u8			shift;
	void			**block;
	struct srnic_odp	*odp;
};

/**
 * struct srnic_mr - memory region, or a window, which is a region whose pages
 *		     are those of another
 * @key: lkey and rkey
 * @kind: enum srnic_mr_kind
 * @state: enum srnic_mr_state
 * @access: IB_ACCESS_* bits
 * @pd: protection domain
 * @owner: windows of type 2: who bound it, as srnic_mr_get_remote() is told
 * @span: what it names; a window borrows the blocks of @parent
 * @next: fast registration: blocks that the next one will show
 * @num_blocks: fast registration: how many these are
 * @max_blocks: fast registration: room for blocks
 * @dma: the region is all of kernel memory, addresses are kernel addresses
 * @parent: region that a bound window shows
 * @windows: windows bound to this region, negative: no more may be
 * @umem: pinned user memory, or NULL
 * @dmabuf: shared buffer that the memory belongs to, or NULL
 * @refs: one for being valid, one per user
 * @wait: told when @refs is down to 0; of who made the key BUSY
 * @rcu: a lookup may still look at the memory of a dead region
 *
 * All but @windows, @state and @refs is written while @state is BUSY or the
 * region is not published, and constant while it is valid, so that holders of
 * a reference need no lock.
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
	u32			num_blocks;
	u32			max_blocks;
	bool			dma;
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
 * Gives @mr a key and makes it visible; a plain region is valid at once, other
 * kinds are free.  May sleep.  0, -ENOMEM or -ENOSPC.
 */
int srnic_mr_publish(struct srnic_keys *keys, struct srnic_mr *mr);

/* Hides @mr and waits until its last user has put it.  May sleep. */
void srnic_mr_hide(struct srnic_keys *keys, struct srnic_mr *mr);

/*
 * Gives @mr the key of @old and waits until the last user of that has put it:
 * the key names one or the other at any time.  May sleep.
 */
void srnic_mr_replace(struct srnic_keys *keys, struct srnic_mr *old,
		      struct srnic_mr *mr);

/* True: no window is bound to @mr, and none will be until it is unsealed. */
bool srnic_mr_seal(struct srnic_mr *mr);
void srnic_mr_unseal(struct srnic_mr *mr);

/*
 * Fills @span from @umem, which is @iova to the key's users; huge pages stay
 * huge.  May sleep.  0, -EINVAL or -ENOMEM.
 */
int srnic_mr_map_umem(struct srnic_mr *mr, u64 iova);

/*
 * Fills @span from kernel memory that is contiguous.  May sleep.
 * 0 or -ENOMEM.
 */
int srnic_mr_map_flat(struct srnic_mr *mr, void *start, u64 length, u64 iova);

/*
 * Fills @span from the bytes at @offset of the shared buffer @fd, which stay
 * mapped as long as the region lives.  May sleep.  0 or errno.
 */
int srnic_mr_map_dmabuf(struct srnic_mr *mr, int fd, u64 offset, u64 length,
			u64 iova);

/**
 * struct srnic_payer - whom objects are counted for
 * @uid: a user of the host; INVALID_UID with @userns
 * @userns: all users of a user namespace together, or NULL
 */
struct srnic_payer {
	kuid_t			uid;
	struct user_namespace	*userns;
};

/*
 * The lanes of @payer, which bound its page fetches on all devices of the host:
 * always the same as long as somebody holds them, be it a fetch.  Where lanes are
 * an argument, NULL stands for the kernel's.  May sleep.  NULL: no memory.
 */
struct srnic_lanes *srnic_lanes_of(const struct srnic_payer *payer);
const struct srnic_payer *srnic_lanes_payer(const struct srnic_lanes *lanes);

/* Takes a reference.  Context: any. */
struct srnic_lanes *srnic_lanes_get(struct srnic_lanes *lanes);
/* NULL is fine.  Context: process. */
void srnic_lanes_put(struct srnic_lanes *lanes);

/*
 * Fills @span from the caller's address space, of which nothing is pinned: an
 * access fetches what it needs, by @lanes.  May sleep.  0 or -ENOMEM.
 */
int srnic_mr_map_odp(struct srnic_mr *mr, struct srnic_lanes *lanes, u64 start,
		     u64 length, u64 iova);

/* Makes room for @max blocks in @mr, a fast region.  May sleep. */
int srnic_fast_alloc(struct srnic_mr *mr, u32 max);

/* Begins a new list of blocks of @size bytes, a power of two. */
void srnic_fast_begin(struct srnic_mr *mr, u32 size);

/* Adds the block at kernel address @addr to that list; 0 or -ENOMEM. */
int srnic_fast_add(struct srnic_mr *mr, u64 addr);

/**
 * struct srnic_fast - what a fast region is to show
 * @pd: protection domain of who asks
 * @key: its key from now on; the index is its own, the tag the consumer's
 * @access: rights
 * @iova: first address as the key's users name it; its place in a block is
 *	  that of the first byte
 * @length: bytes
 */
struct srnic_fast {
	const struct ib_pd	*pd;
	u32			key;
	u32			access;
	u64			iova;
	u64			length;
};

/* Shows the list of blocks by a key that is free.  Context: any. */
enum srnic_mem_err srnic_fast_register(struct srnic_keys *keys,
				       const struct srnic_fast *fast);

/* Lets go of the memory behind @mr, which is hidden.  May sleep. */
void srnic_mr_unmap(struct srnic_mr *mr);

/*
 * Looks @key up and checks that [addr, addr + len) may be accessed with all
 * rights in @access (IB_ACCESS_* bits, 0 for local read).
 * Context: any.  On SRNIC_MEM_OK *@out holds a reference.
 */
enum srnic_mem_err srnic_mr_get(struct srnic_keys *keys, u32 key,
				const struct ib_pd *pd, u32 access,
				u64 addr, u64 len, struct srnic_mr **out);
void srnic_mr_put(struct srnic_mr *mr);

/* The same for a peer, whose keys may be windows; @owner is who it talks to. */
enum srnic_mem_err srnic_mr_get_remote(struct srnic_keys *keys, u32 key,
				       const struct ib_pd *pd, u64 owner,
				       u32 access, u64 addr, u64 len,
				       struct srnic_mr **out);

/* The same for all that @key names, whatever that is. */
enum srnic_mem_err srnic_mr_get_whole(struct srnic_keys *keys, u32 key,
				      const struct ib_pd *pd, u64 owner,
				      u32 access, struct srnic_mr **out);

/**
 * struct srnic_bind - what a window is to show
 * @pd: protection domain of who asks
 * @owner: who asks, never 0
 * @mw_key: key of the window; the tag counts for type 1 only
 * @new_key: its key after that, of which the tag is the consumer's choice
 * @mr_key: key of the region
 * @addr: first byte, as @mr_key's users name it
 * @length: bytes; 0 unbinds a window of type 1
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
 * Binds a window.  SRNIC_MEM_BUSY: what it showed before is still in use; ask
 * again when @wait is told.  Context: any.
 */
enum srnic_mem_err srnic_mw_bind(struct srnic_keys *keys,
				 const struct srnic_bind *bind,
				 struct srnic_wait *wait);

/*
 * Takes the meaning from @key, a window of type 2 or a fast region: no access
 * by it begins from now on.  SRNIC_MEM_BUSY: it is done, but accesses that
 * began before go on until @wait is told.  Context: any.
 */
enum srnic_mem_err srnic_mr_invalidate(struct srnic_keys *keys, u32 key,
				       const struct ib_pd *pd, u64 owner,
				       struct srnic_wait *wait);

/**
 * struct srnic_mr_info - a region at one moment
 * @kind: a word for what it is
 * @state: a word for what can be done with its key
 * @access: IB_ACCESS_* bits
 * @shift: log2 of the size of a block
 * @blocks: how many there are; 0: no key names them now, or no list has them
 * @windows: windows bound to it
 * @users: of its key at this moment
 */
struct srnic_mr_info {
	const char	*kind;
	const char	*state;
	u32		access;
	u32		shift;
	u64		blocks;
	u32		windows;
	u32		users;
};

/* How @mr is; each word by itself, if it changes meanwhile.  Context: any. */
void srnic_mr_look(const struct srnic_mr *mr, struct srnic_mr_info *info);

/* Is [addr, addr + len) inside @mr?  For a region already held. */
bool srnic_mr_covers(const struct srnic_mr *mr, u64 addr, u64 len);

struct lane;

/**
 * struct srnic_job - work that a worker does for a user
 * @work: of the workqueue
 * @list: of jobs that wait for a worker, else empty
 * @lane: that it was queued in
 * @fn: does it, in process context
 */
struct srnic_job {
	struct work_struct	work;
	struct list_head	list;
	struct lane		*lane;
	void			(*fn)(struct srnic_job *job);
};

struct srnic_pager;

/**
 * struct srnic_pager_ops - the owner of a pager
 * @begin: it goes to work: what it needs of its owner must stay
 * @end: it is done and does not need its owner any more.  Context: process
 */
struct srnic_pager_ops {
	void	(*begin)(struct srnic_pager *pager);
	void	(*end)(struct srnic_pager *pager);
};

/**
 * struct srnic_pager - fetches pages for one who cannot wait for them
 * @job: does so, in process context
 * @ops: of the owner
 * @owner: the owner's
 * @busy: it is at work; what follows is its own then, but for @id
 * @odp: where the pages belong; reference held while @busy
 * @id: number of @odp, 0: nobody wants to know how it ends
 * @va: address of the page that is missed
 * @num: pages that will be missed next, with this one
 * @write: they are to be written to
 * @failed: the page cannot be had
 *
 * Nobody waits for the end of its work but that of the module: a page may be
 * as slow as the user wants it to be.  Work that has not begun can be cancelled.
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

/* Is there no point in trying again yet? */
static inline bool srnic_pager_busy(const struct srnic_pager *pager)
{
	return smp_load_acquire(&pager->busy);	/* pairs with pager_end() */
}

/*
 * What was missed is not of interest any more: its answer is not told to who asks
 * for the same later.  The caller owns the task that asks.
 */
void srnic_pager_forget(struct srnic_pager *pager);
/*
 * What was missed is not of interest any more, and a fetch that has not begun
 * never does.  The caller owns the task that asks.  May sleep, and end() may be
 * called.
 */
void srnic_pager_cancel(struct srnic_pager *pager);

/*
 * Copy @len bytes; the caller holds @mr and has checked the range.  @rest is
 * how many will follow from @addr on, these included.  Either all is done, or
 * the same must be tried again (SRNIC_MEM_ABSENT), or SRNIC_MEM_FAULT.
 */
enum srnic_mem_err srnic_mr_write(struct srnic_mr *mr, u64 addr,
				  const void *src, u64 len, u64 rest,
				  struct srnic_pager *pager);
enum srnic_mem_err srnic_mr_read(struct srnic_mr *mr, u64 addr, void *dst,
				 u64 len, u64 rest, struct srnic_pager *pager);

/* What is done to eight bytes of a region at once; may not sleep. */
typedef u64 (*srnic_word_fn)(void *word, const void *arg);

/*
 * Calls @fn for the eight bytes at @addr, and *@result is what it returns.  The
 * caller holds @mr and has checked the range.
 */
enum srnic_mem_err srnic_mr_word(struct srnic_mr *mr, u64 addr,
				 srnic_word_fn fn, const void *arg,
				 u64 *result, struct srnic_pager *pager);

/* How pages are fetched ahead of their use */
enum srnic_fetch_how {
	SRNIC_FETCH_READ,
	SRNIC_FETCH_WRITE,
	SRNIC_FETCH_PRESENT,	/* those that the process has */
};

/* Ranges to be fetched.  Makes it with room for @max.  NULL: no memory. */
struct srnic_fetch *srnic_fetch_alloc(enum srnic_fetch_how how, u32 max);
void srnic_fetch_free(struct srnic_fetch *fetch);

/* Adds a range of a region; SRNIC_MEM_STATE: not of one paged on demand. */
enum srnic_mem_err srnic_fetch_add(struct srnic_fetch *fetch,
				   struct srnic_keys *keys,
				   const struct ib_pd *pd, u32 key, u64 addr,
				   u64 len);

/* Fetches all and returns 0 or errno.  The caller frees @fetch. */
int srnic_fetch_now(struct srnic_fetch *fetch);

/*
 * Fetches what can be had, later, by @lanes, and frees @fetch.  Of very much it may
 * be a part.  False: too many are pending, and @fetch is left to the caller.
 */
bool srnic_fetch_queue(struct srnic_fetch *fetch, struct srnic_lanes *lanes);

int srnic_mem_init(void);
void srnic_mem_exit(void);

/* Is all of the memory behind @mr persistent? */
bool srnic_mr_is_pmem(const struct srnic_mr *mr);

/* Makes a range persistent; the caller holds @mr and has checked the range. */
void srnic_mr_persist(const struct srnic_mr *mr, u64 addr, u64 len);

/* No place in a list */
#define SRNIC_SGL_NOWHERE	(~0ULL)

/**
 * struct srnic_sgl - a place in a list of scatter/gather elements
 * @keys: key table
 * @pd: protection domain of the list's owner
 * @sge: the list, kernel memory
 * @num: elements in the list
 * @cur: current element
 * @off: bytes of it that are done
 * @pos: bytes of the list that are done, SRNIC_SGL_NOWHERE: not known
 * @access: rights needed, IB_ACCESS_LOCAL_WRITE or 0
 * @pager: of the list's owner
 * @mr: region of the current element, reference held, or NULL
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
};

void srnic_sgl_init(struct srnic_sgl *sgl, struct srnic_keys *keys,
		    const struct ib_pd *pd, const struct srnic_sge *sge,
		    u32 num, u32 access, struct srnic_pager *pager);

/* Drops the reference that @sgl holds. */
void srnic_sgl_put(struct srnic_sgl *sgl);

/* The same, and @sgl stands nowhere from now on. */
void srnic_sgl_forget(struct srnic_sgl *sgl);

/*
 * Moves @sgl to byte @pos of the list.  SRNIC_MEM_OK or SRNIC_MEM_LENGTH.
 */
enum srnic_mem_err srnic_sgl_seek(struct srnic_sgl *sgl, u64 pos);

/*
 * Copies @len bytes between the list, from where it stands, and a buffer.
 * Every element touched is checked against its key first.  With
 * SRNIC_MEM_ABSENT the list stands where it stood.
 */
enum srnic_mem_err srnic_sgl_write(struct srnic_sgl *sgl, const void *src,
				   u32 len);
enum srnic_mem_err srnic_sgl_read(struct srnic_sgl *sgl, void *dst, u32 len);

/*
 * The same from the place of one list to that of another.  SRNIC_MEM_ABSENT also
 * when something is wrong with @src, or it is paged on demand.  With any error
 * @dst stands where it stood, and @src nowhere.
 */
enum srnic_mem_err srnic_sgl_copy(struct srnic_sgl *dst, struct srnic_sgl *src,
				  u32 len);

/* The same to a region; see srnic_mr_write(). */
enum srnic_mem_err srnic_sgl_to_mr(struct srnic_sgl *src, struct srnic_mr *mr,
				   u64 addr, u32 len, u64 rest,
				   struct srnic_pager *pager);

/* Checks the keys and ranges of a whole list without touching the memory. */
enum srnic_mem_err srnic_sgl_check(struct srnic_keys *keys,
				   const struct ib_pd *pd,
				   const struct srnic_sge *sge, u32 num,
				   u32 access);

#endif /* SRNIC_MEM_H */
