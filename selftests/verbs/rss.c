// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: work queues and hashing
 *
 * The expected queue is computed here, from Microsoft's definition: "the hash is
 * the XOR of the 32 leftmost bits of the key, shifted left by i, for each bit i
 * that is set in the input".
 */
#include <unistd.h>

#include "../../include/uapi/rdma/srnic-abi.h"
#include "frames.h"

#define LOG_TABLE	3
#define TABLE		8
#define QUEUES		4
#define FRAMES		64
#define KEY_BYTES	40

static const __u8 key[KEY_BYTES] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2,
	0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0,
	0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4,
	0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c,
	0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

static __u8 frame[FRAME_MAX];

static bool key_bit(size_t i)
{
	return key[i / 8] >> (7 - i % 8) & 1;
}

static __u32 toeplitz(const __u8 *input, size_t len)
{
	__u32 hash = 0, word;
	size_t i, j;

	for (i = 0; i < len * 8; i++) {
		if (!(input[i / 8] >> (7 - i % 8) & 1))
			continue;
		for (word = 0, j = 0; j < 32; j++)
			word = word << 1 | key_bit(i + j);
		hash ^= word;
	}
	return hash;
}

/* ---- making ---- */

struct queue {
	struct ibv_cq	*cq;
	struct ibv_wq	*wq;
	struct mem	m;
	__u64		next;
};

static int wq_state(struct ibv_wq *wq, enum ibv_wq_state state)
{
	struct ibv_wq_attr attr = {
		.attr_mask = IBV_WQ_ATTR_STATE,
		.wq_state = state,
	};

	return ibv_modify_wq(wq, &attr);
}

static int wq_post(struct queue *q, __u64 id, struct ibv_sge *sge)
{
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	return ibv_post_wq_recv(q->wq, &wr, &bad);
}

static void queue_make(struct queue *q, int wr)
{
	struct ibv_wq_init_attr init = {
		.wq_type = IBV_WQT_RQ,
		.max_wr = wr,
		.max_sge = 1,
		.pd = sides[1].pd,
	};

	q->cq = cq_make(&sides[1], 2 * FRAMES, NULL);
	init.cq = q->cq;
	q->wq = ibv_create_wq(sides[1].ctx, &init);
	wq_own(q->wq);
	must(init.max_wr >= (__u32)wr && init.max_sge >= 1);
	mem_make(&q->m, &sides[1], FRAME_MAX, FULL_ACCESS);
	q->next = 0;
}

static void queue_post(struct queue *q, int n)
{
	struct ibv_sge sge = sge_of(&q->m, 0, FRAME_MAX);
	int i;

	for (i = 0; i < n; i++)
		must_be(wq_post(q, i, &sge), 0);
}

static struct ibv_rwq_ind_table *table_make(struct queue *q, int log)
{
	struct ibv_wq *wqs[TABLE];
	struct ibv_rwq_ind_table_init_attr init = {
		.log_ind_tbl_size = log,
		.ind_tbl = wqs,
	};
	struct ibv_rwq_ind_table *table;
	int i;

	for (i = 0; i < 1 << log; i++)
		wqs[i] = q[i % QUEUES].wq;
	table = ibv_create_rwq_ind_table(sides[1].ctx, &init);
	table_own(table);
	return table;
}

static struct ibv_qp_init_attr_ex rss_attr(struct ibv_rwq_ind_table *table,
					   __u64 fields)
{
	return (struct ibv_qp_init_attr_ex) {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE |
			     IBV_QP_INIT_ATTR_RX_HASH,
		.pd = sides[1].pd,
		.rwq_ind_tbl = table,
		.rx_hash_conf = {
			.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
			.rx_hash_key_len = KEY_BYTES,
			.rx_hash_key = (__u8 *)key,
			.rx_hash_fields_mask = fields,
		},
	};
}

static struct ibv_qp *rss_make(struct ibv_rwq_ind_table *table, __u64 fields)
{
	struct ibv_qp_init_attr_ex attr = rss_attr(table, fields);
	struct ibv_qp *qp = ibv_create_qp_ex(sides[1].ctx, &attr);

	qp_own(qp);
	return qp;
}

static void rss_refused(struct ibv_qp_init_attr_ex *attr, int err)
{
	struct ibv_qp *qp = ibv_create_qp_ex(sides[1].ctx, attr);

	if (qp)
		qp_own(qp);
	must(!qp);
	must_be(errno, err);
}

static void queues_make(struct queue *q)
{
	int i;

	for (i = 0; i < QUEUES; i++) {
		queue_make(&q[i], FRAMES);
		must_be(wq_state(q[i].wq, IBV_WQS_RDY), 0);
		queue_post(&q[i], FRAMES);
	}
}

/* ---- the cases ---- */

/* Fields of the frame that are hashed, as offsets from the IP header */
struct part {
	__u64	field;
	int	offset;
	int	len;
};

static const struct part parts4[] = {
	{ IBV_RX_HASH_SRC_IPV4, 12, 4 },
	{ IBV_RX_HASH_DST_IPV4, 16, 4 },
	{ IBV_RX_HASH_SRC_PORT_UDP, 20, 2 },
	{ IBV_RX_HASH_DST_PORT_UDP, 22, 2 },
	{ }
};

static const struct part parts6[] = {
	{ IBV_RX_HASH_SRC_IPV6, 8, 16 },
	{ IBV_RX_HASH_DST_IPV6, 24, 16 },
	{ IBV_RX_HASH_SRC_PORT_TCP, 40, 2 },
	{ IBV_RX_HASH_DST_PORT_TCP, 42, 2 },
	{ }
};

static __u32 hash_of(const __u8 *ip, const struct part *part, __u64 fields)
{
	__u8 input[36];
	size_t len = 0;

	for (; part->field; part++) {
		if (!(part->field & fields))
			continue;
		memcpy(input + len, ip + part->offset, part->len);
		len += part->len;
	}
	return toeplitz(input, len);
}

static struct frame rss_frame(int i, int ip)
{
	static char saddr[64], daddr[64];
	struct frame f = frame_default();

	f.ip = ip;
	f.proto = ip == 4 ? IPPROTO_UDP : IPPROTO_TCP;
	snprintf(saddr, sizeof(saddr), ip == 4 ? "10.77.%d.%d" : "fd77::%x:%x",
		 i % 5, i * 7 % 250);
	snprintf(daddr, sizeof(daddr), ip == 4 ? "10.78.%d.%d" : "fd78::%x:%x",
		 i % 3, i * 3 % 250);
	f.saddr = saddr;
	f.daddr = daddr;
	f.sport = 1000 + i * 13;
	f.dport = 2000 + i * 17;
	f.seed = i;
	return f;
}

/* Each frame arrives in the queue that the hash selects, and in no other. */
static void spread(int ip, __u64 fields)
{
	const struct part *parts = ip == 4 ? parts4 : parts6;
	struct rule r = rule_of(IBV_FLOW_ATTR_NORMAL, 0, 0);
	int fd = sock_frames(&sides[0], 0);
	struct ibv_flow_spec_eth eth = {
		.type = IBV_FLOW_SPEC_ETH,
		.size = sizeof(eth),
		.val.src_mac = { 2, 0, 0, 0, 0, 9 },
	};
	int per_queue[QUEUES] = {};
	struct queue q[QUEUES];
	struct frame f;
	struct ibv_wc wc;
	int i, j, used = 0;
	size_t len;

	queues_make(q);
	memset(eth.mask.src_mac, 0xff, 6);
	rule_add(&r, &eth, sizeof(eth));
	flow_make(rss_make(table_make(q, LOG_TABLE), fields), &r);
	for (i = 0; i < FRAMES; i++) {
		f = rss_frame(i, ip);
		memcpy(f.smac, eth.val.src_mac, 6);
		len = sock_frame(fd, &f, frame);
		j = hash_of(frame + 14, parts, fields) % TABLE % QUEUES;
		wc = wc_want(q[j].cq, q[j].next++, IBV_WC_SUCCESS);
		must_be(wc.byte_len, len);
		must_be(wc.qp_num, q[j].wq->wq_num);
		must(!memcmp(q[j].m.p, frame, len));
		per_queue[j]++;
	}
	for (j = 0; j < QUEUES; j++) {
		wc_none(q[j].cq, 0);
		used += !!per_queue[j];
	}
	/* the frames must not all go to the same queue */
	must(used > 1);
}

#define ADDRS4	(IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4)
#define ADDRS6	(IBV_RX_HASH_SRC_IPV6 | IBV_RX_HASH_DST_IPV6)
#define UDP	(IBV_RX_HASH_SRC_PORT_UDP | IBV_RX_HASH_DST_PORT_UDP)
#define TCP	(IBV_RX_HASH_SRC_PORT_TCP | IBV_RX_HASH_DST_PORT_TCP)

static void rss_ipv4(void)
{
	spread(4, ADDRS4);
}

static void rss_ipv4_src(void)
{
	spread(4, IBV_RX_HASH_SRC_IPV4);
}

static void rss_udp(void)
{
	spread(4, ADDRS4 | UDP);
}

static void rss_port(void)
{
	spread(4, IBV_RX_HASH_DST_PORT_UDP);
}

static void rss_ipv6(void)
{
	spread(6, ADDRS6);
}

static void rss_tcp(void)
{
	spread(6, ADDRS6 | TCP);
}

/* Without hash fields there is one queue; frames other than IP go to the first. */
static void rss_none(void)
{
	struct rule r = rule_udp(0, 2222, 0);
	int fd = sock_frames(&sides[0], 0);
	struct frame f = frame_default();
	struct ibv_flow_spec_eth eth = {
		.type = IBV_FLOW_SPEC_ETH,
		.size = sizeof(eth),
		.val.ether_type = htons(ETH_EXP),
		.mask.ether_type = 0xffff,
	};
	struct queue q[QUEUES];

	queues_make(q);
	flow_make(rss_make(table_make(q, 0), 0), &r);
	sock_frame(fd, &f, frame);
	wc_want(q[0].cq, 0, IBV_WC_SUCCESS);

	r = rule_of(IBV_FLOW_ATTR_NORMAL, 0, 0);
	rule_add(&r, &eth, sizeof(eth));
	flow_make(rss_make(table_make(q, LOG_TABLE), ADDRS4), &r);
	f.ip = 0;
	f.type = ETH_EXP;
	sock_frame(fd, &f, frame);
	wc_want(q[0].cq, 1, IBV_WC_SUCCESS);
}

static void rss_borders(void)
{
	struct ibv_qp_init_attr_ex attr;
	struct ibv_rwq_ind_table *table;
	struct queue q[QUEUES];

	queues_make(q);
	table = table_make(q, LOG_TABLE);
	attr = rss_attr(table, 0);
	rss_refused(&attr, EINVAL);		/* several queues without hash fields */
	attr = rss_attr(table, ADDRS4 | ADDRS6);
	rss_refused(&attr, EINVAL);
	attr = rss_attr(table, ADDRS4 | UDP | TCP);
	rss_refused(&attr, EINVAL);
	attr = rss_attr(table, ADDRS4 | 1ULL << 8);
	rss_refused(&attr, EOPNOTSUPP);
	attr = rss_attr(table, ADDRS4 | 1ULL << 31);
	rss_refused(&attr, EOPNOTSUPP);
	attr = rss_attr(table, ADDRS4);
	attr.rx_hash_conf.rx_hash_key_len = 39;
	rss_refused(&attr, EINVAL);
	attr = rss_attr(table, ADDRS4);
	attr.rx_hash_conf.rx_hash_function = 2;
	rss_refused(&attr, EOPNOTSUPP);
	attr = rss_attr(table, ADDRS4);
	attr.comp_mask &= ~IBV_QP_INIT_ATTR_RX_HASH;
	rss_refused(&attr, EINVAL);
	attr = rss_attr(table, ADDRS4);
	attr.cap.max_recv_wr = 1;
	rss_refused(&attr, EINVAL);
	attr = rss_attr(table, ADDRS4);
	attr.qp_type = IBV_QPT_UD;
	rss_refused(&attr, EOPNOTSUPP);

	/* In use */
	must_be(ibv_destroy_wq(q[0].wq), EBUSY);
	rss_make(table, ADDRS4);
	must_be(ibv_destroy_rwq_ind_table(table), EBUSY);
}

/* An RSS queue pair that also has a send queue */
static void rss_sends(void)
{
	int fd = sock_frames(&sides[0], ETH_EXP);
	struct ibv_qp_attr mod = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct frame f = frame_default();
	struct ibv_qp_init_attr_ex attr;
	struct end e = { .side = &sides[1] };
	struct rule r = rule_udp(0, 2222, 0);
	struct queue q[QUEUES];
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	__u8 got[256];
	struct mem m;
	size_t len;

	queues_make(q);
	attr = rss_attr(table_make(q, 0), 0);
	attr.cap.max_send_wr = 4;
	attr.cap.max_send_sge = 1;
	e.scq = cq_make(&sides[1], 16, NULL);
	attr.send_cq = e.scq;
	e.qp = ibv_create_qp_ex(sides[1].ctx, &attr);
	qp_own(e.qp);
	must_be(ibv_modify_qp(e.qp, &mod, IBV_QP_STATE | IBV_QP_PORT), 0);
	must_be(to_state(&e, IBV_QPS_RTR), 0);
	must_be(to_state(&e, IBV_QPS_RTS), 0);

	mem_make(&m, &sides[1], FRAME_MAX, FULL_ACCESS);
	f.ip = 0;
	f.type = ETH_EXP;
	len = frame_make(&f, m.p);
	sge = sge_of(&m, 0, len);
	wr = wr_of(1, IBV_WR_SEND, &sge, 1);
	must_be(post_one(&e, &wr), 0);
	wc_want(e.scq, 1, IBV_WC_SUCCESS);
	must_be(sock_recv(fd, got, sizeof(got), BOUND), len);
	must(!memcmp(got, m.p, len));
	sge = sge_of(&m, 0, 64);
	must_be(post_recv(&e, 1, &sge, 1), EINVAL);

	f = frame_default();
	flow_make(e.qp, &r);
	sock_frame(fd, &f, frame);
	wc_want(q[0].cq, 0, IBV_WC_SUCCESS);
	/* A queue pair in error does not receive for its work queues. */
	must_be(to_state(&e, IBV_QPS_ERR), 0);
	sock_frame(fd, &f, frame);
	wc_none(q[0].cq, 0);
}

static void wq_states(void)
{
	struct ibv_wq_attr attr = {
		.attr_mask = IBV_WQ_ATTR_STATE | IBV_WQ_ATTR_CURR_STATE,
		.wq_state = IBV_WQS_RDY,
		.curr_wq_state = IBV_WQS_ERR,
	};
	struct rule r = rule_udp(0, 2222, 0);
	int fd = sock_frames(&sides[0], 0);
	struct frame f = frame_default();
	struct ibv_sge sge;
	struct queue q;
	int round;

	queue_make(&q, 4);
	sge = sge_of(&q.m, 0, FRAME_MAX);
	flow_make(rss_make(table_make(&q, 0), 0), &r);
	must_be(ibv_modify_wq(q.wq, &attr), EINVAL);
	must_be(wq_state(q.wq, IBV_WQS_ERR), EINVAL);
	for (round = 0; round < 2; round++) {
		/* RESET discards receives, also those posted in RESET */
		must_be(wq_post(&q, 9, &sge), 0);
		must_be(wq_state(q.wq, IBV_WQS_RESET), 0);
		must_be(wq_state(q.wq, IBV_WQS_RDY), 0);
		sock_frame(fd, &f, frame);
		must_be(wq_state(q.wq, IBV_WQS_ERR), 0);
		wc_none(q.cq, 10);
		must_be(wq_state(q.wq, IBV_WQS_RESET), 0);

		must_be(wq_post(&q, 1, &sge), 0);
		must_be(wq_post(&q, 2, &sge), 0);
		f.seed = 1;
		sock_frame(fd, &f, frame);	/* in RESET: dropped */
		must_be(wq_state(q.wq, IBV_WQS_RDY), 0);
		must_be(wq_state(q.wq, IBV_WQS_RDY), 0);
		f.seed = 2;
		sock_frame(fd, &f, frame);
		wc_want(q.cq, 1, IBV_WC_SUCCESS);
		must(!memcmp(q.m.p, frame, 142));
		must_be(wq_state(q.wq, IBV_WQS_ERR), 0);
		must_be(wc_want(q.cq, 2, IBV_WC_WR_FLUSH_ERR).qp_num,
			q.wq->wq_num);
		must_be(wq_post(&q, 3, &sge), 0);
		wc_want(q.cq, 3, IBV_WC_WR_FLUSH_ERR);
		sock_frame(fd, &f, frame);
		must_be(wq_state(q.wq, IBV_WQS_RDY), EINVAL);
		must_be(wq_post(&q, 4, &sge), 0);
		usleep(1000);
		must_be(wq_state(q.wq, IBV_WQS_RESET), 0);
		wc_none(q.cq, 0);	/* RESET removes CQEs that were not polled */
	}

	attr.attr_mask = IBV_WQ_ATTR_FLAGS;
	attr.flags = IBV_WQ_FLAGS_CVLAN_STRIPPING;
	attr.flags_mask = attr.flags;
	must_be(ibv_modify_wq(q.wq, &attr), EOPNOTSUPP);
}

/* Sets the kick flag of all rings, as if the queues were in error. */
static void rings_say_kick(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	struct srnic_ring_hdr *ring;
	unsigned long start;
	char line[512];

	must(maps);
	while (fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "uverbs") ||
		    sscanf(line, "%lx", &start) != 1)
			continue;
		ring = (struct srnic_ring_hdr *)start;
		ring->flags |= SRNIC_RING_KICK;
	}
	fclose(maps);
}

/* A post may observe the error state but ring after the queue has been made ready. */
static void wq_late_bell(void)
{
	struct ibv_wq_attr attr = {
		.attr_mask = IBV_WQ_ATTR_STATE | IBV_WQ_ATTR_CURR_STATE,
		.wq_state = IBV_WQS_RDY,
		.curr_wq_state = IBV_WQS_RDY,
	};
	struct ibv_sge sge;
	struct queue q;

	queue_make(&q, 4);
	sge = sge_of(&q.m, 0, FRAME_MAX);
	must_be(wq_state(q.wq, IBV_WQS_RDY), 0);
	rings_say_kick();
	must_be(wq_post(&q, 1, &sge), 0);
	must_be(ibv_modify_wq(q.wq, &attr), 0);
	wc_none(q.cq, 0);
}

/* An invalid receive ends the work queue; it is reported by its completion only. */
static void wq_fails(void)
{
	struct rule r = rule_udp(0, 2222, 0);
	int fd = sock_frames(&sides[0], 0);
	struct frame f = frame_default();
	struct ibv_sge sge;
	struct queue q;

	queue_make(&q, 4);
	must_be(wq_state(q.wq, IBV_WQS_RDY), 0);
	flow_make(rss_make(table_make(&q, 0), 0), &r);
	sge = sge_of(&q.m, 0, FRAME_MAX);
	sge.lkey ^= 1;
	must_be(wq_post(&q, 1, &sge), 0);
	must_be(wq_post(&q, 2, &sge), 0);
	sock_frame(fd, &f, frame);
	wc_want(q.cq, 1, IBV_WC_LOC_PROT_ERR);
	wc_want(q.cq, 2, IBV_WC_WR_FLUSH_ERR);
	event_none(&sides[1], IBV_EVENT_WQ_FATAL, 20);
}

static void wq_refused(struct ibv_wq_init_attr init, int err)
{
	struct ibv_wq *wq = ibv_create_wq(sides[1].ctx, &init);

	if (wq)
		wq_own(wq);
	must(!wq);
	must_be(errno, err);
}

static void wq_borders(void)
{
	struct ibv_wq_init_attr init = {
		.wq_type = IBV_WQT_RQ,
		.max_wr = 4,
		.max_sge = 1,
		.pd = sides[1].pd,
		.cq = cq_make(&sides[1], 4, NULL),
	}, bad;
	struct ibv_wq_attr late = {
		.attr_mask = IBV_WQ_ATTR_STATE | IBV_WQ_ATTR_CURR_STATE,
		.wq_state = IBV_WQS_RDY,
	};
	struct ibv_sge sge;
	struct queue q;
	int i;

	bad = init;
	bad.wq_type = IBV_WQT_RQ + 1;
	wq_refused(bad, EINVAL);
	bad = init;
	bad.max_wr = 0;
	wq_refused(bad, EINVAL);
	bad.max_wr = 1 << 30;
	wq_refused(bad, EINVAL);
	bad = init;
	bad.max_sge = 1000;
	wq_refused(bad, EINVAL);
	bad = init;
	bad.comp_mask = IBV_WQ_INIT_ATTR_FLAGS;
	bad.create_flags = IBV_WQ_FLAGS_SCATTER_FCS;
	wq_refused(bad, EOPNOTSUPP);

	queue_make(&q, 4);
	sge = sge_of(&q.m, 0, 64);
	for (i = 0; i < 4; i++)
		must_be(wq_post(&q, i, &sge), 0);
	must_be(wq_post(&q, i, &sge), ENOMEM);
	/* refused transitions leave the state unchanged, as shown by a later one */
	must_be(wq_state(q.wq, IBV_WQS_UNKNOWN), EINVAL);
	late.curr_wq_state = IBV_WQS_UNKNOWN;
	must_be(ibv_modify_wq(q.wq, &late), EINVAL);
}

static const struct vrb_case rss_cases[] = {
	{ "wq", "states", wq_states },
	{ "wq", "a late doorbell", wq_late_bell },
	{ "wq", "an invalid receive", wq_fails },
	{ "wq", "invalid attributes are refused", wq_borders },
	{ "rss", "IPv4 addresses", rss_ipv4 },
	{ "rss", "IPv4 source", rss_ipv4_src },
	{ "rss", "IPv4 addresses and UDP ports", rss_udp },
	{ "rss", "UDP destination port", rss_port },
	{ "rss", "IPv6 addresses", rss_ipv6 },
	{ "rss", "IPv6 addresses and TCP ports", rss_tcp },
	{ "rss", "no fields to hash", rss_none },
	{ "rss", "sending", rss_sends },
	{ "rss", "invalid attributes are refused", rss_borders },
};

VRB_TOPIC("raw", rss_cases);
