// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - hostile packets: a valid packet for a target, and its bytes
 */
#include "../../verbs/frames.h"
#include "packets.h"

#define ETH_IP4		0x0800
#define ETH_IP6		0x86dd
#define ETH_TAG		0x8100
#define PROTO_UDP	17
#define QKEY_GSI	0x80010000
#define MAD_BYTES	256
#define MAX_PAYLOAD	9000

struct target targets[MAX_TARGETS];
int num_targets;
struct grant grants[MAX_GRANTS];
int num_grants;
struct seen seen[MAX_SEEN];
unsigned int num_seen;

struct target *target_find(int side, __u32 qpn)
{
	int i;

	for (i = 0; i < num_targets; i++)
		if (targets[i].side == side && targets[i].qpn == qpn)
			return &targets[i];
	return NULL;
}

__u32 forge_mtu(void)
{
	enum ibv_mtu a = sides[0].port.active_mtu, b = sides[1].port.active_mtu;

	return 128U << (a < b ? a : b);
}

/* Addresses used by the scripts: 10.9.0.1 and .2, fd09::1 and ::2 */
void forge_addr(int ip, int side, __u8 *addr)
{
	static const __u8 v4[4] = { 10, 9 }, v6[16] = { 0xfd, 0x09 };

	memset(addr, 0, 16);
	memcpy(addr, ip == 4 ? v4 : v6, ip == 4 ? 4 : 16);
	addr[ip == 4 ? 3 : 15] = side + 1;
}

static int wire_ip(void)
{
	static const __u8 v4[12] = { [10] = 0xff, [11] = 0xff };

	return memcmp(sides[0].gid.raw, v4, sizeof(v4)) ? 6 : 4;
}

/* 229.9.9.9, ff0e::9 */
void forge_group(union ibv_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	if (wire_ip() == 4) {
		put_be16(gid->raw + 10, 0xffff);
		put_be32(gid->raw + 12, 0xe5090909);
	} else {
		put_be16(gid->raw, 0xff0e);
		gid->raw[15] = 9;
	}
}

/* ---- a valid packet ---- */

static void base_network(struct forged *f, struct dice *r, int to)
{
	memset(f, 0, offsetof(struct forged, t));
	f->to = to;
	memcpy(f->dmac, wire_mac[to], 6);
	memcpy(f->smac, wire_mac[!to], 6);
	f->ip = wire_ip();
	forge_addr(f->ip, !to, f->src);
	forge_addr(f->ip, to, f->dst);
	f->tos = 2;
	f->ttl = 64;
	f->proto = PROTO_UDP;
	f->id = dice_next(r);
	f->frag = 0x4000;
	f->sport = 0xc000 | (dice_next(r) & 0x3fff);
	f->dport = ROCE_PORT;
	f->times = 1;
}

static void base_bth(struct forged *f, __u8 opcode, __u32 qpn, __u32 psn)
{
	memset(f->t, 0, BTH_BYTES);
	f->t[BTH_OPCODE] = opcode;
	f->t[BTH_FLAGS] = opcode == 0x81 ? 0 : 0x40;
	put_be16(f->t + BTH_PKEY, 0xffff);
	put_be24(f->t + BTH_QPN, qpn);
	put_be24(f->t + BTH_PSN, psn);
	f->hdr = opcode_bytes(opcode);
	f->len = f->hdr;
}

static void base_payload(struct forged *f, struct dice *r, int bytes)
{
	int pad = -bytes & 3;
	__u32 fill = dice_next(r);
	int i;

	for (i = 0; i < bytes; i++)
		f->t[f->hdr + i] = fill >> (8 * (i & 3));
	memset(f->t + f->hdr + bytes, 0, pad);
	f->t[BTH_FLAGS] = (f->t[BTH_FLAGS] & ~0x30) | pad << 4;
	f->len = f->hdr + bytes + pad;
}

static const struct grant *pick_grant(struct dice *r, int side)
{
	const struct grant *g = &grants[0];
	int i;

	for (i = 0; i < 8; i++) {
		g = &grants[roll(r, num_grants)];
		if (g->side == side)
			break;
	}
	return g;
}

/* Fills in address, key and length of a grant for @len bytes, aligned to 8. */
static void base_memory(struct forged *f, struct dice *r, __u8 opcode, __u32 len)
{
	const struct grant *g = pick_grant(r, f->to);
	int at = opcode_offset(opcode, H_RETH);
	__u64 va = g->va;

	if (g->len > len)
		va += roll(r, g->len - len + 1);
	if (at < 0) {
		at = opcode_offset(opcode, H_ATOMIC);
		put_be64(f->t + at + 12, dice_next(r));
		put_be64(f->t + at + 20, dice_next(r));
	} else {
		put_be32(f->t + at + 12, len);
	}
	if (opcode_offset(opcode, H_ATOMIC) >= 0 || (opcode & 0x1f) == 0x1d)
		va = (va + 7) & ~7ULL;
	put_be64(f->t + at, va);
	put_be32(f->t + at + 8, g->rkey);
}

/* Length of the memory that the operation accesses */
static __u32 message_bytes(struct dice *r, __u8 opcode, int payload)
{
	__u32 mtu = forge_mtu();

	if (opcode_offset(opcode, H_ATOMIC) >= 0)
		return 8;
	switch (opcode & 0x1f) {
	case 0x06:
		return payload + 1 + roll(r, 3 * mtu);
	case 0x0c:
		return rarely(r, 4) ? roll(r, 64 * mtu) :
					  roll(r, 2 * mtu);
	case 0x1c:
		return roll(r, 8192);
	default:
		return payload;
	}
}

static int payload_bytes(struct dice *r, __u8 opcode)
{
	unsigned int parts = opcode_parts(opcode);
	int mtu = forge_mtu();

	if (!(parts & H_DATA))
		return 0;
	if (parts & H_FULL)
		return mtu;
	if ((opcode & 0x1f) == 0x1d)
		return 8;
	if (opcode == 0x81)
		return 16;
	return rarely(r, 3) ? roll(r, mtu + 1) : roll(r, 65);
}

/* Masks of few bits, of many, or of no or all of them */
static void base_masks(struct forged *f, struct dice *r, int at)
{
	int i;

	put_be32(f->t + at, MASKS_MAGIC);
	put_be32(f->t + at + 4, MASKS_VERSION << 24);
	for (i = 8; i < 24; i += 4)
		put_be32(f->t + at + i, rarely(r, 3) ? -roll(r, 2) :
			 dice_next(r) & (rarely(r, 2) ? dice_next(r) : ~0U));
}

void forge_operation(struct forged *f, struct dice *r, struct target *t,
		     __u8 opcode)
{
	unsigned int parts = opcode_parts(opcode);
	int payload = payload_bytes(r, opcode);

	base_network(f, r, t->side);
	f->target = t;
	base_bth(f, opcode, t->qpn, t->epsn);
	memset(f->t + BTH_BYTES, 0, f->hdr - BTH_BYTES);
	if (parts & H_XRCETH)
		put_be32(f->t + opcode_offset(opcode, H_XRCETH), t->srqn);
	if (parts & H_DETH) {
		put_be32(f->t + opcode_offset(opcode, H_DETH), t->qkey);
		put_be24(f->t + opcode_offset(opcode, H_DETH) + 5, dice_next(r));
	}
	if (parts & H_FETH)
		put_be32(f->t + opcode_offset(opcode, H_FETH),
			 1 + roll(r, 3) + (roll(r, 2) << 4));
	if (parts & H_MASKS)
		base_masks(f, r, opcode_offset(opcode, H_MASKS));
	if (parts & (H_RETH | H_ATOMIC))
		base_memory(f, r, opcode, message_bytes(r, opcode, payload));
	if (parts & H_IETH)
		put_be32(f->t + opcode_offset(opcode, H_IETH),
			 pick_grant(r, t->side)->rkey);
	if (parts & H_IMM)
		put_be32(f->t + opcode_offset(opcode, H_IMM), dice_next(r));
	if (rarely(r, 2))
		f->t[BTH_ACKREQ] |= 0x80;
	if (rarely(r, 4))
		f->t[BTH_FLAGS] |= 0x80;
	base_payload(f, r, payload);
}

static void base_request(struct forged *f, struct dice *r, struct target *t)
{
	static const __u8 connected[] = {
		0x00, 0x04, 0x05, 0x06, 0x0a, 0x0b, 0x0c, 0x13, 0x14, 0x17,
		0x1c, 0x1d,
	};
	__u8 op = dice_pick(r, connected);

	if (t->transport == TP_UD)
		op = rarely(r, 4) ? 5 : 4;
	else if (t->transport == TP_UC)
		op = connected[roll(r, 6)];
	else if (t->transport == TP_RC && rarely(r, 8))
		op = OPCODE_MASKED_CMP_SWAP + roll(r, 2);
	/* mostly continue the message in progress */
	if (t->open >= 0 && !rarely(r, 4))
		op = t->open + 1 + roll(r, 3);
	forge_operation(f, r, t, t->transport | op);
}

/* A response to a request in flight, or to another one */
static void base_response(struct forged *f, struct dice *r, struct target *t)
{
	static const __u8 ops[] = { 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x11, 0x12 };
	static const __u8 syndromes[] = { 0x00, 0x1f, 0x1f, 0x60, 0x61, 0x62,
					  0x63, 0x64, 0x65, 0x21, 0x2c };
	__u32 out = (t->high - t->una) & PSN_MASK;
	__u8 op = t->transport | dice_pick(r, ops);
	int at;

	base_network(f, r, t->side);
	f->target = t;
	base_bth(f, op, t->qpn, t->una + (out && out < 4096 ?
					  roll(r, out) : 0));
	at = opcode_offset(op, H_AETH);
	if (at >= 0)
		put_be32(f->t + at, (__u32)(rarely(r, 4) ? dice_next(r) :
			dice_pick(r, syndromes)) << 24 | roll(r, 256));
	at = opcode_offset(op, H_ATOMACK);
	if (at >= 0)
		put_be64(f->t + at, dice_next(r));
	base_payload(f, r, payload_bytes(r, op));
}

static void base_cnp(struct forged *f, struct dice *r, struct target *t)
{
	base_network(f, r, t->side);
	f->target = t;
	base_bth(f, 0x81, t->qpn, 0);
	f->t[BTH_RES] = 0x40;
	base_payload(f, r, 16);
	memset(f->t + BTH_BYTES, 0, 16);
}

/* A report of the peer: up to 32 ranges of a window around PSNs in flight, or none */
static void base_sack(struct forged *f, struct dice *r, struct target *t)
{
	__u32 out = (t->high - t->una) & PSN_MASK, at, psn;
	int i, num = rarely(r, 4) ? 0 : roll(r, 33);

	base_network(f, r, t->side);
	f->target = t;
	psn = (t->una + (out && out < 4096 ? roll(r, out + 1) : 0)) & PSN_MASK;
	base_bth(f, OPCODE_SACK, t->qpn, psn);
	base_payload(f, r, SACK_HEAD + num * SACK_RANGE);
	put_be32(f->t + f->hdr, SACK_MAGIC);
	put_be32(f->t + f->hdr + 4, SACK_VERSION << 24 | rarely(r, 2) << 16 | num << 8);
	for (at = psn, i = 0; i < num; i++) {
		at += 1 + roll(r, rarely(r, 4) ? 512 : 4);
		put_be32(f->t + f->hdr + SACK_HEAD + i * SACK_RANGE, at & PSN_MASK);
		at += 1 + roll(r, rarely(r, 4) ? 512 : 4);
		put_be32(f->t + f->hdr + SACK_HEAD + i * SACK_RANGE + 4,
			 (at - get_be32(f->t + f->hdr + SACK_HEAD + i * SACK_RANGE)) & PSN_MASK);
	}
	put_be32(f->t + f->hdr + 8, (at - 1) & PSN_MASK);
}

/* MADs: IBTA 13.4.2, 12.6; mostly of the connection manager */
static void base_mad(struct forged *f, struct dice *r, struct target *t)
{
	static const __u8 classes[] = { 0x07, 0x07, 0x07, 0x03, 0x01, 0x81,
					0x04, 0x09, 0x30 };
	__u8 *mad;
	int i;

	forge_operation(f, r, t, TP_UD | 4);
	put_be24(f->t + BTH_QPN, 1);
	put_be32(f->t + BTH_BYTES, QKEY_GSI);
	put_be24(f->t + BTH_BYTES + 5, 1);
	base_payload(f, r, MAD_BYTES);
	mad = f->t + f->hdr;
	for (i = 0; i < MAD_BYTES; i++)
		mad[i] = dice_next(r);
	mad[0] = 1;
	mad[1] = dice_pick(r, classes);
	mad[2] = mad[1] == 0x07 ? 2 : 1;
	mad[3] = rarely(r, 4) ? dice_next(r) : 3;
	put_be16(mad + 4, 0);
	put_be32(mad + 16, 0x10 + roll(r, 12));
	put_be16(mad + 16, 0x10 + roll(r, 12));
	f->target = NULL;
}

/* To the group of the datagram queue pairs, see links.c */
static void base_mcast(struct forged *f, struct dice *r, struct target *t)
{
	forge_operation(f, r, t, TP_UD | 4);
	put_be24(f->t + BTH_QPN, 0xffffff);
	memset(f->dst, 0, sizeof(f->dst));
	if (f->ip == 4) {
		put_be32(f->dst, 0xe5090909);
		put_be32(f->dmac + 2, 0x5e090909);
		put_be16(f->dmac, 0x0100);
	} else {
		put_be16(f->dst, 0xff0e);
		f->dst[15] = 9;
		put_be16(f->dmac, 0x3333);
		put_be32(f->dmac + 2, 9);
	}
	f->target = NULL;
}

/* A repetition of a recently captured packet */
static bool base_seen(struct forged *f, struct dice *r)
{
	const struct seen *s;
	unsigned int num = num_seen < MAX_SEEN ? num_seen : MAX_SEEN;
	size_t l3 = 14, l4;

	if (!num)
		return false;
	s = &seen[roll(r, num)];
	base_network(f, r, s->to);
	f->ip = get_be16(s->frame + 12) == ETH_IP6 ? 6 : 4;
	l4 = l3 + (f->ip == 4 ? 20 : 40);
	memcpy(f->src, s->frame + l3 + (f->ip == 4 ? 12 : 8),
	       f->ip == 4 ? 4 : 16);
	memcpy(f->dst, s->frame + l3 + (f->ip == 4 ? 16 : 24),
	       f->ip == 4 ? 4 : 16);
	f->sport = get_be16(s->frame + l4);
	f->len = s->len - l4 - 8 - 4;
	memcpy(f->t, s->frame + l4 + 8, f->len);
	f->hdr = opcode_bytes(f->t[BTH_OPCODE]);
	if (f->hdr > f->len)
		f->hdr = BTH_BYTES;
	f->target = target_find(f->to, get_be24(f->t + BTH_QPN));
	/* a repetition is not a valid packet */
	f->touched = true;
	return true;
}

/* A frame that matches a flow */
static void base_frame(struct forged *f, struct dice *r)
{
	base_network(f, r, 1);
	f->len = roll(r, 1400);
	f->hdr = f->len < BTH_BYTES ? f->len : BTH_BYTES;
	memset(f->t, dice_next(r), f->len);
	if (rarely(r, 2)) {
		f->ip = 0;
		f->type = FLOW_TYPE;
	} else {
		f->dport = FLOW_PORT;
	}
}

static void base_noise(struct forged *f, struct dice *r, struct target *t)
{
	int i;

	base_network(f, r, t->side);
	f->len = roll(r, 200);
	f->hdr = f->len < BTH_BYTES ? f->len : BTH_BYTES;
	for (i = 0; i < f->len; i++)
		f->t[i] = dice_next(r);
	if (f->len >= BTH_BYTES && !rarely(r, 4))
		put_be24(f->t + BTH_QPN, t->qpn);
}

/* Several packets in one frame, as UDP segments */
static void base_segments(struct forged *f, struct dice *r, struct target *t)
{
	forge_operation(f, r, t, t->transport | (t->transport == TP_UD ? 4 : 0x0a));
	base_payload(f, r, 4 + roll(r, 300));
	if (t->transport != TP_UD)
		put_be32(f->t + opcode_offset(f->t[0], H_RETH) + 12,
			 f->len - f->hdr - (f->t[BTH_FLAGS] >> 4 & 3));
	f->segs = 2 + roll(r, 40);
}

void forge_base(struct forged *f, struct dice *r)
{
	struct target *t = &targets[roll(r, num_targets)];
	__u32 kind = roll(r, 32);

	/* prefer the targets of connected queue pairs */
	if (t->guarded && !rarely(r, 3))
		t = &targets[roll(r, num_targets)];
	if (kind < 12)
		base_request(f, r, t);
	else if (kind < 19)
		base_response(f, r, t);
	else if (kind < 23 && base_seen(f, r))
		return;
	else if (kind < 24)
		base_cnp(f, r, t);
	else if (kind < 25)
		base_mad(f, r, t);
	else if (kind < 26)
		base_mcast(f, r, t);
	else if (kind < 27)
		base_frame(f, r);
	else if (kind < 28)
		base_noise(f, r, t);
	else if (kind < 30)
		base_segments(f, r, t);
	else if (kind < 31)
		base_sack(f, r, t);
	else
		base_request(f, r, t);
}

/* ---- encoding ---- */

static int put_ip(const struct forged *f, __u8 *p, int payload)
{
	if (f->ip == 4) {
		int ihl = 20 + f->opts_len;

		memset(p, 0, 20);
		p[0] = 0x40 | ihl / 4;
		p[1] = f->tos;
		put_be16(p + 2, ihl + payload + f->ip_more);
		put_be16(p + 4, f->id);
		put_be16(p + 6, f->frag);
		p[8] = f->ttl;
		p[9] = f->proto;
		memcpy(p + 12, f->src, 4);
		memcpy(p + 16, f->dst, 4);
		memcpy(p + 20, f->opts, f->opts_len);
		put_be16(p + 10, frame_sum_end(frame_sum(0, p, ihl)));
		return ihl;
	}
	put_be32(p, 6U << 28 | f->tos << 20);
	put_be16(p + 4, f->opts_len + payload + f->ip_more);
	p[6] = f->opts_len ? f->opts_first : f->proto;
	p[7] = f->ttl;
	memcpy(p + 8, f->src, 16);
	memcpy(p + 24, f->dst, 16);
	memcpy(p + 40, f->opts, f->opts_len);
	return 40 + f->opts_len;
}

static void put_sum(const struct forged *f, __u8 *udp, int len)
{
	int n = f->ip == 4 ? 4 : 16;
	__u32 sum;

	put_be16(udp + 6, 0);
	if (f->sum == SUM_NONE)
		return;
	sum = frame_sum(f->proto + len, f->src, n);
	sum = frame_sum(sum, f->dst, n);
	sum = frame_sum_end(frame_sum(sum, udp, len));
	put_be16(udp + 6, f->sum == SUM_WRONG ? sum ^ 0x0101 : sum ? sum : 0xffff);
}

/* Writes UDP, transport headers and ICRC with @psn behind @ip; returns their length. */
static int put_packet(const struct forged *f, const __u8 *ip, __u8 *udp,
		      __u32 psn)
{
	int len = 8 + f->len + (f->icrc == ICRC_ABSENT ? 0 : 4);
	__u8 *t = udp + 8;
	__u32 crc;

	put_be16(udp, f->sport);
	put_be16(udp + 2, f->dport);
	put_be16(udp + 4, len);
	put_be16(udp + 6, 0);
	memcpy(t, f->t, f->len);
	if (f->segs && f->len >= BTH_BYTES)
		put_be24(t + BTH_PSN, psn);
	if (f->icrc != ICRC_ABSENT && f->len >= BTH_BYTES) {
		crc = roce_icrc(f->ip, ip, udp, t, f->len);
		crc ^= f->icrc == ICRC_WRONG;
		t[f->len] = crc;
		t[f->len + 1] = crc >> 8;
		t[f->len + 2] = crc >> 16;
		t[f->len + 3] = crc >> 24;
	}
	put_be16(udp + 4, len + f->udp_more);
	put_sum(f, udp, len);
	return len;
}

static int put_eth(const struct forged *f, __u8 *p)
{
	__u16 type = f->ip == 4 ? ETH_IP4 : f->ip == 6 ? ETH_IP6 : f->type;
	int i, at = 12;

	memcpy(p, f->dmac, 6);
	memcpy(p + 6, f->smac, 6);
	for (i = 0; i < f->tags; i++, at += 4) {
		put_be16(p + at, ETH_TAG);
		put_be16(p + at + 2, f->tci[i]);
	}
	put_be16(p + at, type);
	return at + 2;
}

/* The IP header covered by the ICRC: of one unfragmented packet, without options */
static void header_alone(const struct forged *f, int payload, int seg, __u8 *ip)
{
	struct forged alone;

	memcpy(&alone, f, offsetof(struct forged, t));
	alone.ip_more = 0;
	alone.opts_len = 0;
	alone.id += seg;
	if (f->pieces)
		alone.frag = 0;
	put_ip(&alone, ip, payload);
}

/* Segments share one UDP header; each is a packet. */
static int put_segments(const struct forged *f, __u8 *udp, int room)
{
	int one = f->len + 4, at = 8, i;
	static __u8 alone[FORGED_MAX];
	__u8 ip[128];

	for (i = 0; i < f->segs && at + one <= room; i++, at += one) {
		header_alone(f, 8 + one, i, ip);
		put_packet(f, ip, alone, get_be24(f->t + BTH_PSN) + i);
		memcpy(udp + at, alone + 8, one);
	}
	memcpy(udp, alone, 8);
	put_be16(udp + 4, at);
	return at;
}

static void vnet_segments(struct forged *f, int l4)
{
	f->vnet.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
	f->vnet.gso_type = VIRTIO_NET_HDR_GSO_UDP_L4;
	f->vnet.gso_size = f->len + 4;
	f->vnet.csum_start = l4;
	f->vnet.csum_offset = 6;
	f->vnet.hdr_len = l4 + 8;
}

static void put_out(const struct forged *f, const __u8 *frame, int len)
{
	len -= f->cut;
	if (len > 0)
		wire_put(f->to, &f->vnet, frame, len);
}

/* Writes fragment offset @at into the IP header of @f. */
static void set_fragment(struct forged *f, int at, bool more)
{
	if (f->ip == 4) {
		f->frag = at / 8 | (more ? 0x2000 : 0);
		return;
	}
	memset(f->opts, 0, 8);
	f->opts[0] = f->proto;
	put_be16(f->opts + 2, at | more);
	put_be32(f->opts + 4, f->id);
	f->opts_first = 44;
	f->opts_len = 8;
}

/* Fragment @i of the @len bytes at @l4; it may overlap the previous one. */
static void put_fragment(struct forged *f, const __u8 *l4, int len, int i)
{
	static __u8 frame[FORGED_MAX + ROCE_MAX];
	int size = ((len + f->pieces - 1) / f->pieces + 7) & ~7;
	int at = i * size, end = at + size, l3;

	if (at >= len)
		return;
	if (i && (f->order & 4))
		at -= 8;
	if (end > len)
		end = len;
	set_fragment(f, at, end < len);
	l3 = put_eth(f, frame);
	l3 += put_ip(f, frame + l3, end - at);
	memcpy(frame + l3, l4 + at, end - at);
	put_out(f, frame, l3 + end - at);
}

/* Sends fragments in order or in reverse, all or all but one. */
static void put_fragments(struct forged *f, const __u8 *l4, int len)
{
	int i, k;

	for (i = 0; i < f->pieces; i++) {
		k = f->order & 1 ? f->pieces - 1 - i : i;
		if ((f->order & 2) && i == f->pieces / 2)
			continue;
		put_fragment(f, l4, len, k);
	}
}

static void send_once(struct forged *f)
{
	static __u8 frame[FORGED_MAX + ROCE_MAX];
	__u8 ip[128];
	int l3, l4, len;

	l3 = put_eth(f, frame);
	if (!f->ip) {
		memcpy(frame + l3, f->t, f->len);
		put_out(f, frame, l3 + f->len);
		return;
	}
	l4 = l3 + (f->ip == 4 ? 20 : 40) + f->opts_len;
	if (f->segs && f->len >= BTH_BYTES) {
		len = put_segments(f, frame + l4, 60000);
		if (!f->vnet.gso_type)
			vnet_segments(f, l4);
	} else {
		len = 8 + f->len + (f->icrc == ICRC_ABSENT ? 0 : 4);
		header_alone(f, len, 0, ip);
		put_packet(f, ip, frame + l4, 0);
	}
	put_ip(f, frame + l3, len);
	if (f->pieces)
		put_fragments(f, frame + l4, len);
	else
		put_out(f, frame, l4 + len);
}

/* Is it for a guarded target, and valid otherwise? */
static bool must_be_refused(const struct forged *f)
{
	const struct target *t;

	if (f->len < BTH_BYTES)
		return false;
	t = target_find(f->to, get_be24(f->t + BTH_QPN));
	return t && t->guarded;
}

/* The target has accepted @f if it was not mutated: advances the PSN. */
static void forge_taken(const struct forged *f)
{
	struct target *t = f->target;
	unsigned int parts = opcode_parts(f->t[BTH_OPCODE]);

	if (!t || f->touched || !(parts & H_REQ))
		return;
	t->epsn = (t->epsn + (f->segs ? f->segs : 1)) & PSN_MASK;
	t->open = -1;
	if (parts & H_GOES_ON)
		t->open = (f->t[BTH_OPCODE] & 0x1f) < 3 ? 0 : 6;
}

void forge_send(struct forged *f, struct dice *r)
{
	int i;

	if (must_be_refused(f))
		mutate_spoil(f, r);
	for (i = 0; i < f->times; i++) {
		send_once(f);
		if (f->train && f->len >= BTH_BYTES)
			put_be24(f->t + BTH_PSN, get_be24(f->t + BTH_PSN) + 1);
	}
	forge_taken(f);
}
