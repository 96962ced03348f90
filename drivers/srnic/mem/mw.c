// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - memory windows: a region that exposes a part of another
 *
 * A bound window has its own span over the blocks of its parent, so accesses
 * through it are checked and translated like any other.  The parent cannot be
 * deregistered while windows are bound to it.  IBTA volume 1, 10.6.7.
 */
#include <linux/rcupdate.h>

#include "../trace.h"
#include "internal.h"

#define MW_RIGHTS	(IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
			 IB_ACCESS_REMOTE_ATOMIC | SRNIC_ACCESS_FLUSH)

#define MW_TAG		0xffU

/* The consumer chooses the tag; other bits are ignored, as by rdma_rxe and mlx5. */
static u32 mw_new_key(const struct srnic_bind *bind)
{
	return (bind->mw_key & ~MW_TAG) | (bind->new_key & MW_TAG);
}

/* Is @bind permitted for window @mw?  Pure. */
static enum srnic_mem_err mw_check(const struct srnic_mr *mw,
				   const struct srnic_bind *bind)
{
	if (mw->kind != SRNIC_MW_1 && mw->kind != SRNIC_MW_2)
		return SRNIC_MEM_STATE;
	if (mw->pd != bind->pd)
		return SRNIC_MEM_PD;
	/* LOCAL_WRITE is accepted, but grants a peer nothing. */
	if (bind->access & ~(MW_RIGHTS | IB_ZERO_BASED | IB_ACCESS_LOCAL_WRITE))
		return SRNIC_MEM_ACCESS;
	if (mw->kind == SRNIC_MW_1 && bind->access & IB_ZERO_BASED)
		return SRNIC_MEM_ACCESS;
	if (mw->kind == SRNIC_MW_2 && !bind->length)
		return SRNIC_MEM_RANGE;

	return SRNIC_MEM_OK;
}

/* Gets the region to bind to, and counts the window there. */
static enum srnic_mem_err mw_get_parent(struct srnic_keys *keys,
					const struct srnic_bind *bind,
					struct srnic_mr **out)
{
	u32 access = IB_ACCESS_MW_BIND | (bind->access & SRNIC_ACCESS_FLUSH);
	enum srnic_mem_err err;

	if (bind->access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC))
		access |= IB_ACCESS_LOCAL_WRITE;
	err = srnic_mr_get(keys, bind->mr_key, bind->pd, access, bind->addr,
			   bind->length, out);
	if (err)
		return err;
	if ((*out)->kind == SRNIC_MR_PLAIN &&
	    atomic_inc_unless_negative(&(*out)->windows))
		return SRNIC_MEM_OK;

	srnic_mr_release(out);

	return SRNIC_MEM_STATE;
}

/* A bind of a type 1 window implicitly ends its previous binding. */
static enum srnic_mem_err mw_unbind(struct srnic_mr *mw, u32 key,
				    struct srnic_wait *wait)
{
	if (!srnic_mr_hold(mw))
		return SRNIC_MEM_STATE;
	if (mw->key == key)
		return srnic_mr_end(mw, wait);

	srnic_mr_put(mw);

	return SRNIC_MEM_KEY;
}

/* Makes @mw BUSY, after unbinding it if it is a bound type 1 window. */
static enum srnic_mem_err mw_claim(struct srnic_mr *mw,
				   const struct srnic_bind *bind,
				   struct srnic_wait *wait)
{
	enum srnic_mem_err err;

	if (!srnic_mr_move(mw, SRNIC_MR_FREE, SRNIC_MR_BUSY)) {
		if (mw->kind != SRNIC_MW_1)
			return SRNIC_MEM_STATE;
		err = mw_unbind(mw, bind->mw_key, wait);
		if (err)
			return err;
		if (!srnic_mr_move(mw, SRNIC_MR_FREE, SRNIC_MR_BUSY))
			return SRNIC_MEM_STATE;
	}
	/* The current tag of a type 2 window is not checked. */
	if (mw->kind == SRNIC_MW_2 || mw->key == bind->mw_key)
		return SRNIC_MEM_OK;

	srnic_mr_set_state(mw, SRNIC_MR_FREE);

	return SRNIC_MEM_KEY;
}

/* Binds @mw, which the caller has made BUSY, to @parent as described by @bind. */
static void mw_show(struct srnic_mr *mw, const struct srnic_bind *bind,
		    struct srnic_mr *parent)
{
	WRITE_ONCE(mw->key, mw_new_key(bind));	/* read in srnic_mr_hide() */
	mw->access = bind->access & MW_RIGHTS;
	mw->owner = bind->owner;
	mw->parent = parent;
	mw->span = parent->span;
	mw->span.offset += bind->addr - parent->span.iova;
	mw->span.iova = bind->access & IB_ZERO_BASED ? 0 : bind->addr;
	mw->span.length = bind->length;
	trace_srnic_key_bind(mw);
	srnic_mr_make_valid(mw);
}

static enum srnic_mem_err mw_bind_nothing(struct srnic_mr *mw,
					  const struct srnic_bind *bind,
					  struct srnic_wait *wait)
{
	enum srnic_mem_err err = mw_claim(mw, bind, wait);

	if (err)
		return err;

	WRITE_ONCE(mw->key, mw_new_key(bind));	/* read in srnic_mr_hide() */
	srnic_mr_set_state(mw, SRNIC_MR_FREE);

	return SRNIC_MEM_OK;
}

static enum srnic_mem_err mw_bind(struct srnic_keys *keys, struct srnic_mr *mw,
				  const struct srnic_bind *bind,
				  struct srnic_wait *wait)
{
	struct srnic_mr *parent = NULL;
	enum srnic_mem_err err;

	err = mw_check(mw, bind);
	if (err)
		return err;
	if (!bind->length)
		return mw_bind_nothing(mw, bind, wait);

	err = mw_get_parent(keys, bind, &parent);
	if (err)
		return err;
	err = mw_claim(mw, bind, wait);
	if (!err)
		mw_show(mw, bind, parent);
	else
		atomic_dec(&parent->windows);
	srnic_mr_put(parent);

	return err;
}

enum srnic_mem_err srnic_mw_bind(struct srnic_keys *keys,
				 const struct srnic_bind *bind,
				 struct srnic_wait *wait)
{
	enum srnic_mem_err err = SRNIC_MEM_KEY;
	struct srnic_mr *mw;

	rcu_read_lock();
	mw = xa_load(&keys->xa, SRNIC_KEY_INDEX(bind->mw_key));
	if (mw)
		err = mw_bind(keys, mw, bind, wait);
	rcu_read_unlock();

	return err;
}
