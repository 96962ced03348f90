/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * srnic - syndromes of the ACK extended transport header and RNR times
 *
 * IBTA volume 1, 9.7.5.1 and 9.7.5.2.8 (RNR NAK timer field).
 */
#ifndef SRNIC_WIRE_AETH_H
#define SRNIC_WIRE_AETH_H

#include <linux/types.h>

/* Kind of acknowledgment: upper three bits of the syndrome, bit 7 being 0 */
#define SRNIC_AETH_KIND(syn)	((syn) & 0xe0)
#define SRNIC_AETH_VALUE(syn)	((syn) & 0x1f)

enum srnic_aeth {
	SRNIC_AETH_ACK		= 0x00,
	SRNIC_AETH_RNR		= 0x20,
	SRNIC_AETH_NAK		= 0x60,

	SRNIC_AETH_NO_CREDITS	= 0x1f,	/* ACK value: credits not reported */

	SRNIC_AETH_NAK_SEQ	= 0x60,
	SRNIC_AETH_NAK_INV_REQ	= 0x61,
	SRNIC_AETH_NAK_REM_ACC	= 0x62,
	SRNIC_AETH_NAK_REM_OP	= 0x63,
	SRNIC_AETH_NAK_INV_RD	= 0x64,
};

/* Meaning of a syndrome */
enum srnic_ack {
	SRNIC_ACK_RESERVED,	/* reserved code: the packet is ignored */
	SRNIC_ACK_OK,
	SRNIC_ACK_RNR,
	SRNIC_ACK_SEQ,		/* a packet is missing */
	SRNIC_ACK_FATAL,	/* the request failed, the value is the NAK code */
};

/* IBTA volume 1, tables of AETH syndromes and of NAK codes. */
enum srnic_ack srnic_ack_of(__u8 syndrome);

/* Delay encoded by RNR timer @code (0 to 31), in microseconds. */
__u32 srnic_rnr_usec(__u8 code);

/*
 * Nanoseconds of local ACK timeout @exp (0 to 31): 4.096 us * 2^exp.  0 for @exp 0, which
 * stands for an infinite timeout.  IBTA volume 1, 9.7.6.1.3.
 */
__u64 srnic_ack_timeout_nsec(__u8 exp);

#endif /* SRNIC_WIRE_AETH_H */
