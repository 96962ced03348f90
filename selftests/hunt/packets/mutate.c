// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - hostile packets: mutations
 */
#include "packets.h"

/* Boundary values of arithmetic */
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

static void do_bth_bit(struct forged *f, struct dice *r)
{
	if (has_bth(f))
		f->t[roll(r, BTH_BYTES)] ^= 1 << roll(r, 8);
}

static void do_header_bit(struct forged *f, struct dice *r)
{
	if (f->hdr > BTH_BYTES && f->hdr <= f->len)
		f->t[BTH_BYTES + roll(r, f->hdr - BTH_BYTES)] ^=
			1 << roll(r, 8);
}

static void do_header_edge(struct forged *f, struct dice *r)
{
	if (f->hdr > BTH_BYTES && f->hdr <= f->len)
		put_be32(f->t + BTH_BYTES +
			 4 * roll(r, (f->hdr - BTH_BYTES) / 4),
			 dice_pick(r, edges));
}

static void do_opcode(struct forged *f, struct dice *r)
{
	if (has_bth(f))
		f->t[BTH_OPCODE] = dice_next(r);
}

static void do_transport(struct forged *f, struct dice *r)
{
	if (has_bth(f))
		f->t[BTH_OPCODE] = (f->t[BTH_OPCODE] & 0x1f) |
				   roll(r, 8) << 5;
}

static void do_psn(struct forged *f, struct dice *r)
{
	static const __s32 off[] = {
		1, -1, 2, -2, 3, 15, 16, 63, 64, 126, 127, 128, 129, -127,
		-128, -129, 255, 256, 511, 512, 0x7ffffe, 0x7fffff, 0x800000,
		-0x7fffff, 0x800001,
	};
	__s32 by = rarely(r, 4) ? (__s32)roll(r, 140) :
				      dice_pick(r, off);

	if (has_bth(f))
		put_be24(f->t + BTH_PSN, get_be24(f->t + BTH_PSN) + by);
}

static void do_qpn(struct forged *f, struct dice *r)
{
	static const __u32 special[] = { 0, 1, 2, 0xffffff, 0xfffffe };
	__u32 qpn = rarely(r, 3) ? dice_pick(r, special) :
		    rarely(r, 4) ? dice_next(r) & QPN_MASK :
				       targets[roll(r, num_targets)].qpn;

	if (has_bth(f))
		put_be24(f->t + BTH_QPN, qpn);
}

static void do_pkey(struct forged *f, struct dice *r)
{
	static const __u16 keys[] = { 0, 0x7fff, 0x8000, 0xfffe, 1 };

	if (has_bth(f))
		put_be16(f->t + BTH_PKEY, dice_pick(r, keys));
}

static void do_flags(struct forged *f, struct dice *r)
{
	if (has_bth(f))
		f->t[BTH_FLAGS] = dice_next(r);
}

static void do_pad(struct forged *f, struct dice *r)
{
	if (has_bth(f))
		f->t[BTH_FLAGS] ^= (1 + roll(r, 3)) << 4;
}

static void do_ackreq(struct forged *f, struct dice *r)
{
	if (has_bth(f))
		f->t[BTH_ACKREQ] = rarely(r, 2) ? 0x80 : dice_next(r);
}

static void do_syndrome(struct forged *f, struct dice *r)
{
	int at = part_at(f, H_AETH);

	if (at >= 0)
		f->t[at] = dice_next(r);
}

/* A word of a SACK: an edge, or a PSN that is one around the one of the packet */
static void do_sack(struct forged *f, struct dice *r)
{
	static const int near[] = { -1, 0, 1, 2, 16383, 16384, 16385 };
	int words = (f->len - f->hdr) / 4;
	__u32 v;

	if (f->len < BTH_BYTES || f->t[BTH_OPCODE] != OPCODE_SACK || words < 1)
		return;
	v = rarely(r, 2) ? dice_pick(r, edges) :
	    (get_be24(f->t + BTH_PSN) + dice_pick(r, near)) & PSN_MASK;
	put_be32(f->t + f->hdr + 4 * roll(r, words), v);
}

static void do_rkey(struct forged *f, struct dice *r)
{
	__u32 key = grants[roll(r, num_grants)].rkey;
	int at = part_at(f, H_RETH);

	if (at < 0)
		at = part_at(f, H_ATOMIC);
	if (rarely(r, 3))
		key ^= 1U << roll(r, 32);
	if (at >= 0)
		put_be32(f->t + at + 8, key);
}

/* Around the start and the end of a grant, and of the address space */
static void do_va(struct forged *f, struct dice *r)
{
	const struct grant *g = &grants[roll(r, num_grants)];
	__u64 va = g->va + (rarely(r, 2) ? g->len : 0) +
		   (__s32)roll(r, 33) - 16;
	int at = part_at(f, H_RETH);

	if (at < 0)
		at = part_at(f, H_ATOMIC);
	if (rarely(r, 4))
		va = -(__u64)roll(r, 0x10000);
	else if (rarely(r, 4))
		va ^= 1ULL << roll(r, 64);
	if (at >= 0)
		put_be64(f->t + at, va);
}

static void do_dmalen(struct forged *f, struct dice *r)
{
	int at = part_at(f, H_RETH);
	__u32 len;

	if (at < 0)
		return;
	len = get_be32(f->t + at + 12) + roll(r, 9) - 4;
	put_be32(f->t + at + 12, rarely(r, 2) ? len : dice_pick(r, edges));
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

static void do_len(struct forged *f, struct dice *r)
{
	static const int by[] = { -1, 1, -4, 4, -8, 8, 2, 3, 16 };

	if (rarely(r, 3))
		set_len(f, roll(r, f->len + 1));
	else
		set_len(f, f->len + dice_pick(r, by));
}

static void do_long(struct forged *f, struct dice *r)
{
	__u32 mtu = forge_mtu();

	set_len(f, f->hdr + (rarely(r, 2) ? mtu + 4 :
			     roll(r, 4 * mtu)));
}

static void do_icrc(struct forged *f, struct dice *r)
{
	f->icrc = rarely(r, 3) ? ICRC_ABSENT : ICRC_WRONG;
}

/* ---- UDP and IP ---- */

static void do_cut(struct forged *f, struct dice *r)
{
	f->cut = 1 + roll(r, rarely(r, 2) ? 8 : f->len + 60);
}

static void do_ip_len(struct forged *f, struct dice *r)
{
	f->ip_more = (int)roll(r, 129) - 64;
	if (rarely(r, 4))
		f->ip_more = dice_next(r) & 0xffff;
}

static void do_udp_len(struct forged *f, struct dice *r)
{
	switch (roll(r, 4)) {
	case 0:
		f->udp_more = -(f->len + 12) + (int)roll(r, 20);
		break;
	case 1:
		f->udp_more = dice_next(r) & 0xffff;
		break;
	default:
		f->udp_more = (int)roll(r, 65) - 48;
	}
}

static void do_sum(struct forged *f, struct dice *r)
{
	f->sum = roll(r, 3);
}

static void do_ports(struct forged *f, struct dice *r)
{
	if (rarely(r, 4))
		f->dport = rarely(r, 2) ? FLOW_PORT : dice_next(r);
	else
		f->sport = dice_next(r);
}

static void do_tos(struct forged *f, struct dice *r)
{
	f->tos = rarely(r, 2) ? 3 : dice_next(r);
}

static void do_ttl(struct forged *f, struct dice *r)
{
	f->ttl = roll(r, 3);
}

static void do_proto(struct forged *f, struct dice *r)
{
	static const __u8 protos[] = { 1, 2, 6, 27, 47, 50, 58, 132, 136, 255 };

	f->proto = dice_pick(r, protos);
}

/* No-op, record route, timestamp, router alert, invalid types, end of list */
static void options_4(struct forged *f, struct dice *r)
{
	static const __u8 types[] = { 1, 7, 68, 148, 131, 137, 0x82, 0x9e };
	int i;

	f->opts_len = 4 * (1 + roll(r, 10));
	for (i = 0; i < f->opts_len; i++)
		f->opts[i] = rarely(r, 4) ? dice_next(r) : 1;
	if (rarely(r, 2)) {
		f->opts[0] = dice_pick(r, types);
		f->opts[1] = f->opts_len;
		f->opts[2] = 4;
	}
}

/* Hop-by-hop, destination options, routing, an atomic fragment */
static void options_6(struct forged *f, struct dice *r)
{
	static const __u8 types[] = { 0, 60, 43, 44, 60 };
	int i, num = 1 + roll(r, 3);

	memset(f->opts, 0, sizeof(f->opts));
	f->opts_first = dice_pick(r, types);
	for (i = 0; i < num; i++) {
		__u8 *h = f->opts + 8 * i;

		h[0] = i + 1 < num ? dice_pick(r, types) : f->proto;
		h[2] = 1;
		h[3] = 4;
		if (rarely(r, 8))
			h[1 + roll(r, 7)] = dice_next(r);
	}
	f->opts_len = 8 * num;
}

static void do_options(struct forged *f, struct dice *r)
{
	if (f->ip == 4)
		options_4(f, r);
	else if (f->ip == 6)
		options_6(f, r);
}

static void do_fragments(struct forged *f, struct dice *r)
{
	f->pieces = 2 + roll(r, 6);
	f->order = rarely(r, 2) ? 0 : roll(r, 8);
}

/* A datagram of maximum length */
static void do_huge(struct forged *f, struct dice *r)
{
	set_len(f, 30000 + roll(r, ROCE_MAX - 30400));
	if (rarely(r, 2))
		f->udp_more = 120 - f->len;
	f->pieces = 16 + roll(r, 32);
	f->order = rarely(r, 2) ? 0 : roll(r, 8);
}

static void do_frag_field(struct forged *f, struct dice *r)
{
	f->frag = dice_next(r);
}

static void other_addr(struct forged *f, struct dice *r, __u8 *addr)
{
	static const __u32 v4[] = { 0, 0xffffffff, 0x7f000001, 0xe0000001,
				    0xe5090909, 0x0a0900ff, 0x0a090003 };

	switch (roll(r, 4)) {
	case 0:
		forge_addr(f->ip, 0, addr);
		break;
	case 1:
		forge_addr(f->ip, 1, addr);
		break;
	case 2:
		addr[f->ip == 4 ? 3 : 15] ^= 1 << roll(r, 8);
		break;
	default:
		if (f->ip == 4)
			put_be32(addr, dice_pick(r, v4));
		else
			addr[0] = rarely(r, 2) ? 0xff : dice_next(r);
	}
}

static void do_saddr(struct forged *f, struct dice *r)
{
	other_addr(f, r, f->src);
}

static void do_daddr(struct forged *f, struct dice *r)
{
	other_addr(f, r, f->dst);
}

static void do_version(struct forged *f, struct dice *r)
{
	if (!f->ip)
		return;
	f->ip = f->ip == 4 ? 6 : 4;
	forge_addr(f->ip, !f->to, f->src);
	forge_addr(f->ip, f->to, f->dst);
	(void)r;
}

/* ---- the frame ---- */

static void do_tags(struct forged *f, struct dice *r)
{
	static const __u16 ids[] = { 0, 5, 0x2005, 0xe000, 4095 };

	f->tags = 1 + roll(r, 2);
	f->tci[0] = dice_pick(r, ids);
	f->tci[1] = dice_pick(r, ids);
}

static void do_macs(struct forged *f, struct dice *r)
{
	static const __u8 first[] = { 0xff, 0x01, 0x33, 0x00 };

	if (rarely(r, 2))
		memset(f->dmac, dice_pick(r, first), 6);
	else
		f->smac[roll(r, 6)] ^= 1 << roll(r, 8);
}

static void do_times(struct forged *f, struct dice *r)
{
	f->times = 2 + roll(r, 3);
}

/* Consecutive packets, which a receiver may merge by GRO */
static void do_train(struct forged *f, struct dice *r)
{
	f->times = 2 + roll(r, 12);
	f->train = !rarely(r, 4);
	f->sum = SUM_RIGHT;
}

static int l4_at(const struct forged *f)
{
	return 14 + 4 * f->tags + (f->ip == 4 ? 20 : 40) + f->opts_len;
}

static void do_gso(struct forged *f, struct dice *r)
{
	static const __u8 types[] = {
		VIRTIO_NET_HDR_GSO_UDP_L4, VIRTIO_NET_HDR_GSO_UDP_L4,
		VIRTIO_NET_HDR_GSO_UDP, VIRTIO_NET_HDR_GSO_TCPV4,
		VIRTIO_NET_HDR_GSO_TCPV6,
		VIRTIO_NET_HDR_GSO_TCPV4 | VIRTIO_NET_HDR_GSO_ECN,
	};

	f->vnet.gso_type = rarely(r, 8) ? dice_next(r) : dice_pick(r, types);
	f->vnet.gso_size = rarely(r, 2) ? 1 + roll(r, f->len + 16) :
					      dice_pick(r, edges);
	if (rarely(r, 4))
		return;
	f->vnet.flags |= VIRTIO_NET_HDR_F_NEEDS_CSUM;
	f->vnet.csum_start = l4_at(f);
	f->vnet.csum_offset = f->vnet.gso_type == VIRTIO_NET_HDR_GSO_UDP_L4 ||
			      rarely(r, 2) ? 6 : 16;
}

static void do_partial(struct forged *f, struct dice *r)
{
	f->vnet.flags = rarely(r, 4) ? VIRTIO_NET_HDR_F_DATA_VALID :
					   VIRTIO_NET_HDR_F_NEEDS_CSUM;
	f->vnet.csum_start = l4_at(f);
	f->vnet.csum_offset = 6;
	if (rarely(r, 3))
		f->vnet.csum_start = roll(r, f->len + 80);
	if (rarely(r, 3))
		f->vnet.csum_offset = roll(r, f->len + 80);
}

/* Length of the linear part */
static void do_linear(struct forged *f, struct dice *r)
{
	f->vnet.hdr_len = rarely(r, 8) ? dice_next(r) :
			  14 + roll(r, f->len + 60);
}

static void (*const mutations[])(struct forged *f, struct dice *r) = {
	do_bth_bit, do_bth_bit, do_header_bit, do_header_edge, do_opcode,
	do_transport, do_psn, do_psn, do_psn, do_qpn, do_pkey, do_flags, do_pad,
	do_ackreq, do_syndrome, do_sack, do_sack, do_rkey, do_va, do_dmalen, do_len, do_long,
	do_icrc, do_cut, do_ip_len, do_udp_len, do_sum, do_ports, do_tos,
	do_ttl, do_proto, do_options, do_fragments, do_huge, do_frag_field,
	do_saddr, do_daddr, do_version, do_tags, do_macs, do_times, do_train,
	do_gso, do_partial, do_linear, do_linear,
};

const int num_mutations = ARRAY_SIZE(mutations);

void mutate(struct forged *f, int which, struct dice *r)
{
	mutations[which](f, r);
	f->touched = true;
}

/* A PSN far from all PSNs in use */
static bool far_psn(struct forged *f, struct dice *r)
{
	const struct target *t = target_find(f->to, get_be24(f->t + BTH_QPN));
	__u32 by = 0x100000 + roll(r, 0x600000), psn;

	if (!t || t->transport != TP_RC || f->segs)
		return false;
	psn = opcode_parts(f->t[BTH_OPCODE]) & H_REQ ? t->epsn : t->una;
	put_be24(f->t + BTH_PSN, psn + (rarely(r, 2) ? by : -by));
	return f->t[BTH_OPCODE] != 0x81;	/* a CNP has no PSN */
}

/* An ACK with a reserved syndrome: IBTA 9.7.5.2.2, table of AETH syndromes */
static bool reserved_syndrome(struct forged *f, struct dice *r)
{
	static const __u8 from[] = { 0x40, 0x65, 0x80, 0xa0, 0xc0, 0xe0 };
	const struct target *t = target_find(f->to, get_be24(f->t + BTH_QPN));
	int at = part_at(f, H_AETH);

	if (!t || (f->t[BTH_OPCODE] & 0xe0) != t->transport || at < 0)
		return false;
	f->t[at] = dice_pick(r, from) + roll(r, 27);
	return true;
}

static bool is_datagram(const struct forged *f)
{
	const struct target *t = target_find(f->to, get_be24(f->t + BTH_QPN));

	return t && t->transport == TP_UD;
}

/*
 * Makes one field invalid: source address, transport version, opcode's service,
 * P_Key, PSN or ICRC.  In all but the last case the ICRC is right, so that the
 * packet is refused for that field.
 */
void mutate_spoil(struct forged *f, struct dice *r)
{
	f->touched = true;
	if (rarely(r, 6) && far_psn(f, r))
		return;
	if (rarely(r, 3) && reserved_syndrome(f, r))
		return;
	/* a datagram may come from any address */
	switch (is_datagram(f) ? 1 + roll(r, 4) : roll(r, 5)) {
	case 0:
		f->src[f->ip == 4 ? 3 : 15] = 77;
		break;
	case 1:
		f->t[BTH_FLAGS] |= 1 + roll(r, 15);
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
