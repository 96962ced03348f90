// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - send queue: the only reader of send WQEs
 *
 * An entry is copied when it is fetched; the copy is validated and executed.  User
 * space gets the slot back when the WQE has completed.
 */
#include <linux/nospec.h>
#include <linux/slab.h>

#include "queue.h"
#include "rxe.h"

static u32 sq_space(u32 max_sge, u32 max_inline)
{
	u32 bytes = max_t(u32, max_sge * sizeof(struct srnic_sge), max_inline);

	return round_up(bytes, sizeof(struct srnic_sge));
}

int srnic_sq_init(struct srnic_sq *sq, enum srnic_abi abi, u32 entries,
		  u32 max_sge, u32 max_inline)
{
	u32 head = abi == SRNIC_ABI_RXE ? SRNIC_RXE_SQE_BYTES :
					  sizeof(struct srnic_sqe);
	u32 space = sq_space(max_sge, max_inline);
	int err;

	err = srnic_ring_alloc(&sq->ring, abi, SRNIC_RING_WORK, entries,
			       head + space);
	if (err)
		return err;

	sq->copy_stride = sizeof(struct srnic_swqe) + space;
	sq->copy = kvcalloc(sq->ring.mask + 1, sq->copy_stride,
			    GFP_KERNEL_ACCOUNT);
	if (!sq->copy) {
		srnic_ring_free(&sq->ring);
		return -ENOMEM;
	}
	sq->max_sge = max_sge;
	sq->max_inline = max_inline;
	sq->broken = false;
	sq->head = 0;
	sq->tail = 0;

	return 0;
}

void srnic_sq_destroy(struct srnic_sq *sq)
{
	kvfree(sq->copy);
	srnic_ring_free(&sq->ring);
}

void srnic_sq_reset(struct srnic_sq *sq)
{
	sq->broken = false;
	sq->head = 0;
	sq->tail = 0;
	if (!sq->ring.hdr)
		return;
	WRITE_ONCE(*sq->ring.user, 0);
	WRITE_ONCE(*sq->ring.kern, 0);
}

void srnic_sq_publish(struct srnic_sq *sq)
{
	srnic_ring_pass(&sq->ring, sq->head);
}

u32 srnic_sq_posted(const struct srnic_sq *sq)
{
	return READ_ONCE(*sq->ring.user);	/* written by user space */
}

bool srnic_sq_is_empty(const struct srnic_sq *sq)
{
	return !srnic_ring_ahead(&sq->ring, sq->tail);
}

void srnic_sq_set_polled(struct srnic_sq *sq, bool polled)
{
	WRITE_ONCE(*sq->ring.flags, polled ? SRNIC_RING_POLLED : 0);
	smp_mb();	/* store flags before loading user; pairs with posting */
}

/* QP types that support an operation, indexed by enum ib_wr_opcode */
static const u16 sqe_services[] = {
	[IB_WR_RDMA_WRITE]		= BIT(IB_QPT_RC) | BIT(IB_QPT_UC) |
					  BIT(IB_QPT_XRC_INI),
	[IB_WR_RDMA_WRITE_WITH_IMM]	= BIT(IB_QPT_RC) | BIT(IB_QPT_UC) |
					  BIT(IB_QPT_XRC_INI),
	[IB_WR_SEND]			= BIT(IB_QPT_RC) | BIT(IB_QPT_UC) |
					  BIT(IB_QPT_UD) | BIT(IB_QPT_GSI) |
					  BIT(IB_QPT_RAW_PACKET) |
					  BIT(IB_QPT_XRC_INI),
	[IB_WR_SEND_WITH_IMM]		= BIT(IB_QPT_RC) | BIT(IB_QPT_UC) |
					  BIT(IB_QPT_UD) | BIT(IB_QPT_GSI) |
					  BIT(IB_QPT_XRC_INI),
	[IB_WR_RDMA_READ]		= BIT(IB_QPT_RC) | BIT(IB_QPT_XRC_INI),
	[IB_WR_ATOMIC_CMP_AND_SWP]	= BIT(IB_QPT_RC) | BIT(IB_QPT_XRC_INI),
	[IB_WR_ATOMIC_FETCH_AND_ADD]	= BIT(IB_QPT_RC) | BIT(IB_QPT_XRC_INI),
	[IB_WR_LOCAL_INV]		= BIT(IB_QPT_RC) | BIT(IB_QPT_UC) |
					  BIT(IB_QPT_XRC_INI),
	[IB_WR_BIND_MW]			= BIT(IB_QPT_RC) | BIT(IB_QPT_UC) |
					  BIT(IB_QPT_XRC_INI),
	[IB_WR_SEND_WITH_INV]		= BIT(IB_QPT_RC) | BIT(IB_QPT_XRC_INI),
	[IB_WR_MASKED_ATOMIC_CMP_AND_SWP]	= BIT(IB_QPT_RC),
	[IB_WR_MASKED_ATOMIC_FETCH_AND_ADD]	= BIT(IB_QPT_RC),
	[IB_WR_FLUSH]			= BIT(IB_QPT_RC),
	[IB_WR_ATOMIC_WRITE]		= BIT(IB_QPT_RC),
	[IB_WR_REG_MR]			= BIT(IB_QPT_RC) | BIT(IB_QPT_UC) |
					  BIT(IB_QPT_XRC_INI),
};

static_assert(IB_QPT_XRC_INI < 16);

/* Restrictions on the data of an entry */
enum {
	SQE_NO_INLINE	= 1 << 0,
	SQE_NO_DATA	= 1 << 1,
	SQE_8_BYTES	= 1 << 2,
	SQE_KERNEL	= 1 << 3,	/* in-kernel consumers only */
};

static const u8 sqe_shapes[ARRAY_SIZE(sqe_services)] = {
	[IB_WR_RDMA_READ]		= SQE_NO_INLINE,
	[IB_WR_ATOMIC_CMP_AND_SWP]	= SQE_NO_INLINE | SQE_8_BYTES,
	[IB_WR_ATOMIC_FETCH_AND_ADD]	= SQE_NO_INLINE | SQE_8_BYTES,
	[IB_WR_LOCAL_INV]		= SQE_NO_INLINE | SQE_NO_DATA,
	[IB_WR_BIND_MW]			= SQE_NO_INLINE | SQE_NO_DATA,
	[IB_WR_MASKED_ATOMIC_CMP_AND_SWP]	= SQE_NO_INLINE | SQE_8_BYTES |
						  SQE_KERNEL,
	[IB_WR_MASKED_ATOMIC_FETCH_AND_ADD]	= SQE_NO_INLINE | SQE_8_BYTES |
						  SQE_KERNEL,
	[IB_WR_FLUSH]			= SQE_NO_INLINE | SQE_NO_DATA,
	[IB_WR_ATOMIC_WRITE]		= SQE_8_BYTES,
	[IB_WR_REG_MR]			= SQE_NO_INLINE | SQE_NO_DATA |
					  SQE_KERNEL,
};

/* Is @length valid for an entry of this @shape? */
static bool sqe_length_ok(u8 shape, u64 length)
{
	if (shape & SQE_NO_DATA)
		return !length;
	if (shape & SQE_8_BYTES)
		return length == sizeof(u64);

	return length <= SRNIC_MAX_MSG;
}

enum ib_wc_status srnic_swqe_check(const struct srnic_swqe *wqe,
				   enum ib_qp_type type, u32 max_sge,
				   u32 max_inline, bool trusted)
{
	const struct srnic_sqe *sqe = &wqe->sqe;
	u64 length = 0;
	u8 opcode, shape;
	u32 i;

	opcode = array_index_nospec(sqe->opcode, ARRAY_SIZE(sqe_services));
	if (sqe->opcode >= ARRAY_SIZE(sqe_services) ||
	    !(sqe_services[opcode] & BIT(type)))
		return IB_WC_LOC_QP_OP_ERR;
	shape = sqe_shapes[opcode];
	if (shape & SQE_KERNEL && !trusted)
		return IB_WC_LOC_QP_OP_ERR;

	if (sqe->flags & IB_SEND_INLINE) {
		if (sqe->inline_len > max_inline || sqe->num_sge ||
		    shape & SQE_NO_INLINE)
			return IB_WC_LOC_QP_OP_ERR;
		length = sqe->inline_len;
	} else {
		if (sqe->num_sge > max_sge)
			return IB_WC_LOC_QP_OP_ERR;
		for (i = 0; i < sqe->num_sge; i++)
			length += wqe->sge[i].length;
	}

	return sqe_length_ok(shape, length) ? IB_WC_SUCCESS : IB_WC_LOC_LEN_ERR;
}

/* Only the wr_id and the flags of a refused entry are used afterwards. */
static void swqe_refuse(struct srnic_swqe *wqe)
{
	wqe->length = 0;
	wqe->sqe.num_sge = 0;
	wqe->sqe.inline_len = 0;
}

/* Message length in bytes of a WQE that passed srnic_swqe_check(). */
static u32 swqe_length(const struct srnic_swqe *wqe)
{
	u32 length = 0;
	u32 i;

	if (wqe->sqe.flags & IB_SEND_INLINE)
		return wqe->sqe.inline_len;
	for (i = 0; i < wqe->sqe.num_sge; i++)
		length += wqe->sge[i].length;

	return length;
}

/* Copies the entry.  Return: the SGEs or inline data behind it, not yet read. */
static const void *swqe_copy_head(struct srnic_swqe *wqe,
				  const struct srnic_sqe *slot)
{
	memcpy(&wqe->sqe, slot, sizeof(wqe->sqe));
	barrier();	/* keeps the compiler from reading the slot again */

	return slot + 1;
}

/* Copies the entry and the SGEs or inline data behind it, up to the maximum. */
static void swqe_copy(const struct srnic_sq *sq, struct srnic_swqe *wqe,
		      const void *slot)
{
	const void *data;
	u32 bytes;

	data = sq->ring.abi == SRNIC_ABI_RXE ?
	       srnic_rxe_copy_sqe(wqe, slot) : swqe_copy_head(wqe, slot);
	if (wqe->sqe.flags & IB_SEND_INLINE)
		bytes = min(wqe->sqe.inline_len, sq->max_inline);
	else
		bytes = min_t(u32, wqe->sqe.num_sge, sq->max_sge) *
			sizeof(struct srnic_sge);
	memcpy(wqe->sge, data, bytes);
	barrier();
}

/* Is there an entry to fetch?  A user index behind the fetched entries is invalid, too. */
static bool sq_ready(struct srnic_sq *sq)
{
	u32 fetched = sq->tail - sq->head;
	u32 posted;

	if (!sq->ring.hdr || sq->broken)
		return false;

	posted = srnic_ring_ahead(&sq->ring, sq->head);
	sq->broken = posted < fetched || posted > sq->ring.room;

	return !sq->broken && posted > fetched;
}

struct srnic_swqe *srnic_sq_fetch(struct srnic_sq *sq, enum ib_qp_type type)
{
	struct srnic_swqe *wqe = srnic_sq_wqe(sq, sq->tail);

	if (!sq_ready(sq))
		return NULL;

	swqe_copy(sq, wqe, srnic_ring_entry(&sq->ring, sq->tail));
	wqe->status = srnic_swqe_check(wqe, type, sq->max_sge, sq->max_inline,
				       sq->trusted);
	if (wqe->status == IB_WC_SUCCESS)
		wqe->length = swqe_length(wqe);
	else
		swqe_refuse(wqe);
	wqe->sqe.opcode = array_index_nospec(wqe->sqe.opcode,
					     ARRAY_SIZE(sqe_services));
	wqe->started = false;
	wqe->done = false;
	sq->tail++;

	return wqe;
}
