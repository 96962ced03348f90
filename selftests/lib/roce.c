// SPDX-License-Identifier: GPL-2.0
/*
 * srnic selftests - RoCEv2 packets in C: opcodes, headers, ICRC
 */
#include <string.h>

#include "roce.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define FIRST	(H_REQ | H_DATA | H_FULL | H_GOES_ON)
#define MIDDLE	(FIRST | H_CONT)
#define LAST	(H_REQ | H_DATA | H_CONT)
#define ONLY	(H_REQ | H_DATA)

static const __u16 parts_of[32] = {
	[0x00] = FIRST,				/* SEND */
	[0x01] = MIDDLE,
	[0x02] = LAST,
	[0x03] = LAST | H_IMM,
	[0x04] = ONLY,
	[0x05] = ONLY | H_IMM,
	[0x06] = FIRST | H_RETH,		/* WRITE */
	[0x07] = MIDDLE,
	[0x08] = LAST,
	[0x09] = LAST | H_IMM,
	[0x0a] = ONLY | H_RETH,
	[0x0b] = ONLY | H_RETH | H_IMM,
	[0x0c] = H_REQ | H_RETH,		/* READ */
	[0x0d] = H_AETH | H_DATA | H_FULL,	/* its responses */
	[0x0e] = H_DATA | H_FULL,
	[0x0f] = H_AETH | H_DATA,
	[0x10] = H_AETH | H_DATA,
	[0x11] = H_AETH,			/* ACK */
	[0x12] = H_AETH | H_ATOMACK,
	[0x13] = H_REQ | H_ATOMIC,		/* COMPARE SWAP, FETCH ADD */
	[0x14] = H_REQ | H_ATOMIC,
	[0x16] = LAST | H_IETH,
	[0x17] = ONLY | H_IETH,
	[0x1c] = H_REQ | H_FETH | H_RETH,	/* FLUSH */
	[0x1d] = ONLY | H_RETH,			/* ATOMIC WRITE */
};

static const struct {
	__u16 part;
	__u16 bytes;
} part_bytes[] = {
	{ H_XRCETH, 4 }, { H_DETH, 8 }, { H_FETH, 4 }, { H_RETH, 16 },
	{ H_MASKS, 24 }, { H_ATOMIC, 28 }, { H_AETH, 4 }, { H_ATOMACK, 8 },
	{ H_IMM, 4 }, { H_IETH, 4 },
};

/* Opcodes of no service, and of manufacturers */
static unsigned int other_parts(__u8 opcode)
{
	switch (opcode) {
	case OPCODE_CNP:
	case OPCODE_SACK:
		return H_DATA;
	case OPCODE_MASKED_CMP_SWAP:
	case OPCODE_MASKED_FETCH_ADD:
		return H_REQ | H_MASKS | H_ATOMIC;
	default:
		return 0;
	}
}

unsigned int opcode_parts(__u8 opcode)
{
	__u8 op = opcode & 0x1f;

	switch (opcode & 0xe0) {
	case TP_RC:
		return parts_of[op];
	case TP_UC:
		return op <= 0x0b ? parts_of[op] : 0;
	case TP_UD:
		return op == 4 || op == 5 ? parts_of[op] | H_DETH : 0;
	case TP_XRC:
		return parts_of[op] & H_REQ ? parts_of[op] | H_XRCETH :
					      parts_of[op];
	default:
		return other_parts(opcode);
	}
}

int opcode_offset(__u8 opcode, unsigned int part)
{
	unsigned int parts = opcode_parts(opcode);
	int at = BTH_BYTES;
	size_t i;

	if (!(parts & part))
		return -1;
	for (i = 0; part_bytes[i].part != part; i++)
		if (parts & part_bytes[i].part)
			at += part_bytes[i].bytes;
	return at;
}

int opcode_bytes(__u8 opcode)
{
	unsigned int parts = opcode_parts(opcode);
	int n = BTH_BYTES;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(part_bytes); i++)
		if (parts & part_bytes[i].part)
			n += part_bytes[i].bytes;
	return n;
}

static __u32 crc_table[256];

static void crc_make(void)
{
	__u32 i, k, c;

	for (i = 0; i < 256; i++) {
		for (c = i, k = 0; k < 8; k++)
			c = c & 1 ? c >> 1 ^ 0xedb88320 : c >> 1;
		crc_table[i] = c;
	}
}

static __u32 crc_add(__u32 crc, const __u8 *p, size_t len)
{
	if (!crc_table[1])
		crc_make();
	while (len--)
		crc = crc >> 8 ^ crc_table[(crc ^ *p++) & 0xff];
	return crc;
}

/* Annex A17.3.1: what routers change is ones; @ip has no options. */
__u32 roce_icrc(int version, const __u8 *ip, const __u8 *udp, const __u8 *t,
		int len)
{
	int ip_len = version == 4 ? 20 : 40;
	__u8 h[8 + 40 + 8 + BTH_BYTES];
	__u8 *p = h + 8;

	memset(h, 0xff, 8);
	memcpy(p, ip, ip_len);
	memcpy(p + ip_len, udp, 8);
	memcpy(p + ip_len + 8, t, BTH_BYTES);
	if (version == 4) {
		p[1] = 0xff;
		p[8] = 0xff;
		put_be16(p + 10, 0xffff);
	} else {
		p[0] |= 0x0f;
		memset(p + 1, 0xff, 3);
		p[7] = 0xff;
	}
	put_be16(p + ip_len + 6, 0xffff);
	p[ip_len + 8 + BTH_RES] = 0xff;
	return ~crc_add(crc_add(~0U, h, 8 + ip_len + 8 + BTH_BYTES),
			t + BTH_BYTES, len - BTH_BYTES);
}
