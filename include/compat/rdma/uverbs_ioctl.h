/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - wrapper of <rdma/uverbs_ioctl.h>: the current API on older kernels
 */
#ifndef SRNIC_COMPAT_UVERBS_IOCTL_H
#define SRNIC_COMPAT_UVERBS_IOCTL_H

#include_next <rdma/uverbs_ioctl.h>

#ifndef SRNIC_HAVE_CREATE_CQ_ATTRS
/*
 * create_cq() takes udata, not the attribute bundle.  The macro renames declaration,
 * definition and calls; the bare name in the table of operations is the wrapper below.
 */
int srnic_create_cq_attrs(struct ib_cq *ibcq,
			  const struct ib_cq_init_attr *attr,
			  struct uverbs_attr_bundle *attrs);

static inline int srnic_create_cq(struct ib_cq *ibcq,
				  const struct ib_cq_init_attr *attr,
				  struct ib_udata *udata)
{
	return srnic_create_cq_attrs(ibcq, attr, udata ?
				     rdma_udata_to_uverbs_attr_bundle(udata) :
				     NULL);
}

#define srnic_create_cq(ibcq, attr, attrs) \
	srnic_create_cq_attrs(ibcq, attr, attrs)
#endif

#ifndef SRNIC_HAVE_UDATA_HELPERS
#include <linux/minmax.h>
#include <linux/uaccess.h>

static inline int ib_is_udata_in_empty(struct ib_udata *udata)
{
	if (!udata || !udata->inlen)
		return 0;

	return ib_is_udata_cleared(udata, 0, udata->inlen) ? 0 : -EOPNOTSUPP;
}

static inline int srnic_respond_udata(struct ib_udata *udata, const void *src,
				      size_t len)
{
	size_t n = min(len, udata->outlen);

	if (copy_to_user(udata->outbuf, src, n) ||
	    clear_user(udata->outbuf + n, udata->outlen - n))
		return -EFAULT;

	return 0;
}

#define ib_respond_udata(udata, resp) \
	srnic_respond_udata(udata, &(resp), sizeof(resp))

static inline int ib_no_udata_io(struct ib_udata *udata)
{
	int err = ib_is_udata_in_empty(udata);

	if (err || !udata || !udata->outlen)
		return err;

	return clear_user(udata->outbuf, udata->outlen) ? -EFAULT : 0;
}
#endif

#endif /* SRNIC_COMPAT_UVERBS_IOCTL_H */
