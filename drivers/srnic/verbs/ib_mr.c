// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - memory registration
 *
 * A region never changes while it is published: reregistration creates a new
 * region.  If the translation stays the same, it takes over the pages and the key.
 */
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>

#include "verbs.h"

#define MR_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC | \
			 IB_ACCESS_MW_BIND | IB_ZERO_BASED |		   \
			 SRNIC_ACCESS_FLUSH |				   \
			 IB_ACCESS_HUGETLB | IB_ACCESS_OPTIONAL)

/* Start and length of an implicit region: the whole address space, on demand */
#define MR_IMPLICIT_START	0
#define MR_IMPLICIT_LENGTH	U64_MAX

static struct srnic_keys *mr_keys(const struct srnic_ibmr *mr)
{
	return &to_dev(mr->ibmr.device)->keys;
}

/* Publishes @mr and charges the key to its user. */
static int mr_take_key(struct srnic_ibmr *mr)
{
	struct srnic_dev *dev = to_dev(mr->ibmr.device);
	int err;

	mr->user = srnic_user_of(mr->ibmr.pd);
	err = srnic_quota_take(dev, mr->user, SRNIC_Q_KEY, 1);
	if (err)
		return err;
	err = srnic_mr_publish(&dev->keys, &mr->mr);
	if (err)
		srnic_quota_give(dev, mr->user, SRNIC_Q_KEY, 1);

	return err;
}

/* Publishes @mr and hides @old, whose charge @mr takes over. */
static int mr_swap_key(struct srnic_ibmr *mr, struct srnic_ibmr *old)
{
	int err;

	mr->user = old->user;
	err = srnic_mr_publish(mr_keys(mr), &mr->mr);
	if (!err)
		srnic_mr_hide(mr_keys(old), &old->mr);

	return err;
}

/* Releases the key and its charge, unless another region has taken them over. */
static void mr_give_key(struct srnic_ibmr *mr)
{
	struct srnic_dev *dev = to_dev(mr->ibmr.device);

	if (!mr->mr.key)
		return;

	srnic_mr_hide(&dev->keys, &mr->mr);
	srnic_quota_give(dev, mr->user, SRNIC_Q_KEY, 1);
}

static struct srnic_ibmr *mr_alloc(struct ib_pd *ibpd, int access)
{
	struct srnic_ibmr *mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);

	if (!mr)
		return NULL;

	mr->ibmr.device = ibpd->device;
	mr->ibmr.pd = ibpd;
	mr->mr.pd = ibpd;
	mr->mr.access = access;
	mr->asked = access;

	return mr;
}

/* Frees a region that is not, or no longer, published. */
static void mr_free(struct srnic_ibmr *mr)
{
	srnic_mr_unmap(&mr->mr);
	kfree_rcu(mr, mr.rcu);
}

/* Only persistent memory may be registered with FLUSH_PERSISTENT. */
static int mr_check_pmem(const struct srnic_mr *mr)
{
	if (mr->access & IB_ACCESS_FLUSH_PERSISTENT && !srnic_mr_is_pmem(mr))
		return -EINVAL;

	return 0;
}

/* Copies the published attributes to the core's struct ib_mr. */
static void mr_set_attr(struct srnic_ibmr *mr)
{
	mr->ibmr.lkey = mr->mr.key;
	mr->ibmr.rkey = mr->mr.key;
	mr->ibmr.iova = mr->mr.span.iova;
	mr->ibmr.length = mr->mr.span.length;
}

/*
 * Publishes @mr, in place of @old if that is not NULL, unless @err says that its memory could
 * not be mapped.  Frees @mr if it is not published.
 */
static struct ib_mr *mr_publish(struct srnic_ibmr *mr, struct srnic_ibmr *old, int err)
{
	if (!err)
		err = mr_check_pmem(&mr->mr);
	if (!err)
		err = old ? mr_swap_key(mr, old) : mr_take_key(mr);
	if (err) {
		mr_free(mr);
		return ERR_PTR(err);
	}

	mr_set_attr(mr);

	return &mr->ibmr;
}

struct ib_mr *srnic_get_dma_mr(struct ib_pd *ibpd, int access)
{
	struct srnic_ibmr *mr = mr_alloc(ibpd, access);

	if (!mr)
		return ERR_PTR(-ENOMEM);

	mr->mr.dma = true;
	mr->mr.span.length = U64_MAX;

	return mr_publish(mr, NULL, 0);
}

/* Sets the range of on-demand region @mr without pinning memory. */
static int mr_page(struct srnic_mr *mr, struct srnic_owner *owner, u64 start,
		   u64 length, u64 iova)
{
	if (start == MR_IMPLICIT_START && length == MR_IMPLICIT_LENGTH &&
	    (iova || mr->access & IB_ACCESS_HUGETLB))
		return -EINVAL;

	return srnic_mr_map_odp(mr, owner, start, length, iova);
}

/* Does this exceed what the caller may pin?  The rule is that of ib_umem_get(). */
static bool mr_exceeds_memlock(u64 start, u64 length)
{
	u64 pages = (PAGE_ALIGN(start + length) - ALIGN_DOWN(start, PAGE_SIZE)) >>
		    PAGE_SHIFT;

	return !can_do_mlock() ||
	       (atomic64_read(&current->mm->pinned_vm) + pages >
		rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT && !capable(CAP_IPC_LOCK));
}

/* May @ibmr, whose memory cannot be pinned because of @err, be paged on demand? */
static bool mr_may_page(const struct srnic_ibmr *ibmr, u64 start, u64 length, int err)
{
	const struct srnic_dev *dev = to_dev(ibmr->ibmr.device);

	/* The core refuses with -EPERM if nothing at all may be locked. */
	return READ_ONCE(dev->odp_fallback) && (err == -ENOMEM || err == -EPERM) &&
	       !(ibmr->mr.access & IB_ACCESS_FLUSH_PERSISTENT) &&
	       mr_exceeds_memlock(start, length);
}

/* Pins the memory of @mr. */
static int mr_pin(struct srnic_ibmr *ibmr, u64 start, u64 length, u64 iova)
{
	struct srnic_mr *mr = &ibmr->mr;
	struct ib_umem *umem;

	umem = ib_umem_get_va(ibmr->ibmr.device, start, length, mr->access);
	if (IS_ERR(umem))
		return PTR_ERR(umem);

	mr->umem = umem;

	return srnic_mr_map_umem(mr, iova);
}

/* Sets the range of @ibmr and pins its memory, unless it is on-demand paged. */
static int mr_place(struct srnic_ibmr *ibmr, u64 start, u64 length, u64 iova)
{
	struct srnic_mr *mr = &ibmr->mr;
	u64 end;
	int err;

	if (mr->access & IB_ZERO_BASED)
		iova = 0;
	if (check_add_overflow(iova, length, &end) ||
	    check_add_overflow(start, length, &end))
		return -EINVAL;

	if (mr->access & IB_ACCESS_ON_DEMAND)
		return mr_page(mr, srnic_user_owner(ibmr->ibmr.pd), start,
			       length, iova);

	/* A zero-length region has a key, but no pages. */
	mr->span.iova = iova;
	if (!length)
		return 0;

	err = mr_pin(ibmr, start, length, iova);
	if (mr->umem || !mr_may_page(ibmr, start, length, err))
		return err;

	mr->access |= IB_ACCESS_ON_DEMAND;

	return mr_page(mr, srnic_user_owner(ibmr->ibmr.pd), start, length, iova);
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

/* Checks @access to process memory, which may also be on-demand paged. */
static int mr_check_user_access(struct ib_pd *ibpd, int access)
{
	if (access & IB_ACCESS_ON_DEMAND &&
	    access & IB_ACCESS_FLUSH_PERSISTENT) {
		ibdev_dbg(ibpd->device, "MR: on-demand paged memory is not persistent\n");
		return -EOPNOTSUPP;
	}

	return mr_check_access(ibpd, access & ~IB_ACCESS_ON_DEMAND);
}

/* Registers process memory, in place of @old if that is not NULL. */
static struct ib_mr *mr_register(struct ib_pd *ibpd, u64 start, u64 length,
				 u64 iova, int access, struct srnic_ibmr *old,
				 struct ib_udata *udata)
{
	struct srnic_ibmr *mr;
	struct ib_mr *ibmr;
	int err;

	err = mr_check_user_access(ibpd, access);
	if (err)
		return ERR_PTR(err);

	err = ib_no_udata_io(udata);
	if (err)
		return ERR_PTR(err);

	mr = mr_alloc(ibpd, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);

	ibmr = mr_publish(mr, old, mr_place(mr, start, length, iova));
	if (IS_ERR(ibmr))
		ibdev_dbg(ibpd->device, "MR: %llu bytes at %#llx as %#llx: %pe\n",
			  length, start, iova, ibmr);

	return ibmr;
}

/* Does @udata, which is not empty, request a null region? */
static int mr_check_null(struct ib_udata *udata)
{
	struct srnic_reg_mr cmd;
	int err;

	err = srnic_udata_copy(&cmd, udata, sizeof(cmd));
	if (err)
		return err;

	return cmd.flags != SRNIC_REG_MR_NULL || cmd.rsvd ? -EOPNOTSUPP : 0;
}

static struct ib_mr *mr_register_null(struct ib_pd *ibpd)
{
	struct srnic_ibmr *mr = mr_alloc(ibpd, IB_ACCESS_LOCAL_WRITE);
	struct ib_mr *ibmr;

	if (!mr)
		return ERR_PTR(-ENOMEM);

	mr->mr.null = true;
	mr->mr.span.length = U64_MAX;
	ibmr = mr_publish(mr, NULL, 0);
	if (!IS_ERR(ibmr))
		ibmr->rkey = 0;

	return ibmr;
}

struct ib_mr *srnic_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length,
				u64 iova, int access, struct ib_dmah *dmah,
				struct ib_udata *udata)
{
	int err;

	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);
	if (to_dev(ibpd->device)->abi == SRNIC_ABI_OWN && ib_is_udata_in_empty(udata)) {
		err = mr_check_null(udata);
		if (!err && (start || length || iova || access))
			err = -EINVAL;
		return err ? ERR_PTR(err) : mr_register_null(ibpd);
	}

	return mr_register(ibpd, start, length, iova, access, NULL, udata);
}

struct ib_mr *srnic_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset,
				       u64 length, u64 iova, int fd, int access,
				       struct ib_dmah *dmah,
				       struct uverbs_attr_bundle *attrs)
{
	struct srnic_ibmr *mr;
	struct ib_mr *ibmr;
	u64 end;

	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);
	if (check_add_overflow(iova, length, &end))
		return ERR_PTR(-EINVAL);

	mr = mr_alloc(ibpd, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);

	ibmr = mr_publish(mr, NULL, srnic_mr_map_dmabuf(&mr->mr, fd, offset, length, iova));
	if (IS_ERR(ibmr))
		ibdev_dbg(ibpd->device, "MR: %llu bytes at %#llx of dma-buf %d: %pe\n",
			  length, offset, fd, ibmr);

	return ibmr;
}

/* The core has checked the range, and that the region is zero-based. */
struct ib_mr *srnic_reg_dm_mr(struct ib_pd *ibpd, struct ib_dm *ibdm,
			      struct ib_dm_mr_attr *attr,
			      struct uverbs_attr_bundle *attrs)
{
	struct srnic_dm *dm = to_dm(ibdm);
	struct srnic_ibmr *mr;
	int err;

	err = mr_check_access(ibpd, attr->access_flags);
	if (err)
		return ERR_PTR(err);

	mr = mr_alloc(ibpd, attr->access_flags);
	if (!mr)
		return ERR_PTR(-ENOMEM);

	err = srnic_mr_map_flat(&mr->mr, dm->start + attr->offset, attr->length, 0);

	return mr_publish(mr, NULL, err);
}

struct ib_mr *srnic_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type,
			     u32 max_num_sg)
{
	struct srnic_ibmr *mr;

	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_num_sg || max_num_sg > SRNIC_MAX_FAST_PAGES)
		return ERR_PTR(-EINVAL);

	mr = mr_alloc(ibpd, 0);
	if (!mr)
		return ERR_PTR(-ENOMEM);

	mr->mr.kind = SRNIC_MR_FAST;

	return mr_publish(mr, NULL, srnic_fast_alloc(&mr->mr, max_num_sg));
}

static int mr_add_page(struct ib_mr *ibmr, u64 addr)
{
	return srnic_fast_add(&to_mr(ibmr)->mr, addr);
}

int srnic_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents,
		    unsigned int *offset)
{
	if (to_mr(ibmr)->mr.pi)
		return -EINVAL;

	srnic_fast_begin(&to_mr(ibmr)->mr, ibmr->page_size);

	return ib_sg_to_pages(ibmr, sg, nents, offset, mr_add_page);
}

struct ib_mr *srnic_alloc_mr_integrity(struct ib_pd *ibpd, u32 max_num_sg, u32 max_num_meta_sg)
{
	struct srnic_ibmr *mr;

	if (!SRNIC_HAVE_INTEGRITY)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_num_sg || max_num_sg > SRNIC_MAX_FAST_PAGES ||
	    max_num_meta_sg > SRNIC_MAX_FAST_PAGES)
		return ERR_PTR(-EINVAL);

	mr = mr_alloc(ibpd, 0);
	if (!mr)
		return ERR_PTR(-ENOMEM);

	mr->mr.kind = SRNIC_MR_FAST;

	return mr_publish(mr, NULL, srnic_pi_alloc(&mr->mr, max_num_sg, max_num_meta_sg));
}

/* Adds the entries of @sg, from byte *@offset of the first one on.  Return: their bytes */
static int mr_add_list(struct srnic_mr *mr, int (*add)(struct srnic_mr *mr, u64 addr, u32 len),
		       struct scatterlist *sg, int nents, const unsigned int *offset, u64 *bytes)
{
	unsigned int skip = offset ? *offset : 0;
	int i, err;

	*bytes = 0;
	for (i = 0; i < nents; i++, sg = sg_next(sg), skip = 0) {
		u32 len = sg_dma_len(sg);

		if (skip > len)
			return -EINVAL;
		err = add(mr, sg_dma_address(sg) + skip, len - skip);
		if (err)
			return err;
		*bytes += len - skip;
	}

	return 0;
}

/* Entries may begin and end anywhere: the lists are of pieces, not of pages. */
int srnic_map_mr_sg_pi(struct ib_mr *ibmr, struct scatterlist *data_sg, int data_sg_nents,
		       unsigned int *data_sg_offset, struct scatterlist *meta_sg,
		       int meta_sg_nents, unsigned int *meta_sg_offset)
{
	struct srnic_mr *mr = &to_mr(ibmr)->mr;
	u64 data, meta;
	int err;

	srnic_pi_begin(mr);
	err = mr_add_list(mr, srnic_pi_add_data, data_sg, data_sg_nents, data_sg_offset, &data);
	if (err)
		return err;
	err = mr_add_list(mr, srnic_pi_add_tuples, meta_sg, meta_sg_nents, meta_sg_offset, &meta);
	if (err)
		return err;

	ibmr->iova = 0;
	ibmr->length = data + meta;
	ibmr->sig_attrs->meta_length = meta;

	return 0;
}

int srnic_check_mr_status(struct ib_mr *ibmr, u32 check_mask, struct ib_mr_status *status)
{
	struct srnic_mr *mr = &to_mr(ibmr)->mr;

	if (!mr->pi || check_mask & ~IB_MR_CHECK_SIG_STATUS)
		return -EINVAL;

	status->fail_status = 0;
	if (check_mask && srnic_pi_take_error(mr, &status->sig_err))
		status->fail_status = IB_MR_CHECK_SIG_STATUS;

	return 0;
}

/* Replaces @old by a region with new rights and PD over the same pages. */
static struct srnic_ibmr *mr_replace(struct srnic_ibmr *old, int access,
				     struct ib_pd *ibpd)
{
	struct srnic_ibmr *mr = mr_alloc(ibpd, access);
	int err;

	if (!mr)
		return ERR_PTR(-ENOMEM);

	mr->mr.span = old->mr.span;
	mr->mr.umem = old->mr.umem;
	err = mr_check_pmem(&mr->mr);
	if (err) {
		kfree(mr);
		return ERR_PTR(err);
	}

	/* The core deregisters @old when we return; @mr keeps the pages. */
	mr->user = old->user;
	srnic_mr_replace(mr_keys(old), &old->mr, &mr->mr);
	mr_set_attr(mr);
	old->mr.span.block = NULL;
	old->mr.span.odp = NULL;
	old->mr.umem = NULL;

	return mr;
}

/* Can @mr be reregistered with rights @access over the same pages? */
static int mr_check_keep(const struct srnic_mr *mr, int flags, int access)
{
	if (!mr->umem && !mr->span.odp)
		return -EOPNOTSUPP;
	if ((mr->access ^ access) & IB_ACCESS_ON_DEMAND)
		return -EOPNOTSUPP;

	return mr->umem ? ib_umem_check_rereg(mr->umem, flags, access) : 0;
}

static struct ib_mr *mr_rereg(struct srnic_ibmr *old, int flags, u64 start,
			      u64 length, u64 iova, int access,
			      struct ib_pd *ibpd, struct ib_udata *udata)
{
	int asked = access;
	struct srnic_ibmr *mr;
	int err;

	if (flags & IB_MR_REREG_TRANS)
		return mr_register(ibpd, start, length, iova, access, old,
				   udata);

	/* Pages that were paged on demand stay so, even if the caller did not request it. */
	access |= (old->asked ^ old->mr.access) & IB_ACCESS_ON_DEMAND;
	err = mr_check_keep(&old->mr, flags, access);
	if (err)
		return ERR_PTR(err);
	err = mr_check_user_access(ibpd, access);
	if (err)
		return ERR_PTR(err);
	err = ib_no_udata_io(udata);
	if (err)
		return ERR_PTR(err);

	mr = mr_replace(old, access, ibpd);
	if (IS_ERR(mr))
		return ERR_CAST(mr);

	mr->asked = asked;

	return &mr->ibmr;
}

struct ib_mr *srnic_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start,
				  u64 length, u64 iova, int access,
				  struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct srnic_ibmr *old = to_mr(ibmr);
	struct ib_mr *mr;

	if (!srnic_mr_seal(&old->mr))
		return ERR_PTR(-EBUSY);

	if (!(flags & IB_MR_REREG_ACCESS))
		access = old->asked;
	mr = mr_rereg(old, flags, start, length, iova, access, ibpd, udata);
	/* On success, the core deregisters @old next. */
	if (IS_ERR(mr))
		srnic_mr_unseal(&old->mr);

	return mr;
}

int srnic_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct srnic_ibmr *mr = to_mr(ibmr);

	if (!srnic_mr_seal(&mr->mr))
		return -EBUSY;

	mr_give_key(mr);
	mr_free(mr);

	return 0;
}
