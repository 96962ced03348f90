/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - trace points
 *
 * The events are described in Documentation/tracing.rst.  A disabled event costs a jump
 * that is not taken.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM srnic

#if !defined(SRNIC_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SRNIC_TRACE_H

#include <linux/tracepoint.h>
#include <trace/misc/rdma.h>

struct srnic_cqe;
struct srnic_cq_loss;
struct srnic_failure;
struct srnic_mr;
struct srnic_pkt;
struct srnic_sack_hdr;
struct srnic_swqe;

/*
 * Opcodes are given as numbers, those of the standard and of the ABI, since older kernels
 * do not define all of their names.
 */
#define srnic_show_service(opcode)					\
	__print_symbolic((opcode) & 0xe0,				\
		{ 0x00, "RC" },						\
		{ 0x20, "UC" },						\
		{ 0x60, "UD" },						\
		{ 0x80, "CNP" },					\
		{ 0xa0, "XRC" },					\
		{ 0xc0, "SRNIC" })

/* What manufacturers define is no operation of a service: all bits of the opcode count. */
#define srnic_operation(opcode)						\
	(((opcode) & 0xe0) == 0xc0 ? (opcode) : (opcode) & 0x1f)

#define srnic_show_operation(opcode)					\
	__print_symbolic(srnic_operation(opcode),			\
		{ 0x00, "SEND_FIRST" },					\
		{ 0x01, "SEND_MIDDLE" },				\
		{ 0x02, "SEND_LAST" },					\
		{ 0x03, "SEND_LAST_IMM" },				\
		{ 0x04, "SEND_ONLY" },					\
		{ 0x05, "SEND_ONLY_IMM" },				\
		{ 0x06, "WRITE_FIRST" },				\
		{ 0x07, "WRITE_MIDDLE" },				\
		{ 0x08, "WRITE_LAST" },					\
		{ 0x09, "WRITE_LAST_IMM" },				\
		{ 0x0a, "WRITE_ONLY" },					\
		{ 0x0b, "WRITE_ONLY_IMM" },				\
		{ 0x0c, "READ_REQUEST" },				\
		{ 0x0d, "READ_RESPONSE_FIRST" },			\
		{ 0x0e, "READ_RESPONSE_MIDDLE" },			\
		{ 0x0f, "READ_RESPONSE_LAST" },				\
		{ 0x10, "READ_RESPONSE_ONLY" },				\
		{ 0x11, "ACK" },					\
		{ 0x12, "ATOMIC_ACK" },					\
		{ 0x13, "CMP_SWAP" },					\
		{ 0x14, "FETCH_ADD" },					\
		{ 0x16, "SEND_LAST_INV" },				\
		{ 0x17, "SEND_ONLY_INV" },				\
		{ 0x1c, "FLUSH" },					\
		{ 0x1d, "ATOMIC_WRITE" },				\
		{ 0xd3, "SACK" },					\
		{ 0xd4, "MASKED_CMP_SWAP" },				\
		{ 0xd5, "MASKED_FETCH_ADD" })

#define srnic_show_wr(opcode)						\
	__print_symbolic(opcode,					\
		{ 0, "RDMA_WRITE" },					\
		{ 1, "RDMA_WRITE_WITH_IMM" },				\
		{ 2, "SEND" },						\
		{ 3, "SEND_WITH_IMM" },					\
		{ 4, "RDMA_READ" },					\
		{ 5, "ATOMIC_CMP_AND_SWP" },				\
		{ 6, "ATOMIC_FETCH_AND_ADD" },				\
		{ 7, "LOCAL_INV" },					\
		{ 8, "BIND_MW" },					\
		{ 9, "SEND_WITH_INV" },					\
		{ 11, "RDMA_READ_WITH_INV" },				\
		{ 12, "MASKED_CMP_AND_SWP" },				\
		{ 13, "MASKED_FETCH_AND_ADD" },				\
		{ 14, "FLUSH" },					\
		{ 15, "ATOMIC_WRITE" },					\
		{ 32, "REG_MR" })

TRACE_DEFINE_ENUM(IB_QPS_RESET);
TRACE_DEFINE_ENUM(IB_QPS_INIT);
TRACE_DEFINE_ENUM(IB_QPS_RTR);
TRACE_DEFINE_ENUM(IB_QPS_RTS);
TRACE_DEFINE_ENUM(IB_QPS_SQD);
TRACE_DEFINE_ENUM(IB_QPS_SQE);
TRACE_DEFINE_ENUM(IB_QPS_ERR);

#define srnic_show_state(state)						\
	__print_symbolic(state,						\
		{ IB_QPS_RESET, "RESET" },				\
		{ IB_QPS_INIT, "INIT" },				\
		{ IB_QPS_RTR, "RTR" },					\
		{ IB_QPS_RTS, "RTS" },					\
		{ IB_QPS_SQD, "SQD" },					\
		{ IB_QPS_SQE, "SQE" },					\
		{ IB_QPS_ERR, "ERR" })

TRACE_DEFINE_ENUM(SRNIC_MR_PLAIN);
TRACE_DEFINE_ENUM(SRNIC_MR_FAST);
TRACE_DEFINE_ENUM(SRNIC_MW_1);
TRACE_DEFINE_ENUM(SRNIC_MW_2);

#define srnic_show_kind(kind)						\
	__print_symbolic(kind,						\
		{ SRNIC_MR_PLAIN, "plain" },				\
		{ SRNIC_MR_FAST, "fast" },				\
		{ SRNIC_MW_1, "window1" },				\
		{ SRNIC_MW_2, "window2" })

TRACE_DEFINE_ENUM(SRNIC_MEM_OK);
TRACE_DEFINE_ENUM(SRNIC_MEM_KEY);
TRACE_DEFINE_ENUM(SRNIC_MEM_PD);
TRACE_DEFINE_ENUM(SRNIC_MEM_OWNER);
TRACE_DEFINE_ENUM(SRNIC_MEM_STATE);
TRACE_DEFINE_ENUM(SRNIC_MEM_BUSY);

#define srnic_show_invalidate(err)					\
	__print_symbolic(err,						\
		{ SRNIC_MEM_OK, "done" },				\
		{ SRNIC_MEM_KEY, "no such key" },			\
		{ SRNIC_MEM_PD, "protection domain" },			\
		{ SRNIC_MEM_OWNER, "owner" },				\
		{ SRNIC_MEM_STATE, "state" },				\
		{ SRNIC_MEM_BUSY, "in use" })

/* Packets; the syndrome is that of the AETH, 0 without an AETH. */
DECLARE_EVENT_CLASS(srnic_packet,
	TP_PROTO(u32 qpn, const struct srnic_pkt *pkt),
	TP_ARGS(qpn, pkt),

	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, to)
		__field(u32, psn)
		__field(u32, len)
		__field(u8, opcode)
		__field(u8, syndrome)
		__field(bool, ackreq)
	),

	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->to = pkt->qpn;
		__entry->psn = pkt->psn;
		__entry->len = pkt->payload;
		__entry->opcode = pkt->opcode;
		__entry->syndrome =
			srnic_pkt_op(pkt)->hdrs & SRNIC_H_AETH ?
			pkt->syndrome : 0;
		__entry->ackreq = pkt->ackreq;
	),

	TP_printk("qpn=%u to=%u op=%s_%s psn=%u len=%u ackreq=%d syndrome=0x%02x",
		  __entry->qpn, __entry->to,
		  srnic_show_service(__entry->opcode),
		  srnic_show_operation(__entry->opcode),
		  __entry->psn, __entry->len, __entry->ackreq,
		  __entry->syndrome)
);

DEFINE_EVENT(srnic_packet, srnic_tx,
	TP_PROTO(u32 qpn, const struct srnic_pkt *pkt),
	TP_ARGS(qpn, pkt));

DEFINE_EVENT(srnic_packet, srnic_rx,
	TP_PROTO(u32 qpn, const struct srnic_pkt *pkt),
	TP_ARGS(qpn, pkt));

/* A received packet was dropped; why is the name of the counter. */
TRACE_EVENT(srnic_drop,
	TP_PROTO(u32 qpn, const char *why),
	TP_ARGS(qpn, why),

	TP_STRUCT__entry(
		__field(u32, qpn)
		__string(why, why)
	),

	TP_fast_assign(
		__entry->qpn = qpn;
		__assign_str(why);
	),

	TP_printk("qpn=%u why=%s", __entry->qpn, __get_str(why))
);

/* Requester */
TRACE_EVENT(srnic_fetch,
	TP_PROTO(u32 qpn, u32 index, const struct srnic_swqe *wqe),
	TP_ARGS(qpn, index, wqe),

	TP_STRUCT__entry(
		__field(u64, wr_id)
		__field(u32, qpn)
		__field(u32, index)
		__field(u32, len)
		__field(u32, flags)
		__field(u8, opcode)
		__field(u8, status)
	),

	TP_fast_assign(
		__entry->wr_id = wqe->sqe.wr_id;
		__entry->qpn = qpn;
		__entry->index = index;
		__entry->len = wqe->length;
		__entry->flags = wqe->sqe.flags;
		__entry->opcode = wqe->sqe.opcode;
		__entry->status = wqe->status;
	),

	TP_printk("qpn=%u index=%u wr_id=0x%llx op=%s len=%u flags=0x%x status=%s",
		  __entry->qpn, __entry->index, __entry->wr_id,
		  srnic_show_wr(__entry->opcode), __entry->len, __entry->flags,
		  rdma_show_wc_status(__entry->status))
);

TRACE_EVENT(srnic_retire,
	TP_PROTO(u32 qpn, u32 index, const struct srnic_swqe *wqe, u8 status),
	TP_ARGS(qpn, index, wqe, status),

	TP_STRUCT__entry(
		__field(u64, wr_id)
		__field(u32, qpn)
		__field(u32, index)
		__field(u8, opcode)
		__field(u8, status)
	),

	TP_fast_assign(
		__entry->wr_id = wqe->sqe.wr_id;
		__entry->qpn = qpn;
		__entry->index = index;
		__entry->opcode = wqe->sqe.opcode;
		__entry->status = status;
	),

	TP_printk("qpn=%u index=%u wr_id=0x%llx op=%s status=%s",
		  __entry->qpn, __entry->index, __entry->wr_id,
		  srnic_show_wr(__entry->opcode),
		  rdma_show_wc_status(__entry->status))
);

TRACE_EVENT(srnic_go_back,
	TP_PROTO(u32 qpn, u32 next, u32 psn, const char *why),
	TP_ARGS(qpn, next, psn, why),

	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, next)
		__field(u32, psn)
		__string(why, why)
	),

	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->next = next;
		__entry->psn = psn;
		__assign_str(why);
	),

	TP_printk("qpn=%u why=%s from=%u to=%u", __entry->qpn,
		  __get_str(why), __entry->next, __entry->psn)
);

TRACE_EVENT(srnic_timeout,
	TP_PROTO(u32 qpn, u32 una, u8 retry_left, const char *what),
	TP_ARGS(qpn, una, retry_left, what),

	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, una)
		__field(u8, retry_left)
		__string(what, what)
	),

	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->una = una;
		__entry->retry_left = retry_left;
		__assign_str(what);
	),

	TP_printk("qpn=%u what=%s una=%u retry_left=%u", __entry->qpn,
		  __get_str(what), __entry->una, __entry->retry_left)
);

TRACE_EVENT(srnic_rate,
	TP_PROTO(u32 qpn, u64 rate, u64 target, u32 alpha, const char *why),
	TP_ARGS(qpn, rate, target, alpha, why),

	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u64, rate)
		__field(u64, target)
		__field(u32, alpha)
		__string(why, why)
	),

	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->rate = rate;
		__entry->target = target;
		__entry->alpha = alpha;
		__assign_str(why);
	),

	TP_printk("qpn=%u why=%s rate=%llu target=%llu alpha=%u/65536",
		  __entry->qpn, __get_str(why), __entry->rate, __entry->target,
		  __entry->alpha)
);

/* SACK packets; why is a reason to send or to ignore it, or empty if it was obeyed. */
DECLARE_EVENT_CLASS(srnic_sack,
	TP_PROTO(u32 qpn, u32 psn, const struct srnic_sack_hdr *hdr, const char *why),
	TP_ARGS(qpn, psn, hdr, why),

	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, seen)
		__field(u32, from)
		__field(u8, ranges)
		__field(u8, pace)
		__field(bool, reply)
		__string(why, why)
	),

	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->psn = psn;
		__entry->seen = hdr->seen;
		__entry->from = hdr->num ? hdr->range[0].psn : psn;
		__entry->ranges = hdr->num;
		__entry->pace = hdr->pace;
		__entry->reply = hdr->wants_reply;
		__assign_str(why);
	),

	TP_printk("qpn=%u why=%s psn=%u from=%u seen=%u ranges=%u pace=%u wants_reply=%d",
		  __entry->qpn, __get_str(why), __entry->psn, __entry->from,
		  __entry->seen, __entry->ranges, __entry->pace, __entry->reply)
);

DEFINE_EVENT(srnic_sack, srnic_sack_tx,
	TP_PROTO(u32 qpn, u32 psn, const struct srnic_sack_hdr *hdr, const char *why),
	TP_ARGS(qpn, psn, hdr, why));

DEFINE_EVENT(srnic_sack, srnic_sack_rx,
	TP_PROTO(u32 qpn, u32 psn, const struct srnic_sack_hdr *hdr, const char *why),
	TP_ARGS(qpn, psn, hdr, why));

TRACE_EVENT(srnic_rnr_wait,
	TP_PROTO(u32 qpn, u32 una, u8 rnr_left, u32 usec),
	TP_ARGS(qpn, una, rnr_left, usec),

	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, una)
		__field(u32, usec)
		__field(u8, rnr_left)
	),

	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->una = una;
		__entry->usec = usec;
		__entry->rnr_left = rnr_left;
	),

	TP_printk("qpn=%u una=%u usec=%u rnr_left=%u", __entry->qpn,
		  __entry->una, __entry->usec, __entry->rnr_left)
);

/* Requests and responses out of order, and duplicate requests */
DECLARE_EVENT_CLASS(srnic_order,
	TP_PROTO(u32 qpn, u32 psn, u32 expected),
	TP_ARGS(qpn, psn, expected),

	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, expected)
	),

	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->psn = psn;
		__entry->expected = expected;
	),

	TP_printk("qpn=%u psn=%u expected=%u",
		  __entry->qpn, __entry->psn, __entry->expected)
);

DEFINE_EVENT(srnic_order, srnic_early,
	TP_PROTO(u32 qpn, u32 psn, u32 expected),
	TP_ARGS(qpn, psn, expected));

DEFINE_EVENT(srnic_order, srnic_duplicate,
	TP_PROTO(u32 qpn, u32 psn, u32 expected),
	TP_ARGS(qpn, psn, expected));

/* Responder: a request was refused, or there was no receive for it */
TRACE_EVENT(srnic_fault,
	TP_PROTO(u32 qpn, u32 psn, const char *why),
	TP_ARGS(qpn, psn, why),

	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, psn)
		__string(why, why)
	),

	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->psn = psn;
		__assign_str(why);
	),

	TP_printk("qpn=%u psn=%u why=%s", __entry->qpn, __entry->psn,
		  __get_str(why))
);

/* Completions, traced before they are written */
TRACE_EVENT(srnic_cqe,
	TP_PROTO(const struct srnic_cqe *cqe),
	TP_ARGS(cqe),

	TP_STRUCT__entry(
		__field(u64, wr_id)
		__field(u32, qpn)
		__field(u32, len)
		__field(u8, opcode)
		__field(u8, status)
	),

	TP_fast_assign(
		__entry->wr_id = cqe->wr_id;
		__entry->qpn = cqe->qpn;
		__entry->len = cqe->byte_len;
		__entry->opcode = cqe->opcode;
		__entry->status = cqe->status;
	),

	TP_printk("qpn=%u wr_id=0x%llx status=%s opcode=%u len=%u",
		  __entry->qpn, __entry->wr_id,
		  rdma_show_wc_status(__entry->status), __entry->opcode,
		  __entry->len)
);

/* A CQ has lost its first completion. */
TRACE_EVENT(srnic_overrun,
	TP_PROTO(u32 cqn, const struct srnic_cq_loss *loss, const char *of,
		 const char *why),
	TP_ARGS(cqn, loss, of, why),

	TP_STRUCT__entry(
		__field(u32, cqn)
		__field(u32, qpn)
		__string(of, of)
		__string(why, why)
	),

	TP_fast_assign(
		__entry->cqn = cqn;
		__entry->qpn = loss->qpn;
		__assign_str(of);
		__assign_str(why);
	),

	TP_printk("cqn=%u qpn=%u of=%s why=%s", __entry->cqn, __entry->qpn,
		  __get_str(of), __get_str(why))
);

/* Queue pairs */
TRACE_EVENT(srnic_qp_state,
	TP_PROTO(u32 qpn, u8 from, u8 to),
	TP_ARGS(qpn, from, to),

	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u8, from)
		__field(u8, to)
	),

	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->from = from;
		__entry->to = to;
	),

	TP_printk("qpn=%u from=%s to=%s", __entry->qpn,
		  srnic_show_state(__entry->from),
		  srnic_show_state(__entry->to))
);

/* A failure takes the queue pair, or its send queue, out of service. */
TRACE_EVENT(srnic_failure,
	TP_PROTO(u32 qpn, const struct srnic_failure *failure, const char *why,
		 const char *memory, const char *op),
	TP_ARGS(qpn, failure, why, memory, op),

	TP_STRUCT__entry(
		__field(u64, addr)
		__field(u32, qpn)
		__field(u32, key)
		__field(u32, psn)
		__field(u32, len)
		__field(u32, room)
		__array(u8, peer, sizeof(struct in6_addr))
		__string(why, why)
		__string(memory, memory)
		__string(op, op)
	),

	TP_fast_assign(
		__entry->addr = failure->addr;
		__entry->qpn = qpn;
		__entry->key = failure->key;
		__entry->psn = failure->psn;
		__entry->len = failure->length;
		__entry->room = failure->room;
		memcpy(__entry->peer, &failure->peer, sizeof(failure->peer));
		__assign_str(why);
		__assign_str(memory);
		__assign_str(op);
	),

	TP_printk("qpn=%u peer=%pI6c why=%s memory=%s op=%s psn=%u key=0x%08x addr=0x%llx len=%u room=%u",
		  __entry->qpn, __entry->peer, __get_str(why), __get_str(memory),
		  __get_str(op), __entry->psn, __entry->key, __entry->addr,
		  __entry->len, __entry->room)
);

/* Memory keys */
DECLARE_EVENT_CLASS(srnic_key,
	TP_PROTO(const struct srnic_mr *mr),
	TP_ARGS(mr),

	TP_STRUCT__entry(
		__field(u64, addr)
		__field(u64, len)
		__field(u32, key)
		__field(u32, access)
		__field(u8, kind)
	),

	TP_fast_assign(
		__entry->addr = mr->span.iova;
		__entry->len = mr->span.length;
		__entry->key = mr->key;
		__entry->access = mr->access;
		__entry->kind = mr->kind;
	),

	TP_printk("key=0x%08x kind=%s addr=0x%llx len=%llu access=0x%x",
		  __entry->key,
		  srnic_show_kind(__entry->kind),
		  __entry->addr, __entry->len, __entry->access)
);

DEFINE_EVENT(srnic_key, srnic_key_new,
	TP_PROTO(const struct srnic_mr *mr), TP_ARGS(mr));

DEFINE_EVENT(srnic_key, srnic_key_register,
	TP_PROTO(const struct srnic_mr *mr), TP_ARGS(mr));

DEFINE_EVENT(srnic_key, srnic_key_bind,
	TP_PROTO(const struct srnic_mr *mr), TP_ARGS(mr));

DEFINE_EVENT(srnic_key, srnic_key_gone,
	TP_PROTO(const struct srnic_mr *mr), TP_ARGS(mr));

TRACE_EVENT(srnic_key_invalidate,
	TP_PROTO(u32 key, int err),
	TP_ARGS(key, err),

	TP_STRUCT__entry(
		__field(u32, key)
		__field(int, err)
	),

	TP_fast_assign(
		__entry->key = key;
		__entry->err = err;
	),

	TP_printk("key=0x%08x result=%s", __entry->key,
		  srnic_show_invalidate(__entry->err))
);

/* Tasks, identified by the number of their queue pair */
TRACE_EVENT(srnic_task_run,
	TP_PROTO(u32 id, bool more),
	TP_ARGS(id, more),

	TP_STRUCT__entry(
		__field(u32, id)
		__field(bool, more)
	),

	TP_fast_assign(
		__entry->id = id;
		__entry->more = more;
	),

	TP_printk("qpn=%u more=%d", __entry->id, __entry->more)
);

/* A stretch: the work done with bottom halves disabled at a time */
TRACE_EVENT(srnic_task_stretch,
	TP_PROTO(u32 id, s32 cost, bool nested),
	TP_ARGS(id, cost, nested),

	TP_STRUCT__entry(
		__field(u32, id)
		__field(s32, cost)
		__field(bool, nested)
	),

	TP_fast_assign(
		__entry->id = id;
		__entry->cost = cost;
		__entry->nested = nested;
	),

	TP_printk("qpn=%u cost=%d nested=%d", __entry->id, __entry->cost,
		  __entry->nested)
);

TRACE_EVENT(srnic_task_defer,
	TP_PROTO(u32 id, bool asked),
	TP_ARGS(id, asked),

	TP_STRUCT__entry(
		__field(u32, id)
		__field(bool, asked)
	),

	TP_fast_assign(
		__entry->id = id;
		__entry->asked = asked;
	),

	TP_printk("qpn=%u why=%s", __entry->id,
		  __entry->asked ? "asked" : "budget")
);

TRACE_EVENT(srnic_task_leave,
	TP_PROTO(u32 id),
	TP_ARGS(id),

	TP_STRUCT__entry(
		__field(u32, id)
	),

	TP_fast_assign(
		__entry->id = id;
	),

	TP_printk("qpn=%u", __entry->id)
);

#endif /* SRNIC_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
