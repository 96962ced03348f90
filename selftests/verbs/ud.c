// SPDX-License-Identifier: GPL-2.0
/* srnic selftests - verbs harness: datagrams, unicast and multicast */
#include <arpa/inet.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>

#include "vrb.h"

#define QKEY	0x11223344
#define GRH	40
#define SLOT	8192
#define MCAST	0xffffff

static __u32 mtu_of(const struct side *s)
{
	return 128U << s->port.active_mtu;
}

static bool is_v4(const union ibv_gid *gid)
{
	static const __u8 prefix[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(gid->raw, prefix, sizeof(prefix));
}

/* A queue pair for datagrams, ready to send. */
static void ud_make(struct end *e, struct side *s, __u32 create_flags)
{
	struct opt o = opt_default;

	o.type = IBV_QPT_UD;
	o.create_flags = create_flags;
	o.inline_data = 256;
	end_make(e, s, &o);
	connect_ud(e, QKEY);
}

/* Two datagram queue pairs, the path between them, and memory */
struct duo {
	struct end a, b;
	struct mem ma, mb;
	struct ibv_ah *ah;	/* from a to b */
};

static void duo_make(struct duo *d)
{
	ud_make(&d->a, &sides[0], 0);
	ud_make(&d->b, &sides[1], 0);
	mem_make(&d->ma, &sides[0], 64 * SLOT, FULL_ACCESS);
	mem_make(&d->mb, &sides[1], 64 * SLOT, FULL_ACCESS);
	d->ah = ah_make(&sides[0], NULL, &sides[1].gid);
}

static void ud_recv(struct end *e, const struct mem *m, __u64 id, size_t slot,
		    size_t len)
{
	struct ibv_sge sge = sge_of(m, slot * SLOT, len);

	must_be(post_recv(e, id, &sge, 1), 0);
}

static struct ibv_send_wr ud_wr(const struct duo *d, __u64 id,
				struct ibv_sge *sge)
{
	struct ibv_send_wr wr = wr_of(id, IBV_WR_SEND, sge, 1);

	wr.wr.ud.ah = d->ah;
	wr.wr.ud.remote_qpn = d->b.qp->qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	return wr;
}

/* Sends slot 0 of a to b and waits for the completion. */
static void ud_send(struct duo *d, __u64 id, size_t len)
{
	struct ibv_sge sge = sge_of(&d->ma, 0, len);
	struct ibv_send_wr wr = ud_wr(d, id, &sge);

	fill(d->ma.p, len, id);
	must_be(post_one(&d->a, &wr), 0);
	must_be(wc_want(d->a.scq, id, IBV_WC_SUCCESS).opcode, IBV_WC_SEND);
}

/*
 * Once a datagram to another queue pair has arrived, earlier ones have been delivered or
 * dropped.
 */
static void ud_arrived(struct duo *d)
{
	struct ibv_sge sge = sge_of(&d->ma, 0, 64);
	struct ibv_send_wr wr = ud_wr(d, NO_ID, &sge);
	struct end other;

	ud_make(&other, &sides[1], 0);
	ud_recv(&other, &d->mb, NO_ID, 63, SLOT);
	wr.wr.ud.remote_qpn = other.qp->qp_num;
	must_be(post_one(&d->a, &wr), 0);
	wc_want(d->a.scq, NO_ID, IBV_WC_SUCCESS);
	wc_want(other.rcq, NO_ID, IBV_WC_SUCCESS);
}

/* Checks the GRH in front of a payload of @len bytes that a sent to @dgid. */
static void grh_same(const __u8 *p, const union ibv_gid *dgid, size_t len,
		     size_t ext)
{
	size_t udp = 8 + 12 + 8 + ext + ((len + 3) & ~3UL) + 4;
	struct ip6_hdr ip6;
	struct ip ip;

	if (is_v4(dgid)) {
		memcpy(&ip, p + 20, sizeof(ip));
		must_be(ip.ip_v, 4);
		must_be(ip.ip_hl, 5);
		must_be(ip.ip_p, IPPROTO_UDP);
		must_be(ip.ip_tos, 0x28);
		must_be(ntohs(ip.ip_len), 20 + udp);
		must(!memcmp(&ip.ip_src, sides[0].gid.raw + 12, 4));
		must(!memcmp(&ip.ip_dst, dgid->raw + 12, 4));
		return;
	}
	memcpy(&ip6, p, sizeof(ip6));
	must_be(ntohl(ip6.ip6_flow) >> 20, 0x628);
	must_be(ip6.ip6_nxt, IPPROTO_UDP);
	must_be(ntohs(ip6.ip6_plen), udp);
	must(!memcmp(&ip6.ip6_src, &sides[0].gid, 16));
	must(!memcmp(&ip6.ip6_dst, dgid, 16));
}

/* Checks that b has received in @slot the datagram of ud_send(). */
static void ud_got(struct duo *d, __u64 id, __u32 seed, size_t slot, size_t len)
{
	struct ibv_wc wc = wc_want(d->b.rcq, id, IBV_WC_SUCCESS);
	const __u8 *p = d->mb.p + slot * SLOT;

	must_be(wc.opcode, IBV_WC_RECV);
	must_be(wc.byte_len, GRH + len);
	must_be(wc.wc_flags, IBV_WC_GRH);
	must_be(wc.src_qp, d->a.qp->qp_num);
	must_be(wc.qp_num, d->b.qp->qp_num);
	must_be(wc.slid, 0);
	must_be(wc.pkey_index, 0);
	grh_same(p, &sides[1].gid, len, 0);
	same(p + GRH, len, seed, "payload");
	untouched(p + GRH + len, 64, "behind the payload");
}

static void ud_sizes(void)
{
	size_t sizes[] = { 0, 1, 2, 3, 4, 63, 64, 255, 256, 1000,
			   mtu_of(&sides[0]) - 1, mtu_of(&sides[0]) };
	struct duo d;
	size_t i;

	duo_make(&d);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		memset(d.mb.p, GUARD, SLOT);
		ud_recv(&d.b, &d.mb, i, 0, SLOT);
		ud_send(&d, 100 + i, sizes[i]);
		ud_got(&d, i, 100 + i, 0, sizes[i]);
	}
}

static void ud_scattered(void)
{
	struct ibv_sge in[3], out[2];
	struct ibv_send_wr wr;
	struct duo d;

	duo_make(&d);
	fill(d.ma.p, 1000, 5);
	out[0] = sge_of(&d.ma, 0, 300);
	out[1] = sge_of(&d.ma, 300, 700);
	in[0] = sge_of(&d.mb, 0, 13);		/* ends within the GRH */
	in[1] = sge_of(&d.mb, SLOT, 100);
	in[2] = sge_of(&d.mb, 2 * SLOT, 2000);
	must_be(post_recv(&d.b, 1, in, 3), 0);
	wr = ud_wr(&d, 2, out);
	wr.num_sge = 2;
	wr.opcode = IBV_WR_SEND_WITH_IMM;
	wr.imm_data = htobe32(0xc0ffee);
	must_be(post_one(&d.a, &wr), 0);
	wc_want(d.a.scq, 2, IBV_WC_SUCCESS);
	must_be(be32toh(wc_want(d.b.rcq, 1, IBV_WC_SUCCESS).imm_data), 0xc0ffee);

	untouched(d.mb.p + 13, 64, "behind the first piece");
	untouched(d.mb.p + SLOT + 100, 64, "behind the second piece");
	memmove(d.mb.p + 13, d.mb.p + SLOT, 100);
	memmove(d.mb.p + 113, d.mb.p + 2 * SLOT, 1000 + GRH - 113);
	grh_same(d.mb.p, &sides[1].gid, 1000, 4);
	same(d.mb.p + GRH, 1000, 5, "payload");
}

static void ud_inline(void)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct duo d;
	size_t len;

	duo_make(&d);
	for (len = 0; len <= 256; len += 32) {
		memset(d.mb.p, GUARD, SLOT);
		ud_recv(&d.b, &d.mb, len, 0, SLOT);
		fill(d.ma.p, len, 7);
		sge = sge_of(&d.ma, 0, len);
		sge.lkey = 0;
		wr = ud_wr(&d, 7, &sge);
		wr.send_flags |= IBV_SEND_INLINE;
		must_be(post_one(&d.a, &wr), 0);
		memset(d.ma.p, 0, len);
		wc_want(d.a.scq, 7, IBV_WC_SUCCESS);
		ud_got(&d, len, 7, 0, len);
	}
}

/* Consecutive datagrams to one address are sent as one GSO chain. */
static void ud_batch(void)
{
	struct ibv_send_wr wr[32], *bad;
	struct ibv_sge sge[32];
	struct duo d;
	int i;

	duo_make(&d);
	for (i = 0; i < 32; i++) {
		ud_recv(&d.b, &d.mb, i, i, SLOT);
		fill(d.ma.p + i * SLOT, 40 * i, 500 + i);
		sge[i] = sge_of(&d.ma, i * SLOT, 40 * i);
		wr[i] = ud_wr(&d, i, &sge[i]);
		wr[i].next = i < 31 ? &wr[i + 1] : NULL;
	}
	must_be(ibv_post_send(d.a.qp, wr, &bad), 0);
	for (i = 0; i < 32; i++) {
		wc_want(d.a.scq, i, IBV_WC_SUCCESS);
		ud_got(&d, i, 500 + i, i, 40 * i);
	}
}

/* A list alternates between two destinations: b, and a itself. */
static void ud_addresses(void)
{
	struct ibv_send_wr wr[16], *bad;
	struct ibv_ah *self;
	struct ibv_sge sge;
	struct duo d;
	int i;

	duo_make(&d);
	self = ah_make(&sides[0], NULL, &sides[0].gid);
	fill(d.ma.p, 100, 3);
	sge = sge_of(&d.ma, 0, 100);
	for (i = 0; i < 16; i++) {
		wr[i] = ud_wr(&d, i, &sge);
		wr[i].next = i < 15 ? &wr[i + 1] : NULL;
		if (i & 1) {
			wr[i].wr.ud.ah = self;
			wr[i].wr.ud.remote_qpn = d.a.qp->qp_num;
			ud_recv(&d.a, &d.ma, i, 16 + i, SLOT);
		} else {
			ud_recv(&d.b, &d.mb, i, i, SLOT);
		}
	}
	must_be(ibv_post_send(d.a.qp, wr, &bad), 0);
	for (i = 0; i < 16; i++)
		wc_want(d.a.scq, i, IBV_WC_SUCCESS);
	for (i = 0; i < 16; i += 2) {
		ud_got(&d, i, 3, i, 100);
		must_be(wc_want(d.a.rcq, i + 1, IBV_WC_SUCCESS).byte_len,
			GRH + 100);
		same(d.ma.p + (17 + i) * SLOT + GRH, 100, 3, "to itself");
	}
}

/*
 * A list alternates between two queue pairs of one host.  All datagrams have the same
 * source port, which depends on the flow label alone.
 */
static void ud_numbers(void)
{
	struct ibv_send_wr wr[16], *bad;
	struct ibv_sge sge;
	struct end other;
	struct duo d;
	int i;

	duo_make(&d);
	ud_make(&other, &sides[1], 0);
	d.ah = ah_make_label(&sides[0], NULL, &sides[1].gid, 0x12345);
	fill(d.ma.p, 100, 3);
	sge = sge_of(&d.ma, 0, 100);
	for (i = 0; i < 16; i++) {
		wr[i] = ud_wr(&d, i, &sge);
		wr[i].next = i < 15 ? &wr[i + 1] : NULL;
		if (i & 1)
			wr[i].wr.ud.remote_qpn = other.qp->qp_num;
		ud_recv(i & 1 ? &other : &d.b, &d.mb, i, i, SLOT);
	}
	must_be(ibv_post_send(d.a.qp, wr, &bad), 0);
	for (i = 0; i < 16; i++)
		wc_want(d.a.scq, i, IBV_WC_SUCCESS);
	for (i = 0; i < 16; i++) {
		must_be(wc_want(i & 1 ? other.rcq : d.b.rcq, i,
				IBV_WC_SUCCESS).byte_len, GRH + 100);
		same(d.mb.p + i * SLOT + GRH, 100, 3, "payload");
	}
}

static __u32 qkey_violations(void)
{
	struct ibv_port_attr port;

	must_be(ibv_query_port(sides[1].ctx, 1, &port), 0);
	return port.qkey_viol_cntr;
}

static void ud_qkey(void)
{
	__u32 before = qkey_violations();
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct duo d;

	duo_make(&d);
	ud_recv(&d.b, &d.mb, 1, 0, SLOT);
	sge = sge_of(&d.ma, 0, 64);
	wr = ud_wr(&d, 2, &sge);
	wr.wr.ud.remote_qkey = QKEY + 1;
	must_be(post_one(&d.a, &wr), 0);
	wc_want(d.a.scq, 2, IBV_WC_SUCCESS);
	ud_arrived(&d);
	wc_none(d.b.rcq, 50);
	must_be(qkey_violations() - before, 1);

	/* the high bit selects the queue pair's own Q_Key */
	fill(d.ma.p, 64, 9);
	wr.wr.ud.remote_qkey = 0x80000000 | (QKEY + 1);
	must_be(post_one(&d.a, &wr), 0);
	wc_want(d.a.scq, 2, IBV_WC_SUCCESS);
	ud_got(&d, 1, 9, 0, 64);
	must_be(qkey_violations() - before, 1);
}

static void ud_too_long(void)
{
	struct duo d;

	duo_make(&d);
	ud_recv(&d.b, &d.mb, 1, 0, SLOT);
	ud_send(&d, 2, mtu_of(&sides[0]) + 1);
	wc_none(d.b.rcq, 50);
	ud_send(&d, 3, 64);
	ud_got(&d, 1, 3, 0, 64);
}

/* A datagram that does not fit the receive is dropped; nothing else is affected. */
static void ud_short_receive(void)
{
	struct duo d;

	duo_make(&d);
	ud_recv(&d.b, &d.mb, 1, 0, GRH + 63);
	ud_send(&d, 2, 64);
	wc_none(d.b.rcq, 50);
	must_be(state_of(&d.b), IBV_QPS_RTS);
	ud_send(&d, 3, 63);
	ud_got(&d, 1, 3, 0, 63);
}

/* Only the bytes that arrive must be in the region of the receive. */
static void ud_long_receive(void)
{
	struct duo d;

	duo_make(&d);
	ud_recv(&d.b, &d.mb, 1, 63, 2 * SLOT);
	ud_send(&d, 3, 64);
	ud_got(&d, 1, 3, 63, 64);
}

static void ud_no_receive(void)
{
	struct duo d;

	duo_make(&d);
	ud_send(&d, 2, 64);
	ud_arrived(&d);
	ud_recv(&d.b, &d.mb, 1, 0, SLOT);
	wc_none(d.b.rcq, 50);
	ud_send(&d, 3, 64);
	ud_got(&d, 1, 3, 0, 64);
}

/* The first request fails with @status, the next is flushed, receives continue. */
static void ud_sqe(struct duo *d, struct ibv_send_wr *wr,
		   enum ibv_wc_status status)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.cur_qp_state = IBV_QPS_SQE,
	};
	struct ibv_ah *back = ah_make(&sides[1], NULL, &sides[0].gid);
	struct ibv_sge sge = sge_of(&d->mb, 0, 64);
	struct ibv_send_wr good;

	must_be(post_one(&d->a, wr), 0);
	wc_want(d->a.scq, wr->wr_id, status);
	must_be(state_of(&d->a), IBV_QPS_SQE);

	ud_recv(&d->a, &d->ma, 8, 1, SLOT);
	good = ud_wr(d, 9, &sge);
	good.wr.ud.ah = back;
	good.wr.ud.remote_qpn = d->a.qp->qp_num;
	must_be(post_one(&d->b, &good), 0);
	wc_want(d->b.scq, 9, IBV_WC_SUCCESS);
	wc_want(d->a.rcq, 8, IBV_WC_SUCCESS);

	must_be(post_one(&d->a, wr), 0);
	wc_want(d->a.scq, wr->wr_id, IBV_WC_WR_FLUSH_ERR);
	must_be(ibv_modify_qp(d->a.qp, &attr, IBV_QP_STATE |
			      IBV_QP_CUR_STATE), 0);
	memset(d->mb.p, GUARD, SLOT);
	ud_recv(&d->b, &d->mb, 1, 0, SLOT);
	ud_send(d, 3, 64);
	ud_got(d, 1, 3, 0, 64);
}

static void ud_bad_lkey(void)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct duo d;

	duo_make(&d);
	sge = sge_of(&d.ma, 0, 64);
	sge.lkey ^= 0x100;
	wr = ud_wr(&d, 2, &sge);
	ud_sqe(&d, &wr, IBV_WC_LOC_PROT_ERR);
}

static void ud_foreign_ah(void)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_pd *pd;
	struct duo d;
	int i;

	duo_make(&d);
	pd = pd_make(&sides[0]);
	sge = sge_of(&d.ma, 0, 64);
	wr = ud_wr(&d, 2, &sge);
	/* so many that the index is beyond those of the queue pair's domain */
	for (i = 0; i < 8; i++)
		wr.wr.ud.ah = ah_make(&sides[0], pd, &sides[1].gid);
	ud_sqe(&d, &wr, IBV_WC_LOC_QP_OP_ERR);
}

static void ud_bad_opcode(void)
{
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct duo d;

	duo_make(&d);
	sge = sge_of(&d.ma, 0, 64);
	wr = ud_wr(&d, 2, &sge);
	wr.opcode = IBV_WR_RDMA_WRITE;
	ud_sqe(&d, &wr, IBV_WC_LOC_QP_OP_ERR);
}

/* ---- multicast ---- */

static union ibv_gid group_gid(void)
{
	const char *text = is_v4(&sides[0].gid) ? "::ffff:239.9.8.7" :
						  "ff0e::9:8:7";
	union ibv_gid gid;

	must_be(inet_pton(AF_INET6, text, &gid), 1);
	return gid;
}

static void mc_send(struct duo *d, struct ibv_ah *ah, __u64 id)
{
	struct ibv_sge sge = sge_of(&d->ma, 0, 200);
	struct ibv_send_wr wr = ud_wr(d, id, &sge);

	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = MCAST;
	fill(d->ma.p, 200, id);
	must_be(post_one(&d->a, &wr), 0);
	wc_want(d->a.scq, id, IBV_WC_SUCCESS);
}

static void mc_got(struct end *e, const struct mem *m, __u64 id, size_t slot,
		   __u32 seed)
{
	union ibv_gid gid = group_gid();
	struct ibv_wc wc = wc_want(e->rcq, id, IBV_WC_SUCCESS);

	must_be(wc.byte_len, GRH + 200);
	grh_same(m->p + slot * SLOT, &gid, 200, 0);
	same(m->p + slot * SLOT + GRH, 200, seed, "multicast");
}

static void mc_members(void)
{
	union ibv_gid gid = group_gid();
	struct end other;
	struct ibv_ah *ah;
	struct duo d;
	int i;

	duo_make(&d);
	ud_make(&other, &sides[1], 0);
	ah = ah_make(&sides[0], NULL, &gid);
	for (i = 0; i < 4; i++) {
		ud_recv(&d.b, &d.mb, i, i, SLOT);
		ud_recv(&other, &d.mb, i, 8 + i, SLOT);
	}

	mc_send(&d, ah, 20);
	wc_none(d.b.rcq, 50);
	must_be(ibv_attach_mcast(d.b.qp, &gid, 0), 0);
	must_be(ibv_attach_mcast(other.qp, &gid, 0), 0);
	mc_send(&d, ah, 21);
	mc_got(&d.b, &d.mb, 0, 0, 21);
	mc_got(&other, &d.mb, 0, 8, 21);

	must_be(ibv_detach_mcast(other.qp, &gid, 0), 0);
	must(ibv_detach_mcast(other.qp, &gid, 0));
	mc_send(&d, ah, 22);
	mc_got(&d.b, &d.mb, 1, 1, 22);
	wc_none(other.rcq, 50);
	must_be(ibv_detach_mcast(d.b.qp, &gid, 0), 0);
	mc_send(&d, ah, 23);
	wc_none(d.b.rcq, 50);
}

/* The sender and another queue pair of its host are members, too. */
static void mc_loop(__u32 create_flags, bool sender_gets_it)
{
	union ibv_gid gid = group_gid();
	struct end other;
	struct ibv_ah *ah;
	struct duo d;

	duo_make(&d);
	ud_make(&other, &sides[0], 0);
	ud_make(&d.a, &sides[0], create_flags);
	ah = ah_make(&sides[0], NULL, &gid);
	ud_recv(&d.a, &d.ma, 1, 1, SLOT);
	ud_recv(&other, &d.ma, 2, 2, SLOT);
	must_be(ibv_attach_mcast(d.a.qp, &gid, 0), 0);
	must_be(ibv_attach_mcast(other.qp, &gid, 0), 0);
	mc_send(&d, ah, 30);
	mc_got(&other, &d.ma, 2, 2, 30);
	if (sender_gets_it)
		mc_got(&d.a, &d.ma, 1, 1, 30);
	else
		wc_none(d.a.rcq, 50);
	must_be(ibv_detach_mcast(other.qp, &gid, 0), 0);
	must_be(ibv_detach_mcast(d.a.qp, &gid, 0), 0);
}

static void mc_own(void)
{
	mc_loop(0, true);
}

static void mc_blocked(void)
{
	mc_loop(IBV_QP_CREATE_BLOCK_SELF_MCAST_LB, false);
}

static void mc_unicast_number(void)
{
	union ibv_gid gid = group_gid();
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct duo d;

	duo_make(&d);
	ud_recv(&d.b, &d.mb, 1, 0, SLOT);
	must_be(ibv_attach_mcast(d.b.qp, &gid, 0), 0);
	sge = sge_of(&d.ma, 0, 64);
	wr = ud_wr(&d, 2, &sge);
	/* the group's address with a member's QPN, and the reverse */
	wr.wr.ud.ah = ah_make(&sides[0], NULL, &gid);
	must_be(post_one(&d.a, &wr), 0);
	wc_want(d.a.scq, 2, IBV_WC_SUCCESS);
	wr.wr.ud.ah = d.ah;
	wr.wr.ud.remote_qpn = MCAST;
	must_be(post_one(&d.a, &wr), 0);
	wc_want(d.a.scq, 2, IBV_WC_SUCCESS);
	wc_none(d.b.rcq, 50);
	must_be(ibv_detach_mcast(d.b.qp, &gid, 0), 0);
}

/* A group accepts exactly as many members as the device advertises. */
static void mc_full(void)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	int most = sides[1].attr.max_mcast_qp_attach;
	union ibv_gid gid = group_gid();
	struct ibv_qp *qp[1025];
	int bad = 0, i, last = 0;

	must(most > 0 && most <= 1024);
	init.send_cq = cq_make(&sides[1], 16, NULL);
	init.recv_cq = init.send_cq;
	for (i = 0; i <= most; i++) {
		qp[i] = ibv_create_qp(sides[1].pd, &init);
		if (!qp[i])
			break;
		last = ibv_attach_mcast(qp[i], &gid, 0);
		bad += !last == (i == most);
	}
	bad += i <= most;
	while (i--) {
		bad += i < most && ibv_detach_mcast(qp[i], &gid, 0);
		bad += !!ibv_destroy_qp(qp[i]);
	}
	must_be(bad, 0);
	must_be(last, ENOMEM);
}

static const struct vrb_case ud_cases[] = {
	{ "ud", "datagrams of every size, with their header", ud_sizes },
	{ "ud", "header and payload in pieces, immediate data", ud_scattered },
	{ "ud", "inline data", ud_inline },
	{ "ud", "a list of datagrams to one address", ud_batch },
	{ "ud", "a list of datagrams to two addresses", ud_addresses },
	{ "ud", "a list of datagrams to two queue pairs", ud_numbers },
	{ "ud", "a wrong Q_Key is dropped and counted", ud_qkey },
	{ "ud", "longer than the MTU: not sent, no error", ud_too_long },
	{ "ud", "longer than the receive: dropped", ud_short_receive },
	{ "ud", "a receive longer than its region", ud_long_receive },
	{ "ud", "no receive: dropped", ud_no_receive },
	{ "ud", "a bad lkey stops only the send queue", ud_bad_lkey },
	{ "ud", "an address handle of another domain", ud_foreign_ah },
	{ "ud", "an invalid opcode", ud_bad_opcode },
	{ "mcast", "members receive, others do not", mc_members },
	{ "mcast", "loopback to the sender", mc_own },
	{ "mcast", "loopback to the sender blocked", mc_blocked },
	{ "mcast", "QPN and address must match", mc_unicast_number },
	{ "mcast", "limit of members", mc_full },
};

VRB_TOPIC("ud", ud_cases);
