/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic selftests - RoCEv2 packets in C: opcodes, headers, ICRC
 *
 * Opcodes and headers are those of IBTA volume 1, 9.2 to 9.4, annexes A14 (XRC),
 * A17 (RoCEv2) and A19 (FLUSH, ATOMIC WRITE).  SACKs and masked atomics are srnic's own,
 * see wire.rst.
 */
#ifndef ROCE_H
#define ROCE_H

#include <linux/types.h>
#include <stddef.h>

#define ROCE_PORT	4791
#define PSN_MASK	0xffffffU
#define QPN_MASK	0xffffffU

/* Upper bits of an opcode */
enum {
	TP_RC	= 0x00,
	TP_UC	= 0x20,
	TP_UD	= 0x60,
	TP_CNP	= 0x80,
	TP_XRC	= 0xa0,
};

/* Opcodes of no service, and of manufacturers */
#define OPCODE_CNP		0x81
#define OPCODE_SACK		0xd3
#define OPCODE_MASKED_CMP_SWAP	0xd4
#define OPCODE_MASKED_FETCH_ADD	0xd5

/* Payload of a SACK */
#define SACK_MAGIC	0x73524e53
#define SACK_VERSION	1
#define SACK_HEAD	12
#define SACK_RANGE	8

/* Masks of an atomic */
#define MASKS_MAGIC	0x73524e4d
#define MASKS_VERSION	1

/* Where what is in a BTH stands */
enum {
	BTH_OPCODE	= 0,
	BTH_FLAGS	= 1,
	BTH_PKEY	= 2,
	BTH_RES		= 4,
	BTH_QPN		= 5,
	BTH_ACKREQ	= 8,
	BTH_PSN		= 9,
	BTH_BYTES	= 12,
};

/* Extended headers, in the order that they have */
enum {
	H_XRCETH	= 1 << 0,
	H_DETH		= 1 << 1,
	H_FETH		= 1 << 2,
	H_RETH		= 1 << 3,
	H_MASKS		= 1 << 4,
	H_ATOMIC	= 1 << 5,
	H_AETH		= 1 << 6,
	H_ATOMACK	= 1 << 7,
	H_IMM		= 1 << 8,
	H_IETH		= 1 << 9,
	H_DATA		= 1 << 10,	/* payload, not a header */
	H_FULL		= 1 << 11,	/* of an MTU */
	H_REQ		= 1 << 12,	/* a request */
	H_GOES_ON	= 1 << 13,	/* the message has more packets */
	H_CONT		= 1 << 14,	/* it had packets before */
};

/* What a packet with that opcode has; 0: it is reserved */
unsigned int opcode_parts(__u8 opcode);
/* Where the extended header is in such a packet, -1: it has none */
int opcode_offset(__u8 opcode, unsigned int part);
/* Bytes of all headers of such a packet */
int opcode_bytes(__u8 opcode);

/*
 * ICRC of @len bytes at @t, from the BTH to the pad, behind @udp and @ip of that
 * version without options; it goes to the wire with its lowest byte first.
 */
__u32 roce_icrc(int version, const __u8 *ip, const __u8 *udp, const __u8 *t,
		int len);

static inline void put_be16(__u8 *p, __u16 v)
{
	p[0] = v >> 8;
	p[1] = v;
}

static inline void put_be24(__u8 *p, __u32 v)
{
	p[0] = v >> 16;
	put_be16(p + 1, v);
}

static inline void put_be32(__u8 *p, __u32 v)
{
	put_be16(p, v >> 16);
	put_be16(p + 2, v);
}

static inline void put_be64(__u8 *p, __u64 v)
{
	put_be32(p, v >> 32);
	put_be32(p + 4, v);
}

static inline __u16 get_be16(const __u8 *p)
{
	return p[0] << 8 | p[1];
}

static inline __u32 get_be24(const __u8 *p)
{
	return p[0] << 16 | get_be16(p + 1);
}

static inline __u32 get_be32(const __u8 *p)
{
	return (__u32)get_be16(p) << 16 | get_be16(p + 2);
}

#endif
