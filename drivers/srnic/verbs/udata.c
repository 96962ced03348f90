// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - udata: input of commands, and responses to create and resize, in either user ABI
 *
 * A response says where to map the rings of a new object.
 */
#include <linux/uaccess.h>
#include <rdma/rdma_user_rxe.h>

#include "verbs.h"

int srnic_udata_copy(void *cmd, struct ib_udata *udata, size_t len)
{
	if (udata->inlen < len)
		return -EINVAL;
	if (udata->inlen > len &&
	    !ib_is_udata_cleared(udata, len, udata->inlen - len))
		return -EOPNOTSUPP;

	return ib_copy_from_udata(cmd, udata, len);
}

/* librxe uses the response without checking its size, so it must not be truncated. */
static int udata_check(const struct ib_udata *udata, size_t len)
{
	return udata->outlen < len ? -EINVAL : 0;
}

static struct mminfo udata_mminfo(const struct srnic_map *map)
{
	return (struct mminfo) {
		.offset	= map->offset,
		.size	= map->length,
	};
}

/* Also the response to a resize of the CQ */
int srnic_udata_respond_cq(struct ib_udata *udata, enum srnic_abi abi,
			   const struct srnic_map *ring)
{
	struct rxe_create_cq_resp rxe = { .mi = udata_mminfo(ring) };
	struct srnic_create_cq_resp own = { .ring = *ring };

	if (abi == SRNIC_ABI_RXE)
		return udata_check(udata, sizeof(rxe)) ?:
		       ib_respond_udata(udata, rxe);

	return ib_respond_udata(udata, own);
}

int srnic_udata_respond_qp(struct ib_udata *udata, enum srnic_abi abi,
			   const struct srnic_map *sq, const struct srnic_map *rq)
{
	struct rxe_create_qp_resp rxe = {
		.rq_mi	= udata_mminfo(rq),
		.sq_mi	= udata_mminfo(sq),
	};
	struct srnic_create_qp_resp own = {
		.sq	= *sq,
		.rq	= *rq,
	};

	if (abi == SRNIC_ABI_RXE)
		return udata_check(udata, sizeof(rxe)) ?:
		       ib_respond_udata(udata, rxe);

	return ib_respond_udata(udata, own);
}

int srnic_udata_respond_srq(struct ib_udata *udata, enum srnic_abi abi,
			    const struct srnic_map *ring, u32 srqn)
{
	struct rxe_create_srq_resp rxe = {
		.mi		= udata_mminfo(ring),
		.srq_num	= srqn,
	};
	struct srnic_create_srq_resp own = {
		.ring	= *ring,
		.srqn	= srqn,
	};

	if (abi == SRNIC_ABI_RXE)
		return udata_check(udata, sizeof(rxe)) ?:
		       ib_respond_udata(udata, rxe);

	return ib_respond_udata(udata, own);
}

/*
 * Modify SRQ has no response, so librxe passes the address of a struct mminfo in the
 * command.  Our own provider finds the new ring through the old one.
 */
int srnic_udata_respond_srq_resize(struct ib_udata *udata, enum srnic_abi abi,
				   const struct srnic_map *ring)
{
	struct mminfo mi = udata_mminfo(ring);
	struct rxe_modify_srq_cmd cmd;
	int err;

	if (abi == SRNIC_ABI_OWN)
		return 0;
	if (udata->inlen < sizeof(cmd))
		return -EINVAL;

	err = ib_copy_from_udata(&cmd, udata, sizeof(cmd));
	if (err)
		return err;

	return copy_to_user(u64_to_user_ptr(cmd.mmap_info_addr), &mi,
			    sizeof(mi)) ? -EFAULT : 0;
}

/* Create AH has one response for both ABIs, create and resize CQ have one per ABI. */
static_assert(sizeof(struct rxe_create_ah_resp) ==
	      sizeof(struct srnic_create_ah_resp) &&
	      offsetof(struct rxe_create_ah_resp, ah_num) ==
	      offsetof(struct srnic_create_ah_resp, ah));
static_assert(sizeof(struct rxe_create_cq_resp) ==
	      sizeof(struct rxe_resize_cq_resp));
static_assert(sizeof(struct srnic_create_cq_resp) ==
	      sizeof(struct srnic_resize_cq_resp));
