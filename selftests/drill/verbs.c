// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - drill: work requests, completions, states, memory
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drill.h"

#define RX_SLOT		8192	/* bytes of the buffer of each receive */
#define RX_SLOTS	32
#define WR_FLUSH	14	/* not defined by the oldest rdma-core */
#define WC_FLUSH	8
#define SILENCE		20000	/* us to wait for an unexpected completion or event */

static __u64 recv_next;

#define ANY_ERROR	(-1)

static const struct name statuses[] = {
	{ "any_error", ANY_ERROR },
	{ "success", IBV_WC_SUCCESS },
	{ "loc_len", IBV_WC_LOC_LEN_ERR },
	{ "loc_qp_op", IBV_WC_LOC_QP_OP_ERR },
	{ "loc_prot", IBV_WC_LOC_PROT_ERR },
	{ "wr_flush", IBV_WC_WR_FLUSH_ERR },
	{ "mw_bind", IBV_WC_MW_BIND_ERR },
	{ "bad_resp", IBV_WC_BAD_RESP_ERR },
	{ "loc_access", IBV_WC_LOC_ACCESS_ERR },
	{ "rem_inv_req", IBV_WC_REM_INV_REQ_ERR },
	{ "rem_access", IBV_WC_REM_ACCESS_ERR },
	{ "rem_op", IBV_WC_REM_OP_ERR },
	{ "retry_exc", IBV_WC_RETRY_EXC_ERR },
	{ "rnr_retry_exc", IBV_WC_RNR_RETRY_EXC_ERR },
	{ "rem_inv_rd_req", IBV_WC_REM_INV_RD_REQ_ERR },
};

static const struct name wc_ops[] = {
	{ "send", IBV_WC_SEND }, { "write", IBV_WC_RDMA_WRITE },
	{ "read", IBV_WC_RDMA_READ }, { "cmp_swap", IBV_WC_COMP_SWAP },
	{ "fetch_add", IBV_WC_FETCH_ADD }, { "recv", IBV_WC_RECV },
	{ "recv_write", IBV_WC_RECV_RDMA_WITH_IMM },
	{ "atomic_write", IBV_WC_ATOMIC_WRITE }, { "flush", WC_FLUSH },
};

void verbs_undo(void)
{
	struct ibv_async_event ev;

	recv_next = 0;
	while (device && !ibv_get_async_event(device, &ev))
		ibv_ack_async_event(&ev);
}

static struct qp *qp_get(void)
{
	if (!qp)
		fail("there is no queue pair yet");
	return qp;
}

/* ---- receives ---- */

static struct region *rx_region(void)
{
	struct line l = { .num = 3 };
	char len[32];

	if (region_find("rx"))
		return region_find("rx");
	snprintf(len, sizeof(len), "len=%d", RX_SLOT * RX_SLOTS);
	l.word[0] = "mr";
	l.word[1] = "rx";
	l.word[2] = len;
	l.used[0] = true;
	do_mr(&l);
	return region_find("rx");
}

/* recv [N] [len=BYTES] [lkey=REGION|NUMBER] [srq=NAME] */
void do_recv(struct line *l)
{
	const char *num = line_word(l, 1), *key = line_get(l, "lkey");
	const char *srq = line_get(l, "srq");
	struct region *rx = rx_region();
	struct ibv_sge sge = {
		.length = line_num(l, "len", RX_SLOT),
		.lkey = key ? key_of(key) : rx->mr->lkey,
	};
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
	__u64 n = 1;
	int err;

	if ((num && !num_parse(num, &n)) || recv_next + n > RX_SLOTS)
		fail("how many receives?");
	line_end(l);
	while (n--) {
		wr.wr_id = recv_next;
		sge.addr = (uintptr_t)rx->p + recv_next * RX_SLOT;
		recv_next++;
		if (qp_get()->type == IBV_QPT_XRC_RECV)
			err = ibv_post_srq_recv(srq_of(srq ? srq : "srq"), &wr,
						&bad);
		else
			err = ibv_post_recv(qp->qp, &wr, &bad);
		if (err)
			fail("the receive cannot be posted: %s", strerror(err));
	}
}

/* ---- work requests ---- */

static const struct name wr_ops[] = {
	{ "send", IBV_WR_SEND }, { "send_imm", IBV_WR_SEND_WITH_IMM },
	{ "send_inv", IBV_WR_SEND_WITH_INV }, { "write", IBV_WR_RDMA_WRITE },
	{ "write_imm", IBV_WR_RDMA_WRITE_WITH_IMM }, { "read", IBV_WR_RDMA_READ },
	{ "cmp_swap", IBV_WR_ATOMIC_CMP_AND_SWP },
	{ "fetch_add", IBV_WR_ATOMIC_FETCH_AND_ADD },
	{ "atomic_write", IBV_WR_ATOMIC_WRITE }, { "flush", WR_FLUSH },
};

static int post_flags(struct line *l)
{
	return (line_has(l, "unsignaled") ? 0 : IBV_SEND_SIGNALED) |
	       (line_has(l, "se") ? IBV_SEND_SOLICITED : 0) |
	       (line_has(l, "fence") ? IBV_SEND_FENCE : 0);
}

/* FLUSH, which can be posted by ibv_wr_*() only */
static int post_flush(const struct ibv_send_wr *wr, __u64 type, __u64 level)
{
#ifdef HAVE_FLUSH
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp->qp);

	if (!ex)
		skip("no ibv_wr_flush()");
	ibv_wr_start(ex);
	ex->wr_id = wr->wr_id;
	ex->wr_flags = wr->send_flags;
	ibv_wr_flush(ex, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr,
		     wr->sg_list->length, type, level);
	return ibv_wr_complete(ex);
#else
	skip("this rdma-core has no FLUSH (%llu %llu %llu)",
	     (unsigned long long)wr->wr_id, (unsigned long long)type,
	     (unsigned long long)level);
#endif
}

/* Fills in the remote address and key, or the destination of a datagram. */
static void post_target(struct line *l, struct ibv_send_wr *wr)
{
	const char *va = line_get(l, "va"), *rkey = line_get(l, "rkey");
	__u64 addr = va ? address_of(va) : 0;
	__u32 key = rkey ? key_of(rkey) : 0;

	if (qp->type == IBV_QPT_UD) {
		wr->wr.ud.ah = qp->ah;
		wr->wr.ud.remote_qpn = line_num(l, "dqpn", qp->peer);
		wr->wr.ud.remote_qkey = line_num(l, "qkey", qp->qkey);
	} else if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
		   wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr->wr.atomic.remote_addr = addr;
		wr->wr.atomic.rkey = key;
		wr->wr.atomic.compare_add = line_num(l, "add", 0) |
					    line_num(l, "compare", 0);
		wr->wr.atomic.swap = line_num(l, "swap", 0);
	} else {
		wr->wr.rdma.remote_addr = addr;
		wr->wr.rdma.rkey = key;
	}
	if (qp->type == IBV_QPT_XRC_SEND)
		wr->qp_type.xrc.remote_srqn = line_num(l, "srqn", 0);
}

/*
 * post OP [len=N] [from=REGION+OFFSET] [lkey=N] [va=N] [rkey=N] [imm=N] [inv=N]
 *	[add=N] [compare=N] [swap=N] [type=N] [level=N] [dqpn=N] [qkey=N]
 *	[srqn=N] [unsignaled] [se] [fence] [bad=N]
 *
 * The local memory is "mr" unless "from" names another region.  "bad" appends N
 * bytes with an invalid lkey.
 */
void do_post(struct line *l)
{
	const char *from = line_get(l, "from"), *key = line_get(l, "lkey");
	struct ibv_sge sges[2] = {
		{ .length = line_num(l, "len", 0) },
		{ .length = line_num(l, "bad", 0), .lkey = 0xdead00 },
	};
	struct ibv_send_wr wr = { .sg_list = sges, .num_sge = 1 }, *bad;
	struct ibv_sge *sge = sges;
	__u64 type, level;
	int err;

	qp_get();
	wr.opcode = name_value(wr_ops, ARRAY_SIZE(wr_ops), "work request",
			       line_word(l, 1));
	if (wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	    wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
	    wr.opcode == IBV_WR_ATOMIC_WRITE)
		sge->length = 8;
	sge->addr = (uintptr_t)region_at(from ? from : "mr", 0);
	sge->lkey = key ? key_of(key) : region_of(from ? from : "mr")->mr->lkey;
	if (sges[1].length) {
		sges[1].addr = sge->addr;
		wr.num_sge = 2;
	}
	wr.wr_id = ++qp->wr_id;
	wr.send_flags = post_flags(l);
	if (wr.opcode == IBV_WR_SEND_WITH_INV)
		wr.invalidate_rkey = line_num(l, "inv", 0);
	else
		wr.imm_data = htobe32(line_num(l, "imm", 0));
	post_target(l, &wr);
	type = line_num(l, "type", 1);
	level = line_num(l, "level", 0);
	line_end(l);
	err = wr.opcode == WR_FLUSH ? post_flush(&wr, type, level) :
	      ibv_post_send(qp->qp, &wr, &bad);
	if (err)
		fail("the work request cannot be posted: %s", strerror(err));
}

/* ---- completions ---- */

bool cq_wait(struct ibv_cq *cq, struct ibv_wc *wc, __u64 us)
{
	__u64 end = now_us() + us;
	int n;

	for (;;) {
		n = ibv_poll_cq(cq, 1, wc);
		if (n > 0)
			return true;
		if (n < 0)
			fail("the CQ cannot be polled");
		if (now_us() >= end)
			return false;
		usleep(100);
		tick(100);
	}
}

static const char *wc_show(const struct ibv_wc *wc)
{
	static char text[128];

	snprintf(text, sizeof(text), "completion of %llu: %s",
		 (unsigned long long)wc->wr_id,
		 name_of(statuses, ARRAY_SIZE(statuses), wc->status));
	return text;
}

static void wc_field(struct line *l, const struct ibv_wc *wc, const char *key,
		     __u64 value)
{
	__u64 want = line_num(l, key, value);

	if (want != value)
		fail("%s, %s=0x%llx, not 0x%llx", wc_show(wc), key,
		     (unsigned long long)value, (unsigned long long)want);
}

static void wc_data(struct line *l, const struct ibv_wc *wc)
{
	const char *data = line_get(l, "data");
	size_t at = qp->type == IBV_QPT_UD ? 40 : 0, i, off = 0;
	const __u8 *p;

	if (!data)
		return;
	if (data[0] && data[1] == '+')
		off = strtoul(data + 2, NULL, 0);
	p = rx_region()->p + wc->wr_id * RX_SLOT;
	for (i = at; i < wc->byte_len; i++)
		if (p[i] != stream_byte(data[0], off + i - at))
			fail("%s, byte %zu is %02x, not %02x", wc_show(wc), i - at,
			     p[i], stream_byte(data[0], off + i - at));
}

/*
 * cqe send|recv STATUS [wr=N] [op=NAME] [len=N] [imm=N] [inv=N] [src_qp=N]
 *	[data=STREAM+OFFSET]
 * cqe send|recv none
 *
 * Sends are counted from 1, receives from 0.
 */
void do_cqe(struct line *l)
{
	const char *queue = line_word(l, 1), *status = line_word(l, 2);
	const char *op = line_get(l, "op"), *inv = line_get(l, "inv");
	bool send = queue && !strcmp(queue, "send");
	struct ibv_wc wc = {};
	bool come;
	int want;

	if (!queue || !status || (!send && strcmp(queue, "recv")))
		fail("send or receive completion?");
	come = cq_wait(send ? qp_get()->scq : qp_get()->rcq, &wc,
		       strcmp(status, "none") ? patience : SILENCE);
	if (!strcmp(status, "none")) {
		if (come)
			fail("expected none, got: %s", wc_show(&wc));
		line_end(l);
		return;
	}
	want = name_value(statuses, ARRAY_SIZE(statuses), "status", status);
	if (!come) {
		late("completion");
		fail("no completion");
	}
	if (want == ANY_ERROR ? !wc.status : (int)wc.status != want)
		fail("%s, not %s", wc_show(&wc), status);
	wc_field(l, &wc, "wr", wc.wr_id);
	wc_field(l, &wc, "len", wc.byte_len);
	wc_field(l, &wc, "src_qp", wc.src_qp);
	if (line_has(l, "imm") && !(wc.wc_flags & IBV_WC_WITH_IMM))
		fail("%s, without immediate data", wc_show(&wc));
	wc_field(l, &wc, "imm", be32toh(wc.imm_data));
	if (inv && (!(wc.wc_flags & IBV_WC_WITH_INV) ||
		    wc.invalidated_rkey != key_of(inv)))
		fail("%s, with another invalidated key or none", wc_show(&wc));
	if (op && (int)wc.opcode != name_value(wc_ops, ARRAY_SIZE(wc_ops),
					       "operation", op))
		fail("%s, opcode %s", wc_show(&wc),
		     name_of(wc_ops, ARRAY_SIZE(wc_ops), wc.opcode));
	wc_data(l, &wc);
	line_end(l);
}

void cqs_are_empty(void)
{
	struct ibv_wc wc;

	if (!qp)
		return;
	if (cq_wait(qp->scq, &wc, 0))
		fail("unexpected send completion: %s", wc_show(&wc));
	if (cq_wait(qp->rcq, &wc, 0))
		fail("unexpected receive completion: %s", wc_show(&wc));
}

/* ---- states, events ---- */

/* state NAME: waits until the queue pair is in that state */
void do_state(struct line *l)
{
	static const struct name states[] = {
		{ "init", IBV_QPS_INIT }, { "rtr", IBV_QPS_RTR },
		{ "rts", IBV_QPS_RTS }, { "sqd", IBV_QPS_SQD },
		{ "sqe", IBV_QPS_SQE }, { "error", IBV_QPS_ERR },
	};
	int want = name_value(states, ARRAY_SIZE(states), "state",
			      line_word(l, 1));
	__u64 end = now_us() + patience;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	line_end(l);
	do {
		if (ibv_query_qp(qp_get()->qp, &attr, IBV_QP_STATE, &init))
			fail("the queue pair cannot be queried");
		if ((int)attr.qp_state == want)
			return;
		if (attr.qp_state == IBV_QPS_ERR)
			break;
		usleep(1000);
		tick(1000);
	} while (now_us() < end);
	if (attr.qp_state != IBV_QPS_ERR)	/* a final state, so not a hang */
		late("change of state");
	fail("it is in state %s",
	     name_of(states, ARRAY_SIZE(states), attr.qp_state));
}

/* Port events are ignored. */
static bool event_get(struct ibv_async_event *ev)
{
	while (!ibv_get_async_event(device, ev)) {
		ibv_ack_async_event(ev);
		if (ev->event_type <= IBV_EVENT_PATH_MIG_ERR ||
		    ev->event_type == IBV_EVENT_QP_LAST_WQE_REACHED)
			return true;
	}
	return false;
}

/* event NAME, or "none" */
void do_event(struct line *l)
{
	static const struct name events[] = {
		{ "none", -1 },
		{ "qp_fatal", IBV_EVENT_QP_FATAL },
		{ "qp_req_err", IBV_EVENT_QP_REQ_ERR },
		{ "qp_access_err", IBV_EVENT_QP_ACCESS_ERR },
		{ "comm_est", IBV_EVENT_COMM_EST },
		{ "sq_drained", IBV_EVENT_SQ_DRAINED },
		{ "qp_last_wqe_reached", IBV_EVENT_QP_LAST_WQE_REACHED },
	};
	int want = name_value(events, ARRAY_SIZE(events), "event",
			      line_word(l, 1));
	__u64 end = now_us() + (want < 0 ? SILENCE : patience);
	struct ibv_async_event ev;

	line_end(l);
	while (!event_get(&ev)) {
		if (now_us() >= end) {
			if (want < 0)
				return;
			late("event");
			fail("no event");
		}
		usleep(1000);
		tick(1000);
	}
	if ((int)ev.event_type != want)
		fail("unexpected event %s", ibv_event_type_str(ev.event_type));
}

/* ---- memory ---- */

/* mem REGION+OFFSET len=N data=STREAM+OFFSET */
void do_mem(struct line *l)
{
	const char *at = line_word(l, 1), *data = line_get(l, "data");
	size_t len = line_num(l, "len", 8), i, off = 0;
	__u8 *p = region_at(at ? at : "", len);

	if (!data || !data[0])
		fail("contents of the memory?");
	if (data[1] == '+')
		off = strtoul(data + 2, NULL, 0);
	line_end(l);
	for (i = 0; i < len; i++)
		if (p[i] != stream_byte(data[0], off + i))
			fail("byte %zu is %02x, not %02x", i, p[i],
			     stream_byte(data[0], off + i));
}

/* word REGION+OFFSET VALUE: eight bytes in host byte order */
void do_word(struct line *l)
{
	const char *at = line_word(l, 1), *value = line_word(l, 2);
	__u64 want, v;

	memcpy(&v, region_at(at ? at : "", 8), 8);
	if (!value || !num_parse(value, &want))
		fail("value of the memory?");
	line_end(l);
	if (v != want)
		fail("the value is 0x%llx", (unsigned long long)v);
}

/* put REGION+OFFSET VALUE */
void do_put(struct line *l)
{
	const char *at = line_word(l, 1), *value = line_word(l, 2);
	__u64 v;

	if (!value || !num_parse(value, &v))
		fail("value to be written?");
	memcpy(region_at(at ? at : "", 8), &v, 8);
	line_end(l);
}
