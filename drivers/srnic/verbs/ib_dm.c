// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - device memory: kernel pages that a user maps and registers
 *
 * A software device has no memory of its own; the amount that can be allocated is limited,
 * as on a NIC.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "verbs.h"

#define UVERBS_MODULE_NAME srnic
#include <rdma/uverbs_named_ioctl.h>

static int dm_expose(struct srnic_dm *dm, struct ib_ucontext *ibuc,
		     struct uverbs_attr_bundle *attrs)
{
	struct srnic_map out;
	int err;

	dm->map = srnic_mmap_expose(ibuc, dm->start, dm->size, &out);
	if (IS_ERR(dm->map))
		return PTR_ERR(dm->map);

	err = uverbs_copy_to(attrs, SRNIC_ATTR_ALLOC_DM_MAP, &out, sizeof(out));
	if (err)
		srnic_mmap_hide(dm->map);

	return err;
}

struct ib_dm *srnic_alloc_dm(struct ib_device *ibdev, struct ib_ucontext *ibuc,
			     struct ib_dm_alloc_attr *attr,
			     struct uverbs_attr_bundle *attrs)
{
	struct srnic_dev *dev = to_dev(ibdev);
	struct srnic_dm *dm;
	int err;

	if (!attr->length || attr->length > SRNIC_MAX_DM ||
	    attr->alignment > PAGE_SHIFT) {
		ibdev_dbg(ibdev, "DM: %llu bytes, alignment 2^%u: at most %lu, 2^%u\n",
			  attr->length, attr->alignment, SRNIC_MAX_DM,
			  PAGE_SHIFT);
		return ERR_PTR(-EINVAL);
	}

	dm = kzalloc(sizeof(*dm), GFP_KERNEL_ACCOUNT);
	if (!dm)
		return ERR_PTR(-ENOMEM);

	dm->size = PAGE_ALIGN(attr->length);
	dm->user = to_uc(ibuc)->user;
	err = srnic_quota_take(dev, dm->user, SRNIC_Q_DM, dm->size);
	if (err)
		goto err_free;
	err = -ENOMEM;
	dm->start = __vmalloc(dm->size, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!dm->start)
		goto err_quota;
	err = dm_expose(dm, ibuc, attrs);
	if (err)
		goto err_memory;

	return &dm->ibdm;

err_memory:
	vfree(dm->start);
err_quota:
	srnic_quota_give(dev, dm->user, SRNIC_Q_DM, dm->size);
err_free:
	kfree(dm);
	return ERR_PTR(err);
}

int srnic_dealloc_dm(struct ib_dm *ibdm, struct uverbs_attr_bundle *attrs)
{
	struct srnic_dm *dm = to_dm(ibdm);

	srnic_mmap_hide(dm->map);
	vfree(dm->start);
	srnic_quota_give(to_dev(ibdm->device), dm->user, SRNIC_Q_DM, dm->size);
	kfree(dm);

	return 0;
}

/* Lets another user space context on the same device file map the memory. */
static int UVERBS_HANDLER(SRNIC_METHOD_DM_QUERY)(struct uverbs_attr_bundle *attrs)
{
	struct ib_dm *ibdm = uverbs_attr_get_obj(attrs,
						 SRNIC_ATTR_QUERY_DM_HANDLE);
	const struct srnic_dm *dm = to_dm(ibdm);
	struct srnic_query_dm_resp resp = {
		.map.offset	= rdma_user_mmap_get_offset(&dm->map->entry),
		.map.length	= dm->size,
		.length		= ibdm->length,
	};

	return uverbs_copy_to(attrs, SRNIC_ATTR_QUERY_DM_RESP, &resp,
			      sizeof(resp));
}

DECLARE_UVERBS_NAMED_METHOD(SRNIC_METHOD_DM_QUERY,
			    UVERBS_ATTR_IDR(SRNIC_ATTR_QUERY_DM_HANDLE,
					    UVERBS_OBJECT_DM,
					    UVERBS_ACCESS_READ,
					    UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(SRNIC_ATTR_QUERY_DM_RESP,
						UVERBS_ATTR_TYPE(struct srnic_query_dm_resp),
						UA_MANDATORY));

ADD_UVERBS_METHODS(srnic_dm_methods, UVERBS_OBJECT_DM,
		   &UVERBS_METHOD(SRNIC_METHOD_DM_QUERY));

ADD_UVERBS_ATTRIBUTES_SIMPLE(srnic_dm_alloc, UVERBS_OBJECT_DM,
			     UVERBS_METHOD_DM_ALLOC,
			     UVERBS_ATTR_PTR_OUT(SRNIC_ATTR_ALLOC_DM_MAP,
						 UVERBS_ATTR_TYPE(struct srnic_map),
						 UA_MANDATORY));

const struct uapi_definition srnic_dm_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DM, &srnic_dm_alloc),
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DM, &srnic_dm_methods),
	{}
};
