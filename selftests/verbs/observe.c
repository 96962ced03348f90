// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: state of objects as shown by the rdma tool
 *
 * A case does a known amount of work and compares it with the output of the
 * rdma tool.  Counters are bound by the same tool.
 */
#include <arpa/inet.h>
#include <stdarg.h>
#include <time.h>
#include <unistd.h>

#include "vrb.h"

#define LEN	20000
#define SENDS	3
#define WRITES	2
#define RECVS	7

/**
 * struct fact - an expected value of one attribute of an object
 * @key: name of the attribute
 * @less: names of attributes whose values are subtracted, or NULL
 * @op: '=', '<', '>', or 'w' for @word
 * @value: the expected number
 * @word: the expected word
 */
struct fact {
	const char	*key;
	const char	*less[2];
	char		op;
	long long	value;
	const char	*word;
};

#define IS(k, v)	{ .key = (k), .op = '=', .value = (v) }
#define OVER(k, v)	{ .key = (k), .op = '>', .value = (v) }
#define UNDER(k, v)	{ .key = (k), .op = '<', .value = (v) }
#define WORD(k, w)	{ .key = (k), .op = 'w', .word = (w) }
#define WITHIN(k, l, v)	{ .key = (k), .less = { (l) }, .op = '<', .value = (v) }
#define DIFF(k, l, v)	{ .key = (k), .less = { (l) }, .op = '=', .value = (v) }
#define REST(k, l, m, v) { .key = (k), .less = { (l), (m) }, .op = '=', .value = (v) }

static struct pair p;
static struct mem ma, mb;
static char shown[1 << 16];

/* ---- calling the rdma tool ---- */

const char *rdma_tool(const struct side *s, const char *fmt, ...)
{
	char cmd[256] = "rdma ";
	va_list ap;
	size_t n;
	FILE *f;

	va_start(ap, fmt);
	vsnprintf(cmd + 5, sizeof(cmd) - 5, fmt, ap);
	va_end(ap);
	side_enter(s);
	f = popen(cmd, "r");
	side_leave(s);
	must(f);
	n = fread(shown, 1, sizeof(shown) - 1, f);
	shown[n] = 0;
	if (pclose(f))
		case_fail("failed: %s", cmd);
	return shown;
}

static void ask(struct side *s, const char *what)
{
	if (!strcmp(what, "counter"))
		rdma_tool(s, "-j statistic qp show link %s/1", s->dev);
	else if (!strcmp(what, "qp"))
		rdma_tool(s, "-j -dd resource show qp link %s/1", s->dev);
	else
		rdma_tool(s, "-j -dd resource show %s dev %s", what, s->dev);
}

/* The value of @key in the JSON object up to @end, or NULL. */
static const char *value_of(const char *object, const char *end,
			    const char *key)
{
	char name[64];
	char *at;

	snprintf(name, sizeof(name), "\"%s\":", key);
	at = strstr(object, name);
	return at && at < end ? at + strlen(name) : NULL;
}

/* Numbers of 64 bits are strings, see res_put_num() in drivers/srnic/verbs/restrack.c. */
static long long number_of(const char *text)
{
	return strtoll(text + (*text == '"'), NULL, 0);
}

/* A list contains the number; any other value equals it. */
static bool number_is(const char *text, long long value)
{
	if (*text != '[')
		return number_of(text) == value;
	while (*text != ']') {
		if (*text >= '0' && *text <= '9') {
			char *next;

			if (strtoll(text, &next, 10) == value)
				return true;
			text = next;
		} else {
			text++;
		}
	}
	return false;
}

static bool fact_holds(const char *object, const char *end,
		       const struct fact *fact)
{
	const char *text = value_of(object, end, fact->key), *less;
	long long rest = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fact->less) && fact->less[i]; i++) {
		less = value_of(object, end, fact->less[i]);
		if (!less)
			return false;
		rest -= number_of(less);
	}
	if (!text)
		return false;
	switch (fact->op) {
	case 'w':
		return text[0] == '"' &&
		       !strncmp(text + 1, fact->word, strlen(fact->word)) &&
		       text[1 + strlen(fact->word)] == '"';
	case '>':
		return number_of(text) > fact->value;
	case '<':
		return number_of(text) + rest < fact->value;
	default:
		if (fact->less[0])
			return number_of(text) + rest == fact->value;
		return number_is(text, fact->value);
	}
}

/* Finds the object that matches @who; returns the number of matches. */
static int find(const struct fact *who, const char **object, const char **end)
{
	const char *from, *to;
	int n = 0;

	for (from = strchr(shown, '{'); from; from = strchr(to, '{')) {
		to = strchr(from, '}');
		if (!to)
			break;
		if (!fact_holds(from, to, who))
			continue;
		*object = from;
		*end = to;
		n++;
	}
	return n;
}

/* Key of the first fact that does not hold for the object; NULL if all hold */
static const char *wrong(const struct fact *who, const struct fact *facts,
			 size_t num)
{
	const char *object, *end;
	size_t i;

	if (find(who, &object, &end) != 1)
		return who->key;
	for (i = 0; i < num; i++)
		if (!fact_holds(object, end, &facts[i]))
			return facts[i].key;
	return NULL;
}

/* Values may lag behind, so retries until the bound; a wrong value is not a hang. */
static void look_at(struct side *s, const char *what, struct fact who,
		    const struct fact *facts, size_t num)
{
	__u64 end = 0;
	const char *key;

	do {
		ask(s, what);
		key = wrong(&who, facts, num);
	} while (key && wait_more(&end, NULL));
	if (key)
		case_fail("%s of %s %lld: %.400s", key, who.key, who.value,
			  shown);
}

#define look(s, what, who, ...)						\
	look_at(s, what, (struct fact)who, (struct fact[]){ __VA_ARGS__ },	\
		sizeof((struct fact[]){ __VA_ARGS__ }) / sizeof(struct fact))

/* Value of @key in the counter that the queue pair is bound to */
static unsigned int counted(struct end *e, const char *key)
{
	struct fact who = IS("lqpn", e->qp->qp_num);
	const char *object, *end;

	ask(e->side, "counter");
	must_be(find(&who, &object, &end), 1);
	return strtoul(value_of(object, end, key), NULL, 0);
}

static void no_counter(struct end *e)
{
	struct fact who = IS("lqpn", e->qp->qp_num);
	const char *object, *end;

	ask(e->side, "counter");
	must_be(find(&who, &object, &end), 0);
}

static void bind_end(struct end *e)
{
	rdma_tool(e->side, "statistic qp bind link %s/1 lqpn %u", e->side->dev,
		  e->qp->qp_num);
}

/* ---- work ---- */

static void setup(const struct opt *a, const struct opt *b)
{
	pair_make(&p, a, b);
	mem_make(&ma, &sides[0], LEN, FULL_ACCESS);
	mem_make(&mb, &sides[1], LEN, FULL_ACCESS);
}

static void receives(struct end *e, int n)
{
	struct ibv_sge sge = sge_of(&mb, 0, 64);
	int i;

	for (i = 0; i < n; i++)
		must_be(post_recv(e, i, &sge, 1), 0);
}

/* Executes work request @op of @len bytes over @w, until it completes. */
static void one(struct pair *w, enum ibv_wr_opcode op, size_t len)
{
	struct ibv_sge sge = sge_of(&ma, 0, len);
	struct ibv_send_wr wr = wr_of(op, op, &sge, 1);

	if (op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = (uintptr_t)mb.p;
		wr.wr.atomic.rkey = mb.mr->rkey;
	} else if (op != IBV_WR_SEND) {
		wr_target(&wr, &mb, 0);
	}
	must_be(post_one(&w->a, &wr), 0);
	wc_want(w->a.scq, op, IBV_WC_SUCCESS);
}

/* Work that the other cases count: 3 + 2 * 3 + 1 + 1 packets */
static void work(struct pair *w)
{
	int i;

	receives(&w->b, SENDS);
	for (i = 0; i < SENDS; i++) {
		one(w, IBV_WR_SEND, 64);
		wc_want(w->b.rcq, i, IBV_WC_SUCCESS);
	}
	for (i = 0; i < WRITES; i++)
		one(w, IBV_WR_RDMA_WRITE, 2 * 4096 + 1);
	one(w, IBV_WR_RDMA_READ, 100);
	one(w, IBV_WR_ATOMIC_FETCH_AND_ADD, 8);
}

#define WORK_WRS	(SENDS + WRITES + 2)
#define WORK_PACKETS	(SENDS + 3 * WRITES + 2)

static __u32 psn_after(const struct end *e, int packets)
{
	return (e->psn + packets) & 0xffffff;
}

/* ---- resources ---- */

static void queue_pair(void)
{
	__u32 psn;

	setup(NULL, NULL);
	psn = p.a.psn;
	look(&sides[0], "qp", IS("lqpn", p.a.qp->qp_num),
	     IS("drv_sq_head", 0), IS("drv_sq_cur", 0), IS("drv_sq_tail", 0),
	     IS("drv_psn", psn), IS("drv_una_psn", psn), IS("drv_next_psn", psn),
	     IS("drv_retry_left", 7), IS("drv_rnr_left", 7),
	     IS("drv_srtt_ns", 0), IS("drv_timer_ns", 0));
	work(&p);
	receives(&p.b, RECVS);
	psn = psn_after(&p.a, WORK_PACKETS);
	look(&sides[0], "qp", IS("lqpn", p.a.qp->qp_num),
	     IS("drv_sq_head", WORK_WRS), IS("drv_sq_cur", WORK_WRS),
	     IS("drv_sq_tail", WORK_WRS),
	     IS("drv_psn", psn), IS("drv_una_psn", psn), IS("drv_next_psn", psn),
	     IS("drv_reads_out", 0), IS("drv_rnr_wait", 0),
	     OVER("drv_srtt_ns", 0), IS("drv_timer_ns", 0));
	look(&sides[1], "qp", IS("lqpn", p.b.qp->qp_num),
	     IS("drv_expected_psn", psn), IS("drv_msn", WORK_WRS),
	     IS("drv_early", 0), IS("drv_read_left", 0), IS("drv_ack_due", 0),
	     IS("drv_rq_entries", 64), IS("drv_rq_head", SENDS),
	     IS("drv_rq_posted", RECVS), IS("drv_rx_bytes", 0));
}

/* The RNR wait of a requester is visible. */
static void waiting(void)
{
	struct opt b = opt_default;
	struct ibv_send_wr wr;
	struct ibv_sge sge;

	b.min_rnr = 0;	/* 655 ms */
	setup(NULL, &b);
	sge = sge_of(&ma, 0, 64);
	wr = wr_of(1, IBV_WR_SEND, &sge, 1);
	must_be(post_one(&p.a, &wr), 0);
	look(&sides[0], "qp", IS("lqpn", p.a.qp->qp_num),
	     IS("drv_rnr_wait", 1), OVER("drv_timer_ns", 0),
	     WORD("drv_limit", "peer"),
	     IS("drv_sq_head", 0), IS("drv_sq_tail", 1),
	     IS("drv_una_psn", p.a.psn), IS("drv_psn", psn_after(&p.a, 1)));
	receives(&p.b, 1);
	wc_want(p.a.scq, 1, IBV_WC_SUCCESS);
}

/* The address of @s as text, as the rdma tool prints it */
static const char *address(const struct side *s)
{
	static const __u8 ipv4[12] = { [10] = 0xff, [11] = 0xff };
	static char text[INET6_ADDRSTRLEN];
	bool short_one = !memcmp(s->gid.raw, ipv4, sizeof(ipv4));

	must(inet_ntop(short_one ? AF_INET : AF_INET6,
		       s->gid.raw + (short_one ? sizeof(ipv4) : 0), text,
		       sizeof(text)));
	return text;
}

/* Looks at the traffic of work(), by queue pairs on these two sides. */
static void look_carried(struct side *a, struct side *b)
{
	look(a, "qp", IS("lqpn", p.a.qp->qp_num),
	     IS("drv_data_out", SENDS * 64 + WRITES * (2 * 4096 + 1)),
	     IS("drv_data_in", 100), IS("drv_messages_out", WORK_WRS),
	     IS("drv_messages_in", 0), IS("drv_marked", 0), IS("drv_cnps", 0),
	     WORD("drv_limit", "application"), WORD("drv_peer", address(b)));
	look(b, "qp", IS("lqpn", p.b.qp->qp_num),
	     IS("drv_data_in", SENDS * 64 + WRITES * (2 * 4096 + 1)),
	     IS("drv_data_out", 100), IS("drv_messages_in", WORK_WRS),
	     IS("drv_messages_out", 0), WORD("drv_limit", "application"),
	     WORD("drv_peer", address(a)));
}

static void carried(void)
{
	setup(NULL, NULL);
	look(&sides[0], "qp", IS("lqpn", p.a.qp->qp_num),
	     IS("drv_data_out", 0), IS("drv_data_in", 0),
	     IS("drv_messages_out", 0), IS("drv_messages_in", 0),
	     IS("drv_retransmitted", 0), IS("drv_lost", 0));
	work(&p);
	look_carried(&sides[0], &sides[1]);
	must_be(to_state(&p.a, IBV_QPS_RESET), 0);
	look(&sides[0], "qp", IS("lqpn", p.a.qp->qp_num),
	     IS("drv_data_out", 0), IS("drv_messages_out", 0));
}

static void carried_by_loopback(void)
{
	end_make(&p.a, &sides[0], &opt_default);
	end_make(&p.b, &sides[0], &opt_default);
	connect_pair(&p);
	mem_make(&ma, &sides[0], LEN, FULL_ACCESS);
	mem_make(&mb, &sides[0], LEN, FULL_ACCESS);
	work(&p);
	look_carried(&sides[0], &sides[0]);
}

/* Nothing is acknowledged: requests are limited by the window, or by their number. */
static void limits(void)
{
	struct opt a = opt_default;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	int i;

	a.timeout = 21;	/* 8 s */
	setup(&a, NULL);
	must_be(to_state(&p.b, IBV_QPS_RESET), 0);
	sge = sge_of(&ma, 0, LEN);
	for (i = 0; i < a.send_wr; i++) {
		wr = wr_of(i, IBV_WR_RDMA_WRITE, &sge, 1);
		wr_target(&wr, &mb, 0);
		must_be(post_one(&p.a, &wr), 0);
	}
	look(&sides[0], "qp", IS("lqpn", p.a.qp->qp_num),
	     WORD("drv_limit", "window"));
	a.rd_atomic = 1;
	setup(&a, NULL);
	must_be(to_state(&p.b, IBV_QPS_RESET), 0);
	sge = sge_of(&ma, 0, 8);
	for (i = 0; i < 2; i++) {
		wr = wr_of(i, IBV_WR_RDMA_READ, &sge, 1);
		wr_target(&wr, &mb, 0);
		must_be(post_one(&p.a, &wr), 0);
	}
	look(&sides[0], "qp", IS("lqpn", p.a.qp->qp_num),
	     WORD("drv_limit", "reads"));
}

static long long wall_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Values of 64 bits are whole: the address of a WRITE that is refused, and when it was. */
static void wide(void)
{
	long long before = wall_clock();
	struct ibv_send_wr wr;
	struct ibv_sge sge;

	setup(NULL, NULL);
	sge = sge_of(&ma, 0, 64);
	wr = wr_of(1, IBV_WR_RDMA_WRITE, &sge, 1);
	wr_target(&wr, &mb, LEN);
	wr.wr.rdma.remote_addr |= 1ULL << 62;
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 1, IBV_WC_REM_ACCESS_ERR);
	look(&sides[1], "qp", IS("lqpn", p.b.qp->qp_num),
	     IS("drv_failure_addr", wr.wr.rdma.remote_addr),
	     OVER("drv_failure_time", before - 1),
	     UNDER("drv_failure_time", wall_clock() + 1));
}

#define MEMOPS	600

/* Operation @i of a series that alternately binds @mw to @ma and invalidates it */
static struct ibv_send_wr memop_of(int i, struct ibv_mw *mw, __u32 *key)
{
	struct ibv_send_wr wr = wr_of(i, i % 2 ? IBV_WR_BIND_MW :
				      IBV_WR_LOCAL_INV, NULL, 0);

	wr.send_flags = i == MEMOPS ? IBV_SEND_SIGNALED : 0;
	if (i % 2) {
		wr.bind_mw.mw = mw;
		wr.bind_mw.rkey = *key;
		wr.bind_mw.bind_info = (struct ibv_mw_bind_info) {
			.mr = ma.mr,
			.addr = (uintptr_t)ma.p,
			.length = 64,
			.mw_access_flags = IBV_ACCESS_REMOTE_READ,
		};
	} else {
		wr.invalidate_rkey = *key;
		*key = ibv_inc_rkey(*key);
	}
	return wr;
}

/*
 * A SEND that is not acknowledged, followed by memory operations.  No more of them are
 * executed ahead of it than fit into two windows.  All are posted at once, so that they
 * can be examined before the SEND is retransmitted.
 */
static void memops_wait(void)
{
	static struct ibv_send_wr wr[MEMOPS + 1];
	struct opt a = opt_default;
	struct ibv_send_wr *bad;
	struct ibv_sge sge;
	struct ibv_mw *mw;
	__u32 key;
	int i;

	a.send_wr = MEMOPS + 1;
	a.timeout = 21;	/* 8 s */
	setup(&a, NULL);
	mem_own(&ma, sides[0].pd, FULL_ACCESS | IBV_ACCESS_MW_BIND);
	mw = mw_make(sides[0].pd, IBV_MW_TYPE_2);
	must_be(to_state(&p.b, IBV_QPS_RESET), 0);
	sge = sge_of(&ma, 0, 64);
	wr[0] = wr_of(0, IBV_WR_SEND, &sge, 1);
	key = ibv_inc_rkey(mw->rkey);
	for (i = 1; i <= MEMOPS; i++) {
		wr[i] = memop_of(i, mw, &key);
		wr[i - 1].next = &wr[i];
	}
	must_be(ibv_post_send(p.a.qp, wr, &bad), 0);
	look(&sides[0], "qp", IS("lqpn", p.a.qp->qp_num), IS("drv_sq_head", 0),
	     OVER("drv_sq_cur", 1),
	     WITHIN("drv_sq_cur", "drv_sq_head", 2 * 128 + 1));

	/* The peer is back, and all operations are executed. */
	must_be(to_init(&p.b), 0);
	must_be(to_rtr(&p.b, &p.a), 0);
	receives(&p.b, 1);
	wc_want(p.a.scq, 0, IBV_WC_SUCCESS);
	wc_want(p.a.scq, MEMOPS, IBV_WC_SUCCESS);
}

static void completion_queue(void)
{
	struct opt a = opt_default;
	int i;

	a.cqe = 500;
	setup(&a, NULL);
	for (i = 0; i < 3; i++)
		one(&p, IBV_WR_RDMA_WRITE, 1);
	look(&sides[0], "cq", IS("drv_prod", 3),
	     IS("drv_entries", 512), IS("drv_cons", 3), IS("drv_overrun", 0),
	     IS("pid", getpid()), WORD("drv_armed", "none"));
	must_be(ibv_req_notify_cq(p.a.scq, 1), 0);
	look(&sides[0], "cq", IS("drv_prod", 3),
	     WORD("drv_armed", "solicited"));
	must_be(ibv_req_notify_cq(p.a.scq, 0), 0);
	look(&sides[0], "cq", IS("drv_prod", 3), WORD("drv_armed", "next"));
}

static void overrun(void)
{
	struct opt a = opt_default;
	struct ibv_send_wr wr;
	int i;

	a.cqe = 4;
	setup(&a, NULL);
	for (i = 0; i < 5; i++) {
		wr = wr_of(i, IBV_WR_RDMA_WRITE, NULL, 0);
		wr_target(&wr, &mb, 0);
		must_be(post_one(&p.a, &wr), 0);
	}
	look(&sides[0], "cq", IS("drv_overrun", 1), IS("drv_entries", 4),
	     IS("pid", getpid()), DIFF("drv_prod", "drv_cons", 4));
}

static void region(void)
{
	struct ibv_mw_bind bind = {
		.bind_info = { .length = 64 },
	};
	struct mem m;

	setup(NULL, NULL);
	mem_make(&m, &sides[0], 12345, FULL_ACCESS | IBV_ACCESS_MW_BIND);
	look(&sides[0], "mr", IS("mrlen", 12345), IS("pid", getpid()),
	     WORD("drv_kind", "user"), WORD("drv_state", "valid"),
	     IS("drv_access", FULL_ACCESS | IBV_ACCESS_MW_BIND),
	     OVER("drv_block_shift", 11), OVER("drv_blocks", 0),
	     IS("drv_windows", 0), IS("drv_users", 0));
	bind.bind_info.mr = m.mr;
	bind.bind_info.addr = (uintptr_t)m.p;
	bind.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_READ;
	must_be(ibv_bind_mw(p.a.qp, mw_make(sides[0].pd, IBV_MW_TYPE_1), &bind),
		0);
	look(&sides[0], "mr", IS("mrlen", 12345), IS("drv_windows", 1));
}

static void shared_queue(void)
{
	struct ibv_srq_attr attr = { .srq_limit = 3 };
	struct opt b = opt_default;
	struct ibv_srq *srq;
	int i;

	if (kernel_before(6, 12))
		case_skip("kernels before 6.12 do not query drivers about SRQs");
	srq = srq_make(&sides[1], NULL, 30, 2);
	b.srq = srq;
	setup(NULL, &b);
	for (i = 0; i < 5; i++)
		must_be(post_srq(srq, i, NULL, 0), 0);
	must_be(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), 0);
	look(&sides[1], "srq", IS("drv_entries", 32), IS("drv_posted", 5),
	     IS("drv_limit", 3), IS("drv_head", 0));
	for (i = 0; i < 3; i++)
		one(&p, IBV_WR_SEND, 0);
	look(&sides[1], "srq", IS("drv_entries", 32), IS("drv_posted", 2),
	     IS("drv_limit", 0), IS("drv_head", 3));
}

/* ---- counters of queue pairs ---- */

/* The counter of @e shows the work of work() @times over. */
static void look_worked(struct end *e, int times)
{
	look(e->side, "counter", IS("lqpn", e->qp->qp_num),
	     IS("rdma_sends", times * SENDS), IS("rdma_writes", times * WRITES),
	     IS("rdma_reads", times), IS("rdma_atomics", times),
	     IS("req_cqe_error", 0),
	     DIFF("sent_pkts", "retrans_pkts", times * WORK_PACKETS));
}

static void bound(void)
{
	struct pair other;

	setup(NULL, NULL);
	pair_make(&other, NULL, NULL);
	bind_end(&p.a);
	bind_end(&p.b);
	work(&other);
	look(&sides[0], "counter", IS("lqpn", p.a.qp->qp_num),
	     IS("sent_pkts", 0), IS("rcvd_pkts", 0), IS("doorbell_syscalls", 0));
	work(&p);
	work(&other);
	look_worked(&p.a, 1);
	look(&sides[1], "counter", IS("lqpn", p.b.qp->qp_num),
	     IS("rdma_recvs", SENDS), IS("rx_write_requests", WRITES),
	     IS("rx_read_requests", 1), IS("rx_atomic_requests", 1),
	     DIFF("rcvd_pkts", "duplicate_request", WORK_PACKETS));
}

/* Events that concern no particular queue pair are not in its counter. */
static void of_the_device(void)
{
	struct fact names[] = {
		OVER("link_downed", -1),
		OVER("rx_bad_pkey", -1),
		OVER("rx_bad_qkey", -1),
	};
	const char *object, *end;
	size_t i;

	setup(NULL, NULL);
	bind_end(&p.a);
	look(&sides[0], "counter", IS("lqpn", p.a.qp->qp_num),
	     IS("rx_bad_state", 0));
	for (i = 0; i < ARRAY_SIZE(names); i++)
		must_be(find(&names[i], &object, &end), 0);
}

/* Once its counter is unbound, a queue pair counts for the device only. */
static void unbound(void)
{
	setup(NULL, NULL);
	bind_end(&p.a);
	work(&p);
	look_worked(&p.a, 1);
	rdma_tool(&sides[0], "statistic qp unbind link %s/1 cntn %u lqpn %u",
		  sides[0].dev, counted(&p.a, "cntn"), p.a.qp->qp_num);
	no_counter(&p.a);
	work(&p);
}

static void two_in_one(void)
{
	struct pair other;

	setup(NULL, NULL);
	pair_make(&other, NULL, NULL);
	bind_end(&p.a);
	rdma_tool(&sides[0], "statistic qp bind link %s/1 lqpn %u cntn %u",
		  sides[0].dev, other.a.qp->qp_num, counted(&p.a, "cntn"));
	work(&p);
	work(&other);
	look_worked(&p.a, 2);
	look_worked(&other.a, 2);
	end_destroy_qp(&p.a);
	work(&other);
	look(&sides[0], "counter", IS("lqpn", other.a.qp->qp_num),
	     IS("rdma_sends", 3 * SENDS));
}

/* The script has configured one counter per type of queue pair. */
static void automatic(void)
{
	struct opt uc = opt_default;
	struct pair other, third;

	setup(NULL, NULL);
	uc.type = IBV_QPT_UC;
	pair_make(&other, NULL, NULL);
	pair_make(&third, &uc, &uc);
	work(&p);
	work(&other);
	look_worked(&p.a, 2);
	look_worked(&other.a, 2);
	look(&sides[0], "counter", IS("lqpn", third.a.qp->qp_num),
	     IS("rdma_sends", 0), IS("rdma_writes", 0));
	one(&third, IBV_WR_RDMA_WRITE, 100);
	look(&sides[0], "counter", IS("lqpn", third.a.qp->qp_num),
	     IS("rdma_writes", 1), IS("sent_pkts", 1));
}

static void refused(void)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;

	setup(NULL, NULL);
	bind_end(&p.a);
	bind_end(&p.b);
	receives(&p.b, 2);
	sge = sge_of(&ma, 0, 64);
	wr = wr_of(1, IBV_WR_RDMA_WRITE, &sge, 1);
	wr_target(&wr, &mb, LEN);
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 1, IBV_WC_REM_ACCESS_ERR);
	wr = wr_of(2, IBV_WR_RDMA_WRITE, &sge, 1);
	wr_target(&wr, &mb, 0);
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 2, IBV_WC_WR_FLUSH_ERR);
	look(&sides[0], "counter", IS("lqpn", p.a.qp->qp_num),
	     IS("req_remote_access_errors", 1), IS("req_cqe_error", 1),
	     IS("req_cqe_flush_error", 1), IS("rdma_writes", 0));
	look(&sides[1], "counter", IS("lqpn", p.b.qp->qp_num),
	     IS("resp_remote_access_errors", 1), IS("resp_cqe_error", 0),
	     IS("resp_cqe_flush_error", 2));
}

static void too_long(void)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;

	setup(NULL, NULL);
	bind_end(&p.b);
	receives(&p.b, 1);
	sge = sge_of(&ma, 0, 65);
	wr = wr_of(1, IBV_WR_SEND, &sge, 1);
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 1, IBV_WC_REM_INV_REQ_ERR);
	wc_want(p.b.rcq, 0, IBV_WC_LOC_LEN_ERR);
	look(&sides[1], "counter", IS("lqpn", p.b.qp->qp_num),
	     IS("resp_local_length_error", 1), IS("resp_cqe_error", 1),
	     IS("rdma_recvs", 0));
}

/* The script drops the second packet that a sends. */
static void lost(void)
{
	setup(NULL, NULL);
	bind_end(&p.a);
	bind_end(&p.b);
	one(&p, IBV_WR_RDMA_WRITE, 3 * 4096 + 1);
	look(&sides[0], "counter", IS("lqpn", p.a.qp->qp_num),
	     OVER("retrans_pkts", 0), OVER("go_back", 0), IS("rdma_writes", 1),
	     OVER("sack_rcvd", 0), REST("sent_pkts", "retrans_pkts", "sack_sent", 4));
	look(&sides[1], "counter", IS("lqpn", p.b.qp->qp_num),
	     OVER("out_of_sequence", 0), IS("out_of_seq_request", 1),
	     OVER("sack_sent", 0), IS("rx_write_requests", 1));
}

/* What is retransmitted is counted apart; what is lost, by the end that finds out. */
static void lost_request(void)
{
	setup(NULL, NULL);
	one(&p, IBV_WR_RDMA_WRITE, 3 * 4096 + 1);
	look(&sides[0], "qp", IS("lqpn", p.a.qp->qp_num),
	     IS("drv_data_out", 3 * 4096 + 1), IS("drv_messages_out", 1),
	     OVER("drv_retransmitted", 0), OVER("drv_lost", 0));
	look(&sides[1], "qp", IS("lqpn", p.b.qp->qp_num),
	     IS("drv_data_in", 3 * 4096 + 1), IS("drv_messages_in", 1),
	     IS("drv_retransmitted", 0), IS("drv_lost", 1));
}

/* The script drops the second packet that b sends. */
static void lost_response(void)
{
	setup(NULL, NULL);
	one(&p, IBV_WR_RDMA_READ, 3 * 4096 + 1);
	look(&sides[0], "qp", IS("lqpn", p.a.qp->qp_num),
	     IS("drv_data_in", 3 * 4096 + 1), IS("drv_messages_out", 1),
	     OVER("drv_retransmitted", 0), OVER("drv_lost", 0));
	look(&sides[1], "qp", IS("lqpn", p.b.qp->qp_num),
	     IS("drv_data_out", 3 * 4096 + 1), OVER("drv_messages_in", 0),
	     OVER("drv_retransmitted", 0));
}

/* The script drops the last packet of an unsignalled message. */
static void lost_tail(void)
{
	struct ibv_send_wr wr;
	struct opt a = opt_default;
	struct ibv_sge sge;
	__u64 end = 0;

	a.timeout = 0;
	setup(&a, NULL);
	bind_end(&p.a);
	fill(ma.p, 4097, 7);
	mb.p[4096] = ~ma.p[4096];
	sge = sge_of(&ma, 0, 4097);
	wr = wr_of(1, IBV_WR_RDMA_WRITE, &sge, 1);
	wr.send_flags = 0;
	wr_target(&wr, &mb, 0);
	must_be(post_one(&p.a, &wr), 0);
	while (__atomic_load_n(&mb.p[4096], __ATOMIC_ACQUIRE) != ma.p[4096])
		wait_turn(&end, "data");
	same(mb.p, 4097, 7, "the write");
	look(&sides[0], "counter", IS("lqpn", p.a.qp->qp_num),
	     OVER("retrans_pkts", 0), IS("local_ack_timeout_err", 0));
	wc_none(p.a.scq, 0);
}

/* Unsignalled requests are acknowledged only when the requester asks for it. */
static void unsignaled(void)
{
	struct ibv_send_wr wr[48], *bad;
	struct ibv_sge sge;
	int i;

	setup(NULL, NULL);
	bind_end(&p.a);
	bind_end(&p.b);
	sge = sge_of(&ma, 0, 8);
	for (i = 0; i < 48; i++) {
		wr[i] = wr_of(0, IBV_WR_RDMA_WRITE, &sge, 1);
		wr_target(&wr[i], &mb, 0);
		wr[i].send_flags = i < 47 ? 0 : IBV_SEND_SIGNALED;
		wr[i].next = i < 47 ? &wr[i + 1] : NULL;
	}
	/* at once: a queue that runs empty may request more ACKs */
	must_be(ibv_post_send(p.a.qp, wr, &bad), 0);
	wc_want(p.a.scq, 0, IBV_WC_SUCCESS);
	look(&sides[0], "counter", IS("lqpn", p.a.qp->qp_num),
	     IS("rdma_writes", 48));
	/* ACKs: the first, one in 16 or 32, the last, and each retransmission */
	look(&sides[1], "counter", IS("lqpn", p.b.qp->qp_num),
	     OVER("sent_pkts", 0),
	     UNDER("sent_pkts", 6 + counted(&p.a, "retrans_pkts")));
}

/* The device is deleted while its queue pair is bound to a counter. */
static void unplugged(void)
{
	setup(NULL, NULL);
	bind_end(&p.a);
	work(&p);
	look_worked(&p.a, 1);
	rdma_tool(&sides[0], "link delete %s", sides[0].dev);
}

/* A WRITE of one packet, for scripts that trace it */
static void one_write(void)
{
	setup(NULL, NULL);
	one(&p, IBV_WR_RDMA_WRITE, 100);
}

/* For scripts that look at a pair after work(), and an idle one, until they close the input */
static void held(void)
{
	struct pair idle;
	char line[16];

	setup(NULL, NULL);
	pair_make(&idle, NULL, NULL);
	work(&p);
	printf("# queue pairs: %u %u %u\n", p.a.qp->qp_num, p.b.qp->qp_num,
	       idle.a.qp->qp_num);
	fflush(stdout);
	must(!fgets(line, sizeof(line), stdin));
}

static const struct vrb_case observe_cases[] = {
	{ "resource", "queue pair", queue_pair },
	{ "resource", "traffic", carried },
	{ "resource", "traffic by loopback", carried_by_loopback },
	{ "resource", "what limits a requester", limits },
	{ "resource", "values of 64 bits", wide },
	{ "resource", "queue pair in RNR wait", waiting },
	{ "resource", "memory operations behind a send", memops_wait },
	{ "resource", "completion queue", completion_queue },
	{ "resource", "completion queue after an overrun", overrun },
	{ "resource", "memory region", region },
	{ "resource", "shared receive queue", shared_queue },
	{ "counter", "bound", bound },
	{ "counter", "device counters", of_the_device },
	{ "counter", "unbound", unbound },
	{ "counter", "two queue pairs in one", two_in_one },
	{ "counter", "refused access", refused },
	{ "counter", "too long", too_long },
	{ "automatic", "by type", automatic },
	{ "counter", "acknowledgments", unsignaled },
	{ "lost", "packet", lost },
	{ "lost_request", "packet", lost_request },
	{ "lost_response", "packet", lost_response },
	{ "lost_tail", "packet", lost_tail },
	{ "traced", "one write", one_write },
	{ "held", "after work", held },
	{ "unplugged", "while bound", unplugged },
};

VRB_CASES(observe_cases);
