/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - BTH opcodes and their headers
 *
 * One table describes each opcode: the operation it belongs to, its position in the
 * message, and the headers that follow the BTH.  IBTA volume 1, 9.2.1, table "OpCode
 * field", and the memory placement extensions.
 */
#ifndef SRNIC_WIRE_OPCODE_H
#define SRNIC_WIRE_OPCODE_H

#include <linux/types.h>

/* Upper three bits of the opcode */
#define SRNIC_TRANSPORT(opcode)	((opcode) & 0xe0)
#define SRNIC_TP_RC		0x00
#define SRNIC_TP_UC		0x20
#define SRNIC_TP_UD		0x60
#define SRNIC_TP_CNP		0x80
#define SRNIC_TP_XRC		0xa0
#define SRNIC_TP_MANUFACTURER	0xc0	/* and 0xe0 */

/* Lower five bits */
enum srnic_opcode {
	SRNIC_OP_SEND_FIRST		= 0x00,
	SRNIC_OP_SEND_MIDDLE		= 0x01,
	SRNIC_OP_SEND_LAST		= 0x02,
	SRNIC_OP_SEND_LAST_IMM		= 0x03,
	SRNIC_OP_SEND_ONLY		= 0x04,
	SRNIC_OP_SEND_ONLY_IMM		= 0x05,
	SRNIC_OP_WRITE_FIRST		= 0x06,
	SRNIC_OP_WRITE_MIDDLE		= 0x07,
	SRNIC_OP_WRITE_LAST		= 0x08,
	SRNIC_OP_WRITE_LAST_IMM		= 0x09,
	SRNIC_OP_WRITE_ONLY		= 0x0a,
	SRNIC_OP_WRITE_ONLY_IMM		= 0x0b,
	SRNIC_OP_READ_REQ		= 0x0c,
	SRNIC_OP_READ_RESP_FIRST	= 0x0d,
	SRNIC_OP_READ_RESP_MIDDLE	= 0x0e,
	SRNIC_OP_READ_RESP_LAST		= 0x0f,
	SRNIC_OP_READ_RESP_ONLY		= 0x10,
	SRNIC_OP_ACK			= 0x11,
	SRNIC_OP_ATOMIC_ACK		= 0x12,
	SRNIC_OP_CMP_SWAP		= 0x13,
	SRNIC_OP_FETCH_ADD		= 0x14,
	SRNIC_OP_SEND_LAST_INV		= 0x16,
	SRNIC_OP_SEND_ONLY_INV		= 0x17,
	SRNIC_OP_FLUSH			= 0x1c,
	SRNIC_OP_ATOMIC_WRITE		= 0x1d,
};

#define SRNIC_OPCODE_CNP	0x81

/*
 * Some of the opcodes that the specification leaves to manufacturers, 0xc0 to 0xff.  The
 * masked atomics are requests of RC; what answers them is an ATOMIC ACKNOWLEDGE.
 */
#define SRNIC_OPCODE_SACK		0xd3
#define SRNIC_OPCODE_MASKED_CMP_SWAP	0xd4
#define SRNIC_OPCODE_MASKED_FETCH_ADD	0xd5

/* Operation that an opcode belongs to */
enum srnic_family {
	SRNIC_FAM_NONE,		/* unknown opcode */
	SRNIC_FAM_SEND,
	SRNIC_FAM_WRITE,
	SRNIC_FAM_READ,
	SRNIC_FAM_ATOMIC,	/* CMP_SWAP and FETCH_ADD, masked or not */
	SRNIC_FAM_FLUSH,
	SRNIC_FAM_ATOMIC_WRITE,
	SRNIC_FAM_READ_RESP,
	SRNIC_FAM_ACK,
	SRNIC_FAM_ATOMIC_ACK,
	SRNIC_FAM_CNP,
	SRNIC_FAM_SACK,
};

/* Bits of srnic_op.flags */
enum srnic_op_flags {
	SRNIC_OP_START	= 1 << 0,	/* first or only packet of its message */
	SRNIC_OP_END	= 1 << 1,	/* last or only packet of its message */
	SRNIC_OP_REQ	= 1 << 2,	/* a request: for the responder */
	SRNIC_OP_DATA	= 1 << 3,	/* may carry payload */
};

/* Bits of srnic_op.hdrs, in the order of the headers on the wire */
enum srnic_op_hdrs {
	SRNIC_H_XRCETH	= 1 << 0,
	SRNIC_H_DETH	= 1 << 1,
	SRNIC_H_FETH	= 1 << 2,
	SRNIC_H_RETH	= 1 << 3,
	SRNIC_H_MASKS	= 1 << 4,
	SRNIC_H_ATOMIC	= 1 << 5,
	SRNIC_H_AETH	= 1 << 6,
	SRNIC_H_ATOMACK	= 1 << 7,
	SRNIC_H_IMM	= 1 << 8,
	SRNIC_H_IETH	= 1 << 9,
};

/**
 * struct srnic_op - description of an opcode
 * @family: operation
 * @flags: enum srnic_op_flags
 * @hdr_len: bytes of BTH and all extended headers
 * @hdrs: extended headers present, enum srnic_op_hdrs
 */
struct srnic_op {
	__u8	family;
	__u8	flags;
	__u8	hdr_len;
	__u16	hdrs;
};

/* Indexed by the complete opcode byte; entries of unknown opcodes are zero */
extern const struct srnic_op srnic_ops[256];

#endif /* SRNIC_WIRE_OPCODE_H */
