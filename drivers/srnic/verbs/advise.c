// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - advise MR: prefetching of on-demand memory
 */
#include <linux/errno.h>

#include "verbs.h"

/* Error codes for a bad list element; see ibv_advise_mr(3) */
static const int advise_errno[] = {
	[SRNIC_MEM_KEY]		= -ENOENT,
	[SRNIC_MEM_PD]		= -EPERM,
	[SRNIC_MEM_ACCESS]	= -EPERM,
	[SRNIC_MEM_RANGE]	= -EFAULT,
	[SRNIC_MEM_OWNER]	= -EINVAL,
	[SRNIC_MEM_STATE]	= -EINVAL,
};

static int advise_how(enum ib_uverbs_advise_mr_advice advice,
		      enum srnic_fetch_how *how)
{
	switch (advice) {
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH:
		*how = SRNIC_FETCH_READ;
		return 0;
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE:
		*how = SRNIC_FETCH_WRITE;
		return 0;
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT:
		*how = SRNIC_FETCH_PRESENT;
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

static int advise_collect(struct srnic_prefetch *fetch, struct ib_pd *ibpd,
			  const struct ib_sge *sge, u32 num)
{
	enum srnic_mem_err err;
	u32 i;

	for (i = 0; i < num; i++) {
		err = srnic_prefetch_add(fetch, &to_dev(ibpd->device)->keys,
					 ibpd, sge[i].lkey, sge[i].addr,
					 sge[i].length);
		if (!err)
			continue;
		ibdev_dbg(ibpd->device, "advise: element %u, %u bytes at %#llx of key %#x: %d\n",
			  i, sge[i].length, sge[i].addr, sge[i].lkey,
			  advise_errno[err]);
		return advise_errno[err];
	}

	return 0;
}

int srnic_advise_mr(struct ib_pd *ibpd, enum ib_uverbs_advise_mr_advice advice,
		    u32 flags, struct ib_sge *sge, u32 num,
		    struct uverbs_attr_bundle *attrs)
{
	struct srnic_prefetch *fetch;
	enum srnic_fetch_how how;
	int err;

	err = advise_how(advice, &how);
	if (err)
		return err;

	fetch = srnic_prefetch_alloc(how, num);
	if (!fetch)
		return -ENOMEM;

	err = advise_collect(fetch, ibpd, sge, num);
	/* If too many prefetches of the user are pending, do this one synchronously. */
	if (!err && !(flags & IB_UVERBS_ADVISE_MR_FLAG_FLUSH) &&
	    srnic_prefetch_queue(fetch, srnic_user_owner(ibpd)))
		return 0;
	if (!err)
		err = srnic_prefetch_now(fetch);
	srnic_prefetch_free(fetch);

	return err;
}
