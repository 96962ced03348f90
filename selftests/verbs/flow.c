// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: flows and the frames they select
 *
 * Host 1 has the queue pairs under test, host 0 has a packet socket.  Frames of
 * one sender keep their order, so a frame that must not arrive is followed by
 * one that must.
 */
#include "frames.h"

#define PORT	2222

static __u8 frame[FRAME_MAX], got[FRAME_MAX];

/* ---- matching of fields ---- */

enum field {
	F_DMAC, F_SMAC, F_TYPE, F_VID, F_PRIO, F_TAGGED,
	F_SADDR4, F_DADDR4, F_NET4, F_PROTO4, F_TOS4, F_TTL4, F_DF, F_IP4,
	F_SADDR6, F_DADDR6, F_LABEL, F_PROTO6, F_CLASS6, F_HOPS6, F_IP6,
	F_UDP_S, F_UDP_D, F_UDP, F_TCP_S, F_TCP_D, F_TCP,
	F_NUM
};

static const char *const field_names[F_NUM] = {
	"destination MAC", "source MAC", "type", "VLAN id", "VLAN priority",
	"a tag", "IPv4 source", "IPv4 destination", "IPv4 network", "protocol",
	"TOS", "TTL", "don't fragment", "IPv4", "IPv6 source",
	"IPv6 destination", "flow label", "next header", "traffic class",
	"hop limit", "IPv6", "UDP source port", "UDP destination port", "UDP",
	"TCP source port", "TCP destination port", "TCP",
};

/* A frame that matches the rule for @which */
static struct frame field_frame(enum field which)
{
	struct frame f = frame_default();

	f.saddr = "10.77.1.5";
	f.daddr = "10.77.2.6";
	f.tos = 0x68;
	f.ttl = 37;
	f.frag = 0x4000;
	if (which == F_VID || which == F_PRIO || which == F_TAGGED)
		f.tag = 0x6123;
	if (which >= F_SADDR6 && which <= F_IP6) {
		f.ip = 6;
		f.saddr = "fd77::5";
		f.daddr = "fd77::6";
		f.label = 0x12345;
	}
	if (which >= F_TCP_S)
		f.proto = IPPROTO_TCP;
	return f;
}

/* A frame that does not match; it differs in @which, if possible in nothing else. */
static struct frame field_other(enum field which)
{
	struct frame f = field_frame(which);

	switch (which) {
	case F_DMAC:
		f.dmac[5] ^= 1;
		break;
	case F_SMAC:
		f.smac[0] ^= 2;
		break;
	case F_TYPE:
		f.ip = 0;
		f.type = ETH_EXP;
		break;
	case F_VID:
		f.tag ^= 0x100;
		break;
	case F_PRIO:
		f.tag ^= 0x8000;
		break;
	case F_TAGGED:
		f.tag = NO_TAG;
		break;
	case F_SADDR4:
		f.saddr = "10.77.1.4";
		break;
	case F_DADDR4:
		f.daddr = "10.76.2.6";
		break;
	case F_NET4:
		f.saddr = "10.78.1.5";
		break;
	case F_PROTO4:
	case F_PROTO6:
		f.proto = IPPROTO_TCP;
		break;
	case F_TOS4:
	case F_CLASS6:
		f.tos ^= 0x80;
		break;
	case F_TTL4:
	case F_HOPS6:
		f.ttl--;
		break;
	case F_DF:
		f.frag = 0;
		break;
	case F_IP4:
		f.ip = 6;
		f.saddr = "fd77::5";
		f.daddr = "fd77::6";
		break;
	case F_SADDR6:
		f.saddr = "fd77::7";
		break;
	case F_DADDR6:
		f.daddr = "fd7f::6";
		break;
	case F_LABEL:
		f.label ^= 0x80000;
		break;
	case F_IP6:
		f.ip = 4;
		f.saddr = "10.77.1.5";
		f.daddr = "10.77.2.6";
		break;
	case F_UDP_S:
	case F_TCP_S:
		f.sport ^= 0x100;
		break;
	case F_UDP_D:
	case F_TCP_D:
		f.dport ^= 1;
		break;
	case F_UDP:
		f.proto = IPPROTO_TCP;
		break;
	case F_TCP:
		f.frag = 0x2000;	/* a fragment has no known ports */
		break;
	default:
		case_fail("no other frame for field %d", which);
	}
	return f;
}

static void add_eth(struct rule *r, enum field which, const struct frame *f)
{
	struct ibv_flow_spec_eth s = {
		.type = IBV_FLOW_SPEC_ETH,
		.size = sizeof(s),
		.val.vlan_tag = htons(f->tag),
		.val.ether_type = htons(0x0800),
	};

	/* Bits outside the mask must not matter. */
	memcpy(s.val.dst_mac, f->dmac, 6);
	memcpy(s.val.src_mac, f->smac, 6);
	if (which == F_DMAC)
		memset(s.mask.dst_mac, 0xff, 6);
	else if (which == F_SMAC)
		memset(s.mask.src_mac, 0xff, 6);
	else if (which == F_TYPE)
		s.mask.ether_type = 0xffff;
	else if (which == F_VID || which == F_TAGGED)
		s.mask.vlan_tag = htons(0x0fff);
	else
		s.mask.vlan_tag = htons(0xe000);
	rule_add(r, &s, sizeof(s));
}

static void add_ip4(struct rule *r, enum field which, const struct frame *f)
{
	struct ibv_flow_spec_ipv4_ext s = {
		.type = IBV_FLOW_SPEC_IPV4_EXT,
		.size = sizeof(s),
		.val = {
			.src_ip = inet_addr("10.77.1.5"),
			.dst_ip = inet_addr("10.77.2.6"),
			.proto = f->proto,
			.tos = f->tos,
			.ttl = f->ttl,
			.flags = 2,
		},
	};

	if (which == F_SADDR4)
		s.mask.src_ip = 0xffffffff;
	else if (which == F_DADDR4)
		s.mask.dst_ip = 0xffffffff;
	else if (which == F_NET4)
		s.mask.src_ip = htonl(0xffff0000);
	else if (which == F_PROTO4)
		s.mask.proto = 0xff;
	else if (which == F_TOS4)
		s.mask.tos = 0xff;
	else if (which == F_TTL4)
		s.mask.ttl = 0xff;
	else if (which == F_DF)
		s.mask.flags = 2;
	rule_add(r, &s, sizeof(s));
}

static void add_ip6(struct rule *r, enum field which, const struct frame *f)
{
	struct ibv_flow_spec_ipv6 s = {
		.type = IBV_FLOW_SPEC_IPV6,
		.size = sizeof(s),
		.val = {
			.flow_label = htonl(0x12345),
			.next_hdr = f->proto,
			.traffic_class = f->tos,
			.hop_limit = f->ttl,
		},
	};

	inet_pton(AF_INET6, "fd77::5", s.val.src_ip);
	inet_pton(AF_INET6, "fd77::6", s.val.dst_ip);
	if (which == F_SADDR6)
		memset(s.mask.src_ip, 0xff, 16);
	else if (which == F_DADDR6)
		memset(s.mask.dst_ip, 0xff, 16);
	else if (which == F_LABEL)
		s.mask.flow_label = htonl(0xfffff);
	else if (which == F_PROTO6)
		s.mask.next_hdr = 0xff;
	else if (which == F_CLASS6)
		s.mask.traffic_class = 0xff;
	else if (which == F_HOPS6)
		s.mask.hop_limit = 0xff;
	rule_add(r, &s, sizeof(s));
}

static void add_l4(struct rule *r, enum field which, const struct frame *f)
{
	struct ibv_flow_spec_tcp_udp s = {
		.type = which < F_TCP_S ? IBV_FLOW_SPEC_UDP : IBV_FLOW_SPEC_TCP,
		.size = sizeof(s),
		.val.src_port = htons(f->sport),
		.val.dst_port = htons(f->dport),
	};

	if (which == F_UDP_S || which == F_TCP_S)
		s.mask.src_port = 0xffff;
	else if (which == F_UDP_D || which == F_TCP_D)
		s.mask.dst_port = 0xffff;
	rule_add(r, &s, sizeof(s));
}

static struct rule field_rule(enum field which, const struct frame *f)
{
	struct rule r = rule_of(IBV_FLOW_ATTR_NORMAL, 0, 0);

	if (which <= F_TAGGED)
		add_eth(&r, which, f);
	else if (which <= F_IP4)
		add_ip4(&r, which, f);
	else if (which <= F_IP6)
		add_ip6(&r, which, f);
	else
		add_l4(&r, which, f);
	return r;
}

static bool is_of_hosts(const __u8 *p)
{
	return (p[12] << 8 | p[13]) == 0x86dd && p[20] == 58;
}

static void flow_fields(void)
{
	int fd = sock_frames(&sides[0], 0);
	struct ibv_flow *flow;
	struct frame yes, no;
	struct ibv_wc wc;
	struct taker t;
	struct rule r;
	const __u8 *p;
	size_t len;
	int i;

	for (i = 0; i < F_NUM; i++) {
		yes = field_frame(i);
		no = field_other(i);
		taker_make(&t, &sides[1], NULL);
		r = field_rule(i, &yes);
		flow = flow_make(t.e.qp, &r);
		sock_frame(fd, &no, frame);
		len = sock_frame(fd, &yes, frame);
		do {
			wc = wc_want(t.e.rcq, t.next, IBV_WC_SUCCESS);
			p = t.m.p + t.next++ * TAKER_SLOT;
			/* skip the hosts' own neighbour discovery */
		} while (is_of_hosts(p));
		if (wc.byte_len != len || memcmp(p, frame, len))
			case_fail("%s: the wrong frame arrived", field_names[i]);
		undo_now(flow);
		end_destroy_qp(&t.e);
	}
}

/* A frame must match all specs of a rule, not just one. */
static void flow_all(void)
{
	struct rule r = rule_of(IBV_FLOW_ATTR_NORMAL, 0, 0);
	int fd = sock_frames(&sides[0], 0);
	enum field fields[] = { F_DMAC, F_DADDR4, F_UDP_D };
	struct frame f = field_frame(F_UDP_D), no;
	struct taker t;
	size_t len, i;

	taker_make(&t, &sides[1], NULL);
	add_eth(&r, F_DMAC, &f);
	add_ip4(&r, F_DADDR4, &f);
	add_l4(&r, F_UDP_D, &f);
	flow_make(t.e.qp, &r);
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		no = field_other(fields[i]);
		sock_frame(fd, &no, frame);
	}
	len = sock_frame(fd, &f, frame);
	took(&t, frame, len);
	took_nothing(&t);
}

/* ---- distribution of frames ---- */

/* Does a socket on host 1 receive @f from host 0?  @mark is sent after it to tell. */
static bool stack_gets(int fd, const struct frame *f, struct frame mark)
{
	int sock = sock_udp(&sides[1], f->dport);
	int marks = sock_udp(&sides[1], mark.dport);
	bool gets;

	sock_frame(fd, f, frame);
	sock_frame(fd, &mark, frame);
	must(sock_recv(marks, got, sizeof(got), BOUND) > 0);
	gets = sock_recv(sock, got, sizeof(got), 0) == f->payload;
	undo_now((void *)(long)(sock + 1));
	undo_now((void *)(long)(marks + 1));
	return gets;
}

static void flow_takes(void)
{
	struct frame f = frame_default(), mark = frame_default();
	struct rule r = rule_udp(0, PORT, 0);
	int fd = sock_frames(&sides[0], 0);
	struct ibv_flow *flow;
	struct taker t;
	size_t len;

	mark.dport = PORT + 1;
	taker_make(&t, &sides[1], NULL);
	must(stack_gets(fd, &f, mark));
	flow = flow_make(t.e.qp, &r);
	must(!stack_gets(fd, &f, mark));
	len = frame_make(&f, frame);
	took(&t, frame, len);
	undo_now(flow);
	must(stack_gets(fd, &f, mark));
	r = rule_udp(0, PORT, IBV_FLOW_ATTR_FLAGS_DONT_TRAP);
	flow_make(t.e.qp, &r);
	must(stack_gets(fd, &f, mark));
	len = frame_make(&f, frame);
	took(&t, frame, len);
	took_nothing(&t);
}

static void flow_priority(void)
{
	struct frame f = frame_default(), g = frame_default();
	int fd = sock_frames(&sides[0], 0);
	struct ibv_flow *first;
	struct taker a, b, c;
	struct rule r;
	size_t len;

	taker_make(&a, &sides[1], NULL);
	taker_make(&b, &sides[1], NULL);
	taker_make(&c, &sides[1], NULL);
	/* the order of creation differs from the order of priority */
	r = rule_udp(7, PORT, 0);
	flow_make(b.e.qp, &r);
	r = rule_udp(3, PORT, 0);
	first = flow_make(a.e.qp, &r);
	r = rule_udp(65535, PORT, 0);
	flow_make(c.e.qp, &r);

	len = sock_frame(fd, &f, frame);
	took(&a, frame, len);
	undo_now(first);
	f.seed = 2;
	len = sock_frame(fd, &f, frame);
	took(&b, frame, len);
	took_nothing(&a);

	/* With DONT_TRAP the frame is passed on to the next rule. */
	r = rule_udp(0, PORT, IBV_FLOW_ATTR_FLAGS_DONT_TRAP);
	flow_make(a.e.qp, &r);
	f.seed = 3;
	len = sock_frame(fd, &f, frame);
	took(&a, frame, len);
	took(&b, frame, len);
	g.dport = PORT + 1;
	sock_frame(fd, &g, frame);
	took_nothing(&a);
	took_nothing(&b);
	took_nothing(&c);
}

/* If two queue pairs have the same flow, each gets a copy. */
static void flow_twice(void)
{
	int fd = sock_frames(&sides[0], 0);
	struct frame f = frame_default();
	struct rule r = rule_udp(0, PORT, 0);
	struct taker a, b;
	size_t len;
	int i;

	taker_make(&a, &sides[1], NULL);
	taker_make(&b, &sides[1], NULL);
	flow_make(a.e.qp, &r);
	flow_make(b.e.qp, &r);
	for (i = 0; i < 5; i++) {
		f.seed = i;
		len = sock_frame(fd, &f, frame);
		took(&a, frame, len);
		took(&b, frame, len);
	}
}

static void add_action(struct rule *r, enum ibv_flow_spec_type type, __u32 tag)
{
	struct ibv_flow_spec_action_tag s = {
		.type = type,
		.size = type == IBV_FLOW_SPEC_ACTION_DROP ?
			sizeof(struct ibv_flow_spec_action_drop) : sizeof(s),
		.tag_id = tag,
	};

	rule_add(r, &s, s.size);
}

static void flow_drops(void)
{
	struct frame f = frame_default(), mark = frame_default();
	int fd = sock_frames(&sides[0], 0);
	struct ibv_flow *flow;
	struct taker t;
	struct rule r;
	size_t len;

	mark.dport = PORT + 1;
	taker_make(&t, &sides[1], NULL);
	r = rule_udp(1, PORT, 0);
	flow_make(t.e.qp, &r);
	r = rule_udp(0, PORT, 0);
	add_action(&r, IBV_FLOW_SPEC_ACTION_DROP, 0);
	flow = flow_make(t.e.qp, &r);
	must(!stack_gets(fd, &f, mark));
	took_nothing(&t);
	undo_now(flow);
	/* At the same priority a drop rule comes first, too. */
	r = rule_udp(1, PORT, 0);
	add_action(&r, IBV_FLOW_SPEC_ACTION_DROP, 0);
	flow = flow_make(t.e.qp, &r);
	must(!stack_gets(fd, &f, mark));
	took_nothing(&t);
	undo_now(flow);
	len = sock_frame(fd, &f, frame);
	took(&t, frame, len);
}

static void flow_tag(void)
{
	struct ibv_cq_init_attr_ex init = {
		.cqe = 16,
		.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_FLOW_TAG,
	};
	struct ibv_poll_cq_attr none = {};
	struct frame f = frame_default();
	int fd = sock_frames(&sides[0], 0);
	__u32 tags[] = { 0, 0x123456, 0xffffffff };
	__u64 end;
	struct ibv_qp_init_attr qi = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.cap = { .max_send_wr = 1, .max_recv_wr = 8,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct end e = { .side = &sides[1] };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_cq_ex *cq;
	struct ibv_sge sge;
	struct rule r;
	struct mem m;
	size_t i;

	cq = ibv_create_cq_ex(sides[1].ctx, &init);
	must(cq);
	qi.send_cq = ibv_cq_ex_to_cq(cq);
	cq_own(qi.send_cq);
	qi.recv_cq = qi.send_cq;
	e.qp = ibv_create_qp(sides[1].pd, &qi);
	qp_own(e.qp);
	must_be(ibv_modify_qp(e.qp, &attr, IBV_QP_STATE | IBV_QP_PORT), 0);
	must_be(to_state(&e, IBV_QPS_RTR), 0);
	mem_make(&m, &sides[1], FRAME_MAX, FULL_ACCESS);

	for (i = 0; i < ARRAY_SIZE(tags); i++) {
		r = rule_udp(0, PORT + i, 0);
		if (i)
			add_action(&r, IBV_FLOW_SPEC_ACTION_TAG, tags[i]);
		flow_make(e.qp, &r);
	}
	for (i = 0; i < ARRAY_SIZE(tags); i++) {
		sge = sge_of(&m, 0, FRAME_MAX);
		must_be(post_recv(&e, i, &sge, 1), 0);
		f.dport = PORT + i;
		sock_frame(fd, &f, frame);
		end = 0;
		while (ibv_start_poll(cq, &none))
			wait_turn(&end, "frame");
		must_be(cq->wr_id, i);
		must_be(cq->status, IBV_WC_SUCCESS);
		must_be(ibv_wc_read_flow_tag(cq), tags[i]);
		ibv_end_poll(cq);
	}
}

static int counters_undo(void *counters)
{
	return ibv_destroy_counters(counters);
}

static void flow_counts(void)
{
	struct ibv_counters_init_attr init = {};
	struct ibv_counter_attach_attr at = {
		.counter_desc = IBV_COUNTER_BYTES,
		.index = 0,
	};
	struct ibv_flow_spec_counter_action s = {
		.type = IBV_FLOW_SPEC_ACTION_COUNT,
		.size = sizeof(s),
	};
	int fd = sock_frames(&sides[0], 0);
	struct frame f = frame_default();
	struct ibv_flow *flow;
	unsigned long values[3];
	struct taker t;
	struct rule r;
	size_t len = 0;
	int i;

	s.counters = ibv_create_counters(sides[1].ctx, &init);
	must(s.counters);
	undo_later(counters_undo, s.counters);
	must_be(ibv_attach_counters_point_flow(s.counters, &at, NULL), 0);
	at.counter_desc = IBV_COUNTER_PACKETS;
	at.index = 2;
	must_be(ibv_attach_counters_point_flow(s.counters, &at, NULL), 0);
	at.index = 1000;
	must_be(ibv_attach_counters_point_flow(s.counters, &at, NULL), EINVAL);

	taker_make(&t, &sides[1], NULL);
	/* two flows, one of which drops, share the counters */
	r = rule_udp(0, PORT, 0);
	rule_add(&r, &s, sizeof(s));
	flow_make(t.e.qp, &r);
	r = rule_udp(0, PORT + 1, 0);
	add_action(&r, IBV_FLOW_SPEC_ACTION_DROP, 0);
	rule_add(&r, &s, sizeof(s));
	flow = flow_make(t.e.qp, &r);
	for (i = 0; i < 6; i++) {
		f.dport = PORT + (i & 1);
		len = sock_frame(fd, &f, frame);
	}
	f.dport = PORT;
	sock_frame(fd, &f, frame);
	for (i = 0; i < 4; i++)
		took(&t, frame, len);
	must_be(ibv_read_counters(s.counters, values, 3, 0), 0);
	must_be(values[0], 7 * len);
	must_be(values[2], 7);
	must_be(ibv_read_counters(s.counters, values, 2, 0), EINVAL);
	must_be(ibv_destroy_counters(s.counters), EBUSY);
	undo_now(flow);
}

/* Default rules match frames that no other rule does, and pass them to the stack, too. */
static void flow_defaults(void)
{
	struct frame f = frame_default(), mark = frame_default(), mc = frame_plain(1, 90);
	int fd = sock_frames(&sides[0], 0);
	struct rule r = rule_udp(65535, PORT, 0);
	struct taker all, mcast, one;
	struct ibv_wc wc;
	const __u8 *p;
	size_t len, n;

	taker_make(&all, &sides[1], NULL);
	taker_make(&mcast, &sides[1], NULL);
	taker_make(&one, &sides[1], NULL);
	flow_make(one.e.qp, &r);
	r = rule_of(IBV_FLOW_ATTR_ALL_DEFAULT, 0, 0);
	flow_make(all.e.qp, &r);
	r = rule_of(IBV_FLOW_ATTR_MC_DEFAULT, 0, 0);
	flow_make(mcast.e.qp, &r);

	len = sock_frame(fd, &f, frame);
	took(&one, frame, len);
	f.dport = PORT + 1;
	mark.dport = PORT + 2;
	must(stack_gets(fd, &f, mark));
	memcpy(mc.dmac, "\x01\x50\x56\x19\x20\xa7", 6);
	len = sock_frame(fd, &mc, frame);
	for (n = 0; n < 3; ) {
		wc = wc_want(all.e.rcq, all.next, IBV_WC_SUCCESS);
		p = all.m.p + all.next++ * TAKER_SLOT;
		if (is_of_hosts(p) || p[13] == 6 /* ARP */)
			continue;
		if (!n++) {
			frame_make(&f, got);
			must(!memcmp(p, got, wc.byte_len));
		}
	}
	must_be(wc.byte_len, len);
	must(!memcmp(p, frame, len));
	do {
		wc = wc_want(mcast.e.rcq, mcast.next, IBV_WC_SUCCESS);
		p = mcast.m.p + mcast.next++ * TAKER_SLOT;
		must(p[0] & 1);
	} while (memcmp(p, frame, len));
	took_nothing(&one);
}

/* A sniffer gets copies of both directions and does not affect delivery. */
static void flow_sniffer(void)
{
	struct frame f = frame_default(), mark = frame_default();
	struct rule r = rule_of(IBV_FLOW_ATTR_SNIFFER, 0, 0);
	int fd = sock_frames(&sides[0], 0);
	struct taker sniffer, t;
	struct opt o = raw_opt();
	struct ibv_sge sge;
	struct end out;
	struct mem m;
	const __u8 *p;
	int in = 0, sent = 0;

	taker_make(&sniffer, &sides[1], NULL);
	taker_make(&t, &sides[1], NULL);
	flow_make(sniffer.e.qp, &r);
	r = rule_udp(0, PORT, 0);
	flow_make(t.e.qp, &r);
	raw_make(&out, &sides[1], &o);
	mem_make(&m, &sides[1], FRAME_MAX, FULL_ACCESS);

	mark.dport = PORT + 1;
	must(!stack_gets(fd, &f, mark));
	took(&t, frame, frame_make(&f, frame));
	mark = frame_plain(9, 80);
	sge = sge_of(&m, 0, frame_make(&mark, m.p));
	raw_send(&out, &sge, 1, 0);
	wc_want(out.scq, 1, IBV_WC_SUCCESS);
	while (!in || !sent) {
		must_be(wc_want(sniffer.e.rcq, sniffer.next,
				IBV_WC_SUCCESS).opcode, IBV_WC_RECV);
		p = sniffer.m.p + sniffer.next++ * TAKER_SLOT;
		in += !memcmp(p, frame, frame_make(&f, frame));
		sent += !memcmp(p, m.p, sge.length);
	}
	must_be(in, 1);
	must_be(sent, 1);
}

/* RoCEv2 packets are not subject to rules, not even to one for their MAC address. */
static void flow_beside_roce(void)
{
	struct rule r = rule_of(IBV_FLOW_ATTR_NORMAL, 0, 0);
	struct frame f = frame_default();
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct taker t;
	struct mem ma, mb;
	struct pair p;

	taker_make(&t, &sides[1], NULL);
	add_eth(&r, F_DMAC, &f);
	pair_make(&p, NULL, NULL);
	mem_make(&ma, &sides[0], 65536, FULL_ACCESS);
	mem_make(&mb, &sides[1], 65536, FULL_ACCESS);
	flow_make(t.e.qp, &r);
	fill(ma.p, 65536, 1);
	sge = sge_of(&ma, 0, 65536);
	wr = wr_of(1, IBV_WR_RDMA_WRITE, &sge, 1);
	wr_target(&wr, &mb, 0);
	must_be(post_one(&p.a, &wr), 0);
	wc_want(p.a.scq, 1, IBV_WC_SUCCESS);
	same(mb.p, 65536, 1, "what was written");
}

/* ---- invalid rules ---- */

static void flow_borders(void)
{
	struct frame f = field_frame(F_UDP_D);
	struct ibv_flow_spec_ipv4_ext ip = {
		.type = IBV_FLOW_SPEC_IPV4_EXT,
		.size = sizeof(ip),
		.mask.flags = 1,
	};
	struct ibv_flow_spec_gre gre = {
		.type = IBV_FLOW_SPEC_GRE,
		.size = sizeof(gre),
	};
	struct opt ud = opt_default;
	struct ibv_flow *flow;
	struct taker t;
	struct end e;
	struct rule r;

	taker_make(&t, &sides[1], NULL);
	r = rule_udp(0, PORT, IBV_FLOW_ATTR_FLAGS_EGRESS);
	flow_refused(t.e.qp, &r, EOPNOTSUPP);
	r = rule_udp(0, PORT, 0);
	r.attr.port = 2;
	flow_refused(t.e.qp, &r, EINVAL);
	r = rule_of(7, 0, 0);
	flow_refused(t.e.qp, &r, EINVAL);
	r = rule_of(IBV_FLOW_ATTR_SNIFFER, 0, 0);
	add_eth(&r, F_DMAC, &f);
	flow_refused(t.e.qp, &r, EINVAL);
	r = rule_of(IBV_FLOW_ATTR_SNIFFER, 0, IBV_FLOW_ATTR_FLAGS_DONT_TRAP);
	flow_refused(t.e.qp, &r, EINVAL);
	r = rule_of(IBV_FLOW_ATTR_NORMAL, 0, 0);
	rule_add(&r, &gre, sizeof(gre));
	flow_refused(t.e.qp, &r, EOPNOTSUPP);
	r = rule_of(IBV_FLOW_ATTR_NORMAL, 0, 0);
	rule_add(&r, &ip, sizeof(ip));
	flow_refused(t.e.qp, &r, EOPNOTSUPP);	/* an invalid flag */
	r = rule_of(IBV_FLOW_ATTR_NORMAL, 0, 0);
	add_eth(&r, F_DMAC, &f);
	add_eth(&r, F_SMAC, &f);
	flow_refused(t.e.qp, &r, EINVAL);	/* the same spec twice */
	r = rule_of(IBV_FLOW_ATTR_NORMAL, 0, 0);
	add_ip4(&r, F_IP4, &f);
	add_ip6(&r, F_IP6, &f);
	flow_refused(t.e.qp, &r, EINVAL);	/* both actions */
	r = rule_of(IBV_FLOW_ATTR_NORMAL, 0, 0);
	add_l4(&r, F_UDP, &f);
	add_l4(&r, F_TCP, &f);
	flow_refused(t.e.qp, &r, EINVAL);
	r = rule_of(IBV_FLOW_ATTR_NORMAL, 0, 0);
	add_eth(&r, F_TYPE, &f);		/* IPv4 */
	add_ip6(&r, F_IP6, &f);
	flow_refused(t.e.qp, &r, EINVAL);
	r = rule_udp(0, PORT, IBV_FLOW_ATTR_FLAGS_DONT_TRAP);
	add_action(&r, IBV_FLOW_SPEC_ACTION_DROP, 0);
	flow_refused(t.e.qp, &r, EINVAL);
	r = rule_of(IBV_FLOW_ATTR_ALL_DEFAULT, 0, 0);
	add_action(&r, IBV_FLOW_SPEC_ACTION_DROP, 0);
	flow_refused(t.e.qp, &r, EINVAL);

	ud.type = IBV_QPT_UD;
	end_make(&e, &sides[1], &ud);
	r = rule_udp(0, PORT, 0);
	flow_refused(e.qp, &r, EOPNOTSUPP);
	end_make(&e, &sides[1], &opt_default);
	flow_refused(e.qp, &r, EINVAL);

	/* A queue pair with a flow cannot be destroyed. */
	flow = flow_make(t.e.qp, &r);
	must_be(ibv_destroy_qp(t.e.qp), EBUSY);
	undo_now(flow);
}

static const struct vrb_case flow_cases[] = {
	{ "flow", "each field, matching and not", flow_fields },
	{ "flow", "all specs must match", flow_all },
	{ "flow", "taken from the stack, or copied", flow_takes },
	{ "flow", "priorities", flow_priority },
	{ "flow", "the same flow of two queue pairs", flow_twice },
	{ "flow", "drop", flow_drops },
	{ "flow", "tag", flow_tag },
	{ "flow", "counters", flow_counts },
	{ "flow", "defaults", flow_defaults },
	{ "flow", "sniffer", flow_sniffer },
	{ "flow", "RoCEv2 is not captured", flow_beside_roce },
	{ "flow", "invalid rules are refused", flow_borders },
};

VRB_TOPIC("raw", flow_cases);
