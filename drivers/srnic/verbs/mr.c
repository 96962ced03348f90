// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - registration of memory
 *
 * A region never changes while it is published: registering again makes a new
 * region with a new key, which takes the pages over if they stay the same.
 */
#include <linux/overflow.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>

#include "verbs.h"

#define MR_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC | \
			 IB_ZERO_BASED | IB_ACCESS_HUGETLB |		   \
			 IB_ACCESS_OPTIONAL)

static struct srnic_mr *to_mr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct srnic_mr, ibmr);
}

static struct srnic_mr *mr_alloc(struct ib_pd *ibpd, int access)
{
	struct srnic_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);

	if (!mr)
		return NULL;

	mr->ibmr.device = ibpd->device;
	mr->ibmr.pd = ibpd;
	mr->pd = ibpd;
	mr->access = access;

	return mr;
}

/* Frees a region that is not published (any more). */
static void mr_free(struct srnic_mr *mr)
{
	if (mr->umem)
		ib_umem_release(mr->umem);
	kvfree(mr->block);
	kfree_rcu(mr, rcu);
}

static int mr_publish(struct srnic_mr *mr)
{
	int err = srnic_mr_publish(&to_dev(mr->ibmr.device)->keys, mr);

	if (err)
		return err;

	mr->ibmr.lkey = mr->key;
	mr->ibmr.rkey = mr->key;

	return 0;
}

struct ib_mr *srnic_get_dma_mr(struct ib_pd *ibpd, int access)
{
	struct srnic_mr *mr;
	int err;

	mr = mr_alloc(ibpd, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);

	mr->dma = true;
	mr->length = U64_MAX;

	err = mr_publish(mr);
	if (err) {
		mr_free(mr);
		return ERR_PTR(err);
	}

	return &mr->ibmr;
}

/* Sets the range of @mr and pins what is behind it. */
static int mr_pin(struct srnic_mr *mr, u64 start, u64 length, u64 iova)
{
	u64 end;

	if (check_add_overflow(iova, length, &end) ||
	    check_add_overflow(start, length, &end))
		return -EINVAL;

	mr->iova = iova;
	mr->length = length;
	mr->ibmr.iova = iova;
	mr->ibmr.length = length;

	/* A region of no bytes has a key, but no pages. */
	if (!length)
		return 0;

	mr->umem = ib_umem_get_va(mr->ibmr.device, start, length, mr->access);
	if (IS_ERR(mr->umem)) {
		int err = PTR_ERR(mr->umem);

		mr->umem = NULL;
		return err;
	}

	return srnic_mr_map_umem(mr);
}

static int mr_check_access(struct ib_pd *ibpd, int access)
{
	if (access & ~MR_ACCESS) {
		ibdev_dbg(ibpd->device, "MR: access %#x not supported\n",
			  access & ~MR_ACCESS);
		return -EOPNOTSUPP;
	}

	return 0;
}

struct ib_mr *srnic_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length,
				u64 iova, int access, struct ib_dmah *dmah,
				struct ib_udata *udata)
{
	struct srnic_mr *mr;
	int err;

	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);

	err = mr_check_access(ibpd, access);
	if (err)
		return ERR_PTR(err);

	err = ib_no_udata_io(udata);
	if (err)
		return ERR_PTR(err);

	mr = mr_alloc(ibpd, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);

	err = mr_pin(mr, start, length, iova);
	if (!err)
		err = mr_publish(mr);
	if (err) {
		ibdev_dbg(ibpd->device, "MR: %llu bytes at %#llx as %#llx: %d\n",
			  length, start, iova, err);
		mr_free(mr);
		return ERR_PTR(err);
	}

	return &mr->ibmr;
}

/* A second face of the pages of @old, which must not outlive it as it is. */
static void mr_borrow_pages(struct srnic_mr *mr, const struct srnic_mr *old)
{
	mr->iova = old->iova;
	mr->length = old->length;
	mr->ibmr.iova = old->iova;
	mr->ibmr.length = old->length;
	mr->offset = old->offset;
	mr->shift = old->shift;
	mr->block = old->block;
	mr->umem = old->umem;
}

static void mr_forget_pages(struct srnic_mr *mr)
{
	mr->block = NULL;
	mr->umem = NULL;
}

struct ib_mr *srnic_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start,
				  u64 length, u64 iova, int access,
				  struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct srnic_mr *old = to_mr(ibmr);
	struct srnic_mr *mr;
	int err;

	if (!(flags & IB_MR_REREG_ACCESS))
		access = old->access;
	if (flags & IB_MR_REREG_TRANS)
		return srnic_reg_user_mr(ibpd, start, length, iova, access,
					 NULL, udata);

	err = ib_umem_check_rereg(old->umem, flags, access);
	if (err)
		return ERR_PTR(err);
	err = mr_check_access(ibpd, access);
	if (err)
		return ERR_PTR(err);
	err = ib_no_udata_io(udata);
	if (err)
		return ERR_PTR(err);

	mr = mr_alloc(ibpd, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);

	mr_borrow_pages(mr, old);
	err = mr_publish(mr);
	if (err) {
		mr_forget_pages(mr);
		mr_free(mr);
		return ERR_PTR(err);
	}

	/* The core deregisters @old when we return; the pages stay here. */
	srnic_mr_hide(&to_dev(ibpd->device)->keys, old);
	mr_forget_pages(old);

	return &mr->ibmr;
}

int srnic_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct srnic_mr *mr = to_mr(ibmr);

	srnic_mr_hide(&to_dev(ibmr->device)->keys, mr);
	mr_free(mr);

	return 0;
}
