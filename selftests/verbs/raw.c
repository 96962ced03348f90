// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - verbs harness: raw packets
 *
 * Host 1 has the queue pairs under test, host 0 has a packet socket.  Frames of
 * one sender keep their order, so a frame that must not arrive is followed by
 * one that must.
 */
#define _GNU_SOURCE
#include <linux/capability.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frames.h"

#define PORT	2222

static __u8 frame[FRAME_MAX], got[FRAME_MAX];

/* ---- sending ---- */

/* The packet socket receives the frame at @m unmodified. */
static void left(int fd, const struct mem *m, size_t len)
{
	must_be(sock_recv(fd, got, sizeof(got), BOUND), len);
	must(!memcmp(got, m->p, len));
}

static void raw_leave(void)
{
	int lens[] = { 14, 15, 59, 60, 61, 64, 256, 1000, 1514, 0, 0 };
	int fd = sock_frames(&sides[0], ETH_EXP);
	int mtu = mtu_of_link(&sides[1]);
	const struct opt o = raw_opt();
	struct ibv_sge sge[3];
	struct frame f;
	struct mem m;
	struct end e;
	size_t i;
	int len;

	raw_make(&e, &sides[1], &o);
	mem_make(&m, &sides[1], FRAME_MAX, FULL_ACCESS);
	lens[ARRAY_SIZE(lens) - 2] = mtu + 13;
	lens[ARRAY_SIZE(lens) - 1] = mtu + 14;
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		len = lens[i];
		f = frame_plain(i, len - 14);
		must_be(frame_make(&f, m.p), len);
		sge[0] = sge_of(&m, 0, len);
		raw_send(&e, sge, 1, 0);
		must_be(wc_want(e.scq, 1, IBV_WC_SUCCESS).opcode, IBV_WC_SEND);
		left(fd, &m, len);

		sge[0] = sge_of(&m, 0, 7);
		sge[1] = sge_of(&m, 7, len / 2 - 7);
		sge[2] = sge_of(&m, len / 2, len - len / 2);
		raw_send(&e, sge, 3, 0);
		wc_want(e.scq, 1, IBV_WC_SUCCESS);
		left(fd, &m, len);

		if (len > 256)
			continue;
		sge[0] = sge_of(&m, 0, len);
		raw_send(&e, sge, 1, IBV_SEND_INLINE);
		wc_want(e.scq, 1, IBV_WC_SUCCESS);
		left(fd, &m, len);
	}
}

static void raw_wr(void)
{
	int fd = sock_frames(&sides[0], ETH_EXP);
	struct opt o = raw_opt();
	struct frame f = frame_plain(5, 200);
	struct ibv_qp_ex *ex;
	struct mem m;
	struct end e;
	size_t len;
	int i;

	o.send_ops = IBV_QP_EX_WITH_SEND;
	raw_make(&e, &sides[1], &o);
	ex = ibv_qp_to_qp_ex(e.qp);
	must(ex);
	mem_make(&m, &sides[1], FRAME_MAX, FULL_ACCESS);
	len = frame_make(&f, m.p);
	ibv_wr_start(ex);
	for (i = 0; i < 2; i++) {
		ex->wr_id = i;
		ex->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_send(ex);
		if (i)
			ibv_wr_set_inline_data(ex, m.p, len);
		else
			ibv_wr_set_sge(ex, m.mr->lkey, (uintptr_t)m.p, len);
	}
	must_be(ibv_wr_complete(ex), 0);
	for (i = 0; i < 2; i++) {
		wc_want(e.scq, i, IBV_WC_SUCCESS);
		left(fd, &m, len);
	}
}

/* A frame of invalid length is an error, which stops only the send queue. */
static void raw_lengths(void)
{
	int fd = sock_frames(&sides[0], ETH_EXP);
	int mtu = mtu_of_link(&sides[1]);
	const struct opt o = raw_opt();
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
	int bad[] = { 0, 13, 15 + mtu, 18 + mtu, 19 + mtu };
	struct frame f = frame_plain(1, mtu);
	struct ibv_sge sge;
	struct mem m;
	struct end e;
	size_t i;

	raw_make(&e, &sides[1], &o);
	mem_make(&m, &sides[1], FRAME_MAX, FULL_ACCESS);
	frame_make(&f, m.p);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		sge = sge_of(&m, 0, bad[i]);
		raw_send(&e, &sge, 1, 0);
		wc_want(e.scq, 1, IBV_WC_LOC_LEN_ERR);
		state_becomes(&e, IBV_QPS_SQE);
		must_be(ibv_modify_qp(e.qp, &attr, IBV_QP_STATE), 0);
	}

	/* A tag does not count towards the MTU; packet sockets do not see it. */
	f.tag = 5;
	must_be(frame_make(&f, m.p), mtu + 18);
	sge = sge_of(&m, 0, mtu + 18);
	raw_send(&e, &sge, 1, 0);
	wc_want(e.scq, 1, IBV_WC_SUCCESS);
	must_be(sock_recv(fd, got, sizeof(got), BOUND), mtu + 14);

	/* None of the frames above has been sent. */
	f.tag = NO_TAG;
	f.payload = 50;
	frame_make(&f, m.p);
	sge = sge_of(&m, 0, 64);
	raw_send(&e, &sge, 1, 0);
	wc_want(e.scq, 1, IBV_WC_SUCCESS);
	left(fd, &m, 64);
}

static void raw_ops(void)
{
	enum ibv_wr_opcode ops[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND_WITH_IMM,
		IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	const struct opt o = raw_opt();
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct mem m;
	struct end e;
	size_t i;

	raw_make(&e, &sides[1], &o);
	mem_make(&m, &sides[1], FRAME_MAX, FULL_ACCESS);
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		sge = sge_of(&m, 0, 64);
		wr = wr_of(1, ops[i], &sge, 1);
		must_be(post_one(&e, &wr), 0);
		wc_want(e.scq, 1, IBV_WC_LOC_QP_OP_ERR);
		state_becomes(&e, IBV_QPS_SQE);
		must_be(ibv_modify_qp(e.qp, &attr, IBV_QP_STATE), 0);
	}
	sge = sge_of(&m, 0, 64);
	sge.lkey ^= 1;
	raw_send(&e, &sge, 1, 0);
	wc_want(e.scq, 1, IBV_WC_LOC_PROT_ERR);
}

static void raw_send_csum(void)
{
	int fd = sock_frames(&sides[0], 0x0003 /* all */);
	struct { int ip; __u8 proto; int tag, pad; } kinds[] = {
		{ 4, IPPROTO_UDP, NO_TAG, 0 }, { 4, IPPROTO_TCP, NO_TAG, 0 },
		{ 6, IPPROTO_UDP, NO_TAG, 0 }, { 6, IPPROTO_TCP, NO_TAG, 0 },
		{ 4, IPPROTO_UDP, 7, 0 }, { 4, IPPROTO_UDP, NO_TAG, 9 },
	};
	const struct opt o = raw_opt();
	struct frame f = frame_default();
	struct ibv_sge sge;
	struct mem m;
	struct end e;
	size_t i, len;

	raw_make(&e, &sides[1], &o);
	mem_make(&m, &sides[1], FRAME_MAX, FULL_ACCESS);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		f.ip = kinds[i].ip;
		f.saddr = f.ip == 4 ? "10.77.0.1" : "fd77::1";
		f.daddr = f.ip == 4 ? "10.77.0.2" : "fd77::2";
		f.proto = kinds[i].proto;
		f.payload = 33 + i;
		f.tag = kinds[i].tag;
		f.no_sums = true;
		len = frame_make(&f, m.p);
		fill(m.p + len, kinds[i].pad, 99);	/* outside the IP packet */
		sge = sge_of(&m, 0, len + kinds[i].pad);
		raw_send(&e, &sge, 1, IBV_SEND_IP_CSUM);
		wc_want(e.scq, 1, IBV_WC_SUCCESS);

		/* A packet socket reports the tag in auxiliary data. */
		f.tag = NO_TAG;
		f.no_sums = false;
		len = frame_make(&f, frame);
		fill(frame + len, kinds[i].pad, 99);
		do {
			must(sock_recv(fd, got, sizeof(got), BOUND) > 0);
			/* skip the hosts' own neighbour discovery */
		} while (memcmp(got + 12, frame + 12, len < 40 ? len : 10));
		must(!memcmp(got, frame, len + kinds[i].pad));
	}
}

/* ---- receiving ---- */

static void raw_arrive(void)
{
	int lens[] = { 14, 15, 60, 64, 100, 1000, 1514, 0 };
	struct rule r = rule_type(0, ETH_EXP);
	int fd = sock_frames(&sides[0], 0);
	struct taker t;
	struct frame f;
	size_t i, len;

	taker_make(&t, &sides[1], NULL);
	flow_make(t.e.qp, &r);
	lens[ARRAY_SIZE(lens) - 1] = mtu_of_link(&sides[0]) + 14;
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		f = frame_plain(i, lens[i] - 14);
		len = sock_frame(fd, &f, frame);
		must_be(took(&t, frame, len).wc_flags, 0);
	}
	took_nothing(&t);
}

/* No receive, a scattered one, one that is too short: the QP stays in RTS. */
static void raw_receives(void)
{
	struct rule r = rule_type(0, ETH_EXP);
	int fd = sock_frames(&sides[0], 0);
	const struct opt o = raw_opt();
	struct frame f = frame_plain(3, 300);
	struct ibv_sge sge[3];
	struct mem m;
	struct end e;
	size_t len;

	raw_make(&e, &sides[1], &o);
	mem_make(&m, &sides[1], FRAME_MAX, FULL_ACCESS);
	flow_make(e.qp, &r);
	sock_frame(fd, &f, frame);	/* no receive: dropped */

	sge[0] = sge_of(&m, 4000, 5);
	sge[1] = sge_of(&m, 1000, 200);
	sge[2] = sge_of(&m, 0, 109);
	must_be(post_recv(&e, 1, sge, 3), 0);
	f.payload = 301;		/* one byte too long: dropped */
	sock_frame(fd, &f, frame);
	wc_none(e.rcq, 0);
	f.payload = 300;
	len = sock_frame(fd, &f, frame);
	must_be(wc_want(e.rcq, 1, IBV_WC_SUCCESS).byte_len, len);
	must(!memcmp(m.p + 4000, frame, 5));
	must(!memcmp(m.p + 1000, frame + 5, 200));
	must(!memcmp(m.p, frame + 205, 109));
	untouched(m.p + 109, 64, "behind the last piece");
	must_be(state_of(&e), IBV_QPS_RTS);

	/* An invalid receive puts the QP into the error state. */
	sge[0] = sge_of(&m, 0, 1000);
	sge[0].lkey ^= 1;
	must_be(post_recv(&e, 2, sge, 1), 0);
	must_be(post_recv(&e, 3, sge, 1), 0);
	sock_frame(fd, &f, frame);
	wc_want(e.rcq, 2, IBV_WC_LOC_PROT_ERR);
	wc_want(e.rcq, 3, IBV_WC_WR_FLUSH_ERR);
	state_becomes(&e, IBV_QPS_ERR);
}

static void raw_srq(void)
{
	struct rule r = rule_type(0, ETH_EXP);
	int fd = sock_frames(&sides[0], 0);
	struct frame f = frame_plain(4, 200);
	struct opt o = raw_opt();
	struct ibv_sge sge;
	struct end e[2];
	struct mem m;
	size_t len;
	int i;

	o.srq = srq_make(&sides[1], NULL, 8, 1);
	mem_make(&m, &sides[1], 2 * FRAME_MAX, FULL_ACCESS);
	for (i = 0; i < 2; i++) {
		raw_make(&e[i], &sides[1], &o);
		flow_make(e[i].qp, &r);
		sge = sge_of(&m, i * FRAME_MAX, FRAME_MAX);
		must_be(post_srq(o.srq, i, &sge, 1), 0);
	}
	len = sock_frame(fd, &f, frame);
	for (i = 0; i < 2; i++) {
		must_be(wc_want(e[i].rcq, NO_ID, IBV_WC_SUCCESS).byte_len, len);
		must(!memcmp(m.p + i * FRAME_MAX, frame, len));
	}
}

static void raw_states(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 2 };
	struct rule r = rule_type(0, ETH_EXP);
	int fd = sock_frames(&sides[0], 0);
	const struct opt o = raw_opt();
	struct frame f = frame_plain(3, 300);
	struct ibv_sge sge;
	struct mem m;
	struct end e;
	int i;

	end_make(&e, &sides[1], &o);
	mem_make(&m, &sides[1], FRAME_MAX, FULL_ACCESS);
	flow_make(e.qp, &r);
	must_be(ibv_modify_qp(e.qp, &attr, IBV_QP_STATE), EINVAL);
	must_be(ibv_modify_qp(e.qp, &attr, IBV_QP_STATE | IBV_QP_PORT), EINVAL);
	attr.port_num = 1;
	for (i = 0; i < 2; i++) {
		must_be(ibv_modify_qp(e.qp, &attr,
				      IBV_QP_STATE | IBV_QP_PORT), 0);
		sge = sge_of(&m, 0, FRAME_MAX);
		must_be(post_recv(&e, 1, &sge, 1), 0);
		must_be(post_recv(&e, 2, &sge, 1), 0);
		f.seed = 10;
		sock_frame(fd, &f, frame);	/* in INIT: dropped */
		must_be(to_state(&e, IBV_QPS_RTR), 0);
		f.seed = 11;
		sock_frame(fd, &f, frame);
		wc_want(e.rcq, 1, IBV_WC_SUCCESS);
		must(!memcmp(m.p, frame, 314));
		must_be(to_state(&e, IBV_QPS_ERR), 0);
		wc_want(e.rcq, 2, IBV_WC_WR_FLUSH_ERR);
		must_be(post_recv(&e, 3, &sge, 1), 0);
		wc_want(e.rcq, 3, IBV_WC_WR_FLUSH_ERR);
		must_be(to_state(&e, IBV_QPS_RESET), 0);
	}
}

/* The stack removes the tag from a frame; it must be restored. */
static void raw_vlan(void)
{
	struct rule r = rule_of(IBV_FLOW_ATTR_NORMAL, 0, 0);
	int fd = sock_frames(&sides[0], 0);
	struct taker t;
	struct frame f;
	size_t len;

	taker_make(&t, &sides[1], NULL);
	r = rule_type(0, ETH_EXP);
	flow_make(t.e.qp, &r);
	f = frame_plain(1, 200);
	f.tag = 0xa123;
	len = sock_frame(fd, &f, frame);
	took(&t, frame, len);
	f.tag2 = 0x0456;
	len = sock_frame(fd, &f, frame);
	took(&t, frame, len);
	f.tag = NO_TAG;
	len = sock_frame(fd, &f, frame);
	took(&t, frame, len);
}

/* A GSO packet sent by the stack arrives as separate frames. */
static void raw_gso(void)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(PORT),
		.sin_addr.s_addr = inet_addr("10.9.0.2"),
	};
	struct rule r = rule_udp(0, PORT, 0);
	int fd = sock_udp(&sides[0], 3333);
	struct taker t;
	struct ibv_wc wc;
	const __u8 *p;
	int seg = 700;
	int i, len;

	taker_make(&t, &sides[1], NULL);
	flow_make(t.e.qp, &r);
	must_be(setsockopt(fd, IPPROTO_UDP, 103 /* UDP_SEGMENT */, &seg,
			   sizeof(seg)), 0);
	fill(frame, 5 * 700 + 100, 8);
	must_be(sendto(fd, frame, 5 * 700 + 100, 0, (struct sockaddr *)&to,
		       sizeof(to)), 5 * 700 + 100);
	for (i = 0; i < 6; i++) {
		len = i < 5 ? 700 : 100;
		wc = wc_want(t.e.rcq, i, IBV_WC_SUCCESS);
		must_be(wc.byte_len, 14 + 20 + 8 + len);
		must_be(wc.wc_flags, IBV_WC_IP_CSUM_OK);
		p = t.m.p + i * TAKER_SLOT;
		must_be(p[16] << 8 | p[17], 28 + len);
		must_be(p[38] << 8 | p[39], 8 + len);
		must(!memcmp(p + 42, frame + i * 700, len));
		must_be(frame_l4_sum(p + 14, p + 34, 8 + len), 0);
	}
	took_nothing(&t);
}

static void raw_recv_csum(void)
{
	struct rule r = rule_udp(0, PORT, 0);
	int fd = sock_frames(&sides[0], 0);
	struct frame f = frame_default();
	struct taker t;
	size_t len;

	taker_make(&t, &sides[1], NULL);
	flow_make(t.e.qp, &r);
	len = sock_frame(fd, &f, frame);
	must_be(took(&t, frame, len).wc_flags, IBV_WC_IP_CSUM_OK);
	frame[len - 1] ^= 1;		/* corrupts the payload */
	sock_send(fd, frame, len);
	must_be(took(&t, frame, len).wc_flags, 0);
	frame[len - 1] ^= 1;
	frame[25] ^= 1;			/* corrupts the IP header checksum */
	sock_send(fd, frame, len);
	must_be(took(&t, frame, len).wc_flags, 0);
	frame[25] ^= 1;
	sock_send(fd, frame, len + 7);	/* with padding */
	must_be(took(&t, frame, len + 7).wc_flags, IBV_WC_IP_CSUM_OK);
}

/* Multicast is looped back to all queue pairs of the device, and to the sender. */
static void raw_loops(void)
{
	struct rule r = rule_type(0, ETH_EXP);
	struct opt o = raw_opt();
	struct frame f = frame_plain(9, 80);
	struct taker other, self, deaf;
	struct ibv_sge sge;
	struct mem m;
	size_t len;

	taker_make(&other, &sides[1], NULL);
	taker_make(&self, &sides[1], NULL);
	o.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
	taker_make(&deaf, &sides[1], &o);
	flow_make(other.e.qp, &r);
	flow_make(self.e.qp, &r);
	flow_make(deaf.e.qp, &r);
	mem_make(&m, &sides[1], FRAME_MAX, FULL_ACCESS);
	memcpy(f.dmac, "\x01\x50\x56\x19\x20\xa7", 6);
	len = frame_make(&f, m.p);
	sge = sge_of(&m, 0, len);
	raw_send(&self.e, &sge, 1, 0);
	took(&other, m.p, len);
	took(&self, m.p, len);
	took(&deaf, m.p, len);
	f.seed = 10;
	frame_make(&f, m.p);
	raw_send(&deaf.e, &sge, 1, 0);
	took(&other, m.p, len);
	took(&self, m.p, len);
	took_nothing(&deaf);

	/* Frames to the device's own MAC address are looped back as well. */
	mac_of(&sides[1], f.dmac);
	frame_make(&f, m.p);
	raw_send(&other.e, &sge, 1, 0);
	took(&self, m.p, len);
	mac_of(&sides[0], f.dmac);
	frame_make(&f, m.p);
	raw_send(&other.e, &sge, 1, 0);
	wc_want(other.e.scq, 1, IBV_WC_SUCCESS);
	wc_want(other.e.scq, 1, IBV_WC_SUCCESS);
	wc_none(self.e.rcq, 0);
}

static void give_up(int cap)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	syscall(SYS_capget, &head, data);
	data[0].effective &= ~(1U << cap);
	syscall(SYS_capset, &head, data);
}

/* A user must open the device itself, so this runs in another process. */
static int create_unprivileged(const char *name)
{
	struct ibv_qp_init_attr qi = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_device **list;
	struct ibv_context *ctx;
	int i;

	side_enter(&sides[1]);
	give_up(CAP_NET_RAW);
	list = ibv_get_device_list(NULL);
	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			break;
	if (!list || !list[i])
		return -ENODEV;
	ctx = ibv_open_device(list[i]);
	if (!ctx)
		return -errno;
	qi.send_cq = ibv_create_cq(ctx, 1, NULL, NULL, 0);
	qi.recv_cq = qi.send_cq;
	if (!qi.send_cq)
		return -errno;

	return ibv_create_qp(ibv_alloc_pd(ctx), &qi) ? 0 : -errno;
}

static void raw_permission(void)
{
	int status;
	pid_t pid;

	pid = fork();
	if (!pid)
		_exit(-create_unprivileged(sides[1].dev));
	must(pid > 0);
	must_be(waitpid(pid, &status, 0), pid);
	must(WIFEXITED(status));
	must_be(WEXITSTATUS(status), EPERM);
}

static void raw_caps(void)
{
	struct ibv_qp_init_attr_ex qi = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.send_cq = cq_make(&sides[1], 4, NULL),
		.recv_cq = cq_make(&sides[1], 4, NULL),
		.pd = sides[1].pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_device_attr_ex attr = {};

	must_be(ibv_query_device_ex(sides[1].ctx, NULL, &attr), 0);
	must(attr.orig_attr.device_cap_flags & IBV_DEVICE_MANAGED_FLOW_STEERING);
	must(attr.raw_packet_caps & IBV_RAW_PACKET_CAP_IP_CSUM);
	must(attr.orig_attr.max_raw_ethy_qp > 0);
	must(attr.max_wq_type_rq > 0);
	must_be(attr.rss_caps.supported_qpts, 1 << IBV_QPT_RAW_PACKET);
	must(attr.rss_caps.max_rwq_indirection_tables > 0);
	must(attr.rss_caps.max_rwq_indirection_table_size >= 128);
	must_be(attr.rss_caps.rx_hash_function, IBV_RX_HASH_FUNC_TOEPLITZ);
	must_be(attr.rss_caps.rx_hash_fields_mask, 0xff);

	/* Capabilities that are not advertised are refused. */
	must_be(attr.raw_packet_caps & ~IBV_RAW_PACKET_CAP_IP_CSUM, 0);
	qi.create_flags = IBV_QP_CREATE_CVLAN_STRIPPING;
	must(!ibv_create_qp_ex(sides[1].ctx, &qi));
	must_be(errno, EOPNOTSUPP);
}

static const struct vrb_case raw_cases[] = {
	{ "raw", "capabilities", raw_caps },
	{ "raw", "only with CAP_NET_RAW", raw_permission },
	{ "raw", "frames leave byte for byte", raw_leave },
	{ "raw", "frames by ibv_wr_send", raw_wr },
	{ "raw", "frames of invalid length", raw_lengths },
	{ "raw", "invalid operations", raw_ops },
	{ "raw", "checksums are filled in", raw_send_csum },
	{ "raw", "frames arrive byte for byte", raw_arrive },
	{ "raw", "receives: none, short, scattered, bad", raw_receives },
	{ "raw", "receives of an SRQ", raw_srq },
	{ "raw", "states", raw_states },
	{ "raw", "VLAN tags stay in the frame", raw_vlan },
	{ "raw", "GSO packets arrive as separate frames", raw_gso },
	{ "raw", "right and wrong checksums", raw_recv_csum },
	{ "raw", "multicast loopback", raw_loops },
};

VRB_TOPIC("raw", raw_cases);
