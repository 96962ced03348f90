// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - whatever a program writes into its rings, at any time, an accepted
 * work request respects the limits and stays as it was validated
 *
 * Its rings are in our own ABI or in that of rdma_rxe.
 *
 * The program overwrites the entry to be fetched and the indices: before a
 * fetch, and again whenever the driver has copied a part of the entry. The
 * input determines what it writes, and what the driver does next.
 */

#include <stdlib.h>
#include <string.h>

#include <rdma/rdma_user_rxe.h>

#include "queue/queue.h"

#define require(what)			\
	do {				\
		if (!(what))		\
			abort();	\
	} while (0)

#define ENTRIES_MAX	5	/* rounded up by the ring */
#define SGE_MAX		4
#define INLINE_MAX	100
#define STEPS_MAX	64
#define STRIDE_MAX	512

enum step {
	STEP_SEND,
	STEP_RECV,
	STEP_COMPLETE,
	STEP_RESET,
	STEP_NUM,
};

#define OP(name)	(1U << IBV_WR_##name)

/* Not defined by the oldest rdma-core */
#define OP_FLUSH		BIT(IB_WR_FLUSH)
#define OP_ATOMIC_WRITE		BIT(IB_WR_ATOMIC_WRITE)

#define ATOMICS		(OP(ATOMIC_CMP_AND_SWP) | OP(ATOMIC_FETCH_AND_ADD))
#define KEYS		(OP(LOCAL_INV) | OP(BIND_MW))
#define ANYWHERE	(OP(SEND) | OP(SEND_WITH_IMM))
#define CONNECTED	(ANYWHERE | OP(RDMA_WRITE) | OP(RDMA_WRITE_WITH_IMM))
#define RELIABLE	(CONNECTED | OP(SEND_WITH_INV) | OP(RDMA_READ) | ATOMICS)

/* Operations of each service */
static const u32 service_ops[] = {
	[IBV_QPT_RC]		= RELIABLE | KEYS | OP_FLUSH | OP_ATOMIC_WRITE,
	[IBV_QPT_UC]		= CONNECTED | KEYS,
	[IBV_QPT_UD]		= ANYWHERE,
	[IBV_QPT_XRC_SEND]	= RELIABLE | KEYS,
};

/* Operations without inline data, without any data, or with 8 bytes */
#define NO_INLINE	(ATOMICS | OP(RDMA_READ) | NO_DATA)
#define NO_DATA		(KEYS | OP_FLUSH)
#define EIGHT_BYTES	(ATOMICS | OP_ATOMIC_WRITE)

/* The rest of the input */
static const u8 *input;
static size_t input_left;

/* The ring that the program overwrites, and the index to be fetched */
static const struct srnic_ring *ring;
static u32 turn;

/* Queues whose index has been impossible: nothing more is fetched */
static bool sends_broken, receives_broken;

/* That entry before the program last wrote, which is when its SGE list was copied */
static u8 seen[STRIDE_MAX];

/* The next byte of the input; 0 after its end */
static u8 take(void)
{
	if (!input_left)
		return 0;
	input_left--;

	return *input++;
}

static u32 take_u32(void)
{
	u32 value = 0;
	int i;

	for (i = 0; i < 4; i++)
		value = value << 8 | take();

	return value;
}

/* Entries that the ring holds; the ABI of rdma_rxe leaves one free. */
static u32 room(void)
{
	return ring->abi == SRNIC_ABI_RXE ? ring->mask : ring->mask + 1;
}

/* Entries that the program says it has posted; more than there is room for: impossible */
static u32 claimed(u32 head)
{
	u32 user = *ring->user;

	if (ring->abi != SRNIC_ABI_RXE)
		return user - head;

	return user > ring->mask ? U32_MAX : (user - head) % (ring->mask + 1);
}

/* An index as it is shown to the program */
static u32 shown(u32 index)
{
	return ring->abi == SRNIC_ABI_RXE ? index % (ring->mask + 1) : index;
}

/* The program overwrites entry and indices; mostly it has posted a valid number. */
static void scribble(void)
{
	size_t len = min_t(size_t, take(), ring->stride);
	u8 *entry = srnic_ring_entry(ring, turn);
	u32 ahead = take();

	memcpy(seen, entry, ring->stride);
	*ring->user = ahead == 255 ? take_u32() : shown(turn + ahead % (room() + 2));
	*ring->kern = take();
	len = min(len, input_left);
	memcpy(entry, input, len);
	input += len;
	input_left -= len;
}

static void program_has(const struct srnic_ring *its, u32 index)
{
	ring = its;
	turn = index;
	scribble();
}

/* Bytes in front of the list of a send or receive WQE */
static size_t send_bytes(void)
{
	return ring->abi == SRNIC_ABI_RXE ? sizeof(struct rxe_send_wqe) :
					    sizeof(struct srnic_sqe);
}

static size_t recv_bytes(void)
{
	return ring->abi == SRNIC_ABI_RXE ? sizeof(struct rxe_recv_wqe) :
					    sizeof(struct srnic_rqe);
}

/* The program overwrites everything that the driver could still read. */
static void wipe(void)
{
	memset(ring->hdr, 0xff, ring->size);
}

/*
 * Walks the SGE list of any copy, accepted or refused, as the transport does
 * when it positions its cursor.
 */
static u64 walk(const struct srnic_sq *sq, const struct srnic_swqe *wqe)
{
	u64 sum = 0;
	u32 i;

	require(wqe->sqe.num_sge <= sq->max_sge);
	for (i = 0; i < wqe->sqe.num_sge; i++)
		sum += wqe->sge[i].length;

	return sum;
}

static void require_send(const struct srnic_sq *sq, enum ibv_qp_type type,
			 const struct srnic_swqe *wqe)
{
	const struct srnic_sqe *sqe = &wqe->sqe;
	u64 sum = walk(sq, wqe);
	const u8 *list = seen + send_bytes();
	u32 op;

	require(sqe->opcode < 32);
	op = 1U << sqe->opcode;
	require(service_ops[type] & op);
	require(!(op & EIGHT_BYTES) || wqe->length == 8);
	require(!(op & NO_DATA) || !wqe->length);
	if (sqe->flags & IBV_SEND_INLINE) {
		require(!(op & NO_INLINE));
		require(!sqe->num_sge && sqe->inline_len <= sq->max_inline);
		require(wqe->length == sqe->inline_len);
		require(!memcmp(wqe->sge, list, sqe->inline_len));
		return;
	}

	require(!memcmp(wqe->sge, list, sqe->num_sge * sizeof(wqe->sge[0])));
	require(sum <= 1ULL << 31 && wqe->length == sum);
}

static void step_send(struct srnic_sq *sq, enum ibv_qp_type type)
{
	u32 head = sq->head, tail = sq->tail;
	struct srnic_swqe *wqe;
	struct srnic_sqe was;
	u32 posted;
	bool due;

	program_has(&sq->ring, tail);
	memcpy(&was, srnic_ring_entry(ring, tail), sizeof(was));
	posted = claimed(head);
	sends_broken |= posted < tail - head || posted > room();
	due = !sends_broken && posted > tail - head;

	wqe = srnic_sq_fetch(sq, type);
	wipe();
	require(!!wqe == due && sq->head == head && sq->tail == tail + due);
	if (!wqe)
		return;

	require(wqe == srnic_sq_wqe(sq, tail));
	require(wqe->sqe.wr_id == was.wr_id && !wqe->started && !wqe->done);
	if (wqe->status) {
		require(!wqe->length && !wqe->sqe.inline_len && !walk(sq, wqe));
		return;
	}
	require(ring->abi == SRNIC_ABI_RXE ||
		!memcmp(&wqe->sqe, &was, sizeof(was)));
	require(!srnic_swqe_check(wqe, type, sq->max_sge, sq->max_inline,
				  false));
	require_send(sq, type, wqe);
}

static void step_recv(struct srnic_rq *rq)
{
	struct srnic_rwqe wqe;
	struct rxe_recv_wqe rxe;
	struct srnic_rqe was;
	u32 head = rq->head;
	u64 sum = 0;
	u32 posted;
	bool due;
	u32 i;

	program_has(&rq->ring, head);
	memcpy(&was, srnic_ring_entry(ring, head), sizeof(was));
	if (ring->abi == SRNIC_ABI_RXE) {
		memcpy(&rxe, srnic_ring_entry(ring, head), sizeof(rxe));
		was.num_sge = rxe.dma.num_sge;
	}
	posted = claimed(head);
	receives_broken |= posted > room();
	due = !receives_broken && posted;

	require(srnic_rq_fetch(rq, &wqe) == due && rq->head == head + due);
	require(!due || *ring->kern == shown(rq->head));
	wipe();
	if (!due)
		return;

	require(wqe.wr_id == was.wr_id);
	if (wqe.status) {
		require(!wqe.num_sge && !wqe.length);
		return;
	}
	require(wqe.num_sge == was.num_sge && wqe.num_sge <= rq->max_sge);
	require(!memcmp(wqe.sge, seen + recv_bytes(),
			wqe.num_sge * sizeof(wqe.sge[0])));
	for (i = 0; i < wqe.num_sge; i++)
		sum += wqe.sge[i].length;
	require(wqe.length == sum);
}

static void step_complete(struct srnic_sq *sq)
{
	if (sq->head != sq->tail)
		sq->head++;
	srnic_sq_publish(sq);
	ring = &sq->ring;
	require(*ring->kern == shown(sq->head));
}

static void step_reset(struct srnic_sq *sq, struct srnic_rq *rq)
{
	srnic_sq_reset(sq);
	srnic_rq_reset(rq);
	sends_broken = false;
	receives_broken = false;
	require(!sq->head && !sq->tail && !rq->head);
}

static void run(struct srnic_sq *sq, struct srnic_rq *rq)
{
	static const enum ibv_qp_type types[] = {
		IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_XRC_SEND,
	};
	enum ibv_qp_type type = types[take() % ARRAY_SIZE(types)];
	int i;

	sq->head = take_u32();
	sq->tail = sq->head;
	rq->head = take_u32();
	for (i = 0; i < STEPS_MAX && input_left; i++) {
		switch (take() % STEP_NUM) {
		case STEP_SEND:
			step_send(sq, type);
			break;
		case STEP_RECV:
			step_recv(rq);
			break;
		case STEP_COMPLETE:
			step_complete(sq);
			break;
		case STEP_RESET:
			step_reset(sq, rq);
			break;
		}
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct srnic_sq sq = {};
	struct srnic_rq rq = {};
	enum srnic_abi abi;
	u32 entries;
	u32 max_sge;

	input = data;
	input_left = size;
	sends_broken = false;
	receives_broken = false;
	shim_at_barrier = scribble;

	abi = take() % 2 ? SRNIC_ABI_RXE : SRNIC_ABI_OWN;
	entries = 1 + take() % ENTRIES_MAX;
	max_sge = take() % (SGE_MAX + 1);
	require(!srnic_sq_init(&sq, abi, entries, max_sge,
			       take() % (INLINE_MAX + 1)));
	require(!srnic_rq_init(&rq, abi, entries, max_sge));
	run(&sq, &rq);
	srnic_rq_destroy(&rq);
	srnic_sq_destroy(&sq);

	return 0;
}
