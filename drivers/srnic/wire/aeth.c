// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srnic - syndromes of the ACK extended transport header, RNR times and timeouts
 *
 * Times are encoded in five bits; the bits above are ignored.
 */

#include "aeth.h"

#define CODE_MASK	0x1f

/* IBTA volume 1, table "Encoding for RNR NAK Timer Field" */
static const __u32 rnr_usec[CODE_MASK + 1] = {
	655360,     10,     20,     30,     40,     60,     80,    120,
	   160,    240,    320,    480,    640,    960,   1280,   1920,
	  2560,   3840,   5120,   7680,  10240,  15360,  20480,  30720,
	 40960,  61440,  81920, 122880, 163840, 245760, 327680, 491520,
};

__u32 srnic_rnr_usec(__u8 code)
{
	return rnr_usec[code & CODE_MASK];
}

__u64 srnic_ack_timeout_nsec(__u8 exp)
{
	exp &= CODE_MASK;

	return exp ? (__u64)4096 << exp : 0;
}

enum srnic_ack srnic_ack_of(__u8 syndrome)
{
	switch (SRNIC_AETH_KIND(syndrome)) {
	case SRNIC_AETH_ACK:
		return SRNIC_ACK_OK;
	case SRNIC_AETH_RNR:
		return SRNIC_ACK_RNR;
	case SRNIC_AETH_NAK:
		if (syndrome == SRNIC_AETH_NAK_SEQ)
			return SRNIC_ACK_SEQ;
		return syndrome <= SRNIC_AETH_NAK_INV_RD ? SRNIC_ACK_FATAL :
							   SRNIC_ACK_RESERVED;
	default:
		return SRNIC_ACK_RESERVED;
	}
}
