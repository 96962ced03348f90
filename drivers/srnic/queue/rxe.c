// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - entries in the user ABI of rdma_rxe
 *
 * An entry of that ABI includes working state of rdma_rxe: PSNs, a cursor, an address
 * vector.  None of it is read here.  The rest is copied once and converted to an entry of
 * our own ABI, which is then validated like any other.
 */
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "rxe.h"

/* Flags that are used; the field of our own ABI is too narrow for the others. */
#define SQE_FLAGS	(IB_SEND_FENCE | IB_SEND_SIGNALED | \
			 IB_SEND_SOLICITED | IB_SEND_INLINE)

/* wr.ud up to the address vector; kernel 5.15 has only the first three in its header. */
struct sqe_ud {
	u32	qpn;
	u32	qkey;
	u16	pkey_index;
	u16	reserved;
	u32	ah;
	u32	pad[4];
};

/* wr.flush, which <rdma/rdma_user_rxe.h> lacks in kernel 6.1; @length is not set. */
struct sqe_flush {
	u64	remote_addr;
	u32	length;
	u32	rkey;
	u8	type;
	u8	level;
};

/* Bytes of a work request in front of the address vector */
#define SQE_WR_BYTES	(offsetof(struct rxe_send_wr, wr) + sizeof(struct sqe_ud))

/**
 * struct sqe_copy - the parts of a send WQE that are read
 * @wr: the work request; no address vector
 * @dma: number of SGEs and length
 */
struct sqe_copy {
	struct rxe_send_wr	wr;
	struct rxe_dma_info	dma;
};

static void sqe_bare(struct srnic_sqe *sqe, const struct rxe_send_wr *wr)
{
	struct sqe_ud ud;

	memcpy(&ud, &wr->wr, sizeof(ud));
	sqe->ud.ah = ud.ah;
	sqe->ud.qpn = ud.qpn;
	sqe->ud.qkey = ud.qkey;
}

static void sqe_rdma(struct srnic_sqe *sqe, const struct rxe_send_wr *wr)
{
	sqe->remote_addr = wr->wr.rdma.remote_addr;
	sqe->rkey = wr->wr.rdma.rkey;
}

static void sqe_atomic(struct srnic_sqe *sqe, const struct rxe_send_wr *wr)
{
	sqe->remote_addr = wr->wr.atomic.remote_addr;
	sqe->rkey = wr->wr.atomic.rkey;
	sqe->atomic.compare_add = wr->wr.atomic.compare_add;
	sqe->atomic.swap = wr->wr.atomic.swap;
}

static void sqe_bind(struct srnic_sqe *sqe, const struct rxe_send_wr *wr)
{
	sqe->bind.addr = wr->wr.mw.addr;
	sqe->bind.length = wr->wr.mw.length;
	sqe->bind.mr_lkey = wr->wr.mw.mr_lkey;
	sqe->bind.mw_rkey = wr->wr.mw.mw_rkey;
	sqe->bind.new_rkey = wr->wr.mw.rkey;
	sqe->bind.access = wr->wr.mw.access;
}

static void sqe_flush(struct srnic_sqe *sqe, const struct sqe_copy *copy)
{
	struct sqe_flush flush;

	memcpy(&flush, &copy->wr.wr, sizeof(flush));
	sqe->remote_addr = flush.remote_addr;
	sqe->rkey = flush.rkey;
	sqe->flush.length = copy->dma.length;
	sqe->flush.type = flush.type;
	sqe->flush.level = flush.level;
	/* The length is that of the range; there is no data. */
	sqe->num_sge = 0;
	sqe->inline_len = 0;
	sqe->flags &= ~IB_SEND_INLINE;
}

/*
 * Data without SGEs is inline: ibv_wr_set_inline_data() and ibv_wr_atomic_write() set no
 * flag.  ibv_post_send() counts the SGEs that the inline data came from.
 */
static void sqe_data(struct srnic_sqe *sqe, const struct rxe_dma_info *dma)
{
	if (!dma->num_sge && dma->length)
		sqe->flags |= IB_SEND_INLINE;
	if (sqe->flags & IB_SEND_INLINE)
		sqe->inline_len = dma->length;
	else
		sqe->num_sge = min_t(u32, dma->num_sge, U16_MAX);
}

static void sqe_convert(struct srnic_sqe *sqe, const struct sqe_copy *copy)
{
	*sqe = (struct srnic_sqe) {
		.wr_id		= copy->wr.wr_id,
		.opcode		= min_t(u32, copy->wr.opcode, U8_MAX),
		.flags		= copy->wr.send_flags & SQE_FLAGS,
		.imm_data	= copy->wr.ex.imm_data,
	};
	sqe_data(sqe, &copy->dma);

	switch (copy->wr.opcode) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
	case IB_WR_RDMA_READ:
	case IB_WR_ATOMIC_WRITE:
		sqe_rdma(sqe, &copy->wr);
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		sqe_atomic(sqe, &copy->wr);
		break;
	case IB_WR_BIND_MW:
		sqe_bind(sqe, &copy->wr);
		break;
	case IB_WR_FLUSH:
		sqe_flush(sqe, copy);
		break;
	default:	/* nothing, or the destination of a datagram */
		sqe_bare(sqe, &copy->wr);
		break;
	}
}

const void *srnic_rxe_copy_sqe(struct srnic_swqe *wqe,
			       const struct rxe_send_wqe *slot)
{
	struct sqe_copy copy;

	memcpy(&copy.wr, &slot->wr, SQE_WR_BYTES);
	memcpy(&copy.dma, &slot->dma, sizeof(copy.dma));
	barrier();	/* keeps the compiler from reading the slot again */
	sqe_convert(&wqe->sqe, &copy);

	return slot + 1;
}

const void *srnic_rxe_copy_rqe(struct srnic_rqe *rqe,
			       const struct rxe_recv_wqe *slot)
{
	struct rxe_recv_wqe copy;

	memcpy(&copy, slot, sizeof(copy));
	barrier();	/* keeps the compiler from reading the slot again */
	*rqe = (struct srnic_rqe) {
		.wr_id		= copy.wr_id,
		.num_sge	= copy.dma.num_sge,
	};

	return slot + 1;
}

/*
 * IBTA A17.4.5.1 requires that a datagram's IP version be reported.  UCX expects it in sl,
 * as other devices have it: 8 for UDP, and 1 for IPv6 or 2 for IPv4.
 */
static u8 cqe_sl(const struct srnic_cqe *cqe)
{
	switch (cqe->ip_version) {
	case 4:
		return 8 | 2;
	case 6:
		return 8 | 1;
	default:
		return cqe->sl;
	}
}

void srnic_rxe_put_cqe(struct ib_uverbs_wc *slot, const struct srnic_cqe *cqe)
{
	*slot = (struct ib_uverbs_wc) {
		.wr_id		= cqe->wr_id,
		.status		= cqe->status,
		.opcode		= cqe->opcode,
		.vendor_err	= cqe->vendor_err,
		.byte_len	= cqe->byte_len,
		.ex.imm_data	= cqe->imm_data,
		.qp_num		= cqe->qpn,
		.src_qp		= cqe->src_qp,
		.wc_flags	= cqe->flags,
		.pkey_index	= cqe->pkey_index,
		.sl		= cqe_sl(cqe),
		.port_num	= 1,
	};
}

/* The layout that librxe is compiled with */
static_assert(sizeof(struct rxe_queue_buf) == 384);
static_assert(sizeof(struct ib_uverbs_wc) == 48 &&
	      sizeof(struct ib_uverbs_wc) <= sizeof(struct srnic_cqe));
static_assert(sizeof(struct rxe_sge) == sizeof(struct srnic_sge) &&
	      offsetof(struct rxe_sge, addr) == offsetof(struct srnic_sge, addr) &&
	      offsetof(struct rxe_sge, length) == offsetof(struct srnic_sge, length) &&
	      offsetof(struct rxe_sge, lkey) == offsetof(struct srnic_sge, lkey));
static_assert(offsetof(struct rxe_send_wqe, dma) + sizeof(struct rxe_dma_info) ==
	      sizeof(struct rxe_send_wqe));
static_assert(sizeof(struct sqe_flush) <= sizeof(struct sqe_ud));
static_assert(SQE_WR_BYTES + sizeof(struct rxe_av) ==
	      offsetof(struct rxe_send_wqe, status));
