// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - hostile packets: what is done to them
 */
#include "packets.h"

/* Numbers at which arithmetic breaks */
static const __u32 edges[] = {
	0, 1, 2, 3, 4, 7, 8, 0x7f, 0x80, 0xff, 0x100, 0xfff, 0x1000, 0x7fff,
	0x8000, 0xffff, 0x10000, 0x7fffff, 0x800000, 0xffffff, 0x1000000,
	0x7fffffff, 0x80000000, 0x80000001, 0xfffffff8, 0xffffffff,
};

static bool has_bth(const struct forged *f)
{
	return f->len >= BTH_BYTES;
}

static int part_at(const struct forged *f, unsigned int part)
{
	int at;

	if (!has_bth(f))
		return -1;
	at = opcode_offset(f->t[BTH_OPCODE], part);
	return at >= 0 && at + 28 <= f->len + 28 && at < f->hdr ? at : -1;
}

/* ---- transport ---- */

static void do_bth_bit(struct forged *f, struct rng *r)
{
	if (has_bth(f))
		f->t[rng_below(r, BTH_BYTES)] ^= 1 << rng_below(r, 8);
}

static void do_header_bit(struct forged *f, struct rng *r)
{
	if (f->hdr > BTH_BYTES && f->hdr <= f->len)
		f->t[BTH_BYTES + rng_below(r, f->hdr - BTH_BYTES)] ^=
			1 << rng_below(r, 8);
}

static void do_header_edge(struct forged *f, struct rng *r)
{
	if (f->hdr > BTH_BYTES && f->hdr <= f->len)
		put_be32(f->t + BTH_BYTES +
			 4 * rng_below(r, (f->hdr - BTH_BYTES) / 4),
			 rng_pick(r, edges));
}

static void do_opcode(struct forged *f, struct rng *r)
{
	if (has_bth(f))
		f->t[BTH_OPCODE] = rng_next(r);
}

static void do_transport(struct forged *f, struct rng *r)
{
	if (has_bth(f))
		f->t[BTH_OPCODE] = (f->t[BTH_OPCODE] & 0x1f) |
				   rng_below(r, 8) << 5;
}

static void do_psn(struct forged *f, struct rng *r)
{
	static const __s32 off[] = {
		1, -1, 2, -2, 3, 15, 16, 63, 64, 126, 127, 128, 129, -127,
		-128, -129, 255, 256, 511, 512, 0x7ffffe, 0x7fffff, 0x800000,
		-0x7fffff, 0x800001,
	};
	__s32 by = rng_one_in(r, 4) ? (__s32)rng_below(r, 140) :
				      rng_pick(r, off);

	if (has_bth(f))
		put_be24(f->t + BTH_PSN, get_be24(f->t + BTH_PSN) + by);
}

static void do_qpn(struct forged *f, struct rng *r)
{
	static const __u32 special[] = { 0, 1, 2, 0xffffff, 0xfffffe };
	__u32 qpn = rng_one_in(r, 3) ? rng_pick(r, special) :
		    rng_one_in(r, 4) ? rng_next(r) & QPN_MASK :
				       targets[rng_below(r, num_targets)].qpn;

	if (has_bth(f))
		put_be24(f->t + BTH_QPN, qpn);
}

static void do_pkey(struct forged *f, struct rng *r)
{
	static const __u16 keys[] = { 0, 0x7fff, 0x8000, 0xfffe, 1 };

	if (has_bth(f))
		put_be16(f->t + BTH_PKEY, rng_pick(r, keys));
}

static void do_flags(struct forged *f, struct rng *r)
{
	if (has_bth(f))
		f->t[BTH_FLAGS] = rng_next(r);
}

static void do_pad(struct forged *f, struct rng *r)
{
	if (has_bth(f))
		f->t[BTH_FLAGS] ^= (1 + rng_below(r, 3)) << 4;
}

static void do_ackreq(struct forged *f, struct rng *r)
{
	if (has_bth(f))
		f->t[BTH_ACKREQ] = rng_one_in(r, 2) ? 0x80 : rng_next(r);
}

static void do_syndrome(struct forged *f, struct rng *r)
{
	int at = part_at(f, H_AETH);

	if (at >= 0)
		f->t[at] = rng_next(r);
}

static void do_rkey(struct forged *f, struct rng *r)
{
	__u32 key = grants[rng_below(r, num_grants)].rkey;
	int at = part_at(f, H_RETH);

	if (at < 0)
		at = part_at(f, H_ATOMIC);
	if (rng_one_in(r, 3))
		key ^= 1U << rng_below(r, 32);
	if (at >= 0)
		put_be32(f->t + at + 8, key);
}

/* Around the beginning and the end of what is granted, and of all there is */
static void do_va(struct forged *f, struct rng *r)
{
	const struct grant *g = &grants[rng_below(r, num_grants)];
	__u64 va = g->va + (rng_one_in(r, 2) ? g->len : 0) +
		   (__s32)rng_below(r, 33) - 16;
	int at = part_at(f, H_RETH);

	if (at < 0)
		at = part_at(f, H_ATOMIC);
	if (rng_one_in(r, 4))
		va = -(__u64)rng_below(r, 0x10000);
	else if (rng_one_in(r, 4))
		va ^= 1ULL << rng_below(r, 64);
	if (at >= 0)
		put_be64(f->t + at, va);
}

static void do_dmalen(struct forged *f, struct rng *r)
{
	int at = part_at(f, H_RETH);
	__u32 len;

	if (at < 0)
		return;
	len = get_be32(f->t + at + 12) + rng_below(r, 9) - 4;
	put_be32(f->t + at + 12, rng_one_in(r, 2) ? len : rng_pick(r, edges));
}

static void set_len(struct forged *f, int len)
{
	if (len < 0)
		len = 0;
	if (len > ROCE_MAX - 400)
		len = ROCE_MAX - 400;
	if (len > f->len)
		memset(f->t + f->len, 0x5a, len - f->len);
	f->len = len;
	if (f->hdr > len)
		f->hdr = len;
}

static void do_len(struct forged *f, struct rng *r)
{
	static const int by[] = { -1, 1, -4, 4, -8, 8, 2, 3, 16 };

	if (rng_one_in(r, 3))
		set_len(f, rng_below(r, f->len + 1));
	else
		set_len(f, f->len + rng_pick(r, by));
}

static void do_long(struct forged *f, struct rng *r)
{
	__u32 mtu = forge_mtu();

	set_len(f, f->hdr + (rng_one_in(r, 2) ? mtu + 4 :
			     rng_below(r, 4 * mtu)));
}

static void do_icrc(struct forged *f, struct rng *r)
{
	f->icrc = rng_one_in(r, 3) ? ICRC_ABSENT : ICRC_WRONG;
}

/* ---- UDP and IP ---- */

static void do_cut(struct forged *f, struct rng *r)
{
	f->cut = 1 + rng_below(r, rng_one_in(r, 2) ? 8 : f->len + 60);
}

static void do_ip_len(struct forged *f, struct rng *r)
{
	f->ip_more = (int)rng_below(r, 129) - 64;
	if (rng_one_in(r, 4))
		f->ip_more = rng_next(r) & 0xffff;
}

static void do_udp_len(struct forged *f, struct rng *r)
{
	switch (rng_below(r, 4)) {
	case 0:
		f->udp_more = -(f->len + 12) + (int)rng_below(r, 20);
		break;
	case 1:
		f->udp_more = rng_next(r) & 0xffff;
		break;
	default:
		f->udp_more = (int)rng_below(r, 65) - 48;
	}
}

static void do_sum(struct forged *f, struct rng *r)
{
	f->sum = rng_below(r, 3);
}

static void do_ports(struct forged *f, struct rng *r)
{
	if (rng_one_in(r, 4))
		f->dport = rng_one_in(r, 2) ? FLOW_PORT : rng_next(r);
	else
		f->sport = rng_next(r);
}

static void do_tos(struct forged *f, struct rng *r)
{
	f->tos = rng_one_in(r, 2) ? 3 : rng_next(r);
}

static void do_ttl(struct forged *f, struct rng *r)
{
	f->ttl = rng_below(r, 3);
}

static void do_proto(struct forged *f, struct rng *r)
{
	static const __u8 protos[] = { 1, 2, 6, 27, 47, 50, 58, 132, 136, 255 };

	f->proto = rng_pick(r, protos);
}

/* No operation, record route, timestamp, router alert, nonsense, the end */
static void options_4(struct forged *f, struct rng *r)
{
	static const __u8 types[] = { 1, 7, 68, 148, 131, 137, 0x82, 0x9e };
	int i;

	f->opts_len = 4 * (1 + rng_below(r, 10));
	for (i = 0; i < f->opts_len; i++)
		f->opts[i] = rng_one_in(r, 4) ? rng_next(r) : 1;
	if (rng_one_in(r, 2)) {
		f->opts[0] = rng_pick(r, types);
		f->opts[1] = f->opts_len;
		f->opts[2] = 4;
	}
}

/* Hop by hop, destination options, routing, a fragment that is whole */
static void options_6(struct forged *f, struct rng *r)
{
	static const __u8 types[] = { 0, 60, 43, 44, 60 };
	int i, num = 1 + rng_below(r, 3);

	memset(f->opts, 0, sizeof(f->opts));
	f->opts_first = rng_pick(r, types);
	for (i = 0; i < num; i++) {
		__u8 *h = f->opts + 8 * i;

		h[0] = i + 1 < num ? rng_pick(r, types) : f->proto;
		h[2] = 1;
		h[3] = 4;
		if (rng_one_in(r, 8))
			h[1 + rng_below(r, 7)] = rng_next(r);
	}
	f->opts_len = 8 * num;
}

static void do_options(struct forged *f, struct rng *r)
{
	if (f->ip == 4)
		options_4(f, r);
	else if (f->ip == 6)
		options_6(f, r);
}

static void do_fragments(struct forged *f, struct rng *r)
{
	f->pieces = 2 + rng_below(r, 6);
	f->order = rng_one_in(r, 2) ? 0 : rng_below(r, 8);
}

/* One datagram as long as they can be */
static void do_huge(struct forged *f, struct rng *r)
{
	set_len(f, 30000 + rng_below(r, ROCE_MAX - 30400));
	if (rng_one_in(r, 2))
		f->udp_more = 120 - f->len;
	f->pieces = 16 + rng_below(r, 32);
	f->order = rng_one_in(r, 2) ? 0 : rng_below(r, 8);
}

static void do_frag_field(struct forged *f, struct rng *r)
{
	f->frag = rng_next(r);
}

static void other_addr(struct forged *f, struct rng *r, __u8 *addr)
{
	static const __u32 v4[] = { 0, 0xffffffff, 0x7f000001, 0xe0000001,
				    0xe5090909, 0x0a0900ff, 0x0a090003 };

	switch (rng_below(r, 4)) {
	case 0:
		forge_addr(f->ip, 0, addr);
		break;
	case 1:
		forge_addr(f->ip, 1, addr);
		break;
	case 2:
		addr[f->ip == 4 ? 3 : 15] ^= 1 << rng_below(r, 8);
		break;
	default:
		if (f->ip == 4)
			put_be32(addr, rng_pick(r, v4));
		else
			addr[0] = rng_one_in(r, 2) ? 0xff : rng_next(r);
	}
}

static void do_saddr(struct forged *f, struct rng *r)
{
	other_addr(f, r, f->src);
}

static void do_daddr(struct forged *f, struct rng *r)
{
	other_addr(f, r, f->dst);
}

static void do_version(struct forged *f, struct rng *r)
{
	if (!f->ip)
		return;
	f->ip = f->ip == 4 ? 6 : 4;
	forge_addr(f->ip, !f->to, f->src);
	forge_addr(f->ip, f->to, f->dst);
	(void)r;
}

/* ---- the frame ---- */

static void do_tags(struct forged *f, struct rng *r)
{
	static const __u16 ids[] = { 0, 5, 0x2005, 0xe000, 4095 };

	f->tags = 1 + rng_below(r, 2);
	f->tci[0] = rng_pick(r, ids);
	f->tci[1] = rng_pick(r, ids);
}

static void do_macs(struct forged *f, struct rng *r)
{
	static const __u8 first[] = { 0xff, 0x01, 0x33, 0x00 };

	if (rng_one_in(r, 2))
		memset(f->dmac, rng_pick(r, first), 6);
	else
		f->smac[rng_below(r, 6)] ^= 1 << rng_below(r, 8);
}

static void do_times(struct forged *f, struct rng *r)
{
	f->times = 2 + rng_below(r, 3);
}

/* What a receiver may join */
static void do_train(struct forged *f, struct rng *r)
{
	f->times = 2 + rng_below(r, 12);
	f->train = !rng_one_in(r, 4);
	f->sum = SUM_RIGHT;
}

static int l4_at(const struct forged *f)
{
	return 14 + 4 * f->tags + (f->ip == 4 ? 20 : 40) + f->opts_len;
}

static void do_gso(struct forged *f, struct rng *r)
{
	static const __u8 types[] = {
		VIRTIO_NET_HDR_GSO_UDP_L4, VIRTIO_NET_HDR_GSO_UDP_L4,
		VIRTIO_NET_HDR_GSO_UDP, VIRTIO_NET_HDR_GSO_TCPV4,
		VIRTIO_NET_HDR_GSO_TCPV6,
		VIRTIO_NET_HDR_GSO_TCPV4 | VIRTIO_NET_HDR_GSO_ECN,
	};

	f->vnet.gso_type = rng_one_in(r, 8) ? rng_next(r) : rng_pick(r, types);
	f->vnet.gso_size = rng_one_in(r, 2) ? 1 + rng_below(r, f->len + 16) :
					      rng_pick(r, edges);
	if (rng_one_in(r, 4))
		return;
	f->vnet.flags |= VIRTIO_NET_HDR_F_NEEDS_CSUM;
	f->vnet.csum_start = l4_at(f);
	f->vnet.csum_offset = f->vnet.gso_type == VIRTIO_NET_HDR_GSO_UDP_L4 ||
			      rng_one_in(r, 2) ? 6 : 16;
}

static void do_partial(struct forged *f, struct rng *r)
{
	f->vnet.flags = rng_one_in(r, 4) ? VIRTIO_NET_HDR_F_DATA_VALID :
					   VIRTIO_NET_HDR_F_NEEDS_CSUM;
	f->vnet.csum_start = l4_at(f);
	f->vnet.csum_offset = 6;
	if (rng_one_in(r, 3))
		f->vnet.csum_start = rng_below(r, f->len + 80);
	if (rng_one_in(r, 3))
		f->vnet.csum_offset = rng_below(r, f->len + 80);
}

/* How much of it is linear */
static void do_linear(struct forged *f, struct rng *r)
{
	f->vnet.hdr_len = rng_one_in(r, 8) ? rng_next(r) :
			  14 + rng_below(r, f->len + 60);
}

static void (*const mutations[])(struct forged *f, struct rng *r) = {
	do_bth_bit, do_bth_bit, do_header_bit, do_header_edge, do_opcode,
	do_transport, do_psn, do_psn, do_psn, do_qpn, do_pkey, do_flags, do_pad,
	do_ackreq, do_syndrome, do_rkey, do_va, do_dmalen, do_len, do_long,
	do_icrc, do_cut, do_ip_len, do_udp_len, do_sum, do_ports, do_tos,
	do_ttl, do_proto, do_options, do_fragments, do_huge, do_frag_field,
	do_saddr, do_daddr, do_version, do_tags, do_macs, do_times, do_train,
	do_gso, do_partial, do_linear, do_linear,
};

const int num_mutations = ARRAY_SIZE(mutations);

void mutate(struct forged *f, int which, struct rng *r)
{
	mutations[which](f, r);
	f->touched = true;
}

/* A number that nothing is or was sent with, far from those that are used */
static bool far_psn(struct forged *f, struct rng *r)
{
	const struct target *t = target_find(f->to, get_be24(f->t + BTH_QPN));
	__u32 by = 0x100000 + rng_below(r, 0x600000), psn;

	if (!t || t->transport != TP_RC || f->segs)
		return false;
	psn = opcode_parts(f->t[BTH_OPCODE]) & H_REQ ? t->epsn : t->una;
	put_be24(f->t + BTH_PSN, psn + (rng_one_in(r, 2) ? by : -by));
	return f->t[BTH_OPCODE] != 0x81;	/* which has no PSN */
}

/* An answer that says nothing: IBTA 9.7.5.2.2, table of AETH syndromes */
static bool reserved_syndrome(struct forged *f, struct rng *r)
{
	static const __u8 from[] = { 0x40, 0x65, 0x80, 0xa0, 0xc0, 0xe0 };
	const struct target *t = target_find(f->to, get_be24(f->t + BTH_QPN));
	int at = part_at(f, H_AETH);

	if (!t || (f->t[BTH_OPCODE] & 0xe0) != t->transport || at < 0)
		return false;
	f->t[at] = rng_pick(r, from) + rng_below(r, 27);
	return true;
}

static bool is_datagram(const struct forged *f)
{
	const struct target *t = target_find(f->to, get_be24(f->t + BTH_QPN));

	return t && t->transport == TP_UD;
}

/*
 * An address of nobody, a version of the header that there is not, a service
 * that the queue pair does not have, a partition of others, a PSN of another
 * time, a wrong ICRC.  The ICRC is right but in the last case, so that this is
 * what refuses it.
 */
void mutate_spoil(struct forged *f, struct rng *r)
{
	f->touched = true;
	if (rng_one_in(r, 6) && far_psn(f, r))
		return;
	if (rng_one_in(r, 3) && reserved_syndrome(f, r))
		return;
	/* datagrams may come from anybody */
	switch (is_datagram(f) ? 1 + rng_below(r, 4) : rng_below(r, 5)) {
	case 0:
		f->src[f->ip == 4 ? 3 : 15] = 77;
		break;
	case 1:
		f->t[BTH_FLAGS] |= 1 + rng_below(r, 15);
		break;
	case 2:
		f->t[BTH_OPCODE] = 0xe0 | (f->t[BTH_OPCODE] & 0x1f);
		break;
	case 3:
		put_be16(f->t + BTH_PKEY, 0x1234);
		break;
	default:
		f->icrc = ICRC_WRONG;
	}
}
