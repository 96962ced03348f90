/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - <rdma/uverbs_ioctl.h> of older kernels made to look like today's
 */
#ifndef SRNIC_COMPAT_UVERBS_IOCTL_H
#define SRNIC_COMPAT_UVERBS_IOCTL_H

#include_next <rdma/uverbs_ioctl.h>

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
