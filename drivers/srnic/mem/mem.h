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

#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/types.h>
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
};

/* A key is an index (upper 24 bits) and a random tag (lower 8 bits). */
#define SRNIC_KEY_INDEX(key)	((key) >> 8)

/**
 * struct srnic_keys - the key table of one device
 * @xa: index to struct srnic_mr; readers use RCU
 * @next: where the search for a free index goes on
 */
struct srnic_keys {
	struct xarray	xa;
	u32		next;
};

/**
 * struct srnic_mr - memory region
 * @ibmr: face to the RDMA core
 * @key: lkey and rkey
 * @access: IB_ACCESS_* bits
 * @pd: protection domain
 * @iova: first address as the key's users name it
 * @length: bytes
 * @offset: bytes from the start of block 0 to @iova
 * @shift: log2 of the block size
 * @dma: the region is all of kernel memory, addresses are kernel addresses
 * @block: kernel address of each block; kvmalloc'ed
 * @umem: pinned user memory, or NULL
 * @refs: one for being published, one per user
 * @idle: completed when @refs is down to 0
 * @rcu: a lookup may still look at the memory of a dead region
 *
 * Written before it is published and constant until it is hidden again, so
 * that holders of a reference need no lock.
 */
struct srnic_mr {
	struct ib_mr		ibmr;
	u32			key;
	u32			access;
	const struct ib_pd	*pd;
	u64			iova;
	u64			length;
	u64			offset;
	u8			shift;
	bool			dma;
	void			**block;
	struct ib_umem		*umem;
	refcount_t		refs;
	struct completion	idle;
	struct rcu_head		rcu;
};

void srnic_keys_init(struct srnic_keys *keys);
void srnic_keys_destroy(struct srnic_keys *keys);

/* Gives @mr a key and makes it visible.  May sleep.  0, -ENOMEM or -ENOSPC. */
int srnic_mr_publish(struct srnic_keys *keys, struct srnic_mr *mr);

/* Hides @mr and waits until its last user has put it.  May sleep. */
void srnic_mr_hide(struct srnic_keys *keys, struct srnic_mr *mr);

/*
 * Fills @block, @shift and @offset from @umem; huge pages stay huge.
 * May sleep.  0 or -ENOMEM.
 */
int srnic_mr_map_umem(struct srnic_mr *mr);

/*
 * Looks @key up and checks that [addr, addr + len) may be accessed with all
 * rights in @access (IB_ACCESS_* bits, 0 for local read).
 * Context: any.  On SRNIC_MEM_OK *@out holds a reference.
 */
enum srnic_mem_err srnic_mr_get(struct srnic_keys *keys, u32 key,
				const struct ib_pd *pd, u32 access,
				u64 addr, u64 len, struct srnic_mr **out);
void srnic_mr_put(struct srnic_mr *mr);

/* Is [addr, addr + len) inside @mr?  For a region already held. */
bool srnic_mr_covers(const struct srnic_mr *mr, u64 addr, u64 len);

/*
 * Kernel address of @addr; *@len is reduced to what is contiguous there.
 * The caller has checked the range.
 */
void *srnic_mr_addr(const struct srnic_mr *mr, u64 addr, u64 *len);

/* Copies; the caller holds @mr and has checked the range. */
void srnic_mr_write(struct srnic_mr *mr, u64 addr, const void *src, u64 len);
void srnic_mr_read(struct srnic_mr *mr, u64 addr, void *dst, u64 len);

/**
 * struct srnic_sgl - a place in a list of scatter/gather elements
 * @keys: key table
 * @pd: protection domain of the list's owner
 * @sge: the list, kernel memory
 * @num: elements in the list
 * @cur: current element
 * @off: bytes of it that are done
 * @access: rights needed, IB_ACCESS_LOCAL_WRITE or 0
 * @mr: region of the current element, reference held, or NULL
 */
struct srnic_sgl {
	struct srnic_keys	*keys;
	const struct ib_pd	*pd;
	const struct srnic_sge	*sge;
	u32			num;
	u32			cur;
	u32			off;
	u32			access;
	struct srnic_mr		*mr;
};

void srnic_sgl_init(struct srnic_sgl *sgl, struct srnic_keys *keys,
		    const struct ib_pd *pd, const struct srnic_sge *sge,
		    u32 num, u32 access);

/* Drops the reference that @sgl holds. */
void srnic_sgl_put(struct srnic_sgl *sgl);

/*
 * Moves @sgl to byte @pos of the list.  SRNIC_MEM_OK or SRNIC_MEM_LENGTH.
 */
enum srnic_mem_err srnic_sgl_seek(struct srnic_sgl *sgl, u64 pos);

/*
 * Copies @len bytes between the list, from where it stands, and a buffer.
 * Every element touched is checked against its key first.
 */
enum srnic_mem_err srnic_sgl_write(struct srnic_sgl *sgl, const void *src,
				   u32 len);
enum srnic_mem_err srnic_sgl_read(struct srnic_sgl *sgl, void *dst, u32 len);

/* Checks the keys and ranges of a whole list without touching the memory. */
enum srnic_mem_err srnic_sgl_check(struct srnic_keys *keys,
				   const struct ib_pd *pd,
				   const struct srnic_sge *sge, u32 num,
				   u32 access);

#endif /* SRNIC_MEM_H */
