// SPDX-License-Identifier: GPL-2.0
/*
 * srnic - the parser accepts what the builder builds, and nothing truncated
 *
 * Every packet is in a heap buffer of exactly its size, so that the address
 * sanitizer detects reads and writes beyond it.
 */

#include <asm/byteorder.h>
#include <stdlib.h>
#include <string.h>

#include "opcode_list.h"
#include "rand.h"
#include "tap.h"
#include "wire/pkt.h"

#define ROUNDS		2000
#define PAYLOAD_MAX	64
#define ICRC		4

/* Maximum bytes of payload and pad of a packet of @fact, in whole words */
static unsigned int room_random(const struct opcode_fact *fact)
{
	if (!fact->data)
		return 0;
	if (fact->family == SRNIC_FAM_ATOMIC_WRITE)
		return 8;
	if (fact->family == SRNIC_FAM_CNP)
		return 16;

	return rand32() % (PAYLOAD_MAX / 4) * 4;
}

static bool room_is_fixed(const struct opcode_fact *fact)
{
	return !fact->data || fact->family == SRNIC_FAM_ATOMIC_WRITE ||
	       fact->family == SRNIC_FAM_CNP;
}

static void pkt_random(struct srnic_pkt *pkt, const struct opcode_fact *fact,
		       unsigned int room)
{
	memset(pkt, 0, sizeof(*pkt));
	pkt->opcode = fact->opcode;
	pkt->se = rand32() & 1;
	pkt->ackreq = rand32() & 1;
	pkt->migreq = rand32() & 1;
	pkt->fecn = rand32() & 1;
	pkt->becn = rand32() & 1;
	pkt->pkey = rand32();
	pkt->qpn = rand32() & 0xffffff;
	pkt->psn = rand32() & 0xffffff;
	if (!room_is_fixed(fact) && room)
		pkt->pad = rand32() & 3;
	pkt->payload = room - pkt->pad;

	if (strchr(fact->headers, 'x'))
		pkt->srqn = rand32() & 0xffffff;
	if (strchr(fact->headers, 'd')) {
		pkt->qkey = rand32();
		pkt->src_qp = rand32() & 0xffffff;
	}
	if (strchr(fact->headers, 'f'))
		pkt->feth = rand32();
	if (strpbrk(fact->headers, "rc")) {
		pkt->va = rand64();
		pkt->rkey = rand32();
	}
	if (strchr(fact->headers, 'r'))
		pkt->dmalen = rand32();
	if (strpbrk(fact->headers, "co"))
		pkt->swap_add = rand64();
	if (strchr(fact->headers, 'c'))
		pkt->compare = rand64();
	if (strchr(fact->headers, 'm')) {
		pkt->compare_add_mask = rand64();
		pkt->swap_mask = rand64();
	}
	if (strchr(fact->headers, 'a')) {
		pkt->syndrome = rand32();
		pkt->msn = rand32() & 0xffffff;
	}
	if (strchr(fact->headers, 'i'))
		pkt->imm = (__be32)rand32();
	if (strchr(fact->headers, 'v'))
		pkt->inv_rkey = rand32();
}

static u8 *put(u8 *p, u64 value, unsigned int bytes)
{
	while (bytes--)
		*p++ = value >> 8 * bytes;

	return p;
}

/* Builds the headers as drawn in the specification.  Return: their length. */
static unsigned int encode(u8 *data, const struct srnic_pkt *pkt,
			   const struct opcode_fact *fact)
{
	const char *header;
	u8 *p = data;

	p = put(p, pkt->opcode, 1);
	p = put(p, pkt->se << 7 | pkt->migreq << 6 | pkt->pad << 4, 1);
	p = put(p, pkt->pkey, 2);
	p = put(p, pkt->fecn << 7 | pkt->becn << 6, 1);
	p = put(p, pkt->qpn, 3);
	p = put(p, pkt->ackreq << 7, 1);
	p = put(p, pkt->psn, 3);
	for (header = fact->headers; *header; header++) {
		switch (*header) {
		case 'x':
			p = put(p, pkt->srqn, 4);
			break;
		case 'd':
			p = put(p, pkt->qkey, 4);
			p = put(p, pkt->src_qp, 4);
			break;
		case 'f':
			p = put(p, pkt->feth, 4);
			break;
		case 'r':
			p = put(p, pkt->va, 8);
			p = put(p, pkt->rkey, 4);
			p = put(p, pkt->dmalen, 4);
			break;
		case 'm':
			p = put(p, 0x73524e4d, 4);
			p = put(p, 1, 1);
			p = put(p, 0, 3);
			p = put(p, pkt->compare_add_mask, 8);
			p = put(p, pkt->swap_mask, 8);
			break;
		case 'c':
			p = put(p, pkt->va, 8);
			p = put(p, pkt->rkey, 4);
			p = put(p, pkt->swap_add, 8);
			p = put(p, pkt->compare, 8);
			break;
		case 'a':
			p = put(p, pkt->syndrome, 1);
			p = put(p, pkt->msn, 3);
			break;
		case 'o':
			p = put(p, pkt->swap_add, 8);
			break;
		case 'i':
			memcpy(p, &pkt->imm, 4);
			p += 4;
			break;
		case 'v':
			p = put(p, pkt->inv_rkey, 4);
			break;
		}
	}

	return p - data;
}

static bool pkt_equal(const struct srnic_pkt *a, const struct srnic_pkt *b)
{
	return a->opcode == b->opcode && a->se == b->se &&
	       a->ackreq == b->ackreq && a->migreq == b->migreq &&
	       a->fecn == b->fecn && a->becn == b->becn &&
	       a->syndrome == b->syndrome && a->pad == b->pad &&
	       a->pkey == b->pkey && a->payload == b->payload &&
	       a->qpn == b->qpn && a->psn == b->psn && a->msn == b->msn &&
	       a->srqn == b->srqn && a->qkey == b->qkey &&
	       a->src_qp == b->src_qp && a->feth == b->feth && a->va == b->va &&
	       a->rkey == b->rkey && a->dmalen == b->dmalen &&
	       a->swap_add == b->swap_add && a->compare == b->compare &&
	       a->compare_add_mask == b->compare_add_mask &&
	       a->swap_mask == b->swap_mask &&
	       a->imm == b->imm && a->inv_rkey == b->inv_rkey;
}

/* Parses a copy of @data whose linear part ends at @linear. */
static enum srnic_parse parse_exact(const u8 *data, unsigned int linear,
				    unsigned int len, struct srnic_pkt *pkt)
{
	enum srnic_parse verdict;
	u8 *copy = malloc(linear);

	memcpy(copy, data, linear);
	verdict = srnic_pkt_parse(copy, linear, len, pkt);
	free(copy);

	return verdict;
}

static void round_trip(const struct opcode_fact *fact)
{
	unsigned int room = room_random(fact);
	u8 expected[SRNIC_HDR_MAX + PAYLOAD_MAX + ICRC] = { 0 };
	struct srnic_pkt back;
	struct srnic_pkt pkt;
	unsigned int built;
	unsigned int len;
	u8 *data;

	pkt_random(&pkt, fact, room);
	len = encode(expected, &pkt, fact);

	data = malloc(len);
	built = srnic_pkt_build(data, &pkt);
	if (built != len || memcmp(data, expected, len))
		tap_fault("opcode 0x%02x: %u bytes built, not those expected",
			  fact->opcode, built);
	free(data);

	memset(&back, 0, sizeof(back));
	if (parse_exact(expected, len + room + ICRC, len + room + ICRC, &back))
		tap_fault("opcode 0x%02x: refused", fact->opcode);
	else if (!pkt_equal(&pkt, &back) || back.hdr_len != len)
		tap_fault("opcode 0x%02x: parsed differently", fact->opcode);

	/* the payload need not be in the linear part */
	memset(&back, 0, sizeof(back));
	if (parse_exact(expected, len, len + room + ICRC, &back) ||
	    !pkt_equal(&pkt, &back))
		tap_fault("opcode 0x%02x: needs more than the headers", fact->opcode);
}

static void test_round_trips(void)
{
	unsigned int i;
	unsigned int j;

	for (i = 0; i < OPCODES; i++)
		for (j = 0; j < ROUNDS; j++)
			round_trip(&opcode_list[i]);
	tap_done("every opcode is built, and parsed to what was built");
}

/* A truncated packet is never valid. */
static void truncate_one(const struct opcode_fact *fact)
{
	u8 data[SRNIC_HDR_MAX + PAYLOAD_MAX + ICRC] = { 0 };
	struct srnic_pkt back;
	struct srnic_pkt pkt;
	unsigned int room;
	unsigned int len;
	unsigned int hdr;
	unsigned int n;

	room = room_is_fixed(fact) ? room_random(fact) : 0;
	pkt_random(&pkt, fact, room);
	hdr = encode(data, &pkt, fact);
	len = hdr + room + ICRC;

	for (n = 0; n < len; n++)
		if (!parse_exact(data, n, n, &back))
			tap_fault("opcode 0x%02x: %u of %u bytes accepted",
				  fact->opcode, n, len);
	for (n = 0; n < hdr; n++)
		if (parse_exact(data, n, len, &back) != SRNIC_PARSE_SHORT)
			tap_fault("opcode 0x%02x: %u of %u header bytes were enough",
				  fact->opcode, n, hdr);

	if (room_is_fixed(fact))
		return;

	/* A payload of four words, truncated step by step, with a pad of 3 */
	pkt.pad = 3;
	encode(data, &pkt, fact);
	for (n = hdr + ICRC; n < hdr + ICRC + 16; n++) {
		bool fits = n >= hdr + ICRC + 3 && (n - hdr) % 4 == 0;

		if (!parse_exact(data, n, n, &back) != fits)
			tap_fault("opcode 0x%02x: pad of 3 in %u bytes",
				  fact->opcode, n - hdr - ICRC);
		else if (fits && back.payload != n - hdr - ICRC - 3)
			tap_fault("opcode 0x%02x: payload of %u", fact->opcode,
				  back.payload);
	}
}

static void test_truncation(void)
{
	unsigned int i;

	for (i = 0; i < OPCODES; i++)
		truncate_one(&opcode_list[i]);
	tap_done("every opcode is refused when cut short at any byte");
}

static void test_payload(void)
{
	u8 data[SRNIC_HDR_MAX + PAYLOAD_MAX + ICRC] = { 0 };
	struct srnic_pkt back;
	struct srnic_pkt pkt;
	unsigned int hdr;
	unsigned int i;
	unsigned int n;

	for (i = 0; i < OPCODES; i++) {
		const struct opcode_fact *fact = &opcode_list[i];
		unsigned int room = room_random(fact);

		if (!room_is_fixed(fact))
			continue;

		pkt_random(&pkt, fact, 0);
		hdr = encode(data, &pkt, fact);
		for (n = 0; n <= PAYLOAD_MAX; n += 4) {
			enum srnic_parse expected = n == room ?
				SRNIC_PARSE_OK : SRNIC_PARSE_PAYLOAD;

			if (parse_exact(data, hdr + n + ICRC, hdr + n + ICRC,
					&back) != expected)
				tap_fault("opcode 0x%02x with payload of %u",
					  fact->opcode, n);
		}

		pkt.pad = 1;
		hdr = encode(data, &pkt, fact);
		for (n = 4; n <= PAYLOAD_MAX; n += 4)
			if (parse_exact(data, hdr + n + ICRC, hdr + n + ICRC,
					&back) != SRNIC_PARSE_PAYLOAD)
				tap_fault("opcode 0x%02x with pad", fact->opcode);
	}
	tap_done("payload and pad only where they are allowed");
}

static void test_refusals(void)
{
	u8 data[SRNIC_HDR_MAX + ICRC] = { 0 };
	struct srnic_pkt back;
	unsigned int opcode;
	unsigned int i;

	for (i = 0; i < 16; i++) {
		data[0] = SRNIC_TP_RC | SRNIC_OP_SEND_ONLY;
		data[1] = i;
		if (parse_exact(data, 16, 16, &back) !=
		    (i ? SRNIC_PARSE_VERSION : SRNIC_PARSE_OK))
			tap_fault("transport version %u", i);
	}
	tap_done("transport versions other than 0 are refused");

	data[1] = 0;
	for (opcode = 0; opcode < 256; opcode++) {
		struct srnic_pkt pkt = { .opcode = opcode };
		u8 byte = 0x5a;

		for (i = 0; i < OPCODES; i++)
			if (opcode_list[i].opcode == opcode)
				break;
		if (i < OPCODES)
			continue;
		data[0] = opcode;
		if (parse_exact(data, sizeof(data), sizeof(data), &back) !=
		    SRNIC_PARSE_OPCODE)
			tap_fault("opcode 0x%02x is parsed", opcode);
		if (srnic_pkt_build(&byte, &pkt) || byte != 0x5a)
			tap_fault("opcode 0x%02x is built", opcode);
	}
	tap_done("unknown opcodes are neither parsed nor built");
}

/* The identifier and the version of the masks are checked, and their reserved bytes are not. */
static void test_foreign(void)
{
	unsigned int bit, len, ours, i;
	u8 data[SRNIC_HDR_MAX + ICRC];
	struct srnic_pkt back, pkt;

	for (i = 0; i < OPCODES; i++) {
		if (!strchr(opcode_list[i].headers, 'm'))
			continue;
		pkt_random(&pkt, &opcode_list[i], 0);
		len = encode(data, &pkt, &opcode_list[i]) + ICRC;
		for (bit = 0; bit < 64; bit++) {
			ours = bit < 40 ? SRNIC_PARSE_FOREIGN : SRNIC_PARSE_OK;
			data[12 + bit / 8] ^= 0x80 >> bit % 8;
			if (parse_exact(data, len, len, &back) != ours)
				tap_fault("opcode 0x%02x: bit %u", pkt.opcode, bit);
			data[12 + bit / 8] ^= 0x80 >> bit % 8;
		}
	}
	tap_done("masks with another identifier or version are refused");
}

/* Reserved bits on the wire do not affect the parsed numbers. */
static void test_reserved(void)
{
	u8 data[20 + ICRC];
	struct srnic_pkt back;

	memset(data, 0xff, sizeof(data));
	data[0] = SRNIC_TP_UD | SRNIC_OP_SEND_ONLY;
	data[1] = 0;
	tap_check(!parse_exact(data, sizeof(data), sizeof(data), &back) &&
		  back.qpn == 0xffffff && back.psn == 0xffffff &&
		  back.src_qp == 0xffffff && back.qkey == 0xffffffff &&
		  back.fecn && back.becn && back.ackreq && !back.migreq,
		  "reserved bits are ignored");
}

/* A CNP sent by a ConnectX-4 Lx; srnic builds the same bits */
static void test_cnp(void)
{
	static const u8 cnp[] = {
		0x81, 0x00, 0xff, 0xff, 0x40, 0x00, 0x01, 0x18,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x82, 0xfd, 0x00, 0x2a,
	};
	struct srnic_pkt ours = {
		.opcode = SRNIC_OPCODE_CNP, .becn = true, .pkey = 0xffff,
		.qpn = 0x118, .payload = 16,
	};
	struct srnic_pkt pkt;
	u8 built[12];

	tap_check(!parse_exact(cnp, sizeof(cnp), sizeof(cnp), &pkt) &&
		  pkt.opcode == SRNIC_OPCODE_CNP && pkt.becn && !pkt.fecn &&
		  !pkt.migreq && !pkt.se && !pkt.ackreq && pkt.pkey == 0xffff &&
		  pkt.qpn == 0x118 && pkt.psn == 0 && pkt.payload == 16 &&
		  pkt.hdr_len == 12,
		  "a captured CNP");
	tap_check(srnic_pkt_build(built, &ours) == sizeof(built) &&
		  !memcmp(built, cnp, sizeof(built)),
		  "the headers of the captured CNP are built bit by bit");
}

/* From a capture of two RNICs: RC RDMA WRITE ONLY of five bytes, and its ACK */
static void test_captures(void)
{
	static const u8 write[] = {
		0x0a, 0x70, 0xff, 0xff, 0x00, 0x00, 0x01, 0x0a,
		0x80, 0xa7, 0x88, 0xbc, 0x00, 0x00, 0x55, 0xd4,
		0xc0, 0x72, 0x60, 0x00, 0x00, 0x00, 0x47, 0xb3,
		0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x00,
		0x01, 0x00, 0x00, 0x00, 0xe3, 0xd8, 0x56, 0xbb,
	};
	static const u8 ack[] = {
		0x11, 0x40, 0xff, 0xff, 0x00, 0x00, 0x01, 0x09,
		0x00, 0xa7, 0x88, 0xc0, 0x00, 0x00, 0x00, 0x05,
		0x25, 0xf0, 0xc0, 0x38,
	};
	struct srnic_pkt pkt;

	tap_check(!parse_exact(write, sizeof(write), sizeof(write), &pkt) &&
		  pkt.opcode == (SRNIC_TP_RC | SRNIC_OP_WRITE_ONLY) &&
		  pkt.migreq && !pkt.se && pkt.ackreq && pkt.pad == 3 &&
		  pkt.pkey == 0xffff && pkt.qpn == 0x10a &&
		  pkt.psn == 0xa788bc && pkt.va == 0x55d4c0726000ULL &&
		  pkt.rkey == 0x47b3 && pkt.dmalen == 5 && pkt.payload == 5 &&
		  pkt.hdr_len == 28,
		  "a captured RDMA WRITE");
	tap_check(!parse_exact(ack, sizeof(ack), sizeof(ack), &pkt) &&
		  pkt.opcode == (SRNIC_TP_RC | SRNIC_OP_ACK) && pkt.migreq &&
		  !pkt.ackreq && pkt.qpn == 0x109 && pkt.psn == 0xa788c0 &&
		  pkt.syndrome == 0 && pkt.msn == 5 && pkt.payload == 0,
		  "a captured ACK");
}

static void test_noise(void)
{
	u8 data[SRNIC_HDR_MAX + PAYLOAD_MAX + ICRC];
	unsigned int accepted = 0;
	unsigned int i;
	unsigned int j;

	for (i = 0; i < 200000; i++) {
		unsigned int len = rand32() % (sizeof(data) + 1);
		unsigned int linear = rand32() & 1 ? len : rand32() % (len + 1);
		struct srnic_pkt pkt;

		for (j = 0; j < len; j++)
			data[j] = rand32();
		data[1] &= 0xf0;
		if (parse_exact(data, linear, len, &pkt))
			continue;
		accepted++;
		if (pkt.hdr_len > linear ||
		    pkt.hdr_len + pkt.payload + pkt.pad + ICRC != len)
			tap_fault("%u + %u + %u bytes in a packet of %u",
				  pkt.hdr_len, pkt.payload, pkt.pad, len);
	}
	if (!accepted)
		tap_fault("nothing was accepted");
	tap_done("in accepted random data, payload and pad are within the packet");
}

int main(void)
{
	test_round_trips();
	test_truncation();
	test_payload();
	test_refusals();
	test_foreign();
	test_reserved();
	test_captures();
	test_cnp();
	test_noise();

	return tap_end();
}
