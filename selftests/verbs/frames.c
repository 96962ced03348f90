// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: Ethernet frames
 */
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "frames.h"

static __u8 *put(__u8 *p, const void *from, size_t len)
{
	memcpy(p, from, len);
	return p + len;
}

static __u8 *put8(__u8 *p, __u8 v)
{
	*p = v;
	return p + 1;
}

static __u8 *put16(__u8 *p, __u16 v)
{
	__be16 be = htons(v);

	return put(p, &be, sizeof(be));
}

static __u8 *put32(__u8 *p, __u32 v)
{
	__be32 be = htonl(v);

	return put(p, &be, sizeof(be));
}

__u32 frame_sum(__u32 sum, const __u8 *p, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		sum += i & 1 ? p[i] : p[i] << 8;
	return sum;
}

__u16 frame_sum_end(__u32 sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

__u16 frame_l4_sum(const __u8 *ip, const __u8 *l4, size_t len)
{
	bool v4 = ip[0] >> 4 == 4;
	__u32 sum;

	sum = v4 ? frame_sum(0, ip + 12, 8) : frame_sum(0, ip + 8, 32);
	sum += v4 ? ip[9] : ip[6];
	return frame_sum_end(frame_sum(sum + len, l4, len));
}

struct frame frame_default(void)
{
	struct frame f = {
		.tag = NO_TAG,
		.tag2 = NO_TAG,
		.ip = 4,
		.saddr = "10.9.0.1",
		.daddr = "10.9.0.2",
		.ttl = 64,
		.proto = IPPROTO_UDP,
		.sport = 1111,
		.dport = 2222,
		.payload = 100,
	};

	mac_of(&sides[0], f.smac);
	mac_of(&sides[1], f.dmac);
	return f;
}

struct frame frame_plain(__u32 seed, int payload)
{
	struct frame f = frame_default();

	f.ip = 0;
	f.type = ETH_EXP;
	f.seed = seed;
	f.payload = payload;
	return f;
}

static __u8 *put_l4(const struct frame *f, __u8 *p)
{
	if (f->proto == IPPROTO_UDP) {
		p = put16(p, f->sport);
		p = put16(p, f->dport);
		p = put16(p, 8 + f->payload);
		p = put16(p, 0);
	} else if (f->proto == IPPROTO_TCP) {
		p = put16(p, f->sport);
		p = put16(p, f->dport);
		p = put32(p, 1);
		p = put32(p, 0);
		p = put16(p, 0x5010);
		p = put16(p, 1000);
		p = put32(p, 0);
	}
	fill(p, f->payload, f->seed);
	return p + f->payload;
}

static int l4_bytes(const struct frame *f)
{
	return f->payload + (f->proto == IPPROTO_UDP ? 8 :
			     f->proto == IPPROTO_TCP ? 20 : 0);
}

static __u8 *put_ip4(const struct frame *f, __u8 *p)
{
	__u8 *ip = p;

	p = put8(p, 0x45);
	p = put8(p, f->tos);
	p = put16(p, 20 + l4_bytes(f));
	p = put16(p, 0x1234);
	p = put16(p, f->frag);
	p = put8(p, f->ttl);
	p = put8(p, f->proto);
	p = put16(p, 0);
	must_be(inet_pton(AF_INET, f->saddr, p), 1);
	must_be(inet_pton(AF_INET, f->daddr, p + 4), 1);
	if (!f->no_sums)
		put16(ip + 10, frame_sum_end(frame_sum(0, ip, 20)));
	return p + 8;
}

static __u8 *put_ip6(const struct frame *f, __u8 *p)
{
	p = put32(p, 6U << 28 | f->tos << 20 | f->label);
	p = put16(p, l4_bytes(f));
	p = put8(p, f->proto);
	p = put8(p, f->ttl);
	must_be(inet_pton(AF_INET6, f->saddr, p), 1);
	must_be(inet_pton(AF_INET6, f->daddr, p + 16), 1);
	return p + 32;
}

static void put_l4_sum(const struct frame *f, const __u8 *ip, __u8 *l4,
		       size_t len)
{
	__u8 *at = l4 + (f->proto == IPPROTO_UDP ? 6 : 16);
	__u16 sum;

	if (f->no_sums || f->frag & 0x3fff ||
	    (f->proto != IPPROTO_UDP && f->proto != IPPROTO_TCP))
		return;
	sum = frame_l4_sum(ip, l4, len);
	put16(at, sum ? sum : 0xffff);
}

size_t frame_make(const struct frame *f, __u8 *to)
{
	__u8 *p = to, *ip, *l4;

	p = put(p, f->dmac, 6);
	p = put(p, f->smac, 6);
	if (f->tag2 != NO_TAG)
		p = put16(put16(p, 0x88a8), f->tag2);
	if (f->tag != NO_TAG)
		p = put16(put16(p, 0x8100), f->tag);
	p = put16(p, f->ip == 4 ? 0x0800 : f->ip == 6 ? 0x86dd : f->type);
	ip = p;
	if (f->ip == 4)
		p = put_ip4(f, p);
	else if (f->ip == 6)
		p = put_ip6(f, p);
	l4 = p;
	if (f->ip) {
		p = put_l4(f, p);
		put_l4_sum(f, ip, l4, p - l4);
	} else {
		fill(p, f->payload, f->seed);
		p += f->payload;
	}
	must(p - to <= FRAME_MAX);
	return p - to;
}

static int ifindex_of(const struct side *s)
{
	struct ibv_gid_entry gid;

	must_be(ibv_query_gid_ex(s->ctx, 1, s->gid_index, &gid, 0), 0);
	return gid.ndev_ifindex;
}

static void ask_link(const struct side *s, unsigned long what,
		     struct ifreq *req)
{
	int fd, err;

	side_enter(s);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	err = !if_indextoname(ifindex_of(s), req->ifr_name) ||
	      ioctl(fd, what, req);
	close(fd);
	side_leave(s);
	must_be(err, 0);
}

void mac_of(const struct side *s, __u8 *mac)
{
	struct ifreq req = {};

	ask_link(s, SIOCGIFHWADDR, &req);
	memcpy(mac, req.ifr_hwaddr.sa_data, 6);
}

int mtu_of_link(const struct side *s)
{
	struct ifreq req = {};

	ask_link(s, SIOCGIFMTU, &req);
	return req.ifr_mtu;
}

/* Offset by one, because an undo argument is never NULL. */
static int sock_close(void *thing)
{
	return close((int)(long)thing - 1);
}

static int sock_keep(int fd)
{
	must(fd >= 0);
	undo_later(sock_close, (void *)(long)(fd + 1));
	return fd;
}

int sock_frames(const struct side *s, __u16 type)
{
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(type),
	};
	int fd, err;

	side_enter(s);
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	at.sll_ifindex = ifindex_of(s);
	err = bind(fd, (struct sockaddr *)&at, sizeof(at));
	side_leave(s);
	sock_keep(fd);
	must_be(err, 0);
	return fd;
}

int sock_udp(const struct side *s, __u16 port)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
	};
	int fd, err;

	side_enter(s);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	err = bind(fd, (struct sockaddr *)&at, sizeof(at));
	side_leave(s);
	sock_keep(fd);
	must_be(err, 0);
	return fd;
}

void sock_send(int fd, const void *data, size_t len)
{
	must_be(send(fd, data, len, 0), len);
}

ssize_t sock_recv(int fd, void *data, size_t len, int ms)
{
	if (!readable(fd, ms))
		return -1;
	return recv(fd, data, len, 0);
}

/* ---- queue pairs that receive frames ---- */

struct rule rule_of(enum ibv_flow_attr_type type, int priority, __u32 flags)
{
	return (struct rule) {
		.attr = {
			.type = type,
			.size = sizeof(struct ibv_flow_attr),
			.priority = priority,
			.port = 1,
			.flags = flags,
		},
	};
}

void rule_add(struct rule *r, const void *spec, size_t size)
{
	size_t at = r->attr.size - sizeof(r->attr);

	must(at + size <= sizeof(r->specs));
	memcpy(r->specs + at, spec, size);
	r->attr.size += size;
	r->attr.num_of_specs++;
}

struct rule rule_type(int priority, __u16 type)
{
	struct rule r = rule_of(IBV_FLOW_ATTR_NORMAL, priority, 0);
	struct ibv_flow_spec_eth eth = {
		.type = IBV_FLOW_SPEC_ETH,
		.size = sizeof(eth),
		.val.ether_type = htons(type),
		.mask.ether_type = 0xffff,
	};

	rule_add(&r, &eth, sizeof(eth));
	return r;
}

struct rule rule_udp(int priority, __u16 port, __u32 flags)
{
	struct rule r = rule_of(IBV_FLOW_ATTR_NORMAL, priority, flags);
	struct ibv_flow_spec_ipv4 ip = {
		.type = IBV_FLOW_SPEC_IPV4,
		.size = sizeof(ip),
	};
	struct ibv_flow_spec_tcp_udp udp = {
		.type = IBV_FLOW_SPEC_UDP,
		.size = sizeof(udp),
		.val.dst_port = htons(port),
		.mask.dst_port = 0xffff,
	};

	rule_add(&r, &ip, sizeof(ip));
	rule_add(&r, &udp, sizeof(udp));
	return r;
}

static int flow_undo(void *flow)
{
	return ibv_destroy_flow(flow);
}

struct ibv_flow *flow_make(struct ibv_qp *qp, struct rule *r)
{
	struct ibv_flow *flow = ibv_create_flow(qp, &r->attr);

	must(flow);
	undo_later(flow_undo, flow);
	return flow;
}

void flow_refused(struct ibv_qp *qp, struct rule *r, int err)
{
	struct ibv_flow *flow = ibv_create_flow(qp, &r->attr);

	if (flow)
		undo_later(flow_undo, flow);
	must(!flow);
	must_be(errno, err);
}

struct opt raw_opt(void)
{
	struct opt o = opt_default;

	o.type = IBV_QPT_RAW_PACKET;
	o.inline_data = 256;
	return o;
}

void raw_make(struct end *e, struct side *s, const struct opt *o)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

	end_make(e, s, o);
	must_be(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_PORT), 0);
	must_be(to_state(e, IBV_QPS_RTR), 0);
	must_be(to_state(e, IBV_QPS_RTS), 0);
}

void raw_send(struct end *e, struct ibv_sge *sge, int n, int flags)
{
	struct ibv_send_wr wr = wr_of(1, IBV_WR_SEND, sge, n);

	wr.send_flags |= flags;
	must_be(post_one(e, &wr), 0);
}

void taker_make(struct taker *t, struct side *s, const struct opt *o)
{
	const struct opt dflt = raw_opt();
	struct ibv_sge sge;
	__u64 i;

	raw_make(&t->e, s, o ? o : &dflt);
	mem_make(&t->m, s, TAKER_SLOTS * TAKER_SLOT, FULL_ACCESS);
	t->next = 0;
	for (i = 0; i < TAKER_SLOTS; i++) {
		sge = sge_of(&t->m, i * TAKER_SLOT, TAKER_SLOT - 64);
		must_be(post_recv(&t->e, i, &sge, 1), 0);
	}
}

struct ibv_wc took(struct taker *t, const __u8 *frame, size_t len)
{
	struct ibv_wc wc = wc_want(t->e.rcq, t->next, IBV_WC_SUCCESS);
	const __u8 *got = t->m.p + t->next * TAKER_SLOT;
	size_t i;

	must_be(wc.opcode, IBV_WC_RECV);
	must_be(wc.qp_num, t->e.qp->qp_num);
	for (i = 0; i < len && i < wc.byte_len; i++)
		if (got[i] != frame[i])
			case_fail("byte %zu of %zu is %02x, not %02x", i, len,
				  got[i], frame[i]);
	must_be(wc.byte_len, len);
	untouched(got + len, 64, "behind the frame");
	t->next++;
	return wc;
}

void took_nothing(struct taker *t)
{
	wc_none(t->e.rcq, 0);
}

size_t sock_frame(int fd, const struct frame *f, __u8 *frame)
{
	size_t len = frame_make(f, frame);

	sock_send(fd, frame, len);
	return len;
}
