// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - properties of each work request opcode
 */
#include <rdma/ib_verbs.h>

#include "../stats.h"
#include "wr.h"

#define WC(name)	IB_UVERBS_WC_##name
#define CNT(name)	SRNIC_CNT_##name
#define FAM(name)	SRNIC_FAM_##name
#define OP(name)	SRNIC_OP_##name

#define SINK		SRNIC_WR_SINK
#define PARTS		SRNIC_WR_PARTS
#define WORD		SRNIC_WR_WORD

#define CMP_SWAP	SRNIC_WR_CMP_SWAP
#define FETCH_ADD	SRNIC_WR_FETCH_ADD
#define FLUSH		SRNIC_WR_FLUSH

#define KEY(name)	.local_op = SRNIC_LOCAL_OP_##name

/*
 * completion, counter, answer, flags, operands, memory operation, packets; by enum
 * ib_uverbs_wr_opcode
 */
const struct srnic_wr srnic_wrs[] = {
	[IB_WR_RDMA_WRITE]		= {
		WC(RDMA_WRITE), CNT(RDMA_WRITES), FAM(NONE), 0, 0, 0,
		OP(WRITE_ONLY), OP(WRITE_FIRST),
		OP(WRITE_MIDDLE), OP(WRITE_LAST) },
	[IB_WR_RDMA_WRITE_WITH_IMM]	= {
		WC(RDMA_WRITE), CNT(RDMA_WRITES), FAM(NONE), 0, 0, 0,
		OP(WRITE_ONLY_IMM), OP(WRITE_FIRST),
		OP(WRITE_MIDDLE), OP(WRITE_LAST_IMM) },
	[IB_WR_SEND]			= {
		WC(SEND), CNT(RDMA_SENDS), FAM(NONE), 0, 0, 0,
		OP(SEND_ONLY), OP(SEND_FIRST),
		OP(SEND_MIDDLE), OP(SEND_LAST) },
	[IB_WR_SEND_WITH_IMM]		= {
		WC(SEND), CNT(RDMA_SENDS), FAM(NONE), 0, 0, 0,
		OP(SEND_ONLY_IMM), OP(SEND_FIRST),
		OP(SEND_MIDDLE), OP(SEND_LAST_IMM) },
	[IB_WR_SEND_WITH_INV]		= {
		WC(SEND), CNT(RDMA_SENDS), FAM(NONE), 0, 0, 0,
		OP(SEND_ONLY_INV), OP(SEND_FIRST),
		OP(SEND_MIDDLE), OP(SEND_LAST_INV) },
	[IB_WR_RDMA_READ]		= {
		WC(RDMA_READ), CNT(RDMA_READS), FAM(READ_RESP), SINK | PARTS,
		0, 0, OP(READ_REQ) },
	[IB_WR_ATOMIC_CMP_AND_SWP]	= {
		WC(COMP_SWAP), CNT(RDMA_ATOMICS), FAM(ATOMIC_ACK), SINK,
		CMP_SWAP, 0, OP(CMP_SWAP) },
	[IB_WR_ATOMIC_FETCH_AND_ADD]	= {
		WC(FETCH_ADD), CNT(RDMA_ATOMICS), FAM(ATOMIC_ACK), SINK,
		FETCH_ADD, 0, OP(FETCH_ADD) },
	[IB_WR_FLUSH]			= {
		WC(FLUSH), CNT(NUM), FAM(READ_RESP), SINK,
		FLUSH, 0, OP(FLUSH) },
	[IB_WR_ATOMIC_WRITE]		= {
		WC(ATOMIC_WRITE), CNT(RDMA_ATOMICS), FAM(READ_RESP), WORD,
		0, 0, OP(ATOMIC_WRITE) },
	[IB_WR_LOCAL_INV]		= {
		WC(LOCAL_INV), CNT(NUM), KEY(INV) },
	[IB_WR_BIND_MW]			= {
		WC(BIND_MW), CNT(NUM), KEY(BIND) },
	[IB_WR_REG_MR]			= {
		IB_WC_REG_MR, CNT(NUM), KEY(REG) },
};

static_assert(ARRAY_SIZE(srnic_wrs) == SRNIC_WR_NUM);
static_assert(SRNIC_CNT_NUM <= U8_MAX);
