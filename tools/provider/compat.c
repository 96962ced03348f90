// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic provider - detects the struct layout of the libibverbs that has loaded it
 *
 * ibv_qp_to_qp_ex() tests comp_mask of struct verbs_qp and thereby reveals its offset.
 * The provider is built from the headers with the largest ibv_qp_ex of this private ABI,
 * so every layout fits into ours.  In a smaller layout, the members that follow
 * ibv_qp_ex overlap our last callbacks, which are then left unused.
 */
#define _GNU_SOURCE
#include <config.h>

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <ccan/array_size.h>

#include "compat.h"

/*
 * struct verbs_context_ops, too, has grown in the middle within one private ABI.  The
 * release that did so also added the public function MARKER: a libibverbs that exports
 * it has at least MARKER_OPS operations.
 */
#if IBVERBS_PABI_VERSION == 34
#define MARKER		"ibv_query_qp_data_in_order"	/* rdma-core 36 */
#define MARKER_OPS	76
#elif IBVERBS_PABI_VERSION == 59
#define MARKER		"ibv_query_port_speed"		/* rdma-core 62 */
#define MARKER_OPS	81
#endif

#ifdef MARKER
#define OPS_NUM		(sizeof(struct verbs_context_ops) / sizeof(void *))

static bool ops_fit(void)
{
	return (OPS_NUM >= MARKER_OPS) == !!dlsym(RTLD_DEFAULT, MARKER);
}
#else
static bool ops_fit(void)
{
	return true;
}
#endif

/* Possible offsets of comp_mask, by release; the last is that of our headers */
static const size_t mask_places[] = {
	offsetof(struct ibv_qp_ex, wr_atomic_write),	/* up to rdma-core 43 */
	offsetof(struct ibv_qp_ex, wr_flush),		/* rdma-core 44 */
	offsetof(struct verbs_qp, comp_mask),
};

/* Detected offset of comp_mask, 0 if unknown */
static size_t mask_at;

static uint32_t *mask_of(struct verbs_qp *vqp, size_t place)
{
	return (void *)((char *)vqp + place);
}

/* Padded, as struct verbs_qp of the loaded libibverbs may be larger than ours */
union any_qp {
	struct verbs_qp	vqp;
	char		room[2 * sizeof(struct verbs_qp)];
};

static bool mask_is_at(size_t place)
{
	union any_qp qp;

	memset(&qp, 0, sizeof(qp));
	*mask_of(&qp.vqp, place) = VERBS_QP_EX;

	return ibv_qp_to_qp_ex(&qp.vqp.qp);
}

bool srnic_compat_init(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(mask_places); i++)
		if (mask_is_at(mask_places[i]))
			mask_at = mask_places[i];
	if (mask_at && ops_fit())
		return true;

	fprintf(stderr,
		"libsrnic: not used: built for another version of rdma-core\n");

	return false;
}

void srnic_qp_set_ex(struct verbs_qp *vqp)
{
	*mask_of(vqp, mask_at) |= VERBS_QP_EX;
}

uint64_t srnic_qp_ex_ops(void)
{
	uint64_t ops = ~(uint64_t)0;

	if (mask_at <= offsetof(struct ibv_qp_ex, wr_flush))
		ops &= ~(uint64_t)IBV_QP_EX_WITH_FLUSH;
	if (mask_at <= offsetof(struct ibv_qp_ex, wr_atomic_write))
		ops &= ~(uint64_t)IBV_QP_EX_WITH_ATOMIC_WRITE;

	return ops;
}
